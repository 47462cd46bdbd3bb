//! Where a person is asked about a call whose host cannot ask, and who does it: this process, or another one.
//!
//! INVARIANT: a call that was not approved by a person is not allowed here; a process without a desk says that one is needed.

use crate::decide::{Answer, Engine};
use crate::places::Folders;
use crate::work::Elsewhere;
use policy_hosts::call::Call;
use std::time::Duration;

/// A call that has to be asked about.
#[derive(Debug)]
pub struct Asking<'a> {
    /// Decides again after somebody was waited for.
    pub engine: &'a mut Engine,
    /// Our folders.
    pub folders: &'a Folders,
    /// The call.
    pub call: &'a Call,
    /// What was decided: ask.
    pub answer: Answer,
    /// How long the call may wait; none: it is denied at once, and the answer counts when it is made again.
    pub wait: Duration,
}

/// Asks a person.
pub trait Desk: std::fmt::Debug + Sync {
    /// Whether this process can ask.
    fn here(&self) -> bool;

    /// Asks: allowed, or denied with the reason.
    fn settle(&self, asking: Asking<'_>) -> Answer;

    /// A session has ended: what was approved for it is void.
    fn end(&self, folders: &Folders, host: &str, session: &str);
}

/// Asks nobody.
impl Desk for Elsewhere {
    fn here(&self) -> bool {
        false
    }

    fn settle(&self, asking: Asking<'_>) -> Answer {
        asking.answer
    }

    fn end(&self, _folders: &Folders, _host: &str, _session: &str) {}
}

/// Whether anything was ever asked: only then is there something to end.
pub fn asked_before(folders: &Folders) -> bool {
    folders.state.join("approvals").join("questions.db").exists()
}
