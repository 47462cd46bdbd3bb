//! Collects what was found and writes the verdict.
//!
//! INVARIANT: the deciding step is never dropped, however many are found, nor what is worse for what is less bad; every verdict
//! has a step.

use super::Stop;
use super::past::{MOST_WAITING, Waiting};
use crate::facts::{Facts, TextRole};
use crate::payment;
use crate::table::records::Matcher;
use crate::table::{Table, Verb};
use crate::verdict::{Decision, Finding, Place, Severity, Step, Verdict};
use std::collections::BTreeSet;

/// Most steps in a verdict.
const MOST_STEPS: usize = 64;
/// Most characters of a value in a step.
const MOST_TEXT: usize = 200;

/// What was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    Call,
    Path(usize),
    Domain(usize),
    Command(usize),
    Arg(usize),
    Script(usize),
    Opaque(usize),
    Text(usize),
}

/// Where in a text something was found, and what is said of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) line: u32,
    pub(super) column: u32,
    /// As it may be shown.
    pub(super) shown: String,
    /// Instead of what the line of the policy suggests; empty for none.
    pub(super) suggest: String,
    /// What a check says; empty for none.
    pub(super) message: String,
    /// No worse than this.
    pub(super) at_most: Option<Severity>,
    /// The format of a secret in what a tool gave back, counted from 1; 0 for anything else.
    pub(super) format: u32,
}

/// Who says it; the order in which one is preferred as the deciding step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Default,
    Rule,
    /// A guard that only may match: what is not understood is the truer cause.
    MaybeGuard,
    Floor,
    Guard,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) decision: Decision,
    pub(super) class: Class,
    /// It holds whatever is not known.
    pub(super) sure: bool,
    /// The pattern; 0 for none.
    pub(super) rank: u32,
    pub(super) value: Value,
    pub(super) why: Option<String>,
    pub(super) spot: Spot,
}

impl Found {
    /// Strictest first; then guards, what is not understood, guards that may match, rules, the default; then the greater rank.
    pub(super) fn outranks(&self, other: &Found) -> bool {
        self.key() > other.key()
    }

    fn key(&self) -> (Decision, Class, bool, u32) {
        (self.decision, self.class, self.sure, self.rank)
    }

    fn severity(&self, verb: Verb) -> Severity {
        severity(verb, self.sure).min(self.spot.at_most.unwrap_or(Severity::Error))
    }
}

/// Adds what is new; of too many the least is left out, of equal ones the last.
fn keep<T: PartialEq, K: Ord>(kept: &mut Vec<T>, new: T, most: usize, key: impl Fn(&T) -> K) {
    let mut least = None;
    if kept.len() >= most {
        let all = kept.iter().map(&key).enumerate().rev();
        least = all.min_by(|a, b| a.1.cmp(&b.1)).filter(|(_, least)| *least < key(&new)).map(|(at, _)| at);
        if least.is_none() {
            return;
        }
    }
    if !kept.contains(&new) {
        least.map(|at| kept.remove(at));
        kept.push(new);
    }
}

/// What one call was found to be.
pub(super) struct Report {
    best: Option<Found>,
    found: Vec<Found>,
    findings: Vec<(Found, Verb)>,
    maybe: BTreeSet<(u32, Value)>,
    /// What asks the past first.
    waiting: Vec<Waiting>,
    answered: bool,
    /// Most findings.
    most: usize,
    /// Formats of secrets in what a tool gave back that are refused.
    formats: BTreeSet<u32>,
    /// A line refuses something else.
    refused: bool,
}

impl Report {
    pub(super) fn new(most: usize) -> Report {
        Report {
            best: None,
            found: Vec::new(),
            findings: Vec::new(),
            maybe: BTreeSet::new(),
            waiting: Vec::new(),
            answered: false,
            most,
            formats: BTreeSet::new(),
            refused: false,
        }
    }

    /// At least `ask`, for a cause that no policy changes.
    pub(super) fn floor(&mut self, value: Value, why: String) {
        self.answer(Found {
            decision: Decision::Ask,
            class: Class::Floor,
            sure: true,
            rank: 0,
            value,
            why: Some(why),
            spot: Spot::default(),
        });
    }

    /// What a rule or the default says to a value.
    pub(super) fn answer(&mut self, found: Found) {
        self.answered |= found.class != Class::Default;
        if found.decision == Decision::Deny {
            match found.spot.format.checked_sub(1) {
                Some(format) => drop(self.formats.insert(format)),
                // The default speaks of calls, not of what they gave back.
                None => self.refused |= found.class != Class::Default,
            }
        }
        if self.best.as_ref().is_none_or(|best| found.outranks(best)) {
            self.best = Some(found.clone());
        }
        self.note(found);
    }

    /// What a line finds when the past is as it asks.
    pub(super) fn wait(&mut self, line: u32, found: Found) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push(Waiting { line, found });
        } else {
            self.floor(Value::Call, format!("more than {MOST_WAITING} things ask what happened before"));
        }
    }

    /// Everything that waits.
    pub(super) fn waiting(&mut self) -> Vec<Waiting> {
        std::mem::take(&mut self.waiting)
    }

    /// Something to tell that decides nothing.
    pub(super) fn note(&mut self, found: Found) {
        keep(&mut self.found, found, MOST_STEPS, Found::key);
    }

    /// What a line of a guard says to a value.
    ///
    /// What only may match is told once for a guard and value: many lines say the same of an unknown word.
    pub(super) fn finding(&mut self, found: Found, verb: Verb, block: u32) {
        let counts = !matches!(verb, Verb::Warn | Verb::Info);
        if !found.sure && !self.maybe.insert((block, found.value)) {
            self.answered |= counts;
            if counts && self.best.as_ref().is_none_or(|best| found.outranks(best)) {
                self.best = Some(found);
            }
            return;
        }
        if counts {
            self.answer(found.clone());
        }
        keep(&mut self.findings, (found, verb), self.most, |(found, verb)| found.severity(*verb));
    }

    /// Formats of secrets in what a tool gave back that are refused.
    pub(super) fn formats(&self) -> &BTreeSet<u32> {
        &self.formats
    }

    pub(super) fn verdict(mut self, table: &Table<'_>, facts: &Facts) -> Result<Verdict, Stop> {
        let best = self.best.take().unwrap_or(Found {
            decision: Decision::Ask,
            class: Class::Floor,
            sure: true,
            rank: 0,
            value: Value::Call,
            why: Some("nothing is known of the call".to_owned()),
            spot: Spot::default(),
        });
        let decision = best.decision;
        self.found.sort_by_key(|found| std::cmp::Reverse(found.key()));
        let mut steps = vec![step(table, facts, &best)?];
        for found in self.found.iter().filter(|found| **found != best).take(MOST_STEPS - 1) {
            steps.push(step(table, facts, found)?);
        }
        // SECURITY: one that asks for the page may be among those that were left out.
        if self.found.len() >= MOST_STEPS
            && decision == Decision::Ask
            && table.some_page_only()?
            && let Some(first) = steps.first_mut()
        {
            first.page_only = true;
        }
        let mut findings = Vec::with_capacity(self.findings.len());
        for (found, verb) in &self.findings {
            findings.push(finding(table, facts, found, *verb)?);
        }
        let observe = table.observe()? && !hard(table, facts, &self.found)?;
        Ok(Verdict {
            decision: if observe { Decision::Allow } else { decision },
            abstains: !self.answered && table.default()?.is_none(),
            observed: observe.then_some(decision),
            steps,
            findings,
            secrets: Vec::new(),
            only_secrets: !self.refused,
        })
    }
}

/// Whether something is denied that `mode observe` does not let through: the wrong network, the wrong asset, a payee other than the
/// one that the seller named.
fn hard(table: &Table<'_>, facts: &Facts, found: &[Found]) -> Result<bool, Stop> {
    if !facts.args.iter().any(|arg| payment::is_of_payment(&arg.name)) {
        return Ok(false);
    }
    let mut denied = found.iter().filter(|found| found.decision == Decision::Deny).peekable();
    // SECURITY: one of them may be among those that were left out.
    if denied.peek().is_some() && found.len() >= MOST_STEPS {
        return Ok(true);
    }
    for found in denied.filter(|found| found.rank > 0) {
        // A line about payees may look at this among others.
        let mismatch = matches!(found.value, Value::Arg(at) if facts.args.get(at).is_some_and(|arg| arg.name == payment::PAYEE_IS));
        if mismatch || payment::is_hard(table.line(table.line_of_rank(found.rank)?)?.arg) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// A value as a person wrote it.
fn text(facts: &Facts, value: Value) -> String {
    let text = match value {
        Value::Call => facts.readings.first().map_or(String::new(), |tool| match tool.server.as_str() {
            "" => tool.tool.clone(),
            server => format!("{} from {server}", tool.tool),
        }),
        Value::Path(index) => facts.paths.get(index).map_or(String::new(), |path| {
            let view = path.names.first().and_then(|name| name.views.first());
            if path.written.is_empty() { view.cloned().unwrap_or_default() } else { path.written.clone() }
        }),
        Value::Domain(index) => facts.domains.get(index).map_or(String::new(), |d| d.host.clone()),
        Value::Command(index) => facts
            .commands
            .get(index)
            .map_or(String::new(), |c| if c.source.is_empty() { c.text.clone() } else { c.source.clone() }),
        Value::Arg(index) => {
            let arg = facts.args.get(index);
            arg.map_or(String::new(), |a| {
                format!("{}: {}", payment::shown(&a.name), payment::shown_value(&a.name, &a.value))
            })
        }
        Value::Script(index) => facts.scripts.get(index).map_or(String::new(), |s| s.text.clone()),
        Value::Text(index) => facts.texts.get(index).map_or(String::new(), |t| {
            let path = t.path.and_then(|path| facts.paths.get(path as usize));
            match path {
                Some(path) => path.written.clone(),
                None => match t.role {
                    TextRole::File => "the file".to_owned(),
                    TextRole::Command => "the command".to_owned(),
                    TextRole::Prompt => "the prompt".to_owned(),
                    TextRole::Output => "what the tool gave back".to_owned(),
                    TextRole::Transcript => "the transcript of the subagent".to_owned(),
                    TextRole::Argument => "an argument".to_owned(),
                },
            }
        }),
        Value::Opaque(index) => facts.opaque.get(index).map_or(String::new(), |o| match &o.origin {
            crate::facts::Origin::Arg(name) => name.clone(),
            crate::facts::Origin::Command(_) | crate::facts::Origin::Call => String::new(),
        }),
    };
    cut(&text.replace('\u{1}', "…").replace('\u{2}', "*"))
}

const fn noun(value: Value) -> &'static str {
    match value {
        Value::Path(_) => "path",
        Value::Domain(_) => "host",
        Value::Command(_) | Value::Script(_) => "command",
        Value::Arg(_) => "argument",
        Value::Text(_) => "text",
        Value::Call | Value::Opaque(_) => "call",
    }
}

fn step(table: &Table<'_>, facts: &Facts, found: &Found) -> Result<Step, Stop> {
    let value = text(facts, found.value);
    let mut step = Step {
        decision: found.decision,
        rule: "built-in".to_owned(),
        place: Place::default(),
        value,
        matched: String::new(),
        because: found.why.clone().unwrap_or_default(),
        suggest: String::new(),
        ask_timeout: if found.decision == Decision::Ask { table.ask_timeout()? } else { None },
        page_only: found.decision == Decision::Ask && table.page_only()?,
        guard: matches!(found.class, Class::Guard | Class::MaybeGuard),
    };
    if found.spot.line > 0 {
        step.value = match found.spot.column {
            0 => format!("{}:{}", step.value, found.spot.line),
            column => format!("{}:{}:{column}", step.value, found.spot.line),
        };
    }
    if !found.spot.shown.is_empty() {
        step.value = format!("{}: {}", step.value, cut(&found.spot.shown));
    }
    if found.class == Class::Default {
        let info_default = table.default()?;
        step.rule = "default".to_owned();
        step.place = table.default_place()?;
        step.because = match info_default {
            Some(default) => {
                format!("no rule answers this {}; the default is {}", noun(found.value), default.word())
            }
            None => format!("no rule answers this {}, and no default is written", noun(found.value)),
        };
    }
    if found.rank != 0 {
        let pattern = table.pattern(found.rank)?;
        let line = table.line(pattern.line)?;
        let block = table.block(line.block)?;
        step.rule = block.name.to_owned();
        step.place = table.line_place(&line)?;
        step.matched = pattern.text.to_owned();
        step.suggest = line.suggest.to_owned();
        step.because = because(found, line.because, matches!(pattern.matcher, Matcher::Miss), &step.value);
        if !found.spot.suggest.is_empty() {
            step.suggest.clone_from(&found.spot.suggest);
        }
        if !found.spot.message.is_empty() {
            step.because.clone_from(&found.spot.message);
        }
        if found.decision == Decision::Ask && block.ask_timeout.is_some() {
            step.ask_timeout = block.ask_timeout;
        }
        step.page_only |= found.decision == Decision::Ask && block.page_only;
    }
    Ok(step)
}

fn because(found: &Found, reason: &str, miss: bool, value: &str) -> String {
    let cause = match (&found.why, miss) {
        (Some(why), _) => why.clone(),
        (None, true) if reason.is_empty() => "it is not among what `only` names".to_owned(),
        (None, _) if !found.sure => format!("`{value}` is not fully known and could match"),
        (None, _) => return reason.to_owned(),
    };
    if reason.is_empty() { cause } else { format!("{cause}; {reason}") }
}

fn finding(table: &Table<'_>, facts: &Facts, found: &Found, verb: Verb) -> Result<Finding, Stop> {
    let step = step(table, facts, found)?;
    let message = if step.because.is_empty() {
        format!("`{}` matches `{}`", step.value, step.matched)
    } else {
        step.because
    };
    Ok(Finding {
        rule: step.rule,
        severity: found.severity(verb),
        message,
        suggest: step.suggest,
        place: step.place,
        line: found.spot.line,
        column: found.spot.column,
    })
}

fn severity(verb: Verb, sure: bool) -> Severity {
    match verb {
        Verb::Info => Severity::Info,
        Verb::Deny | Verb::Only if sure => Severity::Error,
        _ => Severity::Warning,
    }
}

/// The answer of a table that says what cannot be.
pub(super) fn damaged() -> Verdict {
    Verdict::of(Step {
        decision: Decision::Deny,
        rule: "built-in".to_owned(),
        place: Place::default(),
        value: String::new(),
        matched: String::new(),
        because: "the table is damaged; compile the policy again".to_owned(),
        suggest: String::new(),
        ask_timeout: None,
        page_only: false,
        guard: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(decision: Decision, index: usize) -> Found {
        let (class, value) = (Class::Guard, Value::Text(index));
        Found { decision, class, sure: true, rank: 1, value, why: None, spot: Spot::default() }
    }

    #[test]
    fn what_is_worse_is_told_although_much_was_told_before() {
        let mut report = Report::new(MOST_STEPS);
        for index in 0..2 * MOST_STEPS {
            report.finding(found(Decision::Allow, index), Verb::Warn, 0);
            report.answer(found(Decision::Ask, index));
        }
        report.finding(found(Decision::Deny, 7), Verb::Deny, 0);
        report.finding(found(Decision::Deny, 7), Verb::Deny, 0);
        let told: Vec<_> = report.findings.iter().map(|(found, verb)| found.severity(*verb)).collect();
        assert_eq!((told.len(), report.found.len()), (MOST_STEPS, MOST_STEPS));
        assert_eq!(told.iter().filter(|severity| **severity == Severity::Error).count(), 1);
        assert_eq!(report.findings[0].0.value, Value::Text(0), "the last of equal ones makes room");
        assert_eq!(report.found.iter().filter(|found| found.decision == Decision::Deny).count(), 1);
    }
}
