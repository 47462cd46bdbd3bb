//! The record of sessions in SQLite.
//!
//! INVARIANT: none.
