//! Lines that share scope, place and role become one group with one automaton for each subject and side.
//!
//! INVARIANT: at decision time no rule is looked at that has no matching pattern.

use super::content::Needles;
use super::runs::runs;
use super::sets::Sets;
use super::store::{Range, Store};
use super::{EmitError, Emitted, MOST_TABLE, automaton};
use crate::automata::Syntax;
use crate::ir::{BlockKind, Kind, LineId, Matcher, Policy, Verb};
use policy_runtime::table::layout::{Section, WIDTH, matcher, role};
use std::collections::{BTreeMap, BTreeSet};

/// Scope, role, withins, opened guard + 1.
type Key = (u32, u32, Vec<u32>, u32);

#[derive(Default)]
struct Draft {
    /// The first line, to point at.
    line: Option<LineId>,
    /// By subject and grant: ranks with their globs.
    globs: BTreeMap<(u32, bool), Vec<(String, u32)>>,
    /// By grant: ranks with their patterns.
    runs: BTreeMap<bool, Vec<(u32, usize)>>,
    excepts: BTreeSet<(u32, bool)>,
    always: Vec<u32>,
    shell: Vec<u32>,
    otherwise: u32,
    miss: [u32; 3],
    args: BTreeMap<String, u32>,
    only: BTreeSet<u32>,
    /// Needle and rank.
    content: Vec<[u32; 2]>,
    checks: Vec<u32>,
}

fn missing() -> EmitError {
    EmitError::new("the policy refers to a line or block that it does not have")
}

/// Writes all groups; the range of each scope.
pub(super) fn groups(
    policy: &Policy,
    emitted: &[Emitted],
    (sets, needles): (&mut Sets<'_>, &Needles<'_>),
    store: &mut Store,
) -> Result<Vec<Range>, EmitError> {
    let voided: BTreeSet<u32> = policy.excepts.iter().map(|e| e.line.0).collect();
    let mut drafts: BTreeMap<Key, Draft> = BTreeMap::new();
    for (rank, pattern) in (1u32..).zip(emitted) {
        let (line, index) = match pattern {
            Emitted::Pattern(index) => (policy.patterns.get(*index).ok_or_else(missing)?.line, Some(*index)),
            Emitted::Miss(line) => (LineId(*line), None),
        };
        let draft = drafts.entry(key(policy, line)?).or_default();
        draft.line.get_or_insert(line);
        match index {
            Some(index) => draft.pattern(policy, (rank, index), voided.contains(&line.0), needles)?,
            None => draft.miss(policy, rank, line)?,
        }
    }
    let mut ranges = vec![Range::default(); policy.scopes.len()];
    for ((scope, role, withins, opens), draft) in drafts {
        let index = store.records(Section::Groups, width(Section::Groups));
        let range = ranges.get_mut(scope as usize).ok_or_else(missing)?;
        if range.count == 0 {
            range.first = index;
        }
        range.count += 1;
        let line = draft.line.and_then(|line| policy.lines.get(line.0 as usize));
        draft.write(policy, emitted, [role, opens], &withins, sets, store)?;
        // Said as soon as it is known: what is written behind this would only take memory.
        if store.bytes() > MOST_TABLE {
            let message =
                format!("the table grows over {MOST_TABLE} bytes; too many blocks have tools of their own");
            return Err(EmitError { place: line.map(|line| line.place), message });
        }
    }
    Ok(ranges)
}

pub(super) fn width(section: Section) -> usize {
    WIDTH.get(section as usize).copied().unwrap_or(1)
}

fn key(policy: &Policy, line: LineId) -> Result<Key, EmitError> {
    let line = policy.lines.get(line.0 as usize).ok_or_else(missing)?;
    let block = policy.blocks.get(line.block.0 as usize).ok_or_else(missing)?;
    let role = match block.kind {
        // A remark inside a rule answers nothing; it is only reported, as in a guard.
        BlockKind::Rule if matches!(line.verb, Verb::Warn | Verb::Info) => role::GUARD,
        BlockKind::Rule => role::RULE,
        BlockKind::Guard => role::GUARD,
        BlockKind::Exception => role::EXCEPTION,
    };
    let mut withins: Vec<u32> = block.withins.iter().map(|w| w.0).collect();
    if withins.iter().any(|w| *w as usize >= policy.withins.len()) {
        return Err(missing());
    }
    withins.sort_unstable();
    withins.dedup();
    let opens = if role == role::EXCEPTION { block.opens.map_or(0, |b| b.0 + 1) } else { 0 };
    Ok((block.scope.0, role, withins, opens))
}

impl Draft {
    fn pattern(
        &mut self,
        policy: &Policy,
        (rank, index): (u32, usize),
        voided: bool,
        needles: &Needles<'_>,
    ) -> Result<(), EmitError> {
        let pattern = policy.patterns.get(index).ok_or_else(missing)?;
        let line = policy.lines.get(pattern.line.0 as usize).ok_or_else(missing)?;
        if line.verb == Verb::Only {
            self.only.insert(pattern.line.0);
        }
        if line.kind == Kind::Arg {
            self.args.entry(line.arg.clone()).or_default();
        }
        let subject = match &pattern.matcher {
            Matcher::Path(_) => matcher::PATH,
            Matcher::Domain(_) => matcher::DOMAIN,
            Matcher::Command(_) => matcher::COMMAND,
            Matcher::Arg(_) => matcher::ARG,
            Matcher::Run(_) => matcher::RUN,
            Matcher::Shell(_) => matcher::SHELL,
            Matcher::Content(..) | Matcher::Secret(..) => matcher::CONTENT,
            Matcher::Check(_) => matcher::CHECK,
            Matcher::Always => matcher::ALWAYS,
        };
        match &pattern.matcher {
            Matcher::Path(glob) | Matcher::Domain(glob) | Matcher::Command(glob) | Matcher::Arg(glob) => {
                let side = (subject, pattern.grant);
                // Refusals are compared in lower case.
                let text = if pattern.grant { glob.clone() } else { policy_runtime::fold::fold(glob) };
                self.globs.entry(side).or_default().push((text, rank));
                if voided {
                    self.excepts.insert(side);
                }
            }
            Matcher::Run(_) => self.runs.entry(pattern.grant).or_default().push((rank, index)),
            Matcher::Shell(_) => self.shell.push(rank),
            Matcher::Content(..) | Matcher::Secret(..) => {
                self.content.push([needles.of_matcher(&pattern.matcher).ok_or_else(missing)?, rank]);
            }
            Matcher::Check(_) => self.checks.push(rank),
            Matcher::Always => {
                self.always.push(rank);
                self.otherwise = self.otherwise.max(rank);
            }
        }
        Ok(())
    }

    fn miss(&mut self, policy: &Policy, rank: u32, line: LineId) -> Result<(), EmitError> {
        self.only.insert(line.0);
        let line = policy.lines.get(line.0 as usize).ok_or_else(missing)?;
        let [path, domain, command] = &mut self.miss;
        let slot = match line.kind {
            Kind::Path => path,
            Kind::Domain => domain,
            Kind::Command | Kind::Run | Kind::Shell => command,
            Kind::Arg => self.args.entry(line.arg.clone()).or_default(),
            Kind::Call | Kind::Content | Kind::Check => return Ok(()),
        };
        *slot = rank.max(*slot);
        Ok(())
    }

    fn write(
        self,
        policy: &Policy,
        emitted: &[Emitted],
        [role, opens]: [u32; 2],
        withins: &[u32],
        sets: &mut Sets<'_>,
        store: &mut Store,
    ) -> Result<(), EmitError> {
        let parts = Range { first: store.records(Section::Parts, width(Section::Parts)), count: 0 };
        let mut count = 0;
        for ((subject, grant), globs) in &self.globs {
            let syntax = if *subject == matcher::PATH { Syntax::Path } else { Syntax::Plain };
            let automaton = automaton(globs, syntax, !grant, store).map_err(|(mut error, rank)| {
                error.place = rank.and_then(|rank| place(policy, emitted, rank));
                error
            })?;
            let ranks: Vec<u32> = globs.iter().map(|(_, rank)| *rank).collect();
            let ranks = store.numbers(&ranks);
            let excepts = u32::from(self.excepts.contains(&(*subject, *grant)));
            let (auto, list) = ([automaton.first, automaton.count], [ranks.first, ranks.count]);
            let [a, b] = auto;
            let [c, d] = list;
            store.record(Section::Parts, &[*subject, u32::from(*grant), excepts, a, b, c, d, 0, 0]);
            count += 1;
        }
        for (grant, own) in &self.runs {
            runs(policy, own, *grant, sets, store)?;
            count += 1;
        }
        let withins = store.numbers(withins);
        let (always, shell) = (store.numbers(&self.always), store.numbers(&self.shell));
        let args_first = store.records(Section::ArgNames, width(Section::ArgNames));
        let mut args = 0;
        for (name, rank) in &self.args {
            let text = store.text(name);
            store.record(Section::ArgNames, &[text.first, text.count, *rank]);
            args += 1;
        }
        let only: Vec<u32> = self.only.into_iter().collect();
        let only = store.numbers(&only);
        let mut content = self.content;
        content.sort_unstable();
        let content = store.numbers(content.as_flattened());
        let checks = store.numbers(&self.checks);
        let [path, domain, command] = self.miss;
        let otherwise = if role == role::RULE { self.otherwise } else { 0 };
        store.record(
            Section::Groups,
            &[
                role,
                withins.first,
                withins.count,
                opens,
                parts.first,
                count,
                always.first,
                always.count,
                shell.first,
                shell.count,
                otherwise,
                path,
                domain,
                command,
                args_first,
                args,
                only.first,
                only.count,
                content.first,
                content.count,
                checks.first,
                checks.count,
            ],
        );
        Ok(())
    }
}

fn place(policy: &Policy, emitted: &[Emitted], rank: u32) -> Option<crate::ir::Place> {
    let Emitted::Pattern(index) = emitted.get(rank.checked_sub(1)? as usize)? else { return None };
    let line = policy.patterns.get(*index)?.line;
    policy.lines.get(line.0 as usize).map(|line| line.place)
}
