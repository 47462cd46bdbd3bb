//! What is decided inside of a transaction of PostgreSQL, as the ledger in SQLite decides it.
//!
//! INVARIANT: a check changes rows last, and only in memory until nothing can fail any more.

use super::batch::{NewDecision, Parts, Work};
use super::seen::Seen;
use super::sums::{self, Hold, NewHold, Open as Usable};
use super::{Limits, link};
use crate::approval_lasts;
use crate::rows::{Held, id};
use policy_payments::Units;
use policy_payments::ledger::{
    Asked, Checked, Decision, Fault, Judge, Judged, Refused, Settled, Settlement, Status,
};
use std::cell::RefCell;

/// What is done inside of a transaction.
pub(super) struct Open<'o, 'w> {
    pub(super) work: &'o RefCell<&'w mut Work>,
    pub(super) now: i64,
    pub(super) limits: &'o Limits,
}

impl Open<'_, '_> {
    pub(super) fn on<T>(&self, what: impl FnOnce(&mut Parts<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        what(&mut self.work.borrow_mut().parts()?)
    }

    pub(super) fn decide(&self, asked: &Asked, judge: &mut Judge<'_>) -> Result<Checked, Fault> {
        if let Some(own) = sums::attempt(asked)
            && let Some(seq) = self.on(|parts| parts.attempt(own))?
        {
            let known = self.on(|parts| parts.by_seq(seq))?.ok_or_else(link::damaged)?;
            return Ok(match known.fingerprint == asked.fingerprint && known.session == asked.session {
                true => Checked::Known(known),
                false => Checked::Conflict,
            });
        }
        self.limits.step("after key")?;
        // The same payment waits, or a person approved it: it is looked at once more and not asked about again.
        let same = self.on(|parts| parts.open_of(asked, self.now))?;
        let judged =
            judge(&Seen { work: self.work, now: self.now, asked, without: same.map(|same| same.seq) })?;
        self.limits.step("after judging")?;
        if let Some(same) = same.filter(|_| judged.status != Status::Denied) {
            match (same.status, judged.status) {
                // What it waited for is not asked any more.
                (Status::ReviewPending, Status::Allowed) => self.on(|parts| {
                    parts.set_status(same.seq, Status::ReviewExpired, self.now)?;
                    parts.release(same.seq)?;
                    parts.look_for_late()?;
                    parts.forget()
                })?,
                (status, _) => {
                    let known = self.on(|parts| parts.by_seq(same.seq))?.ok_or_else(link::damaged)?;
                    if status == Status::ReviewPending {
                        return Ok(Checked::Known(known));
                    }
                    self.on(|parts| {
                        parts.use_up(asked, same.seq);
                        Ok(())
                    })?;
                    return Ok(Checked::Known(Decision { used: true, ..known }));
                }
            }
        }
        self.write(asked, judged).map(Checked::New)
    }

    fn write(&self, asked: &Asked, judged: Judged) -> Result<Decision, Fault> {
        let id = id().map_err(|error| Fault(format!("there are no random numbers: {error}")))?;
        let lasts = i64::try_from(judged.lasts.unwrap_or(self.limits.review_lasts)).unwrap_or(i64::MAX);
        let expires = self.now.saturating_add(lasts);
        self.limits.step("after decision")?;
        // What is only in memory is put in its place when nothing can fail any more.
        let mut holds = Vec::new();
        if matches!(judged.status, Status::Allowed | Status::ReviewPending) {
            let held = Held::of(asked, self.now);
            for flow in held.flows() {
                let sides = sums::sides(&held, &flow.asset);
                let state = sums::RESERVED;
                holds.push(Hold { asset: flow.asset, units: flow.units, state, at: self.now, sides });
                self.limits.step("after hold")?;
            }
        }
        self.on(|parts| {
            let all: Vec<(&Hold, Units)> = holds.iter().map(|hold| (hold, hold.units)).collect();
            parts.change(&all, Units::plus)?;
            let batch = &mut *parts.batch;
            batch.seq = batch.seq.saturating_add(1);
            let seq = batch.seq;
            batch.holds.extend(holds.into_iter().map(|hold| NewHold { seq, hold }));
            if judged.status == Status::Allowed && judged.would == Status::Allowed {
                let page = asked.page.as_ref();
                let price = |page: &String| {
                    asked.flows.iter().map(|flow| (page.clone(), flow.asset.clone(), flow.units)).collect()
                };
                batch.prices.extend(page.map_or_else(Vec::new, price));
            }
            if judged.status == Status::ReviewPending {
                batch.next_late = Some(batch.next_late.map_or(expires, |late| late.min(expires)));
            }
            let made = Decision {
                id: id.clone(),
                seq: seq.unsigned_abs(),
                session: asked.session.clone(),
                status: judged.status,
                would: judged.would,
                reasons: judged.reasons.clone(),
                shown: asked.shown.clone(),
                fingerprint: asked.fingerprint,
                flows: asked.flows.clone(),
                at: self.now.unsigned_abs(),
                expires: expires.unsigned_abs(),
                used: asked.makes && judged.status == Status::Allowed,
                transaction: None,
            };
            let usable =
                judged.status == Status::ReviewPending || judged.status == Status::Allowed && !made.used;
            let open = Usable { seq, status: judged.status, answered: self.now, used: 0 };
            batch.decisions.push(NewDecision {
                seq,
                id,
                asked: asked.clone(),
                judged,
                at: self.now,
                expires,
            });
            parts.made(asked, open, usable);
            Ok(made)
        })
    }

    pub(super) fn review(
        &self,
        id: &str,
        approve: bool,
        judge: &mut Judge<'_>,
    ) -> Result<Result<Decision, Refused>, Fault> {
        let Some(own) = self.on(|parts| parts.by_id(id))? else { return Ok(Err(Refused::Unknown)) };
        if own.status != Status::ReviewPending {
            return Ok(Err(Refused::State(own.status)));
        }
        let seq = i64::try_from(own.seq).unwrap_or(i64::MAX);
        let mut status = Status::ReviewDenied;
        let mut reasons = None;
        if approve {
            let asked = self.on(|parts| parts.asked_of(&own))?;
            let judged = judge(&Seen { work: self.work, now: self.now, asked: &asked, without: Some(seq) })?;
            status = Status::ReviewApproved;
            if judged.status == Status::Denied {
                status = Status::Denied;
                reasons = Some(judged.reasons);
            }
        }
        self.on(|parts| {
            if let Some(reasons) = &reasons {
                parts.set_reasons(seq, reasons)?;
            }
            parts.set_status(seq, status, self.now)?;
            match status {
                Status::ReviewApproved => parts.teach(seq, "approved", self.now)?,
                _ => parts.release(seq)?,
            }
            parts.look_for_late()?;
            parts.forget()?;
            Ok(parts.by_seq(seq)?.ok_or(Refused::Unknown))
        })
    }

    pub(super) fn look_again(
        &self,
        id: &str,
        judge: &mut Judge<'_>,
    ) -> Result<Result<Judged, Refused>, Fault> {
        let Some(own) = self.on(|parts| parts.by_id(id))? else { return Ok(Err(Refused::Unknown)) };
        if own.status != Status::ReviewPending {
            return Ok(Err(Refused::State(own.status)));
        }
        let seq = i64::try_from(own.seq).unwrap_or(i64::MAX);
        let asked = self.on(|parts| parts.asked_of(&own))?;
        judge(&Seen { work: self.work, now: self.now, asked: &asked, without: Some(seq) }).map(Ok)
    }

    pub(super) fn settle(&self, id: &str, told: &Settlement) -> Result<Result<Settled, Refused>, Fault> {
        self.on(|parts| {
            let Some(own) = parts.by_id(id)? else { return Ok(Err(Refused::Unknown)) };
            if !matches!(own.status, Status::Allowed | Status::ReviewApproved) {
                return Ok(Err(Refused::State(own.status)));
            }
            let seq = i64::try_from(own.seq).unwrap_or(i64::MAX);
            if let Some((transaction, evidence)) = parts.told(seq)?
                && (evidence || !told.evidence)
            {
                // Told before: the same is no news, another one is a contradiction.
                return Ok(match transaction == told.transaction {
                    true if evidence => Ok(Settled::Recorded),
                    true => Ok(Settled::Claimed),
                    false => Err(Refused::Other),
                });
            }
            parts.tell(seq, told)?;
            if !told.evidence {
                return Ok(Ok(Settled::Claimed));
            }
            if !told.success {
                parts.release(seq)?;
                return Ok(Ok(Settled::Released));
            }
            parts.teach(seq, "settled", self.now)?;
            let over = parts.settled(seq, told.units)?;
            Ok(Ok(if over { Settled::Over } else { Settled::Recorded }))
        })
    }

    pub(super) fn hand_out(&self, id: &str) -> Result<Result<Decision, Refused>, Fault> {
        self.on(|parts| {
            let Some(own) = parts.by_id(id)? else { return Ok(Err(Refused::Unknown)) };
            if own.status != Status::ReviewApproved {
                return Ok(Ok(own));
            }
            let seq = i64::try_from(own.seq).unwrap_or(i64::MAX);
            if own.used || parts.answered(seq)? <= self.now.saturating_sub(approval_lasts()) {
                return Ok(Err(Refused::Used));
            }
            parts.hand_out(seq)?;
            Ok(Ok(Decision { used: true, ..own }))
        })
    }
}
