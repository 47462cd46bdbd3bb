//! `wide-tool-glob`: a granting rule names its tools by a pattern that matches much more than it seems.
//!
//! INVARIANT: only rules that can allow are told, and only patterns that are open at both ends or nearly empty.

use super::{Input, tree};
use crate::code::{Code, Sink};
use crate::ir;
use policy_grammar::ast;
use std::collections::BTreeSet;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let granting: BTreeSet<ir::BlockId> = input
        .lowered
        .policy
        .lines
        .iter()
        .filter(|l| {
            matches!(l.verb, ir::Verb::OtherwiseAllow)
                || (l.verb == ir::Verb::Allow && l.kind != ir::Kind::Path)
        })
        .map(|l| l.block)
        .collect();
    for pair in input.blocks().filter(|p| p.instance.user && granting.contains(&p.id)) {
        let Some(tree) = tree(pair.instance) else { continue };
        for name in tree.scopes.on.iter().flat_map(|n| &n.names) {
            let ast::NameRef::Quoted(text) = name else { continue };
            let letters = text.node.chars().filter(|c| c.is_alphanumeric()).count();
            let both = text.node.len() > 1 && text.node.starts_with('*') && text.node.ends_with('*');
            if text.node.contains('*') && (both || letters < 3) && tree.scopes.from.is_none() {
                sink.push(
                    Code::WideToolGlob
                        .warning(
                            "a tool pattern matches more than it says",
                            text.span,
                            "any tool with this in its name",
                        )
                        .with_help("name the tools, or leave one end closed (`\"read_*\"`)"),
                );
            }
        }
    }
}
