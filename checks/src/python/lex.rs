//! Reads Python into tokens, logical lines with their depth, and comments.
//!
//! INVARIANT: one pass with no way back, so linear; any bytes give some tokens, broken text never stops the reading. Holes of
//! f-strings belong to the one token of their string.

use std::ops::Deref;

use crate::file::{byte, is_name, part};
pub(crate) use crate::tokens::Kind;
use crate::tokens::Tokens;

/// One logical line: its tokens and how deep its block is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) level: u32,
}

/// A Python text in tokens.
pub(crate) struct Python<'a> {
    read: Tokens<'a>,
    pub(crate) lines: Vec<Line>,
    pub(crate) comments: Vec<(u32, u32)>,
}

impl<'a> Deref for Python<'a> {
    type Target = Tokens<'a>;

    fn deref(&self) -> &Tokens<'a> {
        &self.read
    }
}

const LONG: [&str; 4] = ["...", "**=", "//=", ">>="];
const PAIRS: [&str; 20] = [
    "**", "//", "->", ":=", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "@=",
    "<<", ">>", "<>",
];

impl<'a> Python<'a> {
    pub(crate) fn read(text: &'a str) -> Python<'a> {
        let mut python = Python { read: Tokens::new(text), lines: Vec::new(), comments: Vec::new() };
        let bytes = text.as_bytes();
        let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let mut columns: Vec<usize> = vec![0];
        let mut line_first = 0;
        let mut fresh = true;
        while at < bytes.len() {
            if fresh && python.is_closed() {
                let (behind, column) = indent(bytes, at);
                at = behind;
                fresh = false;
                if !matches!(byte(bytes, at), b'#' | b'\n' | b'\r') && at < bytes.len() {
                    while columns.len() > 1 && columns.last().is_some_and(|top| *top > column) {
                        columns.pop();
                    }
                    if columns.last().is_some_and(|top| *top < column) {
                        columns.push(column);
                    }
                }
                continue;
            }
            let here = byte(bytes, at);
            let start = at;
            match here {
                b'\n' | b'\r' => {
                    at += 1;
                    if python.is_closed() {
                        python.end_line(&mut line_first, columns.len());
                        fresh = true;
                    }
                }
                b' ' | b'\t' | 0x0c => at += 1,
                b'\\' if matches!(byte(bytes, at + 1), b'\n' | b'\r') => {
                    at += if byte(bytes, at + 1) == b'\r' && byte(bytes, at + 2) == b'\n' { 3 } else { 2 };
                }
                b'#' => {
                    while at < bytes.len() && !matches!(byte(bytes, at), b'\n' | b'\r') {
                        at += 1;
                    }
                    python.comments.push((start as u32, at as u32));
                }
                b'"' | b'\'' => {
                    at = string_end(bytes, at, false, &mut None);
                    python.read.push(Kind::Str, start, at);
                }
                _ if here.is_ascii_digit() || (here == b'.' && byte(bytes, at + 1).is_ascii_digit()) => {
                    at += 1;
                    while is_name(byte(bytes, at)) || byte(bytes, at) == b'.' {
                        at += 1;
                    }
                    python.read.push(Kind::Number, start, at);
                }
                _ if is_name(here) => {
                    while at < bytes.len() && is_name(byte(bytes, at)) {
                        at += 1;
                    }
                    let prefix = part(text, start, at);
                    if matches!(byte(bytes, at), b'"' | b'\'') && is_prefix(prefix) {
                        at = string_end(bytes, at, has_holes(prefix), &mut None);
                        python.read.push(Kind::Str, start, at);
                    } else {
                        python.read.push(Kind::Name, start, at);
                    }
                }
                _ => {
                    let long = LONG.iter().any(|op| part(text, at, at + 3) == *op);
                    let pair = PAIRS.iter().any(|op| part(text, at, at + 2) == *op);
                    at += if long {
                        3
                    } else if pair {
                        2
                    } else {
                        1
                    };
                    python.read.push_op(start, at);
                }
            }
        }
        python.end_line(&mut line_first, columns.len());
        python
    }

    fn end_line(&mut self, first: &mut usize, depth: usize) {
        let end = self.tokens.len();
        if end > *first {
            self.lines.push(Line { first: *first, end, level: depth as u32 - 1 });
            *first = end;
        }
    }

    /// The lines of the block under a line: those directly behind it that are deeper.
    pub(crate) fn block(&self, line: usize) -> &[Line] {
        let level = self.lines.get(line).map_or(0, |line| line.level);
        let rest = self.lines.get(line + 1..).unwrap_or(&[]);
        let length = rest.iter().position(|line| line.level <= level).unwrap_or(rest.len());
        rest.get(..length).unwrap_or(&[])
    }

    /// The colon that ends the head of a compound line, outside brackets; the end of the line when there is none.
    pub(crate) fn head_end(&self, line: &Line) -> usize {
        let mut at = line.first;
        while at < line.end {
            match self.word(at) {
                ":" => return at,
                "(" | "[" | "{" => at = self.close(at) + 1,
                "lambda" => {
                    while at < line.end && self.word(at) != ":" {
                        at += 1;
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
        line.end
    }

    /// The dotted name that ends at token `last`, read backwards: `os.path.join`.
    pub(crate) fn dotted(&self, last: usize) -> Vec<&'a str> {
        let mut names = vec![self.word(last)];
        let mut at = last;
        while at >= 2 && names.len() < 8 && self.word(at - 1) == "." && self.kind(at - 2) == Some(Kind::Name)
        {
            at -= 2;
            names.push(self.word(at));
        }
        if at >= 1 && self.word(at - 1) == "." {
            names.push("?");
        }
        names.reverse();
        names
    }
}

fn indent(bytes: &[u8], mut at: usize) -> (usize, usize) {
    let mut column = 0;
    loop {
        match byte(bytes, at) {
            b' ' => column += 1,
            b'\t' => column = column / 8 * 8 + 8,
            0x0c => column = 0,
            _ => return (at, column),
        }
        at += 1;
    }
}

/// Do these letters in front of a quote belong to the string?
fn is_prefix(letters: &str) -> bool {
    letters.len() <= 2
        && matches!(
            letters.to_ascii_lowercase().as_str(),
            "r" | "u" | "b" | "f" | "t" | "br" | "rb" | "fr" | "rf" | "tr" | "rt"
        )
}

fn has_holes(prefix: &str) -> bool {
    prefix.bytes().any(|letter| matches!(letter, b'f' | b'F' | b't' | b'T'))
}

struct Level {
    quote: u8,
    triple: bool,
    formatted: bool,
    /// Open brackets of the hole that is being read; none in the text itself.
    depth: u32,
    /// Behind the colon of a hole, where a quote is only a letter.
    format: bool,
}

/// The place behind the string whose first quote is at `at`. Holes of an f-string are noted, those of strings inside its holes not.
pub(crate) fn string_end(
    bytes: &[u8],
    at: usize,
    formatted: bool,
    holes: &mut Option<Vec<(usize, usize)>>,
) -> usize {
    let (mut at, first) = open_string(bytes, at, formatted);
    let mut levels = vec![first];
    let mut hole = at;
    while at < bytes.len() {
        let outer = levels.len() == 1;
        let Some(level) = levels.last_mut() else { return at };
        let here = byte(bytes, at);
        if !level.triple && matches!(here, b'\n' | b'\r') {
            levels.pop();
            continue;
        }
        let in_text = level.depth == 0 || (level.format && level.depth == 1);
        if in_text {
            let closes = here == level.quote
                && (!level.triple || (byte(bytes, at + 1) == here && byte(bytes, at + 2) == here));
            if here == b'\\' {
                at += if byte(bytes, at + 1) == b'\r' && byte(bytes, at + 2) == b'\n' { 3 } else { 2 };
            } else if closes {
                at += if level.triple { 3 } else { 1 };
                levels.pop();
                if levels.is_empty() {
                    return at;
                }
            } else if level.formatted && here == b'{' {
                if level.depth == 0 && byte(bytes, at + 1) == b'{' {
                    at += 2;
                } else {
                    if level.depth == 0 {
                        hole = at + 1;
                    }
                    level.depth += 1;
                    at += 1;
                }
            } else if level.format && here == b'}' {
                level.depth = 0;
                level.format = false;
                if let (true, Some(holes)) = (outer, holes.as_mut()) {
                    holes.push((hole, at));
                }
                at += 1;
            } else {
                at += 1;
            }
            continue;
        }
        match here {
            b'{' | b'(' | b'[' => {
                level.depth += 1;
                at += 1;
            }
            b'}' | b')' | b']' => {
                level.depth -= 1;
                if let (true, 0, Some(holes)) = (outer, level.depth, holes.as_mut()) {
                    holes.push((hole, at));
                }
                at += 1;
            }
            b':' if level.depth == 1 => {
                level.format = true;
                at += 1;
            }
            b'"' | b'\'' => {
                let before = byte(bytes, at.wrapping_sub(1));
                let before_that = byte(bytes, at.wrapping_sub(2));
                let formatted = matches!(before, b'f' | b'F')
                    || (matches!(before, b'r' | b'R') && matches!(before_that, b'f' | b'F'));
                let (behind, inner) = open_string(bytes, at, formatted);
                levels.push(inner);
                at = behind;
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

fn open_string(bytes: &[u8], at: usize, formatted: bool) -> (usize, Level) {
    let quote = byte(bytes, at);
    let triple = byte(bytes, at + 1) == quote && byte(bytes, at + 2) == quote;
    (at + if triple { 3 } else { 1 }, Level { quote, triple, formatted, depth: 0, format: false })
}

/// One string token taken apart.
pub(crate) struct Literal<'a> {
    pub(crate) formatted: bool,
    pub(crate) bytes: bool,
    pub(crate) body: &'a str,
    /// The expressions in its holes.
    pub(crate) holes: Vec<&'a str>,
    /// The text with one `HOLE` for each hole.
    pub(crate) template: String,
}

/// Stands for a hole in a template.
pub(crate) const HOLE: char = '\u{1}';

/// Takes a string token apart.
pub(crate) fn literal(token: &str) -> Literal<'_> {
    let quote = token.find(['"', '\'']).unwrap_or(0);
    let prefix = part(token, 0, quote);
    let mut spans = Some(Vec::new());
    if has_holes(prefix) {
        string_end(token.as_bytes(), quote, true, &mut spans);
    }
    let rest = part(token, quote, token.len());
    let mark = rest.bytes().next();
    let triple = rest.len() >= 3 && rest.bytes().take(3).all(|letter| Some(letter) == mark);
    let width = if triple { 3 } else { 1 };
    let body = part(rest, width, rest.len());
    let body = body.strip_suffix(part(rest, 0, width)).unwrap_or(body);
    let mut template = String::new();
    let mut holes = Vec::new();
    let mut at = quote + width;
    let end = at + body.len();
    for (start, stop) in spans.unwrap_or_default() {
        template.push_str(part(token, at, start.saturating_sub(1)));
        template.push(HOLE);
        holes.push(part(token, start, stop));
        at = stop + 1;
    }
    template.push_str(part(token, at, end));
    Literal {
        formatted: prefix.bytes().any(|letter| matches!(letter, b'f' | b'F')),
        bytes: prefix.bytes().any(|letter| matches!(letter, b'b' | b'B')),
        body,
        holes,
        template,
    }
}
