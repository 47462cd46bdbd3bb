//! What a file of pins holds, and how it is written: a line with the version and the digest of the rest, which is JSON.
//!
//! INVARIANT: bounded in bytes, tools and letters of a name; a byte that changed is found when it is read. A definition that is too
//! large to be kept is its digest alone.

use crate::wrap::question::canonical;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Most tools of a server.
pub const MOST_TOOLS: usize = 4096;
/// Longest name of a tool, bytes.
pub(crate) const LONGEST_NAME: usize = 256;
/// Largest file.
pub(crate) const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// Largest definition that is kept as it was, bytes.
const LARGEST: usize = 64 * 1024;
/// How much of all definitions of a list is kept as it was, bytes.
pub(crate) const KEPT: usize = 512 * 1024;
/// Begins the file.
const HEAD: &str = "policy pins ";
const VERSION: u32 = 1;

/// A definition: of a tool, or the instructions of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// SHA-256 of it as canonical JSON.
    pub digest: [u8; 32],
    /// As canonical JSON; none when it is too large to be kept.
    pub text: Option<String>,
}

impl Definition {
    /// From JSON as it was sent. All members count, those that are not known here too: some client shows them to its model.
    #[must_use]
    pub fn of(json: &str) -> Definition {
        // A number that is none for us counts as it was written.
        let text = serde_json::from_str(json).map_or_else(|_| json.to_owned(), |value| canonical(&value));
        Definition::whole(text)
    }

    fn whole(text: String) -> Definition {
        let digest = Sha256::digest(text.as_bytes()).into();
        Definition { digest, text: (text.len() <= LARGEST).then_some(text) }
    }

    /// Whether it says nothing.
    pub(crate) fn is_null(&self) -> bool {
        self.text.as_deref() == Some("null")
    }

    /// Drops the text when there is no room for it; what is left of the room.
    pub(crate) fn fit(&mut self, room: usize) -> usize {
        let wanted = self.text.as_ref().map_or(0, String::len);
        if wanted > room {
            self.text = None;
            return room;
        }
        room - wanted
    }

    fn encode(&self) -> Value {
        match &self.text {
            Some(text) => json!({ "text": text }),
            None => json!({ "sha256": hex(&self.digest) }),
        }
    }

    fn decode(value: &Value) -> Option<Definition> {
        match value.get("text") {
            Some(text) => Some(Definition::whole(text.as_str()?.to_owned())),
            None => Some(Definition { digest: unhex(value.get("sha256")?.as_str()?)?, text: None }),
        }
    }
}

/// What was seen and is not taken yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Tools that are new or changed.
    pub tools: BTreeMap<String, Definition>,
    /// Other instructions.
    pub instructions: Option<Definition>,
    /// Since when anything waits, milliseconds since the epoch.
    pub since: i64,
}

impl Waiting {
    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.instructions.is_none()
    }

    /// The digest of all that waits: an acceptance is for what was looked at.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        digest(&self.tools, self.instructions.as_ref())
    }
}

/// The pins of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins {
    /// Its name in the client's settings; empty when it has none.
    pub name: String,
    /// The command line that starts it, to be shown: with what looks like a secret masked.
    pub source: String,
    /// When it was pinned first, milliseconds since the epoch.
    pub first_seen: i64,
    /// When something was accepted last; 0 for never.
    pub accepted: i64,
    /// Its tools.
    pub tools: BTreeMap<String, Definition>,
    /// Its instructions; `null` when it gave none, nothing when it was never seen how it begins.
    pub instructions: Option<Definition>,
    /// What was seen and is not accepted.
    pub waiting: Waiting,
    /// The digest of what waited when a person last looked at it.
    pub looked: Option<[u8; 32]>,
}

impl Pins {
    /// The digest of what is pinned, for approvals.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        digest(&self.tools, self.instructions.as_ref())
    }

    /// Keeps no more of the texts than there is room for.
    fn fit(&mut self) {
        for tools in [&mut self.tools, &mut self.waiting.tools] {
            tools.values_mut().fold(KEPT, |room, own| own.fit(room));
        }
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// When it would be too large.
    pub(crate) fn encode(&mut self) -> Result<Vec<u8>, String> {
        self.fit();
        let tools = |tools: &BTreeMap<String, Definition>| -> Value {
            tools.iter().map(|(name, own)| (name.clone(), own.encode())).collect::<Map<_, _>>().into()
        };
        let maybe = |own: &Option<Definition>| own.as_ref().map_or(Value::Null, Definition::encode);
        let body = json!({
            "name": self.name,
            "source": self.source,
            "first_seen": self.first_seen,
            "accepted": self.accepted,
            "tools": tools(&self.tools),
            "instructions": maybe(&self.instructions),
            "waiting": {
                "since": self.waiting.since,
                "tools": tools(&self.waiting.tools),
                "instructions": maybe(&self.waiting.instructions),
            },
            "looked": self.looked.map(|digest| hex(&digest)),
        });
        let body = format!("{body}\n");
        let bytes = format!("{HEAD}{VERSION} {}\n{body}", hex(&Sha256::digest(body.as_bytes()))).into_bytes();
        if bytes.len() as u64 > MOST_BYTES {
            return Err(format!("the pins would take more than {} MiB", MOST_BYTES >> 20));
        }
        Ok(bytes)
    }

    /// From the bytes of the file; the error is a clause with the file as its subject.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Pins, String> {
        let damaged = || "is damaged".to_owned();
        let text = std::str::from_utf8(bytes).map_err(|_| damaged())?;
        let (head, body) = text.split_once('\n').ok_or_else(damaged)?;
        let (version, sum) =
            head.strip_prefix(HEAD).and_then(|own| own.split_once(' ')).ok_or_else(damaged)?;
        let version: u32 = version.parse().map_err(|_| damaged())?;
        if version > VERSION {
            return Err(format!(
                "was written by a newer policy (version {version}; this one reads {VERSION})"
            ));
        }
        if version != VERSION || unhex(sum) != Some(Sha256::digest(body.as_bytes()).into()) {
            return Err(damaged());
        }
        serde_json::from_str(body).ok().and_then(|value| Pins::of(&value)).ok_or_else(damaged)
    }

    fn of(body: &Value) -> Option<Pins> {
        let tools = |value: &Value| -> Option<BTreeMap<String, Definition>> {
            let tools = value.as_object()?.iter();
            tools.map(|(name, own)| Some((name.clone(), Definition::decode(own)?))).collect()
        };
        let maybe = |value: &Value| match value {
            Value::Null => Some(None),
            own => Definition::decode(own).map(Some),
        };
        let waiting = body.get("waiting")?;
        Some(Pins {
            name: body.get("name")?.as_str()?.to_owned(),
            source: body.get("source")?.as_str()?.to_owned(),
            first_seen: body.get("first_seen")?.as_i64()?,
            accepted: body.get("accepted")?.as_i64()?,
            tools: tools(body.get("tools")?)?,
            instructions: maybe(body.get("instructions")?)?,
            waiting: Waiting {
                tools: tools(waiting.get("tools")?)?,
                instructions: maybe(waiting.get("instructions")?)?,
                since: waiting.get("since")?.as_i64()?,
            },
            looked: match body.get("looked")? {
                Value::Null => None,
                digest => Some(unhex(digest.as_str()?)?),
            },
        })
    }
}

fn digest(tools: &BTreeMap<String, Definition>, instructions: Option<&Definition>) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"policy pins of tools 1");
    for (name, own) in tools {
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(own.digest);
    }
    hash.update([u8::from(instructions.is_some())]);
    hash.update(instructions.map_or([0; 32], |own| own.digest));
    hash.finalize().into()
}

/// Lower-case digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    policy_engine::trust::hex(bytes)
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (at, byte) in out.iter_mut().enumerate() {
        let digits = text.get(2 * at..2 * at + 2).filter(|own| own.bytes().all(|b| b.is_ascii_hexdigit()))?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Pins {
        Pins {
            name: "s".to_owned(),
            source: "npx -y".to_owned(),
            first_seen: 7,
            tools: [("read".to_owned(), Definition::of(r#"{"name":"read","description":"\u0061"}"#))].into(),
            instructions: Some(Definition::of("null")),
            waiting: Waiting {
                tools: [("new".to_owned(), Definition::of(r#"{"name":"new"}"#))].into(),
                instructions: Some(Definition::of("\"x\"")),
                since: 9,
            },
            looked: Some([3; 32]),
            ..Pins::default()
        }
    }

    #[test]
    fn what_is_written_is_read_and_a_changed_byte_is_found() {
        let mut pins = some();
        let bytes = pins.encode().unwrap();
        assert_eq!(Pins::decode(&bytes), Ok(pins));
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(Pins::decode(&other).is_err(), "byte {at}");
            assert!(Pins::decode(&bytes[..at]).is_err(), "cut at {at}");
        }
        let newer = String::from_utf8(bytes).unwrap().replacen("pins 1", "pins 2", 1);
        assert!(Pins::decode(newer.as_bytes()).unwrap_err().contains("newer policy"));
    }

    #[test]
    fn the_order_of_keys_does_not_count_and_everything_else_does() {
        let one = Definition::of(r#"{"name":"a","inputSchema":{"x":1,"y":[1,2]}}"#);
        assert_eq!(one, Definition::of(r#"{"inputSchema":{"y":[1, 2],"x":1},"n\u0061me":"a"}"#));
        for other in [
            r#"{"name":"a","inputSchema":{"x":1,"y":[2,1]}}"#,
            r#"{"name":"a","inputSchema":{"x":1,"y":[1,2]},"_meta":{}}"#,
            r#"{"name":"a","inputSchema":{"x":1,"y":[1,2]},"execution":{"taskSupport":"required"}}"#,
            r#"{"name":"a ","inputSchema":{"x":1,"y":[1,2]}}"#,
        ] {
            assert_ne!(one.digest, Definition::of(other).digest, "{other}");
        }
        // A number that no machine holds.
        assert_ne!(Definition::of(r#"{"a":1e999}"#).digest, Definition::of(r#"{"a":1e998}"#).digest);
    }

    #[test]
    fn the_digest_is_of_names_definitions_and_instructions() {
        let pins = some();
        let mut other = pins.clone();
        other.waiting = Waiting::default();
        assert_eq!(pins.digest(), other.digest());
        other.instructions = None;
        assert_ne!(pins.digest(), other.digest());
        let mut other = pins.clone();
        let own = other.tools.remove("read").unwrap();
        other.tools.insert("raed".to_owned(), own);
        assert_ne!(pins.digest(), other.digest());
    }

    #[test]
    fn what_is_too_large_is_its_digest() {
        let large = format!(r#"{{"name":"a","description":"{}"}}"#, "x".repeat(LARGEST));
        assert_eq!(Definition::of(&large).text, None);
        let mut pins = some();
        for n in 0..40 {
            let text = format!(r#"{{"name":"{n}","description":"{}"}}"#, "x".repeat(40_000));
            pins.tools.insert(format!("t{n}"), Definition::of(&text));
        }
        let bytes = pins.encode().unwrap();
        assert!(bytes.len() < 2 * KEPT, "{}", bytes.len());
        let read = Pins::decode(&bytes).unwrap();
        assert_eq!(
            (read.digest(), read.tools.values().filter(|own| own.text.is_none()).count()),
            (pins.digest(), 27)
        );
    }
}
