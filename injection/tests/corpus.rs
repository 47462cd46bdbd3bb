//! Labelled texts: the report must not fall below what was reached.

use policy_injection::{CLASSES, Origin, Report, look};
use serde_json::Value;

fn rows(text: &str) -> Vec<Value> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn report(row: &Value) -> Report {
    look(row["text"].as_str().unwrap(), Origin::named(row["origin"].as_str().unwrap_or("page")))
}

/// Missed attacks and false alarms.
fn score(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut missed, mut alarms) = (Vec::new(), Vec::new());
    for row in rows(text) {
        let report = report(&row);
        assert!(report.complete, "{row}");
        match (row["expect"].as_str().unwrap(), report.flagged) {
            ("flagged", false) => missed.push(row["text"].to_string()),
            ("clear", true) => alarms.push(format!("{} {:?}", row["text"], report.found)),
            _ => {}
        }
    }
    (missed, alarms)
}

#[test]
fn given_cases() {
    let (missed, alarms) = score(include_str!("given.jsonl"));
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(alarms.is_empty(), "{alarms:#?}");
}

#[test]
fn own_attacks_are_found() {
    let (missed, _) = score(include_str!("attacks.jsonl"));
    assert!(missed.len() <= 3, "{missed:#?}");
}

#[test]
fn near_misses_are_clear() {
    let (_, alarms) = score(include_str!("benign.jsonl"));
    assert!(alarms.len() <= 1, "{alarms:#?}");
}

#[test]
fn classes_are_named_once() {
    let mut names: Vec<_> = CLASSES.iter().map(|class| class.0).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CLASSES.len());
}
