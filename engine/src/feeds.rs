//! What a local feed tells of packages, addresses and tokens that are known to be bad: nine checks of the linter.
//!
//! INVARIANT: a feed only tightens. Without the file all of it is silent; a file that cannot be used is a gap with its cause, and
//! the call asks. Nothing is fetched.

mod file;
mod installs;
mod look;
#[cfg(test)]
mod tests;

use crate::open::{self, Care};
use file::Feed;
use policy_runtime::Facts;
use policy_runtime::outside::{Remark, Target};
use std::cell::OnceCell;
use std::path::PathBuf;

/// Largest feed, in bytes.
const CAP: u64 = 4 << 20;

/// The feed as one call asks it: read once, when the first check needs it.
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    path: Option<PathBuf>,
    known: OnceCell<Result<Option<Feed>, String>>,
}

impl Feeds {
    /// The feed of a user's folder.
    pub(crate) fn at(path: PathBuf) -> Feeds {
        Feeds { path: Some(path), known: OnceCell::new() }
    }

    fn known(&self) -> &Result<Option<Feed>, String> {
        self.known.get_or_init(|| {
            let Some(path) = &self.path else { return Ok(None) };
            match open::read(path, Care::Private, CAP) {
                Ok((bytes, _)) => {
                    let feed = Feed::parse(&bytes);
                    feed.map(Some)
                        .map_err(|cause| format!("the feed `{}` cannot be used: {cause}", path.display()))
                }
                Err(error) if error.missing => Ok(None),
                Err(error) => Err(format!("the feed cannot be read: {error}")),
            }
        })
    }

    /// What a check of a feed finds; none when there is no such check.
    pub(crate) fn check(&self, name: &str, facts: &Facts, target: Target) -> Option<Vec<Remark>> {
        if !policy_compiler::FEED_CHECKS.contains(&name) {
            return None;
        }
        Some(match self.known() {
            Ok(Some(feed)) => look::look(feed, name, facts, target),
            Ok(None) | Err(_) => Vec::new(),
        })
    }

    /// Why a check that was asked could not look.
    pub(crate) fn gap(&self) -> Option<String> {
        self.known.get()?.as_ref().err().cloned()
    }
}
