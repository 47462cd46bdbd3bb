//! `set NAME to off | ask | deny`.
//!
//! INVARIANT: a block that is always on is never set; a `set` that changes nothing is an error.

use super::{Around, Body, Instance, Plan, SetItem, ignored, in_project};
use crate::code::{Code, Sink};
use crate::ir;
use crate::resolve::Resolved;
use crate::text::nearest;
use policy_grammar::ast;
use policy_grammar::source::{Span, Spanned};
use std::collections::{BTreeMap, BTreeSet};

impl<'a> Plan<'a> {
    /// Takes a `set`.
    pub(super) fn set(
        &mut self,
        target: &'a ast::Text,
        to: &'a Spanned<ast::SetTo>,
        span: Span,
        around: &Around<'_>,
        sink: &mut Sink,
    ) {
        if around.in_project {
            in_project("set", span, sink);
        } else if !around.trusted {
            ignored(sink, "`set` is ignored".to_owned(), span);
        } else if let Some(first) = self.sets.get(target.node.as_str()) {
            sink.push(
                Code::SetTwice
                    .error(format!("`{}` is set twice", target.node), first.target.span, "first here")
                    .with_label(target.span, "again here")
                    .with_help("remove one of them"),
            );
        } else {
            self.sets.insert(&target.node, SetItem { target, to });
        }
    }

    /// Does what every `set` says.
    pub(super) fn apply_sets(&mut self, resolved: &Resolved, sink: &mut Sink) {
        let sets = std::mem::take(&mut self.sets);
        let mut found: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
        for instance in self.rules.iter().chain(&self.guards).filter(|i| matches!(i.body, Body::Block(_))) {
            if let Some((name, _)) = sets.get_key_value(instance.name.as_str()) {
                let (rule, always) = found.entry(name).or_default();
                *rule |= instance.kind == ir::BlockKind::Rule;
                *always |= instance.always;
            }
        }
        let mut effects: BTreeMap<&str, (ast::Effect, Span)> = BTreeMap::new();
        let mut off: BTreeSet<&str> = BTreeSet::new();
        for (name, set) in &sets {
            match (found.get(name), set.to.node) {
                (None, _) => self.unknown_set(*set, resolved, sink),
                (Some((_, true)), _) => sink.push(
                    Code::ProtectedBlock
                        .error(format!("`{name}` is always on"), set.target.span, "cannot be set")
                        .with_help("it holds what holds the agent; remove this line"),
                ),
                (Some(_), ast::SetTo::Off) => {
                    off.insert(name);
                }
                (Some((rule, _)), ast::SetTo::Effect(effect)) if !set_fits(effect, *rule) => {
                    let kind = if *rule { "rule" } else { "guard" };
                    let message = format!("a {kind} cannot be set to {}", effect.word());
                    sink.push(
                        Code::SetToEffect
                            .error(message, set.to.span, "does not fit")
                            .with_help("write `off`, `ask` or `deny`"),
                    );
                }
                (Some(_), ast::SetTo::Effect(effect)) => {
                    effects.insert(name, (effect, set.to.span));
                }
            }
        }
        self.rules.retain(|i| !off.contains(i.name.as_str()));
        self.guards.retain(|i| !off.contains(i.name.as_str()));
        for instance in self.rules.iter_mut().chain(&mut self.guards) {
            let Some((effect, span)) = effects.get(instance.name.as_str()) else { continue };
            instance.set = Some(*effect);
            if *effect != ast::Effect::Deny && has_only(instance) {
                let message = format!("`{}` has an `only` line, which always denies", instance.name);
                sink.push(
                    Code::SetOnlyLine
                        .error(message, *span, "does not fit")
                        .with_help("write `off` or `deny`"),
                );
            }
        }
        self.off = off.into_iter().map(str::to_owned).collect();
    }

    fn unknown_set(&self, set: SetItem<'_>, resolved: &Resolved, sink: &mut Sink) {
        let name = &set.target.node;
        if sink.full() {
            sink.count();
            return;
        }
        let pack = name.rsplit_once('/').map(|(pack, _)| pack);
        if pack.is_some_and(|pack| resolved.unknown.iter().any(|u| u == pack)) {
            return;
        }
        if let Some(pack) = pack
            && crate::packs::pack(pack).is_some()
            && !resolved.units.iter().any(|u| u.prefix.trim_end_matches('/') == pack)
        {
            sink.push(
                Code::UnusedPack
                    .error(format!("pack `{pack}` is not used"), set.target.span, "nothing to set")
                    .with_help(format!("write `use {pack}` above, or remove this line")),
            );
            return;
        }
        let names: Vec<&str> = self.rules.iter().chain(&self.guards).map(|i| i.name.as_str()).collect();
        let error = Code::UnknownBlock.error(
            format!("no block is named `{name}`"),
            set.target.span,
            "nothing to set",
        );
        let same_end = names.iter().find(|n| n.rsplit('/').next() == Some(name.as_str())).copied();
        let near = nearest(name, names.iter().copied()).or(same_end);
        sink.push(match near {
            Some(near) => error.with_help(format!("write `{near}`")),
            None => error.with_help("`policy explain` lists the blocks of a policy"),
        });
    }
}

/// Whether the lines of a block may have this effect.
fn set_fits(effect: ast::Effect, rule: bool) -> bool {
    match effect {
        ast::Effect::Ask | ast::Effect::Deny => true,
        ast::Effect::Warn | ast::Effect::Info => !rule,
        ast::Effect::Allow => false,
    }
}

fn has_only(instance: &Instance<'_>) -> bool {
    match instance.body {
        Body::Block(block) => block.lines.iter().any(|l| l.verb.node == ast::Verb::Only),
        Body::Default(..) => false,
    }
}
