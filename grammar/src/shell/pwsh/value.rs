//! Values of PowerShell expressions as far as a static reader can know them.
//!
//! INVARIANT: an element is known only when every way gives it; at most `MAX_ITEMS` elements and `MAX_VALUES` spellings
//! of one element are followed, beyond that it is not known.

use crate::shell::env::{MAX_VALUE_BYTES, MAX_VALUES};
use crate::shell::{Piece, Word};

/// Most elements of one value that are followed.
const MAX_ITEMS: usize = 64;

/// What an expression gives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Value {
    /// Its elements; an unknown one that may split stands for any number.
    pub(crate) items: Vec<Word>,
    /// The entries of a hash table written out.
    pub(crate) hash: Vec<(String, Value)>,
    /// It came over the network.
    pub(crate) fetched: bool,
    /// It was decoded from another form.
    pub(crate) decoded: bool,
    /// A script block whose commands are listed where it is written.
    pub(crate) block: bool,
    /// Text that became code (`[scriptblock]::Create`): its items are the text.
    pub(crate) code: bool,
    /// Bytes that were decoded.
    pub(crate) bytes: Option<Vec<u8>>,
    /// It is this text encoding, in lower case.
    pub(crate) encoding: Option<String>,
}

impl Value {
    /// Exactly this text.
    pub(crate) fn text(text: impl Into<String>) -> Value {
        Value::word(Word::Known(text.into()))
    }

    /// One element.
    pub(crate) fn word(word: Word) -> Value {
        Value { items: vec![word], ..Value::default() }
    }

    /// Nothing is known.
    pub(crate) fn unknown() -> Value {
        Value::word(hole(false))
    }

    /// Nothing is known but that it is one element.
    pub(crate) fn unknown_one() -> Value {
        Value::word(hole(true))
    }

    /// No element.
    pub(crate) fn none() -> Value {
        Value::default()
    }

    /// The text, when it is exactly one known element.
    pub(crate) fn known(&self) -> Option<&str> {
        match self.items.as_slice() {
            [word] => word.known(),
            _ => None,
        }
    }

    /// Every element, when all are known texts.
    pub(crate) fn texts(&self) -> Option<Vec<&str>> {
        self.items.iter().map(Word::known).collect()
    }

    /// Its elements joined by blanks, as a string with it in would have it.
    pub(crate) fn joined(&self, by: &str) -> Word {
        let mut parts = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                parts.push(Word::Known(by.to_string()));
            }
            parts.push(item.clone());
        }
        concat(&parts)
    }

    /// The elements of both.
    pub(crate) fn append(mut self, mut other: Value) -> Value {
        if self.items.is_empty() && self.hash.is_empty() && self.bytes.is_none() {
            other.taint(self.fetched, self.decoded);
            return other;
        }
        self.items.extend(other.items);
        self.hash.extend(other.hash);
        if self.items.len() > MAX_ITEMS {
            self.items = vec![hole(false)];
        }
        self.taint(other.fetched, other.decoded);
        self.block |= other.block;
        self.code |= other.code;
        self
    }

    /// Marks where it came from.
    pub(crate) fn taint(&mut self, fetched: bool, decoded: bool) {
        self.fetched |= fetched;
        self.decoded |= decoded;
    }

    /// The same origin, another text.
    pub(crate) fn with(&self, items: Vec<Word>) -> Value {
        Value { items, fetched: self.fetched, decoded: self.decoded, ..Value::default() }
    }

    /// What holds after either of two ways.
    pub(crate) fn join(&self, other: &Value) -> Value {
        if self == other {
            return self.clone();
        }
        let mut out = match (self.items.as_slice(), other.items.as_slice()) {
            ([a], [b]) if self.hash.is_empty() && other.hash.is_empty() => Value::word(either(a, b)),
            _ => Value::unknown(),
        };
        out.fetched = self.fetched | other.fetched;
        out.decoded = self.decoded | other.decoded;
        out
    }
}

/// A word of which nothing is known.
pub(crate) fn hole(quoted: bool) -> Word {
    Word::Unknown(vec![Piece::Hole { quoted }])
}

/// One of two words.
pub(crate) fn either(a: &Word, b: &Word) -> Word {
    let (Some(mut all), Some(more)) = (spellings(a), spellings(b)) else { return hole(true) };
    for text in more {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    one_of(all)
}

/// Exactly one of these texts.
pub(crate) fn one_of(mut all: Vec<String>) -> Word {
    match all.len() {
        1 => Word::Known(all.pop().unwrap_or_default()),
        2..=MAX_VALUES => Word::OneOf(all),
        _ => hole(true),
    }
}

fn spellings(word: &Word) -> Option<Vec<String>> {
    match word {
        Word::Known(text) => Some(vec![text.clone()]),
        Word::OneOf(all) => Some(all.clone()),
        _ => None,
    }
}

/// Words written one behind the other as one word.
pub(crate) fn concat(parts: &[Word]) -> Word {
    let mut ways: Vec<Vec<Piece>> = vec![Vec::new()];
    for part in parts {
        let choices: Vec<Vec<Piece>> = match part {
            Word::Known(text) => vec![vec![Piece::Text(text.clone())]],
            Word::OneOf(all) if all.len() * ways.len() <= MAX_VALUES => {
                all.iter().map(|text| vec![Piece::Text(text.clone())]).collect()
            }
            Word::Tilde(text) => vec![vec![Piece::Tilde(text.clone())]],
            Word::Unknown(pieces) => vec![pieces.iter().map(quoted).collect()],
            Word::Glob(_) | Word::OneOf(_) => vec![vec![Piece::Hole { quoted: true }]],
        };
        if let [choice] = choices.as_slice() {
            // Copied for each part, a long text would take time that grows with its square.
            for way in &mut ways {
                way.extend(choice.iter().cloned());
            }
            continue;
        }
        ways = ways
            .iter()
            .flat_map(|way| {
                choices.iter().map(move |choice| {
                    let mut way = way.clone();
                    way.extend(choice.iter().cloned());
                    way
                })
            })
            .collect();
    }
    let mut words: Vec<Word> = ways.into_iter().map(assemble).collect();
    match words.len() {
        1 => words.pop().unwrap_or_else(|| hole(true)),
        _ => {
            let texts: Option<Vec<String>> = words.iter().map(|w| w.known().map(str::to_string)).collect();
            texts.map_or_else(|| hole(true), one_of)
        }
    }
}

fn quoted(piece: &Piece) -> Piece {
    match piece {
        Piece::Folder | Piece::Descriptor | Piece::Hole { .. } | Piece::Name => Piece::Hole { quoted: true },
        Piece::Value { name, unset, .. } => {
            Piece::Value { name: name.clone(), quoted: true, unset: unset.clone() }
        }
        other => other.clone(),
    }
}

/// Pieces as the word that they are.
fn assemble(pieces: Vec<Piece>) -> Word {
    let mut out: Vec<Piece> = Vec::new();
    let mut bytes = 0;
    for (at, piece) in pieces.into_iter().enumerate() {
        let piece = match piece {
            // A home in the middle of a word: an absolute path behind other text is nothing that is known.
            Piece::Tilde(_) if at > 0 && !out.is_empty() => Piece::Hole { quoted: true },
            other => other,
        };
        if let Piece::Text(text) | Piece::Tilde(text) = &piece {
            bytes += text.len();
        }
        match (out.last_mut(), piece) {
            (_, Piece::Text(text)) if text.is_empty() => {}
            (Some(Piece::Text(last) | Piece::Tilde(last)), Piece::Text(text)) => last.push_str(&text),
            (Some(Piece::Hole { .. }), Piece::Hole { .. }) => {}
            (_, piece) => out.push(piece),
        }
    }
    if bytes > MAX_VALUE_BYTES * 8 {
        return hole(true);
    }
    match out.as_slice() {
        [] => Word::Known(String::new()),
        [Piece::Text(text)] => Word::Known(text.clone()),
        [Piece::Tilde(text)] => Word::Tilde(text.replace('\\', "/")),
        [Piece::Value { .. }] => hole(true),
        _ => Word::Unknown(out),
    }
}

/// The value of a variable that every Windows session has, as a path that does not depend on the machine.
pub(crate) fn well_known(name: &str) -> Option<Word> {
    let tilde = |text: &str| Some(Word::Tilde(text.to_string()));
    let known = |text: &str| Some(Word::Known(text.to_string()));
    match name {
        "home" | "env:home" | "env:userprofile" | "env:homepath" => tilde("~"),
        "env:appdata" => tilde("~/AppData/Roaming"),
        "env:localappdata" => tilde("~/AppData/Local"),
        "env:temp" | "env:tmp" => tilde("~/AppData/Local/Temp"),
        "env:onedrive" => tilde("~/OneDrive"),
        "profile" => tilde("~/Documents/PowerShell/Microsoft.PowerShell_profile.ps1"),
        "env:systemroot" | "env:windir" => known("C:/Windows"),
        "env:systemdrive" | "env:homedrive" => known("C:"),
        "env:programfiles" => known("C:/Program Files"),
        "env:programfiles(x86)" => known("C:/Program Files (x86)"),
        "env:programdata" | "env:allusersprofile" => known("C:/ProgramData"),
        "env:public" => known("C:/Users/Public"),
        "env:comspec" => known("C:/Windows/System32/cmd.exe"),
        "pshome" => known("C:/Program Files/PowerShell/7"),
        "pwd" => known("."),
        "true" => known("True"),
        "false" => known("False"),
        _ => None,
    }
}
