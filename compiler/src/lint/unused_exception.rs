//! `unused-exception`: the guard it opens is set to `off`, or the two never look at the same call.
//!
//! INVARIANT: told only when no event and no label is common to both.

use super::{Input, tree};
use crate::code::{Code, Sink};
use crate::ir;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    for exception in &input.plan.exceptions {
        let Some((tree, to)) = tree(exception).and_then(|t| Some((t, t.to.as_ref()?))) else { continue };
        let opened: Vec<(&ir::Block, &ir::Block)> = input
            .lowered
            .policy
            .blocks
            .iter()
            .filter(|b| b.kind == ir::BlockKind::Exception && b.name == exception.name)
            .filter_map(|b| Some((b, input.lowered.policy.blocks.get(b.opens?.0 as usize)?)))
            .collect();
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
