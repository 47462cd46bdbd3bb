//! The labelled expansion cases: scripts and the commands that bash runs.
//!
//! INVARIANT: no script hides a command in the levels that need no program knowledge.

use super::knowledge::Known;
use crate::shell::{Analysis, Dialect, Word, analyze};
use serde_json::Value;
use std::collections::BTreeMap;

const CASES: &str = include_str!("../../../../tests/shell/expansion.jsonl");

/// Known cases that are not exact: output of programs (x369), code of another language (x341).
const NOT_EXACT: &[&str] = &["x341", "x369"];

/// A word as the score compares it.
fn shown(word: &Word) -> Option<String> {
    match word {
        Word::Known(text) | Word::Tilde(text) => Some(text.clone()),
        Word::OneOf(_) | Word::Glob(_) | Word::Unknown(_) => None,
    }
}

fn commands(analysis: &Analysis) -> Vec<Vec<Option<String>>> {
    let mut all: Vec<Vec<Option<String>>> = analysis
        .commands
        .iter()
        .filter(|c| !c.words.is_empty() && !c.alternative)
        .map(|c| c.words.iter().map(shown).collect())
        .collect();
    all.sort();
    all
}

fn covers(expected: &[Option<String>], answer: &[Option<String>]) -> bool {
    match answer.iter().position(Option::is_none) {
        _ if expected == answer => true,
        Some(at) => expected.get(..at) == answer.get(..at),
        None => false,
    }
}

/// How one case is answered, in the words of the score.
fn kind(case: &Value, analysis: &Analysis) -> &'static str {
    let mut wanted: Vec<Vec<Option<String>>> = serde_json::from_value(case["commands"].clone()).unwrap();
    wanted.sort();
    let got = commands(analysis);
    if wanted == got {
        "exact"
    } else if !analysis.complete {
        "flagged"
    } else if got.iter().any(|c| c[0].is_some()) && wanted.iter().all(|w| got.iter().any(|g| covers(w, g))) {
        "covered"
    } else {
        "missed"
    }
}

#[test]
fn expansion_cases() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut bad = Vec::new();
    for line in CASES.lines().filter(|line| !line.is_empty()) {
        let case: Value = serde_json::from_str(line).unwrap();
        let script = case["script"].as_str().unwrap();
        let analysis = analyze(script, Dialect::Bash, &Known);
        let (level, kind) = (case["level"].as_str().unwrap(), kind(&case, &analysis));
        let sure = if case["unresolved"].as_bool().unwrap() { "unresolved" } else { "known" };
        *counts.entry(format!("{level} {sure} {kind}")).or_default() += 1;
        let good = kind == "exact" || sure == "unresolved" && kind != "missed";
        if !good {
            let got = commands(&analysis);
            bad.push(format!(
                "{} {level} {kind} {script:?}\n   want {}\n   got  {got:?} {:?}",
                case["id"], case["commands"], analysis.problems
            ));
        }
    }
    bad.retain(|report| !NOT_EXACT.iter().any(|id| report.starts_with(&format!("\"{id}\""))));
    assert!(bad.is_empty(), "{counts:#?}\n{}", bad.join("\n"));
}
