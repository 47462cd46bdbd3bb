//! What one check sees of the ledger.
//!
//! INVARIANT: everything within the transaction of the check; a decision that is looked at once more does not count against itself.

use crate::rows::{self, Held};
use crate::sums::{self, PAYMENTS};
use crate::{Open, text};
use policy_payments::Units;
use policy_payments::ledger::{Asked, Back, By, Content, Fault, View};

/// The ledger, for a payment.
pub(crate) struct Seen<'s, 'c> {
    pub(crate) open: &'s Open<'c>,
    pub(crate) asked: &'s Asked,
    /// The decision that is looked at once more.
    pub(crate) without: Option<u64>,
}

fn fault(error: &rusqlite::Error) -> Fault {
    Fault(format!("the ledger cannot be read: {}", text::clause(error)))
}

impl Seen<'_, '_> {
    fn sum(&self, asset: &str, back: Back, side: usize) -> Result<Units, Fault> {
        let held = Held::of(self.asked, self.open.now);
        let who = held.sides.get(side).map_or("", String::as_str);
        let seconds = match back {
            Back::Seconds(seconds) => seconds.max(1),
            Back::Always => 0,
        };
        let all = sums::sum(self.open.db, asset, side, who, seconds, self.open.now)
            .map_err(|error| fault(&error))?;
        let Some(own) = self.without else { return Ok(all) };
        let after = if seconds == 0 { -1 } else { self.open.now.saturating_sub(i64::from(seconds) * 1000) };
        let seq = i64::try_from(own).unwrap_or(i64::MAX);
        let own = sums::held(self.open.db, seq, asset, after).map_err(|error| fault(&error))?;
        all.minus(own).ok_or_else(|| fault(&sums::damaged()))
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
        rows::is_known(self.open.db, payee).map_err(|error| fault(&error))
    }

    fn alike(&self) -> Result<Option<String>, Fault> {
        let Some(payee) = &self.asked.payee else { return Ok(None) };
        rows::alike(self.open.db, payee).map_err(|error| fault(&error))
    }

    fn filed(&self) -> Result<bool, Fault> {
        let Some(payee) = &self.asked.payee else { return Ok(false) };
        rows::is_seen(self.open.db, self.asked, payee).map_err(|error| fault(&error))
    }

    fn price(&self, asset: &str) -> Result<Option<Units>, Fault> {
        let Some(page) = &self.asked.page else { return Ok(None) };
        rows::price(self.open.db, page, asset).map_err(|error| fault(&error))
    }

    fn flagged(&self) -> Result<bool, Fault> {
        rows::flagged(self.open.db, self.asked, self.open.now).map_err(|error| fault(&error))
    }

    fn content(&self) -> Result<Option<Content>, Fault> {
        let mut worst = None;
        for hash in &self.asked.texts {
            let found = rows::content(self.open.db, hash).map_err(|error| fault(&error))?;
            worst = Some(rows::worse(worst, found.unwrap_or(Content::Unfinished)));
        }
        Ok(worst)
    }
}
