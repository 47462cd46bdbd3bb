//! The filer: what a tool gave back, filed in the background of a host.
//!
//! INVARIANT: nothing that goes wrong here is told to the host but in one line on standard error; our own tools and what people answer
//! are not filed.

use crate::pay::{Front, Refusal, TOOL, scan};
use policy_engine::decide::{Engine, Options};
use policy_engine::layers::Default_;
use policy_engine::paying::now_ms;
use policy_engine::places::Folders;
use policy_hosts::call::Call;
use policy_ledger::{Sqlite, file};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Longest event, bytes.
pub const MOST: u64 = 80 << 20;

/// What came of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filed {
    /// It was filed.
    Text,
    /// It is none that is filed.
    Passed,
}

/// Files what the tool of an event gave back. `project` and `session` are what the environment names.
///
/// # Errors
/// Why it was not filed.
pub fn file_result(
    folders: &Folders,
    event: &[u8],
    project: Option<&Path>,
    session: Option<String>,
) -> Result<Filed, String> {
    let event: Value =
        serde_json::from_slice(event).map_err(|error| format!("the event cannot be read: {error}"))?;
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    let tool = text("tool_name");
    let server = tool.strip_prefix("mcp__").and_then(|rest| rest.split("__").next()).unwrap_or_default();
    if tool.is_empty()
        || tool == "AskUserQuestion"
        || server.contains("policy")
        || server.contains("vulsight")
    {
        return Ok(Filed::Passed);
    }
    let page = match event.get("tool_response") {
        None | Some(Value::Null) => return Ok(Filed::Passed),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    if page.is_empty() {
        return Ok(Filed::Passed);
    }
    let cwd = project.map_or_else(|| PathBuf::from(text("cwd")), Path::to_path_buf);
    let cwd =
        std::fs::canonicalize(&cwd).map_err(|error| format!("the project `{}`: {error}", cwd.display()))?;
    let mut engine = Engine::new(folders.clone(), Options::aside(None, Default_::Std));
    let ledger = Sqlite::at(file(&folders.state));
    let mut front = Front {
        engine: &mut engine,
        ledger: &ledger,
        frame: Call { host: "mcp".to_owned(), tool: TOOL.to_owned(), cwd, ..Call::default() },
        session: session.unwrap_or_default(),
        account: String::new(),
        now: now_ms(),
        scan: &scan,
    };
    let origin = if tool.starts_with("Web") { format!("page {tool}") } else { format!("tool {tool}") };
    match front.file(&origin, &page.replace('\0', "\u{fffd}")) {
        Ok(_) => Ok(Filed::Text),
        Err(Refusal::Fault(cause)) => Err(cause),
        Err(other) => Err(other.sentence()),
    }
}
