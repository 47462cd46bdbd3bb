//! Tells who waits for an answer that a policy is being compiled, which may take long.
//!
//! INVARIANT: only the listener changes, never an answer.

use std::sync::OnceLock;

static LISTENER: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Calls `listener` each time a policy is going to be compiled. Only the first listener of a process counts.
pub fn on_compile(listener: impl Fn() + Send + Sync + 'static) {
    let _ = LISTENER.set(Box::new(listener));
}

pub(crate) fn compile<T>(work: impl FnOnce() -> T) -> T {
    if let Some(listener) = LISTENER.get() {
        listener();
    }
    work()
}
