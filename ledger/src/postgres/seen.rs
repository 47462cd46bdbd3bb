//! What one check sees of the ledger in PostgreSQL.
//!
//! INVARIANT: everything within the transaction of the check; a decision that is looked at once more does not count against itself.

use super::batch::{Parts, Work};
use super::sums::sides;
use crate::rows::{Held, worse};
use crate::sums::PAYMENTS;
use policy_payments::Units;
use policy_payments::ledger::{Asked, Back, By, Content, Fault, View};
use std::cell::RefCell;

/// The ledger, for a payment.
pub(crate) struct Seen<'s, 'w> {
    pub(crate) work: &'s RefCell<&'w mut Work>,
    pub(crate) now: i64,
    pub(crate) asked: &'s Asked,
    /// The decision that is looked at once more.
    pub(crate) without: Option<i64>,
}

impl Seen<'_, '_> {
    fn on<T>(&self, what: impl FnOnce(&mut Parts<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        what(&mut self.work.borrow_mut().parts()?)
    }

    fn sum(&self, asset: &str, back: Back, side: usize) -> Result<Units, Fault> {
        let held = Held::of(self.asked, self.now);
        let Some(own) = sides(&held, asset).get(side).copied() else { return Err(super::link::damaged()) };
        let seconds = match back {
            Back::Seconds(seconds) => seconds.max(1),
            Back::Always => 0,
        };
        let all = self.on(|parts| parts.sum(side, own, seconds, self.now))?;
        let Some(seq) = self.without else { return Ok(all) };
        let after = if seconds == 0 { -1 } else { self.now.saturating_sub(i64::from(seconds) * 1000) };
        let own = self.on(|parts| parts.held(seq, asset, after))?;
        all.minus(own).ok_or_else(super::link::damaged)
    }
}

fn side(by: By) -> usize {
    match by {
        By::All => 0,
        By::Payee => 1,
        By::Seller => 2,
        By::Session => 3,
        By::Tool => 4,
    }
}

fn count(units: Units) -> u64 {
    units.to_string().parse().unwrap_or(u64::MAX)
}

impl View for Seen<'_, '_> {
    fn spent(&self, asset: &str, back: Back, by: By) -> Result<Units, Fault> {
        self.sum(asset, back, side(by))
    }

    fn payments(&self, back: Back, by: By) -> Result<u64, Fault> {
        self.sum(PAYMENTS, back, side(by)).map(count)
    }

    fn same(&self, back: Back) -> Result<u64, Fault> {
        self.sum(PAYMENTS, back, 5).map(count)
    }

    fn known(&self) -> Result<bool, Fault> {
        let Some(payee) = &self.asked.payee else { return Ok(false) };
        self.on(|parts| parts.is_known(payee))
    }

    fn alike(&self) -> Result<Option<String>, Fault> {
        let Some(payee) = &self.asked.payee else { return Ok(None) };
        self.on(|parts| parts.alike(payee))
    }

    fn filed(&self) -> Result<bool, Fault> {
        let Some(payee) = &self.asked.payee else { return Ok(false) };
        self.on(|parts| parts.is_seen(self.asked, payee))
    }

    fn price(&self, asset: &str) -> Result<Option<Units>, Fault> {
        let Some(page) = &self.asked.page else { return Ok(None) };
        self.on(|parts| parts.price(page, asset))
    }

    fn flagged(&self) -> Result<bool, Fault> {
        self.on(|parts| parts.flagged(self.asked, self.now))
    }

    fn content(&self) -> Result<Option<Content>, Fault> {
        let mut worst = None;
        for hash in &self.asked.texts {
            let found = self.on(|parts| parts.content(hash))?;
            worst = Some(worse(worst, found.unwrap_or(Content::Unfinished)));
        }
        Ok(worst)
    }
}
