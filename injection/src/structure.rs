//! Characters that nobody sees: runs of them are flagged, and what they spell is read.
//!
//! INVARIANT: what emoji, flags, right-to-left text and typography need is no finding; one pass, bounded memory.

use crate::gather::{Gather, Hit};
use crate::walk::{Place, Walker};
use crate::{CLASSES, fold};

/// Rule numbers of these looks; they lie behind those of the rule file.
pub(crate) const FIRST_RULE: u16 = 60_000;
/// The most characters decoded at once.
const CHUNK: usize = 4096;

/// Kinds of runs.
#[derive(Clone, Copy, PartialEq)]
enum Run {
    Tags,
    Zero,
    Selectors,
}

/// Looks at the characters of the whole text.
pub(crate) fn look(text: &str, out: &mut Gather) {
    if text.is_ascii() {
        conceal(text, out);
        return;
    }
    let mut run: Option<(Run, usize, usize, usize, String)> = None;
    let mut before = ' ';
    let mut inside_words = 0u32;
    let mut first_inside = 0;
    let mut forced: Option<usize> = None;
    let mut right_to_left = false;
    for (at, c) in text.char_indices() {
        if c.is_ascii() && run.is_none() {
            before = c;
            continue;
        }
        let kind = if fold::tag(c) {
            Some(Run::Tags)
        } else if fold::selector(c) {
            Some(Run::Selectors)
        } else if matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{180e}' | '\u{feff}' | '\u{3164}' | '\u{ffa0}')
        {
            Some(Run::Zero)
        } else {
            None
        };
        let ended = run.take_if(|(open, ..)| kind != Some(*open));
        if let Some((open, start, count, flag, spelled)) = ended {
            end(open, start, at, count, flag == 1, &spelled, text, out);
        }
        if let Some(kind) = kind {
            let (_, _, count, _, spelled) =
                run.get_or_insert_with(|| (kind, at, 0, usize::from(before == '\u{1f3f4}'), String::new()));
            *count += 1;
            if spelled.len() < CHUNK {
                if let Some(letter) = hidden_letter(c) {
                    spelled.push(letter);
                }
            } else if kind != Run::Zero {
                out.complete = false;
            }
            if kind == Run::Zero && before.is_ascii_alphabetic() {
                let next = text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
                if next.is_some_and(|next| next.is_ascii_alphabetic()) {
                    inside_words += 1;
                    if inside_words == 1 {
                        first_inside = at;
                    }
                }
            }
        }
        if matches!(c, '\u{202d}' | '\u{202e}') && forced.is_none() {
            forced = Some(at);
        }
        right_to_left |= fold::right_to_left(c);
        before = c;
    }
    if let Some((open, start, count, flag, spelled)) = run {
        end(open, start, text.len(), count, flag == 1, &spelled, text, out);
    }
    if inside_words >= 5 {
        report(1, 4, first_inside, first_inside + 3, text, out);
    }
    if let Some(at) = forced.filter(|_| !right_to_left) {
        report(2, 3, at, at + 3, text, out);
    }
    conceal(text, out);
}

/// The byte that a tag or selector stands for.
fn hidden_letter(c: char) -> Option<char> {
    let n = u32::from(c);
    let byte = match n {
        0xe0000..=0xe007f => n - 0xe0000,
        0xfe00..=0xfe0f => n - 0xfe00,
        0xe0100..=0xe01ef => n - 0xe0100 + 16,
        _ => return None,
    };
    char::from_u32(byte).filter(|c| matches!(c, ' '..='~' | '\n'))
}

#[expect(clippy::too_many_arguments, reason = "one call site's state, written out")]
fn end(
    run: Run,
    start: usize,
    end: usize,
    count: usize,
    after_flag: bool,
    spelled: &str,
    text: &str,
    out: &mut Gather,
) {
    let enough = match run {
        Run::Tags => !(after_flag && count <= 7),
        Run::Zero | Run::Selectors => count >= 4,
    };
    if !enough {
        return;
    }
    report(2, run as u16, start, end, text, out);
    if run != Run::Zero && spelled.len() >= 6 {
        Walker::new(spelled, Place::Fixed(start, end), "decoded", 1).run(out);
    }
}

/// Terminal text that is told not to be shown.
fn conceal(text: &str, out: &mut Gather) {
    for mark in ["\u{1b}[8m", "\u{9b}8m"] {
        if let Some(at) = text.find(mark) {
            report(2, 5, at, at + mark.len(), text, out);
        }
    }
}

fn report(strength: u8, kind: u16, start: usize, end: usize, text: &str, out: &mut Gather) {
    let class = CLASSES.iter().position(|(name, _)| *name == "hidden-chars").unwrap_or(0);
    let around = text.get(start..end.min(text.len())).unwrap_or("");
    out.add(&Hit {
        class: u8::try_from(class).unwrap_or(0),
        rule: FIRST_RULE + kind,
        strength,
        start,
        end,
        view: "characters",
        around,
    });
}
