//! Decides tool calls against a compiled policy table.
//!
//! INVARIANT: no IO, no clock, no environment; never panics on any bytes; never allocates in proportion to the
//! table.

pub mod automaton;
pub mod facts;
pub mod glob;
pub mod verdict;
