//! Decisions, payees, prices and texts, as rows of the file.
//!
//! INVARIANT: what is read is what was written: a number, a hash or a list that cannot be is damage and an error.

use crate::sums::{PAYMENTS, blob, damaged, units};
use crate::{approval_lasts, number};
use policy_engine::open::FileError;
use policy_payments::Units;
use policy_payments::ledger::{
    Asked, Content, Decision, Filing, Flow, Judged, Reason, Settlement, Status, ends,
};
use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use serde_json::{Value, json};
use std::path::Path;

/// A payment as its holds have it.
pub(crate) struct Held {
    pub(crate) at: i64,
    /// Who it counts for: all, payee, seller, session, tool, and what makes it the same.
    pub(crate) sides: [String; 6],
    flows: Vec<Flow>,
}

impl Held {
    pub(crate) fn of(asked: &Asked, at: i64) -> Held {
        let text = |own: &Option<String>| own.clone().unwrap_or_default();
        let amounts: Vec<String> =
            asked.flows.iter().map(|flow| format!("{} {}", flow.asset, flow.units)).collect();
        let same = [text(&asked.payee), amounts.join(","), text(&asked.url)].join("\n");
        let sides = [
            String::new(),
            text(&asked.payee),
            text(&asked.seller),
            asked.session.clone(),
            asked.tool.clone(),
            same,
        ];
        Held { at, sides, flows: asked.flows.clone() }
    }

    /// What moves, and the payment itself, which counts as one.
    pub(crate) fn flows(&self) -> Vec<Flow> {
        let one = Flow { asset: PAYMENTS.to_owned(), units: Units::new(1) };
        std::iter::once(one).chain(self.flows.iter().filter(|flow| !flow.asset.is_empty()).cloned()).collect()
    }
}

/// A name that nobody can guess: 128 random bits in the form of a UUID.
pub(crate) fn id() -> Result<String, FileError> {
    let bytes = policy_engine::audit::masked::random(Path::new("ledger"))?;
    let (first, _) = bytes.split_first_chunk().unwrap_or((&[0; 16], &[]));
    let number = u128::from_be_bytes(*first) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{number:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
    Ok([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-"))
}

const COLUMNS: &str =
    "seq, id, session, status, would, reasons, shown, fingerprint, flows, at, expires, used, tx, evidence";

fn hash(blob: &[u8]) -> Result<[u8; 32]> {
    blob.try_into().map_err(|_| damaged())
}

fn status(row: &Row<'_>, at: usize) -> Result<Status> {
    let number: usize = row.get::<_, i64>(at)?.try_into().map_err(|_| damaged())?;
    Status::ALL.get(number).copied().ok_or_else(damaged)
}

fn json_of(text: &str) -> Result<Vec<Value>> {
    serde_json::from_str(text).map_err(|_| damaged())
}

pub(crate) fn reasons_of(text: &str) -> Result<Vec<Reason>> {
    let own = |value: Value, key: &str| {
        value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(damaged)
    };
    let one = |value: Value| {
        Ok(Reason {
            denies: value.get("denies").and_then(Value::as_bool).ok_or_else(damaged)?,
            rule: own(value.clone(), "rule")?,
            sentence: own(value, "sentence")?,
        })
    };
    json_of(text)?.into_iter().map(one).collect()
}

pub(crate) fn reasons_text(reasons: &[Reason]) -> String {
    let one = |own: &Reason| json!({ "denies": own.denies, "rule": own.rule, "sentence": own.sentence });
    Value::Array(reasons.iter().map(one).collect()).to_string()
}

pub(crate) fn flows_of(text: &str) -> Result<Vec<Flow>> {
    let one = |value: Value| {
        let text = |at: usize| value.get(at).and_then(Value::as_str).ok_or_else(damaged);
        Ok(Flow { asset: text(0)?.to_owned(), units: Units::whole(text(1)?).ok_or_else(damaged)? })
    };
    json_of(text)?.into_iter().map(one).collect()
}

fn read(row: &Row<'_>) -> Result<Decision> {
    let positive = |at: usize| -> Result<u64> { row.get::<_, i64>(at)?.try_into().map_err(|_| damaged()) };
    Ok(Decision {
        seq: positive(0)?,
        id: row.get(1)?,
        session: row.get(2)?,
        status: status(row, 3)?,
        would: status(row, 4)?,
        reasons: reasons_of(row.get_ref(5)?.as_str()?)?,
        shown: row.get(6)?,
        fingerprint: hash(row.get_ref(7)?.as_blob()?)?,
        flows: flows_of(row.get_ref(8)?.as_str()?)?,
        at: positive(9)?,
        expires: positive(10)?,
        used: row.get::<_, i64>(11)? != 0,
        transaction: row.get(12)?,
    })
}

fn one(db: &Connection, condition: &str, of: &[&dyn rusqlite::ToSql]) -> Result<Option<Decision>> {
    let find = format!("SELECT {COLUMNS} FROM decision WHERE {condition} LIMIT 1");
    db.prepare_cached(&find)?.query_row(of, read).optional()
}

pub(crate) fn by_key(db: &Connection, account: &str, key: &str) -> Result<Option<Decision>> {
    one(db, "account = ?1 AND key = ?2", &[&account, &key])
}

pub(crate) fn by_id(db: &Connection, id: &str) -> Result<Option<Decision>> {
    one(db, "id = ?1", &[&id])
}

pub(crate) fn by_seq(db: &Connection, seq: i64) -> Result<Option<Decision>> {
    one(db, "seq = ?1", &[&seq])
}

/// The same payment of the same session that waits, or was approved and not made yet; for a call that makes it, one that was asked
/// about and allowed, too.
pub(crate) fn open_of(db: &Connection, asked: &Asked, now: i64) -> Result<Option<Decision>> {
    let condition = "fingerprint = ?1 AND session = ?2 AND status IN (0, 2, 3)
        AND (status = 2 OR used < 1 + ?4 AND answered > ?3) AND (status > 0 OR ?4) ORDER BY status DESC, seq";
    let fingerprint = asked.fingerprint.to_vec();
    one(db, condition, &[&fingerprint, &asked.session, &now.saturating_sub(approval_lasts()), &asked.makes])
}

pub(crate) fn recent(db: &Connection, most: usize) -> Result<Vec<Decision>> {
    let find = format!("SELECT {COLUMNS} FROM decision ORDER BY seq DESC LIMIT ?1");
    db.prepare(&find)?.query_map(params![i64::try_from(most).unwrap_or(i64::MAX)], read)?.collect()
}

pub(crate) fn waiting(db: &Connection) -> Result<Vec<Decision>> {
    let find = format!("SELECT {COLUMNS} FROM decision WHERE status = 2 ORDER BY seq LIMIT 100");
    db.prepare(&find)?.query_map([], read)?.collect()
}

pub(crate) fn insert(
    db: &Connection,
    id: &str,
    asked: &Asked,
    judged: &Judged,
    (at, expires): (i64, i64),
) -> Result<i64> {
    let flows: Vec<Value> =
        asked.flows.iter().map(|flow| json!([flow.asset, flow.units.to_string()])).collect();
    let add = "INSERT INTO decision (id, session, beside, account, key, fingerprint, status, would, reasons, shown, tool, payee,
        seller, page, url, text, flows, at, expires, answered, used)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?18, ?20)";
    db.prepare_cached(add)?.execute(params![
        id,
        asked.session,
        json!(asked.beside).to_string(),
        asked.account,
        asked.key,
        asked.fingerprint.to_vec(),
        number(judged.status),
        number(judged.would),
        reasons_text(&judged.reasons),
        asked.shown,
        asked.tool,
        asked.payee,
        asked.seller,
        asked.page,
        asked.url,
        asked.texts.concat(),
        Value::Array(flows).to_string(),
        at,
        expires,
        if asked.makes && judged.status == Status::Allowed { 2 } else { 0 },
    ])?;
    Ok(db.last_insert_rowid())
}

/// When it was answered.
pub(crate) fn answered(db: &Connection, seq: u64) -> Result<i64> {
    let find = "SELECT coalesce(answered, 0) FROM decision WHERE seq = ?1";
    db.prepare_cached(find)?.query_row(params![i64::try_from(seq).unwrap_or(i64::MAX)], |row| row.get(0))
}

/// A decision as it was asked for, to be judged once more.
pub(crate) fn asked_of(db: &Connection, own: &Decision) -> Result<Asked> {
    let find = "SELECT beside, account, tool, payee, seller, page, url, text FROM decision WHERE id = ?1";
    db.prepare_cached(find)?.query_row(params![own.id], |row| {
        let texts: Vec<u8> = row.get(7)?;
        Ok(Asked {
            session: own.session.clone(),
            beside: serde_json::from_str(row.get_ref(0)?.as_str()?).map_err(|_| damaged())?,
            account: row.get(1)?,
            key: None,
            fingerprint: own.fingerprint,
            tool: row.get(2)?,
            payee: row.get(3)?,
            seller: row.get(4)?,
            page: row.get(5)?,
            url: row.get(6)?,
            flows: own.flows.clone(),
            texts: texts.chunks(32).map(hash).collect::<Result<_>>()?,
            makes: false,
            shown: own.shown.clone(),
            now: own.at,
        })
    })
}

pub(crate) fn set_status(db: &Connection, seq: i64, status: Status, now: i64) -> Result<()> {
    let set = "UPDATE decision SET status = ?2, answered = ?3 WHERE seq = ?1";
    db.prepare_cached(set)?.execute(params![seq, number(status), now]).map(drop)
}

pub(crate) fn set_reasons(db: &Connection, seq: i64, reasons: &[Reason]) -> Result<()> {
    let set = "UPDATE decision SET reasons = ?2 WHERE seq = ?1";
    db.prepare_cached(set)?.execute(params![seq, reasons_text(reasons)]).map(drop)
}

/// It is handed out (1), or made (2): each once, and nothing is handed out that was made.
pub(crate) fn use_up(db: &Connection, seq: u64, makes: bool) -> Result<()> {
    let set = "UPDATE decision SET used = ?2 WHERE seq = ?1 AND used < ?2";
    let how = 1 + i64::from(makes);
    let changed = db.prepare_cached(set)?.execute(params![i64::try_from(seq).unwrap_or(i64::MAX), how])?;
    if changed == 1 { Ok(()) } else { Err(damaged()) }
}

/// The transaction that was told, and whether with evidence.
pub(crate) fn told(db: &Connection, seq: i64) -> Result<Option<(String, bool)>> {
    let find = "SELECT tx, evidence FROM decision WHERE seq = ?1";
    let (tx, evidence): (Option<String>, i64) =
        db.prepare_cached(find)?.query_row(params![seq], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(tx.map(|tx| (tx, evidence != 0)))
}

pub(crate) fn tell(db: &Connection, seq: i64, told: &Settlement) -> Result<()> {
    let set = "UPDATE decision SET tx = ?2, evidence = ?3 WHERE seq = ?1";
    db.prepare_cached(set)?.execute(params![seq, told.transaction, i64::from(told.evidence)]).map(drop)
}

/// The payee of a decision is known from now on. What was only observed teaches nobody.
pub(crate) fn known(db: &Connection, seq: i64, how: &str, now: i64) -> Result<()> {
    let find = "SELECT payee, status, would FROM decision WHERE seq = ?1";
    let (payee, status, would): (Option<String>, Status, Status) = db
        .prepare_cached(find)?
        .query_row(params![seq], |row| Ok((row.get(0)?, status(row, 1)?, status(row, 2)?)))?;
    let observed = status == Status::Allowed && would != Status::Allowed;
    let Some(payee) = payee.filter(|_| !observed) else { return Ok(()) };
    let Some(ends) = ends(&payee) else { return Ok(()) };
    let add = "INSERT INTO known (payee, ends, how, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    db.prepare_cached(add)?.execute(params![payee, ends, how, now]).map(drop)
}

pub(crate) fn is_known(db: &Connection, payee: &str) -> Result<bool> {
    db.prepare_cached("SELECT 1 FROM known WHERE payee = ?1")?.exists(params![payee])
}

pub(crate) fn alike(db: &Connection, payee: &str) -> Result<Option<String>> {
    let Some(ends) = ends(payee) else { return Ok(None) };
    let mut find = db.prepare_cached("SELECT payee FROM known WHERE ends = ?1 ORDER BY at LIMIT 64")?;
    let all: Vec<String> = find.query_map(params![ends], |row| row.get(0))?.collect::<Result<_>>()?;
    Ok(all.into_iter().find(|known| policy_payments::ledger::alike(known, payee)))
}

pub(crate) fn first_price(db: &Connection, asked: &Asked) -> Result<()> {
    let Some(page) = &asked.page else { return Ok(()) };
    for flow in &asked.flows {
        let add = "INSERT INTO price (page, asset, units) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        db.prepare_cached(add)?.execute(params![page, flow.asset, blob(flow.units)])?;
    }
    Ok(())
}

pub(crate) fn price(db: &Connection, page: &str, asset: &str) -> Result<Option<Units>> {
    let find = "SELECT units FROM price WHERE page = ?1 AND asset = ?2";
    db.prepare_cached(find)?
        .query_row(params![page, asset], |row| units(row.get_ref(0)?.as_blob()?))
        .optional()
}

/// Sessions whose texts hold a payment.
pub(crate) fn sessions(asked: &Asked) -> impl Iterator<Item = &String> {
    std::iter::once(&asked.session).chain(&asked.beside)
}

pub(crate) fn is_seen(db: &Connection, asked: &Asked, payee: &str) -> Result<bool> {
    let address = payee.rsplit('/').next().unwrap_or_default();
    for session in sessions(asked) {
        let find = "SELECT 1 FROM seen WHERE session = ?1 AND address = ?2";
        if db.prepare_cached(find)?.exists(params![session, address])? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn flagged(db: &Connection, asked: &Asked, now: i64) -> Result<bool> {
    for session in sessions(asked) {
        let find = "SELECT 1 FROM flag WHERE session = ?1 AND until > ?2";
        if db.prepare_cached(find)?.exists(params![session, now])? {
            return Ok(true);
        }
    }
    for hash in &asked.texts {
        if content(db, hash)? == Some(Content::Flagged) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The worse of two.
pub(crate) fn worse(one: Option<Content>, other: Content) -> Content {
    match (one, other) {
        (Some(Content::Flagged), _) | (_, Content::Flagged) => Content::Flagged,
        (Some(Content::Unfinished), _) | (_, Content::Unfinished) => Content::Unfinished,
        _ => other,
    }
}

/// The worst that was found in a text, in any session.
pub(crate) fn content(db: &Connection, hash: &[u8; 32]) -> Result<Option<Content>> {
    let mut find = db.prepare_cached("SELECT DISTINCT found FROM content WHERE hash = ?1")?;
    let all: Vec<i64> = find.query_map(params![hash.to_vec()], |row| row.get(0))?.collect::<Result<_>>()?;
    let mut worst = None;
    for own in all {
        let own =
            usize::try_from(own).ok().and_then(|own| Content::ALL.get(own)).copied().ok_or_else(damaged)?;
        worst = Some(worse(worst, own));
    }
    Ok(worst)
}

/// Notes a text; `flag`: how long it holds the payments of its session.
pub(crate) fn file(db: &Connection, filing: &Filing, now: i64, flag: Option<i64>) -> Result<()> {
    let found =
        Content::ALL.iter().position(|own| *own == filing.found).and_then(|at| i64::try_from(at).ok());
    let add = "INSERT INTO content (hash, session, origin, found, classes, text, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (hash, session) DO UPDATE SET origin = ?3, found = ?4, classes = ?5, text = ?6, at = ?7";
    let hash = filing.hash.to_vec();
    db.prepare_cached(add)?.execute(params![
        hash,
        filing.session,
        filing.origin,
        found.ok_or_else(damaged)?,
        json!(filing.classes).to_string(),
        filing.text,
        now
    ])?;
    for address in &filing.addresses {
        let add = "INSERT INTO seen (session, address, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        db.prepare_cached(add)?.execute(params![filing.session, address, now])?;
    }
    if let Some(lasts) = flag {
        let set = "INSERT INTO flag (session, until, hash) VALUES (?1, ?2, ?3)
            ON CONFLICT (session) DO UPDATE SET until = max(until, ?2), hash = ?3";
        db.prepare_cached(set)?.execute(params![filing.session, now.saturating_add(lasts), hash])?;
    }
    Ok(())
}
