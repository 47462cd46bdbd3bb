//! Lines that ask the past: what they found waits for its answer; and what a call leaves for later ones.
//!
//! INVARIANT: all questions of a decision are asked at once. A line whose limit or condition is not met finds nothing; where
//! the past cannot be told, a line that could refuse asks.

use super::matching::Matching;
use super::report::{Class, Found, Report, Value};
use super::{Stop, marks, paid, views};
use crate::checksum;
use crate::facts::{Access, Facts, Form};
use crate::glob::Syntax;
use crate::outside::{Adds, Answer, By, Event, Measure, Outside, PastKind, Question, Window};
use crate::payment;
use crate::run_match::Match;
use crate::table::past::{Back, Limit, Tail};
use crate::table::records::Matcher;
use crate::table::{Damaged, Table, Verb};
use crate::verdict::Decision;
use std::collections::{BTreeMap, BTreeSet};

/// Most findings that wait for an answer.
pub(super) const MOST_WAITING: usize = 1 << 16;

/// What a line found, if the past is so.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) line: u32,
    pub(super) found: Found,
}

/// What is asked for a line.
struct Asked<'t> {
    tail: Tail<'t>,
    /// Numbers of questions: the count; the condition; what it is since.
    count: Option<usize>,
    happened: Option<usize>,
    began: Option<usize>,
    hours: Option<usize>,
    /// Without a question.
    counted: Option<u64>,
    /// For what was found, questions to a ledger of payments.
    paid: Vec<Option<usize>>,
}

/// Asks for everything that waits, and reports what is so.
pub(super) fn resolve(
    table: &Table<'_>,
    facts: &Facts,
    outside: &dyn Outside,
    report: &mut Report,
) -> Result<(), Stop> {
    let mut lines: BTreeMap<u32, Vec<Found>> = BTreeMap::new();
    for waiting in report.waiting() {
        lines.entry(waiting.line).or_default().push(waiting.found);
    }
    if lines.is_empty() {
        return Ok(());
    }
    let mut questions = Vec::new();
    let mut all = Vec::with_capacity(lines.len());
    for (number, found) in lines {
        let line = table.line(number)?;
        let tail = table.tail(&line)?.ok_or(Stop::Damaged)?;
        let mut asked = Asked {
            tail,
            count: None,
            happened: None,
            began: None,
            hours: None,
            counted: None,
            paid: Vec::new(),
        };
        let mut found = found;
        if let Some(limit) = tail.limit.as_ref().filter(|limit| limit.measure.of_payment().is_some()) {
            found.retain_mut(|found| passes(facts, limit, found));
            if found.is_empty() {
                continue;
            }
        } else if let Some(limit) = tail.limit.as_ref().filter(|limit| limit.measure.of_ledger()) {
            for found in &found {
                let question = paid::question(facts, limit, found);
                asked.paid.push(question.map(|own| paid::put(&mut questions, own)));
            }
        } else if let Some(limit) = &tail.limit {
            match window(table, limit)? {
                Some(window) => {
                    let adds = adds(facts, limit, &found);
                    asked.count = Some(questions.len());
                    let by_tool = limit.by == By::Tool;
                    questions.push(Question::Count { key: limit.key, adds, window, by_tool });
                }
                None => asked.counted = Some(matches(facts, &found)),
            }
        }
        if let Some(condition) = &tail.condition {
            let past = table.past(condition.past)?.moment(condition.unless);
            let since = condition.since.map(|since| table.past(since)).transpose()?;
            let since = since.map(|since| since.moment(true));
            asked.happened = Some(questions.len());
            questions.push(Question::Happened { past, since, over: condition.over });
            // "Unless tests ran since something was written": where nothing was written, nothing is missing.
            if let (true, Some(since)) = (condition.unless, since) {
                asked.began = Some(questions.len());
                questions.push(Question::Happened { past: since, since: None, over: 0 });
            }
        }
        if let Some((_, hours)) = tail.hours {
            asked.hours = Some(paid::put(&mut questions, Question::Hours(hours.to_owned())));
        }
        all.push((line, asked, found));
    }
    let answers = if questions.is_empty() { Vec::new() } else { outside.past(&questions) };
    for (line, asked, found) in all {
        let block = table.block(line.block)?;
        // What a ledger says decides for each of them.
        let ledger = asked.tail.limit.filter(|limit| limit.measure.of_ledger());
        let told = match &ledger {
            Some(limit) => paid::said(facts, limit, found.clone(), (&asked.paid, &answers)),
            None => Ok(found.clone()),
        };
        let holding =
            holds(&asked, &answers).and_then(|held| told.map(|found| (held && !found.is_empty(), found)));
        match holding {
            Ok((false, _)) => {}
            Ok((true, found)) => {
                if asked.tail.flags {
                    outside.flag(block.name);
                }
                let own = |measure: Measure| {
                    measure == Measure::Lines || measure.of_payment().is_some() || measure.of_ledger()
                };
                match asked.tail.limit.as_ref().filter(|limit| !own(limit.measure)) {
                    // Texts are compared with their limit where they are read, payments above.
                    None => found.into_iter().for_each(|found| report.finding(found, line.verb, line.block)),
                    Some(limit) => {
                        let Some(mut found) = found.into_iter().max_by_key(|found| found.sure) else {
                            continue;
                        };
                        found.why =
                            Some(said(limit, count(&asked, &answers).unwrap_or_default(), found.value));
                        report.finding(found, line.verb, line.block);
                    }
                }
            }
            Err(cause) => {
                let why = match ledger {
                    Some(_) => format!("what was paid before cannot be told: {cause}"),
                    None => format!("what happened before in the session cannot be told: {cause}"),
                };
                let Some(mut found) = found.into_iter().next_back() else { continue };
                if matches!(line.verb, Verb::Warn | Verb::Info) {
                    found.why = Some(why);
                    report.finding(found, line.verb, line.block);
                } else {
                    // SECURITY: not known is not "not so".
                    found.why = Some(why);
                    found.sure = false;
                    found.class = Class::MaybeGuard;
                    found.decision = Decision::Ask;
                    report.finding(found, Verb::Ask, line.block);
                }
            }
        }
    }
    Ok(())
}

fn window(table: &Table<'_>, limit: &Limit<'_>) -> Result<Option<Window>, Damaged> {
    Ok(Some(match limit.back {
        Back::Call => return Ok(None),
        Back::Seconds(seconds) => Window::Seconds(seconds),
        Back::Session => Window::Session,
        Back::Since(past) => Window::Since(table.past(past)?.moment(true)),
    }))
}

/// What the call adds to a count.
fn adds(facts: &Facts, limit: &Limit<'_>, found: &[Found]) -> Adds {
    match limit.measure {
        Measure::Calls => Adds::New(1),
        Measure::Repeats => Adds::Repeat,
        _ => {
            let commands: BTreeSet<Value> = found.iter().filter_map(|found| each(found.value)).collect();
            if commands.is_empty() {
                Adds::Values(values(facts, found).into_iter().collect())
            } else {
                Adds::New(u32::try_from(commands.len()).unwrap_or(u32::MAX))
            }
        }
    }
}

/// What is a match of its own each time.
fn each(value: Value) -> Option<Value> {
    matches!(value, Value::Command(_) | Value::Script(_) | Value::Call).then_some(value)
}

fn matches(facts: &Facts, found: &[Found]) -> u64 {
    let commands: BTreeSet<Value> = found.iter().filter_map(|found| each(found.value)).collect();
    (values(facts, found).len() + commands.len()) as u64
}

/// Names of the values that count once, however often they are met.
fn values(facts: &Facts, found: &[Found]) -> BTreeSet<u64> {
    found.iter().filter(|found| each(found.value).is_none()).map(|found| value(facts, found.value)).collect()
}

fn value(facts: &Facts, value: Value) -> u64 {
    let path = |index: usize| {
        facts.paths.get(index).map(|path| {
            let views = || path.names.first().into_iter().flat_map(|name| &name.views);
            // The absolute spelling is the same from every folder.
            let own = views().find(|view| view.starts_with('/')).or_else(|| views().next());
            own.unwrap_or(&path.written).as_str()
        })
    };
    let text = match value {
        Value::Path(index) => path(index),
        Value::Text(index) => match facts.texts.get(index).and_then(|text| text.path) {
            Some(own) => path(own as usize),
            None => facts.texts.get(index).map(|text| text.after.as_str()),
        },
        Value::Domain(index) => facts.domains.get(index).map(|domain| domain.host.as_str()),
        Value::Arg(index) => facts.args.get(index).map(|arg| arg.value.as_str()),
        Value::Call | Value::Command(_) | Value::Script(_) | Value::Opaque(_) => None,
    };
    checksum(text.unwrap_or_default().as_bytes())
}

fn answer<T>(
    answers: &[Answer],
    number: Option<usize>,
    read: impl Fn(&Answer) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(number) = number else { return Ok(None) };
    match answers.get(number) {
        Some(Answer::Unknown(cause)) => Err(cause.clone()),
        Some(answer) => read(answer).map(Some).ok_or_else(|| "the answer is to another question".to_owned()),
        None => Err("there was no answer".to_owned()),
    }
}

fn count(asked: &Asked<'_>, answers: &[Answer]) -> Result<u64, String> {
    let count = answer(answers, asked.count, |answer| match answer {
        Answer::Count(count) => Some(*count),
        _ => None,
    })?;
    Ok(count.or(asked.counted).unwrap_or_default())
}

/// Whether limit and condition are met; an error says why that is not known.
fn holds(asked: &Asked<'_>, answers: &[Answer]) -> Result<bool, String> {
    let happened = |number| {
        answer(answers, number, |answer| match answer {
            Answer::Happened(did) => Some(*did),
            _ => None,
        })
    };
    if let Some(condition) = &asked.tail.condition {
        let did = happened(asked.happened)?.unwrap_or_default();
        if did == condition.unless || happened(asked.began)? == Some(false) {
            return Ok(false);
        }
    }
    if let Some((outside, _)) = asked.tail.hours
        && happened(asked.hours)? == Some(outside)
    {
        return Ok(false);
    }
    match &asked.tail.limit {
        Some(limit)
            if limit.measure == Measure::Lines
                || limit.measure.of_payment().is_some()
                || limit.measure.of_ledger() =>
        {
            Ok(true)
        }
        Some(limit) => Ok(count(asked, answers)? > u64::from(limit.over)),
        None => Ok(true),
    }
}

/// Whether a fact of a payment is over a limit; what is not known may be.
fn passes(facts: &Facts, limit: &Limit<'_>, found: &mut Found) -> bool {
    let Value::Arg(index) = found.value else { return true };
    let value = facts.args.get(index).map_or("", |arg| payment::shown_value(&arg.name, &arg.value));
    match payment::greater(value, limit.most) {
        Some(false) => return false,
        Some(true) => {}
        // SECURITY: not known is not "not so".
        None => {
            found.sure = false;
            found.class = Class::MaybeGuard;
            found.decision = if found.decision == Decision::Deny { Decision::Ask } else { found.decision };
        }
    }
    let money = |units: &str| match units.len() >= 77 {
        true => format!("{} without limit", limit.shown),
        false => format!("{} {}", payment::decimal(units, limit.over), limit.shown),
    };
    let (what, own, most) = match limit.measure {
        Measure::Lifetime => ("a lifetime of", format!("{value} s"), format!("{} s", limit.most)),
        Measure::Approval => ("an approval of", money(value), money(limit.most)),
        _ => ("", money(value), money(limit.most)),
    };
    let amount = limit.measure == Measure::Amount;
    found.why = Some(match found.sure {
        true if amount => format!("the amount {own} is over the limit of {most} for one payment"),
        true => format!("{what} {own} is more than {most}").trim_start().to_owned(),
        false => format!("how much it is cannot be told, and more than {most} is too much"),
    });
    true
}

/// What a limit says when it is passed.
fn said(limit: &Limit<'_>, count: u64, value: Value) -> String {
    let (one, many) = match (limit.measure, value) {
        (Measure::Calls, _) => ("call", "calls"),
        (Measure::Repeats, _) => ("earlier call of the same", "earlier calls of the same"),
        (Measure::Lines, _) => ("line", "lines"),
        (_, Value::Path(_)) => ("path", "different paths"),
        (_, Value::Domain(_)) => ("host", "different hosts"),
        (_, Value::Command(_)) => ("such command", "such commands"),
        _ => ("match", "matches"),
    };
    let what = if count == 1 { one } else { many };
    let window = if limit.shown.is_empty() { String::new() } else { format!(" {}", limit.shown) };
    format!("{count} {what}{window}, and more than {} is too many", limit.over)
}

/// What a text with more lines than a limit says.
pub(super) fn too_long(limit: &Limit<'_>, lines: usize) -> String {
    said(limit, lines as u64, Value::Call)
}

/// What a call does, by the facts of the past that a table names.
///
/// # Errors
///
/// When the table is damaged.
pub fn happened(table: &Table<'_>, facts: &Facts) -> Result<Vec<Event>, Damaged> {
    if table.pasts() == 0 {
        return Ok(Vec::new());
    }
    let facts = &*marks::known(facts);
    let mut matching = Matching::new(*table, facts);
    let mut out = Vec::new();
    for id in 0..table.pasts() {
        let past = table.past(id)?;
        let found = match past.kind {
            PastKind::Flagged => BTreeMap::new(),
            PastKind::Ran => BTreeMap::from([(0, ran(table, &mut matching, &past)?)]),
            PastKind::Read => touched(table, &mut matching, &past, Access::READ.and(Access::SEND))?,
            PastKind::Wrote => touched(table, &mut matching, &past, Access::WRITE.and(Access::DELETE))?,
        };
        let found = found.into_iter().filter(|(_, found)| *found > Match::No);
        out.extend(found.map(|(value, found)| Event {
            key: past.key,
            kind: past.kind,
            value,
            sure: found == Match::Certain,
        }));
    }
    Ok(out)
}

/// Whether a call that succeeds shows that this command did: `pytest || true`, `pytest | tail` and `pytest; true` always succeed.
fn tells(facts: &Facts, index: usize) -> bool {
    let last = index + 1 == facts.commands.len();
    facts.scripts.iter().all(|script| {
        let text = script.text.replace("&&", " ").replace(">&", ">").replace("&>", ">");
        !text.contains(['|', '&']) && (last || !text.trim_end_matches([';', ' ', '\n']).contains([';', '\n']))
    })
}

fn ran(
    table: &Table<'_>,
    matching: &mut Matching<'_, '_>,
    past: &crate::table::past::Past,
) -> Result<Match, Damaged> {
    let mut most = Match::No;
    for index in 0..matching.facts.commands.len() {
        let told = tells(matching.facts, index);
        for matcher in table.matchers_of(past)? {
            let Matcher::Run(at) = matcher? else { return Err(Damaged) };
            most = most.max(match matching.run(at, false, index) {
                // What its call said is not what it said itself.
                Ok(Match::Certain) if !told => Match::Possible,
                Ok(found) => found,
                Err(Stop::Damaged) => return Err(Damaged),
                // What takes too much work to compare may be it.
                Err(Stop::Limit) => Match::Possible,
            });
            if most == Match::Certain {
                return Ok(most);
            }
        }
    }
    Ok(most)
}

fn touched(
    table: &Table<'_>,
    matching: &mut Matching<'_, '_>,
    past: &crate::table::past::Past,
    how: Access,
) -> Result<BTreeMap<u64, Match>, Damaged> {
    let facts = matching.facts;
    let mut all = BTreeMap::new();
    for (index, path) in facts.paths.iter().enumerate() {
        let (does, may) = (path.access.any(how), path.access.may(how) || path.access == Access::default());
        if !does && !may {
            continue;
        }
        let mut most = Match::No;
        for name in &path.names {
            let views = views::of_name(name, path.form);
            for matcher in table.matchers_of(past)? {
                let Matcher::Path(glob) = matcher? else { return Err(Damaged) };
                let hit = match matching.taken(glob, false, Syntax::Path, &views) {
                    Ok(hit) => hit,
                    Err(Stop::Damaged) => return Err(Damaged),
                    Err(Stop::Limit) => true,
                };
                if hit {
                    let sure = does && path.form == Form::Exact;
                    most = most.max(if sure { Match::Certain } else { Match::Possible });
                }
            }
        }
        if most > Match::No {
            let kept: &mut Match = all.entry(value(facts, Value::Path(index))).or_insert(most);
            *kept = (*kept).max(most);
        }
    }
    Ok(all)
}
