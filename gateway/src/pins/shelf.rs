//! Where pins lie: a file for each server in `pinned` of the state folder. (Not `pins`: a reason with that path would be taken for a
//! command of ours, which no model is shown.)
//!
//! INVARIANT: what changes a file holds the lock of the folder from reading it to replacing it. A folder that is not there is one
//! without pins; nothing else is.

use crate::pins::file::{MOST_BYTES, MOST_TOOLS, Pins, Waiting, hex};
use policy_engine::lock::lock;
use policy_engine::open::{self, Care, Stamp};
use policy_engine::places::Folders;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest wait for another process.
const PATIENCE: Duration = Duration::from_secs(5);
/// Ends the names of files of pins.
const ENDING: &str = ".pins";
const GONE: &str = "nothing is pinned of it any more";
/// Most files that are listed.
const MOST_FILES: usize = 4096;

/// What a server is for us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its name in the client's settings; empty when it has none.
    pub name: String,
    /// The command line that starts it.
    pub source: Vec<String>,
}

impl Identity {
    /// The name of its file, without the ending.
    #[must_use]
    pub fn key(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(b"policy pins of a server 1");
        for part in std::iter::once(&self.name).chain(&self.source) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let digits = hex(&hash.finalize());
        digits.get(..32).unwrap_or_default().to_owned()
    }
}

/// A file of pins as it is listed.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name without the ending: `policy pins` takes it as the name of a server.
    pub key: String,
    /// What it holds, or why it cannot be used.
    pub pins: Result<Pins, String>,
}

/// The folder.
#[derive(Debug, Clone)]
pub struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// The one of a user.
    #[must_use]
    pub fn of(folders: &Folders) -> Shelf {
        Shelf { folder: folders.state.join("pinned") }
    }

    /// The file of a server.
    #[must_use]
    pub fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}{ENDING}"))
    }

    /// The pins of a server; none where there is no file.
    ///
    /// # Errors
    /// When there is one that cannot be used.
    pub fn read(&self, key: &str) -> Result<Option<(Pins, Stamp)>, String> {
        let path = self.file(key);
        let (bytes, stamp) = match open::read(&path, Care::Private, MOST_BYTES) {
            Ok(read) => read,
            Err(error) if error.missing => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        match Pins::decode(&bytes) {
            Ok(pins) => Ok(Some((pins, stamp))),
            Err(why) => Err(format!("`{}` {why}", path.display())),
        }
    }

    /// Whether the file is certainly the one with this stamp; for none: whether there is still none.
    #[must_use]
    pub fn unchanged(&self, key: &str, stamp: Option<&Stamp>) -> bool {
        match (open::stamp(&self.file(key)), stamp) {
            (Ok(now), Some(before)) => before.holds(&now),
            (Err(error), None) => error.missing,
            _ => false,
        }
    }

    /// Changes the pins of a server, alone among all processes: what `change` gives is written, when it gives something.
    ///
    /// # Errors
    /// When the file cannot be used or written; what was there is then as it was.
    pub fn change<T>(
        &self,
        key: &str,
        change: impl FnOnce(Option<Pins>) -> Result<(Option<Pins>, T), String>,
    ) -> Result<T, String> {
        open::private_folder(&self.folder).map_err(|error| error.to_string())?;
        let held = lock(&self.folder.join("lock"), PATIENCE).map_err(|error| error.to_string())?;
        let there = self.read(key)?.map(|(pins, _)| pins);
        let (new, out) = change(there)?;
        if let Some(mut new) = new {
            self.sweep();
            let path = self.file(key);
            let bytes = new.encode().map_err(|why| format!("`{}`: {why}", path.display()))?;
            open::write(&path, &bytes, 0o600).map_err(|error| error.to_string())?;
        }
        drop(held);
        Ok(out)
    }

    /// What waits of a server was shown to a person, who may take that and nothing else.
    ///
    /// # Errors
    /// When the file cannot be used or written, or something else waits by now.
    pub fn shown(&self, key: &str, waiting: &Waiting) -> Result<(), String> {
        self.change(key, |there| {
            let mut pins = there.ok_or(GONE)?;
            if pins.waiting.digest() != waiting.digest() {
                return Err("something else waits by now; look again".to_owned());
            }
            let digest = Some(waiting.digest());
            let changed = pins.looked != digest;
            pins.looked = digest;
            Ok((changed.then_some(pins), ()))
        })
    }

    /// Takes what was shown for good: these tools, or all that waits; the names, and whether instructions are among it.
    ///
    /// # Errors
    /// When it is not what was shown, nothing of it waits, or the file cannot be used or written.
    pub fn accept(&self, key: &str, tools: &[String], now: i64) -> Result<(Vec<String>, bool), String> {
        self.change(key, |there| {
            let mut pins = there.ok_or(GONE)?;
            if pins.waiting.is_empty() {
                return Err("nothing waits of it".to_owned());
            }
            if pins.looked != Some(pins.waiting.digest()) {
                return Err(
                    "what waits of it was not shown yet, or has changed since; `policy pins show` shows it"
                        .to_owned(),
                );
            }
            let mut taken = Vec::new();
            for name in tools {
                let own =
                    pins.waiting.tools.remove(name).ok_or_else(|| format!("no tool `{name}` of it waits"))?;
                pins.tools.insert(name.clone(), own);
                taken.push(name.clone());
            }
            let mut instructions = false;
            if tools.is_empty() {
                taken.extend(pins.waiting.tools.keys().cloned());
                pins.tools.append(&mut pins.waiting.tools);
                if let Some(own) = pins.waiting.instructions.take() {
                    pins.instructions = Some(own);
                    instructions = true;
                }
            }
            if pins.tools.len() > MOST_TOOLS {
                return Err(format!(
                    "more than {MOST_TOOLS} tools would be pinned; forget the server to pin it anew"
                ));
            }
            pins.accepted = now;
            // The rest was shown too.
            pins.looked = Some(pins.waiting.digest()).filter(|_| !pins.waiting.is_empty());
            if pins.waiting.is_empty() {
                pins.waiting.since = 0;
            }
            Ok((Some(pins), (taken, instructions)))
        })
    }

    /// Forgets a server, even when its file cannot be read; whether there was one.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn forget(&self, key: &str) -> Result<bool, String> {
        let path = self.file(key);
        if !open::present(&path).map_err(|error| error.to_string())? {
            return Ok(false);
        }
        let held = lock(&self.folder.join("lock"), PATIENCE).map_err(|error| error.to_string())?;
        std::fs::remove_file(&path).map_err(|error| format!("`{}`: {error}", path.display()))?;
        drop(held);
        Ok(true)
    }

    /// All that are there, by key.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, String> {
        let failed = |error: std::io::Error| format!("`{}`: {error}", self.folder.display());
        let all = match std::fs::read_dir(&self.folder) {
            Ok(all) => all,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut keys = Vec::new();
        for entry in all.take(MOST_FILES) {
            let name = entry.map_err(failed)?.file_name();
            let key = name.to_str().and_then(|name| name.strip_suffix(ENDING));
            // A name that begins with a dot is of a write that did not end.
            keys.extend(key.filter(|key| !key.starts_with('.')).map(str::to_owned));
        }
        keys.sort();
        let entries = keys.into_iter().filter_map(|key| {
            let pins = self.read(&key).map(|read| read.map(|(pins, _)| pins)).transpose()?;
            Some(Entry { key, pins })
        });
        Ok(entries.collect())
    }

    /// Removes what writers left that were killed. Only under the lock: nobody else writes then.
    fn sweep(&self) {
        let Ok(all) = std::fs::read_dir(&self.folder) else { return };
        for entry in all.take(MOST_FILES).flatten() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(".tmp")) {
                remove(&entry.path());
            }
        }
    }
}

fn remove(path: &Path) {
    // What stays is in nobody's way.
    let _ = std::fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pins::Definition;

    fn shelf(name: &str) -> Shelf {
        let home = std::env::temp_dir().join(format!("policy-pins-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&home);
        std::fs::create_dir_all(&home).unwrap();
        Shelf::of(&Folders::under(&home))
    }

    fn add(shelf: &Shelf, name: &str) {
        let add = |there: Option<Pins>| {
            let mut pins = there.unwrap_or_default();
            pins.tools.insert(name.to_owned(), Definition::of("{}"));
            Ok((Some(pins), ()))
        };
        shelf.change("k", add).unwrap();
    }

    #[test]
    fn a_server_is_its_name_and_its_command_line() {
        let of = |name: &str, source: &[&str]| {
            Identity { name: name.to_owned(), source: source.iter().map(|own| (*own).to_owned()).collect() }
                .key()
        };
        assert_eq!(of("a", &["b", "c"]), of("a", &["b", "c"]));
        for (name, source) in
            [("a", &["b c"] as &[&str]), ("ab", &["c"]), ("", &["a", "b", "c"]), ("a", &["b"])]
        {
            assert_ne!(of("a", &["b", "c"]), of(name, source), "{name} {source:?}");
        }
    }

    #[test]
    fn writers_at_once_lose_nothing_and_what_a_killed_one_left_is_swept() {
        let shelf = shelf("many");
        assert!(shelf.read("k").unwrap().is_none() && shelf.list().unwrap().is_empty());
        assert!(!shelf.forget("k").unwrap() && !shelf.folder.exists(), "looking makes nothing");
        add(&shelf, "first");
        std::fs::write(shelf.folder.join(".k.pins.1-0.tmp"), "policy pi").unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let shelf = &shelf;
                scope.spawn(move || (0..10).for_each(|n| add(shelf, &format!("{thread}-{n}"))));
            }
        });
        let (pins, stamp) = shelf.read("k").unwrap().unwrap();
        assert_eq!(pins.tools.len(), 81);
        let keys: Vec<String> = shelf.list().unwrap().into_iter().map(|entry| entry.key).collect();
        assert_eq!(keys, ["k"]);
        assert_eq!(std::fs::read_dir(&shelf.folder).unwrap().count(), 2, "the file and the lock");
        add(&shelf, "another");
        assert!(
            !shelf.unchanged("k", Some(&stamp)) && !shelf.unchanged("k", None) && shelf.unchanged("l", None)
        );
        assert!(shelf.forget("k").unwrap() && shelf.read("k").unwrap().is_none());
    }

    #[test]
    fn only_what_was_shown_is_accepted() {
        let shelf = shelf("accept");
        add(&shelf, "a");
        let wait = |tool: &str, text: &str| {
            let (mut pins, _) = shelf.read("k").unwrap().unwrap();
            pins.waiting.tools.insert(tool.to_owned(), Definition::of(text));
            shelf.change("k", |_| Ok((Some(pins.clone()), ()))).unwrap();
            pins.waiting
        };
        let all: &[String] = &[];
        assert!(shelf.accept("k", all, 1).unwrap_err().contains("nothing waits"));
        let first = wait("b", "1");
        assert!(shelf.accept("k", all, 1).unwrap_err().contains("was not shown"));
        shelf.shown("k", &first).unwrap();
        let second = wait("b", "2");
        assert!(shelf.accept("k", all, 1).unwrap_err().contains("has changed since"));
        assert!(shelf.shown("k", &first).unwrap_err().contains("something else"));
        shelf.shown("k", &second).unwrap();
        shelf.shown("k", &wait("c", "3")).unwrap();
        assert!(shelf.accept("k", &["x".to_owned()], 1).unwrap_err().contains("no tool `x`"));
        assert_eq!(shelf.accept("k", &["c".to_owned()], 1).unwrap(), (vec!["c".to_owned()], false));
        assert_eq!(shelf.accept("k", all, 2).unwrap(), (vec!["b".to_owned()], false));
        let (pins, _) = shelf.read("k").unwrap().unwrap();
        assert_eq!(pins.tools.get("b"), Some(&Definition::of("2")));
        assert_eq!(
            (pins.tools.len(), pins.waiting.is_empty(), pins.looked, pins.accepted),
            (3, true, None, 2)
        );
    }

    #[test]
    fn a_file_that_cannot_be_used_is_an_error_that_names_it() {
        let shelf = shelf("bad");
        add(&shelf, "a");
        let file = shelf.file("k");
        std::fs::write(&file, "nonsense").unwrap();
        let why = shelf.read("k").unwrap_err();
        assert!(why.contains("k.pins` is damaged"), "{why}");
        assert!(shelf.change("k", |_| Ok((None, ()))).is_err());
        assert!(matches!(&shelf.list().unwrap()[..], [Entry { pins: Err(_), .. }]));
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/null", &file).unwrap();
        assert!(shelf.read("k").unwrap_err().contains("symbolic link"));
        assert!(!shelf.unchanged("k", None));
        assert!(shelf.forget("k").unwrap());
    }
}
