//! What a hit says, and where matches begin and end.
//!
//! INVARIANT: small texts, read by eye.

use crate::support::{all, brief, chunked, section};
use policy_scan::{Outcome, Path, ScanError, Scanner};
use std::ops::ControlFlow;

#[test]
fn ends_are_the_longest() {
    assert_eq!(brief(&["tok_[a-z]{2,5}"], "tok_abcdefg tok_a tok_ab"), "0:0-9 0:18-24");
    let key = |most: u32, text| brief(&[&format!("-----BEGIN [A-Z ]{{0,{most}}}PRIVATE KEY")], text);
    assert_eq!(key(20, "-----BEGIN RSA PRIVATE KEY PRIVATE KEY-"), "0:0-38");
    assert_eq!(key(10, "-----BEGIN RSA PRIVATE KEY PRIVATE KEY-"), "0:0-26");
    assert_eq!(key(20, "-----BEGIN PRIVATE KEY PRIVATE KEY-"), "0:0-34");
    assert_eq!(brief(&["[0-9]{1,4}-mid-x"], "123456-mid-x"), "0:2-12");
}

#[test]
fn hits_of_a_pattern_do_not_overlap() {
    assert_eq!(brief(&["abab"], "abababab"), "0:0-4 0:4-8");
    assert_eq!(brief(&["abab", "baba"], "ababab"), "0:0-4 1:1-5");
    assert_eq!(brief(&["secret|session_key"], "session_key"), "0:0-11");
}

#[test]
fn edges_of_the_text() {
    assert_eq!(brief(&["abcd"], "abcd"), "0:0-4");
    assert_eq!(brief(&["abcd"], "abc"), "");
    assert_eq!(brief(&["abcd"], ""), "");
    assert_eq!(brief(&[r"\babc[0-9]\b"], "abc1"), "0:0-4");
    assert_eq!(brief(&[r"\Aabcd", r"abcd\z"], "abcd abcd"), "0:0-4 1:5-9");
    assert_eq!(brief(&["xyz."], "xyz"), "");
}

#[test]
fn open_repetitions_end_at_the_limit() {
    let text = format!("open_{}", "a".repeat(5000));
    assert_eq!(brief(&["open_a+"], &text), "0:0-1029");
    assert_eq!(brief(&["a+_open"], &format!("{}_open", "a".repeat(500))), "0:244-505");
    assert_eq!(brief(&[r"open_(?:a|aa)+"], &text), "0:0-1029");
}

/// What must follow an open repetition that goes on behind the limit is not known, which is not the same as not there.
#[test]
fn what_may_follow_behind_the_limit_is_said() {
    let incomplete = |pattern: &str, text: &str, places: u64, first: u64| {
        let section = section(&[pattern]);
        let expected = Ok(match places {
            0 => Outcome::Complete,
            places => Outcome::Incomplete { places, first },
        });
        let shown = |what: &str| format!("{what}: {pattern} in {} bytes", text.len());
        for path in [Path::Scalar, Path::Vector] {
            let (found, outcome) = all(&section, text.as_bytes(), path);
            assert_eq!((found.len(), outcome), (0, expected), "{}", shown("whole"));
            for size in [1, 7, 1024, 4099] {
                let (found, outcome) = chunked(&section, text.as_bytes(), path, || size);
                assert_eq!((found.len(), outcome), (0, expected), "{}", shown("chunks"));
            }
        }
    };
    let long = "a".repeat(5000);
    // As a run program and as an automaton; to both sides; with the rest there and not.
    for (pattern, tail) in
        [("open_a+b", "b"), ("open_(?:a|aa)+b", "b"), (r"open_a+\b", ""), (r"open_[a-z.]*\.x", ".x")]
    {
        incomplete(pattern, &format!("zz open_{long}{tail}"), 1, 3);
        incomplete(pattern, &format!("open_{long}{tail} open_{long}! open_c"), 2, 0);
        // Where the repetition ends before the limit, all is known.
        incomplete(pattern, &format!("open_{}_ open_", "a".repeat(900)), 0, 0);
    }
    for pattern in ["b[a]+_open", "b(?:a|aa)+_open", r"\ba+_open"] {
        incomplete(pattern, &format!("b{long}_open"), 1, 5001);
        incomplete(pattern, &format!("{long}_open_open"), 1, 5000);
    }
    // At the end of the text, or of the last hit, nothing is cut; what the other side rules out is not asked.
    incomplete("open_a+b", &format!("open_{}", "a".repeat(1024)), 0, 0);
    incomplete("open_a+b", &format!("open_{}a", "a".repeat(1024)), 1, 0);
    incomplete("xx_open_a+b", &format!("open_{long}b"), 0, 0);
    // Counts that have an end are never cut.
    incomplete(r"open_a{4}\b", &format!("open_{long}"), 0, 0);
    incomplete("open_a{1,1000}b", &format!("open_{long}b"), 0, 0);
    incomplete("open_(?:a|aa){1,400}b", &format!("open_{long}b"), 0, 0);
}

#[test]
fn lines_and_columns() {
    let (found, _) = all(
        &section(&["needle", "[a-z\n]{0,10}hook!"]),
        b"x\nneedle needle\n\n  needle\nab\nhook!",
        Path::Auto,
    );
    let places: Vec<_> = found.iter().map(|hit| (hit.0, hit.3, hit.4)).collect();
    assert_eq!(places, [(0, 2, 1), (0, 2, 8), (0, 4, 3), (1, 4, 3)]);
    assert_eq!(found.last().map(|hit| hit.5.as_slice()), Some(b"needle\nab\nhook!".as_slice()));
}

#[test]
fn the_caller_may_stop() {
    let section = section(&["needle"]);
    let scanner = Scanner::new(&section).unwrap();
    let mut count = 0;
    let mut sink = |_: &policy_scan::Hit<'_>| {
        count += 1;
        ControlFlow::Break(())
    };
    assert_eq!(scanner.scan(b"needle needle", &mut sink), Ok(Outcome::Stopped));
    let mut stream = scanner.stream();
    for _ in 0..10_000 {
        let _ = stream.feed(b"needle ", &mut sink).unwrap();
    }
    assert_eq!(stream.finish(&mut sink), Ok(Outcome::Stopped));
    assert_eq!(count, 2);
}

/// A text that takes too much work is not scanned, and says so.
#[test]
fn over_the_budget() {
    let patterns: Vec<String> =
        (0..400).map(|number| format!("aaaa[ab]{{1,{}}}[c-z]", 600 + number)).collect();
    let section = section(&patterns);
    let text = vec![b'a'; 1 << 20];
    for path in [Path::Scalar, Path::Vector] {
        let start = std::time::Instant::now();
        let (found, outcome) = all(&section, &text, path);
        assert!(found.is_empty());
        assert!(matches!(outcome, Err(ScanError::Budget { offset }) if offset < 1000), "{outcome:?}");
        assert!(start.elapsed().as_secs() < 60);
    }
}
