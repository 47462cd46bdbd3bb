//! The checks of commands.
//!
//! INVARIANT: words come resolved; a word that nobody knows is never guessed.

pub(crate) mod commit;
pub(crate) mod credential;
