//! `guards-only`: a tool has guards, but no rule could ever allow it and the default refuses or asks.
//!
//! INVARIANT: told once a tool, and only for names that the user wrote.

use super::{Input, MAX_COMPARED, tree};
use crate::code::{Code, Sink};
use crate::ir;
use crate::text::{covers, escape};
use policy_grammar::ast;
use std::collections::BTreeSet;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let policy = &input.lowered.policy;
    if !matches!(policy.default, Some(ir::Default_::Ask | ir::Default_::Deny)) {
        return;
    }
    let allowing: BTreeSet<ir::BlockId> = policy
        .lines
        .iter()
        .filter(|l| matches!(l.verb, ir::Verb::Allow | ir::Verb::Only | ir::Verb::OtherwiseAllow))
        .map(|l| l.block)
        .collect();
    let mut exact: BTreeSet<&str> = BTreeSet::new();
    let mut globs: Vec<&str> = Vec::new();
    for pair in input.blocks().filter(|p| p.block.kind == ir::BlockKind::Rule && allowing.contains(&p.id)) {
        for tool in input.scope(pair.block).iter().flat_map(|s| &s.tools) {
            exact.insert(tool);
            if tool.contains('*') && globs.len() < MAX_COMPARED {
                globs.push(tool);
            }
        }
    }
    let mut told: BTreeSet<String> = BTreeSet::new();
    for pair in input.blocks().filter(|p| p.block.kind == ir::BlockKind::Guard && p.instance.user) {
        let Some(tree) = tree(pair.instance).filter(|t| t.scopes.from.is_none() && t.scopes.at.is_none())
        else {
            continue;
        };
        for name in tree.scopes.on.iter().flat_map(|n| &n.names) {
            let ast::NameRef::Bare(name) = name else { continue };
            let tool = format!("\0{}", escape(&name.node.to_lowercase()));
            let spelled = crate::pattern::tool::splits(&name.node.to_lowercase());
            let reached = !spelled.is_empty()
                || exact.contains(tool.as_str())
                || globs.iter().any(|glob| covers(glob, &tool));
            if !reached && told.insert(tool) {
                let default = if policy.default == Some(ir::Default_::Deny) { "denied" } else { "asked" };
                sink.push(
                    Code::GuardsOnly
                        .advice(format!("no rule can allow `{}`", name.node), name.span, "guards only")
                        .with_help(format!(
                            "every call of it is {default} by the default; add a rule if some should pass"
                        )),
                );
            }
        }
    }
}
