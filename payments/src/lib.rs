//! What a payment is: exact amounts, addresses, networks, calls of contracts, typed data, and the messages of x402.
//!
//! INVARIANT: no IO and no clock; every reader takes time and memory linear in what it is given and never panics; what it does not
//! understand is an error that names the field, never a guess. Two texts of one payment give one [`Payment`].

mod address;
mod call;
pub mod ledger;
mod money;
mod network;
mod payment;
mod strict;
mod told;
mod typed;
mod x402;

pub use address::{Address, BadAddress, short};
pub use call::{Call, Effect, functions, is_function};
pub use money::{BadDecimal, MOST_DECIMALS, Units};
pub use network::{COIN, Family, Network};
pub use payment::{Kind, Payment, Resource, Scheme, Wrong, read};
pub use x402::{
    Challenge, Offer, Settlement, Signed, challenge_of_body, challenge_of_header, payment_of_header,
    settlement_of_header,
};
