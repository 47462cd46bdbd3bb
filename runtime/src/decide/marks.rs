//! Known values that hold one of the two bytes by which facts mark holes and runs.
//!
//! INVARIANT: behind this no known word of a command, and no exactly known path of a call with commands, holds such a byte: it
//! counts as a value with holes, which no grant matches and every refusal may.

use crate::facts::{Facts, Form, PathFact, Word};
use std::borrow::Cow;

/// The facts, with what only looks known told as what it is.
pub(super) fn known(facts: &Facts) -> Cow<'_, Facts> {
    // Paths and hosts that no run pattern compares are told apart where they are matched.
    let words = || facts.commands.iter().flat_map(|command| &command.words);
    if facts.commands.is_empty() || !(words().any(odd_word) || facts.paths.iter().any(odd_path)) {
        return Cow::Borrowed(facts);
    }
    let mut facts = facts.clone();
    for word in facts.commands.iter_mut().flat_map(|command| &mut command.words).filter(|word| odd_word(word))
    {
        let text = match word {
            Word::Known(text) => std::mem::take(text),
            _ => "\u{1}".to_owned(),
        };
        *word = Word::Unknown { text, splits: false };
    }
    for path in facts.paths.iter_mut().filter(|path| odd_path(path)) {
        path.form = Form::Holes;
    }
    Cow::Owned(facts)
}

fn odd(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, 1 | 2))
}

fn odd_word(word: &Word) -> bool {
    match word {
        Word::Known(text) => odd(text),
        Word::OneOf(texts) => texts.iter().any(|text| odd(text)),
        Word::Glob(_) | Word::Unknown { .. } => false,
    }
}

fn odd_path(path: &PathFact) -> bool {
    path.form == Form::Exact
        && (odd(&path.written) || path.names.iter().flat_map(|name| &name.views).any(|view| odd(view)))
}
