//! Where the block that a line opens ends.
//!
//! INVARIANT: one pass over the lines; what does not parse has no strict scope.

use super::seek::{Lines, Scope};

/// The end of each line's block.
#[derive(Debug)]
pub(super) struct Scopes {
    /// The line behind the block of each line.
    ends: Vec<u32>,
    /// The lines are those of a Python file that could be read.
    python: bool,
}

impl Scopes {
    pub(super) fn new(lines: &Lines<'_>, python: bool) -> Scopes {
        let read = if python { Python::indents(lines) } else { None };
        let python = read.is_some();
        let indents = read.unwrap_or_else(|| (0..lines.len()).map(|at| indent(lines.get(at))).collect());
        let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        let mut ends = vec![count; lines.len()];
        // Blocks that are still open: their line and how far it is indented.
        let mut open: Vec<(usize, u32)> = Vec::new();
        for ((at, indent), line) in indents.iter().enumerate().zip(0u32..) {
            let Some(indent) = indent else { continue };
            let closes = !python && lines.get(at).trim_start().starts_with(['}', ')', ']']);
            while let Some((opener, outer)) = open.last().copied()
                && outer >= *indent
            {
                // The line that closes a block belongs to it.
                let end = if closes && outer == *indent { line + 1 } else { line };
                if let Some(place) = ends.get_mut(opener) {
                    *place = end;
                }
                open.pop();
            }
            open.push((at, *indent));
        }
        Scopes { ends, python }
    }

    /// The block of an anchor.
    pub(super) fn of(&self, at: usize, anchor: &str) -> Scope {
        let Some(end) = self.ends.get(at) else { return Scope::NONE };
        Scope { end: *end as usize, strict: self.python && opens_python_scope(anchor) }
    }
}

fn opens_python_scope(line: &str) -> bool {
    let line = line.trim_start();
    let line = line
        .strip_prefix("async")
        .map_or(line, |rest| if rest.starts_with([' ', '\t']) { rest.trim_start() } else { line });
    ["def", "class"]
        .iter()
        .any(|word| line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t'])))
}

/// How far a line is indented; nothing for an empty one.
fn indent(line: &str) -> Option<u32> {
    let mut width = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => width += 1,
            b'\t' => width = (width / 8 + 1) * 8,
            b'\r' | 0x0c => {}
            _ => return Some(width),
        }
    }
    None
}

/// Reads Python as far as it must be read to know which lines begin a statement.
#[derive(Debug, Default)]
struct Python {
    /// What closes the brackets that are open.
    open: Vec<u8>,
    /// The quote of a text that goes on behind the line, and whether three of it end it.
    quote: Option<(u8, bool)>,
    /// The line ends in a backslash.
    joined: bool,
}

impl Python {
    /// The indent of each line that begins a statement; nothing when the file is no Python.
    fn indents(lines: &Lines<'_>) -> Option<Vec<Option<u32>>> {
        let mut reader = Python::default();
        let mut indents = Vec::with_capacity(lines.len());
        for at in 0..lines.len() {
            let line = lines.get(at);
            let begins = reader.open.is_empty() && reader.quote.is_none() && !reader.joined;
            let says = !line.trim_start().starts_with('#');
            indents.push(indent(line).filter(|_| begins && says));
            reader.line(line)?;
        }
        (reader.open.is_empty() && reader.quote.is_none() && !reader.joined).then_some(indents)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let bytes = line.strip_suffix('\r').unwrap_or(line).as_bytes();
        let mut at = 0;
        self.joined = false;
        while let Some(byte) = bytes.get(at) {
            let three = bytes.get(at..at + 3) == Some([*byte; 3].as_slice());
            match (self.quote, byte) {
                (Some(_), b'\\') => at += 1,
                (Some((quote, true)), byte) if quote == *byte && three => {
                    self.quote = None;
                    at += 2;
                }
                (Some((quote, false)), byte) if quote == *byte => self.quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => {
                    self.quote = Some((*byte, three));
                    at += if three { 2 } else { 0 };
                }
                (None, b'(') => self.open.push(b')'),
                (None, b'[') => self.open.push(b']'),
                (None, b'{') => self.open.push(b'}'),
                (None, b')' | b']' | b'}') if self.open.pop() != Some(*byte) => return None,
                (None, b'#') => break,
                (None, b'\\') if at + 1 == bytes.len() => self.joined = true,
                (None, _) => {}
            }
            at += 1;
        }
        // A text in single quotes goes on only behind a backslash.
        match self.quote {
            Some((_, false)) if bytes.last() != Some(&b'\\') => None,
            _ => Some(()),
        }
    }
}
