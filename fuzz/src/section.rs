//! A good section of the content scanner with some of its bytes changed.
//!
//! INVARIANT: damage is an error at once, or with a sum that fits at the latest while scanning; never a panic, never a hang.

use crate::edit::Asked;
use policy_scan::build::{Builder, seal};
use policy_scan::{Path, ScanError, Scanner};
use std::ops::ControlFlow;
use std::sync::OnceLock;

const PATTERNS: &[&[&str]] = &[
    &[
        "AKIA[0-9A-Z]{16}",
        "-----BEGIN [A-Z ]{0,20}PRIVATE KEY",
        "(?i)token\\s*=\\s*[a-z]{4,}",
        "(?:a|bc){1,4}xyz[0-9]",
    ],
    &["abcd"],
    &[
        "(?m)^machine [^\\s]{1,60} login [^\\s]{1,60}$",
        "\\bkey-[0-9a-f]{4}\\b",
        "[0-9]{2,4}:AA[0-9A-Za-z_-]{3}",
    ],
    &["(?i)secret['\"]?\\s*[:=]\\s*['\"][0-9a-z_/+=-]{4,64}['\"]", "ghp_[0-9A-Za-z]{6}", "abca(?:b|cd)*e"],
];
const TEXT: &[u8] =
    b"id AKIAIOSFODNN7EXAMPLE, -----BEGIN RSA PRIVATE KEY-----, TOKEN = abcdef, abcbcxyz7 axyz1\n\
    machine host login me\nkey-00ff 1234:AAbcd secret = \"abcdef\" ghp_abc123 abcabcdbe abcd\n";

fn good(number: usize) -> &'static [u8] {
    static ALL: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let one = |patterns: &&[&str]| {
            let mut builder = Builder::new();
            for (id, pattern) in (0..).zip(*patterns) {
                builder.add(id, pattern).expect("a good pattern");
            }
            builder.build().expect("a section")
        };
        PATTERNS.iter().map(one).collect()
    });
    &all[number % all.len()]
}

/// The first byte chooses a section, the second whether its sum is made right again; the rest are changes.
///
/// # Errors
/// The promise that was broken.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut asked = Asked(bytes);
    let (good, how) = (good(asked.byte()), asked.byte());
    let mut damaged = good.to_vec();
    asked.edit(&mut damaged, if how % 8 == 1 { 0 } else { 16 });
    if damaged == good {
        return Ok(());
    }
    let sealed = how % 8 != 0;
    if sealed {
        seal(&mut damaged);
    }
    let mut answers: Vec<Result<usize, ScanError>> = Vec::new();
    for path in [Path::Scalar, Path::Vector] {
        let Ok(scanner) = Scanner::new(&damaged) else { return Ok(()) };
        if !sealed {
            return Err("damage is not seen".into());
        }
        let scanner = scanner.with_path(path);
        let mut found = 0;
        let result = scanner.scan(TEXT, |_| {
            found += 1;
            ControlFlow::Continue(())
        });
        answers.push(result.map(|_| found));
        let mut stream = scanner.stream();
        let fed =
            TEXT.chunks(7).try_for_each(|part| stream.feed(part, |_| ControlFlow::Continue(())).map(drop));
        if fed.is_ok() {
            let _ = stream.finish(|_| ControlFlow::Continue(()));
        }
    }
    Ok(())
}
