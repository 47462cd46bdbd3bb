//! Tests of what Claude Code sends and is answered.
//!
//! INVARIANT: no event, however wrong, is answered with allow.

use super::*;
use crate::call::Places;
use crate::facts::{NoResolver, extract};
use policy_grammar::shell::program::NoPrograms;
use policy_runtime::verdict::{Place, Secret};
use std::path::PathBuf;

fn samples() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/hosts/claude-code");
    // The crate may be built from a link to it.
    let folder = if folder.exists() { folder } else { PathBuf::from("../tests/hosts/claude-code") };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .map(|path| (name(path), std::fs::read(path).unwrap()))
        .collect()
}

fn parse(text: &str) -> Result<Event, InputError> {
    ClaudeCode.parse(text.as_bytes())
}

fn deny() -> Answer {
    Answer {
        rule: "no-force-push".to_owned(),
        place: Place { file: "agent.policy".to_owned(), line: 3 },
        value: "git push --force".to_owned(),
        suggest: "git push --force-with-lease".to_owned(),
        guard: true,
        ..Answer::own(Decision::Deny, "it rewrites history")
    }
}

fn stdout(reply: &Reply) -> String {
    String::from_utf8(reply.stdout.clone()).unwrap()
}

#[test]
fn every_sample_is_read() {
    let mut seen = Vec::new();
    for (name, text) in samples() {
        let summary = match ClaudeCode.parse(&text).unwrap() {
            Event::Ignore => "ignored".to_owned(),
            Event::Call(call) => {
                assert_eq!(call.host, "claude-code");
                assert!(!call.session.is_empty() && call.cwd.is_absolute(), "{name}");
                let places = Places {
                    project: Some(call.cwd.clone()),
                    home: Some("/home/dev".into()),
                    ..Places::default()
                };
                let facts = extract(&call, &places, &NoPrograms, &NoResolver);
                assert!(facts.opaque.is_empty(), "{name} {:?}", facts.opaque);
                let readings: Vec<String> =
                    facts.readings.iter().map(|r| format!("{}/{}", r.server, r.tool)).collect();
                let paths = facts.paths.iter().map(|path| path.names[0].views[0].clone());
                let all: Vec<String> = paths
                    .chain(facts.domains.iter().map(|domain| domain.host.clone()))
                    .chain(facts.commands.iter().map(|command| command.text.clone()))
                    .collect();
                format!(
                    "{} {} {}: {}",
                    call.event,
                    readings.join(","),
                    call.agent.unwrap_or_default(),
                    all.join(" | ")
                )
            }
        };
        seen.push(format!("{name}: {summary}"));
    }
    let want = [
        "PermissionRequest-Bash: pre_tool_use /bash : ./ran.txt | touch ran.txt",
        "PostToolBatch: ignored",
        "PostToolBatch-subagent: ignored",
        "PostToolUse-Agent: post_tool_use /agent : ",
        "PostToolUse-Bash: post_tool_use /bash : ./ran.txt | touch ran.txt",
        "PostToolUse-Bash-subagent: post_tool_use /bash general-purpose: ./ran.txt | touch ran.txt",
        "PreToolUse-Agent: pre_tool_use /agent : ",
        "PreToolUse-Bash: pre_tool_use /bash : ./push | git push --force",
        "PreToolUse-Bash-subagent: pre_tool_use /bash general-purpose: ./ran.txt | touch ran.txt",
        "PreToolUse-Edit: pre_tool_use /edit : ./README.md",
        "PreToolUse-Monitor: pre_tool_use /monitor : ./x | tail -f x",
        "PreToolUse-Read: pre_tool_use /read : ./README.md",
        "PreToolUse-WebFetch: pre_tool_use /webfetch : 127.0.0.1",
        "PreToolUse-WebSearch: pre_tool_use /websearch : ",
        "PreToolUse-Write: pre_tool_use /write : ./src/a.py",
        "PreToolUse-mcp__demo__echo: pre_tool_use demo/echo : ",
        "SessionEnd: ignored",
        "SessionStart: session_start / : ",
        "Stop: stop / : ",
        "SubagentStart-subagent: subagent_start / general-purpose: ",
        "SubagentStop-subagent: subagent_stop / general-purpose: ",
        "UserPromptSubmit: user_prompt_submit / : ",
    ];
    seen.sort();
    let mut want = want.map(str::to_owned);
    want.sort();
    assert_eq!(seen, want);
}

#[test]
fn answers_are_in_this_hosts_words() {
    let call = |event: &str| Call { host_event: event.to_owned(), ..Call::default() };
    let reason = "policy: no-force-push (agent.policy:3): it rewrites history. Matched: git push --force. Instead: git push --force-with-lease";
    let reply = |event: &str, decision: Decision| {
        let reply = ClaudeCode.reply(&call(event), &Answer { decision, ..deny() });
        (stdout(&reply), String::from_utf8(reply.stderr.clone()).unwrap(), reply.exit)
    };
    let none = (String::new(), String::new(), 0);
    for (decision, word) in [(Decision::Deny, "deny"), (Decision::Ask, "ask"), (Decision::Allow, "allow")] {
        let want = format!(
            "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"{word}\",\
             \"permissionDecisionReason\":\"{reason}\"}}}}\n"
        );
        assert_eq!(reply("PreToolUse", decision), (want, String::new(), 0));
    }
    assert_eq!(reply("PreToolUse", Decision::Host), none);
    let want = format!(
        "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PermissionRequest\",\"decision\":{{\"behavior\":\"deny\",\
         \"message\":\"{reason}\",\"interrupt\":false}}}}}}\n"
    );
    assert_eq!(reply("PermissionRequest", Decision::Deny), (want, String::new(), 0));
    assert_eq!(reply("PermissionRequest", Decision::Allow), none);
    assert_eq!(reply("PermissionRequest", Decision::Ask), none);
    assert_eq!(reply("PermissionRequest", Decision::Host), none);
    assert_eq!(reply("PreSkillShellCommand", Decision::Deny), (String::new(), format!("{reason}\n"), 2));
    assert_eq!(reply("PreSkillShellCommand", Decision::Ask).2, 2);
    assert_eq!(reply("PreSkillShellCommand", Decision::Allow), none);
    for event in ["PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "ConfigChange"] {
        assert_eq!(
            reply(event, Decision::Deny),
            (format!("{{\"decision\":\"block\",\"reason\":\"{reason}\"}}\n"), String::new(), 0)
        );
        assert_eq!(reply(event, Decision::Ask), none);
        let default = Answer { guard: false, ..deny() };
        assert_eq!(ClaudeCode.reply(&call(event), &default), Reply::default(), "a default is about calls");
    }
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let reply = ClaudeCode.fail_closed(Some("PreToolUse"), "agent.policy:3: unknown word");
    assert!(
        stdout(&reply).contains("\"permissionDecision\":\"deny\"")
            && stdout(&reply).contains("agent.policy:3: unknown word")
    );
    assert_eq!(reply.exit, 0);
    assert!(
        stdout(&ClaudeCode.fail_closed(Some("PermissionRequest"), "x")).contains("\"behavior\":\"deny\"")
    );
    for event in [None, Some("PreSkillShellCommand")] {
        let reply = ClaudeCode.fail_closed(event, "the event is empty");
        assert_eq!(
            (reply.exit, reply.stdout.len(), reply.stderr.as_slice()),
            (2, 0, b"policy: the event is empty\n".as_slice())
        );
    }
    assert_eq!(ClaudeCode.fail_closed(Some("Stop"), "x").exit, 1);
    assert!(stdout(&ClaudeCode.fail_closed(Some("ConfigChange"), "x")).contains("block"));
}

#[test]
fn wrong_events_are_errors_with_their_cause() {
    for (text, part) in [
        ("{}", "`hook_event_name` is missing"),
        ("{\"hook_event_name\":\"PreToolUse\"}", "`tool_name` is missing"),
        ("{\"hook_event_name\":\"PreToolUse\",\"tool_name\":[]}", "`tool_name` is not a text"),
        (
            "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"x\",\"tool_input\":\"y\"}",
            "`tool_input` is not an object",
        ),
        (
            "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"x\",\"cwd\":\"y\"}",
            "`cwd` is not an absolute path",
        ),
        ("{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"x\",\"Tool_Name\":\"y\"}", "twice"),
        (
            "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"x\",\"tool_input\":{\"command\":\"a\",\"command\":\"b\"}}",
            "twice",
        ),
        (
            "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"x\",\"mcp_server\":{}}",
            "`mcp_server` has no `name`",
        ),
        ("{\"hook_event_name\":\"preToolUse\",\"tool_name\":\"x\"}", "not how this host spells"),
        ("{\"hook_event_name\":\"BeforeTool\"}", "not how this host spells"),
        (
            "{\"hook_event_name\":\"SomethingNew\",\"tool_name\":3}",
            "`SomethingNew` is no event that is known here",
        ),
        ("{\"hook_event_name\":3}", "`hook_event_name` is not a text"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.to_string().contains(part), "{text} {error}");
    }
    for text in [
        "{\"hook_event_name\":\"SomethingNew\",\"about\":3}",
        "{\"hook_event_name\":\"Notification\"}",
        "{\"hook_event_name\":\"Stop\",\"stop_hook_active\":true}",
    ] {
        assert_eq!(parse(text), Ok(Event::Ignore), "{text}");
    }
    let Ok(Event::Call(call)) = parse(
        "{\"hook_event_name\":\"PreSkillShellCommand\",\"tool_name\":\"PowerShell\",\"tool_input\":{\"command\":\"x\"}}",
    ) else {
        panic!()
    };
    assert_eq!((call.event.as_str(), call.host_event.as_str()), ("pre_tool_use", "PreSkillShellCommand"));
}

/// Observing changes nothing: an allow would take the user's own prompt away.
#[test]
fn what_is_only_observed_is_no_opinion() {
    let call = Call { host_event: "PreToolUse".to_owned(), ..Call::default() };
    let mut answer = Answer::own(Decision::Allow, "x");
    assert!(!ClaudeCode.reply(&call, &answer).stdout.is_empty());
    for enforced in [Decision::Host, Decision::Ask, Decision::Deny] {
        answer.observed = Some(enforced);
        assert_eq!(ClaudeCode.reply(&call, &answer), Reply::default());
    }
}

#[test]
fn secrets_in_what_a_tool_gave_back_are_replaced() {
    let output = json!({"stdout": "key SECRET", "stderr": "", "interrupted": false});
    let call = Call {
        event: "post_tool_use".to_owned(),
        host_event: "PostToolUse".to_owned(),
        output,
        ..Call::default()
    };
    let secret = Secret { start: 4, end: 10, format: "acme-token".to_owned() };
    let answer = Answer { secrets: vec![secret.clone()], only_secrets: true, ..deny() };
    let reply: Value = serde_json::from_str(&stdout(&ClaudeCode.reply(&call, &answer))).unwrap();
    assert!(reply.get("decision").is_none());
    let inner = &reply["hookSpecificOutput"];
    assert_eq!(
        inner["updatedToolOutput"],
        json!({"stdout": "key [secret removed: acme-token]", "stderr": "", "interrupted": false})
    );
    assert!(inner["additionalContext"].as_str().unwrap().contains("replaced by marks (acme-token)"));
    // What else is refused is still refused.
    let answer = Answer { only_secrets: false, ..answer };
    let reply: Value = serde_json::from_str(&stdout(&ClaudeCode.reply(&call, &answer))).unwrap();
    assert_eq!(reply["decision"], "block");
    assert!(reply["hookSpecificOutput"]["updatedToolOutput"].is_object());
    // A place that the output does not have: nothing is said to be taken out.
    let answer = Answer { secrets: vec![Secret { start: 90, end: 95, ..secret }], ..answer };
    let reply: Value = serde_json::from_str(&stdout(&ClaudeCode.reply(&call, &answer))).unwrap();
    assert_eq!(reply["decision"], "block");
    assert!(reply.get("hookSpecificOutput").is_none());
}

#[test]
fn what_a_failed_call_said_is_its_output() {
    let event = json!({"hook_event_name": "PostToolUseFailure", "session_id": "s", "cwd": "/w", "tool_name": "Bash",
                       "tool_input": {"command": "x"}, "error": "failed with this"});
    let Ok(Event::Call(call)) = parse(&event.to_string()) else { panic!("no call") };
    assert_eq!(call.output, "failed with this");
}
