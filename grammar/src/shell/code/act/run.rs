//! Programs, shell texts and code that a call runs.
//!
//! INVARIANT: a text that is not wholly known is given on with its holes; where it came from decides what is listed.

use super::super::Inside;
use super::super::eval::{Arg, Reader};
use super::super::text::{Source, Text, Value, hole, joined, shell_quoted};
use crate::shell::{Piece, Word};

impl Reader {
    pub(super) fn run(&mut self, prefix: &[&str], values: &[&Value], most: usize) -> Value {
        let mut words: Vec<Word> = prefix.iter().map(|word| Word::Known(word.to_string())).collect();
        let mut some = false;
        for value in values.iter().take(most) {
            // Handles, flags and options are no operands; a name that is not known stands for one.
            let operands: Vec<Word> = match value {
                Value::Flag(_) | Value::Table(_) => continue,
                Value::List(values) => values.iter().flat_map(|value| self.path_of(value).words()).collect(),
                value => self.path_of(value).words(),
            };
            some |= !operands.is_empty();
            words.extend(operands);
        }
        if !some {
            words.push(hole());
        }
        self.argv(words)
    }

    /// Lists something with a word, once for each of its choices.
    pub(super) fn does_word(&mut self, make: fn(Word) -> Inside, word: &Word) {
        match word {
            Word::OneOf(texts) => {
                for text in texts {
                    self.does(make(Word::Known(text.clone())));
                }
            }
            other => self.does(make(other.clone())),
        }
    }

    /// Lists a command; what it prints.
    pub(in super::super) fn argv(&mut self, words: Vec<Word>) -> Value {
        self.shell |=
            starts_shell(words.first(), words.len() == 1 || words.get(1).and_then(Word::known) == Some("-i"));
        let text =
            words.iter().map(shell_quoted).reduce(|a, b| joined(&joined(&a, &Word::Known(" ".into())), &b));
        match words.iter().position(|word| matches!(word, Word::OneOf(_))) {
            Some(at) => {
                let Some(Word::OneOf(texts)) = words.get(at).cloned() else { return Value::unknown() };
                for text in texts {
                    let mut one = words.clone();
                    if let Some(word) = one.get_mut(at) {
                        *word = Word::Known(text);
                    }
                    self.does(Inside::Argv(one));
                }
            }
            None => self.does(Inside::Argv(words)),
        }
        Value::Text(Text::from(Source::Command(text.unwrap_or_else(hole))))
    }

    /// A program with its arguments.
    pub(super) fn spawn(&mut self, args: &[Arg]) -> Value {
        let mut words: Vec<Word> = Vec::new();
        let mut single: Option<Text> = None;
        let mut input = None;
        let mut shell = false;
        for arg in args {
            match (arg.name.as_deref(), &arg.value) {
                (Some("args" | "cmd" | "argv" | "command"), value) => words.extend(value.words()),
                (Some("input" | "stdin"), value) => input = Some(value.text()),
                (Some("shell"), Value::Flag(true)) => shell = true,
                (Some(_), _) | (None, Value::Flag(_)) => {}
                (None, Value::Table(entries)) => {
                    for (key, value) in entries {
                        match (key.as_str(), value) {
                            ("args" | "cmd", value) => words.extend(value.words()),
                            ("input", value) => input = Some(value.text()),
                            ("shell", Value::Flag(true)) => shell = true,
                            _ => {}
                        }
                    }
                }
                (None, Value::List(values)) => {
                    single = None;
                    words.extend(values.iter().flat_map(Value::words));
                }
                // A callback is no argument.
                (None, Value::Name(_)) if !words.is_empty() => {}
                (None, value) => {
                    let text = value.text();
                    single = words.is_empty().then(|| text.clone());
                    words.push(text.word);
                }
            }
        }
        if let (Some(input), true) = (&input, starts_shell(words.first(), true)) {
            self.act_shell(input);
        }
        match (single, shell) {
            (Some(text), _) if words.len() <= 1 => self.act_shell(&text),
            (_, true) => match words.first().cloned() {
                Some(word) => self.act_shell(&Text::word(word)),
                None => Value::unknown(),
            },
            _ if words.is_empty() => {
                self.does(Inside::Argv(vec![hole()]));
                Value::unknown()
            }
            _ => self.argv(words),
        }
    }

    /// A text for a shell; what it prints.
    pub(in super::super) fn act_shell(&mut self, text: &Text) -> Value {
        self.complete = false;
        if text.decoded {
            self.does(Inside::Evaluates { decoded: true });
        }
        if let Some(known) = text.word.known() {
            let mut words = known.split_whitespace();
            let first = words.next().map(|word| Word::Known(word.to_string()));
            self.shell |= starts_shell(first.as_ref(), !words.any(|word| word == "-c"));
        }
        let word = match (text.is_unknown(), text.from.first()) {
            (true, Some(Source::Input)) => return self.argv(vec![Word::Known("sh".into())]),
            // The whole text comes from somewhere.
            (true, Some(source)) => joined(&source_text(source), &Word::Known(" | sh".into())),
            (false, Some(_)) => filled(&text.word, &text.from),
            (_, None) => text.word.clone(),
        };
        self.does_word(Inside::Shell, &word);
        Value::Text(Text::from(Source::Command(word)))
    }

    /// A text as code of the language.
    pub(in super::super) fn evaluate(&mut self, text: &Text) -> Value {
        self.complete = false;
        if text.decoded {
            self.does(Inside::Evaluates { decoded: true });
        }
        if let Word::OneOf(texts) = &text.word {
            texts.iter().for_each(|text| self.later(text.clone()));
        } else if let Some(known) = text.word.known() {
            self.later(known.to_string());
        } else if let Some(source) = text.from.first() {
            let interpreter = self.knows.interpreter;
            match source {
                Source::File(file) => {
                    self.does(Inside::Argv(vec![Word::Known(interpreter.into()), file.clone()]));
                }
                Source::Input => {
                    self.does(Inside::Argv(vec![Word::Known(interpreter.into()), Word::Known("-".into())]));
                }
                source => {
                    let piped = joined(&source_text(source), &Word::Known(format!(" | {interpreter}")));
                    self.does(Inside::Shell(piped));
                }
            }
        } else if let (Some(url), false) = (self.peer.clone(), text.decoded) {
            // What is not known may well be what came from there.
            let piped = source_text(&Source::Url(url));
            let to = Word::Known(format!(" | {}", self.knows.interpreter));
            self.does(Inside::Shell(joined(&piped, &to)));
        } else if !text.decoded {
            self.does(Inside::Evaluates { decoded: false });
        }
        let mut out = Text::unknown();
        out.mark(text);
        Value::Text(out)
    }
}

/// Whether a word is a shell that reads what it is given.
pub(super) fn starts_shell(word: Option<&Word>, alone: bool) -> bool {
    let Some(name) = word.and_then(Word::known).and_then(|path| path.rsplit(['/', '\\']).next()) else {
        return false;
    };
    alone
        && matches!(
            name,
            "sh" | "bash"
                | "dash"
                | "zsh"
                | "ash"
                | "ksh"
                | "cmd"
                | "cmd.exe"
                | "powershell"
                | "pwsh"
                | "powershell.exe"
        )
}

/// The command that prints what came from a source.
pub(super) fn source_text(source: &Source) -> Word {
    let behind = |start: &str, word: &Word| joined(&Word::Known(start.into()), &shell_quoted(word));
    match source {
        Source::File(file) => behind("cat ", file),
        Source::Url(url) => behind("curl ", url),
        Source::Environment => Word::Known("printenv".into()),
        Source::Command(text) => text.clone(),
        Source::Input => Word::Known("cat".into()),
    }
}

/// A shell text whose holes are filled with the commands that print what stands there.
pub(super) fn filled(word: &Word, from: &[Source]) -> Word {
    let Word::Unknown(pieces) = word else { return word.clone() };
    let mut print = Word::Known("$(".into());
    for source in from {
        print = joined(&joined(&print, &source_text(source)), &Word::Known("; ".into()));
    }
    print = joined(&print, &Word::Known(")".into()));
    let mut out = Word::Known(String::new());
    for piece in pieces {
        out = match piece {
            Piece::Folder | Piece::Descriptor | Piece::Hole { .. } | Piece::Name | Piece::Value { .. } => {
                joined(&out, &print)
            }
            Piece::Text(text) | Piece::Pattern(text) => joined(&out, &Word::Known(text.clone())),
            Piece::Tilde(text) => joined(&out, &Word::Known(text.clone())),
        };
    }
    out
}
