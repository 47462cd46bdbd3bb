//! `open-allow-runs-code`: an open grant takes flags with which the program runs, writes or sends something.
//!
//! INVARIANT: told from what is known of programs alone; a flag that the line takes back is not told.

use super::{Input, by_name};
use crate::code::{Code, Sink};
use crate::ir;
use policy_grammar::shell::effects::{Place, Verb};
use policy_grammar::shell::program::{Inner, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Most flags that one message names.
const MOST_TOLD: usize = 4;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let policy = &input.lowered.policy;
    let by_name = by_name(&policy.programs);
    let mut back: BTreeMap<ir::LineId, BTreeSet<&str>> = BTreeMap::new();
    for except in &policy.excepts {
        let ir::Matcher::Run(run) = &except.matcher else { continue };
        for term in run.stages.iter().flat_map(|stage| &stage.terms) {
            let ir::RunTerm::Flag(flags) = term else { continue };
            let names = flags.iter().map(|flag| flag.split('=').next().unwrap_or(flag));
            back.entry(except.line).or_default().extend(names);
        }
    }
    let mut told: BTreeSet<ir::LineId> = BTreeSet::new();
    for written in input.patterns() {
        let line = written.pattern.line;
        let (true, ir::Matcher::Run(run)) = (grants(written.line), &written.pattern.matcher) else {
            continue;
        };
        let Some(stage) = run.stages.first().filter(|stage| takes_flags(run, stage)) else { continue };
        let Some(program) = stage.program.first().and_then(|name| by_name.get(name.as_str())) else {
            continue;
        };
        let taken = back.get(&line);
        let mut open: Vec<(&str, &str)> = doing(effective(program, stage));
        open.retain(|(flag, _)| taken.is_none_or(|taken| !taken.contains(flag)));
        let Some((first, does)) = open.first().filter(|_| told.insert(line)) else { continue };
        let message = match open.len() {
            1 => format!("`{first}` {does}, and this line takes any flag"),
            2 => format!("`{first}` {does}, and this line takes it and one more flag of the kind"),
            more => {
                format!("`{first}` {does}, and this line takes it and {} more flags of the kind", more - 1)
            }
        };
        let flags: Vec<&str> = open.iter().map(|(flag, _)| *flag).take(MOST_TOLD).collect();
        let program = stage.program.first().map_or("", String::as_str);
        let braces =
            if let [one] = flags.as_slice() { (*one).to_owned() } else { format!("{{{}}}", flags.join(",")) };
        let help = format!("take them back, if that is not meant: except `{program} {braces}`");
        sink.push(Code::OpenAllowRunsCode.advice(message, written.span, "any flag").with_help(help));
    }
}

fn grants(line: &ir::Line) -> bool {
    matches!(line.verb, ir::Verb::Allow | ir::Verb::Only)
}

/// `...` takes flags, but with `touching` only where `-*` stands.
fn takes_flags(run: &ir::RunPattern, stage: &ir::RunStage) -> bool {
    let any = stage.terms.iter().any(|term| matches!(term, ir::RunTerm::AnyFlags));
    any || stage.rest && run.touching.is_none()
}

/// The subcommand that the words of a pattern select.
fn effective<'p>(program: &'p Program, stage: &ir::RunStage) -> &'p Program {
    let words: Vec<&str> = stage
        .terms
        .iter()
        .filter_map(|term| match term {
            ir::RunTerm::Word(texts) => texts.first().map(String::as_str),
            _ => None,
        })
        .collect();
    let (mut program, mut rest) = (program, words.as_slice());
    while let Some(sub) =
        program.subcommands.iter().find(|sub| rest.iter().take(sub.words.len()).eq(sub.words.iter()))
    {
        rest = rest.get(sub.words.len()..).unwrap_or_default();
        program = &sub.program;
    }
    program
}

/// Flags with which a program does more than its words say, and what.
fn doing(program: &Program) -> Vec<(&str, &'static str)> {
    let mut out: Vec<(&str, &'static str)> = Vec::new();
    for inner in &program.inner {
        if let Inner::FlagText { flags }
        | Inner::SettingText { flags, .. }
        | Inner::FlagWords { flags }
        | Inner::FlagCommand { flags }
        | Inner::FlagCode { flags, .. }
        | Inner::FlagFile { flags, .. } = inner
        {
            out.extend(flags.iter().map(|flag| (flag.as_str(), "runs its value")));
        }
    }
    for effect in &program.effects {
        let what = match effect.verb {
            Verb::Sends => "sends a file",
            Verb::Writes => "writes a file",
            Verb::Deletes => "deletes a file",
            Verb::Executes => "runs a file",
            Verb::Reads | Verb::Changes | Verb::Links => continue,
        };
        match &effect.place {
            Place::Flags(flags) => out.extend(flags.iter().map(|flag| (flag.as_str(), what))),
            // `sed -i` writes what it else reads.
            _ => out.extend(effect.with.iter().map(|flag| (flag.as_str(), what))),
        }
    }
    let mut seen = BTreeSet::new();
    out.retain(|(flag, _)| seen.insert(*flag));
    out
}
