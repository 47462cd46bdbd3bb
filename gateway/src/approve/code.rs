//! The tokens of open pages.
//!
//! INVARIANT: a token is made only for a code that was good and is used up by it; what is kept of it is a digest, in memory.

use policy_approvals::{Store, place};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Most pages at once; the oldest is closed.
const MOST: usize = 16;

/// The digests of tokens of open pages.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<VecDeque<String>>);

impl Tokens {
    /// A token for a code; `None` when the code is not good.
    pub(crate) fn trade(&self, store: &Store, code: &str) -> Result<Option<String>, String> {
        if code.len() != 32 || !store.redeem(code)? {
            return Ok(None);
        }
        let token = policy_approvals::secret().map_err(|error| error.to_string())?;
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.push_back(place(&token));
        if held.len() > MOST {
            held.pop_front();
        }
        Ok(Some(token))
    }

    /// Whether a page holds this token. Digests are compared, so the time that it takes tells nothing.
    pub(crate) fn holds(&self, token: &str) -> bool {
        let digest = place(token);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&digest)
    }
}
