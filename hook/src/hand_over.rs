//! The small program hands an event that needs the compiler to the large one beside it.
//!
//! INVARIANT: what the large program says is said by this one, whole; when it cannot be asked, does not end in time or ends
//! otherwise than a hook does, the reply is the host's refusal.

use crate::DENY;
use crate::hook::{DEADLINE, fail, prepare};
use policy_hosts::Host;
use policy_hosts::reply::Reply;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// First word of `policy hook` when this program asks, and what then begins its answer.
///
/// SECURITY: what lies beside us may be any program of that name, and one that ends well without a word, or with words of
/// its own, would be an open gate.
const ASKED: &str = "--for-policy-hook";
const SIGNED: &[u8] = b"policy-hook 1\n";

static FOR_THE_SMALL_ONE: AtomicBool = AtomicBool::new(false);

/// Notes that the small program asks, when it does; the words without the one that says so.
pub(crate) fn asked_by_the_small_one(words: &[OsString]) -> &[OsString] {
    match words.split_first() {
        Some((first, rest)) if first == ASKED => {
            FOR_THE_SMALL_ONE.store(true, Ordering::Relaxed);
            rest
        }
        _ => words,
    }
}

/// A reply as who asks hears it: signed for the small program.
pub(crate) fn signed(mut reply: Reply) -> Reply {
    if FOR_THE_SMALL_ONE.load(Ordering::Relaxed) {
        reply.stdout.splice(..0, SIGNED.iter().copied());
    }
    reply
}

/// What `policy hook` says with the same words and the event as its input.
///
/// It may ask a person, for so long.
pub(crate) fn to_policy(host: &dyn Host, words: &[OsString], event: &[u8], wait: Duration) -> Reply {
    prepare(host, "`policy` beside it did not answer, which has to compile a policy");
    // Its own deadline begins now, and it is the one that knows why it passes.
    let reply = policy_os::end_by(wait + DEADLINE * 2)
        .map_err(|error| format!("policy-hook could not set its alarm: {error}"))
        .and_then(|()| ask(words, event));
    reply.unwrap_or_else(|cause| fail(host, &cause))
}

fn ask(words: &[OsString], event: &[u8]) -> Result<Reply, String> {
    let program = beside()?;
    let told = |what: &str, error: std::io::Error| format!("`{}` {what}: {error}", program.display());
    let mut child = Command::new(&program)
        .args(["hook", ASKED])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| told("cannot be started", error))?;
    if let Some(mut input) = child.stdin.take() {
        // A child that ends before it reads says why by its own reply.
        let _ = input.write_all(event);
    }
    let ended = child.wait_with_output().map_err(|error| told("cannot be waited for", error))?;
    let own = ended.stdout.strip_prefix(SIGNED);
    match ended.status.code() {
        // SECURITY: hosts take any other code for a hook that failed, and go on.
        Some(exit) if exit == 0 || exit == i32::from(DENY) => match own {
            Some(stdout) => Ok(Reply { stdout: stdout.to_vec(), stderr: ended.stderr, exit }),
            None => Err(format!("`{}` is another program, or of another version", program.display())),
        },
        _ => Err(format!("`{}` failed: {}", program.display(), ended.status)),
    }
}

fn beside() -> Result<PathBuf, String> {
    let own =
        std::env::current_exe().map_err(|error| format!("policy-hook does not find itself: {error}"))?;
    Ok(own.with_file_name("policy"))
}
