//! A slow evaluator of the intermediate form, written from `docs/semantics.md`: the oracle of the decision table.
//!
//! INVARIANT: no automata, no index, no groups; every pattern of every block is looked at for every value.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "an oracle for tests; a policy that refers to nothing may stop it"
)]

pub mod generate;
mod glob;
mod pattern;
mod run;
#[cfg(test)]
mod tests;

use crate::ir::{Block, BlockKind, Default_, Kind, Line, LineId, Matcher, Policy, Verb, Within};
use pattern::{data_match, path_match, text_match};
use policy_runtime::facts::{Facts, Form, Origin, PathName, ToolName, Word};
use policy_runtime::fold::fold as fold_text;
use policy_runtime::glob::Syntax;
use policy_runtime::run_match::Match;
use policy_runtime::verdict::Decision;
use std::collections::BTreeSet;

/// What the oracle says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The decision, `observe` left aside.
    pub decision: Decision,
    /// The deciding block, `default` or `built-in`.
    pub rule: String,
    /// Nothing answered and no default is written.
    pub abstains: bool,
}

/// Decision, class (default, rule, floor, guard), certain, rank: the greatest decides.
type Key = (Decision, u8, bool, usize);
const DEFAULT: u8 = 0;
const RULE: u8 = 1;
const MAYBE_GUARD: u8 = 2;
const FLOOR: u8 = 3;
const GUARD: u8 = 4;

/// A path, host, command or argument of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Call,
    Path(usize),
    Domain(usize),
    Command(usize),
    Arg(usize),
}

struct Naive<'a> {
    policy: &'a Policy,
    facts: &'a Facts,
    today: i64,
    found: Vec<(Key, String)>,
}

/// Evaluates a call.
#[must_use]
pub fn evaluate(policy: &Policy, facts: &Facts, today: i64) -> Answer {
    let mut naive = Naive { policy, facts, today, found: Vec::new() };
    let floors = facts.opaque.len()
        + facts.scripts.iter().filter(|s| !s.complete).count()
        + facts.commands.iter().filter(|c| !c.gap.is_empty()).count()
        + facts.paths.iter().filter(|p| !known(&p.names)).count();
    (0..floors).for_each(|_| naive.floor());
    for tool in &facts.readings {
        naive.rules(tool);
        naive.guards(tool);
    }
    let answered = naive.found.iter().any(|((_, class, _, _), _)| *class != DEFAULT);
    let best = naive.found.iter().max_by_key(|(key, _)| *key);
    let (decision, rule) = best.map_or((Decision::Ask, String::new()), |(key, rule)| (key.0, rule.clone()));
    Answer { decision, rule, abstains: !answered && policy.default.is_none() }
}

fn known(names: &[PathName]) -> bool {
    !names.is_empty() && names.iter().all(|n| !n.views.is_empty())
}

impl Naive<'_> {
    fn floor(&mut self) {
        self.found.push(((Decision::Ask, FLOOR, true, 0), "built-in".to_owned()));
    }

    fn push(&mut self, decision: Decision, class: u8, sure: bool, rank: usize, block: &Block) {
        self.found.push(((decision, class, sure, rank), block.name.clone()));
    }

    /// Blocks of a kind that look at this tool, event and caller.
    fn scope(&self, kind: BlockKind, tool: &ToolName) -> Vec<(usize, &Block)> {
        let mut names = vec![format!("{}\0{}", tool.server, tool.tool).to_lowercase()];
        if tool.own {
            names.push(format!("\0{}", tool.tool).to_lowercase());
        }
        let named = |glob: &str| {
            names
                .iter()
                .any(|name| text_match(glob, name, Form::Exact, true, Syntax::Plain) == Match::Certain)
        };
        let looks = |block: &Block| {
            let scope = &self.policy.scopes[block.scope.0 as usize];
            scope.tools.iter().any(|glob| named(&glob.to_lowercase()))
                && scope.events.contains(&self.facts.event)
                && (scope.labels.is_empty() || self.facts.labels.iter().any(|l| scope.labels.contains(l)))
        };
        self.policy.blocks.iter().enumerate().filter(|(_, b)| b.kind == kind && looks(b)).collect()
    }

    fn lines(&self, block: usize) -> impl Iterator<Item = (LineId, &Line)> {
        let lines = (0u32..).zip(&self.policy.lines).filter(move |(_, l)| l.block.0 as usize == block);
        lines.map(|(number, line)| (LineId(number), line))
    }

    // ---- Where a value lies

    /// For rules and exceptions, and for guards.
    fn within(&self, within: &Within, names: &[PathName], form: Form) -> (Match, Match) {
        if !known(names) {
            return (Match::Possible, Match::Possible);
        }
        let one = |name: &PathName| {
            let any = |globs: &[String], grant: bool| {
                let each = globs.iter().map(|g| path_match(g, name, form, grant));
                each.max().unwrap_or_default()
            };
            let maybe = any(&within.include, false) > Match::No && any(&within.exclude, true) == Match::No;
            let out = any(&within.exclude, false);
            let strict = any(&within.include, true) == Match::Certain && out == Match::No;
            // A known file is in or out; only letters in another case keep a guard's `except` from holding.
            let exact = name.views.iter().all(|v| form == Form::Exact && !v.contains(['\u{1}', '\u{2}']));
            let loose = any(&within.include, false) == Match::Certain && (exact || out == Match::No);
            let grade = |sure: bool| if maybe && sure { Match::Certain } else { Match::maybe(maybe) };
            (grade(strict), grade(loose))
        };
        let each: Vec<(Match, Match)> = names.iter().map(one).collect();
        (
            each.iter().map(|m| m.0).min().unwrap_or_default(),
            each.iter().map(|m| m.1).max().unwrap_or_default(),
        )
    }

    fn dir(&self, within: &Within, dir: &PathName) -> (Match, Match) {
        self.within(within, std::slice::from_ref(dir), Form::Exact)
    }

    fn path_within(&self, within: &Within, index: usize) -> (Match, Match) {
        let path = &self.facts.paths[index];
        self.within(within, &path.names, path.form)
    }

    /// "The path; for a command its folder and every path it names; else the call's folder."
    fn strict(&self, block: &Block, value: Value) -> Match {
        let one = |within: &Within| match value {
            Value::Path(index) => self.path_within(within, index).0,
            Value::Command(index) => {
                let command = &self.facts.commands[index];
                let paths = command.paths.iter().map(|p| self.path_within(within, *p as usize).0);
                paths.fold(self.dir(within, &command.dir).0, Match::min)
            }
            _ => self.dir(within, &self.facts.dir).0,
        };
        block.withins.iter().map(|w| one(&self.policy.withins[w.0 as usize])).min().unwrap_or(Match::Certain)
    }

    /// One place of the value is enough for all conditions.
    fn loose(&self, block: &Block, value: Value) -> Match {
        let facts = self.facts;
        let all = |place: &dyn Fn(&Within) -> Match| {
            block
                .withins
                .iter()
                .map(|w| place(&self.policy.withins[w.0 as usize]))
                .min()
                .unwrap_or(Match::Certain)
        };
        let path = |index: usize| all(&|w| self.path_within(w, index).1);
        let command = |index: usize| {
            let command = &facts.commands[index];
            let paths = command.paths.iter().map(|p| path(*p as usize));
            paths.fold(all(&|w| self.dir(w, &command.dir).1), Match::max)
        };
        match value {
            Value::Path(index) => path(index),
            Value::Command(index) => command(index),
            Value::Domain(index) if let Some(holder) = holder(&facts.domains[index].origin) => {
                command(holder)
            }
            _ => {
                let paths = (0..facts.paths.len()).filter(|p| known(&facts.paths[*p].names)).map(path);
                let places: Vec<Match> = paths.chain((0..facts.commands.len()).map(command)).collect();
                places.into_iter().max().unwrap_or_else(|| all(&|w| self.dir(w, &facts.dir).1))
            }
        }
    }

    // ---- Matching

    /// The names of a value: what is judged one by one.
    fn names(&self, value: Value) -> usize {
        match value {
            Value::Path(index) => self.facts.paths[index].names.len(),
            _ => 1,
        }
    }

    fn matches(&self, matcher: &Matcher, grant: bool, value: Value, name: usize) -> Match {
        let facts = self.facts;
        match (matcher, value) {
            (Matcher::Path(g), Value::Path(i)) => {
                let path = &facts.paths[i];
                path_match(g, &path.names[name], path.form, grant)
            }
            (Matcher::Domain(g), Value::Domain(i)) => {
                text_match(g, &facts.domains[i].host, facts.domains[i].form, grant, Syntax::Plain)
            }
            (Matcher::Arg(g), Value::Arg(i)) => {
                let text = format!("{}\0{}", facts.args[i].name, facts.args[i].value);
                text_match(g, &text, Form::Exact, grant, Syntax::Plain)
            }
            (Matcher::Command(g), Value::Command(i)) => {
                let command = &facts.commands[i];
                let exact = command.words.iter().all(|w| matches!(w, Word::Known(_)));
                if grant && !(command.plain && command.gap.is_empty() && (exact || command.unknown_is_data)) {
                    return Match::No;
                }
                match exact {
                    true => text_match(g, &command.text, Form::Exact, grant, Syntax::Plain),
                    false if grant => Match::sure(data_match(g, &command.text)),
                    false => text_match(g, &command.text, Form::Glob, grant, Syntax::Plain),
                }
            }
            (Matcher::Run(pattern), Value::Command(i)) => {
                if grant {
                    Match::sure(run::grants(pattern, facts, i))
                } else {
                    run::refuses(pattern, facts, i)
                }
            }
            (Matcher::Shell(mask), Value::Command(i)) => {
                let command = &facts.commands[i];
                let script = facts.scripts.get(command.script as usize).map_or(0, |s| s.features);
                let own = facts.commands.iter().filter(|c| c.script == command.script);
                let leftover = script & !own.fold(0, |mask, c| mask | c.features);
                let hit = (command.features | leftover) & mask != 0;
                Match::sure(hit && (!grant || (command.plain && command.gap.is_empty())))
            }
            _ => Match::No,
        }
    }

    /// "The line does not match a value that its `except` matches."
    fn voided(&self, line: LineId, value: Value, name: usize) -> bool {
        self.policy.excepts.iter().filter(|e| e.line == line).any(|e| match (&e.matcher, value) {
            (Matcher::Always, _) => true,
            (Matcher::Shell(_), _) => self.matches(&e.matcher, false, value, name) > Match::No,
            (matcher, _) => {
                let found = self.matches(matcher, e.grant, value, name);
                if e.grant { found == Match::Certain } else { found > Match::No }
            }
        })
    }

    /// Patterns of a block that match one name: index, line, how surely.
    fn hits(&self, block: usize, value: Value, name: usize) -> Vec<(usize, LineId, Match)> {
        let mut out = Vec::new();
        for (index, pattern) in self.policy.patterns.iter().enumerate() {
            if self.policy.lines[pattern.line.0 as usize].block.0 as usize != block {
                continue;
            }
            let found = self.matches(&pattern.matcher, pattern.grant, value, name);
            if found > Match::No && !self.voided(pattern.line, value, name) {
                out.push((index, pattern.line, found));
            }
        }
        out
    }

    fn is_about(&self, line: &Line, value: Value, fold: bool) -> bool {
        let same = |a: &str, b: &str| if fold { fold_text(a) == fold_text(b) } else { a == b };
        match (line.kind, value) {
            (Kind::Path, Value::Path(_)) | (Kind::Domain, Value::Domain(_)) => true,
            (Kind::Command | Kind::Run | Kind::Shell, Value::Command(_)) => true,
            (Kind::Arg, Value::Arg(index)) => same(&line.arg, &self.facts.args[index].name),
            _ => false,
        }
    }

    // ---- Rules

    fn rules(&mut self, tool: &ToolName) {
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

    fn otherwise(&self, block: usize) -> Option<(Decision, usize)> {
        let of_block = |line: LineId| self.policy.lines[line.0 as usize].block.0 as usize == block;
        let patterns = self.policy.patterns.iter().enumerate();
        let mut always = patterns.filter(|(_, p)| p.matcher == Matcher::Always && of_block(p.line));
        always.next_back().map(|(i, p)| (said(self.policy.lines[p.line.0 as usize].verb), i))
    }

    /// Below every pattern of the block but `otherwise`.
    fn miss(&self, block: usize) -> usize {
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

    // ---- Guards

    fn guards(&mut self, tool: &ToolName) {
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
            let lies = self.loose(&self.policy.blocks[block], Value::Call);
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

    fn tighten(&mut self, block: usize, verb: Verb, sure: bool, rank: usize) {
        let decision = match verb {
            Verb::Deny if sure => Decision::Deny,
            Verb::Deny | Verb::Ask => Decision::Ask,
            _ => return,
        };
        let block = &self.policy.blocks[block];
        self.push(decision, if sure { GUARD } else { MAYBE_GUARD }, sure, rank, block);
    }

    /// "When the exception is in scope for the same value, or for the command that holds it, and is not over."
    fn opened(&self, guard: usize, value: Value, exceptions: &[usize]) -> bool {
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
            block.opens.is_some_and(|b| b.0 as usize == guard)
                && block.until.is_none_or(|day| self.today <= day)
                && (opens(value) || origin.is_some_and(|command| opens(Value::Command(command))))
        })
    }
}

fn holder(origin: &Origin) -> Option<usize> {
    match origin {
        Origin::Command(index) => Some(*index as usize),
        Origin::Call | Origin::Arg(_) => None,
    }
}

fn default(policy: &Policy) -> Decision {
    match policy.default {
        None | Some(Default_::Host) => Decision::Host,
        Some(Default_::Allow) => Decision::Allow,
        Some(Default_::Ask) => Decision::Ask,
        Some(Default_::Deny) => Decision::Deny,
    }
}

fn said(verb: Verb) -> Decision {
    match verb {
        Verb::Ask | Verb::OtherwiseAsk => Decision::Ask,
        Verb::Deny | Verb::OtherwiseDeny => Decision::Deny,
        _ => Decision::Allow,
    }
}
