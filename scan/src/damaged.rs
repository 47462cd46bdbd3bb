//! Damaged sections: every error is an error, nothing panics or hangs.
//!
//! INVARIANT: what the sum would refuse is also tried with a sum that fits.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::build::Builder;
use crate::layout::sum;
use crate::{Path, Scanner, Sums};
use std::ops::ControlFlow;

fn sample() -> Vec<u8> {
    let mut builder = Builder::new();
    let patterns = [
        "AKIA[0-9A-Z]{16}",
        "-----BEGIN [A-Z ]{0,20}PRIVATE KEY",
        "(?i)token\\s*=\\s*[a-z]{4,}",
        "(?:a|bc){1,4}xyz[0-9]",
    ];
    for (id, pattern) in patterns.iter().enumerate() {
        builder.add(id as u32, pattern).unwrap();
    }
    builder.build().unwrap()
}

const TEXT: &[u8] =
    b"id AKIAIOSFODNN7EXAMPLE, -----BEGIN RSA PRIVATE KEY-----, TOKEN = abcdef, abcbcxyz7 axyz1\n";

fn scan(section: &[u8]) -> Option<usize> {
    let mut found = 0;
    for path in [Path::Scalar, Path::Vector] {
        let scanner = Scanner::new(section).ok()?.with_path(path);
        let result = scanner.scan(&TEXT.repeat(3), |_| {
            found += 1;
            ControlFlow::Continue(())
        });
        let mut stream = scanner.stream();
        let streamed = TEXT
            .chunks(7)
            .try_for_each(|chunk| stream.feed(chunk, |_| ControlFlow::Continue(())).map(|_| ()));
        if streamed.is_ok() {
            let _ = stream.finish(|_| ControlFlow::Continue(()));
        }
        let _ = result.ok()?;
    }
    Some(found)
}

#[test]
fn whole() {
    assert_eq!(scan(&sample()), Some(30));
}

#[test]
fn flipped_bytes_are_errors() {
    let section = sample();
    for at in (0..300).chain((300..section.len()).step_by(7)) {
        let mut damaged = section.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(Scanner::new(&damaged).is_err(), "byte {at}");
    }
}

#[test]
fn every_cut_is_an_error() {
    let section = sample();
    for len in (0..section.len()).step_by(13).chain(0..200) {
        assert!(Scanner::new(&section[..len]).is_err(), "{len} bytes");
    }
    assert!(Scanner::new(&[section, vec![0]].concat()).is_err());
}

/// The sum is made to fit again, so that the damage is met by what reads it.
#[test]
fn damage_behind_a_sum_that_fits() {
    let section = sample();
    let (mut refused, mut scanned) = (0, 0);
    let mut state = 88_172_645_463_325_252u64;
    let times = std::env::var("POLICY_SCAN_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    for round in 0..6000usize * times {
        let mut damaged = section.clone();
        for _ in 0..=round % 3 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Not much in the bitmap, where most bytes are.
            let at = 16 + (state >> 8) as usize % (section.len() - 16);
            let at = if round % 8 != 0 && (300..8500).contains(&at) {
                10_000 + at % (section.len() - 10_000)
            } else {
                at
            };
            damaged[at] =
                if round % 2 == 0 { state as u8 } else { [0, 255, 127, 1][(state >> 60) as usize % 4] };
        }
        let fit = sum(&damaged[16..]).to_le_bytes();
        damaged[8..16].copy_from_slice(&fit);
        match scan(&damaged) {
            None => refused += 1,
            Some(_) => scanned += 1,
        }
    }
    assert!(refused > 100 && scanned > 100, "{refused} {scanned}");
}

/// Knows what was written.
#[derive(Debug)]
struct Written<'a> {
    now: &'a [u8],
    then: &'a [u8],
}

impl Sums for Written<'_> {
    fn intact(&self, part: std::ops::Range<usize>) -> bool {
        self.now[part.clone()] == self.then[part]
    }
}

/// A part that is looked at for the first time is asked about before it is used.
#[test]
fn damage_of_a_section_in_place_is_an_error_or_never_read() {
    fn hits(now: &[u8], then: &[u8]) -> Option<Vec<(u32, u64, u64)>> {
        let sums = Written { now, then };
        let mut found = Vec::new();
        let scanner = Scanner::in_place(now, Some(&sums)).ok()?;
        let keep = |hit: &crate::Hit<'_>| {
            found.push((hit.id, hit.start, hit.end));
            ControlFlow::Continue(())
        };
        let _ = scanner.scan(&TEXT[..24], keep).ok()?;
        Some(found)
    }
    let section = sample();
    // One of the patterns: what belongs to the others is not looked at.
    let whole = hits(&section, &section).unwrap();
    assert_eq!(whole.len(), 1, "{whole:?}");
    let (mut unread, mut refused) = (0, 0);
    for at in (0..section.len()).step_by(3) {
        let mut damaged = section.clone();
        damaged[at] ^= 0xFF;
        match hits(&damaged, &section) {
            None => refused += 1,
            Some(found) => {
                assert_eq!(found, whole, "byte {at}");
                unread += 1;
            }
        }
    }
    assert!(refused > 100 && unread > 100, "{refused} {unread}");
}
