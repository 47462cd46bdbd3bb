//! Decisions, payees, prices and texts, as rows of the server.
//!
//! INVARIANT: what is read is what was written: a number, a hash or a list that cannot be is damage and a fault. What changes rows
//! sends before it what was not sent yet, and says that it did.

use super::batch::{Mark, Parts, mark};
use super::link::{Values, damaged};
use super::sums::{Hold, RELEASED, RESERVED, SETTLED, units};
use crate::number;
use crate::rows::{flows_of, reasons_of, reasons_text, worse};
use policy_payments::Units;
use policy_payments::ledger::{Asked, Content, Decision, Fault, Filing, Reason, Settlement, Status, ends};
use serde_json::json;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// The asset under which payments themselves are counted.
use crate::sums::PAYMENTS;

pub(super) fn get<'r, T: FromSql<'r>>(row: &'r Row, at: usize) -> Result<T, Fault> {
    row.try_get(at).map_err(|_| damaged())
}

pub(super) fn hash(bytes: &[u8]) -> Result<[u8; 32], Fault> {
    bytes.try_into().map_err(|_| damaged())
}

pub(super) fn positive(row: &Row, at: usize) -> Result<u64, Fault> {
    get::<i64>(row, at)?.try_into().map_err(|_| damaged())
}

pub(super) fn status(row: &Row, at: usize) -> Result<Status, Fault> {
    let number = usize::try_from(get::<i16>(row, at)?).map_err(|_| damaged())?;
    Status::ALL.get(number).copied().ok_or_else(damaged)
}

fn small(status: Status) -> Result<i16, Fault> {
    i16::try_from(number(status)).map_err(|_| damaged())
}

fn read(row: &Row) -> Result<Decision, Fault> {
    Ok(Decision {
        seq: positive(row, 0)?,
        id: get(row, 1)?,
        session: get(row, 2)?,
        status: status(row, 3)?,
        would: status(row, 4)?,
        reasons: reasons_of(get(row, 5)?).map_err(|_| damaged())?,
        shown: get(row, 6)?,
        fingerprint: hash(get(row, 7)?)?,
        flows: flows_of(get(row, 8)?).map_err(|_| damaged())?,
        at: positive(row, 9)?,
        expires: positive(row, 10)?,
        used: get::<i16>(row, 11)? != 0,
        transaction: get(row, 12)?,
    })
}

macro_rules! decisions {
    ($rest:literal) => {
        concat!(
            "SELECT seq, id, session, status, would, reasons, shown, fingerprint, flows, at, expires, used, tx FROM decision ",
            $rest
        )
    };
}

impl Parts<'_> {
    pub(super) fn all(&mut self, sql: &'static str, values: Values<'_>) -> Result<Vec<Row>, Fault> {
        self.flush()?;
        self.link.rows(sql, values)
    }

    /// Something that does not only add what the batch knows of.
    fn set(&mut self, sql: &'static str, values: Values<'_>) -> Result<u64, Fault> {
        self.flush()?;
        self.batch.touched = true;
        self.link.change(sql, values)
    }

    fn exists(&mut self, sql: &'static str, values: Values<'_>) -> Result<bool, Fault> {
        Ok(!self.link.rows(sql, values)?.is_empty())
    }

    pub(crate) fn by_id(&mut self, id: &str) -> Result<Option<Decision>, Fault> {
        self.all(decisions!("WHERE id = $1"), &[&id])?.first().map(read).transpose()
    }

    pub(crate) fn by_seq(&mut self, seq: i64) -> Result<Option<Decision>, Fault> {
        self.all(decisions!("WHERE seq = $1"), &[&seq])?.first().map(read).transpose()
    }

    pub(crate) fn recent(&mut self, most: usize) -> Result<Vec<Decision>, Fault> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.all(decisions!("ORDER BY seq DESC LIMIT $1"), &[&most])?.iter().map(read).collect()
    }

    pub(crate) fn waiting(&mut self) -> Result<Vec<Decision>, Fault> {
        self.all(decisions!("WHERE status = 2 ORDER BY seq LIMIT 100"), &[])?.iter().map(read).collect()
    }

    /// When it was answered.
    pub(crate) fn answered(&mut self, seq: i64) -> Result<i64, Fault> {
        let rows = self.all("SELECT answered FROM decision WHERE seq = $1", &[&seq])?;
        get(rows.first().ok_or_else(damaged)?, 0)
    }

    /// It is handed out.
    pub(crate) fn hand_out(&mut self, seq: i64) -> Result<(), Fault> {
        let set = "UPDATE decision SET used = 1 WHERE seq = $1 AND used < 1";
        if self.set(set, &[&seq])? == 1 { self.forget() } else { Err(damaged()) }
    }

    /// What nobody answered in time.
    pub(crate) fn late(&mut self, now: i64) -> Result<Vec<i64>, Fault> {
        let find = "SELECT seq FROM decision WHERE status = 2 AND expires <= $1";
        self.all(find, &[&now])?.iter().map(|row| get(row, 0)).collect()
    }

    /// When the first of those that wait is too late.
    pub(crate) fn look_for_late(&mut self) -> Result<(), Fault> {
        let find = "SELECT min(expires) FROM decision WHERE status = 2";
        self.batch.next_late = self.all(find, &[])?.first().map(|row| get(row, 0)).transpose()?.flatten();
        Ok(())
    }

    /// A decision as it was asked for, to be judged once more.
    pub(crate) fn asked_of(&mut self, own: &Decision) -> Result<Asked, Fault> {
        let find =
            "SELECT beside, account, tool, payee, seller, page, url, texts FROM decision WHERE id = $1";
        let rows = self.all(find, &[&own.id])?;
        let row = rows.first().ok_or_else(damaged)?;
        Ok(Asked {
            session: own.session.clone(),
            beside: serde_json::from_str(get(row, 0)?).map_err(|_| damaged())?,
            account: get(row, 1)?,
            key: None,
            fingerprint: own.fingerprint,
            tool: get(row, 2)?,
            payee: get(row, 3)?,
            seller: get(row, 4)?,
            page: get(row, 5)?,
            url: get(row, 6)?,
            flows: own.flows.clone(),
            texts: get::<&[u8]>(row, 7)?.chunks(32).map(hash).collect::<Result<_, _>>()?,
            makes: false,
            shown: own.shown.clone(),
            now: own.at,
        })
    }

    pub(crate) fn set_status(&mut self, seq: i64, status: Status, now: i64) -> Result<(), Fault> {
        let set = "UPDATE decision SET status = $2, answered = $3 WHERE seq = $1";
        self.set(set, &[&seq, &small(status)?, &now]).map(drop)
    }

    pub(crate) fn set_reasons(&mut self, seq: i64, reasons: &[Reason]) -> Result<(), Fault> {
        self.set("UPDATE decision SET reasons = $2 WHERE seq = $1", &[&seq, &reasons_text(reasons)]).map(drop)
    }

    /// The transaction that was told, and whether with evidence.
    pub(crate) fn told(&mut self, seq: i64) -> Result<Option<(String, bool)>, Fault> {
        let rows = self.all("SELECT tx, evidence FROM decision WHERE seq = $1", &[&seq])?;
        let row = rows.first().ok_or_else(damaged)?;
        let evidence = get(row, 1)?;
        Ok(get::<Option<String>>(row, 0)?.map(|tx| (tx, evidence)))
    }

    pub(crate) fn tell(&mut self, seq: i64, told: &Settlement) -> Result<(), Fault> {
        let set = "UPDATE decision SET tx = $2, evidence = $3 WHERE seq = $1";
        self.set(set, &[&seq, &told.transaction, &told.evidence]).map(drop)
    }

    /// The payee of a decision is known from now on. What was only observed teaches nobody.
    pub(crate) fn teach(&mut self, seq: i64, how: &str, now: i64) -> Result<(), Fault> {
        let rows = self.all("SELECT payee, status, would FROM decision WHERE seq = $1", &[&seq])?;
        let row = rows.first().ok_or_else(damaged)?;
        let observed = status(row, 1)? == Status::Allowed && status(row, 2)? != Status::Allowed;
        let Some(payee) = get::<Option<String>>(row, 0)?.filter(|_| !observed) else { return Ok(()) };
        let Some(ends) = ends(&payee) else { return Ok(()) };
        let add = "INSERT INTO known (mark, payee, ends, how, at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        self.set(add, &[&mark(&[&payee]).as_slice(), &payee, &ends, &how, &now]).map(drop)
    }

    pub(crate) fn is_known(&mut self, payee: &str) -> Result<bool, Fault> {
        self.exists("SELECT 1 FROM known WHERE mark = $1", &[&mark(&[payee]).as_slice()])
    }

    pub(crate) fn alike(&mut self, payee: &str) -> Result<Option<String>, Fault> {
        let Some(ends) = ends(payee) else { return Ok(None) };
        let rows =
            self.link.rows("SELECT payee FROM known WHERE ends = $1 ORDER BY at LIMIT 64", &[&ends])?;
        let all = rows.iter().map(|row| get(row, 0)).collect::<Result<Vec<String>, _>>()?;
        Ok(all.into_iter().find(|known| policy_payments::ledger::alike(known, payee)))
    }

    pub(crate) fn price(&mut self, page: &str, asset: &str) -> Result<Option<Units>, Fault> {
        let find = "SELECT units::text FROM price WHERE mark = $1";
        let rows = self.link.rows(find, &[&mark(&[page, asset]).as_slice()])?;
        match rows.first() {
            Some(row) => units(get(row, 0)?).map(Some),
            None => {
                let fits = |own: &&(String, String, Units)| own.0 == page && own.1 == asset;
                Ok(self.batch.prices.iter().find(fits).map(|own| own.2))
            }
        }
    }

    pub(crate) fn is_seen(&mut self, asked: &Asked, payee: &str) -> Result<bool, Fault> {
        let address = payee.rsplit('/').next().unwrap_or_default();
        let marks: Vec<Mark> = sessions(asked).map(|own| mark(&[own, address])).collect();
        let marks: Vec<&[u8]> = marks.iter().map(Mark::as_slice).collect();
        self.exists("SELECT 1 FROM seen WHERE mark = ANY($1) LIMIT 1", &[&marks])
    }

    pub(crate) fn flagged(&mut self, asked: &Asked, now: i64) -> Result<bool, Fault> {
        let marks: Vec<Mark> = sessions(asked).map(|own| mark(&[own])).collect();
        let marks: Vec<&[u8]> = marks.iter().map(Mark::as_slice).collect();
        let find = "SELECT 1 FROM flag WHERE mark = ANY($1) AND until > $2 LIMIT 1";
        if self.exists(find, &[&marks, &now])? {
            return Ok(true);
        }
        for hash in &asked.texts {
            if self.content(hash)? == Some(Content::Flagged) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The worst that was found in a text, in any session.
    pub(crate) fn content(&mut self, hash: &[u8; 32]) -> Result<Option<Content>, Fault> {
        let find = "SELECT DISTINCT found FROM content WHERE hash = $1";
        let mut worst = None;
        for row in self.link.rows(find, &[&hash.as_slice()])? {
            let own = usize::try_from(get::<i16>(&row, 0)?).map_err(|_| damaged())?;
            worst = Some(worse(worst, Content::ALL.get(own).copied().ok_or_else(damaged)?));
        }
        Ok(worst)
    }

    /// Notes a text; `flag`: how long it holds the payments of its session.
    pub(crate) fn file(&mut self, filing: &Filing, now: i64, flag: Option<i64>) -> Result<(), Fault> {
        // SECURITY: the server keeps no NUL; a page with one is not left out because of it.
        let clean = |text: &str| text.replace('\0', "\u{fffd}");
        let found = Content::ALL.iter().position(|own| *own == filing.found);
        let found = found.and_then(|at| i16::try_from(at).ok()).ok_or_else(damaged)?;
        let own = mark(&[&filing.session]);
        let (own, hash): (&[u8], &[u8]) = (&own, &filing.hash);
        let add = "INSERT INTO content (hash, mark, session, origin, found, classes, text, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (hash, mark) DO UPDATE SET origin = $4, found = $5, classes = $6, text = $7, at = $8";
        self.set(
            add,
            &[
                &hash,
                &own,
                &clean(&filing.session),
                &clean(&filing.origin),
                &found,
                &json!(filing.classes).to_string(),
                &clean(&filing.text),
                &now,
            ],
        )?;
        let marks: Vec<Mark> =
            filing.addresses.iter().map(|address| mark(&[&filing.session, address])).collect();
        let marks: Vec<&[u8]> = marks.iter().map(Mark::as_slice).collect();
        let addresses: Vec<String> = filing.addresses.iter().map(|address| clean(address)).collect();
        let add = "INSERT INTO seen (mark, session, address, at) SELECT m, $2, a, $4 FROM unnest($1::bytea[], $3::text[]) AS own(m, a)
            ON CONFLICT DO NOTHING";
        self.set(add, &[&marks, &clean(&filing.session), &addresses, &now])?;
        if let Some(lasts) = flag {
            let set = "INSERT INTO flag (mark, session, until, hash) VALUES ($1, $2, $3, $4)
                ON CONFLICT (mark) DO UPDATE SET until = greatest(flag.until, excluded.until), hash = excluded.hash";
            self.set(set, &[&own, &clean(&filing.session), &now.saturating_add(lasts), &hash])?;
        }
        Ok(())
    }

    fn holds(&mut self, seq: i64) -> Result<Vec<Hold>, Fault> {
        let find = "SELECT asset, units::text, state, at, everyone, payee, seller, session, tool, same FROM hold WHERE decision = $1";
        let side = |row: &Row, at: usize| -> Result<Mark, Fault> {
            get::<&[u8]>(row, at)?.try_into().map_err(|_| damaged())
        };
        let one = |row: &Row| {
            Ok(Hold {
                asset: get(row, 0)?,
                units: units(get(row, 1)?)?,
                state: get(row, 2)?,
                at: get(row, 3)?,
                sides: [
                    side(row, 4)?,
                    side(row, 5)?,
                    side(row, 6)?,
                    side(row, 7)?,
                    side(row, 8)?,
                    side(row, 9)?,
                ],
            })
        };
        self.all(find, &[&seq])?.iter().map(one).collect()
    }

    /// What a decision holds, which a check of the same payment does not count twice.
    pub(crate) fn held(&mut self, seq: i64, asset: &str, after: i64) -> Result<Units, Fault> {
        let mut own = self.holds(seq)?.into_iter();
        let own = own.find(|hold| hold.asset == asset && hold.state != RELEASED && hold.at > after);
        Ok(own.map_or(Units::ZERO, |hold| hold.units))
    }

    fn set_hold(&mut self, seq: i64, hold: &Hold, state: i16, units: Units) -> Result<(), Fault> {
        let set =
            "UPDATE hold SET state = $3, units = $4::text::numeric WHERE decision = $1 AND everyone = $2";
        let [everyone, ..] = &hold.sides;
        self.set(set, &[&seq, &everyone.as_slice(), &state, &units.to_string()]).map(drop)
    }

    /// Nothing of it will be paid.
    pub(crate) fn release(&mut self, seq: i64) -> Result<(), Fault> {
        for hold in self.holds(seq)?.iter().filter(|hold| hold.state != RELEASED) {
            self.batch.touched = true;
            self.change(&[(hold, hold.units)], Units::minus)?;
            self.set_hold(seq, hold, RELEASED, hold.units)?;
        }
        Ok(())
    }

    /// It was paid: all that was reserved, or less of the one asset that it moves; whether it was more.
    pub(crate) fn settled(&mut self, seq: i64, paid: Option<Units>) -> Result<bool, Fault> {
        let holds = self.holds(seq)?;
        let assets = holds.iter().filter(|hold| hold.asset != PAYMENTS).count();
        let mut over = false;
        for hold in holds.iter().filter(|hold| hold.state == RESERVED) {
            self.batch.touched = true;
            let own = paid.filter(|_| hold.asset != PAYMENTS && assets == 1);
            let now = match own {
                Some(paid) if paid > hold.units => {
                    over = true;
                    // It is spent, whoever allowed it.
                    let more = paid.minus(hold.units).ok_or_else(damaged)?;
                    self.change(&[(hold, more)], Units::plus)?;
                    paid
                }
                Some(paid) => {
                    let less = hold.units.minus(paid).ok_or_else(damaged)?;
                    self.change(&[(hold, less)], Units::minus)?;
                    paid
                }
                None => hold.units,
            };
            self.set_hold(seq, hold, SETTLED, now)?;
        }
        Ok(over)
    }
}

/// Sessions whose texts hold a payment.
pub(super) fn sessions(asked: &Asked) -> impl Iterator<Item = &String> {
    std::iter::once(&asked.session).chain(&asked.beside)
}
