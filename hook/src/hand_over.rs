//! The small program hands an event that needs the compiler to the large one beside it.
//!
//! INVARIANT: what the large program says is the reply, and nothing else is written; when it cannot be asked or does not
//! end by itself, the reply is the host's refusal.

use crate::hook::{fail, write};
use policy_hosts::Host;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// Runs `policy hook` with the same words and the event as its input.
pub(crate) fn to_policy(host: &dyn Host, words: &[OsString], event: &[u8]) -> ExitCode {
    // Its own alarm starts now; two programs with one deadline could both speak.
    if let Err(error) = policy_os::hold() {
        return write(&fail(host, &format!("policy-hook could not hold its alarm: {error}")));
    }
    match ask(words, event) {
        Ok(code) => std::process::exit(code),
        Err(cause) => write(&fail(host, &cause)),
    }
}

fn ask(words: &[OsString], event: &[u8]) -> Result<i32, String> {
    let program = beside()?;
    let told = |what: &str, error: std::io::Error| format!("`{}` {what}: {error}", program.display());
    let mut child = Command::new(&program)
        .arg("hook")
        .args(words)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| told("cannot be started", error))?;
    if let Some(mut input) = child.stdin.take() {
        // A child that ends before it reads says why by its own reply.
        let _ = input.write_all(event);
    }
    let ended = child.wait().map_err(|error| told("cannot be waited for", error))?;
    ended.code().ok_or_else(|| format!("`{}` was ended by a signal", program.display()))
}

fn beside() -> Result<PathBuf, String> {
    let own =
        std::env::current_exe().map_err(|error| format!("policy-hook does not find itself: {error}"))?;
    Ok(own.with_file_name("policy"))
}
