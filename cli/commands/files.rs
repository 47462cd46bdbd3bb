//! Policies named on the command line: files, and folders with `*.policy` files in them.
//!
//! INVARIANT: sorted, each once, links not followed; bounded.

use crate::output::Failure;
use std::path::{Path, PathBuf};

/// Most files of one run.
const MAX_FILES: usize = 10_000;
/// Deepest folder.
const MAX_DEPTH: usize = 32;

/// Every file that the words name.
pub(crate) fn expand(words: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for word in words {
        if word.is_dir() {
            let before = files.len();
            walk(word, 0, &mut files)?;
            // Nothing tested is no success: the folder is likely a wrong one.
            if files.len() == before {
                return Err(Failure::usage(format!("`{}` holds no `*.policy` file", word.display())));
            }
        } else if std::fs::symlink_metadata(word).is_ok() {
            files.push(word.clone());
        } else {
            return Err(Failure::usage(format!("`{}` does not exist", word.display())));
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable =
        |error: std::io::Error| Failure::usage(format!("`{}` cannot be read: {error}", folder.display()));
    if depth > MAX_DEPTH {
        return Err(Failure::usage(format!("`{}` is too deep", folder.display())));
    }
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        let hidden = entry.file_name().to_str().is_some_and(|name| name.starts_with('.') || name == "target");
        if kind.is_dir() && !hidden {
            walk(&path, depth + 1, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "policy") {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            return Err(Failure::usage(format!("more than {MAX_FILES} policies")));
        }
    }
    Ok(())
}

/// The policy of this folder, when none was named.
pub(crate) fn here(cwd: &Path, home: &Path) -> Result<PathBuf, Failure> {
    let found = policy_engine::discover::Search::default().upward(cwd, home);
    found.files.into_iter().next().ok_or_else(|| {
        Failure::usage(format!("no agent.policy from `{}` upward; `policy init` writes one", cwd.display()))
    })
}
