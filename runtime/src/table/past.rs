//! What lines ask of the past, and the facts of the past that they name.
//!
//! INVARIANT: read one at a time, when a line that matched has one.

use super::layout::{Section, window};
use super::read::{Damaged, Range, Read, Row};
use super::records::{Matcher, more};
use super::{Line, Table};
use crate::outside::{By, Measure, Moment, PastKind};

/// What a line asks of the past.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail<'a> {
    pub(crate) limit: Option<Limit<'a>>,
    pub(crate) condition: Option<Condition>,
    /// Hours of the week, and whether the line holds outside of them.
    pub(crate) hours: Option<(bool, &'a str)>,
    pub(crate) flags: bool,
}

/// A limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit<'a> {
    pub(crate) measure: Measure,
    pub(crate) over: u32,
    pub(crate) back: Back,
    pub(crate) by: By,
    pub(crate) key: u64,
    /// The window as it is said; of money its name.
    pub(crate) shown: &'a str,
    /// Of a payment, the most in decimal digits, and for what was spent the name of the money and its assets behind it; then `over`
    /// is the number of decimals. Of a payee, the addresses that the policy names.
    pub(crate) most: &'a str,
}

/// How far back a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Back {
    Call,
    Seconds(u32),
    Session,
    /// Number of a fact of the past.
    Since(u32),
}

/// A condition, by numbers of facts of the past.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Condition {
    pub(crate) unless: bool,
    pub(crate) past: u32,
    pub(crate) since: Option<u32>,
    /// Above this number of different files.
    pub(crate) over: u32,
}

/// A fact of the past.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Past {
    pub(crate) kind: PastKind,
    pub(crate) key: u64,
    pub(crate) matchers: Range,
}

impl Past {
    pub(crate) fn moment(self, succeeded: bool) -> Moment {
        Moment { kind: self.kind, key: self.key, succeeded: succeeded && self.kind == PastKind::Ran }
    }
}

fn key(row: Row<'_>, at: usize) -> Read<u64> {
    Ok(u64::from(row.word(at)?) | u64::from(row.word(at + 1)?) << 32)
}

impl<'a> Table<'a> {
    /// What a line asks of the past.
    pub(crate) fn tail(&self, line: &Line<'_>) -> Read<Option<Tail<'a>>> {
        let Some(tail) = line.tail else { return Ok(None) };
        let row = self.row(Section::Tails, tail)?;
        let limit = match row.word(0)?.checked_sub(1) {
            None => None,
            Some(measure) => Some(Limit {
                measure: *Measure::ALL.get(measure as usize).ok_or(Damaged)?,
                over: row.word(1)?,
                back: match row.word(2)? {
                    window::CALL => Back::Call,
                    window::SECONDS => Back::Seconds(row.word(3)?),
                    window::SESSION => Back::Session,
                    window::SINCE => Back::Since(row.word(3)?),
                    _ => return Err(Damaged),
                },
                by: *By::ALL.get(row.word(4)? as usize).ok_or(Damaged)?,
                key: key(row, 5)?,
                shown: self.text_in(row, 7)?,
                most: self.text_in(row, 14)?,
            }),
        };
        let condition = match row.word(9)? {
            0 => None,
            kind @ (1 | 2) => {
                let (past, since, over) = (row.word(10)?, more(row.word(11)?), row.word(12)?);
                Some(Condition { unless: kind == 2, past, since, over })
            }
            3 | 4 => None,
            _ => return Err(Damaged),
        };
        let hours = match row.word(9)? {
            kind @ (3 | 4) => Some((kind == 4, self.text_in(row, 10)?)),
            _ => None,
        };
        Ok(Some(Tail { limit, condition, hours, flags: self.flag(row.word(13)?)? }))
    }

    /// Whether a line asks a ledger of payments.
    ///
    /// # Errors
    ///
    /// When the table is damaged.
    pub fn asks_a_ledger(&self, line: &Line<'_>) -> Read<bool> {
        Ok(self.tail(line)?.and_then(|tail| tail.limit).is_some_and(|limit| limit.measure.of_ledger()))
    }

    /// How many facts of the past there are.
    #[must_use]
    pub fn pasts(&self) -> u32 {
        self.rows(Section::Pasts).len()
    }

    /// A fact of the past.
    pub(crate) fn past(&self, id: u32) -> Read<Past> {
        let row = self.row(Section::Pasts, id)?;
        let kind = *PastKind::ALL.get(row.word(0)? as usize).ok_or(Damaged)?;
        Ok(Past { kind, key: key(row, 1)?, matchers: row.range(3)? })
    }

    /// What a fact of the past is told by.
    pub(crate) fn matchers_of(&self, past: &Past) -> Read<impl Iterator<Item = Read<Matcher<'a>>> + use<'a>> {
        let table = *self;
        let rows = self.rows(Section::Excepts);
        Ok(past.matchers.within(rows.len())?.map(move |index| {
            let row = rows.get(index)?;
            table.matcher(row.word(1)?, row.word(3)?, row.word(4)?)
        }))
    }
}
