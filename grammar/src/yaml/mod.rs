//! The YAML front ends: other tools' policy files become the same tree as a `.policy` file.
//!
//! INVARIANT: a file that is not understood in every part is an error; nothing of it is skipped in silence.

pub mod agentlint;
pub mod code;
pub mod firewall;
mod glob;
mod node;
mod words;

pub use code::Code;
