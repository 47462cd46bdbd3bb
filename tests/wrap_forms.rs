//! How a client hears of a question and answers it, in both eras, and what happens to the call afterwards.
//!
//! INVARIANT: the wrapped server is `cat` or a script of few lines; the client is the test.

use crate::support::World;
use crate::wrapped::{Wrapped, audit, call, questions};
use policy_approvals::{Channel, Verdict};
use serde_json::{Value, json};

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
