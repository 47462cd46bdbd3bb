//! Opening the file of questions.
//!
//! INVARIANT: as every file of ours in SQLite is opened (`policy_state::sqlite`); an error says what a person can do.

use crate::schema::SHAPE;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// Longest wait for another process.
const PATIENCE: Duration = Duration::from_secs(10);

/// The file, made when there is none.
pub(crate) fn open(path: &Path) -> Result<Connection, String> {
    policy_state::sqlite::open(path, &SHAPE, PATIENCE, &clause)
}

/// An error with the file that it is about.
pub(crate) fn say(path: &Path, error: &rusqlite::Error) -> String {
    format!("`{}`: {}", path.display(), clause(error))
}

fn clause(error: &rusqlite::Error) -> String {
    let damaged = "it is damaged, and every question is denied until a person has removed it";
    policy_state::sqlite::clause(error, damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_a_person_can_do() {
        let told = |code: i32| clause(&rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None));
        assert!(told(rusqlite::ffi::SQLITE_READONLY).contains("cannot be written"));
        assert!(told(rusqlite::ffi::SQLITE_FULL).contains("no room"));
        assert!(told(rusqlite::ffi::SQLITE_BUSY).contains("try again"));
        assert!(told(rusqlite::ffi::SQLITE_NOTADB).contains("removed"));
        assert!(told(rusqlite::ffi::SQLITE_CORRUPT).contains("removed"));
    }
}
