//! Opening the file of the record.
//!
//! INVARIANT: it is made with mode 0600 in folders that are the user's own, and a file that is someone else's is not opened.

use crate::schema::SHAPE;
use crate::sqlite;
use policy_engine::past::record_file;
use rusqlite::{Connection, ErrorCode};
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

/// The record of a state folder.
pub(crate) fn open(state: &Path) -> Result<Connection, String> {
    let path = record_file(state);
    sqlite::open(&path, &SHAPE, patience(&path), &|error| told(&path, error))
}
