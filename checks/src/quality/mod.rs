//! The checks of any text: its size, its name, what a change takes away.
//!
//! INVARIANT: they tell kinds of files apart by path, and never by a guess at the content alone.

pub(crate) mod dead;
pub(crate) mod errors;
pub(crate) mod leftover;
pub(crate) mod naming;
pub(crate) mod size;
pub(crate) mod weaken;
mod weaken_python;
