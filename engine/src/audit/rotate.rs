//! Logs that became too large: put aside under the number of their first line, and found again.
//!
//! INVARIANT: a log that is put aside overwrites nothing, and the one after it goes on from its last line.

use super::chain::{End, Link, first_seal};
use crate::open::{self, Care};
use rustix::fs::{AtFlags, CWD, RenameFlags};
use rustix::io::Errno;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A log is put aside before it becomes larger than this.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Digits of the number in a name, so that names sort as numbers do.
const DIGITS: usize = 12;
/// Most logs that are looked for beside one.
const MAX_LOGS: usize = 10_000;

/// Puts a log aside. It stays where it is when it cannot be renamed.
pub(crate) fn put_aside(path: &Path, file: &File, size: u64) -> bool {
    let first = first_seal(file, size).map_or(0, |seal| seal.link.seq);
    let Some(aside) = aside(path, first) else { return false };
    match rustix::fs::renameat_with(CWD, path, CWD, &aside, RenameFlags::NOREPLACE) {
        Ok(()) => true,
        // A file system that cannot promise it.
        Err(Errno::INVAL | Errno::NOSYS) => {
            let free =
                matches!(rustix::fs::statat(CWD, &aside, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT));
            free && rustix::fs::renameat(CWD, path, CWD, &aside).is_ok()
        }
        Err(_) => false,
    }
}

/// The name of a log whose first line has this number: `audit-000000000001.jsonl`.
fn aside(path: &Path, first: u64) -> Option<PathBuf> {
    let (stem, extension) = parts(path)?;
    Some(path.with_file_name(format!("{stem}-{first:0width$}{extension}", width = DIGITS)))
}

fn parts(path: &Path) -> Option<(String, String)> {
    let stem = path.file_stem()?.to_str()?.to_owned();
    let extension = match path.extension() {
        Some(extension) => format!(".{}", extension.to_str()?),
        None => String::new(),
    };
    Some((stem, extension))
}

/// The logs that were put aside, oldest first.
pub fn earlier(path: &Path) -> Vec<PathBuf> {
    let Some((stem, extension)) = parts(path) else { return Vec::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut out: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let number = name.to_str()?.strip_prefix(&stem)?.strip_prefix('-')?.strip_suffix(&extension)?;
            let whole = number.len() >= DIGITS && number.bytes().all(|byte| byte.is_ascii_digit());
            Some((number.parse().ok().filter(|_| whole)?, path.with_file_name(&name)))
        })
        .take(MAX_LOGS)
        .collect();
    out.sort();
    out.into_iter().map(|(_, path)| path).collect()
}

/// What the first line of a new log follows: the last line of the newest one that was put aside.
pub(crate) fn go_on(path: &Path, care: Care) -> (Link, String) {
    let Some(last) = earlier(path).pop() else { return (Link::START, String::new()) };
    let Ok(opened) = open::open(&last, care, u64::MAX) else { return (Link::START, String::new()) };
    let (link, mut fields) = End::of(&opened.file, opened.stamp.size).next(opened.stamp.size);
    let name = last.file_name().unwrap_or_default().to_string_lossy();
    fields.push_str(&format!(",\"continues\":{}", serde_json::Value::from(name)));
    (link, fields)
}
