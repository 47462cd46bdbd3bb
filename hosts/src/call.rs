//! One event as its host told it.
//!
//! INVARIANT: a call is what arrived, nothing decided; the principal's labels never come from the call's arguments.

use serde_json::Value;
use std::path::PathBuf;

/// One event as the host told it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Call {
    /// What a tool gave back, at events behind its run; null when there is nothing.
    pub output: Value,
    /// The host's name (`claude-code`, `generic`, `gateway`, `check`).
    pub host: String,
    /// The event in snake case (`pre_tool_use`).
    pub event: String,
    /// The event as the host spells it (`PreToolUse`); the reply's shape depends on it.
    pub host_event: String,
    /// The MCP server when the host names it apart from the tool.
    pub server: Option<String>,
    /// `server` is the one this process stands in front of, so its tools count as the host's own too.
    pub wrapped: bool,
    /// The tool as the host spells it.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// The folder of the call, absolute.
    pub cwd: PathBuf,
    /// The host's session id.
    pub session: String,
    /// The subagent's type, as the host reports it.
    pub agent: Option<String>,
    /// Where a subagent that ended wrote down what it did, absolute.
    pub transcript: Option<PathBuf>,
    /// Label given with `--as`.
    pub label: Option<String>,
}

/// The places that turn paths into anchored views. Nothing here is read from the environment by this crate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The project folder, absolute and resolved.
    pub project: Option<PathBuf>,
    /// The user's home, absolute.
    pub home: Option<PathBuf>,
    /// Resolve links on disk (second name of a path). Off in tests and `check` of foreign paths.
    pub resolve_links: bool,
    /// Windows rules for names (streams, trailing dots and blanks, drive letters, ignoring case).
    pub windows: bool,
}
