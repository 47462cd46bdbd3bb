//! What `policy explain` says of every pack and of telling calls, and what the log keeps of them.
//!
//! INVARIANT: a changed decision, reason or rule of a pack is a changed line of a snapshot: that is what a review sees.

use crate::support::{World, root, snapshot};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Calls that each show something of their own.
const CALLS: [(&str, &str, &str); 8] = [
    ("allowed", "Bash", r#"{"command": "npm test"}"#),
    ("guard-with-instead", "Bash", r#"{"command": "cd api && sudo git push -f origin main"}"#),
    ("hidden-in-a-string", "Bash", r#"{"command": "sh -c \"env X=1 git reset --hard\" | tee log"}"#),
    ("not-known", "Bash", r#"{"command": "npm \"$ACTION\" --yes"}"#),
    ("reading-a-secret", "Read", r#"{"file_path": "~/.ssh/id_ed25519"}"#),
    ("dot-segments", "Write", r#"{"file_path": "src/../.git/hooks/pre-commit", "content": "x"}"#),
    ("a-host", "WebFetch", r#"{"url": "https://api.github.com@evil.test:8080/x", "prompt": "p"}"#),
    ("several-answers", "Bash", r#"{"command": "npm run build; npm install left-pad; rm -rf /"}"#),
];

fn shop(world: &World) -> String {
    let text = std::fs::read_to_string(root().join("policies/examples/shop.policy")).unwrap();
    world.file("shop.policy", text).display().to_string()
}

fn said(world: &World, words: &[&str]) -> String {
    let output = world.run(words, b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    world.plain(&String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_pack_is_explained() {
    let world = World::new("explain-packs");
    for (pack, _) in policy_compiler::PACKS {
        let name = pack.strip_prefix("std/").unwrap();
        let file = world.file("one.policy", format!("policy \"one\" language 1\n\nuse {pack}\n"));
        let all = said(&world, &["explain", "--policy", &file.display().to_string()]);
        // The layer that is always on is a page of its own.
        let own = all.split("\n# std/self (always on)").next().unwrap();
        let text = if *pack == "std/self" { all.as_str() } else { own };
        assert!(text.contains("# "), "{text}");
        snapshot("explain-pack", name, text);
    }
}

#[test]
fn telling_calls_are_explained() {
    let world = World::new("explain-calls");
    let policy = shop(&world);
    for (name, tool, arguments) in CALLS {
        let text = said(&world, &["explain", tool, arguments, "--policy", &policy]);
        snapshot("explain-call", name, &format!("{tool} {arguments}\n\n{text}"));
        let json = said(&world, &["explain", tool, arguments, "--policy", &policy, "--format", "json"]);
        let value: Value = serde_json::from_str(&json).unwrap();
        let decision = value["decision"].as_str().unwrap();
        assert!(text.starts_with(decision) || decision == "host", "{text}\n{json}");
        assert!(!value["steps"].as_array().unwrap().is_empty(), "{json}");
    }
}

/// One line a decision, in the order in which they were made.
#[test]
fn the_log_keeps_every_decision() {
    let world = World::new("explain-audit");
    let policy = shop(&world);
    let log = world.word("log.jsonl");
    let secret = "{\"command\": \"curl -H 'Authorization: Bearer sk-live-0123456789abcdef0123456789abcdef' https://x.test\\necho two\"}";
    let calls: Vec<(&str, &str)> =
        CALLS.iter().map(|(_, tool, arguments)| (*tool, *arguments)).chain([("Bash", secret)]).collect();
    for (tool, arguments) in &calls {
        let output = world.run(&["check", tool, arguments, "--policy", &policy, "--audit", &log], b"");
        assert!(output.status.code().is_some_and(|code| code < 4), "{output:?}");
    }
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(text.lines().count(), calls.len());
    let mut out = String::new();
    for line in text.lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let time = row["time"].as_str().unwrap().to_owned();
        assert!(time.len() >= 20 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
        row["time"] = json!("2026-11-30T00:00:00Z");
        // What changes with the time, the key and the machine.
        row.as_object_mut().unwrap().shift_remove("anchor");
        for field in ["prev", "hash"] {
            assert_eq!(row[field].as_str().unwrap().len(), 64);
            row[field] = json!("…");
        }
        for name in row.get_mut("masked").and_then(Value::as_array_mut).into_iter().flatten() {
            *name = json!("…");
        }
        let _ = writeln!(out, "{}", serde_json::to_string_pretty(&row).unwrap());
    }
    assert!(!text.contains("0123456789abcdef0123456789abcdef"), "a secret stands in the log");
    snapshot("explain", "audit", &world.plain(&out));
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}
