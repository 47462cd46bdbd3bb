//! The check `dry-run-required`: infrastructure that is changed before anybody has seen what would change.
//!
//! INVARIANT: a look counts only when the same text runs it before the change, with the same program.

use policy_runtime::Facts;
use policy_runtime::facts::{CommandFact, Word};
use policy_runtime::outside::Remark;

/// Programs that are one for this, the words that change, those that look, and flags that make a change a look.
struct Tool {
    programs: &'static [&'static str],
    changes: &'static [&'static str],
    looks: &'static [&'static str],
    flags: &'static [&'static str],
    instead: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool {
        programs: &["terraform", "tofu", "terragrunt", "cdktf"],
        changes: &["apply"],
        looks: &["plan", "diff"],
        flags: &["-help", "--help", "-h"],
        instead: "`terraform plan -out plan.bin`, then apply that plan",
    },
    Tool {
        programs: &["ansible-playbook"],
        changes: &[""],
        looks: &[],
        flags: &[
            "--check",
            "-C",
            "--syntax-check",
            "--list-tasks",
            "--list-hosts",
            "--version",
            "--help",
            "-h",
        ],
        instead: "`ansible-playbook --check --diff play.yml`",
    },
    Tool {
        programs: &["kubectl", "oc"],
        changes: &["apply"],
        looks: &["diff"],
        flags: &["--dry-run", "--help", "-h"],
        instead: "`kubectl diff -f x.yaml`",
    },
    Tool {
        programs: &["helm"],
        changes: &["upgrade", "install"],
        looks: &["diff", "template"],
        flags: &["--dry-run", "--help", "-h"],
        instead: "`helm upgrade --dry-run release chart`",
    },
    Tool {
        programs: &["pulumi"],
        changes: &["up", "update"],
        looks: &["preview"],
        flags: &["--help", "-h"],
        instead: "`pulumi preview`",
    },
];

/// What a command changes unseen.
pub(crate) fn look(index: usize, facts: &Facts) -> Vec<Remark> {
    let Some(command) = facts.commands.get(index) else { return Vec::new() };
    let program = name(command);
    let Some(tool) = TOOLS.iter().find(|tool| tool.programs.contains(&program.as_str())) else {
        return Vec::new();
    };
    if !does(command, tool.changes) || flagged(command, tool.flags) {
        return Vec::new();
    }
    // A plan that was written holds what was looked at.
    let plan = tool.looks.contains(&"plan") && operands(command).filter(|word| *word != "apply").count() == 1;
    let seen = facts.commands.iter().take(index).any(|earlier| {
        earlier.script == command.script
            && name(earlier) == program
            && (does(earlier, tool.looks) || (does(earlier, tool.changes) && flagged(earlier, tool.flags)))
    });
    if plan || seen {
        return Vec::new();
    }
    vec![Remark { suggest: format!("look first: {}", tool.instead), ..Remark::default() }]
}

fn name(command: &CommandFact) -> String {
    match command.words.first() {
        Some(Word::Known(word)) => word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// The words that are no flags.
fn operands(command: &CommandFact) -> impl Iterator<Item = &str> {
    command.words.iter().skip(1).filter_map(|word| match word {
        Word::Known(text) if !text.starts_with('-') => Some(text.as_str()),
        _ => None,
    })
}

/// Whether one of these stands among the first words; an empty one always does.
fn does(command: &CommandFact, words: &[&str]) -> bool {
    words.contains(&"") || operands(command).take(3).any(|word| words.contains(&word))
}

fn flagged(command: &CommandFact, flags: &[&str]) -> bool {
    command.words.iter().skip(1).any(|word| match word {
        Word::Known(text) => flags.iter().any(|flag| {
            text.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
                && !matches!(text.as_str(), "--dry-run=none" | "--dry-run=false")
        }),
        _ => false,
    })
}
