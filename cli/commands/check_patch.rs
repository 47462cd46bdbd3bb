//! `policy check-patch`: whether an `apply_patch` envelope can be applied here, and what the policy says of its files.
//!
//! INVARIANT: exit 0 only when every hunk has its one place and no file is refused; a patch that cannot be read is denied.

use crate::args::{CallArgs, CheckPatchArgs};
use crate::commands::check;
use crate::context::Context;
use crate::output::{BAD_POLICY, Color, FINDINGS, Failure, OK, Outcome, print, visible};
use policy_engine::decide::Answer;
use policy_engine::patched::{self, Asked, RULE};
use policy_hosts::call::Call;
use policy_hosts::patch::{MAX_PATCH_BYTES, PatchError};
use policy_hosts::reply::Answer as Answered;
use policy_runtime::verdict::{Decision, Severity};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

/// One thing that speaks against a patch, or is to be known of it.
struct Violation {
    rule: String,
    message: String,
    severity: Severity,
    file: String,
    line: usize,
    suggest: String,
}

/// Runs the command.
pub(crate) fn run(args: &CheckPatchArgs, context: &Context) -> Outcome {
    let cwd = match &args.cwd {
        Some(folder) => folder_of(&context.path(folder)?)?,
        None => context.cwd()?,
    };
    let project = match &args.project_dir {
        Some(folder) => folder_of(&context.path(folder)?)?,
        None => cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&cwd).to_path_buf(),
    };
    let bytes = read(args.file.as_deref(), context)?;
    let words = CallArgs { server: None, label: args.label.clone(), cwd: None, policy: args.policy.clone() };
    let mut engine = check::engine(&words, context, true)?;
    let mut found = Vec::new();
    let mut rules = 1;
    let mut unusable = false;
    let mut denied = true;
    let around = Call { cwd, label: args.label.clone(), ..Call::default() };
    match std::str::from_utf8(&bytes).map(|text| patched::ask(&mut engine, text, &project, &around)) {
        Err(_) => found.push(inspected("the patch is not UTF-8 text", "", 0, "write the patch as text")),
        Ok(Err(errors)) => found.extend(errors.iter().map(of_patch)),
        Ok(Ok(asked)) => {
            denied = asked.iter().any(Asked::refused);
            for one in &asked {
                unusable |= one.answer.layers.iter().any(|layer| layer.table.is_err());
                rules = 1 + counted(&one.answer);
                found.extend(of_policy(one));
            }
        }
    }
    report(denied, &found, rules, args.json || context.output.json(), context);
    Ok(if unusable {
        BAD_POLICY
    } else if denied {
        FINDINGS
    } else {
        OK
    })
}

fn folder_of(path: &Path) -> Result<PathBuf, Failure> {
    let folder = std::fs::canonicalize(path).ok().filter(|path| path.is_dir());
    folder.ok_or_else(|| Failure::usage(format!("`{}` is no folder that can be used", path.display())))
}

/// The patch, at most one byte more than may be.
fn read(file: Option<&Path>, context: &Context) -> Result<Vec<u8>, Failure> {
    let most = MAX_PATCH_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    let read = match file.filter(|file| *file != Path::new("-")) {
        None => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        Some(file) => {
            let path = context.path(file)?;
            std::fs::File::open(&path)
                .and_then(|file| file.take(most).read_to_end(&mut bytes))
                .map_err(|error| std::io::Error::new(error.kind(), format!("`{}`: {error}", path.display())))
        }
    };
    read.map_err(|error| Failure::usage(format!("the patch cannot be read: {error}")))?;
    Ok(bytes)
}

/// The blocks of all layers that were asked.
fn counted(answer: &Answer) -> usize {
    let tables = answer.layers.iter().filter_map(|layer| layer.table.as_ref().ok());
    tables.filter_map(|bytes| bytes.table().ok()).map(|table| table.blocks() as usize).sum()
}

fn of_patch(error: &PatchError) -> Violation {
    let line = error.lines.first().copied().unwrap_or_default();
    let message = format!("{}: {}", error.reason.word(), error.message);
    inspected(&message, &error.path, line, error.suggest)
}

fn inspected(message: &str, file: &str, line: usize, suggest: &str) -> Violation {
    Violation {
        rule: RULE.to_string(),
        message: message.to_string(),
        severity: Severity::Error,
        file: file.to_string(),
        line,
        suggest: suggest.to_string(),
    }
}

fn of_policy(asked: &Asked) -> Vec<Violation> {
    let file = asked.file.as_str();
    let told = Answered::from(&asked.answer.verdict);
    let mut found: Vec<Violation> = Vec::new();
    if asked.refused() {
        let mut message = told.reason();
        if told.decision == Decision::Ask {
            message.push_str(". A person has to say yes to this, and Codex cannot ask");
        }
        found.push(Violation {
            rule: told.rule.clone(),
            message,
            severity: Severity::Error,
            file: file.to_string(),
            line: 0,
            suggest: told.suggest.clone(),
        });
    }
    for finding in &told.findings {
        match found.iter_mut().find(|known| known.rule == finding.rule && known.severity == finding.severity)
        {
            Some(known) if known.line == 0 => known.line = finding.line as usize,
            _ => found.push(Violation {
                rule: finding.rule.clone(),
                message: finding.message.clone(),
                severity: finding.severity,
                file: file.to_string(),
                line: finding.line as usize,
                suggest: finding.suggest.clone(),
            }),
        }
    }
    found
}

fn report(denied: bool, found: &[Violation], rules: usize, as_json: bool, context: &Context) {
    let decision = if denied { "deny" } else { "allow" };
    if as_json {
        let violations: Vec<Value> = found
            .iter()
            .map(|one| {
                json!({
                    "rule_id": one.rule,
                    "message": one.message,
                    "severity": one.severity.word(),
                    "file_path": one.file,
                    "line": (one.line > 0).then_some(one.line),
                    "suggestion": one.suggest,
                })
            })
            .collect();
        let value = json!({"decision": decision, "violations": violations, "rules_evaluated": rules});
        print(&format!("{value}\n"));
        return;
    }
    if context.output.quiet {
        return;
    }
    let color = if denied { Color::Red } else { Color::Green };
    let noun = if rules == 1 { "rule" } else { "rules" };
    let mut text = format!("{}  {rules} {noun}\n", context.output.paint(decision, color));
    for one in found {
        let line = if one.line > 0 { format!(":{}", one.line) } else { String::new() };
        let place =
            if one.file.is_empty() { String::new() } else { format!("  {}{line}", visible(&one.file)) };
        text.push_str(&format!(
            "  {} {}{place}\n    {}\n",
            one.severity.word(),
            visible(&one.rule),
            visible(&one.message)
        ));
        if !one.suggest.is_empty() {
            text.push_str(&format!("    instead: {}\n", visible(&one.suggest)));
        }
    }
    print(&text);
}
