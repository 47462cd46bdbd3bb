//! `policy audit --summary`: counts by decision, tool, rule, server and session.
//!
//! INVARIANT: every line that is counted stands in one count of each kind, the rest of many in one of their own.

use super::audit::field;
use crate::output::visible;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Kinds of counts, as the lines call them.
const KINDS: [&str; 5] = ["decision", "tool", "rule", "server", "session"];
/// Most names of one kind that are counted apart.
const MAX_NAMES: usize = 10_000;
/// Names of one kind that are shown to a person.
const SHOWN: usize = 10;

/// The counts so far.
#[derive(Debug, Default)]
pub(super) struct Summary {
    lines: u64,
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
        for (kind, counts) in KINDS.iter().zip(&mut self.counts) {
            let name = match field(row, kind) {
                "" if *kind == "decision" && row.get("checkpoint").is_some() => "checkpoint",
                name => name,
            };
            if name.is_empty() && *kind != "decision" {
                continue;
            }
            let full = counts.len() >= MAX_NAMES && !counts.contains_key(name);
            *counts.entry(if full { "…" } else { name }.to_owned()).or_default() += 1;
        }
    }

    /// As text, or as one JSON object.
    pub(super) fn text(&self, as_json: bool) -> String {
        if as_json {
            let mut out = json!({"lines": self.lines, "first": self.first, "last": self.last});
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
