//! Tests of what Gemini CLI sends and is answered.
//!
//! INVARIANT: allow is never said.

use super::*;
use crate::host_tests::{answer, read, refuses_nonsense, reply, said};

#[test]
fn every_sample_is_read() {
    let want = [
        "AfterAgent: stop /:",
        "AfterTool-run_shell_command: post_tool_use /run_shell_command: ./ran.txt | `touch ran.txt`",
        "BeforeAgent: user_prompt_submit /:",
        "BeforeTool-glob: pre_tool_use /glob: ./src/**/\u{2}.rs | ./src",
        "BeforeTool-list_directory: pre_tool_use /list_directory: .",
        "BeforeTool-mcp: pre_tool_use demo/echo:",
        "BeforeTool-push: pre_tool_use /run_shell_command: ./sub/push | ./sub | `git push --force`",
        "BeforeTool-read_file: pre_tool_use /read_file: ./README.md",
        "BeforeTool-replace: pre_tool_use /replace: ./src/a.py",
        "BeforeTool-run_shell_command: pre_tool_use /run_shell_command: ./ran.txt | `touch ran.txt`",
        "BeforeTool-search_file_content: pre_tool_use /search_file_content: ./src | ./src/**/\u{2}.rs",
        "BeforeTool-web_fetch: pre_tool_use /web_fetch: example.com",
        "BeforeTool-write_file: pre_tool_use /write_file: ./src/a.py",
        "Notification: notification /: ./ran.txt | `touch ran.txt` | `touch`",
        "SessionEnd: session_end /:",
        "SessionStart: session_start /:",
    ];
    assert_eq!(read(&Gemini), want);
}

#[test]
fn answers_are_in_this_hosts_words() {
    let why = "policy: no-force-push: it rewrites history. Matched: git push --force";
    let at =
        |event: &str, decision: Decision, warned: bool| reply(&Gemini, event, "", &answer(decision, warned));
    let denied = format!("2 {{\"decision\":\"deny\",\"reason\":\"{why}\"}} {why}");
    for event in ["BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent"] {
        assert_eq!(at(event, Decision::Deny, true), denied);
        let default = Answer { guard: false, ..answer(Decision::Deny, false) };
        let want = if event == "BeforeTool" { denied.as_str() } else { "0" };
        assert_eq!(reply(&Gemini, event, "", &default), want, "a default is about calls");
        assert_eq!(at(event, Decision::Allow, false), "0");
        assert_eq!(at(event, Decision::Host, false), "0");
    }
    assert_eq!(
        at("BeforeTool", Decision::Ask, false),
        format!("0 {{\"decision\":\"ask\",\"reason\":\"{why}\"}}")
    );
    assert_eq!(at("AfterTool", Decision::Ask, false), "0");
    assert_eq!(at("SessionStart", Decision::Deny, false), "0");
    let advice = "policy: todo (warning at 1:1): a TODO is left. Instead: do it";
    assert_eq!(at("BeforeTool", Decision::Allow, true), format!("0 {{\"systemMessage\":\"{advice}\"}}"));
    assert_eq!(
        at("AfterTool", Decision::Host, true),
        format!(
            "0 {{\"hookSpecificOutput\":{{\"hookEventName\":\"AfterTool\",\"additionalContext\":\"{advice}\"}}}}"
        )
    );
    assert_eq!(at("AfterAgent", Decision::Host, true), "0");
}

#[test]
fn what_cannot_be_decided_is_refused() {
    for event in [None, Some("BeforeTool"), Some("PreToolUse")] {
        let reply = said(&Gemini.fail_closed(event, "it is empty"));
        assert_eq!(reply, "2 {\"decision\":\"deny\",\"reason\":\"policy: it is empty\"} policy: it is empty");
    }
    assert_eq!(said(&Gemini.fail_closed(Some("AfterAgent"), "x")), "1 policy: x");
    refuses_nonsense(&Gemini, "BeforeTool", "PreToolUse");
}
