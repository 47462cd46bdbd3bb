//! What is said of an error of SQLite.
//!
//! INVARIANT: it says what a person can do, and that nothing is paid until then.

pub(crate) fn clause(error: &rusqlite::Error) -> String {
    policy_state::sqlite::clause(error, "it is damaged; nothing is paid until a person has looked at it")
}
