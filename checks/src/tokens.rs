//! Tokens of a text with their brackets, whatever the language.
//!
//! INVARIANT: a bracket is joined with the last open one, and with none twice; a place behind the last token is no text.

use crate::file::part;

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

/// The tokens of a text.
pub(crate) struct Tokens<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<Token>,
    /// For each token that opens a bracket the one that closes it, and back; itself for others.
    mate: Vec<u32>,
    /// The brackets that are open.
    open: Vec<usize>,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Tokens<'a> {
        Tokens { text, tokens: Vec::new(), mate: Vec::new(), open: Vec::new() }
    }

    pub(crate) fn push(&mut self, kind: Kind, start: usize, end: usize) {
        self.mate.push(self.tokens.len() as u32);
        self.tokens.push(Token { kind, start: start as u32, end: end as u32 });
    }

    /// Pushes an operator and joins it with its bracket.
    pub(crate) fn push_op(&mut self, start: usize, end: usize) {
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

    /// Whether no bracket is open.
    pub(crate) fn is_closed(&self) -> bool {
        self.open.is_empty()
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
}
