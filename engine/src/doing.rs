//! What this process is at, so that a deadline that passes can name its true cause.
//!
//! INVARIANT: only ever read to tell a person; no answer depends on it.

use std::sync::atomic::{AtomicBool, Ordering};

static COMPILING: AtomicBool = AtomicBool::new(false);

/// Whether a policy is being compiled just now.
pub fn compiling() -> bool {
    COMPILING.load(Ordering::Relaxed)
}

/// Runs a compile.
pub(crate) fn compile<T>(run: impl FnOnce() -> T) -> T {
    COMPILING.store(true, Ordering::Relaxed);
    let made = run();
    COMPILING.store(false, Ordering::Relaxed);
    made
}
