//! Our answers to requests of the server.
//!
//! INVARIANT: who reads the server never waits until it reads; one thread writes, and no more than a number of answers wait.

use crate::wrap::complain;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most answers that wait; a server that sends more requests without reading gets no answers to them.
const MOST: usize = 1024;

/// Answers that are on their way to the server.
pub(crate) struct Refusals {
    sender: SyncSender<String>,
    waiting: Mutex<usize>,
    written: Condvar,
}

impl Refusals {
    /// None yet, and where they come out.
    pub(crate) fn new() -> (Refusals, Receiver<String>) {
        let (sender, receiver) = sync_channel(MOST);
        (Refusals { sender, waiting: Mutex::default(), written: Condvar::new() }, receiver)
    }

    fn waiting(&self) -> MutexGuard<'_, usize> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an answer in the line.
    pub(crate) fn put(&self, text: String) {
        // ORDER: counted first, since it may be written at once.
        *self.waiting() += 1;
        let why = match self.sender.try_send(text) {
            Ok(()) => return,
            Err(TrySendError::Full(_)) => "the server does not read",
            Err(TrySendError::Disconnected(_)) => "the server has ended",
        };
        self.done();
        complain(&format!("policy wrap: a request of the server gets no answer: {why}"));
    }

    /// An answer was written, or cannot be.
    pub(crate) fn done(&self) {
        let mut waiting = self.waiting();
        *waiting = waiting.saturating_sub(1);
        drop(waiting);
        self.written.notify_all();
    }

    /// Waits until all are written, but not for long.
    pub(crate) fn written(&self, within: Duration) {
        drop(self.written.wait_timeout_while(self.waiting(), within, |waiting| *waiting > 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_what_waits_is_counted() {
        let (refusals, queue) = Refusals::new();
        for n in 0..MOST + 10 {
            refusals.put(n.to_string());
        }
        assert_eq!(*refusals.waiting(), MOST, "ten were said to be lost");
        assert_eq!(queue.try_iter().inspect(|_| refusals.done()).count(), MOST);
        refusals.written(Duration::MAX);
        drop(queue);
        refusals.put("late".to_owned());
        assert_eq!(*refusals.waiting(), 0);
    }
}
