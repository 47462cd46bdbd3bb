//! The tables of questions, and what is thrown away.
//!
//! INVARIANT: a file of another version is not written to; a question that is no longer open keeps nothing of its call.

use rusqlite::{Connection, params};

/// The version of the tables.
const VERSION: i64 = 1;
/// How long answered questions are kept, as digests.
const ANSWERED_MS: i64 = 24 * 3600 * 1000;
/// How long an approval for a session is kept: a process may run for weeks.
const GRANT_MS: i64 = 30 * 24 * 3600 * 1000;

/// Where a question stands.
pub(crate) mod state {
    pub(crate) const OPEN: i64 = 0;
    pub(crate) const APPROVED: i64 = 1;
    pub(crate) const SESSION: i64 = 2;
    pub(crate) const DENIED: i64 = 3;
    pub(crate) const GONE: i64 = 4;
    pub(crate) const USED: i64 = 5;
}

/// Makes the tables when there are none; false when the file is of another version.
pub(crate) fn prepare(connection: &Connection) -> rusqlite::Result<bool> {
    let version = |connection: &Connection| -> rusqlite::Result<i64> {
        connection.query_row("PRAGMA user_version", [], |row| row.get(0))
    };
    if version(connection)? != VERSION {
        // Only once in the life of a file; the mode stays with it.
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let made = match version(connection)? {
            VERSION => Ok(true),
            0 => {
                connection.execute_batch(&format!("{TABLES} PRAGMA user_version = {VERSION};")).map(|()| true)
            }
            _ => Ok(false),
        };
        match made {
            Ok(true) => connection.execute_batch("COMMIT")?,
            other => {
                let _ = connection.execute_batch("ROLLBACK");
                return other;
            }
        }
    }
    // FULL: a use that a crash of the system forgot would be a second use.
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;")?;
    Ok(true)
}

const TABLES: &str = "
    CREATE TABLE question (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        asker TEXT NOT NULL,
        run BLOB NOT NULL,
        digest BLOB NOT NULL,
        body BLOB NOT NULL,
        asked INTEGER NOT NULL,
        waits INTEGER NOT NULL,
        closes INTEGER NOT NULL,
        state INTEGER NOT NULL,
        answered INTEGER NOT NULL,
        channel INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX question_digest ON question (digest, state);
    CREATE INDEX question_state ON question (state, asker);
    CREATE TABLE approved_run (
        run BLOB NOT NULL,
        digest BLOB NOT NULL,
        at INTEGER NOT NULL,
        channel INTEGER NOT NULL,
        UNIQUE (run, digest)
    ) STRICT;
    CREATE TABLE code (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        digest BLOB NOT NULL UNIQUE,
        at INTEGER NOT NULL
    ) STRICT;
";

/// Closes what is over and throws away what is old.
pub(crate) fn tidy(connection: &Connection, now: i64) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE question SET state = ?1, body = x'', answered = ?2 WHERE state = ?3 AND closes <= ?2",
        params![state::GONE, now, state::OPEN],
    )?;
    connection.execute(
        "DELETE FROM question WHERE state <> ?1 AND answered < ?2",
        params![state::OPEN, now - ANSWERED_MS],
    )?;
    connection.execute("DELETE FROM approved_run WHERE at < ?1", params![now - GRANT_MS])?;
    Ok(())
}
