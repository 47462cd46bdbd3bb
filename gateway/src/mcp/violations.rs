//! A verdict as the list of violations that an agent can work through.
//!
//! INVARIANT: the list is empty only when nothing refuses and nothing asks; what refuses is an error and is never hidden. Every
//! text is one bounded line without a command that would loosen the policy.

use crate::mcp::rules::short;
use policy_hosts::reply::{clean, for_model};
use policy_runtime::facts::{Facts, Word};
use policy_runtime::verdict::{Decision, Place, Severity, Step, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Longest text of a violation, characters.
const LONGEST: usize = 400;

/// One thing that a rule has to say about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Full name of the rule.
    rule: String,
    message: String,
    severity: Severity,
    line: Option<u32>,
    suggestion: String,
    place: Place,
    /// It is what the decision comes from.
    decides: bool,
}

impl Violation {
    /// Whether a suppression may hide it.
    pub(crate) fn can_be_hidden(&self) -> bool {
        self.severity != Severity::Error && !self.decides
    }

    /// Where nobody can be asked, what asks refuses.
    pub(crate) fn refuse(&mut self) {
        if self.decides && self.severity != Severity::Error {
            self.severity = Severity::Error;
            self.message.push_str("; a person has to say yes to this, and here nobody can be asked");
        }
    }
}

/// What a verdict has to say: its findings, and what decides without being one.
pub(crate) fn of(verdict: &Verdict) -> Vec<Violation> {
    let strict = |step: &&Step| step.decision >= Decision::Ask && step.decision == verdict.decision;
    let deciding: Vec<&Step> = verdict.steps.iter().filter(strict).collect();
    let mut out: Vec<Violation> = Vec::new();
    let mut add = |violation: Violation| {
        if !out.contains(&violation) {
            out.push(violation);
        }
    };
    for finding in &verdict.findings {
        add(Violation {
            rule: finding.rule.clone(),
            message: said(&finding.message, &finding.rule),
            severity: finding.severity,
            line: (finding.line > 0).then_some(finding.line),
            suggestion: for_model(&finding.suggest, LONGEST),
            decides: deciding.iter().any(|step| step.rule == finding.rule && step.place == finding.place),
            place: finding.place.clone(),
        });
    }
    let told = |step: &Step| {
        verdict.findings.iter().any(|found| found.rule == step.rule && found.place == step.place)
    };
    for step in verdict.steps.iter().filter(|step| step.decision >= Decision::Ask && !told(step)) {
        add(Violation {
            rule: step.rule.clone(),
            message: message(step),
            severity: if step.decision == Decision::Deny { Severity::Error } else { Severity::Warning },
            line: None,
            suggestion: for_model(&step.suggest, LONGEST),
            place: step.place.clone(),
            decides: step.decision == verdict.decision,
        });
    }
    // The worst first; among equals as the policy has them.
    out.sort_by_key(|violation| std::cmp::Reverse(violation.severity));
    out
}

/// A finding's own words, or that there are none for a model.
fn said(message: &str, rule: &str) -> String {
    match for_model(message, LONGEST) {
        own if own.is_empty() => format!("the rule `{}` matches", clean(rule, 160)),
        own => own,
    }
}

fn message(step: &Step) -> String {
    let because = for_model(&step.because, LONGEST);
    if !because.is_empty() {
        return because;
    }
    let what = if step.decision == Decision::Deny { "is refused" } else { "needs a person's approval" };
    match clean(&step.value, 200).as_str() {
        "" => format!("the call {what}"),
        value => format!("`{value}` {what}"),
    }
}

/// Takes away what is suppressed.
pub(crate) fn without(suppressed: &BTreeSet<String>, violations: &mut Vec<Violation>) {
    violations.retain(|violation| !violation.can_be_hidden() || !suppressed.contains(&violation.rule));
}

/// The violations as an answer has them.
pub(crate) fn json(violations: &[Violation], file: Option<&str>, operation: Option<&str>) -> Value {
    let one = |violation: &Violation| {
        let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
        let mut value = json!({
            "rule_id": clean(short(&violation.rule), 160),
            "message": violation.message,
            "severity": violation.severity.word(),
            "file_path": file,
            "line": violation.line,
            "suggestion": text(&violation.suggestion),
        });
        let source = source(&violation.place);
        if let Some(map) = value.as_object_mut() {
            if let Some(operation) = operation {
                map.insert("operation".to_owned(), operation.into());
            }
            if !source.is_empty() {
                map.insert("policy_source".to_owned(), source.into());
            }
        }
        value
    };
    violations.iter().map(one).collect()
}

fn source(place: &Place) -> String {
    let file = clean(&place.file, 160);
    match (file.is_empty(), place.line) {
        (true, _) => String::new(),
        (false, 0) => file,
        (false, line) if policy_compiler::pack(&file).is_some() => {
            format!("built-in pack {file}, line {line}")
        }
        (false, line) => format!("{file}, line {line}"),
    }
}

/// What the call does, in a word: the program of a command, else the tool.
pub(crate) fn operation(tool: &str, facts: &Facts) -> Option<String> {
    let Some(command) = facts.commands.first() else {
        return (!tool.is_empty()).then(|| clean(tool, 80));
    };
    match command.words.first() {
        Some(Word::Known(program)) => {
            let name = program.rsplit('/').next().unwrap_or(program);
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
            let plain = !name.is_empty() && name.len() <= 40 && name.chars().all(plain);
            // SECURITY: what is no name of a program may be a secret that stands where one is expected.
            Some(if plain { name.to_owned() } else { "[other command]".to_owned() })
        }
        _ => Some("[other command]".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_runtime::verdict::Finding;

    fn step(decision: Decision, rule: &str) -> Step {
        let mut step = policy_engine::combine::step(decision, "");
        step.rule = rule.to_owned();
        step
    }

    fn finding(severity: Severity, rule: &str) -> Finding {
        Finding {
            rule: rule.to_owned(),
            severity,
            message: "m".to_owned(),
            suggest: String::new(),
            place: Place::default(),
            line: 0,
            column: 0,
        }
    }

    fn verdict(decision: Decision, steps: Vec<Step>, findings: Vec<Finding>) -> Verdict {
        Verdict {
            decision,
            abstains: false,
            observed: None,
            steps,
            findings,
            secrets: Vec::new(),
            only_secrets: false,
        }
    }

    #[test]
    fn the_list_is_empty_only_when_nothing_refuses_or_asks() {
        for (decision, count) in
            [(Decision::Allow, 0), (Decision::Host, 0), (Decision::Ask, 1), (Decision::Deny, 1)]
        {
            assert_eq!(of(&verdict(decision, vec![step(decision, "default")], vec![])).len(), count);
        }
        let both = verdict(
            Decision::Deny,
            vec![step(Decision::Deny, "a"), step(Decision::Ask, "b")],
            vec![finding(Severity::Info, "c"), finding(Severity::Error, "a")],
        );
        let rules: Vec<String> = of(&both).into_iter().map(|violation| violation.rule).collect();
        assert_eq!(rules, ["a", "b", "c"]);
    }

    #[test]
    fn a_suppression_hides_no_error_and_nothing_that_decides() {
        let all: BTreeSet<String> = ["a", "b", "c"].map(str::to_owned).into();
        let denied = verdict(
            Decision::Deny,
            vec![step(Decision::Deny, "a")],
            vec![
                finding(Severity::Error, "a"),
                finding(Severity::Warning, "b"),
                finding(Severity::Info, "c"),
            ],
        );
        let mut left = of(&denied);
        without(&all, &mut left);
        assert_eq!(left.len(), 1);
        let asked = verdict(
            Decision::Ask,
            vec![step(Decision::Ask, "b")],
            vec![finding(Severity::Warning, "b"), finding(Severity::Info, "c")],
        );
        let mut left = of(&asked);
        without(&all, &mut left);
        assert_eq!(left.len(), 1);
    }
}
