//! The tests of the checks.

// Tests may stop at what they do not expect.
#![allow(clippy::indexing_slicing, clippy::string_slice, clippy::panic)]

mod general;
mod hostile;
mod python;
mod quality;
mod support;
mod table;
mod web;
