//! SQL and the commands of its clients.
//!
//! INVARIANT: a text is complete when each statement only reads and calls functions that are known to compute;
//! whatever destroys, changes, runs or touches a file is listed, also inside `WITH`, `DO` and conditional comments.

use super::text::hole;
use super::{Found, Inside};
use crate::shell::Word;

mod meta;
mod statement;

/// A token of a statement.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A bare word, in lower case.
    Word(String),
    /// A quoted name.
    Name(String),
    /// A text literal.
    Text(String),
    /// A text between dollars: often code.
    Body(String),
    Number(String),
    Op(char),
}

/// Most code bodies inside statements that are read.
const MAX_BODIES: usize = 32;

/// Reads a text of statements.
pub(super) fn read(code: &str) -> Found {
    let mut sql =
        Sql { found: Found { inside: Vec::new(), complete: true }, bodies: vec![code.to_string()], read: 0 };
    while let Some(body) = sql.bodies.pop() {
        sql.read += 1;
        if sql.read > MAX_BODIES {
            sql.found.complete = false;
            break;
        }
        sql.text(&body);
    }
    sql.found
}

struct Sql {
    found: Found,
    bodies: Vec<String>,
    read: usize,
}

fn known(text: &str) -> Word {
    Word::Known(text.to_string())
}

impl Sql {
    fn does(&mut self, words: &[&str]) {
        let mut argv = vec![known("sql")];
        argv.extend(words.iter().filter(|word| !word.is_empty()).map(|word| known(word)));
        let inside = Inside::Argv(argv);
        if self.found.inside.len() <= super::MAX_INSIDE && self.found.inside.last() != Some(&inside) {
            self.found.inside.push(inside);
        }
    }

    fn unclear(&mut self) {
        self.found.complete = false;
    }

    /// Splits a text into statements and reads each.
    fn text(&mut self, code: &str) {
        let mut tokens: Vec<Token> = Vec::new();
        let mut rest = code;
        let mut fresh = true;
        while let Some(c) = rest.chars().next() {
            let mut size = c.len_utf8();
            let begins = fresh;
            fresh = c == '\n' || fresh && c.is_whitespace();
            match c {
                c if c.is_whitespace() => {}
                '.' if begins && tokens.is_empty() => {
                    let line = rest.split('\n').next().unwrap_or_default();
                    self.dot(line);
                    size = line.len();
                }
                '\\' => {
                    let line = rest.split('\n').next().unwrap_or_default();
                    self.statement(&std::mem::take(&mut tokens));
                    self.backslash(line);
                    size = line.len();
                }
                '-' if rest.starts_with("--") => size = rest.find('\n').unwrap_or(rest.len()),
                '#' if begins => size = rest.find('\n').unwrap_or(rest.len()),
                '/' if rest.starts_with("/*!") || rest.starts_with("/*M!") => {
                    // What stands in such a comment runs.
                    size = if rest.starts_with("/*M") { 4 } else { 3 };
                    let behind = rest.get(size..).unwrap_or_default();
                    size += behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                }
                '*' if rest.starts_with("*/") => size = 2,
                '/' if rest.starts_with("/*") => {
                    size = rest.get(2..).and_then(|r| r.find("*/")).map_or_else(
                        || {
                            self.found.complete = false;
                            rest.len()
                        },
                        |at| at + 4,
                    );
                }
                ';' => self.statement(&std::mem::take(&mut tokens)),
                '\'' => {
                    let (text, end) = self.quoted(rest, '\'');
                    tokens.push(Token::Text(text));
                    size = end;
                }
                '"' | '`' => {
                    let (text, end) = self.quoted(rest, c);
                    tokens.push(Token::Name(text));
                    size = end;
                }
                '[' => match rest.get(1..).and_then(|r| r.get(..r.len().min(130))?.find(']')) {
                    Some(end) => {
                        tokens.push(Token::Name(rest.get(1..end + 1).unwrap_or_default().to_string()));
                        size = end + 2;
                    }
                    None => tokens.push(Token::Op('[')),
                },
                '$' => match dollar(rest) {
                    Some((body, end)) => {
                        tokens.push(Token::Body(body.to_string()));
                        size = end;
                    }
                    None => tokens.push(Token::Op('$')),
                },
                c if c.is_ascii_digit() => {
                    size = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
                    tokens.push(Token::Number(rest.get(..size).unwrap_or_default().to_string()));
                }
                c if c.is_alphabetic() || c == '_' || c == '@' => {
                    size = rest
                        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '@' | '$'))
                        .unwrap_or(rest.len())
                        .max(c.len_utf8());
                    let word = rest.get(..size).unwrap_or_default().to_lowercase();
                    // Commands of the clients are lines of their own.
                    let line = rest.split('\n').next().unwrap_or_default();
                    if tokens.is_empty() && self.client(&word, line) {
                        size = line.len();
                    } else if word == "go" && begins && line.trim().len() == 2 {
                        self.statement(&std::mem::take(&mut tokens));
                    } else {
                        tokens.push(Token::Word(word));
                    }
                }
                c => tokens.push(Token::Op(c)),
            }
            rest = rest.get(size..).unwrap_or_default();
        }
        self.statement(&tokens);
    }

    /// The text between quotes that begins here, and its size. A doubled quote is one.
    fn quoted(&mut self, source: &str, quote: char) -> (String, usize) {
        let mut out = String::new();
        let mut chars = source.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c == quote {
                match chars.peek() {
                    Some((_, next)) if *next == quote => {
                        out.push(c);
                        chars.next();
                    }
                    _ => return (out, at + 1),
                }
            } else if c == '\\' && chars.peek().is_some_and(|(_, next)| *next == quote) {
                // Servers differ in what this means.
                self.found.complete = false;
                out.extend(chars.next().map(|(_, c)| c));
            } else {
                out.push(c);
            }
        }
        self.found.complete = false;
        (out, source.len())
    }

    fn shell(&mut self, text: &str) {
        self.unclear();
        self.found.inside.push(Inside::Shell(known(text.trim())));
    }

    fn file(&mut self, text: Option<&Token>, writes: bool) {
        let word = match text {
            Some(Token::Text(text) | Token::Name(text)) => known(text),
            _ => hole(),
        };
        self.found.inside.push(if writes { Inside::Writes(word) } else { Inside::Reads(word) });
    }
}

/// A text between dollars (`$tag$ ... $tag$`) that begins here, and its size.
fn dollar(source: &str) -> Option<(&str, usize)> {
    let behind = source.get(1..)?;
    let size = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    if !behind.get(size..)?.starts_with('$') || behind.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let tag = source.get(..size + 2)?;
    let body = source.get(tag.len()..)?;
    let end = body.find(tag)?;
    Some((body.get(..end)?, end + 2 * tag.len()))
}
