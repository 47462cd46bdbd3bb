//! What the audit and the counts tell of a call that a person was asked about: one call, however often it was looked at.
//!
//! INVARIANT: a limit counts each call of a client once, and its lines say which call they are about.

use crate::support::{World, feed};
use crate::wrapped::{Wrapped, audit, call, questions};
use policy_approvals::{Channel, Verdict};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Each call is asked about, and the third in an hour is denied.
const LIMITED: &str = "policy \"p\" language 1

default allow

guard limit on \"ask*\", Bash {
  deny calls over 2 per 1h because \"two are enough\"
}

guard asks on \"ask*\", Bash {
  ask
}
";

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Decision, rule and answer of each line about one call.
fn lines_of(lines: &[Value], arguments: &str) -> Vec<(String, String, String)> {
    let word = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let own = lines.iter().filter(|line| line["arguments"].as_str() == Some(arguments));
    own.map(|line| (word(line, "decision"), word(line, "rule"), word(line, "answered"))).collect()
}

fn said(decision: &str, answered: &str) -> (String, String, String) {
    (decision.to_owned(), "asks".to_owned(), answered.to_owned())
}

#[test]
fn a_call_that_a_person_was_asked_about_counts_once_and_its_lines_are_one_call() {
    let world = World::new("wrap-audit-once");
    world.file("p.policy", LIMITED);
    let mut wrapped = Wrapped::over(&world, &[], &["cat"]);
    let asks = |n: u64| call(n, "ask_me", &json!({ "n": n }));
    // One is approved, one is not, and both are one of two.
    wrapped.send(&asks(1));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Once, Channel::Terminal).unwrap();
    assert_eq!(wrapped.line(), asks(1));
    wrapped.send(&asks(2));
    let (store, open) = questions(&world, 1);
    store.answer(&open[0].id, Verdict::Deny, Channel::Page).unwrap();
    let denied = wrapped.value()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(denied.contains("a person denied it on the page") && denied.contains("asks ("), "{denied}");
    let third = wrapped.ask(&asks(3))["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(third.contains("two are enough"), "{third}");
    assert_eq!(wrapped.end().0, Some(0));
    let lines = audit(&world);
    assert_eq!(lines_of(&lines, r#"{"n":1}"#), [said("ask", ""), said("allow", "terminal")]);
    assert_eq!(lines_of(&lines, r#"{"n":2}"#), [said("ask", ""), said("deny", "page")]);
    assert_eq!(lines[0]["place"], lines[1]["place"]);
    let calls: Vec<&str> = lines.iter().map(|line| line["call"].as_str().unwrap_or_default()).collect();
    assert!(calls[0] == calls[1] && calls[2] == calls[3] && calls[0] != calls[2], "{calls:?}");
    assert!(!calls[0].is_empty() && calls[4].is_empty(), "{calls:?}");
    // Three calls in five lines, and what a person said is found under the rule that asked.
    let show = |words: &[&str]| text(&world.run(&[&["audit"], words].concat(), b"").stdout);
    let summary: Value = serde_json::from_str(&show(&["--summary", "--format", "json"])).unwrap();
    assert_eq!((&summary["lines"], &summary["calls"]), (&json!(5), &json!(3)), "{summary}");
    assert_eq!(summary["decision"], json!({"allow": 1, "deny": 2}), "{summary}");
    assert!(show(&["--summary"]).starts_with("5 lines of 3 calls"), "{}", show(&["--summary"]));
    let found = show(&["--rule", "asks", "--decision", "allow"]);
    assert!(
        found.contains("asks (") && found.contains("a person approved it once, at a terminal"),
        "{found}"
    );
}

#[test]
fn a_call_that_comes_back_with_its_form_is_the_call_of_before() {
    let world = World::new("wrap-audit-form");
    world.file("p.policy", LIMITED);
    let mut wrapped = Wrapped::over(&world, &[], &["cat"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let modern = |id: u64, n: u64, more: Value| {
        let mut params = json!({"name": "ask_me", "arguments": {"n": n}, "_meta": meta});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let yes = json!({"action": "accept", "content": {"decision": "approve once"}});
    for n in [1, 2] {
        let required = wrapped.ask(&modern(2 * n, n, json!({})));
        let state = &required["result"]["requestState"];
        assert!(state.is_string(), "{required}");
        let back = json!({"inputResponses": {"policy.ask": yes}, "requestState": state});
        wrapped.send(&modern(2 * n + 1, n, back));
        assert_eq!(wrapped.line(), modern(2 * n + 1, n, json!({})));
    }
    let third = wrapped.ask(&modern(9, 3, json!({})))["result"]["content"][0]["text"].to_string();
    assert!(third.contains("two are enough"), "{third}");
    assert_eq!(wrapped.end().0, Some(0));
    let lines = audit(&world);
    for arguments in [r#"{"n":1}"#, r#"{"n":2}"#] {
        assert_eq!(lines_of(&lines, arguments), [said("ask", ""), said("allow", "client")]);
    }
    assert_eq!(lines[0]["call"], lines[1]["call"]);
}

#[test]
fn questions_over_the_limit_have_a_line_of_their_end() {
    let world = World::new("wrap-audit-many");
    let mut wrapped = Wrapped::new(&world, &[], &["cat"]);
    for n in 1..=4 {
        wrapped.send(&call(n, "ask_me", &json!({ "n": n })));
    }
    let (store, open) = questions(&world, 3);
    let text = wrapped.value()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("3 questions wait for a person already") && text.contains("questions ("), "{text}");
    for open in open {
        store.answer(&open.id, Verdict::Deny, Channel::Page).unwrap();
        wrapped.value();
    }
    assert_eq!(wrapped.end().0, Some(0));
    let ends = audit(&world).into_iter().filter(|line| line["decision"] == "deny");
    let by: Vec<String> = ends.map(|line| line["answered"].as_str().unwrap().to_owned()).collect();
    assert_eq!(by, ["nobody", "page", "page", "page"]);
}

#[test]
fn a_hook_that_waits_for_a_person_counts_a_call_once() {
    let world = World::new("hook-audit-once");
    let policy = world.file("p.policy", LIMITED).display().to_string();
    world.run(&["check", "Bash", "{\"command\": \"ls\"}", "--policy", &policy], b"");
    let answer = |n: u64, verdict: Option<Verdict>| {
        let event = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s",
            "tool_input": {"command": format!("touch {n}")},
        });
        let mut command = Command::new(env!("CARGO_BIN_EXE_policy"));
        command.args([
            "hook",
            "--home",
            &world.word("home"),
            "--policy",
            &policy,
            "--host",
            "codex",
            "--wait",
            "60",
        ]);
        command.current_dir(world.path("repo"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        std::thread::scope(|scope| {
            let running = scope.spawn(|| feed(&mut command, event.to_string().as_bytes()));
            if let Some(verdict) = verdict {
                let (store, open) = questions(&world, 1);
                store.answer(&open[0].id, verdict, Channel::Page).unwrap();
            }
            text(&running.join().unwrap().stdout)
        })
    };
    for n in [1, 2] {
        let approved = answer(n, Some(Verdict::Once));
        assert!(!approved.contains("deny"), "{approved}");
    }
    assert!(answer(3, None).contains("two are enough"));
    let lines = audit(&world);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!((&lines[0]["rule"], &lines[0]["answered"]), (&json!("asks"), &json!("page")));
}
