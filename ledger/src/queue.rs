//! Whose turn it is: one check after the other, in about the order in which they came.
//!
//! INVARIANT: who waits is woken by the system when the turn is free, and does not ask again and again; nobody waits without end.

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Takes the turn, which is let go with what comes back.
pub(crate) fn take(path: &Path, patience: Duration) -> Result<File, String> {
    use std::os::unix::fs::OpenOptionsExt;
    let wrong = |what: String| format!("`{}`: {what}", path.display());
    let file = crate::head::open(File::options().write(true).create(true).truncate(false).mode(0o600), path);
    let file = file.map_err(|error| wrong(error.to_string()))?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
        return Ok(file);
    }
    // Waits on a thread of its own, so that it can be given up: then the thread lets the turn go when it gets it.
    let (sender, receiver) = channel();
    let waiter = move || {
        let taken = flock(&file, FlockOperation::LockExclusive);
        let _ = sender.send(taken.map(|()| file));
    };
    std::thread::Builder::new()
        .name("policy-turn".to_owned())
        .spawn(waiter)
        .map_err(|error| wrong(error.to_string()))?;
    match receiver.recv_timeout(patience) {
        Ok(taken) => taken.map_err(|error| wrong(error.to_string())),
        Err(_) => Err("other checks have held it for too long; try again".to_owned()),
    }
}
