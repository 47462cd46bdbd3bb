//! Reads JavaScript and TypeScript, with tags where they may stand.
//!
//! INVARIANT: a stack of modes (code, template, tag, content of a tag) instead of recursion; a `/` or `<` is told apart by the token
//! before it; a line in which no regular expression ends is looked through once for it.

use super::markup::{NO_ATTRS, Shape, Tag, VOID};
use super::{Code, Kind};
use crate::file::{byte, is_name, part};

enum Mode {
    /// Open braces inside, and the attribute whose value it is.
    Code {
        depth: u32,
        ends_attr: Option<usize>,
    },
    Template,
    Tag(usize),
    Content,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Operator,
    Operand,
    Tag,
}

const OPS: [&str; 24] = [
    "===", "!==", "...", "**=", "&&=", "||=", "??=", ">>>", "=>", "?.", "??", "==", "!=", "&&", "||", "<=",
    ">=", "++", "--", "+=", "-=", "*=", "/=", "**",
];
const WORDS_BEFORE_VALUE: [&str; 17] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "delete",
    "void",
    "throw",
    "new",
    "else",
    "do",
    "yield",
    "await",
    "instanceof",
    "default",
    "extends",
    "export",
];
/// Names of elements that are no names of types.
const ELEMENTS: [&str; 62] = [
    "div", "span", "img", "input", "select", "textarea", "button", "label", "form", "main", "nav", "header",
    "footer", "article", "section", "aside", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl",
    "dt", "dd", "table", "thead", "tbody", "tr", "td", "th", "svg", "path", "image", "iframe", "video",
    "audio", "canvas", "script", "style", "link", "meta", "title", "head", "body", "html", "br", "hr", "pre",
    "code", "strong", "em", "small", "p", "figure", "picture", "source", "option", "a",
];

struct Reader<'a> {
    code: Code<'a>,
    bytes: &'a [u8],
    at: usize,
    modes: Vec<Mode>,
    before: Before,
    /// No regular expression ends before this place.
    no_regex: usize,
    jsx: Tags,
    /// How many holes there were, and those that are open.
    holes: u32,
    inside: Vec<u32>,
    /// How many modes are tags or their content.
    elements: u32,
    root: u32,
}

/// Where tags may stand in a script.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tags {
    Nowhere,
    /// Where a value may stand.
    Values,
    /// Also behind a value, as in a piece of a file.
    Anywhere,
}

/// Reads a script.
pub(crate) fn read(text: &str, jsx: Tags) -> Code<'_> {
    let mut reader = Reader {
        code: Code::new(text),
        bytes: text.as_bytes(),
        at: 0,
        modes: vec![Mode::Code { depth: 0, ends_attr: None }],
        before: Before::Operator,
        no_regex: 0,
        jsx,
        holes: 0,
        inside: Vec::new(),
        elements: 0,
        root: 0,
    };
    if text.starts_with('\u{feff}') {
        reader.at = 3;
    }
    if part(text, reader.at, reader.at + 2) == "#!" {
        reader.line_comment();
    }
    while reader.at < reader.bytes.len() {
        match reader.modes.last() {
            Some(Mode::Code { .. }) => reader.code(),
            Some(Mode::Template) => reader.template(),
            Some(Mode::Tag(tag)) => {
                let tag = *tag;
                reader.tag(tag);
            }
            Some(Mode::Content) => reader.content(),
            None => break,
        }
    }
    reader.code
}

impl Reader<'_> {
    fn here(&self, ahead: usize) -> u8 {
        byte(self.bytes, self.at + ahead)
    }

    fn line_comment(&mut self) {
        let start = self.at;
        while self.at < self.bytes.len() && !matches!(self.here(0), b'\n' | b'\r') {
            self.at += 1;
        }
        self.code.comments.push((start as u32, self.at as u32));
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let rest = self.bytes.get(start + 2..).unwrap_or(&[]);
        self.at = rest
            .windows(2)
            .position(|pair| pair == b"*/")
            .map_or(self.bytes.len(), |end| start + 2 + end + 2);
        self.code.comments.push((start as u32, self.at as u32));
    }

    fn quoted(&mut self) {
        let start = self.at;
        let quote = self.here(0);
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.here(0) {
                b'\\' => self.at += 2,
                b'\n' | b'\r' => break,
                here => {
                    self.at += 1;
                    if here == quote {
                        break;
                    }
                }
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.code.push(Kind::Str, start, self.at);
        self.before = Before::Operand;
    }

    fn code(&mut self) {
        let start = self.at;
        match self.here(0) {
            b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
            b'/' if self.here(1) == b'/' => self.line_comment(),
            b'/' if self.here(1) == b'*' => self.block_comment(),
            b'/' if self.before == Before::Operator && self.regex() => {}
            b'"' | b'\'' => self.quoted(),
            b'`' => {
                self.code.push(Kind::Str, start, start + 1);
                self.at += 1;
                self.modes.push(Mode::Template);
            }
            b'<' if self.jsx != Tags::Nowhere && self.tag_begins() => self.open_tag(),
            here if here.is_ascii_digit() => {
                while is_name(self.here(0)) || (self.here(0) == b'.' && self.here(1).is_ascii_digit()) {
                    self.at += 1;
                }
                self.code.push(Kind::Number, start, self.at);
                self.before = Before::Operand;
            }
            here if is_name(here) || here == b'$' => {
                while is_name(self.here(0)) || self.here(0) == b'$' {
                    self.at += 1;
                }
                let property = self
                    .code
                    .tokens
                    .len()
                    .checked_sub(1)
                    .is_some_and(|last| matches!(self.code.word(last), "." | "?."));
                let word = part(self.code.text, start, self.at);
                self.before = if !property && WORDS_BEFORE_VALUE.contains(&word) {
                    Before::Operator
                } else {
                    Before::Operand
                };
                self.code.push(Kind::Name, start, self.at);
            }
            b'{' => {
                if let Some(Mode::Code { depth, .. }) = self.modes.last_mut() {
                    *depth += 1;
                }
                self.at += 1;
                self.code.push_op(start, self.at);
                self.before = Before::Operator;
            }
            b'}' => self.close_brace(),
            _ => {
                let length = OPS
                    .iter()
                    .find(|op| part(self.code.text, start, start + op.len()) == **op)
                    .map_or(1, |op| op.len());
                self.at += length;
                self.code.push_op(start, self.at);
                self.before = match self.bytes.get(start) {
                    Some(b')' | b']') => Before::Operand,
                    _ => Before::Operator,
                };
            }
        }
    }

    fn close_brace(&mut self) {
        let start = self.at;
        self.at += 1;
        self.code.push_op(start, self.at);
        self.before = Before::Operator;
        let inner = self.modes.len() > 1;
        let Some(Mode::Code { depth, ends_attr, .. }) = self.modes.last_mut() else { return };
        if *depth > 0 || !inner {
            *depth = depth.saturating_sub(1);
            return;
        }
        if let Some(attr) = ends_attr.and_then(|attr| self.code.markup.attrs.get_mut(attr))
            && let Some(value) = attr.value.as_mut()
        {
            value.1 = start as u32;
        }
        self.modes.pop();
        self.inside.pop();
    }

    /// A regular expression that ends on its line.
    fn regex(&mut self) -> bool {
        if self.at < self.no_regex {
            return false;
        }
        let start = self.at;
        let mut at = start + 1;
        let mut class = false;
        loop {
            match byte(self.bytes, at) {
                b'\\' => at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => break,
                b'\n' | b'\r' => {
                    self.no_regex = at;
                    return false;
                }
                _ if at >= self.bytes.len() => {
                    self.no_regex = at;
                    return false;
                }
                _ => {}
            }
            at += 1;
        }
        at += 1;
        while byte(self.bytes, at).is_ascii_alphabetic() {
            at += 1;
        }
        self.at = at;
        self.code.push(Kind::Regex, start, at);
        self.before = Before::Operand;
        true
    }

    fn template(&mut self) {
        let start = self.at;
        while self.at < self.bytes.len() {
            match (self.here(0), self.here(1)) {
                (b'\\', _) => self.at += 2,
                (b'`', _) => {
                    self.at += 1;
                    self.code.push(Kind::Str, start, self.at);
                    self.modes.pop();
                    self.before = Before::Operand;
                    return;
                }
                (b'$', b'{') => {
                    self.code.push(Kind::Str, start, self.at);
                    self.at += 1;
                    self.enter_hole(None);
                    return;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.bytes.len();
        self.code.push(Kind::Str, start, self.at);
    }

    /// Over a `{` into the code behind it.
    fn enter_hole(&mut self, ends_attr: Option<usize>) {
        self.code.push_op(self.at, self.at + 1);
        self.at += 1;
        self.holes += 1;
        self.inside.push(if ends_attr.is_some() { self.hole() } else { self.holes });
        self.modes.push(Mode::Code { depth: 0, ends_attr });
        self.before = Before::Operator;
    }

    fn hole(&self) -> u32 {
        self.inside.last().copied().unwrap_or(0)
    }

    fn tag_begins(&self) -> bool {
        let next = self.here(1);
        if !(next.is_ascii_alphabetic() || next == b'_' || next == b'$' || next == b'>') {
            return false;
        }
        let mut end = self.at + 1;
        while end < self.at + 64 && is_tag_name(byte(self.bytes, end)) {
            end += 1;
        }
        let name = part(self.code.text, self.at + 1, end);
        let behind = byte(self.bytes, end);
        if self.before == Before::Operand {
            // `call<name>(…)` is a type all the same.
            let typed = behind == b'>' && byte(self.bytes, end + 1) == b'(';
            let closed = behind == b'/' && byte(self.bytes, end + 1) == b'>';
            let ends = closed || matches!(behind, b'>' | b' ' | b'\n');
            return self.jsx == Tags::Anywhere && ELEMENTS.contains(&name) && ends && !typed;
        }
        let mut next = end;
        while next < end + 64 && matches!(byte(self.bytes, next), b' ' | b'\n' | b'\r' | b'\t') {
            next += 1;
        }
        // `<T,>(…)` and `<T extends X>(…)` are types.
        byte(self.bytes, next) != b',' && part(self.code.text, next, next + 8) != "extends "
    }

    fn open_tag(&mut self) {
        let start = self.at;
        let inside = self.elements > 0;
        self.at += 1;
        let name = self.at;
        while is_tag_name(self.here(0)) {
            self.at += 1;
        }
        let index = self.code.markup.tags.len();
        if !inside {
            self.root = index as u32;
        }
        let hole = self.hole();
        self.code.push(Kind::Tag, start, self.at);
        self.code.markup.tags.push(Tag {
            start: start as u32,
            end: self.at as u32,
            name: (name as u32, self.at as u32),
            shape: Shape::Open,
            attrs: NO_ATTRS,
            spread: false,
            root: self.root,
            hole: if inside { hole } else { 0 },
            mate: u32::MAX,
        });
        // The types of a generic component.
        if self.here(0) == b'<' {
            let mut depth = 0;
            let end = self.at + 256;
            while self.at < end.min(self.bytes.len()) {
                match self.here(0) {
                    b'<' => depth += 1,
                    b'>' => depth -= 1,
                    _ => {}
                }
                self.at += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        self.modes.push(Mode::Tag(index));
        self.elements += 1;
    }

    fn tag(&mut self, index: usize) {
        match self.here(0) {
            b'/' if self.here(1) == b'/' => self.line_comment(),
            b'/' if self.here(1) == b'*' => self.block_comment(),
            b'/' if self.here(1) == b'>' => {
                self.at += 2;
                self.end_tag(index, true);
            }
            b'>' => {
                self.at += 1;
                self.end_tag(index, false);
            }
            b'{' => {
                let mut next = self.at + 1;
                while matches!(byte(self.bytes, next), b' ' | b'\n' | b'\r' | b'\t') && next < self.at + 64 {
                    next += 1;
                }
                if part(self.code.text, next, next + 3) == "..."
                    && let Some(tag) = self.code.markup.tags.get_mut(index)
                {
                    tag.spread = true;
                }
                self.enter_hole(None);
            }
            here if is_name(here) || matches!(here, b'$' | b'@' | b':' | b'-') => self.attribute(index),
            _ => self.at += 1,
        }
    }

    fn attribute(&mut self, tag: usize) {
        let start = self.at;
        while is_tag_name(self.here(0)) || matches!(self.here(0), b'@' | b'$') {
            self.at += 1;
        }
        let name = (start as u32, self.at as u32);
        let mut next = self.at;
        while matches!(byte(self.bytes, next), b' ' | b'\n' | b'\r' | b'\t') {
            next += 1;
        }
        let index = self.code.markup.push_attr(tag, name);
        if byte(self.bytes, next) != b'=' {
            self.at = next;
            return;
        }
        next += 1;
        while matches!(byte(self.bytes, next), b' ' | b'\n' | b'\r' | b'\t') {
            next += 1;
        }
        self.at = next;
        match self.here(0) {
            quote @ (b'"' | b'\'') => {
                let rest = self.bytes.get(next + 1..).unwrap_or(&[]);
                let end = rest
                    .iter()
                    .position(|byte| *byte == quote)
                    .map_or(self.bytes.len(), |end| next + 1 + end);
                if let Some(attr) = self.code.markup.attrs.get_mut(index) {
                    attr.value = Some((next as u32 + 1, end as u32));
                }
                self.at = (end + 1).min(self.bytes.len());
            }
            b'{' => {
                if let Some(attr) = self.code.markup.attrs.get_mut(index) {
                    attr.value = Some((next as u32 + 1, self.bytes.len() as u32));
                    attr.expression = true;
                }
                self.enter_hole(Some(index));
            }
            _ => {}
        }
    }

    fn end_tag(&mut self, index: usize, single: bool) {
        let name = self.code.markup.tags.get(index).map_or("", |tag| self.code.markup.name(tag));
        let single = single || VOID.contains(&name);
        if let Some(tag) = self.code.markup.tags.get_mut(index) {
            tag.end = self.at as u32;
            if single {
                tag.shape = Shape::Single;
            }
        }
        self.modes.pop();
        if single {
            self.elements = self.elements.saturating_sub(1);
            self.before = Before::Tag;
        } else {
            self.modes.push(Mode::Content);
        }
    }

    fn content(&mut self) {
        match (self.here(0), self.here(1)) {
            (b'{', _) => self.enter_hole(None),
            (b'<', b'/') => {
                let start = self.at;
                self.at += 2;
                let name = self.at;
                while is_tag_name(self.here(0)) {
                    self.at += 1;
                }
                let name = (name as u32, self.at as u32);
                while self.at < self.bytes.len() && !matches!(self.here(0), b'>' | b'<') {
                    self.at += 1;
                }
                if self.here(0) == b'>' {
                    self.at += 1;
                }
                self.code.markup.tags.push(Tag {
                    start: start as u32,
                    end: self.at as u32,
                    name,
                    shape: Shape::Close,
                    attrs: NO_ATTRS,
                    spread: false,
                    root: self.root,
                    hole: 0,
                    mate: u32::MAX,
                });
                self.modes.pop();
                self.elements = self.elements.saturating_sub(1);
                self.before = Before::Tag;
            }
            (b'<', b'!') if part(self.code.text, self.at, self.at + 4) == "<!--" => {
                let rest = self.bytes.get(self.at..).unwrap_or(&[]);
                self.at = rest
                    .windows(3)
                    .position(|three| three == b"-->")
                    .map_or(self.bytes.len(), |end| self.at + end + 3);
            }
            (b'<', next) if next.is_ascii_alphabetic() || next == b'_' || next == b'>' => self.open_tag(),
            _ => self.at += 1,
        }
    }
}

fn is_tag_name(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'.' | b':' | b'-')
}
