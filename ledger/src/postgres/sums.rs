//! What is reserved and settled: holds, and the running sums of windows over them; what a batch knows of the tables.
//!
//! INVARIANT: the sum of a window is exactly that of its holds that are not released. What is known here is what is in the tables and
//! what is about to be sent; it is forgotten only behind a flush. Amounts never wrap.

use super::batch::{Mark, NewDecision, Parts, Wants, mark};
use super::link::damaged;
use crate::rows::{Held, reasons_text};
use crate::{approval_lasts, number};
use policy_payments::Units;
use policy_payments::ledger::{Asked, Fault, Flow, Status};
use serde_json::{Value, json};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// States of a hold.
pub(crate) const RESERVED: i16 = 0;
pub(crate) const SETTLED: i16 = 1;
pub(crate) const RELEASED: i16 = 2;

/// The running sum of one window.
#[derive(Clone)]
struct Run {
    /// What is not later than this is not in it.
    tail: i64,
    /// Nothing in it is earlier than this.
    next: i64,
    total: Units,
    changed: bool,
}

/// A decision that the same payment may use, as far as it matters for that.
#[derive(Clone, Copy)]
pub(crate) struct Open {
    pub(crate) seq: i64,
    pub(crate) status: Status,
    pub(crate) answered: i64,
    /// 1: handed out; 2: made.
    pub(crate) used: i16,
}

/// What a batch knows of the tables.
#[derive(Default)]
pub(crate) struct Cache {
    attempts: HashMap<Mark, Option<i64>>,
    same: HashMap<Mark, Vec<Open>>,
    runs: HashMap<Mark, BTreeMap<u32, Run>>,
}

/// One hold.
pub(crate) struct Hold {
    pub(crate) asset: String,
    pub(crate) units: Units,
    pub(crate) state: i16,
    pub(crate) at: i64,
    pub(crate) sides: [Mark; 6],
}

/// A hold that is not sent yet.
pub(crate) struct NewHold {
    pub(crate) seq: i64,
    pub(crate) hold: Hold,
}

/// The marks under which a flow is counted, by side.
pub(crate) fn sides(held: &Held, asset: &str) -> [Mark; 6] {
    let mut number = 0_u8;
    held.sides.each_ref().map(|who| {
        number += 1;
        mark(&[asset, &number.to_string(), who])
    })
}

pub(crate) fn units(text: &str) -> Result<Units, Fault> {
    Units::whole(text).ok_or_else(damaged)
}

/// The mark of an attempt.
pub(crate) fn attempt(asked: &Asked) -> Option<Mark> {
    asked.key.as_ref().map(|key| mark(&[&asked.account, key]))
}

/// The mark of a payment of a session.
pub(crate) fn same(asked: &Asked) -> Mark {
    let fingerprint: String = asked.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
    mark(&[&fingerprint, &asked.session])
}

/// What a check of this payment will look up.
pub(crate) fn wants(asked: &Asked) -> Wants {
    let held = Held::of(asked, 0);
    let runs = held.flows().iter().flat_map(|flow| sides(&held, &flow.asset)).collect();
    Wants { attempt: attempt(asked), same: Some(same(asked)), runs }
}

/// Loads sums.
const RUNS: &str = "SELECT mark, seconds, tail, next, total::text FROM run WHERE mark = ANY($1)";
/// Loads names of attempts.
const ATTEMPTS: &str = "SELECT attempt, seq FROM decision WHERE attempt = ANY($1)";
/// Loads what waits or was approved; more than a batch can use up.
const SAME: &str =
    "SELECT w.same, d.seq, d.status, d.answered, d.used FROM unnest($1::bytea[]) AS w(same), LATERAL (
    SELECT seq, status, answered, used FROM decision
    WHERE same = w.same AND status IN (0, 2, 3) AND (status = 2 OR used < 2 AND answered > $2)
    ORDER BY status DESC, seq LIMIT 256) AS d";

impl Parts<'_> {
    /// Whether all of it was looked up.
    pub(crate) fn knows(&self, wants: &Wants) -> bool {
        let cache = &self.batch.cache;
        wants.attempt.is_none_or(|own| cache.attempts.contains_key(&own))
            && wants.same.is_none_or(|own| cache.same.contains_key(&own))
            && wants.runs.iter().all(|own| cache.runs.contains_key(own))
    }

    /// Looks up at once what several checks will ask for.
    pub(crate) fn prefetch(&mut self, all: &[Wants], now: i64) -> Result<(), Fault> {
        let cache = &self.batch.cache;
        let unknown = |known: &dyn Fn(&Mark) -> bool, marks: &mut dyn Iterator<Item = Mark>| -> Vec<Mark> {
            let mut own: Vec<Mark> = marks.filter(|mark| !known(mark)).collect();
            own.sort_unstable();
            own.dedup();
            own
        };
        let attempts = unknown(
            &|mark| cache.attempts.contains_key(mark),
            &mut all.iter().filter_map(|wants| wants.attempt),
        );
        let same =
            unknown(&|mark| cache.same.contains_key(mark), &mut all.iter().filter_map(|wants| wants.same));
        let runs = unknown(
            &|mark| cache.runs.contains_key(mark),
            &mut all.iter().flat_map(|wants| wants.runs.clone()),
        );
        if !attempts.is_empty() {
            let rows = self.link.rows(ATTEMPTS, &[&slices(&attempts)])?;
            let cache = &mut self.batch.cache.attempts;
            cache.extend(attempts.iter().map(|own| (*own, None)));
            for row in rows {
                cache.insert(mark_of(&row, 0)?, Some(row.try_get(1).map_err(|_| damaged())?));
            }
        }
        if !same.is_empty() {
            let cutoff = now.saturating_sub(approval_lasts());
            let rows = self.link.rows(SAME, &[&slices(&same), &cutoff])?;
            let cache = &mut self.batch.cache.same;
            cache.extend(same.iter().map(|own| (*own, Vec::new())));
            for row in rows {
                let status: i16 = row.try_get(2).map_err(|_| damaged())?;
                let status = usize::try_from(status).ok().and_then(|at| Status::ALL.get(at).copied());
                let open = Open {
                    seq: row.try_get(1).map_err(|_| damaged())?,
                    status: status.ok_or_else(damaged)?,
                    answered: row.try_get(3).map_err(|_| damaged())?,
                    used: row.try_get(4).map_err(|_| damaged())?,
                };
                cache.entry(mark_of(&row, 0)?).or_default().push(open);
            }
        }
        if !runs.is_empty() {
            let rows = self.link.rows(RUNS, &[&slices(&runs)])?;
            let cache = &mut self.batch.cache.runs;
            cache.extend(runs.iter().map(|own| (*own, BTreeMap::new())));
            for row in rows {
                let seconds: i64 = row.try_get(1).map_err(|_| damaged())?;
                let run = Run {
                    tail: row.try_get(2).map_err(|_| damaged())?,
                    next: row.try_get(3).map_err(|_| damaged())?,
                    total: units(row.try_get(4).map_err(|_| damaged())?)?,
                    changed: false,
                };
                let seconds = u32::try_from(seconds).map_err(|_| damaged())?;
                cache.entry(mark_of(&row, 0)?).or_default().insert(seconds, run);
            }
        }
        Ok(())
    }

    /// The decision of an attempt.
    pub(crate) fn attempt(&mut self, own: Mark) -> Result<Option<i64>, Fault> {
        let wants = Wants { attempt: Some(own), ..Wants::default() };
        self.prefetch(&[wants], self.batch.last)?;
        Ok(self.batch.cache.attempts.get(&own).copied().flatten())
    }

    /// The same payment of the same session that waits, or was approved and not made yet; for a call that makes it, one that was
    /// asked about and allowed, too.
    pub(crate) fn open_of(&mut self, asked: &Asked, now: i64) -> Result<Option<Open>, Fault> {
        let own = same(asked);
        self.prefetch(&[Wants { same: Some(own), ..Wants::default() }], now)?;
        let cutoff = now.saturating_sub(approval_lasts());
        let usable = |open: &Open| open.used < 1 + i16::from(asked.makes) && open.answered > cutoff;
        let fits = |open: &&Open| match open.status {
            Status::ReviewPending => true,
            Status::ReviewApproved => usable(open),
            _ => asked.makes && usable(open),
        };
        let all = self.batch.cache.same.get(&own).into_iter().flatten().filter(fits);
        Ok(all.min_by_key(|open| (-number(open.status), open.seq)).copied())
    }

    /// It is handed out (1), or made (2): each once, and nothing is handed out that was made.
    pub(crate) fn use_up(&mut self, asked: &Asked, seq: i64) {
        let how = 1 + i16::from(asked.makes);
        let all = self.batch.cache.same.get_mut(&same(asked)).into_iter().flatten();
        for open in all.filter(|open| open.seq == seq) {
            open.used = how;
        }
        self.batch.uses.insert(seq, how);
    }

    /// A decision was made.
    pub(crate) fn made(&mut self, asked: &Asked, open: Open, usable: bool) {
        if let Some(own) = attempt(asked) {
            self.batch.cache.attempts.insert(own, Some(open.seq));
        }
        if usable && let Some(all) = self.batch.cache.same.get_mut(&same(asked)) {
            all.push(open);
        }
    }

    /// How much there is in a window that ends now; 0 seconds: all. `keep`: time does not go back behind it.
    pub(crate) fn sum(&mut self, side: usize, own: Mark, seconds: u32, now: i64) -> Result<Units, Fault> {
        self.prefetch(&[Wants { runs: vec![own], ..Wants::default() }], now)?;
        let tail = if seconds == 0 { -1 } else { now.saturating_sub(i64::from(seconds) * 1000) };
        let known = self.batch.cache.runs.get(&own).and_then(|runs| runs.get(&seconds)).cloned();
        if let Some(run) = &known
            && (tail <= run.tail || tail < run.next)
        {
            return Ok(run.total);
        }
        self.flush()?;
        let (from, to) = known.as_ref().map_or((tail, i64::MAX), |run| (run.tail, tail));
        let find = MOVED.get(side).copied().ok_or_else(damaged)?;
        let own_slice: &[u8] = &own;
        let rows = self.link.rows(find, &[&own_slice, &from, &to, &tail])?;
        let row = rows.first().ok_or_else(damaged)?;
        let moved = units(row.try_get(0).map_err(|_| damaged())?)?;
        let next: Option<i64> = row.try_get(1).map_err(|_| damaged())?;
        let total = match &known {
            Some(run) => run.total.minus(moved).ok_or_else(damaged)?,
            None => moved,
        };
        let run = Run { tail, next: next.unwrap_or(i64::MAX), total, changed: true };
        self.batch.cache.runs.entry(own).or_default().insert(seconds, run);
        Ok(total)
    }

    /// Changes every running sum in whose window these holds lie.
    pub(crate) fn change(
        &mut self,
        holds: &[(&Hold, Units)],
        how: fn(Units, Units) -> Option<Units>,
    ) -> Result<(), Fault> {
        let runs = holds.iter().flat_map(|(hold, _)| hold.sides).collect();
        self.prefetch(&[Wants { runs, ..Wants::default() }], self.batch.last)?;
        let mut changed: HashMap<(Mark, u32), Run> = HashMap::new();
        for (hold, by) in holds {
            for side in hold.sides {
                for (seconds, run) in self.batch.cache.runs.get(&side).into_iter().flatten() {
                    let run = match changed.entry((side, *seconds)) {
                        Entry::Occupied(own) => own.into_mut(),
                        Entry::Vacant(own) => own.insert(run.clone()),
                    };
                    if run.tail < hold.at {
                        run.total = how(run.total, *by).ok_or_else(damaged)?;
                        run.next = run.next.min(hold.at);
                        run.changed = true;
                    }
                }
            }
        }
        // All or nothing: what cannot be added leaves no half.
        for ((side, seconds), run) in changed {
            self.batch.cache.runs.entry(side).or_default().insert(seconds, run);
        }
        Ok(())
    }

    /// Sends what was not sent yet.
    pub(crate) fn flush(&mut self) -> Result<(), Fault> {
        let sent = self.send();
        self.batch.broken |= sent.is_err();
        sent
    }

    fn send(&mut self) -> Result<(), Fault> {
        if !self.batch.decisions.is_empty() {
            self.send_decisions()?;
            self.batch.decisions.clear();
        }
        if !self.batch.holds.is_empty() {
            self.send_holds()?;
            self.batch.holds.clear();
        }
        if !self.batch.uses.is_empty() {
            let uses = std::mem::take(&mut self.batch.uses);
            let (seqs, hows): (Vec<i64>, Vec<i16>) = uses.into_iter().unzip();
            let set = "UPDATE decision SET used = own.how FROM unnest($1::bigint[], $2::smallint[]) AS own(seq, how)
                WHERE decision.seq = own.seq AND used < own.how";
            if self.link.change(set, &[&seqs, &hows])? != u64::try_from(seqs.len()).unwrap_or(u64::MAX) {
                return Err(damaged());
            }
        }
        for (page, asset, units) in std::mem::take(&mut self.batch.prices) {
            let own = mark(&[&page, &asset]);
            let own: &[u8] = &own;
            let add = "INSERT INTO price (mark, page, asset, units) VALUES ($1, $2, $3, $4::text::numeric)
                ON CONFLICT DO NOTHING";
            self.link.change(add, &[&own, &page, &asset, &units.to_string()])?;
        }
        self.send_runs()
    }

    fn send_runs(&mut self) -> Result<(), Fault> {
        let (mut marks, mut seconds) = (Vec::new(), Vec::new());
        let (mut tails, mut nexts, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        for (mark, runs) in &mut self.batch.cache.runs {
            for (own, run) in runs.iter_mut().filter(|(_, run)| run.changed) {
                marks.push(mark.as_slice());
                seconds.push(i64::from(*own));
                tails.push(run.tail);
                nexts.push(run.next);
                totals.push(run.total.to_string());
                run.changed = false;
            }
        }
        if marks.is_empty() {
            return Ok(());
        }
        let set = "INSERT INTO run (mark, seconds, tail, next, total)
            SELECT m, s, t, n, u::numeric FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
                AS own(m, s, t, n, u)
            ON CONFLICT (mark, seconds) DO UPDATE SET tail = excluded.tail, next = excluded.next, total = excluded.total";
        self.link.change(set, &[&marks, &seconds, &tails, &nexts, &totals]).map(drop)
    }

    fn send_holds(&mut self) -> Result<(), Fault> {
        let holds = &self.batch.holds;
        let seqs: Vec<i64> = holds.iter().map(|own| own.seq).collect();
        let assets: Vec<&str> = holds.iter().map(|own| own.hold.asset.as_str()).collect();
        let all: Vec<String> = holds.iter().map(|own| own.hold.units.to_string()).collect();
        let ats: Vec<i64> = holds.iter().map(|own| own.hold.at).collect();
        let side = |at: usize| -> Vec<&[u8]> {
            holds.iter().filter_map(|own| own.hold.sides.get(at)).map(Mark::as_slice).collect()
        };
        let [everyone, payee, seller] = [side(0), side(1), side(2)];
        let [session, tool, same] = [side(3), side(4), side(5)];
        let add = "INSERT INTO hold (decision, asset, units, state, at, everyone, payee, seller, session, tool, same)
            SELECT d, a, u::numeric, 0, t, s0, s1, s2, s3, s4, s5 FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[],
                $5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[])
                AS own(d, a, u, t, s0, s1, s2, s3, s4, s5)";
        let values: super::link::Values<'_> =
            &[&seqs, &assets, &all, &ats, &everyone, &payee, &seller, &session, &tool, &same];
        self.link.change(add, values).map(drop)
    }

    fn send_decisions(&mut self) -> Result<(), Fault> {
        let add = "INSERT INTO decision (seq, id, session, beside, account, key, attempt, same, fingerprint, status, would, reasons,
                shown, tool, payee, seller, page, url, texts, flows, at, expires, used, answered)
            SELECT own.*, own.at FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[],
                $8::bytea[], $9::bytea[], $10::smallint[], $11::smallint[], $12::text[], $13::text[], $14::text[], $15::text[],
                $16::text[], $17::text[], $18::text[], $19::bytea[], $20::text[], $21::bigint[], $22::bigint[], $23::smallint[])
                AS own(seq, id, session, beside, account, key, attempt, same, fingerprint, status, would, reasons,
                    shown, tool, payee, seller, page, url, texts, flows, at, expires, used)";
        let all = &self.batch.decisions;
        let number = |status: Status| i16::try_from(number(status)).map_err(|_| damaged());
        let flows = |asked: &Asked| {
            let flow = |flow: &Flow| json!([flow.asset, flow.units.to_string()]);
            Value::Array(asked.flows.iter().map(flow).collect()).to_string()
        };
        let marks: Vec<(Option<Mark>, Mark)> =
            all.iter().map(|own| (attempt(&own.asked), same(&own.asked))).collect();
        let attempts: Vec<Option<&[u8]>> =
            marks.iter().map(|(own, _)| own.as_ref().map(Mark::as_slice)).collect();
        let used = |own: &NewDecision| match own.asked.makes && own.judged.status == Status::Allowed {
            true => 2_i16,
            false => 0,
        };
        let texts = |of: fn(&NewDecision) -> &str| -> Vec<&str> { all.iter().map(of).collect() };
        let maybe = |of: fn(&NewDecision) -> Option<&String>| -> Vec<Option<&String>> {
            all.iter().map(of).collect()
        };
        let numbers = |of: fn(&NewDecision) -> i64| -> Vec<i64> { all.iter().map(of).collect() };
        let values: super::link::Values<'_> = &[
            &numbers(|own| own.seq),
            &texts(|own| &own.id),
            &texts(|own| &own.asked.session),
            &all.iter().map(|own| json!(own.asked.beside).to_string()).collect::<Vec<_>>(),
            &texts(|own| &own.asked.account),
            &maybe(|own| own.asked.key.as_ref()),
            &attempts,
            &marks.iter().map(|(_, own)| own.as_slice()).collect::<Vec<_>>(),
            &all.iter().map(|own| own.asked.fingerprint.as_slice()).collect::<Vec<_>>(),
            &all.iter().map(|own| number(own.judged.status)).collect::<Result<Vec<_>, _>>()?,
            &all.iter().map(|own| number(own.judged.would)).collect::<Result<Vec<_>, _>>()?,
            &all.iter().map(|own| reasons_text(&own.judged.reasons)).collect::<Vec<_>>(),
            &texts(|own| &own.asked.shown),
            &texts(|own| &own.asked.tool),
            &maybe(|own| own.asked.payee.as_ref()),
            &maybe(|own| own.asked.seller.as_ref()),
            &maybe(|own| own.asked.page.as_ref()),
            &maybe(|own| own.asked.url.as_ref()),
            &all.iter().map(|own| own.asked.texts.concat()).collect::<Vec<_>>(),
            &all.iter().map(|own| flows(&own.asked)).collect::<Vec<_>>(),
            &numbers(|own| own.at),
            &numbers(|own| own.expires),
            &all.iter().map(used).collect::<Vec<_>>(),
        ];
        self.link.change(add, values).map(drop)
    }

    /// Forgets what is known, so that it is read again.
    pub(crate) fn forget(&mut self) -> Result<(), Fault> {
        self.flush()?;
        self.batch.cache = Cache::default();
        Ok(())
    }
}

fn slices(marks: &[Mark]) -> Vec<&[u8]> {
    marks.iter().map(Mark::as_slice).collect()
}

fn mark_of(row: &tokio_postgres::Row, at: usize) -> Result<Mark, Fault> {
    row.try_get::<_, &[u8]>(at).ok().and_then(|own| own.try_into().ok()).ok_or_else(damaged)
}

macro_rules! moved {
    ($column:literal) => {
        concat!(
            "SELECT coalesce(sum(units), 0)::text, (SELECT min(at) FROM hold WHERE ",
            $column,
            " = $1 AND at > $4 AND state < 2) FROM hold WHERE ",
            $column,
            " = $1 AND at > $2 AND at <= $3 AND state < 2"
        )
    };
}

/// What lies between two times, and the first behind a third, by side.
const MOVED: [&str; 6] = [
    moved!("everyone"),
    moved!("payee"),
    moved!("seller"),
    moved!("session"),
    moved!("tool"),
    moved!("same"),
];
