//! One value against the matchers of one group.
//!
//! INVARIANT: no loop over patterns but for values that are not exactly known and for the few candidates of an index;
//! all work counts against one allowance, and when it is used up the value counts as not understood.

use super::candidates::Keys;
use super::views::View;
use super::{Stop, same};
use crate::automaton::{self, Automaton, Scratch};
use crate::bytes::Bytes;
use crate::facts::Facts;
use crate::glob::{self, Syntax};
use crate::run_match::{Failure, Lists, Match, folded_in, grants, meets, refuses_words};
use crate::table::groups::{Group, Part};
use crate::table::layout::matcher;
use crate::table::records::Matcher;
use crate::table::{Line, Table};
use std::rc::Rc;

/// Steps one decision may take.
const ALLOWANCE: u64 = 64 << 20;

/// Steps that reading one run pattern from the table takes, however little is compared.
const A_PATTERN: u64 = 16;

/// A pattern that matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    pub(super) rank: u32,
    pub(super) sure: bool,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Path,
    Domain,
    Arg,
    /// The command with this number.
    Command(usize),
}

/// Table, facts and memory for matching.
pub(super) struct Matching<'t, 'f> {
    pub(super) table: Table<'t>,
    pub(super) facts: &'f Facts,
    scratch: Scratch,
    left: u64,
    /// The same for values that are not exactly known.
    left_vague: u64,
    /// The value at hand is not exactly known.
    vague: bool,
    /// By script: shell features that none of its commands has.
    leftover: Vec<u32>,
    /// The words of the command at hand, equal ones once.
    words: (usize, Vec<usize>),
    /// The keys of the command at hand.
    keys: Option<(usize, Rc<Keys>)>,
    /// The run patterns, with what is known of the call's paths.
    lists: Lists<'t>,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        match failure {
            Failure::Damaged => Stop::Damaged,
            Failure::Limit => Stop::Limit,
        }
    }
}

fn stop(damaged: automaton::Damaged) -> Stop {
    use automaton::Damaged as D;
    match damaged {
        D::Header | D::Index | D::Probes => Stop::Damaged,
        D::Active | D::Steps | D::Found => Stop::Limit,
    }
}

impl<'t, 'f> Matching<'t, 'f> {
    pub(super) fn new(table: Table<'t>, facts: &'f Facts) -> Matching<'t, 'f> {
        let mut leftover: Vec<u32> = facts.scripts.iter().map(|s| s.features).collect();
        for command in &facts.commands {
            if let Some(mask) = leftover.get_mut(command.script as usize) {
                *mask &= !command.features;
            }
        }
        Matching {
            table,
            facts,
            scratch: Scratch::new(),
            left: ALLOWANCE,
            left_vague: ALLOWANCE,
            vague: false,
            leftover,
            words: (usize::MAX, Vec::new()),
            keys: None,
            lists: Lists::new(table),
        }
    }

    /// Steps that were taken.
    pub(super) fn spent(&self) -> u64 {
        2 * ALLOWANCE - self.left - self.left_vague
    }

    /// Counts the work of comparing two texts.
    pub(super) fn spend(&mut self, pattern: usize, value: usize) -> Result<(), Stop> {
        let cost = (pattern as u64 + 1) * (value as u64 + 1);
        let left = if self.vague { &mut self.left_vague } else { &mut self.left };
        *left = left.checked_sub(cost).ok_or(Stop::Limit)?;
        Ok(())
    }

    /// Whether the value at hand is exactly known.
    ///
    /// SECURITY: globs and holes have an allowance of their own, so that a heap of them cannot use up the work that shows
    /// what is known to be denied.
    pub(super) fn at_hand<'v>(&mut self, mut views: impl Iterator<Item = &'v View<'v>>) {
        self.vague = views.any(|view| view.open.is_some());
    }

    /// Every id of an automaton that matches.
    pub(super) fn each(
        &mut self,
        bytes: Bytes<'_>,
        value: &str,
        found: &mut dyn FnMut(u32),
    ) -> Result<(), Stop> {
        if bytes.len() == 0 {
            return Ok(());
        }
        self.spend(1, value.len())?;
        Automaton::within(bytes)
            .and_then(|a| a.each(value.as_bytes(), &mut self.scratch, found))
            .map_err(stop)
    }

    fn best(&mut self, bytes: Bytes<'_>, value: &str) -> Result<u32, Stop> {
        self.spend(1, value.len())?;
        Automaton::within(bytes).and_then(|a| a.best(value.as_bytes(), &mut self.scratch)).map_err(stop)
    }

    /// The patterns of a group that match one name of a value. Without `all`, of each matcher only the greatest that no
    /// `except` can void, and everything that may be voided.
    pub(super) fn hits(
        &mut self,
        group: &Group,
        subject: Subject,
        views: &[View<'_>],
        all: bool,
        out: &mut Vec<Hit>,
    ) -> Result<(), Stop> {
        for part in self.table.parts(group)? {
            let part = part?;
            match (part.subject, subject) {
                (matcher::PATH, Subject::Path) => self.globs(&part, Syntax::Path, views, all, out)?,
                (matcher::DOMAIN, Subject::Domain)
                | (matcher::ARG, Subject::Arg)
                | (matcher::COMMAND, Subject::Command(_)) => {
                    self.globs(&part, Syntax::Plain, views, all, out)?
                }
                (matcher::RUN, Subject::Command(index)) => self.runs(&part, index, out)?,
                _ => {}
            }
        }
        if let Subject::Command(index) = subject {
            let features = self.features(index);
            self.shell(group, features, index, out)?;
        }
        Ok(())
    }

    fn globs(
        &mut self,
        part: &Part,
        syntax: Syntax,
        views: &[View<'_>],
        all: bool,
        out: &mut Vec<Hit>,
    ) -> Result<(), Stop> {
        let bytes = self.table.automaton(part.automaton)?;
        for view in views {
            if part.grant && !view.grantable {
                continue;
            }
            let value = if part.grant { &view.sure } else { &view.folded };
            // Most values match nothing, so the cheap question comes first.
            let best = self.best(bytes, value)?;
            if best != 0 && (all || part.excepts) {
                self.each(bytes, value, &mut |rank| out.push(Hit { rank, sure: true }))?;
            } else if best != 0 {
                out.push(Hit { rank: best, sure: true });
            }
            let (Some(open), false) = (&view.open, part.grant) else { continue };
            for rank in self.table.numbers(part.ranks)?.rev() {
                let rank = rank?;
                let pattern = match self.table.pattern(rank)?.matcher {
                    Matcher::Path(p) | Matcher::Domain(p) | Matcher::Command(p) | Matcher::Arg(p) => p,
                    _ => return Err(Stop::Damaged),
                };
                self.spend(pattern.len(), open.len())?;
                if meets(pattern, open, syntax) {
                    out.push(Hit { rank, sure: false });
                }
            }
        }
        Ok(())
    }

    /// Run patterns: those that stand under what the command holds; all refusals when its program is not known.
    fn runs(&mut self, part: &Part, index: usize, out: &mut Vec<Hit>) -> Result<(), Stop> {
        let Some(keys) = self.keys(index)? else { return Ok(()) };
        let mut ranks = Vec::new();
        match if part.grant { Some(&keys.grants) } else { keys.refusals.as_ref() } {
            Some(keys) => {
                self.spend(0, keys.len())?;
                for key in keys {
                    let found = self.table.run_ranks(part, *key)?;
                    for rank in self.table.numbers(found)? {
                        ranks.push(rank?);
                    }
                }
                ranks.sort_unstable();
                ranks.dedup();
            }
            None => {
                for rank in self.table.numbers(part.ranks)? {
                    ranks.push(rank?);
                }
            }
        }
        for rank in ranks {
            let (at, grant) = self.table.run_of_rank(rank)?;
            let found = self.run(at, grant, index)?;
            if found > Match::No {
                out.push(Hit { rank, sure: found == Match::Certain });
            }
        }
        Ok(())
    }

    /// The keys of the patterns that may match a command.
    fn keys(&mut self, index: usize) -> Result<Option<Rc<Keys>>, Stop> {
        let Some(command) = self.facts.commands.get(index) else { return Ok(None) };
        if let Some((_, keys)) = self.keys.as_ref().filter(|(known, _)| *known == index) {
            return Ok(Some(Rc::clone(keys)));
        }
        self.words_of(index);
        let left = if self.vague { &mut self.left_vague } else { &mut self.left };
        let cost = command.words.len() as u64 + command.redirects.len() as u64 + command.sent.len() as u64;
        self.lists.begin(left.checked_sub(cost).ok_or(Stop::Limit)?);
        let keys = Keys::of(&self.lists, self.facts, command, &self.words.1);
        *left = self.lists.left();
        let keys = Rc::new(keys?);
        self.keys = Some((index, Rc::clone(&keys)));
        Ok(Some(keys))
    }

    /// Makes the words of a command ready.
    fn words_of(&mut self, index: usize) {
        if self.words.0 != index {
            let words = self.facts.commands.get(index).map(|command| same::words(command, self.facts));
            self.words = (index, words.unwrap_or_default());
        }
    }

    /// One run pattern against one command.
    pub(super) fn run(&mut self, at: u32, grant: bool, index: usize) -> Result<Match, Stop> {
        let facts = self.facts;
        self.words_of(index);
        let pattern = self.lists.pattern(at)?;
        let (weight, stages) = (pattern.weight(), pattern.stages.len());
        let command = facts.commands.get(index);
        let behind_others = command.and_then(|command| command.pipe).is_some_and(|pipe| pipe.1 > 0);
        let others = if stages > 1 && behind_others { facts.commands.len() } else { 0 };
        let (words, redirects) = command.map_or((0, 0), |c| (c.words.len(), c.redirects.len()));
        let distinct = self.words.1.len() + redirects;
        let left = if self.vague { &mut self.left_vague } else { &mut self.left };
        // What is compared is counted where it is compared, the rest here.
        let walk =
            A_PATTERN + (weight as u64 + 1) * (distinct as u64 + 16 * others as u64 + 1) + words as u64 / 16;
        *left = left.checked_sub(walk).ok_or(Stop::Limit)?;
        self.lists.begin(*left);
        let found = if grant {
            Match::sure(grants(&pattern, facts, index))
        } else {
            refuses_words(&pattern, facts, index, &self.words.1)
        };
        *left = self.lists.left();
        Ok(self.lists.found(found)?)
    }

    /// Shell features of a command, and those of its script that belong to no command.
    fn features(&self, index: usize) -> u32 {
        let Some(command) = self.facts.commands.get(index) else { return 0 };
        command.features | self.leftover(command.script)
    }

    /// Shell features of a script that none of its commands has.
    pub(super) fn leftover(&self, script: u32) -> u32 {
        self.leftover.get(script as usize).copied().unwrap_or(0)
    }

    /// Lines on shell features.
    pub(super) fn shell(
        &self,
        group: &Group,
        features: u32,
        index: usize,
        out: &mut Vec<Hit>,
    ) -> Result<(), Stop> {
        for rank in self.table.numbers(group.shell)? {
            let rank = rank?;
            let pattern = self.table.pattern(rank)?;
            let Matcher::Shell(mask) = pattern.matcher else { return Err(Stop::Damaged) };
            let plain = self.facts.commands.get(index).is_some_and(|c| c.plain && c.gap.is_empty());
            if features & mask != 0 && (plain || !pattern.grant) {
                out.push(Hit { rank, sure: true });
            }
        }
        Ok(())
    }

    /// Whether an `except` of the line takes the value back.
    pub(super) fn voided(
        &mut self,
        line: &Line<'t>,
        subject: Subject,
        views: &[View<'_>],
    ) -> Result<bool, Stop> {
        for except in self.table.excepts_of(line)? {
            let (matcher, grant) = except?;
            let hit = match (matcher, subject) {
                (Matcher::Path(p), Subject::Path) => self.taken(p, grant, Syntax::Path, views)?,
                (Matcher::Domain(p), Subject::Domain)
                | (Matcher::Arg(p), Subject::Arg)
                | (Matcher::Command(p), Subject::Command(_)) => self.taken(p, grant, Syntax::Plain, views)?,
                (Matcher::Run(at), Subject::Command(index)) => self.run(at, grant, index)? > Match::No,
                (Matcher::Shell(mask), Subject::Command(index)) => self.features(index) & mask != 0,
                (Matcher::Always, _) => true,
                _ => false,
            };
            if hit {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn taken(
        &mut self,
        pattern: &str,
        grant: bool,
        syntax: Syntax,
        views: &[View<'_>],
    ) -> Result<bool, Stop> {
        for view in views {
            self.spend(pattern.len(), view.sure.len())?;
            let hit = if grant {
                view.grantable && glob::matches(pattern, &view.sure, syntax, false)
            } else {
                folded_in(pattern, &view.folded, syntax)
                    || view.open.as_deref().is_some_and(|open| meets(pattern, open, syntax))
            };
            if hit {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
