//! Finds the patterns of a policy in text of any size.
//!
//! A *pattern* is a regular expression around a literal: `AKIA[0-9A-Z]{16}`. [`Builder`](build::Builder) compiles many into
//! one flat section of bytes, [`Scanner`] reads that section in place:
//!
//! 1. a filter looks at every window of four bytes, 16 positions at a time where the machine can, and asks a bitmap;
//! 2. the literal of the pattern is compared;
//! 3. what stands before and behind the literal is checked, by a run program (classes with counts) where neighbors
//!    cannot overlap, else by a small anchored automaton.
//!
//! What is found: every match overlaps a reported [`Hit`] of its pattern, and hits around the same literal do not overlap.
//! A hit reaches as far as the pattern allows to both sides of its literal, at most the limits given at build time.
//! Nothing depends on how the text was cut into chunks or on the way the machine took.
//!
//! INVARIANT: no bytes make it panic, hang or read outside the section or the text. The work is bounded for each byte
//! of text; a text that needs more is an error, as a damaged section is, and a caller treats it as *not scanned*, never
//! as clean. Where a pattern goes on further than its limit, that is said: [`Outcome::Incomplete`]. Nothing that is
//! allocated grows with the text. No processor is asked for its features for a short text.
//!
#![cfg_attr(feature = "build", doc = "```")]
#![cfg_attr(not(feature = "build"), doc = "```ignore")]
//! use policy_scan::{Outcome, Scanner, build::Builder};
//! use std::ops::ControlFlow;
//!
//! let mut builder = Builder::new();
//! builder.add(7, "AKIA[0-9A-Z]{16}")?;
//! let section = builder.build()?;
//! let scanner = Scanner::new(&section)?;
//! let mut found = Vec::new();
//! let outcome = scanner.scan(b"x\nid = AKIAIOSFODNN7EXAMPLE", |hit| {
//!     found.push((hit.id, hit.line, hit.column));
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!((found, outcome), (vec![(7, 2, 6)], Outcome::Complete));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "build")]
pub mod build;
#[cfg(all(test, feature = "build"))]
mod damaged;
mod filter;
mod layout;
mod lines;
mod scanner;
mod section;
mod stream;
mod verify;
#[cfg(all(test, feature = "build"))]
mod work;

pub use filter::Path;
pub use scanner::{Hit, Outcome, ScanError, Scanner};
pub use section::{SectionError, Sums};
pub use stream::Stream;
