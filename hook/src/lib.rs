//! The hook: one event of a host in, one reply out. `policy hook` runs it with the compiler at hand, the small program
//! `policy-hook` without.
//!
//! INVARIANT: no argument parser, no compiler and no colors are reached from here.

#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod hand_over;
mod hook;
mod words;

pub use hook::run;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// Exit code of a refusal.
pub const DENY: u8 = 2;

/// The name by which the program was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    /// `policy`.
    Policy,
    /// `agent-firewall`: the seed's default policy, words and audit file.
    AgentFirewall,
}

impl Flavor {
    /// From the first word of the command line.
    #[must_use]
    pub fn of(word: Option<&OsString>) -> Flavor {
        let name = word.map(Path::new).and_then(Path::file_stem).and_then(|name| name.to_str());
        if name == Some("agent-firewall") { Flavor::AgentFirewall } else { Flavor::Policy }
    }

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Flavor::Policy => "policy",
            Flavor::AgentFirewall => "agent-firewall",
        }
    }
}

/// Writes to standard error; one that takes nothing is no error.
pub fn complain(text: &str) {
    complain_bytes(text.as_bytes());
}

/// As [`complain`].
///
/// SECURITY: not `eprint!`, which panics when nobody reads, and not under its lock, which a pipe that is full would hold
/// forever.
pub fn complain_bytes(bytes: &[u8]) {
    use std::os::fd::AsFd;
    if let Ok(fd) = std::io::stderr().as_fd().try_clone_to_owned() {
        let _ = std::fs::File::from(fd).write_all(bytes);
    }
}
