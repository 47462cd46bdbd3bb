//! Whether what looks like a secret is one: its edges, its entropy, its checksum, and what is published.
//!
//! INVARIANT: linear in the value; a value that cannot be judged counts as a secret.

use crate::glob::{self, Syntax};

/// Checksums that token formats carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// None.
    None,
    /// The last six characters are the CRC-32 of what stands between the last `_` and them, in base 62.
    Crc32,
    /// Three parts of base64url, the first an object with `alg`.
    Jwt,
}

impl Checksum {
    /// Every checksum with its word.
    pub const ALL: [(Checksum, &'static str); 3] =
        [(Checksum::None, "none"), (Checksum::Crc32, "crc32"), (Checksum::Jwt, "jwt")];
}

/// What must hold for a value beside its pattern.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conditions {
    /// Least entropy, hundredths of a bit a character.
    pub(crate) entropy: u32,
    pub(crate) checksum: Checksum,
}

/// Parts of values that only stand for a secret, lower case.
const PLACEHOLDERS: &[&str] = &[
    "example", "changeme", "change_me", "change-me", "placeholder", "your", "dummy", "redacted", "replace", "insert",
    "xxxx", "****", "....", "todo", "fixme", "sample", "<", ">", "${", "{{", "$(", "%(", "secret_key_here", "process.env",
    "os.environ", "getenv", "1234567890", "0123456789", "abcdefgh", "deadbeef", "foobar", "aaaaaa", "000000", "notreal", "not_real",
    "not-real", "fake",
];

/// Where a token ends that begins or ends in a letter or digit: not in the middle of a longer one.
#[must_use]
pub(crate) fn has_edges(text: &[u8], start: usize, end: usize) -> bool {
    let inner = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let before = inner(start.checked_sub(1)) && inner(Some(start));
    let behind = inner(Some(end)) && inner(end.checked_sub(1));
    !before && !behind
}

/// The token at the end of a match: what stands behind the last quote, blank or sign of assignment.
#[must_use]
pub(crate) fn value(matched: &str) -> &str {
    let matched = matched.trim_end_matches(['"', '\'', '`', ';', ',']);
    let start = matched.rfind(['"', '\'', '`', ' ', '\t', '=', ':', ',', '(']).map_or(0, |at| at + 1);
    // A value may end with the padding of base64.
    match matched.get(start..) {
        Some("") | None => {
            let trimmed = matched.trim_end_matches('=');
            let start = trimmed.rfind(['"', '\'', '`', ' ', '\t', '=', ':', ',', '(']).map_or(0, |at| at + 1);
            matched.get(start..).unwrap_or(matched)
        }
        Some(value) => value,
    }
}

/// Whether the value is a secret.
pub(crate) fn is_secret<'a>(
    value: &str,
    conditions: &Conditions,
    mut samples: impl Iterator<Item = &'a str>,
) -> bool {
    let lower = value.to_ascii_lowercase();
    if samples.any(|sample| sample_matches(&sample.to_ascii_lowercase(), &lower)) {
        return false;
    }
    if PLACEHOLDERS.iter().any(|part| lower.contains(part)) {
        return false;
    }
    if conditions.entropy > 0 && entropy(value.as_bytes()) < u64::from(conditions.entropy) {
        return false;
    }
    match conditions.checksum {
        Checksum::None => true,
        Checksum::Crc32 => crc32_holds(value),
        Checksum::Jwt => jwt_holds(value),
    }
}

fn sample_matches(sample: &str, value: &str) -> bool {
    glob::matches(sample, value, Syntax::Plain, false)
}

/// Entropy of the bytes, hundredths of a bit a byte.
#[must_use]
pub(crate) fn entropy(bytes: &[u8]) -> u64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = bytes.len() as f64;
    let bits: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum();
    (bits * 100.0) as u64
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

/// A checksum of six digits of base 62 behind a payload, as GitHub's and npm's tokens have it.
fn crc32_holds(value: &str) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let payload = value.rsplit_once('_').map_or(value, |(_, payload)| payload);
    let Some((payload, sum)) = payload.len().checked_sub(6).and_then(|at| payload.split_at_checked(at)) else {
        return true;
    };
    let mut number = 0_u64;
    for byte in sum.bytes() {
        let Some(digit) = DIGITS.iter().position(|digit| *digit == byte) else { return false };
        number = number * 62 + digit as u64;
    }
    number == u64::from(crc32(payload.as_bytes()))
}

fn jwt_holds(value: &str) -> bool {
    let Some(head) = value.split('.').next() else { return false };
    let mut bits = 0_u32;
    let mut held = 0_u32;
    let mut text = Vec::new();
    for byte in head.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            text.push((bits >> held & 0xFF) as u8);
        }
    }
    let text = String::from_utf8_lossy(&text);
    text.starts_with('{') && text.contains("\"alg\"")
}

/// The value as it may be shown: its beginning and how long it is.
#[must_use]
pub fn masked(value: &str) -> String {
    let shown: String = value.chars().take(4).filter(|c| !c.is_control()).collect();
    format!("{shown}… ({} characters)", value.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_published_formats() {
        // Made here: payload, then its CRC-32 in base 62.
        assert!(!crc32_holds("ghp_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert!(jwt_holds("eyJhbGciOiJIUzI1NiJ9.e30.x") && !jwt_holds("eyJ4Ijox.e30.x"));
    }

    #[test]
    fn values_and_edges() {
        assert_eq!(value("password = \"s3cret-value\""), "s3cret-value");
        assert_eq!(value("key: QUJDRA=="), "QUJDRA==");
        assert_eq!(value("AKIA0000"), "AKIA0000");
        assert!(has_edges(b"x=AKIA1;", 2, 7) && !has_edges(b"xAKIA1", 1, 6) && !has_edges(b"AKIA12", 0, 5));
    }

    #[test]
    fn samples_and_placeholders_are_no_secrets() {
        let any = Conditions { entropy: 0, checksum: Checksum::None };
        assert!(!is_secret("AKIAIOSFODNN7EXAMPLE", &any, std::iter::empty()));
        assert!(!is_secret("tok_public", &any, ["tok_*"].into_iter()));
        assert!(is_secret("Zq81kdP0wmv27GhT", &any, std::iter::empty()));
        assert!(entropy(b"aaaaaaaa") == 0 && entropy(b"Zq81kdP0wmv27GhT") > 350);
    }
}
