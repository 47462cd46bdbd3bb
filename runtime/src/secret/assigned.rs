//! Values that are given to a name such as `password`: which of them are secrets, by what they look like.
//!
//! INVARIANT: a guess, for formats that are asked for by name only; linear in the value.

use super::stand_in;
use std::ops::Range;

/// Words that say what a value is for and nothing of it.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "access",
    "client",
    "bearer",
    "private",
    "public",
    "default",
    "invalid",
    "wrong",
    "correct",
    "valid",
    "fake",
    "mock",
    "stub",
    "test",
    "dev",
    "staging",
    "prod",
    "local",
    "user",
    "admin",
    "root",
    "auth",
    "login",
    "refresh",
    "session",
    "string",
    "value",
    "field",
    "name",
    "key",
    "the",
    "new",
    "old",
    "my",
    "some",
    "super",
    "api",
    "id",
];

/// The value of an assignment, without its quotes: all behind the sign of assignment.
pub(super) fn value(matched: &[u8]) -> Option<Range<usize>> {
    let quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
    let last = matched.len().checked_sub(1)?;
    if let Some(end) = matched.get(last).filter(|byte| quote(byte)) {
        let start = matched.get(..last)?.iter().rposition(|byte| byte == end)? + 1;
        return Some(start..last);
    }
    let sign = matched.iter().position(|byte| matches!(byte, b'=' | b':'))?;
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'=' | b':' | b'>');
    let start = sign + matched.get(sign..)?.iter().take_while(|byte| blank(byte)).count();
    let end = matched.len() - matched.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    (start < end).then_some(start..end)
}

/// Whether such a value is a secret.
pub(super) fn is_secret(value: &str, lower: &str) -> bool {
    if !(8..=512).contains(&value.len()) || value.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return false;
    }
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    let (upper, signs) =
        (count(u8::is_ascii_uppercase), count(|b| b.is_ascii_punctuation() && !b"_-.:/".contains(b)));
    let both = upper > 0 && upper < letters;
    if letters == 0 || !(digits > 0 && (digits > 1 || both || signs > 0) || both && signs > 0) {
        return false;
    }
    if stand_in::is_usual(lower) || is_place(value) || is_id(value) || is_code(value) {
        return false;
    }
    let mut rest = lower.to_owned();
    for word in WORDS {
        rest = rest.replace(word, "");
    }
    let rest = rest.trim_matches(|c: char| c.is_ascii_punctuation() || c.is_ascii_digit());
    rest.len() >= 5
}

/// Paths, addresses, names of stored secrets.
fn is_place(value: &str) -> bool {
    let starts = [
        "/",
        "./",
        "../",
        "~",
        "@",
        "#",
        "&",
        "*",
        "ENC[",
        "arn:",
        "projects/",
        "secret/",
        "vault",
        "op:",
        "ssm:",
        "ref+",
        "!",
    ];
    value.contains("://")
        || starts.iter().any(|start| value.starts_with(start))
        || value.matches('/').count() > 1 && value.contains('.')
}

/// A UUID: it names something.
fn is_id(value: &str) -> bool {
    let parts: Vec<usize> = value.trim_matches(['{', '}']).split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12]
        && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-' || byte == b'{' || byte == b'}')
}

/// Calls, members of objects, names in code and patterns.
fn is_code(value: &str) -> bool {
    let called = value.contains('(')
        || value.contains("::")
        || value.contains("->")
        || value.contains("=>")
        || value.contains('\\');
    let listed = value.contains('[') || value.contains(']') || value.contains("&&") || value.contains("||");
    let dotted = value.contains('.')
        && value.split('.').all(|part| {
            !part.is_empty()
                && part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        });
    // Words with a number at the end: `token-value-2`, `sha256_digest`.
    let words = value.split(['_', '-', '.', ':', '/', '+']).all(|part| {
        let plain = part
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches(|c: char| c.is_ascii_digit());
        plain.bytes().all(|byte| byte.is_ascii_lowercase())
            || plain.bytes().all(|byte| byte.is_ascii_uppercase())
    }) && value.contains(['_', '-', '.', ':', '/', '+'])
        && value.len() < 40;
    called || listed || dotted || words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_values_are_told_from_words() {
        for secret in [
            "Tr0ub4dor&3-fake",
            "q8Zk2fakeVn4LxT1",
            "Tr0ub4dor3fake",
            "9f86d081884c7d659a2feaa0c55ad015",
            "kJ8#mQ2$vL9",
        ] {
            assert!(is_secret(secret, &secret.to_ascii_lowercase()), "{secret}");
        }
        for quiet in [
            "reset_password_view",
            "Forgot your password?",
            "token-value-2",
            "auth.token.v2",
            "123e4567-e89b-12d3-a456-426614174000",
            "/run/secrets/db1",
            "getToken(2)",
            "myPassword1",
            "test-token-123",
            "short1A",
        ] {
            assert!(!is_secret(quiet, &quiet.to_ascii_lowercase()), "{quiet}");
        }
        let text = b"password = \"a b\"";
        assert_eq!(value(text), Some(12..15));
        assert_eq!(value(b"token: abc\n"), Some(7..10));
    }
}
