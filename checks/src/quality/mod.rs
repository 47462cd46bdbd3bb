//! The checks of any text: its size, its name, what a change takes away.
//!
//! INVARIANT: they tell kinds of files apart by path, and never by a guess at the content alone.

pub(crate) mod naming;
pub(crate) mod size;
