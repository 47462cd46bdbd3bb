//! `shadowed-rule`: every tool of a rule is already answered by earlier rules with `otherwise`.
//!
//! INVARIANT: only rules that answer every call of their tools shadow: no file condition, and all labels and events.

use super::{Input, MAX_COMPARED, tree};
use crate::code::{Code, Sink};
use crate::ir;
use crate::text::covers;
use policy_grammar::source::Span;
use std::collections::BTreeMap;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let answers: Vec<ir::BlockId> = input
        .lowered
        .policy
        .lines
        .iter()
        .filter(|l| {
            matches!(l.verb, ir::Verb::OtherwiseAllow | ir::Verb::OtherwiseAsk | ir::Verb::OtherwiseDeny)
        })
        .map(|l| l.block)
        .collect();
    let mut exact: BTreeMap<&str, (Span, &str)> = BTreeMap::new();
    let mut globs: Vec<(&str, Span, &str)> = Vec::new();
    for pair in input.blocks().filter(|p| p.block.kind == ir::BlockKind::Rule) {
        let Some(scope) = input.scope(pair.block) else { continue };
        let Some(tree) = tree(pair.instance) else { continue };
        let span = tree.scopes.on.as_ref().or(tree.scopes.from.as_ref()).map_or(tree.name.span, |n| n.span);
        let taken = |tool: &String| {
            exact.get(tool.as_str()).copied().or_else(|| {
                globs.iter().find(|(glob, ..)| covers(glob, tool)).map(|(_, span, name)| (*span, *name))
            })
        };
        let takers: Option<Vec<(Span, &str)>> = scope.tools.iter().map(taken).collect();
        if pair.instance.user
            && scope.events == ["pre_tool_use"]
            && let Some(takers) = takers
            && let Some((first, name)) = takers.first()
        {
            sink.push(
                Code::ShadowedRule
                    .warning(
                        format!("rule `{}` can never decide", tree.name.node),
                        span,
                        "every tool here...",
                    )
                    .with_label(*first, format!("...is already taken by rule `{name}`"))
                    .with_help(format!(
                        "the first rule that has an answer decides; move `{}` above `{name}`",
                        tree.name.node
                    )),
            );
        }
        let whole =
            pair.block.withins.is_empty() && scope.labels.is_empty() && scope.events == ["pre_tool_use"];
        if whole && answers.binary_search(&pair.id).is_ok() {
            for tool in &scope.tools {
                exact.entry(tool).or_insert((span, &tree.name.node));
                if tool.contains('*') && globs.len() < MAX_COMPARED {
                    globs.push((tool, span, &tree.name.node));
                }
            }
        }
    }
}
