//! What needs unsafe code, and nothing else: a file mapped into memory, the real name of a file, last words for a process that crashes or is late,
//! the memory of a process that lives for one answer, a child that does not outlive its parent, and the end of
//! who reads what we write.
//!
//! INVARIANT: each unsafe block says why it is sound; a signal handler only reads what was put down before, writes and
//! ends the process.

mod arena;
mod end;
mod gone;
mod map;
mod name;
mod tie;

pub use arena::Arena;
pub use end::{LastWords, end_by, heard, last_words, leave, speak};
pub use gone::reader_gone;
pub use map::Mapped;
pub use name::real_path;
pub use tie::{kill_group, tie};
