//! The runtime's globs against the oracle's: what a glob covers, and what it has in common with a value.
//!
//! INVARIANT: short random globs of few letters, so that they meet often.

use super::super::generate::Random;
use super::super::glob as naive;
use super::rounds;
use policy_runtime::glob::{self, Syntax};

/// `POLICY_GLOBS=10000000` compares more, `POLICY_SEED` others.
#[test]
fn globs_cover_and_meet_as_written_down() {
    let mut random = Random::new(rounds("POLICY_SEED", 0) as u64);
    let all = rounds("POLICY_GLOBS", 40_000);
    let mut counts = [0usize; 4];
    for _ in 0..all {
        let of = ["a", "b", "/", ".", "/", "*", "**", "?", "**/", "/**", "/**/", "\\*"];
        let glob: String = (0..=random.below(5)).map(|_| random.pick(&of)).collect();
        // Which wildcards of a run cover another wildcard is told by `runtime/src/glob.rs` alone.
        let several =
            glob.contains("*?") || glob.contains("?*") || glob.contains("**/*") || glob.contains("**/?");
        let of = ["a", "b", "/", ".", "/", "*", "**", "?", "[ab]", "[!a]", "[.-b]", "\u{1}", "\u{2}", "\\*"];
        let value: String = (0..=random.below(5)).map(|_| random.pick(&of)).collect();
        let crowded = ["*", "?", "[", "\u{1}", "\u{2}"]
            .iter()
            .any(|a| ["*", "?", "["].iter().any(|b| value.contains(&format!("{a}{b}"))));
        for syntax in [Syntax::Path, Syntax::Plain] {
            let mut flat = String::new();
            glob::flatten(&value, &mut flat);
            let wild = flat.contains(['\u{1}', '\u{2}']);
            let got = glob::matches(&glob, &flat, syntax, false);
            if !(several && wild) {
                let expected = naive::covers(&glob, &naive::pattern(&value), syntax);
                assert_eq!(got, expected, "{glob:?} covers {value:?}, {syntax:?}");
            }
            let meets = glob::intersects(&glob, &value, syntax, false);
            let expected = naive::meets(&glob, &naive::pattern(&value), syntax);
            // The runtime forgets that the second of two wildcards may stand at the start of a segment: then it says that they meet.
            let careful = crowded && meets;
            assert!(meets == expected || careful, "{glob:?} meets {value:?}, {syntax:?}: {meets} {expected}");
            counts[usize::from(got)] += 1;
            counts[2 + usize::from(meets)] += 1;
        }
    }
    assert!(counts.iter().all(|&n| n * 40 > all), "{counts:?}");
}
