//! The pins of the server that is wrapped, as this process has met its tools.
//!
//! INVARIANT: nothing is written before a list was read to its end, or something differs from what is pinned. What differs is
//! withheld until a person takes it; pins that cannot be read hold everything. The file is looked at again like a policy, and read
//! only when it changed. Bounded in tools, names and texts.

use crate::pins::{Definition, Identity, KEPT, LONGEST_NAME, MOST_TOOLS, Pins, Shelf, parts};
use crate::wrap::json::string;
use crate::wrap::list::Tool;
use policy_engine::open::Stamp;
use policy_hosts::redact::mask;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// How long the file is taken for unchanged.
const FRESH: Duration = Duration::from_millis(50);

/// A cursor, as its digest: what a server sends is kept nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor([u8; 32]);

impl Cursor {
    /// From JSON. An empty one is none, as most clients take it.
    pub(crate) fn of(json: &str) -> Option<Cursor> {
        let text = string(json).unwrap_or_else(|| json.to_owned());
        let none = text.is_empty() || json == "null";
        (!none).then(|| Cursor(Sha256::digest(text.as_bytes()).into()))
    }
}

/// A page of a list of tools.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) tools: Vec<Tool>,
    /// The cursor that it was asked with; none for the first page.
    pub(crate) cursor: Option<Cursor>,
    /// The cursor of the next page.
    pub(crate) next: Option<Cursor>,
}

/// What is known of the pins.
#[derive(Debug)]
enum Known {
    /// No file: the server was never listed.
    Nothing,
    Pins(Box<Pins>),
    /// The file could not be written: what was seen first counts in this process.
    Unkept(Box<Pins>),
    /// The file cannot be used, and why.
    Closed(String),
}

/// A list that is read page by page.
#[derive(Debug)]
struct Walk {
    tools: BTreeMap<String, Definition>,
    /// The cursor that the next page is asked with.
    next: Option<Cursor>,
    /// How much more of definitions is kept as it is.
    room: usize,
}

/// The pins, and what of the server was seen.
#[derive(Debug)]
pub(crate) struct Pinned {
    identity: Identity,
    key: String,
    shelf: Shelf,
    known: Known,
    /// The digest of what is pinned, for questions.
    digest: String,
    stamp: Option<Stamp>,
    looked: Option<Instant>,
    /// Of tools that are pinned: as they were listed last.
    seen: HashMap<String, [u8; 32]>,
    /// The instructions that the server began with.
    began: Option<Definition>,
    walk: Option<Walk>,
}

impl Pinned {
    /// Opens nothing.
    pub(crate) fn new(identity: Identity, shelf: Shelf) -> Pinned {
        Pinned {
            key: identity.key(),
            identity,
            shelf,
            known: Known::Nothing,
            digest: String::new(),
            stamp: None,
            looked: None,
            seen: HashMap::new(),
            began: None,
            walk: None,
        }
    }

    /// The pins, when there are some that can be used.
    pub(crate) fn pins(&self) -> Option<&Pins> {
        match &self.known {
            Known::Pins(pins) | Known::Unkept(pins) => Some(pins),
            Known::Nothing | Known::Closed(_) => None,
        }
    }

    /// Why nothing of the server can be judged.
    pub(crate) fn closed(&self) -> Option<&str> {
        match &self.known {
            Known::Closed(why) => Some(why),
            _ => None,
        }
    }

    /// The digest of what is pinned, for questions; empty when nothing is.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    fn know(&mut self, known: Known) {
        self.known = known;
        self.digest = self.pins().map_or(String::new(), |pins| policy_engine::trust::hex(&pins.digest()));
    }

    /// Whether the file may have changed since it was looked at.
    pub(crate) fn is_stale(&self) -> bool {
        self.looked.is_none_or(|looked| looked.elapsed() >= FRESH)
    }

    /// Looks at the file again, at most every [`FRESH`].
    pub(crate) fn refresh(&mut self) {
        if !self.is_stale() {
            return;
        }
        let first = self.looked.is_none();
        self.looked = Some(Instant::now());
        let closed = matches!(self.known, Known::Closed(_));
        if first || closed || !self.shelf.unchanged(&self.key, self.stamp.as_ref()) {
            self.read();
        }
    }

    fn read(&mut self) {
        match self.shelf.read(&self.key) {
            Ok(Some((pins, stamp))) => {
                self.stamp = Some(stamp);
                self.know(Known::Pins(Box::new(pins)));
            }
            Ok(None) => {
                self.stamp = None;
                if !matches!(self.known, Known::Unkept(_)) {
                    self.know(Known::Nothing);
                }
            }
            Err(why) => {
                self.stamp = None;
                self.know(Known::Closed(why));
            }
        }
    }

    /// A page of tools: which of them are withheld.
    pub(crate) fn page(&mut self, page: Page) -> Result<Vec<bool>, String> {
        self.refresh();
        if let Known::Closed(why) = &self.known {
            return Err(format!("what is pinned of this server cannot be read: {why}"));
        }
        if page.cursor.is_none() {
            self.walk = Some(Walk { tools: BTreeMap::new(), next: None, room: KEPT });
        } else if self.walk.as_ref().is_none_or(|walk| walk.next != page.cursor) {
            // A page that is not the next one says something of its tools, and nothing of the whole.
            self.walk = None;
        }
        let mut listed: Vec<(String, [u8; 32])> = Vec::with_capacity(page.tools.len());
        let mut apart = BTreeMap::new();
        let mut own_room = KEPT;
        let (tools, room) = match &mut self.walk {
            Some(walk) => (&mut walk.tools, &mut walk.room),
            None => (&mut apart, &mut own_room),
        };
        let mut twice = Vec::with_capacity(page.tools.len());
        let mut too_many = None;
        for Tool { name, text } in page.tools {
            if name.len() > LONGEST_NAME {
                too_many = Some(format!("the name of a tool is longer than {LONGEST_NAME} bytes"));
                break;
            }
            let mut own = Definition::of(&text);
            listed.push((name.clone(), own.digest));
            // A name that stands there again with something else: a client takes the first or the last.
            twice.push(tools.get(&name).is_some_and(|there| there.digest != own.digest));
            if tools.contains_key(&name) {
                continue;
            }
            if tools.len() >= MOST_TOOLS {
                too_many = Some(format!("it has more than {MOST_TOOLS} tools"));
                break;
            }
            *room = own.fit(*room);
            tools.insert(name, own);
        }
        if let Some(why) = too_many {
            self.walk = None;
            return Err(why);
        }
        match self.walk.take() {
            Some(walk) if page.next.is_none() => self.complete(walk.tools),
            Some(walk) => {
                let part = listed.iter().filter_map(|(name, _)| Some((name, walk.tools.get(name)?)));
                let part = part.map(|(name, own)| (name.clone(), own.clone())).collect();
                self.walk = Some(Walk { next: page.next, ..walk });
                self.compare(part, false);
            }
            None => self.compare(apart, false),
        }
        let withheld = listed.iter().zip(twice).map(|((name, digest), twice)| {
            let pinned = |pins: &Pins| pins.tools.get(name).is_some_and(|own| own.digest == *digest);
            twice || self.pins().is_some_and(|pins| !pinned(pins)) || self.closed().is_some()
        });
        Ok(withheld.collect())
    }

    /// All tools of the server were seen.
    fn complete(&mut self, tools: BTreeMap<String, Definition>) {
        if self.pins().is_some() {
            return self.compare(tools, true);
        }
        // Servers that are not ready yet list nothing, and say later that they have tools.
        if tools.is_empty() {
            return;
        }
        self.seen = tools.iter().map(|(name, own)| (name.clone(), own.digest)).collect();
        let now = now();
        let fresh = Pins {
            name: self.identity.name.clone(),
            source: mask(&self.identity.source.join(" ")),
            first_seen: now,
            tools,
            instructions: self.began.clone(),
            ..Pins::default()
        };
        let own = fresh.clone();
        // Another process may have been the first.
        let written = self.shelf.change(&self.key, |there| match there {
            None => Ok((Some(own), None)),
            Some(_) => Ok((None, Some(own.tools))),
        });
        match written {
            Ok(None) => self.read(),
            Ok(Some(tools)) => {
                self.read();
                self.compare(tools, true);
            }
            Err(why) => {
                super::complain(&format!(
                    "policy wrap: the tools of the server are not pinned for its next start: {why}"
                ));
                // A file that is there and cannot be read holds everything.
                self.read();
                if matches!(self.known, Known::Nothing) {
                    self.know(Known::Unkept(Box::new(fresh)));
                }
            }
        }
    }

    /// Notes how these tools differ from what is pinned; `whole`: these are all that there are.
    fn compare(&mut self, tools: BTreeMap<String, Definition>, whole: bool) {
        let Some(pins) = self.pins() else { return };
        let known: Vec<(String, [u8; 32])> = tools
            .iter()
            .filter(|(name, _)| pins.tools.contains_key(*name))
            .map(|(name, own)| (name.clone(), own.digest))
            .collect();
        let wanted = pins.clone();
        self.seen.extend(known);
        let began = self.began.clone();
        let note = |mut pins: Pins| {
            let before = pins.waiting.digest();
            if whole {
                // What is not there any more waits for nothing.
                pins.waiting.tools.retain(|name, _| tools.contains_key(name));
            }
            for (name, own) in &tools {
                let same = pins.tools.get(name).is_some_and(|there| there.digest == own.digest);
                if same {
                    pins.waiting.tools.remove(name);
                } else if pins.waiting.tools.len() < MOST_TOOLS || pins.waiting.tools.contains_key(name) {
                    pins.waiting.tools.insert(name.clone(), own.clone());
                }
            }
            let first = pins.instructions.is_none() && whole;
            if first {
                pins.instructions.clone_from(&began);
            }
            let changed = before != pins.waiting.digest() || first && began.is_some();
            (pins, changed)
        };
        self.note(wanted, note);
    }

    /// How the server begins: whether its instructions are withheld.
    pub(crate) fn begins(&mut self, instructions: Option<&str>) -> bool {
        self.refresh();
        let own = Definition::of(instructions.unwrap_or("null"));
        self.began = Some(own.clone());
        if self.closed().is_some() {
            return !own.is_null();
        }
        let Some(pins) = self.pins().cloned() else { return false };
        let Some(pinned) = pins.instructions.clone() else { return false };
        let withheld = !own.is_null() && pinned.digest != own.digest;
        let wanted = withheld.then_some(own);
        self.note(pins, |mut pins| {
            let before = pins.waiting.digest();
            pins.waiting.instructions.clone_from(&wanted);
            let changed = before != pins.waiting.digest();
            (pins, changed)
        });
        withheld
    }

    /// Changes what waits, here and in the file, when that changes anything.
    fn note(&mut self, wanted: Pins, note: impl Fn(Pins) -> (Pins, bool)) {
        let dated = |pins: Pins| {
            let was_empty = pins.waiting.is_empty();
            let (mut pins, changed) = note(pins);
            if pins.waiting.is_empty() {
                pins.waiting.since = 0;
            } else if was_empty {
                pins.waiting.since = now();
            }
            (pins, changed)
        };
        let (wanted, changed) = dated(wanted);
        if !changed {
            return;
        }
        if matches!(self.known, Known::Unkept(_)) {
            return self.know(Known::Unkept(Box::new(wanted)));
        }
        let written = self.shelf.change(&self.key, |there| {
            // A person may have taken it, or forgotten all, just now.
            let Some(there) = there else { return Ok((None, ())) };
            let (new, changed) = dated(there);
            Ok((changed.then_some(new), ()))
        });
        match written {
            Ok(()) => self.read(),
            Err(why) => {
                super::complain(&format!("policy wrap: what the server changed cannot be kept: {why}"));
                self.know(Known::Pins(Box::new(wanted)));
            }
        }
    }

    /// Why a call of this tool is held, as a clause.
    pub(crate) fn held(&self, tool: &str) -> Option<String> {
        let look = "a person has to look at it before it can be called; go on without it, or tell the person";
        let pins = match &self.known {
            Known::Nothing => return None,
            Known::Closed(why) => {
                return Some(format!(
                    "what is pinned of this server cannot be read ({why}), so none of its tools can be called until a person has looked at it"
                ));
            }
            Known::Pins(pins) | Known::Unkept(pins) => pins,
        };
        let waiting = pins.waiting.tools.get(tool);
        let Some(pinned) = pins.tools.get(tool) else {
            return Some(format!("the server did not have this tool when its tools were pinned; {look}"));
        };
        let changed = match self.seen.get(tool) {
            Some(seen) => *seen != pinned.digest,
            // Another process of the same server saw it.
            None => waiting.is_some(),
        };
        let what = waiting.map_or("changed".to_owned(), |new| parts(Some(pinned), new));
        changed.then(|| {
            format!("the server describes this tool in another way than was pinned ({what}); {look}")
        })
    }

    /// The name under which a person finds it.
    pub(crate) fn name(&self) -> &str {
        if self.identity.name.is_empty() { &self.key } else { &self.identity.name }
    }
}

fn now() -> i64 {
    policy_engine::cache::now_ns() / 1_000_000
}

#[cfg(test)]
#[path = "pinned_tests.rs"]
mod tests;
