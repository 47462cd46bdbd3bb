//! `policy scan --batch`: whether texts give orders to an agent; for texts of files also what the content lines find.
//!
//! INVARIANT: a text that was not read, or not wholly, is never answered as clean: it is flagged or told incomplete.

use super::sieve;
use crate::args::ScanArgs;
use crate::commands::check::{Lines, object};
use crate::context::Context;
use crate::output::{Failure, OK, Outcome};
use policy_engine::scan::{Opened, Sieve};
use policy_injection::{Origin, Report, look};
use policy_runtime::verdict::Severity;
use serde_json::{Value, json};
use std::io::Write;

/// Runs the command; what is read are JSON lines.
pub(super) fn run(args: &ScanArgs, context: &Context) -> Outcome {
    let mut lines = Lines { reader: std::io::stdin().lock() };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    // Policies are read only for texts of files.
    let kept: std::cell::OnceCell<Sieve> = std::cell::OnceCell::new();
    let mut opened: Option<Opened<'_>> = None;
    while let Some(line) = lines.next()? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match object(&line) {
            Ok(row) => {
                let path = row.get("path").and_then(Value::as_str);
                if path.is_some() && opened.is_none() {
                    if kept.get().is_none() {
                        let _ = kept.set(sieve(args, context, &context.cwd()?)?);
                    }
                    opened = kept.get().map(Sieve::open).transpose().map_err(Failure::policy)?;
                }
                answer(&row, path.zip(opened.as_ref()))
            }
            Err(cause) => problem(&Value::Null, &cause),
        };
        if writeln!(out, "{answer}").is_err() {
            return Ok(OK);
        }
    }
    let _ = out.flush();
    Ok(OK)
}

/// A row `{id, text, path?, origin?}`; a text with a path and no origin is a file.
fn answer(row: &Value, file: Option<(&str, &Opened<'_>)>) -> Value {
    let id = row.get("id").cloned().unwrap_or(Value::Null);
    let Some(text) = row.get("text").and_then(Value::as_str) else {
        return problem(&id, "`text` is no text");
    };
    let origin = match row.get("origin").and_then(Value::as_str) {
        Some(word) => Origin::named(word),
        None if file.is_some() => Origin::File,
        None => Origin::Unknown,
    };
    let report = look(text, origin);
    let (mut flagged, mut complete) = (report.flagged, report.complete);
    let mut findings = orders(&report);
    if let Some((path, opened)) = file {
        let judged = opened.judge(path, text, None);
        complete &= judged.problems.is_empty();
        for finding in judged.findings {
            flagged |= finding.severity == Severity::Error;
            findings.push(json!({
                "rule": finding.rule, "severity": finding.severity.word(), "line": finding.line,
                "column": finding.column, "message": finding.message,
            }));
        }
    }
    json!({"id": id, "flagged": flagged, "complete": complete, "findings": findings})
}

fn orders(report: &Report) -> Vec<Value> {
    let found = if report.flagged { report.found.as_slice() } else { &[] };
    found
        .iter()
        .map(|found| {
            json!({
                "rule": format!("injection/{}", found.class),
                "severity": if found.strength >= 2 { "error" } else { "warning" },
                "line": found.line,
                "column": found.column,
                "view": found.view,
                "excerpt": found.excerpt,
            })
        })
        .collect()
}

fn problem(id: &Value, cause: &str) -> Value {
    json!({"id": id, "flagged": true, "complete": false, "findings": [], "problem": cause})
}
