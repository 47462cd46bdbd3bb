//! What the ledger tells people who look at it: the texts that hold a payment, and what was moved of late.
//!
//! INVARIANT: looking changes nothing, and no answer grows with the ledger.

use crate::rows;
use crate::sums::{PAYMENTS, damaged, units};
use policy_payments::ledger::{Asked, Content, Moved, Read, Status};
use rusqlite::{Connection, OptionalExtension, Result, Row, params};

/// Most texts of one payment.
pub(crate) const MOST_TEXTS: usize = 16;

fn positive(row: &Row<'_>, at: usize) -> Result<u64> {
    row.get::<_, i64>(at)?.try_into().map_err(|_| damaged())
}

fn one_of<T: Copy>(row: &Row<'_>, at: usize, all: &[T]) -> Result<T> {
    let number: usize = row.get::<_, i64>(at)?.try_into().map_err(|_| damaged())?;
    all.get(number).copied().ok_or_else(damaged)
}

fn text(row: &Row<'_>) -> Result<Read> {
    Ok(Read {
        hash: row.get_ref(0)?.as_blob()?.try_into().map_err(|_| damaged())?,
        origin: row.get(1)?,
        found: one_of(row, 2, &Content::ALL)?,
        classes: serde_json::from_str(row.get_ref(3)?.as_str()?).map_err(|_| damaged())?,
        text: row.get(4)?,
        at: positive(row, 5)?,
        holds: match row.get::<_, Option<i64>>(6)? {
            None => None,
            Some(until) => Some(until.try_into().map_err(|_| damaged())?),
        },
    })
}

/// The texts that a payment names, and those that hold its sessions now.
pub(crate) fn texts(db: &Connection, asked: &Asked, now: i64) -> Result<Vec<Read>> {
    let mut out = Vec::new();
    for hash in asked.texts.iter().take(MOST_TEXTS) {
        // The worst that was found in it, in any session.
        let find = "SELECT hash, origin, found, classes, text, at, NULL FROM content WHERE hash = ?1
            ORDER BY CASE found WHEN 0 THEN 0 WHEN 2 THEN 1 ELSE 2 END, at DESC LIMIT 1";
        let found = db.prepare_cached(find)?.query_row(params![hash.to_vec()], text).optional()?;
        out.push(found.unwrap_or_else(|| never_filed(*hash)));
    }
    for session in rows::sessions(asked) {
        let find = "SELECT c.hash, c.origin, c.found, c.classes, c.text, c.at, f.until FROM flag f
            JOIN content c ON c.hash = f.hash AND c.session = f.session WHERE f.session = ?1 AND f.until > ?2";
        out.extend(db.prepare_cached(find)?.query_row(params![session, now], text).optional()?);
    }
    Ok(out)
}

/// A text that a payment names and nobody filed.
pub(crate) fn never_filed(hash: [u8; 32]) -> Read {
    let (origin, text) = (String::new(), String::new());
    Read { hash, origin, found: Content::Unfinished, classes: Vec::new(), text, at: 0, holds: None }
}

/// What is reserved or settled since a moment, the newest first.
pub(crate) fn moved(db: &Connection, since: i64, most: usize) -> Result<Vec<Moved>> {
    let find = "SELECT h.at, h.asset, h.state, h.units, d.id, d.status, d.payee, d.seller, d.session, d.tool
        FROM hold h JOIN decision d ON d.seq = h.decision ORDER BY h.decision DESC, h.asset";
    let mut find = db.prepare_cached(find)?;
    let mut rows = find.query([])?;
    let mut out = Vec::new();
    while let Some(row) = rows.next()?
        && out.len() < most
    {
        // Time goes the way of the numbers.
        if row.get::<_, i64>(0)? <= since {
            break;
        }
        let (asset, state): (String, i64) = (row.get(1)?, row.get(2)?);
        if asset == PAYMENTS || state >= 2 {
            continue;
        }
        out.push(Moved {
            at: positive(row, 0)?,
            asset,
            settled: state == 1,
            units: units(row.get_ref(3)?.as_blob()?)?,
            id: row.get(4)?,
            status: one_of(row, 5, &Status::ALL)?,
            payee: row.get(6)?,
            seller: row.get(7)?,
            session: row.get(8)?,
            tool: row.get(9)?,
        });
    }
    Ok(out)
}
