//! What lines say of money, for people who look at them: budgets, and the names of assets.
//!
//! INVARIANT: nothing here decides; what a line does not say is not made up.

use super::past::Back;
use super::read::Read;
use super::records::Matcher;
use super::{Line, Table};
use crate::glob::{Syntax, matches};
use crate::outside::{By, Measure, Paid};

/// What a line lets be spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget<'a> {
    /// The most, in smallest units as decimal digits.
    pub most: &'a str,
    /// What people call the money.
    pub money: &'a str,
    /// Decimals of it.
    pub decimals: u32,
    /// The assets that count together, with blanks between them.
    pub assets: &'a str,
    /// How far back; none: as long as the ledger remembers.
    pub seconds: Option<u32>,
    /// For whom.
    pub by: By,
    /// The window as it is said.
    pub shown: &'a str,
}

impl Budget<'_> {
    /// What a ledger is asked for it.
    #[must_use]
    pub fn question(&self) -> Paid {
        let assets = self.assets.split(' ').map(str::to_owned).collect();
        Paid::Spent { assets, seconds: self.seconds, by: self.by }
    }
}

impl<'a> Table<'a> {
    /// The budget of a line that has one.
    ///
    /// # Errors
    ///
    /// When the table is damaged.
    pub fn budget(&self, line: &Line<'_>) -> Read<Option<Budget<'a>>> {
        let limit = self.tail(line)?.and_then(|tail| tail.limit);
        let Some(limit) = limit.filter(|limit| limit.measure == Measure::Spend) else { return Ok(None) };
        let mut words = limit.most.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (most, money, assets) = (word(), word(), word());
        let seconds = match limit.back {
            Back::Seconds(seconds) => Some(seconds),
            Back::Call | Back::Session | Back::Since(_) => None,
        };
        let (decimals, by, shown) = (limit.over, limit.by, limit.shown);
        Ok(Some(Budget { most, money, decimals, assets, seconds, by, shown }))
    }

    /// What people call an asset, and its decimals, where a line counts it.
    ///
    /// # Errors
    ///
    /// When the table is damaged.
    pub fn money(&self, line: &Line<'_>, asset: &str) -> Read<Option<(&'a str, u32)>> {
        if let Some(budget) = self.budget(line)? {
            let counts = budget.assets.split(' ').any(|own| own == asset);
            return Ok(counts.then_some((budget.money, budget.decimals)));
        }
        let limit = self.tail(line)?.and_then(|tail| tail.limit);
        let counts = |measure| matches!(measure, Measure::Amount | Measure::Approval);
        let Some(limit) = limit.filter(|limit| counts(limit.measure)) else { return Ok(None) };
        for pattern in self.patterns_of(line)? {
            let Matcher::Arg(glob) = pattern?.matcher else { continue };
            let Some((_, glob)) = glob.split_once('\0') else { continue };
            if matches(glob, &format!("{asset} 1"), Syntax::Plain, false) {
                return Ok(Some((limit.shown, limit.over)));
            }
        }
        Ok(None)
    }
}
