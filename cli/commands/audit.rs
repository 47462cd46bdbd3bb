//! `policy audit`: shows and filters the log.
//!
//! INVARIANT: a line that is no JSON object is counted and said, never dropped in silence; bounded memory.

use super::check::Lines;
use crate::args::AuditArgs;
use crate::context::{Context, Flavor};
use crate::output::{Failure, OK, Outcome, print, visible};
use policy_engine::open::{self, Care};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::BufReader;
use std::path::PathBuf;

/// Lines that are kept for `--last`.
const MAX_LAST: usize = 1_000_000;

/// The audit file, when none was named.
pub(crate) fn default_file(context: &Context) -> Result<PathBuf, Failure> {
    match context.flavor {
        Flavor::Policy => Ok(context.folders()?.audit()),
        Flavor::AgentFirewall => Ok(context.cwd()?.join("agent-firewall-audit.jsonl")),
    }
}

/// Runs the command.
pub(crate) fn run(args: &AuditArgs, context: &Context) -> Outcome {
    for decision in &args.decision {
        if !["allow", "host", "ask", "deny"].contains(&decision.as_str()) {
            return Err(Failure::usage(format!(
                "`{decision}` is no decision; they are allow, host, ask and deny"
            )));
        }
    }
    let file = match &args.file {
        Some(file) => context.path(file)?,
        None => default_file(context)?,
    };
    let opened = match open::open(&file, Care::Named, u64::MAX) {
        Ok(opened) => opened,
        Err(error) if error.missing && args.file.is_none() => {
            context.output.remark(&format!("no decision was recorded yet (`{}`)", file.display()));
            return Ok(OK);
        }
        Err(error) => return Err(Failure::usage(error.to_string())),
    };
    let mut lines = Lines { reader: BufReader::new(opened.file) };
    let mut kept: VecDeque<String> = VecDeque::new();
    let (mut number, mut bad) = (0u64, 0u64);
    while let Some(line) = lines.next()? {
        number += 1;
        let Ok(Value::Object(row)) = serde_json::from_slice::<Value>(&line) else {
            bad += 1;
            context.output.remark(&format!("line {number} is no audit line"));
            continue;
        };
        let row = Value::Object(row);
        if !wanted(&row, args) {
            continue;
        }
        let text = if context.output.json() { format!("{row}\n") } else { shown(&row) };
        match args.last {
            None => print(&text),
            Some(last) => {
                kept.push_back(text);
                if kept.len() > last.min(MAX_LAST) {
                    kept.pop_front();
                }
            }
        }
    }
    for text in kept {
        print(&text);
    }
    if bad > 0 {
        context.output.remark(&format!("{bad} of {number} lines are no audit lines"));
    }
    Ok(OK)
}

fn field<'a>(row: &'a Value, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn wanted(row: &Value, args: &AuditArgs) -> bool {
    let holds = |name: &str, text: &Option<String>| {
        text.as_ref().is_none_or(|text| field(row, name).to_lowercase().contains(&text.to_lowercase()))
    };
    (args.decision.is_empty() || args.decision.iter().any(|decision| decision == field(row, "decision")))
        && holds("tool", &args.tool)
        && holds("rule", &args.rule)
        && args.session.as_ref().is_none_or(|session| session == field(row, "session"))
        && args.since.as_ref().is_none_or(|day| field(row, "time") >= day.as_str())
}

fn shown(row: &Value) -> String {
    let mut text = format!(
        "{}  {:<5}  {}",
        visible(field(row, "time")),
        visible(field(row, "decision")),
        visible(field(row, "tool")),
    );
    let has = |name: &str| row.get(name).and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    // A command shows its own paths and hosts; which of its words are paths is only guessed.
    let names: &[&str] = if has("commands") { &["commands"] } else { &["paths", "hosts"] };
    for name in names {
        let Some(values) = row.get(name).and_then(Value::as_array) else { continue };
        for value in values.iter().filter_map(Value::as_str).take(3) {
            text.push_str(&format!("  {}", visible(value).replace('\n', "\\n")));
        }
    }
    let (rule, reason) = (field(row, "rule"), field(row, "reason"));
    // Most reasons begin with the name of their rule.
    let shown = if reason.starts_with(rule) { reason.to_owned() } else { format!("{rule}: {reason}") };
    text.push_str(&format!("\n    {}\n", visible(&shown)));
    text
}
