//! `expired-exception`: its last day is over, so it opens nothing.
//!
//! INVARIANT: an exception holds through its last day.

use super::{Input, tree};
use crate::code::{Code, Sink};

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    for tree in input.plan.exceptions.iter().filter_map(tree) {
        let Some(until) = tree.until.as_ref().filter(|u| u.node.days_since_epoch() < input.today) else {
            continue;
        };
        let owner = tree.owner.as_ref().map_or("its owner", |o| &o.node);
        sink.push(
            Code::ExpiredException
                .warning(
                    format!("exception `{}` is over", tree.name.node),
                    until.span,
                    "the last day it held",
                )
                .with_help(format!("remove it, or ask {owner} for a new date")),
        );
    }
}
