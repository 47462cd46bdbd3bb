//! A slow evaluator of the intermediate form, written from `docs/semantics.md`: the oracle of the decision table.
//!
//! INVARIANT: no automata, no index, no groups; every pattern of every block is looked at for every value.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "an oracle for tests; a policy that refers to nothing may stop it"
)]

mod content;
pub mod generate;
mod glob;
mod guards;
mod pattern;
mod rules;
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
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What the oracle says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The decision, `observe` left aside.
    pub decision: Decision,
    /// The deciding block, `default` or `built-in`.
    pub rule: String,
    /// Nothing answered and no default is written.
    pub abstains: bool,
    /// Where the pattern that decides was written; `None` when none did (a default, a floor, what an `only` line misses).
    pub line: Option<u32>,
}

/// What was met while evaluating, and how often; for tests that ask whether generated calls meet everything.
pub type Counts = BTreeMap<String, usize>;

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

impl Value {
    fn word(self) -> &'static str {
        match self {
            Value::Call => "call",
            Value::Path(_) => "path",
            Value::Domain(_) => "domain",
            Value::Command(_) => "command",
            Value::Arg(_) => "arg",
        }
    }
}

struct Naive<'a> {
    policy: &'a Policy,
    facts: &'a Facts,
    today: i64,
    found: Vec<(Key, String)>,
    counts: Option<&'a RefCell<Counts>>,
}

/// Evaluates a call.
#[must_use]
pub fn evaluate(policy: &Policy, facts: &Facts, today: i64) -> Answer {
    let facts = &holes_told(facts);
    Naive { policy, facts, today, found: Vec::new(), counts: None }.answer()
}

/// The same, and counts what it meets.
pub fn evaluate_counted(policy: &Policy, facts: &Facts, today: i64, counts: &RefCell<Counts>) -> Answer {
    let facts = &holes_told(facts);
    Naive { policy, facts, today, found: Vec::new(), counts: Some(counts) }.answer()
}

/// "A known value that holds one of the two bytes that mark holes and runs counts as one with holes."
fn holes_told(facts: &Facts) -> Facts {
    let marked = |text: &String| text.contains(['\u{1}', '\u{2}']);
    let mut facts = facts.clone();
    for command in &mut facts.commands {
        for word in &mut command.words {
            let unknown = |text: &str| Word::Unknown { text: text.to_owned(), splits: false };
            match word {
                Word::Known(text) if marked(text) => *word = unknown(&text.clone()),
                Word::OneOf(texts) if texts.iter().any(marked) => *word = unknown("\u{1}"),
                _ => {}
            }
        }
    }
    for path in &mut facts.paths {
        if path.form == Form::Exact
            && (marked(&path.written) || path.names.iter().any(|n| n.views.iter().any(marked)))
        {
            path.form = Form::Holes;
        }
    }
    facts
}

fn known(names: &[PathName]) -> bool {
    !names.is_empty() && names.iter().all(|n| !n.views.is_empty())
}

impl Naive<'_> {
    fn answer(mut self) -> Answer {
        let facts = self.facts;
        let floors = facts.opaque.len()
            + facts.scripts.iter().filter(|s| !s.complete).count()
            + facts.commands.iter().filter(|c| !c.gap.is_empty()).count()
            + facts.paths.iter().filter(|p| !known(&p.names)).count();
        (0..floors).for_each(|_| self.floor());
        for tool in &facts.readings {
            self.rules(tool);
            self.guards(tool);
        }
        let answered = self.found.iter().any(|((_, class, _, _), _)| *class != DEFAULT);
        let best = self.found.iter().max_by_key(|(key, _)| *key);
        let (decision, rule) =
            best.map_or((Decision::Ask, String::new()), |(key, rule)| (key.0, rule.clone()));
        let pattern = best.filter(|(key, _)| key.3 > 0 && key.3 % 2 == 0).map(|(key, _)| key.3 / 2 - 1);
        let line = pattern.map(|index| &self.policy.lines[self.policy.patterns[index].line.0 as usize]);
        if let Some((key, _)) = best {
            self.count(|| match (key.1, line) {
                (_, Some(line)) => {
                    let of = self.policy.blocks[line.block.0 as usize].kind;
                    format!(
                        "decides: {of:?} {:?} {:?} {}",
                        line.verb,
                        line.kind,
                        if key.2 { "Certain" } else { "Possible" }
                    )
                }
                (FLOOR, None) => "decides: floor".to_owned(),
                (DEFAULT, None) => "decides: default".to_owned(),
                (class, None) => {
                    format!("decides: missed only of a {}", if class == RULE { "Rule" } else { "Guard" })
                }
            });
        }
        let line = line.map(|line| line.place.line);
        Answer { decision, rule, abstains: !answered && self.policy.default.is_none(), line }
    }

    fn count(&self, what: impl FnOnce() -> String) {
        if let Some(counts) = self.counts {
            *counts.borrow_mut().entry(what()).or_default() += 1;
        }
    }

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
        let lies = self.strictly(block, value);
        if !block.withins.is_empty() {
            self.count(|| format!("within: {:?} {lies:?}", block.kind));
        }
        lies
    }

    fn strictly(&self, block: &Block, value: Value) -> Match {
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
            let line = &self.policy.lines[pattern.line.0 as usize];
            if self.is_about(line, value, true) {
                let of = self.policy.blocks[block].kind;
                self.count(|| format!("match: {of:?} {:?} {:?} {found:?}", line.verb, line.kind));
            }
            let voided = found > Match::No && self.voided(pattern.line, value, name);
            if voided {
                self.count(|| format!("voided: {:?}, grant {}", line.kind, pattern.grant));
            }
            if found > Match::No && !voided {
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
