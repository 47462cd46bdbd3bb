//! Lines appended to files of ours: the audit file.
//!
//! INVARIANT: a line is appended whole, behind the seal of the line before it, by a single write under a lock, or the caller
//! hears of it; nothing is waited for longer than [`LOCK_WAIT`].

use crate::audit::anchor::{Listener, due};
use crate::audit::chain::{End, Link, seal};
use crate::audit::rotate::{self, MAX_BYTES};
use crate::cache::now_ns;
use crate::open::{self, Care, FileError, check_file, check_limit, walk, write_error};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

/// How long a lock is waited for.
pub const LOCK_WAIT: Duration = Duration::from_millis(250);
/// As long as a file is this far from its end, nobody puts it aside while its lock is waited for.
const LONGEST_LINE: u64 = 2 * 1024 * 1024;
/// How often a file is opened again that was put aside while its lock was waited for.
const TRIES: usize = 4;

/// Appends one whole line (a JSON object) to a file of ours (made with mode 0600) under a lock that is waited for at most
/// [`LOCK_WAIT`], with a single write, sealed behind the last one. A last line that a crash cut short is ended first.
///
/// # Errors
/// When the file is refused, the lock is held or the disk is full.
pub fn append(path: &Path, line: &[u8], care: Care) -> Result<Link, FileError> {
    append_telling(path, line, care, &Listener::find)
}

/// Who is told of anchored lines, found when there is one to tell.
type Find<'f> = dyn Fn() -> Option<Listener> + 'f;

fn append_telling(path: &Path, line: &[u8], care: Care, find: &Find<'_>) -> Result<Link, FileError> {
    for _ in 0..TRIES {
        let (mut file, stat) = open_locked(path, care)?;
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        let full = size.saturating_add(line.len() as u64) > MAX_BYTES;
        if size > MAX_BYTES - LONGEST_LINE
            && (moved(path, &stat) || full && rotate::put_aside(path, &file, size))
        {
            continue;
        }
        return write(&mut file, path, line, (&stat, size), (care, find));
    }
    Err(FileError::new(path, "was put aside again and again while its lock was waited for"))
}

/// Anchors the last line, as at the end of a session. Without a log, a lock or a listener nothing is done.
pub fn anchor_last(path: &Path, care: Care) {
    anchor_last_telling(path, care, &Listener::find);
}

fn anchor_last_telling(path: &Path, care: Care, find: &Find<'_>) {
    let Ok(opened) = open::open(path, care, u64::MAX) else { return };
    let Ok(size) = settled_size(path, &opened.file) else { return };
    if let End::Sealed(last) = End::of(&opened.file, size)
        && let Some(listener) = find()
    {
        listener.tell(last, path);
    }
}

/// The size of a log between two lines.
///
/// # Errors
/// When its lock is held for too long.
pub(crate) fn settled_size(path: &Path, file: &File) -> Result<u64, FileError> {
    lock(path, file.as_fd())?;
    let size = file.metadata().map_err(|error| FileError::io(path, &error))?.len();
    let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
    Ok(size)
}

fn open_locked(path: &Path, care: Care) -> Result<(File, Stat), FileError> {
    // Reading too: the end is looked at.
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
    // ORDER: under the lock; the size of before is not where the line goes.
    let stat = rustix::fs::fstat(&fd).map_err(|e| FileError::system(path, e))?;
    Ok((File::from(fd), stat))
}

/// Whether another file has this name by now.
fn moved(path: &Path, stat: &Stat) -> bool {
    !rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|now| (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino))
}

fn write(
    file: &mut File,
    path: &Path,
    line: &[u8],
    (stat, size): (&Stat, u64),
    (care, find): (Care, &Find<'_>),
) -> Result<Link, FileError> {
    let end = End::of(file, size);
    let whole = matches!(end, End::Sealed(_)) || ends_whole(file, size);
    let (last, mut fields) = match end {
        End::Empty => rotate::go_on(path, care),
        end => end.next(size),
    };
    let changed_ns = stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64);
    let anchored = due(last.seq.saturating_add(1), changed_ns, now_ns());
    // ORDER: whether somebody listens stands in the line, so it is found out before the line is sealed.
    let listener = if anchored { find() } else { None };
    if anchored {
        let name = listener.as_ref().map_or("none", Listener::name);
        fields.push_str(&format!(",\"anchor\":\"{name}\""));
    }
    let (mut line, link) = seal(line, &fields, last);
    if !whole {
        line.insert(0, b'\n');
    }
    check_limit(path, size.saturating_add(line.len() as u64))?;
    match file.write(&line) {
        Ok(written) if written == line.len() => {
            if let Some(listener) = listener {
                listener.tell(link, path);
            }
            Ok(link)
        }
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
    crate::lock::hold(path, fd, LOCK_WAIT)
}

#[cfg(test)]
#[path = "append_tests.rs"]
mod tests;
