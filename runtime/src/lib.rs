//! Decides tool calls against a compiled policy table.
//!
//! INVARIANT: no IO, no clock, no environment; never panics on any bytes; never allocates in proportion to the
//! table.

pub mod automaton;
mod checksum;
mod decide;
pub mod facts;
pub mod glob;
pub mod program;
pub mod run_match;
pub mod table;
pub mod verdict;

pub use checksum::checksum;
pub use decide::{Context, MOST_COMMAND, MOST_HOST, MOST_PATH, MOST_TOOL, MOST_VALUES, decide};
pub use facts::Facts;
pub use table::{Table, TableError};
pub use verdict::{Decision, Verdict};
