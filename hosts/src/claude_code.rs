//! Claude Code: hook events of version 2.1 and their answers.
//!
//! INVARIANT: a refusal is said in the words this host enforces for that event, whole JSON with exit 0 where it reads
//! JSON, else exit 2; no opinion prints nothing, so the user's own prompts stay.
//!
//! `PreToolUse`, `PermissionRequest` and `PreSkillShellCommand` are one question (may this call run) and are decided
//! as `pre_tool_use`; only their answers differ. For `PreSkillShellCommand` no JSON answer is documented and an unknown
//! shape would let the command run, so deny is exit 2, and so is ask: nobody can be asked there. A `PermissionRequest`
//! is never answered with allow: it is the user's own rule that asks, and `PreToolUse` was allowed before it. At other
//! events only a guard that denies has a say, as a top-level `block`; a default is about calls. Secrets in what a tool gave
//! back are taken out of what the model reads, by `updatedToolOutput` in the tool's own shape.

use crate::call::Call;
use crate::event::{Event, Fields, InputError, parse_strict, snake, unknown};
use crate::output;
use crate::reply::{Answer, Reply, clean};
use crate::settings::{ASKED, Settings, WAIT};
use crate::{Host, not_understood, refused};
use policy_runtime::verdict::Decision;
use serde_json::{Value, json};

/// Claude Code.
pub struct ClaudeCode;

/// Fields that every event has; the rest of an event without a tool are its arguments.
const COMMON: [&str; 11] = [
    "session_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "effort",
    "source",
    "agent_transcript_path",
];

impl Host for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn parse(&self, input: &[u8]) -> Result<Event, InputError> {
        let mut fields = Fields(parse_strict(input)?);
        let host_event = fields.needed("hook_event_name")?;
        let event = match host_event.as_str() {
            "PreToolUse" | "PermissionRequest" | "PreSkillShellCommand" => "pre_tool_use".to_owned(),
            "PostToolUse" | "PostToolUseFailure" | "UserPromptSubmit" | "ConfigChange" | "SessionStart"
            | "SubagentStart" => snake(&host_event),
            // Blocked once already: a second block would never let it end.
            "Stop" | "SubagentStop" if fields.0.get("stop_hook_active") != Some(&Value::Bool(true)) => {
                snake(&host_event)
            }
            // SECURITY: another program that loads this hook may spell the event its own way, or send one of its own.
            other => return unknown(other, &fields),
        };
        let has_tool = event.ends_with("tool_use") || event == "post_tool_use_failure";
        let mut call = Call {
            host: self.name().to_owned(),
            transcript: fields.transcript(&event)?,
            event,
            host_event,
            server: fields.text_in("mcp_server", "name")?,
            cwd: fields.folder("cwd")?,
            session: fields.text("session_id")?.unwrap_or_default(),
            agent: fields.text("agent_type")?,
            ..Call::default()
        };
        if has_tool {
            fields.tool(&mut call)?;
            if call.output.is_null() {
                call.output = fields.0.remove("error").unwrap_or_default();
            }
        } else {
            call.arguments = fields.rest(&COMMON);
        }
        Ok(Event::Call(Box::new(call)))
    }

    fn reply(&self, call: &Call, answer: &Answer) -> Reply {
        let reason = format!("policy: {}", answer.reason());
        let event = call.host_event.as_str();
        match (event, answer.decision) {
            ("PreToolUse", Decision::Host) => told(event, answer),
            // SECURITY: here allow takes the user's own prompt away, so what is only observed is no opinion.
            ("PreToolUse", Decision::Allow) if answer.observed.is_some() => told(event, answer),
            ("PreToolUse", Decision::Ask) if !answer.asks_there() => {
                Reply::json(&json!({"hookSpecificOutput": {
                    "hookEventName": event,
                    "permissionDecision": "deny",
                    "permissionDecisionReason": answer.asked(),
                }}))
            }
            ("PreToolUse", decision) => {
                let mut reply = json!({
                    "hookEventName": event,
                    "permissionDecision": decision.word(),
                    "permissionDecisionReason": reason,
                });
                let advice = answer.advice().filter(|_| decision == Decision::Allow);
                if let (Some(advice), Some(reply)) = (advice, reply.as_object_mut()) {
                    reply.insert("additionalContext".to_owned(), advice.into());
                }
                Reply::json(&json!({"hookSpecificOutput": reply}))
            }
            ("PermissionRequest", Decision::Deny) => {
                permission(json!({"behavior": "deny", "message": reason, "interrupt": false}))
            }
            ("PreSkillShellCommand", Decision::Deny | Decision::Ask) => {
                Reply { stderr: format!("{reason}\n").into_bytes(), exit: 2, ..Reply::default() }
            }
            ("PermissionRequest" | "PreSkillShellCommand", _) => Reply::default(),
            // Nothing can be blocked there, but the model can be told.
            ("SessionStart" | "SubagentStart", Decision::Deny) if answer.guard => context(event, &reason),
            ("PostToolUse", Decision::Deny) if answer.guard => redacted(call, answer)
                .unwrap_or_else(|| Reply::json(&json!({"decision": "block", "reason": reason}))),
            (_, Decision::Deny) if answer.guard => {
                Reply::json(&json!({"decision": "block", "reason": reason}))
            }
            _ => told(event, answer),
        }
    }

    fn asks(&self, call: &Call) -> bool {
        call.host_event != "PreSkillShellCommand"
    }

    fn fail_closed(&self, event: Option<&str>, reason: &str) -> Reply {
        match event {
            Some(event @ ("PreToolUse" | "PermissionRequest")) => refused(self, event, reason),
            Some("ConfigChange") => {
                let reason = format!("policy: {}", clean(reason, 400));
                Reply::json(&json!({"decision": "block", "reason": reason}))
            }
            _ => not_understood(event, reason),
        }
    }

    fn settings(&self, program: &str) -> Option<Settings> {
        let hook = |closed: bool| {
            let mut hook = json!({"type": "command", "command": program, "args": ["hook", "--host", self.name(), "--wait", ASKED.to_string()], "timeout": WAIT});
            if let Some(hook) = hook.as_object_mut().filter(|_| closed) {
                hook.insert("onFailure".to_owned(), "block".into());
            }
            hook
        };
        let tool = |event| (event, json!({"matcher": "*", "hooks": [hook(true)]}));
        let rest = |event| (event, json!({"hooks": [hook(false)]}));
        let entries = vec![
            tool("PreToolUse"),
            tool("PreSkillShellCommand"),
            ("PostToolUse", json!({"matcher": "*", "hooks": [hook(false)]})),
            ("ConfigChange", json!({"hooks": [hook(true)]})),
            rest("UserPromptSubmit"),
            rest("SubagentStart"),
            rest("SubagentStop"),
            rest("Stop"),
            // The log of audit is anchored and signed then.
            rest("SessionEnd"),
        ];
        let note = "Put it beside what is there: each event is a list.";
        Some(Settings::hooks("~/.claude/settings.json", json!({}), entries, note))
    }
}

/// Events whose answers may tell the model something.
const TELLING: [&str; 6] =
    ["PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SubagentStart"];

/// What the tool gave back without its secrets; none when there are none, or they cannot be taken out.
fn redacted(call: &Call, answer: &Answer) -> Option<Reply> {
    let output = output::without(&call.output, &answer.secrets)?;
    let told = answer.redacted();
    let inner = json!({
        "hookEventName": call.host_event,
        "updatedToolOutput": output,
        "additionalContext": told,
    });
    Some(Reply::json(&match answer.only_secrets {
        true => json!({"hookSpecificOutput": inner}),
        // Something else is wrong with it, too.
        false => json!({"decision": "block", "reason": told, "hookSpecificOutput": inner}),
    }))
}

/// Warnings for the model, else nothing: no opinion.
fn told(event: &str, answer: &Answer) -> Reply {
    match answer.advice() {
        Some(advice) if TELLING.contains(&event) => context(event, &advice),
        _ => Reply::default(),
    }
}

fn context(event: &str, text: &str) -> Reply {
    Reply::json(&json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}))
}

fn permission(decision: Value) -> Reply {
    Reply::json(&json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}))
}

#[cfg(test)]
#[path = "claude_code_tests.rs"]
mod tests;
