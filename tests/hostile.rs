//! The binary where everything around it is broken: words, outputs, limits, inputs.
//!
//! INVARIANT: what fails ends in the host's refusal with its cause, in time, and never by a signal.

use crate::support::{World, feed};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const EVENT: &str = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"git status"}}"#;

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn denied(output: &Output, cause: &str) {
    let said = out(output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(said.contains("\"permissionDecision\":\"deny\"") && said.contains(cause), "{said}");
}

#[test]
fn wrong_words_of_a_hook_refuse() {
    let world = World::new("hostile-words");
    let hook =
        |words: &[&str]| world.run(&[&["hook", "--host", "claude-code"], words].concat(), EVENT.as_bytes());
    denied(&hook(&["--policy", "/a", "--policy", "/b"]), "`--policy` is given twice");
    denied(&hook(&["--state", ""]), "`--state` cannot be used");
    denied(&hook(&["--policy"]), "`--policy` needs a value");
    denied(&hook(&["--nonsense", "x"]), "`--nonsense` is not known");
    let second = world.run(&["hook", "--host", "claude-code", "--host", "generic"], EVENT.as_bytes());
    denied(&second, "`--host` is given twice");
    // Help would be no answer.
    assert!(out(&hook(&["--as", "-h"])).contains("permissionDecision"));
}

#[test]
fn a_name_that_is_no_text_is_that_file() {
    let world = World::new("hostile-names");
    let folder = world.path("").join(OsStr::from_bytes(b"odd\xff"));
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("x.policy");
    std::fs::write(&file, "policy \"p\" language 1\ndefault deny\n").unwrap();
    let policy = [b"--policy=", file.as_os_str().as_bytes()].concat();
    // With a table in the cache the hook is in time whatever else this machine does: `check` waits for the compiler.
    let mut warm = world.command(&["check", "bash", r#"{"command": "git status"}"#]);
    assert_eq!(feed(warm.arg(OsStr::from_bytes(&policy)), b"").status.code(), Some(2));
    let mut command = world.command(&["hook", "--host", "claude-code"]);
    command.arg(OsStr::from_bytes(&policy));
    denied(&feed(&mut command, EVENT.as_bytes()), "the default is deny");
}

#[test]
fn a_limit_on_files_is_a_cause_and_no_signal() {
    let world = World::new("hostile-limit");
    // With a table in the cache the hook is in time whatever else this machine does: `check` waits for the compiler.
    let warm = world.run(&["check", "bash", r#"{"command": "git status"}"#], b"");
    assert_eq!(warm.status.code(), Some(0), "{warm:?}");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 0; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_policy"), "hook"]);
    command.args(["--host", "claude-code", "--home", &world.word("home")]).current_dir(world.path("repo"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = feed(&mut command, EVENT.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(out(&output).contains("0 bytes this process may write"), "{output:?}");
}

#[test]
fn outputs_that_nobody_reads_hold_nothing_up() {
    let world = World::new("hostile-outputs");
    let start = Instant::now();
    for stream in ["1", "2"] {
        let file = world.path("answer");
        let script = format!(
            "exec 4>\"$0\"; {{ head -c 65536 /dev/zero >&9; \"$@\" {stream}>&9 {other}>&4; echo $? >&5; }} 9>&1 | sleep 4",
            other = if stream == "1" { "2" } else { "1" },
        );
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec 5>\"{}\"; {script}", world.word("code"))]);
        command.arg(&file).args([
            env!("CARGO_BIN_EXE_policy"),
            "hook",
            "--host",
            "claude-code",
            "--bad",
            "x",
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(EVENT.as_bytes()).unwrap();
        child.wait().unwrap();
        assert_eq!(std::fs::read_to_string(world.path("code")).unwrap().trim(), "2", "{stream}");
        let answer = std::fs::read_to_string(&file).unwrap();
        assert!(stream == "1" || answer.contains("\"deny\""), "{answer}");
    }
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn arguments_with_a_key_twice_have_no_answer_but_no() {
    let world = World::new("hostile-twice");
    let twice = r#"{"command": "rm -rf /", "command": "git status"}"#;
    assert_eq!(world.run(&["check", "bash", twice], b"").status.code(), Some(64));
    let lines = format!(
        "{{\"id\":1,\"tool\":\"bash\",\"arguments\":{twice}}}\nnonsense\n{{\"id\":3,\"tool\":\"bash\",\"arguments\":{{\"command\":\"git status\"}}}}\n"
    );
    let said = out(&world.run(&["check", "--batch"], lines.as_bytes()));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(lines[0].contains("\"deny\"") && lines[0].contains("twice"), "{said}");
    assert!(lines[1].contains("\"deny\"") && lines[2].contains("\"id\":3,\"decision\":\"allow\""), "{said}");
}

#[test]
fn a_slow_policy_is_the_cause_that_is_named() {
    let world = World::new("hostile-slow");
    let many = "guard g {\n".to_owned() + &"  deny path \"a\"\n".repeat(200_000) + "}\n";
    world.file("repo/agent.policy", format!("policy \"p\" language 1\n{many}"));
    let start = Instant::now();
    denied(&world.run(&["hook", "--host", "claude-code"], EVENT.as_bytes()), "polic");
    assert!(start.elapsed() < Duration::from_secs(4));
}

/// A match may be longer than it is followed: what is there is not known, and nothing is allowed for it.
#[test]
fn a_text_that_is_not_followed_to_its_end_is_asked() {
    let world = World::new("hostile-long-match");
    let long = "a".repeat(3000);
    let expect = |decision: &str, content: &str| {
        format!("  expect {decision} write_file {{ path: \"a\", content: \"{content}\" }}\n")
    };
    let expects = [
        expect("deny", "tok_abc.end"),
        expect("allow", "tok_abc.en"),
        expect("allow", &long),
        expect("ask", &format!("tok_{long}.end")),
    ];
    let text = format!(
        "policy \"p\" language 1\n\ndefault allow\n\nguard g on \"*\" {{\n  deny content r\"tok_[a-z]+\\.end\"\n\n{}}}\n",
        expects.concat()
    );
    let file = world.file("p.policy", text).display().to_string();
    let output = world.run(&["test", &file], b"");
    assert!(output.status.success() && out(&output).contains("4 held"), "{output:?}");
}
