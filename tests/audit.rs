//! The audit from outside: sealed by the hook, verified, counted, compared with transcripts.
//!
//! INVARIANT: a journal of the machine is never asked here, except to find that it knows nothing of these logs.

use crate::support::World;
use serde_json::{Value, json};
use std::path::Path;

const POLICY: &str = "policy \"t\" language 1\n\ndefault allow\n";

/// A world with a log of these commands, as the hook of Claude Code writes it.
fn logged(name: &str, commands: &[&str]) -> (World, String) {
    let world = World::new(name);
    let policy = world.file("t.policy", POLICY).display().to_string();
    let log = world.word("log/audit.jsonl");
    std::fs::create_dir_all(world.path("log")).unwrap();
    // `check` waits for the compiler, and the hook is in time on a busy machine too.
    world.run(&["check", "Bash", "{\"command\": \"true\"}", "--policy", &policy], b"");
    for command in commands {
        let event = json!({
            "session_id": "s1", "hook_event_name": "PreToolUse", "cwd": world.path("").display().to_string(),
            "tool_name": "Bash", "tool_input": {"command": command},
        });
        let words = ["hook", "--host", "claude-code", "--policy", &policy, "--audit", &log];
        let output = world.run(&words, event.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap_or_default().lines().count(), commands.len());
    (world, log)
}

fn said(world: &World, words: &[&str], code: i32) -> String {
    let output = world.run(words, b"");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn rows(log: &str) -> Vec<Value> {
    std::fs::read_to_string(log).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// An entry as `journalctl -o json` writes it.
fn entry(row: &Value, log: &str, user: u32) -> String {
    let message =
        format!("audit anchor: sequence {}, hash {}, log {log}", row["seq"], row["hash"].as_str().unwrap());
    json!({"MESSAGE": message, "_UID": user.to_string()}).to_string() + "\n"
}

fn owner(log: &str) -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(Path::new(log)).unwrap().uid()
}

#[test]
fn what_the_hook_writes_is_verified() {
    let (world, log) = logged("audit-verify", &["true", "echo 2", "echo 3"]);
    let text = said(&world, &["audit", "verify", &log], 0);
    assert!(text.starts_with("the chain holds from sequence 1 to 3"), "{text}");
    assert!(text.contains("the end is not anchored"), "{text}");
    let rows = rows(&log);
    let anchors = world.file("journal.json", entry(&rows[1], &log, owner(&log))).display().to_string();
    let text = said(&world, &["audit", "verify", &log, "--anchors", &anchors], 0);
    assert!(text.contains("anchored up to sequence 2") && text.contains("1 lines behind it"), "{text}");
    let out = said(&world, &["audit", "verify", &log, "--anchors", &anchors, "--format", "json"], 0);
    let out: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&out["holds"], &out["last"], &out["anchored"]), (&json!(true), &json!(3), &json!(2)));

    // Changed, cut off, removed.
    let good = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, good.replacen("echo 2", "echo 9", 1)).unwrap();
    let text = said(&world, &["audit", "verify", &log], 1);
    assert!(text.contains("audit.jsonl:2: (sequence 2) was changed"), "{text}");
    assert!(text.contains("the first bad line is line 2"), "{text}");
    std::fs::write(&log, good.lines().take(1).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let text = said(&world, &["audit", "verify", &log, "--anchors", &anchors], 1);
    assert!(text.contains("cut off, since sequence 2 is anchored"), "{text}");
    std::fs::remove_file(&log).unwrap();
    let output = world.run(&["audit", "verify", &log], b"");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn a_checkpoint_is_signed_and_proved() {
    let (world, log) = logged("audit-sign", &["true"]);
    let key = world.word("sign.key");
    let public = said(&world, &["audit", "key", "--new", "--file", &key], 0);
    assert_eq!(public.trim().len(), 64);
    assert!(!public.contains(std::fs::read_to_string(&key).unwrap().trim()));
    assert_eq!(said(&world, &["audit", "key", "--file", &key], 0), public);
    assert_eq!(world.run(&["audit", "key", "--new", "--file", &key], b"").status.code(), Some(64));
    said(&world, &["audit", "sign", &log, "--key", &key], 0);
    said(&world, &["audit", "sign", &log, "--key", &key], 0);
    assert_eq!(rows(&log).len(), 2, "nothing new, nothing signed");
    let text = said(&world, &["audit", "verify", &log, "--key", public.trim()], 0);
    assert!(text.ends_with("signed up to sequence 1\n"), "{text}");
    let text = said(&world, &["audit", "verify", &log], 0);
    assert!(text.contains("nobody vouches"), "{text}");
    let text = said(&world, &["audit", "verify", &log, "--key", &"0".repeat(64)], 1);
    assert!(text.contains("signature is not good"), "{text}");
    let text = said(&world, &["audit", "--file", &log], 0);
    assert!(text.contains("  checkpoint: signs up to sequence 1\n"), "{text}");
    let text = said(&world, &["audit", "--file", &log, "--summary"], 0);
    assert!(text.contains("  checkpoint\n") && !text.contains("(none)"), "{text}");
    let good = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, good.replacen("true", "fals", 1)).unwrap();
    assert_eq!(world.run(&["audit", "sign", &log, "--key", &key], b"").status.code(), Some(1));
}

#[test]
fn equal_masked_values_are_matched() {
    let (world, log) = logged("audit-masked", &["a --token=one", "b --token=two", "API_KEY=one c", "d"]);
    let rows = rows(&log);
    assert_eq!(rows[0]["masked"], rows[2]["masked"]);
    assert_ne!(rows[0]["masked"], rows[1]["masked"]);
    assert!(rows[3].get("masked").is_none());
    let out = said(&world, &["audit", "--file", &log, "--masked", "one", "--format", "json"], 0);
    assert_eq!(out.lines().count(), 2, "{out}");
    let output = world.run(&["audit", "--file", &log, "--masked", "-", "--format", "json"], b"two\n");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
}

#[test]
fn the_log_is_counted_and_filtered() {
    let (world, log) = logged("audit-summary", &["true", "false"]);
    let out = said(&world, &["audit", "--file", &log, "--summary", "--format", "json"], 0);
    let out: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&out["lines"], &out["decision"]["allow"], &out["tool"]["Bash"]),
        (&json!(2), &json!(2), &json!(2))
    );
    assert_eq!(out["session"]["s1"], 2);
    let text = said(&world, &["audit", "--file", &log, "--summary"], 0);
    assert!(text.starts_with("2 lines, ") && text.contains("\ntool\n       2  Bash\n"), "{text}");
    assert_eq!(said(&world, &["audit", "--file", &log, "--until", "2020-01-01"], 0), "");
    assert_ne!(said(&world, &["audit", "--file", &log, "--until", "2999-01-01"], 0), "");
    let count = |words: &[&str]| {
        let out = said(&world, &[&["audit", "--file", &log, "--format", "json"], words].concat(), 0);
        // As they are: each a line of the log.
        assert!(out.lines().all(|line| std::fs::read_to_string(&log).unwrap().contains(line)), "{out}");
        out.lines().count()
    };
    let time = rows(&log)[0]["time"].as_str().unwrap().to_owned();
    for (length, least) in [(19, 1), (16, 1), (13, 1), (10, 1)] {
        let moment = time.get(..length).unwrap();
        assert_eq!(count(&["--since", moment]), 2, "{moment}");
        assert!(count(&["--until", moment]) >= least, "{moment}");
        assert!(count(&["--since", &format!("{moment}Z"), "--until", moment]) >= least, "{moment}");
    }
    assert_eq!(count(&["--since", "2999-01-01T00:00"]), 0);
    for wrong in
        ["2026", "2026-1-1", "2026-12-01T1", "2026-12-01 10:00", "yesterday", "2026-12-01T10:00:00.5Z"]
    {
        let output = world.run(&["audit", "--file", &log, "--since", wrong], b"");
        assert_eq!(output.status.code(), Some(64), "{wrong}");
    }
    assert_eq!((count(&["--tool", "bash"]), count(&["--tool", "Read"])), (2, 0));
    assert_eq!((count(&["--decision", "allow"]), count(&["--decision", "deny"])), (2, 0));
    assert_eq!((count(&["--rule", "default"]), count(&["--rule", "x"])), (2, 0));
    assert_eq!((count(&["--session", "s1"]), count(&["--session", "s"])), (2, 0));
    assert_eq!((count(&["--last", "1"]), count(&["--last", "9"])), (1, 2));
    assert_eq!(said(&world, &["audit", "--file", &log, "--server", "github"], 0), "");
}

#[test]
fn calls_without_a_line_are_found() {
    let (world, log) = logged("audit-gaps", &["true", "echo 2"]);
    let call = |id: &str, time: &str, session: &str, command: &str| {
        json!({"type": "assistant", "sessionId": session, "timestamp": time, "message": {"content": [
            {"type": "text", "text": "x"},
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}},
        ]}})
        .to_string()
    };
    let late = "2999-01-01T00:00:00.000Z";
    let good =
        [call("1", late, "s1", "true"), call("2", late, "s1", "echo 2"), call("2", late, "s1", "echo 2")];
    let bad = [
        "no JSON".to_owned(),
        call("3", "2000-01-01T00:00:00.000Z", "s1", "old"),
        call("4", late, "s1", "rm -rf x"),
        call("5", late, "s2", "true"),
    ];
    let first = world.file("t/one.jsonl", good.join("\n")).display().to_string();
    assert_eq!(said(&world, &["audit", "gaps", &first, "--file", &log], 0), "");
    world.file("t/two.jsonl", bad.join("\n"));
    let text = said(&world, &["audit", "gaps", &world.word("t"), "--file", &log], 1);
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(
        text.contains("two.jsonl:3: ") && text.contains("rm -rf x") && text.contains("(session s2)"),
        "{text}"
    );
}

/// `tests/audit/claude-code*.jsonl` and `codex-*.jsonl` are what Claude Code 2.1.332 and Codex 0.171.0 wrote of scripted sessions, without
/// what is no call: the hook was registered, and these are the calls that it heard of.
#[test]
fn transcripts_of_real_hosts_are_compared() {
    let world = World::new("audit-real");
    let policy = world.file("t.policy", POLICY).display().to_string();
    let log = world.word("log/audit.jsonl");
    std::fs::create_dir_all(world.path("log")).unwrap();
    world.run(&["check", "Bash", "{\"command\": \"true\"}", "--policy", &policy], b"");
    let transcript = |name: &str| {
        let text = std::fs::read_to_string(crate::support::root().join("tests/audit").join(name)).unwrap();
        // Behind the first line of the log, whenever this test runs.
        world.file(&format!("t/{name}"), text.replace("\"2026-12-01T", "\"2999-12-01T")).display().to_string()
    };
    let hook = |host: &str, session: &str, tool: &str, input: Value| {
        let event = json!({
            "session_id": session, "hook_event_name": "PreToolUse", "cwd": world.word("repo"), "tool_name": tool, "tool_input": input,
        });
        let words = ["hook", "--host", host, "--policy", &policy, "--audit", &log];
        let output = world.run(&words, event.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    };
    let gaps = |files: &[&str], code: i32| {
        let output = world.run(&[&["audit", "gaps", "--file", &log], files].concat(), b"");
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    hook("codex", "another", "Bash", json!({"command": "true"}));

    let session = |name: &str| -> String {
        let text = std::fs::read_to_string(world.path(&format!("t/{name}"))).unwrap();
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let told = first["payload"].get("id").or(first.get("sessionId")).unwrap();
        told.as_str().unwrap().to_owned()
    };
    let patch = "*** Begin Patch\n*** Add File: ran.txt\n+hello\n*** End Patch\n";
    for (name, tool, input) in [
        ("codex-touch.jsonl", "Bash", json!({"command": "touch ran.txt"})),
        ("codex-mcp.jsonl", "mcp__demo__echo", json!({"text": "hi"})),
        ("codex-patch.jsonl", "apply_patch", json!({"command": patch})),
    ] {
        let file = transcript(name);
        let text = gaps(&[&file], 1);
        assert!(
            text.contains(&format!("  {tool}  ")) && text.contains("1 of 1 calls have no line"),
            "{text}"
        );
        hook("codex", &session(name), tool, input);
        assert!(gaps(&[&file], 0).contains("0 of 1 calls have no line"));
    }

    let (main, sub) = (transcript("claude-code.jsonl"), transcript("claude-code-subagent.jsonl"));
    let own = session("claude-code.jsonl");
    assert_eq!(own, session("claude-code-subagent.jsonl"), "a subagent is of its session");
    assert!(gaps(&[&main, &sub], 1).contains("2 of 2 calls have no line"));
    let task = json!({"description": "Do it", "prompt": "SUBTASK-ONE: make the file", "subagent_type": "general-purpose", "run_in_background": false});
    hook("claude-code", &own, "Agent", task);
    let text = gaps(&[&main, &sub], 1);
    assert!(text.contains("  Bash  {\"command\":\"touch ran.txt\"") && text.contains("1 of 2"), "{text}");
    hook("claude-code", &own, "Bash", json!({"command": "touch ran.txt", "description": "Make a file"}));
    assert!(gaps(&[&main, &sub], 0).contains("0 of 2 calls have no line"));

    // What the host refused by itself no hook heard of, and it was not made.
    let tools = transcript("claude-code-tools.jsonl");
    let text = gaps(&[&tools], 1);
    assert!(
        text.contains("of 16 calls have no line") && text.contains("8 calls without a line were not made"),
        "{text}"
    );
    assert!(!text.contains("MultiEdit") && text.contains("  WebSearch  "), "{text}");
}

/// Forms of secrets in every place of a call; the value is the same, so its name is.
#[test]
fn secrets_are_masked_wherever_they_stand() {
    let (world, log) = logged("audit-secrets", &[]);
    let policy = world.file(
        "g.policy",
        "policy \"g\" language 1\n\ndefault allow\n\nguard held {\n  because \"no token=VALUE-IN-REASON here\"\n  deny arg note \"*held*\"\n}\n",
    );
    let policy = policy.display().to_string();
    world.run(&["check", "Bash", "{\"command\": \"true\"}", "--policy", &policy], b"");
    let secret = "Zq81".to_owned() + "hunter2value77";
    let provider = "ghp_".to_owned() + "Zq81hunter2value77Zq81hunter2value77";
    let pem = format!("-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE{secret}\n-----END EC PRIVATE KEY-----");
    let mut deep = json!({"headers": [{"Authorization": format!("Bearer {secret}")}]});
    for _ in 0..40 {
        deep = json!({"in": [deep]});
    }
    let forms = [
        format!("curl -H 'Authorization: Bearer {secret}' https://h.test"),
        format!("curl 'https://h.test/?token={secret}&x=1'"),
        format!("login --password={secret}"),
        format!("PASSWORD={secret} login"),
        format!("echo api_key: \"{secret}\""),
        format!("curl https://me:{secret}@h.test/"),
    ];
    let event = |tool: &str, input: Value| {
        let event = json!({
            "session_id": "s1", "hook_event_name": "PreToolUse", "cwd": world.word("repo"), "tool_name": tool, "tool_input": input,
        });
        let words = ["hook", "--host", "claude-code", "--policy", &policy, "--audit", &log];
        let output = world.run(&words, event.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    };
    for form in &forms {
        event("Bash", json!({"command": form}));
    }
    event("mcp__a__b", json!({"note": format!("held token={secret}")}));
    event("mcp__a__b", deep);
    event("mcp__a__b", json!({"password": [secret.clone()], "list": {"apiKey": {"value": secret.clone()}}}));
    event("Bash", json!({"command": format!("git push https://x:{provider}@h.test && echo {provider}")}));
    event("Write", json!({"file_path": world.word("repo/k.pem"), "content": pem}));
    let text = std::fs::read_to_string(&log).unwrap();
    for leaked in ["hunter2", "MHcCAQEE"] {
        let line = text.lines().find(|line| line.contains(leaked));
        assert_eq!(line, None, "{leaked}");
    }
    let rows = rows(&log);
    assert_eq!(rows.len(), forms.len() + 5);
    // The matched value and the reason, too.
    let held = &rows[forms.len()];
    assert_eq!(held["decision"], "deny");
    let reason = held["reason"].as_str().unwrap();
    assert!(reason.contains("held token=***") && reason.contains("no token=*** here"), "{reason}");
    // One name for one value, whatever stands around it, and not the hash of it without the key.
    let name = held["masked"].as_array().unwrap();
    let name = rows[0]["masked"].as_array().unwrap().iter().find(|own| name.contains(own)).unwrap();
    let bare = policy_engine::audit::chain::hex(&policy_engine::audit::chain::sha256(secret.as_bytes()));
    assert!(!bare.starts_with(name.as_str().unwrap()));
    let with =
        rows.iter().filter(|row| row["masked"].as_array().is_some_and(|all| all.contains(name))).count();
    // All but the user part of an address, which holds the user too, the provider's key and the private key.
    assert!(with > forms.len(), "{with}");
    for row in &rows {
        assert!(row["masked"].as_array().is_some_and(|all| !all.is_empty()), "{row}");
    }
}
