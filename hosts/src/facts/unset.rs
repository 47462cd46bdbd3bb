//! What a command would delete when a variable in its words is not set: `rm -r "$PREFIX/bin"` is `rm -r /bin` then.
//!
//! INVARIANT: the reading stands beside the command itself and never in its place, so it only tightens.

use policy_grammar::shell::effects::Touch;
use policy_grammar::shell::{Command, Word};

/// The command with each word that it deletes as it is when nothing outside sets the variables, where that begins at the
/// root; `None` where no such word is.
pub(super) fn reading(command: &Command) -> Option<Command> {
    let mut unset = None;
    for (at, word) in command.words.iter().enumerate() {
        let deletes = command.touches.get(at).is_some_and(|touch| touch.has(Touch::DELETE));
        let Some(left) = word.when_unset().filter(|_| deletes) else { continue };
        let left = if command.windows { of_windows(left) } else { left };
        let (Word::Known(text) | Word::Glob(text)) = &left else { continue };
        if !text.starts_with('/') {
            continue;
        }
        let unset: &mut Command = unset.get_or_insert_with(|| command.clone());
        if let Some(word) = unset.words.get_mut(at) {
            *word = left;
        }
    }
    unset
}

/// A word as Windows reads a path: backslashes part folders, and wildcards count in quotes too.
fn of_windows(word: Word) -> Word {
    match word {
        Word::Known(text) if text.contains(['*', '?']) => Word::Glob(text.replace('\\', "/")),
        Word::Known(text) => Word::Known(text.replace('\\', "/")),
        other => other,
    }
}
