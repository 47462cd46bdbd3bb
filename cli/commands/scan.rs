//! `policy scan`: whether texts give orders to an agent.
//!
//! INVARIANT: a text that was not read, or not wholly, is never answered as clean: it is flagged or told incomplete.

use super::check::{Lines, object};
use crate::args::ScanArgs;
use crate::output::{OK, Outcome};
use policy_injection::{Origin, Report, look};
use serde_json::{Value, json};
use std::io::Write;

/// Runs the command; what is read now are JSON lines.
pub(crate) fn run(_: &ScanArgs) -> Outcome {
    let mut lines = Lines { reader: std::io::stdin().lock() };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    while let Some(line) = lines.next()? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match object(&line) {
            Ok(row) => answer(&row),
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
fn answer(row: &Value) -> Value {
    let id = row.get("id").cloned().unwrap_or(Value::Null);
    let Some(text) = row.get("text").and_then(Value::as_str) else {
        return problem(&id, "`text` is no text");
    };
    let origin = match row.get("origin").and_then(Value::as_str) {
        Some(word) => Origin::named(word),
        None if row.get("path").is_some_and(Value::is_string) => Origin::File,
        None => Origin::Unknown,
    };
    value(&id, &look(text, origin))
}

fn value(id: &Value, report: &Report) -> Value {
    let found = if report.flagged { report.found.as_slice() } else { &[] };
    let findings: Vec<Value> = found
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
        .collect();
    json!({"id": id, "flagged": report.flagged, "complete": report.complete, "findings": findings})
}

fn problem(id: &Value, cause: &str) -> Value {
    json!({"id": id, "flagged": true, "complete": false, "findings": [], "problem": cause})
}
