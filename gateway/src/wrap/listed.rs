//! The tools as the client was last told of them, so that it hears when they are others.
//!
//! INVARIANT: bounded like the pins; the tools are looked at again only when a policy or the pins changed, and a client that was not
//! promised to hear of changes hears of none.

use crate::pins::MOST_TOOLS;
use crate::wrap::pinned::Pinned;
use policy_engine::layers::Layer;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How often it is looked whether anything changed.
const DUE: Duration = Duration::from_secs(1);

/// What was listed last.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// The client was promised to hear of changes.
    pub(crate) tells: bool,
    /// Tools, and whether they were hidden.
    tools: BTreeMap<String, bool>,
    layers: Vec<Rc<Layer>>,
    pin: String,
    looked: Option<Instant>,
}

impl Listed {
    /// Notes a page that goes to the client.
    pub(crate) fn page(
        &mut self,
        first: bool,
        tools: impl Iterator<Item = (String, bool)>,
        layers: Vec<Rc<Layer>>,
        pinned: &Pinned,
    ) {
        if first {
            self.tools.clear();
        }
        let room = MOST_TOOLS.saturating_sub(self.tools.len());
        self.tools.extend(tools.take(room));
        self.layers = layers;
        self.pin = pinned.digest().to_owned();
    }

    /// Whether it is time to look.
    pub(crate) fn is_due(&mut self) -> bool {
        let due =
            self.tells && !self.tools.is_empty() && self.looked.is_none_or(|looked| looked.elapsed() >= DUE);
        if due {
            self.looked = Some(Instant::now());
        }
        due
    }

    /// Whether policies and pins are the same as with the last page.
    pub(crate) fn same(&self, layers: &[Rc<Layer>], pinned: &Pinned) -> bool {
        self.pin == pinned.digest()
            && self.layers.len() == layers.len()
            && self.layers.iter().zip(layers).all(|(one, other)| Rc::ptr_eq(one, other))
    }

    /// The tools.
    pub(crate) fn names(&self) -> Vec<String> {
        self.tools.keys().cloned().collect()
    }

    /// Which of them are hidden now; whether others were before.
    pub(crate) fn take(&mut self, now: Vec<bool>, layers: Vec<Rc<Layer>>, pinned: &Pinned) -> bool {
        let mut changed = false;
        for (hidden, now) in self.tools.values_mut().zip(now) {
            changed |= *hidden != now;
            *hidden = now;
        }
        self.layers = layers;
        self.pin = pinned.digest().to_owned();
        changed
    }
}
