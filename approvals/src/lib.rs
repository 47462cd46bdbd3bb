//! Questions to a person and their answers, in SQLite, for all processes of a user.
//!
//! INVARIANT: a failure is never an approval. An approval holds for the digest of everything that it was given for, is checked again
//! when it is given and when it is used, and is used by one process once. The file is the user's own (mode 0600 in private folders),
//! and what was answered keeps nothing of the call but its digest.

mod code;
mod codes;
mod file;
mod known;
mod notice;
mod operand;
mod question;
mod schema;
mod store;
#[cfg(test)]
mod tests;
mod wait;

pub use codes::{place, secret};
pub use known::{Known, Standing};
pub use notice::{Notice, PINS, REPEATED};
pub use operand::content;
pub use question::{Question, RunId, Said, Server, Shown, digest};
pub use store::{
    APPROVAL_LASTS, Answer, Approval, Asked, Brief, Channel, MOST_ALL, MOST_OPEN, Open, Refused, STAYS_OPEN,
    Store, Ticket, Unanswered, Verdict, Watch,
};
