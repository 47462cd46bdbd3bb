//! What happened before in a session: who keeps it, and what one call asks of it and leaves behind.
//!
//! INVARIANT: one call counts once, however many tables ask; what cannot be told is said so, and never taken for "nothing
//! happened". What is remembered only tightens.

mod memory;

pub use memory::Memory;

use crate::checks::Checks;
use crate::feeds::Feeds;
use crate::paying::{self, Purse};
use policy_hosts::call::Call;
use policy_payments::ledger::Ledger;
use policy_runtime::checksum;
use policy_runtime::facts::{Access, Facts};
use policy_runtime::hours::Hours;
use policy_runtime::outside::{Adds, Answer, Event, Outside, PastKind, Question, Remark, Target};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// Most files of one call that are remembered.
const MOST_FILES: usize = 256;

/// Whose record, and which call of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// The folder of our own state.
    pub state: PathBuf,
    /// The host.
    pub host: String,
    /// The host's session id; empty: the project's own session, which is everything that happened in the project of late.
    pub session: String,
    /// The project.
    pub project: String,
    /// Digest of the tool's name.
    pub tool: u64,
    /// Digest of tool and arguments.
    pub call: u64,
    /// Now, milliseconds since the epoch.
    pub now_ms: i64,
}

/// What a call leaves behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    /// What it does, by the facts that a table names.
    pub events: Vec<Event>,
    /// It ran, and succeeded.
    pub succeeded: bool,
    /// Blocks that flag the session.
    pub flags: BTreeSet<String>,
    /// Files that it wrote.
    pub wrote: Vec<String>,
}

/// What a record of a session holds, for a person or a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// Blocks that flagged the session.
    pub flags: Vec<String>,
    /// Rules whose warnings and remarks are not shown.
    pub suppressed: Vec<String>,
    /// Files that were written, with how often.
    pub files: Vec<(String, u64)>,
}

/// A change of what is suppressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suppress<'a> {
    /// Do not show this rule.
    Add(&'a str),
    /// Show it again.
    Remove(&'a str),
    /// Show all again.
    Clear,
}

/// Keeps what happened.
pub trait Store: Debug {
    /// Adds what the questions count and answers them, at one moment.
    ///
    /// # Errors
    /// When the record cannot be used: the cause, as a clause.
    fn ask(&self, entry: &Entry, questions: &[Question]) -> Result<Vec<Answer>, String>;

    /// Answers questions as [`Store::ask`] does, and leaves nothing behind.
    ///
    /// # Errors
    /// As [`Store::ask`].
    fn look(&self, entry: &Entry, questions: &[Question]) -> Result<Vec<Answer>, String>;

    /// Remembers what a call did.
    ///
    /// # Errors
    /// As [`Store::ask`].
    fn record(&self, entry: &Entry, note: &Note) -> Result<(), String>;

    /// What is known of the session.
    ///
    /// # Errors
    /// As [`Store::ask`].
    fn told(&self, entry: &Entry) -> Result<Told, String>;

    /// Changes what is suppressed.
    ///
    /// # Errors
    /// As [`Store::ask`].
    fn suppress(&self, entry: &Entry, change: Suppress<'_>) -> Result<(), String>;

    /// The ledger of payments in a folder of state.
    ///
    /// # Errors
    /// When nobody here keeps one.
    fn ledger(&self, _state: &Path) -> Result<Box<dyn Ledger>, String> {
        Err("nobody here keeps a ledger of payments".to_owned())
    }
}

/// The file of the record.
pub fn record_file(state: &Path) -> PathBuf {
    state.join("sessions").join("record.db")
}

/// The name under which a flag is an event.
pub fn flagged() -> u64 {
    checksum(PastKind::Flagged.word().as_bytes())
}

/// The record as one call asks it.
pub(crate) struct Asking<'a> {
    store: Keeper<'a>,
    pub(crate) entry: Entry,
    known: RefCell<Vec<(Question, Answer)>>,
    flags: RefCell<BTreeSet<String>>,
    feeds: Feeds,
    /// The ledger of payments, inside of a check.
    purse: Option<Purse<'a>>,
    /// There is none, and it was asked.
    wanted: Cell<bool>,
    /// Nothing was paid before; the payee.
    payee: Option<Option<String>>,
}

/// What a call was counted for already: a call that waited for a person is decided once more, and counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// Digest of the call; of another one nothing is taken.
    call: u64,
    answers: Vec<(Question, Answer)>,
    /// The name that the lines of audit of the call share; who asks about it gives it.
    pub name: String,
    /// It pays, a person is asked about it, and nothing is reserved for it yet.
    pub owes: bool,
    /// A person said yes to it, or is asked by somebody who does not tell the answer.
    pub yes: bool,
}

impl Counted {
    /// Whether it is of this call.
    pub fn is_of(&self, call: &Call) -> bool {
        self.call == digests(call).1
    }
}

/// Who keeps the record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keeper<'a> {
    /// A call of no session: nothing happened before.
    Fresh,
    /// A session whose record nobody keeps here.
    Nobody,
    /// This.
    Store(&'a dyn Store),
    /// This, which is only looked at.
    Looked(&'a dyn Store),
}

impl<'a> Asking<'a> {
    pub(crate) fn new(store: Keeper<'a>, entry: Entry) -> Asking<'a> {
        Asking {
            store,
            entry,
            known: RefCell::default(),
            flags: RefCell::default(),
            feeds: Feeds::default(),
            purse: None,
            wanted: Cell::default(),
            payee: None,
        }
    }

    /// With what a feed tells.
    pub(crate) fn with_feeds(self, feeds: Feeds) -> Asking<'a> {
        Asking { feeds, ..self }
    }

    /// Of a call of no session: nothing was paid before.
    pub(crate) fn with_nothing_paid(self, call: &Call) -> Asking<'a> {
        Asking { payee: Some(paying::payee(call)), ..self }
    }

    /// Inside of a check of a payment.
    pub(crate) fn with_purse(self, purse: Option<Purse<'a>>) -> Asking<'a> {
        Asking { purse, ..self }
    }

    /// Whether the ledger of payments was asked for, and was not there.
    pub(crate) fn wants_ledger(&self) -> bool {
        self.wanted.get()
    }

    /// What the ledger says, where it is asked.
    fn paid(&self, question: &Question) -> Option<Answer> {
        match (question, &self.purse) {
            (Question::Paid(paid), Some(purse)) => Some(purse.answer(paid)),
            (Question::Paid(paid), None) => {
                self.wanted.set(true);
                Some(match &self.payee {
                    Some(payee) => Purse { payee: payee.as_deref(), ..Purse::default() }.answer(paid),
                    None => Answer::Unknown("nobody here keeps a ledger of payments".to_owned()),
                })
            }
            (Question::Hours(hours), _) => {
                let now = self.purse.as_ref().and_then(|purse| purse.now).unwrap_or(self.entry.now_ms);
                Some(match Hours::read(hours) {
                    Ok(hours) => Answer::Happened(hours.hold(now)),
                    Err(_) => Answer::Unknown("the hours of the policy cannot be read".to_owned()),
                })
            }
            (Question::Happened { past, .. }, Some(purse)) if past.kind == PastKind::Flagged => {
                match purse.view.map_or(Ok(false), |view| view.flagged()) {
                    Ok(true) => Some(Answer::Happened(true)),
                    Ok(false) => None,
                    Err(fault) => Some(Answer::Unknown(fault.0)),
                }
            }
            (Question::Happened { past, .. }, None) if past.kind == PastKind::Flagged => {
                self.wanted.set(true);
                None
            }
            _ => None,
        }
    }

    /// Of a call that was counted before.
    pub(crate) fn with_counted(self, counted: &Counted) -> Asking<'a> {
        if counted.call == self.entry.call {
            self.known.borrow_mut().extend(counted.answers.iter().cloned());
        }
        self
    }

    /// What it was counted for; whatever else was told may change until it is asked again.
    pub(crate) fn counted(&self) -> Counted {
        let known = self.known.borrow();
        // What a ledger counts is asked of it anew.
        let counts = known.iter().filter(|(question, answer)| {
            matches!(question, Question::Count { .. }) && matches!(answer, Answer::Count(_))
        });
        Counted {
            call: self.entry.call,
            answers: counts.cloned().collect(),
            name: String::new(),
            owes: false,
            yes: false,
        }
    }

    /// Remembers what the call did, unless it was refused or is no call.
    pub(crate) fn record(
        &self,
        call: &Call,
        denied: bool,
        mut events: Vec<Event>,
        facts: &Facts,
    ) -> Option<String> {
        let Keeper::Store(store) = self.store else { return None };
        let mut note = Note { flags: self.flags.take(), ..Note::default() };
        let ran = call.event == "post_tool_use";
        if ran || call.event == "pre_tool_use" && !denied {
            events.sort_unstable();
            events.dedup();
            note.events = events;
            note.succeeded = ran && !failed(&call.output);
            if ran {
                note.wrote = wrote(facts);
            }
        }
        if note.events.is_empty() && note.flags.is_empty() && note.wrote.is_empty() {
            return None;
        }
        store.record(&self.entry, &note).err()
    }
}

/// Questions about one count are one, whichever table asks; values that only one of them adds are counted too.
fn same(a: &Question, b: &Question) -> bool {
    match (a, b) {
        (
            Question::Count { key: a, window: of_a, by_tool: tool_a, adds: adds_a },
            Question::Count { key: b, window: of_b, by_tool: tool_b, adds: adds_b },
        ) => {
            let values = matches!((adds_a, adds_b), (Adds::Values(_), _) | (_, Adds::Values(_)));
            (a, of_a, tool_a) == (b, of_b, tool_b) && (!values || adds_a == adds_b)
        }
        _ => a == b,
    }
}

impl Outside for Asking<'_> {
    fn check(&self, name: &str, options: &str, facts: &Facts, target: Target) -> Option<Vec<Remark>> {
        self.feeds.check(name, facts, target).or_else(|| Checks.check(name, options, facts, target))
    }

    fn gap(&self) -> Option<String> {
        self.feeds.gap()
    }

    fn past(&self, questions: &[Question]) -> Vec<Answer> {
        let mut known = self.known.borrow_mut();
        let mut fresh: Vec<Question> = Vec::new();
        for question in questions {
            if !known.iter().any(|(old, _)| old == question)
                && let Some(answer) = self.paid(question)
            {
                known.push((question.clone(), answer));
            }
            let seen = |other: &Question| same(other, question);
            if !known.iter().any(|(old, _)| seen(old)) && !fresh.iter().any(seen) {
                fresh.push(question.clone());
            }
        }
        if !fresh.is_empty() {
            let answers = match self.store {
                Keeper::Fresh => Ok(fresh.iter().map(first).collect()),
                Keeper::Nobody => Err("nobody here keeps a record of sessions".to_owned()),
                Keeper::Store(store) => store.ask(&self.entry, &fresh),
                Keeper::Looked(store) => store.look(&self.entry, &fresh),
            };
            let answers: Vec<Answer> = match answers {
                Ok(answers) => answers,
                Err(cause) => fresh.iter().map(|_| Answer::Unknown(cause.clone())).collect(),
            };
            known.extend(fresh.into_iter().zip(answers));
        }
        let answer = |question: &Question| {
            let found = known.iter().find(|(old, _)| same(old, question)).map(|(_, answer)| answer.clone());
            found.unwrap_or_else(|| Answer::Unknown("there was no answer".to_owned()))
        };
        questions.iter().map(answer).collect()
    }

    fn flag(&self, block: &str) {
        self.flags.borrow_mut().insert(block.to_owned());
    }
}

/// The answer of a session in which nothing happened.
fn first(question: &Question) -> Answer {
    match question {
        Question::Happened { .. } => Answer::Happened(false),
        Question::Paid(_) | Question::Hours(_) => {
            Answer::Unknown("the record of a session does not know".to_owned())
        }
        Question::Count { adds, .. } => Answer::Count(match adds {
            Adds::Values(values) => values.len() as u64,
            Adds::New(new) => u64::from(*new),
            Adds::Repeat => 0,
        }),
    }
}

/// Whether a tool that gave something back says itself that it failed.
fn failed(output: &Value) -> bool {
    let fields = match output {
        Value::Object(fields) => fields,
        Value::String(text) => return says_so(text),
        _ => return false,
    };
    let shown = ["output", "llmContent", "text"].iter().filter_map(|name| fields.get(*name)?.as_str());
    if shown.into_iter().any(says_so) {
        return true;
    }
    let code = ["exit_code", "exitCode", "returncode"].iter().find_map(|name| fields.get(*name)?.as_i64());
    let says = |name: &str, wanted: bool| fields.get(name).and_then(Value::as_bool) == Some(wanted);
    code.is_some_and(|code| code != 0)
        || says("success", false)
        || says("is_error", true)
        || says("isError", true)
        || says("interrupted", true)
        || fields.get("error").is_some_and(|error| !matches!(error, Value::Null | Value::Bool(false)))
}

/// Whether what a host shows of a command says with what it ended: some hosts tell it in no other way.
fn says_so(text: &str) -> bool {
    const BEFORE: [&str; 4] =
        ["exit code:", "process exited with code", "command exited with code", "exit status:"];
    text.lines().any(|line| {
        let line = line.trim_start();
        BEFORE.iter().any(|before| {
            let begins = line.get(..before.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(before));
            let code = line.get(before.len()..).unwrap_or_default().split_whitespace().next();
            begins
                && code.is_some_and(|code| {
                    code.trim_end_matches(['.', ',', ')']).parse::<i64>().is_ok_and(|code| code != 0)
                })
        })
    })
}

/// The files that a call surely writes.
fn wrote(facts: &Facts) -> Vec<String> {
    let written = facts.paths.iter().filter(|path| path.access.any(Access::WRITE.and(Access::DELETE)));
    let names = written.filter_map(|path| {
        let views = || path.names.first().into_iter().flat_map(|name| &name.views);
        views().find(|view| view.starts_with('/')).or_else(|| views().next()).cloned()
    });
    names.take(MOST_FILES).collect()
}

/// The digests of a call.
pub(crate) fn digests(call: &Call) -> (u64, u64) {
    let server = call.server.as_deref().unwrap_or_default();
    let tool = format!("{server}\0{}", call.tool).to_lowercase();
    let all = format!("{tool}\0{}", call.arguments);
    (checksum(tool.as_bytes()), checksum(all.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_command_that_failed_is_no_success_however_its_host_says_so() {
        for failing in [
            json!({"exit_code": 1}),
            json!({"error": "x"}),
            json!("Exit code: 1\nWall time: 1 s\nOutput:\n2 failed"),
            json!("Process exited with code 2."),
            json!({"llmContent": "Output: (empty)\nExit Code: 101\nProcess Group PGID: 1"}),
            json!({"output": "  exit code: -1"}),
        ] {
            assert!(failed(&failing), "{failing}");
        }
        for fine in [
            json!(""),
            json!("Exit code: 0\nOk"),
            json!({"llmContent": "see exit code: 1"}),
            json!({"stdout": "exit code: é"}),
        ] {
            assert!(!failed(&fine), "{fine}");
        }
    }
}
