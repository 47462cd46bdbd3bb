//! What a proxy in front of an MCP server must leave alone, and what it must not, point by point.
//!
//! INVARIANT: the wrapped server of most tests is `cat`, so what is let through comes back as it was sent.

use crate::support::World;
use crate::wrapped::{Wrapped, call};
use serde_json::{Value, json};

#[test]
fn messages_of_both_eras_pass_as_they_are_and_in_order() {
    let world = World::new("wrap-eras");
    let mut wrapped = Wrapped::new(&world, &["--ask", "deny"], &["cat"]);
    let lines = [
        // Some clients set the level before they are initialized, and ask which era it is first.
        r#"{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        // The same id as a text is another one.
        r#"{"jsonrpc":"2.0","id":"2","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":"t"}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"subscriptions/listen","params":{"toolsListChanged":true}}"#,
        // What another server asked for by its result, and what a trace needs, is the server's.
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read","arguments":{},"requestState":"theirs","inputResponses":{"x":{"action":"accept"}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00-1-2-01","baggage":"a=b"}}}"#,
        // A call that the server has is the server's to cancel.
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1.50,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/of/tomorrow","params":{"z":[1.0,1e2]},"extra":null}"#,
    ];
    for line in lines {
        wrapped.send(line);
    }
    // A line may end as on Windows; its end is not a part of the message.
    wrapped.send("{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"ping\"}\r");
    for line in lines {
        assert_eq!(wrapped.line(), line);
    }
    assert_eq!(wrapped.line(), r#"{"jsonrpc":"2.0","id":6,"method":"ping"}"#);
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn a_page_of_tools_that_gets_empty_is_still_a_page() {
    let world = World::new("wrap-pages");
    let page = |tools: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"ttlMs":5,"cacheScope":"public","tools":[{tools}],"nextCursor":"p2","_meta":{{"x":1.0}}}}}}"#
        )
    };
    let file = world.file("page", page(r#"{"name":"delete_a"},{"name":"delete_b"}"#) + "\n");
    let file = file.display().to_string();
    let mut wrapped = Wrapped::new(&world, &[], &["sh", "-c", "read a; cat \"$0\"; cat >&2", &file]);
    wrapped.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    // What is left is what this user may see.
    assert_eq!(wrapped.line(), page("").replace("public", "private"));
    // A tool that is not in the list is not allowed by that, nor one that is: the call is decided.
    let denied = wrapped.ask(&call(2, "delete_a", &json!({})));
    assert_eq!(denied["result"]["isError"], true, "{denied}");
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn whatever_names_a_file_is_held_to_the_same_lines() {
    let world = World::new("wrap-uris");
    let mut wrapped = Wrapped::new(&world, &["--ask", "deny"], &["cat"]);
    let mut id = 0;
    let mut refused = |method: &str, params: Value, wrapped: &mut Wrapped| {
        id += 1;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let answer = wrapped.ask(&line);
        let why = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(why.contains("secrets"), "{line}: {answer}");
    };
    let file = format!("file://{}", world.word("repo/.env"));
    for uri in [file.as_str(), "file:///w/%2eenv", "FILE:///w/.env", "https://evil.example/x"] {
        refused("resources/read", json!({ "uri": uri }), &mut wrapped);
        refused("resources/subscribe", json!({ "uri": uri }), &mut wrapped);
    }
    refused("prompts/get", json!({"name": "explain", "arguments": {"path": "sub/.env"}}), &mut wrapped);
    let completion =
        json!({"ref": {"type": "ref/resource", "uri": file}, "argument": {"name": "path", "value": "a"}});
    refused("completion/complete", completion, &mut wrapped);
    let (code, out, _) = wrapped.end();
    assert_eq!((code, out.as_str()), (Some(0), ""), "nothing reached the server");
}

#[test]
fn a_denial_of_the_stateless_era_is_a_complete_result() {
    let world = World::new("wrap-complete");
    let mut wrapped = Wrapped::new(&world, &["--ask", "deny"], &["cat"]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "delete_x", "_meta": meta}});
    let answer = wrapped.ask(&line.to_string());
    assert_eq!(
        (&answer["result"]["isError"], &answer["result"]["resultType"]),
        (&json!(true), &json!("complete"))
    );
    let answer = wrapped.ask(&call(2, "delete_x", &json!({})));
    assert!(answer["result"]["isError"] == true && answer["result"]["resultType"].is_null(), "{answer}");
    assert_eq!(wrapped.end().0, Some(0));
}

/// Clients start a server once more only to ask which era it is of.
#[test]
fn being_started_and_looked_at_leaves_nothing() {
    let world = World::new("wrap-probe");
    Wrapped::policy(&world);
    let mut both: Vec<Wrapped> = (0..2).map(|_| Wrapped::over(&world, &[], &["cat"])).collect();
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    for wrapped in &mut both {
        wrapped.send(discover);
        assert_eq!(wrapped.line(), discover);
    }
    for wrapped in both {
        let (code, _, err) = wrapped.end();
        assert_eq!((code, err.as_str()), (Some(0), ""));
    }
    let left: Vec<_> = std::fs::read_dir(world.path("home")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_server_gets_the_environment_without_what_is_ours() {
    let world = World::new("wrap-environment");
    Wrapped::policy(&world);
    let show = ["sh", "-c", "echo \"<$POLICY_TEST><$OTHER_TEST>\" >&2; cat"];
    let mut command = Wrapped::command(&world, &[], &show);
    let wrapped = Wrapped::start(command.env("POLICY_TEST", "ours").env("OTHER_TEST", "theirs"));
    let (code, _, err) = wrapped.end();
    // What the server writes on its error output is the client's to see.
    assert!(code == Some(0) && err.contains("<><theirs>"), "{err}");
}
