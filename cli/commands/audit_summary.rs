//! `policy audit --summary`: counts by decision, tool, rule, server and session.
//!
//! INVARIANT: every call stands in one count of each kind, the rest of many in one of their own; what was said to a question takes
//! the place of the question.

use super::audit::field;
use crate::output::visible;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Kinds of counts, as the lines call them.
const KINDS: [&str; 5] = ["decision", "tool", "rule", "server", "session"];
/// Most names of one kind that are counted apart.
const MAX_NAMES: usize = 10_000;
/// Names of one kind that are shown to a person.
const SHOWN: usize = 10;

/// Most questions that wait for the line of their end.
const MAX_ASKED: usize = 10_000;

/// What is counted of a line.
type Row = [String; KINDS.len()];

/// The counts so far.
#[derive(Debug, Default)]
pub(super) struct Summary {
    lines: u64,
    calls: u64,
    /// Questions whose end has not come yet, by the name of their call.
    asked: HashMap<String, Row>,
    first: String,
    last: String,
    counts: [BTreeMap<String, u64>; KINDS.len()],
}

impl Summary {
    /// Counts a line.
    pub(super) fn add(&mut self, row: &Value) {
        self.lines += 1;
        let time = field(row, "time");
        if !time.is_empty() {
            if self.first.is_empty() || time < self.first.as_str() {
                self.first = time.to_owned();
            }
            if time > self.last.as_str() {
                self.last = time.to_owned();
            }
        }
        let names: Row = KINDS.map(|kind| match field(row, kind) {
            "" if kind == "decision" && row.get("checkpoint").is_some() => "checkpoint".to_owned(),
            name => name.to_owned(),
        });
        let call = field(row, "call");
        if field(row, "decision") == "ask" && !call.is_empty() && self.asked.len() < MAX_ASKED {
            self.asked.insert(call.to_owned(), names);
            return;
        }
        self.asked.remove(call);
        self.count(names);
    }

    fn count(&mut self, names: Row) {
        self.calls += 1;
        for ((kind, counts), name) in KINDS.iter().zip(&mut self.counts).zip(names) {
            if name.is_empty() && *kind != "decision" {
                continue;
            }
            let full = counts.len() >= MAX_NAMES && !counts.contains_key(&name);
            *counts.entry(if full { "…".to_owned() } else { name }).or_default() += 1;
        }
    }

    /// As text, or as one JSON object.
    pub(super) fn text(&mut self, as_json: bool) -> String {
        for (_, names) in std::mem::take(&mut self.asked) {
            self.count(names);
        }
        if as_json {
            let mut out =
                json!({"lines": self.lines, "calls": self.calls, "first": self.first, "last": self.last});
            for (kind, counts) in KINDS.iter().zip(&self.counts) {
                let all: serde_json::Map<String, Value> =
                    ranked(counts).into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
                if let Some(object) = out.as_object_mut() {
                    object.insert((*kind).to_owned(), Value::Object(all));
                }
            }
            return format!("{out}\n");
        }
        let mut out = format!("{} lines", self.lines);
        if self.calls < self.lines {
            out.push_str(&format!(" of {} calls", self.calls));
        }
        if !self.first.is_empty() {
            out.push_str(&format!(", {} to {}", visible(&self.first), visible(&self.last)));
        }
        out.push('\n');
        for (kind, counts) in KINDS.iter().zip(&self.counts) {
            let ranked = ranked(counts);
            if ranked.is_empty() {
                continue;
            }
            out.push_str(&format!("\n{kind}\n"));
            for (name, count) in ranked.iter().take(SHOWN) {
                out.push_str(&format!(
                    "{count:>8}  {}\n",
                    if name.is_empty() { "(none)".into() } else { visible(name) }
                ));
            }
            if let Some(more) = ranked.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                out.push_str(&format!("          and {more} more\n"));
            }
        }
        out
    }
}

/// The most frequent first, then by name.
fn ranked(counts: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut out: Vec<(&str, u64)> = counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    out.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    out
}
