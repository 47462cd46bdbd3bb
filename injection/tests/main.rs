//! Tests of the crate.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice, clippy::panic)]

mod corpus;
mod hostile;
