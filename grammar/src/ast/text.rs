//! What lines say about texts: secrets, views, options of checks.
//!
//! INVARIANT: as written; nothing is looked up and no pattern is read.

use super::{Expect, List, Text};
use crate::source::Span;

/// A part of a `secret` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPart {
    /// `keyword "a", "b"`.
    Keyword(List),
    /// `pattern r"…"`.
    Pattern(Text),
    /// `entropy 3.5`, as written.
    Entropy(Text),
    /// `checksum crc32`.
    Checksum(Text),
    /// `samples "…"`: values that are published, or stand for one.
    Samples(List),
    /// `because "…"`.
    Because(Text),
    /// `suggest "…"`.
    Suggest(Text),
    /// `expect …`.
    Expect(Expect),
}

/// Which part of a text a content line looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// What the call adds; the ordinary one, and not written by `policy fmt`.
    #[default]
    Added,
    /// The whole text as it was.
    Before,
    /// The whole text as it will be.
    After,
}

impl View {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            View::Added => "added",
            View::Before => "before",
            View::After => "after",
        }
    }
}

/// An option of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOption {
    /// Its name.
    pub name: Text,
    /// What is given.
    pub value: CheckValue,
}

/// The value of an option of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckValue {
    /// `500`, as written.
    Number(Text),
    /// `"text"`.
    Quoted(Text),
    /// A bare word, such as `on`.
    Word(Text),
    /// `["a", "b"]`.
    List(Vec<Text>, Span),
}
