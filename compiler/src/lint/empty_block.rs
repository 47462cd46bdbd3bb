//! `empty-block`: a rule or guard without a line and without `otherwise` says nothing.
//!
//! INVARIANT: told once a block as written.

use super::{Input, tree};
use crate::code::{Code, Sink};
use policy_grammar::source::Span;
use std::collections::BTreeSet;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let mut told: BTreeSet<Span> = BTreeSet::new();
    for pair in input.blocks().filter(|p| p.instance.user) {
        let Some(tree) = tree(pair.instance) else { continue };
        let name = &tree.name;
        if !tree.lines.is_empty() || tree.otherwise.is_some() || !told.insert(name.span) {
            continue;
        }
        sink.push(
            Code::EmptyBlock
                .warning(format!("block `{}` says nothing", name.node), name.span, "no line")
                .with_help("write a line, such as `deny path \"**/.env\"`, or remove the block"),
        );
    }
}
