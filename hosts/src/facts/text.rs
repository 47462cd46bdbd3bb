//! The texts that a call brings: what it writes, in every shape that tools have, what it runs, what came back.
//!
//! INVARIANT: one model for all shapes: the text before, the text after, and which of its lines are new. What is there
//! already is not called new because a tool sends the whole file again. Before a call no text of its arguments is left
//! out: what has no shape that is known is a text of its own, and what lies beyond a bound is a gap.

mod decode;
mod edits;
mod keys;
mod shell;

pub(crate) use edits::added;

use super::patch;
use super::resolve::{FileText, Resolver};
use super::spelling::HOLE;
use super::tool;
use crate::call::Call;
use crate::output;
use edits::{done, pieces, undone};
use keys::{Edit, Named};
use policy_runtime::facts::{Access, CommandFact, Facts, TextFact, TextRole, Word};
use serde_json::{Map, Value};
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Most texts of one call.
const MOST_TEXTS: usize = 1024;
/// Deepest value that is looked into, as deep as the walk over the arguments goes.
const MOST_DEPTH: usize = 64;
/// Most bytes of all files that are read for one call and of what edits make of them; beyond it a file is not known.
const MOST_BYTES: usize = 64 << 20;
/// Most values of one call.
const MOST_VALUES: usize = 4096;
/// Most files of one object beside the one that it names.
const MOST_OTHERS: usize = 8;
/// Longest key that is only a name, bytes; a longer one is a text.
const LONGEST_KEY: usize = 16;
/// Keys of a shell that hold nothing but its command and what is said about it.
const PLAIN: [&str; 5] = ["command", "description", "cwd", "workdir", "cmd"];

/// The text behind bytes that need not be UTF-8.
pub(super) fn of_bytes(bytes: Vec<u8>) -> String {
    decode::lossy(bytes)
}

/// Makes the texts of a call whose facts are known.
pub fn texts(call: &Call, facts: &Facts, resolver: &dyn Resolver) -> Vec<TextFact> {
    let kind = tool::kind(&call.tool, &facts.readings);
    let mut made = Made {
        call,
        facts,
        resolver,
        out: Vec::new(),
        used: BTreeSet::new(),
        files: BTreeMap::new(),
        rest: BTreeMap::new(),
        paths: OnceCell::new(),
        values: 0,
        room: Cell::new(MOST_BYTES),
        gap: "",
    };
    match call.event.as_str() {
        "user_prompt" | "user_prompt_submit" => made.strings(&call.arguments, TextRole::Prompt),
        _ => {
            if kind.shell || !facts.scripts.is_empty() {
                made.scripts();
            }
            if kind.patch {
                made.patches(&call.arguments);
            }
            let silent = kind.shell && plain(&call.arguments) || reads_only(facts);
            if !silent {
                made.value(&call.arguments, "", None, 0);
                made.leftovers();
            }
        }
    }
    if !call.output.is_null() {
        made.strings(&call.output, TextRole::Output);
    }
    if let Some(path) = &call.transcript {
        made.transcript(path);
    }
    made.out
}

/// Whether the arguments of a shell are a command and nothing else: its string is read as a command already.
fn plain(arguments: &Value) -> bool {
    arguments.as_object().is_some_and(|map| {
        map.iter().all(|(key, value)| {
            PLAIN.contains(&key.as_str()) || !(value.is_string() || value.is_array() || value.is_object())
        })
    })
}

/// Whether the call surely writes no file, and sends nothing to a server.
fn reads_only(facts: &Facts) -> bool {
    facts.readings.iter().all(|name| name.server.is_empty())
        && !facts.paths.is_empty()
        && facts.paths.iter().all(|path| path.access.only_reads())
}

struct Made<'a> {
    call: &'a Call,
    facts: &'a Facts,
    resolver: &'a dyn Resolver,
    out: Vec<TextFact>,
    /// Where the values lie that are part of a text already.
    used: BTreeSet<usize>,
    /// The last text of each file that commands of this call write.
    files: BTreeMap<PathBuf, usize>,
    /// What has no shape that is known, by the file that it belongs to.
    rest: BTreeMap<Option<u32>, String>,
    /// Paths by how they were written, the first of each.
    paths: OnceCell<BTreeMap<&'a str, u32>>,
    values: usize,
    /// Bytes that may still be read from files and made of them.
    room: Cell<usize>,
    /// Why not all arguments were looked at.
    gap: &'static str,
}

fn place<T>(value: &T) -> usize {
    std::ptr::from_ref(value).addr()
}

impl<'a> Made<'a> {
    fn push(&mut self, text: TextFact) {
        // A file of two bytes a letter reads as one of one byte between zeros.
        let hidden = text.after.contains('\0').then(|| {
            let plain = |text: &str| text.replace('\0', "");
            new_text(text.role, text.path, text.before.as_deref().map(plain), plain(&text.after))
        });
        for text in std::iter::once(text).chain(hidden) {
            if self.out.len() < MOST_TEXTS {
                self.out.push(text);
            } else if let Some(last) = self.out.last_mut() {
                last.gap = format!("more than {MOST_TEXTS} texts");
            }
        }
    }

    /// What a subagent wrote down of what it did. One that is not there, or too long, was not looked at.
    fn transcript(&mut self, path: &Path) {
        let gap = |why: &str| format!("the transcript of the subagent {why}");
        let (text, gap) = match self.resolver.text(path) {
            FileText::Text(text) => (text, String::new()),
            FileText::Absent => (String::new(), gap("is not there")),
            FileText::Unknown | FileText::Unread => (String::new(), gap("could not be read, or is too long")),
        };
        self.push(TextFact { gap, ..new_text(TextRole::Transcript, None, None, text) });
    }

    /// Everything in it that is a text, as one.
    fn strings(&mut self, value: &Value, role: TextRole) {
        let all = output::joined(value);
        if !all.is_empty() {
            // What is told before a call is the text of the file that is read.
            let file = self.call.arguments.as_object().filter(|_| self.call.event == "pre_tool_use");
            let path = file.and_then(keys::file).and_then(|file| self.path(file));
            self.push(new_text(role, path, None, all));
        }
    }

    /// Every envelope in the arguments of a patch tool.
    fn patches(&mut self, arguments: &'a Value) {
        let mut stack = vec![arguments];
        while let Some(value) = stack.pop() {
            match value {
                Value::String(text) => {
                    if self.patch(text) {
                        self.used.insert(place(value));
                    }
                }
                Value::Array(items) => stack.extend(items.iter().rev()),
                Value::Object(map) => stack.extend(map.values().rev()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }

    /// The files of an envelope; whether there are any.
    fn patch(&mut self, text: &str) -> bool {
        // What is on disk behind the call is no text that it found.
        let before = self.call.event == "pre_tool_use";
        let on_disk = |file: &str| if before { self.on_disk(file) } else { FileText::Unknown };
        let files = patch::written(text, &on_disk);
        let any = !files.is_empty();
        for file in files {
            let path = self.path(file.file);
            self.push(new_text(TextRole::File, path, file.before, file.after));
        }
        any
    }

    /// Commands as they were given, and what they write word for word.
    fn scripts(&mut self) {
        let facts = self.facts;
        for script in &facts.scripts {
            self.push(new_text(TextRole::Command, None, None, script.text.clone()));
        }
        for command in &facts.commands {
            self.parted(command);
            if patch::is_program(shell::name(command)) {
                let words = command.words.iter().filter_map(|word| match word {
                    Word::Known(text) => Some(text.as_str()),
                    _ => None,
                });
                let whole = |text: &&str| !text.contains(HOLE);
                words.chain(command.input.as_deref()).filter(whole).for_each(|text| {
                    self.patch(text);
                });
            }
            let redirects = command.redirects.iter().filter(|redirect| redirect.writes);
            let mut targets: Vec<(u32, bool)> = redirects
                .filter_map(|redirect| Some((redirect.path?, redirect.op.ends_with(">>"))))
                .collect();
            if shell::name(command) == "tee" {
                let appends = command.words.iter().any(|word| {
                    matches!(word, Word::Known(word) if ["-a", "--append", "-ai", "-ia"].contains(&word.as_str()))
                });
                let writes = |path: &u32| {
                    let path = facts.paths.get(*path as usize);
                    path.is_some_and(|path| path.access.any(Access::WRITE))
                };
                targets.extend(command.paths.iter().copied().filter(writes).map(|path| (path, appends)));
            }
            if targets.is_empty() {
                continue;
            }
            let Some(text) = shell::written(facts, command) else { continue };
            targets.sort_by_key(|(path, _)| *path);
            targets.dedup_by_key(|(path, _)| *path);
            for (path, appends) in targets {
                self.written(path, &text, appends);
            }
        }
    }

    /// Words that are put together from pieces, which no one sees in the command as it was given.
    fn parted(&mut self, command: &CommandFact) {
        let mut all = String::new();
        for word in &command.words {
            if let Word::Known(word) = word
                && word.len() > LONGEST_KEY
                && !command.source.is_empty()
                && !command.source.contains(word.as_str())
            {
                all.push_str(if all.is_empty() { "" } else { "\n" });
                all.push_str(word);
            }
        }
        if !all.is_empty() {
            self.push(new_text(TextRole::Command, None, None, all));
        }
    }

    /// A file that a command writes a text to.
    fn written(&mut self, path: u32, text: &str, appends: bool) {
        let Some(fact) = self.facts.paths.get(path as usize) else { return };
        let file = self.absolute(fact);
        let known = self.files.get(&file).copied();
        if let Some(last) = known.filter(|_| appends).and_then(|at| self.out.get_mut(at)) {
            append(last, text);
            return;
        }
        let before = match known.and_then(|at| self.out.get(at)) {
            Some(last) => Some(last.after.clone()),
            None if self.call.event != "pre_tool_use" => None,
            None => match self.read(&file) {
                FileText::Text(text) => Some(text),
                _ => None,
            },
        };
        let whole = match before {
            Some(before) if appends => {
                let after = before.clone();
                let mut whole =
                    TextFact { path: Some(path), before: Some(before), after, ..TextFact::default() };
                append(&mut whole, text);
                whole
            }
            before => new_text(TextRole::File, Some(path), before, text.to_owned()),
        };
        self.files.insert(file, self.out.len());
        self.push(whole);
    }

    /// One value and everything in it; `around` is the file that an object around it names.
    fn value(&mut self, value: &'a Value, key: &str, around: Option<&'a str>, depth: usize) {
        self.values += 1;
        if depth > MOST_DEPTH || self.values > MOST_VALUES {
            self.gap =
                if depth > MOST_DEPTH { "a value nested deeper than 64" } else { "more than 4096 values" };
            return;
        }
        let used = self.used.contains(&place(value));
        match value {
            Value::String(text) if !used => self.left(text, key, around),
            Value::Array(items) if !used => {
                items.iter().for_each(|item| self.value(item, key, around, depth + 1));
            }
            Value::Object(map) => {
                let named = Named::new(map);
                let own = named.file();
                self.used.extend(own.map(|(value, _)| place(value)));
                let file = own.map(|(_, file)| file).or(around);
                if !used {
                    self.shape(map, &named, file);
                }
                for (key, value) in map {
                    let own = self.path(key).is_some();
                    if key.len() > LONGEST_KEY && !own && self.tells() {
                        self.keep(None, key);
                    }
                    self.value(value, key, if own { Some(key) } else { file }, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// A write or edit as one object tells it.
    fn shape(&mut self, map: &'a Map<String, Value>, named: &Named<'a>, file: Option<&'a str>) {
        let mut edits = Vec::new();
        if let Some((edit, used)) = named.edit() {
            edits.push(edit);
            self.used.extend(used.into_iter().map(place));
        }
        // Edits of one file are taken together.
        for item in map.values().filter_map(Value::as_array).flatten() {
            let Some(object) = item.as_object().map(Named::new) else { continue };
            if object.file().is_none()
                && let Some((edit, used)) = object.edit()
            {
                edits.push(edit);
                self.used.extend(used.into_iter().map(place));
                self.used.insert(place(item));
            }
        }
        let path = file.and_then(|file| self.path(file));
        if !edits.is_empty() {
            self.edited(file, path, &edits);
            return;
        }
        // Files under keys that are not known: the text may be for any of them.
        let strings = map.values().filter_map(Value::as_str);
        let mut others: Vec<u32> = strings.filter_map(|text| self.path(text)).collect();
        others.retain(|other| Some(*other) != path);
        others.truncate(MOST_OTHERS);
        for (value, whole) in named.wholes(file.is_some() || !others.is_empty()) {
            if !self.used.insert(place(value)) {
                continue;
            }
            // SECURITY: what reads like a path may be the text all the same.
            if self.path(&whole).is_some() {
                if self.tells() {
                    self.keep(None, &whole);
                }
                continue;
            }
            for other in &others {
                self.push(new_text(TextRole::Argument, Some(*other), None, whole.clone().into_owned()));
            }
            if file.is_none() {
                if others.is_empty() {
                    self.push(new_text(TextRole::Argument, None, None, whole.into_owned()));
                }
                continue;
            }
            let before = match file.map(|file| self.on_disk(file)) {
                Some(FileText::Text(text)) if self.call.event == "pre_tool_use" => Some(text),
                _ => None,
            };
            self.push(new_text(TextRole::File, path, before, whole.into_owned()));
        }
    }

    fn edited(&mut self, file: Option<&str>, path: Option<u32>, edits: &[Edit<'_>]) {
        let on_disk = file.map_or(FileText::Unknown, |file| self.on_disk(file));
        let before_the_call = self.call.event == "pre_tool_use";
        let known = match &on_disk {
            FileText::Text(text) => Some(text.as_str()),
            // A file that is made by its first edit.
            FileText::Absent if before_the_call => Some(""),
            _ => None,
        };
        let mut gap = String::new();
        if let Some(text) = known
            && before_the_call
        {
            let done = done(text, edits);
            self.room.set(self.room.get().saturating_sub(done.text.len()));
            if done.fit > 0 {
                let before = (on_disk != FileText::Absent).then(|| text.to_owned());
                let loose = done.loose.join("\n");
                self.push(TextFact { gap: done.gap, ..new_text(TextRole::File, path, before, done.text) });
                if !loose.is_empty() {
                    self.push(new_text(TextRole::File, path, None, loose));
                }
                return;
            }
            gap = done.gap;
        } else if let Some(text) = known
            && let Some(before) = undone(text, edits)
        {
            self.push(new_text(TextRole::File, path, Some(before), text.to_owned()));
            return;
        } else if on_disk == FileText::Unread && before_the_call {
            gap = "the file that is edited cannot be read".to_owned();
        }
        // The file is not known, or the edit does not fit it: what it brings is looked at all the same.
        self.push(TextFact { gap, ..new_text(TextRole::File, path, None, pieces(edits)) });
    }

    /// Whether texts without a shape are told: of calls that may still be stopped.
    fn tells(&self) -> bool {
        self.call.event == "pre_tool_use" && !self.call.tool.is_empty()
    }

    /// A text that has no shape that is known.
    fn left(&mut self, text: &'a str, key: &str, around: Option<&'a str>) {
        if let Some(path) = around.filter(|around| *around == key).and_then(|_| self.path(key)) {
            // `files: {"src/a.rs": "…"}`
            let before = match self.on_disk(key) {
                FileText::Text(text) if self.call.event == "pre_tool_use" => Some(text),
                _ => None,
            };
            self.push(new_text(TextRole::File, Some(path), before, text.to_owned()));
            return;
        }
        if !self.tells() || self.facts.scripts.iter().any(|script| script.text == text) {
            return;
        }
        // What is said about a file is no text of it.
        let path = around.filter(|_| !keys::is_note(key)).and_then(|file| self.path(file));
        self.keep(path, text);
    }

    fn keep(&mut self, path: Option<u32>, text: &str) {
        let all = self.rest.entry(path).or_default();
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(text);
    }

    fn leftovers(&mut self) {
        for (path, text) in std::mem::take(&mut self.rest) {
            self.push(new_text(TextRole::Argument, path, None, text));
        }
        if !self.gap.is_empty() && self.tells() {
            let gap = format!("not all arguments were looked at: {}", self.gap);
            self.push(TextFact { gap, ..new_text(TextRole::Argument, None, None, String::new()) });
        }
    }

    /// The path fact of a file as it was written.
    fn path(&self, file: &str) -> Option<u32> {
        let paths = self.paths.get_or_init(|| {
            let mut known = BTreeMap::new();
            for (path, at) in self.facts.paths.iter().zip(0..) {
                known.entry(path.written.as_str()).or_insert(at);
            }
            known
        });
        paths.get(file).copied()
    }

    fn on_disk(&self, file: &str) -> FileText {
        let fact = self.path(file).and_then(|path| self.facts.paths.get(path as usize));
        match fact {
            Some(fact) => self.read(&self.absolute(fact)),
            None => self.read(&self.joined(file)),
        }
    }

    fn read(&self, path: &Path) -> FileText {
        if !path.is_absolute() || self.room.get() == 0 {
            return FileText::Unknown;
        }
        let text = self.resolver.text(path);
        if let FileText::Text(text) = &text {
            self.room.set(self.room.get().saturating_sub(text.len()));
        }
        text
    }

    /// Where a file lies, links not followed.
    fn absolute(&self, fact: &policy_runtime::facts::PathFact) -> PathBuf {
        let views = fact.names.first().map(|name| name.views.as_slice()).unwrap_or_default();
        match views.iter().find(|view| view.starts_with('/')) {
            Some(view) => PathBuf::from(view),
            None => self.joined(&fact.written),
        }
    }

    fn joined(&self, file: &str) -> PathBuf {
        let file = file.strip_prefix("file://").unwrap_or(file);
        let mut path = PathBuf::new();
        for part in self.call.cwd.join(Path::new(file)).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    path.pop();
                }
                other => path.push(other),
            }
        }
        path
    }
}

/// Puts a text behind the one of a file: the line that it goes on with is new, too.
fn append(whole: &mut TextFact, text: &str) {
    let start = whole.after.rfind('\n').map_or(0, |at| at + 1);
    whole.after.push_str(text);
    if !text.is_empty() {
        whole.added.push(start..whole.after.len());
    }
}

fn new_text(role: TextRole, path: Option<u32>, before: Option<String>, after: String) -> TextFact {
    let added = added(before.as_deref().unwrap_or_default(), &after);
    TextFact { role, path, before, after, added, gap: String::new() }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
