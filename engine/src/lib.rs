//! Finds, trusts, compiles, caches and runs policies.
//!
//! INVARIANT: the only crate that finds and opens policy files. What cannot be opened, read or compiled refuses; it
//! is never left out.

pub mod append;
mod asker;
pub mod audit;
pub mod budgets;
pub mod cache;
mod checks;
pub mod combine;
pub mod compile;
pub mod decide;
pub mod desk;
pub mod discover;
pub mod doing;
mod dry_run;
pub mod explain;
mod feeds;
pub mod layers;
pub mod lock;
pub mod open;
pub mod past;
pub mod patched;
pub mod paying;
pub mod places;
pub mod programs;
pub mod record;
pub mod reload;
pub mod scan;
pub mod session;
mod shell_writes;
pub mod sources;
pub mod starter;
pub mod tabled;
pub mod tested;
pub mod touched;
pub mod trust;
pub mod work;

#[cfg(test)]
mod testing;
