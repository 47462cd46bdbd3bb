//! `grants-a-shell`: the line starts a program that runs code the agent can write.
//!
//! INVARIANT: counts every such `allow` line of the policy, packs included; only the user's own are told.

use super::{Input, by_name};
use crate::Summary;
use crate::code::{Code, Sink};
use crate::ir;
use policy_grammar::shell::program::{Inner, Program};
use policy_grammar::source::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Runs the lint and counts.
pub(super) fn lint(input: &Input<'_>, summary: &mut Summary, sink: &mut Sink) {
    let policy = &input.lowered.policy;
    let programs = by_name(&policy.programs);
    summary.allow_lines = policy.lines.iter().filter(|l| grants(l)).count();
    let mut shells: BTreeSet<ir::LineId> = BTreeSet::new();
    let mut told: BTreeSet<ir::LineId> = BTreeSet::new();
    let mut by_file: BTreeMap<FileId, Vec<(String, Span)>> = BTreeMap::new();
    for (pattern, span) in policy.patterns.iter().zip(&input.lowered.pattern_spans) {
        let Some(line) = input.line(pattern).filter(|l| grants(l)) else { continue };
        let ir::Matcher::Run(run) = &pattern.matcher else { continue };
        let Some(program) = runner(run, &programs) else { continue };
        shells.insert(pattern.line);
        let own = input.instance(line).is_some_and(|i| i.user);
        if own && told.insert(pattern.line) {
            by_file.entry(span.file).or_default().push((program.to_owned(), *span));
        }
    }
    for mut lines in by_file.into_values() {
        lines.sort_by_key(|(_, span)| span.start);
        tell(&lines, sink);
    }
    summary.shell_lines = shells.len();
}

/// One message for a file, with a label for each line.
fn tell(lines: &[(String, Span)], sink: &mut Sink) {
    let Some(((program, span), more)) = lines.split_first() else { return };
    let message = match more.len() {
        0 => format!("`{program}` runs code that the agent can write"),
        _ => format!("{} lines run code that the agent can write", lines.len()),
    };
    let mut told = Code::GrantsAShell.advice(message, *span, "grants what a shell grants");
    for (_, span) in more {
        told = told.with_label(*span, "and so does this");
    }
    sink.push(told.with_help(
        "most agents need this to test their work; keep secrets and credentials out of its reach",
    ));
}

/// A line that lets something through by itself.
fn grants(line: &ir::Line) -> bool {
    matches!(line.verb, ir::Verb::Allow | ir::Verb::Only)
}

/// The program, when the pattern lets it run code: by what is known of it.
fn runner<'r>(run: &'r ir::RunPattern, programs: &BTreeMap<&str, &Program>) -> Option<&'r str> {
    let stage = run.stages.first()?;
    let program = stage.program.first()?;
    if program.contains('*') || program.contains('/') {
        return Some(program);
    }
    // What these run is told by their own readers.
    let known = programs.get(program.as_str());
    let carrier = ["powershell", "pwsh"].contains(&program.as_str());
    if inert(stage) || tells(stage) || known.is_none() && !carrier {
        return None;
    }
    // A text behind `-c` is decided command by command.
    let text = matches!(stage.terms.first(), Some(ir::RunTerm::Flag(flags)) if flags.iter().all(|flag| is_text(flag)));
    let shell =
        known.is_some_and(|known| known.inner.iter().any(|inner| matches!(inner, Inner::FlagText { .. })));
    if text && shell {
        return None;
    }
    let words: Vec<&str> = stage
        .terms
        .iter()
        .filter_map(|term| match term {
            ir::RunTerm::Word(texts) => Some(texts.first().map_or("*", String::as_str)),
            ir::RunTerm::AnyWord => Some("*"),
            ir::RunTerm::Flag(_) | ir::RunTerm::AnyFlags => None,
        })
        .collect();
    let runs = carrier || known.is_some_and(|known| may_run(known, &words, stage.rest));
    runs.then_some(program.as_str())
}

/// Whether a program, or a subcommand that these words can select, runs code of the project or a file.
fn may_run(program: &Program, words: &[&str], rest: bool) -> bool {
    let open = match words.first() {
        Some(word) => word.contains('*'),
        None => rest,
    };
    if open && program.subcommands.iter().any(|sub| may_run(&sub.program, &[], true)) {
        return true;
    }
    let chosen = program
        .subcommands
        .iter()
        .filter(|sub| words.iter().take(sub.words.len()).eq(sub.words.iter()))
        .max_by_key(|sub| sub.words.len());
    if let Some(sub) = chosen {
        return may_run(&sub.program, words.get(sub.words.len()..).unwrap_or_default(), rest);
    }
    let file = |inner: &Inner| {
        matches!(inner, Inner::OperandFile { .. } | Inner::FlagModule { .. })
            || matches!(inner, Inner::FlagFile { language: Some(_), .. })
    };
    program.project_code || program.inner.iter().any(file)
}

/// A flag, or a bundle of flags, behind which the text stands.
fn is_text(flag: &str) -> bool {
    flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('c')
}

/// Only asks for a version or help.
fn inert(stage: &ir::RunStage) -> bool {
    let harmless = |term: &ir::RunTerm| match term {
        ir::RunTerm::Flag(texts) => {
            texts.iter().all(|t| matches!(t.as_str(), "--version" | "-V" | "-v" | "--help" | "-h"))
        }
        _ => false,
    };
    !stage.rest && stage.terms.len() == 1 && stage.terms.iter().all(harmless)
}

/// One word and the flag that asks for its help.
fn tells(stage: &ir::RunStage) -> bool {
    let help = |term: Option<&ir::RunTerm>| matches!(term, Some(ir::RunTerm::Flag(f)) if f.iter().all(|f| f == "--help"));
    !stage.rest && stage.terms.len() == 2 && help(stage.terms.last())
}
