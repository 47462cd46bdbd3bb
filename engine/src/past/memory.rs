//! A record in memory, for tests of policies and of other records.
//!
//! INVARIANT: answers as the record on disk does.

use super::{Entry, Note, Store, Suppress, Told, flagged};
use policy_runtime::outside::{Adds, Answer, Moment, Question, Window};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// One session in memory.
#[derive(Debug, Default)]
pub struct Memory {
    held: RefCell<Held>,
}

#[derive(Debug, Clone, Default)]
struct Held {
    rows: Vec<Row>,
    flags: BTreeSet<String>,
    suppressed: BTreeSet<String>,
    files: BTreeMap<String, u64>,
}

#[derive(Debug, Clone)]
struct Row {
    key: u64,
    value: u64,
    tool: u64,
    at_ms: i64,
    sure: bool,
    succeeded: bool,
}

impl Row {
    fn is(&self, moment: &Moment) -> bool {
        self.key == moment.key && (!moment.succeeded || self.sure && self.succeeded)
    }
}

impl Held {
    /// The place behind the last time of something.
    fn last(&self, moment: &Moment) -> Option<usize> {
        self.rows.iter().rposition(|row| row.is(moment)).map(|at| at + 1)
    }

    /// How many different values of something there are behind a place.
    fn different(&self, moment: &Moment, from: usize) -> u64 {
        let rows = self.rows.iter().skip(from).filter(|row| row.is(moment));
        rows.map(|row| row.value).collect::<BTreeSet<_>>().len() as u64
    }

    fn count(&mut self, entry: &Entry, question: &Question) -> u64 {
        let Question::Count { key, adds, window, by_tool } = question else { return 0 };
        let mut add = |value: u64| {
            let (tool, at_ms) = (entry.tool, entry.now_ms);
            self.rows.push(Row { key: *key, value, tool, at_ms, sure: true, succeeded: true });
        };
        match adds {
            Adds::Values(values) => values.iter().for_each(|value| add(*value)),
            Adds::New(new) => (0..*new).for_each(|_| add(0)),
            Adds::Repeat => add(entry.call),
        }
        let (start, from_ms) = match window {
            Window::Seconds(seconds) => (0, entry.now_ms - i64::from(*seconds) * 1000),
            Window::Session => (0, i64::MIN),
            Window::Since(moment) => (self.last(moment).unwrap_or_default(), i64::MIN),
        };
        let rows = self.rows.iter().skip(start);
        let rows = rows.filter(|row| row.key == *key && row.at_ms >= from_ms);
        let rows = rows.filter(|row| !by_tool || row.tool == entry.tool);
        let count = match adds {
            Adds::Values(_) => rows.map(|row| row.value).collect::<BTreeSet<_>>().len(),
            Adds::New(_) => rows.count(),
            Adds::Repeat => rows.filter(|row| row.value == entry.call).count().saturating_sub(1),
        };
        count as u64
    }
}

impl Store for Memory {
    fn ask(&self, entry: &Entry, questions: &[Question]) -> Result<Vec<Answer>, String> {
        let mut held = self.held.borrow_mut();
        let answer = |question: &Question| match question {
            Question::Count { .. } => Answer::Count(held.count(entry, question)),
            Question::Paid(_) | Question::Hours(_) => {
                Answer::Unknown("the record of a session does not know".to_owned())
            }
            Question::Happened { past, since, over } => {
                let since = since.as_ref().and_then(|since| held.last(since)).unwrap_or_default();
                Answer::Happened(held.different(past, since) > u64::from(*over))
            }
        };
        Ok(questions.iter().map(answer).collect())
    }

    fn look(&self, entry: &Entry, questions: &[Question]) -> Result<Vec<Answer>, String> {
        let copy = Memory { held: RefCell::new(self.held.borrow().clone()) };
        copy.ask(entry, questions)
    }

    fn record(&self, entry: &Entry, note: &Note) -> Result<(), String> {
        let mut held = self.held.borrow_mut();
        let (tool, at_ms) = (entry.tool, entry.now_ms);
        for event in &note.events {
            let (sure, succeeded) = (event.sure, note.succeeded);
            held.rows.push(Row { key: event.key, value: event.value, tool, at_ms, sure, succeeded });
        }
        for flag in &note.flags {
            held.flags.insert(flag.clone());
            held.rows.push(Row { key: flagged(), value: 0, tool, at_ms, sure: true, succeeded: true });
        }
        for file in &note.wrote {
            *held.files.entry(file.clone()).or_default() += 1;
        }
        Ok(())
    }

    fn told(&self, _entry: &Entry) -> Result<Told, String> {
        let held = self.held.borrow();
        Ok(Told {
            flags: held.flags.iter().cloned().collect(),
            suppressed: held.suppressed.iter().cloned().collect(),
            files: held.files.iter().map(|(file, times)| (file.clone(), *times)).collect(),
        })
    }

    fn suppress(&self, _entry: &Entry, change: Suppress<'_>) -> Result<(), String> {
        let mut held = self.held.borrow_mut();
        match change {
            Suppress::Add(rule) => held.suppressed.insert(rule.to_owned()),
            Suppress::Remove(rule) => held.suppressed.remove(rule),
            Suppress::Clear => {
                held.suppressed.clear();
                true
            }
        };
        Ok(())
    }
}
