//! Pins: what the tools of a server said of themselves when they were last taken for good, kept between starts of the server.
//!
//! INVARIANT: a server is its name in the client's settings and the command line that starts it, never what it calls itself. A file
//! of pins that cannot be read is an error, never an empty one, and is replaced whole or not at all. Only `accept` and a first look
//! put anything among the pins.

mod change;
mod file;
mod shelf;

pub(crate) use change::parts;
pub use change::{Change, changes};
pub use file::{Definition, MOST_TOOLS, Pins, Waiting};
pub(crate) use file::{KEPT, LONGEST_NAME};
pub use shelf::{Entry, Identity, Shelf};
