//! Events from standard input: reading one JSON value, and reading it strictly.
//!
//! INVARIANT: what is not one well-formed JSON object with each key once is an error with its true cause, never a
//! guess; reading stops with the value's last byte, and memory is bounded.

use crate::call::Call;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{ErrorKind, Read};

/// Largest event, bytes.
pub const MAX_EVENT_BYTES: usize = 64 * 1024 * 1024;
/// Most values inside an event.
const MAX_VALUES: usize = 1_000_000;
/// Deepest nesting of an event.
const MAX_DEPTH: usize = 120;

/// What an event asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A decision.
    Call(Box<Call>),
    /// Nothing: an event that is not known, or one that no policy judges.
    Ignore,
}

/// Why an event could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputError {
    /// Nothing came.
    Empty,
    /// The input ended inside the event.
    Incomplete,
    /// It is longer than [`MAX_EVENT_BYTES`].
    TooLarge,
    /// It is not UTF-8 text.
    NotText,
    /// It is not JSON, or not JSON that has one meaning.
    NotJson(String),
    /// A field is missing or of the wrong kind.
    Shape(String),
    /// The input could not be read.
    Read(String),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Empty => f.write_str("the event is empty"),
            InputError::Incomplete => f.write_str("the event ends before its JSON is complete"),
            InputError::TooLarge => {
                write!(f, "the event is larger than {} MiB", MAX_EVENT_BYTES / (1024 * 1024))
            }
            InputError::NotText => f.write_str("the event is not UTF-8 text"),
            InputError::NotJson(why) => write!(f, "the event is not valid JSON: {why}"),
            InputError::Shape(why) => write!(f, "the event has an unexpected shape: {why}"),
            InputError::Read(why) => write!(f, "the event could not be read: {why}"),
        }
    }
}

impl std::error::Error for InputError {}

impl InputError {
    /// An event that is known, but not by this spelling.
    pub(crate) fn spelling(event: &str) -> InputError {
        let event = crate::reply::clean(event, 40);
        InputError::Shape(format!("`{event}` is not how this host spells the event"))
    }
}

/// Reads one JSON object and stops with its closing brace, without waiting for the end of the input.
///
/// # Errors
///
/// When the input is no object, ends early, or is too large.
pub fn read_event(reader: &mut dyn Read) -> Result<Vec<u8>, InputError> {
    let mut text = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut scan = Scan::default();
    loop {
        let count = match reader.read(&mut chunk) {
            Ok(0) if scan.depth == 0 => return Err(InputError::Empty),
            Ok(0) => return Err(InputError::Incomplete),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(InputError::Read(error.to_string())),
        };
        let read = chunk.get(..count).unwrap_or_default();
        let end = scan.feed(read)?;
        if text.len() + count > MAX_EVENT_BYTES {
            return Err(InputError::TooLarge);
        }
        text.extend_from_slice(read.get(..end.unwrap_or(count)).unwrap_or_default());
        if end.is_some() {
            return Ok(text);
        }
    }
}

/// Finds the end of an object; the full grammar is checked later.
#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    escaped: bool,
    seen: usize,
}

impl Scan {
    /// The number of bytes of `chunk` up to the end of the object, when it ends there.
    fn feed(&mut self, chunk: &[u8]) -> Result<Option<usize>, InputError> {
        for (at, byte) in chunk.iter().enumerate() {
            let first = self.seen + at;
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_text => self.escaped = true,
                b'"' if self.depth > 0 => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'{' | b'[' if self.depth > 0 || *byte == b'{' => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(InputError::NotJson("it is nested too deeply".to_owned()));
                    }
                }
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Ok(Some(at + 1));
                    }
                }
                b' ' | b'\t' | b'\r' | b'\n' => {}
                // A byte order mark.
                0xEF | 0xBB | 0xBF if first < 3 => {}
                _ if self.depth > 0 => {}
                _ => return Err(InputError::NotJson("it is not an object".to_owned())),
            }
        }
        self.seen = self.seen.saturating_add(chunk.len());
        Ok(None)
    }
}

/// Reads JSON in which every object has each key once; the keys of the outermost one also when letter case is ignored.
///
/// # Errors
///
/// When the text is not UTF-8, not JSON, too large, or has a key twice.
pub fn parse_strict(text: &[u8]) -> Result<Map<String, Value>, InputError> {
    if text.len() > MAX_EVENT_BYTES {
        return Err(InputError::TooLarge);
    }
    let text = std::str::from_utf8(text).map_err(|_| InputError::NotText)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(InputError::Empty);
    }
    let value = strict(text).map_err(|error| {
        if error.is_eof() { InputError::Incomplete } else { InputError::NotJson(error.to_string()) }
    })?;
    let Value::Object(map) = value else {
        return Err(InputError::NotJson("it is not an object".to_owned()));
    };
    let mut folded = BTreeSet::new();
    for key in map.keys() {
        // SECURITY: another reader of the same event may take the other spelling.
        if !folded.insert(key.to_lowercase()) {
            return Err(InputError::NotJson(format!("the key `{}` stands in it twice", short(key))));
        }
    }
    Ok(map)
}

/// Any JSON value in which every object has each key once, at any depth.
///
/// # Errors
///
/// One clause on what is wrong where.
pub fn strict_json(text: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(text).map_err(|_| "it is not UTF-8 text".to_owned())?;
    strict(text).map_err(|error| error.to_string())
}

fn strict(text: &str) -> serde_json::Result<Value> {
    let count = Cell::new(0);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { count: &count }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

fn short(key: &str) -> String {
    key.chars().take(60).collect()
}

#[derive(Clone, Copy)]
struct Strict<'c> {
    count: &'c Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count.set(self.count.get() + 1);
        if self.count.get() > MAX_VALUES {
            return Err(de::Error::custom("more values than are read"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that cannot be written"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(value) = items.next_element_seed(self)? {
            out.push(value);
        }
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self)?;
            if out.contains_key(&key) {
                return Err(de::Error::custom(format!("the key `{}` stands in it twice", short(&key))));
            }
            out.insert(key, value);
        }
        Ok(Value::Object(out))
    }
}

/// Events at which something waits for the answer, of all hosts, in small letters without signs between them.
const QUESTIONS: [&str; 17] = [
    "pretooluse",
    "pretoolcall",
    "beforetool",
    "beforetooluse",
    "beforetoolcall",
    "beforetoolexecution",
    "toolexecutebefore",
    "toolcall",
    "permissionrequest",
    "preskillshellcommand",
    "beforeshellexecution",
    "beforemcpexecution",
    "beforereadfile",
    "beforetabfileread",
    "preruncommand",
    "prewritecode",
    "premcptooluse",
];
/// Events that tell what happened or begins, of all hosts, beside those that begin with `after` or `post`.
const REPORTS: [&str; 21] = [
    "stop",
    "stopfailure",
    "agentstop",
    "subagentstart",
    "subagentstop",
    "sessionstart",
    "sessionend",
    "userpromptsubmit",
    "userpromptsubmitted",
    "beforesubmitprompt",
    "beforeagent",
    "precompact",
    "precompress",
    "notification",
    "permissiondenied",
    "interrupt",
    "erroroccurred",
    "filechanged",
    "instructionsloaded",
    "taskcompleted",
    "teammateidle",
];
/// Fields that only an event about one action has.
const ACTIONS: [&str; 10] = [
    "tool_name",
    "toolName",
    "tool_input",
    "toolInput",
    "toolArgs",
    "tool_call",
    "toolCall",
    "tool_use_id",
    "command",
    "file_path",
];

/// Whether an event is one that only tells something: a refusal there keeps nothing from being done, and may keep an agent
/// from ever stopping.
///
/// SECURITY: what is in no list is none: an event by a name that nobody here knows may be a question.
pub(crate) fn is_report(event: &str) -> bool {
    let name = folded(event);
    name.starts_with("after") || name.starts_with("post") || REPORTS.contains(&name.as_str())
}

/// What to do with an event that is none of those a host is known to send.
///
/// # Errors
///
/// When it asks whether something may be done: no answer would be a yes.
pub(crate) fn unknown(event: &str, fields: &Fields) -> Result<Event, InputError> {
    if is_question(event) {
        return Err(InputError::spelling(event));
    }
    match ACTIONS.iter().find(|key| !is_report(event) && fields.0.contains_key(**key)) {
        Some(key) => {
            let event = crate::reply::clean(event, 40);
            Err(InputError::Shape(format!("`{event}` is no event that is known here, and it has a `{key}`")))
        }
        None => Ok(Event::Ignore),
    }
}

/// Whether an event asks whether something may be done, in any spelling and in the words of any host.
pub(crate) fn is_question(event: &str) -> bool {
    QUESTIONS.contains(&folded(event).as_str())
}

/// A name without what different spellings differ in; letters that only look alike stay what they are.
fn folded(event: &str) -> String {
    event.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The fields of an event.
pub(crate) struct Fields(pub(crate) Map<String, Value>);

impl Fields {
    /// A text, or nothing when the field is missing or null.
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, InputError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(InputError::Shape(format!("`{key}` is not a text"))),
        }
    }

    /// A text that must be there and not empty.
    pub(crate) fn needed(&self, key: &str) -> Result<String, InputError> {
        match self.text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(InputError::Shape(format!("`{key}` is missing"))),
        }
    }

    /// An object; an empty one when the field is missing or null.
    pub(crate) fn object(&mut self, key: &str) -> Result<Value, InputError> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(Value::Object(Map::new())),
            Some(value @ Value::Object(_)) => Ok(value),
            Some(_) => Err(InputError::Shape(format!("`{key}` is not an object"))),
        }
    }

    /// An object that must be there.
    pub(crate) fn needed_object(&mut self, key: &str) -> Result<Value, InputError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Err(InputError::Shape(format!("`{key}` is missing"))),
            Some(_) => self.object(key),
        }
    }

    /// The text under `name` in an object; nothing when that is missing or null.
    pub(crate) fn text_in(&self, key: &str, name: &str) -> Result<Option<String>, InputError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(object)) => match object.get(name) {
                Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
                _ => Err(InputError::Shape(format!("`{key}` has no `{name}`"))),
            },
            Some(_) => Err(InputError::Shape(format!("`{key}` is not an object"))),
        }
    }

    /// Moves what tells of a tool to the call.
    pub(crate) fn tool(&mut self, call: &mut Call) -> Result<(), InputError> {
        call.tool = self.needed("tool_name")?;
        // SECURITY: what a call does is not known without its arguments.
        call.arguments = match call.event.as_str() {
            "pre_tool_use" => self.needed_object("tool_input")?,
            _ => self.object("tool_input")?,
        };
        call.output = self.0.remove("tool_response").unwrap_or_default();
        Ok(())
    }

    /// The arguments of an event without a tool: what is not common to all events.
    pub(crate) fn rest(self, common: &[&str]) -> Value {
        Value::Object(self.0.into_iter().filter(|(key, _)| !common.contains(&key.as_str())).collect())
    }

    /// The transcript of a subagent, at the event of its end.
    pub(crate) fn transcript(&self, event: &str) -> Result<Option<std::path::PathBuf>, InputError> {
        if event != "subagent_stop" {
            return Ok(None);
        }
        let path = self.folder("agent_transcript_path")?;
        Ok(Some(path).filter(|path| !path.as_os_str().is_empty()))
    }

    /// An absolute folder; an empty path when the field is missing.
    pub(crate) fn folder(&self, key: &str) -> Result<std::path::PathBuf, InputError> {
        let Some(text) = self.text(key)?.filter(|text| !text.is_empty()) else {
            return Ok(std::path::PathBuf::new());
        };
        let drive =
            text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && text.get(1..2) == Some(":");
        if text.contains('\0') || !(text.starts_with(['/', '\\']) || drive) {
            return Err(InputError::Shape(format!("`{key}` is not an absolute path")));
        }
        Ok(text.into())
    }
}

/// `PreToolUse` and `pre_tool_use` as `pre_tool_use`.
pub(crate) fn snake(event: &str) -> String {
    let mut out = String::new();
    let mut lower_before = false;
    for c in event.chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && lower_before {
                out.push('_');
            }
            out.extend(c.to_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        lower_before = c.is_lowercase() || c.is_ascii_digit();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time and panics when it is read behind its end.
    struct Slow(Vec<u8>, usize);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            assert!(!self.0.is_empty(), "read behind the end of the event");
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    #[test]
    fn reading_stops_with_the_value() {
        let text = " \u{feff}".trim_start().to_owned() + " {\"a\":\"}\\\"}\",\"b\":[{}]}";
        for size in [1, 2, 7, 4096] {
            let read = read_event(&mut Slow(text.as_bytes().to_vec(), size)).unwrap();
            assert_eq!(read, text.as_bytes());
            assert_eq!(parse_strict(&read).unwrap().len(), 2);
        }
        assert_eq!(read_event(&mut "{\"a\":1}\n{\"b\":2}".as_bytes()).unwrap(), b"{\"a\":1}");
    }

    #[test]
    fn bad_input_has_its_true_cause() {
        for (text, want) in [
            ("", InputError::Empty),
            (" \n", InputError::Empty),
            ("{\"a\":", InputError::Incomplete),
            ("{\"a\":\"}", InputError::Incomplete),
        ] {
            assert_eq!(read_event(&mut text.as_bytes()), Err(want), "{text:?}");
        }
        for text in ["hello", "[1]", "\"{}\"", "1 {}", &format!("{{\"a\":{}", "[".repeat(500))] {
            assert!(matches!(read_event(&mut text.as_bytes()), Err(InputError::NotJson(_))), "{text:?}");
        }
        for (text, part) in [
            ("{\"a\":1,\"a\":2}", "`a` stands in it twice"),
            ("{\"tool_name\":1,\"Tool_Name\":2}", "`Tool_Name` stands in it twice"),
            ("{\"x\":{\"b\":{\"c\":1,\"c\":1}}}", "`c` stands in it twice"),
            ("{\"a\":1,}", "trailing comma"),
            ("{\"a\":\"\\ud800\"}", "hex escape"),
            ("{\"a\":\"\u{1}\"}", "control character"),
            ("{} x", "trailing"),
            ("{\"a\":1e999}", "number"),
            ("[]", "not an object"),
        ] {
            let error = parse_strict(text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(part), "{text:?} {error}");
        }
        assert!(parse_strict(b"{\"x\":{\"path\":1,\"Path\":2}}").is_ok(), "arguments may differ in case");
        assert_eq!(parse_strict(b"{\"a\":\"\xff\"}"), Err(InputError::NotText));
        let many = format!("{{\"a\":[{}1]}}", "1,".repeat(MAX_VALUES));
        assert!(parse_strict(many.as_bytes()).unwrap_err().to_string().contains("more values"));
    }

    #[test]
    fn a_huge_event_is_refused_with_bounded_memory() {
        struct Endless(bool);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                buffer.fill(b'x');
                if !self.0 {
                    buffer[..6].copy_from_slice(b"{\"a\":\"");
                }
                self.0 = true;
                Ok(buffer.len())
            }
        }
        assert_eq!(read_event(&mut Endless(false)), Err(InputError::TooLarge));
    }

    #[test]
    fn an_event_that_nobody_knows_is_no_yes() {
        let fields = |text: &str| Fields(parse_strict(text.as_bytes()).unwrap());
        let call = fields("{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}");
        for event in [
            "pretooluse",
            "PRETOOLUSE",
            "PreToolUse ",
            "BeforeTool",
            "before-shell-execution",
            "tool.execute.before",
        ] {
            assert_eq!(unknown(event, &fields("{}")), Err(InputError::spelling(event)), "{event}");
            assert!(!is_report(event));
        }
        for event in ["FooBar", "PreToolUs\u{435}", "", "PreTool", "stopped"] {
            assert!(unknown(event, &call).is_err(), "{event}");
            assert!(!is_report(event));
        }
        for event in ["PostToolBatch", "after_model", "PermissionDenied", "Stop", "SUBAGENT_STOP"] {
            assert_eq!(unknown(event, &call), Ok(Event::Ignore), "{event}");
            assert!(is_report(event));
        }
        assert_eq!(unknown("FooBar", &fields("{\"prompt\":\"x\"}")), Ok(Event::Ignore));
    }

    #[test]
    fn events_in_snake_case() {
        for (text, want) in [
            ("PreToolUse", "pre_tool_use"),
            ("pre_tool_use", "pre_tool_use"),
            ("Stop", "stop"),
            ("pre-tool", "pre_tool"),
        ] {
            assert_eq!(snake(text), want);
        }
    }
}
