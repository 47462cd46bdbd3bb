//! Gemini CLI: hook events of version 0.61 and their answers.
//!
//! INVARIANT: a denial is said twice, as JSON and as exit 2 with the reason on standard error, because this host lets the
//! call through when it cannot read the one and takes the other; allow is never said.
//!
//! Its events are those of other hosts under other names: `BeforeTool` is `pre_tool_use`, `AfterTool` `post_tool_use`,
//! `BeforeAgent` `user_prompt_submit`, `AfterAgent` `stop`, `PreCompress` `pre_compact`. A denied `AfterTool` takes the
//! tool's output away from the model.

use crate::Host;
use crate::call::Call;
use crate::event::{Event, Fields, InputError, is_report, parse_strict, unknown};
use crate::reply::{Answer, Reply, clean};
use crate::settings::{Settings, WAIT, waiting};
use policy_runtime::verdict::Decision;
use serde_json::{Value, json};

/// Gemini CLI.
pub struct Gemini;

/// Fields that every event has; the rest of an event without a tool are its arguments.
const COMMON: [&str; 6] = ["session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "source"];

impl Host for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn parse(&self, input: &[u8]) -> Result<Event, InputError> {
        let mut fields = Fields(parse_strict(input)?);
        let host_event = fields.needed("hook_event_name")?;
        let event = match host_event.as_str() {
            "BeforeTool" => "pre_tool_use",
            "AfterTool" => "post_tool_use",
            "BeforeAgent" => "user_prompt_submit",
            // Blocked once already: a second block would never let it end.
            "AfterAgent" if fields.0.get("stop_hook_active") != Some(&Value::Bool(true)) => "stop",
            "SessionStart" => "session_start",
            "SessionEnd" => "session_end",
            "PreCompress" => "pre_compact",
            "Notification" => "notification",
            // SECURITY: another program that loads this hook may spell the event its own way, or send one of its own.
            other => return unknown(other, &fields),
        };
        let mut call = Call {
            host: self.name().to_owned(),
            event: event.to_owned(),
            host_event,
            server: fields.text_in("mcp_context", "server_name")?,
            cwd: fields.folder("cwd")?,
            session: fields.text("session_id")?.unwrap_or_default(),
            ..Call::default()
        };
        if event.ends_with("tool_use") {
            fields.tool(&mut call)?;
        } else {
            call.arguments = fields.rest(&COMMON);
        }
        Ok(Event::Call(Box::new(call)))
    }

    fn reply(&self, call: &Call, answer: &Answer) -> Reply {
        let event = call.host_event.as_str();
        let reason = format!("policy: {}", answer.reason());
        match (event, answer.decision) {
            ("BeforeTool", Decision::Deny) => denied(&reason),
            ("BeforeTool", Decision::Ask) if !answer.asks_there() => denied(&answer.asked()),
            ("BeforeTool", Decision::Ask) => Reply::json(&json!({"decision": "ask", "reason": reason})),
            ("AfterTool" | "BeforeAgent" | "AfterAgent", Decision::Deny) if answer.guard => denied(&reason),
            _ => match answer.advice() {
                // What is said before a tool runs is for the person; behind it, for the model.
                Some(advice) if event == "BeforeTool" => Reply::json(&json!({"systemMessage": advice})),
                Some(advice) if ["AfterTool", "BeforeAgent", "SessionStart"].contains(&event) => {
                    Reply::json(&json!({"hookSpecificOutput": {
                        "hookEventName": event,
                        "additionalContext": advice,
                    }}))
                }
                _ => Reply::default(),
            },
        }
    }

    fn asks(&self, _call: &Call) -> bool {
        true
    }

    fn fail_closed(&self, event: Option<&str>, reason: &str) -> Reply {
        let text = format!("policy: {}", clean(reason, 400));
        match event {
            // Nothing is at stake there, and a denial would keep an agent from ever stopping: reported, and on it goes.
            Some(event) if is_report(event) => Reply::error(1, &clean(reason, 400)),
            // SECURITY: blocks whatever the event was.
            _ => denied(&text),
        }
    }

    fn settings(&self, program: &str) -> Option<Settings> {
        let hook = json!({"name": "policy", "type": "command", "command": waiting(program, self.name()), "timeout": WAIT * 1000});
        let tool = |event| (event, json!({"matcher": ".*", "hooks": [hook.clone()]}));
        let rest = |event| (event, json!({"hooks": [hook.clone()]}));
        let entries = vec![
            tool("BeforeTool"),
            tool("AfterTool"),
            rest("BeforeAgent"),
            rest("AfterAgent"),
            rest("SessionStart"),
            // The log of audit is anchored and signed then.
            rest("SessionEnd"),
        ];
        let note = "The time is in milliseconds. Without a window (`gemini -p`) a call that has to be asked waits until the run ends, and does not run.";
        Some(Settings::hooks("~/.gemini/settings.json", json!({}), entries, note))
    }
}

/// In words and by exit code.
fn denied(reason: &str) -> Reply {
    let reply = Reply::json(&json!({"decision": "deny", "reason": reason}));
    Reply { stderr: format!("{reason}\n").into_bytes(), exit: 2, ..reply }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
