//! Lines appended to files of ours: the audit file.
//!
//! INVARIANT: a line is appended whole, by a single write under a lock, or the caller hears of it; nothing is waited for
//! longer than [`LOCK_WAIT`].

use crate::open::{Care, FileError, check_file, check_limit, walk, write_error};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a lock is waited for.
pub const LOCK_WAIT: Duration = Duration::from_millis(250);

/// Appends one whole line to a file of ours (made with mode 0600) under a lock that is waited for at most
/// [`LOCK_WAIT`], with a single write. A last line that a crash cut short is ended first.
///
/// # Errors
/// When the file is refused, the lock is held or the disk is full.
pub fn append(path: &Path, line: &[u8], care: Care) -> Result<(), FileError> {
    // Reading too: the last byte is looked at.
    let flags = OFlags::RDWR
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o600);
    let fd = match care {
        Care::Named => rustix::fs::open(path, flags, mode),
        Care::Private => {
            let (folder, name) = walk(path)?;
            rustix::fs::openat(folder.as_fd(), name, flags, mode)
        }
    };
    let fd = fd.map_err(|error| match error {
        Errno::LOOP => FileError::new(path, "is a symbolic link; our files are not reached through links"),
        Errno::ACCESS | Errno::PERM => FileError::new(path, "may not be written by this user"),
        other => FileError::system(path, other),
    })?;
    let stat = rustix::fs::fstat(&fd).map_err(|e| FileError::system(path, e))?;
    check_file(path, &stat, care, u64::MAX)?;
    lock(path, fd.as_fd())?;
    let mut file = File::from(fd);
    let size = file.metadata().map_err(|error| write_error(path, &error))?.len();
    let line = if ends_whole(&file, size) { Cow::Borrowed(line) } else { Cow::Owned([b"\n", line].concat()) };
    check_limit(path, size.saturating_add(line.len() as u64))?;
    match file.write(&line) {
        Ok(written) if written == line.len() => Ok(()),
        Ok(_) => {
            // ORDER: under the lock, so nobody else's line is cut.
            let _ = file.set_len(size);
            Err(FileError::new(path, "took only a part of the line (the disk is full)"))
        }
        Err(error) => Err(write_error(path, &error)),
    }
}

fn ends_whole(file: &File, size: u64) -> bool {
    let Some(last) = size.checked_sub(1) else { return true };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last).is_ok() && byte == *b"\n"
}

fn lock(path: &Path, fd: BorrowedFd<'_>) -> Result<(), FileError> {
    let end = Instant::now() + LOCK_WAIT;
    loop {
        match rustix::fs::flock(fd, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(Errno::WOULDBLOCK) => return Err(FileError::new(path, "is locked by another program")),
            Err(error) => return Err(FileError::system(path, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_held_lock_is_waited_for_only_a_moment() {
        let scratch = Scratch::new("append-lock");
        let file = scratch.file("log", "");
        let held = File::open(&file).unwrap();
        rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let start = Instant::now();
        assert!(append(&file, b"x\n", Care::Private).unwrap_err().why.contains("locked"));
        assert!(start.elapsed() < Duration::from_millis(1500));
        drop(held);
        append(&file, b"x\n", Care::Private).unwrap();
    }

    #[test]
    fn a_line_never_joins_one_that_a_crash_cut_short() {
        let scratch = Scratch::new("append-cut");
        let file = scratch.file("log", "{\"whole\":1}\n{\"cut");
        append(&file, b"{}\n", Care::Private).unwrap();
        append(&file, b"{}\n", Care::Private).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"whole\":1}\n{\"cut\n{}\n{}\n");
    }

    #[test]
    fn refuses_what_is_no_file_of_ours() {
        let scratch = Scratch::new("append-odd");
        let file = scratch.file("log", "");
        let link = scratch.folder("").join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(append(&link, b"x\n", Care::Private).unwrap_err().why.contains("symbolic link"));
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
        assert!(append(&file, b"x\n", Care::Private).is_err());
        let new = scratch.folder("").join("new");
        append(&new, b"x\n", Care::Private).unwrap();
        assert_eq!(std::fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
