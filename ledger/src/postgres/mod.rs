//! The ledger of payments in PostgreSQL, for many machines: what the one in SQLite guarantees, proved by the same tests.
//!
//! INVARIANT: a check is decided under the lock of one row, so what was read for it still holds when it is written, whoever else asks.
//! What cannot be reached, does not answer in time or cannot be written is a fault, and nothing is reserved then. Time never goes
//! back, and no process works on a ledger that is older than what it saw. Checks of one process that come at once share a commit,
//! and none is answered before it.

mod batch;
mod decide;
mod link;
mod rows;
mod schema;
mod seen;
mod sums;
mod told;
mod turn;

use self::batch::{Outcome, Wants, Work};
use self::decide::Open;
use self::link::{PATIENCE, fault};
use self::seen::Seen;
use self::turn::{Held as Turned, Turn};
use policy_payments::ledger::{
    Asked, Checked, Content, Decision, FLAG_LASTS, Fault, Filing, Judge, Judged, Ledger, MOST_KEY, Moved,
    REVIEW_LASTS, Read, Refused, Settled, Settlement, Status,
};
use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use tokio_postgres::Config;

/// Whose clock counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// That of the server: the same for all machines. What callers say is not asked.
    Server,
    /// What each call says. One clock that is ahead ends the windows of everybody.
    Callers,
}

/// What holds for all checks.
struct Limits {
    /// How long a person has to answer, milliseconds.
    review_lasts: u64,
    time: Time,
    head: Option<PathBuf>,
    fails: Option<&'static str>,
}

/// The ledger in a database. One connection, which all threads of a process share; it must not be used from within an asynchronous
/// task, which would wait for it.
pub struct Postgres {
    config: Result<Config, String>,
    limits: Limits,
    turn: Turn,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SECURITY: its address may hold a password.
        f.write_str("Postgres")
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What is only added; nothing of it is there when it fails.
    Check,
    /// Rows are changed.
    Change,
    /// Nothing is kept.
    Look,
}

enum Done<T> {
    Now(Result<T, Fault>),
    /// It is told behind the commit.
    Later(T, Receiver<Outcome>),
    /// By itself.
    Again,
}

impl Postgres {
    /// The ledger at an address (`postgres://…` or `host=… dbname=…`); nothing is connected yet.
    pub fn at(address: &str) -> Postgres {
        let limits = Limits { review_lasts: REVIEW_LASTS, time: Time::Server, head: None, fails: None };
        Postgres { config: link::config(address), limits, turn: Turn::new() }
    }

    /// With another time for a person to answer in, milliseconds.
    #[must_use]
    pub fn review_within(mut self, lasts: u64) -> Postgres {
        self.limits.review_lasts = lasts;
        self
    }

    /// By whose clock.
    #[must_use]
    pub fn by_clock_of(mut self, time: Time) -> Postgres {
        self.limits.time = time;
        self
    }

    /// Writes down in this folder how many changes were made, so that an older copy of the ledger, or another one, is noticed by the
    /// next process, too.
    #[must_use]
    pub fn remembering(mut self, folder: PathBuf) -> Postgres {
        self.limits.head = Some(folder);
        self
    }

    /// Stops as if killed at this step; for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn failing_at(mut self, step: &'static str) -> Postgres {
        self.limits.fails = Some(step);
        self
    }

    fn config(&self) -> Result<&Config, Fault> {
        self.config.as_ref().map_err(|why| fault(why))
    }

    /// Makes the tables, or those of an older version into these; an older program cannot use them any more then.
    ///
    /// # Errors
    /// When the database cannot be used, or its ledger is of a newer version.
    pub fn make(&self) -> Result<(), Fault> {
        let mut held = self.turn.take(&Wants::default(), PATIENCE)?;
        let work = held.work()?;
        // Who is in it is told.
        let _ = work.close();
        let link = work.link(self.config()?)?;
        let made = Postgres::make_with(link);
        if made.is_err() {
            let _ = link.text("ROLLBACK");
        }
        made
    }

    fn make_with(link: &mut link::Link) -> Result<(), Fault> {
        link.text("BEGIN")?;
        link.text(schema::ALONE)?;
        let mut found = 0;
        if batch::is_made(link)? {
            let rows = link.text("SELECT version FROM policy_ledger.clock FOR UPDATE")?;
            let version = rows.first().and_then(|row| row.first()).and_then(|own| own.parse().ok());
            found = version.ok_or_else(link::damaged)?;
        }
        let own = schema::version();
        if found > own {
            return Err(fault(&format!(
                "it is of a newer policy (version {found}, this program knows {own})"
            )));
        }
        for step in schema::STEPS.iter().skip(usize::try_from(found).map_err(|_| link::damaged())?) {
            link.text(step)?;
        }
        link.text(&format!("UPDATE policy_ledger.clock SET version = {own}"))?;
        link.text("COMMIT").map(drop)
    }

    /// Does something in the transaction that is open, or in one of its own.
    fn within<T>(
        &self,
        kind: Kind,
        now: u64,
        wants: &Wants,
        what: &mut dyn FnMut(&Open<'_, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut alone = kind == Kind::Look;
        for _ in 0..2 {
            let mut held = self.turn.take(wants, PATIENCE)?;
            match self.once(&mut held, (kind, alone), now, wants, what) {
                Done::Now(done) => return done,
                Done::Again => {}
                Done::Later(done, told) => {
                    drop(held);
                    match told.recv_timeout(PATIENCE * 3) {
                        Ok(Outcome::Kept) => return Ok(done),
                        Ok(Outcome::Lost(why)) => return Err(why),
                        Ok(Outcome::Again) => {}
                        Err(_) => return Err(fault("it is not known whether it was kept")),
                    }
                }
            }
            alone = true;
        }
        Err(fault("it could not be written, twice"))
    }

    fn once<T>(
        &self,
        held: &mut Turned<'_>,
        (kind, alone): (Kind, bool),
        now: u64,
        wants: &Wants,
        what: &mut dyn FnMut(&Open<'_, '_>) -> Result<T, Fault>,
    ) -> Done<T> {
        let work = match held.work() {
            Ok(work) => work,
            Err(why) => return Done::Now(Err(why)),
        };
        if alone {
            // Who is in it is told.
            let _ = work.close();
        }
        if let Err(why) = self.config().and_then(|config| work.begin(config, self.limits.head.as_deref())) {
            return Done::Now(Err(why));
        }
        match (self.inside(work, alone, now, wants, what), kind) {
            (done, Kind::Look) => {
                work.throw_away();
                Done::Now(done.map(|(done, _)| done))
            }
            (Ok((done, now)), _) => self.keep(work, alone, done, now),
            (Err(why), _) => match work.spoilt() && work.throw_away() && !alone {
                true => Done::Again,
                false => {
                    if work.is_empty() {
                        work.throw_away();
                    }
                    Done::Now(Err(why))
                }
            },
        }
    }

    fn inside<T>(
        &self,
        work: &mut Work,
        alone: bool,
        now: u64,
        wants: &Wants,
        what: &mut dyn FnMut(&Open<'_, '_>) -> Result<T, Fault>,
    ) -> Result<(T, i64), Fault> {
        let mut parts = work.parts()?;
        let now = parts.batch.now(now, &self.limits);
        if !parts.knows(wants) {
            // For those who wait, too.
            let mut all = vec![wants.clone()];
            if !alone {
                all.extend(self.turn.wanted(batch::MOST));
            }
            parts.prefetch(&all, now)?;
        }
        if parts.batch.next_late.is_some_and(|late| late <= now) {
            // Nobody answered in time: what was reserved is free.
            for seq in parts.late(now)? {
                parts.set_status(seq, Status::ReviewExpired, now)?;
                parts.release(seq)?;
            }
            parts.look_for_late()?;
            parts.forget()?;
        }
        let work = RefCell::new(work);
        let done = what(&Open { work: &work, now, limits: &self.limits })?;
        Ok((done, now))
    }

    fn keep<T>(&self, work: &mut Work, alone: bool, done: T, now: i64) -> Done<T> {
        if let Err(why) = self.limits.step("before commit") {
            work.throw_away();
            return Done::Now(Err(why));
        }
        let joined = work.parts().map(|parts| {
            parts.batch.done(now);
            (!alone && !parts.batch.is_full() && !self.turn.is_last()).then(|| {
                let (sender, receiver) = channel();
                parts.batch.waiters.push(sender);
                receiver
            })
        });
        match joined {
            Err(why) => Done::Now(Err(why)),
            Ok(Some(told)) => Done::Later(done, told),
            Ok(None) => match work.close() {
                Outcome::Kept => Done::Now(self.limits.step("after commit").map(|()| done)),
                Outcome::Lost(why) => Done::Now(Err(why)),
                Outcome::Again => Done::Again,
            },
        }
    }
}

impl Limits {
    fn step(&self, step: &str) -> Result<(), Fault> {
        match self.fails == Some(step) {
            true => Err(Fault(format!("stopped at `{step}`"))),
            false => Ok(()),
        }
    }
}

/// The server keeps no NUL, and what is cut or changed is not what was asked.
fn holds_nul(asked: &Asked) -> bool {
    let maybe = [&asked.key, &asked.payee, &asked.seller, &asked.page, &asked.url];
    let texts = [&asked.session, &asked.account, &asked.tool, &asked.shown];
    let flows = asked.flows.iter().map(|flow| &flow.asset);
    maybe.into_iter().flatten().chain(texts).chain(flows).any(|text| text.contains('\0'))
}

impl Ledger for Postgres {
    fn is_new(&self) -> bool {
        // One that is not made is a fault, and one without payments is looked at.
        false
    }

    fn check(&self, asked: &Asked, judge: &mut Judge<'_>) -> Result<Checked, Fault> {
        if asked.key.as_ref().is_some_and(|key| key.is_empty() || key.len() > MOST_KEY) {
            return Err(Fault(format!("the name of an attempt has 1 to {MOST_KEY} bytes")));
        }
        if holds_nul(asked) {
            return Err(Fault("a payment with a NUL in its texts is not kept".to_owned()));
        }
        self.within(Kind::Check, asked.now, &sums::wants(asked), &mut |open| open.decide(asked, judge))
    }

    fn look(&self, asked: &Asked, judge: &mut Judge<'_>) -> Result<Judged, Fault> {
        self.within(Kind::Look, asked.now, &Wants::default(), &mut |open| {
            judge(&Seen { work: open.work, now: open.now, asked, without: None })
        })
    }

    fn review(&self, id: &str, approve: bool, now: u64, judge: &mut Judge<'_>) -> Result<Decision, Refused> {
        self.within(Kind::Change, now, &Wants::default(), &mut |open| open.review(id, approve, judge))?
    }

    fn look_again(&self, id: &str, now: u64, judge: &mut Judge<'_>) -> Result<Judged, Refused> {
        self.within(Kind::Look, now, &Wants::default(), &mut |open| open.look_again(id, judge))?
    }

    fn settle(&self, id: &str, told: &Settlement, now: u64) -> Result<Settled, Refused> {
        self.within(Kind::Change, now, &Wants::default(), &mut |open| open.settle(id, told))?
    }

    fn decision(&self, id: &str, now: u64) -> Result<Option<Decision>, Fault> {
        self.within(Kind::Look, now, &Wants::default(), &mut |open| open.on(|parts| parts.by_id(id)))
    }

    fn recent(&self, most: usize, now: u64) -> Result<Vec<Decision>, Fault> {
        self.within(Kind::Look, now, &Wants::default(), &mut |open| open.on(|parts| parts.recent(most)))
    }

    fn hand_out(&self, id: &str, now: u64) -> Result<Decision, Refused> {
        self.within(Kind::Change, now, &Wants::default(), &mut |open| open.hand_out(id))?
    }

    fn waiting(&self, now: u64) -> Result<Vec<Decision>, Fault> {
        self.within(Kind::Look, now, &Wants::default(), &mut |open| open.on(|parts| parts.waiting()))
    }

    fn texts(&self, id: &str, now: u64) -> Result<Vec<Read>, Refused> {
        self.within(Kind::Look, now, &Wants::default(), &mut |open| {
            open.on(|parts| {
                let Some(own) = parts.by_id(id)? else { return Ok(Err(Refused::Unknown)) };
                let asked = parts.asked_of(&own)?;
                parts.texts(&asked, open.now).map(Ok)
            })
        })?
    }

    fn moved(&self, since: u64, most: usize, now: u64) -> Result<Vec<Moved>, Fault> {
        let since = i64::try_from(since).unwrap_or(i64::MAX);
        self.within(Kind::Look, now, &Wants::default(), &mut |open| open.on(|parts| parts.moved(since, most)))
    }

    fn file(&self, filing: &Filing) -> Result<(), Fault> {
        let lasts = i64::try_from(FLAG_LASTS).unwrap_or(i64::MAX);
        let flag = (filing.found == Content::Flagged).then_some(lasts);
        self.within(Kind::Change, filing.now, &Wants::default(), &mut |open| {
            open.on(|parts| parts.file(filing, open.now, flag))
        })
    }
}
