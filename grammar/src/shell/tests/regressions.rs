//! What fuzzing once found: each text of `fuzz/regressions/shell` again.
//!
//! INVARIANT: none makes the reader panic, overflow its stack, or take long, in any dialect.

use super::knowledge::Known;
use crate::shell::{Dialect, analyze};
use std::time::Instant;

#[test]
fn what_was_found_once_stays_fixed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/regressions/shell");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for dialect in [Dialect::Bash, Dialect::Posix, Dialect::Zsh, Dialect::Unknown] {
            let start = Instant::now();
            let analysis = analyze(&text, dialect, &Known);
            assert_eq!(analysis.complete, analysis.problems.is_empty(), "{}", path.display());
            assert!(start.elapsed().as_secs() < 15, "{}", path.display());
        }
        count += 1;
    }
    assert!(count > 0);
}
