//! Tests of what Codex sends and is answered.
//!
//! INVARIANT: no answer has a key that this host does not know for its event.

use super::*;
use crate::host_tests::{answer, read, refuses_nonsense, reply, said};

#[test]
fn every_sample_is_read() {
    let want = [
        "PermissionRequest-Bash: pre_tool_use /bash: ./push | `git push --force`",
        "PostToolUse-Bash: post_tool_use /bash: ./ran.txt | `touch ran.txt`",
        "PostToolUse-apply_patch: post_tool_use /apply_patch: ./ran.txt",
        "PostToolUse-mcp__demo__echo: post_tool_use demo/echo:",
        "PreToolUse-Bash-push: pre_tool_use /bash: ./push | `git push --force`",
        "PreToolUse-Bash: pre_tool_use /bash: ./ran.txt | `touch ran.txt`",
        "PreToolUse-apply_patch-broken: pre_tool_use /apply_patch: (a patch that cannot be read: line 2: a line is no `*** Add File:`, `*** Update File:` or `*** Delete File:` header)",
        "PreToolUse-apply_patch-keys: the event has an unexpected shape: `tool_input` of apply_patch is not `{command: TEXT}`",
        "PreToolUse-apply_patch-own: pre_tool_use /apply_patch: ./.codex/hooks.json",
        "PreToolUse-apply_patch: pre_tool_use /apply_patch: ./ran.txt",
        "PreToolUse-mcp__demo__echo: pre_tool_use demo/echo:",
        "SessionEnd: session_end /:",
        "SessionStart: session_start /:",
        "Stop: stop /:",
        "SubagentStart: subagent_start / by explorer:",
        "SubagentStop: subagent_stop / by explorer:",
        "UserPromptSubmit: user_prompt_submit /:",
    ];
    assert_eq!(read(&Codex), want);
}

#[test]
fn answers_are_in_this_hosts_words() {
    let why = "policy: no-force-push: it rewrites history. Matched: git push --force";
    let at = |event: &str, decision: Decision, warned: bool| {
        reply(&Codex, event, &snake(event), &answer(decision, warned))
    };
    let denied = |why: &str| {
        format!(
            "0 {{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\
             \"permissionDecisionReason\":\"{why}\"}}}}"
        )
    };
    assert_eq!(at("PreToolUse", Decision::Deny, true), denied(why));
    let asked = format!("{why}. A person has to say yes to this, and here nobody can be asked: you cannot");
    assert_eq!(at("PreToolUse", Decision::Ask, false), denied(&asked));
    assert_eq!(
        at("PermissionRequest", Decision::Deny, false),
        format!(
            "0 {{\"hookSpecificOutput\":{{\"hookEventName\":\"PermissionRequest\",\
             \"decision\":{{\"behavior\":\"deny\",\"message\":\"{why}\"}}}}}}"
        )
    );
    for event in ["PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"] {
        let block = format!("0 {{\"decision\":\"block\",\"reason\":\"{why}\"}}");
        assert_eq!(at(event, Decision::Deny, false), block);
        let default = Answer { guard: false, ..answer(Decision::Deny, false) };
        assert_eq!(reply(&Codex, event, &snake(event), &default), "0", "a default is about calls");
    }
    let stop = format!("0 {{\"continue\":false,\"stopReason\":\"{why}\"}}");
    assert_eq!(at("SessionStart", Decision::Deny, false), stop);
    for event in TELLING {
        let told = format!(
            "0 {{\"hookSpecificOutput\":{{\"hookEventName\":\"{event}\",\"additionalContext\":\
             \"policy: todo (warning at 1:1): a TODO is left. Instead: do it\"}}}}"
        );
        assert_eq!(at(event, Decision::Allow, true), told);
        assert_eq!(at(event, Decision::Host, true), told);
        assert_eq!(at(event, Decision::Allow, false), "0");
    }
    for event in ["PermissionRequest", "Stop", "SubagentStop", "SessionEnd"] {
        assert_eq!(at(event, Decision::Host, true), "0", "{event} knows no such key");
    }
}

#[test]
fn what_cannot_be_decided_is_refused() {
    for event in ["PreToolUse", "PermissionRequest"] {
        let reply = said(&Codex.fail_closed(Some(event), "agent.policy:3: unknown word"));
        assert!(
            reply.starts_with("0 {") && reply.contains("\"deny\"") && reply.contains("agent.policy:3"),
            "{reply}"
        );
    }
    for event in [None, Some("preToolUse")] {
        assert_eq!(said(&Codex.fail_closed(event, "it is empty")), "2 policy: it is empty");
    }
    assert_eq!(said(&Codex.fail_closed(Some("Stop"), "x")), "1 policy: x");
    refuses_nonsense(&Codex, "PreToolUse", "preToolUse");
}
