//! Messages of MCP as the proxy reads them, on texts that bytes choose: nearly right, with keys twice, folded or cut by a NUL.
//!
//! INVARIANT: what the proxy takes, another reader reads to the same method, name, arguments and id, and no object of it has two keys
//! that a careless reader takes for one; lines are the same however they come; what stays of a list is what was sent.

use policy_compiler::naive::generate::Random;
use policy_gateway::wrap::peek;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::io::Read;

const KEYS: &[&str] = &[
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "name",
    "arguments",
    "uri",
    "_meta",
    "path",
    "a",
    "b",
    "tools",
    "Name",
    "ID",
    "PARAMS",
    "param\u{17f}",
    "\u{212a}",
    "k",
    "K",
    "n\\u0061me",
    "name\\u0000",
    "na\\u0000me",
    "i\u{307}d",
    "\\u0130d",
    "Method",
    "argument\u{17f}",
    "\u{df}",
    "SS",
    "ss",
    "\u{1e9e}",
    "\\ud83d\\ude00",
    "\\ud800",
    "",
    " name",
];
const WORDS: &[&str] = &[
    "\"2.0\"",
    "1",
    "\"1\"",
    "-0",
    "1.0",
    "1e0",
    "null",
    "true",
    "\"tools/call\"",
    "\"ping\"",
    "\"x\"",
    "\"\\u0078\"",
    "\"\\ud800\"",
    "{}",
    "[]",
    "12345678901234567890123",
    "1e999",
    "\"\u{2028}\"",
    "-7",
    "01",
    "\"a\nb\"",
    "\"\\/\"",
];
const DIRT: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "\n", "\r", "\0", "\u{feff}", "0", "e", "\u{17f}", "\t",
    "-",
];

struct Text<'r> {
    random: &'r mut Random,
    out: String,
}

impl Text<'_> {
    fn value(&mut self, depth: usize) {
        match self.random.below(if depth > 5 { 2 } else { 5 }) {
            0 | 1 => {
                let word = self.random.pick(WORDS);
                self.out.push_str(word);
            }
            2 => {
                self.out.push('[');
                for at in 0..self.random.below(4) {
                    self.out.push_str(if at > 0 { "," } else { "" });
                    self.value(depth + 1);
                }
                self.out.push(']');
            }
            _ => {
                let members = self.random.below(5);
                self.object(depth, members);
            }
        }
    }

    fn object(&mut self, depth: usize, members: usize) {
        self.out.push('{');
        for at in 0..members {
            let key = self.random.pick(KEYS);
            self.out.push_str(if at > 0 { "," } else { "" });
            self.out.push_str(&format!("\"{key}\":"));
            self.value(depth + 1);
        }
        self.out.push('}');
    }

    /// A member with its comma, now and then another one of a known name.
    fn member(&mut self, key: &str, value: Option<&str>) {
        self.out.push_str(&format!("\"{key}\":"));
        match value {
            Some(value) if !self.random.one_in(12) => self.out.push_str(value),
            _ => self.value(1),
        }
        self.out.push(',');
        if self.random.one_in(8) {
            let key = self.random.pick(KEYS);
            self.out.push_str(&format!("\"{key}\":"));
            self.value(2);
            self.out.push(',');
        }
    }

    fn message(&mut self) {
        self.out.push('{');
        self.member("jsonrpc", Some("\"2.0\""));
        let id = self.random.pick(&["1", "\"1\"", "\"a\\u0062\"", "-7", "123456789012345678901234567890"]);
        if !self.random.one_in(6) {
            self.member("id", Some(id));
        }
        let method =
            self.random.pick(&["\"tools/call\"", "\"tools\\/list\"", "\"ping\"", "\"notifications/x\""]);
        self.member("method", Some(method));
        self.out.push_str("\"params\":{");
        let name = self.random.pick(&["\"read\"", "\"r\\u0065ad\"", "\"\\ud83d\\ude00\""]);
        self.member("name", Some(name));
        self.out.push_str("\"arguments\":");
        let members = self.random.below(5);
        self.object(1, members);
        self.out.push_str("}}");
    }

    fn list(&mut self) {
        self.out.push_str("{\"tools\":[");
        for at in 0..self.random.below(6) {
            self.out.push_str(if at > 0 { " , " } else { "" });
            self.out.push_str("{\"name\":\"t");
            self.out.push_str(&at.to_string());
            self.out.push('"');
            if self.random.one_in(2) {
                let key = self.random.pick(KEYS);
                self.out.push_str(&format!(", \"{key}\" : "));
                self.value(3);
            }
            self.out.push('}');
        }
        self.out.push_str("],\"nextCursor\":\"c\"}");
    }

    fn dirt(&mut self) {
        for _ in 0..self.random.below(3) {
            let at = self.out.floor_char_boundary(self.random.below(self.out.len() + 1));
            let end = self.out.floor_char_boundary((at + self.random.below(4)).min(self.out.len())).max(at);
            let with = self.random.pick(DIRT);
            self.out.replace_range(at..end, with);
        }
    }
}

/// Whether an object, however deep, has keys that a careless reader takes for one.
struct Twice(bool);

impl<'de> Deserialize<'de> for Twice {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Twice, D::Error> {
        reader.deserialize_any(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Twice;

    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Twice, A::Error> {
        let (mut keys, mut twice) = (Vec::<String>::new(), false);
        while let Some((key, inner)) = map.next_entry::<String, Twice>()? {
            let same = |own: &String| {
                own.to_lowercase() == key.to_lowercase() || own.to_uppercase() == key.to_uppercase()
            };
            twice |= inner.0 || key.contains('\0') || keys.iter().any(same);
            keys.push(key);
        }
        Ok(Twice(twice))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Twice, A::Error> {
        let mut twice = false;
        while let Some(inner) = list.next_element::<Twice>()? {
            twice |= inner.0;
        }
        Ok(Twice(twice))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_str<E>(self, _: &str) -> Result<Twice, E> {
        Ok(Twice(false))
    }

    fn visit_unit<E>(self) -> Result<Twice, E> {
        Ok(Twice(false))
    }
}

fn message(text: &str) -> Result<(), String> {
    let _ = peek::server(text.as_bytes());
    let Ok(read) = peek::client(text.as_bytes()) else { return Ok(()) };
    let other: Value = match serde_json::from_str(text) {
        Ok(other) => other,
        // Numbers that no other reader holds are numbers.
        Err(error) if error.to_string().contains("range") => return Ok(()),
        Err(error) => return Err(format!("it is taken, and another reader says {error}")),
    };
    if serde_json::from_str::<Twice>(text).is_ok_and(|twice| twice.0) {
        return Err("it is taken, with keys that could be one".to_owned());
    }
    let value = |text: &Option<String>| {
        text.as_ref().map(|text| serde_json::from_str::<Value>(text).unwrap_or(Value::Null))
    };
    let params = &other["params"];
    let same = value(&read.id) == other.get("id").filter(|id| !id.is_null()).cloned()
        && read.method.as_deref() == other.get("method").and_then(Value::as_str)
        && value(&read.name) == params.get("name").cloned()
        && value(&read.arguments) == params.get("arguments").cloned();
    if same { Ok(()) } else { Err(format!("two readers differ: {read:?}")) }
}

/// Gives its bytes in pieces.
struct Pieces<'t> {
    rest: &'t [u8],
    random: Random,
}

impl Read for Pieces<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let count = (1 + self.random.below(9)).min(self.rest.len()).min(to.len());
        let (part, rest) = self.rest.split_at(count);
        to[..count].copy_from_slice(part);
        self.rest = rest;
        Ok(count)
    }
}

fn lines(text: &[u8], seed: u64) -> Result<(), String> {
    let wanted: Vec<&[u8]> = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect();
    let found =
        peek::frames(Pieces { rest: text, random: Random::new(seed) }).map_err(|error| error.to_string())?;
    if found == wanted { Ok(()) } else { Err("lines differ by how they come".to_owned()) }
}

fn list(text: &str, random: &mut Random) -> Result<(), String> {
    let Ok(all) = peek::tools(text) else { return Ok(()) };
    let gone: Vec<bool> = all.iter().map(|_| random.one_in(2)).collect();
    let kept = peek::without(text, &gone)?;
    let wanted: Vec<&String> =
        all.iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(tool, _)| tool).collect();
    let found = peek::tools(&kept).map_err(|why| format!("what stays is no list: {why}: {kept}"))?;
    if found.iter().collect::<Vec<_>>() != wanted {
        return Err(format!("tools that stay were changed: {kept}"));
    }
    let rest = |text: &str| {
        let mut value: Value = serde_json::from_str(text).ok()?;
        value.as_object_mut()?.remove("tools");
        Some(value)
    };
    match (rest(text), rest(&kept)) {
        // Numbers that no other reader holds.
        (None, _) => Ok(()),
        (before, after) if before == after => Ok(()),
        _ => Err(format!("what stands beside the tools was changed: {kept}")),
    }
}

/// The bytes choose messages and a list.
///
/// # Errors
/// Where a promise is broken.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut random = Random::from_bytes(bytes);
    let mut stream = String::new();
    for _ in 0..4 {
        let mut text = Text { random: &mut random, out: String::new() };
        text.message();
        text.dirt();
        let made = text.out;
        message(&made).map_err(|why| format!("{why}: {made}"))?;
        stream.push_str(&made);
        stream.push_str(random.pick(&["\n", "\r\n", "\n\n", " \n", ""]));
    }
    lines(stream.as_bytes(), random.number()).map_err(|why| format!("{why}: {stream}"))?;
    // The bytes themselves, too.
    lines(bytes, random.number())?;
    let _ = (peek::client(bytes), peek::server(bytes));
    let mut text = Text { random: &mut random, out: String::new() };
    text.list();
    if text.random.one_in(3) {
        text.dirt();
    }
    let made = text.out;
    list(&made, &mut random).map_err(|why| format!("{why}: {made}"))
}
