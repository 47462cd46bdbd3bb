//! Emacs Lisp.
//!
//! INVARIANT: forms are evaluated from the inside on a stack of their own, never by recursion; a function that is
//! not known makes the answer incomplete.

use super::act::decoded;
use super::decode::Decoder;
use super::text::{Text, Value, below, expanded};
use super::{Found, Inside};
use crate::shell::Word;
use std::collections::BTreeMap;

/// Deepest nesting of forms.
const MAX_DEPTH: usize = 256;

/// Reads forms.
pub(super) fn read(code: &str) -> Found {
    let mut lisp = Lisp { names: BTreeMap::new(), found: Found { inside: Vec::new(), complete: true } };
    let mut frames: Vec<Vec<Value>> = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let mut size = c.len_utf8();
        let mut value = None;
        match c {
            c if c.is_whitespace() || matches!(c, '\'' | '`' | ',' | '#' | '@') => {}
            ';' => size = rest.find('\n').unwrap_or(rest.len()),
            '(' | '[' => {
                if frames.len() >= MAX_DEPTH {
                    lisp.found.complete = false;
                    return lisp.found;
                }
                frames.push(Vec::new());
            }
            ')' | ']' => {
                if let Some(frame) = frames.pop() {
                    let outer = frames
                        .len()
                        .checked_sub(2)
                        .and_then(|at| frames.get(at))
                        .and_then(|frame| frame.first());
                    let binds = matches!(outer, Some(Value::Name(name)) if name.starts_with("let"));
                    value = Some(lisp.form(frame, binds));
                }
            }
            '"' => match literal(rest) {
                Some((text, end)) => {
                    value = Some(Value::known(text));
                    size = end;
                }
                None => {
                    lisp.found.complete = false;
                    size = rest.len();
                }
            },
            _ => {
                size = rest
                    .find(|c: char| c.is_whitespace() || "()[]\"';".contains(c))
                    .unwrap_or(rest.len())
                    .max(size);
                let word = rest.get(..size).unwrap_or_default();
                value = Some(match word.parse::<i64>() {
                    Ok(number) => Value::Number(number),
                    Err(_) => match word {
                        "t" => Value::Flag(true),
                        "nil" => Value::Flag(false),
                        name => Value::Name(name.to_string()),
                    },
                });
            }
        }
        if let (Some(value), Some(frame)) = (value, frames.last_mut()) {
            if frame.len() < 512 {
                frame.push(value);
            } else {
                lisp.found.complete = false;
            }
        }
        rest = rest.get(size..).unwrap_or_default();
    }
    lisp.found.complete &= frames.is_empty();
    lisp.found
}

struct Lisp {
    names: BTreeMap<String, Value>,
    found: Found,
}

fn known(text: &str) -> Word {
    Word::Known(text.to_string())
}

impl Lisp {
    fn value(&self, value: &Value) -> Value {
        match value {
            Value::Name(name) => match name.as_str() {
                "user-emacs-directory" => Value::Text(Text::word(Word::Tilde("~/.emacs.d/".into()))),
                _ => self.names.get(name).cloned().unwrap_or_else(Value::unknown),
            },
            other => other.clone(),
        }
    }

    fn path(&self, value: &Value) -> Word {
        expanded(&self.value(value).text()).word
    }

    fn run(&mut self, prefix: &[&str], paths: &[Value]) {
        let mut words: Vec<Word> = prefix.iter().map(|word| known(word)).collect();
        words.extend(paths.iter().map(|value| self.path(value)));
        if paths.is_empty() {
            words.push(super::text::hole());
        }
        self.found.inside.push(Inside::Argv(words));
    }

    fn form(&mut self, frame: Vec<Value>, binds: bool) -> Value {
        let Some((head, args)) = frame.split_first() else { return Value::Flag(false) };
        let Value::Name(name) = head else {
            return Value::List(frame).bounded();
        };
        let first = args.first().cloned().unwrap_or_else(Value::unknown);
        let plain = |lisp: &Lisp, from: usize| -> Vec<Word> {
            args.get(from..).unwrap_or_default().iter().flat_map(|value| lisp.value(value).words()).collect()
        };
        match name.as_str() {
            "message" | "print" | "princ" | "prin1" | "terpri" | "+" | "-" | "*" | "/" | "progn"
            | "prog1" | "let" | "let*" | "when" | "unless" | "if" | "format-message" | "length"
            | "emacs-version" | "kill-emacs" | "number-to-string" | "upcase" | "downcase"
            | "save-excursion" | "=" | "<" | ">" | "not" | "and" | "or" | "list" | "cons" | "car" | "cdr"
            | "ignore" => {
                if name == "list" {
                    return Value::List(args.iter().map(|value| self.value(value)).collect()).bounded();
                }
                if matches!(name.as_str(), "progn" | "let" | "let*" | "when" | "if") {
                    return args.last().cloned().unwrap_or_else(Value::unknown);
                }
                return Value::unknown();
            }
            "concat" | "format" => {
                let texts = args.iter().map(|value| self.value(value).text());
                return Value::Text(texts.fold(Text::word(known("")), |text, next| text.join(&next)));
            }
            "setq" | "setq-default" | "defvar" | "setq-local" => {
                for pair in args.chunks(2) {
                    if let [Value::Name(name), value] = pair {
                        let value = self.value(value).bounded();
                        self.names.insert(name.clone(), value);
                    }
                }
                self.found.complete &= name == "setq";
                return Value::unknown();
            }
            "expand-file-name" => {
                let path = expanded(&self.value(&first).text());
                return Value::Text(match args.get(1) {
                    Some(folder) => below(&expanded(&self.value(folder).text()), &path),
                    None => path,
                });
            }
            "getenv" => {
                let home = first.known_text() == Some("HOME");
                return if home {
                    Value::Text(Text::word(Word::Tilde("~".into())))
                } else {
                    Value::unknown()
                };
            }
            "base64-decode-string" => return decoded(Decoder::Base64, &self.value(&first).text()),
            "directory-files" | "file-expand-wildcards" | "directory-files-recursively" => {
                self.found.complete = false;
                return Value::unknown();
            }
            "read" => return self.value(&first),
            _ => {}
        }
        self.found.complete = false;
        match name.as_str() {
            "delete-directory" => {
                let tree = args.get(1).is_some_and(|value| *value != Value::Flag(false));
                let paths = args.get(..1).unwrap_or_default();
                self.run(if tree { &["rm", "-r"] } else { &["rmdir"] }, paths);
            }
            "delete-file" | "move-file-to-trash" => self.run(&["rm"], args.get(..1).unwrap_or_default()),
            "rename-file" => self.run(&["mv"], args.get(..2).unwrap_or(args)),
            "copy-file" => self.run(&["cp"], args.get(..2).unwrap_or(args)),
            "copy-directory" => self.run(&["cp", "-r"], args.get(..2).unwrap_or(args)),
            "make-symbolic-link" => self.run(&["ln", "-s"], args.get(..2).unwrap_or(args)),
            "make-directory" => self.run(&["mkdir"], args.get(..1).unwrap_or_default()),
            "set-file-modes" => {
                let mode = match args.get(1) {
                    Some(Value::Number(mode)) => known(&format!("{mode:04o}")),
                    _ => super::text::hole(),
                };
                let path = self.path(&first);
                self.found.inside.push(Inside::Argv(vec![known("chmod"), mode, path]));
            }
            "shell-command"
            | "shell-command-to-string"
            | "async-shell-command"
            | "call-process-shell-command"
            | "compile"
            | "eshell-command" => {
                let text = self.value(&first).text();
                if text.decoded {
                    self.found.inside.push(Inside::Evaluates { decoded: true });
                }
                self.found.inside.push(Inside::Shell(text.word));
            }
            "call-process" => {
                let mut words = plain(self, 0).into_iter().take(1).collect::<Vec<_>>();
                words.extend(plain(self, 4));
                self.found.inside.push(Inside::Argv(words));
            }
            "start-process" => {
                let words =
                    args.get(2..).unwrap_or_default().iter().flat_map(|v| self.value(v).words()).collect();
                self.found.inside.push(Inside::Argv(words));
            }
            "process-lines" => {
                let words = plain(self, 0);
                self.found.inside.push(Inside::Argv(words));
            }
            "make-process" => {
                let at = args.iter().position(|value| *value == Value::Name(":command".into()));
                let words = at.and_then(|at| args.get(at + 1)).map(|value| self.value(value).words());
                self.found.inside.push(Inside::Argv(words.unwrap_or_else(|| vec![super::text::hole()])));
            }
            "write-region" => {
                let path = args.get(2).map_or_else(super::text::hole, |value| self.path(value));
                self.found.inside.push(Inside::Writes(path));
            }
            "write-file" | "with-temp-file" | "append-to-file" => {
                let path =
                    if name == "append-to-file" { args.get(2).cloned().unwrap_or(first) } else { first };
                let path = self.path(&path);
                self.found.inside.push(Inside::Writes(path));
            }
            "insert-file-contents" | "find-file" | "find-file-noselect" => {
                let path = self.path(&first);
                self.found.inside.push(Inside::Reads(path));
            }
            "load" | "load-file" => self.run(&["emacs", "-l"], args.get(..1).unwrap_or_default()),
            "url-retrieve" | "url-retrieve-synchronously" | "url-copy-file" => {
                self.run(&["curl"], args.get(..1).unwrap_or_default());
            }
            "eval" | "eval-buffer" => {
                let text = self.value(&first).text();
                self.found.inside.push(Inside::Evaluates { decoded: text.decoded });
            }
            other => {
                if binds && let Some(value) = args.first() {
                    let value = self.value(value).bounded();
                    self.names.insert(other.to_string(), value);
                }
            }
        }
        Value::unknown()
    }
}

/// The literal that begins the text, and its size.
fn literal(source: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = source.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, at + 1)),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, '\n')) => {}
                Some((_, c)) => out.push(c),
                None => return None,
            },
            c => out.push(c),
        }
    }
    None
}
