//! `no-budget`: payments are looked at one by one, and nothing adds all of them up.
//!
//! INVARIANT: told once, about the first guard that the user wrote; a budget that is each session's or each payee's own is none, since
//! an agent can begin another session and find another payee. In a managed file it is an error.

use super::{Input, tree};
use crate::LayerKind;
use crate::code::{Code, Sink};
use crate::ir;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let policy = &input.lowered.policy;
    let budget = policy.tails.iter().any(|tail| {
        let limit = tail.limit.as_ref().filter(|limit| limit.measure == ir::Measure::Spend);
        let verb = policy.lines.get(tail.line.0 as usize).map(|line| line.verb);
        limit.is_some_and(|limit| {
            matches!(limit.window, ir::Window::Seconds(_)) && matches!(limit.by, ir::By::All | ir::By::Tool)
        }) && matches!(verb, Some(ir::Verb::Deny | ir::Verb::Ask))
    });
    if budget {
        return;
    }
    let first = input
        .blocks()
        .filter(|pair| pair.block.kind == ir::BlockKind::Guard && pair.instance.user)
        .filter_map(|pair| tree(pair.instance))
        .find(|tree| crate::lower::payment::pays(&tree.lines));
    let Some(guard) = first else { return };
    let (message, label) = ("payments are limited one by one, and no budget holds them all", "no budget");
    let told = match input.kind {
        LayerKind::Managed => Code::NoBudget.error(message, guard.name.span, label),
        _ => Code::NoBudget.warning(message, guard.name.span, label),
    };
    sink.push(told.with_help(
        "add a line such as `deny spend over 50 USDC per 1d`, without `by payee` or `by session`",
    ));
}
