//! Edits done on texts and taken back, and which lines of a text are new.
//!
//! INVARIANT: time and memory are bounded; what goes over a bound is told, never left out.

use super::keys::Edit;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Longest text that edits may make, bytes.
const MOST_TEXT: usize = 64 << 20;
/// Most bytes that all edits of a text may look at.
const MOST_WORK: usize = 512 << 20;

/// A text with edits done.
pub(super) struct Done<'e> {
    /// What came out.
    pub(super) text: String,
    /// How many edits fit.
    pub(super) fit: usize,
    /// What the edits that did not fit would have put there.
    pub(super) loose: Vec<&'e str>,
    /// Why not all edits were looked at; empty when they were.
    pub(super) gap: String,
}

/// Does edits one after the other; those that do not fit are put aside.
pub(super) fn done<'e>(text: &str, edits: &'e [Edit<'_>]) -> Done<'e> {
    let mut done = Done { text: text.to_owned(), fit: 0, loose: Vec::new(), gap: String::new() };
    let mut work = 0usize;
    for edit in edits {
        if edit.old.is_empty() {
            // An insertion: where does not matter for what is new.
            if !done.text.is_empty() && !done.text.ends_with('\n') {
                done.text.push('\n');
            }
            done.text.push_str(&edit.new);
            done.fit += 1;
        } else if work > MOST_WORK || done.text.len() > MOST_TEXT {
            "the edits are more than are followed".clone_into(&mut done.gap);
            done.loose.push(&edit.new);
        } else {
            work += done.text.len() + 64;
            match replaced(&done.text, edit) {
                Replaced::Text(text) => {
                    done.text = text;
                    done.fit += 1;
                }
                Replaced::Misfit => done.loose.push(&edit.new),
                Replaced::TooLong => {
                    "the edits make a text longer than is looked at".clone_into(&mut done.gap);
                    done.loose.push(&edit.new);
                }
            }
        }
    }
    done
}

enum Replaced {
    Text(String),
    Misfit,
    TooLong,
}

fn replaced(text: &str, edit: &Edit<'_>) -> Replaced {
    let (mut whole, mut old, mut new) = (Cow::Borrowed(text), edit.old.clone(), edit.new.clone());
    if !whole.contains(old.as_ref()) {
        // Tools look past the ends of lines and the form of quotes.
        const FORMS: [char; 5] = ['\r', '‘', '’', '“', '”'];
        if !(text.contains(FORMS) || old.contains(FORMS)) {
            return Replaced::Misfit;
        }
        let plain = |text: &str| {
            let text = text.replace("\r\n", "\n");
            text.replace(['‘', '’'], "'").replace(['“', '”'], "\"")
        };
        (whole, old, new) = (plain(&whole).into(), plain(&old).into(), plain(&new).into());
        if !whole.contains(old.as_ref()) {
            return Replaced::Misfit;
        }
    }
    let most = if edit.all { usize::MAX } else { 1 };
    let count = if edit.all { whole.matches(old.as_ref()).count() } else { 1 };
    if whole.len().saturating_add(count.saturating_mul(new.len())) > MOST_TEXT {
        return Replaced::TooLong;
    }
    Replaced::Text(whole.replacen(old.as_ref(), &new, most))
}

/// The text before the edits, as far as it can be told.
pub(super) fn undone(text: &str, edits: &[Edit<'_>]) -> Option<String> {
    let back: Vec<Edit<'_>> = edits
        .iter()
        .rev()
        .map(|edit| Edit { old: edit.new.clone(), new: edit.old.clone(), all: edit.all })
        .collect();
    if back.iter().any(|edit| edit.old.is_empty()) {
        return None;
    }
    let done = done(text, &back);
    (done.fit == back.len()).then_some(done.text)
}

/// What edits of a file bring that is not known: each piece, put together where one changes what another put there.
pub(super) fn pieces(edits: &[Edit<'_>]) -> String {
    let mut out = String::new();
    let mut work = 0usize;
    for edit in edits {
        work = work.saturating_add(out.len());
        if !edit.old.is_empty()
            && work < MOST_WORK
            && let Replaced::Text(text) = replaced(&out, edit)
        {
            out = text;
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&edit.new);
    }
    out
}

/// The lines of `after` that `before` does not have, or has less often.
pub(crate) fn added(before: &str, after: &str) -> Vec<Range<usize>> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (line, _) in lines(before) {
        *known.entry(line).or_default() += 1;
    }
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for (line, len) in lines(after) {
        let end = start + len;
        match known.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            _ => match out.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => out.push(start..end),
            },
        }
        start = end;
    }
    out
}

/// Lines without their ends (`\n`, `\r\n`, `\r`), and how long each is with it.
fn lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let all = rest?;
        let Some(at) = all.find(['\n', '\r']) else {
            rest = None;
            return Some((all, all.len()));
        };
        let (line, end) = all.split_at_checked(at)?;
        let len = if end.starts_with("\r\n") { 2 } else { 1 };
        rest = all.get(at + len..);
        Some((line, at + len))
    })
}
