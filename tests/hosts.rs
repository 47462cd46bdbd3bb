//! What each host is answered: real events, and everything that can be wrong with an event or a policy.
//!
//! INVARIANT: whatever is wrong, the answer refuses and says what is wrong; no environment variable changes an answer.

use crate::support::{World, feed, files, root, snapshot};
use policy_runtime::table::layout;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::Output;

/// A world with the policy that answers, already compiled: the first compile of a build without optimizations could
/// pass the hook's deadline on a slow machine.
fn world(name: &str) -> (World, String) {
    let world = World::new(name);
    let text = std::fs::read_to_string(root().join("policies/examples/shop.policy")).unwrap();
    let policy = world.file("shop.policy", text).display().to_string();
    warm(&world, &policy);
    (world, policy)
}

fn warm(world: &World, policy: &str) {
    let output = world.run(&["check", "Bash", "{\"command\": \"ls\"}", "--policy", policy], b"");
    assert!(output.status.code().is_some_and(|code| code < 4), "{output:?}");
}

/// An event of a file, moved into this world.
fn moved(world: &World, text: &str) -> String {
    text.replace("/home/dev/project", &world.word("repo")).replace("/home/dev", &world.word("home"))
}

fn bash(world: &World, command: &str) -> Vec<u8> {
    // The folder stands last, so that its length moves no column of a message.
    let event = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash",
                       "tool_input": {"command": command}, "cwd": world.path("repo")});
    event.to_string().into_bytes()
}

/// Exit code, reply and complaint of a run, the same on every machine.
fn shown(world: &World, output: &Output) -> String {
    let mut out = format!("exit {}\n", output.status.code().unwrap_or(-1));
    let reply = String::from_utf8(output.stdout.clone()).unwrap();
    match serde_json::from_str::<Value>(&reply) {
        Ok(value) => {
            let _ = writeln!(out, "{}", serde_json::to_string_pretty(&value).unwrap());
        }
        Err(_) if reply.is_empty() => out.push_str("(no opinion: nothing is printed)\n"),
        Err(_) => panic!("half a reply: {reply}"),
    }
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        let _ = writeln!(out, "stderr: {line}");
    }
    world.plain(&out)
}

/// Whether a reply refuses in words or codes that the host enforces.
fn refuses(output: &Output) -> bool {
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let inner = &reply["hookSpecificOutput"];
    let words = [
        &inner["permissionDecision"],
        &inner["decision"]["behavior"],
        &reply["decision"],
        &reply["permission"],
    ];
    let denies = words.into_iter().any(|word| ["deny", "block"].contains(&word.as_str().unwrap_or_default()));
    (denies && output.status.code() == Some(0)) || output.status.code() == Some(2)
}

fn allows(output: &Output) -> bool {
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let word = &reply["hookSpecificOutput"]["permissionDecision"];
    output.status.code() == Some(0) && (reply.is_null() || word == "allow" || reply["decision"] == "allow")
}

#[test]
fn every_event_of_every_host_is_answered() {
    for host in policy_hosts::HOSTS.iter().map(|host| host.name()) {
        let (world, policy) = world(&format!("events-{host}"));
        for (name, text) in files(&format!("tests/hosts/{host}"), ".json") {
            let event = moved(&world, &text);
            let output = world.run(&["hook", "--host", host, "--policy", &policy], event.as_bytes());
            snapshot(&format!("hosts-{host}"), name.trim_end_matches(".json"), &shown(&world, &output));
        }
    }
}

/// A name, further words and the bytes on standard input.
type Wrong = (&'static str, Vec<String>, Vec<u8>);

fn wrong_events(world: &World, policy: &str) -> Vec<Wrong> {
    let with = |bytes: &[u8]| (vec!["--policy".to_owned(), policy.to_owned()], bytes.to_vec());
    let event = String::from_utf8(bash(world, "npm test")).unwrap();
    let said = |text: &str, bytes: &str| event.replace(text, bytes).into_bytes();
    let cases: [(&'static str, Vec<u8>); 16] = [
        ("nothing", Vec::new()),
        ("blanks", b"  \n\t ".to_vec()),
        ("not JSON", b"allow".to_vec()),
        ("a list", b"[]".to_vec()),
        ("a text", b"\"PreToolUse\"".to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("JSON cut in half", event.as_bytes()[..event.len() / 2].to_vec()),
        ("JSON without its last byte", event.as_bytes()[..event.len() - 1].to_vec()),
        ("a key twice", said("\"tool_name\":\"Bash\"", "\"tool_name\":\"Bash\",\"tool_name\":\"Read\"")),
        (
            "invalid UTF-8",
            [&b"{\"hook_event_name\":\"PreToolUse\",\"x\":\""[..], &[0xff, 0xfe], b"\"}"].concat(),
        ),
        ("a tool that is a number", said("\"Bash\"", "7")),
        ("no tool", said("\"tool_name\":\"Bash\",", "")),
        ("arguments that are a text", said("{\"command\":\"npm test\"}", "\"npm test\"")),
        ("a folder that is a list", said(&format!("\"{}\"", world.word("repo")), "[]")),
        ("another spelling of the event", said("PreToolUse", "preToolUse")),
        (
            "arguments that are too deep",
            said("\"npm test\"", &format!("{}{}", "[".repeat(5000), "]".repeat(5000))),
        ),
    ];
    cases.into_iter().map(|(name, bytes)| (name, with(&bytes).0, bytes)).collect()
}

fn wrong_policies(world: &World) -> Vec<Wrong> {
    let whole =
        world.file("p.policy", "policy \"p\" language 1\n\nrule r on Bash {\n  allow run `npm test`\n}\n");
    let table = world.path("p.table");
    let output =
        world.run(&["compile", &whole.display().to_string(), "-o", &table.display().to_string()], b"");
    assert!(output.status.success(), "{output:?}");
    let bytes = std::fs::read(&table).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 0x10;
    let mut future = bytes.clone();
    future[layout::at::READER..][..2].copy_from_slice(&(layout::FORMAT + 1).to_le_bytes());
    policy_runtime::table::seal(&mut future);
    world.file("cut.table", &bytes[..bytes.len() * 2 / 3]);
    world.file("flipped.table", flipped);
    world.file("future.table", future);
    std::os::unix::fs::symlink(&whole, world.path("link.policy")).unwrap();
    std::fs::create_dir(world.path("folder.policy")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(world.path("fifo.policy")).status().unwrap().success());
    let open = world.file("open.policy", "policy \"open\" language 1\ndefault allow\n");
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    world.file("broken.policy", "policy \"b\" language 1\n\nrule r on Bash {\n  block run `npm test`\n}\n");
    world.file("unmet.policy", "policy \"u\" language 1\n\nrule r on Bash {\n  allow run `npm test`\n\n  expect deny Bash \"npm test\"\n}\n");
    world.file("empty.policy", "");
    world.file("bytes.policy", [0xff, 0xfe, 0]);
    world.file("broken.yml", "default: allow\nrules:\n  - tool: [Bash\n");
    world.file("user.policy", "policy \"u\" language 1\nuse \"./gone.policy\"\ndefault allow\n");
    let event = bash(world, "npm test");
    let named = |name: &str| vec!["--policy".to_owned(), world.word(name)];
    let cases = [
        ("no such policy", "gone.policy"),
        ("a folder", "folder.policy"),
        ("a FIFO", "fifo.policy"),
        ("a link", "link.policy"),
        ("a policy that anybody can write", "open.policy"),
        ("a wrong word in line 4", "broken.policy"),
        ("a test that is not met", "unmet.policy"),
        ("an empty policy", "empty.policy"),
        ("bytes that are no text", "bytes.policy"),
        ("broken YAML", "broken.yml"),
        ("a used file that is gone", "user.policy"),
        ("a table that was cut", "cut.table"),
        ("a table with a flipped bit", "flipped.table"),
        ("a table of another version", "future.table"),
    ];
    cases.into_iter().map(|(name, file)| (name, named(file), event.clone())).collect()
}

fn wrong_words(world: &World) -> Vec<Wrong> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let event = bash(world, "npm test");
    [
        ("an unknown option", words(&["--nonsense", "x"])),
        ("an option without its value", words(&["--policy"])),
        ("a word too many", words(&["more"])),
    ]
    .into_iter()
    .map(|(name, words)| (name, words, event.clone()))
    .collect()
}

#[test]
fn whatever_is_wrong_refuses() {
    let (world, policy) = world("wrong");
    let cases = [wrong_events(&world, &policy), wrong_policies(&world), wrong_words(&world)].concat();
    for host in policy_hosts::HOSTS.iter().map(|host| host.name()) {
        let mut out = String::new();
        for (name, words, event) in &cases {
            let words: Vec<&str> =
                ["hook", "--host", host].into_iter().chain(words.iter().map(String::as_str)).collect();
            let event = spelled(event, host, name);
            let output = world.run(&words, &event);
            // An event of another spelling is an event that the generic host knows.
            if host != "generic" || *name != "another spelling of the event" {
                assert!(refuses(&output), "{host}, {name}: {output:?}");
            }
            let _ = writeln!(out, "## {name}\n{}", shown(&world, &output));
        }
        snapshot("hosts-refused", host, &out);
    }
    for words in [&["hook"][..], &["hook", "--host", "emacs"], &["hook", "--host"]] {
        let output = world.run(words, &bash(&world, "npm test"));
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{output:?}");
    }
}

/// The event in the words of a host; the one in another spelling in a spelling that it does not have.
fn spelled(event: &[u8], host: &str, name: &str) -> Vec<u8> {
    let (from, to) = match host {
        "generic" => ("hook_event_name", "event"),
        "cursor" if name == "another spelling of the event" => ("preToolUse", "PreToolUse"),
        "cursor" => ("PreToolUse", "preToolUse"),
        "gemini" => ("PreToolUse", "BeforeTool"),
        _ => return event.to_vec(),
    };
    match std::str::from_utf8(event) {
        Ok(text) => text.replace(from, to).into_bytes(),
        Err(_) => event.to_vec(),
    }
}

#[test]
fn an_unknown_tool_and_eight_megabytes_are_no_grant() {
    let (world, policy) = world("big");
    let words = ["hook", "--host", "claude-code", "--policy", &policy];
    let event = |tool: &str, argument: Value| {
        let event = json!({"session_id": "s", "cwd": world.path("repo"), "hook_event_name": "PreToolUse",
                           "tool_name": tool, "tool_input": argument});
        event.to_string().into_bytes()
    };
    let long = "a ".repeat(4 << 20);
    for input in [
        event("never_heard_of_it", json!({"path": "x"})),
        event("Bash", json!({ "command": format!("npm test {long}") })),
        event("Bash", json!({ "command": format!("npm test{}", " ".repeat(8 << 20)) })),
        event("Bash", json!({ "command": "npm test; ".repeat(800_000) })),
        event("Read", json!({ "file_path": long })),
        event("never_heard_of_it", json!({ "many": vec!["./x"; 100_000] })),
    ] {
        let output = world.run(&words, &input);
        assert!(!allows(&output), "{output:?}");
    }
    let endless = vec![b'['; 100 << 20];
    assert!(refuses(&world.run(&words, &endless)));
    let mut endless = b"{\"hook_event_name\": \"PreToolUse\", \"x\": \"".to_vec();
    endless.resize(100 << 20, b'x');
    assert!(refuses(&world.run(&words, &endless)));
}

#[test]
fn no_environment_changes_an_answer() {
    let (world, policy) = world("environment");
    let events =
        [bash(&world, "npm test"), bash(&world, "git push --force"), bash(&world, "cat ~/.ssh/id_rsa")];
    let answer = |set: &[(&str, &str)], clear: bool, event: &[u8]| {
        let mut command = world.command(&["hook", "--host", "claude-code", "--policy", &policy]);
        if clear {
            command.env_clear();
        }
        command.envs(set.iter().copied());
        let output = feed(&mut command, event);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let hostile: [&[(&str, &str)]; 22] = [
        &[("HOME", "/nowhere")],
        &[("HOME", "")],
        &[
            ("XDG_CONFIG_HOME", "/tmp"),
            ("XDG_CACHE_HOME", "/tmp"),
            ("XDG_STATE_HOME", "/tmp"),
            ("XDG_DATA_HOME", "/tmp"),
        ],
        &[
            ("POLICY_MODE", "observe"),
            ("POLICY_FILE", "/dev/null"),
            ("POLICY", "off"),
            ("POLICY_DISABLE", "1"),
        ],
        &[("POLICY_HOME", "/tmp"), ("POLICY_CONFIG", "/tmp"), ("POLICY_STATE", "/tmp")],
        &[("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8")],
        &[("RUST_BACKTRACE", "full"), ("RUST_LIB_BACKTRACE", "1")],
        &[("RUST_LOG", "trace")],
        &[("RUST_MIN_STACK", "1")],
        &[("RUST_MIN_STACK", "1152921504606846976")],
        &[("TZ", "Pacific/Kiritimati")],
        &[("TZ", ":/etc/passwd")],
        &[("PATH", "")],
        &[("PATH", "/nowhere"), ("SHELL", "/bin/false"), ("ENV", "/nowhere"), ("BASH_ENV", "/nowhere")],
        &[("TMPDIR", "/nowhere"), ("TMP", "/nowhere"), ("TEMP", "/nowhere")],
        &[("PWD", "/"), ("OLDPWD", "/"), ("CDPATH", "/")],
        &[("USER", "nobody"), ("LOGNAME", "nobody"), ("USERNAME", "nobody"), ("SUDO_USER", "nobody")],
        &[("GIT_DIR", "/nowhere"), ("GIT_WORK_TREE", "/"), ("GIT_CEILING_DIRECTORIES", "/")],
        &[("CLAUDE_PROJECT_DIR", "/"), ("CLAUDE_CONFIG_DIR", "/tmp"), ("CLAUDE_ENV_FILE", "/nowhere")],
        &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"), ("TERM", "dumb"), ("COLUMNS", "3")],
        &[("MALLOC_PERTURB_", "85"), ("MALLOC_ARENA_MAX", "1")],
        &[("CARGO_MANIFEST_DIR", "/nowhere"), ("INSTA_UPDATE", "always"), ("SOURCE_DATE_EPOCH", "0")],
    ];
    for event in &events {
        let usual = answer(&[], false, event);
        assert_eq!(answer(&[], true, event), usual, "an empty environment");
        for set in hostile {
            assert_eq!(answer(set, false, event), usual, "{set:?}");
        }
    }
}

#[test]
fn every_host_prints_the_settings_that_register_it() {
    let world = World::new("print");
    for host in policy_hosts::HOSTS {
        let output = world.bare(&["hook", "--print", host.name()]);
        let Some(settings) = host.settings(env!("CARGO_BIN_EXE_policy")) else {
            assert_eq!((output.status.code(), output.stdout.len()), (Some(64), 0));
            continue;
        };
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), settings.text.as_bytes()));
        let text = settings.text.replace(env!("CARGO_BIN_EXE_policy"), "/usr/local/bin/policy");
        snapshot("hosts-settings", host.name(), &format!("{}\n{text}{}\n", settings.file, settings.note));
    }
    // Never while a host waits for an answer.
    let both = world.run(&["hook", "--print", "codex", "--host", "codex"], &bash(&world, "ls"));
    assert!(refuses(&both), "{both:?}");
}
