//! Texts behind the beginning of a word, and modules that are programs.
//!
//! INVARIANT: a word whose beginning is not known is no text; the empty beginning makes every operand one.

use super::Finder;
use super::find::{Shape, Text, joined};
use crate::shell::options::Reading;
use crate::shell::program::Program;
use crate::shell::walk::Walk;
use crate::shell::{Gap, Piece, Word};

impl Walk<'_, '_, '_> {
    /// `socat EXEC:TEXT`: what stands behind a beginning.
    pub(super) fn word_texts(
        &mut self,
        finder: &Finder<'_>,
        program: &Program,
        reading: &Reading,
        prefixes: &[String],
    ) {
        let call = finder.outer;
        for word in reading.operands.iter().filter_map(|at| call.words.get(*at)) {
            let every = prefixes.iter().any(String::is_empty);
            match word {
                Word::Known(text) => {
                    if let Some(text) = prefixes.iter().find_map(|prefix| behind(text, prefix)) {
                        self.text(finder, Text::Known(text.to_string()), program, &[]);
                    }
                }
                Word::Unknown(pieces) if !every => {
                    let Some(Piece::Text(first)) = pieces.first() else { continue };
                    let Some(rest) = prefixes.iter().find_map(|prefix| behind(first, prefix)) else {
                        continue;
                    };
                    let mut pieces = pieces.clone();
                    if let Some(first) = pieces.first_mut() {
                        *first = Piece::Text(rest.to_string());
                    }
                    self.text(finder, joined(&[Word::Unknown(pieces)], " "), program, &[]);
                }
                word if every => self.text(finder, joined(std::slice::from_ref(word), " "), program, &[]),
                _ => {}
            }
        }
    }

    /// `python -m pip install x`: a module that is known as a program is one.
    pub(super) fn module(&mut self, finder: &Finder<'_>, reading: &Reading, at: usize, shape: &Shape) {
        for (start, end) in reading.commands.iter().filter(|(start, _)| *start == at + 1) {
            let words = finder.outer.words.get(*start..*end).unwrap_or_default().to_vec();
            match words.first().map(Word::known) {
                Some(Some(name)) if !self.w.programs.knows(name) => {}
                Some(Some(_)) => self.nested(finder, words, *start, &shape.once()),
                _ => self.gap(finder.index, Gap::UnreadCode),
            }
        }
    }
}

/// What stands behind a beginning in which `*` is any run without `=`.
pub(super) fn behind<'v>(value: &'v str, prefix: &str) -> Option<&'v str> {
    match prefix.split_once('*') {
        None => strip(value, prefix),
        Some((before, after)) => {
            let rest = strip(value, before)?;
            let mark = rest.find('=')?;
            let at = rest.to_ascii_lowercase().find(&after.to_ascii_lowercase()).filter(|at| *at <= mark)?;
            rest.get(at + after.len()..)
        }
    }
}

/// What stands behind a beginning in any case: names of settings often ignore it.
fn strip<'v>(value: &'v str, prefix: &str) -> Option<&'v str> {
    let front = value.get(..prefix.len())?;
    front.eq_ignore_ascii_case(prefix).then(|| value.get(prefix.len()..))?
}
