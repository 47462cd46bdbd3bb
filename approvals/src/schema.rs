//! The tables of questions, and what is thrown away.
//!
//! INVARIANT: a file of another version is not written to; a question that is no longer open keeps nothing of its call.

use policy_state::sqlite::Shape;
use rusqlite::{Connection, params};

/// How long answered questions are kept, as digests.
const ANSWERED_MS: i64 = 24 * 3600 * 1000;
/// How long an approval for a session is kept: a process may run for weeks.
const GRANT_MS: i64 = 30 * 24 * 3600 * 1000;

/// How long the code of a link is good.
pub(crate) const LINK_MS: i64 = 120_000;

/// Where a question stands.
pub(crate) mod state {
    pub(crate) const OPEN: i64 = 0;
    pub(crate) const APPROVED: i64 = 1;
    pub(crate) const SESSION: i64 = 2;
    pub(crate) const DENIED: i64 = 3;
    pub(crate) const GONE: i64 = 4;
    pub(crate) const USED: i64 = 5;
}

/// What is in the file.
pub(crate) const SHAPE: Shape = Shape {
    version: 3,
    tables: TABLES,
    // Version 1 had no notices, version 2 no links.
    upgrades: &[(1, concat!(notices!(), links!())), (2, links!())],
    // FULL: a use that a crash of the system forgot would be a second use.
    settings: "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;",
};

macro_rules! notices {
    () => {
        "CREATE TABLE notice (
            file TEXT NOT NULL UNIQUE,
            body BLOB NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER NOT NULL,
            at INTEGER NOT NULL
        ) STRICT;"
    };
}
use notices;

macro_rules! links {
    () => {
        "CREATE TABLE link (
            digest BLOB NOT NULL UNIQUE,
            question TEXT NOT NULL,
            at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE quiet (question TEXT NOT NULL UNIQUE) STRICT;"
    };
}
use links;

const TABLES: &str = concat!(
    "
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
",
    notices!(),
    links!()
);

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
    let closed = "question NOT IN (SELECT id FROM question WHERE state = ?1)";
    connection.execute(&format!("DELETE FROM quiet WHERE {closed}"), params![state::OPEN])?;
    connection.execute(
        &format!("DELETE FROM link WHERE {closed} OR at <= ?2 OR at > ?3"),
        params![state::OPEN, now - LINK_MS, now],
    )?;
    Ok(())
}
