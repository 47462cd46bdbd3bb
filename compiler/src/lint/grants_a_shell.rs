//! `grants-a-shell`: the line starts a program that runs code the agent can write.
//!
//! INVARIANT: counts every such `allow` line of the policy, packs included; only the user's own are told.

use super::Input;
use crate::Summary;
use crate::code::{Code, Sink};
use crate::ir;
use std::collections::BTreeSet;

/// Programs that run project code or any code, and the words behind them that do; no words is any.
const RUNNERS: &[(&str, &[&str])] = &[
    ("ant", &[]),
    ("awk", &[]),
    ("bash", &[]),
    ("bazel", &["build", "run", "test"]),
    ("bun", &["install", "run", "test", "x"]),
    ("bundle", &["exec", "install"]),
    ("cargo", &["bench", "build", "check", "clippy", "doc", "install", "nextest", "run", "test"]),
    ("cmake", &[]),
    ("composer", &["install", "run", "run-script", "update"]),
    ("ctest", &[]),
    ("deno", &["run", "task", "test"]),
    ("docker", &["build", "compose", "exec", "run"]),
    ("dotnet", &["build", "run", "test"]),
    ("env", &[]),
    ("eslint", &[]),
    ("go", &["generate", "run", "test", "tool"]),
    ("gradle", &[]),
    ("gradlew", &[]),
    ("jest", &[]),
    ("just", &[]),
    ("make", &[]),
    ("mix", &[]),
    ("mvn", &[]),
    ("mvnw", &[]),
    ("node", &[]),
    ("nox", &[]),
    ("npm", &["ci", "exec", "i", "install", "install-test", "run", "run-script", "start", "t", "test", "x"]),
    ("npx", &[]),
    ("nx", &[]),
    ("perl", &[]),
    ("php", &[]),
    ("pip", &["install"]),
    ("pip3", &["install"]),
    ("pnpm", &["dlx", "exec", "i", "install", "run", "start", "t", "test"]),
    ("poetry", &["install", "run"]),
    ("powershell", &[]),
    ("pre-commit", &["run"]),
    ("pwsh", &[]),
    ("pytest", &[]),
    ("python", &[]),
    ("python3", &[]),
    ("rake", &[]),
    ("rspec", &[]),
    ("ruby", &[]),
    ("sbt", &[]),
    ("sh", &[]),
    ("task", &[]),
    ("terraform", &["apply", "plan"]),
    ("tox", &[]),
    ("ts-node", &[]),
    ("tsx", &[]),
    ("turbo", &[]),
    ("uv", &["run", "sync", "tool"]),
    ("uvx", &[]),
    ("vite", &[]),
    ("vitest", &[]),
    ("xargs", &[]),
    ("yarn", &[]),
    ("zsh", &[]),
];

/// Runs the lint and counts.
pub(super) fn lint(input: &Input<'_>, summary: &mut Summary, sink: &mut Sink) {
    let policy = &input.lowered.policy;
    summary.allow_lines = policy.lines.iter().filter(|l| grants(l)).count();
    let mut shells: BTreeSet<ir::LineId> = BTreeSet::new();
    let mut told: BTreeSet<ir::LineId> = BTreeSet::new();
    for (pattern, span) in policy.patterns.iter().zip(&input.lowered.pattern_spans) {
        let Some(line) = input.line(pattern).filter(|l| grants(l)) else { continue };
        let ir::Matcher::Run(run) = &pattern.matcher else { continue };
        let Some(program) = runner(run) else { continue };
        shells.insert(pattern.line);
        let own = input.instance(line).is_some_and(|i| i.user);
        if own && told.insert(pattern.line) {
            sink.push(
                Code::GrantsAShell
                    .advice(
                        format!("`{program}` runs code that the agent can write"),
                        *span,
                        "grants what a shell grants",
                    )
                    .with_help(
                        "that is what most loops need; keep secrets and credentials out of reach of it",
                    ),
            );
        }
    }
    summary.shell_lines = shells.len();
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
    let runs = match first {
        _ if words.is_empty() => !inert(stage),
        Some(first) => first.contains('*') || words.contains(&first),
        None => stage.rest,
    };
    runs.then_some(program)
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
        assert!(super::RUNNERS.iter().all(|(_, words)| words.is_sorted()));
    }
}
