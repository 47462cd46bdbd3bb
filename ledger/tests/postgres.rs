//! The ledger in PostgreSQL on a real server of Debian's packages: what every ledger does, and a server that stops, is gone, or is of
//! another version.
//!
//! INVARIANT: the server listens on a socket in a folder of its own alone, and ends with the tests, however they end.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may stop anywhere"
)]

#[path = "parts/same.rs"]
mod same;
#[path = "parts/server.rs"]
mod server;

use policy_ledger::{Postgres, Time};
use policy_payments::Units;
use policy_payments::ledger::{Asked, Back, By, Checked, Fault, Judged, Ledger, Status, View};
use same::{always, asked, judged, new};
use server::Server;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

type Engine = Postgres;

/// A database of its own.
struct Folder {
    address: String,
}

fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(Server::start)
}

impl Folder {
    fn new(name: &str) -> Folder {
        Folder::on(shared(), name)
    }

    fn on(server: &Server, name: &str) -> Folder {
        let folder = Folder { address: server.database(name) };
        folder.ledger().make().unwrap();
        folder
    }

    fn ledger(&self) -> Postgres {
        Postgres::at(&self.address).by_clock_of(Time::Callers)
    }
}

fn check(ledger: &Postgres, asked: &Asked) -> Result<Checked, Fault> {
    ledger.check(asked, &mut always(Status::Allowed))
}

fn spent(ledger: &Postgres) -> Units {
    let mut found = Units::ZERO;
    let own = asked(1, 999_999, 1_000);
    let mut judge = |view: &dyn View| {
        found = view.spent(&own.flows[0].asset, Back::Always, By::All)?;
        Ok(judged(Status::Allowed))
    };
    ledger.look(&own, &mut judge).unwrap();
    found
}

/// Denies what is over a limit of all.
fn limit(limit: u64, asked: &Asked) -> impl FnMut(&dyn View) -> Result<Judged, Fault> {
    let own = asked.flows[0].clone();
    move |view: &dyn View| {
        let all = view.spent(&own.asset, Back::Seconds(86_400), By::All)?.plus(own.units).unwrap();
        Ok(judged(if all > Units::new(limit) { Status::Denied } else { Status::Allowed }))
    }
}

#[test]
fn checks_of_one_process_share_commits_and_never_spend_more_than_there_is() {
    let folder = Folder::new("shared");
    let (one, other) = (folder.ledger(), folder.ledger());
    let allowed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..24 {
            let ledger = if thread % 3 == 0 { &other } else { &one };
            let allowed = &allowed;
            scope.spawn(move || {
                for number in 0..20 {
                    let own = asked(10, thread * 100 + number, 1_000);
                    let made = new(ledger.check(&own, &mut limit(1_000, &own)).unwrap());
                    allowed.fetch_add(u64::from(made.status == Status::Allowed), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(allowed.load(Ordering::Relaxed), 100);
    assert_eq!(spent(&one), Units::new(1_000));
    assert_eq!(one.recent(1_000, 1_000).unwrap().len(), 480);
}

#[test]
fn a_check_that_cannot_be_kept_does_not_take_others_with_it() {
    let folder = Folder::new("poison");
    let ledger = folder.ledger();
    let (good, bad) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (ledger, good, bad) = (&ledger, &good, &bad);
            scope.spawn(move || {
                for number in 0..10 {
                    let mut own = asked(1, thread * 100 + number, 1_000);
                    // The same asset twice is one hold too many, which only the server notices.
                    let poison = thread == 0;
                    if poison {
                        own.flows = vec![own.flows[0].clone(), own.flows[0].clone()];
                    }
                    match check(ledger, &own) {
                        Ok(_) => good.fetch_add(1, Ordering::Relaxed),
                        Err(_) => bad.fetch_add(1, Ordering::Relaxed),
                    };
                }
            });
        }
    });
    assert_eq!((good.into_inner(), bad.into_inner()), (150, 10));
    assert_eq!(spent(&ledger), Units::new(150));
}

#[test]
fn a_judge_that_stops_takes_no_others_with_it() {
    let folder = Folder::new("panic");
    let ledger = folder.ledger();
    std::thread::scope(|scope| {
        let stops = scope.spawn(|| ledger.check(&asked(1, 1, 1_000), &mut |_: &dyn View| panic!("stops")));
        assert!(stops.join().is_err());
    });
    new(check(&ledger, &asked(2, 2, 1_000)).unwrap());
    assert_eq!(spent(&ledger), Units::new(2));
}

#[test]
fn a_server_that_is_killed_keeps_what_it_confirmed() {
    let server = Server::start();
    let folder = Folder::on(&server, "killed");
    let confirmed = AtomicU64::new(0);
    let ledger = folder.ledger();
    for round in 0..4 {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (ledger, confirmed) = (&ledger, &confirmed);
                scope.spawn(move || {
                    for number in 0..40 {
                        let own = asked(1, round * 10_000 + thread * 100 + number, 1_000);
                        let own = Asked { key: Some(format!("{round}-{thread}-{number}")), ..own };
                        // What is not known is asked again under the same name.
                        for _ in 0..600 {
                            match check(ledger, &own) {
                                Ok(made) => {
                                    assert_eq!(made.decision().unwrap().status, Status::Allowed);
                                    confirmed.fetch_add(1, Ordering::Relaxed);
                                    break;
                                }
                                Err(_) => std::thread::sleep(std::time::Duration::from_millis(50)),
                            }
                        }
                    }
                });
            }
            server.kill();
            server.again();
        });
    }
    assert_eq!(confirmed.into_inner(), 4 * 8 * 40);
    assert_eq!(spent(&ledger), Units::new(4 * 8 * 40), "each once, whatever was cut off");
    assert_eq!(ledger.recent(10_000, 1_000).unwrap().len(), 4 * 8 * 40);
}

/// One of the processes of the race below; nothing by itself.
#[test]
fn a_process_of_the_race() {
    let Ok(address) = std::env::var("POLICY_TEST_LEDGER") else { return };
    let ledger = Postgres::at(&address);
    for number in 0.. {
        let own = asked(1, u64::from(std::process::id()) * 1_000_000 + number, 0);
        if new(ledger.check(&own, &mut limit(600, &own)).unwrap()).status == Status::Denied {
            return;
        }
    }
}

#[test]
fn processes_that_are_killed_spend_the_last_of_a_budget_once() {
    let folder = Folder::new("race");
    let start = || {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_process_of_the_race"])
            .env("POLICY_TEST_LEDGER", &folder.address)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut all: Vec<_> = (0..20).map(|_| start()).collect();
    let mut state = 7_u64;
    for _ in 0..60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(state >> 33).unwrap() % all.len();
        let mut killed = std::mem::replace(&mut all[at], start());
        let _ = killed.kill();
        killed.wait().unwrap();
    }
    for mut own in all {
        assert!(own.wait().unwrap().success());
    }
    let ledger = folder.ledger();
    let decisions = ledger.recent(100_000, 1_000).unwrap();
    assert_eq!(decisions.iter().filter(|own| own.status == Status::Allowed).count(), 600);
    assert_eq!(spent(&ledger), Units::new(600));
}

#[test]
fn a_ledger_that_cannot_be_reached_or_is_another_is_a_fault() {
    let fails = |ledger: &Postgres, what: &str| {
        let fault = check(ledger, &asked(1, 1, 1_000)).unwrap_err().0;
        assert!(fault.contains(what), "{what}: {fault}");
    };
    // Nobody is there.
    fails(&Postgres::at("host=/nowhere dbname=x user=x"), "cannot be reached");
    fails(&Postgres::at("postgres://x@127.0.0.1:1/x"), "cannot be reached");
    fails(&Postgres::at("postgres://x@db.example/x"), "TLS");
    // Not made: an empty database is never an empty ledger.
    let bare = Folder { address: shared().database("bare") };
    fails(&bare.ledger(), "there is none");
    // Of a newer program, while we are connected, too.
    let folder = Folder::new("newer");
    let ledger = folder.ledger();
    new(check(&ledger, &asked(1, 1, 1_000)).unwrap());
    shared().sql(&folder.address, "UPDATE policy_ledger.clock SET version = 99");
    fails(&ledger, "newer");
    assert!(folder.ledger().make().unwrap_err().0.contains("newer"));
    // Made once more is no change.
    shared().sql(&folder.address, "UPDATE policy_ledger.clock SET version = 1");
    folder.ledger().make().unwrap();
    assert_eq!(ledger.recent(10, 1_000).unwrap().len(), 1);
    // Of somebody who may only read.
    shared().sql(&folder.address, "CREATE ROLE reader LOGIN");
    shared().sql(&folder.address, "GRANT USAGE ON SCHEMA policy_ledger TO reader");
    shared().sql(&folder.address, "GRANT SELECT ON ALL TABLES IN SCHEMA policy_ledger TO reader");
    let reader = folder.address.replace("user=postgres", "user=reader");
    fails(&Postgres::at(&reader), "(42501)");
}

#[test]
fn an_older_copy_is_noticed_by_who_saw_a_newer_one() {
    let folder = Folder::new("older");
    let beside = std::env::temp_dir().join(format!("policy-pg-head-{}", std::process::id()));
    std::fs::create_dir_all(&beside).unwrap();
    let ledger = folder.ledger().remembering(beside.clone());
    for number in 0..3 {
        new(check(&ledger, &asked(1, number, 1_000)).unwrap());
    }
    shared().sql(&folder.address, "UPDATE policy_ledger.clock SET changes = 1");
    let next = folder.ledger().remembering(beside.clone());
    for own in [&ledger, &next] {
        let fault = check(own, &asked(1, 9, 1_000)).unwrap_err().0;
        assert!(fault.contains("older"), "{fault}");
    }
    std::fs::remove_dir_all(beside).unwrap();
}

#[test]
fn the_clock_of_the_server_counts_and_never_goes_back() {
    let folder = Folder::new("clock");
    let ledger = Postgres::at(&folder.address);
    let wrong = new(check(&ledger, &asked(1, 1, 4_000_000_000_000_000)).unwrap()).at;
    assert!((1_600_000_000_000..100_000_000_000_000).contains(&wrong), "{wrong}");
    let ahead = i64::MAX / 4;
    shared().sql(&folder.address, &format!("UPDATE policy_ledger.clock SET last = {ahead}"));
    assert_eq!(new(check(&ledger, &asked(1, 2, 0)).unwrap()).at, ahead.unsigned_abs());
}

#[test]
fn a_text_that_the_server_cannot_keep_is_filed_all_the_same() {
    use policy_payments::ledger::{Content, Filing};
    let folder = Folder::new("nul");
    let ledger = folder.ledger();
    let filing = Filing {
        session: "s".to_owned(),
        origin: "a\0b".to_owned(),
        hash: [1; 32],
        found: Content::Flagged,
        classes: vec!["a\0b".to_owned()],
        addresses: vec!["0x\0".to_owned()],
        text: "a\0b".to_owned(),
        now: 1_000,
    };
    ledger.file(&filing).unwrap();
    let mut judge = |view: &dyn View| {
        assert!(view.flagged()?);
        Ok(judged(Status::Allowed))
    };
    ledger.look(&asked(1, 1, 2_000), &mut judge).unwrap();
    let own = Asked { url: Some("https://a/\0".to_owned()), ..asked(1, 1, 2_000) };
    assert!(check(&ledger, &own).unwrap_err().0.contains("NUL"));
    // Long texts are no trouble.
    let long = Asked { url: Some("x".repeat(100_000)), session: "y".repeat(100_000), ..asked(1, 1, 2_000) };
    new(check(&ledger, &long).unwrap());
}
