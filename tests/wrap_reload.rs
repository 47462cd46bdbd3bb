//! A policy that changes while `policy wrap` runs.
//!
//! INVARIANT: what is there now counts for the next call; a policy that cannot be used allows nothing, and its error is told.

use crate::support::World;
use crate::wrapped::{Wrapped, call, questions};
use policy_approvals::{Channel, Verdict};
use serde_json::{Value, json};
use std::io::Read;
use std::time::{Duration, Instant};

const OPEN: &str = "policy \"p\" language 1\n\ndefault allow\n";
const CLOSED: &str = "policy \"p\" language 1\n\ndefault allow\n\nguard writes on \"write*\" {\n  because \"not today\"\n  deny\n}\n";
const BROKEN: &str = "policy \"p\" language 1\n\ndefault allow\n\nguard writes on \"write*\" {\n  dney\n}\n";

/// Replaces the policy as editors do it: never half of it is there.
fn policy(world: &World, text: &str) {
    let new = world.file("p.new", text);
    std::fs::rename(new, world.path("p.policy")).unwrap();
}

/// Calls again and again until the answer is so; the last one.
fn until_answer(wrapped: &mut Wrapped, id: &mut u64, is_so: impl Fn(&str) -> bool) -> String {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        *id += 1;
        wrapped.send(&call(*id, "write_it", &json!({ "n": 1 })));
        let line = wrapped.line();
        if is_so(&line) {
            return line;
        }
        assert!(Instant::now() < end, "{line}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn text(line: &str) -> String {
    let value: Value = serde_json::from_str(line).unwrap();
    value["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_changed_policy_holds_for_the_next_calls() {
    let world = World::new("wrap-reload");
    policy(&world, OPEN);
    let mut wrapped = Wrapped::over(&world, &["--ask", "deny"], &["cat"]);
    let mut id = 0;
    let passed = |line: &str| line.contains("tools/call");
    until_answer(&mut wrapped, &mut id, passed);
    policy(&world, CLOSED);
    let denied = until_answer(&mut wrapped, &mut id, |line| !passed(line));
    assert!(text(&denied).contains("not today"), "{denied}");
    // From then on it holds for every call.
    wrapped.send(&call(1000, "write_it", &json!({ "n": 2 })));
    assert!(text(&wrapped.line()).contains("not today"));
    policy(&world, OPEN);
    until_answer(&mut wrapped, &mut id, passed);
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn a_policy_that_was_broken_allows_nothing_and_tells_its_error_once() {
    let world = World::new("wrap-broken");
    policy(&world, OPEN);
    let mut wrapped = Wrapped::over(&world, &["--ask", "deny"], &["cat"]);
    let mut id = 0;
    let passed = |line: &str| line.contains("tools/call");
    until_answer(&mut wrapped, &mut id, passed);
    policy(&world, BROKEN);
    let denied = until_answer(&mut wrapped, &mut id, |line| !passed(line));
    assert!(text(&denied).contains("cannot be used") && text(&denied).contains("dney"), "{denied}");
    for n in 0..3 {
        std::thread::sleep(Duration::from_millis(60));
        wrapped.send(&call(2000 + n, "write_it", &json!({ "n": n })));
        assert!(text(&wrapped.line()).contains("cannot be used"));
    }
    // It was mended: all is as it was.
    policy(&world, OPEN);
    until_answer(&mut wrapped, &mut id, passed);
    let (code, _, err) = wrapped.end();
    assert_eq!(code, Some(0));
    let told = err.lines().filter(|line| line.contains("dney") && line.contains("p.policy")).count();
    assert_eq!(told, 1, "{err}");
}

#[test]
fn what_the_last_good_policy_allowed_is_asked_with_the_cause() {
    let world = World::new("wrap-stale");
    policy(&world, OPEN);
    let mut wrapped = Wrapped::over(&world, &["--ask", "page"], &["cat"]);
    let mut id = 0;
    let passed = |line: &str| line.contains("tools/call");
    until_answer(&mut wrapped, &mut id, passed);
    policy(&world, BROKEN);
    std::thread::sleep(Duration::from_millis(200));
    let asked = call(3000, "write_it", &json!({ "n": 3 }));
    wrapped.send(&asked);
    let (store, open) = questions(&world, 1);
    let said = &open[0].question.said;
    assert!(
        said.iter().any(|said| said.reason.contains("cannot be used") && said.reason.contains("dney")),
        "{said:?}"
    );
    store.answer(&open[0].id, Verdict::Once, Channel::Page).unwrap();
    assert_eq!(wrapped.line(), asked);
    assert_eq!(wrapped.end().0, Some(0));
}

#[test]
fn a_policy_that_was_never_good_denies_and_says_why() {
    let world = World::new("wrap-never");
    policy(&world, BROKEN);
    let mut wrapped = Wrapped::over(&world, &["--ask", "deny"], &["cat"]);
    wrapped.send(&call(1, "write_it", &json!({})));
    let denied = text(&wrapped.line());
    assert!(denied.contains("dney"), "{denied}");
    let mut err = String::new();
    drop(wrapped.stdin.take());
    wrapped.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(err.contains("dney"), "{err}");
}
