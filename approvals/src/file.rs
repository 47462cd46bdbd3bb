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
    format!("{error}; a damaged file of questions can be removed by a person")
}
