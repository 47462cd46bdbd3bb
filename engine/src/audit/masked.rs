//! What stands for a masked value, so that equal ones can be matched.
//!
//! INVARIANT: a value leaves only as eight bytes of a keyed hash; the key is private, and is made when first needed.

use super::chain::{hex, sha256, unhex};
use crate::open::{self, Care, FileError};
use sha2::{Digest as _, Sha256};
use std::io::Read as _;
use std::path::Path;

/// The key's file in the state folder.
pub const KEY_FILE: &str = "audit-mask.key";
/// What stands for a value when there is no key.
pub const NO_KEY: &str = "no key";
/// Bytes of the hash that are kept.
const KEPT: usize = 8;
const BLOCK: usize = 64;

type Key = [u8; 32];

/// What stands for these values, each once, in this order. `state` is the folder of the key.
pub fn names(values: &[String], state: &Path) -> Vec<String> {
    if values.is_empty() {
        return Vec::new();
    }
    let Ok(key) = key(state) else { return vec![NO_KEY.to_owned()] };
    let mut out: Vec<String> = Vec::with_capacity(values.len());
    for value in values {
        let name = hex(hmac(&key, value.as_bytes()).get(..KEPT).unwrap_or_default());
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// What stands for one value, to look for it; none without a key.
pub fn name(value: &str, state: &Path) -> Option<String> {
    let key = read_key(&state.join(KEY_FILE)).ok()?;
    Some(hex(hmac(&key, value.as_bytes()).get(..KEPT).unwrap_or_default()))
}

fn key(state: &Path) -> Result<Key, FileError> {
    let file = state.join(KEY_FILE);
    match read_key(&file) {
        Err(error) if error.missing => {}
        other => return other,
    }
    open::private_folder(state)?;
    let written = open::create_named(&file, format!("{}\n", hex(&random(&file)?)).as_bytes(), 0o600);
    // Another process may have been first, and its file has two names for a moment.
    for _ in 0..5 {
        if let Ok(key) = read_key(&file) {
            return Ok(key);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    written.and_then(|()| read_key(&file))
}

fn read_key(file: &Path) -> Result<Key, FileError> {
    let (bytes, _) = open::read(file, Care::Private, 4096)?;
    unhex(bytes.trim_ascii_end()).ok_or_else(|| FileError::new(file, "holds no key of 64 hexadecimal digits"))
}

/// 32 bytes of the system's randomness.
///
/// # Errors
/// When it gives none.
pub fn random(asker: &Path) -> Result<Key, FileError> {
    let mut out = [0; 32];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut out))
        .map_err(|error| FileError::io(asker, &error))?;
    Ok(out)
}

/// HMAC-SHA-256 (RFC 2104).
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    let short = if key.len() > BLOCK { sha256(key).to_vec() } else { key.to_vec() };
    block.iter_mut().zip(&short).for_each(|(to, from)| *to = *from);
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use std::os::unix::fs::PermissionsExt;

    /// RFC 4231, cases 1, 2 and 6.
    #[test]
    fn the_hash_is_the_known_one() {
        for (key, text, want) in [
            (
                vec![0x0b; 20],
                &b"Hi There"[..],
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe".to_vec(),
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&hmac(&key, text)), want);
        }
    }

    #[test]
    fn a_key_is_made_once_and_only_when_needed() {
        let scratch = Scratch::new("masked");
        let state = scratch.folder("state");
        std::fs::set_permissions(&state, PermissionsExt::from_mode(0o700)).unwrap();
        assert!(names(&[], &state).is_empty());
        assert_eq!(name("a", &state), None);
        assert!(!state.join(KEY_FILE).exists());
        let values = ["a".to_owned(), "b".to_owned(), "a".to_owned()];
        let first = names(&values, &state);
        assert_eq!(first.len(), 2);
        assert!(first.iter().all(|name| name.len() == 2 * KEPT));
        assert_eq!(names(&values, &state), first);
        assert_eq!(name("b", &state).as_ref(), first.get(1));
        let mode = std::fs::metadata(state.join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(state.join(KEY_FILE), "odd").unwrap();
        assert_eq!(names(&values, &state), [NO_KEY]);
        let other = scratch.folder("other");
        assert_ne!(names(&values, &other), first);
    }
}
