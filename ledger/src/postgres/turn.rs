//! Whose turn it is in this process: the connection goes from check to check, and the transaction with it.
//!
//! INVARIANT: one check at a time holds the connection, in the order in which they came. What is kept of a batch is said to each of
//! its checks; a batch never stays open when nobody is left who would end it.

use super::batch::{Wants, Work};
use super::link::fault;
use policy_payments::ledger::Fault;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The connection, or who waits for it.
pub(crate) struct Turn {
    inner: Mutex<Inner>,
}

struct Inner {
    /// Here while nobody has it.
    free: Option<Box<Work>>,
    queue: VecDeque<Waiting>,
}

struct Waiting {
    wants: Wants,
    place: Arc<Place>,
}

/// Where somebody waits for the turn.
#[derive(Default)]
struct Place {
    state: Mutex<State>,
    given: Condvar,
}

#[derive(Default)]
enum State {
    #[default]
    Waits,
    Given(Box<Work>),
    /// Waited for too long.
    Gone,
}

impl Place {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the turn, or gives it back when nobody waits any more.
    fn give(&self, work: Box<Work>) -> Option<Box<Work>> {
        let mut state = self.lock();
        if matches!(*state, State::Gone) {
            return Some(work);
        }
        *state = State::Given(work);
        drop(state);
        self.given.notify_one();
        None
    }

    fn wait(&self, patience: Duration) -> Option<Box<Work>> {
        let end = Instant::now() + patience;
        let mut state = self.lock();
        while matches!(*state, State::Waits) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.given.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        match std::mem::replace(&mut *state, State::Gone) {
            State::Given(work) => Some(work),
            State::Waits | State::Gone => None,
        }
    }
}

/// The turn is ours until this is dropped.
pub(crate) struct Held<'t> {
    turn: &'t Turn,
    work: Option<Box<Work>>,
}

impl Turn {
    pub(crate) fn new() -> Turn {
        Turn { inner: Mutex::new(Inner { free: Some(Box::default()), queue: VecDeque::new() }) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn.
    pub(crate) fn take(&self, wants: &Wants, patience: Duration) -> Result<Held<'_>, Fault> {
        let place = {
            let mut inner = self.lock();
            if let Some(work) = inner.free.take() {
                return Ok(Held { turn: self, work: Some(work) });
            }
            let place = Arc::new(Place::default());
            inner.queue.push_back(Waiting { wants: wants.clone(), place: Arc::clone(&place) });
            place
        };
        match place.wait(patience) {
            Some(work) => Ok(Held { turn: self, work: Some(work) }),
            None => Err(fault("other checks have held it for too long; try again")),
        }
    }

    /// What those who wait will ask for, so that it is looked up once for all.
    pub(crate) fn wanted(&self, most: usize) -> Vec<Wants> {
        self.lock().queue.iter().take(most).map(|waiting| waiting.wants.clone()).collect()
    }

    /// Whether nobody waits.
    pub(crate) fn is_last(&self) -> bool {
        self.lock().queue.is_empty()
    }

    fn pass(&self, mut work: Box<Work>) {
        loop {
            let mut inner = self.lock();
            let Some(next) = inner.queue.pop_front() else {
                if !work.is_open() {
                    inner.free = Some(work);
                    return;
                }
                drop(inner);
                // Who is in it is told; there is nobody else to tell.
                let _ = work.close();
                continue;
            };
            drop(inner);
            match next.place.give(work) {
                None => return,
                Some(back) => work = back,
            }
        }
    }
}

impl Held<'_> {
    pub(crate) fn work(&mut self) -> Result<&mut Work, Fault> {
        self.work.as_deref_mut().ok_or_else(|| fault("the turn was given away"))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let Some(mut work) = self.work.take() else { return };
        if std::thread::panicking() {
            work.give_up(&fault("a check stopped halfway"));
        }
        self.turn.pass(work);
    }
}
