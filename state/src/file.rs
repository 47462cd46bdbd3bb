//! Opening the file of the record.
//!
//! INVARIANT: it is made with mode 0600 in folders that are the user's own, and a file that is someone else's is not opened.

use crate::schema;
use policy_engine::open::{self, Care};
use policy_engine::past::record_file;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Longest wait for another process, well within the deadline of a hook.
const PATIENCE: Duration = Duration::from_millis(1300);
/// How long it is not waited again after a wait was in vain: one call asks more than once, and all of it lies within the
/// deadline, so that the cause is told and not only that the time was up.
const IN_VAIN: Duration = Duration::from_secs(3);
/// For which record a wait was in vain, and when.
static VAIN: Mutex<Option<(PathBuf, Instant)>> = Mutex::new(None);

/// What is wrong, as a clause about the record.
pub(crate) fn told(path: &Path, error: &rusqlite::Error) -> String {
    let held = matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked));
    if !held {
        return error.to_string();
    }
    if let Ok(mut vain) = VAIN.lock() {
        *vain = Some((path.to_path_buf(), Instant::now()));
    }
    "another process has held it for too long".to_owned()
}

fn patience(path: &Path) -> Duration {
    let lately = VAIN
        .lock()
        .is_ok_and(|vain| vain.as_ref().is_some_and(|(known, at)| known == path && at.elapsed() < IN_VAIN));
    if lately { Duration::from_millis(10) } else { PATIENCE }
}

/// Largest record, bytes: about ten million events.
const CAP: u64 = 1 << 30;

/// The record of a state folder.
pub(crate) fn open(state: &Path) -> Result<Connection, String> {
    let path = record_file(state);
    let folder = path.parent().unwrap_or(state);
    open::private_folder(folder).map_err(|error| error.to_string())?;
    match open::open(&path, Care::Private, CAP) {
        Ok(_) => {}
        Err(error) if error.missing => {
            // SECURITY: made by us first, since SQLite would take the mode from the umask; its other files take it from this.
            match open::create_named(&path, &[], 0o600) {
                Ok(()) => {}
                // Another process was sooner.
                Err(_) if path.exists() => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(error) => return Err(error.to_string()),
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let say = |error: rusqlite::Error| format!("`{}`: {}", path.display(), told(&path, &error));
    let connection = Connection::open_with_flags(&path, flags).map_err(say)?;
    connection.busy_timeout(patience(&path)).map_err(say)?;
    if !schema::prepare(&connection).map_err(say)? {
        return Err(format!("`{}` is of another version of policy", path.display()));
    }
    Ok(connection)
}
