//! Checkpoints by themselves: the program that can sign is started beside the one that wrote a line.
//!
//! INVARIANT: nothing is waited for, and nothing fails by it; without a key nothing is started.

use crate::append::anchor_last;
use crate::open::{self, Care};
use std::path::Path;
use std::process::{Command, Stdio};

/// What the end of a session does for a log: its last line is anchored, and signed when there is a key.
pub fn session_ends(audit: &Path, state: &Path, care: Care) {
    anchor_last(audit, care);
    later(audit, state);
}

/// Has `policy` sign the log when there is a key: verifying and signing are too much for a hook.
pub(crate) fn later(audit: &Path, state: &Path) {
    let key = state.join(super::SIGN_KEY_FILE);
    if !open::present(&key).is_ok_and(|present| present) {
        return;
    }
    // Small programs of ours have it beside them.
    let Ok(own) = std::env::current_exe() else { return };
    let mut command = Command::new(own.with_file_name("policy"));
    command.args(["--quiet", "audit", "sign", "--key"]).arg(key).arg(audit).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // Hosts end the group of a hook with the hook.
        command.process_group(0);
    }
    if let Ok(mut child) = command.spawn() {
        // A process that goes on, as a proxy does, keeps no ended child.
        std::thread::spawn(move || child.wait());
    }
}
