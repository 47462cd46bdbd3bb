//! Requests and connections, and the commands of document databases.
//!
//! INVARIANT: what is sent is told by where it came from; a secret that leaves is never listed as a plain request.

use super::super::Inside;
use super::super::eval::{Arg, Reader};
use super::super::text::{Source, Text, Value, hole, joined, shell_quoted};
use super::source_text;
use crate::shell::Word;

fn known(text: &str) -> Word {
    Word::Known(text.to_string())
}

impl Reader {
    /// A request: `curl URL`, with what it carries.
    pub(super) fn net(&mut self, args: &[Arg], file: Option<Word>) -> Value {
        let mut marks = Text::unknown();
        args.iter().for_each(|arg| arg.value.mark(&mut marks));
        let url = address(args);
        let mut carries = false;
        for source in &marks.from {
            match source {
                Source::File(path) => {
                    let data = joined(&known("@"), path);
                    self.does(Inside::Argv(vec![known("curl"), known("-d"), data, url.clone()]));
                    carries = true;
                }
                Source::Input => {
                    self.does(Inside::Argv(vec![known("curl"), known("-d"), known("@-"), url.clone()]));
                    carries = true;
                }
                // What another place answered is ordinary.
                Source::Url(_) => {}
                source => {
                    let text = joined(&source_text(source), &known(" | curl -d @- "));
                    self.does(Inside::Shell(joined(&text, &shell_quoted(&url))));
                    carries = true;
                }
            }
        }
        self.peer = Some(url.clone());
        if let Some(file) = file {
            self.does(Inside::Argv(vec![known("curl"), known("-o"), file, url.clone()]));
        } else if !carries {
            self.does(Inside::Argv(vec![known("curl"), url.clone()]));
        }
        Value::Text(Text::from(Source::Url(url)))
    }

    /// A file is written; with what, when it came over the network.
    pub(super) fn written(&mut self, path: Word, content: &Text) {
        self.does_word(Inside::Writes, &path);
        self.fetched_to(path, content);
    }

    pub(super) fn fetched_to(&mut self, path: Word, content: &Text) {
        for source in &content.from {
            match source {
                Source::Url(url) => {
                    self.does(Inside::Argv(vec![known("curl"), known("-o"), path.clone(), url.clone()]));
                }
                Source::File(file) if *file != path => {
                    self.does(Inside::Argv(vec![known("cp"), file.clone(), path.clone()]));
                }
                _ => {}
            }
        }
    }

    pub(super) fn connect(&mut self, args: &[Arg], listens: bool) {
        let mut texts: Vec<Word> = Vec::new();
        let mut collect = |value: &Value| match value {
            Value::Table(entries) => texts.extend(entries.iter().flat_map(|(_, value)| value.words())),
            other => texts.extend(other.words()),
        };
        args.iter().for_each(|arg| collect(&arg.value));
        let (mut host, mut port, mut other) = (None, None, None);
        for word in texts {
            match word.known() {
                Some(text) if text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty() => {
                    port = port.or(Some(word))
                }
                Some(text) if text.contains(':') && host.is_none() => {
                    let address = text.trim_start_matches("tcp://");
                    let (name, number) = address.rsplit_once(':').unwrap_or((address, ""));
                    host = Some(known(name));
                    if !number.is_empty() {
                        port = port.or(Some(known(number)));
                    }
                }
                Some("tcp") | Some("") => {}
                Some(_) => host = host.or(Some(word)),
                None => other = other.or(Some(word)),
            }
        }
        let host = host.or(other).unwrap_or_else(|| if listens { known("0.0.0.0") } else { hole() });
        self.socket = Some((host, port.unwrap_or_else(hole), listens));
    }

    /// Something is sent on the connection or request that is open.
    pub(super) fn transmit(&mut self, marks: &Text) {
        let to = match (&self.peer, &self.socket) {
            (Some(url), _) => joined(&known("curl -d @- "), &shell_quoted(url)),
            (None, Some((host, port, _))) => {
                let host = joined(&known("nc "), &shell_quoted(host));
                joined(&joined(&host, &known(" ")), &shell_quoted(port))
            }
            (None, None) => return,
        };
        for source in &marks.from {
            let text = joined(&joined(&source_text(source), &known(" | ")), &to);
            if !matches!(source, Source::Url(_)) {
                self.does(Inside::Shell(text));
            }
        }
    }

    /// At the end: a connection alone, or one with a shell behind it.
    pub(in super::super) fn connection(&mut self) {
        let Some((host, port, listens)) = self.socket.take() else { return };
        let mut words = vec![known("nc")];
        if listens {
            words.push(known("-l"));
        }
        if self.shell {
            words.extend([known("-e"), known("/bin/sh")]);
        }
        words.extend([host, port]);
        self.does(Inside::Argv(words));
    }

    /// Statements that code gives to a database: those that its reader lists.
    pub(super) fn statements(&mut self, text: Option<&Value>, callee: &Value, args: &[Arg]) -> Value {
        let text = text.map(Value::text);
        let known = text.as_ref().and_then(|text| text.word.known()).unwrap_or_default();
        for inside in super::super::nested(super::super::Language::Sql, known, 1).inside {
            if matches!(&inside, Inside::Argv(words) if words.first().and_then(Word::known) == Some("sql")) {
                self.does(inside);
            }
        }
        self.unknown_call(callee, args)
    }

    /// A command of a document database.
    pub(super) fn mongo(&mut self, verb: &str, name: &str, args: &[Arg]) -> Value {
        let mut parts = name.split('.');
        let holder = parts.next_back().and_then(|_| parts.next_back()).unwrap_or("db");
        let first = args.first().map(|arg| &arg.value);
        let mut words = vec![known("mongo"), known(verb)];
        let all = match first {
            None => true,
            Some(Value::Table(entries)) => entries.is_empty(),
            Some(_) => false,
        };
        match verb {
            "collection" => {
                let name = first.map_or_else(hole, |value| value.text().word);
                return Value::Name(format!("db.{}", name.known().unwrap_or("_")));
            }
            "db" => return Value::Name("db".into()),
            "command" => {
                let Some(Value::Table(entries)) = first else {
                    self.complete = false;
                    return Value::unknown();
                };
                let Some((command, value)) = entries.first() else { return Value::unknown() };
                let lower = command.to_ascii_lowercase();
                self.complete &= matches!(
                    lower.as_str(),
                    "ping" | "hello" | "buildinfo" | "count" | "find" | "serverstatus"
                );
                words = vec![known("mongo"), known(&lower)];
                words.extend(value.words().into_iter().filter(|_| lower != "dropdatabase"));
            }
            "dropdatabase" | "shutdown" => {}
            "delete" | "update" => {
                words.push(known(holder));
                if !all {
                    words.push(known("--where"));
                }
            }
            _ => words.push(known(holder)),
        }
        self.argv(words);
        Value::unknown()
    }
}

/// The place that a request goes to.
fn address(args: &[Arg]) -> Word {
    let named = |key: &str| args.iter().find(|arg| arg.name.as_deref() == Some(key)).map(|arg| &arg.value);
    if let Some(value) = named("url").or_else(|| named("uri")).or_else(|| named("host")) {
        return value.text().word;
    }
    let verbs = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"];
    for arg in args.iter().filter(|arg| arg.name.is_none()) {
        match &arg.value {
            Value::Table(entries) => {
                let find =
                    |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, v)| v.text().word);
                if let Some(url) = find("url").or_else(|| find("uri")) {
                    return url;
                }
                if let Some(host) = find("hostname").or_else(|| find("host")) {
                    return joined(&host, &find("path").unwrap_or_else(|| known("")));
                }
            }
            Value::Text(text) | Value::Path(text)
                if !text.word.known().is_some_and(|t| verbs.contains(&t.to_ascii_uppercase().as_str())) =>
            {
                return text.word.clone();
            }
            _ => {}
        }
    }
    hole()
}
