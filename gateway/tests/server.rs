//! The server behind a client of the protocol's own library, in one process: every tool, every resource, every kind of error.
//!
//! INVARIANT: each test has a home and a project of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use policy_engine::layers::Default_;
use policy_engine::places::Folders;
use policy_gateway::mcp::{Server, Start, Surroundings};
use rmcp::model::{CallToolRequestParams, CallToolResult, ReadResourceRequestParams, ResourceContents};
use rmcp::service::{Peer, RoleClient, RunningService};
use rmcp::{ServiceError, ServiceExt};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// A home and a project that end with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str, policy: &str) -> Place {
        let root = std::env::temp_dir().join(format!("policy-gateway-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(root.join("home/.config/policy")).unwrap();
        std::fs::create_dir_all(root.join("repo/.git")).unwrap();
        if !policy.is_empty() {
            std::fs::write(root.join("home/.config/policy/agent.policy"), policy).unwrap();
        }
        Place(std::fs::canonicalize(root).unwrap())
    }

    fn start(&self) -> Start {
        let project = self.0.join("repo");
        Start {
            folders: Folders::under(&self.0.join("home")),
            surroundings: Surroundings::of(None, Some(&project), |_| None),
            policy: None,
            default: Default_::Std,
            label: None,
            record: None,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const POLICY: &str = "policy \"test\" language 1

default host

use std/git

rule notes on Write, Edit {
  allow path \"./notes/**\"
}

guard no-marker at pre_tool_use {
  because \"the marker must not be written\"
  suggest \"leave it out\"

  deny content r\"MARKER-[0-9]{4}\"
}

guard a-note {
  warn content r\"NOTE-[0-9]{4}\" because \"a note\"
}

guard no-make on Bash {
  because \"make is not used here\"

  warn run `make ...`
}
";

type Client = RunningService<RoleClient, ()>;

async fn client(place: &Place) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = Server::new(place.start());
    tokio::spawn(async move {
        let service = server.serve(ours).await.unwrap();
        service.waiting().await.unwrap();
    });
    ().serve(theirs).await.unwrap()
}

async fn call(client: &Peer<RoleClient>, tool: &'static str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap()
}

fn text(result: &CallToolResult) -> Value {
    assert_eq!(result.content.len(), 1);
    serde_json::from_str(&result.content[0].as_text().unwrap().text).unwrap()
}

/// The answer, which must stand in the structured content too.
fn good(result: &CallToolResult) -> Value {
    let value = text(result);
    assert_ne!(result.is_error, Some(true), "{value}");
    let structured = result.structured_content.clone().unwrap();
    assert_eq!(if value.is_array() { structured["result"].clone() } else { structured }, value);
    value
}

/// The error, with the field it names.
fn bad(result: &CallToolResult) -> (String, String) {
    assert_eq!(result.is_error, Some(true), "{result:?}");
    let value = text(result);
    let value = if value.is_array() { value[0].clone() } else { value };
    let part = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    (part("field"), part("error"))
}

fn rules(violations: &Value) -> Vec<String> {
    let list = violations.as_array().unwrap();
    list.iter()
        .map(|one| format!("{} {}", one["rule_id"].as_str().unwrap(), one["severity"].as_str().unwrap()))
        .collect()
}

#[tokio::test]
async fn every_tool_is_listed_and_answers() {
    let place = Place::new("tools", POLICY);
    let client = client(&place).await;
    let info = client.peer_info().unwrap();
    let server = serde_json::to_value(&*info).unwrap()["serverInfo"].clone();
    assert_eq!(
        (server["name"].as_str(), server["version"].as_str()),
        (Some("policy"), Some(env!("CARGO_PKG_VERSION")))
    );
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    for name in [
        "check_content",
        "check_patch",
        "check_event",
        "list_rules",
        "get_config",
        "get_session",
        "suppress_rule",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    for tool in &tools {
        let hints = tool.annotations.as_ref().unwrap();
        let writes = ["suppress_rule", "check_payment", "file_context", "report_settlement"];
        assert_eq!(hints.read_only_hint, Some(!writes.contains(&&*tool.name)), "{}", tool.name);
        assert_eq!((hints.destructive_hint, hints.open_world_hint), (Some(false), Some(false)));
        assert!(tool.output_schema.is_some() && tool.description.is_some());
    }
    let clean =
        call(&client, "check_content", json!({"content": "x = 1\n", "file_path": "notes/a.txt"})).await;
    assert_eq!(good(&clean), json!([]));
    let found =
        call(&client, "check_content", json!({"content": "a\nMARKER-1234\n", "file_path": "notes/a.txt"}))
            .await;
    let found = good(&found);
    assert_eq!(rules(&found), ["no-marker error"]);
    let one = &found[0];
    assert_eq!(
        (&one["line"], &one["file_path"], &one["operation"]),
        (&json!(2), &json!("notes/a.txt"), &json!("Write"))
    );
    assert_eq!(
        (&one["message"], &one["suggestion"]),
        (&json!("the marker must not be written"), &json!("leave it out"))
    );
    assert!(one["policy_source"].as_str().unwrap().contains("agent.policy, line"), "{one}");
    let bash = json!({"content": "git push --force origin main", "file_path": "", "tool_name": "Bash"});
    let found = good(&call(&client, "check_content", bash).await);
    assert_eq!(
        (&found[0]["severity"], &found[0]["file_path"], &found[0]["operation"]),
        (&json!("error"), &json!(null), &json!("git"))
    );
    let event = json!({"event": "pre_tool_use", "tool_name": "Write", "tool_input": {"file_path": "notes/a", "content": "NOTE-1234"}});
    assert_eq!(rules(&good(&call(&client, "check_event", event).await)), ["a-note warning"]);
    let command =
        good(&call(&client, "check_command", json!({"command": "git push --force origin main"})).await);
    assert_eq!(command["decision"], "deny");
    assert!(command["rule"].as_str().unwrap().starts_with("std/git/"), "{command}");
    let explained = json!({"tool_name": "Bash", "tool_input": {"command": "git push --force origin main"}});
    let explained = good(&call(&client, "explain", explained).await);
    assert_eq!(explained["decision"], "deny");
    assert!(
        explained["touches"]
            .as_array()
            .unwrap()
            .iter()
            .any(|line| line.as_str().unwrap().contains("git push"))
    );
    let listed = good(&call(&client, "list_rules", json!({})).await);
    let listed = listed.as_array().unwrap();
    assert!(
        listed
            .iter()
            .any(|rule| rule["id"] == "no-marker" && rule["pack"] == "user" && rule["severity"] == "error")
    );
    assert!(listed.iter().any(|rule| rule["pack"] == "secrets" && rule["events"] == json!(["PreToolUse"])));
    let git = good(&call(&client, "list_rules", json!({"pack": "git"})).await);
    assert!(git.as_array().unwrap().iter().all(|rule| rule["pack"] == "git"));
    let config = good(&call(&client, "get_config", json!({})).await);
    assert!(config["packs"].as_array().unwrap().contains(&json!("git")), "{config}");
    assert_eq!((&config["custom_rules_dir"], &config["severity"]), (&json!(null), &json!("standard")));
    assert_eq!(good(&call(&client, "get_session", json!({})).await), json!({}));
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_suppression_hides_warnings_for_this_session_and_never_errors() {
    let place = Place::new("suppress", POLICY);
    let client = client(&place).await;
    let event = || {
        json!({"event": "pre_tool_use", "tool_name": "Write",
                          "tool_input": {"file_path": "notes/a", "content": "NOTE-1234 MARKER-1234"}})
    };
    assert_eq!(
        rules(&good(&call(&client, "check_event", event()).await)),
        ["no-marker error", "a-note warning"]
    );
    for (count, rule) in [(1, "a-note"), (1, "a-note"), (2, "no-marker")] {
        let answer = good(&call(&client, "suppress_rule", json!({"rule_id": rule})).await);
        assert_eq!((&answer["suppressed"], &answer["total_suppressed"]), (&json!(rule), &json!(count)));
        assert!(answer["lasts"].as_str().unwrap().contains("process"));
        assert_eq!(answer.get("note").is_some(), rule == "no-marker");
    }
    assert_eq!(rules(&good(&call(&client, "check_event", event()).await)), ["no-marker error"]);
    let state = good(&call(&client, "get_session", json!({})).await);
    assert_eq!(state["suppressed_rules"], json!(["a-note", "no-marker"]));
    let (field, message) = bad(&call(&client, "suppress_rule", json!({"rule_id": "a-noet"})).await);
    assert_eq!((field.as_str(), message.contains("did you mean `a-note`?")), ("rule_id", true), "{message}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_patch_is_checked_file_by_file_and_nothing_is_written() {
    let place = Place::new("patch", POLICY);
    let repo = place.0.join("repo");
    std::fs::create_dir_all(repo.join("notes")).unwrap();
    std::fs::write(repo.join("notes/a.txt"), "one\ntwo\none\ntwo\n").unwrap();
    let client = client(&place).await;
    let patch = |body: &str| json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")});
    let answer = good(&call(&client, "check_patch", patch("*** Add File: notes/b.txt\n+fine")).await);
    assert_eq!(answer, json!({"decision": "allow", "violations": []}));
    let marked = patch("*** Add File: notes/b.txt\n+a\n+MARKER-1234\n*** Add File: notes/c.txt\n+NOTE-1234");
    let answer = good(&call(&client, "check_patch", marked).await);
    assert_eq!(answer["decision"], "deny");
    assert_eq!(rules(&answer["violations"]), ["no-marker error", "a-note warning"], "{answer}");
    let first = &answer["violations"][0];
    assert_eq!((&first["file_path"], &first["line"]), (&json!("notes/b.txt"), &json!(2)));
    assert_eq!(answer["violations"][1]["file_path"], "notes/c.txt");
    for (body, part) in [
        ("*** Update File: notes/a.txt\n@@\n-two\n+three", "ambiguous"),
        ("*** Update File: notes/a.txt\n@@\n-nothing\n+three", "missing"),
        ("*** Update File: ../a.txt\n@@\n-two\n+three", "boundary"),
        ("what", "syntax"),
    ] {
        let answer = good(&call(&client, "check_patch", patch(body)).await);
        let one = &answer["violations"][0];
        assert_eq!(
            (&answer["decision"], &one["rule_id"]),
            (&json!("deny"), &json!("codex-patch-inspection"))
        );
        assert!(one["message"].as_str().unwrap().starts_with(part), "{one}");
    }
    let inside = json!({"patch": "*** Begin Patch\n*** Add File: d.txt\n+x\n*** End Patch", "cwd": "notes"});
    assert_eq!(good(&call(&client, "check_patch", inside).await)["decision"], "allow");
    let left: Vec<_> = std::fs::read_dir(repo.join("notes")).unwrap().collect();
    assert_eq!(left.len(), 1);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn errors_name_the_field() {
    let place = Place::new("errors", "");
    let client = client(&place).await;
    let write = |key: &str, value: Value| {
        let mut arguments = json!({"content": "x", "file_path": "a"});
        arguments[key] = value;
        arguments
    };
    for (tool, arguments, field, part) in [
        ("check_content", json!({}), "content", "is missing"),
        ("check_content", json!({"content": "x"}), "file_path", "is missing"),
        ("check_content", write("content", json!(3)), "content", "a number, not a text"),
        ("check_content", write("event", json!("PreTool")), "event", "no event"),
        ("check_content", write("event", json!("")), "event", "no event"),
        ("check_content", write("tool_name", json!("bash")), "tool_name", "did you mean `Bash`?"),
        ("check_content", write("tool_nam", json!("Bash")), "tool_nam", "did you mean `tool_name`?"),
        ("check_patch", json!({}), "patch", "is missing"),
        ("check_patch", json!({"patch": "x", "cwd": []}), "cwd", "a list, not a text"),
        (
            "check_event",
            json!({"event": "PreToolUse", "tool_name": "Bash", "tool_input": {}}),
            "event",
            "`pre_tool_use`",
        ),
        (
            "check_event",
            json!({"event": "pre_tool_use", "tool_name": "", "tool_input": {}}),
            "tool_name",
            "is empty",
        ),
        ("check_event", json!({"event": "pre_tool_use", "tool_name": "x"}), "tool_input", "is missing"),
        (
            "check_event",
            json!({"event": "stop", "tool_name": "", "tool_input": "x"}),
            "tool_input",
            "not an object",
        ),
        ("check_command", json!({"command": null}), "command", "is missing"),
        ("check_command", json!({"command": "ls", "cwd": "a\u{0}b"}), "cwd", "NUL"),
        ("explain", json!({"tool_name": "x", "tool_input": {}, "event": "never"}), "event", "no event"),
        ("list_rules", json!({"pack": "gti"}), "pack", "did you mean `git`?"),
        ("get_config", json!({"x": 1}), "x", "no arguments"),
        ("suppress_rule", json!({"rule_id": "no-such-thing-at-all"}), "rule_id", "names no rule"),
    ] {
        let (named, message) = bad(&call(&client, tool, arguments.clone()).await);
        assert_eq!(named, field, "{tool} {arguments}: {message}");
        assert!(message.contains(part) && message.contains(field), "{tool} {arguments}: {message}");
    }
    let unknown = client.call_tool(CallToolRequestParams::new("check_contnt")).await.unwrap_err();
    let ServiceError::McpError(error) = unknown else { panic!("{unknown}") };
    assert_eq!(error.code.0, -32602);
    assert!(error.message.contains("did you mean `check_content`?"), "{}", error.message);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn every_resource_says_what_its_tool_says() {
    let place = Place::new("resources", POLICY);
    let client = client(&place).await;
    let listed = client.list_all_resources().await.unwrap();
    assert_eq!(listed.len(), 6);
    for (name, tool) in [("rules", "list_rules"), ("config", "get_config"), ("session", "get_session")] {
        let said = good(&call(&client, tool, json!({})).await);
        for scheme in ["agentlint", "policy"] {
            let uri = format!("{scheme}://{name}");
            assert!(
                listed
                    .iter()
                    .any(|one| one.uri == uri && one.mime_type.as_deref() == Some("application/json"))
            );
            let read = client.read_resource(ReadResourceRequestParams::new(uri.clone())).await.unwrap();
            let ResourceContents::TextResourceContents { uri: named, mime_type, text, .. } =
                &read.contents[0]
            else {
                panic!("{read:?}")
            };
            assert_eq!((named, mime_type.as_deref()), (&uri, Some("application/json")));
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), said);
        }
    }
    let missing = client.read_resource(ReadResourceRequestParams::new("policy://rule")).await.unwrap_err();
    assert!(missing.to_string().contains("`uri` names no resource"), "{missing}");
    client.cancel().await.unwrap();
}

/// Lines in, lines out.
async fn lines(place: &Place, sent: &[&str]) -> Vec<Value> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = Server::new(place.start());
    let served = tokio::spawn(async move {
        let service = server.serve(ours).await.unwrap();
        service.waiting().await.unwrap();
    });
    let (read, mut write) = tokio::io::split(theirs);
    let mut read = BufReader::new(read).lines();
    let mut got = Vec::new();
    for line in sent {
        write.write_all(line.as_bytes()).await.unwrap();
        write.write_all(b"\n").await.unwrap();
        if line.contains("\"id\"") {
            got.push(serde_json::from_str(&read.next_line().await.unwrap().unwrap()).unwrap());
        }
    }
    write.shutdown().await.unwrap();
    served.await.unwrap();
    got
}

#[tokio::test]
async fn both_kinds_of_ids_and_both_eras() {
    let place = Place::new("eras", "");
    let old = lines(
        &place,
        &[
            r#"{"jsonrpc":"2.0","id":"one","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_session","arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"get_session"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"nothing/known"}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"check_command","arguments":"ls"}}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{}}"#,
        ],
    )
    .await;
    let ids: Vec<&Value> = old.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("one"), &json!(1), &json!("1"), &json!(2), &json!(3), &json!(4), &json!(5)]);
    assert_eq!(old[0]["result"]["protocolVersion"], "2025-06-18");
    assert!(old[1]["result"].get("resultType").is_none());
    assert_eq!(old[4]["error"]["code"], -32601);
    for (at, field) in [(5, "arguments"), (6, "uri")] {
        assert_eq!(
            (&old[at]["error"]["code"], &old[at]["error"]["data"]["field"]),
            (&json!(-32602), &json!(field))
        );
    }
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let new = lines(
        &place,
        &[
            &format!(r#"{{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{{{meta}}}}}"#),
            &format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{{meta}}}}}"#),
            &format!(
                r#"{{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{{"name":"check_command","arguments":{{"command":"ls"}},{meta}}}}}"#
            ),
        ],
    )
    .await;
    assert!(
        new[0]["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")),
        "{}",
        new[0]
    );
    assert_eq!(new[1]["result"]["tools"].as_array().unwrap().len(), 14);
    assert_eq!((&new[2]["id"], &new[2]["result"]["resultType"]), (&json!(8), &json!("complete")));
}

#[tokio::test]
async fn a_project_that_is_not_there_is_said_by_every_tool() {
    let place = Place::new("nowhere", "");
    let mut start = place.start();
    let gone = |name: &str| (name == "AGENTLINT_PROJECT_DIR").then(|| "${workspaceFolder}".into());
    start.surroundings = Surroundings::of(None, Some(Path::new("/")), gone);
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { Server::new(start).serve(ours).await.unwrap().waiting().await.unwrap() });
    let client = ().serve(theirs).await.unwrap();
    for (tool, arguments) in [("get_config", json!({})), ("check_command", json!({"command": "ls"}))] {
        assert!(bad(&call(&client, tool, arguments).await).1.contains("AGENTLINT_PROJECT_DIR"));
    }
    client.cancel().await.unwrap();
}
