//! `grants-a-shell`: the line starts a program that runs code the agent can write.
//!
//! INVARIANT: counts every such `allow` line of the policy, packs included; only the user's own are told.

use super::Input;
use crate::Summary;
use crate::code::{Code, Sink};
use crate::ir;
use policy_grammar::source::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Which words behind a program make it run code.
enum Words {
    /// Whatever follows.
    Any,
    /// These subcommands.
    Only(&'static [&'static str]),
    /// Everything but these subcommands.
    But(&'static [&'static str]),
    /// A file; a text behind `-c` is decided command by command.
    Script,
}

/// Programs that run project code or any code.
const RUNNERS: &[(&str, Words)] = &[
    ("ant", Words::Any),
    ("bash", Words::Script),
    ("bazel", Words::Only(&["build", "run", "test"])),
    ("bun", Words::Only(&["install", "run", "test", "x"])),
    ("bundle", Words::Only(&["exec", "install"])),
    (
        "cargo",
        Words::Only(&["bench", "build", "check", "clippy", "doc", "install", "nextest", "run", "test"]),
    ),
    ("cmake", Words::Any),
    ("composer", Words::Only(&["install", "run", "run-script", "update"])),
    ("ctest", Words::Any),
    ("deno", Words::Only(&["run", "task", "test"])),
    ("docker", Words::Only(&["build", "exec", "run"])),
    ("dotnet", Words::Only(&["build", "run", "test"])),
    ("eslint", Words::Any),
    ("go", Words::Only(&["generate", "run", "test", "tool"])),
    ("gradle", Words::Any),
    ("gradlew", Words::Any),
    ("jest", Words::Any),
    ("just", Words::Any),
    ("make", Words::Any),
    ("mix", Words::Any),
    ("mvn", Words::Any),
    ("mvnw", Words::Any),
    ("node", Words::Any),
    ("nox", Words::Any),
    (
        "npm",
        Words::Only(&[
            "ci",
            "exec",
            "i",
            "install",
            "install-test",
            "run",
            "run-script",
            "start",
            "t",
            "test",
            "x",
        ]),
    ),
    ("npx", Words::Any),
    ("nx", Words::Any),
    ("perl", Words::Any),
    ("php", Words::Any),
    ("pip", Words::Only(&["install"])),
    ("pip3", Words::Only(&["install"])),
    (
        "pnpm",
        Words::But(&["audit", "config", "info", "licenses", "list", "ls", "outdated", "version", "why"]),
    ),
    ("poetry", Words::Only(&["install", "run"])),
    ("powershell", Words::Any),
    ("pre-commit", Words::Only(&["run"])),
    ("pwsh", Words::Any),
    ("pytest", Words::Any),
    ("python", Words::Any),
    ("python3", Words::Any),
    ("rake", Words::Any),
    ("rspec", Words::Any),
    ("ruby", Words::Any),
    ("sbt", Words::Any),
    ("sh", Words::Script),
    ("task", Words::Any),
    ("terraform", Words::Only(&["apply", "plan"])),
    ("tox", Words::Any),
    ("ts-node", Words::Any),
    ("tsx", Words::Any),
    ("turbo", Words::Any),
    ("uv", Words::Only(&["run", "sync", "tool"])),
    ("uvx", Words::Any),
    ("vite", Words::Any),
    ("vitest", Words::Any),
    (
        "yarn",
        Words::But(&["audit", "config", "info", "licenses", "list", "ls", "outdated", "version", "why"]),
    ),
    ("zsh", Words::Script),
];

/// Runs the lint and counts.
pub(super) fn lint(input: &Input<'_>, summary: &mut Summary, sink: &mut Sink) {
    let policy = &input.lowered.policy;
    summary.allow_lines = policy.lines.iter().filter(|l| grants(l)).count();
    let mut shells: BTreeSet<ir::LineId> = BTreeSet::new();
    let mut told: BTreeSet<ir::LineId> = BTreeSet::new();
    let mut by_file: BTreeMap<FileId, Vec<(String, Span)>> = BTreeMap::new();
    for (pattern, span) in policy.patterns.iter().zip(&input.lowered.pattern_spans) {
        let Some(line) = input.line(pattern).filter(|l| grants(l)) else { continue };
        let ir::Matcher::Run(run) = &pattern.matcher else { continue };
        let Some(program) = runner(run) else { continue };
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

/// The program, when the pattern lets it run code.
fn runner(run: &ir::RunPattern) -> Option<&str> {
    let stage = run.stages.first()?;
    let program = stage.program.first()?;
    if program.contains('*') {
        return Some(program);
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    if name != program {
        return Some(program);
    }
    let at = RUNNERS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    let (_, words) = RUNNERS.get(at)?;
    let first = stage.terms.iter().find_map(|term| match term {
        ir::RunTerm::Word(texts) => Some(texts.first().map_or("*", String::as_str)),
        ir::RunTerm::AnyWord => Some("*"),
        ir::RunTerm::Flag(_) | ir::RunTerm::AnyFlags => None,
    });
    let runs = match (words, first) {
        (Words::Any, _) => !inert(stage),
        (Words::Only(_) | Words::But(_), _) if tells(stage) => false,
        (Words::Only(words), Some(first)) => first.contains('*') || words.contains(&first),
        (Words::But(words), Some(first)) => !words.contains(&first),
        (Words::Only(_), None) => stage.rest,
        (Words::But(_), None) => !inert(stage),
        (Words::Script, _) => {
            let text = matches!(stage.terms.first(), Some(ir::RunTerm::Flag(f)) if f.iter().all(|f| f == "-c" || f == "-lc"));
            !text && !inert(stage)
        }
    };
    runs.then_some(program)
}

/// One word and the flag that asks for its help.
fn tells(stage: &ir::RunStage) -> bool {
    let help = |term: Option<&ir::RunTerm>| matches!(term, Some(ir::RunTerm::Flag(f)) if f.iter().all(|f| f == "--help"));
    !stage.rest && stage.terms.len() == 2 && help(stage.terms.last())
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

#[cfg(test)]
mod tests {
    #[test]
    fn sorted() {
        assert!(super::RUNNERS.is_sorted_by_key(|(name, _)| *name));
    }
}
