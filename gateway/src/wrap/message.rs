//! One message: what it is, as far as the proxy has to know.
//!
//! INVARIANT: what is read here is what every other reader reads; the bytes themselves are passed on unchanged. A message that
//! could be taken in two ways is an error with its reason, never a guess.

use crate::wrap::json::{Member, folded, members, strict, string, well_formed};
use std::ops::Range;

/// Longest id, bytes.
const MOST_ID: usize = 256;
/// Names of the envelope.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
/// Names of parameters that decide what a request does.
const PARAMS: [&str; 8] =
    ["name", "arguments", "uri", "_meta", "ref", "argument", "inputResponses", "requestState"];

/// Who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// The id of a request. `1` and `"1"` are two.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// An integer, as it was written.
    Number(String),
    /// A text, decoded.
    Text(String),
}

impl Id {
    /// As JSON.
    pub(crate) fn json(&self) -> String {
        match self {
            Id::Number(number) => number.clone(),
            Id::Text(text) => serde_json::Value::String(text.clone()).to_string(),
        }
    }

    /// From JSON.
    pub(crate) fn of(text: &str) -> Option<Id> {
        if text.starts_with('"') {
            // Many of them are kept.
            return string(text).filter(|own| own.len() <= MOST_ID).map(Id::Text);
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        // `-0`, `1.0` and `1e0` come back from a server in another spelling.
        let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && text != "-0";
        (whole && text.len() <= 40).then(|| Id::Number(text.to_owned()))
    }
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Request(Id, String),
    Notification(String),
    Response(Id),
    /// An error without an id: the other side could not read something.
    Lost,
}

/// A message that was read.
#[derive(Debug, Clone)]
pub(crate) struct Message<'t> {
    pub(crate) text: &'t str,
    pub(crate) kind: Kind,
    pub(crate) params: Option<Range<usize>>,
    pub(crate) result: Option<Range<usize>>,
}

/// A message that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The id of the request, where it could be read.
    pub(crate) id: Option<Id>,
    /// The code of JSON-RPC.
    pub(crate) code: i32,
    /// One clause.
    pub(crate) why: String,
}

impl<'t> Message<'t> {
    /// Reads a line.
    pub(crate) fn read(line: &'t [u8], side: Side) -> Result<Message<'t>, Wrong> {
        let wrong = |code: i32, why: String| Wrong { id: None, code, why };
        let text = std::str::from_utf8(line).map_err(|_| wrong(-32700, "it is not UTF-8 text".to_owned()))?;
        if text.trim_start().starts_with('[') {
            return Err(wrong(-32600, "a batch: send each message by itself".to_owned()));
        }
        if text.trim_start().starts_with('\u{feff}') {
            return Err(wrong(-32700, "it begins with a byte order mark".to_owned()));
        }
        let checked = match side {
            Side::Client => strict(text),
            Side::Server => well_formed(text),
        };
        let found = checked.and_then(|()| members(text));
        let all = match found {
            Ok(all) => all,
            // What can be read of the id is only for the answer.
            Err(why) => {
                let id = well_formed(text)
                    .ok()
                    .and_then(|()| members(text).ok())
                    .and_then(|all| id_of(text, &all));
                return Err(Wrong { id: id.flatten(), code: -32600, why });
            }
        };
        Message::envelope(text, &all)
    }

    fn envelope(text: &'t str, all: &[Member]) -> Result<Message<'t>, Wrong> {
        let id = id_of(text, all);
        let wrong = |why: &str| Wrong { id: id.clone().flatten(), code: -32600, why: why.to_owned() };
        exact(all, &ENVELOPE).map_err(|why| wrong(&why))?;
        let one = |key: &str| all.iter().find(|member| member.key == key).map(|member| member.value.clone());
        let of = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        let version = one("jsonrpc").and_then(|range| string(of(&range)));
        if version.as_deref() != Some("2.0") {
            return Err(wrong("`jsonrpc` is not \"2.0\""));
        }
        let (params, result, error) = (one("params"), one("result"), one("error"));
        if params.as_ref().is_some_and(|range| !of(range).starts_with('{')) {
            return Err(wrong("`params` is not an object"));
        }
        let method = match one("method") {
            Some(range) => Some(string(of(&range)).ok_or_else(|| wrong("`method` is not a text"))?),
            None => None,
        };
        if let Some(range) = &params {
            let own = members(of(range)).map_err(|why| wrong(&why))?;
            exact(&own, &PARAMS).map_err(|why| wrong(&why))?;
        }
        let kind = match (id.clone(), method, result.is_some() || error.is_some()) {
            (Some(None), None, true)
                if error.is_some() && result.is_none() && one("id").is_some_and(|id| of(&id) == "null") =>
            {
                Kind::Lost
            }
            (Some(None), ..) => return Err(wrong("`id` is neither a text nor an integer")),
            (Some(Some(id)), Some(method), false) => Kind::Request(id, method),
            (None, Some(method), false) => Kind::Notification(method),
            (Some(Some(id)), None, true) if result.is_some() != error.is_some() => Kind::Response(id),
            _ => return Err(wrong("it is neither a request nor a notification nor a response")),
        };
        Ok(Message { text, kind, params, result })
    }

    /// The text of a part.
    pub(crate) fn part(&self, range: &Option<Range<usize>>) -> &'t str {
        range.clone().and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    /// The value of a parameter, as it was written.
    pub(crate) fn param(&self, key: &str) -> Option<&'t str> {
        let params = self.part(&self.params);
        let found = members(params).ok()?.into_iter().find(|member| member.key == key)?;
        params.get(found.value)
    }
}

/// The id: none, one that is not read, or one.
fn id_of(text: &str, all: &[Member]) -> Option<Option<Id>> {
    let member = all.iter().find(|member| member.key == "id")?;
    Some(text.get(member.value.clone()).and_then(Id::of))
}

/// No key is nearly one of the names.
fn exact(all: &[Member], names: &[&str]) -> Result<(), String> {
    let mut seen = std::collections::HashSet::new();
    for member in all {
        let key = folded(&member.key);
        if let Some(name) = names.iter().find(|name| folded(name) == key && **name != member.key) {
            return Err(format!("a key is nearly `{name}` and not it"));
        }
        if !seen.insert(key) {
            return Err("a key stands in one object twice".to_owned());
        }
    }
    Ok(())
}

/// The id that stands at one of the ends of a line that was too long to be held.
pub(crate) fn id_in_ends(first: &[u8], last: &[u8]) -> Option<Id> {
    [first, last].into_iter().find_map(|end| {
        let text = String::from_utf8_lossy(end);
        let (_, behind) = text.split_once("\"id\":")?;
        let behind = behind.trim_start();
        let end = match behind.strip_prefix('"') {
            Some(inner) => inner.find('"')? + 2,
            None => behind.find([',', '}', ' '])?,
        };
        Id::of(behind.get(..end)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, side: Side) -> Result<Kind, Wrong> {
        Message::read(text.as_bytes(), side).map(|message| message.kind)
    }

    #[test]
    fn messages_are_what_they_say() {
        let of = |text: &str| read(text, Side::Client).unwrap();
        let id = || Id::Number("7".to_owned());
        assert_eq!(of(r#"{"jsonrpc":"2.0","id":7,"method":"a"}"#), Kind::Request(id(), "a".to_owned()));
        assert_eq!(of(r#"{"jsonrpc":"2.0","method":"a","params":{}}"#), Kind::Notification("a".to_owned()));
        assert_eq!(of(r#"{"jsonrpc":"2.0","id":7,"result":null}"#), Kind::Response(id()));
        assert_eq!(
            of(r#"{"jsonrpc":"2.0","id":"\u0037","error":{}}"#),
            Kind::Response(Id::Text("7".to_owned()))
        );
        assert_eq!(of(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#), Kind::Lost);
    }

    #[test]
    fn what_could_be_taken_in_two_ways_is_refused() {
        for text in [
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]"#,
            " \t[]",
            "\u{feff}{}",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","Method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","argumentſ":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name\u0000":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1,"a":2}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"x":{"A":1,"a":2}}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#,
            r#"{"jsonrpc":"2.0","id":1.0,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":-0,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{},"result":1}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","result":1}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#,
            r#"{"id":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            "npx: installed 1 in 2s",
        ] {
            assert!(read(text, Side::Client).is_err(), "{text}");
        }
        // A server's data are its own, its envelope is not.
        let data = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"A":2}}"#;
        assert!(read(data, Side::Server).is_ok() && read(data, Side::Client).is_err());
        assert!(read(r#"{"jsonrpc":"2.0","id":1,"ID":2,"result":{}}"#, Side::Server).is_err());
    }

    #[test]
    fn a_refusal_names_the_request() {
        let text = r#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"a":1,"a":2}}"#;
        assert_eq!(read(text, Side::Client).unwrap_err().id, Some(Id::Text("q".to_owned())));
        assert_eq!(
            id_in_ends(b"{\"jsonrpc\":\"2.0\",\"id\": 12,\"resul", b"x}"),
            Some(Id::Number("12".to_owned()))
        );
        assert_eq!(id_in_ends(b"xx", b"yy,\"id\":\"a\"}"), Some(Id::Text("a".to_owned())));
        assert_eq!(id_in_ends(b"xx", b"yy"), None);
    }

    /// What is let through says the same to a reader that takes the last of two keys and one that ignores letter case.
    #[test]
    fn other_readers_read_the_same() {
        let seeds = [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"a"}}}"#,
            r#"{"jsonrpc":"2.0","id":"x","method":"resources/read","params":{"uri":"file:///a","_meta":{"k":[1,null]}}}"#,
        ];
        let rounds: usize =
            std::env::var("POLICY_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
        let parts = [
            "\"Name\":\"x\",",
            "\"name\":\"x\",",
            "\\u0000",
            "\\u006e",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "ſ",
            "K",
            "1",
            "-0",
            "1.0",
            "null",
            " ",
            "\"method\":\"ping\",",
            "\"id\":2,",
            "\"PARAMS\":{},",
        ];
        let mut state = 11u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let mut taken = 0;
        for round in 0..40_000 * rounds {
            let mut text = seeds[round % seeds.len()].to_owned();
            for _ in 0..=next() % 3 {
                let at = text.floor_char_boundary(next() % (text.len() + 1));
                let part = parts[next() % parts.len()];
                let end = text.floor_char_boundary((at + next() % 4 * (next() % 3)).min(text.len())).max(at);
                text.replace_range(at..end, part);
            }
            let Ok(message) = Message::read(text.as_bytes(), Side::Client) else { continue };
            taken += 1;
            let other: serde_json::Value =
                serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
            if let Kind::Request(_, method) | Kind::Notification(method) = &message.kind {
                assert_eq!(other["method"], *method, "{text}");
            }
            let loose = |key: &str| {
                let params = other["params"].as_object()?;
                params.iter().rfind(|(own, _)| folded(own) == folded(key)).map(|(_, value)| value.clone())
            };
            for key in ["name", "uri", "arguments"] {
                let own =
                    message.param(key).map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
                assert_eq!(own, loose(key), "{key}: {text}");
            }
        }
        assert!(taken > 1000, "{taken}");
    }
}
