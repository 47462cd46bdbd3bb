//! The second name of a path: where its links lead on disk.
//!
//! INVARIANT: nothing is opened and nothing is followed into a network mount; the work for one path is bounded, and
//! what cannot be told is `Unknown`, never the name as written.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// Links followed for one path, as Linux does.
const MAX_LINKS: usize = 40;
/// Components looked at for one path.
const MAX_COMPONENTS: usize = 512;
/// Longest name of one component, bytes; a longer one cannot exist.
const MAX_COMPONENT_BYTES: usize = 255;
/// Names of one folder that are looked at.
const MAX_ENTRIES: usize = 4096;
/// Bytes that the list of mounts mostly fits into.
const MOUNTS_BYTES: usize = 16 * 1024;
/// Names of one path that are looked for in one question each.
const MAX_PLAIN_STEPS: usize = 8;
/// Folders of one call that are remembered.
const MAX_PLAIN: usize = 1024;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// No link stands in its way.
    Same,
    /// It is this file.
    Other(PathBuf),
    /// It could not be told.
    Unknown,
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileText {
    /// There is no such file.
    Absent,
    /// What is in it.
    Text(String),
    /// It could not be told: not a file, too large, not to be read.
    Unread,
    /// Nobody looks at files.
    Unknown,
}

/// Largest file whose text is looked at, bytes.
const MOST_TEXT: u64 = 5_000_000;

/// Follows the links of a path.
pub trait Resolver {
    /// Where an absolute path leads. Dot segments are taken as the system takes them: `..` behind a link is the parent
    /// of the link's end. `Same` means the same as the path with its dot segments removed as text.
    fn resolve(&self, path: &Path) -> Resolution;

    /// The names in a folder, for a pattern to match; `None` when they could not be told.
    fn entries(&self, _folder: &Path) -> Option<Vec<Entry>> {
        Some(Vec::new())
    }

    /// The text of a file by its absolute path.
    fn text(&self, _path: &Path) -> FileText {
        FileText::Unknown
    }
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// Whether a path may go on behind it.
    pub kind: EntryKind,
}

/// What a name in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A link to anything.
    Link,
    /// Anything else.
    File,
}

/// Follows nothing; every path is itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoResolver;

impl Resolver for NoResolver {
    fn resolve(&self, _path: &Path) -> Resolution {
        Resolution::Same
    }
}

/// Reads links from disk.
#[derive(Debug, Clone, Default)]
pub struct DiskResolver {
    trusted: Vec<PathBuf>,
    /// Read when the first path is looked at.
    network: OnceCell<Vec<PathBuf>>,
    /// Names that were seen to be no links, by this call.
    plain: RefCell<BTreeSet<PathBuf>>,
}

impl DiskResolver {
    /// A resolver that stays out of network mounts, except those that hold one of the `trusted` folders (the project
    /// and the home are looked at anyway).
    pub fn new(trusted: &[&Path]) -> DiskResolver {
        let trusted = trusted.iter().map(|folder| folder.to_path_buf()).collect();
        DiskResolver { trusted, ..DiskResolver::default() }
    }

    /// Another call begins: what was no link may be one now.
    pub fn forget(&self) {
        self.plain.borrow_mut().clear();
    }

    /// `Same` when one question to the system shows it: no link stands in the way from a folder that is looked at anyway,
    /// and no mount point. Everything else takes the way component by component.
    ///
    /// SECURITY: the list of mounts is not read for this, so nothing behind a mount point may be touched.
    #[cfg(target_os = "linux")]
    fn plainly(&self, path: &Path) -> Option<Resolution> {
        use rustix::fs::{Mode, OFlags, ResolveFlags};
        use rustix::io::Errno;
        let within = |base: &&PathBuf| path.strip_prefix(base).is_ok_and(|rest| !rest.as_os_str().is_empty());
        let base = self.trusted.iter().filter(within).max_by_key(|base| base.as_os_str().len())?;
        let rest = path.strip_prefix(base).ok()?;
        if rest.components().any(|part| !matches!(part, Component::Normal(_))) {
            return None;
        }
        // Without NOFOLLOW: with it a link at the end would be opened itself, and be no reason to refuse.
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let folder = rustix::fs::open(base, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
        for at in rest.ancestors().take(MAX_PLAIN_STEPS) {
            if at.as_os_str().is_empty() {
                return Some(Resolution::Same);
            }
            let asked = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV | ResolveFlags::BENEATH;
            match rustix::fs::openat2(&folder, at, flags, Mode::empty(), asked) {
                Ok(_) => return Some(Resolution::Same),
                // What is not there leads nowhere else; what lies above it may.
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(_) => return None,
            }
        }
        None
    }

    #[cfg(not(target_os = "linux"))]
    fn plainly(&self, _path: &Path) -> Option<Resolution> {
        None
    }

    fn forbidden(&self, path: &Path) -> bool {
        // A mount that holds a folder that is looked at anyway forbids nothing, so none forbids the way to it.
        if self.trusted.iter().any(|folder| folder.starts_with(path)) {
            return false;
        }
        let network = self.network.get_or_init(|| network_mounts(&mounts(), &self.trusted));
        network.iter().any(|mount| path.starts_with(mount))
    }
}

/// The mounts of this process. Not there on other systems than Linux: then nothing is known of them.
fn mounts() -> String {
    // The kernel writes the list anew for every read, so few and large ones.
    let mut text = Vec::with_capacity(MOUNTS_BYTES);
    let read = std::fs::File::open("/proc/self/mountinfo").and_then(|mut file| file.read_to_end(&mut text));
    if read.is_err() {
        text.clear();
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn network_mounts(mountinfo: &str, trusted: &[PathBuf]) -> Vec<PathBuf> {
    let mut mounts = Vec::new();
    for line in mountinfo.lines() {
        let Some((front, back)) = line.split_once(" - ") else { continue };
        let Some(point) = front.split(' ').nth(4) else { continue };
        let kind = back.split(' ').next().unwrap_or_default();
        if !is_network(kind) {
            continue;
        }
        let point = PathBuf::from(unescape(point));
        if !trusted.iter().any(|folder| folder.starts_with(&point)) {
            mounts.push(point);
        }
    }
    mounts
}

fn is_network(kind: &str) -> bool {
    const KINDS: [&str; 15] = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "afs",
        "ceph",
        "autofs",
        "glusterfs",
        "lustre",
        "davfs",
        "ncpfs",
        "coda",
        "beegfs",
    ];
    KINDS.contains(&kind)
        || [
            "fuse.sshfs",
            "fuse.rclone",
            "fuse.s3fs",
            "fuse.glusterfs",
            "fuse.ceph",
            "fuse.davfs",
            "fuse.curlftpfs",
        ]
        .iter()
        .any(|fuse| kind.starts_with(fuse))
}

/// The kernel writes blanks and backslashes of a mount point as octal escapes.
fn unescape(text: &str) -> String {
    ["\\040", "\\011", "\\012", "\\134"]
        .iter()
        .zip([" ", "\t", "\n", "\\"])
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The path of an open descriptor (`/dev/fd/63`, as `<(...)` gives it).
pub(super) fn is_descriptor(path: &str) -> bool {
    path.strip_prefix("/dev/fd/")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Resolver for DiskResolver {
    fn resolve(&self, path: &Path) -> Resolution {
        // A standard stream is what it is; its link tells only about this process.
        if ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"]
            .iter()
            .any(|dev| path == Path::new(dev))
            || path.to_str().is_some_and(is_descriptor)
        {
            return Resolution::Same;
        }
        if let Some(plain) = self.plainly(path) {
            return plain;
        }
        let mut rest: VecDeque<OsString> = VecDeque::new();
        let mut here = PathBuf::new();
        let mut lexical = PathBuf::new();
        for part in path.components() {
            match part {
                Component::Prefix(_) | Component::RootDir => {
                    here.push(part);
                    lexical.push(part);
                }
                Component::CurDir => {}
                Component::ParentDir => {
                    rest.push_back(part.as_os_str().to_owned());
                    lexical.pop();
                }
                Component::Normal(name) => {
                    rest.push_back(name.to_owned());
                    lexical.push(name);
                }
            }
        }
        if !here.has_root() {
            return Resolution::Unknown;
        }
        let (mut links, mut steps, mut missing) = (0, 0, false);
        while let Some(name) = rest.pop_front() {
            steps += 1;
            if steps > MAX_COMPONENTS {
                return Resolution::Unknown;
            }
            if name == ".." {
                here.pop();
                continue;
            }
            here.push(&name);
            if missing {
                continue;
            }
            if name.len() > MAX_COMPONENT_BYTES {
                missing = true;
                continue;
            }
            if self.plain.borrow().contains(&here) {
                continue;
            }
            if self.forbidden(&here) {
                return Resolution::Unknown;
            }
            let kind = match std::fs::symlink_metadata(&here) {
                Ok(metadata) => metadata.file_type(),
                Err(error) => match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput => {
                        missing = true;
                        continue;
                    }
                    // SECURITY: also a path that is too long for the system: a shorter one from another folder may lead there.
                    _ => return Resolution::Unknown,
                },
            };
            if !kind.is_symlink() {
                let mut plain = self.plain.borrow_mut();
                if kind.is_dir() && plain.len() < MAX_PLAIN {
                    plain.insert(here.clone());
                }
                continue;
            }
            links += 1;
            let Ok(target) = std::fs::read_link(&here) else { return Resolution::Unknown };
            if links > MAX_LINKS || is_magic(&here, &target) {
                return Resolution::Unknown;
            }
            here.pop();
            let mut front: Vec<OsString> = Vec::new();
            for part in target.components() {
                match part {
                    Component::Prefix(_) | Component::RootDir => here.push(part),
                    Component::CurDir => {}
                    Component::ParentDir | Component::Normal(_) => front.push(part.as_os_str().to_owned()),
                }
            }
            for name in front.into_iter().rev() {
                rest.push_front(name);
            }
        }
        if here == lexical { Resolution::Same } else { Resolution::Other(here) }
    }

    fn text(&self, path: &Path) -> FileText {
        let path = match self.resolve(path) {
            Resolution::Same => path.to_path_buf(),
            Resolution::Other(path) => path,
            Resolution::Unknown => return FileText::Unread,
        };
        match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() && metadata.len() <= MOST_TEXT => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return FileText::Absent,
            _ => return FileText::Unread,
        }
        let mut bytes = Vec::new();
        let read = std::fs::File::open(&path).and_then(|file| file.take(MOST_TEXT).read_to_end(&mut bytes));
        match read {
            Ok(_) => FileText::Text(super::text::of_bytes(bytes)),
            Err(_) => FileText::Unread,
        }
    }

    fn entries(&self, folder: &Path) -> Option<Vec<Entry>> {
        if self.forbidden(folder) {
            return None;
        }
        let listing = match std::fs::read_dir(folder) {
            Ok(listing) => listing,
            Err(error) => {
                let none = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
                return none.then(Vec::new);
            }
        };
        let mut entries = Vec::new();
        for entry in listing {
            if entries.len() >= MAX_ENTRIES {
                return None;
            }
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            let kind = match (kind.is_symlink(), kind.is_dir()) {
                (true, _) => EntryKind::Link,
                (_, true) => EntryKind::Folder,
                _ => EntryKind::File,
            };
            // A name that is no text is matched as text that it looks like.
            entries.push(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Some(entries)
    }
}

/// `/proc/PID/fd/N` says `pipe:[123]` and means no path; other processes may see another file behind it.
fn is_magic(link: &Path, target: &Path) -> bool {
    link.starts_with("/proc") && !target.is_absolute() && target.to_string_lossy().contains(":[")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_mounts_are_found_unless_trusted() {
        let info = "36 35 98:0 / /mnt/a\\040b rw,noatime master:1 - nfs4 srv:/x rw\n\
                    37 35 98:0 / /data rw - ext4 /dev/sda1 rw\n\
                    38 35 98:0 / /home rw - nfs srv:/home rw\n\
                    39 35 98:0 / /ssh rw - fuse.sshfs me@x: rw\n";
        let mounts = network_mounts(info, &[PathBuf::from("/home/me/project")]);
        assert_eq!(mounts, [PathBuf::from("/mnt/a b"), PathBuf::from("/ssh")]);
        let disk = DiskResolver { network: mounts.into(), ..DiskResolver::default() };
        assert_eq!(disk.resolve(Path::new("/ssh/x")), Resolution::Unknown);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn both_ways_lead_to_the_same_end() {
        use std::os::unix::fs::symlink;
        let dir = std::env::temp_dir().join(format!("policy-plainly-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(dir.join("real/sub")).unwrap();
        std::fs::write(dir.join("real/file"), "").unwrap();
        let dir = dir.canonicalize().unwrap();
        symlink("real", dir.join("link")).unwrap();
        symlink("/nowhere", dir.join("real/out")).unwrap();
        let (quick, slow) = (DiskResolver::new(&[&dir]), DiskResolver::default());
        let names = [
            "real",
            "real/file",
            "real/file/x",
            "real/none/a/b",
            "link",
            "link/none",
            "real/out",
            "real/out/x",
        ];
        for name in names.iter().chain(&["real/../link/x", "none", "real/sub/."]) {
            let path = dir.join(name);
            assert_eq!(quick.resolve(&path), slow.resolve(&path), "{name}");
        }
        let plain = |name: &str| quick.plainly(&dir.join(name));
        assert_eq!((plain("real/none/a"), plain("link/none")), (Some(Resolution::Same), None));
        assert_eq!(
            DiskResolver::new(&[Path::new("/")]).plainly(Path::new("/proc/self/status")),
            None,
            "a mount point"
        );
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_as_the_system_does() {
        use std::os::unix::fs::symlink;
        let dir = std::env::temp_dir().join(format!("policy-resolve-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(dir.join("real/sub")).unwrap();
        let dir = dir.canonicalize().unwrap();
        symlink("real/sub", dir.join("link")).unwrap();
        symlink("loop", dir.join("loop")).unwrap();
        symlink("/nowhere/at/all", dir.join("dangling")).unwrap();
        let disk = DiskResolver::default();
        let resolve = |text: &str| disk.resolve(&dir.join(text));
        assert_eq!(resolve("real/sub/new/file"), Resolution::Same);
        assert_eq!(resolve("real/./sub/../x"), Resolution::Same);
        assert_eq!(resolve("link/file"), Resolution::Other(dir.join("real/sub/file")));
        assert_eq!(
            resolve("link/../file"),
            Resolution::Other(dir.join("real/file")),
            "the parent of the link's end"
        );
        assert_eq!(resolve("dangling"), Resolution::Other(PathBuf::from("/nowhere/at/all")));
        assert_eq!(resolve("loop"), Resolution::Unknown);
        assert_eq!(resolve(&"x".repeat(300)), Resolution::Same, "too long to exist");
        assert_eq!(resolve(&"x".repeat(9000)), Resolution::Same, "too long to exist");
        // Longer than what a system call takes, but programs make it shorter before they ask.
        let long = |times| format!("{}link/file", "real/../".repeat(times));
        assert_eq!(resolve(&long(200)), Resolution::Other(dir.join("real/sub/file")));
        assert_eq!(resolve(&long(2000)), Resolution::Unknown);
        let name = "y".repeat(250);
        let mut deep = dir.clone();
        for _ in 0..15 {
            deep.push(&name);
            std::fs::create_dir(&deep).unwrap();
        }
        let deep = [name.as_str(); 20].join("/");
        assert_eq!(resolve(&deep), Resolution::Same, "what is not there leads nowhere");
        assert_eq!(disk.resolve(Path::new("relative")), Resolution::Unknown);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
