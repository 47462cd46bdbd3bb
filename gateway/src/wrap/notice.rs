//! Policies that cannot be used as they are now, and what waits of the pins of the server, told to the person on the page and on standard error.
//!
//! INVARIANT: the file of questions is opened only when there is something to say that was not said, to repeat, or to take back.

use crate::wrap::pinned::Pinned;
use policy_approvals::{Notice, REPEATED, Store};
use policy_engine::combine::clean;
use policy_engine::layers::Layer;
use policy_engine::places::Folders;
use policy_engine::reload::KEPT;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How often files are looked at again while there is an error to take back.
pub(crate) const AGAIN: Duration = Duration::from_secs(2);

/// What was told.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    told: Vec<Notice>,
    at: Option<Instant>,
}

impl Notices {
    /// Whether anything stands.
    pub(crate) fn any(&self) -> bool {
        !self.told.is_empty()
    }

    /// Tells what is wrong with these layers that was not told, and takes back what is good again.
    pub(crate) fn look(&mut self, layers: &[Rc<Layer>], folders: &Folders) {
        let bad = |layer: &&Rc<Layer>| layer.stale.is_some() || layer.table.is_err();
        if self.told.is_empty() && !layers.iter().any(|layer| bad(&layer)) {
            return;
        }
        let now = now();
        let mut there: Vec<Notice> = layers.iter().filter(bad).map(|layer| self.of(layer, now)).collect();
        there.dedup_by(|one, other| one.file == other.file);
        let seen = |file: &str| layers.iter().any(|layer| layer.name == file);
        let stands = |file: &str| there.iter().any(|notice| notice.file == file);
        // What a call does not meet says nothing of it.
        let good: Vec<String> = self
            .told
            .iter()
            .map(|notice| notice.file.clone())
            .filter(|file| seen(file) && !stands(file))
            .collect();
        let fresh: Vec<&Notice> = there.iter().filter(|notice| !self.told.contains(notice)).collect();
        let due = self.at.is_none_or(|at| at.elapsed() > REPEATED);
        if fresh.is_empty() && good.is_empty() && !due {
            return;
        }
        for notice in fresh {
            super::complain(&sentence(notice));
        }
        for file in &good {
            super::complain(&format!("policy wrap: `{file}` can be used again"));
        }
        if let Err(error) = Store::open(folders).and_then(|store| store.note(&there, &good)) {
            super::complain(&format!("policy wrap: the page cannot be told of it: {error}"));
        }
        self.at = Some(Instant::now());
        self.told.retain(|notice| !good.contains(&notice.file) && !stands(&notice.file));
        self.told.extend(there.clone());
    }

    fn of(&self, layer: &Rc<Layer>, now: i64) -> Notice {
        let fault = layer.fault.as_deref().cloned().unwrap_or_default();
        let before = self.told.iter().find(|notice| notice.file == layer.name);
        let since = before.map_or(now, |notice| notice.since);
        let kept = since.saturating_add(i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX));
        // SECURITY: what an untrusted project writes is no message to a person.
        let own = |text: &str| if layer.restricted { String::new() } else { clean(text) };
        Notice {
            file: clean(&layer.name),
            place: clean(&fault.place),
            code: fault.code.clone(),
            message: own(&fault.message),
            help: own(&fault.help),
            more: fault.more as u64,
            since,
            until: if layer.stale.is_some() { kept } else { 0 },
        }
    }
}

/// What is told of the pins of the server.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Nothing is withheld.
    observe: bool,
    notice: Option<Notice>,
    at: Option<Instant>,
}

impl Told {
    /// Nothing yet.
    pub(crate) fn new(observe: bool) -> Told {
        Told { observe, ..Told::default() }
    }

    /// Whether anything stands.
    pub(crate) fn any(&self) -> bool {
        self.notice.is_some()
    }

    /// Tells what waits, or takes it back.
    pub(crate) fn look(&mut self, pinned: &Pinned, folders: &Folders) {
        let now = of_pins(pinned, self.notice.as_ref(), self.observe);
        if now.is_none() && self.notice.is_none() {
            return;
        }
        let fresh = now != self.notice;
        if !fresh && self.at.is_some_and(|at| at.elapsed() <= REPEATED) {
            return;
        }
        if let Some(notice) = now.as_ref().filter(|_| fresh) {
            // What a model may read names no command that accepts.
            let Notice { file, message, .. } = notice;
            super::complain(&format!("policy wrap: {file}: {message}"));
        }
        let file = now.as_ref().or(self.notice.as_ref()).map(|notice| notice.file.clone());
        let (bad, good): (&[Notice], Vec<String>) = match &now {
            Some(notice) => (std::slice::from_ref(notice), Vec::new()),
            None => (&[], file.into_iter().collect()),
        };
        if let Err(error) = Store::open(folders).and_then(|store| store.note(bad, &good)) {
            super::complain(&format!("policy wrap: the page cannot be told of it: {error}"));
        }
        self.at = Some(Instant::now());
        self.notice = now;
    }
}

/// What waits of the pins, for a person.
fn of_pins(pinned: &Pinned, before: Option<&Notice>, observe: bool) -> Option<Notice> {
    let name = clean(pinned.name());
    let notice = |message: String, help: &str, since: i64| Notice {
        file: format!("the server `{name}`"),
        code: policy_approvals::PINS.to_owned(),
        message,
        help: format!("{help}: `policy pins show {name}`"),
        since,
        ..Notice::default()
    };
    if let Some(why) = pinned.closed() {
        let since = before.map_or_else(self::now, |before| before.since);
        let holds = if observe { "" } else { ", and none of its tools can be called" };
        let message = format!("what is pinned of it cannot be read{holds}: {why}");
        return Some(notice(message, "look at the file", since));
    }
    let waiting = &pinned.pins()?.waiting;
    if waiting.is_empty() {
        return None;
    }
    let (one, more) = if observe { ("", "") } else { (" and is withheld", " and are withheld") };
    let names: Vec<String> = waiting.tools.keys().take(5).map(|name| format!("`{}`", clean(name))).collect();
    let mut parts = Vec::new();
    match waiting.tools.len() {
        0 => {}
        1 => parts.push(format!("its tool {} is new or has changed{one}", names.concat())),
        many => {
            let rest = if many > names.len() { ", …" } else { "" };
            parts.push(format!(
                "{many} of its tools are new or have changed{more}: {}{rest}",
                names.join(", ")
            ));
        }
    }
    if waiting.instructions.is_some() {
        parts.push(format!("its instructions have changed{more}"));
    }
    Some(notice(parts.join("; "), "what changed", waiting.since))
}

fn sentence(notice: &Notice) -> String {
    let Notice { file, place, code, message, help, until, .. } = notice;
    let mut text = format!("policy wrap: `{file}` cannot be used");
    for (before, part) in [(": ", place), (": ", message), (" (", code)] {
        if !part.is_empty() {
            text.push_str(before);
            text.push_str(part);
        }
    }
    text.push_str(if code.is_empty() { "" } else { ")" });
    if !help.is_empty() {
        text.push_str(&format!("; {help}"));
    }
    text.push_str(match until {
        0 => ". Until it is mended it holds for nothing, and calls are denied",
        _ => ". As it was before it holds for ten minutes, and what it allows is asked",
    });
    text
}

fn now() -> i64 {
    policy_engine::cache::now_ns() / 1_000_000
}
