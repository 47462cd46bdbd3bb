//! Rules, guards and exceptions.
//!
//! INVARIANT: every rule and guard of the plan gives exactly one block, in the plan's order.

use super::line::{Home, Only};
use super::{Builder, note, seconds};
use crate::code::Code;
use crate::ir;
use crate::packs;
use crate::plan::{Body, Instance, Part, Plan};
use crate::text::nearest;
use policy_grammar::ast;

impl Builder<'_> {
    /// A rule; `number` says how many are asked before it.
    pub(super) fn rule(&mut self, instance: &Instance<'_>, number: usize) {
        let block = self.block(instance);
        let home = Home { instance, block, number };
        match instance.body {
            Body::Block(tree) => {
                let mut only = Only::new();
                for line in &tree.lines {
                    self.line(&home, line, &mut only);
                }
                if let Some(otherwise) = &tree.otherwise {
                    self.otherwise(&home, tree, otherwise);
                }
            }
            Body::Default(effect, span) => {
                let verb = otherwise_verb(effect).unwrap_or(ir::Verb::OtherwiseAsk);
                let text = format!("default {}", effect.word());
                self.always(&home, verb, text, String::new(), String::new(), span);
            }
        }
    }

    fn otherwise(&mut self, home: &Home<'_>, tree: &ast::Block, otherwise: &ast::Otherwise) {
        let effect = home.instance.set.unwrap_or(otherwise.effect.node);
        let Some(verb) = otherwise_verb(effect) else {
            let effect = &otherwise.effect;
            self.sink.push(
                Code::ReportInRule
                    .error(
                        format!("a rule cannot answer `{}`", effect.node.word()),
                        effect.span,
                        "not an answer",
                    )
                    .with_help("write `allow`, `ask` or `deny`; a guard may `warn` or `info`"),
            );
            return;
        };
        if home.instance.part != Part::All && verb == ir::Verb::OtherwiseAllow {
            return;
        }
        let because = otherwise.because.as_ref().or(tree.because.as_ref());
        let (because, suggest) = (note(because), note(tree.suggest.as_ref()));
        self.always(home, verb, format!("otherwise {}", effect.word()), because, suggest, otherwise.span);
    }

    /// A guard.
    pub(super) fn guard(&mut self, instance: &Instance<'_>) {
        let block = self.block(instance);
        self.guards.entry(instance.name.clone()).or_default().push((
            block,
            instance.folders.clone(),
            instance.always,
        ));
        let home = Home { instance, block, number: 0 };
        if let Body::Block(tree) = instance.body {
            let mut only = Only::new();
            for line in &tree.lines {
                self.line(&home, line, &mut only);
            }
            if let Some(otherwise) = tree.otherwise.as_ref().filter(|_| instance.part == Part::All) {
                let code = policy_grammar::Code::OtherwiseOutsideRule;
                self.misplaced(code, "a guard has no `otherwise`", otherwise.span);
            }
        }
    }

    /// An exception, once for each guard it opens.
    pub(super) fn exception(&mut self, instance: &Instance<'_>, plan: &Plan<'_>) {
        let Body::Block(tree) = instance.body else { return };
        self.complete(tree);
        let Some(to) = &tree.to else { return };
        let targets = self.targets(instance, to, plan);
        for target in targets {
            if self.spend(1, instance.span()) {
                return;
            }
            let block = self.block(instance);
            if let Some(slot) = self.policy.blocks.get_mut(block.0 as usize) {
                slot.opens = Some(target);
                slot.until = tree.until.as_ref().map(|u| u.node.days_since_epoch());
                slot.owner = note(tree.owner.as_ref());
            }
            let home = Home { instance, block, number: 0 };
            for line in &tree.lines {
                self.line(&home, line, &mut Only::new());
            }
        }
    }

    fn complete(&mut self, tree: &ast::Block) {
        let missing: Vec<&str> = [
            ("owner \"team\"", tree.owner.is_none()),
            ("until 2027-06-30", tree.until.is_none()),
            ("because \"...\"", tree.because.is_none()),
            ("to GUARD", tree.to.is_none()),
            ("open ...", tree.lines.is_empty()),
        ]
        .into_iter()
        .filter(|(_, missing)| *missing)
        .map(|(text, _)| text)
        .collect();
        if !missing.is_empty() {
            let message = format!("exception `{}` is not complete", tree.name.node);
            self.sink.push(
                Code::ExceptionIncomplete
                    .error(message, tree.name.span, "who, how long and why must be said")
                    .with_help(format!("add `{}`", missing.join("`, `"))),
            );
        }
    }

    /// The guards an exception opens: of its own project, else of the whole layer.
    fn targets(&mut self, instance: &Instance<'_>, to: &ast::Text, plan: &Plan<'_>) -> Vec<ir::BlockId> {
        let prefix = instance.name.rsplit_once('/').map(|(p, _)| format!("{p}/")).unwrap_or_default();
        let names = [to.node.clone(), format!("{prefix}{}", to.node)];
        let found = names.iter().find_map(|name| self.guards.get(name)).cloned().unwrap_or_default();
        if found.is_empty() {
            if names.iter().any(|name| plan.off.contains(name)) {
                // Told by the lint `unused-exception`.
                return Vec::new();
            }
            if self.sink.full() {
                self.sink.count();
                return Vec::new();
            }
            let error = if plan.rules.iter().any(|r| names.contains(&r.name)) {
                Code::NotAGuard
                    .error(format!("`{}` is a rule", to.node), to.span, "not a guard")
                    .with_help("exceptions open guards; add an `allow` line to the rule instead")
            } else {
                let all = self.guards.keys().map(String::as_str);
                let error = Code::UnknownGuard.error(
                    format!("no guard is named `{}`", to.node),
                    to.span,
                    "not a guard of this layer",
                );
                match nearest(&to.node, all.clone()).or_else(|| {
                    self.guards.keys().map(String::as_str).find(|n| n.rsplit('/').next() == Some(&to.node))
                }) {
                    Some(near) => error.with_help(format!("write `{near}`")),
                    None => error.with_help(match packs::of_block(&to.node) {
                        Some(pack) => {
                            format!("write `use {pack}` above: an exception opens a guard of its own layer")
                        }
                        None => "an exception opens a guard of its own layer, by its full name".to_owned(),
                    }),
                }
            };
            self.sink.push(error);
            return Vec::new();
        }
        if found.iter().any(|(_, _, always)| *always) {
            self.sink.push(
                Code::ProtectedBlock
                    .error(format!("`{}` is always on", to.node), to.span, "cannot be opened")
                    .with_help("it holds what holds the agent; remove this exception"),
            );
            return Vec::new();
        }
        let near: Vec<_> =
            found.iter().filter(|(_, f, _)| *f == instance.folders).map(|(b, ..)| *b).collect();
        if near.is_empty() { found.iter().map(|(b, ..)| *b).collect() } else { near }
    }

    fn block(&mut self, instance: &Instance<'_>) -> ir::BlockId {
        let (scope, withins) = self.scope(instance);
        if let Body::Block(tree) = &instance.body
            && super::payment::pays(&tree.lines)
            && let Some(none) = tree.ask_timeout.as_ref().or(self.ask_timeout).filter(|own| own.node == 0)
        {
            self.sink.push(
                Code::BadLimit
                    .error("nobody can look at a payment in no time", none.span, "too short")
                    .with_help(
                        "write how long a person has, such as `ask timeout 15m`; to ask nobody write `deny`",
                    ),
            );
        }
        let (because, suggest, ask_timeout, page_only) = match instance.body {
            Body::Block(tree) => (
                note(tree.because.as_ref()),
                note(tree.suggest.as_ref()),
                tree.ask_timeout.as_ref().map(|s| seconds(s.node)),
                tree.ask_via.is_some(),
            ),
            Body::Default(..) => (String::new(), String::new(), None, false),
        };
        let id = ir::BlockId(super::number(self.policy.blocks.len()));
        let place = self.place(instance.span());
        self.policy.blocks.push(ir::Block {
            kind: instance.kind,
            name: instance.name.clone(),
            place,
            scope,
            withins,
            because,
            suggest,
            ask_timeout: ask_timeout.filter(|_| instance.trusted),
            page_only,
            opens: None,
            until: None,
            owner: String::new(),
        });
        id
    }
}

/// The verb of an `otherwise`; none for what a rule cannot answer.
fn otherwise_verb(effect: ast::Effect) -> Option<ir::Verb> {
    match effect {
        ast::Effect::Allow => Some(ir::Verb::OtherwiseAllow),
        ast::Effect::Ask => Some(ir::Verb::OtherwiseAsk),
        ast::Effect::Deny => Some(ir::Verb::OtherwiseDeny),
        ast::Effect::Warn | ast::Effect::Info => None,
    }
}
