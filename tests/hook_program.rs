//! The small program `policy-hook`: the same replies as `policy hook`, and a refusal whenever it cannot answer.
//!
//! INVARIANT: neither a missing compiler nor a signal ends in silence, which a host takes for consent.

use crate::support::{World, feed};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn event(tool: &str, input: &str) -> String {
    format!(
        "{{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"{tool}\",\"tool_input\":{input},\"session_id\":\"s\",\"permission_mode\":\"default\"}}"
    )
}

fn small(world: &World, program: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--host", "claude-code", "--home", &world.word("home")]).current_dir(world.path("repo"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn denied(output: &Output, cause: &str) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\"deny\"") && text.contains(cause), "{output:?}");
}

#[test]
fn it_answers_as_the_large_one_does() {
    let world = World::new("small");
    let events = [
        event("Bash", "{\"command\":\"git status\"}"),
        event("Bash", "{\"command\":\"git push --force\"}"),
        event("Read", "{\"file_path\":\"./.env\"}"),
        event("Write", "{\"file_path\":\"./x\",\"content\":\"\"}"),
        "{".to_string(),
    ];
    // Only what is always on is compiled beforehand: a slow machine takes longer for that than a hook has time.
    let policy = |name: &str, rule: &str| {
        let text = format!("policy \"p\" language 1\n\nuse std/git\n\nrule r on Bash {{\n  {rule}\n}}\n");
        world.file(name, text).display().to_string()
    };
    let other = policy("other.policy", "deny run `frobnicate`");
    world.run(&["check", "Bash", "{\"command\": \"ls\"}", "--policy", &other], b"");
    // The first one finds no table: the large program compiles it.
    let policy = policy("p.policy", "allow run `git status`");
    for event in events {
        let mut command = small(&world, env!("CARGO_BIN_EXE_policy-hook"));
        let own = feed(command.args(["--policy", &policy]), event.as_bytes());
        let large = world.run(&["hook", "--host", "claude-code", "--policy", &policy], event.as_bytes());
        assert_eq!(
            (&own.stdout, &own.stderr, own.status),
            (&large.stdout, &large.stderr, large.status),
            "{event}"
        );
    }
    let mut wrong = small(&world, env!("CARGO_BIN_EXE_policy-hook"));
    denied(&feed(wrong.arg("--bad"), event("Read", "{}").as_bytes()), "`--bad`");
}

#[test]
fn alone_it_refuses_what_has_to_be_compiled() {
    let world = World::new("small-alone");
    let alone = world.path("policy-hook");
    std::fs::copy(env!("CARGO_BIN_EXE_policy-hook"), &alone).unwrap();
    let ask = || {
        // A test beside this one that starts a program just now holds a copy open for writing for a moment.
        let mut command = small(&world, &alone.display().to_string());
        for _ in 0..100 {
            match command.spawn() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                _ => break,
            }
        }
        feed(&mut command, event("Bash", "{\"command\":\"git status\"}").as_bytes())
    };
    denied(&ask(), "cannot be started");
    // What lies beside it and fails in ways that a host takes for consent, half a reply written or none.
    let half = "printf '{\"hookSpecificOutput\":'";
    for script in
        ["exit 1", "exit 64", "kill -9 $$", &format!("{half}; kill -9 $$"), &format!("{half}; exit 3")]
    {
        let beside = world.file("policy", format!("#!/bin/sh\ncat > /dev/null\n{script}\n"));
        std::fs::set_permissions(&beside, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let output = ask();
        denied(&output, "failed: ");
        assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok(), "{output:?}");
    }
    // Another program of that name, which ends well.
    let allows =
        "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}'";
    for script in ["true", "echo '{}'", "echo usage", allows] {
        let beside = world.file("policy", format!("#!/bin/sh\ncat > /dev/null\n{script}\n"));
        std::fs::set_permissions(&beside, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        denied(&ask(), "is another program");
    }
}

/// Without a standard output, or with one that nobody reads, only the exit code is left to say no.
#[test]
fn no_output_is_a_refusal_by_code() {
    let world = World::new("small-silent");
    let push = event("Bash", "{\"command\":\"git push --force\"}");
    world.run(&["check", "Bash", "{\"command\": \"ls\"}"], b"");
    for program in [env!("CARGO_BIN_EXE_policy-hook"), env!("CARGO_BIN_EXE_policy")] {
        for output in ["1>&-", "1>/dev/null"] {
            let own = if program.ends_with("hook") { "" } else { "hook" };
            let script = format!("exec \"$0\" {own} --host claude-code --home \"$1\" {output}");
            let mut command = Command::new("sh");
            command.args(["-c", &script, program, &world.word("home")]).current_dir(world.path("repo"));
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let output = feed(&mut command, push.as_bytes());
            assert_eq!(output.status.code(), Some(2), "{program} {output:?}");
        }
    }
}

/// A parent may have held signals back, which a new program inherits: the deadline holds all the same.
#[test]
fn signals_that_were_held_back_are_let_through() {
    let world = World::new("small-held");
    for program in [env!("CARGO_BIN_EXE_policy-hook"), env!("CARGO_BIN_EXE_policy")] {
        let own = if program.ends_with("hook") { "" } else { "hook " };
        let words = format!("{own}--host claude-code --home {}", world.word("home"));
        // Nothing at hand blocks signals for a program but an interpreter.
        let block = "use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGALRM, SIGXCPU)); exec @ARGV";
        let mut command = Command::new("perl");
        command.args(["-e", block, program]).args(words.split(' ')).current_dir(world.path("repo"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = std::time::Instant::now();
        let Ok(mut child) = command.spawn() else { return };
        let input = child.stdin.take().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{program} {output:?}");
        assert!(start.elapsed() < std::time::Duration::from_secs(6));
        drop(input);
    }
}

/// Waiting for its event it gets the signal of a wrong access, as from a mapped file that was cut.
#[test]
fn a_crash_is_a_refusal() {
    let world = World::new("small-crash");
    for signal in ["-SEGV", "-BUS", "-ILL", "-FPE", "-ABRT", "-XCPU"] {
        let mut child = small(&world, env!("CARGO_BIN_EXE_policy-hook")).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"{").unwrap();
        // Its handlers stand before it reads.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        // No event yet, so no words that the host would read: but every event takes this code for no.
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("crashed"), "{output:?}");
        drop(input);
    }
}
