//! The record of sessions in SQLite, for any number of processes at once.
//!
//! INVARIANT: what is asked is counted and answered in one immediate transaction, so no update is lost. The file is the user's
//! own (mode 0600, in folders that nobody else can write), and holds digests, counts, names of blocks and paths, never content.

mod file;
mod schema;
pub mod sqlite;
#[cfg(test)]
mod tests;

use policy_engine::past::{Entry, Note, Store, Suppress, Told, flagged};
use policy_runtime::outside::{Adds, Answer, Moment, Question, Window};
use rusqlite::types::{FromSql, Value};
use rusqlite::{Connection, Transaction, TransactionBehavior, params, params_from_iter};

/// How far back the project's own session reaches, milliseconds: it has no end of its own.
const OF_LATE_MS: i64 = 12 * 3600 * 1000;
/// Bits of what is known of something that happened.
const SURE: i64 = 1;
const SUCCEEDED: i64 = 2;

/// Keeps the record in the state folder of each call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sqlite;

impl Store for Sqlite {
    fn ask(&self, entry: &Entry, questions: &[Question]) -> Result<Vec<Answer>, String> {
        with(entry, |session| session.answers(questions))
    }

    fn look(&self, entry: &Entry, questions: &[Question]) -> Result<Vec<Answer>, String> {
        // What is counted is added and taken back.
        with_end(entry, false, |session| session.answers(questions))
    }

    fn record(&self, entry: &Entry, note: &Note) -> Result<(), String> {
        with(entry, |session| {
            for event in &note.events {
                let how = if event.sure { SURE } else { 0 } | if note.succeeded { SUCCEEDED } else { 0 };
                session.add(event.key, event.value, how)?;
            }
            for flag in &note.flags {
                session.add(flagged(), 0, SURE | SUCCEEDED)?;
                session.mark("flag", flag)?;
            }
            for file in &note.wrote {
                let sql = "INSERT INTO file (session, path, times, at) VALUES (?1, ?2, 1, ?3)
                    ON CONFLICT (session, path) DO UPDATE SET times = times + 1, at = ?3";
                session.held.prepare_cached(sql)?.execute(params![session.own, file, entry.now_ms])?;
            }
            Ok(())
        })
    }

    fn told(&self, entry: &Entry) -> Result<Told, String> {
        with(entry, |session| {
            let list = |kind: &str| -> rusqlite::Result<Vec<String>> {
                let sql = format!(
                    "SELECT DISTINCT what FROM mark WHERE kind = ? AND session IN ({}) ORDER BY what",
                    places(session.with_project.len())
                );
                let kind = [Value::from(kind.to_owned())];
                let values = kind.into_iter().chain(session.with_project.iter().map(|id| Value::from(*id)));
                session.held.prepare(&sql)?.query_map(params_from_iter(values), |row| row.get(0))?.collect()
            };
            let sql = format!(
                "SELECT path, SUM(times) FROM file WHERE session IN ({}) GROUP BY path ORDER BY path",
                places(session.all.len())
            );
            let files = session
                .held
                .prepare(&sql)?
                .query_map(params_from_iter(&session.all), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?
                .map(|row| row.map(|(path, times): (String, i64)| (path, times.unsigned_abs())))
                .collect::<rusqlite::Result<Vec<(String, u64)>>>()?;
            Ok(Told { flags: list("flag")?, suppressed: list("suppress")?, files })
        })
    }

    fn suppress(&self, entry: &Entry, change: Suppress<'_>) -> Result<(), String> {
        with(entry, |session| {
            match change {
                Suppress::Add(rule) => return session.mark("suppress", rule),
                Suppress::Remove(rule) => {
                    let sql = "DELETE FROM mark WHERE session = ?1 AND kind = 'suppress' AND what = ?2";
                    session.held.execute(sql, params![session.own, rule])?;
                }
                Suppress::Clear => {
                    let sql = "DELETE FROM mark WHERE session = ?1 AND kind = 'suppress'";
                    session.held.execute(sql, params![session.own])?;
                }
            }
            Ok(())
        })
    }
}

/// One session within a transaction.
struct Session<'c> {
    held: &'c Transaction<'c>,
    entry: &'c Entry,
    /// Its row.
    own: i64,
    /// The rows whose events are its own: its row, or all of late for a project's own session.
    all: Vec<i64>,
    /// The same with the project's own session, whose flags and suppressions hold for all of the project.
    with_project: Vec<i64>,
}

fn with<T>(entry: &Entry, work: impl FnOnce(&Session<'_>) -> rusqlite::Result<T>) -> Result<T, String> {
    with_end(entry, true, work)
}

/// With `keep` what was changed stays.
fn with_end<T>(
    entry: &Entry,
    keep: bool,
    work: impl FnOnce(&Session<'_>) -> rusqlite::Result<T>,
) -> Result<T, String> {
    let mut connection = file::open(&entry.state)?;
    let path = policy_engine::past::record_file(&entry.state);
    inside(&mut connection, entry, keep, work).map_err(|error| {
        let told = file::told(&path, &error);
        format!("`{}`: {told}; a damaged record can be removed by a person", path.display())
    })
}

fn inside<T>(
    connection: &mut Connection,
    entry: &Entry,
    keep: bool,
    work: impl FnOnce(&Session<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    // Immediate: two that read first and write then would wait for each other.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let session = Session::of(&transaction, entry)?;
    let made = work(&session)?;
    // Dropped without it, everything is taken back.
    if keep {
        transaction.commit()?;
    }
    Ok(made)
}

fn places(count: usize) -> String {
    vec!["?"; count].join(", ")
}

fn number(digest: u64) -> i64 {
    digest.cast_signed()
}

impl<'c> Session<'c> {
    fn of(held: &'c Transaction<'c>, entry: &'c Entry) -> rusqlite::Result<Session<'c>> {
        let project = schema::session(held, entry, true)?;
        let own = if entry.session.is_empty() { project } else { schema::session(held, entry, false)? };
        let mut all = vec![own];
        if entry.session.is_empty() {
            let sql = "SELECT id FROM session WHERE project = ?1 AND seen >= ?2 AND id <> ?3";
            let mut others = held.prepare_cached(sql)?;
            let from = entry.now_ms - OF_LATE_MS;
            let others = others.query_map(params![entry.project, from, own], |row| row.get(0))?;
            all.extend(others.collect::<rusqlite::Result<Vec<i64>>>()?);
        }
        let mut with_project = all.clone();
        if own != project {
            with_project.push(project);
        }
        Ok(Session { held, entry, own, all, with_project })
    }

    fn answers(&self, questions: &[Question]) -> rusqlite::Result<Vec<Answer>> {
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            answers.push(match question {
                Question::Paid(_) | Question::Hours(_) => {
                    Answer::Unknown("the record of a session does not know".to_owned())
                }
                Question::Count { .. } => Answer::Count(self.count(question)?),
                Question::Happened { past, since, over } => {
                    let since = since.map(|since| self.last(&since)).transpose()?.flatten();
                    let since = since.unwrap_or_default();
                    Answer::Happened(match over {
                        0 => self.last(past)?.is_some_and(|last| last > since),
                        over => self.different(past, since)? > i64::from(*over),
                    })
                }
            });
        }
        Ok(answers)
    }

    fn mark(&self, kind: &str, what: &str) -> rusqlite::Result<()> {
        let sql = "INSERT INTO mark (session, kind, what, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
        self.held.execute(sql, params![self.own, kind, what, self.entry.now_ms])?;
        Ok(())
    }

    fn add(&self, key: u64, value: u64, how: i64) -> rusqlite::Result<()> {
        let sql = "INSERT INTO event (session, key, value, tool, at, how) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let tool = number(self.entry.tool);
        let row = params![self.own, number(key), number(value), tool, self.entry.now_ms, how];
        self.held.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    /// The number of the last time that something happened.
    fn last(&self, moment: &Moment) -> rusqlite::Result<Option<i64>> {
        self.told_of(moment, "MAX(seq)", 0)
    }

    /// How many different values of something there are behind a number.
    fn different(&self, moment: &Moment, from: i64) -> rusqlite::Result<i64> {
        self.told_of(moment, "COUNT(DISTINCT value)", from)
    }

    fn told_of<T: FromSql>(&self, moment: &Moment, what: &str, from: i64) -> rusqlite::Result<T> {
        let how = if moment.succeeded { SURE | SUCCEEDED } else { 0 };
        // A flag of the project's own session holds for every session of the project.
        let sessions = if moment.key == flagged() { &self.with_project } else { &self.all };
        let sql = format!(
            "SELECT {what} FROM event WHERE key = ? AND seq > ? AND (how & ?) = ? AND session IN ({})",
            places(sessions.len())
        );
        let begin = [number(moment.key), from, how, how];
        let values = begin.into_iter().chain(sessions.iter().copied());
        self.held.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))
    }

    /// Adds what a question counts, and counts.
    fn count(&self, question: &Question) -> rusqlite::Result<u64> {
        let Question::Count { key, adds, window, by_tool } = question else { return Ok(0) };
        match adds {
            Adds::Values(values) => {
                for value in values {
                    self.add(*key, *value, SURE)?;
                }
            }
            Adds::New(new) => {
                for _ in 0..*new {
                    self.add(*key, 0, SURE)?;
                }
            }
            Adds::Repeat => self.add(*key, self.entry.call, SURE)?,
        }
        let (since, from) = match window {
            Window::Seconds(seconds) => (0, self.entry.now_ms - i64::from(*seconds) * 1000),
            Window::Session => (0, i64::MIN),
            Window::Since(moment) => (self.last(moment)?.unwrap_or_default(), i64::MIN),
        };
        let what = if matches!(adds, Adds::Values(_)) { "COUNT(DISTINCT value)" } else { "COUNT(*)" };
        let mut sql = format!(
            "SELECT {what} FROM event WHERE key = ? AND seq > ? AND at >= ? AND session IN ({})",
            places(self.all.len())
        );
        let mut values = vec![number(*key), since, from];
        values.extend(&self.all);
        if *by_tool {
            sql.push_str(" AND tool = ?");
            values.push(number(self.entry.tool));
        }
        if matches!(adds, Adds::Repeat) {
            sql.push_str(" AND value = ?");
            values.push(number(self.entry.call));
        }
        let count: i64 =
            self.held.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?;
        let count = count.unsigned_abs();
        Ok(if matches!(adds, Adds::Repeat) { count.saturating_sub(1) } else { count })
    }
}
