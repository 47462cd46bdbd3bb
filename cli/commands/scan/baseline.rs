//! Findings that are known and old: a file of what knows them again.
//!
//! INVARIANT: no secret stands in the file, only a hash of the line with its rule and file; each entry takes away as many
//! findings as were there when it was written.

use super::Scanned;
use crate::output::Failure;
use policy_engine::open::{self, Care};
use serde_json::{Value, json};
use sha2::Digest;
use std::collections::BTreeMap;
use std::path::Path;

/// What knows a finding again wherever its line moves to.
pub(super) fn print(rule: &str, path: &str, line: &str) -> String {
    let mut hash = sha2::Sha256::new();
    for part in [rule, path, line.trim()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Writes all findings; how many they are.
pub(super) fn write(file: &Path, scanned: &[Scanned]) -> Result<usize, Failure> {
    let mut counts: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for one in scanned {
        for found in &one.found {
            *counts.entry((&one.shown, &found.finding.rule, &found.print)).or_default() += 1;
        }
    }
    let total = counts.values().sum();
    let findings: Vec<Value> = counts
        .into_iter()
        .map(|((path, rule, print), count)| {
            json!({"path": path, "rule": rule, "fingerprint": print, "count": count})
        })
        .collect();
    let text = serde_json::to_string_pretty(&json!({"version": 1, "findings": findings}))
        .map_err(|error| Failure::usage(error.to_string()))?;
    open::write(file, format!("{text}\n").as_bytes(), 0o644)
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(total)
}

/// Takes what is old away; how many there were.
pub(super) fn take_away(file: &Path, scanned: &mut Vec<Scanned>) -> Result<usize, Failure> {
    let wrong = |why: String| Failure::usage(format!("`{}`: {why}", file.display()));
    let help = "`--update-baseline` writes one of what is found now";
    let (text, _) = open::read(file, Care::Named, open::MAX_FILE_BYTES)
        .map_err(|error| Failure::usage(format!("{error}; {help}")))?;
    let value = policy_hosts::event::strict_json(&text)
        .map_err(|error| wrong(format!("it is no baseline: {error}; {help}")))?;
    if value.get("version").and_then(Value::as_u64) != Some(1) {
        return Err(wrong(
            "it is no baseline of version 1; write it again with `--update-baseline`".to_owned(),
        ));
    }
    let mut known: BTreeMap<String, u64> = BTreeMap::new();
    let Some(entries) = value.get("findings").and_then(Value::as_array) else {
        return Err(wrong("it has no list `findings`".to_owned()));
    };
    for entry in entries {
        let Some(print) = entry.get("fingerprint").and_then(Value::as_str) else {
            return Err(wrong("an entry has no `fingerprint`".to_owned()));
        };
        let count = match entry.get("count") {
            None => 1,
            Some(count) => count.as_u64().ok_or_else(|| wrong("a `count` is no number".to_owned()))?,
        };
        let known = known.entry(print.to_owned()).or_default();
        *known = known.saturating_add(count);
    }
    let mut taken = 0;
    for one in scanned.iter_mut() {
        one.found.retain(|found| match known.get_mut(&found.print) {
            Some(left) if *left > 0 => {
                *left -= 1;
                taken += 1;
                false
            }
            _ => true,
        });
    }
    scanned.retain(|one| !one.found.is_empty() || !one.problems.is_empty());
    Ok(taken)
}
