//! `unused-exception`: the guard it opens is set to `off`, or the two never look at the same call.
//!
//! INVARIANT: told only when no event and no label is common to both.

use super::{Input, tree};
use crate::code::{Code, Sink};
use crate::ir;
use std::collections::BTreeMap;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let blocks = &input.lowered.policy.blocks;
    let mut opened_by: BTreeMap<&str, Vec<(&ir::Block, &ir::Block)>> = BTreeMap::new();
    for block in blocks.iter().filter(|b| b.kind == ir::BlockKind::Exception) {
        let guard = block.opens.and_then(|id| blocks.get(id.0 as usize));
        opened_by.entry(&block.name).or_default().extend(guard.map(|guard| (block, guard)));
    }
    for exception in &input.plan.exceptions {
        let Some((tree, to)) = tree(exception).and_then(|t| Some((t, t.to.as_ref()?))) else { continue };
        let opened = opened_by.get(exception.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        let why = if opened.is_empty() {
            "set to off"
        } else if opened.iter().all(|(exception, guard)| apart(input, exception, guard)) {
            "never looks at the calls of this exception"
        } else {
            continue;
        };
        sink.push(
            Code::UnusedException
                .warning(format!("exception `{}` opens nothing", tree.name.node), to.span, why)
                .with_help("remove it, or give it the events and labels of its guard"),
        );
    }
}

fn apart(input: &Input<'_>, exception: &ir::Block, guard: &ir::Block) -> bool {
    let (Some(a), Some(b)) = (input.scope(exception), input.scope(guard)) else { return false };
    let none_common = |a: &[String], b: &[String]| !a.iter().any(|x| b.contains(x));
    none_common(&a.events, &b.events)
        || (!a.labels.is_empty() && !b.labels.is_empty() && none_common(&a.labels, &b.labels))
}
