//! Opening the file of questions.
//!
//! INVARIANT: it is made with mode 0600 in folders that are the user's own, and a file that is someone else's is not opened.

use crate::schema;
use policy_engine::open;
use rusqlite::{Connection, OpenFlags};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Longest wait for another process.
const PATIENCE: Duration = Duration::from_secs(10);
/// Largest file, bytes.
const CAP: u64 = 1 << 30;

/// The file, made when there is none.
pub(crate) fn open(path: &Path) -> Result<Connection, String> {
    let folder = path.parent().ok_or("there is no folder for the questions")?;
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
    let connection = Connection::open_with_flags(path, flags).map_err(|error| say(path, &error))?;
    connection.busy_timeout(PATIENCE).map_err(|error| say(path, &error))?;
    if !schema::prepare(&connection).map_err(|error| say(path, &error))? {
        return Err(format!("`{}` is of another version of policy", path.display()));
    }
    Ok(connection)
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

/// An error with the file that it is about.
pub(crate) fn say(path: &Path, error: &rusqlite::Error) -> String {
    format!("`{}`: {error}; a damaged file of questions can be removed by a person", path.display())
}
