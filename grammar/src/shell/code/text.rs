//! Values that a code text works with, as far as they are known.
//!
//! INVARIANT: a value never grows beyond a fixed size; what is dropped becomes a hole, and where a text came from is
//! kept through every operation on it.

use crate::shell::{Piece, Word};

/// Most bytes of a text that is put together.
const MAX_TEXT: usize = 8 * 1024;
/// Most pieces of a text, elements of a list and sources of a text.
const MAX_PIECES: usize = 64;
const MAX_ELEMENTS: usize = 256;
const MAX_SOURCES: usize = 4;
/// Most texts that one value may stand for.
const MAX_CHOICES: usize = 16;

/// Where the content of a text came from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    /// This file was read.
    File(Word),
    /// It came over the network from there.
    Url(Word),
    /// The whole environment.
    Environment,
    /// What this command printed.
    Command(Word),
    /// What came on standard input.
    Input,
}

/// A text as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    pub(super) word: Word,
    pub(super) from: Vec<Source>,
    /// It came out of a decoder.
    pub(super) decoded: bool,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(Text),
    Number(i64),
    Flag(bool),
    List(Vec<Value>),
    /// Named values: an object, a hash, options.
    Table(Vec<(String, Value)>),
    /// A module, function or object by its dotted name.
    Name(String),
    /// An object that stands for a file or folder.
    Path(Text),
}

pub(super) fn hole() -> Word {
    Word::Unknown(vec![Piece::Hole { quoted: true }])
}

impl Text {
    pub(super) fn word(word: Word) -> Text {
        Text { word, from: Vec::new(), decoded: false }
    }

    pub(super) fn unknown() -> Text {
        Text::word(hole())
    }

    /// A text of which only the origin is known.
    pub(super) fn from(source: Source) -> Text {
        Text { from: vec![source], ..Text::unknown() }
    }

    /// Takes over where another text came from.
    pub(super) fn mark(&mut self, other: &Text) {
        self.decoded |= other.decoded;
        for source in &other.from {
            if self.from.len() < MAX_SOURCES && !self.from.contains(source) {
                self.from.push(source.clone());
            }
        }
    }

    /// This text and the other behind it.
    pub(super) fn join(mut self, other: &Text) -> Text {
        self.word = joined(&self.word, &other.word);
        self.mark(other);
        self
    }

    /// One of two texts, and whether only one of them stands for both.
    fn or(&self, other: &Text) -> (Text, bool) {
        let (word, lost) = match (choices(&self.word), choices(&other.word)) {
            (Some(mut one), Some(two)) => {
                one.extend(two);
                one.sort();
                one.dedup();
                let word = match one.len() {
                    1 => Word::Known(one.remove(0)),
                    2..=MAX_CHOICES => Word::OneOf(one),
                    _ => hole(),
                };
                (word, false)
            }
            _ if self.is_unknown() => (other.word.clone(), !other.is_unknown()),
            _ if other.is_unknown() => (self.word.clone(), true),
            _ => (hole(), false),
        };
        let mut text = Text::word(word);
        text.mark(self);
        text.mark(other);
        (text, lost)
    }

    /// Whether nothing of it is known.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(&self.word, Word::Unknown(pieces) if pieces.iter().all(|p| matches!(p, Piece::Hole { .. })))
    }
}

impl Value {
    pub(super) fn known(text: impl Into<String>) -> Value {
        Value::Text(Text::word(Word::Known(text.into())))
    }

    pub(super) fn unknown() -> Value {
        Value::Text(Text::unknown())
    }

    /// The text that this value is when it is used as one.
    pub(super) fn text(&self) -> Text {
        match self {
            Value::Text(text) | Value::Path(text) => text.clone(),
            Value::Number(number) => Text::word(Word::Known(number.to_string())),
            Value::Name(name) if name == "environ" => Text::from(Source::Environment),
            Value::Flag(_) | Value::Name(_) => Text::unknown(),
            Value::List(_) | Value::Table(_) => {
                let mut text = Text::unknown();
                self.mark(&mut text);
                text
            }
        }
    }

    /// Collects where all texts in this value came from.
    pub(super) fn mark(&self, into: &mut Text) {
        match self {
            Value::Text(text) | Value::Path(text) => into.mark(text),
            Value::List(values) => values.iter().for_each(|value| value.mark(into)),
            Value::Table(entries) => entries.iter().for_each(|(_, value)| value.mark(into)),
            Value::Name(name) if name == "environ" => into.mark(&Text::from(Source::Environment)),
            Value::Number(_) | Value::Flag(_) | Value::Name(_) => {}
        }
    }

    /// The words that this value is as arguments of a command; lists are taken apart.
    pub(super) fn words(&self) -> Vec<Word> {
        match self {
            Value::List(values) => values.iter().flat_map(Value::words).collect(),
            Value::Flag(_) | Value::Table(_) => Vec::new(),
            other => vec![other.text().word],
        }
    }

    pub(super) fn known_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) | Value::Path(text) => text.word.known(),
            _ => None,
        }
    }

    fn size(&self) -> usize {
        match self {
            Value::List(values) => 1 + values.iter().map(Value::size).sum::<usize>(),
            Value::Table(entries) => {
                1 + entries.iter().map(|(name, v)| name.len() / 64 + v.size()).sum::<usize>()
            }
            Value::Text(text) | Value::Path(text) => 1 + bytes(&text.word) / 64,
            _ => 1,
        }
    }

    /// The same value when it may be kept; else only where it came from.
    pub(super) fn bounded(self) -> Value {
        if self.size() <= MAX_ELEMENTS {
            return self;
        }
        let mut text = Text::unknown();
        self.mark(&mut text);
        Value::Text(text)
    }

    /// One of two values, and whether what either may be is not all in it: a reading then is not complete.
    pub(super) fn or(self, other: Value) -> (Value, bool) {
        if self == other {
            return (self, false);
        }
        match (self, other) {
            // What is true or false is no text and calls nothing.
            (Value::Flag(_), value) | (value, Value::Flag(_)) => (value, false),
            // Only one function can stand for both.
            (Value::Name(_), value) | (value, Value::Name(_)) => (value, true),
            (Value::List(a), Value::List(b)) => {
                let same = a.len() == b.len();
                let mut lost = false;
                let mut all: Vec<Value> = Vec::new();
                for (one, two) in a.into_iter().zip(b) {
                    let (value, less) = one.or(two);
                    lost |= less;
                    all.push(value);
                }
                if !same {
                    let rest = Word::Unknown(vec![Piece::Hole { quoted: false }]);
                    all.push(Value::Text(Text::word(rest)));
                }
                (Value::List(all), lost)
            }
            (one @ Value::Table(_), Value::Table(_)) => (one, true),
            (one @ (Value::List(_) | Value::Table(_)), two)
            | (one, two @ (Value::List(_) | Value::Table(_))) => {
                let mut text = Text::unknown();
                one.mark(&mut text);
                two.mark(&mut text);
                (Value::Text(text), false)
            }
            (one, two) => {
                let path = matches!(one, Value::Path(_)) || matches!(two, Value::Path(_));
                let (text, lost) = one.text().or(&two.text());
                (if path { Value::Path(text) } else { Value::Text(text) }, lost)
            }
        }
    }
}

fn choices(word: &Word) -> Option<Vec<String>> {
    match word {
        Word::Known(text) => Some(vec![text.clone()]),
        Word::OneOf(texts) => Some(texts.clone()),
        _ => None,
    }
}

fn bytes(word: &Word) -> usize {
    match word {
        Word::Known(text) | Word::Tilde(text) | Word::Glob(text) => text.len(),
        Word::OneOf(texts) => texts.iter().map(String::len).sum(),
        Word::Unknown(pieces) => pieces.iter().map(piece_bytes).sum(),
    }
}

fn piece_bytes(piece: &Piece) -> usize {
    match piece {
        Piece::Text(text) | Piece::Tilde(text) | Piece::Pattern(text) => text.len(),
        Piece::Folder | Piece::Descriptor | Piece::Name | Piece::Hole { .. } | Piece::Value { .. } => 1,
    }
}

fn pieces(word: &Word) -> Vec<Piece> {
    match word {
        Word::Known(text) | Word::Glob(text) => vec![Piece::Text(text.clone())],
        Word::Tilde(text) => match text.find('/') {
            Some(at) => vec![
                Piece::Tilde(text.get(..at).unwrap_or_default().to_string()),
                Piece::Text(text.get(at..).unwrap_or_default().to_string()),
            ],
            None => vec![Piece::Tilde(text.clone())],
        },
        Word::OneOf(_) => vec![Piece::Hole { quoted: true }],
        Word::Unknown(pieces) => pieces.clone(),
    }
}

/// One word directly behind another.
pub(super) fn joined(one: &Word, two: &Word) -> Word {
    if bytes(one) + bytes(two) > MAX_TEXT {
        return hole();
    }
    match (one, two) {
        (Word::Known(a), _) if a.is_empty() => two.clone(),
        (_, Word::Known(b)) if b.is_empty() => one.clone(),
        (Word::Known(a), Word::Known(b)) => Word::Known(format!("{a}{b}")),
        (Word::Tilde(a), Word::Known(b)) => Word::Tilde(format!("{a}{b}")),
        (Word::Glob(a), Word::Known(b)) => Word::Glob(format!("{a}{}", escaped(b))),
        (Word::OneOf(texts), Word::Known(b)) => {
            Word::OneOf(texts.iter().map(|a| format!("{a}{b}")).collect())
        }
        (Word::Known(a), Word::OneOf(texts)) => {
            Word::OneOf(texts.iter().map(|b| format!("{a}{b}")).collect())
        }
        _ => {
            let mut all = pieces(one);
            all.extend(pieces(two));
            // Neighbors of one kind are one piece.
            let mut out: Vec<Piece> = Vec::new();
            for piece in all {
                match (out.last_mut(), piece) {
                    (Some(Piece::Text(a)), Piece::Text(b)) => a.push_str(&b),
                    (Some(Piece::Hole { .. }), Piece::Hole { .. }) => {}
                    (_, piece) => out.push(piece),
                }
            }
            if out.len() > MAX_PIECES {
                return hole();
            }
            Word::Unknown(out)
        }
    }
}

fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| "*?[]\\".contains(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Two parts of a path, one below the other.
pub(super) fn below(folder: &Text, name: &Text) -> Text {
    match (&folder.word, &name.word) {
        (_, Word::Known(text)) if text.starts_with('/') => name.clone(),
        (_, Word::Tilde(_)) => name.clone(),
        (Word::Known(text), _) if text.is_empty() => name.clone(),
        (Word::Known(text) | Word::Tilde(text) | Word::Glob(text), _) if text.ends_with('/') => {
            folder.clone().join(name)
        }
        _ => folder.clone().join(&Text::word(Word::Known("/".into()))).join(name),
    }
}

/// A path in which a tilde at the start is the home folder.
pub(super) fn expanded(text: &Text) -> Text {
    let word = match &text.word {
        Word::Known(path) if path.starts_with('~') => Word::Tilde(path.clone()),
        Word::Unknown(parts) => match parts.split_first() {
            Some((Piece::Text(first), rest)) if first.starts_with('~') => {
                let (tilde, behind) = first.split_at(first.find('/').unwrap_or(first.len()));
                let mut out = vec![Piece::Tilde(tilde.to_string())];
                if !behind.is_empty() {
                    out.push(Piece::Text(behind.to_string()));
                }
                out.extend(rest.iter().cloned());
                Word::Unknown(out)
            }
            _ => text.word.clone(),
        },
        other => other.clone(),
    };
    Text { word, ..text.clone() }
}

/// A path that is a file-name pattern.
pub(super) fn pattern(text: &Text) -> Text {
    let word = match &text.word {
        Word::Known(path) | Word::Tilde(path) if path.contains(['*', '?', '[']) => Word::Glob(path.clone()),
        other => other.clone(),
    };
    Text { word, ..text.clone() }
}

/// The text as a shell would have to be given it.
pub(super) fn shell_quoted(word: &Word) -> Word {
    let quote = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    match word {
        Word::Known(text) => Word::Known(quote(text)),
        // The tilde is no tilde inside quotes.
        Word::Tilde(text) => match text.split_once('/') {
            Some((home, rest)) => Word::Known(format!("{home}/{}", quote(rest))),
            None => Word::Known(text.clone()),
        },
        Word::Glob(text) => Word::Known(text.clone()),
        Word::OneOf(_) => Word::Known("\"${_}\"".into()),
        Word::Unknown(parts) => {
            let mut out = String::new();
            for part in parts {
                match part {
                    Piece::Text(text) => out.push_str(&quote(text)),
                    Piece::Tilde(text) | Piece::Pattern(text) => out.push_str(text),
                    Piece::Folder
                    | Piece::Descriptor
                    | Piece::Name
                    | Piece::Hole { .. }
                    | Piece::Value { .. } => out.push_str("\"${_}\""),
                }
            }
            Word::Known(out)
        }
    }
}
