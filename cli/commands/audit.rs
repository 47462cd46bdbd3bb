//! `policy audit`: shows, filters and counts the log.
//!
//! INVARIANT: a line that is no JSON object is counted and said, never dropped in silence; bounded memory.

use super::audit_summary::Summary;
use super::check::Lines;
use super::{audit_gaps, audit_key, audit_verify};
use crate::args::{AuditArgs, AuditCommand};
use crate::context::{Context, Flavor};
use crate::output::{Failure, OK, Outcome, print, visible};
use policy_engine::audit::rotate;
use policy_engine::open::{self, Care};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Lines that are kept for `--last`.
const MAX_LAST: usize = 1_000_000;
/// Longest value that is looked for.
const MAX_VALUE: u64 = 1024 * 1024;

/// The audit file, when none was named.
pub(crate) fn default_file(context: &Context) -> Result<PathBuf, Failure> {
    match context.flavor {
        Flavor::Policy => Ok(context.folders()?.audit()),
        Flavor::AgentFirewall => Ok(context.cwd()?.join("agent-firewall-audit.jsonl")),
    }
}

/// The audit file, named or not.
pub(crate) fn file(named: Option<&Path>, context: &Context) -> Result<PathBuf, Failure> {
    match named {
        Some(file) => context.path(file),
        None => default_file(context),
    }
}

/// Runs the command.
pub(crate) fn run(args: &AuditArgs, context: &Context) -> Outcome {
    if args.what.is_some() && args.any() {
        return Err(Failure::usage("what is to be shown is said without `verify`, `gaps`, `key` and `sign`"));
    }
    match &args.what {
        Some(AuditCommand::Verify(args)) => return audit_verify::run(args, context),
        Some(AuditCommand::Gaps(args)) => return audit_gaps::run(args, context),
        Some(AuditCommand::Key(args)) => return audit_key::run(args, context),
        Some(AuditCommand::Sign(args)) => return audit_key::sign(args, context),
        None => {}
    }
    for decision in &args.decision {
        if !["allow", "host", "ask", "deny"].contains(&decision.as_str()) {
            return Err(Failure::usage(format!(
                "`{decision}` is no decision; they are allow, host, ask and deny"
            )));
        }
    }
    let file = file(args.file.as_deref(), context)?;
    let mut files = if args.all { rotate::earlier(&file) } else { Vec::new() };
    match open::present(&file) {
        Ok(false) if args.file.is_none() && files.is_empty() => {
            context.output.remark(&format!("no decision was recorded yet (`{}`)", file.display()));
            return Ok(OK);
        }
        Ok(false) if !files.is_empty() => {}
        _ => files.push(file),
    }
    let mut shown = Shown { masked: masked(args, context)?, ..Shown::default() };
    for file in &files {
        shown.file(file, args, context)?;
    }
    for text in &shown.kept {
        print(text);
    }
    if args.summary {
        print(&shown.summary.text(context.output.json()));
    }
    if shown.bad > 0 {
        context.output.remark(&format!("{} of {} lines are no audit lines", shown.bad, shown.lines));
    }
    Ok(OK)
}

/// What stands in the log for the value that is looked for.
fn masked(args: &AuditArgs, context: &Context) -> Result<Option<String>, Failure> {
    let Some(value) = &args.masked else { return Ok(None) };
    let mut value = value.clone();
    if value == "-" {
        value.clear();
        let failed = |error| Failure::usage(format!("standard input cannot be read: {error}"));
        std::io::stdin().take(MAX_VALUE).read_to_string(&mut value).map_err(failed)?;
        value.truncate(value.trim_end_matches(['\r', '\n']).len());
    }
    match policy_engine::audit::masked::name(&value, &context.folders()?.state) {
        Some(name) => Ok(Some(name)),
        None => Err(Failure::usage("no value was masked yet: there is no key for them")),
    }
}

#[derive(Default)]
struct Shown {
    kept: VecDeque<String>,
    summary: Summary,
    masked: Option<String>,
    lines: u64,
    bad: u64,
}

impl Shown {
    fn file(&mut self, file: &Path, args: &AuditArgs, context: &Context) -> Result<(), Failure> {
        let opened =
            open::open(file, Care::Named, u64::MAX).map_err(|error| Failure::usage(error.to_string()))?;
        let mut lines = Lines { reader: BufReader::new(opened.file) };
        let mut number = 0u64;
        while let Some(line) = lines.next()? {
            number += 1;
            self.lines += 1;
            let Ok(row @ Value::Object(_)) = serde_json::from_slice::<Value>(&line) else {
                self.bad += 1;
                context.output.remark(&format!("line {number} is no audit line"));
                continue;
            };
            if wanted(&row, args, self.masked.as_deref()) {
                self.row(&row, args, context);
            }
        }
        Ok(())
    }

    fn row(&mut self, row: &Value, args: &AuditArgs, context: &Context) {
        if args.summary {
            return self.summary.add(row);
        }
        let text = if context.output.json() { format!("{row}\n") } else { shown(row) };
        match args.last {
            None => print(&text),
            Some(last) => {
                self.kept.push_back(text);
                if self.kept.len() > last.min(MAX_LAST) {
                    self.kept.pop_front();
                }
            }
        }
    }
}

pub(super) fn field<'a>(row: &'a Value, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn wanted(row: &Value, args: &AuditArgs, masked: Option<&str>) -> bool {
    let holds = |name: &str, text: &Option<String>| {
        text.as_ref().is_none_or(|text| field(row, name).to_lowercase().contains(&text.to_lowercase()))
    };
    (args.decision.is_empty() || args.decision.iter().any(|decision| decision == field(row, "decision")))
        && holds("tool", &args.tool)
        && holds("rule", &args.rule)
        && holds("server", &args.server)
        && args.session.as_ref().is_none_or(|session| session == field(row, "session"))
        && args.since.as_ref().is_none_or(|time| field(row, "time") >= time.as_str())
        // A day is the beginning of all its times, as a minute is.
        && args.until.as_ref().is_none_or(|until| {
            field(row, "time").get(..until.len()).is_some_and(|time| time <= until.as_str())
        })
        && masked.is_none_or(|name| names(row).any(|known| known == name))
}

fn names(row: &Value) -> impl Iterator<Item = &str> {
    row.get("masked").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn shown(row: &Value) -> String {
    if let Some(checkpoint) = row.get("checkpoint") {
        let seq = checkpoint.get("seq").and_then(Value::as_u64).unwrap_or_default();
        return format!("{}  checkpoint: signs up to sequence {seq}\n", visible(field(row, "time")));
    }
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
