//! Scripts of `sed`.
//!
//! INVARIANT: a script is complete when every command in it was understood; commands that run or write something are
//! listed with what they name.

use super::text::hole;
use super::{Found, Inside};
use crate::shell::Word;

/// Reads a script. Several scripts of one call are read one by one.
pub(super) fn read(code: &str) -> Found {
    let mut sed = Sed { rest: code, found: Found { inside: Vec::new(), complete: true } };
    while !sed.rest.is_empty() {
        let before = sed.rest.len();
        sed.command();
        if sed.rest.len() == before {
            sed.found.complete = false;
            break;
        }
    }
    sed.found
}

struct Sed<'s> {
    rest: &'s str,
    found: Found,
}

impl<'s> Sed<'s> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// The rest of the line.
    fn line(&mut self) -> &'s str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let line = self.rest.get(..end).unwrap_or_default();
        self.rest = self.rest.get(end..).unwrap_or_default();
        line
    }

    /// The text up to a delimiter, which is passed over.
    fn delimited(&mut self, delimiter: char) -> Option<&'s str> {
        let (mut escaped, mut class) = (false, None);
        for (at, c) in self.rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' if class.is_none() => class = Some(at),
                ']' if class.is_some_and(|start| at > start + 1) => class = None,
                // Inside a class the delimiter is a letter to GNU sed in patterns only; both readings end here.
                c if c == delimiter => {
                    let text = self.rest.get(..at);
                    self.rest = self.rest.get(at + c.len_utf8()..).unwrap_or_default();
                    self.found.complete &= class.is_none();
                    return text;
                }
                _ => {}
            }
        }
        self.rest = "";
        self.found.complete = false;
        None
    }

    /// One address; whether there was one.
    fn address(&mut self) -> bool {
        match self.peek() {
            Some(c) if c.is_ascii_digit() || matches!(c, '$' | '+' | '~') => {
                self.rest = self
                    .rest
                    .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | '+' | '~'));
            }
            Some('/') => {
                self.bump();
                self.delimited('/');
                self.rest = self.rest.trim_start_matches(['I', 'M']);
            }
            Some('\\') => {
                self.bump();
                let Some(delimiter) = self.bump() else { return false };
                self.delimited(delimiter);
                self.rest = self.rest.trim_start_matches(['I', 'M']);
            }
            _ => return false,
        }
        true
    }

    fn command(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', ';', '}']);
        if self.rest.is_empty() {
            return;
        }
        if self.address() {
            self.blanks();
            if self.peek() == Some(',') {
                self.bump();
                self.blanks();
                self.address();
            }
        }
        self.blanks();
        while self.peek() == Some('!') {
            self.bump();
            self.blanks();
        }
        let Some(command) = self.bump() else { return };
        match command {
            '{' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {}
            '#' => {
                self.line();
            }
            'q' | 'Q' | 'l' | 'L' => {
                self.blanks();
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
            }
            ':' | 'b' | 't' | 'T' | 'v' => {
                let end = self.rest.find(['\n', ';', '}']).unwrap_or(self.rest.len());
                self.rest = self.rest.get(end..).unwrap_or_default();
            }
            'a' | 'i' | 'c' => loop {
                // A text goes on behind a backslash at the end of its line.
                let line = self.line();
                self.bump();
                if !line.ends_with('\\') {
                    break;
                }
            },
            'r' | 'R' => {
                let file = self.line().trim_start();
                self.file(file, false);
            }
            'w' | 'W' => {
                let file = self.line().trim_start();
                self.file(file, true);
            }
            'e' => {
                let text = self.line().trim_start();
                // Without a text the line that was read is the command.
                let word = if text.is_empty() { hole() } else { Word::Known(text.to_string()) };
                self.found.complete &= !text.is_empty();
                self.found.inside.push(Inside::Shell(word));
            }
            's' | 'y' => {
                let Some(delimiter) = self.bump() else { return self.found.complete = false };
                let (Some(_), Some(to)) = (self.delimited(delimiter), self.delimited(delimiter)) else {
                    return;
                };
                if command == 's' {
                    self.flags(to);
                }
            }
            _ => {
                self.found.complete = false;
                self.line();
            }
        }
    }

    fn flags(&mut self, to: &str) {
        while let Some(c) = self.peek() {
            match c {
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' => {
                    self.bump();
                }
                c if c.is_ascii_digit() => {
                    self.bump();
                }
                'e' => {
                    self.bump();
                    // What the line becomes is run: the replacement is at least a part of it.
                    self.found.complete = false;
                    let whole = !to.contains(['&', '\\']);
                    self.found.inside.push(Inside::Shell(if whole {
                        Word::Known(to.to_string())
                    } else {
                        hole()
                    }));
                }
                'w' => {
                    self.bump();
                    let file = self.line().trim_start();
                    self.file(file, true);
                    return;
                }
                _ => return,
            }
        }
    }

    fn file(&mut self, file: &str, writes: bool) {
        if matches!(file, "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/null") {
            return;
        }
        let word = Word::Known(file.to_string());
        self.found.inside.push(if writes { Inside::Writes(word) } else { Inside::Reads(word) });
    }
}
