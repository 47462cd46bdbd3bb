//! The chain: what stands at the end of each line, and how the next one finds it.
//!
//! INVARIANT: a hash covers every byte of its line before it, the hash of the line before among them; only a bounded end of
//! the file is read to go on.

use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A SHA-256.
pub type Hash = [u8; 32];

/// What the first line of a chain has in the place of the hash before it.
pub const GENESIS: Hash = [0; 32];

/// Bytes that hold every seal: `,"seq":N,"prev":"…","hash":"…"}` and the newline.
const SEAL_BYTES: u64 = 256;
/// Bytes in which the last sealed line is looked for when the end is damaged: more than the longest line has.
const SEARCHED_BYTES: u64 = 1024 * 1024;
/// Most bytes of lines without a seal that the first seal covers.
pub const MAX_BEFORE: u64 = 16 * 1024 * 1024;

const SEQ: &[u8] = b"\"seq\":";
const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b",\"hash\":\"";
const END: &[u8] = b"\"}";

/// A line as the next one refers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Its number in the chain, from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
}

impl Link {
    /// What the first line follows.
    pub const START: Link = Link { seq: 0, hash: GENESIS };
}

/// The end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// The line.
    pub link: Link,
    /// The hash of the line before.
    pub prev: Hash,
    /// Bytes of the line that the hash covers.
    pub covered: usize,
}

impl Seal {
    /// Reads the end of a line without its newline; nothing before it is looked at.
    pub fn of(line: &[u8]) -> Option<Seal> {
        let rest = line.strip_suffix(END)?;
        let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
        let rest = rest.strip_suffix(HASH)?;
        let covered = rest.len();
        let rest = rest.strip_suffix(b"\"")?;
        let (rest, prev) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
        let rest = rest.strip_suffix(PREV)?;
        let digits = rest.iter().rev().take(20).take_while(|byte| byte.is_ascii_digit()).count();
        let (rest, seq) = rest.split_at_checked(rest.len() - digits)?;
        let rest = rest.strip_suffix(SEQ)?;
        // One spelling a number: else a line could be changed without a change of its meaning.
        if seq.first()? == &b'0' || !matches!(rest.last(), Some(b',' | b'{')) {
            return None;
        }
        let seq = std::str::from_utf8(seq).ok()?.parse().ok()?;
        Some(Seal { link: Link { seq, hash: unhex(hash)? }, prev: unhex(prev)?, covered })
    }

    /// Whether the hash is that of the line.
    pub fn holds(&self, line: &[u8]) -> bool {
        line.get(..self.covered).is_some_and(|covered| sha256(covered) == self.link.hash)
    }
}

/// A line with its seal and newline, behind `last`. `fields` are members of the object (`,"name":value`), put before it.
pub fn seal(line: &[u8], fields: &str, last: Link) -> (Vec<u8>, Link) {
    let body = line.trim_ascii_end();
    let mut out = Vec::with_capacity(body.len() + fields.len() + SEAL_BYTES as usize);
    match body.strip_suffix(b"}") {
        Some(body) if body.starts_with(b"{") => out.extend_from_slice(body),
        // No object: cannot come from us, and is kept all the same.
        _ => {
            out.extend_from_slice(b"{\"text\":");
            out.extend_from_slice(
                serde_json::Value::from(String::from_utf8_lossy(body)).to_string().as_bytes(),
            );
        }
    }
    // The first member has no comma before it.
    let empty = out.len() == 1;
    out.extend_from_slice(if empty { fields.strip_prefix(',').unwrap_or(fields) } else { fields }.as_bytes());
    let seq = last.seq.saturating_add(1);
    if out.len() > 1 {
        out.push(b',');
    }
    out.extend_from_slice(format!("\"seq\":{seq},\"prev\":\"{}\"", hex(&last.hash)).as_bytes());
    let hash = sha256(&out);
    out.extend_from_slice(HASH);
    out.extend_from_slice(hex(&hash).as_bytes());
    out.extend_from_slice(END);
    out.push(b'\n');
    (out, Link { seq, hash })
}

/// How a file ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It is empty.
    Empty,
    /// With a sealed line.
    Sealed(Link),
    /// With a sealed line of which only the newline is missing.
    Unended(Link),
    /// With this many bytes behind the last sealed line.
    Damaged(Link, u64),
    /// Nothing near its end is sealed. The hash of all of it, unless it is too long or cannot be read.
    Unsealed(Option<Hash>),
}

impl End {
    /// Looks at the end of a file of this size.
    pub fn of(file: &File, size: u64) -> End {
        if size == 0 {
            return End::Empty;
        }
        let near = read_end(file, size, SEAL_BYTES);
        let near = near.unwrap_or_default();
        match near.strip_suffix(b"\n") {
            Some(line) => {
                if let Some(seal) = Seal::of(line) {
                    return End::Sealed(seal.link);
                }
            }
            // A seal is the last that is written of a line.
            None => {
                if let Some(seal) = Seal::of(&near) {
                    return End::Unended(seal.link);
                }
            }
        }
        let far = read_end(file, size, SEARCHED_BYTES).unwrap_or_default();
        // From the end back, whole lines only.
        let mut end = far.iter().rposition(|byte| *byte == b'\n');
        while let Some(at) = end {
            let lines = far.get(..at).unwrap_or_default();
            if let Some(seal) = Seal::of(lines) {
                return End::Damaged(seal.link, (far.len() - at - 1) as u64);
            }
            end = lines.iter().rposition(|byte| *byte == b'\n');
        }
        End::Unsealed(
            (size <= MAX_BEFORE).then(|| read_end(file, size, size)).flatten().map(|all| sha256(&all)),
        )
    }

    /// What the next line follows, and the members by which it says so when that is not the line before.
    pub fn next(&self, size: u64) -> (Link, String) {
        match self {
            End::Empty => (Link::START, String::new()),
            End::Sealed(link) | End::Unended(link) => (*link, String::new()),
            End::Damaged(link, bytes) => (*link, format!(",\"gap\":{bytes}")),
            End::Unsealed(Some(hash)) => {
                (Link::START, format!(",\"before\":{{\"bytes\":{size},\"sha256\":\"{}\"}}", hex(hash)))
            }
            End::Unsealed(None) => (Link::START, format!(",\"before\":{{\"bytes\":{size}}}")),
        }
    }
}

/// The last bytes of a file of this size.
pub(crate) fn read_end(file: &File, size: u64, most: u64) -> Option<Vec<u8>> {
    let length = size.min(most);
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.read_exact_at(&mut bytes, size - length).ok()?;
    Some(bytes)
}

/// The first seal within the first bytes of a file.
pub fn first_seal(file: &File, size: u64) -> Option<Seal> {
    let mut bytes = vec![0; usize::try_from(size.min(SEARCHED_BYTES)).ok()?];
    file.read_exact_at(&mut bytes, 0).ok()?;
    bytes.split(|byte| *byte == b'\n').find_map(Seal::of)
}

/// The SHA-256 of these bytes.
pub fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// In lower case.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |four: u8| char::from(*DIGITS.get(usize::from(four)).unwrap_or(&b'0'));
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
    out
}

/// Bytes written as [`hex`] writes them; no other spelling is read.
pub fn unhex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if text.len() != N * 2 {
        return None;
    }
    let mut out = [0; N];
    for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(out)
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
