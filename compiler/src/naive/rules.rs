//! What the rules say: "Rules" of `docs/semantics.md`.
//!
//! INVARIANT: each rule in scope is asked for each value, in order.

use super::{DEFAULT, Key, Naive, RULE, Value, default, holder, known, said};
use crate::ir::{BlockKind, Kind, Line, LineId, Matcher, Verb};
use policy_runtime::facts::{Origin, ToolName};
use policy_runtime::run_match::Match;
use policy_runtime::verdict::Decision;

impl Naive<'_> {
    pub(super) fn rules(&mut self, tool: &ToolName) {
        let facts = self.facts;
        let top = |origin: &Origin| holder(origin).is_none();
        let mut values: Vec<Value> = Vec::new();
        let paths = (0..facts.paths.len()).filter(|i| known(&facts.paths[*i].names));
        values.extend(paths.clone().filter(|i| top(&facts.paths[*i].origin)).map(Value::Path));
        let domains = 0..facts.domains.len();
        values.extend(domains.clone().filter(|i| top(&facts.domains[*i].origin)).map(Value::Domain));
        let unknown = facts.paths.iter().any(|p| top(&p.origin));
        let mut judged = values.clone();
        for index in 0..facts.commands.len() {
            judged.push(Value::Command(index));
        }
        let in_scope: Vec<usize> = self.scope(BlockKind::Rule, tool).into_iter().map(|(b, _)| b).collect();
        for index in 0..facts.args.len() {
            let value = Value::Arg(index);
            if in_scope.iter().any(|b| self.lines(*b).any(|(_, l)| self.is_about(l, value, true))) {
                judged.push(value);
            }
        }
        let mut extra = Vec::new();
        for value in judged.clone() {
            let block = self.rule(&in_scope, value);
            if let (Value::Command(command), Some(block)) = (value, block) {
                let inside = |origin: &Origin| holder(origin) == Some(command);
                let has = |kind: Kind| self.lines(block).any(|(_, l)| l.kind == kind);
                if has(Kind::Path) {
                    extra.extend(paths.clone().filter(|i| inside(&facts.paths[*i].origin)).map(Value::Path));
                }
                if has(Kind::Domain) {
                    extra.extend(
                        domains.clone().filter(|i| inside(&facts.domains[*i].origin)).map(Value::Domain),
                    );
                }
            }
        }
        for value in &extra {
            self.rule(&in_scope, *value);
        }
        judged.extend(extra);
        if judged.is_empty() && !unknown {
            self.rule(&in_scope, Value::Call);
        }
        self.rules_without_value(&in_scope, &judged);
    }

    /// "The first with an answer decides"; the block that answered.
    fn rule(&mut self, in_scope: &[usize], value: Value) -> Option<usize> {
        let policy = self.policy;
        let mut strictest: Option<(Key, Option<usize>)> = None;
        let inside: Vec<usize> = in_scope
            .iter()
            .copied()
            .filter(|b| self.strict(&policy.blocks[*b], value) == Match::Certain)
            .collect();
        if in_scope
            .iter()
            .any(|b| self.strict(&policy.blocks[*b], value) == Match::Possible && self.answers(*b))
        {
            self.floor();
        }
        for name in 0..self.names(value) {
            let mut answer: Key = (default(policy), DEFAULT, true, 0);
            let mut by = None;
            for block in &inside {
                let hits = self.hits(*block, value, name);
                // A deny first, then the longest: the order of the patterns says so.
                let verb = |line: &LineId| policy.lines[line.0 as usize].verb;
                let hits = hits.iter().filter(|(_, line, _)| !matches!(verb(line), Verb::Warn | Verb::Info));
                let sure = hits.clone().filter(|h| h.2 == Match::Certain).max_by_key(|h| h.0);
                let possible = hits.clone().filter(|h| h.2 == Match::Possible).max_by_key(|h| h.0);
                let only =
                    self.lines(*block).any(|(_, l)| l.verb == Verb::Only && self.is_about(l, value, true));
                let otherwise = self.otherwise(*block);
                let certain = match (sure, only, otherwise) {
                    (Some((index, line, _)), _, _) => Some((said(verb(line)), 2 * index + 2)),
                    (None, true, _) => Some((Decision::Deny, self.miss(*block))),
                    (None, false, Some((decision, index))) => Some((decision, 2 * index + 2)),
                    (None, false, None) => None,
                };
                let above = certain.map_or(0, |c| c.1);
                if let Some((index, ..)) = possible.filter(|h| 2 * h.0 + 2 > above) {
                    // It would decide if it matched; what holds otherwise is looked for further on.
                    let ask = ((Decision::Ask, RULE, false, 2 * index + 2), Some(*block));
                    if strictest.as_ref().is_none_or(|old| ask.0 > old.0) {
                        strictest = Some(ask);
                    }
                }
                if let Some((decision, rank)) = certain {
                    (answer, by) = ((decision, RULE, true, rank), Some(*block));
                    break;
                }
            }
            if strictest.as_ref().is_none_or(|old| answer > old.0) {
                strictest = Some((answer, by));
            }
        }
        let (key, block) = strictest?;
        let name = block.map_or("default".to_owned(), |b| policy.blocks[b].name.clone());
        self.found.push((key, name));
        block
    }

    /// A rule whose lines all only report answers nothing.
    fn answers(&self, block: usize) -> bool {
        self.lines(block).any(|(_, l)| !matches!(l.verb, Verb::Warn | Verb::Info))
    }

    pub(super) fn otherwise(&self, block: usize) -> Option<(Decision, usize)> {
        let of_block = |line: LineId| self.policy.lines[line.0 as usize].block.0 as usize == block;
        let patterns = self.policy.patterns.iter().enumerate();
        let mut always = patterns.filter(|(_, p)| p.matcher == Matcher::Always && of_block(p.line));
        always.next_back().map(|(i, p)| (said(self.policy.lines[p.line.0 as usize].verb), i))
    }

    /// Below every pattern of the block but `otherwise`.
    pub(super) fn miss(&self, block: usize) -> usize {
        let line = |index: &usize| &self.policy.lines[self.policy.patterns[*index].line.0 as usize];
        let own = |index: &usize| {
            let last =
                [Verb::OtherwiseAllow, Verb::OtherwiseAsk, Verb::OtherwiseDeny].contains(&line(index).verb);
            line(index).block.0 as usize == block && !last
        };
        (0..self.policy.patterns.len()).find(own).map_or(0, |index| 2 * index + 1)
    }

    /// "A call without any value of the kind of an `only` line is denied, when no earlier rule has an `otherwise`."
    fn rules_without_value(&mut self, in_scope: &[usize], judged: &[Value]) {
        let policy = self.policy;
        let any_only = in_scope.iter().any(|b| self.lines(*b).any(|(_, l)| l.verb == Verb::Only));
        for block in in_scope {
            let lies = self.strict(&policy.blocks[*block], Value::Call);
            if lies == Match::Possible && any_only && self.answers(*block) {
                self.floor();
            }
        }
        for block in in_scope {
            if self.strict(&policy.blocks[*block], Value::Call) != Match::Certain {
                continue;
            }
            let lines: Vec<Line> = self.lines(*block).map(|(_, l)| l.clone()).collect();
            for line in lines.iter().filter(|l| l.verb == Verb::Only) {
                let present = match line.kind {
                    Kind::Command | Kind::Run | Kind::Shell => !self.facts.commands.is_empty(),
                    Kind::Arg => self.facts.args.iter().any(|a| a.name == line.arg),
                    _ => judged.iter().any(|v| self.is_about(line, *v, false)),
                };
                if !present {
                    self.push(Decision::Deny, RULE, true, self.miss(*block), &policy.blocks[*block]);
                }
            }
            if self.otherwise(*block).is_some() {
                return;
            }
        }
    }
}
