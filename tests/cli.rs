//! The binary from outside: exit codes and hook replies.
//!
//! INVARIANT: every run has a home of its own; nothing of the machine's user is read or written.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

struct World(PathBuf);

impl World {
    fn new(name: &str) -> World {
        let root = std::env::temp_dir().join(format!("policy-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(root.join("home")).unwrap();
        std::fs::create_dir_all(root.join("repo/.git")).unwrap();
        World(std::fs::canonicalize(root).unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_policy"));
        command.args(words).current_dir(self.0.join("repo"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Puts the tables into the cache: `check` waits for the compiler, and the hook is in time on a busy machine too.
    fn warm(&self, policy: &str) {
        self.run(&["check", "bash", r#"{"command": "frobnicate"}"#, "--policy", policy]);
    }

    /// The help of a command; the hook gives it for these words alone.
    fn help(&self, command: &str) -> String {
        let output = self.command(&[command, "--help"]).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn run(&self, words: &[&str]) -> Output {
        let home = self.0.join("home").display().to_string();
        let words: Vec<&str> = words.iter().copied().chain(["--home", &home]).collect();
        self.command(&words).stdin(Stdio::null()).output().unwrap()
    }

    fn hook(&self, words: &[&str], event: &[u8]) -> Output {
        let home = self.0.join("home").display().to_string();
        let words: Vec<&str> = ["hook", "--home", &home].into_iter().chain(words.iter().copied()).collect();
        let mut child = self.command(&words).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(event);
        child.wait_with_output().unwrap()
    }

    fn event(&self, command: &str) -> Vec<u8> {
        let cwd = self.0.join("repo");
        let event = json!({"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Bash",
                           "tool_input": {"command": command}});
        event.to_string().into_bytes()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn decision(output: &Output) -> (String, String) {
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let inner = &value["hookSpecificOutput"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    (text(&inner["permissionDecision"]), text(&inner["permissionDecisionReason"]))
}

#[test]
fn check_exits_with_the_decision() {
    let world = World::new("check");
    let policy = world.file("p.policy", POLICY).display().to_string();
    let check = |command: &str| {
        let arguments = json!({ "command": command }).to_string();
        code(&world.run(&["check", "bash", &arguments, "--policy", &policy]))
    };
    assert_eq!((check("frobnicate"), check("frobnicate --bad"), check("other")), (0, 2, 3));
}

const POLICY: &str = "policy \"p\" language 1\n\nrule r on bash {\n  allow run `frobnicate`\n  deny  run `frobnicate --bad`  because \"it is bad\"\n}\n";

#[test]
fn bad_usage_is_never_a_decision() {
    let world = World::new("usage");
    assert_eq!(code(&world.run(&["check", "bash"])), 64);
    assert_eq!(code(&world.run(&["check", "bash", "{"])), 64);
    assert_eq!(code(&world.run(&["nonsense"])), 64);
    assert_eq!(code(&world.run(&["check", "bash", "{}", "--policy", "/nowhere.policy"])), 64);
    assert_eq!(code(&world.run(&["--help"])), 0);
}

#[test]
fn a_bad_policy_exits_with_four_and_names_the_line() {
    let world = World::new("bad");
    let file =
        world.file("repo/bad.policy", "policy \"p\" language 1\nrule r on bash {\n  block run `x`\n}\n");
    let output = world.run(&["compile", &file.display().to_string(), "--format", "plain"]);
    assert_eq!(code(&output), 4);
    assert!(String::from_utf8_lossy(&output.stderr).contains("block"));
}

#[test]
fn the_hook_answers_before_the_end_of_input() {
    let world = World::new("hook");
    let policy = world.file("p.policy", POLICY).display().to_string();
    world.warm(&policy);
    let home = world.0.join("home").display().to_string();
    let start = Instant::now();
    let mut child = world
        .command(&["hook", "--home", &home, "--host", "claude-code", "--policy", &policy])
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&world.event("frobnicate --bad")).unwrap();
    input.flush().unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(start.elapsed() < Duration::from_millis(1900), "{:?}", start.elapsed());
    assert!(text.contains("\"deny\"") && text.contains("it is bad"), "{text}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_hook_fails_closed() {
    let world = World::new("closed");
    let policy = world.file("p.policy", POLICY).display().to_string();
    let deny = |words: &[&str], event: &[u8], cause: &str| {
        let output = world.hook(&[&["--host", "claude-code"], words].concat(), event);
        let (decision, reason) = decision(&output);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        // Where the event is not known there is no JSON that fits it: exit 2 blocks every event.
        let said = if decision == "deny" && code(&output) == 0 { reason } else { stderr };
        assert!(decision == "deny" || code(&output) == 2, "{cause}: {output:?}");
        assert!(said.contains(cause), "{cause}: {said}");
    };
    for words in [&["--host", "nobody"][..], &[]] {
        assert_eq!(code(&world.hook(words, &world.event("ls"))), 2);
    }
    deny(&["--policy", &policy], b"not json", "JSON");
    deny(&["--policy", &policy], b"[1]", "object");
    deny(&["--policy", &policy], b"", "empty");
    deny(&["--policy", &policy], b"{\"tool_name\": ", "before its JSON is complete");
    deny(&["--nonsense", "x"], &world.event("ls"), "--nonsense");
    deny(&["--policy"], &world.event("ls"), "needs a value");
    deny(&["--policy", "/nowhere.policy"], &world.event("ls"), "does not exist");
    let fifo = world.0.join("fifo.policy");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    deny(&["--policy", &fifo.display().to_string()], &world.event("ls"), "FIFO");
}

#[test]
fn a_silent_host_gets_an_answer_within_the_deadline() {
    let world = World::new("deadline");
    let home = world.0.join("home").display().to_string();
    let mut child = world.command(&["hook", "--home", &home, "--host", "claude-code"]).spawn().unwrap();
    let input = child.stdin.take().unwrap();
    let start = Instant::now();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(start.elapsed() < Duration::from_secs(4) && text.contains("in time"), "{text}");
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn no_environment_variable_changes_an_answer() {
    let world = World::new("environment");
    let policy = world.file("p.policy", POLICY).display().to_string();
    world.warm(&policy);
    let home = world.0.join("home").display().to_string();
    let answer = |hostile: bool| {
        let words = ["hook", "--home", &home, "--host", "claude-code", "--policy", &policy];
        let mut command = world.command(&words);
        if hostile {
            for name in [
                "HOME",
                "XDG_CONFIG_HOME",
                "XDG_CACHE_HOME",
                "XDG_STATE_HOME",
                "PATH",
                "TMPDIR",
                "POLICY_MODE",
                "NO_COLOR",
                "LANG",
                "RUST_BACKTRACE",
            ] {
                command.env(name, "/nowhere");
            }
        }
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&world.event("frobnicate --bad")).unwrap();
        child.wait_with_output().unwrap().stdout
    };
    assert_eq!(answer(false), answer(true));
}

#[test]
fn trust_and_init() {
    let world = World::new("init");
    world.file("repo/Cargo.toml", "");
    let output = world.run(&["init"]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!(code(&world.run(&["init"])), 64);
    assert_eq!(code(&world.run(&["check", "bash", "{\"command\": \"cargo test\"}"])), 0);
    assert_eq!(code(&world.run(&["trust", "--revoke"])), 0);
    assert_eq!(code(&world.run(&["check", "bash", "{\"command\": \"cargo test\"}"])), 3);
    assert_eq!(code(&world.run(&["trust"])), 0);
    assert_eq!(code(&world.run(&["check", "bash", "{\"command\": \"cargo test\"}"])), 0);
}

#[test]
fn options_before_hook_and_slips_there_never_open_the_gate() {
    let world = World::new("before-hook");
    world.file("repo/agent.policy", "policy \"p\" language 1\nguard g on bash { deny run `rm` }\n");
    let home = world.0.join("home").display().to_string();
    let words: [&[&str]; 4] = [
        &["-q", "hook", "--host", "claude-code"],
        &["hook", "--host", "claude-code", "-v", "--format", "json"],
        &["--format=plain", "hook", "--host", "claude-code"],
        &["--bogus=1", "hook", "--host", "claude-code"],
    ];
    for words in words {
        let words: Vec<&str> = ["--home", &home].into_iter().chain(words.iter().copied()).collect();
        let mut child = world.command(&words).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&world.event("rm x")).unwrap();
        let output = child.wait_with_output().unwrap();
        let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{words:?}");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
    }
}

#[test]
fn a_folder_without_policies_is_bad_usage() {
    let world = World::new("no-policies");
    for command in ["test", "fmt"] {
        assert_eq!(world.run(&[command, "."]).status.code(), Some(64), "{command}");
    }
}

#[test]
fn the_audit_takes_only_days() {
    let world = World::new("audit-day");
    assert_eq!(world.run(&["audit", "--since", "yesterday"]).status.code(), Some(64));
    assert_eq!(world.run(&["audit", "--since", "2027-01-31"]).status.code(), Some(0));
}

#[test]
fn a_shell_text_is_read_as_the_shell_that_is_named() {
    let world = World::new("cli-dialect");
    let said = |words: &[&str]| {
        let output = world.run(&[&["shell"], words].concat());
        (code(&output), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let text = "ri ^x & del y";
    assert_eq!(said(&[text]).1, "ri ^x\ndel y\n");
    assert_eq!(said(&["--dialect", "bash", text]).1, said(&[text]).1);
    assert!(said(&["--dialect", "cmd", text]).1.starts_with("ri x\n"));
    assert!(
        said(&["--dialect", "powershell", "ri x; gci y"]).1.starts_with("Remove-Item x\nGet-ChildItem y\n")
    );
    assert_eq!((said(&["path=x; ls"]).0, said(&["--dialect", "zsh", "path=x; ls"]).0), (0, 1));
    assert_eq!((said(&["x=(a); ls"]).0, said(&["--dialect", "posix", "x=(a); ls"]).0), (0, 1));
    assert_eq!(said(&["--dialect", "fish", "ls"]).0, 64);
}

#[test]
fn what_is_printed_ends_its_line_and_help_lists_what_does_something() {
    let world = World::new("cli-lines");
    for words in [
        &["explain"][..],
        &["explain", "bash", "{\"command\": \"ls\"}"],
        &["explain", "bash", "{\"command\": \"rm -rf /; python3 -c 'import foo; foo.bar()'\"}"],
        &["explain", "--format", "json", "bash", "{\"command\": \"rm -rf /\"}"],
        &["shell", "ls"],
        &["check", "bash", "{\"command\": \"ls\"}"],
    ] {
        let output = world.run(words);
        assert!(output.stdout.ends_with(b"\n") && !output.stdout.ends_with(b"\n\n"), "{words:?}");
    }
    let partly = world.run(&["explain", "bash", "{\"command\": \"python3 -c 'import foo; foo.bar()'\"}"]);
    assert!(String::from_utf8_lossy(&partly.stdout).contains("its code is not wholly understood"));
    let [hook, check] = ["hook", "check"].map(|name| world.help(name));
    for option in ["--format", "--quiet", "--verbose"] {
        assert!(!hook.contains(option), "{option}");
        assert!(check.contains(option), "{option}");
    }
}

#[test]
fn the_page_of_hosts_registers_the_hook_as_print_does() {
    let page = include_str!("../docs/hosts.md");
    let entry = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let entry: Value = serde_json::from_str(entry).unwrap();
    let host = policy_hosts::host("claude-code").unwrap();
    let settings: Value =
        serde_json::from_str(&host.settings("/usr/local/bin/policy").unwrap().text).unwrap();
    assert_eq!(entry["hooks"]["PreToolUse"], settings["hooks"]["PreToolUse"]);
    let world = World::new("hook-help");
    assert!(world.help("hook").contains("policy hook --print claude-code"));
}
