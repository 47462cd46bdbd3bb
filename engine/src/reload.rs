//! The last good table of a layer, for processes that live on while a person edits the policy.
//!
//! INVARIANT: kept in memory alone and for ten minutes; what it allows is asked, so a broken file never means allow.

use crate::layers::Layer;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long a last good table is used.
pub const KEPT: Duration = Duration::from_secs(600);

/// Good layers of before, with the moment since which their files cannot be used.
#[derive(Debug, Default)]
pub struct LastGood {
    good: BTreeMap<String, (Rc<Layer>, Option<Instant>)>,
}

impl LastGood {
    /// Remembers the good ones of these layers.
    pub fn remember(&mut self, made: BTreeMap<String, Rc<Layer>>) {
        for (key, layer) in made {
            if layer.table.is_ok() && layer.stale.is_none() {
                self.good.insert(key, (layer, None));
            }
        }
    }

    /// The layer; or, when it cannot be used and was good a short while ago, what it was then.
    pub fn or_last(&mut self, key: &str, layer: Layer, now: Instant) -> Rc<Layer> {
        let Err(cause) = &layer.table else { return Rc::new(layer) };
        let Some((last, since)) = self.good.get_mut(key) else { return Rc::new(layer) };
        let since = *since.get_or_insert(now);
        if now.duration_since(since) > KEPT {
            return Rc::new(layer);
        }
        let mut old = (**last).clone();
        old.stale = Some(cause.clone());
        old.fault.clone_from(&layer.fault);
        Rc::new(old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Kind;

    fn layer(table: Result<Vec<u8>, String>) -> Layer {
        Layer {
            kind: Kind::User,
            name: "x".into(),
            project: None,
            restricted: false,
            note: String::new(),
            stale: None,
            fault: None,
            table: table.map(|bytes| Rc::new(bytes.into())),
            compiled: None,
        }
    }

    #[test]
    fn a_good_table_is_used_for_ten_minutes_and_marked() {
        let (mut kept, now) = (LastGood::default(), Instant::now());
        let broken = || layer(Err("line 3".into()));
        assert!(kept.or_last("k", broken(), now).table.is_err());
        kept.remember(BTreeMap::from([("k".to_string(), Rc::new(layer(Ok(vec![1]))))]));
        let last = kept.or_last("k", broken(), now);
        assert_eq!(
            (last.table.clone(), last.stale.as_deref()),
            (Ok(Rc::new(vec![1].into())), Some("line 3"))
        );
        assert_eq!(kept.or_last("k", layer(Ok(vec![2])), now).stale, None);
        let late = now + KEPT + Duration::from_secs(1);
        assert!(kept.or_last("k", broken(), late).table.is_err());
    }
}
