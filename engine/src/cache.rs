//! Compiled tables kept between processes.
//!
//! INVARIANT: a cached table is used only when its build, layer and trust state are asked for and each source is still
//! the file it was compiled from. A damaged entry is no entry; nothing is ever answered from it.

use crate::open::{self, Care, FileError, Stamp};
use crate::trust::digest;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Files changed less than this before they were looked at may change again within one tick of the clock of the file
/// system, so their content is hashed each time until they are older.
const RACY_NS: i64 = 100_000_000;
const MAGIC: &str = "policy-cache 1";
/// An entry that was not written for this long is removed when another is; it costs one compile if it was still used.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// Most entries that are looked at for that.
const PRUNED: usize = 1000;

/// A file or folder that a table was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Absolute path.
    pub path: PathBuf,
    /// Hash of the content; empty for a folder that a `use` with `*` looked into.
    pub sha256: String,
    inode: u64,
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
}

impl Source {
    /// A source with this content.
    pub fn file(path: &Path, bytes: &[u8], stamp: Stamp) -> Source {
        Source::new(path, digest(bytes), stamp)
    }

    /// A folder whose entries were listed.
    pub fn folder(path: &Path, stamp: Stamp) -> Source {
        Source::new(path, String::new(), stamp)
    }

    fn new(path: &Path, sha256: String, stamp: Stamp) -> Source {
        let Stamp { inode, size, mtime_ns, ctime_ns } = stamp;
        Source { path: path.to_path_buf(), sha256, inode, size, mtime_ns, ctime_ns }
    }

    fn stamp(&self) -> Stamp {
        Stamp { inode: self.inode, size: self.size, mtime_ns: self.mtime_ns, ctime_ns: self.ctime_ns }
    }
}

/// A table with what it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The table's bytes.
    pub table: Vec<u8>,
    /// Its sources; the policy file is the first.
    pub sources: Vec<Source>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    key: String,
    checked_ns: i64,
    sources: Vec<Source>,
    table_bytes: usize,
}

/// The folder of compiled tables.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    care: Care,
    /// Every user may read it, only its owner writes it.
    shared: bool,
}

impl Cache {
    /// The cache in this folder; sources are opened with `care`.
    pub fn new(folder: &Path, care: Care) -> Cache {
        Cache { folder: folder.to_path_buf(), care, shared: false }
    }

    /// A cache that root fills and every user reads.
    pub fn shared(folder: &Path) -> Cache {
        Cache { folder: folder.to_path_buf(), care: Care::Private, shared: true }
    }

    fn file(&self, key: &str) -> PathBuf {
        let name: String = digest(key.as_bytes()).chars().take(40).collect();
        self.folder.join(format!("{name}.table"))
    }

    /// The entry under this key, when it is whole and all its sources are unchanged.
    pub fn get(&self, key: &str) -> Option<Entry> {
        let (bytes, _) = open::read(&self.file(key), Care::Private, open::MAX_FILE_BYTES).ok()?;
        let (head, table) = split(&bytes)?;
        if head.key != key {
            return None;
        }
        let mut restamped = false;
        let mut sources = Vec::with_capacity(head.sources.len());
        for source in head.sources {
            let now = self.fresh(&source, head.checked_ns)?;
            restamped |= now.is_some();
            sources.push(now.unwrap_or(source));
        }
        let entry = Entry { table: table.to_vec(), sources };
        if restamped {
            // Only saves the next process the hashing.
            let _ = self.put(key, &entry);
        }
        Some(entry)
    }

    /// None: it changed. Some(None): as it was. Some(Some): the same content under a new or still young stamp.
    fn fresh(&self, source: &Source, checked_ns: i64) -> Option<Option<Source>> {
        if source.sha256.is_empty() {
            return (open::stamp(&source.path).ok()? == source.stamp()).then_some(None);
        }
        let mut opened = open::open(&source.path, self.care, open::MAX_FILE_BYTES).ok()?;
        let young = source.ctime_ns.max(source.mtime_ns).saturating_add(RACY_NS) > checked_ns;
        if opened.stamp == source.stamp() && !young {
            return Some(None);
        }
        let stamp = opened.stamp;
        let bytes = opened.read(open::MAX_FILE_BYTES).ok()?;
        let now = Source::file(&source.path, &bytes, stamp);
        (now.sha256 == source.sha256).then_some(Some(now))
    }

    /// Keeps a table.
    ///
    /// # Errors
    /// When it cannot be written; the caller has its table all the same.
    pub fn put(&self, key: &str, entry: &Entry) -> Result<(), FileError> {
        let (folder_mode, mode) = if self.shared { (0o755, 0o644) } else { (0o700, 0o600) };
        open::own_folder(&self.folder, folder_mode)?;
        let head = Head {
            key: key.to_string(),
            checked_ns: now_ns(),
            sources: entry.sources.clone(),
            table_bytes: entry.table.len(),
        };
        let file = self.file(key);
        let head = serde_json::to_string(&head).map_err(|_| FileError::new(&file, "cannot be written"))?;
        let mut bytes = format!("{MAGIC} {}\n{head}\n", digest(head.as_bytes())).into_bytes();
        bytes.extend_from_slice(&entry.table);
        self.prune();
        open::write(&file, &bytes, mode)
    }

    /// Removes what no build has written for long: a new build of the compiler uses new names.
    fn prune(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.take(PRUNED).flatten() {
            let age = entry.metadata().and_then(|data| data.modified()).ok();
            let age = age.and_then(|at| SystemTime::now().duration_since(at).ok());
            if age.is_some_and(|age| age > KEPT) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

fn split(bytes: &[u8]) -> Option<(Head, &[u8])> {
    let mut parts = bytes.splitn(3, |byte| *byte == b'\n');
    let (first, head, table) = (parts.next()?, parts.next()?, parts.next()?);
    let sum = std::str::from_utf8(first).ok()?.strip_prefix(MAGIC)?.trim_start();
    if sum != digest(head) {
        return None;
    }
    let head: Head = serde_json::from_slice(head).ok()?;
    (head.table_bytes == table.len()).then_some((head, table))
}

/// Nanoseconds since the epoch.
pub fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    fn source(path: &Path) -> Source {
        let (bytes, stamp) = open::read(path, Care::Private, 1000).unwrap();
        Source::file(path, &bytes, stamp)
    }

    fn kept(scratch: &Scratch) -> (Cache, PathBuf, Entry) {
        let file = scratch.file("agent.policy", "one");
        let cache = Cache::new(&scratch.folder("cache"), Care::Private);
        let entry = Entry { table: b"table\n\nbytes".to_vec(), sources: vec![source(&file)] };
        cache.put("key", &entry).unwrap();
        (cache, file, entry)
    }

    #[test]
    fn gives_back_what_was_put() {
        let scratch = Scratch::new("cache");
        let (cache, _, entry) = kept(&scratch);
        assert_eq!(cache.get("key").unwrap(), entry);
        assert_eq!(cache.get("other"), None);
    }

    #[test]
    fn a_changed_source_is_noticed_even_within_one_tick() {
        let scratch = Scratch::new("cache-changed");
        let (cache, file, _) = kept(&scratch);
        std::fs::write(&file, "two").unwrap();
        assert_eq!(cache.get("key"), None);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(cache.get("key"), None);
    }

    #[test]
    fn a_touched_source_is_hashed_and_kept() {
        let scratch = Scratch::new("cache-touched");
        let (cache, file, entry) = kept(&scratch);
        std::fs::write(&file, "one").unwrap();
        assert_eq!(cache.get("key").unwrap().table, entry.table);
    }

    #[test]
    fn a_new_file_in_a_listed_folder_is_noticed() {
        let scratch = Scratch::new("cache-folder");
        let folder = scratch.folder("rules.d");
        let cache = Cache::new(&scratch.folder("cache"), Care::Private);
        let sources = vec![Source::folder(&folder, open::stamp(&folder).unwrap())];
        cache.put("key", &Entry { table: vec![1], sources }).unwrap();
        assert!(cache.get("key").is_some());
        std::thread::sleep(std::time::Duration::from_millis(20));
        scratch.file("rules.d/new.policy", "");
        assert_eq!(cache.get("key"), None);
    }

    #[test]
    fn a_damaged_head_is_no_entry() {
        let scratch = Scratch::new("cache-damaged");
        let (cache, _, entry) = kept(&scratch);
        let file = cache.file("key");
        let whole = std::fs::read(&file).unwrap();
        let head_end = whole.len() - entry.table.len();
        for at in 0..head_end {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            open::write(&file, &bytes, 0o600).unwrap();
            assert_eq!(cache.get("key"), None, "byte {at}");
        }
        for length in 0..whole.len() {
            open::write(&file, &whole[..length], 0o600).unwrap();
            assert_eq!(cache.get("key"), None, "cut at {length}");
        }
    }
}
