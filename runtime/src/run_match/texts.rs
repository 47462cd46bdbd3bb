//! The lists of texts in a run pattern: written out, or where they lie in a table.
//!
//! INVARIANT: nothing of a table is copied, and a text is read when it is compared. A list that cannot be read, or that takes
//! more work than is left, ends there and is remembered in its [`Lists`]; who asked them then has no answer.

use super::stored::Lists;
use crate::table::read::Words;
use std::fmt;

/// A list of texts, any one of which may match.
#[derive(Clone)]
pub struct Texts<'p>(Kind<'p>);

#[derive(Clone)]
enum Kind<'p> {
    Own(Vec<&'p str>),
    Stored {
        lists: &'p Lists<'p>,
        /// Its word in the section plus one; 0 when there is none.
        at: u32,
        /// What the automata over paths call it; 0 when they do not know it.
        id: u32,
    },
}

impl Default for Texts<'_> {
    fn default() -> Self {
        Texts(Kind::Own(Vec::new()))
    }
}

impl<'p> From<Vec<&'p str>> for Texts<'p> {
    fn from(texts: Vec<&'p str>) -> Texts<'p> {
        Texts(Kind::Own(texts))
    }
}

impl fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.each(0)).finish()
    }
}

impl<'p> Texts<'p> {
    pub(super) fn stored(lists: &'p Lists<'p>, at: u32, id: u32) -> Texts<'p> {
        Texts(Kind::Stored { lists, at, id })
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Kind::Own(texts) => texts.is_empty(),
            Kind::Stored { at, .. } => *at == 0,
        }
    }

    /// One after the other, to be compared with a value of this length.
    pub(crate) fn each(&self, length: usize) -> Each<'_, 'p> {
        match &self.0 {
            Kind::Own(texts) => Each::Own(texts.iter()),
            Kind::Stored { lists, at, .. } => Each::stored(lists, *at, length),
        }
    }

    /// Where paths are looked up instead of compared with each.
    pub(super) fn index(&self) -> Option<(&'p Lists<'p>, u32)> {
        match &self.0 {
            Kind::Stored { lists, id, .. } if *id != 0 => Some((lists, *id)),
            _ => None,
        }
    }
}

/// Goes through a list.
pub(crate) enum Each<'l, 'p> {
    /// Written out.
    Own(std::slice::Iter<'l, &'p str>),
    /// In a table.
    Stored {
        /// The table's.
        lists: &'p Lists<'p>,
        /// Where the next text is named.
        words: Words<'p>,
        /// How many are left.
        left: usize,
        /// Bytes of the value.
        length: usize,
    },
    /// None, or none that can be read.
    None,
}

impl<'p> Each<'_, 'p> {
    fn stored(lists: &'p Lists<'p>, at: u32, length: usize) -> Self {
        let Some(at) = at.checked_sub(1) else { return Each::None };
        let list = lists.words(at).and_then(|mut words| words.count().map(|left| (words, left)));
        match list {
            Ok((words, left)) => Each::Stored { lists, words, left, length },
            Err(damaged) => {
                lists.fail(damaged.into());
                Each::None
            }
        }
    }
}

impl<'p> Iterator for Each<'_, 'p> {
    type Item = &'p str;

    fn next(&mut self) -> Option<&'p str> {
        match self {
            Each::Own(texts) => texts.next().copied(),
            Each::Stored { lists, words, left, length } => {
                *left = left.checked_sub(1)?;
                let text = lists.text(words).and_then(|text| lists.spend(text.len(), *length).map(|()| text));
                match text {
                    Ok(text) => Some(text),
                    Err(failure) => {
                        lists.fail(failure);
                        *self = Each::None;
                        None
                    }
                }
            }
            Each::None => None,
        }
    }
}
