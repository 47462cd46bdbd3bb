//! The tools that check and explain calls.
//!
//! INVARIANT: a check makes the call that a hook would be sent and asks the engine that a hook asks, so both say the same.
//! What is checked is the call as a whole: an argument that is not understood is an error, never left out.

use crate::mcp::arguments::{Arguments, Wrong};
use crate::mcp::desk::Worker;
use crate::mcp::events;
use crate::mcp::violations::{self, Violation};
use policy_engine::decide::Answer;
use policy_engine::patched::{self, Asked};
use policy_engine::places::absolute;
use policy_engine::touched::touched;
use policy_hosts::call::Call;
use policy_hosts::patch::PatchError;
use policy_hosts::reply::{Answer as Told, clean, for_model};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Keys of the file in the arguments of a tool.
const FILE: [&str; 4] = ["file_path", "path", "notebook_path", "absolute_path"];

/// `check_content`.
pub(crate) fn content(worker: &mut Worker, arguments: &mut Arguments) -> Result<Value, Wrong> {
    let content = arguments.text("content")?;
    let file = arguments.text("file_path")?;
    let tool = arguments.optional("tool_name")?.unwrap_or_else(|| "Write".to_owned());
    let event = arguments.optional("event")?.unwrap_or_else(|| "PreToolUse".to_owned());
    let event = events::any(&event)?;
    let input = match tool.as_str() {
        "Bash" => json!({"command": content}),
        "Write" | "Edit" => json!({"file_path": file, "content": content}),
        // Content for a tool that is not known could be a command that is taken for a text.
        _ => {
            return Err(Wrong::unknown(
                "tool_name",
                "tool that has content",
                &tool,
                ["Write", "Edit", "Bash"],
            ));
        }
    };
    let call = worker.call(event, &tool, input)?;
    let answer = worker.engine().decide(&call);
    listed(worker, &call, &answer)
}

/// `check_patch`: file by file, as the host reports it.
pub(crate) fn patch(worker: &mut Worker, arguments: &mut Arguments) -> Result<Value, Wrong> {
    let text = arguments.text("patch")?;
    let cwd = arguments.optional("cwd")?;
    let project = worker.project()?;
    let cwd = folder(&project, cwd)?;
    let mut around = worker.call("pre_tool_use", "apply_patch", Value::Null)?;
    around.cwd = cwd;
    let mut all: Vec<Value> = Vec::new();
    let mut denied = true;
    match patched::ask(worker.engine(), &text, &project, &around) {
        Err(wrong) => all.extend(wrong.iter().map(misfit)),
        Ok(asked) => {
            denied = asked.iter().any(Asked::refused);
            for one in &asked {
                let mut found = found(worker, &one.answer)?;
                found.iter_mut().for_each(Violation::refuse);
                if let Value::Array(found) = violations::json(&found, Some(&one.file), Some("apply_patch")) {
                    all.extend(found);
                }
            }
        }
    }
    Ok(json!({"decision": if denied { "deny" } else { "allow" }, "violations": all}))
}

/// What keeps a patch from being applied.
fn misfit(error: &PatchError) -> Value {
    let path = if error.path.is_empty() { Value::Null } else { error.path.clone().into() };
    json!({
        "rule_id": patched::RULE,
        "message": format!("{}: {}", error.reason.word(), error.message),
        "severity": "error",
        "file_path": path,
        "line": error.lines.first(),
        "suggestion": error.suggest,
        "operation": "apply_patch",
    })
}

/// `check_event`.
pub(crate) fn event(worker: &mut Worker, arguments: &mut Arguments) -> Result<Value, Wrong> {
    let event = arguments.text("event")?;
    let tool = arguments.text("tool_name")?;
    let input = arguments.object("tool_input")?;
    let file = arguments.optional("file_content")?;
    let event = events::normalized(&event)?;
    let of_tools = ["pre_tool_use", "post_tool_use", "post_tool_use_failure", "permission_request"];
    if tool.is_empty() && of_tools.contains(&event) {
        return Err(Wrong::field(
            "tool_name",
            &format!("is empty, and the event `{event}` is one of a tool"),
        ));
    }
    let call = worker.call(event, &tool, input)?;
    let answer = match file {
        Some(text) => worker.engine().decide_knowing(&call, text),
        None => worker.engine().decide(&call),
    };
    listed(worker, &call, &answer)
}

/// `check_command`.
pub(crate) fn command(worker: &mut Worker, arguments: &mut Arguments) -> Result<Value, Wrong> {
    let command = arguments.text("command")?;
    let cwd = arguments.optional("cwd")?;
    let mut call = worker.call("pre_tool_use", "Bash", json!({"command": command}))?;
    call.cwd = folder(&call.cwd, cwd)?;
    let answer = worker.engine().decide(&call);
    let violations = found(worker, &answer)?;
    let told = Told::from(&answer.verdict);
    let suggestion = for_model(&told.suggest, 400);
    Ok(json!({
        "decision": answer.verdict.decision.word(),
        "rule": clean(&told.rule, 160),
        "reason": told.reason(),
        "suggestion": if suggestion.is_empty() { Value::Null } else { suggestion.into() },
        "violations": in_answer(&violations, &call, &answer),
    }))
}

/// `explain`.
pub(crate) fn explain(worker: &mut Worker, arguments: &mut Arguments) -> Result<Value, Wrong> {
    let tool = arguments.text("tool_name")?;
    let input = arguments.object("tool_input")?;
    let event = arguments.optional("event")?.unwrap_or_else(|| "pre_tool_use".to_owned());
    let server = arguments.optional("server")?.filter(|server| !server.is_empty());
    let cwd = arguments.optional("cwd")?;
    let mut call = worker.call(events::any(&event)?, &tool, input)?;
    call.server = server;
    call.cwd = folder(&call.cwd, cwd)?;
    let answer = worker.engine().decide(&call);
    let steps: Vec<Value> = answer
        .verdict
        .steps
        .iter()
        .map(|step| {
            json!({
                "decision": step.decision.word(),
                "rule": clean(&step.rule, 160),
                "guard": step.guard,
                "file": clean(&step.place.file, 160),
                "line": step.place.line,
                "value": clean(&step.value, 200),
                "matched": clean(&step.matched, 400),
                "because": for_model(&step.because, 400),
                "suggestion": for_model(&step.suggest, 400),
            })
        })
        .collect();
    let layers: Vec<Value> = answer
        .layers
        .iter()
        .map(|layer| json!({"kind": layer.kind.word(), "name": layer.name, "restricted": layer.restricted}))
        .collect();
    let touches: Vec<String> = touched(&answer.facts).iter().map(|line| clean(line, 400)).collect();
    let violations = found(worker, &answer)?;
    Ok(json!({
        "decision": answer.verdict.decision.word(),
        "reason": Told::from(&answer.verdict).reason(),
        "touches": touches,
        "steps": steps,
        "violations": in_answer(&violations, &call, &answer),
        "layers": layers,
    }))
}

/// A folder of an argument, from the project.
fn folder(project: &Path, named: Option<String>) -> Result<PathBuf, Wrong> {
    match named.filter(|named| !named.is_empty()) {
        None => Ok(project.to_path_buf()),
        Some(named) if named.contains('\0') => Err(Wrong::field("cwd", "holds a NUL")),
        Some(named) => Ok(absolute(project, Path::new(&named))),
    }
}

fn found(worker: &mut Worker, answer: &Answer) -> Result<Vec<Violation>, Wrong> {
    let mut violations = violations::of(&answer.verdict);
    if !violations.iter().any(Violation::can_be_hidden) {
        return Ok(violations);
    }
    let entry = worker.entry()?;
    let suppressed = worker.sessions.suppressed(&entry).map_err(Wrong::plain)?;
    violations::without(&suppressed, &mut violations);
    Ok(violations)
}

fn in_answer(violations: &[Violation], call: &Call, answer: &Answer) -> Value {
    let file = FILE.iter().find_map(|key| call.arguments.get(*key)?.as_str()).filter(|file| !file.is_empty());
    let operation = violations::operation(&call.tool, &answer.facts);
    violations::json(violations, file, operation.as_deref())
}

fn listed(worker: &mut Worker, call: &Call, answer: &Answer) -> Result<Value, Wrong> {
    let violations = found(worker, answer)?;
    Ok(in_answer(&violations, call, answer))
}
