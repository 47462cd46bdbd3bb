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
        Ok(builder) => builder.build().map(|section| section.len()).unwrap_err().to_string(),
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
    let error = builder.build().map(|section| section.len()).unwrap_err().to_string();
    assert!(error.contains("bytes of the section, the limit is 20001"), "{error}");
}

/// Patterns that are small as a text and large as what they say.
#[test]
fn patterns_that_explode() {
    let start = std::time::Instant::now();
    for pattern in [
        format!("{}a{}", "(?:".repeat(80), "{16})".repeat(80)),
        format!("{}a|b{}", "(?:".repeat(80), "){16}".repeat(80)),
        format!("abcd{}a|bc{}", "(?:".repeat(60), ")+".repeat(60)),
        format!("abcd{}[ab]{}", "(?:".repeat(30), "{1,9})?".repeat(30)),
        format!("{}abc[0-9]|", "[0-9]x|".repeat(500)),
        "(?:a|b|c|d)".repeat(300),
        "a?".repeat(1000),
        "[ab]".repeat(500),
        "abcd".repeat(500),
        "a".repeat(5000),
        format!("abcd(?:[a-z]*{})*", "[a-z]*[0-9]?".repeat(100)),
        "abcd(?:[ab]*a[ab]{500})".into(),
    ] {
        let mut builder = Builder::new();
        let section = builder.add(3, &pattern).and_then(|builder| builder.build());
        // Some are small after all; none is large.
        let shown: String = pattern.chars().take(30).collect();
        assert!(section.is_err() || section.is_ok_and(|section| section.len() < 100_000), "{shown}");
    }
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
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
