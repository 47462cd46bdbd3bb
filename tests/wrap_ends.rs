//! How `policy wrap` ends when one of the three is killed in the midst of calls: server, client or proxy.
//!
//! INVARIANT: nobody is left over, no call was carried out whose line is not in the audit, no line of the audit is lost, and its
//! chain holds.

use crate::support::{Random, World, rounds};
use crate::wrapped::{Wrapped, audit, call, questions, until};
use policy_approvals::{Channel, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A server that writes each call that it carries out to a file of its own before it answers. It does not mind gentle signals, and
/// when its input ends in the first round, something that it started holds on.
const SERVER: &str = r#"trap '' TERM HUP
echo $$ > "$0.pid"
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$0"
  id=${line#*\"id\":}
  printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "${id%%,*}"
done
[ "$1" = 0 ] && sleep 300
true"#;

/// Most calls of one round.
const CALLS: u64 = 400;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Victim {
    Server,
    Client,
    Proxy,
}

/// State and group of a process.
fn state_and_group(pid: &str) -> Option<(String, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit(") ").next()?.split(' ');
    let (state, group) = (fields.next()?, fields.nth(1)?);
    Some((state.to_owned(), group.to_owned()))
}

/// Whether somebody of a group is alive.
fn lives(group: &str) -> bool {
    let names =
        std::fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().into_string().ok());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).any(|pid| {
        state_and_group(&pid).is_some_and(|(state, own)| own == group && state != "Z" && state != "X")
    })
}

fn kill(pid: &str) {
    assert!(Command::new("kill").args(["-9", pid]).stderr(Stdio::null()).status().is_ok());
}

fn number(call: &Value) -> u64 {
    call["params"]["arguments"]["n"].as_u64().unwrap()
}

/// The numbers of the calls that the server carried out.
fn carried_out(file: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| number(&serde_json::from_str(line).unwrap())).collect()
}

/// Tool, decision and number of the lines of audit.
fn recorded(world: &World) -> Vec<(String, String, u64)> {
    let word = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let number = |line: &Value| {
        let arguments = &line["arguments"];
        let text = arguments.as_str().map(|text| serde_json::from_str(text).unwrap());
        text.as_ref().unwrap_or(arguments)["n"].as_u64().unwrap()
    };
    audit(world).iter().map(|line| (word(line, "tool"), word(line, "decision"), number(line))).collect()
}

/// Lets calls run and kills one of the three at some moment.
fn round(world: &World, victim: Victim, first: u64, random: &mut Random) {
    let file = world.word(&format!("ran-{first}"));
    let mut wrapped =
        Wrapped::over(world, &["--ask", "deny"], &["sh", "-c", SERVER, &file, &first.to_string()]);
    let tool = |n: u64| if n.is_multiple_of(7) { "delete_it" } else { "write_it" };
    let text = move |n: u64| call(n, tool(n), &json!({ "n": n }));
    let begun = first + 1;
    assert_eq!(wrapped.ask(&text(begun))["id"], begun);
    // A call that is denied is answered before the server is there.
    let pid = || std::fs::read_to_string(format!("{file}.pid")).unwrap_or_default();
    until("no server", || pid().ends_with('\n'));
    let server = pid().trim().to_owned();
    let (_, group) = state_and_group(&server).unwrap();
    let (mut stdin, stdout) = (wrapped.stdin.take().unwrap(), wrapped.stdout);
    let over = Arc::new(AtomicBool::new(false));
    let told = over.clone();
    let writer = std::thread::spawn(move || {
        for n in begun + 1..begun + CALLS {
            if told.load(Ordering::Relaxed) || writeln!(stdin, "{}", text(n)).is_err() {
                return;
            }
        }
    });
    // A client that ends takes both its streams with it.
    let most = if victim == Victim::Client { random.below(200) } else { usize::MAX };
    let (told, reader_told) = (over.clone(), over.clone());
    let reader = std::thread::spawn(move || {
        let mut answers = Vec::new();
        for line in stdout.lines().map_while(Result::ok).take(most) {
            answers.push(serde_json::from_str::<Value>(&line).unwrap_or_else(|e| panic!("{e}: {line}")));
        }
        reader_told.store(true, Ordering::Relaxed);
        answers
    });
    if victim != Victim::Client {
        std::thread::sleep(Duration::from_millis(random.below(150) as u64));
    }
    match victim {
        Victim::Server => kill(&server),
        Victim::Proxy => wrapped.child.kill().unwrap(),
        Victim::Client => until("no answers", || told.load(Ordering::Relaxed)),
    }
    let end = Instant::now() + Duration::from_secs(30);
    let status = loop {
        if let Some(status) = wrapped.child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < end, "the proxy stays after the end of the {victim:?}");
        std::thread::sleep(Duration::from_millis(10));
    };
    over.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let answers = reader.join().unwrap();
    until("somebody is left over", || !lives(&group));
    if victim == Victim::Server {
        assert_eq!(status.code(), Some(128 + 9));
    }
    let ids: Vec<u64> = answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    let once: BTreeSet<u64> = ids.iter().copied().collect();
    assert_eq!(ids.len(), once.len(), "a request was answered twice: {ids:?}");
    let ran = carried_out(&file);
    let lines = recorded(world);
    for n in &ran {
        let line = ("write_it".to_owned(), "allow".to_owned(), *n);
        assert!(lines.contains(&line), "{victim:?}: call {n} ran without its line");
    }
    for answer in &answers {
        let n = answer["id"].as_u64().unwrap();
        if answer["result"]["isError"] == true {
            let line = ("delete_it".to_owned(), "deny".to_owned(), n);
            assert!(lines.contains(&line), "{victim:?}: {answer} has no line");
        } else if answer["error"].is_null() {
            assert!(ran.contains(&n), "{victim:?}: {n} was answered and not carried out");
        }
    }
}

fn verifies(world: &World) {
    let output = world.run(&["audit", "verify"], b"");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
    let lines = audit(world).len();
    assert!(said.contains(&format!("from sequence 1 to {lines}")), "{lines}: {said}");
}

fn killed_again_and_again(victim: Victim) {
    let world = World::new(&format!("wrap-killed-{victim:?}"));
    Wrapped::policy(&world);
    let mut random = Random(victim as u64 * 7919 + 17);
    let mut before = 0;
    for number in 0..rounds(5) as u64 {
        round(&world, victim, number * 1000, &mut random);
        let lines = audit(&world).len();
        assert!(lines > before, "a line was lost");
        before = lines;
    }
    verifies(&world);
}

#[test]
fn a_killed_server_ends_all_and_every_call_has_its_line() {
    killed_again_and_again(Victim::Server);
}

#[test]
fn a_client_that_is_gone_ends_all_and_every_call_has_its_line() {
    killed_again_and_again(Victim::Client);
}

#[test]
fn a_killed_proxy_ends_all_and_every_call_has_its_line() {
    killed_again_and_again(Victim::Proxy);
}

#[test]
fn a_question_that_waits_when_the_server_ends_is_answered_and_withdrawn() {
    let world = World::new("wrap-killed-asking");
    let mut wrapped = Wrapped::new(&world, &["--ask", "page"], &["sh", "-c", "read a; read b; exit 3"]);
    wrapped.send(&call(1, "ask_me", &json!({ "n": 1 })));
    let (store, open) = questions(&world, 1);
    wrapped.send(&call(2, "read", &json!({ "n": 2 })));
    wrapped.send(&call(3, "read", &json!({ "n": 3 })));
    let mut answers: Vec<u64> = (0..3).map(|_| wrapped.value()["id"].as_u64().unwrap()).collect();
    answers.sort_unstable();
    assert_eq!(answers, [1, 2, 3]);
    assert!(store.answer(&open[0].id, Verdict::Once, Channel::Page).is_err());
    assert_eq!(wrapped.end().0, Some(3));
}

#[test]
fn a_client_that_ends_while_the_server_does_not_read_ends_all() {
    let world = World::new("wrap-gone-held");
    let file = world.word("server");
    let mut wrapped = Wrapped::new(&world, &[], &["sh", "-c", "echo $$ > \"$0.pid\"; sleep 300", &file]);
    // More than the server's input holds: who reads the client is held up, and does not see its end.
    let long = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "x".repeat(1 << 20)}});
    wrapped.send(&long.to_string());
    let pid = format!("{file}.pid");
    until("no server", || std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n')));
    let (_, group) = state_and_group(std::fs::read_to_string(&pid).unwrap().trim()).unwrap();
    let Wrapped { mut child, stdin, stdout } = wrapped;
    drop((stdin, stdout));
    let end = Instant::now() + Duration::from_secs(40);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "the proxy stays without a client");
        std::thread::sleep(Duration::from_millis(20));
    }
    until("somebody is left over", || !lives(&group));
}

#[test]
fn a_question_of_a_client_that_is_gone_is_withdrawn_and_has_its_line() {
    let world = World::new("wrap-gone-asking");
    let mut wrapped = Wrapped::new(&world, &["--ask", "page"], &["cat"]);
    wrapped.send(&call(1, "ask_me", &json!({ "n": 1 })));
    let (store, open) = questions(&world, 1);
    let Wrapped { mut child, stdin, stdout } = wrapped;
    // It says no more and still reads: it is waited for.
    drop(stdin);
    std::thread::sleep(Duration::from_millis(300));
    assert!(store.open_questions().unwrap().len() == 1 && child.try_wait().unwrap().is_none());
    drop(stdout);
    questions(&world, 0);
    assert!(store.answer(&open[0].id, Verdict::Once, Channel::Page).is_err());
    until("the proxy stays", || audit(&world).len() == 2);
    assert!(child.wait().unwrap().code().is_some());
    let line = audit(&world).remove(1);
    assert_eq!(line["decision"], "deny");
    assert!(line["reason"].as_str().unwrap().contains("the client has ended"), "{line}");
}
