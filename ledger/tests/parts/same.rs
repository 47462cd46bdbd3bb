//! What every ledger does, beside a model that adds everything up, in races and when it is cut off. Each engine has these tests with a
//! `Folder` of its own.
//!
//! INVARIANT: each test has a ledger of its own, and time is a number that the test says.

use super::{Engine, Folder};
use policy_payments::Units;
use policy_payments::ledger::{
    Asked, Back, By, Checked, Content, Decision, Fault, Filing, Flow, Judged, Ledger, MOST_KEY, Reason,
    Refused, Settled, Settlement, Status, View,
};
use std::sync::atomic::{AtomicU64, Ordering};

const ASSET: &str = "eip155:8453/erc20:0x01";
const PAYEE: &str = "eip155:8453/0xabcd000000000000000000000000000000001234";

pub(crate) fn asked(units: u64, number: u64, now: u64) -> Asked {
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&units.to_be_bytes());
    fingerprint[8..16].copy_from_slice(&number.to_be_bytes());
    Asked {
        session: "s".to_owned(),
        fingerprint,
        tool: "pay".to_owned(),
        payee: Some(PAYEE.to_owned()),
        seller: Some("shop.example".to_owned()),
        page: Some("https://shop.example/a".to_owned()),
        url: Some(format!("https://shop.example/a?{number}")),
        flows: vec![Flow { asset: ASSET.to_owned(), units: Units::new(units) }],
        now,
        ..Asked::default()
    }
}

pub(crate) fn judged(status: Status) -> Judged {
    Judged { status, would: status, reasons: Vec::new(), lasts: None }
}

/// Denies what is over a budget.
fn within(limit: u64, back: Back, by: By, asked: &Asked) -> impl FnMut(&dyn View) -> Result<Judged, Fault> {
    let own = asked.flows[0].units;
    move |view: &dyn View| {
        let all = view.spent(ASSET, back, by)?.plus(own).unwrap();
        Ok(judged(if all > Units::new(limit) { Status::Denied } else { Status::Allowed }))
    }
}

pub(crate) fn always(status: Status) -> impl FnMut(&dyn View) -> Result<Judged, Fault> {
    move |_: &dyn View| Ok(judged(status))
}

fn spent(ledger: &Engine, asked: &Asked, back: Back, by: By) -> Units {
    let mut found = Units::ZERO;
    let mut judge = |view: &dyn View| {
        found = view.spent(ASSET, back, by)?;
        Ok(judged(Status::Allowed))
    };
    ledger.look(asked, &mut judge).unwrap();
    found
}

pub(crate) fn new(checked: Checked) -> Decision {
    match checked {
        Checked::New(decision) => decision,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_budget_fills_and_comes_back_with_its_window() {
    let folder = Folder::new("window");
    let ledger = folder.ledger();
    let ask = |units: u64, now: u64| {
        let asked = asked(units, now, now);
        let mut judge = within(100, Back::Seconds(60), By::All, &asked);
        new(ledger.check(&asked, &mut judge).unwrap()).status
    };
    assert_eq!(ask(60, 1_000), Status::Allowed);
    assert_eq!(ask(41, 2_000), Status::Denied);
    assert_eq!(ask(40, 3_000), Status::Allowed);
    assert_eq!(ask(1, 60_999), Status::Denied, "the first is still in it");
    assert_eq!(ask(60, 61_000), Status::Allowed, "it has left");
    // A clock that is set back frees nothing.
    assert_eq!(ask(1, 5), Status::Denied);
}

/// Every sum, side and window beside a list that is added up each time.
#[test]
fn running_sums_are_those_of_a_list() {
    let folder = Folder::new("model");
    let ledger = folder.ledger();
    let mut state = 7_u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    // Units, payee, session, time, released, what was paid.
    let mut model: Vec<(u64, u64, u64, u64, Decision)> = Vec::new();
    let mut now = 1_000;
    for number in 0..250 {
        now += next(9_000);
        let (payee, session) = (next(3), next(3));
        let mut own = asked(1 + next(50), number, now);
        own.payee = Some(format!("eip155:1/0x{payee}"));
        own.session = session.to_string();
        match next(5) {
            0 if !model.is_empty() => {
                let at = usize::try_from(next(model.len() as u64)).unwrap();
                let failed = Settlement {
                    success: false,
                    transaction: number.to_string(),
                    units: None,
                    evidence: true,
                };
                let id = model[at].4.id.clone();
                if ledger.settle(&id, &failed, now) == Ok(Settled::Released) {
                    model[at].0 = 0;
                }
            }
            1 if !model.is_empty() => {
                let at = usize::try_from(next(model.len() as u64)).unwrap();
                let less = next(model[at].0.max(1));
                let told = Settlement {
                    success: true,
                    transaction: number.to_string(),
                    units: Some(Units::new(less)),
                    evidence: true,
                };
                let id = model[at].4.id.clone();
                if ledger.settle(&id, &told, now) == Ok(Settled::Recorded) {
                    model[at].0 = less;
                }
            }
            _ => {
                let decision = new(ledger.check(&own, &mut always(Status::Allowed)).unwrap());
                model.push((own.flows[0].units.to_string().parse().unwrap(), payee, session, now, decision));
            }
        }
        for seconds in [5, 60, 600, 0] {
            let back = if seconds == 0 { Back::Always } else { Back::Seconds(seconds) };
            for by in [By::All, By::Payee, By::Session] {
                let wanted: u64 = model
                    .iter()
                    .filter(|(_, to, of, at, _)| {
                        let side = match by {
                            By::Payee => *to == payee,
                            By::Session => *of == session,
                            _ => true,
                        };
                        side && (seconds == 0 || now - at < u64::from(seconds) * 1000)
                    })
                    .map(|(units, ..)| units)
                    .sum();
                assert_eq!(spent(&ledger, &own, back, by), Units::new(wanted), "{number} {seconds} {by:?}");
                // Kept, so that later ones are carried along.
                if number % 3 == 0 {
                    let other = Asked { fingerprint: [9; 32], ..own.clone() };
                    let mut judge = |view: &dyn View| {
                        view.spent(ASSET, back, by)?;
                        Ok(judged(Status::Denied))
                    };
                    ledger.check(&other, &mut judge).unwrap();
                }
            }
        }
    }
    assert!(model.len() > 100);
}

#[test]
fn amounts_above_64_bits_are_added_exactly() {
    let folder = Folder::new("large");
    let ledger = folder.ledger();
    let large = Units::of_decimal("1000000000000000000000000000000", 18).unwrap();
    for number in 0..3 {
        let own =
            Asked { flows: vec![Flow { asset: ASSET.to_owned(), units: large }], ..asked(1, number, 1_000) };
        new(ledger.check(&own, &mut always(Status::Allowed)).unwrap());
    }
    let wanted = large.plus(large).and_then(|two| two.plus(large)).unwrap();
    assert_eq!(spent(&ledger, &asked(1, 9, 2_000), Back::Seconds(60), By::All), wanted);
}

#[test]
fn one_attempt_is_decided_once() {
    let folder = Folder::new("key");
    let ledger = folder.ledger();
    let own = Asked { key: Some("k".to_owned()), ..asked(5, 1, 1_000) };
    let first = new(ledger.check(&own, &mut always(Status::Allowed)).unwrap());
    // Whatever is said the second time, and by a process that knows nothing of the first.
    let second = folder.ledger().check(&own, &mut always(Status::Denied)).unwrap();
    assert_eq!(second, Checked::Known(first));
    let other = Asked { fingerprint: [1; 32], ..own.clone() };
    assert_eq!(ledger.check(&other, &mut always(Status::Allowed)).unwrap(), Checked::Conflict);
    let foreign = Asked { account: "b".to_owned(), ..own.clone() };
    assert!(matches!(ledger.check(&foreign, &mut always(Status::Allowed)), Ok(Checked::New(_))));
    assert_eq!(spent(&ledger, &own, Back::Always, By::All), Units::new(10));
    for key in [String::new(), "k".repeat(MOST_KEY + 1)] {
        assert!(
            ledger.check(&Asked { key: Some(key), ..own.clone() }, &mut always(Status::Allowed)).is_err()
        );
    }
}

#[test]
fn a_person_answers_once_and_what_was_approved_is_made_once() {
    let folder = Folder::new("review");
    let ledger = folder.ledger();
    let own = asked(5, 1, 1_000);
    let waits = new(ledger.check(&own, &mut always(Status::ReviewPending)).unwrap());
    assert_eq!(spent(&ledger, &own, Back::Always, By::All), Units::new(5), "reserved while it waits");
    // The same payment does not wait twice, nor count twice against itself.
    let mut judge = |view: &dyn View| {
        assert_eq!(view.spent(ASSET, Back::Always, By::All)?, Units::ZERO);
        Ok(judged(Status::ReviewPending))
    };
    assert_eq!(ledger.check(&own, &mut judge).unwrap(), Checked::Known(waits.clone()));
    let approved = ledger.review(&waits.id, true, 2_000, &mut always(Status::Allowed)).unwrap();
    assert_eq!(approved.status, Status::ReviewApproved);
    let again = ledger.review(&waits.id, false, 2_000, &mut always(Status::Allowed));
    assert_eq!(again, Err(Refused::State(Status::ReviewApproved)));
    let used = ledger.check(&own, &mut always(Status::ReviewPending)).unwrap();
    assert!(matches!(&used, Checked::Known(own) if own.used && own.id == waits.id), "{used:?}");
    assert_eq!(ledger.hand_out(&waits.id, 2_000), Err(Refused::Used));
    let next = new(ledger.check(&own, &mut always(Status::ReviewPending)).unwrap());
    assert!(next.id != waits.id && next.status == Status::ReviewPending, "once");
    assert_eq!(ledger.waiting(2_000).unwrap().iter().map(|own| &own.id).collect::<Vec<_>>(), [&next.id]);
    // The call that makes what was approved and handed out is no second payment; one behind it is.
    let other = asked(6, 9, 2_000);
    let held = new(ledger.check(&other, &mut always(Status::ReviewPending)).unwrap());
    ledger.review(&held.id, true, 2_000, &mut always(Status::Allowed)).unwrap();
    assert_eq!(ledger.hand_out(&held.id, 2_000).map(|own| own.status), Ok(Status::ReviewApproved));
    let other = Asked { makes: true, ..other };
    let made = ledger.check(&other, &mut always(Status::ReviewPending)).unwrap();
    assert!(matches!(&made, Checked::Known(own) if own.id == held.id), "{made:?}");
    let again = new(ledger.check(&other, &mut always(Status::ReviewPending)).unwrap());
    ledger.review(&again.id, false, 2_000, &mut always(Status::Allowed)).unwrap();
    let mut known = |view: &dyn View| {
        assert!(view.known()?);
        Ok(judged(Status::Allowed))
    };
    ledger.look(&own, &mut known).unwrap();
    // What is held against it when a person says yes is held.
    let refused = ledger.review(&next.id, true, 2_000, &mut |_: &dyn View| {
        let reason = Reason { denies: true, rule: "r".to_owned(), sentence: "no.".to_owned() };
        Ok(Judged { reasons: vec![reason], ..judged(Status::Denied) })
    });
    assert_eq!(refused.as_ref().map(|own| own.status), Ok(Status::Denied));
    assert_eq!(refused.unwrap().reasons.len(), 1);
    assert_eq!(spent(&ledger, &own, Back::Always, By::All), Units::new(11));
    assert_eq!(ledger.review("x", true, 1, &mut always(Status::Allowed)), Err(Refused::Unknown));
}

#[test]
fn what_was_asked_before_is_used_by_the_call_that_makes_it() {
    let folder = Folder::new("makes");
    let ledger = folder.ledger();
    let own = asked(5, 1, 1_000);
    let first = new(ledger.check(&own, &mut always(Status::Allowed)).unwrap());
    let makes = Asked { makes: true, tool: "pay_now".to_owned(), ..own.clone() };
    let mut alone = |view: &dyn View| {
        assert_eq!(view.payments(Back::Always, By::All)?, 0, "it does not count against itself");
        Ok(judged(Status::Allowed))
    };
    let made = ledger.check(&makes, &mut alone).unwrap();
    assert!(matches!(&made, Checked::Known(known) if known.used && known.id == first.id), "{made:?}");
    // Once; and a second question is a second payment.
    assert_ne!(new(ledger.check(&makes, &mut always(Status::Allowed)).unwrap()).id, first.id);
    assert_ne!(new(ledger.check(&own, &mut always(Status::Allowed)).unwrap()).id, first.id);
    assert_eq!(spent(&ledger, &own, Back::Always, By::All), Units::new(15));
}

#[test]
fn what_nobody_answers_is_free_again() {
    let folder = Folder::new("expired");
    let ledger = folder.ledger().review_within(60_000);
    let own = asked(5, 1, 1_000);
    let waits = new(ledger.check(&own, &mut always(Status::ReviewPending)).unwrap());
    assert_eq!(ledger.decision(&waits.id, 60_999).unwrap().unwrap().status, Status::ReviewPending);
    assert_eq!(ledger.decision(&waits.id, 61_000).unwrap().unwrap().status, Status::ReviewExpired);
    let late = Asked { now: 61_000, ..own };
    assert_eq!(spent(&ledger, &late, Back::Always, By::All), Units::ZERO);
    let answer = ledger.review(&waits.id, true, 61_000, &mut always(Status::Allowed));
    assert_eq!(answer, Err(Refused::State(Status::ReviewExpired)));
}

#[test]
fn what_an_agent_says_of_a_settlement_frees_nothing() {
    let folder = Folder::new("settle");
    let ledger = folder.ledger();
    let own = asked(50, 1, 1_000);
    let made = new(ledger.check(&own, &mut always(Status::Allowed)).unwrap());
    let told = |success: bool, transaction: &str, units: Option<u64>, evidence: bool| Settlement {
        success,
        transaction: transaction.to_owned(),
        units: units.map(Units::new),
        evidence,
    };
    let all = || spent(&ledger, &own, Back::Always, By::All);
    assert_eq!(ledger.settle(&made.id, &told(false, "a", None, false), 2_000), Ok(Settled::Claimed));
    assert_eq!(
        (all(), ledger.settle(&made.id, &told(true, "b", Some(1), false), 2_000)),
        (Units::new(50), Err(Refused::Other))
    );
    let mut known = |view: &dyn View| {
        assert!(!view.known()?);
        Ok(judged(Status::Allowed))
    };
    ledger.look(&own, &mut known).unwrap();
    assert_eq!(ledger.settle(&made.id, &told(true, "b", Some(20), true), 2_000), Ok(Settled::Recorded));
    assert_eq!(all(), Units::new(20));
    assert_eq!(
        ledger.settle(&made.id, &told(true, "b", Some(20), true), 2_000),
        Ok(Settled::Recorded),
        "no news"
    );
    assert_eq!(ledger.settle(&made.id, &told(true, "c", None, true), 2_000), Err(Refused::Other));
    let over = new(ledger.check(&asked(5, 2, 2_000), &mut always(Status::Allowed)).unwrap());
    assert_eq!(ledger.settle(&over.id, &told(true, "d", Some(9), true), 2_000), Ok(Settled::Over));
    assert_eq!(all(), Units::new(29));
    let denied = new(ledger.check(&asked(5, 3, 2_000), &mut always(Status::Denied)).unwrap());
    assert_eq!(
        ledger.settle(&denied.id, &told(true, "e", None, true), 2_000),
        Err(Refused::State(Status::Denied))
    );
    assert_eq!(ledger.settle("x", &told(true, "e", None, true), 2_000), Err(Refused::Unknown));
}

#[test]
fn texts_hold_the_payments_of_their_session_for_an_hour() {
    let folder = Folder::new("content");
    let ledger = folder.ledger();
    let filing = |session: &str, found: Content, hash: u8, now: u64| Filing {
        session: session.to_owned(),
        origin: "page".to_owned(),
        hash: [hash; 32],
        found,
        classes: vec!["override".to_owned()],
        addresses: vec!["0xabcd000000000000000000000000000000001234".to_owned()],
        text: "text".to_owned(),
        now,
    };
    let flags = |session: &str, beside: &[&str], text: Option<u8>, now: u64| {
        let own = Asked {
            session: session.to_owned(),
            beside: beside.iter().map(|own| (*own).to_owned()).collect(),
            texts: text.into_iter().map(|own| [own; 32]).collect(),
            ..asked(1, 1, now)
        };
        let mut found = (false, None, false);
        let mut judge = |view: &dyn View| {
            found = (view.flagged()?, view.content()?, view.filed()?);
            Ok(judged(Status::Allowed))
        };
        ledger.look(&own, &mut judge).unwrap();
        found
    };
    ledger.file(&filing("s", Content::Flagged, 1, 1_000)).unwrap();
    ledger.file(&filing("t", Content::Unfinished, 2, 1_000)).unwrap();
    assert_eq!(flags("s", &[], None, 2_000), (true, None, true));
    assert_eq!(flags("t", &[], None, 2_000), (false, None, true));
    assert_eq!(flags("u", &["s"], None, 2_000), (true, None, true), "a session beside it");
    assert_eq!(
        flags("u", &[], Some(1), 2_000),
        (true, Some(Content::Flagged), false),
        "the page that it names"
    );
    assert_eq!(flags("u", &[], Some(2), 2_000), (false, Some(Content::Unfinished), false));
    assert_eq!(flags("u", &[], Some(3), 2_000), (false, Some(Content::Unfinished), false), "never filed");
    // A clear look behind a flagged one takes nothing back.
    ledger.file(&filing("t", Content::Clear, 1, 2_000)).unwrap();
    assert!(flags("u", &[], Some(1), 2_000).0 && !flags("t", &[], None, 2_000).0);
    // Another flag makes it longer.
    ledger.file(&filing("s", Content::Flagged, 4, 3_000_000)).unwrap();
    assert!(flags("s", &[], None, 3_601_000).0 && flags("s", &[], None, 6_599_999).0);
    ledger.file(&filing("s", Content::Clear, 5, 6_600_000)).unwrap();
    assert!(!flags("s", &[], None, 6_600_000).0);
}

#[test]
fn payees_that_look_like_known_ones_and_prices_that_stay() {
    let folder = Folder::new("alike");
    let ledger = folder.ledger();
    let waits = new(ledger.check(&asked(5, 1, 1_000), &mut always(Status::ReviewPending)).unwrap());
    ledger.review(&waits.id, true, 1_000, &mut always(Status::Allowed)).unwrap();
    let mut other = asked(7, 2, 2_000);
    other.payee = Some("eip155:8453/0xabcd111111111111111111111111111111111234".to_owned());
    let mut seen = None;
    let mut judge = |view: &dyn View| {
        seen = Some((view.known()?, view.alike()?, view.price(ASSET)?, view.same(Back::Seconds(60))?));
        Ok(judged(Status::Allowed))
    };
    new(ledger.check(&other, &mut judge).unwrap());
    new(ledger.check(&Asked { fingerprint: [3; 32], ..other.clone() }, &mut judge).unwrap());
    assert_eq!(
        seen,
        Some((false, Some(PAYEE.to_owned()), Some(Units::new(7)), 1)),
        "the first price that was allowed"
    );
    // What is only observed teaches nothing.
    let observed = asked(5, 5, 2_000);
    let observed =
        Asked { payee: Some("eip155:8453/0x9999".to_owned()), page: Some("p".to_owned()), ..observed };
    let mut judge = |_: &dyn View| Ok(Judged { would: Status::Denied, ..judged(Status::Allowed) });
    let made = new(ledger.check(&observed, &mut judge).unwrap());
    let told = Settlement { success: true, transaction: "a".to_owned(), units: None, evidence: true };
    assert_eq!(ledger.settle(&made.id, &told, 2_000), Ok(Settled::Recorded));
    let mut judge = |view: &dyn View| {
        assert!(!view.known()? && view.price(ASSET)?.is_none());
        Ok(judged(Status::Allowed))
    };
    ledger.look(&observed, &mut judge).unwrap();
}

#[test]
fn many_at_once_never_spend_more_than_there_is() {
    let folder = Folder::new("race");
    let allowed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..20 {
            let (folder, allowed) = (&folder, &allowed);
            scope.spawn(move || {
                let ledger = folder.ledger();
                for number in 0..5 {
                    let own = asked(10, thread * 100 + number, 1_000);
                    let mut judge = within(100, Back::Seconds(60), By::All, &own);
                    let made = new(ledger.check(&own, &mut judge).unwrap());
                    allowed.fetch_add(u64::from(made.status == Status::Allowed), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(allowed.load(Ordering::Relaxed), 10);
    assert_eq!(spent(&folder.ledger(), &asked(1, 1, 2_000), Back::Seconds(60), By::All), Units::new(100));
}

#[test]
fn one_attempt_of_many_processes_is_one_decision() {
    let folder = Folder::new("same-key");
    let ids = std::sync::Mutex::new(std::collections::BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let own = Asked { key: Some("k".to_owned()), ..asked(10, 1, 1_000) };
                let made = folder.ledger().check(&own, &mut always(Status::Allowed)).unwrap();
                ids.lock().unwrap().insert(made.decision().unwrap().id.clone());
            });
        }
    });
    assert_eq!(ids.lock().unwrap().len(), 1);
    assert_eq!(spent(&folder.ledger(), &asked(1, 1, 2_000), Back::Always, By::All), Units::new(10));
}

#[test]
fn a_check_that_is_cut_off_is_done_once_when_it_is_tried_again() {
    for step in
        ["after key", "after judging", "after decision", "after hold", "before commit", "after commit"]
    {
        let folder = Folder::new("cut");
        let own = Asked { key: Some("k".to_owned()), ..asked(10, 1, 1_000) };
        let cut = folder.ledger().failing_at(step).check(&own, &mut always(Status::Allowed));
        assert!(cut.is_err(), "{step}");
        let made = folder.ledger().check(&own, &mut always(Status::Allowed)).unwrap();
        assert_eq!(matches!(made, Checked::Known(_)), step == "after commit", "{step}");
        assert_eq!(spent(&folder.ledger(), &own, Back::Always, By::All), Units::new(10), "{step}");
        assert_eq!(folder.ledger().recent(10, 1_000).unwrap().len(), 1, "{step}");
    }
}

#[test]
fn a_payment_that_waits_is_looked_at_again_without_itself_and_nothing_is_kept() {
    let folder = Folder::new("again");
    let ledger = folder.ledger();
    new(ledger.check(&asked(30, 1, 1_000), &mut always(Status::Allowed)).unwrap());
    let own = new(ledger.check(&asked(50, 2, 2_000), &mut always(Status::ReviewPending)).unwrap());
    let mut found = Units::ZERO;
    let mut judge = |view: &dyn View| {
        found = view.spent(ASSET, Back::Seconds(60), By::All)?;
        Ok(judged(Status::Denied))
    };
    assert_eq!(ledger.look_again(&own.id, 3_000, &mut judge).unwrap().status, Status::Denied);
    assert_eq!(found, Units::new(30));
    assert_eq!(ledger.decision(&own.id, 3_000).unwrap().unwrap().status, Status::ReviewPending);
    assert_eq!(ledger.look_again("none", 3_000, &mut always(Status::Allowed)), Err(Refused::Unknown));
    ledger.review(&own.id, false, 4_000, &mut always(Status::Allowed)).unwrap();
    let late = ledger.look_again(&own.id, 5_000, &mut always(Status::Allowed));
    assert_eq!(late, Err(Refused::State(Status::ReviewDenied)));
}

#[test]
fn the_texts_of_a_payment_and_of_its_session_are_told() {
    let folder = Folder::new("texts");
    let ledger = folder.ledger();
    let file = |session: &str, number: u8, found: Content, now: u64| {
        let filing = Filing {
            session: session.to_owned(),
            origin: format!("page {number}"),
            hash: [number; 32],
            found,
            classes: vec!["override".to_owned()],
            addresses: Vec::new(),
            text: format!("text {number}"),
            now,
        };
        ledger.file(&filing).unwrap();
    };
    file("s", 1, Content::Clear, 1_000);
    file("t", 1, Content::Flagged, 1_100);
    file("s", 2, Content::Flagged, 1_200);
    let mut own = asked(10, 1, 2_000);
    own.texts = vec![[1; 32], [9; 32]];
    own.beside = vec!["u".to_owned()];
    let own = new(ledger.check(&own, &mut always(Status::ReviewPending)).unwrap());
    let told = ledger.texts(&own.id, 3_000).unwrap();
    let brief: Vec<(&str, Content, Option<u64>)> =
        told.iter().map(|read| (read.text.as_str(), read.found, read.holds)).collect();
    assert_eq!(
        brief,
        [
            ("text 1", Content::Flagged, None),
            ("", Content::Unfinished, None),
            ("text 2", Content::Flagged, Some(1_200 + 3_600_000)),
        ],
        "the worst that was found, what nobody filed, and what holds the session"
    );
    assert_eq!(
        (told[0].origin.as_str(), told[0].classes.as_slice()),
        ("page 1", &["override".to_owned()][..])
    );
    assert_eq!(ledger.texts("none", 3_000), Err(Refused::Unknown));
    // Behind its hour it holds nothing; a text of the session beside does.
    file("u", 3, Content::Flagged, 3_700_000);
    let later = ledger.texts(&own.id, 3_700_000).unwrap();
    assert_eq!(later.iter().map(|read| read.text.as_str()).collect::<Vec<_>>(), ["text 1", "", "text 3"]);
}

#[test]
fn what_was_moved_of_late_is_told_the_newest_first() {
    let folder = Folder::new("moved");
    let ledger = folder.ledger();
    let ask = |units: u64, now: u64, status: Status| {
        new(ledger.check(&asked(units, now, now), &mut always(status)).unwrap())
    };
    let first = ask(1, 1_000, Status::Allowed);
    let second = ask(2, 2_000, Status::Allowed);
    ask(3, 3_000, Status::Denied);
    ask(4, 4_000, Status::ReviewPending);
    let gone = ask(5, 5_000, Status::Allowed);
    let told = |success: bool, number: u64| Settlement {
        success,
        transaction: number.to_string(),
        units: None,
        evidence: true,
    };
    ledger.settle(&second.id, &told(true, 1), 6_000).unwrap();
    ledger.settle(&gone.id, &told(false, 2), 6_000).unwrap();
    let brief = |since: u64, most: usize| -> Vec<(String, bool, Status)> {
        let all = ledger.moved(since, most, 7_000).unwrap();
        all.into_iter().map(|own| (own.units.to_string(), own.settled, own.status)).collect()
    };
    let row = |units: &str, settled, status| (units.to_owned(), settled, status);
    let all = [
        row("4", false, Status::ReviewPending),
        row("2", true, Status::Allowed),
        row("1", false, Status::Allowed),
    ];
    assert_eq!(brief(0, 10), all);
    assert_eq!(brief(1_000, 10), all[..2]);
    assert_eq!(brief(0, 1), all[..1]);
    let last = ledger.moved(0, 10, 7_000).unwrap().pop().unwrap();
    assert_eq!((last.id, last.asset.as_str(), last.at), (first.id, ASSET, 1_000));
    assert_eq!((last.payee.as_deref(), last.seller.as_deref()), (Some(PAYEE), Some("shop.example")));
    assert_eq!((last.session.as_str(), last.tool.as_str()), ("s", "pay"));
}
