//! `policy wrap` as a process: what passes, what does not, and how it ends.
//!
//! INVARIANT: the wrapped server of most tests is `cat`: whatever reaches it comes back, so what does not come back was not
//! passed on.

use crate::support::World;
use crate::wrapped::{POLICY, Wrapped, audit, call, questions};
use policy_approvals::{Channel, Verdict};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn what_is_allowed_passes_byte_for_byte() {
    let world = World::new("wrap-bytes");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    for line in [
        "{\"jsonrpc\":\"2.0\", \"id\" : 1,\"method\":\"ping\",\"x\":1.0, \"y\":123456789012345678901234567890}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"tools/call\",\"params\":{\"name\":\"r\\u0065ad\",\"arguments\":{\"b\":1e2,\"a\":\"\\u00fc\"}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\",\"params\":{\"z\":[ ]}}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"read\"}}",
    ] {
        wrapped.send(line);
        assert_eq!(wrapped.line(), line);
    }
    let (code, out, _) = wrapped.end();
    // Requests that `cat` never answered.
    assert_eq!((code, out.lines().count()), (Some(0), 3), "{out}");
    let lines = audit(&world);
    assert_eq!(lines.iter().filter(|line| line["decision"] == "allow").count(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| line["host"] == "gateway" && line["server"] == "s"));
}

#[test]
fn a_denial_is_a_result_that_says_why() {
    let world = World::new("wrap-deny");
    let mut wrapped = Wrapped::new(&world, &["--ask", "deny"], &["cat"]);
    for (tool, arguments, rule) in [
        ("delete_file", json!({"path": "a"}), "deletes"),
        ("read_file", json!({"path": "sub/.env"}), "secrets"),
        ("fetch", json!({"url": "https://evil.example/x"}), "secrets"),
        ("execute_command", json!({"command": "git push --force"}), "shells"),
    ] {
        let answer = wrapped.ask(&call(7, tool, &arguments));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(answer["id"] == 7 && answer["result"]["isError"] == true && text.contains(rule), "{answer}");
        assert!(answer["result"]["resultType"].is_null(), "{answer}");
    }
    let answer = wrapped.ask(&call(7, "delete_file", &json!({})));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(
        text.contains("deleting is done by people") && text.contains("ask for it in a comment"),
        "{text}"
    );
    let modern = r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"delete_x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    assert_eq!(wrapped.ask(modern)["result"]["resultType"], "complete");
    // What a client reads of the server is held to the same paths and hosts.
    let read = |uri: &str| {
        json!({"jsonrpc": "2.0", "id": 9, "method": "resources/read", "params": {"uri": uri}}).to_string()
    };
    for uri in ["file:///w/.env", "https://evil.example/a"] {
        let answer = wrapped.ask(&read(uri));
        assert!(
            answer["error"]["message"].as_str().is_some_and(|why| why.contains("secrets")),
            "{uri}: {answer}"
        );
    }
    // What a rule asks about does not pass because a default says the same.
    assert!(
        wrapped.ask(&read("memo://held"))["error"]["message"]
            .as_str()
            .is_some_and(|why| why.contains("memos"))
    );
    wrapped.send(&read("memo://insights"));
    assert_eq!(wrapped.line(), read("memo://insights"));
    // Nobody can be asked.
    let asked = wrapped.ask(&call(10, "ask_me", &json!({})));
    assert!(
        asked["result"]["content"][0]["text"].as_str().unwrap().contains("nobody can be asked"),
        "{asked}"
    );
    assert_eq!(wrapped.end().0, Some(0));
    assert_eq!(audit(&world).iter().filter(|line| line["decision"] == "deny").count(), 10);
}

#[test]
fn what_could_be_read_in_two_ways_goes_nowhere() {
    let world = World::new("wrap-smuggle");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let lines = [
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_x"}}]"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","Name":"delete_x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","name":"delete_x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","name\u0000":"delete_x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","paramſ":{"name":"delete_x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"a","Path":".env"}}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
        "nonsense",
    ];
    for line in lines {
        let answer = wrapped.ask(line);
        assert!(answer["error"]["code"].is_i64(), "{line}: {answer}");
    }
    // These get no answer, and reach nobody.
    wrapped.send(r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read"}}"#);
    wrapped.send(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    wrapped.send(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#);
    let long =
        format!(r#"{{"jsonrpc":"2.0","id":5,"method":"x","params":{{"a":"{}"}}}}"#, "x".repeat(9 << 20));
    let answer = wrapped.ask(&long);
    assert!(answer["id"] == 5 && answer["error"]["message"].as_str().unwrap().contains("8 MiB"), "{answer}");
    let ping = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
    wrapped.send(ping);
    assert_eq!(wrapped.line(), ping);
    // An id stands for one request at a time; `cat` has not answered it.
    assert!(wrapped.ask(ping)["error"]["message"].as_str().unwrap().contains("in flight"));
    let (code, _, err) = wrapped.end();
    assert!(code == Some(0) && err.contains("without an id was dropped"), "{err}");
}

#[test]
fn a_server_is_held_to_the_policy_too() {
    let world = World::new("wrap-server");
    let said = r#"npx: installed 3
[{"jsonrpc":"2.0","id":1,"result":{}}]
{"jsonrpc":"2.0","id":77,"result":{"nobody":"asked"}}
{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[]}}
{"jsonrpc":"2.0","id":"r","method":"roots/list"}
{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"delete_all"},{"name":"read","x":1.0}],"nextCursor":"c"}}
"#;
    let file = world.file("said", said).display().to_string();
    // It speaks once it was asked, and shows on its error output what it was told.
    let script = "read a; cat \"$0\"; cat >&2";
    let mut wrapped = Wrapped::new(&world, &[], &["sh", "-c", script, &file]);
    wrapped.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(wrapped.line(), r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","x":1.0}],"nextCursor":"c"}}"#;
    assert_eq!(wrapped.line(), list);
    wrapped.send(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[]}}"#);
    // A second answer to it is one to nothing.
    wrapped.send(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[1]}}"#);
    let (code, out, err) = wrapped.end();
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(err.contains(r#""roots":[]"#) && !err.contains(r#""roots":[1]"#), "{err}");
    assert!(err.contains("sampling") && err.contains("\"code\":-1"), "{err}");
    assert!(err.contains("npx: installed 3") && err.contains("a request that nobody made"), "{err}");
}

#[test]
fn observing_lets_everything_through_and_records_it() {
    let world = World::new("wrap-observe");
    let mut wrapped = Wrapped::new(&world, &["--observe"], &["cat"]);
    let delete = call(1, "delete_file", &json!({}));
    wrapped.send(&delete);
    assert_eq!(wrapped.line(), delete);
    assert_eq!(wrapped.end().0, Some(0));
    let line = audit(&world).remove(0);
    assert_eq!((&line["decision"], &line["observed"]), (&json!("allow"), &json!("deny")));
}

#[test]
fn it_ends_as_the_server_ends() {
    let world = World::new("wrap-end");
    let mut wrapped = Wrapped::new(&world, &[], &["sh", "-c", "read a; exit 7"]);
    let answer = wrapped.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(answer["error"]["message"].as_str().unwrap().contains("has ended"), "{answer}");
    assert_eq!(wrapped.end().0, Some(7));
    let wrapped = Wrapped::new(&world, &[], &["no-such-program-here"]);
    let (code, _, err) = wrapped.end();
    assert!(code == Some(64) && err.contains("no-such-program-here"), "{err}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_proxy_leaves_nobody_behind() {
    let world = World::new("wrap-kill");
    // A tree as `npx` makes it; the inner one reads nothing and holds on.
    let pid = world.word("pid");
    let script = format!("sh -c 'echo $$ > {pid}; trap \"\" HUP; sleep 300; true' & wait");
    let mut wrapped = Wrapped::new(&world, &[], &["sh", "-c", &script]);
    let end = Instant::now() + Duration::from_secs(20);
    let inner = loop {
        if let Some(pid) = std::fs::read_to_string(&pid).ok().filter(|text| text.ends_with('\n')) {
            break pid.trim().to_owned();
        }
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(20));
    };
    wrapped.child.kill().unwrap();
    wrapped.child.wait().unwrap();
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{inner}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    let end = Instant::now() + Duration::from_secs(20);
    while alive() {
        assert!(Instant::now() < end, "{inner} lives");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_person_is_asked_while_other_calls_go_on() {
    let world = World::new("wrap-ask");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let asks = |id: u64, n: u64| call(id, "ask_me", &json!({ "b": n, "a": [1, 2] }));
    wrapped.send(&asks(1, 1));
    let (store, open) = questions(&world, 1);
    let question = &open[0].question;
    assert_eq!((question.tool.as_str(), question.arguments.as_str()), ("ask_me", r#"{"a":[1,2],"b":1}"#));
    assert_eq!(question.server.as_ref().unwrap().name, "s");
    assert!(question.said.iter().any(|said| said.rule.ends_with("questions")), "{question:?}");
    // Another call is not held up, and an id that waits is in flight.
    let other = call(2, "read", &json!({}));
    wrapped.send(&other);
    assert_eq!(wrapped.line(), other);
    assert!(wrapped.ask(&asks(1, 1))["error"]["message"].as_str().unwrap().contains("in flight"));
    store.answer(&open[0].id, Verdict::Once, Channel::Terminal).unwrap();
    assert_eq!(wrapped.line(), asks(1, 1));
    assert!(store.answer(&open[0].id, Verdict::Once, Channel::Terminal).is_err(), "it is used once");
    // The same again is asked again; approved for the session it is not.
    wrapped.send(&asks(3, 1));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Session, Channel::Page).unwrap();
    assert_eq!(wrapped.line(), asks(3, 1));
    // The order of keys does not count.
    let same = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"ask_me","arguments":{"a":[1,2],"b":1}}}"#;
    wrapped.send(same);
    assert_eq!(wrapped.line(), same);
    wrapped.send(&asks(5, 2));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Deny, Channel::Page).unwrap();
    let denied = wrapped.value();
    let text = denied["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("a person denied it") && !text.contains(&open[0].id), "{text}");
    // Cancelled: the question goes, nothing is answered.
    wrapped.send(&asks(6, 3));
    let (store, open) = questions(&world, 1);
    wrapped.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#);
    questions(&world, 0);
    assert!(store.answer(&open[0].id, Verdict::Once, Channel::Page).is_err());
    // Nobody answers in time.
    let late = wrapped.ask(&call(7, "hasty", &json!({})));
    let text = late["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(
        text.contains("nobody has approved it within 1 s") && !text.contains("policy approvals"),
        "{text}"
    );
    // The end of the input waits for a question.
    wrapped.send(&asks(8, 4));
    let (store, open) = questions(&world, 2);
    let id = open.iter().find(|open| open.question.tool == "ask_me").unwrap().id.clone();
    drop(wrapped.stdin.take());
    store.answer(&id, Verdict::Once, Channel::Page).unwrap();
    let (code, out, _) = wrapped.end();
    assert!(code == Some(0) && out.contains(&asks(8, 4)), "{out}");
    let lines = audit(&world);
    let reasons: Vec<&str> = lines.iter().filter_map(|line| line["reason"].as_str()).collect();
    for reason in [
        "approved it once, at a terminal",
        "approved it for this session",
        "denied it on the page",
        "was cancelled",
    ] {
        assert!(reasons.iter().any(|own| own.contains(reason)), "{reason}: {reasons:?}");
    }
}

#[test]
fn an_error_in_the_policy_is_told_until_it_is_mended() {
    let world = World::new("wrap-notice");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let read = |id: u64| call(id, "read", &json!({}));
    wrapped.send(&read(1));
    assert_eq!(wrapped.line(), read(1));
    let folder = world.path("home/.local/state/policy/approvals");
    assert!(!folder.exists(), "nothing to say, so nothing is opened");
    world.file("p.policy", format!("{POLICY}\nrule x on read {{\n  alow path \"./**\"\n}}\n"));
    // Files are taken for unchanged for a moment.
    std::thread::sleep(Duration::from_millis(200));
    wrapped.send(&read(2));
    let (store, open) = questions(&world, 1);
    let told = store.notices().unwrap();
    let [notice] = told.as_slice() else { panic!("{told:?}") };
    assert!(notice.file.ends_with("p.policy") && notice.place.contains("p.policy:"), "{notice:?}");
    assert!(notice.code.starts_with("policy::parse::") && notice.message.contains("alow"), "{notice:?}");
    assert!(!notice.help.is_empty() && notice.until == notice.since + 600_000, "{notice:?}");
    assert!(open[0].question.said.iter().any(|said| said.reason.contains("cannot be used")), "{open:?}");
    store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
    assert_eq!(wrapped.line(), read(2));
    // It goes without a call.
    world.file("p.policy", POLICY);
    let end = Instant::now() + Duration::from_secs(30);
    while !store.notices().unwrap().is_empty() {
        assert!(Instant::now() < end, "it stays");
        std::thread::sleep(Duration::from_millis(50));
    }
    wrapped.send(&read(3));
    assert_eq!(wrapped.line(), read(3));
    let (_, _, err) = wrapped.end();
    let count = |part: &str| err.lines().filter(|line| line.contains(part)).count();
    assert_eq!((count("` cannot be used"), count("can be used again")), (1, 1), "{err}");
}

#[test]
fn a_person_sees_the_commands_and_the_change() {
    let world = World::new("wrap-shown");
    let file = world.file("repo/a.txt", "one\ntwo\nthree\n");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let edit = json!({"path": file.display().to_string(), "content": "one\n2\nthree\n"});
    wrapped.send(&call(1, "ask_write_file", &edit));
    let (_, open) = questions(&world, 1);
    let diff = &open[0].question.shown.diff;
    assert!(diff.contains("@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"), "{diff}");
    wrapped.send(&call(2, "ask_execute_command", &json!({"command": "cat a.txt | sh -c 'rm -r build'"})));
    let (store, open) = questions(&world, 2);
    let commands = &open[1].question.shown.commands;
    let starts = |text: &str| commands.iter().any(|line| line.starts_with(text));
    assert!(starts("command  cat a.txt") && starts("command  rm -r build"), "{commands:?}");
    for open in open {
        store.answer(&open.id, Verdict::Deny, Channel::Page).unwrap();
        wrapped.value();
    }
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn what_was_approved_is_what_runs() {
    let world = World::new("wrap-swap");
    let script = world.file("repo/run.sh", "echo good\n");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let run = call(1, "ask_execute_command", &json!({ "command": "bash ./run.sh" }));
    wrapped.send(&run);
    let (store, open) = questions(&world, 1);
    std::fs::write(&script, "echo bad\n").unwrap();
    assert!(
        store.answer(&open[0].id, Verdict::Once, Channel::Page).is_err(),
        "{:?}",
        open[0].question.operands
    );
    let answer = wrapped.value();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

#[test]
fn a_client_that_shows_forms_is_asked_in_both_eras() {
    let world = World::new("wrap-form");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}"#;
    wrapped.send(hello);
    assert_eq!(wrapped.line(), hello);
    let asks = |id: u64, n: u64| call(id, "ask_me", &json!({ "n": n }));
    let answer =
        |id: &Value, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let form = wrapped.ask(&asks(1, 1));
    assert!(
        form["method"] == "elicitation/create"
            && form["params"]["message"].as_str().unwrap().contains("ask_me"),
        "{form}"
    );
    wrapped.send(&answer(&form["id"], json!({"action": "accept", "content": {"decision": "approve once"}})));
    assert_eq!(wrapped.line(), asks(1, 1));
    // The same answer again is a response to nothing, and another call is asked anew.
    wrapped.send(&answer(&form["id"], json!({"action": "accept", "content": {"decision": "approve once"}})));
    let form = wrapped.ask(&asks(2, 2));
    wrapped.send(&answer(&form["id"], json!({"action": "accept", "content": {"decision": "yes"}})));
    assert_eq!(wrapped.value()["result"]["isError"], true);
    // Answered elsewhere: the form is taken back.
    let form = wrapped.ask(&asks(3, 3));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
    let (first, second) = (wrapped.line(), wrapped.line());
    let cancelled = if first == asks(3, 3) { second } else { first };
    assert!(
        cancelled.contains("notifications/cancelled") && cancelled.contains(form["id"].as_str().unwrap()),
        "{cancelled}"
    );

    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}});
    let modern = |id: u64, n: u64, more: Value| {
        let mut params = json!({"name": "ask_me", "arguments": {"n": n}, "_meta": meta});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let required = wrapped.ask(&modern(4, 4, json!({})));
    let result = &required["result"];
    assert!(
        result["resultType"] == "input_required"
            && result["inputRequests"]["policy.ask"]["method"] == "elicitation/create",
        "{required}"
    );
    let yes = json!({"action": "accept", "content": {"decision": "approve once"}});
    let back = |id: u64, n: u64| {
        modern(id, n, json!({"inputResponses": {"policy.ask": yes}, "requestState": result["requestState"]}))
    };
    wrapped.send(&back(5, 4));
    // What reaches the server is the call alone.
    assert_eq!(wrapped.line(), modern(5, 4, json!({})));
    // The state is used once, and belongs to that call.
    assert_eq!(wrapped.ask(&back(6, 4))["result"]["resultType"], "input_required");
    let other = wrapped.ask(&modern(7, 7, json!({})));
    let stolen = modern(
        8,
        8,
        json!({"inputResponses": {"policy.ask": yes}, "requestState": other["result"]["requestState"]}),
    );
    assert_ne!(wrapped.ask(&stolen)["method"], "tools/call");
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn a_call_that_is_asked_about_counts_once_and_its_lines_name_what_asked() {
    let world = World::new("wrap-once");
    world.file(
        "p.policy",
        "policy \"p\" language 1\n\ndefault allow\n\nguard few on pay {\n  ask\n  deny calls over 2 per 1h\n}\n",
    );
    let mut wrapped = Wrapped::over(&world, &[], &["cat"]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}});
    let modern = |id: u64, more: Value| {
        let mut params = json!({"name": "pay", "arguments": {"n": 1}, "_meta": meta});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    // One in the era of forms inside results, which takes two requests, one that waits.
    let asked = wrapped.ask(&modern(1, json!({})));
    let yes = json!({"action": "accept", "content": {"decision": "approve once"}});
    let state = &asked["result"]["requestState"];
    wrapped.send(&modern(2, json!({"inputResponses": {"policy.ask": yes}, "requestState": state})));
    assert_eq!(wrapped.line(), modern(2, json!({})));
    let pay = call(3, "pay", &json!({ "n": 3 }));
    wrapped.send(&pay);
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
    assert_eq!(wrapped.line(), pay);
    let third = wrapped.ask(&call(4, "pay", &json!({ "n": 4 })));
    assert!(third["result"]["content"][0]["text"].as_str().unwrap().contains("3 calls"), "{third}");
    assert_eq!(wrapped.end().0, Some(0));
    let lines = audit(&world);
    let told: Vec<(&str, bool)> =
        lines.iter().map(|line| (line["decision"].as_str().unwrap(), line["asked"] == true)).collect();
    assert_eq!(told, [("ask", false), ("allow", true), ("ask", false), ("allow", true), ("deny", false)]);
    assert!(lines.iter().all(|line| line["rule"] == "few"), "{lines:?}");
    assert!(
        lines[3]["reason"].as_str().unwrap().contains("a person approved it once, on the page"),
        "{lines:?}"
    );
}

#[test]
fn what_the_policy_wants_on_the_page_is_no_form_in_either_era() {
    let world = World::new("wrap-page");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}"#;
    wrapped.send(hello);
    assert_eq!(wrapped.line(), hello);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}});
    let params = json!({"name": "money", "arguments": {"n": 2}, "_meta": meta});
    let modern = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}).to_string();
    for pay in [call(1, "money", &json!({"n": 1})), modern] {
        wrapped.send(&pay);
        let (store, open) = questions(&world, 1);
        assert!(open[0].question.page_only);
        for channel in [Channel::Terminal, Channel::Elicit] {
            assert!(store.answer(&open[0].id, Verdict::Once, channel).is_err(), "{channel:?}");
        }
        store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
        // The first that the client hears of it is that it was made.
        assert_eq!(wrapped.line(), pay);
    }
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn servers_of_continue_are_wrapped_in_all_their_files() {
    let world = World::new("wrap-continue");
    let one =
        "# mine\nname: One\nmcpServers:\n  - name: fs # files\n    command: npx\n    args:\n      - fs\n";
    let home = world.file("home/.continue/config.yaml", one);
    let two = one.replace("name: fs", "name: two");
    let project = world.file("repo/.continue/mcpServers/two.yaml", &two);
    world.file("repo/.continue/mcpServers/notes.txt", "mcpServers:\n");
    let output = world.run(&["wrap", "--install", "continue"], b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for (file, name, before) in [(&home, "fs", one), (&project, "two", two.as_str())] {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("# mine") && text.contains("# files"), "{text}");
        let wraps =
            format!("- wrap\n      - \"--name\"\n      - {name}\n      - \"--\"\n      - npx\n      - fs\n");
        assert!(text.contains(&wraps), "{text}");
        let kept = file.with_file_name(format!("{}.before-policy", file.file_name().unwrap().display()));
        assert_eq!(std::fs::read_to_string(kept).unwrap(), before);
    }
    let output = world.run(&["wrap", "--uninstall", "continue"], b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(std::fs::read_to_string(&home).unwrap(), one);
    assert_eq!(std::fs::read_to_string(&project).unwrap(), two);
}
