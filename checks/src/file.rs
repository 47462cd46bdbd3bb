//! One text with what its path says: its kind, its lines, and findings placed in it.
//!
//! INVARIANT: built in one pass over the text; a place is found by binary search, never by counting from the start.

use std::cell::OnceCell;

use crate::Found;
use crate::code::{Code, html, script};
use crate::paths::Path;
use crate::python::lex::Python;

/// A text and its path, ready to be looked at.
pub(crate) struct File<'a> {
    pub(crate) path: Path<'a>,
    pub(crate) text: &'a str,
    /// Where each line starts; `\n`, `\r\n` and a lone `\r` end a line.
    starts: Vec<u32>,
    python: OnceCell<Python<'a>>,
    script: OnceCell<Code<'a>>,
    html: OnceCell<Code<'a>>,
}

/// The byte at `at`, zero behind the end.
pub(crate) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Can this byte be part of a name? Every byte of a letter outside ASCII can.
pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The part of a text between two places, empty where they are not both on letter edges.
pub(crate) fn part(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or("")
}

impl<'a> File<'a> {
    pub(crate) fn new(path: &'a str, text: &'a str) -> File<'a> {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte_here) in bytes.iter().enumerate() {
            let ends = match byte_here {
                b'\n' => true,
                b'\r' => byte(bytes, at + 1) != b'\n',
                _ => false,
            };
            if ends {
                starts.push(at as u32 + 1);
            }
        }
        File {
            path: Path::new(path),
            text,
            starts,
            python: OnceCell::new(),
            script: OnceCell::new(),
            html: OnceCell::new(),
        }
    }

    /// The text read as Python, once for all checks.
    pub(crate) fn python(&self) -> &Python<'a> {
        self.python.get_or_init(|| Python::read(self.text))
    }

    /// The text read as a script, once for all checks; its tags are joined.
    pub(crate) fn script(&self) -> &Code<'a> {
        self.script.get_or_init(|| {
            let tags = if self.path.is_jsx() {
                script::Tags::Anywhere
            } else if self.path.is(&["js", "mjs", "cjs"]) {
                script::Tags::Values
            } else {
                script::Tags::Nowhere
            };
            let mut code = script::read(self.text, tags);
            code.markup.link();
            code
        })
    }

    /// The tags and comments of the text read as HTML, once for all checks; its tags are joined.
    pub(crate) fn html(&self) -> &Code<'a> {
        self.html.get_or_init(|| {
            let mut code = html::read(self.text);
            code.markup.link();
            code
        })
    }

    /// How many lines the text has; an end of line at the very end begins no further one.
    pub(crate) fn line_count(&self) -> usize {
        let open = self.starts.last().is_some_and(|start| (*start as usize) < self.text.len());
        self.starts.len() - usize::from(!open)
    }

    /// The lines with the place where each starts, without their ends.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        (0..self.line_count()).map(|index| self.line(index))
    }

    fn line(&self, index: usize) -> (usize, &'a str) {
        let start = self.starts.get(index).map_or(self.text.len(), |start| *start as usize);
        let end = self.starts.get(index + 1).map_or(self.text.len(), |start| *start as usize);
        (start, part(self.text, start, end).trim_end_matches(['\n', '\r']))
    }

    /// What a finding in the line with a 1-based number is known by: the line without its indentation, of an endless one the beginning.
    pub(crate) fn line_key(&self, number: u32) -> &'a str {
        let line = if number == 0 { "" } else { self.line(number as usize - 1).1.trim() };
        let mut end = line.len().min(256);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        part(line, 0, end)
    }

    fn place(&self, offset: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start as usize <= offset).max(1);
        let start = self.starts.get(line - 1).map_or(0, |start| *start as usize);
        // Counting letters in one endless line for each finding would be quadratic: far out the column is unknown.
        let column =
            if offset - start > 4096 { 0 } else { part(self.text, start, offset).chars().count() + 1 };
        (line as u32, column as u32)
    }

    /// A finding at a place of the text.
    pub(crate) fn found(
        &self,
        offset: usize,
        message: impl Into<String>,
        suggest: impl Into<String>,
    ) -> Found {
        let (line, column) = self.place(offset);
        Found { line, column, message: message.into(), suggest: suggest.into(), severity: None }
    }

    /// A finding about the text as a whole.
    pub(crate) fn found_whole(&self, message: impl Into<String>, suggest: impl Into<String>) -> Found {
        Found { line: 0, column: 0, message: message.into(), suggest: suggest.into(), severity: None }
    }
}
