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
        // The class that is open: its first place where a bracket would end it.
        let (mut escaped, mut class) = (false, None);
        // A named set in it, as in `[[:alpha:]]`: the sign that ends it, and where it begins.
        let mut named: Option<(char, usize)> = None;
        let mut last = '\0';
        for (at, c) in self.rest.char_indices() {
            let before = std::mem::replace(&mut last, c);
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' if class.is_none() => class = Some(at + 2),
                '^' if before == '[' && class == Some(at + 1) => class = Some(at + 2),
                ':' | '.' | '='
                    if before == '[' && named.is_none() && class.is_some_and(|from| at >= from) =>
                {
                    named = Some((c, at))
                }
                ']' if named.is_some_and(|(sign, from)| before == sign && at > from + 1) => named = None,
                ']' if named.is_none() && class.is_some_and(|from| at >= from) => class = None,
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
            '{' => {}
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => self.end(),
            '#' => {
                self.line();
            }
            'q' | 'Q' | 'l' | 'L' => {
                self.blanks();
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
                self.end();
            }
            ':' | 'b' | 't' | 'T' | 'v' => {
                // A blank ends a label to some, and what stands behind it is a command.
                self.blanks();
                let end = self.rest.find(['\n', ';', '}', ' ', '\t', '\r']).unwrap_or(self.rest.len());
                self.rest = self.rest.get(end..).unwrap_or_default();
                self.found.complete &= command != ':' || self.peek() != Some('}');
                self.end();
            }
            'a' | 'i' | 'c' => loop {
                // A text goes on behind a backslash at the end of its line.
                let line = self.line();
                self.bump();
                // Two of them are one that is printed.
                let slashes = line.len() - line.trim_end_matches('\\').len();
                self.found.complete &= slashes < 2;
                if slashes.is_multiple_of(2) {
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
                match command {
                    's' => self.flags(to),
                    _ => self.end(),
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
                _ => return self.end(),
            }
        }
    }

    /// What may stand behind a command; anything else was not understood.
    fn end(&mut self) {
        self.blanks();
        self.found.complete &= matches!(self.peek(), None | Some(';' | '}' | '#' | '\n'));
    }

    fn file(&mut self, file: &str, writes: bool) {
        if matches!(file, "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/null") {
            return;
        }
        let word = Word::Known(file.to_string());
        self.found.inside.push(if writes { Inside::Writes(word) } else { Inside::Reads(word) });
    }
}
