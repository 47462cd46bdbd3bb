//! What stands in the place of a placeholder of an inner command.
//!
//! INVARIANT: it is a hole, unless the program's data says through which folder the program goes.

use crate::shell::Word;
use crate::shell::effects::{self, Touch};
use crate::shell::expand::escape_pattern;
use crate::shell::options::Reading;
use crate::shell::program::Program;

/// What a program gives to its commands when it goes through a folder: anything below the one word that it reads or
/// deletes with all its trees. `None` where that is not known.
pub(super) fn searched(program: &Program, reading: &Reading, words: &[Word]) -> Option<Word> {
    let touches = effects::touches(Some(program), reading, words);
    let looked_at =
        |touch: &Touch| touch.has(Touch::TREE) && (touch.has(Touch::READ) || touch.has(Touch::DELETE));
    let mut found = reading.operands.iter().filter(|at| touches.get(**at).is_some_and(looked_at));
    let mut folder = String::new();
    match (found.next().map(|at| words.get(*at)), found.next()) {
        (Some(Some(Word::Known(text))), None) => escape_pattern(text, true, &mut folder),
        (Some(Some(Word::Tilde(text))), None) => folder.push_str(text),
        // Without a folder it looks through the one it runs in.
        (None, None) if !reading.uncertain && touches.iter().any(|touch| touch.has(Touch::TREE)) => {
            folder.push('.');
        }
        _ => return None,
    }
    Some(Word::Glob(format!("{}/**", folder.trim_end_matches('/'))))
}
