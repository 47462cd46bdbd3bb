//! What the guards say, and which exceptions open them: "Guards" of `docs/semantics.md`.
//!
//! INVARIANT: each guard in scope looks at each value.

use super::{GUARD, MAYBE_GUARD, Naive, Value, holder, known};
use crate::ir::{BlockKind, Line, LineId, Matcher, Verb};
use policy_runtime::facts::ToolName;
use policy_runtime::payment::is_of_payment;
use policy_runtime::run_match::Match;
use policy_runtime::verdict::Decision;
use std::collections::BTreeSet;

impl Naive<'_> {
    pub(super) fn guards(&mut self, tool: &ToolName) {
        let facts = self.facts;
        let seen = |i: &usize| {
            let path = &facts.paths[*i];
            known(&path.names) && !(path.access.is_name_only() && holder(&path.origin).is_some())
        };
        let mut values: Vec<Value> = (0..facts.paths.len()).filter(seen).map(Value::Path).collect();
        values.extend((0..facts.domains.len()).map(Value::Domain));
        values.extend((0..facts.commands.len()).map(Value::Command));
        values.extend((0..facts.args.len()).map(Value::Arg));
        let exceptions: Vec<usize> =
            self.scope(BlockKind::Exception, tool).into_iter().map(|(b, _)| b).collect();
        let guards: Vec<usize> = self.scope(BlockKind::Guard, tool).into_iter().map(|(b, _)| b).collect();
        for block in guards {
            for value in &values {
                self.guard(block, *value, &exceptions);
            }
            self.texts(block, &exceptions);
            let lies = self.loose(&self.policy.blocks[block], Value::Call);
            // "Where a line looks at payments and the call has none that can be read, it is at least ask."
            if lies > Match::No
                && self.lines(block).any(|(_, line)| is_of_payment(&line.arg))
                && !facts.args.iter().any(|arg| is_of_payment(&arg.name))
            {
                self.floor();
            }
            if lies == Match::No || self.opened(block, Value::Call, &exceptions) {
                continue;
            }
            let sure = lies == Match::Certain;
            let lines: Vec<(LineId, Line)> = self.lines(block).map(|(n, l)| (n, l.clone())).collect();
            for (index, pattern) in self.policy.patterns.iter().enumerate() {
                if pattern.matcher == Matcher::Always
                    && let Some((_, line)) = lines.iter().find(|(n, _)| *n == pattern.line)
                {
                    self.tighten(block, line.verb, sure, 2 * index + 2);
                }
                // "A text without commands has its features all the same."
                let lone = |s: u32| !facts.commands.iter().any(|c| c.script == s);
                let features =
                    (0u32..).zip(&facts.scripts).filter(|(s, _)| lone(*s)).map(|(_, s)| s.features);
                if let Matcher::Shell(mask) = pattern.matcher
                    && features.fold(0, |a, b| a | b) & mask != 0
                    && let Some((_, line)) =
                        lines.iter().find(|(n, l)| *n == pattern.line && l.verb != Verb::Only)
                {
                    self.tighten(block, line.verb, sure, 2 * index + 2);
                }
            }
            for (_, line) in lines.iter().filter(|(_, l)| l.verb == Verb::Only) {
                if !values.iter().any(|v| self.is_about(line, *v, false)) {
                    self.tighten(block, Verb::Deny, sure, self.miss(block));
                }
            }
        }
    }

    fn guard(&mut self, block: usize, value: Value, exceptions: &[usize]) {
        let lies = self.loose(&self.policy.blocks[block], value);
        if !self.policy.blocks[block].withins.is_empty() {
            self.count(|| format!("within: Guard {lies:?}"));
        }
        if lies == Match::No || self.opened(block, value, exceptions) {
            return;
        }
        let mut held: Option<BTreeSet<u32>> = None;
        for name in 0..self.names(value) {
            let mut here = BTreeSet::new();
            for (index, line, found) in self.hits(block, value, name) {
                match self.policy.lines[line.0 as usize].verb {
                    Verb::Only => {
                        here.insert(line.0);
                    }
                    verb => self.tighten(block, verb, found.min(lies) == Match::Certain, 2 * index + 2),
                }
            }
            held = Some(held.map_or(here.clone(), |old| old.intersection(&here).copied().collect()));
        }
        let held = held.unwrap_or_default();
        let lines: Vec<(LineId, Line)> = self.lines(block).map(|(n, l)| (n, l.clone())).collect();
        for (number, line) in lines.iter().filter(|(_, l)| l.verb == Verb::Only) {
            if self.is_about(line, value, true) && !held.contains(&number.0) {
                self.tighten(block, Verb::Deny, lies == Match::Certain, self.miss(block));
            }
        }
    }

    pub(super) fn tighten(&mut self, block: usize, verb: Verb, sure: bool, rank: usize) {
        let decision = match verb {
            Verb::Deny if sure => Decision::Deny,
            Verb::Deny | Verb::Ask => Decision::Ask,
            _ => return,
        };
        let block = &self.policy.blocks[block];
        self.push(decision, if sure { GUARD } else { MAYBE_GUARD }, sure, rank, block);
    }

    /// "When the exception is in scope for the same value, or for the command that holds it, and is not over."
    pub(super) fn opened(&self, guard: usize, value: Value, exceptions: &[usize]) -> bool {
        let origin = match value {
            Value::Path(index) => holder(&self.facts.paths[index].origin),
            Value::Domain(index) => holder(&self.facts.domains[index].origin),
            _ => None,
        };
        exceptions.iter().any(|index| {
            let block = &self.policy.blocks[*index];
            let opens = |value: Value| {
                let names = self.names(value);
                let always = self.otherwise(*index).is_some();
                let all = value != Value::Call
                    && (0..names).all(|n| self.hits(*index, value, n).iter().any(|h| h.2 == Match::Certain));
                self.strict(block, value) == Match::Certain && (always || all)
            };
            let holds = block.opens.is_some_and(|b| b.0 as usize == guard)
                && (opens(value) || origin.is_some_and(|command| opens(Value::Command(command))));
            let over = block.until.is_some_and(|day| self.today > day);
            if holds {
                let day = block.until.map(|_| if over { "over" } else { "not yet over" });
                self.count(|| format!("opens: {}, {}", value.word(), day.unwrap_or("no date")));
            }
            holds && !over
        })
    }
}
