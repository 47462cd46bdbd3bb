//! A seller to try payments with: a page with a price, challenges of x402 in both versions, a facilitator, and sellers that cheat.
//!
//! INVARIANT: it listens on this machine alone and asks nobody: no chain, no other server. Nothing here moves money; who pays it gets
//! the goods for a message of the right shape. It decides nothing that `policy` decides and shares no code with what checks it but
//! the reading of amounts and addresses.

mod facilitator;
mod offer;
mod page;
mod scene;
mod server;
mod variants;

pub use server::{Demo, PORT, serve};
pub use variants::{VARIANTS, Variant, named};
