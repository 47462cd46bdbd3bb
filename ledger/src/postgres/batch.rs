//! A batch: the checks of one process that share one transaction, one after the other.
//!
//! INVARIANT: the row `clock` is locked from the beginning to the commit, so nothing else changes what was read; each statement behind
//! it sees what was committed before. A check that fails before it wrote leaves nothing; one that fails behind that ends its batch.
//! Nobody is told of a decision before its commit.

use super::link::{Link, damaged, fault};
use super::sums::{Cache, NewHold};
use super::{Limits, schema};
use crate::head;
use policy_payments::Units;
use policy_payments::ledger::{Asked, Fault, Judged};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use tokio_postgres::Config;

/// Most checks of a batch.
pub(crate) const MOST: usize = 128;
/// Behind this no check joins.
const OPEN_FOR: Duration = Duration::from_millis(8);

/// A text of any length as 16 bytes, to be looked for; parts are never mixed up.
pub(crate) type Mark = [u8; 16];

pub(crate) fn mark(parts: &[&str]) -> Mark {
    use sha2::Digest;
    let mut hash = sha2::Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let mut own = [0; 16];
    for (to, from) in own.iter_mut().zip(hash.finalize()) {
        *to = from;
    }
    own
}

/// What a check will look up.
#[derive(Clone, Default)]
pub(crate) struct Wants {
    pub(crate) attempt: Option<Mark>,
    pub(crate) same: Option<Mark>,
    pub(crate) runs: Vec<Mark>,
}

/// What a batch came to.
pub(crate) enum Outcome {
    /// It is kept.
    Kept,
    /// Nothing of it is kept; another check may be why.
    Again,
    /// It is not kept, or nobody knows.
    Lost(Fault),
}

/// A decision that was made in this batch and is not sent yet.
pub(crate) struct NewDecision {
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) asked: Asked,
    pub(crate) judged: Judged,
    pub(crate) at: i64,
    pub(crate) expires: i64,
}

/// A transaction and what is known within it.
pub(crate) struct Batch {
    began: Instant,
    /// Milliseconds since 1970 by the server when it began.
    server: i64,
    pub(crate) last: i64,
    changes: u64,
    pub(crate) seq: i64,
    /// When the first decision that waits is too late.
    pub(crate) next_late: Option<i64>,
    pub(crate) waiters: Vec<Sender<Outcome>>,
    pub(crate) cache: Cache,
    pub(crate) decisions: Vec<NewDecision>,
    pub(crate) holds: Vec<NewHold>,
    pub(crate) prices: Vec<(String, String, Units)>,
    /// What is handed out (1) or made (2).
    pub(crate) uses: BTreeMap<i64, i16>,
    /// Rows were changed for the check that has the turn.
    pub(crate) touched: bool,
    /// A statement failed.
    pub(crate) broken: bool,
}

/// The connection of a process, and its batch.
#[derive(Default)]
pub(crate) struct Work {
    link: Option<Link>,
    batch: Option<Batch>,
    /// Changes that were seen in the server.
    seen: u64,
    /// Where they are written down.
    head: Option<PathBuf>,
}

/// Both while there is a batch.
pub(crate) struct Parts<'w> {
    pub(crate) link: &'w mut Link,
    pub(crate) batch: &'w mut Batch,
}

/// Whether there are tables.
pub(crate) fn is_made(link: &mut Link) -> Result<bool, Fault> {
    let made = link.text("SELECT to_regclass('policy_ledger.clock') IS NOT NULL")?;
    Ok(made.first().and_then(|row| row.first()).is_some_and(|own| own == "t"))
}

fn whole(text: Option<&String>) -> Result<i64, Fault> {
    text.and_then(|text| text.parse().ok()).ok_or_else(damaged)
}

impl Work {
    pub(crate) fn is_open(&self) -> bool {
        self.batch.is_some()
    }

    pub(crate) fn parts(&mut self) -> Result<Parts<'_>, Fault> {
        match (&mut self.link, &mut self.batch) {
            (Some(link), Some(batch)) => Ok(Parts { link, batch }),
            _ => Err(fault("there is no transaction")),
        }
    }

    /// A connection, with nothing open.
    pub(crate) fn link(&mut self, config: &Config) -> Result<&mut Link, Fault> {
        if self.link.as_ref().is_none_or(Link::is_dead) {
            self.link = Some(Link::open(config)?);
        }
        self.link.as_mut().ok_or_else(|| fault("there is no connection"))
    }

    /// Opens a transaction when none is open.
    pub(crate) fn begin(&mut self, config: &Config, head: Option<&Path>) -> Result<(), Fault> {
        if self.batch.is_some() {
            return Ok(());
        }
        self.head = head.map(Path::to_path_buf);
        let old = self.link.is_some();
        let begun = match self.begun(config) {
            // A connection that was not used for a while may have ended; nothing was sent over it that changes anything.
            Err(_) if old && self.link.as_ref().is_none_or(Link::is_dead) => {
                self.link = None;
                self.begun(config)
            }
            other => other,
        };
        let batch = begun.inspect_err(|_| self.link = None)?;
        let written = head.map_or(Ok(0), head::read).map_err(|why| fault(&why));
        let least = written.inspect_err(|_| self.link = None)?.max(self.seen);
        if batch.changes < least {
            self.link = None;
            return Err(fault(&format!(
                "it is older than what was seen of it ({} changes, {least} were made): an old copy was put in its \
                 place, or a server that had not got all of it",
                batch.changes
            )));
        }
        self.batch = Some(batch);
        Ok(())
    }

    fn begun(&mut self, config: &Config) -> Result<Batch, Fault> {
        let link = self.link(config)?;
        if !link.made {
            if !is_made(link)? {
                return Err(fault(
                    "there is none in this database; it is made once, before anything is paid",
                ));
            }
            link.made = true;
        }
        link.failed = false;
        // Each statement sees what was committed before it; behind the first, nothing is committed by others.
        let rows = link.text(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
             SELECT version, last, changes, seq FROM clock FOR UPDATE;
             SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
                 (SELECT min(expires) FROM decision WHERE status = 2)",
        )?;
        let [clock, time] = rows.as_slice() else { return Err(damaged()) };
        let number = |at: usize| whole(clock.get(at));
        let (found, own) = (number(0)?, schema::version());
        if found != own {
            let kind = if found > own { "a newer" } else { "an older" };
            return Err(fault(&format!(
                "it is of {kind} policy (version {found}, this program knows {own})"
            )));
        }
        let next_late =
            time.get(1).filter(|text| !text.is_empty()).map(|text| whole(Some(text))).transpose()?;
        Ok(Batch {
            began: Instant::now(),
            server: whole(time.first())?,
            last: number(1)?,
            changes: u64::try_from(number(2)?).map_err(|_| damaged())?,
            seq: number(3)?,
            next_late,
            waiters: Vec::new(),
            cache: Cache::default(),
            decisions: Vec::new(),
            holds: Vec::new(),
            prices: Vec::new(),
            uses: BTreeMap::new(),
            touched: false,
            broken: false,
        })
    }

    /// Keeps what is open, and tells everybody in it.
    pub(crate) fn close(&mut self) -> Outcome {
        let Ok(mut parts) = self.parts() else { return Outcome::Kept };
        let alone = parts.batch.waiters.is_empty();
        let ready = parts.flush().and_then(|()| {
            let batch = &*parts.batch;
            let changes = i64::try_from(batch.changes).map_err(|_| damaged())?;
            let set = "UPDATE clock SET last = $1, changes = $2, seq = $3";
            parts.link.change(set, &[&batch.last, &changes, &batch.seq]).map(drop)
        });
        let changes = parts.batch.changes;
        let outcome = match ready {
            Ok(()) => match parts.link.text("COMMIT") {
                // Behind the commit: a head that is too low refuses nothing.
                Ok(_) => match self.head.as_deref().map_or(Ok(()), |folder| head::write(folder, changes)) {
                    Ok(()) => Outcome::Kept,
                    Err(why) => Outcome::Lost(fault(&why)),
                },
                Err(Fault(why)) => Outcome::Lost(Fault(format!(
                    "{why}; it is not known whether it was kept: ask again under the same name of the attempt"
                ))),
            },
            Err(why) if alone => Outcome::Lost(why),
            Err(_) => Outcome::Again,
        };
        if matches!(outcome, Outcome::Kept) {
            self.seen = self.seen.max(changes);
            for waiter in self.batch.take().into_iter().flat_map(|batch| batch.waiters) {
                // Who does not wait any more is not told.
                let _ = waiter.send(Outcome::Kept);
            }
        } else {
            self.tell(&outcome);
            self.undo();
        }
        outcome
    }

    fn tell(&mut self, outcome: &Outcome) {
        for waiter in self.batch.take().into_iter().flat_map(|batch| batch.waiters) {
            let own = match outcome {
                Outcome::Kept => Outcome::Kept,
                Outcome::Again => Outcome::Again,
                Outcome::Lost(why) => Outcome::Lost(why.clone()),
            };
            let _ = waiter.send(own);
        }
    }

    /// Nothing of what is open stays; whether others were in it, who try again by themselves.
    pub(crate) fn throw_away(&mut self) -> bool {
        let others = self.batch.as_ref().is_some_and(|batch| !batch.waiters.is_empty());
        self.tell(&Outcome::Again);
        self.undo();
        others
    }

    /// Whether something of a check that failed may have been written.
    pub(crate) fn spoilt(&self) -> bool {
        let touched = self.batch.as_ref().is_some_and(|batch| batch.touched || batch.broken);
        touched || self.link.as_ref().is_none_or(|link| link.failed || link.is_dead())
    }

    /// Whether no check is in what is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.as_ref().is_none_or(|batch| batch.waiters.is_empty())
    }

    /// Nothing of what is open stays, and this is why.
    pub(crate) fn give_up(&mut self, why: &Fault) {
        self.tell(&Outcome::Lost(why.clone()));
        self.link = None;
    }

    fn undo(&mut self) {
        self.batch = None;
        let undone = self.link.as_mut().is_some_and(|link| link.text("ROLLBACK").is_ok());
        if !undone {
            self.link = None;
        }
    }
}

impl Batch {
    /// The time of a check: never before another's.
    pub(crate) fn now(&self, asked: u64, limits: &Limits) -> i64 {
        let now = match limits.time {
            super::Time::Callers => i64::try_from(asked).unwrap_or(i64::MAX),
            super::Time::Server => {
                let since = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
                self.server.saturating_add(since)
            }
        };
        self.last.max(now)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.waiters.len() + 1 >= MOST || self.began.elapsed() > OPEN_FOR
    }

    /// A check is in it.
    pub(crate) fn done(&mut self, now: i64) {
        self.last = now;
        self.changes = self.changes.saturating_add(1);
        self.touched = false;
    }
}
