//! What the rules say to each value: the first with an answer, by one number.
//!
//! INVARIANT: ranks order everything: an earlier rule above a later one; in a rule `deny` first, then length, then `ask`
//! before `allow`, then `only`'s no, then `otherwise`. So the greatest rank that matches decides.

use super::matching::{Hit, Matching, Subject};
use super::report::{Class, Found, Report, Spot, Value};
use super::values::Ready;
use super::{Call, Stop};
use crate::payment;
use crate::run_match::Match;
use crate::table::Kind;
use crate::table::groups::{Group, Role};
use crate::table::layout::matcher;
use crate::verdict::Decision;

/// The kinds of values that `only` lines ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    Path,
    Domain,
    Command,
    Arg,
    None,
}

pub(super) fn class(kind: Kind) -> Sort {
    match kind {
        Kind::Path => Sort::Path,
        Kind::Domain => Sort::Domain,
        Kind::Command | Kind::Run | Kind::Shell => Sort::Command,
        Kind::Arg => Sort::Arg,
        Kind::Call | Kind::Content | Kind::Check => Sort::None,
    }
}

/// Judges every value of one reading by the rules.
pub(super) fn judge<'f>(
    matching: &mut Matching<'_, 'f>,
    call: &Call<'_, 'f>,
    report: &mut Report,
) -> Result<(), Stop> {
    let facts = matching.facts;
    let groups: Vec<Group> = call.groups.iter().copied().filter(|g| g.role == Role::Rule).collect();
    let mut judge = Judge { matching, call, groups: &groups, report };
    let (mut path, mut domain, mut any) = (false, false, false);
    for ready in call.values.paths.iter().filter(|r| r.command.is_none()) {
        judge.value(ready)?;
        (path, any) = (true, true);
    }
    for ready in call.values.domains.iter().filter(|r| r.command.is_none()) {
        judge.value(ready)?;
        (domain, any) = (true, true);
    }
    // "Paths and hosts inside a command are a value for a rule only when the rule that answered the command has lines
    // of that kind."
    let mut kinds = vec![0u32; facts.commands.len()];
    for ready in &call.values.commands {
        any = true;
        let answered = judge.value(ready)?;
        if let (Some(block), Subject::Command(index)) = (answered, ready.subject) {
            let mask = judge.matching.table.block(block)?.kinds;
            if let Some(slot) = kinds.get_mut(index) {
                *slot = mask;
            }
        }
    }
    let has = |ready: &Ready<'_>, kind: Kind| {
        ready.command.and_then(|c| kinds.get(c)).is_some_and(|mask| mask & (1 << kind as u32) != 0)
    };
    for ready in call.values.paths.iter().filter(|r| has(r, Kind::Path)) {
        judge.value(ready)?;
        path = true;
    }
    for ready in call.values.domains.iter().filter(|r| has(r, Kind::Domain)) {
        judge.value(ready)?;
        domain = true;
    }
    for ready in &call.values.args {
        if judge.named(ready)? {
            judge.value(ready)?;
            any = true;
        }
    }
    // Values that are over their caps are values all the same.
    any |= !facts.commands.is_empty();
    any |= facts.paths.iter().any(|p| !matches!(p.origin, crate::facts::Origin::Command(_)));
    any |= facts.domains.iter().any(|d| !matches!(d.origin, crate::facts::Origin::Command(_)));
    if !any {
        judge.nothing()?;
    }
    judge.missing(path, domain)
}

struct Judge<'j, 'm, 't, 'f> {
    matching: &'m mut Matching<'t, 'f>,
    call: &'j Call<'j, 'f>,
    groups: &'j [Group],
    report: &'j mut Report,
}

impl Judge<'_, '_, '_, '_> {
    /// Whether a value lies where the group looks: within all its conditions, by every place of the value.
    fn lies(&self, group: &Group, places: &[usize]) -> Result<Match, Stop> {
        let mut least = Match::Certain;
        for index in places {
            let place = self.call.values.places.get(*index).ok_or(Stop::Damaged)?;
            least = least.min(place.strict(self.matching, group.withins)?);
        }
        Ok(least)
    }

    /// The groups in which a value lies. One in which it only may lie asks.
    fn around(&mut self, value: Value, places: &[usize]) -> Result<Vec<Group>, Stop> {
        let mut inside = Vec::new();
        let mut maybe = false;
        for group in self.groups {
            match self.lies(group, places)? {
                Match::Certain => inside.push(*group),
                Match::Possible => maybe = true,
                Match::No => {}
            }
        }
        if maybe {
            self.report.floor(value, "it is not known whether it lies among the files of a rule".to_owned());
        }
        Ok(inside)
    }

    /// The rank that answers whatever is not matched.
    fn fallback(&self, group: &Group, ready: &Ready<'_>) -> Result<u32, Stop> {
        let miss = match ready.subject {
            Subject::Path => group.miss_path,
            Subject::Domain => group.miss_domain,
            Subject::Command(_) => group.miss_command,
            Subject::Arg => {
                let mut rank = 0;
                for entry in self.matching.table.arg_names(group)? {
                    let (name, miss) = entry?;
                    if same_name(name, self.arg_name(ready)) {
                        rank = rank.max(miss);
                    }
                }
                rank
            }
        };
        Ok(miss.max(group.otherwise))
    }

    fn arg_name(&self, ready: &Ready<'_>) -> &str {
        match ready.value {
            Value::Arg(index) => self.matching.facts.args.get(index).map_or("", |a| &a.name),
            _ => "",
        }
    }

    /// "An argument is a value only if some line of a rule in scope names it."
    fn named(&self, ready: &Ready<'_>) -> Result<bool, Stop> {
        for group in self.groups {
            for entry in self.matching.table.arg_names(group)? {
                if same_name(entry?.0, self.arg_name(ready)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// One value; the block that answered.
    fn value(&mut self, ready: &Ready<'_>) -> Result<Option<u32>, Stop> {
        self.matching.at_hand(ready.names.iter().flatten());
        match self.try_value(ready) {
            Err(Stop::Limit) => {
                self.report.floor(ready.value, "the value takes too much work to be judged".to_owned());
                Ok(None)
            }
            other => other,
        }
    }

    fn try_value(&mut self, ready: &Ready<'_>) -> Result<Option<u32>, Stop> {
        let inside = self.around(ready.value, &ready.places)?;
        if ready.names.is_empty() {
            self.report.floor(ready.value, "the value is too long to be judged".to_owned());
            return Ok(None);
        }
        let mut fallback = 0;
        for group in &inside {
            fallback = fallback.max(self.fallback(group, ready)?);
        }
        let mut strictest: Option<Found> = None;
        for views in &ready.names {
            let mut hits = Vec::new();
            for group in &inside {
                self.matching.hits(group, ready.subject, views, false, &mut hits)?;
            }
            // The greatest that no `except` voids.
            hits.sort_unstable_by(|a, b| b.cmp(a));
            hits.dedup();
            let (mut sure, mut possible) = (fallback, 0);
            for Hit { rank, sure: certain } in hits {
                if rank <= sure || (!certain && rank <= possible) {
                    continue;
                }
                let line = self.matching.table.line(self.matching.table.line_of_rank(rank)?)?;
                if self.matching.voided(&line, ready.subject, views)? {
                    continue;
                }
                if certain { sure = rank } else { possible = rank }
            }
            let mut found = vec![self.answer(ready.value, sure)?];
            if possible > sure {
                found.push(self.possible(ready.value, possible)?);
            }
            for found in found {
                if strictest.as_ref().is_none_or(|old| found.outranks(old)) {
                    strictest = Some(found);
                }
            }
        }
        let Some(found) = strictest else { return Ok(None) };
        let rank = found.rank;
        self.report.answer(found);
        if rank == 0 {
            return Ok(None);
        }
        let line = self.matching.table.line_of_rank(rank)?;
        Ok(Some(self.matching.table.line(line)?.block))
    }

    fn answer(&self, value: Value, rank: u32) -> Result<Found, Stop> {
        if rank == 0 {
            return default(self.matching, value);
        }
        let table = self.matching.table;
        let pattern = table.pattern(rank)?;
        let decision = if matches!(pattern.matcher, crate::table::records::Matcher::Miss) {
            Decision::Deny
        } else {
            table.line(pattern.line)?.verb.decision()
        };
        Ok(Found { decision, class: Class::Rule, sure: true, rank, value, why: None, spot: Spot::default() })
    }

    fn possible(&self, value: Value, rank: u32) -> Result<Found, Stop> {
        Ok(Found {
            decision: Decision::Ask,
            class: Class::Rule,
            sure: false,
            rank,
            value,
            why: None,
            spot: Spot::default(),
        })
    }

    /// The call itself, when it has no value: `otherwise`, else the default.
    fn nothing(&mut self) -> Result<(), Stop> {
        let inside = self.around(Value::Call, &[0])?;
        let rank = inside.iter().map(|g| g.otherwise).max().unwrap_or(0);
        let found = self.answer(Value::Call, rank)?;
        self.report.answer(found);
        Ok(())
    }

    /// "A call without any value of the kind of an `only` line is denied by that line, when no earlier rule has an
    /// `otherwise`."
    fn missing(&mut self, path: bool, domain: bool) -> Result<(), Stop> {
        let asks: Vec<Group> = self.groups.iter().copied().filter(|g| g.only.count > 0).collect();
        if asks.is_empty() {
            return Ok(());
        }
        let inside = self.around(Value::Call, &[0])?;
        let otherwise = inside.iter().map(|g| g.otherwise).max().unwrap_or(0);
        let table = self.matching.table;
        for group in inside {
            for number in table.numbers(group.only)? {
                let line = table.line(number?)?;
                if present(self.matching, &line, path, domain) {
                    continue;
                }
                // The rank of its no stands among its patterns.
                let Some(rank) = miss_rank(self.matching, &line)? else { continue };
                if rank > otherwise {
                    self.report.answer(Found {
                        decision: Decision::Deny,
                        class: Class::Rule,
                        sure: true,
                        rank,
                        value: Value::Call,
                        why: Some(format!("the call has no {} at all", word(&line))),
                        spot: Spot::default(),
                    });
                }
            }
        }
        Ok(())
    }
}

pub(super) fn word(line: &crate::table::Line<'_>) -> String {
    match class(line.kind) {
        Sort::Path => "path".to_owned(),
        Sort::Domain => "host".to_owned(),
        Sort::Command => "command".to_owned(),
        Sort::Arg if payment::is_of_payment(line.arg) => format!("{} of a payment", payment::shown(line.arg)),
        Sort::Arg => format!("argument `{}`", line.arg),
        Sort::None => "value".to_owned(),
    }
}

/// Whether the call has a value of the kind of an `only` line; paths and hosts are counted by who asks.
pub(super) fn present(
    matching: &Matching<'_, '_>,
    line: &crate::table::Line<'_>,
    path: bool,
    domain: bool,
) -> bool {
    match class(line.kind) {
        Sort::Path => path,
        Sort::Domain => domain,
        Sort::Command => !matching.facts.commands.is_empty(),
        Sort::Arg => matching.facts.args.iter().any(|arg| arg.name == line.arg),
        Sort::None => true,
    }
}

/// The rank under which an `only` line says no.
pub(super) fn miss_rank(
    matching: &Matching<'_, '_>,
    line: &crate::table::Line<'_>,
) -> Result<Option<u32>, Stop> {
    for rank in matching.table.numbers(line.patterns)? {
        let rank = rank?;
        if matching.table.matcher_kind(rank)? == matcher::MISS {
            return Ok(Some(rank));
        }
    }
    Ok(None)
}

fn default(matching: &Matching<'_, '_>, value: Value) -> Result<Found, Stop> {
    let written = matching.table.default()?;
    Ok(Found {
        decision: written.unwrap_or(Decision::Host),
        class: Class::Default,
        sure: true,
        rank: 0,
        value,
        why: None,
        spot: Spot::default(),
    })
}

/// JSON keys that differ only in case are one name to a policy.
pub(super) fn same_name(a: &str, b: &str) -> bool {
    a == b || crate::fold::fold(a) == crate::fold::fold(b)
}
