//! How many changes were made, written down beside the ledger: an old copy in its place is noticed.
//!
//! INVARIANT: it is written behind each change and never goes down; one that cannot be read is a fault. Whoever puts back both files
//! is not noticed by it (docs/threats.md).

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// SECURITY: no link is followed, and what is no file holds nobody up.
pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> std::io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)
}

const NAME: &str = "payments.head";

/// The changes that were made; none: there is no ledger yet.
pub(crate) fn read(folder: &Path) -> Result<u64, String> {
    let path = folder.join(NAME);
    let wrong = |what: String| format!("`{}`: {what}", path.display());
    let mut text = String::new();
    match open(File::options().read(true), &path) {
        Ok(file) => file.take(64).read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(wrong(error.to_string())),
    };
    text.trim().parse().map_err(|_| wrong("it is damaged".to_owned()))
}

/// Writes them down. The turn is ours.
pub(crate) fn write(folder: &Path, changes: u64) -> Result<(), String> {
    let path = folder.join(NAME);
    let file = open(File::options().write(true).create(true).truncate(false).mode(0o600), &path);
    // As wide as any, so that a shorter one never stands before the rest of a longer one.
    let written = file.and_then(|mut file| file.write_all(format!("{changes:020}\n").as_bytes()));
    written.map_err(|error| format!("`{}`: {error}", path.display()))
}
