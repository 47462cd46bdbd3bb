//! Readers of code and markup: tokens, comments, tags.
//!
//! INVARIANT: one pass over the text with a stack of modes, no way back; every reader takes any bytes.

pub(crate) mod html;
pub(crate) mod markup;
pub(crate) mod plain;
pub(crate) mod script;

use std::ops::Deref;

use crate::file::{File, part};
use markup::Markup;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    Number,
    Str,
    Regex,
    Op,
    /// A tag opens here, its token is `<` with the name.
    Tag,
}

/// One token and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A text of code in tokens.
pub(crate) struct Code<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<Token>,
    pub(crate) comments: Vec<(u32, u32)>,
    /// For each token that opens a bracket the one that closes it, and back; itself for others.
    pub(crate) mate: Vec<u32>,
    pub(crate) markup: Markup<'a>,
    open: Vec<usize>,
}

impl<'a> Code<'a> {
    fn new(text: &'a str) -> Code<'a> {
        Code {
            text,
            tokens: Vec::new(),
            comments: Vec::new(),
            mate: Vec::new(),
            markup: Markup::new(text),
            open: Vec::new(),
        }
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        self.mate.push(self.tokens.len() as u32);
        self.tokens.push(Token { kind, start: start as u32, end: end as u32 });
    }

    /// Pushes an operator and joins it with its bracket.
    fn push_op(&mut self, start: usize, end: usize) {
        let index = self.tokens.len();
        self.push(Kind::Op, start, end);
        match part(self.text, start, end) {
            "(" | "[" | "{" => self.open.push(index),
            ")" | "]" | "}" => {
                if let Some(opened) = self.open.pop() {
                    if let Some(mate) = self.mate.get_mut(opened) {
                        *mate = index as u32;
                    }
                    if let Some(mate) = self.mate.get_mut(index) {
                        *mate = opened as u32;
                    }
                }
            }
            _ => {}
        }
    }

    /// The text of a token, empty behind the last.
    pub(crate) fn word(&self, index: usize) -> &'a str {
        self.tokens.get(index).map_or("", |token| part(self.text, token.start as usize, token.end as usize))
    }

    pub(crate) fn kind(&self, index: usize) -> Option<Kind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    pub(crate) fn start(&self, index: usize) -> usize {
        self.tokens.get(index).map_or(self.text.len(), |token| token.start as usize)
    }

    /// The token that closes the bracket opened at `index`; behind the last token when none does.
    pub(crate) fn close(&self, index: usize) -> usize {
        match self.mate.get(index) {
            Some(mate) if (*mate as usize) > index => *mate as usize,
            _ => self.tokens.len(),
        }
    }

    /// The token that opens the bracket closed at `index`; `index` itself when none does.
    pub(crate) fn opener(&self, index: usize) -> usize {
        self.mate.get(index).map_or(index, |mate| (*mate as usize).min(index))
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
