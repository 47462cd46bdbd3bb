//! What the builder makes and what it refuses.
//!
//! INVARIANT: a refusal says why, with the numbers.

use crate::patterns::patterns;
use crate::support::section;
use policy_scan::Scanner;
use policy_scan::build::{Builder, Limits};

fn refused(pattern: &str) -> String {
    let mut builder = Builder::new();
    match builder.add(3, pattern) {
        Err(error) => error.to_string(),
        Ok(builder) => builder.build().unwrap_err().to_string(),
    }
}

#[test]
fn refusals() {
    let no_literal = "pattern 3: no literal of four bytes, or of three beside something that is always there";
    for pattern in
        ["", "[a-z]+", "ab", "abc", "abc[0-9]?", "good|[a-z]+", "(?:abcd)?", "ab[0-9]cd", "[^\\x00-\\xff]"]
    {
        assert_eq!(refused(pattern), no_literal, "{pattern}");
    }
    assert_eq!(refused("abcd("), "pattern 3: unclosed group at offset 4");
    assert_eq!(
        refused("abcd[a-z]{16,2000}"),
        "pattern 3: a match may have 2000 bytes behind its literal, the limit is 1024"
    );
    assert_eq!(
        refused("abcd[a-z]{2000,}"),
        "pattern 3: a match may have 2000 bytes behind its literal, the limit is 1024"
    );
    assert_eq!(
        refused("[a-z]{300}abcd"),
        "pattern 3: a match may have 300 bytes before its literal, the limit is 256"
    );
    assert_eq!(
        refused("abcd(?:[ab]{0,200}a[ab]{14}c){1,4}"),
        "pattern 3: its automaton grows far over the limit of 65536 bytes"
    );
    assert_eq!(refused(r"(?u)abcd\b"), "pattern 3: it needs Unicode tables; patterns are of bytes");
    let mut builder = Builder::with_limits(Limits { section: 20_000, ..Limits::default() });
    for (id, pattern) in patterns(200).iter().enumerate() {
        builder.add(id as u32, pattern).unwrap();
    }
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("bytes of the section, the limit is 20001"), "{error}");
}

#[test]
fn same_patterns_same_bytes() {
    let patterns = patterns(200);
    let first = section(&patterns);
    assert_eq!(first, section(&patterns));
    assert_ne!(first, section(&patterns[1..]));
    assert!(first.len() < 64 * 1024, "{}", first.len());
    // The section can lie anywhere.
    for shift in 0..8 {
        let moved = [vec![7; shift], first.clone()].concat();
        assert!(Scanner::new(&moved[shift..]).is_ok());
    }
}

#[test]
fn no_patterns() {
    let section = section::<&str>(&[]);
    assert_eq!(crate::support::all(&section, b"text", policy_scan::Path::Auto).0, []);
}
