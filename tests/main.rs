//! The one test binary of the top level.
//!
//! INVARIANT: nothing here needs a file outside the project, and nothing of the machine's user is read or written.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod approvals;
mod audit;
mod audit_proof;
mod big;
mod cli;
mod damaged;
mod diagnostics;
mod docs;
mod expansion;
mod explain;
mod firewall;
mod generate;
mod hook_program;
mod hostile;
mod hosts;
mod language;
mod mcp;
mod parse;
mod patches;
mod paying;
mod paying_held;
mod payments;
mod scan;
mod seller;
mod seller_checked;
mod session;
mod suggestions;
mod support;
mod tables;
mod texts;
mod tidy;
mod untrusted;
mod wrap;
mod wrap_audit;
#[cfg(target_os = "linux")]
mod wrap_ends;
mod wrap_forms;
mod wrap_many;
mod wrap_pins;
mod wrap_points;
mod wrap_reload;
mod wrap_results;
mod wrapped;
