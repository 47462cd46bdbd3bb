//! What proves the log: anchors of a real journal, signatures that come by themselves, crashes, full disks, many writers.
//!
//! INVARIANT: nothing here asks for more than is proved: each test that finds a fault also shows the log without it.

use crate::support::{World, feed, root};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A world with a policy that allows everything, compiled; where its log is.
fn world(name: &str) -> (World, String, String) {
    let world = World::new(name);
    let policy = world.file("t.policy", "policy \"t\" language 1\n\ndefault allow\n").display().to_string();
    world.run(&["check", "Bash", "{\"command\": \"true\"}", "--policy", &policy], b"");
    let log = world.word("home/.local/state/policy/audit.jsonl");
    (world, policy, log)
}

fn event(world: &World, name: &str, tool: &str, input: Value) -> String {
    json!({
        "session_id": "s1", "hook_event_name": name, "cwd": world.word("repo"), "tool_name": tool, "tool_input": input,
    })
    .to_string()
}

fn hook(world: &World, policy: &str, event: &str) -> String {
    let output = world.run(&["hook", "--host", "claude-code", "--policy", policy], event.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn call(world: &World, policy: &str, command: &str) -> String {
    hook(world, policy, &event(world, "PreToolUse", "Bash", json!({"command": command})))
}

fn verified(world: &World, words: &[&str], code: i32) -> String {
    let output = world.run(&[&["audit", "verify"], words].concat(), b"");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn lines(log: &str) -> Vec<String> {
    std::fs::read_to_string(log).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Waits for what a process beside the hook does.
fn soon(what: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !what() {
        assert!(Instant::now() < end, "it did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn checkpoints(log: &str) -> usize {
    lines(log).iter().filter(|line| line.starts_with("{\"checkpoint\":") && line.ends_with('}')).count()
}

/// `tests/audit/recorded.*` are what three calls, the end of the session and `journalctl --all -o json -t policy` of systemd 252
/// left on a machine, as root.
#[test]
fn anchors_of_a_real_journal_are_read() {
    let world = World::new("proof-journal");
    let file = |name: &str| std::fs::read_to_string(root().join("tests/audit").join(name)).unwrap();
    let recorded = file("recorded.jsonl");
    let log = world.file("log.jsonl", &recorded).display().to_string();
    let anchors = world.file("journal.json", file("recorded.journal.json")).display().to_string();
    let known = "/var/tmp/recorded/home/.local/state/policy/audit.jsonl";
    let as_known = [log.as_str(), "--anchors", &anchors, "--written-as", known];
    let text = verified(&world, &as_known, 0);
    assert!(text.contains("anchored up to sequence 3, the last"), "{text}");
    // Under its new name nobody knows it, and whom the journal knows is said.
    let text = verified(&world, &as_known[..3], 0);
    assert!(text.contains("the end is not anchored") && text.contains(known), "{text}");
    let cut: String = recorded.lines().take(2).map(|line| format!("{line}\n")).collect();
    std::fs::write(&log, cut).unwrap();
    let text = verified(&world, &as_known, 1);
    assert!(text.contains("(sequence 2) is the last: cut off, since sequence 3 is anchored"), "{text}");
    assert!(text.contains("anchored up to sequence 1"), "{text}");
}

#[test]
fn a_session_that_ends_is_signed_by_itself_when_there_is_a_key() {
    let (world, policy, log) = world("proof-end");
    call(&world, &policy, "true");
    let end = json!({"session_id": "s1", "hook_event_name": "SessionEnd", "cwd": world.word("repo"), "reason": "other"});
    hook(&world, &policy, &end.to_string());
    let public = world.run(&["audit", "key", "--new"], b"");
    let public = String::from_utf8(public.stdout).unwrap().trim().to_owned();
    let text = verified(&world, &[&log], 0);
    assert!(text.contains("no line is signed by the key"), "without a key nothing was signed: {text}");
    hook(&world, &policy, &end.to_string());
    soon(|| checkpoints(&log) == 1);
    let text = verified(&world, &[&log, "--key", &public], 0);
    assert!(text.ends_with("signed up to sequence 1\n"), "{text}");

    // Another key, no signature, the checkpoint of another log.
    let text = verified(&world, &[&log, "--key", &"0".repeat(64)], 1);
    assert!(text.contains("signature is not good") && text.contains("no line is signed"), "{text}");
    let both = [log.as_str(), "--key", &"0".repeat(64), "--key", &public];
    assert!(verified(&world, &both, 0).contains("signed up to sequence 1"));
    let good = lines(&log);
    std::fs::write(&log, format!("{}\n", good[0])).unwrap();
    let text = verified(&world, &[&log, "--key", &public], 1);
    assert!(text.contains("no line is signed by the key"), "stripped: {text}");
    std::fs::write(&log, "").unwrap();
    call(&world, &policy, "echo another log");
    let body = good[1].split(",\"anchor\"").next().unwrap().split(",\"seq\":2").next().unwrap();
    let replayed = world.file("replayed", format!("{body}}}\n"));
    seal_behind(&log, &replayed);
    let text = verified(&world, &[&log, "--key", &public], 1);
    assert!(text.contains("(sequence 2) is a checkpoint whose signature is not good"), "{text}");
}

/// Appends the line of a file with a seal that holds, as somebody who knows how lines are sealed can.
fn seal_behind(log: &str, line: &Path) {
    let line = std::fs::read(line).unwrap();
    policy_engine::append::append(Path::new(log), &line, policy_engine::open::Care::Named).unwrap();
}

#[test]
fn every_64th_line_is_signed_by_itself() {
    let (world, policy, log) = world("proof-64");
    assert_eq!(world.run(&["audit", "key", "--new"], b"").status.code(), Some(0));
    let lines: String = (0..70)
        .map(|at| format!("{{\"id\":{at},\"tool\":\"bash\",\"arguments\":{{\"command\":\"true\"}}}}\n"))
        .collect();
    std::fs::create_dir_all(Path::new(&log).parent().unwrap()).unwrap();
    let output = world.run(&["check", "--batch", "--policy", &policy, "--audit", &log], lines.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    soon(|| checkpoints(&log) == 1);
    let text = verified(&world, &[&log], 0);
    assert!(text.contains("signed up to sequence "), "{text}");
}

#[test]
fn a_wrapped_server_that_ends_ends_a_session() {
    let (world, policy, log) = world("proof-wrap");
    call(&world, &policy, "true");
    assert_eq!(world.run(&["audit", "key", "--new"], b"").status.code(), Some(0));
    let output = world.run(&["wrap", "--policy", &policy, "--name", "s", "--", "cat"], b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    soon(|| checkpoints(&log) == 1);
    // Also when it is told to end.
    call(&world, &policy, "echo 2");
    let mut wrapped =
        world.command(&["wrap", "--policy", &policy, "--name", "s", "--", "cat"]).spawn().unwrap();
    let mut stdin = wrapped.stdin.take().unwrap();
    let mut stdout = std::io::BufReader::new(wrapped.stdout.take().unwrap());
    std::io::Write::write_all(&mut stdin, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    std::io::BufRead::read_line(&mut stdout, &mut String::new()).unwrap();
    let ended = Command::new("kill").args(["-TERM", &wrapped.id().to_string()]).status().unwrap();
    assert!(ended.success());
    assert_eq!(wrapped.wait().unwrap().code(), Some(128 + 15));
    soon(|| checkpoints(&log) == 2);
    assert!(verified(&world, &[&log], 0).contains("signed up to sequence 3"));
}

#[test]
fn many_processes_write_one_chain() {
    let (world, policy, log) = world("proof-many");
    let (processes, each) = (8, 6);
    std::thread::scope(|scope| {
        for process in 0..processes {
            let (world, policy) = (&world, &policy);
            scope.spawn(move || {
                (0..each).for_each(|at| drop(call(world, policy, &format!("echo {process} {at}"))))
            });
        }
    });
    let written = lines(&log);
    let text = verified(&world, &[&log], 0);
    assert!(text.starts_with(&format!("the chain holds from sequence 1 to {}", written.len())), "{text}");
    // A lock that is waited for too long is an ask, and said; a line is never lost in silence.
    assert_eq!(written.len(), processes * each);
    for process in 0..processes {
        for at in 0..each {
            let command = format!("\"commands\":[\"echo {process} {at}\"]");
            assert_eq!(written.iter().filter(|line| line.contains(&command)).count(), 1, "{command}");
        }
    }
}

/// Writers are killed at any moment; whatever they leave, the log says the truth and goes on.
#[test]
fn killed_writers_leave_a_log_that_goes_on() {
    let (world, policy, log) = world("proof-killed");
    let batch: String = (0..3000)
        .map(|at| format!("{{\"id\":{at},\"tool\":\"bash\",\"arguments\":{{\"command\":\"echo {at}\"}}}}\n"))
        .collect();
    let batch = world.file("batch", batch);
    std::fs::create_dir_all(Path::new(&log).parent().unwrap()).unwrap();
    for round in 0..8 {
        let before = lines(&log).len();
        let mut writer = world.command(&["check", "--batch", "--policy", &policy, "--audit", &log]);
        let mut writer = writer
            .stdin(std::fs::File::open(&batch).unwrap())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        soon(|| lines(&log).len() > before + round);
        writer.kill().unwrap();
        writer.wait().unwrap();
    }
    call(&world, &policy, "echo last");
    let text = verified(&world, &[&log], 0);
    let count = lines(&log).len();
    assert!(text.starts_with(&format!("the chain holds from sequence 1 to {count}")), "{text}");
    // Torn by hand, as a crash of the machine may.
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() - 40]).unwrap();
    let text = verified(&world, &[&log], 1);
    assert!(text.contains(&format!("audit.jsonl:{count}: is cut off")), "{text}");
    call(&world, &policy, "echo behind");
    let text = verified(&world, &[&log], 1);
    assert!(
        text.contains(&format!("audit.jsonl:{count}: has no seal"))
            && !text.contains(&format!("audit.jsonl:{}:", count + 1)),
        "{text}"
    );
}

#[test]
fn without_room_for_its_line_only_a_call_that_reads_is_allowed() {
    let (world, policy, log) = world("proof-full");
    world.file("repo/a.txt", "x");
    call(&world, &policy, "true");
    let room = std::fs::metadata(&log).unwrap().len() / 512;
    let limited = |tool: &str, input: Value| {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &format!("ulimit -f {room}; exec \"$@\""),
            "sh",
            env!("CARGO_BIN_EXE_policy"),
            "hook",
        ]);
        command.args(["--host", "claude-code", "--home", &world.word("home"), "--policy", &policy]);
        command.current_dir(world.path("repo"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = feed(&mut command, event(&world, "PreToolUse", tool, input).as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = |name: &str| reply["hookSpecificOutput"][name].as_str().unwrap_or_default().to_owned();
        (said("permissionDecision"), said("permissionDecisionReason"))
    };
    let before = std::fs::read(&log).unwrap();
    let file = world.word("repo/a.txt");
    assert_eq!(limited("Read", json!({"file_path": file})).0, "allow");
    for (tool, input) in [
        ("Bash", json!({"command": "touch x"})),
        ("Write", json!({"file_path": file, "content": "y"})),
        ("mcp__a__b", json!({})),
    ] {
        let (decision, reason) = limited(tool, input);
        assert_eq!(decision, "ask", "{tool}: {reason}");
        assert!(reason.contains("audit line could not be written"), "{reason}");
    }
    assert_eq!(std::fs::read(&log).unwrap(), before);
    assert!(verified(&world, &[&log], 0).starts_with("the chain holds from sequence 1 to 1"));
}
