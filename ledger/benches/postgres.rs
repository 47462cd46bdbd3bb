//! Checks a second on one budget, on a real PostgreSQL server: `cargo bench -p policy-ledger --bench postgres`.
//!
//! INVARIANT: nothing that was allowed is lost; the figures are for people.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../tests/parts/server.rs"]
mod server;

use policy_ledger::Postgres;
use policy_payments::Units;
use policy_payments::ledger::{Asked, Back, By, Fault, Flow, Judged, Ledger, Status, View};
use server::Server;
use std::sync::Mutex;
use std::time::Instant;

fn asked(thread: usize, number: usize) -> Asked {
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&thread.to_be_bytes());
    fingerprint[8..16].copy_from_slice(&number.to_be_bytes());
    Asked {
        session: "s".to_owned(),
        key: Some(format!("{thread}-{number}")),
        fingerprint,
        tool: "pay".to_owned(),
        payee: Some("eip155:8453/0xabcd000000000000000000000000000000001234".to_owned()),
        url: Some(format!("https://shop.example/{thread}/{number}")),
        flows: vec![Flow { asset: "eip155:8453/erc20:0x01".to_owned(), units: Units::new(1) }],
        ..Asked::default()
    }
}

fn judge(view: &dyn View) -> Result<Judged, Fault> {
    let spent = view.spent("eip155:8453/erc20:0x01", Back::Seconds(86_400), By::All)?;
    let status = if spent < Units::new(1_000_000_000) { Status::Allowed } else { Status::Denied };
    Ok(Judged { status, would: status, reasons: Vec::new(), lasts: None })
}

fn measure(server: &Server, threads: usize, each: usize, connections: usize) {
    let address = server.database("measure");
    Postgres::at(&address).make().unwrap();
    let ledgers: Vec<Postgres> = (0..connections).map(|_| Postgres::at(&address)).collect();
    let waits = Mutex::new(Vec::new());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (ledger, waits) = (&ledgers[thread % connections], &waits);
            scope.spawn(move || {
                for number in 0..each {
                    let began = Instant::now();
                    ledger.check(&asked(thread, number), &mut judge).unwrap();
                    waits.lock().unwrap().push(began.elapsed());
                }
            });
        }
    });
    let all = began.elapsed().as_millis().max(1);
    let mut waits = waits.into_inner().unwrap();
    waits.sort();
    let at = |of: usize| waits[(waits.len() * of / 100).min(waits.len() - 1)];
    let each_second = u128::try_from(waits.len()).unwrap() * 1000 / all;
    println!(
        "{threads} at once, {connections} connections: {each_second} checks/s, p50 {:?}, p99 {:?}",
        at(50),
        at(99)
    );
    let mut spent = Units::ZERO;
    let mut look = |view: &dyn View| {
        spent = view.spent("eip155:8453/erc20:0x01", Back::Always, By::All)?;
        judge(view)
    };
    ledgers[0].look(&asked(0, 0), &mut look).unwrap();
    assert_eq!(spent.to_string(), waits.len().to_string());
}

fn main() {
    let server = Server::start();
    for (threads, each, connections) in [(1, 300, 1), (16, 400, 1), (64, 400, 1), (128, 400, 1), (64, 200, 4)]
    {
        measure(&server, threads, each, connections);
    }
}
