//! Compiled tables kept between processes.
//!
//! INVARIANT: a cached table is used only when its build, layer and trust state are asked for and each source is still
//! the file it was compiled from. A damaged entry is no entry; nothing is ever answered from it.

use crate::open::{self, Care, FileError, Stamp};
use crate::sources::STACK;
use crate::tabled::Tabled;
use crate::trust::digest;
use policy_runtime::checksum;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Digits of a name. Two keys with one name only take each other's place.
const NAME: usize = 16;
const MAGIC: &str = "policy-cache 3";
/// An entry that was not written for this long is removed when another is; it costs one compile if it was still used.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// A temporary file of a process that was killed is removed after this.
const KEPT_TEMPORARY: Duration = Duration::from_secs(3600);
/// Most entries, and their bytes; those written longest ago go first.
const MOST_ENTRIES: usize = 256;
const MOST_BYTES: u64 = 512 * 1024 * 1024;
/// Most names that are looked at when one is written.
const LOOKED_AT: usize = 4096;

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
    settled: bool,
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

    /// The packs that were found for a project, from files that are sources of their own. They are part of what is trusted,
    /// as those are not.
    pub fn stack(text: &str) -> Source {
        let stamp = Stamp { inode: 0, size: 0, mtime_ns: 0, ctime_ns: 0, settled: true };
        Source::new(Path::new(STACK), crate::trust::digest(text.as_bytes()), stamp)
    }

    fn new(path: &Path, sha256: String, stamp: Stamp) -> Source {
        let Stamp { inode, size, mtime_ns, ctime_ns, settled } = stamp;
        Source { path: path.to_path_buf(), sha256, inode, size, mtime_ns, ctime_ns, settled }
    }

    fn stamp(&self) -> Stamp {
        Stamp {
            inode: self.inode,
            size: self.size,
            mtime_ns: self.mtime_ns,
            ctime_ns: self.ctime_ns,
            settled: self.settled,
        }
    }
}

/// A table with what it was made of.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// The table's bytes.
    pub table: Tabled,
    /// Its sources; the policy file is the first.
    pub sources: Vec<Source>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    key: String,
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
        // Not a digest: finding out how the processor computes one fast takes longer than a decision.
        self.folder.join(format!("{:016x}.table", checksum(key.as_bytes())))
    }

    /// The entry under this key, when it is whole and all its sources are unchanged.
    pub fn get(&self, key: &str) -> Option<Entry> {
        let cap = open::MAX_FILE_BYTES;
        let mut table = Tabled::file(&mut open::open(&self.file(key), Care::Private, cap).ok()?, cap).ok()?;
        let head = head(table.whole())?;
        if head.key != key {
            return None;
        }
        let mut restamped = false;
        let mut sources = Vec::with_capacity(head.sources.len());
        for source in head.sources {
            let now = self.fresh(&source)?;
            restamped |= now.is_some();
            sources.push(now.unwrap_or(source));
        }
        table.cut(head.table_bytes);
        if restamped {
            // Only saves the next process the hashing.
            let _ = self.put(key, table.bytes(), &sources);
        }
        Some(Entry { table, sources })
    }

    /// None: it changed. Some(None): as it was. Some(Some): the same content under a new stamp that will do for the
    /// next time.
    fn fresh(&self, source: &Source) -> Option<Option<Source>> {
        // Follows from the others.
        if source.path == Path::new(STACK) {
            return Some(None);
        }
        if source.sha256.is_empty() {
            return source.stamp().holds(&open::stamp(&source.path).ok()?).then_some(None);
        }
        let mut opened = open::open(&source.path, self.care, open::MAX_FILE_BYTES).ok()?;
        if source.stamp().holds(&opened.stamp) {
            return Some(None);
        }
        let stamp = opened.stamp;
        let bytes = opened.read(open::MAX_FILE_BYTES).ok()?;
        let now = Source::file(&source.path, &bytes, stamp);
        (now.sha256 == source.sha256).then_some(stamp.settled.then_some(now))
    }

    /// Keeps a table.
    ///
    /// # Errors
    /// When it cannot be written; the caller has its table all the same.
    pub fn put(&self, key: &str, table: &[u8], sources: &[Source]) -> Result<(), FileError> {
        let (folder_mode, mode) = if self.shared { (0o755, 0o644) } else { (0o700, 0o600) };
        open::own_folder(&self.folder, folder_mode)?;
        let head = Head { key: key.to_string(), sources: sources.to_vec(), table_bytes: table.len() };
        let file = self.file(key);
        let head = serde_json::to_string(&head)
            .map_err(|error| FileError::new(&file, format!("cannot be written: {error}")))?;
        // The table comes first, so that a reader needs no second copy of it.
        let mut bytes = table.to_vec();
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(foot(head.len(), checksum(head.as_bytes())).as_bytes());
        self.prune();
        open::write(&file, &bytes, mode)
    }

    /// Keeps the folder bounded. A reader that has an entry open keeps it; what is gone is compiled again.
    fn prune(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let mut kept = Vec::new();
        for entry in entries.take(LOOKED_AT).flatten() {
            let name = entry.file_name();
            // SECURITY: `--cache` may name a folder that holds other things too.
            let Some(temporary) = name.to_str().and_then(ours) else { continue };
            let Ok(data) = entry.metadata() else { continue };
            let age = data.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
            let age = age.unwrap_or_default();
            if age > if temporary { KEPT_TEMPORARY } else { KEPT } {
                let _ = std::fs::remove_file(entry.path());
            } else if !temporary {
                kept.push((age, data.len(), entry.path()));
            }
        }
        kept.sort();
        let mut bytes = 0u64;
        for (number, (_, size, path)) in kept.iter().enumerate() {
            bytes = bytes.saturating_add(*size);
            // One more is about to be written.
            if number + 1 >= MOST_ENTRIES || bytes > MOST_BYTES {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Whether a name is one of an entry (false), or of its temporary file (true).
fn ours(name: &str) -> Option<bool> {
    let (name, temporary) = match name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")) {
        Some(inner) => (inner.rsplit_once('.')?.0, true),
        None => (name, false),
    };
    let digits = name.strip_suffix(".table")?;
    let hex = digits.len() == NAME && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then_some(temporary)
}

/// The last line of an entry, always equally long.
fn foot(length: usize, sum: u64) -> String {
    format!("\n{MAGIC} {length:016x} {sum:016x}\n")
}

fn head(bytes: &[u8]) -> Option<Head> {
    let (rest, last) = bytes.split_at_checked(bytes.len().checked_sub(foot(0, 0).len())?)?;
    let text = std::str::from_utf8(last).ok()?;
    let length = text.strip_prefix('\n')?.strip_prefix(MAGIC)?.trim_start().split(' ').next()?;
    let length = usize::from_str_radix(length, 16).ok()?;
    let (table, head) = rest.split_at_checked(rest.len().checked_sub(length)?)?;
    if text != foot(length, checksum(head)) {
        return None;
    }
    let head: Head = serde_json::from_slice(head).ok()?;
    (head.table_bytes == table.len()).then_some(head)
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

    fn put(cache: &Cache, key: &str, entry: &Entry) {
        cache.put(key, entry.table.bytes(), &entry.sources).unwrap();
    }

    fn kept(scratch: &Scratch) -> (Cache, PathBuf, Entry) {
        let file = scratch.file("agent.policy", "one");
        let cache = Cache::new(&scratch.folder("cache"), Care::Private);
        let entry = Entry { table: b"table\n\nbytes".to_vec().into(), sources: vec![source(&file)] };
        put(&cache, "key", &entry);
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
    fn a_source_changed_while_it_was_compiled_is_noticed() {
        let scratch = Scratch::new("cache-slow");
        let file = scratch.file("agent.policy", "one");
        let read = source(&file);
        // The change falls into the same tick of the clock, and the compile takes long.
        let stamp = read.stamp();
        std::fs::write(&file, "two").unwrap();
        let now = open::stamp(&file).unwrap();
        let read = Source { ctime_ns: now.ctime_ns, mtime_ns: now.mtime_ns, ..read };
        assert!(!stamp.settled);
        std::thread::sleep(Duration::from_millis(150));
        let cache = Cache::new(&scratch.folder("cache"), Care::Private);
        cache.put("key", &[1], &[read]).unwrap();
        assert_eq!(cache.get("key"), None);
    }

    #[test]
    fn the_folder_stays_bounded_and_holds_nobody_elses_files_less() {
        let scratch = Scratch::new("cache-bounded");
        let (cache, _, entry) = kept(&scratch);
        let other = scratch.file("cache/notes.txt", "x");
        let stale = scratch.file(&format!("cache/.{}.table.7-0.tmp", "a".repeat(NAME)), "x");
        let old = SystemTime::now() - Duration::from_secs(40 * 24 * 3600);
        for file in [&other, &stale] {
            std::fs::File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
        }
        for number in 0..MOST_ENTRIES + 20 {
            let name: String = digest(&number.to_le_bytes()).chars().take(NAME).collect();
            scratch.file(&format!("cache/{name}.table"), "x");
        }
        put(&cache, "last", &entry);
        assert!(other.exists() && !stale.exists());
        assert!(std::fs::read_dir(scratch.folder("cache")).unwrap().count() <= MOST_ENTRIES + 1);
        assert!(cache.get("last").is_some());
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
        std::thread::sleep(Duration::from_millis(150));
        let cache = Cache::new(&scratch.folder("cache"), Care::Private);
        let sources = vec![Source::folder(&folder, open::stamp(&folder).unwrap())];
        cache.put("key", &[1], &sources).unwrap();
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
        for at in entry.table.bytes().len()..whole.len() {
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
