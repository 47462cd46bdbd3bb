//! What is reserved and settled: holds, and the running sums of windows over them.
//!
//! INVARIANT: the sum of a window is exactly that of its holds that are not released; it is carried along, so that a check costs what
//! came and went since the last one and not all that lies in the window. Amounts never wrap.

use crate::rows::Held;
use policy_payments::Units;
use policy_payments::ledger::Flow;
use rusqlite::{Connection, OptionalExtension, Result, params};

/// The asset under which payments themselves are counted, one unit each.
pub(crate) const PAYMENTS: &str = "";

/// States of a hold.
const RESERVED: i64 = 0;
const SETTLED: i64 = 1;
const RELEASED: i64 = 2;

/// Sides of a hold that have sums of their own: the column, empty for all.
pub(crate) const SIDES: [&str; 6] = ["", "payee", "seller", "session", "tool", "same"];

/// One hold, as it is in the file.
struct Row {
    asset: String,
    units: Units,
    state: i64,
    at: i64,
    sides: [String; 6],
}

pub(crate) fn blob(units: Units) -> Vec<u8> {
    units.bytes().to_vec()
}

pub(crate) fn units(blob: &[u8]) -> Result<Units> {
    let bytes: [u8; 32] = blob.try_into().map_err(|_| damaged())?;
    Ok(Units::of_bytes(bytes))
}

/// A ledger that says what cannot be.
pub(crate) fn damaged() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(code, None)
}

/// How much there is in a window that ends now; 0 seconds: all.
pub(crate) fn sum(
    db: &Connection,
    asset: &str,
    side: usize,
    who: &str,
    seconds: u32,
    now: i64,
) -> Result<Units> {
    let column = SIDES.get(side).copied().ok_or_else(damaged)?;
    let tail = if seconds == 0 { -1 } else { now.saturating_sub(i64::from(seconds) * 1000) };
    let number = i64::try_from(side).unwrap_or(i64::MAX);
    let find = "SELECT tail, total FROM run WHERE asset = ?1 AND side = ?2 AND who = ?3 AND seconds = ?4";
    let known: Option<(i64, Vec<u8>)> = db
        .prepare_cached(find)?
        .query_row(params![asset, number, who, seconds], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (from, to) = match &known {
        // What has left the window since then.
        Some((old, _)) => (*old, tail),
        None => (tail, i64::MAX),
    };
    let mut moved = Units::ZERO;
    if from < to {
        let column = if column.is_empty() { "?2 = ?2".to_owned() } else { format!("{column} = ?2") };
        let rows = format!(
            "SELECT units FROM hold WHERE asset = ?1 AND {column} AND at > ?3 AND at <= ?4 AND state < 2"
        );
        let mut rows = db.prepare_cached(&rows)?;
        let mut rows = rows.query(params![asset, who, from, to])?;
        while let Some(row) = rows.next()? {
            moved = moved.plus(units(row.get_ref(0)?.as_blob()?)?).ok_or_else(damaged)?;
        }
    }
    let total = match &known {
        Some((_, total)) => units(total)?.minus(moved).ok_or_else(damaged)?,
        None => moved,
    };
    // Where nothing left the window its end need not be written, but for once in a while.
    let lags = to.saturating_sub(from) > i64::from(seconds) * 1000 / 8;
    if known.is_none() || from < to && (moved != Units::ZERO || lags) {
        let set = "INSERT INTO run (asset, side, who, seconds, tail, total) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (asset, side, who, seconds) DO UPDATE SET tail = ?5, total = ?6";
        db.prepare_cached(set)?.execute(params![asset, number, who, seconds, tail, blob(total)])?;
    }
    Ok(total)
}

/// Reserves what moves.
pub(crate) fn reserve(db: &Connection, seq: i64, held: &Held, flow: &Flow) -> Result<()> {
    let [_, payee, seller, session, tool, same] = &held.sides;
    let add = "INSERT INTO hold (decision, asset, units, state, at, payee, seller, session, tool, same)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    db.prepare_cached(add)?.execute(params![
        seq,
        flow.asset,
        blob(flow.units),
        RESERVED,
        held.at,
        payee,
        seller,
        session,
        tool,
        same
    ])?;
    let row = Row {
        asset: flow.asset.clone(),
        units: flow.units,
        state: RESERVED,
        at: held.at,
        sides: held.sides.clone(),
    };
    change(db, &row, Units::plus, flow.units)
}

/// Changes every running sum in whose window a hold lies.
fn change(db: &Connection, row: &Row, how: fn(Units, Units) -> Option<Units>, by: Units) -> Result<()> {
    for (side, who) in row.sides.iter().enumerate() {
        let side = i64::try_from(side).unwrap_or(i64::MAX);
        let find = "SELECT seconds, total FROM run WHERE asset = ?1 AND side = ?2 AND who = ?3 AND tail < ?4";
        let runs: Vec<(i64, Vec<u8>)> = db
            .prepare_cached(find)?
            .query_map(params![row.asset, side, who, row.at], |run| Ok((run.get(0)?, run.get(1)?)))?
            .collect::<Result<_>>()?;
        for (seconds, total) in runs {
            let total = how(units(&total)?, by).ok_or_else(damaged)?;
            let set =
                "UPDATE run SET total = ?5 WHERE asset = ?1 AND side = ?2 AND who = ?3 AND seconds = ?4";
            db.prepare_cached(set)?.execute(params![row.asset, side, who, seconds, blob(total)])?;
        }
    }
    Ok(())
}

fn rows(db: &Connection, seq: i64) -> Result<Vec<Row>> {
    let find =
        "SELECT asset, units, state, at, payee, seller, session, tool, same FROM hold WHERE decision = ?1";
    let mut rows = db.prepare_cached(find)?;
    let rows = rows.query_map(params![seq], |row| {
        Ok(Row {
            asset: row.get(0)?,
            units: units(row.get_ref(1)?.as_blob()?)?,
            state: row.get(2)?,
            at: row.get(3)?,
            sides: [String::new(), row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?],
        })
    })?;
    rows.collect()
}

/// What a decision holds, which a check of the same payment does not count twice.
pub(crate) fn held(db: &Connection, seq: i64, asset: &str, after: i64) -> Result<Units> {
    let own =
        rows(db, seq)?.into_iter().find(|row| row.asset == asset && row.state != RELEASED && row.at > after);
    Ok(own.map_or(Units::ZERO, |row| row.units))
}

/// Nothing of it will be paid.
pub(crate) fn release(db: &Connection, seq: i64) -> Result<()> {
    for row in rows(db, seq)?.iter().filter(|row| row.state != RELEASED) {
        change(db, row, Units::minus, row.units)?;
        set(db, seq, row, RELEASED, row.units)?;
    }
    Ok(())
}

fn set(db: &Connection, seq: i64, row: &Row, state: i64, units: Units) -> Result<()> {
    let set = "UPDATE hold SET state = ?3, units = ?4 WHERE decision = ?1 AND asset = ?2";
    db.prepare_cached(set)?.execute(params![seq, row.asset, state, blob(units)])?;
    Ok(())
}

/// It was paid: all that was reserved, or less of the one asset that it moves; whether it was more.
pub(crate) fn settle(db: &Connection, seq: i64, paid: Option<Units>) -> Result<bool> {
    let rows = rows(db, seq)?;
    let assets = rows.iter().filter(|row| row.asset != PAYMENTS).count();
    let mut over = false;
    for row in rows.iter().filter(|row| row.state == RESERVED) {
        let own = paid.filter(|_| row.asset != PAYMENTS && assets == 1);
        let now = match own {
            Some(paid) if paid > row.units => {
                over = true;
                // It is spent, whoever allowed it.
                change(db, row, Units::plus, paid.minus(row.units).ok_or_else(damaged)?)?;
                paid
            }
            Some(paid) => {
                change(db, row, Units::minus, row.units.minus(paid).ok_or_else(damaged)?)?;
                paid
            }
            None => row.units,
        };
        set(db, seq, row, SETTLED, now)?;
    }
    Ok(over)
}
