//! The long-running modes. What there is of them: [`mcp`], the server that answers questions about calls before they are made,
//! [`wrap`], the proxy in front of a server of somebody else, and [`approve`], the page on which a person answers; [`seller`] is what
//! payments are tried with.
//!
//! INVARIANT: what is decided here is decided by the engine that a hook asks, on a thread of its own; the threads that carry
//! messages decide nothing.

#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod approve;
pub mod hooked;
pub mod install;
pub mod mcp;
pub mod pay;
pub mod pins;
pub mod seller;
pub mod serve;
pub mod wrap;
