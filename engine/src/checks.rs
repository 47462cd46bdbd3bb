//! The built-in checks that lines of a policy name.
//!
//! INVARIANT: a check that is not known is answered with nothing, and the call asks.

use crate::{dry_run, shell_writes};
use policy_checks::{OptionKind, Options, Subject, Text, Value};
use policy_grammar::patch::is_patch;
use policy_hosts::patch::{Disk, apply};
use policy_injection::Origin;
use policy_runtime::Facts;
use policy_runtime::facts::{Access, PathFact, TextFact, TextRole, Word};
use policy_runtime::outside::{FIELD, OptionValue, Outside, Remark, Target, options};
use policy_runtime::verdict::Severity;
use std::path::Path;

/// The check that looks for orders to an agent in what it reads; the others are [`policy_checks::CHECKS`].
pub(crate) const INJECTED_ORDERS: &str = policy_compiler::INJECTED_ORDERS;

/// The check that looks at what a subagent wrote down of what it did.
const TRANSCRIPT: &str = "subagent-transcript-audit";

/// All checks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checks;

impl Outside for Checks {
    fn check(&self, name: &str, given: &str, facts: &Facts, target: Target) -> Option<Vec<Remark>> {
        if name == INJECTED_ORDERS {
            return Some(match target {
                Target::Text(index) => facts.texts.get(index).map_or(Vec::new(), |text| orders(text, given)),
                Target::Command(_) | Target::Call => Vec::new(),
            });
        }
        if name == policy_compiler::SHELL_WRITES {
            return match target {
                Target::Command(index) => Some(shell_writes::look(facts.commands.get(index)?, facts, given)),
                Target::Text(_) | Target::Call => Some(Vec::new()),
            };
        }
        if name == policy_compiler::DRY_RUN {
            return Some(match target {
                Target::Command(index) => dry_run::look(index, facts),
                Target::Text(_) | Target::Call => Vec::new(),
            });
        }
        if name == policy_compiler::PATCH_INSPECTION {
            return if target == Target::Call { unfit(facts) } else { Some(Vec::new()) };
        }
        // Who has no feed is told nothing by it.
        if policy_compiler::FEED_CHECKS.contains(&name) {
            return Some(Vec::new());
        }
        if name == policy_compiler::TEST_WITH_CHANGES {
            return Some(if target == Target::Call { untested(facts) } else { Vec::new() });
        }
        let check = policy_checks::find(name)?;
        let given = read(check, given);
        let found = match (target, check.subject) {
            (Target::Text(index), Subject::Text | Subject::Both) => {
                let text = facts.texts.get(index)?;
                // Lines about files; a command's own text is what checks of commands look at.
                let path = match text.role {
                    TextRole::File => {
                        text.path.and_then(|path| facts.paths.get(path as usize)).map_or("", shown)
                    }
                    TextRole::Transcript if name == TRANSCRIPT => "transcript.jsonl",
                    _ => return Some(Vec::new()),
                };
                let text =
                    Text { path, before: text.before.as_deref(), after: &text.after, event: &facts.event };
                policy_checks::check_text(name, &text, &given)
            }
            (Target::Command(index), Subject::Command | Subject::Both) => {
                let command = facts.commands.get(index)?;
                let words: Vec<Option<&str>> = command
                    .words
                    .iter()
                    .map(|word| match word {
                        Word::Known(text) => Some(text.as_str()),
                        Word::OneOf(_) | Word::Glob(_) | Word::Unknown { .. } => None,
                    })
                    .collect();
                policy_checks::check_command(name, &words, command.input.as_deref(), &given)
            }
            _ => Vec::new(),
        };
        let remarks = found.into_iter().map(|found| Remark {
            line: found.line,
            column: found.column,
            message: found.message,
            suggest: found.suggest,
            at_most: found.severity.map(|severity| match severity {
                policy_checks::Severity::Info => Severity::Info,
                policy_checks::Severity::Warning => Severity::Warning,
                policy_checks::Severity::Error => Severity::Error,
            }),
        });
        Some(remarks.collect())
    }
}

/// Why the patch of a call cannot be applied to the files that it names; none when its folder is not known.
fn unfit(facts: &Facts) -> Option<Vec<Remark>> {
    let Some(patch) = facts.args.iter().find(|arg| is_patch(&arg.value)) else { return Some(Vec::new()) };
    let here = facts.dir.views.iter().find(|view| view.starts_with('/'))?;
    // Below the project its folder is the call's without what is below.
    let below = facts.dir.views.iter().find_map(|view| view.strip_prefix("./"));
    let project = below.and_then(|below| here.strip_suffix(below)).unwrap_or(here);
    let (project, cwd) = (Path::new(project), Path::new(here));
    let Err(errors) = apply(&patch.value, &Disk::new(project), project, cwd) else { return Some(Vec::new()) };
    let remarks = errors.into_iter().map(|error| Remark {
        line: error.lines.first().and_then(|line| u32::try_from(*line).ok()).unwrap_or(0),
        message: format!("the patch does not fit ({}): {}", error.reason.word(), error.message),
        suggest: error.suggest.to_owned(),
        ..Remark::default()
    });
    Some(remarks.collect())
}

/// Code that was written without a test beside it, by the files of the call.
fn untested(facts: &Facts) -> Vec<Remark> {
    let written = facts.paths.iter().filter(|path| path.access.any(Access::WRITE));
    let files: Vec<&str> = written.map(shown).collect();
    let Some(first) = policy_checks::without_test(&files) else { return Vec::new() };
    vec![Remark { message: format!("`{first}` changed, and no test did"), ..Remark::default() }]
}

/// A path as checks read it: below the project without `./`.
fn shown(path: &PathFact) -> &str {
    let view = path.names.first().and_then(|name| name.views.first());
    let view = view.map_or(path.written.as_str(), String::as_str);
    view.strip_prefix("./").unwrap_or(view)
}

/// The options of a line as the check takes them.
fn read(check: &policy_checks::Check, given: &str) -> Options {
    let values = options(given).filter_map(|(name, value)| {
        let kind = check.options.iter().find(|spec| spec.name == name)?.kind;
        let value = match (value, kind) {
            (OptionValue::Number(number), _) => Value::Int(number),
            (OptionValue::Text(text), OptionKind::Bool) => Value::Bool(matches!(text, "on" | "true" | "yes")),
            (OptionValue::Text(text), OptionKind::List) => Value::List(vec![text.to_owned()]),
            (OptionValue::Text(text), _) => Value::Text(text.to_owned()),
            (OptionValue::List(list), _) => Value::List(list.split(FIELD).map(str::to_owned).collect()),
        };
        Some((name.to_owned(), value))
    });
    Options(values.collect())
}

/// What gives orders to an agent; only for a text that is flagged as a whole.
fn orders(text: &TextFact, given: &str) -> Vec<Remark> {
    let origin = match text.role {
        TextRole::File => Origin::File,
        TextRole::Prompt => Origin::Prompt,
        TextRole::Output => Origin::Tool,
        // What the agent itself says gives it no orders.
        TextRole::Command | TextRole::Argument | TextRole::Transcript => return Vec::new(),
    };
    let report = policy_injection::look(&text.after, origin);
    let mut remarks = Vec::new();
    if !report.complete {
        let message = "not all of the text was looked at for orders to the agent".to_owned();
        remarks.push(Remark { message, ..Remark::default() });
    }
    if !report.flagged {
        return remarks;
    }
    let wanted: Option<Vec<&str>> =
        options(given).find(|(name, _)| *name == "classes").map(|(_, value)| match value {
            OptionValue::List(list) | OptionValue::Text(list) => list.split(FIELD).collect(),
            OptionValue::Number(_) => Vec::new(),
        });
    let found = report.found.into_iter();
    let found = found.filter(|found| wanted.as_ref().is_none_or(|wanted| wanted.contains(&found.class)));
    remarks.extend(found.map(|found| Remark {
        line: found.line,
        column: found.column,
        message: format!("the text gives orders to the agent ({}): {}", found.class, found.excerpt),
        ..Remark::default()
    }));
    remarks
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_classes_of_a_policy_are_those_of_the_check() {
        let classes: Vec<&str> = policy_injection::CLASSES.iter().map(|(class, _)| *class).collect();
        assert_eq!(classes, policy_compiler::CLASSES);
    }
}
