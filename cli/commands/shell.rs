//! `policy shell`: which commands the reader sees in a shell text.
//!
//! INVARIANT: a word that is not known is `null`, never a guess; what is not understood is listed.

use super::check::{Lines, object};
use crate::args::{ShellArgs, ShellDialect};
use crate::context::Context;
use crate::output::{FINDINGS, Failure, OK, Outcome, print, visible};
use policy_engine::layers::{Default_, Layers};
use policy_engine::open::Care;
use policy_engine::programs::TablePrograms;
use policy_grammar::shell::{Analysis, Command, Dialect, Word, analyze};
use policy_runtime::table::Table;
use serde_json::{Value, json};
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &ShellArgs, context: &Context) -> Outcome {
    let mut layers = Layers::new(&context.folders()?, Care::Named, true, &policy_engine::work::Here);
    let layer = match &args.policy {
        Some(file) => layers.named(&context.path(file)?),
        None => layers.default(Default_::Std),
    };
    let bytes = layer.table.as_ref().map_err(|cause| Failure::policy(cause.clone()))?;
    let table = Table::open(bytes.bytes()).map_err(|error| Failure::policy(error.to_string()))?;
    let programs = TablePrograms::new(table);
    let dialect = args.dialect.dialect();
    let read = |text: &str| analyze(text, dialect, &programs);
    if args.batch {
        return batch(&read);
    }
    let analysis = read(args.text.as_deref().unwrap_or_default());
    if context.output.json() {
        print(&format!("{}\n", value(&Value::Null, &analysis)));
    } else {
        print(&text(&analysis));
    }
    Ok(if analysis.complete { OK } else { FINDINGS })
}

impl ShellDialect {
    fn dialect(self) -> Dialect {
        match self {
            ShellDialect::Bash => Dialect::Bash,
            ShellDialect::Posix => Dialect::Posix,
            ShellDialect::Zsh => Dialect::Zsh,
            ShellDialect::Powershell => Dialect::PowerShell,
            ShellDialect::Cmd => Dialect::Cmd,
        }
    }
}

fn batch(read: &dyn Fn(&str) -> Analysis) -> Outcome {
    let mut lines = Lines { reader: std::io::stdin().lock() };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    while let Some(line) = lines.next()? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match object(&line) {
            Ok(row) => {
                let id = row.get("id").cloned().unwrap_or(Value::Null);
                match row.get("cmd").and_then(Value::as_str) {
                    Some(cmd) => value(&id, &read(cmd)),
                    None => problem(&id, "`cmd` is no text"),
                }
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

fn problem(id: &Value, cause: &str) -> Value {
    json!({"id": id, "commands": [], "complete": false, "problems": [{"message": cause, "line": 0, "column": 0}]})
}

fn value(id: &Value, analysis: &Analysis) -> Value {
    let word = |word: &Word| match word {
        Word::Known(text) | Word::Tilde(text) => Value::String(text.clone()),
        Word::OneOf(_) | Word::Glob(_) | Word::Unknown(_) => Value::Null,
    };
    let commands: Vec<Value> =
        listed(analysis).map(|command| command.words.iter().map(word).collect()).collect();
    let problems: Vec<Value> = analysis
        .problems
        .iter()
        .map(|problem| json!({"message": problem.message, "line": problem.line, "column": problem.column}))
        .collect();
    json!({"id": id, "commands": commands, "complete": analysis.complete, "problems": problems})
}

/// The commands without their second readings.
fn listed(analysis: &Analysis) -> impl Iterator<Item = &Command> {
    analysis.commands.iter().filter(|command| !command.alternative)
}

fn text(analysis: &Analysis) -> String {
    let mut out = String::new();
    for command in listed(analysis) {
        let words: Vec<String> = command.words.iter().map(shown).collect();
        out.push_str(&format!("{}\n", visible(&words.join(" "))));
        if !command.wrappers.is_empty() {
            out.push_str(&format!("  inside {}\n", visible(&command.wrappers.join(", "))));
        }
        for redirect in &command.redirects {
            out.push_str(&format!(
                "  {}{} {}\n",
                redirect.fd,
                redirect.op,
                visible(&shown(&redirect.target))
            ));
        }
        for gap in &command.gaps {
            out.push_str(&format!("  not known: {}\n", gap_text(*gap)));
        }
    }
    for problem in &analysis.problems {
        out.push_str(&format!(
            "not understood, line {} column {}: {}\n",
            problem.line, problem.column, problem.message
        ));
    }
    out
}

fn shown(word: &Word) -> String {
    match word {
        Word::Known(text) | Word::Tilde(text) if !text.is_empty() && !text.contains(char::is_whitespace) => {
            text.clone()
        }
        Word::Known(text) | Word::Tilde(text) => format!("'{text}'"),
        Word::OneOf(texts) => format!("<one of {}>", texts.join(", ")),
        Word::Glob(text) => format!("<files {text}>"),
        Word::Unknown(_) => "<unknown>".to_string(),
    }
}

fn gap_text(gap: policy_grammar::shell::Gap) -> &'static str {
    use policy_grammar::shell::Gap;
    match gap {
        Gap::UnknownProgram => "which program it is",
        Gap::Shadowed => "the name is a function or an alias here",
        Gap::Environment => "a variable before it changes what runs",
        Gap::UnreadCode => "its code comes from where nobody can read it",
        Gap::PartlyRead => "its code is not wholly understood",
        Gap::UncertainWrapper => "where its inner command begins",
        Gap::Unparsed => "the text inside it",
    }
}
