//! The record of decisions: one JSON line each.
//!
//! INVARIANT: a line is one line whatever a call holds, and secrets are masked before anything is cut. Nothing is
//! written here; who appends it owns the file.

use crate::call::Call;
use crate::redact::{MASK, is_secret_name, mask_each, without_scheme};
use crate::reply::{Answer, is_invisible};
use policy_runtime::facts::{Facts, PathFact};
use policy_runtime::verdict::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Longest summary of arguments, characters.
pub const MAX_ARGUMENTS: usize = 500;
/// Longest value of a list, characters.
const MAX_VALUE: usize = 500;
/// Most values of a list.
const MAX_LIST: usize = 32;

/// Most masked values of one line that get a name.
pub const MAX_MASKED: usize = 32;

/// Longest text, in bytes, in which masked values are looked for.
const MAX_LOOKED: usize = 64 * 1024;
/// Shorter values stand in other texts by chance.
const MIN_KNOWN: usize = 4;

/// A text without a value that was masked elsewhere: the value of an option is taken for a path too, without its name.
fn without(text: String, value: &str) -> String {
    let behind = value.split_once(':').map_or("", |(_, password)| password);
    [value, behind].into_iter().filter(|part| part.len() >= MIN_KNOWN && *part != MASK).fold(
        text,
        |text, part| {
            if text.contains(part) { text.replace(part, MASK) } else { text }
        },
    )
}

/// One recorded decision.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditLine {
    /// RFC 3339, UTC.
    pub time: String,
    /// The host.
    pub host: String,
    /// The event in snake case.
    pub event: String,
    /// The host's session.
    pub session: String,
    /// The subagent's type.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The MCP server; empty for a host's own tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub server: String,
    /// The tool as the host spells it.
    pub tool: String,
    /// What the call got.
    pub decision: String,
    /// What `observe` would have enforced.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub observed: String,
    /// A line before says that the call was asked about; this is what came of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// The deciding block.
    pub rule: String,
    /// Why, one line.
    pub reason: String,
    /// The name that the lines of one call share, when there are several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// Where a person answered what the policy asked (`page`, `terminal`, `client`), or `nobody`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub answered: String,
    /// Where the deciding line was written (`agent.policy:12`).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Paths of the call.
    pub paths: Vec<String>,
    /// Commands of the call.
    pub commands: Vec<String>,
    /// Hosts of the call.
    pub hosts: Vec<String>,
    /// The arguments as JSON, masked, then cut at 500 characters.
    pub arguments: String,
    /// What stands for each masked value: equal names are equal values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
}

/// What a line says of a question to a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trail {
    /// The name that the lines of the call share.
    pub call: String,
    /// A line before says that the call was asked about.
    pub asked: bool,
    /// Who answered; empty when nobody was asked.
    pub answered: String,
}

/// Masks, and keeps what was masked until it has a name.
#[derive(Debug, Default)]
struct Masked {
    values: Vec<String>,
}

impl Masked {
    fn mask(&mut self, text: &str) -> String {
        let mut text = mask_each(text, &mut |value| self.keep(value));
        // More is not recorded anyway, and each value is looked for in all of it.
        if text.len() > MAX_LOOKED {
            text = cut(text, MAX_LOOKED / 4);
        }
        self.values.iter().fold(text, |text, value| without(text, value))
    }

    fn keep(&mut self, value: &str) {
        if self.values.len() < MAX_MASKED && !self.values.iter().any(|known| known == value) {
            self.values.push(value.to_owned());
        }
    }

    fn value(&mut self, text: &str) -> String {
        cut(self.mask(text).replace('\u{1}', "…").replace('\u{2}', "*"), MAX_VALUE)
    }

    fn list<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for text in texts {
            let text = self.value(text);
            if out.contains(&text) {
                continue;
            }
            if out.len() >= MAX_LIST {
                out.push("…".to_owned());
                break;
            }
            out.push(text);
        }
        out
    }
}

impl AuditLine {
    /// The record of one decision, and the values in it that were masked. `time` is RFC 3339 in UTC.
    ///
    /// SECURITY: the values are for [`AuditLine::masked`] only, under a keyed hash.
    pub fn new(time: &str, call: &Call, facts: &Facts, answer: &Answer) -> (AuditLine, Vec<String>) {
        let mut masked = Masked::default();
        let line = AuditLine::with(time, call, facts, (answer, &Trail::default()), &mut masked);
        (line, masked.values)
    }

    fn with(
        time: &str,
        call: &Call,
        facts: &Facts,
        (answer, trail): (&Answer, &Trail),
        masked: &mut Masked,
    ) -> AuditLine {
        let place = &answer.place;
        // ORDER: what is masked with its name before what may repeat it without.
        let commands = masked.list(facts.scripts.iter().map(|script| script.text.as_str()));
        let arguments = masked_arguments(&call.arguments, masked);
        AuditLine {
            time: time.to_owned(),
            host: masked.value(&call.host),
            event: masked.value(&call.event),
            session: masked.value(&call.session),
            agent: masked.value(call.agent.as_deref().unwrap_or_default()),
            server: masked.value(
                call.server
                    .as_deref()
                    .or(facts.readings.first().map(|name| name.server.as_str()))
                    .unwrap_or_default(),
            ),
            tool: masked.value(&call.tool),
            decision: answer.decision.word().to_owned(),
            observed: answer.observed.map(|decision| decision.word().to_owned()).unwrap_or_default(),
            asked: trail.asked,
            call: trail.call.clone(),
            answered: trail.answered.clone(),
            rule: masked.value(&answer.rule),
            reason: masked.mask(&answer.reason()),
            place: match (place.file.as_str(), place.line) {
                ("", _) => String::new(),
                (file, 0) => masked.value(file),
                (file, line) => format!("{}:{line}", masked.value(file)),
            },
            paths: masked.list(facts.paths.iter().map(path_text)),
            commands,
            hosts: masked.list(facts.domains.iter().map(|domain| domain.host.as_str())),
            arguments,
            masked: Vec::new(),
        }
    }

    /// The JSON line with its newline. Control and invisible characters are escaped.
    pub fn to_line(&self) -> String {
        let mut out = Vec::new();
        let mut writer = serde_json::Serializer::with_formatter(&mut out, Visible);
        // Plain texts and lists of them always serialize.
        if self.serialize(&mut writer).is_err() {
            return String::new();
        }
        out.push(b'\n');
        String::from_utf8(out).unwrap_or_default()
    }

    /// Reads a line back.
    ///
    /// # Errors
    ///
    /// When it is not such a line.
    pub fn parse(line: &str) -> Result<AuditLine, String> {
        if !line.trim_start().starts_with('{') {
            return Err("it is not an object".to_owned());
        }
        serde_json::from_str(line).map_err(|error| error.to_string())
    }
}

fn path_text(path: &PathFact) -> &str {
    path.names.first().and_then(|name| name.views.first()).map_or(path.written.as_str(), String::as_str)
}

fn cut(text: String, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// The arguments as JSON with secrets masked, cut at 500 characters. Stops when there is enough.
pub fn arguments(arguments: &Value) -> String {
    masked_arguments(arguments, &mut Masked::default())
}

fn masked_arguments(arguments: &Value, masked: &mut Masked) -> String {
    let mut out = String::new();
    write(&mut out, arguments, (false, 0), masked);
    cut(out, MAX_ARGUMENTS)
}

fn write(out: &mut String, value: &Value, (secret, depth): (bool, usize), masked: &mut Masked) {
    // Four bytes a character: then the cut falls before here.
    if out.len() > MAX_ARGUMENTS * 4 || depth > 128 {
        return;
    }
    match value {
        Value::Object(map) => {
            out.push('{');
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(masked.mask(key)).to_string());
                out.push(':');
                write(out, value, (secret || is_secret_name(key), depth + 1), masked);
                if out.len() > MAX_ARGUMENTS * 4 {
                    return;
                }
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, value) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(out, value, (secret, depth + 1), masked);
                if out.len() > MAX_ARGUMENTS * 4 {
                    return;
                }
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
        _ if secret => {
            match value {
                Value::String(text) => masked.keep(without_scheme(text)),
                other => masked.keep(&other.to_string()),
            }
            out.push('"');
            out.push_str(MASK);
            out.push('"');
        }
        Value::String(text) => out.push_str(&Value::String(masked.mask(text)).to_string()),
        Value::Number(number) => out.push_str(&number.to_string()),
    }
}

/// Escapes what a terminal or an editor would obey or hide.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c: char| c.is_control() || is_invisible(c)) {
            writer.write_all(rest.get(..at).unwrap_or_default().as_bytes())?;
            let mut chars = rest.get(at..).unwrap_or_default().chars();
            if let Some(c) = chars.next() {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// The line for a verdict. `now_ns` is nanoseconds since the epoch; `names` says what stands for masked values, and is not
/// asked when there are none.
pub fn line(
    call: &Call,
    facts: &Facts,
    (verdict, trail): (&Verdict, &Trail),
    now_ns: i64,
    names: impl FnOnce(&[String]) -> Vec<String>,
) -> String {
    let mut masked = Masked::default();
    let told = (&Answer::from(verdict), trail);
    let mut line = AuditLine::with(&rfc3339(now_ns), call, facts, told, &mut masked);
    if !masked.values.is_empty() {
        line.masked = names(&masked.values);
    }
    line.to_line()
}

/// A time as RFC 3339 in UTC with milliseconds.
pub fn rfc3339(now_ns: i64) -> String {
    let (seconds, nanos) = (now_ns.div_euclid(1_000_000_000), now_ns.rem_euclid(1_000_000_000));
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    format!(
        "{}T{:02}:{:02}:{:02}.{:03}Z",
        policy_runtime::explain::date(day),
        second / 3600,
        second / 60 % 60,
        second % 60,
        nanos / 1_000_000
    )
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
