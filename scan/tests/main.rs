//! The tests of the scanner as a whole.
//!
//! INVARIANT: nothing is read from outside the crate, and every random text follows from a number in its test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod build;
mod hits;
mod oracle;
mod paths;
mod patterns;
mod support;
