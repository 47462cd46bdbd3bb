//! How findings are told: to a person, as JSON, as SARIF 2.1.0, as annotations of GitHub.
//!
//! INVARIANT: the same findings in every form and in the order of files and lines; no secret is printed.

use super::Scanned;
use crate::args::Format;
use crate::context::Context;
use crate::output::{Color, Output, print as write, visible};
use policy_runtime::verdict::{Finding, Severity};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Prints everything.
pub(super) fn print(scanned: &[Scanned], files: usize, old: usize, context: &Context) {
    match context.output.format {
        Format::Human | Format::Plain => human(scanned, files, old, context.output),
        Format::Json => write(&format!("{}\n", as_json(scanned, files, old))),
        Format::Sarif => write(&format!("{:#}\n", as_sarif(scanned))),
        Format::Github => write(&as_github(scanned)),
    }
}

fn human(scanned: &[Scanned], files: usize, old: usize, output: Output) {
    let mut text = String::new();
    let mut counts = [0_usize; 3];
    for file in scanned {
        for found in &file.found {
            let finding = &found.finding;
            let (word, color) = match finding.severity {
                Severity::Error => ("error", Color::Red),
                Severity::Warning => ("warning", Color::Yellow),
                Severity::Info => ("info", Color::Green),
            };
            if let Some(count) = counts.get_mut(finding.severity as usize) {
                *count += 1;
            }
            text.push_str(&format!(
                "{}:{}: {} {}: {}\n",
                name(&file.shown),
                spot(finding),
                output.paint(word, color),
                visible(&finding.rule),
                visible(&finding.message)
            ));
            if !finding.suggest.is_empty() {
                text.push_str(&format!("    instead: {}\n", visible(&finding.suggest)));
            }
        }
        for problem in &file.problems {
            text.push_str(&format!("{}: not wholly looked at: {}\n", name(&file.shown), visible(problem)));
        }
    }
    let [infos, warnings, errors] = counts;
    if !output.quiet {
        let old = if old > 0 { format!(", {old} old ones left out") } else { String::new() };
        let told = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        text.push_str(&format!(
            "{}: {}, {}, {}{old}\n",
            told(files, "file"),
            told(errors, "error"),
            told(warnings, "warning"),
            told(infos, "info")
        ));
    }
    write(&text);
}

/// The name of a file on one line.
///
/// SECURITY: a name can hold lines that look like findings, and one that begins a line with `::` is a command to the
/// machine that runs a workflow.
fn name(shown: &str) -> String {
    let shown = visible(shown).replace('\n', "\\n").replace('\t', "\\t");
    if shown.starts_with(':') || shown.contains("##[") {
        format!("./{}", shown.replace("##[", "# #["))
    } else {
        shown
    }
}

/// The column in letters, from 1; none when it is not known.
fn column(finding: &Finding) -> Option<u32> {
    (finding.column > 0).then_some(finding.column)
}

/// The line, and the column when it is known.
fn spot(finding: &Finding) -> String {
    match finding.column {
        0 => finding.line.to_string(),
        column => format!("{}:{column}", finding.line),
    }
}

fn as_json(scanned: &[Scanned], files: usize, old: usize) -> Value {
    let findings = scanned.iter().flat_map(|file| file.found.iter().map(move |found| (file, found)));
    let findings: Vec<Value> = findings
        .map(|(file, found)| {
            let finding = &found.finding;
            json!({
                "path": file.shown, "line": finding.line, "column": finding.column, "rule": finding.rule,
                "severity": finding.severity.word(),
                "message": finding.message, "suggest": finding.suggest, "fingerprint": found.print,
            })
        })
        .collect();
    let problems = scanned.iter().flat_map(|file| file.problems.iter().map(move |why| (file, why)));
    let problems: Vec<Value> =
        problems.map(|(file, why)| json!({"path": file.shown, "problem": why})).collect();
    json!({"version": 1, "files": files, "old": old, "findings": findings, "problems": problems})
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte);
    path.bytes().fold(String::new(), |mut out, byte| {
        match plain(byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
        out
    })
}

fn as_sarif(scanned: &[Scanned]) -> Value {
    let mut rules: BTreeMap<&str, (usize, &Finding)> = BTreeMap::new();
    for found in scanned.iter().flat_map(|file| &file.found) {
        rules.entry(&found.finding.rule).or_insert((0, &found.finding));
    }
    for (number, (place, _)) in rules.values_mut().enumerate() {
        *place = number;
    }
    let results: Vec<Value> = scanned
        .iter()
        .flat_map(|file| file.found.iter().map(move |found| (file, found)))
        .map(|(file, found)| {
            let finding = &found.finding;
            let text = match finding.suggest.is_empty() {
                true => finding.message.clone(),
                false => format!("{}. Instead: {}", finding.message, finding.suggest),
            };
            let mut region = json!({"startLine": finding.line});
            if let (Some(column), Some(region)) = (column(finding), region.as_object_mut()) {
                region.insert("startColumn".to_owned(), column.into());
            }
            json!({
                "ruleId": finding.rule,
                "ruleIndex": rules.get(finding.rule.as_str()).map_or(0, |(number, _)| *number),
                "level": level(finding.severity),
                "message": {"text": text},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": uri(&file.shown)},
                    "region": region,
                }}],
                "partialFingerprints": {"policyLine/v1": found.print},
            })
        })
        .collect();
    let told: Vec<Value> = scanned
        .iter()
        .flat_map(|file| file.problems.iter().map(move |why| (file, why)))
        .map(|(file, why)| {
            json!({
                "level": "warning",
                "message": {"text": format!("{}: not wholly looked at: {why}", file.shown)},
                "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(&file.shown)}}}],
            })
        })
        .collect();
    let rules: Vec<Value> = rules
        .iter()
        .map(|(rule, (_, finding))| {
            json!({
                "id": rule,
                "shortDescription": {"text": rule},
                "defaultConfiguration": {"level": level(finding.severity)},
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "policy",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": true, "toolExecutionNotifications": told}],
            "results": results,
        }],
    })
}

/// Workflow commands; what would end one is written as its format wants.
fn as_github(scanned: &[Scanned]) -> String {
    // What else hides or acts in a terminal is shown as its number.
    let data = |text: &str| {
        let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        visible(&text)
    };
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut out = String::new();
    for file in scanned {
        for found in &file.found {
            let finding = &found.finding;
            let word = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "notice",
            };
            let (path, title) = (property(&file.shown), property(&finding.rule));
            let col = column(finding).map_or(String::new(), |column| format!(",col={column}"));
            out.push_str(&format!(
                "::{word} file={path},line={}{col},title={title}::{}\n",
                finding.line,
                data(&finding.message)
            ));
        }
        for problem in &file.problems {
            out.push_str(&format!("::warning file={}::{}\n", property(&file.shown), data(problem)));
        }
    }
    out
}
