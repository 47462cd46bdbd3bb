//! The content of files that a call executes.
//!
//! INVARIANT: bounded and never blocking; what cannot be read whole has no digest, so that its turning up later is a change.

use policy_engine::open::{self, Care};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Largest file that is executed by a call and looked at, bytes.
const CAP: u64 = 64 * 1024 * 1024;

/// The digest of a file's content; `None` when it is missing, not a regular file or too large.
pub fn content(path: &Path) -> Option<[u8; 32]> {
    let (bytes, _) = open::read(path, Care::Named, CAP).ok()?;
    Some(Sha256::digest(&bytes).into())
}
