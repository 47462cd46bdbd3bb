//! The tables of the record, and what is thrown away.
//!
//! INVARIANT: a record of another version is not written to; what was not used for two weeks goes.

use crate::sqlite::Shape;
use policy_engine::past::Entry;
use policy_runtime::outside::KEPT_SECONDS;
use rusqlite::{Connection, OptionalExtension, params};

const DAY_MS: i64 = 24 * 3600 * 1000;

/// What is in the file.
pub(crate) const SHAPE: Shape = Shape {
    version: 1,
    tables: TABLES,
    upgrades: &[],
    // A crash of the system may lose the last calls, never the file.
    settings: "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;",
};

const TABLES: &str = "
    CREATE TABLE session (
        id INTEGER PRIMARY KEY,
        host TEXT NOT NULL,
        name TEXT NOT NULL,
        project TEXT NOT NULL,
        began INTEGER NOT NULL,
        seen INTEGER NOT NULL,
        UNIQUE (host, name)
    ) STRICT;
    CREATE INDEX session_project ON session (project, seen);
    CREATE TABLE event (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
        key INTEGER NOT NULL,
        value INTEGER NOT NULL,
        tool INTEGER NOT NULL,
        at INTEGER NOT NULL,
        how INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX event_key ON event (session, key, seq);
    CREATE TABLE mark (
        session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
        kind TEXT NOT NULL,
        what TEXT NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (session, kind, what)
    ) STRICT;
    CREATE TABLE file (
        session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
        path TEXT NOT NULL,
        times INTEGER NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (session, path)
    ) STRICT;
";

/// The row of the session of a call, or of its project's own. A new one throws away what is old, and so does the first call of a
/// day: a session may have no end.
pub(crate) fn session(connection: &Connection, entry: &Entry, project: bool) -> rusqlite::Result<i64> {
    // A host has a name, so its sessions never meet the projects' own.
    let (host, name) = if project { ("", &entry.project) } else { (entry.host.as_str(), &entry.session) };
    let sql = "SELECT id, seen FROM session WHERE host = ?1 AND name = ?2";
    let known: Option<(i64, i64)> = connection
        .prepare_cached(sql)?
        .query_row(params![host, name], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((id, seen)) = known {
        // ORDER: seen now, before what is old goes.
        let sql = "UPDATE session SET seen = ?2 WHERE id = ?1";
        connection.prepare_cached(sql)?.execute(params![id, entry.now_ms])?;
        if seen.div_euclid(DAY_MS) != entry.now_ms.div_euclid(DAY_MS) {
            throw_away(connection, entry)?;
        }
        return Ok(id);
    }
    throw_away(connection, entry)?;
    connection.execute(
        "INSERT INTO session (host, name, project, began, seen) VALUES (?1, ?2, ?3, ?4, ?4)",
        params![host, name, entry.project, entry.now_ms],
    )?;
    Ok(connection.last_insert_rowid())
}

fn throw_away(connection: &Connection, entry: &Entry) -> rusqlite::Result<()> {
    let old = entry.now_ms - i64::from(KEPT_SECONDS) * 1000;
    connection.execute("DELETE FROM session WHERE seen < ?1", params![old])?;
    connection.execute("DELETE FROM event WHERE at < ?1", params![old])?;
    Ok(())
}
