//! The one way our own files are opened, and how they are written.
//!
//! INVARIANT: a file that is opened with [`Care::Private`] is a regular file with one name, reached without a link,
//! that nobody but its user and root can replace; opening never waits (a FIFO or device is refused) and never
//! reads more than the cap. A file is replaced whole or not at all.

use crate::cache::now_ns;
use policy_os::Mapped;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Largest policy source, trust record or compiled table that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Most folders that are remembered.
const MOST_FOLDERS: usize = 64;

/// How much is asked of a file before it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// No link in any component; the file and all its folders belong to the user or root, nobody else can write them.
    Private,
    /// A file that a person named on the command line of a command that enforces nothing: only regular and capped.
    Named,
}

/// Files changed less than this before they were looked at may change again within one tick of the clock of the file
/// system, and then look the same.
const RACY_NS: i64 = 100_000_000;

/// What a file is told apart by: a change of its content changes this.
#[derive(Debug, Clone, Copy)]
pub struct Stamp {
    /// Inode.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// Last change of the content, nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Last change of the entry, nanoseconds since the epoch.
    pub ctime_ns: i64,
    /// The last change was long before it was looked at. Otherwise an equal stamp says nothing.
    pub settled: bool,
}

impl Stamp {
    /// Whether the content is certainly the same.
    pub fn holds(&self, now: &Stamp) -> bool {
        let parts = |stamp: &Stamp| (stamp.inode, stamp.size, stamp.mtime_ns, stamp.ctime_ns);
        self.settled && parts(self) == parts(now)
    }

    /// `before` is a moment before the file was opened.
    fn of(stat: &Stat, before: i64) -> Stamp {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        let ctime_ns = nanos(stat.st_ctime, stat.st_ctime_nsec as i64);
        Stamp {
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(u64::MAX),
            mtime_ns: nanos(stat.st_mtime, stat.st_mtime_nsec as i64),
            ctime_ns,
            settled: ctime_ns.saturating_add(RACY_NS) <= before,
        }
    }
}

/// A file that could not be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The file or the folder above it that is at fault.
    pub path: PathBuf,
    /// The cause, a clause with the path as its subject (`is a symbolic link`).
    pub why: String,
    /// There is no such file (which is often no error).
    pub missing: bool,
    /// It is larger than what is read.
    pub too_big: bool,
}

impl FileError {
    /// An error about this path.
    pub fn new(path: &Path, why: impl Into<String>) -> FileError {
        FileError { path: path.to_path_buf(), why: why.into(), missing: false, too_big: false }
    }

    pub(crate) fn system(path: &Path, error: Errno) -> FileError {
        let missing = error == Errno::NOENT;
        let why = match error {
            Errno::NOENT => "does not exist".to_string(),
            Errno::ACCESS | Errno::PERM => "may not be read by this user".to_string(),
            Errno::NOTDIR => "lies below something that is no folder".to_string(),
            Errno::NXIO => "is a FIFO or socket, not a regular file".to_string(),
            other => format!("cannot be opened: {}", std::io::Error::from(other)),
        };
        FileError { path: path.to_path_buf(), why, missing, too_big: false }
    }

    /// An error of the standard library about this path.
    pub fn io(path: &Path, error: &std::io::Error) -> FileError {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        let why = if missing { "does not exist".to_string() } else { format!("cannot be used: {error}") };
        FileError { path: path.to_path_buf(), why, missing, too_big: false }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.path.display(), self.why)
    }
}

impl std::error::Error for FileError {}

/// An open file with its stamp.
#[derive(Debug)]
pub struct Opened {
    /// The file.
    pub file: File,
    /// Its stamp when it was opened.
    pub stamp: Stamp,
    path: PathBuf,
}

impl Opened {
    /// The content, read by the system when it is looked at.
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub fn map(&self) -> Result<Mapped, FileError> {
        Mapped::of(&self.file).map_err(|error| FileError::io(&self.path, &error))
    }

    /// The whole content.
    ///
    /// # Errors
    /// When it cannot be read, or grew past `cap` while it was read.
    pub fn read(&mut self, cap: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.stamp.size.min(cap)).unwrap_or(0));
        let mut limited = (&mut self.file).take(cap.saturating_add(1));
        limited.read_to_end(&mut bytes).map_err(|error| FileError::io(&self.path, &error))?;
        if bytes.len() as u64 > cap {
            return Err(too_big(&self.path, cap));
        }
        Ok(bytes)
    }
}

fn too_big(path: &Path, cap: u64) -> FileError {
    FileError { too_big: true, ..FileError::new(path, format!("is larger than {cap} bytes")) }
}

/// Opens a file to read it.
///
/// # Errors
/// When it is missing, or is refused by `care`; the error names the component at fault.
pub fn open(path: &Path, care: Care, cap: u64) -> Result<Opened, FileError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let before = now_ns();
    let fd = match care {
        Care::Named => {
            rustix::fs::open(path, flags, Mode::empty()).map_err(|e| FileError::system(path, e))?
        }
        Care::Private => {
            let (folder, name) = walk(path)?;
            open_in(folder.as_fd(), name, path, flags)?
        }
    };
    let stat = rustix::fs::fstat(&fd).map_err(|e| FileError::system(path, e))?;
    check_file(path, &stat, care, cap)?;
    Ok(Opened { file: File::from(fd), stamp: Stamp::of(&stat, before), path: path.to_path_buf() })
}

/// Opens and reads a file.
///
/// # Errors
/// As [`open`] and [`Opened::read`].
pub fn read(path: &Path, care: Care, cap: u64) -> Result<(Vec<u8>, Stamp), FileError> {
    let mut opened = open(path, care, cap)?;
    let bytes = opened.read(cap)?;
    Ok((bytes, opened.stamp))
}

/// Whether there is an entry of this name, whatever it is.
///
/// # Errors
/// When that cannot be told: a folder that may not be searched may hold one.
pub fn present(path: &Path) -> Result<bool, FileError> {
    match rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(FileError::system(path, error)),
    }
}

/// The stamp of a file or folder, without following a link.
///
/// # Errors
/// When there is none, or it is a link.
pub fn stamp(path: &Path) -> Result<Stamp, FileError> {
    let before = now_ns();
    let stat = rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|e| FileError::system(path, e))?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        return Err(FileError::new(path, "is a symbolic link"));
    }
    Ok(Stamp::of(&stat, before))
}

pub(crate) fn check_file(path: &Path, stat: &Stat, care: Care, cap: u64) -> Result<(), FileError> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(FileError::new(path, "is a folder, not a regular file")),
        FileType::Fifo => return Err(FileError::new(path, "is a FIFO, not a regular file")),
        _ => return Err(FileError::new(path, "is not a regular file")),
    }
    if stat.st_size < 0 || stat.st_size as u64 > cap {
        return Err(too_big(path, cap));
    }
    if care == Care::Private {
        check_owner(path, stat)?;
        if stat.st_nlink > 1 {
            return Err(FileError::new(path, "has a second name (a hard link)"));
        }
        if others_write(stat) {
            return Err(FileError::new(path, "can be written by other users; run `chmod go-w` on it"));
        }
    }
    Ok(())
}

fn check_owner(path: &Path, stat: &Stat) -> Result<(), FileError> {
    let user = rustix::process::geteuid().as_raw();
    if stat.st_uid == 0 || stat.st_uid == user {
        return Ok(());
    }
    Err(FileError::new(path, format!("belongs to the user with number {}, not to you or root", stat.st_uid)))
}

/// SECURITY: group writing is accepted only for a user's private group, which by convention has the user's own number;
/// else every file written under umask 002 would be refused.
fn others_write(stat: &Stat) -> bool {
    let private_group = stat.st_gid == stat.st_uid && stat.st_uid != 0;
    stat.st_mode & 0o002 != 0 || (stat.st_mode & 0o020 != 0 && !private_group)
}

/// Checks every folder above `path` from the root on, and gives the last one open, with the name of the file.
pub(crate) fn walk(path: &Path) -> Result<(Rc<OwnedFd>, &OsStr), FileError> {
    if !path.is_absolute() {
        return Err(FileError::new(path, "is not an absolute path"));
    }
    let Some(name) = path.file_name() else { return Err(FileError::new(path, "names no file")) };
    let folder = path.parent().unwrap_or(Path::new("/"));
    Ok((walk_folder(folder)?, name))
}

thread_local! {
    /// Folders that were opened and checked since [`remember_folders`]; none when nothing is remembered.
    static FOLDERS: RefCell<Option<BTreeMap<PathBuf, Rc<OwnedFd>>>> = const { RefCell::new(None) };
}

/// While it lives, folders that were opened and checked are not opened and checked again by this thread: for the moment of
/// one decision, which opens several files below the same folders, or for the moment in which files are taken for unchanged.
#[must_use]
pub fn remember_folders() -> Remembered {
    let outer = FOLDERS.with(|folders| match &mut *folders.borrow_mut() {
        Some(_) => false,
        none => {
            *none = Some(BTreeMap::new());
            true
        }
    });
    Remembered { outer }
}

/// See [`remember_folders`].
#[derive(Debug)]
pub struct Remembered {
    outer: bool,
}

impl Drop for Remembered {
    fn drop(&mut self) {
        if self.outer {
            FOLDERS.with(|folders| *folders.borrow_mut() = None);
        }
    }
}

fn remembered(folder: &Path) -> Option<Rc<OwnedFd>> {
    FOLDERS.with(|folders| folders.borrow().as_ref()?.get(folder).cloned())
}

fn walk_folder(folder: &Path) -> Result<Rc<OwnedFd>, FileError> {
    if folder.components().any(|part| matches!(part, Component::ParentDir | Component::Prefix(_))) {
        return Err(FileError::new(folder, "holds `..`"));
    }
    let known = folder.ancestors().find_map(|at| Some((at.to_path_buf(), remembered(at)?)));
    let (mut at, mut fd) = match known {
        Some(known) => known,
        None => {
            let root = PathBuf::from("/");
            let fd = rustix::fs::open("/", folder_flags(), Mode::empty())
                .map_err(|e| FileError::system(&root, e))?;
            check_folder(&root, fd.as_fd())?;
            (root, Rc::new(fd))
        }
    };
    let rest = folder.strip_prefix(&at).unwrap_or(folder).to_path_buf();
    for component in rest.components() {
        let Component::Normal(part) = component else { continue };
        at.push(part);
        fd = Rc::new(open_in(fd.as_fd(), part, &at, folder_flags())?);
        check_folder(&at, fd.as_fd())?;
        FOLDERS.with(|folders| {
            if let Some(folders) = folders.borrow_mut().as_mut().filter(|known| known.len() < MOST_FOLDERS) {
                folders.insert(at.clone(), Rc::clone(&fd));
            }
        });
    }
    Ok(fd)
}

fn folder_flags() -> OFlags {
    #[cfg(target_os = "linux")]
    let base = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let base = OFlags::RDONLY;
    base | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn open_in(folder: BorrowedFd<'_>, name: &OsStr, path: &Path, flags: OFlags) -> Result<OwnedFd, FileError> {
    rustix::fs::openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
        let link = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
        if link {
            FileError::new(path, "is a symbolic link; our files are not reached through links")
        } else {
            FileError::system(path, error)
        }
    })
}

/// SECURITY: who may rename entries of a folder above a file replaces the file. A folder with the sticky bit (`/tmp`)
/// lets only owners do that.
fn check_folder(path: &Path, fd: BorrowedFd<'_>) -> Result<(), FileError> {
    let stat = rustix::fs::fstat(fd).map_err(|e| FileError::system(path, e))?;
    check_owner(path, &stat)?;
    if others_write(&stat) && stat.st_mode & 0o1000 == 0 {
        return Err(FileError::new(path, "can be written by other users, so files below it can be replaced"));
    }
    Ok(())
}

/// Makes a folder and those missing above it, with mode 0700, and checks all of them.
///
/// # Errors
/// When one of them is a link, belongs to someone else or can be written by others.
pub fn private_folder(folder: &Path) -> Result<(), FileError> {
    own_folder(folder, 0o700)
}

/// As [`private_folder`], with another mode.
///
/// # Errors
/// As [`private_folder`].
pub fn own_folder(folder: &Path, mode: u32) -> Result<(), FileError> {
    use std::os::unix::fs::DirBuilderExt;
    match walk_folder(folder) {
        Ok(_) => return Ok(()),
        Err(error) if !error.missing => return Err(error),
        Err(_) => {}
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(folder)
        .map_err(|e| FileError::io(folder, &e))?;
    walk_folder(folder).map(|_| ())
}

/// Writes a file of ours whole: a temporary file beside it with `mode`, flushed to disk, renamed over it.
///
/// # Errors
/// When the folder is refused or the disk does not take it; the old file is then untouched.
pub fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let (folder, name) = walk(path)?;
    replace(folder.as_fd(), name, path, bytes, How { mode, old: None, over: true })
}

/// Writes a file that a person named (`-o TABLE`): as [`write()`], but its folders are the person's own affair. A file
/// that exists keeps its mode and owner, and a link goes on pointing at it.
///
/// # Errors
/// When something else of this name exists, the file is read-only, or the disk does not take it; what was there is
/// then untouched.
pub fn write_named(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let real = match rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
            policy_os::real_path(path).map_err(|error| FileError::io(path, &error))?
        }
        _ => path.to_path_buf(),
    };
    let old = rustix::fs::statat(rustix::fs::CWD, &real, AtFlags::SYMLINK_NOFOLLOW).ok();
    if let Some(old) = &old {
        // A device or FIFO would be replaced by a file.
        check_file(path, old, Care::Named, u64::MAX)?;
        if old.st_mode & 0o222 == 0 {
            return Err(FileError::new(path, "is read-only; run `chmod u+w` on it"));
        }
    }
    let (folder, name) = folder_of(&real)?;
    replace(folder.as_fd(), name, path, bytes, How { mode, old: old.as_ref(), over: true })
}

/// Writes a new file that a person named.
///
/// # Errors
/// When something of this name exists, even if it came only just now, or the disk does not take it.
pub fn create_named(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let (folder, name) = folder_of(path)?;
    replace(folder.as_fd(), name, path, bytes, How { mode, old: None, over: false })
}

fn folder_of(path: &Path) -> Result<(OwnedFd, &OsStr), FileError> {
    let Some(name) = path.file_name() else { return Err(FileError::new(path, "names no file")) };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(folder, flags, Mode::empty()).map_err(|e| FileError::system(folder, e))?;
    Ok((fd, name))
}

/// An error when a file of this many bytes would be over the limit of this process.
///
/// SECURITY: the system ends a process that writes more than that, and a hook that is ended lets the call through.
pub(crate) fn check_limit(path: &Path, bytes: u64) -> Result<(), FileError> {
    match rustix::process::getrlimit(rustix::process::Resource::Fsize).current {
        Some(limit) if bytes > limit => Err(FileError::new(
            path,
            format!("would be larger than the {limit} bytes this process may write"),
        )),
        _ => Ok(()),
    }
}

/// How a file is put in place.
#[derive(Clone, Copy)]
struct How<'a> {
    mode: u32,
    /// The file that is replaced, whose mode and owner stay.
    old: Option<&'a Stat>,
    /// Whether one may be replaced.
    over: bool,
}

fn replace(
    fd: BorrowedFd<'_>,
    name: &OsStr,
    path: &Path,
    bytes: &[u8],
    how: How<'_>,
) -> Result<(), FileError> {
    check_limit(path, bytes.len() as u64)?;
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let mut temporary = OsStr::from_bytes(b".").to_os_string();
    temporary.push(name);
    temporary.push(format!(".{}-{count}.tmp", std::process::id()));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A stale temporary file of a killed process with our number is in the way: it is ours to remove.
    let _ = rustix::fs::unlinkat(fd, &temporary, AtFlags::empty());
    let new = rustix::fs::openat(fd, &temporary, flags, Mode::from_raw_mode(how.mode as _))
        .map_err(|e| write_error(path, &e.into()))?;
    let mut file = File::from(new);
    let done = keep_owner(&file, how.old)
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all())
        .and_then(|()| match how.over {
            true => rustix::fs::renameat(fd, &temporary, fd, name).map_err(Into::into),
            false => name_new(fd, &temporary, name).map_err(Into::into),
        });
    if done.is_err() || !how.over {
        let _ = rustix::fs::unlinkat(fd, &temporary, AtFlags::empty());
    }
    match done {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(FileError::new(path, "exists; it is not overwritten"));
        }
        Err(error) => return Err(write_error(path, &error)),
        Ok(()) => {}
    }
    // The rename itself must survive a crash; a file system that cannot sync a folder is left alone.
    if let Ok(folder) = rustix::fs::openat(fd, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::fs::fsync(folder);
    }
    Ok(())
}

/// Gives a file its name when nothing else has it. With a link it would have two names for a moment, and for ever when we are killed
/// then: another process would refuse it.
fn name_new(fd: BorrowedFd<'_>, temporary: &OsStr, name: &OsStr) -> Result<(), Errno> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    match rustix::fs::renameat_with(fd, temporary, fd, name, rustix::fs::RenameFlags::NOREPLACE) {
        // A file system that does not know of it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        done => return done,
    }
    rustix::fs::linkat(fd, temporary, fd, name, AtFlags::empty())
}

/// Gives a new file the owner and mode of the one it replaces; who may not give files away keeps it.
fn keep_owner(file: &File, old: Option<&Stat>) -> std::io::Result<()> {
    let Some(old) = old else { return Ok(()) };
    let new = rustix::fs::fstat(file)?;
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
        let _ = std::os::unix::fs::fchown(file, Some(old.st_uid), Some(old.st_gid));
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(old.st_mode & 0o777)).map_err(Into::into)
}

pub(crate) fn write_error(path: &Path, error: &std::io::Error) -> FileError {
    FileError::new(path, format!("cannot be written: {error}"))
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
