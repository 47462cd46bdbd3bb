//! What a ledger tells people who look at it, beside decisions.
//!
//! INVARIANT: nothing is decided by it.

use crate::ledger::{Content, Status};
use crate::money::Units;

/// A text that a payment names, or that holds the payments of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// What it is.
    pub hash: [u8; 32],
    /// Where it came from; empty when it was never filed.
    pub origin: String,
    /// What was found.
    pub found: Content,
    /// Kinds of orders that were found.
    pub classes: Vec<String>,
    /// The text, as far as it is kept.
    pub text: String,
    /// When it was filed, milliseconds since 1970; 0 when it never was.
    pub at: u64,
    /// Until when it holds the payments of the session; none where the payment names it.
    pub holds: Option<u64>,
}

/// What a payment moved or holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The decision.
    pub id: String,
    /// What became of it.
    pub status: Status,
    /// The asset.
    pub asset: String,
    /// How much of it counts.
    pub units: Units,
    /// It is known to be paid; otherwise it is reserved.
    pub settled: bool,
    /// Since when it counts, milliseconds since 1970.
    pub at: u64,
    /// The payee, on its network.
    pub payee: Option<String>,
    /// The seller's host.
    pub seller: Option<String>,
    /// Whose it is.
    pub session: String,
    /// The tool that pays.
    pub tool: String,
}
