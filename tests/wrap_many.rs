//! Many processes of `policy wrap` that share one home: questions and lines of audit.
//!
//! INVARIANT: every question appears once, each answer reaches the call that it is about and no other, and no line is lost.

use crate::support::{World, rounds};
use crate::wrapped::{Wrapped, audit, call, questions};
use policy_approvals::{Channel, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn wraps(world: &World, count: u64) -> Vec<Wrapped> {
    Wrapped::policy(world);
    // The first one compiles the policy, for all.
    let mut wraps: Vec<Wrapped> =
        (0..count).map(|_| Wrapped::over(world, &["--ask", "page"], &["cat"])).collect();
    let first = call(0, "read", &json!({}));
    wraps[0].send(&first);
    assert_eq!(wraps[0].line(), first);
    wraps
}

fn ask_at_once(count: u64) {
    let world = World::new(&format!("wrap-many-{count}"));
    let mut wraps = wraps(&world, count);
    let asks = |n: u64| call(1, "ask_me", &json!({ "n": n }));
    for (n, wrap) in (0..).zip(&mut wraps) {
        wrap.send(&asks(n));
    }
    let (store, open) = questions(&world, count as usize);
    let listed = world.run(&["approvals", "list", "--format", "json"], b"");
    let listed = String::from_utf8(listed.stdout).unwrap();
    let number = |arguments: &str| serde_json::from_str::<Value>(arguments).unwrap()["n"].as_u64().unwrap();
    let numbers: BTreeSet<u64> = open.iter().map(|open| number(&open.question.arguments)).collect();
    assert_eq!(numbers, (0..count).collect());
    assert!(open.iter().all(|open| listed.matches(open.id.as_str()).count() == 1), "{listed}");
    // The last one is answered first.
    for open in open.iter().rev() {
        let even = number(&open.question.arguments).is_multiple_of(2);
        store.answer(&open.id, if even { Verdict::Once } else { Verdict::Deny }, Channel::Page).unwrap();
    }
    for (n, wrap) in (0..).zip(&mut wraps) {
        let answer = wrap.line();
        if n % 2 == 0 {
            assert_eq!(answer, asks(n));
        } else {
            assert!(answer.contains("a person denied it on the page"), "{n}: {answer}");
        }
    }
    questions(&world, 0);
    for wrap in wraps {
        let (code, out, _) = wrap.end();
        // `cat` answers nothing, so what it was sent is answered when it ends.
        assert!(code == Some(0) && !out.contains("ask_me"), "{out}");
    }
}

/// `POLICY_ROUNDS=5`: sixty.
#[test]
fn twelve_ask_at_once_and_each_gets_its_own_answer() {
    ask_at_once(rounds(12) as u64);
}

#[test]
fn twelve_that_write_into_one_audit_lose_no_line() {
    let world = World::new("wrap-many-audit");
    let (count, calls) = (rounds(12) as u64, 40);
    std::thread::scope(|scope| {
        for (process, mut wrap) in (0..).zip(wraps(&world, count)) {
            scope.spawn(move || {
                for n in 0..calls {
                    let line = call(n + 1, "read", &json!({ "n": process * calls + n }));
                    wrap.send(&line);
                    assert_eq!(wrap.line(), line);
                }
                assert_eq!(wrap.end().0, Some(0));
            });
        }
    });
    let lines = audit(&world);
    let numbers: BTreeSet<String> = lines
        .iter()
        .filter(|line| line["tool"] == "read")
        .map(|line| line["arguments"].to_string())
        .collect();
    assert_eq!(numbers.len(), (count * calls) as usize + 1);
    let output = world.run(&["audit", "verify"], b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
