//! A lock between processes, held as long as its file is open.
//!
//! INVARIANT: the file is a private one of ours that is reached without a link; nobody waits for it without end.

use crate::open::{Care, FileError, check_file, walk};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// Takes the lock of this name, which is made with mode 0600 in a folder that is there; it is let go with the file.
///
/// # Errors
/// When the file is refused, or another process holds the lock for longer than `wait`.
pub fn lock(path: &Path, wait: Duration) -> Result<File, FileError> {
    let flags = OFlags::RDWR
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    let (folder, name) = walk(path)?;
    let fd = rustix::fs::openat(folder.as_fd(), name, flags, Mode::from_raw_mode(0o600));
    let fd = fd.map_err(|error| match error {
        Errno::LOOP => FileError::new(path, "is a symbolic link; our files are not reached through links"),
        Errno::ACCESS | Errno::PERM | Errno::ROFS => FileError::new(path, "may not be written by this user"),
        other => FileError::system(path, other),
    })?;
    let stat = rustix::fs::fstat(&fd).map_err(|error| FileError::system(path, error))?;
    check_file(path, &stat, Care::Private, u64::MAX)?;
    hold(path, fd.as_fd(), wait)?;
    Ok(File::from(fd))
}

/// Takes the lock of an open file.
pub(crate) fn hold(path: &Path, fd: BorrowedFd<'_>, wait: Duration) -> Result<(), FileError> {
    let end = Instant::now() + wait;
    loop {
        match rustix::fs::flock(fd, FlockOperation::NonBlockingLockExclusive) {
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

    #[test]
    fn one_process_holds_it_and_a_link_is_none() {
        let folder = std::env::temp_dir().join(format!("policy-lock-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let folder = std::fs::canonicalize(folder).unwrap();
        let path = folder.join("lock");
        let held = lock(&path, Duration::ZERO).unwrap();
        let second = lock(&path, Duration::from_millis(20)).unwrap_err();
        assert!(second.to_string().contains("is locked by another program"), "{second}");
        drop(held);
        drop(lock(&path, Duration::ZERO).unwrap());
        std::os::unix::fs::symlink(&path, folder.join("link")).unwrap();
        assert!(
            lock(&folder.join("link"), Duration::ZERO).unwrap_err().to_string().contains("symbolic link")
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
