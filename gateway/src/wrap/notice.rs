//! Policies that cannot be used as they are now, told to the person on the page and on standard error.
//!
//! INVARIANT: the file of questions is opened only when there is something to say that was not said, to repeat, or to take back.

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
