//! The ledger of payments in SQLite: one file, one writer at a time, one moment for each check.
//!
//! INVARIANT: a check is one transaction (`BEGIN IMMEDIATE`), so what was read for it still holds when it is written; what cannot be
//! read or written is a fault, and nothing is reserved then. Time never goes back. A file that is gone, damaged, or older than the
//! head that was written down beside it is a fault and never an empty ledger.

mod head;
mod kept;
mod postgres;
mod queue;
mod rows;
mod schema;
mod sums;
#[cfg(test)]
mod tests;
mod text;
mod told;
mod view;

pub use kept::Kept;
pub use postgres::{Postgres, Time};

use crate::rows::Held;
use crate::view::Seen;
use policy_payments::ledger::Content;
use policy_payments::ledger::{
    APPROVAL_LASTS, Asked, Checked, Decision, FLAG_LASTS, Fault, Filing, Judge, Judged, Ledger, MOST_KEY,
    Moved, REVIEW_LASTS, Read, Refused, Settled, Settlement, Status,
};
use rusqlite::{Connection, params};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Longest wait for other checks.
const PATIENCE: Duration = Duration::from_secs(10);

/// The ledger in a file.
#[derive(Debug)]
pub struct Sqlite {
    file: PathBuf,
    /// How long a person has to answer, milliseconds.
    review_lasts: u64,
    /// Kept open between checks, with the file that it is: the last one that closes a file writes all of it anew.
    held: Mutex<Option<(Connection, (u64, u64))>>,
    #[cfg(test)]
    fails: Option<&'static str>,
}

/// The file of the ledger in a folder of state.
pub fn file(state: &Path) -> PathBuf {
    state.join("ledger").join("payments.db")
}

/// What is done inside of a transaction.
struct Open<'c> {
    db: &'c Connection,
    now: i64,
}

impl Sqlite {
    /// The ledger in this file; nothing is opened yet.
    pub fn at(file: PathBuf) -> Sqlite {
        Sqlite {
            file,
            review_lasts: REVIEW_LASTS,
            held: Mutex::new(None),
            #[cfg(test)]
            fails: None,
        }
    }

    /// With another time for a person to answer in, milliseconds.
    #[must_use]
    pub fn review_within(self, lasts: u64) -> Sqlite {
        Sqlite { review_lasts: lasts, ..self }
    }

    /// Stops as if killed at this step; for tests.
    #[cfg(test)]
    #[must_use]
    pub fn failing_at(self, step: &'static str) -> Sqlite {
        Sqlite { fails: Some(step), ..self }
    }

    #[cfg(test)]
    fn step(&self, step: &str) -> Result<(), Fault> {
        match self.fails == Some(step) {
            true => Err(Fault(format!("stopped at `{step}`"))),
            false => Ok(()),
        }
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "a point where tests stop")]
    fn step(&self, _step: &str) -> Result<(), Fault> {
        Ok(())
    }

    fn fault(&self, error: &rusqlite::Error) -> Fault {
        Fault(format!("the ledger `{}` cannot be used: {}", self.file.display(), text::clause(error)))
    }

    /// The connection of before while the file is the same one, or a new one.
    fn connection(&self) -> Result<Connection, String> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((db, file)) = held
            && self.stamp() == Some(file)
        {
            return Ok(db);
        }
        let say = |error: &rusqlite::Error| text::clause(error);
        policy_state::sqlite::open(&self.file, &schema::SHAPE, PATIENCE, &say)
    }

    fn stamp(&self) -> Option<(u64, u64)> {
        let found = std::fs::symlink_metadata(&self.file).ok()?;
        Some((found.dev(), found.ino()))
    }

    fn keep(&self, db: Connection) {
        if let Some(stamp) = self.stamp() {
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some((db, stamp));
        }
    }

    /// Does something in one transaction; nothing of it stays when it fails, or when it is only looked at. `durable`: it is on
    /// the disk when this is back.
    fn within<T>(
        &self,
        now: u64,
        durable: bool,
        keep: bool,
        what: impl FnOnce(&Open<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let fault = |why: String| Fault(format!("the ledger cannot be used: {why}"));
        let folder = self.file.parent().ok_or_else(|| fault("there is no folder for it".to_owned()))?;
        policy_engine::open::private_folder(folder).map_err(|error| fault(error.to_string()))?;
        let _turn = queue::take(&folder.join("turn"), PATIENCE).map_err(fault)?;
        let head = head::read(folder).map_err(fault)?;
        if head > 0 && !self.file.exists() {
            return Err(fault(format!("`{}` is gone, and it held {head} changes", self.file.display())));
        }
        // Who may write everything is told no by nobody else.
        if let Ok(found) = std::fs::symlink_metadata(&self.file)
            && found.mode() & 0o200 == 0
        {
            return Err(fault(format!("`{}` is read-only", self.file.display())));
        }
        let db = self.connection().map_err(fault)?;
        let sql = |error: rusqlite::Error| self.fault(&error);
        db.execute_batch(if durable { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" })
            .map_err(sql)?;
        db.execute_batch("BEGIN IMMEDIATE").map_err(sql)?;
        let done = self.inside(&db, folder, head, now, keep, what);
        match done {
            Ok((done, head)) if keep => {
                self.step("before commit")?;
                db.execute_batch("COMMIT").map_err(sql)?;
                self.step("after commit")?;
                // Behind the commit: a head that is too low refuses nothing.
                head::write(folder, head).map_err(fault)?;
                self.keep(db);
                Ok(done)
            }
            Ok((done, _)) => {
                db.execute_batch("ROLLBACK").map_err(sql)?;
                self.keep(db);
                Ok(done)
            }
            Err(error) => {
                // What is left open ends with the connection.
                let _ = db.execute_batch("ROLLBACK");
                Err(error)
            }
        }
    }

    fn inside<T>(
        &self,
        db: &Connection,
        folder: &Path,
        head: u64,
        now: u64,
        keep: bool,
        what: impl FnOnce(&Open<'_>) -> Result<T, Fault>,
    ) -> Result<(T, u64), Fault> {
        let sql = |error: rusqlite::Error| self.fault(&error);
        let (last, changes): (i64, i64) = db
            .query_row("SELECT last, changes FROM clock", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(sql)?;
        let changes = changes.unsigned_abs();
        if changes < head {
            return Err(Fault(format!(
                "the ledger in `{}` is older than what was written down of it ({changes} changes, {head} were made): \
                 an old copy was put in its place",
                folder.display()
            )));
        }
        let now = last.max(i64::try_from(now).unwrap_or(i64::MAX));
        if keep {
            let set = "UPDATE clock SET last = ?1, changes = changes + 1";
            db.prepare_cached(set).and_then(|mut set| set.execute(params![now])).map_err(sql)?;
        }
        let open = Open { db, now };
        self.expire(&open)?;
        Ok((what(&open)?, changes + 1))
    }

    /// Nobody answered in time: what was reserved is free.
    fn expire(&self, open: &Open<'_>) -> Result<(), Fault> {
        let sql = |error: rusqlite::Error| self.fault(&error);
        let find = "SELECT seq FROM decision WHERE status = ?1 AND expires <= ?2";
        let late: Vec<i64> = open
            .db
            .prepare_cached(find)
            .and_then(|mut find| {
                find.query_map(params![number(Status::ReviewPending), open.now], |row| row.get(0))?.collect()
            })
            .map_err(sql)?;
        for seq in late {
            rows::set_status(open.db, seq, Status::ReviewExpired, open.now).map_err(sql)?;
            sums::release(open.db, seq).map_err(sql)?;
        }
        Ok(())
    }

    fn decide(&self, open: &Open<'_>, asked: &Asked, judge: &mut Judge<'_>) -> Result<Checked, Fault> {
        let sql = |error: rusqlite::Error| self.fault(&error);
        if let Some(key) = &asked.key
            && let Some(known) = rows::by_key(open.db, &asked.account, key).map_err(sql)?
        {
            return Ok(match known.fingerprint == asked.fingerprint && known.session == asked.session {
                true => Checked::Known(known),
                false => Checked::Conflict,
            });
        }
        self.step("after key")?;
        // The same payment waits, or a person approved it: it is looked at once more and not asked about again.
        let same = rows::open_of(open.db, asked, open.now).map_err(sql)?;
        let view = Seen { open, asked, without: same.as_ref().map(|same| same.seq) };
        let judged = judge(&view)?;
        self.step("after judging")?;
        if let Some(same) = same.filter(|_| judged.status != Status::Denied) {
            match (same.status, judged.status) {
                // What it waited for is not asked any more.
                (Status::ReviewPending, Status::Allowed) => {
                    let seq = i64::try_from(same.seq).unwrap_or(i64::MAX);
                    rows::set_status(open.db, seq, Status::ReviewExpired, open.now).map_err(sql)?;
                    sums::release(open.db, seq).map_err(sql)?;
                    return self.write(open, asked, judged).map(Checked::New);
                }
                (Status::ReviewPending, _) => return Ok(Checked::Known(same)),
                _ => {}
            }
            rows::use_up(open.db, same.seq, asked.makes).map_err(sql)?;
            return Ok(Checked::Known(Decision { used: true, ..same }));
        }
        self.write(open, asked, judged).map(Checked::New)
    }

    fn write(&self, open: &Open<'_>, asked: &Asked, judged: Judged) -> Result<Decision, Fault> {
        let sql = |error: rusqlite::Error| self.fault(&error);
        let id = rows::id().map_err(|error| Fault(format!("there are no random numbers: {error}")))?;
        let expires = open
            .now
            .saturating_add(i64::try_from(judged.lasts.unwrap_or(self.review_lasts)).unwrap_or(i64::MAX));
        let seq = rows::insert(open.db, &id, asked, &judged, (open.now, expires)).map_err(sql)?;
        self.step("after decision")?;
        if matches!(judged.status, Status::Allowed | Status::ReviewPending) {
            let held = Held::of(asked, open.now);
            for flow in held.flows() {
                sums::reserve(open.db, seq, &held, &flow).map_err(sql)?;
                self.step("after hold")?;
            }
        }
        if judged.status == Status::Allowed && judged.would == Status::Allowed {
            rows::first_price(open.db, asked).map_err(sql)?;
        }
        let made = rows::by_seq(open.db, seq).map_err(sql)?;
        made.ok_or_else(|| Fault("the ledger lost what was just written".to_owned()))
    }
}

/// The number of a status in the file.
fn number(status: Status) -> i64 {
    Status::ALL.iter().position(|own| *own == status).map_or(-1, |at| i64::try_from(at).unwrap_or(-1))
}

impl Ledger for Sqlite {
    fn is_new(&self) -> bool {
        let folder = self.file.parent();
        !self.file.exists() && folder.is_none_or(|folder| head::read(folder) == Ok(0))
    }

    fn check(&self, asked: &Asked, judge: &mut Judge<'_>) -> Result<Checked, Fault> {
        if asked.key.as_ref().is_some_and(|key| key.is_empty() || key.len() > MOST_KEY) {
            return Err(Fault(format!("the name of an attempt has 1 to {MOST_KEY} bytes")));
        }
        self.within(asked.now, true, true, |open| self.decide(open, asked, judge))
    }

    fn look(&self, asked: &Asked, judge: &mut Judge<'_>) -> Result<Judged, Fault> {
        self.within(asked.now, false, false, |open| judge(&Seen { open, asked, without: None }))
    }

    fn review(&self, id: &str, approve: bool, now: u64, judge: &mut Judge<'_>) -> Result<Decision, Refused> {
        let outcome = self.within(now, true, true, |open| {
            let sql = |error: rusqlite::Error| self.fault(&error);
            let Some(own) = rows::by_id(open.db, id).map_err(sql)? else { return Ok(Err(Refused::Unknown)) };
            if own.status != Status::ReviewPending {
                return Ok(Err(Refused::State(own.status)));
            }
            let seq = i64::try_from(own.seq).unwrap_or(i64::MAX);
            let mut status = Status::ReviewDenied;
            if approve {
                let asked = rows::asked_of(open.db, &own).map_err(sql)?;
                let judged = judge(&Seen { open, asked: &asked, without: Some(own.seq) })?;
                status = Status::ReviewApproved;
                if judged.status == Status::Denied {
                    status = Status::Denied;
                    rows::set_reasons(open.db, seq, &judged.reasons).map_err(sql)?;
                }
            }
            rows::set_status(open.db, seq, status, open.now).map_err(sql)?;
            match status {
                Status::ReviewApproved => rows::known(open.db, seq, "approved", open.now).map_err(sql)?,
                _ => sums::release(open.db, seq).map_err(sql)?,
            }
            Ok(rows::by_seq(open.db, seq).map_err(sql)?.ok_or(Refused::Unknown))
        });
        outcome?
    }

    fn look_again(&self, id: &str, now: u64, judge: &mut Judge<'_>) -> Result<Judged, Refused> {
        let outcome = self.within(now, false, false, |open| {
            let sql = |error: rusqlite::Error| self.fault(&error);
            let Some(own) = rows::by_id(open.db, id).map_err(sql)? else { return Ok(Err(Refused::Unknown)) };
            if own.status != Status::ReviewPending {
                return Ok(Err(Refused::State(own.status)));
            }
            let asked = rows::asked_of(open.db, &own).map_err(sql)?;
            judge(&Seen { open, asked: &asked, without: Some(own.seq) }).map(Ok)
        });
        outcome?
    }

    fn settle(&self, id: &str, told: &Settlement, now: u64) -> Result<Settled, Refused> {
        let outcome = self.within(now, true, true, |open| {
            let sql = |error: rusqlite::Error| self.fault(&error);
            let Some(own) = rows::by_id(open.db, id).map_err(sql)? else { return Ok(Err(Refused::Unknown)) };
            if !matches!(own.status, Status::Allowed | Status::ReviewApproved) {
                return Ok(Err(Refused::State(own.status)));
            }
            let seq = i64::try_from(own.seq).unwrap_or(i64::MAX);
            let before = rows::told(open.db, seq).map_err(sql)?;
            if let Some((transaction, evidence)) = before
                && (evidence || !told.evidence)
            {
                // Told before: the same is no news, another one is a contradiction.
                return Ok(match transaction == told.transaction {
                    true if evidence => Ok(Settled::Recorded),
                    true => Ok(Settled::Claimed),
                    false => Err(Refused::Other),
                });
            }
            rows::tell(open.db, seq, told).map_err(sql)?;
            if !told.evidence {
                return Ok(Ok(Settled::Claimed));
            }
            if !told.success {
                sums::release(open.db, seq).map_err(sql)?;
                return Ok(Ok(Settled::Released));
            }
            rows::known(open.db, seq, "settled", open.now).map_err(sql)?;
            let over = sums::settle(open.db, seq, told.units).map_err(sql)?;
            Ok(Ok(if over { Settled::Over } else { Settled::Recorded }))
        });
        outcome?
    }

    fn decision(&self, id: &str, now: u64) -> Result<Option<Decision>, Fault> {
        self.within(now, false, false, |open| rows::by_id(open.db, id).map_err(|error| self.fault(&error)))
    }

    fn recent(&self, most: usize, now: u64) -> Result<Vec<Decision>, Fault> {
        self.within(now, false, false, |open| rows::recent(open.db, most).map_err(|error| self.fault(&error)))
    }

    fn hand_out(&self, id: &str, now: u64) -> Result<Decision, Refused> {
        let outcome = self.within(now, true, true, |open| {
            let sql = |error: rusqlite::Error| self.fault(&error);
            let Some(own) = rows::by_id(open.db, id).map_err(sql)? else { return Ok(Err(Refused::Unknown)) };
            if own.status != Status::ReviewApproved {
                return Ok(Ok(own));
            }
            let answered = rows::answered(open.db, own.seq).map_err(sql)?;
            if own.used || answered <= open.now.saturating_sub(approval_lasts()) {
                return Ok(Err(Refused::Used));
            }
            rows::use_up(open.db, own.seq, false).map_err(sql)?;
            Ok(Ok(Decision { used: true, ..own }))
        });
        outcome?
    }

    fn waiting(&self, now: u64) -> Result<Vec<Decision>, Fault> {
        self.within(now, false, false, |open| rows::waiting(open.db).map_err(|error| self.fault(&error)))
    }

    fn texts(&self, id: &str, now: u64) -> Result<Vec<Read>, Refused> {
        let outcome = self.within(now, false, false, |open| {
            let sql = |error: rusqlite::Error| self.fault(&error);
            let Some(own) = rows::by_id(open.db, id).map_err(sql)? else { return Ok(Err(Refused::Unknown)) };
            let asked = rows::asked_of(open.db, &own).map_err(sql)?;
            told::texts(open.db, &asked, open.now).map(Ok).map_err(sql)
        });
        outcome?
    }

    fn moved(&self, since: u64, most: usize, now: u64) -> Result<Vec<Moved>, Fault> {
        let since = i64::try_from(since).unwrap_or(i64::MAX);
        self.within(now, false, false, |open| {
            told::moved(open.db, since, most).map_err(|error| self.fault(&error))
        })
    }

    fn file(&self, filing: &Filing) -> Result<(), Fault> {
        self.within(filing.now, false, true, |open| {
            let lasts = i64::try_from(FLAG_LASTS).unwrap_or(i64::MAX);
            rows::file(open.db, filing, open.now, (filing.found == Content::Flagged).then_some(lasts))
                .map_err(|error| self.fault(&error))
        })
    }
}

/// How long behind the answer of a person a payment may be made.
fn approval_lasts() -> i64 {
    i64::try_from(APPROVAL_LASTS).unwrap_or(i64::MAX)
}
