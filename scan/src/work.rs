//! How much work a text makes, counted: no clock, so no noise.
//!
//! INVARIANT: a change that lets more through the filter, or makes more steps of it, is seen here first.

#![allow(clippy::unwrap_used)]

#[path = "../tests/patterns.rs"]
mod patterns;

use crate::build::Builder;
use crate::filter::{Batch, Path, fill};
use crate::scanner::{Pass, Piece, Scanner};
use std::ops::ControlFlow;

/// Ordinary text with many of the words that the patterns are about: the source of this crate.
const TEXT: &str = concat!(
    include_str!("build/mod.rs"),
    include_str!("build/program.rs"),
    include_str!("scanner.rs"),
    include_str!("verify.rs"),
    include_str!("../tests/support.rs"),
    include_str!("../Cargo.toml"),
    include_str!("../../docs/architecture.md"),
    include_str!("../../docs/language.md"),
);

/// Candidates and steps for 100,000 bytes of text, of so many patterns.
fn work(count: usize) -> (usize, u64) {
    let mut builder = Builder::new();
    for (id, pattern) in patterns::patterns(count).iter().enumerate() {
        builder.add(id as u32, pattern).unwrap();
    }
    let section = builder.build().unwrap();
    let scanner = Scanner::new(&section).unwrap();
    let text = TEXT.as_bytes();
    let windows = text.len() - 3;
    let (mut batch, mut from, mut candidates) = (Batch::new(), 0, 0);
    while from < windows {
        from = fill(Path::Scalar.level(0), &scanner.section, text, from, windows, &mut batch);
        candidates += batch.windows().count();
    }
    let mut pass = Pass::new();
    let piece = Piece { text, base: 0 };
    let _ = scanner.pass(&mut pass, piece, 0..windows, 0, &mut |_| ControlFlow::Continue(())).unwrap();
    (candidates * 100_000 / text.len(), pass.steps() * 100_000 / text.len() as u64)
}

#[test]
fn little_passes_the_filter() {
    let (candidates, steps) = work(200);
    assert!(candidates <= 60 && steps <= 1000, "200 patterns: {candidates} candidates, {steps} steps");
    let (candidates, steps) = work(2000);
    assert!(candidates <= 300 && steps <= 1500, "2000 patterns: {candidates} candidates, {steps} steps");
}
