//! What the guards find, and which findings exceptions open.
//!
//! INVARIANT: a guard can only tighten; an exception opens findings of its own guard and nothing else.

use super::matching::{Hit, Matching, Subject};
use super::report::{Class, Found, Report, Spot, Value};
use super::rules::{Sort, class, miss_rank, present, same_name, word};
use super::texts::Texts;
use super::values::Ready;
use super::{Call, Stop};
use crate::outside::{Measure, Outside};
use crate::payment;
use crate::run_match::Match;
use crate::table::groups::{Group, Role};
use crate::table::{Line, Verb};
use crate::verdict::{Decision, Severity};
use std::collections::{BTreeMap, BTreeSet};

/// Looks at every value of one reading.
pub(super) fn judge<'f>(
    matching: &mut Matching<'_, 'f>,
    call: &Call<'_, 'f>,
    texts: &mut Texts<'f>,
    outside: &dyn Outside,
    report: &mut Report,
) -> Result<(), Stop> {
    let of = |role| -> Vec<Group> { call.groups.iter().copied().filter(|g| g.role == role).collect() };
    let (guards, exceptions) = (of(Role::Guard), of(Role::Exception));
    if guards.is_empty() {
        return Ok(());
    }
    let values = call.values;
    // "`for` on a call without a path of its own looks at the call's folder."
    let mut around: Vec<usize> =
        values.paths.iter().chain(&values.commands).flat_map(|r| r.places.clone()).collect();
    if around.is_empty() {
        around.push(0);
    }
    let mut judge = Judge { matching, call, exceptions: &exceptions, report };
    let guards: Vec<(Group, Match)> = guards
        .into_iter()
        .map(|group| Ok((group, judge.lies(&group, &around)?)))
        .collect::<Result<_, Stop>>()?;
    for ready in values.all() {
        // "Paths inside a command are values for guards, unless only their name is listed."
        if ready.name_only && ready.command.is_some() {
            continue;
        }
        judge.matching.at_hand(ready.names.iter().flatten());
        match judge.value(&guards, ready) {
            Err(Stop::Limit) => {
                judge.report.floor(ready.value, "the value takes too much work to be judged".to_owned());
            }
            other => other?,
        }
    }
    judge.call(&guards)?;
    judge.texts(&guards, texts, outside)
}

/// What something is found in, and what is said of it.
pub(super) struct At {
    pub(super) value: Value,
    pub(super) why: Option<String>,
    pub(super) spot: Spot,
}

impl From<Value> for At {
    fn from(value: Value) -> At {
        At { value, why: None, spot: Spot::default() }
    }
}

impl From<(Value, String)> for At {
    fn from((value, why): (Value, String)) -> At {
        At { why: Some(why), ..At::from(value) }
    }
}

impl From<(Value, Spot)> for At {
    fn from((value, spot): (Value, Spot)) -> At {
        At { spot, ..At::from(value) }
    }
}

pub(super) struct Judge<'j, 'm, 't, 'f> {
    pub(super) matching: &'m mut Matching<'t, 'f>,
    pub(super) call: &'j Call<'j, 'f>,
    exceptions: &'j [Group],
    pub(super) report: &'j mut Report,
}

impl<'t, 'f> Judge<'_, '_, 't, 'f> {
    /// A guard looks at a value when any of its places may lie within.
    pub(super) fn lies(&self, group: &Group, places: &[usize]) -> Result<Match, Stop> {
        let mut most = Match::No;
        for index in places {
            let place = self.call.values.places.get(*index).ok_or(Stop::Damaged)?;
            most = most.max(place.loose(self.matching, group.withins)?);
            if most == Match::Certain {
                break;
            }
        }
        Ok(most)
    }

    /// One value before every guard; with each guard, whether the call as a whole lies within.
    fn value(&mut self, guards: &[(Group, Match)], ready: &Ready<'_>) -> Result<(), Stop> {
        let own = match (ready.subject, ready.command) {
            (Subject::Path | Subject::Command(_), _) => Some(ready.places.clone()),
            (_, Some(index)) => self.holder(index).map(|holder| holder.places.clone()),
            (_, None) => None,
        };
        for (group, call) in guards {
            let lies = match &own {
                Some(places) => self.lies(group, places)?,
                None => *call,
            };
            if lies == Match::No {
                continue;
            }
            if ready.names.is_empty() {
                if self.names(group, ready)? {
                    self.report.floor(ready.value, "the value is too long to be judged".to_owned());
                }
                continue;
            }
            let mut lines: BTreeMap<u32, Hit> = BTreeMap::new();
            // `only` lines that every name so far matches.
            let mut held: Option<BTreeSet<u32>> = None;
            for views in &ready.names {
                let mut hits = Vec::new();
                self.matching.hits(group, ready.subject, views, true, &mut hits)?;
                let mut here = BTreeSet::new();
                for mut hit in hits {
                    let line = self.matching.table.line(self.matching.table.line_of_rank(hit.rank)?)?;
                    if self.matching.voided(&line, ready.subject, views)? {
                        continue;
                    }
                    hit.sure &= lies == Match::Certain;
                    if line.verb == Verb::Only {
                        here.insert(line.id);
                        continue;
                    }
                    let best = lines.entry(line.id).or_insert(hit);
                    if (hit.sure, hit.rank) > (best.sure, best.rank) {
                        *best = hit;
                    }
                }
                held = Some(match held {
                    None => here,
                    Some(before) => before.intersection(&here).copied().collect(),
                });
            }
            for (number, hit) in lines {
                let line = self.matching.table.line(number)?;
                self.finding(&line, hit.rank, hit.sure, Some(ready), ready.value)?;
            }
            let held = held.unwrap_or_default();
            for number in self.matching.table.numbers(group.only)? {
                let number = number?;
                let line = self.matching.table.line(number)?;
                if self.asks_for(&line, ready) && !held.contains(&number) {
                    let Some(rank) = miss_rank(self.matching, &line)? else { continue };
                    self.finding(&line, rank, lies == Match::Certain, Some(ready), ready.value)?;
                }
            }
        }
        Ok(())
    }

    /// Whether an `only` line is about values of this kind.
    fn asks_for(&self, line: &Line<'_>, ready: &Ready<'_>) -> bool {
        match (class(line.kind), ready.subject) {
            (Sort::Path, Subject::Path)
            | (Sort::Domain, Subject::Domain)
            | (Sort::Command, Subject::Command(_)) => true,
            (Sort::Arg, Subject::Arg) => same_name(line.arg, self.arg_name(ready)),
            _ => false,
        }
    }

    fn arg_name(&self, ready: &Ready<'_>) -> &str {
        match ready.value {
            Value::Arg(index) => self.matching.facts.args.get(index).map_or("", |a| &a.name),
            _ => "",
        }
    }

    /// Whether a line of the group names the argument.
    fn names(&self, group: &Group, ready: &Ready<'_>) -> Result<bool, Stop> {
        for entry in self.matching.table.arg_names(group)? {
            if same_name(entry?.0, self.arg_name(ready)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Bare verbs, `only` lines that nothing answers, shell features of a text without commands.
    fn call(&mut self, guards: &[(Group, Match)]) -> Result<(), Stop> {
        let table = self.matching.table;
        self.matching.at_hand(std::iter::empty());
        let facts = self.matching.facts;
        let values = self.call.values;
        let seen = |r: &&Ready<'_>| !(r.name_only && r.command.is_some());
        let (path, domain) = (values.paths.iter().any(|r| seen(&r)), !values.domains.is_empty());
        let paid = facts.args.iter().any(|arg| payment::is_of_payment(&arg.name));
        for (group, lies) in guards.iter().filter(|(_, lies)| *lies > Match::No) {
            let sure = *lies == Match::Certain;
            if !paid && self.looks_at_payments(group)? {
                // SECURITY: a payment that cannot be read is not "no payment".
                self.report.floor(Value::Call, payment::unread(facts).to_owned());
            }
            for rank in table.numbers(group.always)? {
                let rank = rank?;
                let line = table.line(table.line_of_rank(rank)?)?;
                if !self.counts_lines(&line)? {
                    self.finding(&line, rank, sure, None, Value::Call)?;
                }
            }
            for number in table.numbers(group.only)? {
                let line = table.line(number?)?;
                if !present(self.matching, &line, path, domain)
                    && let Some(rank) = miss_rank(self.matching, &line)?
                {
                    let why = match !paid && payment::is_of_payment(line.arg) {
                        true => payment::unread(facts).to_owned(),
                        false => format!("the call has no {} at all", word(&line)),
                    };
                    self.finding(&line, rank, sure, None, (Value::Call, why))?;
                }
            }
            for (index, script) in facts.scripts.iter().enumerate().take(super::MOST_VALUES) {
                let number = u32::try_from(index).unwrap_or(u32::MAX);
                if script.features == 0 || facts.commands.iter().any(|c| c.script == number) {
                    continue;
                }
                let mut hits = Vec::new();
                let features = self.matching.leftover(number);
                self.matching.shell(group, features, usize::MAX, &mut hits)?;
                for hit in hits {
                    let line = table.line(table.line_of_rank(hit.rank)?)?;
                    if line.verb != Verb::Only {
                        self.finding(&line, hit.rank, sure, None, Value::Script(index))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a line of the group is about payments.
    fn looks_at_payments(&self, group: &Group) -> Result<bool, Stop> {
        for entry in self.matching.table.arg_names(group)? {
            if payment::is_of_payment(entry?.0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the line is about how many lines a text has.
    pub(super) fn counts_lines(&self, line: &Line<'t>) -> Result<bool, Stop> {
        let limit = self.matching.table.tail(line)?.and_then(|tail| tail.limit);
        Ok(limit.is_some_and(|limit| limit.measure == Measure::Lines))
    }

    pub(super) fn finding(
        &mut self,
        line: &Line<'t>,
        rank: u32,
        sure: bool,
        ready: Option<&Ready<'_>>,
        at: impl Into<At>,
    ) -> Result<(), Stop> {
        let At { value, why, spot } = at.into();
        if let Some(rank) = self.opened(line.block, ready)? {
            let guard = self.matching.table.block(line.block)?.name;
            let why = Some(format!("it opens {guard}"));
            self.report.note(Found {
                decision: Decision::Allow,
                class: Class::Guard,
                sure: true,
                rank,
                value,
                why,
                spot: Spot::default(),
            });
            return Ok(());
        }
        // "No worse than this, whatever the verb of the line."
        let verb = match (spot.at_most, line.verb) {
            (Some(Severity::Info), _) => Verb::Info,
            (Some(Severity::Warning), Verb::Deny | Verb::Only | Verb::Ask) => Verb::Warn,
            (_, verb) => verb,
        };
        let decision = match verb {
            Verb::Deny | Verb::Only if sure => Decision::Deny,
            Verb::Deny | Verb::Only | Verb::Ask => Decision::Ask,
            _ => Decision::Allow,
        };
        if !sure && self.asks_anyway(value) {
            return Ok(());
        }
        let class = if sure { Class::Guard } else { Class::MaybeGuard };
        let found = Found { decision, class, sure, rank, value, why, spot };
        match line.tail {
            Some(_) => self.report.wait(line.id, found),
            None => self.report.finding(found, verb, line.block),
        }
        Ok(())
    }

    /// What is not known of the command asks already, with the truer cause.
    fn asks_anyway(&self, value: Value) -> bool {
        let facts = self.matching.facts;
        matches!(value, Value::Command(index) if facts.commands.get(index).is_some_and(|c| !c.gap.is_empty()))
    }

    /// The command that holds a value.
    fn holder(&self, index: usize) -> Option<&Ready<'_>> {
        self.call.values.command(index)
    }

    /// The pattern of an exception to the guard that opens this value, or the command that holds it.
    fn opened(&mut self, guard: u32, ready: Option<&Ready<'_>>) -> Result<Option<u32>, Stop> {
        let call = self.call;
        let holder = ready.and_then(|r| r.command).and_then(|index| call.values.command(index));
        for group in self.exceptions.iter().filter(|g| g.opens == Some(guard)) {
            for value in [ready, holder] {
                if (value.is_some() || ready.is_none())
                    && let Some(rank) = self.opens(group, value)?
                {
                    return Ok(Some(rank));
                }
            }
        }
        Ok(None)
    }

    fn opens(&mut self, group: &Group, ready: Option<&Ready<'_>>) -> Result<Option<u32>, Stop> {
        let first = [0];
        let places: &[usize] = ready.map_or(&first, |r| &r.places);
        for index in places {
            let place = self.call.values.places.get(*index).ok_or(Stop::Damaged)?;
            if place.strict(self.matching, group.withins)? != Match::Certain {
                return Ok(None);
            }
        }
        // Bare `open`: always.
        for rank in self.matching.table.numbers(group.always)? {
            let rank = rank?;
            let line = self.matching.table.line_of_rank(rank)?;
            let line = self.matching.table.line(line)?;
            if self.in_time(&line)? {
                return Ok(Some(rank));
            }
        }
        let Some(ready) = ready else { return Ok(None) };
        // "Each of its names must be opened": by one and the same exception, which is told by its block.
        let mut openers: Option<BTreeMap<u32, u32>> = None;
        for views in &ready.names {
            let mut hits = Vec::new();
            self.matching.hits(group, ready.subject, views, true, &mut hits)?;
            let mut here = BTreeMap::new();
            for hit in hits {
                let line = self.matching.table.line(self.matching.table.line_of_rank(hit.rank)?)?;
                let before = openers.as_ref().map_or(Some(&0), |openers| openers.get(&line.block));
                let (Some(before), true) = (before, hit.sure) else { continue };
                if self.in_time(&line)? && !self.matching.voided(&line, ready.subject, views)? {
                    let rank = here.entry(line.block).or_insert(*before);
                    *rank = hit.rank.max(*rank);
                }
            }
            if here.is_empty() {
                return Ok(None);
            }
            openers = Some(here);
        }
        Ok(openers.and_then(|openers| openers.into_values().max()))
    }

    fn in_time(&self, line: &Line<'_>) -> Result<bool, Stop> {
        let block = self.matching.table.block(line.block)?;
        Ok(block.until.is_none_or(|day| self.call.context.today <= day))
    }
}
