//! Decides tool calls against a compiled policy table.
//!
//! INVARIANT: no IO, no clock, no environment; never panics on any bytes; never allocates in proportion to the
//! table.
//!
//! A [`Table`] is the bytes that `policy compile` writes, used where they lie. [`Facts`] are what one call touches; another
//! crate makes them from JSON and shell text, since the runtime parses nothing. [`decide`] puts the two together and always
//! answers: a [`Verdict`] with its reasons.
//!
//! Damage denies and says so, what cannot be understood asks, and nothing unknown matches a grant.
//!
//! # Example
//!
//! From bytes to a verdict (`rule reads { allow path "./**"  deny path "**/.env" }`, `default ask`):
//!
//! ```
//! use policy_runtime::facts::{PathFact, PathName, ToolName};
//! use policy_runtime::{Context, Decision, Facts, Table, decide};
//!
//! fn read(file: &str) -> Facts {
//!     let name = PathName { views: vec![file.to_owned()] };
//!     Facts {
//!         readings: vec![ToolName { server: String::new(), tool: "read_file".to_owned(), own: false }],
//!         event: "pre_tool_use".to_owned(),
//!         dir: PathName { views: vec![".".to_owned()] },
//!         paths: vec![PathFact { written: file.to_owned(), names: vec![name], ..PathFact::default() }],
//!         ..Facts::default()
//!     }
//! }
//!
//! let bytes = include_bytes!("../example.table");
//! let table = Table::open(bytes)?;
//! let context = Context { today: 20_000 };
//!
//! let verdict = decide(&table, &read("./src/lib.rs"), &context);
//! assert_eq!(verdict.decision, Decision::Allow);
//!
//! let verdict = decide(&table, &read("./.ENV"), &context);
//! assert_eq!(verdict.decision, Decision::Deny);
//! assert_eq!(verdict.steps[0].because, "credentials stay out of the transcript");
//!
//! let verdict = decide(&table, &read("/etc/hosts"), &context);
//! assert_eq!((verdict.decision, verdict.steps[0].rule.as_str()), (Decision::Ask, "default"));
//!
//! print!("{}", policy_runtime::explain::table(&table));
//! # Ok::<(), policy_runtime::TableError>(())
//! ```

pub mod automaton;
pub mod bytes;
mod checksum;
mod decide;
pub mod explain;
pub mod facts;
pub mod fold;
pub mod glob;
pub mod hours;
pub mod outside;
pub mod payment;
pub mod program;
pub mod run_match;
pub mod secret;
pub mod table;
pub mod verdict;

pub use checksum::checksum;
pub use decide::{
    Context, MOST_COMMAND, MOST_HOST, MOST_PATH, MOST_TOOL, MOST_VALUES, decide, decide_with, happened, work,
};
pub use facts::Facts;
pub use table::{Table, TableError};
pub use verdict::{Decision, Verdict};
