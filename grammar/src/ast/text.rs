//! What lines say about texts: secrets, views, options of checks.
//!
//! INVARIANT: as written; nothing is looked up and no pattern is read.

use super::{List, Text};
use crate::source::{Span, Spanned};

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
    /// `expect found "…"`, `expect nothing "…"`.
    Expect(SecretExpect),
}

/// A text in which a secret must, or must not, be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretExpect {
    /// Whether it must be found.
    pub found: Spanned<bool>,
    /// The text, in pieces: a whole token in a policy would be taken for a leaked one.
    pub pieces: Vec<Text>,
    /// The whole line.
    pub span: Span,
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
