//! The text of one file after the hunks of a patch.
//!
//! INVARIANT: each hunk has exactly one place behind the one before it, or nothing is changed.

use super::seek::{Lines, Lost, Scope, Work};
use super::{PatchError, Reason, named};
use crate::redact::mask;
use crate::reply::clean;
use policy_grammar::patch::Hunk;

/// The text after the hunks.
pub(super) fn change(
    work: &mut Work,
    written: &str,
    before: &str,
    hunks: &[Hunk<'_>],
) -> Result<String, PatchError> {
    let lines = Lines::new(before);
    let python = [".py", ".pyi"].iter().any(|end| written.ends_with(end));
    // Line, how many lines go, what comes.
    let mut edits: Vec<(usize, usize, Vec<&str>)> = Vec::new();
    let mut cursor = 0;
    for (hunk, number) in hunks.iter().zip(1usize..) {
        let fail = |reason: Reason, why: String, at: Vec<usize>| {
            let mut error =
                PatchError::new(reason, written, format!("{}{why}", named(written, Some(number))));
            error.hunk = Some(number);
            error.lines = at.into_iter().map(|at| at + 1).collect();
            error
        };
        let mut scope = Scope::NONE;
        for anchor in &hunk.anchors {
            let Some(at) = lines.anchor(anchor, cursor) else {
                let place = if cursor == 0 { String::new() } else { format!(" behind line {cursor}") };
                let why = format!("no line{place} equals the one behind `@@`: {}", quoted(anchor));
                return Err(fail(Reason::AnchorMissing, why, Vec::new()));
            };
            cursor = at + 1;
            scope = lines.scopes(python).of(at, anchor);
        }
        let (mut old, mut new) = (hunk.before(), hunk.after());
        if old.is_empty() {
            let last = lines.len().checked_sub(1).filter(|last| lines.get(*last).is_empty());
            edits.push((last.unwrap_or(lines.len()), 0, new));
            continue;
        }
        let mut found = lines.seek(&old, cursor, scope, hunk.ends_file, work);
        // Empty lines at the end of a hunk mostly stand for the end of the file, or for nothing: one, then all.
        for all in [false, true] {
            while matches!(found, Err(Lost::Missing(None))) && old.last() == Some(&"") {
                old.pop();
                if new.last() == Some(&"") {
                    new.pop();
                }
                if !all || old.last() != Some(&"") {
                    found = lines.seek(&old, cursor, scope, hunk.ends_file, work);
                    break;
                }
            }
        }
        let first = quoted(old.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default());
        let at = found.map_err(|lost| match lost {
            Lost::Ambiguous(count, at) => fail(
                Reason::Ambiguous,
                format!(
                    "{} in {count} places; the first is {first}; {}",
                    stands(old.len(), true),
                    listed(&at)
                ),
                at,
            ),
            Lost::Missing(Some(at)) => fail(
                Reason::Missing,
                format!(
                    "{} only behind the end of what `@@` names, in line {}; the first is {first}",
                    stands(old.len(), true),
                    at + 1
                ),
                vec![at],
            ),
            Lost::Missing(None) => {
                let end = if hunk.ends_file { "at the end of the file" } else { "in the file" };
                let place = if cursor == 0 { String::new() } else { format!(" behind line {cursor}") };
                let why = format!("{} {end}{place}; the first is {first}", stands(old.len(), false));
                fail(Reason::Missing, why, Vec::new())
            }
            Lost::TooMuch => fail(
                Reason::Boundary,
                "the patch asks for more comparisons than are made".to_owned(),
                Vec::new(),
            ),
        })?;
        cursor = at + old.len();
        edits.push((at, old.len(), new));
    }
    edits.sort_by_key(|edit| edit.0);
    Ok(rebuilt(&lines, &edits, before.len()))
}

/// The text with its lines exchanged; it ends in a line feed, as the native tool writes it.
fn rebuilt(lines: &Lines<'_>, edits: &[(usize, usize, Vec<&str>)], size: usize) -> String {
    let mut after = String::with_capacity(size);
    let mut at = 0;
    let end_line = |after: &mut String| {
        if !after.is_empty() && !after.ends_with('\n') {
            after.push('\n');
        }
    };
    for (start, gone, new) in edits {
        after.push_str(lines.slice(at, *start));
        end_line(&mut after);
        for line in new {
            after.push_str(line);
            after.push('\n');
        }
        at = start + gone;
    }
    after.push_str(lines.slice(at, lines.len()));
    end_line(&mut after);
    after
}

fn stands(lines: usize, there: bool) -> String {
    match (lines, there) {
        (1, true) => "its old line stands".to_owned(),
        (1, false) => "its old line does not stand".to_owned(),
        (_, true) => format!("its {lines} old lines stand"),
        (_, false) => format!("its {lines} old lines do not stand"),
    }
}

fn listed(at: &[usize]) -> String {
    let numbers: Vec<String> = at.iter().map(|at| (at + 1).to_string()).collect();
    format!("lines {}", numbers.join(", "))
}

/// A line of a file for a message: secrets masked, short, in quotes.
fn quoted(line: &str) -> String {
    let front: String = line.chars().take(2000).collect();
    format!("`{}`", clean(&mask(&front), 100))
}
