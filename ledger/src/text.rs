//! What is said of an error of SQLite.
//!
//! INVARIANT: it says what a person can do, and that nothing is paid until then.

use rusqlite::ErrorCode::{
    CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, PermissionDenied,
    ReadOnly,
};

pub(crate) fn clause(error: &rusqlite::Error) -> String {
    let help = match error.sqlite_error_code() {
        Some(ReadOnly | CannotOpen | PermissionDenied) => "the file or its folder cannot be written by you",
        Some(DiskFull) => "there is no room left for it",
        Some(DatabaseBusy | DatabaseLocked) => "another process holds it; try again",
        Some(DatabaseCorrupt | NotADatabase) => {
            "it is damaged; nothing is paid until a person has looked at it"
        }
        _ => return error.to_string(),
    };
    format!("{error}; {help}")
}
