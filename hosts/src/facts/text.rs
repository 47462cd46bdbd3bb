//! The texts that a call brings: what it writes, in every shape that tools have, what it runs, what came back.
//!
//! INVARIANT: one model for all shapes: the text before, the text after, and which of its lines are new. What is there
//! already is not called new because a tool sends the whole file again.

use super::patch;
use super::resolve::{FileText, Resolver};
use super::tool;
use crate::call::Call;
use policy_runtime::facts::{Access, Facts, TextFact, TextRole};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Most texts of one call.
const MOST_TEXTS: usize = 1024;
/// Deepest object that is looked into: what lies deeper is a gap.
const MOST_DEPTH: usize = 64;
/// Keys of a whole text, squeezed.
const WHOLE: [&str; 9] = [
    "content",
    "contents",
    "filetext",
    "newcontent",
    "newcontents",
    "newsource",
    "codecontent",
    "body",
    "text",
];
/// Keys of what an edit takes away.
const OLD: [&str; 8] =
    ["oldstring", "oldstr", "oldtext", "old", "search", "searchstring", "targetcontent", "originaltext"];
/// Keys of what an edit puts there.
const NEW: [&str; 9] = [
    "newstring",
    "newstr",
    "newtext",
    "new",
    "replace",
    "replacement",
    "replacementcontent",
    "replacestring",
    "inserttext",
];
/// Keys of the file.
const FILE: [&str; 10] = [
    "filepath",
    "path",
    "file",
    "filename",
    "absolutepath",
    "targetfile",
    "relativepath",
    "notebookpath",
    "uri",
    "target",
];

/// Makes the texts of a call whose facts are known.
pub fn texts(call: &Call, facts: &Facts, resolver: &dyn Resolver) -> Vec<TextFact> {
    let kind = tool::kind(&call.tool, &facts.readings);
    let mut made = Made { call, facts, resolver, taken: HashSet::new(), out: Vec::new() };
    match call.event.as_str() {
        "user_prompt" | "user_prompt_submit" => made.strings(&call.arguments, TextRole::Prompt),
        _ => {
            if kind.shell || !facts.scripts.is_empty() {
                made.scripts();
            }
            if kind.patch {
                made.patches(&call.arguments);
            } else if !kind.shell && !reads_only(facts) {
                made.object(&call.arguments, None, 0);
                made.rest();
            }
        }
    }
    if !call.output.is_null() {
        made.strings(&call.output, TextRole::Output);
    }
    made.out
}

/// Whether the call surely writes no file.
fn reads_only(facts: &Facts) -> bool {
    !facts.paths.is_empty() && facts.paths.iter().all(|path| path.access.only_reads())
}

struct Made<'a> {
    call: &'a Call,
    facts: &'a Facts,
    resolver: &'a dyn Resolver,
    /// Strings of the arguments that are a part of a text or the name of its file, by where they lie.
    taken: HashSet<*const u8>,
    out: Vec<TextFact>,
}

impl<'a> Made<'a> {
    fn push(&mut self, text: TextFact) {
        if self.out.len() < MOST_TEXTS {
            self.out.push(text);
        } else if let Some(last) = self.out.last_mut() {
            last.gap = format!("more than {MOST_TEXTS} texts");
        }
    }

    /// Everything in it that is a text, as one: the answer of a tool has its text in any place.
    fn strings(&mut self, value: &Value, role: TextRole) {
        let mut all = String::new();
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            match value {
                Value::String(text) => {
                    if !all.is_empty() {
                        all.push('\n');
                    }
                    all.push_str(text);
                }
                Value::Array(items) => stack.extend(items.iter().rev()),
                Value::Object(map) => stack.extend(map.values().rev()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        if !all.is_empty() {
            self.push(new_text(role, None, None, all));
        }
    }

    /// What no shape knows, as one text: a tool of a server calls what it writes what it likes.
    fn rest(&mut self) {
        let mut rest: Vec<&str> = Vec::new();
        let scripts = self.facts.scripts.iter().map(|script| script.text.as_str());
        let known: HashSet<&str> =
            scripts.chain(self.facts.paths.iter().map(|path| path.written.as_str())).collect();
        let mut stack = vec![&self.call.arguments];
        while let Some(value) = stack.pop() {
            match value {
                Value::String(text) => {
                    let known = known.contains(text.as_str()) || self.taken.contains(&text.as_ptr());
                    if !known && !text.is_empty() {
                        rest.push(text);
                    }
                }
                Value::Array(items) => stack.extend(items.iter().rev()),
                Value::Object(map) => stack.extend(map.values().rev()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        if !rest.is_empty() {
            self.push(new_text(TextRole::Argument, None, None, rest.join("\n")));
        }
    }

    /// Every envelope in the arguments of a patch tool.
    fn patches(&mut self, arguments: &Value) {
        let mut stack = vec![arguments];
        while let Some(value) = stack.pop() {
            match value {
                Value::String(text) => self.patch(text),
                Value::Array(items) => stack.extend(items.iter().rev()),
                Value::Object(map) => stack.extend(map.values().rev()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }

    fn patch(&mut self, text: &str) {
        // What is on disk behind the call is no text that it found.
        let before = self.call.event == "pre_tool_use";
        let on_disk = |file: &str| if before { self.on_disk(file) } else { FileText::Unknown };
        for file in patch::written(text, &on_disk) {
            let path = self.path(file.file);
            self.push(new_text(TextRole::File, path, file.before, file.after));
        }
    }

    /// Commands as they were given, and what they write word for word.
    fn scripts(&mut self) {
        let facts = self.facts;
        for script in &facts.scripts {
            self.push(new_text(TextRole::Command, None, None, script.text.clone()));
        }
        for command in &facts.commands {
            if patch::is_program(command_name(command)) {
                let words = command.words.iter().filter_map(|word| match word {
                    policy_runtime::facts::Word::Known(text) => Some(text.as_str()),
                    _ => None,
                });
                words.chain(command.input.as_deref()).for_each(|text| self.patch(text));
            }
            let Some(text) = written_by(command) else { continue };
            let redirects = command.redirects.iter().filter(|redirect| redirect.writes);
            let targets = redirects.filter_map(|redirect| redirect.path);
            let operands = command.paths.iter().copied().filter(|path| {
                let path = facts.paths.get(*path as usize);
                path.is_some_and(|path| path.access.any(Access::WRITE)) && command_name(command) == "tee"
            });
            let mut targets: Vec<u32> = targets.chain(operands).collect();
            targets.dedup();
            for path in targets {
                self.push(new_text(TextRole::File, Some(path), None, text.clone()));
            }
        }
    }

    fn object(&mut self, value: &'a Value, around: Option<&'a str>, depth: usize) {
        if depth > MOST_DEPTH {
            let gap = format!("what lies deeper than {MOST_DEPTH} objects is not looked at");
            let text = new_text(TextRole::Argument, None, None, String::new());
            return self.push(TextFact { gap, ..text });
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.object(item, around, depth + 1)),
            Value::Object(map) => {
                let file = text_under(map, &FILE).or(around);
                self.shape(map, file);
                for (key, value) in map {
                    // Edits of one file were taken together.
                    if value.is_object() || value.is_array() && !is_edits(key, value) {
                        self.object(value, file, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    /// A write or edit as one object tells it.
    fn shape(&mut self, map: &'a Map<String, Value>, file: Option<&'a str>) {
        let mut edits = Vec::new();
        edits.extend(edit(map));
        for (_, value) in map.iter().filter(|(key, value)| is_edits(key, value)) {
            let items = value.as_array().into_iter().flatten().filter_map(Value::as_object);
            edits.extend(items.filter_map(edit));
        }
        let whole = if edits.is_empty() { text_under(map, &WHOLE) } else { None };
        if edits.is_empty() && whole.is_none() {
            return;
        }
        self.taken.extend(edits.iter().flat_map(|edit| [edit.old, edit.new]).chain(whole).map(str::as_ptr));
        self.taken.extend(file.map(str::as_ptr));
        let path = file.and_then(|file| self.path(file));
        let on_disk = file.map(|file| self.on_disk(file));
        let after_the_call = self.call.event != "pre_tool_use";
        if let Some(whole) = whole {
            if file.is_none() {
                self.push(new_text(TextRole::Argument, None, None, whole.to_owned()));
                return;
            }
            let before = match on_disk {
                Some(FileText::Text(text)) if !after_the_call => Some(text),
                _ => None,
            };
            self.push(new_text(TextRole::File, path, before, whole.to_owned()));
            return;
        }
        let (before, after) = match on_disk {
            Some(FileText::Text(text)) if after_the_call => (undone(&text, &edits), Some(text)),
            Some(FileText::Text(text)) => {
                let after = done(&text, &edits);
                (Some(text), after)
            }
            _ => (None, None),
        };
        match (before, after) {
            (Some(before), Some(after)) => {
                self.push(new_text(TextRole::File, path, Some(before), after));
            }
            // The file is not known, or the edit does not fit it: what it brings is looked at all the same.
            _ => {
                let text = edits.iter().map(|edit| edit.new).collect::<Vec<_>>().join("\n");
                self.push(new_text(TextRole::File, path, None, text));
            }
        }
    }

    /// The path fact of a file as it was written.
    fn path(&self, file: &str) -> Option<u32> {
        self.facts.paths.iter().position(|path| path.written == file).and_then(|at| u32::try_from(at).ok())
    }

    fn on_disk(&self, file: &str) -> FileText {
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
        if path.is_absolute() { self.resolver.text(&path) } else { FileText::Unknown }
    }
}

/// One replacement.
struct Edit<'v> {
    old: &'v str,
    new: &'v str,
    all: bool,
}

fn edit(map: &Map<String, Value>) -> Option<Edit<'_>> {
    let new = text_under(map, &NEW)?;
    let old = text_under(map, &OLD).unwrap_or_default();
    let all = ["replaceall", "allowmultiple", "global"];
    let all =
        map.iter().any(|(key, value)| all.contains(&squeezed(key).as_str()) && value == &Value::Bool(true));
    Some(Edit { old, new, all })
}

/// Whether a value is the list of edits of the file that the object around names.
fn is_edits(key: &str, value: &Value) -> bool {
    let edits = |item: &Value| {
        item.as_object().is_some_and(|map| edit(map).is_some() && text_under(map, &FILE).is_none())
    };
    ["edits", "replacements", "changes", "replacementchunks"].contains(&squeezed(key).as_str())
        && value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(edits))
}

fn squeezed(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The text under the first of these keys that has one.
fn text_under<'v>(map: &'v Map<String, Value>, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|wanted| {
        map.iter().find(|(key, value)| value.is_string() && squeezed(key) == *wanted)?.1.as_str()
    })
}

/// The text with the edits done; none when one does not fit.
fn done(text: &str, edits: &[Edit<'_>]) -> Option<String> {
    let mut out = text.to_owned();
    for edit in edits {
        if edit.old.is_empty() {
            // An insertion: where does not matter for what is new.
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(edit.new);
            continue;
        }
        if !out.contains(edit.old) {
            return None;
        }
        out = if edit.all { out.replace(edit.old, edit.new) } else { out.replacen(edit.old, edit.new, 1) };
    }
    Some(out)
}

/// The text before the edits, as far as it can be told.
fn undone(text: &str, edits: &[Edit<'_>]) -> Option<String> {
    let mut out = text.to_owned();
    for edit in edits.iter().rev() {
        if edit.new.is_empty() || !out.contains(edit.new) {
            return None;
        }
        out = if edit.all { out.replace(edit.new, edit.old) } else { out.replacen(edit.new, edit.old, 1) };
    }
    Some(out)
}

fn new_text(role: TextRole, path: Option<u32>, before: Option<String>, after: String) -> TextFact {
    let added = added(before.as_deref().unwrap_or_default(), &after);
    TextFact { role, path, before, after, added, gap: String::new() }
}

/// The lines of `after` that `before` does not have, or has less often.
pub(crate) fn added(before: &str, after: &str) -> Vec<Range<usize>> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for line in before.split('\n') {
        *known.entry(line.trim_end_matches('\r')).or_default() += 1;
    }
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for line in after.split('\n') {
        let end = (start + line.len() + 1).min(after.len());
        let own = line.trim_end_matches('\r');
        match known.get_mut(own) {
            Some(count) if *count > 0 => *count -= 1,
            _ => match out.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => out.push(start..end),
            },
        }
        start = end;
    }
    out
}

fn command_name(command: &policy_runtime::facts::CommandFact) -> &str {
    match command.words.first() {
        Some(policy_runtime::facts::Word::Known(name)) => name.rsplit('/').next().unwrap_or(name),
        _ => "",
    }
}

/// What a command surely writes to its output: a here-document that is passed on, or the words of `echo`.
fn written_by(command: &policy_runtime::facts::CommandFact) -> Option<String> {
    use policy_runtime::facts::Word;
    match command_name(command) {
        "cat" | "tee" => command.input.clone(),
        "echo" | "printf" => {
            let words = command.words.iter().skip(1).filter_map(|word| match word {
                Word::Known(text) => Some(text.as_str()),
                Word::Unknown { text, .. } => Some(text.as_str()),
                Word::OneOf(_) | Word::Glob(_) => None,
            });
            Some(words.collect::<Vec<_>>().join(" ").replace("\\n", "\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_runtime::facts::{PathFact, ToolName};
    use serde_json::json;

    struct Disk(&'static str);

    impl Resolver for Disk {
        fn resolve(&self, _path: &Path) -> super::super::Resolution {
            super::super::Resolution::Same
        }

        fn text(&self, _path: &Path) -> FileText {
            FileText::Text(self.0.to_owned())
        }
    }

    fn made(tool: &str, event: &str, arguments: Value, disk: &'static str) -> Vec<TextFact> {
        let call = Call {
            tool: tool.to_owned(),
            event: event.to_owned(),
            arguments,
            cwd: PathBuf::from("/w"),
            ..Call::default()
        };
        let path = PathFact { written: "a.txt".to_owned(), access: Access::WRITE, ..PathFact::default() };
        let readings = vec![ToolName { tool: tool.to_lowercase(), ..ToolName::default() }];
        let facts = Facts { readings, paths: vec![path], ..Facts::default() };
        texts(&call, &facts, &Disk(disk))
    }

    fn new_lines(text: &TextFact) -> Vec<&str> {
        text.added.iter().filter_map(|range| text.after.get(range.clone())).map(str::trim_end).collect()
    }

    #[test]
    fn one_model_for_every_shape() {
        let disk = "one\ntwo\nthree\n";
        for (tool, arguments) in [
            ("Write", json!({"file_path": "a.txt", "content": "one\nTWO\nthree\n"})),
            ("Edit", json!({"file_path": "a.txt", "old_string": "two", "new_string": "TWO"})),
            (
                "MultiEdit",
                json!({"file_path": "a.txt", "edits": [{"old_string": "two", "new_string": "TWO"}]}),
            ),
            ("edit_file", json!({"path": "a.txt", "edits": [{"oldText": "two", "newText": "TWO"}]})),
            ("str_replace", json!({"path": "a.txt", "old_str": "two", "new_str": "TWO"})),
            ("write_files", json!({"files": [{"path": "a.txt", "content": "one\nTWO\nthree\n"}]})),
        ] {
            let texts = made(tool, "pre_tool_use", arguments, disk);
            assert_eq!(texts.len(), 1, "{tool}");
            assert_eq!(texts[0].after, "one\nTWO\nthree\n", "{tool}");
            assert_eq!(new_lines(&texts[0]), ["TWO"], "{tool}");
            assert_eq!((texts[0].path, texts[0].before.as_deref()), (Some(0), Some(disk)), "{tool}");
        }
    }

    #[test]
    fn what_no_shape_knows_is_a_text_too() {
        let page = json!({"page_id": "7", "blocks": [{"markdown": "one"}], "meta": {"html": "two", "n": 1}});
        let texts = made("update_page", "pre_tool_use", page, "");
        assert_eq!((texts.len(), texts[0].role, texts[0].path), (1, TextRole::Argument, None));
        assert_eq!(texts[0].after, "7\none\ntwo");
        // Beside a file that is written: the label alone.
        let write = json!({"file_path": "a.txt", "content": "x", "label": "y"});
        let texts = made("Write", "pre_tool_use", write, "");
        assert_eq!((texts[0].after.as_str(), texts[1].after.as_str()), ("x", "y"));
        let edit = json!({"path": "a.txt", "edits": [{"oldText": "two", "newText": "TWO"}]});
        assert_eq!(made("edit_file", "pre_tool_use", edit, "two").len(), 1);
        assert_eq!(made("Bash", "pre_tool_use", json!({"command": "ls", "description": "x"}), "").len(), 0);
    }

    #[test]
    fn what_lies_too_deep_is_a_gap() {
        let nested =
            |depth: usize| (0..depth).fold(json!({"content": "x"}), |value, _| json!({ "a": value }));
        let shallow = made("save", "pre_tool_use", nested(60), "");
        assert!(
            shallow.iter().all(|text| text.gap.is_empty()) && shallow.iter().any(|text| text.after == "x")
        );
        let deep = made("save", "pre_tool_use", nested(70), "");
        assert!(deep.iter().any(|text| text.gap.contains("deeper")), "{deep:?}");
    }

    #[test]
    fn patches_are_texts_of_their_files() {
        let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** Add File: b\n+x\n*** Delete File: c\n*** End Patch";
        let made = |event: &str, disk| made("apply_patch", event, json!({ "command": patch }), disk);
        let texts = made("pre_tool_use", "one\ntwo\n");
        assert_eq!(
            (texts.len(), texts[0].path, texts[0].before.as_deref()),
            (2, Some(0), Some("one\ntwo\n"))
        );
        assert_eq!((texts[0].after.as_str(), new_lines(&texts[0])), ("one\nTWO\n", vec!["TWO"]));
        assert_eq!((texts[1].after.as_str(), texts[1].before.as_deref()), ("x\n", None));
        // One that does not fit, and one that was applied: what it brings.
        for texts in [made("pre_tool_use", "three\n"), made("post_tool_use", "one\ntwo\n")] {
            assert_eq!((texts[0].after.as_str(), new_lines(&texts[0])), ("TWO", vec!["TWO"]));
        }
    }

    #[test]
    fn an_edit_that_does_not_fit_is_looked_at_all_the_same() {
        let edit = json!({"file_path": "a.txt", "old_string": "none", "new_string": "new"});
        let texts = made("Edit", "pre_tool_use", edit, "one\n");
        assert_eq!((texts[0].after.as_str(), new_lines(&texts[0])), ("new", vec!["new"]));
    }

    #[test]
    fn replace_all_and_after_the_call() {
        let all = json!({"file_path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": true});
        let texts = made("Edit", "pre_tool_use", all.clone(), "x\nq\nx\n");
        assert_eq!(texts[0].after, "y\nq\ny\n");
        let texts = made("Edit", "post_tool_use", all, "y\nq\ny\n");
        assert_eq!(texts[0].before.as_deref(), Some("x\nq\nx\n"));
        let prompt = made("", "user_prompt", json!({"prompt": "do it"}), "");
        assert_eq!((prompt[0].role, prompt[0].after.as_str()), (TextRole::Prompt, "do it"));
    }
}
