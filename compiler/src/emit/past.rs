//! Limits, conditions and facts of the past as records.
//!
//! INVARIANT: numbers of records are numbers of the policy; a line without a record asks nothing of the past.

use super::content::Needles;
use super::programs::halves;
use super::sets::Sets;
use super::store::Store;
use super::{matcher_words, more};
use crate::ir::{Policy, Window};
use policy_runtime::table::layout::{Section, window};

/// Whether a decision may need the record of a session.
pub(super) fn needs_store(policy: &Policy) -> bool {
    policy.tails.iter().any(|tail| {
        tail.flags
            || tail.condition.is_some()
            || tail.hours.is_some()
            || tail
                .limit
                .as_ref()
                .is_some_and(|limit| limit.window != Window::Call || limit.measure.of_ledger())
    })
}

pub(super) fn write(policy: &Policy, (sets, needles): (&Sets<'_>, &Needles<'_>), store: &mut Store) {
    for tail in &policy.tails {
        let mut row = Vec::with_capacity(16);
        match &tail.limit {
            Some(limit) => {
                let (kind, value) = match limit.window {
                    Window::Call => (window::CALL, 0),
                    Window::Seconds(seconds) => (window::SECONDS, seconds),
                    Window::Session => (window::SESSION, 0),
                    Window::Since(past) => (window::SINCE, past),
                };
                let shown = store.text(&limit.shown);
                row.extend([limit.measure as u32 + 1, limit.over, kind, value, limit.by as u32]);
                row.extend(halves(limit.key));
                row.extend([shown.first, shown.count]);
            }
            None => row.extend([0; 9]),
        }
        match tail.condition {
            Some(condition) => {
                let kind = 1 + u32::from(condition.unless);
                row.extend([kind, condition.past, more(condition.since), condition.over]);
            }
            None => match &tail.hours {
                Some((outside, hours)) => {
                    let text = store.text(hours);
                    row.extend([3 + u32::from(*outside), text.first, text.count, 0]);
                }
                None => row.extend([0; 4]),
            },
        }
        row.push(u32::from(tail.flags));
        let most = store.text(tail.limit.as_ref().map_or("", |limit| &limit.most));
        row.extend([most.first, most.count]);
        store.record(Section::Tails, &row);
    }
    for past in &policy.pasts {
        let first = store.records(Section::Excepts, 5);
        let mut count = 0;
        for matcher in &past.matchers {
            let [kind, a, b] = matcher_words(matcher, (sets, needles), store);
            store.record(Section::Excepts, &[u32::MAX, kind, 0, a, b]);
            count += 1;
        }
        let text = store.text(&past.text);
        let [low, high] = halves(past.key);
        let first = if count == 0 { 0 } else { first };
        store.record(Section::Pasts, &[past.kind as u32, low, high, first, count, text.first, text.count]);
    }
}
