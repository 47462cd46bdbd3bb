//! What lines about texts find: the scanner's needles and built-in checks.
//!
//! INVARIANT: a text is scanned once for a decision, however many lines look at it; one that could not be scanned, or is
//! not fully known, counts as not understood for every block that looks at it.

use super::Stop;
use super::guards::Judge;
use super::past::too_long;
use super::report::{Spot, Value};
use super::values::Ready;
use crate::facts::{Facts, TextFact, TextRole};
use crate::outside::{Measure, Outside, Target};
use crate::run_match::Match;
use crate::secret::{self, Checksum, Conditions};
use crate::table::groups::Group;
use crate::table::layout::Section;
use crate::table::read::Damaged;
use crate::table::records::{Matcher, View};
use crate::table::{Line, Table};
use crate::verdict::{Secret, Severity};
use policy_scan::{Outcome, ScanError, Scanner, Sums};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::{ControlFlow, Range};

/// Most texts of one call.
const MOST_TEXTS: usize = 1024;
/// Bytes of texts for which the sums of the scanner's section are looked at as it is used, not all of them at once.
const FEW_BYTES: usize = 16 * 1024;
/// Letters are counted for a column at most this many bytes into a line: counting for each place would be quadratic.
const MOST_COLUMN: usize = 4096;

/// A place where a needle was found.
#[derive(Debug, Clone)]
struct Place {
    needle: u32,
    line: u32,
    column: u32,
    shown: String,
    /// The secret itself, for a needle of secrets.
    secret: Option<Range<usize>>,
    /// Number of its format, counted from 1.
    format: u32,
}

/// What was found in one text, by view.
#[derive(Debug, Default)]
struct Found {
    added: Vec<Place>,
    after: Vec<Place>,
    before: Vec<Place>,
    /// Why it was not scanned.
    problem: Option<String>,
}

/// What was found in the texts of a call.
pub(super) struct Texts<'f> {
    facts: &'f Facts,
    found: Option<Vec<Found>>,
    /// Most places of one needle in one text that are told.
    most: usize,
}

impl<'f> Texts<'f> {
    /// Nothing looked at yet.
    pub(super) fn new(facts: &'f Facts, outside: &dyn Outside) -> Texts<'f> {
        Texts { facts, found: None, most: outside.most().places }
    }

    /// Every secret of these formats in the first text that a tool gave back.
    pub(super) fn secrets(&self, table: &Table<'_>, formats: &BTreeSet<u32>) -> Result<Vec<Secret>, Stop> {
        let output = self.facts.texts.iter().find(|text| text.role == TextRole::Output);
        let Some(output) = output.filter(|_| !formats.is_empty()) else { return Ok(Vec::new()) };
        let section = table.scan()?;
        section.get(0, section.len())?;
        let scanner = Scanner::in_place(section.unseen(), None).map_err(|_| Stop::Damaged)?;
        let mut found: Vec<(Range<usize>, u32)> = Vec::new();
        pass(table, &scanner, &output.after, &mut |place, _| {
            let format = place.format.checked_sub(1).filter(|format| formats.contains(format));
            found.extend(place.secret.clone().zip(format));
        })?;
        let named = found.into_iter().map(|(range, format)| {
            let name = table.text_in(table.row(Section::Secrets, format)?, 0)?;
            Ok(Secret { start: range.start, end: range.end, format: name.to_owned() })
        });
        let mut named = named.collect::<Result<Vec<Secret>, Stop>>()?;
        named.sort();
        named.dedup();
        Ok(named)
    }

    fn found(&mut self, table: &Table<'_>) -> Result<&[Found], Stop> {
        if self.found.is_none() {
            let texts = self.facts.texts.iter().take(MOST_TEXTS);
            let section = table.scan()?;
            let whole = |text: &TextFact| text.after.len() + text.before.as_ref().map_or(0, String::len);
            let bytes: usize = texts.clone().map(whole).sum();
            // ORDER: a few words lead to few patterns, a file to most of them.
            let sums: Option<&dyn Sums> = match section.all() {
                Some(_) => None,
                None if bytes <= FEW_BYTES => Some(&section),
                None => section.get(0, section.len()).map(|_| None)?,
            };
            let scanner = Scanner::in_place(section.unseen(), sums).map_err(|_| Stop::Damaged)?;
            self.found =
                Some(texts.map(|text| scan(table, &scanner, text, self.most)).collect::<Result<_, Stop>>()?);
        }
        Ok(self.found.as_deref().unwrap_or_default())
    }
}

fn scan(table: &Table<'_>, scanner: &Scanner<'_>, text: &TextFact, most: usize) -> Result<Found, Stop> {
    let mut found = Found::default();
    let mut problem = None;
    // A secret that stands in the file already is not new, wherever the edit puts it.
    let mut known: HashSet<&str> = HashSet::new();
    // What matched before; what comes together because a line between went is new, though no line is.
    let mut matched_before: HashSet<(u32, &str)> = HashSet::new();
    if let Some(before) = &text.before {
        let mut places = Places::new(most);
        let mut keep = |place: &Place, matched: Range<usize>| {
            match place.secret.clone() {
                Some(range) => known.extend(before.get(range)),
                None => matched_before.extend(before.get(matched.clone()).map(|text| (place.needle, text))),
            }
            places.add(place, before, matched.start);
        };
        problem = pass(table, scanner, before, &mut keep)?;
        found.before = places.places;
    }
    let (mut all, mut some) = (Places::new(most), Places::new(most));
    let after = &text.after;
    let mut keep = |place: &Place, matched: Range<usize>| {
        let touched = || overlaps(&text.added, matched.start, matched.end);
        let secret = place.secret.clone().and_then(|range| after.get(range));
        let new = match (secret, &text.before) {
            (Some(secret), Some(_)) => !known.contains(secret),
            (None, Some(_)) => {
                let found = after.get(matched.clone()).map(|text| (place.needle, text));
                touched() || found.is_some_and(|found| !matched_before.contains(&found))
            }
            (_, None) => touched(),
        };
        if new {
            some.add(place, after, matched.start);
        }
        all.add(place, after, matched.start);
    };
    let failed = pass(table, scanner, after, &mut keep)?;
    (found.after, found.added) = (all.places, some.places);
    found.problem = failed.or(problem);
    Ok(found)
}

/// Every hit of a text that stands, and why the text was not scanned.
fn pass(
    table: &Table<'_>,
    scanner: &Scanner<'_>,
    whole: &str,
    keep: &mut dyn FnMut(&Place, Range<usize>),
) -> Result<Option<String>, Stop> {
    let mut damaged = false;
    let outcome = scanner.scan(whole.as_bytes(), |hit| {
        match judged(table, whole, hit) {
            Ok(Some(place)) => keep(&place, hit.start as usize..hit.end as usize),
            Ok(None) => {}
            Err(_) => damaged = true,
        }
        if damaged { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if damaged {
        return Err(Stop::Damaged);
    }
    Ok(match outcome {
        Err(ScanError::Damaged(_)) => return Err(Stop::Damaged),
        Err(error) => Some(error.to_string()),
        // SECURITY: what may match behind a limit is not known, which is not the same as not there.
        Ok(Outcome::Incomplete { places, first }) => Some(format!(
            "in {places} places, first at byte {first}, a pattern may go on further than it is followed"
        )),
        Ok(Outcome::Complete | Outcome::Stopped) => None,
    })
}

/// Places, few for each needle.
struct Places {
    most: usize,
    counts: BTreeMap<u32, usize>,
    places: Vec<Place>,
}

impl Places {
    fn new(most: usize) -> Places {
        Places { most, counts: BTreeMap::new(), places: Vec::new() }
    }

    /// Keeps a place that begins at a byte of the whole text.
    fn add(&mut self, place: &Place, whole: &str, start: usize) {
        let count = self.counts.entry(place.needle).or_default();
        *count += 1;
        if *count <= self.most {
            let column = letters(whole, start, place.column);
            self.places.push(Place { column, ..place.clone() });
        }
    }
}

/// A column in letters, of a place by its column in bytes; 0 when it is too far out.
fn letters(whole: &str, start: usize, column: u32) -> u32 {
    let into = (column as usize).saturating_sub(1);
    if into > MOST_COLUMN {
        return 0;
    }
    let bytes = whole.as_bytes().get(start.saturating_sub(into)..start).unwrap_or_default();
    // A letter begins where no byte goes on with one.
    let begun = bytes.iter().filter(|byte| (**byte as i8) >= -64).count();
    u32::try_from(begun + 1).unwrap_or(0)
}

fn overlaps(parts: &[Range<usize>], start: usize, end: usize) -> bool {
    let first = parts.partition_point(|part| part.end <= start);
    parts.get(first).is_some_and(|part| part.start < end)
}

/// The place of a hit, unless it is no secret.
fn judged(table: &Table<'_>, whole: &str, hit: &policy_scan::Hit<'_>) -> Result<Option<Place>, Damaged> {
    let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let matched = String::from_utf8_lossy(hit.text);
    let mut place = Place {
        needle: hit.id,
        line: number(hit.line),
        column: number(hit.column),
        shown: matched.chars().take(80).collect(),
        secret: None,
        format: 0,
    };
    let secret = table.row(Section::Needles, hit.id)?.word(0)?;
    let Some(secret) = secret.checked_sub(1) else { return Ok(Some(place)) };
    let row = table.row(Section::Secrets, secret)?;
    let matched = hit.start as usize..hit.end as usize;
    let checksum = Checksum::ALL.get(row.word(3)? as usize).ok_or(Damaged)?.0;
    let conditions = Conditions { entropy: row.word(2)?, checksum };
    let samples: Vec<&str> = table.texts(row.range(4)?)?.collect::<Result<_, Damaged>>()?;
    let Some(range) = secret::judge(whole.as_bytes(), matched, &conditions, samples.into_iter()) else {
        return Ok(None);
    };
    let value = String::from_utf8_lossy(whole.as_bytes().get(range.clone()).unwrap_or_default());
    place.shown = format!("{} {}", table.text_in(row, 0)?, secret::masked(&value));
    (place.secret, place.format) = (Some(range), secret + 1);
    Ok(Some(place))
}

impl<'t, 'f> Judge<'_, '_, 't, 'f> {
    /// Every text before every guard that looks at texts.
    pub(super) fn texts(
        &mut self,
        guards: &[(Group, Match)],
        texts: &mut Texts<'f>,
        outside: &dyn Outside,
    ) -> Result<(), Stop> {
        let facts = self.matching.facts;
        let counts = facts.texts.iter().any(|text| text.role == TextRole::File);
        let wanted = |(group, _): &&(Group, Match)| {
            group.content.count > 0 || group.checks.count > 0 || counts && group.always.count > 0
        };
        let guards: Vec<&(Group, Match)> = guards.iter().filter(wanted).collect();
        if guards.is_empty() {
            return Ok(());
        }
        let scans = guards.iter().any(|(group, _)| group.content.count > 0);
        for index in 0..facts.texts.len().min(MOST_TEXTS) {
            let Some(text) = facts.texts.get(index) else { continue };
            let ready = text.path.and_then(|path| self.call.values.path(path as usize));
            for (group, call) in &guards {
                let lies = match ready {
                    Some(ready) => self.lies(group, &ready.places)?,
                    None => *call,
                };
                if lies == Match::No {
                    continue;
                }
                let sure = lies == Match::Certain;
                if text.role == TextRole::File {
                    self.lines(group, text, (index, ready), sure)?;
                }
                if group.content.count == 0 && group.checks.count == 0 {
                    continue;
                }
                if !text.gap.is_empty() {
                    self.report.floor(Value::Text(index), text.gap.clone());
                }
                if scans && group.content.count > 0 {
                    let table = self.matching.table;
                    let found = texts.found(&table)?;
                    let Some(found) = found.get(index) else { continue };
                    self.needles(group, found, (index, ready), sure)?;
                }
                self.checks(group, outside, Target::Text(index), (Value::Text(index), ready), sure)?;
            }
        }
        if facts.texts.len() > MOST_TEXTS {
            self.report.floor(Value::Call, format!("more than {MOST_TEXTS} texts"));
        }
        for (group, call) in &guards {
            if group.checks.count == 0 || *call == Match::No {
                continue;
            }
            let sure = *call == Match::Certain;
            for index in 0..facts.commands.len().min(super::MOST_VALUES) {
                let ready = self.call.values.command(index);
                self.checks(group, outside, Target::Command(index), (Value::Command(index), ready), sure)?;
            }
            self.checks(group, outside, Target::Call, (Value::Call, None), sure)?;
        }
        if let Some(cause) = outside.gap() {
            self.report.floor(Value::Call, cause);
        }
        Ok(())
    }

    /// Limits on how many lines a file has.
    fn lines(
        &mut self,
        group: &Group,
        text: &TextFact,
        (index, ready): (usize, Option<&Ready<'_>>),
        sure: bool,
    ) -> Result<(), Stop> {
        let table = self.matching.table;
        for rank in table.numbers(group.always)? {
            let rank = rank?;
            let line: Line<'t> = table.line(table.line_of_rank(rank)?)?;
            let limit = table.tail(&line)?.and_then(|tail| tail.limit);
            let Some(limit) = limit.filter(|limit| limit.measure == Measure::Lines) else { continue };
            let lines = text.after.lines().count();
            if lines > limit.over as usize {
                self.finding(&line, rank, sure, ready, (Value::Text(index), too_long(&limit, lines)))?;
            }
        }
        Ok(())
    }

    /// What the scanner found, as the lines of a group see it.
    fn needles(
        &mut self,
        group: &Group,
        found: &Found,
        (index, ready): (usize, Option<&Ready<'_>>),
        sure: bool,
    ) -> Result<(), Stop> {
        let table = self.matching.table;
        if let Some(problem) = &found.problem {
            self.report.floor(Value::Text(index), problem.clone());
        }
        if found.after.is_empty() && found.before.is_empty() {
            return Ok(());
        }
        let facts = self.matching.facts;
        let text = facts.texts.get(index);
        let output = facts.event.starts_with("post_tool_use")
            && text.is_some_and(|text| text.role == TextRole::Output);
        // What is said beside a file is none of its text, which patterns of lines about files look for.
        let beside = group.withins.count > 0
            && !facts.paths.is_empty()
            && text.is_some_and(|text| text.role == TextRole::Argument && text.path.is_none());
        let numbers = table.numbers(group.content)?.collect::<Result<Vec<u32>, Damaged>>()?;
        let (pairs, _) = numbers.as_chunks::<2>();
        for (view, places) in
            [(View::Added, &found.added), (View::After, &found.after), (View::Before, &found.before)]
        {
            for place in places.iter().filter(|place| !beside || place.format > 0) {
                let first = pairs.partition_point(|[needle, _]| *needle < place.needle);
                let same = pairs.get(first..).unwrap_or_default();
                for [_, rank] in same.iter().take_while(|[needle, _]| *needle == place.needle) {
                    let pattern = table.pattern(*rank)?;
                    if !matches!(pattern.matcher, Matcher::Content(_, wanted) if wanted == view) {
                        continue;
                    }
                    let line = table.line(pattern.line)?;
                    let mut spot = Spot {
                        line: place.line,
                        column: place.column,
                        shown: place.shown.clone(),
                        ..Spot::default()
                    };
                    if let Some(format) = place.format.checked_sub(1) {
                        spot.format = if output { place.format } else { 0 };
                        let row = table.row(Section::Secrets, format)?;
                        let (because, suggest) = (table.text_in(row, 6)?, table.text_in(row, 8)?);
                        spot.suggest = suggest.to_owned();
                        spot.message = match (because.is_empty(), line.because.is_empty()) {
                            (true, _) => String::new(),
                            (false, true) => because.to_owned(),
                            (false, false) => format!("{because}; {}", line.because),
                        };
                    }
                    self.finding(&line, *rank, sure, ready, (Value::Text(index), spot))?;
                }
            }
        }
        Ok(())
    }

    /// What the checks of a group find in a target.
    fn checks(
        &mut self,
        group: &Group,
        outside: &dyn Outside,
        target: Target,
        (value, ready): (Value, Option<&Ready<'_>>),
        sure: bool,
    ) -> Result<(), Stop> {
        let table = self.matching.table;
        for rank in table.numbers(group.checks)? {
            let rank = rank?;
            let pattern = table.pattern(rank)?;
            let line: Line<'t> = table.line(pattern.line)?;
            let Matcher::Check(options) = pattern.matcher else { return Err(Stop::Damaged) };
            let Some(mut remarks) = outside.check(line.arg, options, self.matching.facts, target) else {
                self.report.floor(value, format!("the check `{}` is not available here", line.arg));
                continue;
            };
            let most = outside.most().places;
            if remarks.len() > most {
                // What may refuse is not hidden behind what may not.
                remarks.sort_by_key(|remark| Reverse(remark.at_most.unwrap_or(Severity::Error)));
            }
            for remark in remarks.into_iter().take(most) {
                let spot = Spot {
                    line: remark.line,
                    column: remark.column,
                    message: remark.message,
                    suggest: remark.suggest,
                    at_most: remark.at_most,
                    ..Spot::default()
                };
                self.finding(&line, rank, sure, ready, (value, spot))?;
            }
        }
        Ok(())
    }
}
