//! What a wrapped server gives back, under policies that look at it.
//!
//! INVARIANT: the server answers each request with what its file says at that moment, and lists its own notifications there too.

use crate::support::World;
use crate::wrapped::{Wrapped, audit};
use serde_json::{Value, json};

const SERVER: &str = r#"while IFS= read -r line; do cat "$0/answer"; done"#;
const KEY: &str = "AKIAZ7QK4MNBV2XWE5TD";
const POLICY: &str = "policy \"p\" language 1

use std/secrets

default deny

rule all on \"*\" {
  otherwise allow
}

guard keys on read, read_resource, get_prompt at post_tool_use {
  deny content secret  because \"what is read is sent to a model\"
}

guard words on read at post_tool_use {
  deny content r\"wordless-[a-z]{9}\"
}

guard doubts on read at post_tool_use {
  ask content r\"doubtful-[a-z]{9}\"
}

guard failures on fails at post_tool_use_failure {
  deny content r\"failing-[a-z]{9}\"
}
";

fn start(name: &str, policy: &str, options: &[&str]) -> (World, Wrapped) {
    let world = World::new(name);
    world.file("p.policy", policy);
    world.file("server/answer", "");
    let wrapped = Wrapped::over(&world, options, &["sh", "-c", SERVER, &world.word("server")]);
    (world, wrapped)
}

/// What comes back for a request when the server answers with this line.
fn given(world: &World, wrapped: &mut Wrapped, request: &Value, answer: &str) -> String {
    let new = world.file("server/new", format!("{answer}\n"));
    std::fs::rename(new, world.path("server/answer")).unwrap();
    wrapped.send(&request.to_string());
    wrapped.line()
}

fn value(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn call(tool: &str) -> Value {
    request("tools/call", &json!({"name": tool, "arguments": {}}))
}

fn results(world: &World) -> Vec<Value> {
    let lines = audit(world);
    lines.into_iter().filter(|line| line["event"].as_str().unwrap().starts_with("post")).collect()
}

#[test]
fn secrets_are_taken_out_and_the_rest_stays() {
    let (world, mut wrapped) = start("results-secrets", POLICY, &[]);
    let clean =
        r#"{"jsonrpc":"2.0", "id":1,"result":{"content":[ {"type":"text","text":"\u00fc 1.0"}],"x":1.0}}"#;
    assert_eq!(given(&world, &mut wrapped, &call("read"), clean), clean, "no byte changes");
    assert!(results(&world).is_empty());
    let text = format!(
        r#"{{"jsonrpc":"2.0", "id":1,"result":{{"content":[{{"type":"text","text":"id {KEY} end"}}],"structuredContent":{{"n":7,"id":"{KEY}"}}}}}}"#
    );
    let back = given(&world, &mut wrapped, &call("read"), &text);
    assert!(back.starts_with(r#"{"jsonrpc":"2.0", "id":1,"result":"#) && !back.contains(KEY), "{back}");
    let result = &value(&back)["result"];
    assert_eq!(result["content"][0]["text"], "id [secret removed: aws-access-key-id] end");
    assert_eq!(
        result["structuredContent"],
        json!({"n": 7, "id": "[secret removed: aws-access-key-id]"}),
        "its shape stays"
    );
    let told = result["content"][1]["text"].as_str().unwrap();
    assert!(
        told.contains("replaced by marks") && told.contains("keys (") && told.contains("sent to a model"),
        "{told}"
    );
    let lines = results(&world);
    assert_eq!((lines.len(), &lines[0]["decision"]), (1, &json!("deny")), "{lines:?}");
    assert!(!lines[0].to_string().contains(KEY), "{lines:?}");
    // A tool that no line speaks of, an answer to something else.
    assert_eq!(given(&world, &mut wrapped, &call("list"), &text), text);
    assert_eq!(given(&world, &mut wrapped, &request("ping", &json!({})), &text), text);
    // What a client reads of the server, and errors.
    for (method, params, inside) in [
        (
            "resources/read",
            json!({"uri": "memo://a"}),
            format!(r#""result":{{"contents":[{{"uri":"memo://a","text":"{KEY}"}}]}}"#),
        ),
        (
            "prompts/get",
            json!({"name": "a"}),
            format!(
                r#""result":{{"messages":[{{"role":"user","content":{{"type":"text","text":"{KEY}"}}}}]}}"#
            ),
        ),
        (
            "tools/call",
            json!({"name": "read"}),
            format!(r#""error":{{"code":-32000,"message":"no {KEY}","data":["{KEY}"]}}"#),
        ),
    ] {
        let back = given(
            &world,
            &mut wrapped,
            &request(method, &params),
            &format!(r#"{{"jsonrpc":"2.0","id":1,{inside}}}"#),
        );
        assert!(!back.contains(KEY) && back.contains("[secret removed"), "{back}");
        assert_eq!(
            value(&back)["error"]["code"],
            if method == "tools/call" { json!(-32000) } else { Value::Null }
        );
    }
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn what_is_refused_or_cannot_be_read_is_withheld_with_the_reason() {
    let (world, mut wrapped) = start("results-withheld", POLICY, &["--ask", "deny"]);
    for (inside, why) in [
        (r#""result":{"content":[{"type":"text","text":"wordless-abcdefghi"}]}"#, "words ("),
        (r#""result":{"content":[],"structuredContent":{"a":{"b":["doubtful-abcdefghi"]}}}"#, "doubts ("),
        (r#""result":{"content":[],"isError":true,"x":"wordless-abcdefghi"}"#, "words ("),
        (r#""error":{"code":1,"message":"wordless-abcdefghi"}"#, "words ("),
        // Two readers could find two texts in it.
        (r#""result":{"content":[],"a":"wordless-abcdefghi","a":""}"#, "cannot be read"),
    ] {
        let back =
            given(&world, &mut wrapped, &call("read"), &format!(r#"{{"jsonrpc":"2.0","id":1,{inside}}}"#));
        let result = &value(&back)["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{back}"));
        assert!(result["isError"] == true && text.contains("withheld") && text.contains(why), "{text}");
        assert!(!back.contains("abcdefghi\"") && !text.contains("same answer"), "{back}");
    }
    let failing = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"failing-abcdefghi"}],"isError":false}}"#;
    assert_eq!(given(&world, &mut wrapped, &call("fails"), failing), failing, "it did not fail");
    let back = given(&world, &mut wrapped, &call("fails"), &failing.replace("false", "true"));
    assert!(back.contains("withheld") && back.contains("failures ("), "{back}");
    assert_eq!(results(&world).len(), 5, "what cannot be read was not judged");
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn a_task_gives_back_what_its_call_may() {
    let (world, mut wrapped) = start("results-tasks", POLICY, &[]);
    let text =
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{KEY}"}}]}}}}"#);
    for (tool, begun, seen) in [
        ("read", r#""result":{"task":{"taskId":"t1","status":"working"}}"#, false),
        ("list", r#""result":{"resultType":"task","taskId":"t2"}"#, true),
    ] {
        let begun = format!(r#"{{"jsonrpc":"2.0","id":1,{begun}}}"#);
        assert_eq!(given(&world, &mut wrapped, &call(tool), &begun), begun);
        let id = if tool == "read" { "t1" } else { "t2" };
        for method in ["tasks/result", "tasks/get"] {
            let back = given(&world, &mut wrapped, &request(method, &json!({"taskId": id})), &text);
            assert_eq!(back.contains(KEY), seen, "{method} {back}");
        }
        let told = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{{"taskId":"{id}","statusMessage":"{KEY}"}}}}"#
        );
        let back = given(&world, &mut wrapped, &request("ping", &json!({})), &told);
        assert_eq!(back.contains(KEY), seen, "{back}");
        // Answers the `ping`, so that the number is free again.
        assert_eq!(
            given(&world, &mut wrapped, &json!({"jsonrpc": "2.0", "method": "notifications/x"}), &text),
            text
        );
    }
    let back = given(&world, &mut wrapped, &request("tasks/result", &json!({"taskId": "t9"})), &text);
    assert!(!back.contains(KEY) && back.contains("which call began it"), "{back}");
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn observing_records_and_passes() {
    let (world, mut wrapped) = start("results-observe", POLICY, &["--observe"]);
    let text =
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{KEY}"}}]}}}}"#);
    assert_eq!(given(&world, &mut wrapped, &call("read"), &text), text);
    let lines = results(&world);
    assert!(
        lines.len() == 1 && lines[0]["decision"] == "allow" && lines[0]["observed"] == "deny",
        "{lines:?}"
    );
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn a_policy_that_looks_at_no_result_reads_none() {
    let policy = "policy \"p\" language 1\n\ndefault allow\n";
    let (world, mut wrapped) = start("results-unread", policy, &[]);
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#;
    assert_eq!(given(&world, &mut wrapped, &call("read"), text), text);
    assert_eq!(given(&world, &mut wrapped, &request("tasks/get", &json!({"taskId": "t"})), text), text);
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn a_session_remembers_what_was_given_back() {
    let policy = "policy \"p\" language 1

default allow

guard orders on read at post_tool_use {
  warn content r\"give-orders\"  then flag session
}

guard sends on send {
  deny when session flagged  because \"a page gave orders\"
}
";
    let (world, mut wrapped) = start("results-flag", policy, &[]);
    let text = |word: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{word}"}}]}}}}"#)
    };
    for (tool, word, passes) in [
        ("send", "ok", true),
        ("read", "fine", true),
        ("send", "ok", true),
        ("read", "give-orders", true),
        ("send", "ok", false),
    ] {
        let back = given(&world, &mut wrapped, &call(tool), &text(word));
        assert_eq!(back == text(word), passes, "{back}");
    }
    let lines = results(&world);
    assert_eq!(lines.len(), 1, "what a guard remarks is written down: {lines:?}");
    assert_eq!(wrapped.end().0, Some(0));
}
