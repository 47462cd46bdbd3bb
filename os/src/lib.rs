//! What needs unsafe code, and nothing else: a file mapped into memory, and last words for a process that crashes or is
//! late.
//!
//! INVARIANT: each unsafe block says why it is sound; a signal handler only reads what was put down before, writes and
//! ends the process.

mod end;
mod map;

pub use end::{LastWords, end_by, last_words, speak};
pub use map::Mapped;
