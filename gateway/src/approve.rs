//! The page on which a person answers questions: one server on loopback for all processes of a user.
//!
//! INVARIANT: nothing that opens the page stands in an argument, the environment or a log: a one-time code goes through a file of
//! the user's own into the fragment of the address, is used once, and becomes a token that only the open page holds.

mod board;
mod code;
mod guard;
mod news;
mod open;
mod page;
mod payment;
mod serve;
mod shown;

pub(crate) use open::link;
pub use open::{Opening, ensure, open_page, summon, summon_alone};
pub use serve::serve;
pub use shown::{Look, Piece, laid_out, pieces, plain};
