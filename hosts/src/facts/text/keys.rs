//! Keys of what a tool writes: which argument is the file, which the text, which the old and the new part of an edit.
//!
//! INVARIANT: a key only says what a text is; a text under a key that is not known is still a text of the call.

use serde_json::{Map, Value};
use std::borrow::Cow;

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
/// More of them, where the same object names a file.
const WHOLE_OF_FILE: [&str; 22] = [
    "data", "value", "markdown", "md", "html", "css", "code", "codeedit", "source", "src", "script", "json",
    "yaml", "xml", "csv", "string", "str", "payload", "blob", "lines", "chunk", "chars",
];
/// The last word of such a key.
const WHOLE_ENDS: [&str; 10] =
    ["content", "contents", "text", "body", "markdown", "html", "code", "source", "data", "lines"];
/// Keys of what an edit takes away.
const OLD: [&str; 9] = [
    "oldstring",
    "oldstr",
    "oldtext",
    "old",
    "search",
    "searchstring",
    "targetcontent",
    "originaltext",
    "find",
];
/// Keys of what an edit puts there.
const NEW: [&str; 11] = [
    "newstring",
    "newstr",
    "newtext",
    "new",
    "replace",
    "replacement",
    "replacementcontent",
    "replacestring",
    "replacewith",
    "inserttext",
    "repl",
];
/// Keys of the file.
const FILE: [&str; 17] = [
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
    "destination",
    "dest",
    "outputpath",
    "outputfile",
    "fullpath",
    "notebook",
    "document",
];
/// Keys of what is said about a call, not part of what it makes.
const NOTES: [&str; 14] = [
    "description",
    "explanation",
    "instruction",
    "instructions",
    "reason",
    "justification",
    "title",
    "summary",
    "message",
    "commitmessage",
    "thought",
    "thoughts",
    "prompt",
    "query",
];
/// Keys that say that every place is changed.
const ALL: [&str; 7] =
    ["replaceall", "allowmultiple", "global", "all", "multiple", "replaceeverywhere", "alloccurrences"];
/// Keys of how many places are changed.
const COUNTS: [&str; 4] = ["expectedreplacements", "expectedoccurrences", "occurrences", "replacements"];

/// One replacement.
pub(super) struct Edit<'v> {
    pub(super) old: Cow<'v, str>,
    pub(super) new: Cow<'v, str>,
    pub(super) all: bool,
}

/// The values of an object, each with its key squeezed.
pub(super) struct Named<'v>(Vec<(String, &'v str, &'v Value)>);

impl<'v> Named<'v> {
    pub(super) fn new(map: &'v Map<String, Value>) -> Named<'v> {
        Named(map.iter().map(|(key, value)| (squeezed(key), key.as_str(), value)).collect())
    }

    /// The text under the first of these keys that has one.
    fn under(&self, keys: &[&str]) -> Option<(&'v Value, Cow<'v, str>)> {
        let one = |wanted: &&str| {
            let mut same = self.0.iter().filter(|(key, ..)| key == *wanted);
            same.find_map(|(.., value)| Some((*value, text_of(value)?)))
        };
        keys.iter().find_map(one)
    }

    /// An edit that the object tells, with the values that it was read from.
    pub(super) fn edit(&self) -> Option<(Edit<'v>, Vec<&'v Value>)> {
        let (taken, new) = self.under(&NEW)?;
        let mut used = vec![taken];
        let old = match self.under(&OLD) {
            Some((taken, old)) => {
                used.push(taken);
                old
            }
            None => Cow::Borrowed(""),
        };
        let all = self.0.iter().any(|(key, _, value)| {
            let yes = **value == Value::Bool(true) || value.as_str() == Some("true");
            yes && ALL.contains(&key.as_str())
                || value.as_u64().is_some_and(|count| count > 1) && COUNTS.contains(&key.as_str())
        });
        Some((Edit { old, new, all }, used))
    }

    /// The file that the object names.
    pub(super) fn file(&self) -> Option<(&'v Value, &'v str)> {
        FILE.iter().find_map(|wanted| {
            let mut same = self.0.iter().filter(|(key, ..)| key == wanted);
            same.find_map(|(.., value)| Some((*value, value.as_str()?)))
        })
    }

    /// Every whole text of the object, base64 decoded where it says so.
    pub(super) fn wholes(&self, with_file: bool) -> Vec<(&'v Value, Cow<'v, str>)> {
        let encoded = self.0.iter().any(|(key, _, value)| {
            key.ends_with("encoding")
                && value.as_str().is_some_and(|name| name.eq_ignore_ascii_case("base64"))
        });
        let mut out = Vec::new();
        for (name, key, value) in &self.0 {
            let in_base64 = name.ends_with("base64") || name.ends_with("b64");
            let whole = WHOLE.contains(&name.as_str())
                || with_file && (in_base64 || WHOLE_OF_FILE.contains(&name.as_str()) || ends(key));
            if let Some(text) = whole.then(|| text_of(value)).flatten() {
                let decoded = (encoded || in_base64).then(|| super::decode::base64(&text)).flatten();
                out.push((*value, decoded.map_or(text, Cow::Owned)));
            }
        }
        out
    }
}

/// The file that an object names.
pub(super) fn file(map: &Map<String, Value>) -> Option<&str> {
    Named::new(map).file().map(|(_, file)| file)
}

/// Whether a key stands over what is said about a call.
pub(super) fn is_note(key: &str) -> bool {
    NOTES.contains(&squeezed(key).as_str())
}

/// Whether the last word of a key says that it stands over a text.
fn ends(key: &str) -> bool {
    super::super::tool::words(key).last().is_some_and(|last| WHOLE_ENDS.contains(&last.as_str()))
}

fn squeezed(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// A text, or the lines of one.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(lines) if !lines.is_empty() && lines.iter().all(Value::is_string) => {
            let mut out = String::new();
            for line in lines.iter().filter_map(Value::as_str) {
                if !out.is_empty() && !out.ends_with('\n') {
                    out.push('\n');
                }
                out.push_str(line);
            }
            Some(Cow::Owned(out))
        }
        _ => None,
    }
}
