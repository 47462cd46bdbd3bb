//! The tokens of open pages.
//!
//! INVARIANT: a token is made only for a code that was good and is used up by it; what is kept of it is a digest, in memory.

use policy_approvals::{Store, place};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Most pages at once; the oldest is closed. Those of one question are counted by themselves.
const MOST: usize = 16;

/// What a page may see and answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All questions.
    All,
    /// The question with this id: a client showed an address, and whoever saw that has it.
    One(String),
}

/// The digests of tokens of open pages.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<VecDeque<(String, Scope)>>);

impl Tokens {
    /// A token for a code; `None` when the code is not good.
    pub(crate) fn trade(&self, store: &Store, code: &str) -> Result<Option<(String, Scope)>, String> {
        if code.len() != 32 {
            return Ok(None);
        }
        let scope = match store.redeem(code)? {
            true => Scope::All,
            false => match store.follow(code)? {
                Some(id) => Scope::One(id),
                None => return Ok(None),
            },
        };
        let token = policy_approvals::secret().map_err(|error| error.to_string())?;
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.push_back((place(&token), scope.clone()));
        let alike =
            |own: &Scope| matches!((own, &scope), (Scope::All, Scope::All) | (Scope::One(_), Scope::One(_)));
        if held.iter().filter(|(_, own)| alike(own)).count() > MOST
            && let Some(oldest) = held.iter().position(|(_, own)| alike(own))
        {
            held.remove(oldest);
        }
        Ok(Some((token, scope)))
    }

    /// What the page that holds this token may see. Digests are compared, so the time that it takes tells nothing.
    pub(crate) fn scope(&self, token: &str) -> Option<Scope> {
        let digest = place(token);
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .find(|(own, _)| *own == digest)
            .map(|(_, scope)| scope.clone())
    }
}
