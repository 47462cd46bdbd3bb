//! What is remembered of a session: the projects that hold since it began.
//!
//! INVARIANT: a session only ever gains projects. A record that cannot be read is an error, which the caller turns into
//! the stricter answer.

use crate::open::{self, Care, FileError};
use crate::places::Folders;
use crate::trust::digest;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Largest record, in bytes.
const CAP: u64 = 64 * 1024;
/// A record that was not used for this long is removed when another session begins.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);
/// Most records that are looked at for that.
const PRUNED: usize = 1000;

/// The start of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    version: u32,
    /// The folder of its first call, resolved.
    pub start: PathBuf,
    /// The project folders found from there.
    pub projects: Vec<PathBuf>,
}

fn record_file(folders: &Folders, host: &str, session: &str) -> PathBuf {
    // No capitals: where a file system does not tell them apart, two sessions would be one.
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let plain = |text: &str| text.len() <= 80 && text.bytes().all(letter);
    // A digest only where it must be: finding out how the processor computes one fast takes longer than a decision. The dot
    // keeps the two kinds of names apart, and the host's from the session's.
    let name = match plain(host) && plain(session) {
        true => format!("{host}.{session}"),
        false => digest(format!("{host}\0{session}").as_bytes()),
    };
    folders.state.join("sessions").join(format!("{name}.json"))
}

/// The session's record, written now when this is its first call.
///
/// # Errors
/// When the record cannot be used or written.
pub fn remember(
    folders: &Folders,
    (host, session): (&str, &str),
    start: &Path,
    projects: &[PathBuf],
) -> Result<Session, FileError> {
    let path = record_file(folders, host, session);
    match open::read(&path, Care::Private, CAP) {
        Ok((bytes, _)) => {
            return serde_json::from_slice(&bytes)
                .map_err(|_| FileError::new(&path, "is a damaged session record"));
        }
        Err(error) if !error.missing => return Err(error),
        Err(_) => {}
    }
    let record = Session { version: 1, start: start.to_path_buf(), projects: projects.to_vec() };
    if let Some(folder) = path.parent() {
        open::private_folder(folder)?;
        prune(folder);
    }
    let bytes = serde_json::to_vec(&record).map_err(|_| FileError::new(&path, "cannot be written"))?;
    open::write(&path, &bytes, 0o600)?;
    Ok(record)
}

fn prune(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    // Not the record of what happened, which lies there too and has files beside it that must not outlive each other.
    let ours = |entry: &std::fs::DirEntry| {
        Path::new(&entry.file_name()).extension().is_some_and(|end| end == "json")
    };
    for entry in entries.take(PRUNED).flatten().filter(ours) {
        let age = entry
            .metadata()
            .and_then(|m| m.modified())
            .ok()
            .and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn the_first_call_fixes_the_projects() {
        let scratch = Scratch::new("session");
        let folders = Folders::under(&scratch.folder("home"));
        let first = remember(&folders, ("h", "s"), Path::new("/a"), &[PathBuf::from("/a")]).unwrap();
        let later = remember(&folders, ("h", "s"), Path::new("/b"), &[]).unwrap();
        assert_eq!(first, later);
        assert_ne!(remember(&folders, ("h", "t"), Path::new("/b"), &[]).unwrap(), first);
        let lower = |session: &str| record_file(&folders, "h", session).to_string_lossy().to_lowercase();
        assert_ne!(lower("s"), lower("S"));
    }

    #[test]
    fn what_happened_is_not_thrown_away_with_old_sessions() {
        let scratch = Scratch::new("session-prune");
        let folders = Folders::under(&scratch.folder("home"));
        remember(&folders, ("h", "s"), Path::new("/a"), &[]).unwrap();
        let folder = folders.state.join("sessions");
        for name in ["record.db", "record.db-wal", "old.json"] {
            let file = std::fs::File::create(folder.join(name)).unwrap();
            file.set_modified(SystemTime::now() - 2 * KEPT).unwrap();
        }
        remember(&folders, ("h", "t"), Path::new("/a"), &[]).unwrap();
        let is_there = |name: &str| folder.join(name).exists();
        assert!(is_there("record.db") && is_there("record.db-wal") && !is_there("old.json"));
    }

    #[test]
    fn a_damaged_record_is_an_error() {
        let scratch = Scratch::new("session-damaged");
        let folders = Folders::under(&scratch.folder("home"));
        remember(&folders, ("h", "s"), Path::new("/a"), &[]).unwrap();
        open::write(&record_file(&folders, "h", "s"), b"{", 0o600).unwrap();
        assert!(remember(&folders, ("h", "s"), Path::new("/a"), &[]).is_err());
    }
}
