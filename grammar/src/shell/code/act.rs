//! What known functions do, as commands that say the same.
//!
//! INVARIANT: a function that is not known does nothing here and makes the answer incomplete; an argument that is
//! not literal is a word that is not known, never one that is left out.

use super::decode::Decoder;
use super::eval::{Arg, Reader};
use super::text::{Source, Text, Value, below, expanded, hole, joined, pattern};
use super::{Inside, Language};
use crate::shell::Word;

mod file;
mod method;
mod network;
mod run;

use file::is_url;
use run::source_text;

/// A constant that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fixed {
    /// All variables of the environment.
    Environment,
    /// `/`.
    Slash,
    /// A value that says nothing.
    Plain,
}

/// What a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing that anybody could notice: it computes or prints.
    Pure,
    /// It answers its first argument.
    Same,
    /// It answers its arguments as a list.
    List,
    /// Not a function: a constant.
    Fixed(Fixed),
    /// Its first argument is a shell text.
    Shell,
    /// It starts a program: a list, or the program and its arguments, or one shell text.
    Spawn,
    /// The same; the argument behind the program is its own name, and so many stand before it.
    Exec(usize),
    /// The command with these words and its arguments behind them.
    Run(&'static [&'static str]),
    /// The same with only the first so many arguments.
    RunFirst(&'static [&'static str], usize),
    /// The same with the first argument behind the others (`chmod MODE`, link and target).
    RunLast(&'static [&'static str]),
    /// It deletes; whole trees when its options say so.
    Remove,
    /// `chmod` with the mode in this place.
    Chmod(usize, &'static [&'static str]),
    /// `chown` of the first argument, or of those behind the first two.
    Chown(bool),
    /// `kill` with the number in this place and the signal in the other.
    Kill(usize),
    /// It writes the file that its first argument names.
    Write,
    /// It writes into what was opened.
    Put,
    /// It reads the file that its first argument names and answers the content.
    Read,
    /// It opens the file for what the second argument says.
    Open,
    /// It asks or tells a place in the network.
    Net,
    /// The same, and the answer goes to the file that the second argument names.
    Download,
    /// A request that is put together first.
    Request,
    /// It uploads the file that its first argument names.
    Connect,
    /// It waits for connections.
    Listen,
    /// It sends on a connection.
    Transmit,
    /// It runs a text as code of the language.
    Eval,
    /// It makes objects of bytes, and they may run anything.
    Unpickle,
    /// It decodes its first argument.
    Decode(Decoder),
    /// It decodes by the name of the decoder in the second argument.
    Codec,
    /// It answers the module of this name.
    Module,
    /// It answers the member of the first argument that the second names.
    Member,
    /// It calls its first argument with the others.
    Apply,
    /// What the first gives is given to the second: `x.then(f)`.
    Then,
    /// It calls its first argument with each element of the second.
    Each,
    /// An object for a path.
    Path,
    /// It puts the parts of a path together.
    Join,
    /// It puts texts together.
    Concat,
    /// It puts the texts of a list together.
    Glue,
    /// It fills the placeholders of its first argument.
    Format,
    /// It answers the home folder.
    Home,
    /// It expands a tilde.
    Expand,
    /// It reads a variable of the environment.
    Variable,
    /// It reads them all.
    Environment,
    /// It answers the names that match a pattern.
    Glob,
    /// It answers what is in a folder.
    Entries,
    /// Letters from their numbers.
    Letters,
    /// It turns a text round.
    Reverse,
    /// A command of a database of documents.
    Mongo(&'static str),
    /// It gives the statements in the argument of this number to a database.
    Sql(usize),
    /// It reads standard input.
    Input,
    /// It is known, and what it does is not listed: the answer is incomplete.
    Unclear,
}

impl Reader {
    /// The function that a dotted name stands for.
    pub(super) fn find(&self, name: &str) -> Option<Act> {
        let mut name = name;
        for prefix in self.knows.prefixes {
            name = name.strip_prefix(prefix).unwrap_or(name);
        }
        let exact = |name: &str| self.knows.acts.iter().find(|(key, _)| *key == name).map(|(_, act)| *act);
        if let Some(act) = exact(name) {
            return Some(act);
        }
        match name.rsplit_once('.') {
            Some((_, last)) => exact_star(self.knows.acts, last),
            None => {
                let star = self.stars.iter().find_map(|module| exact(&format!("{module}.{name}")));
                star.or_else(|| {
                    exact_star(self.knows.acts, name).filter(|_| self.language != Language::Python)
                })
            }
        }
    }

    /// A call of a value.
    pub(super) fn call(&mut self, callee: Value, mut args: Vec<Arg>) -> Value {
        let name = match callee {
            Value::Name(name) => name,
            // A function by its name in a text.
            Value::Text(text) if self.language == Language::Php => match text.word.known() {
                Some(name) => name.to_string(),
                None => return self.unknown_call(&Value::Text(text.clone()), &args),
            },
            other => return self.unknown_call(&other, &args),
        };
        if let Some(act) = self.find(&name) {
            return self.act(act, &name, args);
        }
        for (ending, list) in [(".call", false), (".apply", true), (".bind", false), (".__call__", false)] {
            let Some(base) = name.strip_suffix(ending) else { continue };
            let Some(act) = self.find(base) else { continue };
            if ending != ".__call__" && self.language != Language::Ruby && !args.is_empty() {
                args.remove(0);
            }
            if list && let [Arg { value: Value::List(values), .. }] = args.as_slice() {
                args = values.iter().map(|value| Arg { name: None, value: value.clone() }).collect();
            }
            return self.act(act, base, args);
        }
        self.unknown_call(&Value::Name(name), &args)
    }

    /// A call of something that is not known.
    pub(super) fn unknown_call(&mut self, callee: &Value, args: &[Arg]) -> Value {
        self.complete = false;
        let mut text = Text::unknown();
        callee.mark(&mut text);
        args.iter().for_each(|arg| arg.value.mark(&mut text));
        Value::Text(text)
    }

    /// Does what a function does.
    pub(super) fn act(&mut self, act: Act, name: &str, args: Vec<Arg>) -> Value {
        if !matches!(
            act,
            Act::Pure
                | Act::Same
                | Act::List
                | Act::Fixed(_)
                | Act::Concat
                | Act::Format
                | Act::Glue
                | Act::Join
        ) {
            self.complete &= matches!(self.language, Language::Mongo) && matches!(act, Act::Mongo(_));
        }
        let values: Vec<&Value> =
            args.iter().filter(|arg| arg.name.is_none()).map(|arg| &arg.value).collect();
        let option =
            |key: &str| args.iter().find(|arg| arg.name.as_deref() == Some(key)).map(|arg| &arg.value);
        let first = values.first().map_or_else(Value::unknown, |value| (*value).clone());
        let second = values.get(1).map(|value| (*value).clone());
        let mut marks = Text::unknown();
        args.iter().for_each(|arg| arg.value.mark(&mut marks));
        match act {
            Act::Pure => Value::Text(marks),
            Act::Same => match first {
                // A request keeps what it sends.
                Value::Text(mut text) => {
                    text.mark(&marks);
                    Value::Text(text)
                }
                other => other,
            },
            Act::List => Value::List(values.into_iter().cloned().collect()).bounded(),
            Act::Fixed(Fixed::Environment) | Act::Environment => Value::Name("environ".into()),
            Act::Fixed(_) => Value::Text(marks),
            Act::Shell => match &first {
                Value::List(_) => self.spawn(&args),
                other => self.act_shell(&other.text()),
            },
            Act::Spawn => {
                if let (Some(Value::Flag(true)), Value::Text(text)) = (option("shell"), &first) {
                    return self.act_shell(text);
                }
                self.spawn(&args)
            }
            Act::Exec(skip) => {
                let mut words: Vec<Word> = values.iter().skip(skip).flat_map(|value| value.words()).collect();
                if words.len() > 1 {
                    words.remove(1);
                }
                self.argv(words)
            }
            Act::Run(prefix) => self.run(prefix, &values, usize::MAX),
            Act::RunFirst(prefix, most) => self.run(prefix, &values, most),
            Act::RunLast(prefix) => {
                let mut turned = values;
                if !turned.is_empty() {
                    turned.rotate_left(1);
                }
                self.run(prefix, &turned, usize::MAX)
            }
            Act::Remove => {
                let tree = args.iter().any(|arg| says_tree(arg.name.as_deref(), &arg.value));
                self.run(if tree { &["rm", "-r"] } else { &["rm"] }, &values, usize::MAX)
            }
            Act::Chmod(at, prefix) => {
                let mode = match values.get(at) {
                    Some(Value::Number(mode)) => Word::Known(format!("{mode:04o}")),
                    Some(value) => value.text().word,
                    None => hole(),
                };
                let others =
                    values.iter().enumerate().filter(|(n, v)| *n != at && !matches!(v, Value::Name(_)));
                let mut words: Vec<Word> = prefix.iter().map(|word| Word::Known(word.to_string())).collect();
                words.push(mode);
                words.extend(others.flat_map(|(_, value)| value.words()));
                self.argv(words)
            }
            Act::Chown(path_first) => {
                let mut words: Vec<Word> = values.iter().flat_map(|value| value.words()).collect();
                let path = if path_first && !words.is_empty() { Some(words.remove(0)) } else { None };
                let rest = words.split_off(words.len().min(2));
                let owner =
                    words.into_iter().reduce(|a, b| joined(&joined(&a, &Word::Known(":".into())), &b));
                let mut argv = vec![Word::Known("chown".into()), owner.unwrap_or_else(hole)];
                argv.extend(path);
                if !path_first {
                    argv.extend(rest);
                }
                self.argv(argv)
            }
            Act::Kill(at) => {
                let signal = values.iter().enumerate().find(|(n, _)| (*n == 0) != (at == 0));
                let signal = match signal.map(|(_, value)| *value) {
                    Some(Value::Name(name)) => {
                        let last = name.rsplit('.').next().unwrap_or_default();
                        Some(Word::Known(format!("-{}", last.trim_start_matches("SIG"))))
                    }
                    Some(value) => Some(joined(&Word::Known("-".into()), &value.text().word)),
                    None => None,
                };
                let mut words = vec![Word::Known("kill".into())];
                words.extend(signal.filter(|word| *word != Word::Known("-0".into())));
                let numbers = values.iter().enumerate().filter(|(n, _)| (*n == 0) == (at == 0));
                words.extend(numbers.flat_map(|(_, value)| value.words()));
                self.argv(words)
            }
            Act::Write => {
                let path = self.path_of(&first);
                self.written(path.word.clone(), &marks);
                Value::Path(path)
            }
            Act::Put => {
                match &first {
                    Value::Path(path) if !marks.from.is_empty() => {
                        let mut content = Text::unknown();
                        args.iter().skip(1).for_each(|arg| arg.value.mark(&mut content));
                        self.fetched_to(path.word.clone(), &content);
                    }
                    _ => self.transmit(&marks),
                }
                Value::Flag(true)
            }
            Act::Read => {
                let path = self.path_of(&first);
                if is_url(&path.word) {
                    return self.net(&args, None);
                }
                if matches!(path.word.known(), Some("0" | "-" | "/dev/stdin" | "php://stdin" | "php://input"))
                {
                    return Value::Text(Text::from(Source::Input));
                }
                self.does_word(Inside::Reads, &path.word);
                let mut content = Text::from(Source::File(path.word.clone()));
                content.mark(&path);
                Value::Text(content)
            }
            Act::Open => self.open(&args),
            Act::Net => self.net(&args, None),
            Act::Download => {
                let file = second.map(|value| value.text().word);
                self.net(&args, Some(file.unwrap_or_else(hole)))
            }
            Act::Request => {
                let mut text = first.text();
                text.mark(&marks);
                Value::Text(text)
            }
            Act::Connect => {
                self.connect(&args, false);
                Value::unknown()
            }
            Act::Listen => {
                self.connect(&args, true);
                Value::unknown()
            }
            Act::Transmit => {
                self.transmit(&marks);
                Value::unknown()
            }
            Act::Eval => {
                let mut text = first.text();
                if text.is_unknown() {
                    text.mark(&marks);
                }
                self.evaluate(&text)
            }
            Act::Unpickle => {
                self.does(Inside::Evaluates { decoded: marks.decoded });
                Value::Text(marks)
            }
            Act::Decode(decoder) => decoded(decoder, &first.text()),
            Act::Codec => self.codec(&first, &values),
            Act::Module => match first.known_text() {
                Some(module) => Value::Name(super::javascript::module(module)),
                None => {
                    self.does(Inside::Evaluates { decoded: marks.decoded });
                    Value::unknown()
                }
            },
            Act::Member => self.index(first, second.unwrap_or_else(Value::unknown)),
            Act::Apply => {
                let rest = args.into_iter().skip(1).collect();
                let callee = match first {
                    Value::Text(text) => match text.word.known() {
                        Some(name) => Value::Name(name.to_string()),
                        None => Value::Text(text),
                    },
                    other => other,
                };
                self.call(callee, rest)
            }
            Act::Then => match second {
                Some(callee @ Value::Name(_)) => self.call(callee, vec![Arg { name: None, value: first }]),
                _ => self.unknown_call(&first, args.get(1..).unwrap_or_default()),
            },
            Act::Each => {
                let (callee, list) = match (&first, &second) {
                    (Value::List(_), Some(function)) => (function.clone(), first.clone()),
                    (_, Some(list)) => (first.clone(), list.clone()),
                    (_, None) => return self.unknown_call(&first, &args),
                };
                let callee = match (&callee, callee.known_text()) {
                    (Value::Text(_), Some(name)) => Value::Name(name.to_string()),
                    _ => callee,
                };
                let elements = match list {
                    Value::List(values) => values,
                    other => vec![other],
                };
                let results: Vec<Value> = elements
                    .into_iter()
                    .take(64)
                    .map(|value| self.call(callee.clone(), vec![Arg { name: None, value }]))
                    .collect();
                Value::List(results).bounded()
            }
            Act::Path => {
                let mut texts = values.iter().map(|value| self.path_of(value));
                let start = texts.next().unwrap_or_else(Text::unknown);
                Value::Path(texts.fold(start, |folder, name| below(&folder, &name)))
            }
            Act::Join => {
                let mut texts = values.iter().map(|value| value.text());
                let start = texts.next().unwrap_or_else(Text::unknown);
                Value::Text(texts.fold(start, |folder, name| below(&folder, &name)))
            }
            Act::Concat => {
                let start = Text::word(Word::Known(String::new()));
                Value::Text(values.iter().fold(start, |text, value| text.join(&value.text())))
            }
            Act::Glue => self.glue(&values),
            Act::Format => {
                let text = first.text();
                let rest: Vec<Value> = values.iter().skip(1).map(|value| (*value).clone()).collect();
                match text.word.known() {
                    Some(known) => super::eval::filled(known, "%s", &rest, &text),
                    None => Value::Text(marks),
                }
            }
            Act::Input => Value::Text(Text::from(Source::Input)),
            Act::Home => match home() {
                Value::Text(text) if name.contains("Path") => Value::Path(text),
                other => other,
            },
            Act::Expand => match first {
                Value::Path(text) => Value::Path(expanded(&text)),
                other => Value::Text(expanded(&other.text())),
            },
            Act::Variable => match first.known_text() {
                Some(name) => self.variable(name),
                None if values.is_empty() => Value::Name("environ".into()),
                None => Value::unknown(),
            },
            Act::Glob => Value::Text(pattern(&match values.len() {
                2 if matches!(first, Value::Path(_)) => {
                    below(&first.text(), &second.unwrap_or_else(Value::unknown).text())
                }
                _ => self.path_of(&first),
            })),
            // Most answer bare names: what is below the folder only shows when they are put together with it.
            Act::Entries if !matches!(name, "iterdir" | "children") => Value::unknown(),
            Act::Entries => {
                let folder = self.path_of(&first);
                Value::Text(pattern(&below(&folder, &Text::word(Word::Known("*".into())))))
            }
            Act::Letters => {
                let numbers: Option<String> = values
                    .iter()
                    .flat_map(|value| match value {
                        Value::List(values) => values.clone(),
                        other => vec![(*other).clone()],
                    })
                    .map(|value| match value {
                        Value::Number(number) => u32::try_from(number).ok().and_then(char::from_u32),
                        _ => None,
                    })
                    .collect();
                let word = numbers.map_or_else(hole, Word::Known);
                Value::Text(Text { word, decoded: true, ..marks })
            }
            Act::Reverse => super::eval::reversed(&first),
            Act::Sql(at) => self.statements(values.get(at).copied(), &first, &args),
            Act::Mongo(verb) => self.mongo(verb, name, &args),
            Act::Unclear => self.unknown_call(&first, &args),
        }
    }

    /// A path argument: R and some editors expand a tilde themselves.
    fn path_of(&self, value: &Value) -> Text {
        match self.language {
            Language::R => pattern(&expanded(&value.text())),
            _ => value.text(),
        }
    }

    /// A variable of the environment.
    pub(super) fn variable(&mut self, name: &str) -> Value {
        match name {
            "HOME" | "USERPROFILE" => home(),
            _ if secret_name(name) => {
                Value::Text(Text::from(Source::Command(Word::Known(format!("printenv {name}")))))
            }
            _ => Value::unknown(),
        }
    }

    /// A subscript.
    pub(super) fn index(&mut self, value: Value, key: Value) -> Value {
        let known = key.known_text().map(str::to_string);
        match (value, known) {
            (Value::Name(base), Some(key)) => match base.as_str() {
                "sys.modules" => Value::Name(key),
                "globals" | "locals" | "globalThis" | "global" | "window" | "_G" | "$GLOBALS" => {
                    self.names.get(&key).cloned().unwrap_or(Value::Name(key))
                }
                "environ" => self.variable(&key),
                _ if self.find(&base) == Some(Act::Fixed(Fixed::Environment)) => self.variable(&key),
                _ => Value::Name(format!("{base}.{key}")),
            },
            (Value::Table(entries), Some(key)) => {
                let found = entries.into_iter().find(|(name, _)| *name == key);
                found.map_or_else(Value::unknown, |(_, value)| value)
            }
            (Value::List(values), _) => match key {
                Value::Number(number) => {
                    let first = i64::from(self.language == Language::Lua || self.language == Language::R);
                    let at = if number < 0 {
                        number + i64::try_from(values.len()).unwrap_or(0)
                    } else {
                        number - first
                    };
                    usize::try_from(at)
                        .ok()
                        .and_then(|at| values.get(at).cloned())
                        .unwrap_or_else(Value::unknown)
                }
                _ => Value::List(values),
            },
            (other, _) => {
                let mut text = Text::unknown();
                other.mark(&mut text);
                if matches!(other, Value::Name(_)) {
                    self.complete = false;
                }
                Value::Text(text)
            }
        }
    }
}

fn exact_star(acts: &[(&'static str, Act)], last: &str) -> Option<Act> {
    acts.iter().find(|(key, _)| key.strip_prefix("*.") == Some(last)).map(|(_, act)| *act)
}

impl Text {
    /// The word as an operand.
    fn words(self) -> Vec<Word> {
        vec![self.word]
    }
}

fn home() -> Value {
    Value::Text(Text::word(Word::Tilde("~".into())))
}

/// What a decoder answers.
pub(super) fn decoded(decoder: Decoder, text: &Text) -> Value {
    let known = text.word.known().and_then(|known| super::decode::decode(decoder, known));
    Value::Text(Text { word: known.map_or_else(hole, Word::Known), decoded: true, from: text.from.clone() })
}

/// Whether an option says that whole trees are meant.
fn says_tree(name: Option<&str>, value: &Value) -> bool {
    let tree = |name: &str| matches!(name, "recursive" | "recurse" | "force_recursive");
    match (name, value) {
        (Some(name), Value::Flag(on)) => tree(name) && *on,
        (Some(name), Value::Number(on)) => tree(name) && *on != 0,
        (None, Value::Table(entries)) => entries.iter().any(|(name, value)| says_tree(Some(name), value)),
        _ => false,
    }
}

fn secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["KEY", "SECRET", "TOKEN", "PASSW", "CREDENTIAL", "PRIVATE"].iter().any(|word| upper.contains(word))
}
