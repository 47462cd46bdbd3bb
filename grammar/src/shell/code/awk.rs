//! AWK programs.
//!
//! INVARIANT: a program is complete when everything that it can do beside printing is listed: every `system`, pipe,
//! redirection and `getline` is seen, and what it names is literal or a word that is not known.

use super::text::{hole, joined};
use super::{Found, Inside};
use crate::shell::Word;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Text(String),
    Name(String),
    Number(String),
    Pattern,
    Op(&'static str),
    Line,
}

const OPS: &[&str] = &[
    "|&", "||", "&&", ">>", ">=", "<=", "==", "!=", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "!~",
    "|", "&", ">", "<", "=", "+", "-", "*", "/", "%", "^", "!", "~", "?", ":", ",", ";", "(", ")", "[", "]",
    "{", "}", "$",
];

/// Reads an AWK program.
pub(super) fn read(code: &str) -> Found {
    let mut reader = Awk {
        tokens: Vec::new(),
        at: 0,
        names: BTreeMap::new(),
        head: false,
        found: Found { inside: Vec::new(), complete: true },
    };
    reader.split(code);
    reader.run();
    reader.found
}

struct Awk {
    tokens: Vec<Token>,
    at: usize,
    names: BTreeMap<String, Word>,
    /// The bracket closed last was the head of an `if` or a loop.
    head: bool,
    found: Found,
}

impl Awk {
    fn split(&mut self, code: &str) {
        let mut rest = code;
        let mut no_pattern = false;
        // For each open bracket whether it is the head of a statement.
        let mut open = Vec::new();
        while let Some(c) = rest.chars().next() {
            let mut size = c.len_utf8();
            match c {
                '\n' => {
                    self.tokens.push(Token::Line);
                    no_pattern = false;
                }
                '\\' if rest.starts_with("\\\n") => size = 2,
                c if c.is_whitespace() => {}
                '#' => size = rest.find('\n').unwrap_or(rest.len()),
                '@' => {
                    // `@include`, `@load`, indirect calls.
                    self.found.complete = false;
                }
                '"' => match text(rest) {
                    Some((text, end)) => {
                        self.tokens.push(Token::Text(text));
                        size = end;
                    }
                    None => {
                        self.found.complete = false;
                        size = rest.len();
                    }
                },
                '/' if self.either_place() => {
                    // One AWK divides here where another begins a pattern.
                    self.found.complete = false;
                    self.tokens.push(Token::Op("/"));
                }
                '/' if self.operand_place() && !no_pattern => match pattern(rest) {
                    Some(end) => {
                        self.tokens.push(Token::Pattern);
                        size = end;
                    }
                    None => {
                        no_pattern = true;
                        continue;
                    }
                },
                c if c.is_ascii_digit() || c == '.' => {
                    size = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
                    self.tokens.push(Token::Number(rest.get(..size).unwrap_or_default().to_string()));
                }
                c if c.is_ascii_alphabetic() || c == '_' => {
                    size = rest
                        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':')
                        .unwrap_or(rest.len());
                    let name = rest.get(..size).unwrap_or_default().trim_end_matches(':');
                    size = name.len();
                    self.tokens.push(Token::Name(name.to_string()));
                }
                _ => match OPS.iter().find(|op| rest.starts_with(**op)) {
                    Some(op) => {
                        match *op {
                            "(" => {
                                let head = matches!(self.tokens.last(), Some(Token::Name(name)) if matches!(name.as_str(), "if" | "while" | "for" | "switch"));
                                open.push(head);
                            }
                            ")" => self.head = open.pop().unwrap_or_default(),
                            _ => {}
                        }
                        self.tokens.push(Token::Op(op));
                        size = op.len();
                    }
                    None => self.found.complete = false,
                },
            }
            rest = rest.get(size.max(1)..).unwrap_or_default();
        }
    }

    fn either_place(&self) -> bool {
        match self.tokens.last() {
            Some(Token::Op(op)) => matches!(*op, "++" | "--"),
            Some(Token::Name(name)) => matches!(name.as_str(), "getline" | "length" | "exit"),
            _ => false,
        }
    }

    fn operand_place(&self) -> bool {
        match self.tokens.last() {
            // Behind the head of a statement an operand begins.
            Some(Token::Op(")")) => self.head,
            Some(Token::Op(op)) => !matches!(*op, "]" | "$"),
            Some(Token::Name(name)) => {
                matches!(name.as_str(), "print" | "printf" | "return" | "case" | "in" | "else" | "do")
            }
            Some(Token::Text(_) | Token::Number(_) | Token::Pattern) => false,
            Some(Token::Line) | None => true,
        }
    }

    fn is(&self, op: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Op(o)) if *o == op)
    }

    fn name(&self) -> Option<&str> {
        match self.tokens.get(self.at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn run(&mut self) {
        // Whether a `print` is open at the depth of brackets given: there `>` redirects.
        let mut print: Option<usize> = None;
        let mut depth = 0usize;
        // The last operand, which a `| getline` reads from.
        let mut last = hole();
        while let Some(token) = self.tokens.get(self.at).cloned() {
            match token {
                Token::Op(";" | "}" | "{") | Token::Line => {
                    self.at += 1;
                    print = None;
                    last = hole();
                }
                Token::Name(name) if matches!(name.as_str(), "print" | "printf") => {
                    self.at += 1;
                    print = Some(depth);
                }
                Token::Name(name) if name == "system" => {
                    self.at += 1;
                    if self.is("(") {
                        self.at += 1;
                        depth += 1;
                        let text = self.operand();
                        self.does(Inside::Shell(text));
                    } else {
                        self.found.complete = false;
                    }
                }
                Token::Name(name) if name == "getline" => {
                    self.at += 1;
                    // `getline [var] < FILE`
                    let variable = matches!(self.tokens.get(self.at), Some(Token::Name(_)));
                    if let (true, Some(name)) = (variable, self.name().map(str::to_string)) {
                        self.names.insert(name, hole());
                        self.at += 1;
                    }
                    if self.is("<") {
                        self.at += 1;
                        let file = self.operand();
                        self.file(file, false);
                    }
                }
                Token::Name(name) if name == "ENVIRON" => {
                    self.at += 1;
                    let key = match (self.is("["), self.tokens.get(self.at + 1)) {
                        (true, Some(Token::Text(key))) => Some(Word::Known(key.clone())),
                        _ => None,
                    };
                    let print = [Word::Known("printenv".into())];
                    self.does(Inside::Argv(print.into_iter().chain(key).collect()));
                    last = hole();
                }
                // With these a program names other files, functions and variables than it shows.
                Token::Name(name)
                    if matches!(name.as_str(), "ARGV" | "ARGC" | "SYMTAB" | "FUNCTAB" | "PROCINFO") =>
                {
                    self.at += 1;
                    self.found.complete = false;
                }
                Token::Name(name) if matches!(name.as_str(), "extension" | "function" | "func") => {
                    self.at += 1;
                    self.found.complete &= name != "extension";
                }
                Token::Name(name) if matches!(self.tokens.get(self.at + 1), Some(Token::Op("="))) => {
                    self.at += 2;
                    let value = self.operand();
                    let value = if self.names.contains_key(&name) { hole() } else { value };
                    self.names.insert(name, value);
                }
                Token::Op("|" | "|&") => {
                    self.at += 1;
                    if self.name() == Some("getline") {
                        self.does(Inside::Shell(last.clone()));
                    } else {
                        let printed = std::mem::replace(&mut last, hole());
                        let text = self.operand();
                        // What is printed into a shell is a text for it.
                        if matches!(
                            text.known().map(str::trim),
                            Some("sh" | "bash" | "/bin/sh" | "/bin/bash")
                        ) {
                            self.does(Inside::Shell(printed));
                        }
                        self.does(Inside::Shell(text));
                    }
                }
                Token::Op(">" | ">>") if print.is_some_and(|at| at >= depth) => {
                    self.at += 1;
                    let file = self.operand();
                    self.file(file, true);
                }
                Token::Op("(" | "[") => {
                    self.at += 1;
                    depth += 1;
                    last = hole();
                }
                Token::Op(")" | "]") => {
                    self.at += 1;
                    depth = depth.saturating_sub(1);
                }
                Token::Text(_) => last = self.operand(),
                Token::Name(name) if is_word(&name) => {
                    self.at += 1;
                    last = hole();
                }
                Token::Name(_) => last = self.operand(),
                _ => {
                    self.at += 1;
                    last = hole();
                }
            }
        }
    }

    /// Literals and names side by side: one text.
    fn operand(&mut self) -> Word {
        let mut out: Option<Word> = None;
        let mut parens = 0usize;
        loop {
            let piece = match self.tokens.get(self.at) {
                Some(Token::Text(text)) => Word::Known(text.clone()),
                Some(Token::Number(text)) => Word::Known(text.clone()),
                Some(Token::Name(name)) if !is_word(name) => {
                    // A call or element is not known.
                    match self.tokens.get(self.at + 1) {
                        Some(Token::Op("(" | "[")) => {
                            return match out {
                                Some(out) => joined(&out, &hole()),
                                None => {
                                    self.at += 1;
                                    hole()
                                }
                            };
                        }
                        _ => self.names.get(name).cloned().unwrap_or_else(hole),
                    }
                }
                Some(Token::Op("$")) => {
                    self.at += 1;
                    match self.tokens.get(self.at) {
                        Some(Token::Number(_) | Token::Name(_)) => hole(),
                        _ => return out.map_or_else(hole, |out| joined(&out, &hole())),
                    }
                }
                Some(Token::Op("(")) if out.is_none() || parens > 0 => {
                    parens += 1;
                    self.at += 1;
                    continue;
                }
                Some(Token::Op(")")) if parens > 0 => {
                    parens -= 1;
                    self.at += 1;
                    continue;
                }
                _ => break,
            };
            self.at += 1;
            out = Some(match out {
                Some(out) => joined(&out, &piece),
                None => piece,
            });
        }
        out.unwrap_or_else(hole)
    }

    fn file(&mut self, file: Word, writes: bool) {
        if matches!(file.known(), Some("/dev/stderr" | "/dev/stdout" | "/dev/null" | "-" | "/dev/stdin")) {
            return;
        }
        if file.known().is_some_and(|path| path.starts_with("/inet")) {
            return self.network(&file);
        }
        self.does(if writes { Inside::Writes(file) } else { Inside::Reads(file) });
    }

    fn does(&mut self, inside: Inside) {
        // `/inet/tcp/0/HOST/PORT` is a connection, also behind `|&`.
        match &inside {
            Inside::Shell(word) if word.known().is_some_and(|text| text.starts_with("/inet")) => {
                let word = word.clone();
                self.network(&word);
            }
            Inside::Shell(word) => {
                self.found.complete &= word.known().is_some();
                self.found.inside.push(inside);
            }
            _ if self.found.inside.last() == Some(&inside) => {}
            _ => self.found.inside.push(inside),
        }
    }

    fn network(&mut self, word: &Word) {
        let mut parts = word.known().unwrap_or_default().split('/').skip(4);
        let part = |text: Option<&str>| text.map_or_else(hole, |text| Word::Known(text.to_string()));
        let words = vec![Word::Known("nc".into()), part(parts.next()), part(parts.next())];
        self.found.complete = false;
        self.found.inside.push(Inside::Argv(words));
    }
}

/// Words that are no variables.
fn is_word(name: &str) -> bool {
    matches!(
        name,
        "print"
            | "printf"
            | "getline"
            | "if"
            | "else"
            | "while"
            | "for"
            | "do"
            | "in"
            | "return"
            | "next"
            | "exit"
            | "function"
            | "func"
            | "delete"
            | "break"
            | "continue"
            | "BEGIN"
            | "END"
            | "system"
            | "ENVIRON"
            | "switch"
            | "case"
            | "nextfile"
            | "close"
            | "fflush"
    )
}

/// The literal that begins the text, and its size.
fn text(source: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = source.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, at + 1)),
            '\n' => return None,
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, '\n')) => {}
                Some((_, digit @ '0'..='7')) => {
                    let mut value = digit.to_digit(8).unwrap_or(0);
                    let mut rest = chars.clone();
                    for _ in 0..2 {
                        let Some(next) = rest.next().and_then(|(_, c)| c.to_digit(8)) else { break };
                        value = value * 8 + next;
                        chars.next();
                    }
                    out.extend(char::from_u32(value));
                }
                Some((_, 'x')) => {
                    let mut value = 0;
                    let mut rest = chars.clone();
                    for _ in 0..2 {
                        let Some(next) = rest.next().and_then(|(_, c)| c.to_digit(16)) else { break };
                        value = value * 16 + next;
                        chars.next();
                    }
                    out.extend(char::from_u32(value));
                }
                Some((_, c)) => out.push(c),
                None => return None,
            },
            c => out.push(c),
        }
    }
    None
}

/// The size of the pattern that begins the text.
fn pattern(source: &str) -> Option<usize> {
    let (mut escaped, mut class) = (false, 0usize);
    for (at, c) in source.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            '[' if class == 0 => class = at,
            ']' if class > 0 && at > class + 1 => class = 0,
            '/' if class == 0 => return Some(at + 1),
            _ => {}
        }
    }
    None
}
