//! `default-is-no-floor`: a managed `default deny` does not stop what another layer's rule allows to be asked.
//!
//! INVARIANT: told only in managed files without a last rule for every call.

use super::Input;
use crate::LayerKind;
use crate::code::{Code, Sink};
use crate::ir;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let Some(default) = &input.plan.default else { return };
    let policy = &input.lowered.policy;
    if input.kind != LayerKind::Managed
        || !matches!(policy.default, Some(ir::Default_::Ask | ir::Default_::Deny))
    {
        return;
    }
    let floor = policy.lines.iter().any(|line| {
        let block = policy.blocks.get(line.block.0 as usize);
        let scope = block.and_then(|b| input.scope(b));
        matches!(line.verb, ir::Verb::OtherwiseAsk | ir::Verb::OtherwiseDeny)
            && block.is_some_and(|b| b.withins.is_empty())
            && scope.is_some_and(|s| s.tools == ["*"] && s.labels.is_empty())
    });
    if !floor {
        sink.push(
            Code::DefaultIsNoFloor
                .warning("a default holds only where no layer answers", default.span, "no floor")
                .with_help("end the file with `rule floor { otherwise ask }`"),
        );
    }
}
