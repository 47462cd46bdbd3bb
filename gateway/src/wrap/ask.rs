//! Who is asked when the policy says ask.
//!
//! INVARIANT: whoever fails, is not there or does not answer in time has not approved anything.

use crate::wrap::judge::Question;
use std::time::Duration;

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// How, as a phrase: `once, on the page`.
    Approved(String),
    /// How, as a phrase.
    Denied(String),
    /// Why nobody answered, one clause.
    Nobody(String),
}

/// Somebody who can be asked.
pub(crate) trait Person: Send + Sync {
    /// Asks, and waits at most that long. Ends early when `gone` says that nobody waits any more.
    fn ask(&self, question: &Question, wait: Duration, gone: &dyn Fn() -> bool) -> Said;
}

/// `--ask deny`: nobody is there.
pub(crate) struct Nobody;

impl Person for Nobody {
    fn ask(&self, _question: &Question, _wait: Duration, _gone: &dyn Fn() -> bool) -> Said {
        Said::Nobody("a person has to say yes to this, and here nobody can be asked".to_owned())
    }
}
