//! How a client hears of a question and answers it, in both eras, and what happens to the call afterwards.
//!
//! INVARIANT: the wrapped server is `cat` or a script of few lines; the client is the test.

use crate::support::World;
use crate::wrapped::{Wrapped, audit, call, questions};
use policy_approvals::{Channel, Verdict};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const MODERN: &str = "2026-07-28";

fn modern(id: u64, tool: &str, arguments: &Value, more: Value) -> String {
    let mut params = json!({"name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn progress_rises_while_a_call_waits_and_afterwards() {
    let world = World::new("wrap-progress");
    let mut wrapped = Wrapped::new(&world, &["--ask", "page"], &["cat"]);
    let asks = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_me","arguments":{},"_meta":{"progressToken":"7"}}}"#;
    let first = wrapped.ask(asks);
    let told =
        |value: &Value| (value["params"]["progressToken"].clone(), value["params"]["progress"].clone());
    assert_eq!((&first["method"], told(&first)), (&json!("notifications/progress"), (json!("7"), json!(1))));
    let second = wrapped.value();
    assert_eq!(told(&second), (json!("7"), json!(2)), "{second}");
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
    // A slow machine may hear it once more.
    let mut last = 2;
    let line = loop {
        let line = wrapped.line();
        let value: Value = serde_json::from_str(&line).unwrap();
        match value["params"]["progress"].as_u64() {
            Some(rises) => last = rises,
            None => break line,
        }
    };
    assert_eq!(line, asks);
    // What the server says of it goes on from there; another token is another one.
    let said = |token: &str, value: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"total":{value}0, "progress":{value},"progressToken":{token}}}}}"#
        )
    };
    wrapped.send(&said("\"7\"", "1.5"));
    let raised = wrapped.line();
    let wanted = format!(r#""total":{}.50, "progress":{}.5,"#, last + 1, last + 1);
    assert!(raised.contains(&wanted), "{raised}");
    wrapped.send(&said("7", "1.5"));
    assert_eq!(wrapped.line(), said("7", "1.5"));
    // Answered: forgotten.
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    wrapped.send(answer);
    assert_eq!(wrapped.line(), answer);
    wrapped.send(&said("\"7\"", "1.5"));
    assert_eq!(wrapped.line(), said("\"7\"", "1.5"));
    assert_eq!(wrapped.end().0, Some(0));
}

/// A server that answers each line with the next line of a file.
const SCRIPTED: &str = "exec 3<\"$0\"; while read -r a; do read -r b <&3 || exit; printf '%s\\n' \"$a\" >&2; printf '%s\\n' \"$b\"; done";

fn wants(id: u64, state: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "input_required", "requestState": state,
        "inputRequests": {"r": {"method": "roots/list"}}}})
    .to_string()
}

#[test]
fn in_a_chain_of_calls_a_person_is_asked_once() {
    let world = World::new("wrap-chain");
    let answers = [wants(1, "s1"), wants(2, "s2"), wants(3, "s3")];
    let file = world.file("answers", answers.join("\n") + "\n").display().to_string();
    let mut wrapped = Wrapped::new(&world, &[], &["sh", "-c", SCRIPTED, &file]);
    let back = |state: &str| json!({"requestState": state, "inputResponses": {"r": {"roots": []}}});
    let asks = |id: u64, n: u64, more: Value| modern(id, "ask_me", &json!({"n": n}), more);
    wrapped.send(&asks(1, 1, json!({})));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
    assert_eq!(wrapped.line(), answers[0]);
    // The server's question is answered: nobody is asked again.
    wrapped.send(&asks(2, 1, back("s1")));
    assert_eq!(wrapped.line(), answers[1]);
    // Nor for the next step.
    wrapped.send(&asks(3, 1, back("s2")));
    assert_eq!(wrapped.line(), answers[2]);
    // Another call with that state is asked about, and so is the same one afterwards: a state counts once.
    for n in [2, 1] {
        wrapped.send(&asks(10 + n, n, back("s3")));
        let (store, open) = questions(&world, 1);
        store.answer(&open[0].id, Verdict::Deny, Channel::Page).unwrap();
        assert_eq!(wrapped.value()["result"]["isError"], true);
    }
    // A state that the server never asked for approves nothing.
    wrapped.send(&asks(20, 3, back("s9")));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Deny, Channel::Page).unwrap();
    wrapped.value();
    let (code, _, err) = wrapped.end();
    // All that the server asked for reached it.
    assert!(code == Some(0) && err.contains(r#""requestState":"s2""#) && !err.contains("s3"), "{err}");
    let lines = audit(&world);
    let reasons: Vec<&str> = lines.iter().filter_map(|line| line["reason"].as_str()).collect();
    assert_eq!(reasons.iter().filter(|own| own.contains("in this chain of calls")).count(), 2, "{reasons:?}");
}

#[test]
fn a_deny_is_a_deny_in_a_chain_and_the_page_is_asked_again() {
    let world = World::new("wrap-chain-deny");
    let answers = [wants(1, "s1"), wants(3, "s3")];
    let file = world.file("answers", answers.join("\n") + "\n").display().to_string();
    let mut wrapped = Wrapped::new(&world, &[], &["sh", "-c", SCRIPTED, &file]);
    let back = |state: &str| json!({"requestState": state});
    wrapped.send(&modern(1, "money", &json!({}), json!({})));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
    assert_eq!(wrapped.line(), answers[0]);
    // What is for the page alone is asked there each time.
    wrapped.send(&modern(2, "money", &json!({}), back("s1")));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Deny, Channel::Page).unwrap();
    assert_eq!(wrapped.value()["result"]["isError"], true);
    wrapped.send(&modern(3, "ask_me", &json!({}), json!({})));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
    assert_eq!(wrapped.line(), answers[1]);
    let policy = crate::wrapped::POLICY
        .replace("guard questions on \"ask*\" {\n  ask", "guard questions on \"ask*\" {\n  deny");
    world.file("p.policy", policy);
    // Files are taken for unchanged for a moment.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let denied = wrapped.ask(&modern(4, "ask_me", &json!({}), back("s3")));
    let text = denied["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("questions"), "{text}");
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn our_form_within_a_chain_gives_the_server_its_state_back() {
    let world = World::new("wrap-chain-form");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let theirs = json!({"requestState": "theirs", "inputResponses": {"r": {"roots": []}}, "_meta": meta});
    let required = wrapped.ask(&modern(1, "ask_me", &json!({}), theirs));
    assert_eq!(required["result"]["resultType"], "input_required", "{required}");
    let yes = json!({"policy.ask": {"action": "accept", "content": {"decision": "approve once"}}});
    let ours =
        json!({"requestState": required["result"]["requestState"], "inputResponses": yes, "_meta": meta});
    let call = wrapped.ask(&modern(2, "ask_me", &json!({}), ours));
    let params = &call["params"];
    assert_eq!((&call["id"], &params["requestState"]), (&json!(2), &json!("theirs")), "{call}");
    assert_eq!(params["inputResponses"], json!({"r": {"roots": []}}), "{call}");
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn what_is_approved_too_late_counts_for_the_same_call_once() {
    let world = World::new("wrap-late");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let hasty = |id: u64| call(id, "hasty", &json!({"b": 1, "a": 2}));
    let late = |wrapped: &mut Wrapped, id: u64| {
        let answer = wrapped.ask(&hasty(id));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains("the question stays open for ten minutes"), "{text}");
    };
    late(&mut wrapped, 1);
    // Made again it is the same question.
    late(&mut wrapped, 2);
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
    let other = wrapped.ask(&call(3, "hasty", &json!({"a": 2, "b": 2})));
    assert_eq!(other["result"]["isError"], true, "other arguments are another call");
    wrapped.send(&hasty(4));
    assert_eq!(wrapped.line(), hasty(4));
    late(&mut wrapped, 5);
    assert_eq!(wrapped.end().0, Some(0));
}

/// What a browser does with an address: the headers of the page that it opens, and the question there.
struct Browser {
    port: u16,
    held: String,
}

impl Browser {
    fn open(address: &str) -> Browser {
        let (port, rest) = address.strip_prefix("http://127.0.0.1:").unwrap().split_once('/').unwrap();
        let (_, code) = rest.split_once('#').unwrap();
        let mut browser = Browser { port: port.parse().unwrap(), held: String::new() };
        let told = browser.send("POST", "/code", code);
        browser.held = format!("x-policy-token: {}\r\n", told["token"].as_str().unwrap());
        browser
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Value {
        let (port, held, length) = (self.port, &self.held, body.len());
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\norigin: http://127.0.0.1:{port}\r\nconnection: close\r\n\
             content-length: {length}\r\n{held}\r\n{body}"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or(Value::Null)
    }

    fn answer(&self, verdict: &str) {
        let mut seen = String::new();
        let end = Instant::now() + Duration::from_secs(30);
        let id = loop {
            let news = self.send("GET", &format!("/questions?seen={seen}"), "");
            if let [one] = news["questions"].as_array().unwrap().as_slice() {
                break one["id"].clone();
            }
            assert!(Instant::now() < end, "{news}");
            seen = news["seen"].as_str().unwrap().to_owned();
        };
        let told = self.send("POST", "/answer", &json!({"id": id, "verdict": verdict}).to_string());
        assert_eq!(told["ok"], true, "{told}");
    }
}

fn hello(capabilities: &Value) -> String {
    let client = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string()
}

fn result(id: &Value, result: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

#[test]
fn a_client_that_opens_addresses_gets_one_for_the_question() {
    let world = World::new("wrap-address");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let hello = hello(&json!({"elicitation": {"url": {}, "form": {}}}));
    wrapped.send(&hello);
    assert_eq!(wrapped.line(), hello);
    let asks = |id: u64| call(id, "ask_me", &json!({ "n": id }));
    let shown = wrapped.ask(&asks(1));
    let params = &shown["params"];
    assert_eq!((&shown["method"], &params["mode"]), (&json!("elicitation/create"), &json!("url")), "{shown}");
    assert!(params["elicitationId"].is_string() && params["requestedSchema"].is_null(), "{shown}");
    let address = params["url"].as_str().unwrap().to_owned();
    // That it was opened answers nothing.
    wrapped.send(&result(&shown["id"], json!({"action": "accept", "content": {"decision": "approve once"}})));
    let browser = Browser::open(&address);
    assert_eq!(questions(&world, 1).1.len(), 1, "it still waits");
    browser.answer("once");
    let (first, second) = (wrapped.line(), wrapped.line());
    let complete = if first == asks(1) { second.clone() } else { first.clone() };
    assert!(first == asks(1) || second == asks(1), "{first} {second}");
    let complete: Value = serde_json::from_str(&complete).unwrap();
    assert_eq!(complete["method"], "notifications/elicitation/complete", "{complete}");
    assert_eq!(complete["params"]["elicitationId"], params["elicitationId"]);
    // Declined in the client is a no.
    let shown = wrapped.ask(&asks(2));
    wrapped.send(&result(&shown["id"], json!({"action": "decline"})));
    let denied = wrapped.value();
    assert!(denied["id"] == 2 && denied["result"]["isError"] == true, "{denied}");
    assert!(!denied.to_string().contains("127.0.0.1"), "a model reads no address");
    // A client that fails to show it gets a form.
    let shown = wrapped.ask(&asks(3));
    wrapped.send(
        &json!({"jsonrpc": "2.0", "id": shown["id"], "error": {"code": -32602, "message": "no"}}).to_string(),
    );
    let form = wrapped.value();
    assert_eq!(form["params"]["mode"], "form", "{form}");
    wrapped.send(&result(&form["id"], json!({"action": "accept", "content": {"decision": "approve once"}})));
    assert_eq!(wrapped.line(), asks(3));
    let (code, _, err) = wrapped.end();
    assert!(code == Some(0) && !err.contains("127.0.0.1"), "{err}");
    let lines = audit(&world);
    let text = serde_json::to_string(&lines).unwrap();
    assert!(text.contains("once, in the client (not verified)") && !text.contains("127.0.0.1"), "{text}");
}

#[test]
fn a_stateless_client_that_opens_addresses_comes_back_and_waits() {
    let world = World::new("wrap-address-modern");
    let mut wrapped = Wrapped::new(&world, &["--ask", "elicit"], &["cat"]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}}});
    let asks = |id: u64, more: Value| {
        let mut all = json!({ "_meta": meta });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        modern(id, "ask_me", &json!({}), all)
    };
    let back = |required: &Value, action: &str| json!({"requestState": required["result"]["requestState"], "inputResponses": {"policy.ask": {"action": action}}});
    let required = wrapped.ask(&asks(1, json!({})));
    let params = &required["result"]["inputRequests"]["policy.ask"]["params"];
    assert!(params["mode"] == "url" && params["elicitationId"].is_null(), "{required}");
    let browser = Browser::open(params["url"].as_str().unwrap());
    wrapped.send(&asks(2, back(&required, "accept")));
    browser.answer("once");
    assert_eq!(wrapped.line(), asks(2, json!({})));
    for (id, action, why) in
        [(3, "decline", "a person denied it in the client"), (5, "cancel", "without an answer")]
    {
        let required = wrapped.ask(&asks(id, json!({})));
        let denied = wrapped.ask(&asks(id + 1, back(&required, action)));
        let text = denied["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains(why), "{text}");
    }
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn where_only_the_client_is_asked_others_are_told_why_nobody_is() {
    let world = World::new("wrap-elicit");
    let mut wrapped = Wrapped::new(&world, &["--ask", "elicit"], &["cat"]);
    let denied = |wrapped: &mut Wrapped, line: &str, why: &str| {
        let answer = wrapped.ask(line);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains(why), "{text}");
    };
    denied(&mut wrapped, &call(1, "ask_me", &json!({})), "shows neither forms nor addresses");
    denied(&mut wrapped, &modern(2, "ask_me", &json!({}), json!({})), "shows neither forms nor addresses");
    let hello = hello(&json!({"elicitation": {}}));
    wrapped.send(&hello);
    assert_eq!(wrapped.line(), hello);
    denied(&mut wrapped, &call(3, "money", &json!({})), "on the page alone");
    let form = wrapped.ask(&call(4, "ask_me", &json!({})));
    assert_eq!(form["params"]["mode"], "form", "{form}");
    assert!(!world.path("home/.local/state/policy/approvals/page.port").exists(), "no page is there");
    wrapped.send(&result(&form["id"], json!({"action": "cancel"})));
    let closed = wrapped.value();
    let text = closed["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("closed without an answer"), "{text}");
    let form = wrapped.ask(&call(5, "ask_me", &json!({})));
    wrapped.send(&result(&form["id"], json!({"action": "accept", "content": {"decision": "approve once"}})));
    assert_eq!(wrapped.line(), call(5, "ask_me", &json!({})));
    assert_eq!(wrapped.end().0, Some(0));
}
