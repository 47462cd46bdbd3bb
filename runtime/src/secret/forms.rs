//! What kinds of secrets are made of: checksums, tokens, URLs, logins, PEM blocks.
//!
//! INVARIANT: linear in the match; nothing is decoded further than a kind needs.

use super::stand_in;
use std::ops::Range;

/// CRC-32 as in zip files.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
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
pub(super) fn crc32_holds(value: &str) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let payload = value.rsplit_once('_').map_or(value, |(_, payload)| payload);
    let Some((payload, sum)) = payload.len().checked_sub(6).and_then(|at| payload.split_at_checked(at))
    else {
        return true;
    };
    let mut number = 0_u64;
    for byte in sum.bytes() {
        let Some(digit) = DIGITS.iter().position(|digit| *digit == byte) else { return false };
        number = number * 62 + digit as u64;
    }
    number == u64::from(crc32(payload.as_bytes()))
}

/// What base64 stands for, of both alphabets; none when it is not base64.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bits = 0_u32;
    let mut held = 0_u32;
    let mut out = Vec::new();
    for byte in text.trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xFF) as u8);
        }
    }
    Some(out)
}

/// Most bytes of the first part of a token.
const MOST_HEAD: usize = 2048;

/// Length of the first part of a token, which ends with the text.
pub(super) fn length_of_head(text: &[u8]) -> usize {
    let inner = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.iter().rev().take(MOST_HEAD).take_while(inner).count()
}

/// Whether the first part is the head of a token, or of an encrypted one.
pub(super) fn jwt_holds(value: &str) -> bool {
    let Some(text) = value.split('.').next().and_then(base64) else { return false };
    let text = String::from_utf8_lossy(&text);
    text.starts_with('{') && text.contains("\"alg\"")
}

/// Whether it is the base64 of a login with a password of its own.
pub(super) fn basic_holds(value: &str) -> bool {
    let Some(text) = base64(value).and_then(|bytes| String::from_utf8(bytes).ok()) else { return false };
    let Some((name, password)) = text.split_once(':') else { return false };
    let lower = password.to_ascii_lowercase();
    !text.chars().any(char::is_control)
        && (!password.is_empty() || name.len() >= 16)
        && !stand_in::is(&lower)
        && !stand_in::is_usual(&lower)
}

/// Whether letters and digits are mixed, as in random text and unlike in words.
pub(super) fn is_mixed(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    digits >= 2 && letters >= 2
}

/// The place of the password in `scheme://name:password@host`.
pub(super) fn password_of_url(matched: &[u8]) -> Option<Range<usize>> {
    let begin = matched.windows(3).position(|window| window == b"://")? + 3;
    let at = matched.iter().rposition(|byte| *byte == b'@').filter(|at| *at > begin)?;
    let login = matched.get(begin..at)?;
    let start = begin + login.iter().position(|byte| *byte == b':')? + 1;
    (start < at).then_some(start..at)
}

/// Most bytes of a command before an option of it that are looked at.
const MOST_BEFORE: usize = 512;

/// Whether one of the words stands before the place in the same command.
pub(super) fn stands_before(whole: &[u8], at: usize, words: &[&str]) -> bool {
    let before = whole.get(at.saturating_sub(MOST_BEFORE)..at).unwrap_or_default();
    let start =
        before.iter().rposition(|byte| matches!(byte, b'\n' | b'|' | b';' | b'&')).map_or(0, |at| at + 1);
    let command = String::from_utf8_lossy(before.get(start..).unwrap_or_default());
    let word = |word: &str| word.rsplit(['/', '"', '`', '\'', '(']).next().unwrap_or_default().to_owned();
    command.split_ascii_whitespace().any(|part| words.contains(&word(part).as_str()))
}

/// Hosts that only this machine reaches.
const LOCAL: [&str; 8] =
    ["localhost", "127.", "0.0.0.0", "[::1]", "::1", "host.docker.internal", "10.0.2.2", "localtest.me"];

/// Whether the login of a URL is one that tells something.
pub(super) fn url_tells(matched: &[u8], password: &str) -> bool {
    let text = String::from_utf8_lossy(matched).to_ascii_lowercase();
    let pattern = ["[:", "[user", "[^", "]*", ".*", ".+", "\\", "(?"].iter().any(|sign| text.contains(sign));
    if pattern || stand_in::is_template(&text) || stand_in::is_usual(password) || password.len() < 4 {
        return false;
    }
    let Some((before, host)) = text.rsplit_once('@') else { return false };
    let name = before.rsplit_once("://").map_or(before, |(_, login)| login);
    let name = name.split(':').next().unwrap_or_default();
    if LOCAL.iter().any(|local| host.starts_with(local)) || name == password || stand_in::is_name(host) {
        return false;
    }
    let plain = password.bytes().all(|byte| byte.is_ascii_lowercase());
    let web = text.starts_with("http") || text.starts_with("ftp");
    // `https://user:word@host` is how every library of URLs tests itself.
    let short = password.len() < if web { 8 } else { 6 };
    // A host without a dot is a container beside this one, and plain words are passwords for trying things out.
    !(plain && (short || web || !host.contains('.')))
}

/// The place of the body of a PEM block whose first line begins the match.
pub(super) fn body_of_pem(matched: &[u8]) -> Option<Range<usize>> {
    // A match may end in the middle of a character: what stands before that is looked at.
    let text = matched.utf8_chunks().next()?.valid();
    let head = text.find("KEY")?;
    let mut at = head + text.get(head..)?.find("-----")? + 5;
    loop {
        at += skipped(text.get(at..)?);
        let rest = text.get(at..)?;
        let line = rest.split(['\n', '\\', '"']).next()?;
        let named = line.split_once(": ").is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        });
        if !named {
            break;
        }
        at += line.len();
    }
    let rest = text.get(at..)?;
    let is_body = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let length = rest.bytes().take_while(|byte| is_body(byte)).count();
    let (body, behind) = rest.split_at_checked(length)?;
    let cut = behind.starts_with("...") || behind.starts_with('…') || behind.starts_with("<");
    let same = body.bytes().all(|byte| body.bytes().next() == Some(byte));
    (length >= 6 && !cut && !same).then_some(at..at + length)
}

/// Bytes of blanks, quotes, signs of joined texts and written line ends.
fn skipped(text: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let step = if rest.starts_with("\\n") || rest.starts_with("\\r") || rest.starts_with("\\t") {
            2
        } else if rest.starts_with([' ', '\t', '\r', '\n', '"', '\'', '`', '+', ',', '\\', '|', '>', '#']) {
            1
        } else {
            break;
        };
        at += step;
    }
    at
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
    fn logins() {
        assert!(basic_holds("YXBwOlRyMHViNGRvcjM="));
        assert!(!basic_holds("dXNlcjpwYXNzd29yZA==") && !basic_holds("YWJjZGVm"));
        assert!(is_mixed("q8Zk2f") && !is_mixed("abcdef1"));
    }
}
