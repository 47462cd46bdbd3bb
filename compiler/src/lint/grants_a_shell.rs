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
    let back = taken_back(policy);
    for (pattern, span) in policy.patterns.iter().zip(&input.lowered.pattern_spans) {
        let Some(line) = input.line(pattern).filter(|l| grants(l)) else { continue };
        let ir::Matcher::Run(run) = &pattern.matcher else { continue };
        let taken = |program: &str, flag: &str| back.contains(&(pattern.line, program, flag));
        let Some(program) = runner(run, &programs, &taken) else { continue };
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

/// The flags that a line takes back from a program whatever else stands there.
fn taken_back(policy: &ir::Policy) -> BTreeSet<(ir::LineId, &str, &str)> {
    let mut out = BTreeSet::new();
    for except in &policy.excepts {
        let ir::Matcher::Run(run) = &except.matcher else { continue };
        let [stage] = run.stages.as_slice() else { continue };
        let [ir::RunTerm::Flag(flags)] = stage.terms.as_slice() else { continue };
        if run.sets().next().is_none() && run.via.is_empty() {
            let pairs =
                stage.program.iter().flat_map(|program| flags.iter().map(move |flag| (program, flag)));
            out.extend(pairs.map(|(program, flag)| (except.line, program.as_str(), flag.as_str())));
        }
    }
    out
}

/// A line that lets something through by itself.
fn grants(line: &ir::Line) -> bool {
    matches!(line.verb, ir::Verb::Allow | ir::Verb::Only)
}

/// The program, when the pattern lets it run code: by what is known of it.
fn runner<'r>(
    run: &'r ir::RunPattern,
    programs: &BTreeMap<&str, &Program>,
    taken: &dyn Fn(&str, &str) -> bool,
) -> Option<&'r str> {
    let stage = run.stages.first()?;
    stage
        .program
        .iter()
        .map(String::as_str)
        .find(|program| runs(stage, program, programs.get(program).copied(), &|flag| taken(program, flag)))
}

/// Whether a stage lets this one of its programs run code.
fn runs(stage: &ir::RunStage, program: &str, known: Option<&Program>, taken: &dyn Fn(&str) -> bool) -> bool {
    if program.contains('*') || program.contains('/') {
        return true;
    }
    // What these run is told by their own readers.
    let carrier = ["powershell", "pwsh"].contains(&program);
    let Some(known) = known.filter(|_| !inert(stage) && !tells(stage)) else {
        return carrier && !inert(stage) && !tells(stage);
    };
    // A text behind `-c` is decided command by command.
    let text = matches!(stage.terms.first(), Some(ir::RunTerm::Flag(flags)) if flags.iter().all(|flag| is_text(flag)));
    if text && known.inner.iter().any(|inner| matches!(inner, Inner::FlagText { .. })) {
        return false;
    }
    carrier || spelled(stage).iter().any(|words| may_run(known, words, stage.rest, taken))
}

/// The words of a stage without its flags, in each spelling; a pattern has at most 256.
fn spelled(stage: &ir::RunStage) -> Vec<Vec<&str>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    for term in &stage.terms {
        let texts: Vec<&str> = match term {
            ir::RunTerm::Word(texts) => texts.iter().map(String::as_str).collect(),
            ir::RunTerm::AnyWord => vec!["*"],
            ir::RunTerm::Flag(_) | ir::RunTerm::AnyFlags => continue,
        };
        all = all
            .iter()
            .flat_map(|words| texts.iter().map(move |text| words.iter().copied().chain([*text]).collect()))
            .collect();
    }
    all
}

/// Whether a program, or a subcommand that these words can select, runs code of the project or a file.
fn may_run(program: &Program, words: &[&str], rest: bool, taken: &dyn Fn(&str) -> bool) -> bool {
    let open = match words.first() {
        Some(word) => word.contains('*'),
        None => rest,
    };
    if open && program.subcommands.iter().any(|sub| may_run(&sub.program, &[], true, taken)) {
        return true;
    }
    let chosen = program
        .subcommands
        .iter()
        .filter(|sub| words.iter().take(sub.words.len()).eq(sub.words.iter()))
        .max_by_key(|sub| sub.words.len());
    if let Some(sub) = chosen {
        return may_run(&sub.program, words.get(sub.words.len()..).unwrap_or_default(), rest, taken);
    }
    let file = |inner: &Inner| match inner {
        Inner::OperandFile { .. } => true,
        Inner::FlagModule { flags } => flags.iter().any(|flag| !taken(flag)),
        Inner::FlagFile { flags, language: Some(_) } => flags.iter().any(|flag| !taken(flag)),
        _ => false,
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
