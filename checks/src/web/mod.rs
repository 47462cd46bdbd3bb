//! The checks of what a user sees: tags, classes, React and search engines.
//!
//! INVARIANT: tags are read over any number of lines, with comments and strings left out; what a spread may hold is never called missing.

pub(crate) mod access;
pub(crate) mod react;
pub(crate) mod seo;
pub(crate) mod style;

use crate::code::markup::{Markup, Tag};

/// The place of a tag for a finding.
pub(crate) fn at(tag: &Tag) -> usize {
    tag.start as usize
}

/// Is the name of the tag this element, in any case?
pub(crate) fn is(markup: &Markup, tag: &Tag, names: &[&str]) -> bool {
    names.iter().any(|name| markup.name(tag) == *name)
}
