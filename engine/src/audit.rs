//! The audit that cannot be changed in silence: lines that are chained, anchored outside and verified.
//!
//! INVARIANT: nothing here decides; what is wrong with a log is told with its line, and a log that cannot be continued is
//! begun anew in words, never refused and never repaired.

pub mod anchor;
pub mod chain;
pub mod masked;
pub mod rotate;
pub mod sign;
pub mod verify;

/// The file in the state folder of the key that signs checkpoints.
pub const SIGN_KEY_FILE: &str = "audit-sign.key";
