//! Calls that a person approved and that the server answers with a question of its own (`input_required`): the client makes them again,
//! and the person is not asked again.
//!
//! INVARIANT: what is remembered is a digest of the server's state and the digest that was approved; each is used once, and holds no
//! longer than the approval from which the chain began. Bounded.

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long after the approval calls of its chain are made.
const LASTS: Duration = Duration::from_secs(600);
/// Most calls that are remembered.
const MOST: usize = 256;

/// That a person approved a call with this digest, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Approved {
    digest: [u8; 32],
    at: Instant,
}

impl Approved {
    /// It was approved now.
    pub(crate) fn now(digest: [u8; 32]) -> Approved {
        Approved { digest, at: Instant::now() }
    }

    /// Whether it holds for a call with this digest.
    pub(crate) fn holds(&self, digest: &[u8; 32]) -> bool {
        self.digest == *digest && self.at.elapsed() < LASTS
    }
}

/// What is remembered.
#[derive(Default)]
pub(crate) struct Chains(Mutex<HashMap<[u8; 32], Approved>>);

impl Chains {
    /// A server answered an approved call with a question, and wants this state back.
    pub(crate) fn remember(&self, state: &str, approved: Approved) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= MOST {
            held.retain(|_, approved| approved.at.elapsed() < LASTS);
        }
        if held.len() < MOST {
            held.insert(Sha256::digest(state.as_bytes()).into(), approved);
        }
    }

    /// A client brings a state: what was approved before it, once.
    pub(crate) fn take(&self, state: &str) -> Option<Approved> {
        let digest: [u8; 32] = Sha256::digest(state.as_bytes()).into();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_counts_once_and_they_are_bounded() {
        let chains = Chains::default();
        let approved = Approved::now([1; 32]);
        chains.remember("s", approved);
        assert_eq!((chains.take("other"), chains.take("s"), chains.take("s")), (None, Some(approved), None));
        assert!(approved.holds(&[1; 32]) && !approved.holds(&[2; 32]));
        for n in 0..2 * MOST {
            chains.remember(&n.to_string(), approved);
        }
        assert_eq!(chains.0.lock().unwrap().len(), MOST);
    }
}
