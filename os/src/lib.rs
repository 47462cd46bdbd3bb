//! What needs unsafe code, and nothing else: a file mapped into memory, last words for a process that crashes or is late,
//! and the memory of a process that lives for one answer.
//!
//! INVARIANT: each unsafe block says why it is sound; a signal handler only reads what was put down before, writes and
//! ends the process.

mod arena;
mod end;
mod map;

pub use arena::Arena;
pub use end::{LastWords, end_by, heard, last_words, speak};
pub use map::Mapped;
