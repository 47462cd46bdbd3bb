//! A file of ours in SQLite: made, looked at and opened; for the record of sessions and for questions to a person.
//!
//! INVARIANT: it is made with mode 0600 in folders that are the user's own, and a file that is someone else's is not opened. No
//! process opens it by other means than SQLite.

use policy_engine::open;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Largest file, bytes.
const CAP: u64 = 1 << 30;
/// How often a file is looked at that another process is making.
const BEAT: Duration = Duration::from_millis(2);

/// What is in a file.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The version of its tables, not 0.
    pub version: i64,
    /// Makes them.
    pub tables: &'static str,
    /// From an older version to this one.
    pub upgrades: &'static [(i64, &'static str)],
    /// What is set for each connection.
    pub settings: &'static str,
}

/// Opens a file, which is made when there is none. `say` makes a clause of what SQLite says.
///
/// # Errors
/// When it is damaged, someone else's, of another version, or its folder can be written by others.
pub fn open(
    path: &Path,
    shape: &Shape,
    patience: Duration,
    say: &dyn Fn(&rusqlite::Error) -> String,
) -> Result<Connection, String> {
    let folder = path.parent().ok_or("there is no folder for it")?;
    open::private_folder(folder).map_err(|error| error.to_string())?;
    match std::fs::symlink_metadata(path) {
        Ok(found) => check(path, folder, &found)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // SECURITY: made by us first, since SQLite would take the mode from the umask; its other files take it from this.
            match open::create_named(path, &[], 0o600) {
                Ok(()) => {}
                // Another process was sooner.
                Err(_) if path.exists() => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(error) => return Err(format!("`{}`: {error}", path.display())),
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let say = |error: rusqlite::Error| format!("`{}`: {}", path.display(), say(&error));
    let connection = Connection::open_with_flags(path, flags).map_err(say)?;
    connection.busy_timeout(patience).map_err(say)?;
    let end = Instant::now() + patience;
    let found = loop {
        match prepare(&connection, shape) {
            // SQLite itself does not wait where a file is made that another process is making.
            Err(error) if is_busy(&error) && Instant::now() < end => std::thread::sleep(BEAT),
            other => break other.map_err(say)?,
        }
    };
    let own = shape.version;
    let path = path.display();
    match found {
        found if found == own => Ok(connection),
        newer if newer > own => Err(format!(
            "`{path}` was written by a newer policy (version {newer}, this program knows {own}); use that program"
        )),
        other => Err(format!("`{path}` is of another version of policy ({other}, this program knows {own})")),
    }
}

/// What a person can do about an error; `damaged`: about a file that says what cannot be.
pub fn clause(error: &rusqlite::Error, damaged: &str) -> String {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, PermissionDenied,
        ReadOnly,
    };
    let help = match error.sqlite_error_code() {
        Some(ReadOnly | CannotOpen | PermissionDenied) => "the file or its folder cannot be written by you",
        Some(DiskFull) => "there is no room left for it",
        Some(DatabaseBusy | DatabaseLocked) => "another process holds it; try again",
        Some(DatabaseCorrupt | NotADatabase) => damaged,
        _ => return error.to_string(),
    };
    format!("{error}; {help}")
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The file is looked at and not opened: closing it would drop the locks that SQLite holds on it in this process, and another process
/// would then take away what was just written.
fn check(path: &Path, folder: &Path, found: &Metadata) -> Result<(), String> {
    let owner = std::fs::metadata(folder).map_err(|error| format!("`{}`: {error}", folder.display()))?.uid();
    let why = if !found.is_file() {
        "is not a regular file"
    } else if found.uid() != owner {
        "belongs to someone else"
    } else if found.nlink() > 1 {
        "has a second name (a hard link)"
    } else if found.mode() & 0o077 != 0 {
        "can be read or written by other users; run `chmod 600` on it"
    } else if found.len() > CAP {
        "is too large"
    } else {
        return Ok(());
    };
    Err(format!("`{}` {why}", path.display()))
}

/// Makes the tables when there are none, or brings them to this version. The version of the file then.
fn prepare(connection: &Connection, shape: &Shape) -> rusqlite::Result<i64> {
    let version = |connection: &Connection| -> rusqlite::Result<i64> {
        connection.query_row("PRAGMA user_version", [], |row| row.get(0))
    };
    let found = version(connection)?;
    let known = |found: i64| match found {
        0 => Some(shape.tables),
        older => shape.upgrades.iter().find(|(from, _)| *from == older).map(|(_, sql)| *sql),
    };
    if found != shape.version {
        if known(found).is_none() {
            return Ok(found);
        }
        // Only once in the life of a file; the mode stays with it.
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        // ORDER: asked again within, since another process may have been sooner.
        let made = version(connection).and_then(|found| match known(found) {
            Some(sql) if found != shape.version => {
                let version = shape.version;
                connection.execute_batch(&format!("{sql} PRAGMA user_version = {version};")).map(|()| version)
            }
            _ => Ok(found),
        });
        match made {
            Ok(version) if version == shape.version => connection.execute_batch("COMMIT")?,
            other => {
                let _ = connection.execute_batch("ROLLBACK");
                return other;
            }
        }
    }
    connection.execute_batch(shape.settings)?;
    Ok(shape.version)
}
