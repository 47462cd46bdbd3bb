//! Which policy files hold for a call.
//!
//! INVARIANT: the search looks upward from a resolved folder and never leaves the git root, the file system or the
//! home it started in; what it finds only adds layers, so a change of folder never drops one.

use crate::open::{self, FileError};
use crate::places::{Folders, PROJECT_FILES};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most folders that one search looks into.
pub(crate) const MAX_STEPS: usize = 64;
/// Most managed files.
const MAX_MANAGED: usize = 64;

/// What a search upward found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Policy files, nearest first.
    pub files: Vec<PathBuf>,
    /// The folders that were looked into, nearest first; a trust record of one of them counts although its file is gone.
    pub folders: Vec<PathBuf>,
    /// The git root, when the search met one.
    pub git_root: Option<PathBuf>,
}

/// Searches, and remembers what it found within one process.
#[derive(Debug, Default)]
pub struct Search {
    seen: BTreeMap<PathBuf, Found>,
    standing: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl Search {
    /// Looks for project policies from `folder` upward.
    pub fn upward(&mut self, folder: &Path, home: &Path) -> Found {
        if let Some(found) = self.seen.get(folder) {
            return found.clone();
        }
        let start = self.standing_folder(folder);
        let found = start.map_or_else(Found::default, |start| upward(&start, home));
        self.seen.insert(folder.to_path_buf(), found.clone());
        found
    }

    /// The folder on disk that holds `path`: the nearest existing one above it, links resolved. None for a path that
    /// has none, or that the user may not look at.
    pub fn standing_folder(&mut self, path: &Path) -> Option<PathBuf> {
        for at in path.ancestors().take(MAX_STEPS) {
            let known = self.standing.get(at).cloned();
            let found = known.unwrap_or_else(|| {
                let found = standing(at);
                // What a folder leads to, it is itself.
                for name in [Some(at), found.as_deref()].into_iter().flatten() {
                    self.standing.insert(name.to_path_buf(), found.clone());
                }
                found
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// The folder that a path is, or that holds the file it is; none when there is nothing.
pub(crate) fn standing(path: &Path) -> Option<PathBuf> {
    let real = policy_os::real_path(path).ok()?;
    if real.is_dir() { Some(real) } else { real.parent().map(Path::to_path_buf) }
}

fn upward(start: &Path, home: &Path) -> Found {
    use std::os::unix::fs::MetadataExt;
    let mut found = Found::default();
    let mut device = None;
    for at in start.ancestors().take(MAX_STEPS) {
        // Home itself is the user's layer; what lies above it is no project either.
        if at == home || at.parent().is_none() || home.starts_with(at) {
            break;
        }
        let Ok(stat) = std::fs::symlink_metadata(at) else { break };
        // A mount point ends the search, and so does a folder in which anyone may put files (`/tmp`).
        if device.is_some_and(|device| device != stat.dev()) || stat.mode() & 0o002 != 0 {
            break;
        }
        device = Some(stat.dev());
        found.folders.push(at.to_path_buf());
        // A link or a FIFO of this name is found too: opening it refuses it by name.
        if let Some(file) = PROJECT_FILES.iter().map(|name| at.join(name)).find(|file| exists(file)) {
            found.files.push(file);
        }
        if exists(&at.join(".git")) {
            found.git_root = Some(at.to_path_buf());
            break;
        }
    }
    found
}

fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// The managed files: `agent.policy`, or else every `*.policy`, sorted by name.
///
/// # Errors
/// When the folder exists and cannot be read.
pub fn managed(folders: &Folders) -> Result<Vec<PathBuf>, FileError> {
    let folder = &folders.managed;
    if !open::present(folder)? {
        return Ok(Vec::new());
    }
    let one = folder.join(crate::places::POLICY_FILE);
    if open::present(&one)? {
        return Ok(vec![one]);
    }
    let files = policies_in(folder, "*.policy")?;
    if files.len() > MAX_MANAGED {
        return Err(FileError::new(folder, format!("holds more than {MAX_MANAGED} policies")));
    }
    Ok(files)
}

/// Whether there is a managed layer.
pub fn is_managed(folders: &Folders) -> bool {
    managed(folders).map_or(true, |files| !files.is_empty())
}

/// The user's file, when there is one.
///
/// # Errors
/// When that cannot be told: a folder above it may not be searched.
pub fn user(folders: &Folders) -> Result<Option<PathBuf>, FileError> {
    let file = folders.user_policy();
    Ok(open::present(&file)?.then_some(file))
}

/// The entries of a folder whose names match a pattern with `*`, sorted.
///
/// # Errors
/// When the folder cannot be read.
pub fn policies_in(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, FileError> {
    let entries = std::fs::read_dir(folder).map_err(|error| FileError::io(folder, &error))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| FileError::io(folder, &error))?;
        // Lossy: a name that is no text is found too, since leaving its file out could loosen.
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with('.') && matches(pattern, &name) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Whether `name` matches `pattern`, in which `*` is any run.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The places that change when a file of this folder is added or removed.
pub fn folder_stamp(folder: &Path) -> Option<open::Stamp> {
    open::stamp(folder).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn finds_upward_until_the_git_root() {
        let scratch = Scratch::new("discover");
        let root = scratch.folder("repo");
        scratch.file("agent.policy", "outside");
        scratch.file("repo/.git/HEAD", "");
        scratch.file("repo/agent.policy", "");
        scratch.file("repo/packages/web/agent-firewall.yml", "");
        let found = Search::default().upward(&root.join("packages/web/src"), Path::new("/nowhere"));
        assert_eq!(found.files, [root.join("packages/web/agent-firewall.yml"), root.join("agent.policy")]);
        assert_eq!(found.git_root, Some(root));
    }

    #[test]
    fn home_is_no_project() {
        let scratch = Scratch::new("discover-home");
        let home = scratch.folder("home");
        scratch.file("home/agent.policy", "");
        let inner = scratch.folder("home/work");
        assert!(Search::default().upward(&inner, &home).files.is_empty());
        assert!(Search::default().upward(&home, &home).files.is_empty());
    }

    #[test]
    fn a_link_is_found_so_that_it_can_be_refused() {
        let scratch = Scratch::new("discover-link");
        let root = scratch.folder("repo");
        std::os::unix::fs::symlink("/etc/passwd", root.join("agent.policy")).unwrap();
        assert_eq!(Search::default().upward(&root, Path::new("/nowhere")).files.len(), 1);
    }

    #[test]
    fn star_in_names() {
        assert!(matches("*.policy", "a.policy") && matches("a*c.policy", "abc.policy"));
        assert!(!matches("*.policy", "a.policy2") && !matches("a.policy", "ab.policy"));
        assert!(!matches("ab*ba", "aba"));
    }
}
