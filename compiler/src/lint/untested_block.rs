//! `untested-block`: a block without `expect` and without a `test` that names it or calls its tools.
//!
//! INVARIANT: one advice a file for users; in a built-in pack under test every such block is an error.

use super::{Input, tree};
use crate::LayerKind;
use crate::code::{Code, Sink};
use crate::ir;
use crate::text::{covers, escape};
use policy_grammar::source::Span;
use std::collections::BTreeSet;

/// Blocks that one advice points at.
const MAX_LABELS: usize = 5;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let expects = &input.plan.expects;
    let pack = input.kind == LayerKind::Test && input.lowered.policy.name.starts_with("std/");
    let inline: BTreeSet<&str> = expects.iter().filter_map(|e| e.block.as_deref()).collect();
    let named: BTreeSet<&str> =
        expects.iter().filter_map(|e| e.by.as_ref()).map(|b| b.node.as_str()).collect();
    let called: BTreeSet<String> = expects
        .iter()
        .filter(|e| e.block.is_none())
        .map(|e| {
            let server = e.from.as_ref().map(|f| f.node.to_lowercase()).unwrap_or_default();
            format!("{}\0{}", escape(&server), escape(&e.tool.node.to_lowercase()))
        })
        .take(super::MAX_COMPARED)
        .collect();
    let mut untested: Vec<(Span, &str)> = Vec::new();
    for pair in input.blocks().filter(|p| p.instance.own) {
        let Some(tree) = tree(pair.instance) else { continue };
        let name = tree.name.node.as_str();
        if inline.contains(pair.block.name.as_str()) || named.contains(name) {
            continue;
        }
        let tools = input.scope(pair.block).map(|s| s.tools.as_slice()).unwrap_or_default();
        if called.iter().any(|call| tools.iter().any(|tool| covers(tool, call))) {
            continue;
        }
        let kind = match pair.block.kind {
            ir::BlockKind::Rule => "rule",
            _ => "guard",
        };
        if pack {
            sink.push(
                Code::UntestedBlock
                    .error(format!("{kind} `{name}` has no test"), tree.name.span, "no `expect`")
                    .with_help("add `expect deny TOOL { ... }` at its end"),
            );
        }
        if untested.last().is_none_or(|(span, _)| *span != tree.name.span) {
            untested.push((tree.name.span, name));
        }
    }
    let Some((first, name)) = untested.first().filter(|_| !pack && !expects.is_empty()) else { return };
    let message = match untested.len() {
        1 => format!("block `{name}` has no test"),
        count => format!("{count} blocks have no test"),
    };
    let mut advice = Code::UntestedBlock
        .advice(message, *first, "no `expect`")
        .with_help("add a call that it must decide: `expect deny bash \"...\"`");
    for (span, _) in untested.iter().skip(1).take(MAX_LABELS - 1) {
        advice = advice.with_label(*span, "no `expect`");
    }
    sink.push(advice);
}
