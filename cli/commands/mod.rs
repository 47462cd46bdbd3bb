//! The commands, one file each.
//!
//! INVARIANT: a command decides nothing: it reads words, asks the engine and prints.

pub(crate) mod approvals;
pub(crate) mod audit;
mod audit_gaps;
mod audit_key;
mod audit_summary;
mod audit_verify;
pub(crate) mod check;
pub(crate) mod check_patch;
pub(crate) mod compile;
pub(crate) mod demo_seller;
pub(crate) mod explain;
pub(crate) mod files;
pub(crate) mod fmt;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod mcp;
pub(crate) mod payments;
pub(crate) mod pins;
pub(crate) mod rules;
pub(crate) mod scan;
pub(crate) mod shell;
pub(crate) mod suppress;
pub(crate) mod test;
pub(crate) mod trust;
pub(crate) mod wrap;
