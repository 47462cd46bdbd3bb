//! Names of files as one text spells them, so that a write is found again by a read.
//!
//! INVARIANT: two names of one file that this text can know to be one have one key; a folder that is not known matches every
//! folder.

use super::{Moment, Node};
use crate::shell::{Dir, Piece, Word};

/// One file, as far as its name is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// The path without `.` and `..`: from the folder of the call, `/`, `~` or a variable (`$T/x`).
    path: String,
    /// The folder before it is not known.
    adrift: bool,
    /// It is a file-name pattern.
    glob: bool,
}

/// One write of a file.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) node: Node,
    pub(crate) key: Key,
    pub(crate) at: Moment,
    /// Everything below the name.
    pub(crate) tree: bool,
    /// What is written, when that is static; `true` when holes in it were filled.
    pub(crate) text: Option<(String, bool)>,
    /// It is added to what is there.
    pub(crate) append: bool,
    /// It certainly happens when what follows does.
    pub(crate) certain: bool,
}

impl Key {
    /// The key of a word that names a file in a folder.
    pub(crate) fn of(word: &Word, dir: &Dir) -> Option<Key> {
        let (text, glob) = match word {
            Word::Known(text) if text.starts_with('~') => (format!("./{text}"), false),
            Word::Known(text) | Word::Tilde(text) => (text.clone(), false),
            Word::Glob(text) => (text.clone(), true),
            Word::Unknown(pieces) => (symbolic(pieces)?, false),
            Word::OneOf(_) => return None,
        };
        Key::from_text(&text, matches!(word, Word::Tilde(_)), glob, dir)
    }

    /// The key of a text that names a file.
    pub(crate) fn from_text(text: &str, tilde: bool, glob: bool, dir: &Dir) -> Option<Key> {
        if text.is_empty() || text.len() > 4096 {
            return None;
        }
        let text = text.strip_prefix("$PWD/").unwrap_or(text);
        let (whole, adrift) = match dir {
            _ if text.starts_with(['/', '$']) || tilde => (text.to_string(), false),
            Dir::Call => (text.to_string(), false),
            Dir::Changed(dir) => (format!("{dir}/{text}"), false),
            Dir::Unknown => (text.to_string(), true),
        };
        Some(Key { path: plain(&whole), adrift, glob })
    }

    /// The last part of the name, when it is one name.
    pub(crate) fn name(&self) -> Option<&str> {
        let name = self.path.rsplit('/').next().filter(|name| !name.is_empty());
        name.filter(|_| !self.glob)
    }

    /// The same file name in the folder that this key names.
    pub(crate) fn child(&self, name: &str) -> Key {
        let path = if self.path.is_empty() { name.to_string() } else { format!("{}/{name}", self.path) };
        Key { path: plain(&path), adrift: self.adrift, glob: false }
    }

    /// Whether both may be one file.
    fn meets(&self, other: &Key) -> bool {
        if self.glob || other.glob {
            let (glob, text) = if self.glob { (self, other) } else { (other, self) };
            return glob_meets(&glob.path, &text.path, glob.adrift || text.adrift);
        }
        self.path == other.path
            || (self.adrift || other.adrift)
                && (ends(&self.path, &other.path) || ends(&other.path, &self.path))
    }

    /// Whether the other stands somewhere below this one.
    fn above(&self, other: &Key) -> bool {
        if self.adrift || other.adrift {
            return !other.path.starts_with(['/', '~', '$']);
        }
        match self.path.as_str() {
            "" => !other.path.starts_with(['/', '~', '$']),
            "/" => other.path.starts_with('/'),
            folder => other.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
        }
    }
}

impl Write {
    /// Whether a file may be the one that was written.
    pub(crate) fn holds(&self, key: &Key) -> bool {
        self.key.meets(key) || self.tree && self.key.above(key)
    }

    /// Whether all that is written is known but for values among arguments.
    pub(crate) fn was_read(&self) -> bool {
        self.text.as_ref().is_some_and(|(text, guess)| !guess || !super::hole_runs(text))
    }

    /// Whether it is certainly that file.
    pub(crate) fn is(&self, key: &Key) -> bool {
        !self.tree
            && !self.key.glob
            && !key.glob
            && !self.key.adrift
            && !key.adrift
            && self.key.path == key.path
    }
}

/// A text with the names of its variables; `None` when another part is not known.
fn symbolic(pieces: &[Piece]) -> Option<String> {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) | Piece::Tilde(text) => out.push_str(text),
            Piece::Value { name, .. } if !name.is_empty() => {
                out.push('$');
                out.push_str(name);
            }
            Piece::Value { .. }
            | Piece::Pattern(_)
            | Piece::Hole { .. }
            | Piece::Name
            | Piece::Folder
            | Piece::Descriptor => return None,
        }
    }
    Some(out)
}

/// A path without `.`, `..` and doubled slashes.
fn plain(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && !last.starts_with(['~', '$'])) => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    format!("{}{}", if rooted { "/" } else { "" }, parts.join("/"))
}

/// Whether a path ends with another.
fn ends(path: &str, tail: &str) -> bool {
    path.strip_suffix(tail.trim_start_matches('/'))
        .is_some_and(|front| front.is_empty() || front.ends_with('/'))
}

/// Whether a pattern may stand for a path.
fn glob_meets(glob: &str, path: &str, adrift: bool) -> bool {
    let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_string();
    let (glob, path) = if adrift { (last(glob), last(path)) } else { (glob.to_string(), path.to_string()) };
    glob == path || crate::shell::param::matches(&glob, &path).unwrap_or(true)
}
