//! One check beside the bare transaction that it is made of: `cargo bench -p policy-ledger`.
//!
//! INVARIANT: both write a decision and its holds to a file of their own on the same disk, durably, turn by turn in one run; the least
//! and the middle of many are told.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "a benchmark")]

use policy_ledger::{Sqlite, file};
use policy_payments::Units;
use policy_payments::ledger::{Asked, Back, By, Flow, Judged, Ledger, Status, View};
use rusqlite::{Connection, params};
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: u64 = 1500;

fn asked(number: u64) -> Asked {
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&number.to_be_bytes());
    Asked {
        session: "s".to_owned(),
        key: Some(number.to_string()),
        fingerprint,
        tool: "check_payment".to_owned(),
        payee: Some(format!("eip155:8453/0x{:040x}", number % 50)),
        seller: Some("shop.example".to_owned()),
        page: Some("https://shop.example/a".to_owned()),
        url: Some(format!("https://shop.example/a?{number}")),
        flows: vec![Flow { asset: "eip155:8453/erc20:0x01".to_owned(), units: Units::new(50_000) }],
        shown: "{}".repeat(200),
        now: 1_000 + number * 10,
        ..Asked::default()
    }
}

fn bare(folder: &Path) -> Connection {
    let db = Connection::open(folder.join("bare.db")).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE decision (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, key TEXT UNIQUE, shown TEXT);
         CREATE TABLE hold (decision INTEGER, asset TEXT, units BLOB, at INTEGER, PRIMARY KEY (decision, asset)) WITHOUT ROWID;
         CREATE TABLE budget (asset TEXT PRIMARY KEY, total BLOB) WITHOUT ROWID;
         INSERT INTO budget VALUES ('a', zeroblob(32));",
    )
    .unwrap();
    db
}

fn once(db: &Connection, number: u64, own: &Asked) {
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let total: Vec<u8> =
        db.query_row("SELECT total FROM budget WHERE asset = 'a'", [], |row| row.get(0)).unwrap();
    let add = "INSERT INTO decision (id, key, shown) VALUES (?1, ?2, ?3)";
    db.prepare_cached(add).unwrap().execute(params![format!("{number:032x}"), own.key, own.shown]).unwrap();
    let seq = db.last_insert_rowid();
    let add = "INSERT INTO hold VALUES (?1, 'a', ?2, ?3)";
    db.prepare_cached(add).unwrap().execute(params![seq, total, i64::try_from(own.now).unwrap()]).unwrap();
    db.prepare_cached("UPDATE budget SET total = ?1 WHERE asset = 'a'")
        .unwrap()
        .execute(params![total])
        .unwrap();
    db.execute_batch("COMMIT").unwrap();
}

fn told(name: &str, mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let middle = times[times.len() / 2];
    println!("{name:<12} least {:>8.1?}  middle {middle:>8.1?}  of {}", times[0], times.len());
    middle
}

fn main() {
    let folder = std::env::temp_dir().join(format!("policy-ledger-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let folder = std::fs::canonicalize(folder).unwrap();
    let ledger = Sqlite::at(file(&folder));
    let db = bare(&folder);
    let mut judge = |view: &dyn View| {
        for seconds in [86_400, 604_800] {
            view.spent("eip155:8453/erc20:0x01", Back::Seconds(seconds), By::All)?;
        }
        view.spent("eip155:8453/erc20:0x01", Back::Seconds(86_400), By::Payee)?;
        view.payments(Back::Seconds(3600), By::All)?;
        view.same(Back::Seconds(600))?;
        view.known()?;
        Ok(Judged { status: Status::Allowed, would: Status::Allowed, reasons: Vec::new(), lasts: None })
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..ROUNDS {
        let own = asked(number);
        let begun = Instant::now();
        once(&db, number, &own);
        theirs.push(begun.elapsed());
        let begun = Instant::now();
        ledger.check(&own, &mut judge).unwrap();
        ours.push(begun.elapsed());
    }
    let theirs = told("transaction", theirs);
    let ours = told("check", ours);
    println!("a check is {:.2} times the transaction", ours.as_secs_f64() / theirs.as_secs_f64());
    drop(db);
    let _ = std::fs::remove_dir_all(folder);
}
