//! Every way text becomes a tree: policies, shell commands, patches and the YAML front ends.
//!
//! INVARIANT: broken input is normal input. Any text becomes a tree plus diagnostics; nothing here panics,
//! reads a file, a clock or the environment.

pub mod ast;
pub mod code;
mod codes;
pub mod diagnostic;
mod parse;
pub mod patch;
mod print;
mod report;
pub mod shell;
pub mod source;
pub mod yaml;

pub use code::Code;
pub use parse::{MAX_BYTES, MAX_DEPTH, Parsed, parse};
pub use print::{format, print};
pub use report::Report;
