//! Brings calls in from agent hosts and carries verdicts out.

pub mod call;
pub mod facts;
