//! The record of a session as hooks use it: many at once, the small program, a record that is damaged, what is suppressed.
//!
//! INVARIANT: the programs themselves are asked, as hosts do.

use crate::support::{World, feed};
use std::process::{Command, Stdio};

const POLICY: &str = "policy \"p\" language 1\n\ndefault allow\n\nguard often on Bash {\n  deny calls over 63 per session\n}\n\nguard noisy on Read {\n  warn repeats over 0 per session  because \"read again\"\n}\n\nguard tested on Write {\n  deny unless session ran `pytest ...`\n}\n";

fn event(name: &str, tool: &str, input: &str) -> String {
    format!(
        "{{\"hook_event_name\":\"{name}\",\"tool_name\":\"{tool}\",\"tool_input\":{input},\"session_id\":\"s\",\"permission_mode\":\"default\"}}"
    )
}

struct Hook {
    world: World,
    policy: String,
}

impl Hook {
    fn new(name: &str) -> Hook {
        Hook::with(name, POLICY)
    }

    fn with(name: &str, policy: &str) -> Hook {
        let world = World::new(name);
        let policy = world.file("p.policy", policy).display().to_string();
        world.run(&["check", "Bash", "{\"command\": \"ls\"}", "--policy", &policy], b"");
        Hook { world, policy }
    }

    fn ask(&self, program: &str, event: &str) -> String {
        let mut command = Command::new(program);
        command.args(["--host", "claude-code", "--home", &self.world.word("home"), "--policy", &self.policy]);
        command.current_dir(self.world.path("repo"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        String::from_utf8_lossy(&feed(&mut command, event.as_bytes()).stdout).into_owned()
    }

    fn small(&self, event: &str) -> String {
        self.ask(env!("CARGO_BIN_EXE_policy-hook"), event)
    }
}

/// Each of the first 63 calls is let through and the last is not, whichever is last: no update is lost. Eight at a time, since
/// a small machine takes longer to start sixty-four programs than one of them has time.
#[test]
fn sixty_four_hooks_on_one_session() {
    let hook = Hook::new("session-many");
    let ask = || hook.small(&event("PreToolUse", "Bash", "{\"command\":\"ls\"}"));
    let denied: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| (0..8).filter(|_| ask().contains("64 calls in this session")).count()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(denied, 1);
    assert!(
        ask().contains("65 calls in this session"),
        "a refused call counts, and trying again changes nothing"
    );
}

#[test]
fn what_succeeded_is_told_behind_the_call() {
    let hook = Hook::new("session-ran");
    let write = event("PreToolUse", "Write", "{\"file_path\":\"a\",\"content\":\"\"}");
    let test = "{\"command\":\"pytest -q\"}";
    assert!(hook.small(&write).contains("\"deny\""));
    hook.small(&event("PreToolUse", "Bash", test));
    assert!(hook.small(&write).contains("\"deny\""), "a try is no success");
    hook.small(&event("PostToolUse", "Bash", test));
    assert!(!hook.small(&write).contains("\"deny\""));
}

#[test]
fn a_success_of_the_call_need_not_be_one_of_the_command() {
    let hook = Hook::new("session-hidden");
    let write = event("PreToolUse", "Write", "{\"file_path\":\"a\",\"content\":\"\"}");
    for hidden in ["pytest -q || true", "pytest -q | tail -3", "pytest -q; true", "pytest -q &"] {
        hook.small(&event("PostToolUse", "Bash", &format!("{{\"command\":\"{hidden}\"}}")));
        assert!(hook.small(&write).contains("\"deny\""), "{hidden}");
    }
    hook.small(&event("PostToolUse", "Bash", "{\"command\":\"cd . && pytest -q 2>&1\"}"));
    assert!(!hook.small(&write).contains("\"deny\""));
}

const ENDS: &str = "policy \"p\" language 1\n\ndefault allow\n\nguard tests at stop {\n  deny check test-with-changes\n}\n\nguard ran at subagent_stop {\n  deny check subagent-transcript-audit\n}\n\nguard many on Bash {\n  deny run `git commit` when session wrote \"**/*.py\" over 1 since ran `pytest ...`\n}\n";

#[test]
fn the_end_of_a_turn_looks_at_what_was_written() {
    let hook = Hook::with("session-stop", ENDS);
    let stop = event("Stop", "", "{}");
    let wrote = |file: &str| {
        hook.world.file(&format!("repo/{file}"), "x = 1\n");
        hook.small(&event(
            "PostToolUse",
            "Write",
            &format!("{{\"file_path\":\"{file}\",\"content\":\"x = 1\"}}"),
        ));
    };
    assert!(!hook.small(&stop).contains("block"));
    wrote("a.py");
    assert!(hook.small(&stop).contains("`a.py` changed, and no test did"));
    wrote("test_a.py");
    assert!(!hook.small(&stop).contains("block"));
    let commit = event("PreToolUse", "Bash", "{\"command\":\"git commit -m x\"}");
    assert!(hook.small(&commit).contains("\"deny\""), "two files");
    hook.small(&event("PostToolUse", "Bash", "{\"command\":\"pytest\"}"));
    wrote("a.py");
    wrote("a.py");
    assert!(!hook.small(&commit).contains("\"deny\""), "one file, twice");
}

#[test]
fn the_transcript_of_a_subagent_is_looked_at() {
    let hook = Hook::with("session-transcript", ENDS);
    let stop = |file: &std::path::Path| {
        hook.small(&format!(
            "{{\"hook_event_name\":\"SubagentStop\",\"session_id\":\"s\",\"agent_transcript_path\":\"{}\"}}",
            file.display()
        ))
    };
    let line = "{\"message\":{\"content\":[{\"type\":\"tool_use\",\"input\":{\"command\":\"terraform destroy\"}}]}}\n";
    assert!(stop(&hook.world.file("home/bad.jsonl", line)).contains("terraform destroy"));
    assert!(
        !stop(&hook.world.file("home/good.jsonl", "{\"input\":{\"command\":\"ls\"}}\n")).contains("block")
    );
}

#[test]
fn a_damaged_record_asks() {
    let hook = Hook::new("session-damaged");
    let write = event("PreToolUse", "Write", "{\"file_path\":\"a\",\"content\":\"\"}");
    hook.small(&write);
    let folder = hook.world.path("home/.local/state/policy/sessions");
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.join(format!("record.db{end}")));
    }
    std::fs::write(folder.join("record.db"), b"no database, and long enough to be looked at as one").unwrap();
    let said = hook.small(&write);
    assert!(said.contains("\"ask\"") && said.contains("record.db"), "{said}");
    assert!(!hook.small(&event("PreToolUse", "Glob", "{\"pattern\":\"*\"}")).contains("record.db"));
}

#[test]
fn suppressed_rules_keep_quiet() {
    let hook = Hook::new("session-suppress");
    let read = || hook.small(&event("PreToolUse", "Read", "{\"file_path\":\"a\"}"));
    read();
    assert!(read().contains("read again"));
    let run = |words: &[&str]| hook.world.run(words, b"");
    let wrong = run(&["suppress", "no-force-pusj"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("write `no-force-push`"), "{wrong:?}");
    // `noisy` is of a policy that only the hook was given, so its name is no rule of this project.
    assert!(!run(&["suppress", "noisy"]).status.success());
    assert!(run(&["suppress", "no-force-push", "--session", "s"]).status.success());
    let list = run(&["suppress", "--list", "--session", "s"]);
    assert!(String::from_utf8_lossy(&list.stdout).contains("std/git/no-force-push"), "{list:?}");
    assert!(run(&["suppress", "--clear", "--session", "s"]).status.success());
    assert!(run(&["suppress", "--list", "--session", "s"]).stdout.is_empty());
}
