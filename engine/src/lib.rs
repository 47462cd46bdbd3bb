//! Finds, trusts, compiles, caches and runs policies.
//!
//! INVARIANT: the only crate that finds and opens policy files. What cannot be opened, read or compiled refuses; it
//! is never left out.

pub mod cache;
pub mod discover;
pub mod open;
pub mod places;
pub mod session;
pub mod trust;

#[cfg(test)]
mod testing;
