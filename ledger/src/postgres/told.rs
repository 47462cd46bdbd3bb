//! What the ledger in PostgreSQL tells people who look at it.
//!
//! INVARIANT: looking changes nothing, and no answer grows with the ledger.

use super::batch::{Mark, Parts, mark};
use super::link::damaged;
use super::rows::{get, hash, positive, sessions, status};
use super::sums::{RELEASED, SETTLED, units};
use crate::sums::PAYMENTS;
use crate::told::{MOST_TEXTS, never_filed};
use policy_payments::ledger::{Asked, Content, Fault, Moved, Read};
use tokio_postgres::Row;

fn text(row: &Row) -> Result<Read, Fault> {
    let found = usize::try_from(get::<i16>(row, 2)?).map_err(|_| damaged())?;
    Ok(Read {
        hash: hash(get(row, 0)?)?,
        origin: get(row, 1)?,
        found: Content::ALL.get(found).copied().ok_or_else(damaged)?,
        classes: serde_json::from_str(get(row, 3)?).map_err(|_| damaged())?,
        text: get(row, 4)?,
        at: positive(row, 5)?,
        holds: match get::<Option<i64>>(row, 6)? {
            None => None,
            Some(until) => Some(until.try_into().map_err(|_| damaged())?),
        },
    })
}

impl Parts<'_> {
    /// The texts that a payment names, and those that hold its sessions now.
    pub(crate) fn texts(&mut self, asked: &Asked, now: i64) -> Result<Vec<Read>, Fault> {
        let mut out = Vec::new();
        for hash in asked.texts.iter().take(MOST_TEXTS) {
            // The worst that was found in it, in any session.
            let find =
                "SELECT hash, origin, found, classes, text, at, NULL::bigint FROM content WHERE hash = $1
                ORDER BY CASE found WHEN 0 THEN 0 WHEN 2 THEN 1 ELSE 2 END, at DESC LIMIT 1";
            let found = self.all(find, &[&hash.as_slice()])?;
            out.push(found.first().map(text).transpose()?.unwrap_or_else(|| never_filed(*hash)));
        }
        let marks: Vec<Mark> = sessions(asked).map(|own| mark(&[own])).collect();
        let marks: Vec<&[u8]> = marks.iter().map(Mark::as_slice).collect();
        let find = "SELECT c.hash, c.origin, c.found, c.classes, c.text, c.at, f.until FROM flag f
            JOIN content c ON c.hash = f.hash AND c.mark = f.mark WHERE f.mark = ANY($1) AND f.until > $2 LIMIT 16";
        for row in &self.all(find, &[&marks, &now])? {
            out.push(text(row)?);
        }
        Ok(out)
    }

    /// What is reserved or settled since a moment, the newest first.
    pub(crate) fn moved(&mut self, since: i64, most: usize) -> Result<Vec<Moved>, Fault> {
        let find = "SELECT h.at, h.asset, h.state, h.units::text, d.id, d.status, d.payee, d.seller, d.session, d.tool
            FROM hold h JOIN decision d ON d.seq = h.decision
            WHERE h.at > $1 AND h.asset <> $2 AND h.state <> $3 ORDER BY h.decision DESC, h.asset LIMIT $4";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let one = |row: &Row| {
            Ok(Moved {
                at: positive(row, 0)?,
                asset: get(row, 1)?,
                settled: get::<i16>(row, 2)? == SETTLED,
                units: units(get(row, 3)?)?,
                id: get(row, 4)?,
                status: status(row, 5)?,
                payee: get(row, 6)?,
                seller: get(row, 7)?,
                session: get(row, 8)?,
                tool: get(row, 9)?,
            })
        };
        self.all(find, &[&since, &PAYMENTS, &RELEASED, &most])?.iter().map(one).collect()
    }
}
