//! Tests of what Cursor sends and is answered.
//!
//! INVARIANT: a JSON object is always printed.

use super::*;
use crate::host_tests::{answer, read, refuses_nonsense, reply, said};

#[test]
fn every_sample_is_read() {
    let want = [
        "afterFileEdit: post_tool_use /edit: ./src/a.py",
        "afterMCPExecution: post_tool_use gh/create_issue:",
        "afterShellExecution: post_tool_use /shell: ./ran.txt | `touch ran.txt`",
        "beforeMCPExecution-url: pre_tool_use unknown/create_issue:",
        "beforeMCPExecution: pre_tool_use gh/create_issue:",
        "beforeReadFile-attachment: pre_tool_use /read: ./README.md | ~/.ssh/id_rsa",
        "beforeReadFile: pre_tool_use /read: ./.env",
        "beforeShellExecution-touch: pre_tool_use /shell: ./ran.txt | `touch ran.txt`",
        "beforeShellExecution: pre_tool_use /shell: ./push | `git push --force`",
        "beforeSubmitPrompt: user_prompt_submit /:",
        "beforeTabFileRead: pre_tool_use /read: ./src/a.py",
        "postToolUse-Write: post_tool_use /write: ./a",
        "preToolUse-Delete: pre_tool_use /delete: ./.cursor/hooks.json",
        "preToolUse-MCP: pre_tool_use unknown/create_issue:",
        "preToolUse-Write: pre_tool_use /write: ./a",
        "sessionStart: session_start /:",
        "stop-again: ignored",
        "stop: stop /:",
        "subagentStart: subagent_start / by explore:",
        "subagentStop: subagent_stop / by explore:",
    ];
    assert_eq!(read(&Cursor), want);
}

#[test]
fn answers_are_in_this_hosts_words() {
    let why = "policy: no-force-push: it rewrites history. Matched: git push --force";
    let call =
        |event: &str, decision: Decision| reply(&Cursor, event, "pre_tool_use", &answer(decision, false));
    let told = |exit: u8, word: &str, why: &str, error: &str| {
        format!(
            "{exit} {{\"permission\":\"{word}\",\"user_message\":\"{why}\",\"agent_message\":\"{why}\"}}{error}"
        )
    };
    for event in ["beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse"] {
        assert_eq!(call(event, Decision::Deny), told(2, "deny", why, &format!(" {why}")));
        assert_eq!(call(event, Decision::Allow), "0 {\"permission\":\"allow\"}");
        assert_eq!(call(event, Decision::Host), "0 {}");
    }
    for event in ["beforeShellExecution", "beforeMCPExecution"] {
        assert_eq!(call(event, Decision::Ask), told(0, "ask", why, ""));
    }
    let asked = format!("{why}. A person has to say yes to this, and here nobody can be asked: you cannot");
    assert_eq!(call("preToolUse", Decision::Ask), told(2, "deny", &asked, &format!(" {asked}")));

    let at = |host_event: &str, event: &str, decision: Decision| {
        reply(&Cursor, host_event, event, &answer(decision, true))
    };
    assert_eq!(
        at("beforeSubmitPrompt", "user_prompt_submit", Decision::Deny),
        format!("2 {{\"continue\":false,\"user_message\":\"{why}\"}} {why}")
    );
    assert_eq!(at("beforeSubmitPrompt", "user_prompt_submit", Decision::Ask), "0 {\"continue\":true}");
    assert_eq!(at("stop", "stop", Decision::Deny), format!("0 {{\"followup_message\":\"{why}\"}}"));
    assert_eq!(at("stop", "stop", Decision::Host), "0 {}");
    assert_eq!(
        at("subagentStart", "subagent_start", Decision::Deny),
        told(2, "deny", why, &format!(" {why}"))
    );
    assert_eq!(
        at("postToolUse", "post_tool_use", Decision::Deny),
        format!("0 {{\"additional_context\":\"{why}\"}}")
    );
    assert_eq!(
        at("postToolUse", "post_tool_use", Decision::Host),
        "0 {\"additional_context\":\"policy: todo (warning at 1:1): a TODO is left. Instead: do it\"}"
    );
    let default = Answer { guard: false, ..answer(Decision::Deny, false) };
    assert_eq!(reply(&Cursor, "stop", "stop", &default), "0 {}", "a default is about calls");
}

#[test]
fn what_cannot_be_decided_is_refused() {
    for event in [
        None,
        Some("beforeShellExecution"),
        Some("beforeMCPExecution"),
        Some("PreToolUse"),
        Some("subagentStart"),
    ] {
        let reply = said(&Cursor.fail_closed(event, "it is empty"));
        assert!(
            reply.starts_with("2 {\"permission\":\"deny\"") && reply.ends_with("policy: it is empty"),
            "{reply}"
        );
    }
    assert_eq!(said(&Cursor.fail_closed(Some("stop"), "x")), "1 {} policy: x");
    refuses_nonsense(&Cursor, "preToolUse", "PreToolUse");
    for (text, part) in [
        ("{\"hook_event_name\":\"beforeShellExecution\",\"command\":\"\"}", "`command` is missing"),
        (
            "{\"hook_event_name\":\"beforeMCPExecution\",\"tool_name\":\"x\",\"tool_input\":\"{\"}",
            "is not JSON",
        ),
        (
            "{\"hook_event_name\":\"beforeMCPExecution\",\"tool_name\":\"x\",\"tool_input\":\"[]\"}",
            "is not an object",
        ),
        (
            "{\"hook_event_name\":\"beforeMCPExecution\",\"tool_name\":\"x\",\"tool_input\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}",
            "twice",
        ),
        ("{\"hook_event_name\":\"before_mcp_execution\"}", "not how this host spells"),
        (
            "{\"hook_event_name\":\"preToolUse\",\"tool_name\":\"x\",\"workspace_roots\":[\"x\"]}",
            "not an absolute path",
        ),
    ] {
        let error = Cursor.parse(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(part), "{text} {error}");
    }
}
