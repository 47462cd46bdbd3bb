//! Run patterns against one command: generously for a refusal, literally for a grant.
//!
//! INVARIANT: what is not known never makes a grant match, and never makes a refusal fail to match: then the answer is
//! [`Match::Possible`]. `docs/semantics.md`, "Run patterns", is the law; each function names its sentence.

mod grant;
mod print;
mod reach;
mod refuse;
mod sets;
mod stored;
#[cfg(test)]
mod tests;
mod texts;

pub use grant::grants;
pub(crate) use reach::reached;
pub use refuse::refuses;
pub(crate) use refuse::refuses_words;
pub(crate) use sets::climbs;
pub use sets::fronts;
pub(crate) use stored::{Failure, Lists};
pub use texts::Texts;

use crate::facts::Word;
use crate::fold::fold;
use crate::glob::{self, Syntax};

/// How sure a match is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Match {
    /// It cannot match.
    #[default]
    No,
    /// It depends on something that is not known.
    Possible,
    /// It matches whatever is not known.
    Certain,
}

impl Match {
    /// Certain or not at all.
    #[must_use]
    pub const fn sure(yes: bool) -> Match {
        if yes { Match::Certain } else { Match::No }
    }

    /// Possible or not at all.
    #[must_use]
    pub const fn maybe(yes: bool) -> Match {
        if yes { Match::Possible } else { Match::No }
    }

    /// Of several readings of one word, all of which may be meant.
    fn every(readings: impl IntoIterator<Item = Match>) -> Match {
        let (mut least, mut most) = (Match::Certain, Match::No);
        for reading in readings {
            least = least.min(reading);
            most = most.max(reading);
        }
        if least == Match::Certain { most } else { most.min(Match::Possible) }
    }
}

/// A run pattern, braces spelled out.
#[derive(Debug, Clone, Default)]
pub struct RunPattern<'p> {
    /// Stages of a pipe; the last one is the command that is judged.
    pub stages: Vec<Stage<'p>>,
    /// Operands it must touch.
    pub touching: Option<OperandSet<'p>>,
    /// Paths that it reads.
    pub reading: Option<OperandSet<'p>>,
    /// Paths that it writes; for a grant, redirect targets that may be written.
    pub writing: Option<OperandSet<'p>>,
    /// Paths that it deletes or moves away.
    pub deleting: Option<OperandSet<'p>>,
    /// Paths whose content it sends.
    pub sending: Option<OperandSet<'p>>,
    /// Names of wrappers.
    pub via: Texts<'p>,
}

impl RunPattern<'_> {
    /// How much of it is compared with each word, its texts aside; for counting work.
    pub(crate) fn weight(&self) -> usize {
        let sets = [&self.touching, &self.reading, &self.writing, &self.deleting, &self.sending];
        self.stages.iter().map(|stage| stage.terms.len() + 1).sum::<usize>()
            + sets.iter().filter(|set| set.is_some()).count()
    }
}

/// One stage.
#[derive(Debug, Clone, Default)]
pub struct Stage<'p> {
    /// The program, any one.
    pub program: Texts<'p>,
    /// The words behind it.
    pub terms: Vec<Term<'p>>,
    /// `...`.
    pub rest: bool,
}

/// One word of a stage.
#[derive(Debug, Clone)]
pub enum Term<'p> {
    /// A word that is not a flag, any one.
    Word(Texts<'p>),
    /// A flag, any one.
    Flag(Texts<'p>),
    /// `*`.
    AnyWord,
    /// `-*`.
    AnyFlags,
}

/// Globs over operands.
#[derive(Debug, Clone, Default)]
pub struct OperandSet<'p> {
    /// Path globs.
    pub paths: Texts<'p>,
    /// Text globs.
    pub texts: Texts<'p>,
    /// Path globs taken back.
    pub except_paths: Texts<'p>,
    /// Text globs taken back.
    pub except_texts: Texts<'p>,
}

/// Whether a text glob matches with exact letters.
pub(crate) fn exact(pattern: &str, text: &str) -> bool {
    glob::matches(pattern, text, Syntax::Plain, false)
}

/// Whether a text glob matches in any case.
pub(crate) fn folded(pattern: &str, text: &str) -> bool {
    folded_in(pattern, text, Syntax::Plain)
}

/// Whether a glob matches in any case.
pub(crate) fn folded_in(pattern: &str, text: &str, syntax: Syntax) -> bool {
    if pattern.is_ascii() && text.is_ascii() {
        glob::matches(pattern, text, syntax, true)
    } else {
        glob::matches(&fold(pattern), &fold(text), syntax, true)
    }
}

/// Whether a glob and a value glob have a common member, in any case.
pub(crate) fn meets(pattern: &str, value: &str, syntax: Syntax) -> bool {
    if pattern.is_ascii() && value.is_ascii() {
        glob::intersects(pattern, value, syntax, true)
    } else {
        glob::intersects(&fold(pattern), &fold(value), syntax, true)
    }
}

/// A text with holes as a value glob: its other letters are ordinary.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '?' | '[') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A value glob as a text for certain matching.
pub(crate) fn flat(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    glob::flatten(value, &mut out);
    out
}

/// Whether a word of a refusal is this word.
pub(crate) fn word_refused(patterns: &Texts<'_>, word: &Word) -> Match {
    let any = |length: usize, test: &dyn Fn(&str) -> bool| patterns.each(length).any(test);
    match word {
        Word::Known(text) => Match::sure(any(text.len(), &|p| folded(p, text))),
        Word::OneOf(texts) => {
            Match::every(texts.iter().map(|t| Match::sure(any(t.len(), &|p| folded(p, t)))))
        }
        Word::Glob(text) => {
            let flat = flat(text);
            if any(flat.len(), &|p| folded(p, &flat)) {
                Match::Certain
            } else {
                // Where no file fits, the shell leaves the word as it stands.
                Match::maybe(any(2 * text.len(), &|p| meets(p, text, Syntax::Plain) || folded(p, text)))
            }
        }
        Word::Unknown { splits: true, .. } => Match::maybe(!patterns.is_empty()),
        Word::Unknown { text, splits: false } => {
            if any(text.len(), &|p| folded(p, text)) {
                Match::Certain
            } else {
                let value = escape(text);
                Match::maybe(any(value.len(), &|p| meets(p, &value, Syntax::Plain)))
            }
        }
    }
}

/// Whether a word of a grant is exactly this word.
pub(crate) fn word_granted(patterns: &Texts<'_>, word: &Word) -> bool {
    let one = |text: &str| {
        // A wildcard never stands for the dash that makes a word a flag.
        patterns.each(text.len()).any(|p| exact(p, text) && (p.starts_with('-') || !text.starts_with('-')))
    };
    match word {
        Word::Known(text) => one(text),
        Word::OneOf(texts) => !texts.is_empty() && texts.iter().all(|t| one(t)),
        Word::Glob(_) | Word::Unknown { .. } => false,
    }
}
