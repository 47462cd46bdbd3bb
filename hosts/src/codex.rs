//! Codex CLI: hook events of version 0.171 and their answers.
//!
//! INVARIANT: an answer has exactly the keys that this host knows for that event: with one more, with `ask`, or with an
//! empty reason it takes the hook for failed and runs the tool. What has to be asked is therefore denied.
//!
//! A `PermissionRequest` is never answered with allow: it is the user's own setting that asks there. `apply_patch` comes
//! as a tool with the envelope under `command`; an input of any other shape is not understood and never allowed.

use crate::call::Call;
use crate::event::{Event, Fields, InputError, parse_strict, snake, unknown};
use crate::reply::{Answer, Reply};
use crate::settings::{Settings, WAIT, waiting};
use crate::{Host, not_understood, refused};
use policy_runtime::verdict::Decision;
use serde_json::{Map, Value, json};

/// Codex CLI.
pub struct Codex;

/// Fields that every event has; the rest of an event without a tool are its arguments.
const COMMON: [&str; 10] = [
    "session_id",
    "turn_id",
    "transcript_path",
    "agent_transcript_path",
    "cwd",
    "hook_event_name",
    "model",
    "permission_mode",
    "agent_id",
    "source",
];

/// Events whose answers may tell the model something.
const TELLING: [&str; 5] = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart"];

impl Host for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn parse(&self, input: &[u8]) -> Result<Event, InputError> {
        let mut fields = Fields(parse_strict(input)?);
        let host_event = fields.needed("hook_event_name")?;
        let event = match host_event.as_str() {
            "PreToolUse" | "PermissionRequest" => "pre_tool_use".to_owned(),
            "PostToolUse" | "UserPromptSubmit" | "SessionStart" | "SessionEnd" | "SubagentStart"
            | "PreCompact" | "PostCompact" => snake(&host_event),
            // Blocked once already: a second block would never let it end.
            "Stop" | "SubagentStop" if fields.0.get("stop_hook_active") != Some(&Value::Bool(true)) => {
                snake(&host_event)
            }
            // SECURITY: another program that loads this hook may spell the event its own way, or send one of its own.
            other => return unknown(other, &fields),
        };
        let mut call = Call {
            host: self.name().to_owned(),
            transcript: fields.transcript(&event)?,
            event,
            host_event,
            cwd: fields.folder("cwd")?,
            session: fields.text("session_id")?.unwrap_or_default(),
            agent: fields.text("agent_type")?,
            ..Call::default()
        };
        if call.event.ends_with("tool_use") {
            fields.tool(&mut call)?;
            if call.tool == "apply_patch" && !is_patch(&call.arguments) {
                let why = "`tool_input` of apply_patch is not `{command: TEXT}`";
                return Err(InputError::Shape(why.to_owned()));
            }
        } else {
            call.arguments = fields.rest(&COMMON);
        }
        Ok(Event::Call(Box::new(call)))
    }

    fn reply(&self, call: &Call, answer: &Answer) -> Reply {
        let event = call.host_event.as_str();
        let reason = format!("policy: {}", answer.reason());
        match (event, answer.decision) {
            ("PreToolUse", Decision::Deny) => denied(&reason),
            ("PreToolUse", Decision::Ask) => denied(&answer.asked()),
            ("PermissionRequest", Decision::Deny) => Reply::json(&json!({"hookSpecificOutput": {
                "hookEventName": event,
                "decision": {"behavior": "deny", "message": reason},
            }})),
            ("PreToolUse" | "PermissionRequest", _) => told(event, answer),
            ("PostToolUse" | "UserPromptSubmit" | "Stop" | "SubagentStop", Decision::Deny)
                if answer.guard =>
            {
                Reply::json(&json!({"decision": "block", "reason": reason}))
            }
            ("SessionStart" | "PreCompact", Decision::Deny) if answer.guard => {
                Reply::json(&json!({"continue": false, "stopReason": reason}))
            }
            _ => told(event, answer),
        }
    }

    fn asks(&self, call: &Call) -> bool {
        call.host_event != "PreToolUse"
    }

    fn fail_closed(&self, event: Option<&str>, reason: &str) -> Reply {
        match event {
            Some(event @ ("PreToolUse" | "PermissionRequest")) => refused(self, event, reason),
            _ => not_understood(event, reason),
        }
    }

    fn settings(&self, program: &str) -> Option<Settings> {
        let hook = json!({"hooks": [{"type": "command", "command": waiting(program, self.name()), "timeout": WAIT}]});
        let all = ["PreToolUse", "PermissionRequest", "PostToolUse"].map(|event| {
            let mut entry = hook.clone();
            if let Some(entry) = entry.as_object_mut() {
                entry.insert("matcher".to_owned(), ".*".into());
            }
            (event, entry)
        });
        // The log of audit is anchored and signed when a session ends.
        let rest =
            ["UserPromptSubmit", "SessionStart", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"];
        let entries = all.into_iter().chain(rest.map(|event| (event, hook.clone()))).collect();
        let note = "Codex runs a hook only after a person has trusted it: `/hooks` in its own window. Untrusted hooks are skipped without a word.";
        Some(Settings::hooks("~/.codex/hooks.json", json!({}), entries, note))
    }
}

/// Exactly one key, `command`, with a text.
fn is_patch(arguments: &Value) -> bool {
    let keys = arguments.as_object().map_or(0, Map::len);
    keys == 1 && arguments.get("command").is_some_and(Value::is_string)
}

fn denied(reason: &str) -> Reply {
    Reply::json(&json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }}))
}

/// Warnings for the model, else nothing: no opinion.
fn told(event: &str, answer: &Answer) -> Reply {
    match answer.advice() {
        Some(advice) if TELLING.contains(&event) => Reply::json(&json!({"hookSpecificOutput": {
            "hookEventName": event,
            "additionalContext": advice,
        }})),
        _ => Reply::default(),
    }
}

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;
