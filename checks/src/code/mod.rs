//! Readers of code and markup: tokens, comments, tags.
//!
//! INVARIANT: one pass over the text with a stack of modes, no way back; every reader takes any bytes.

pub(crate) mod html;
pub(crate) mod markup;
pub(crate) mod plain;
pub(crate) mod script;

use std::ops::{Deref, DerefMut};

use crate::file::File;
pub(crate) use crate::tokens::Kind;
use crate::tokens::Tokens;
use markup::Markup;

/// A text of code in tokens.
pub(crate) struct Code<'a> {
    read: Tokens<'a>,
    pub(crate) comments: Vec<(u32, u32)>,
    pub(crate) markup: Markup<'a>,
}

impl<'a> Deref for Code<'a> {
    type Target = Tokens<'a>;

    fn deref(&self) -> &Tokens<'a> {
        &self.read
    }
}

impl DerefMut for Code<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.read
    }
}

impl<'a> Code<'a> {
    fn new(text: &'a str) -> Code<'a> {
        Code { read: Tokens::new(text), comments: Vec::new(), markup: Markup::new(text) }
    }

    /// Do the tokens from `index` on have these texts?
    pub(crate) fn follows(&self, index: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.word(index + offset) == *word)
    }

    /// Is there a token of that name?
    pub(crate) fn says(&self, names: &[&str]) -> bool {
        (0..self.tokens.len()).any(|at| self.kind(at) == Some(Kind::Name) && names.contains(&self.word(at)))
    }
}

/// Code that a file holds for all checks, or that was read for one.
pub(crate) enum Loaded<'f> {
    Shared(&'f Code<'f>),
    Own(Code<'f>),
}

impl<'f> Deref for Loaded<'f> {
    type Target = Code<'f>;

    fn deref(&self) -> &Code<'f> {
        match self {
            Loaded::Shared(code) => code,
            Loaded::Own(code) => code,
        }
    }
}

/// The code of a file by its extension: scripts, code inside markup, and other languages; none for Python and for prose.
pub(crate) fn read<'f>(file: &'f File, masked: &'f mut String) -> Option<Loaded<'f>> {
    if file.path.is_script() {
        return Some(Loaded::Shared(file.script()));
    }
    if file.path.is_html() {
        *masked = html::scripts(file.html(), file.path.extension == "astro");
        return Some(Loaded::Own(script::read(masked, script::Tags::Nowhere)));
    }
    plain::syntax(&file.path).map(|syntax| Loaded::Own(plain::read(file.text, &syntax)))
}

/// The tags of a file that describes what a user sees.
pub(crate) fn tags<'f, 'a>(file: &'f File<'a>) -> &'f Markup<'a> {
    if file.path.is_html() { &file.html().markup } else { &file.script().markup }
}
