//! Cursor: hook events as its documentation describes them, and their answers.
//!
//! INVARIANT: a JSON object is always printed, and a denial is exit 2 as well. Only commands and calls to servers can be
//! asked here; what else has to be asked is denied.
//!
//! One action has an event of its own where it is a command, a call to a server or a file that is read, and else comes as
//! `preToolUse`: all four are `pre_tool_use`, under the name that the tool has there. What is done already comes as
//! `post_tool_use`.

use crate::Host;
use crate::call::Call;
use crate::event::{Event, Fields, InputError, is_report, parse_strict, strict_json, unknown};
use crate::reply::{Answer, Reply, clean};
use crate::settings::{Settings, WAIT, waiting};
use policy_runtime::verdict::Decision;
use serde_json::{Map, Value, json};

/// Cursor.
pub struct Cursor;

/// Fields that every event has; the rest of an event without a tool are its arguments.
const COMMON: [&str; 11] = [
    "hook_event_name",
    "conversation_id",
    "generation_id",
    "session_id",
    "model",
    "cursor_version",
    "workspace_roots",
    "user_email",
    "transcript_path",
    "agent_transcript_path",
    "cwd",
];

/// A server whose name is not told; its tools are not the host's own.
const SOME_SERVER: &str = "unknown";

impl Host for Cursor {
    fn name(&self) -> &'static str {
        "cursor"
    }

    fn parse(&self, input: &[u8]) -> Result<Event, InputError> {
        let mut fields = Fields(parse_strict(input)?);
        let host_event = fields.needed("hook_event_name")?;
        let event = match host_event.as_str() {
            "beforeShellExecution"
            | "beforeMCPExecution"
            | "beforeReadFile"
            | "beforeTabFileRead"
            | "preToolUse" => "pre_tool_use",
            "afterShellExecution"
            | "afterMCPExecution"
            | "afterFileEdit"
            | "afterTabFileEdit"
            | "postToolUse" => "post_tool_use",
            "postToolUseFailure" => "post_tool_use_failure",
            "beforeSubmitPrompt" => "user_prompt_submit",
            "subagentStart" => "subagent_start",
            // It was told to go on already: once more would never let it end.
            "stop" | "subagentStop"
                if fields.0.get("loop_count").and_then(Value::as_u64).unwrap_or(0) > 0 =>
            {
                return Ok(Event::Ignore);
            }
            "stop" => "stop",
            "subagentStop" => "subagent_stop",
            "sessionStart" => "session_start",
            "sessionEnd" => "session_end",
            "preCompact" => "pre_compact",
            // SECURITY: another program that loads this hook may spell the event its own way, or send one of its own.
            other => return unknown(other, &fields),
        };
        let mut call = Call {
            host: self.name().to_owned(),
            event: event.to_owned(),
            transcript: fields.transcript(event)?,
            cwd: folder(&fields)?,
            session: fields.text("conversation_id")?.unwrap_or_default(),
            agent: fields.text("subagent_type")?,
            ..Call::default()
        };
        if event.starts_with("post_tool_use") {
            let key =
                ["output", "result_json", "tool_output"].into_iter().find(|key| fields.0.contains_key(*key));
            call.output = key.and_then(|key| fields.0.remove(key)).unwrap_or_default();
        }
        match host_event.as_str() {
            "beforeShellExecution" | "afterShellExecution" => {
                call.tool = "Shell".to_owned();
                // An empty command would be no command at all.
                call.arguments = json!({"command": fields.needed("command")?});
            }
            "beforeReadFile" | "beforeTabFileRead" => {
                call.tool = "Read".to_owned();
                let mut arguments = Map::new();
                arguments.insert("file_path".to_owned(), fields.needed("file_path")?.into());
                if let Some(more) = fields.0.remove("attachments").filter(|more| !more.is_null()) {
                    arguments.insert("attachments".to_owned(), more);
                }
                call.arguments = Value::Object(arguments);
                // What the agent would read.
                call.output = fields.0.remove("content").unwrap_or_default();
            }
            "afterFileEdit" | "afterTabFileEdit" => {
                call.tool = "Edit".to_owned();
                let edits = fields.0.remove("edits").unwrap_or_default();
                call.arguments = json!({"file_path": fields.needed("file_path")?, "edits": edits});
            }
            "beforeMCPExecution" | "afterMCPExecution" => {
                call.tool = fields.needed("tool_name")?;
                let server = fields.text("mcp_server_name")?.filter(|name| !name.is_empty());
                call.server = Some(server.unwrap_or_else(|| SOME_SERVER.to_owned()));
                call.arguments = arguments(&mut fields, event)?;
            }
            "preToolUse" | "postToolUse" | "postToolUseFailure" => {
                call.tool = fields.needed("tool_name")?;
                if let Some(tool) = call.tool.strip_prefix("MCP:").map(|tool| tool.trim().to_owned()) {
                    call.tool = tool;
                    call.server = Some(SOME_SERVER.to_owned());
                }
                call.arguments = arguments(&mut fields, event)?;
            }
            _ => call.arguments = fields.rest(&COMMON),
        }
        call.host_event = host_event;
        Ok(Event::Call(Box::new(call)))
    }

    fn reply(&self, call: &Call, answer: &Answer) -> Reply {
        let event = call.host_event.as_str();
        let reason = format!("policy: {}", answer.reason());
        let asks = self.asks(call);
        match (call.event.as_str(), answer.decision) {
            ("pre_tool_use", Decision::Deny) => denied(&reason),
            ("pre_tool_use", Decision::Ask) if asks && answer.asks_there() => {
                let told = json!({"permission": "ask", "user_message": reason, "agent_message": reason});
                Reply::json(&told)
            }
            ("pre_tool_use", Decision::Ask) => denied(&answer.asked()),
            // SECURITY: allow may take the user's own prompt away, so what is only observed is no opinion.
            ("pre_tool_use", Decision::Allow) if answer.observed.is_none() => {
                Reply::json(&json!({"permission": "allow"}))
            }
            ("user_prompt_submit", Decision::Deny) if answer.guard => {
                let reply = Reply::json(&json!({"continue": false, "user_message": reason}));
                Reply { stderr: format!("{reason}\n").into_bytes(), exit: 2, ..reply }
            }
            ("user_prompt_submit", _) => Reply::json(&json!({"continue": true})),
            ("subagent_start", Decision::Deny) if answer.guard => denied(&reason),
            ("stop" | "subagent_stop", Decision::Deny) if answer.guard => {
                Reply::json(&json!({"followup_message": reason}))
            }
            (_, Decision::Deny) if answer.guard => Reply::json(&json!({"additional_context": reason})),
            _ => match answer.advice() {
                Some(advice) if ["postToolUse", "sessionStart"].contains(&event) => {
                    Reply::json(&json!({"additional_context": advice}))
                }
                _ => Reply::json(&json!({})),
            },
        }
    }

    fn asks(&self, call: &Call) -> bool {
        ["beforeShellExecution", "beforeMCPExecution"].contains(&call.host_event.as_str())
    }

    fn fail_closed(&self, event: Option<&str>, reason: &str) -> Reply {
        let text = clean(reason, 400);
        match event {
            // Nothing is at stake there, and a denial would keep an agent from ever stopping: reported, and on it goes.
            Some(event) if is_report(event) && event != "subagentStart" => {
                Reply { stderr: Reply::error(0, &text).stderr, exit: 1, ..Reply::json(&json!({})) }
            }
            // SECURITY: blocks whatever the event was.
            _ => denied(&format!("policy: {text}")),
        }
    }

    fn ignored(&self) -> Reply {
        Reply::json(&json!({}))
    }

    fn settings(&self, program: &str) -> Option<Settings> {
        let command = waiting(program, self.name());
        let hook = |closed: bool| json!({"command": command.clone(), "timeout": WAIT, "failClosed": closed});
        let mut tools = hook(true);
        if let Some(tools) = tools.as_object_mut() {
            tools.insert("matcher".to_owned(), "Write|Delete|StrReplace|Grep|List|Task".into());
        }
        let mut entries = vec![
            ("beforeShellExecution", hook(true)),
            ("beforeMCPExecution", hook(true)),
            ("beforeReadFile", hook(true)),
            ("preToolUse", tools),
            ("subagentStart", hook(true)),
        ];
        // The log of audit is anchored and signed when a session ends.
        let rest = [
            "postToolUse",
            "afterFileEdit",
            "beforeSubmitPrompt",
            "subagentStop",
            "stop",
            "sessionStart",
            "sessionEnd",
        ];
        entries.extend(rest.map(|event| (event, hook(false))));
        let note = "Commands, calls to servers and files that are read have events of their own, so that they can be asked; the matcher leaves them out.";
        Some(Settings::hooks("~/.cursor/hooks.json", json!({"version": 1}), entries, note))
    }
}

fn denied(reason: &str) -> Reply {
    let told = json!({"permission": "deny", "user_message": reason, "agent_message": reason});
    Reply { stderr: format!("{reason}\n").into_bytes(), exit: 2, ..Reply::json(&told) }
}

/// The folder of the call, else the first one of the workspace.
fn folder(fields: &Fields) -> Result<std::path::PathBuf, InputError> {
    let folder = fields.folder("cwd")?;
    if !folder.as_os_str().is_empty() {
        return Ok(folder);
    }
    let first = fields.0.get("workspace_roots").and_then(|roots| roots.get(0)).cloned();
    let mut only = Map::new();
    only.insert("workspace_roots".to_owned(), first.unwrap_or_default());
    Fields(only).folder("workspace_roots")
}

/// The arguments of a tool: an object, or one as JSON text.
fn arguments(fields: &mut Fields, event: &str) -> Result<Value, InputError> {
    let Some(Value::String(text)) = fields.0.get("tool_input") else {
        // SECURITY: what a call does is not known without its arguments.
        return if event == "pre_tool_use" {
            fields.needed_object("tool_input")
        } else {
            fields.object("tool_input")
        };
    };
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    match strict_json(text.as_bytes()) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(InputError::Shape("`tool_input` is not an object".to_owned())),
        Err(why) => Err(InputError::Shape(format!("`tool_input` is not JSON: {}", clean(&why, 100)))),
    }
}

#[cfg(test)]
#[path = "cursor_tests.rs"]
mod tests;
