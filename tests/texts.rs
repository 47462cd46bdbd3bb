//! Secrets on their way into a file, into a server and out of a tool: every way that the writer may try is seen.
//!
//! INVARIANT: whole tokens are made when a test runs, none stands in a file.

use crate::support::{World, files, snapshot};
use serde_json::{Value, json};

/// The pieces of a token that is none of anybody's.
const PIECES: [&str; 2] = ["AKIAPQH2", "ZJIZV7LMH3F5"];

fn key() -> String {
    PIECES.concat()
}

/// Lines about the files of one folder only, so that a command's own text does not answer.
const POLICY: &str = r#"policy "t" language 1

use std/secret-formats

default allow

guard secrets for "./src/**" {
  deny content secret
}

guard orders for "./src/**" {
  deny content r"BEGIN;\nEND;"  because "nothing between"
}

guard read at post_tool_use {
  deny content secret  because "it stays in the transcript"
}
"#;

fn checked(world: &World, tool: &str, arguments: &Value) -> Option<i32> {
    let policy = world.word("t.policy");
    let text = arguments.to_string();
    let out = world.run(&["check", tool, &text, "--policy", &policy], b"");
    assert!(out.status.code().is_some_and(|code| code < 4), "{out:?}");
    out.status.code()
}

fn world(name: &str) -> World {
    let world = World::new(name);
    world.file("t.policy", POLICY);
    world
}

#[test]
fn a_secret_is_seen_as_the_file_ends_up_with_it() {
    let world = world("texts-seen");
    let [front, back] = PIECES;
    let key = key();
    let spread: String = key.chars().flat_map(|c| [c, '\0']).collect();
    // base64 of a line with the key.
    let encoded = "a2V5ID0gIkFLSUFQUUgyWkpJWlY3TE1IM0Y1Igo=";
    let cases: Vec<(&str, &str, Value, &str)> = vec![
        ("a write", "Write", json!({"file_path": "src/a.py", "content": format!("k = '{key}'\n")}), ""),
        (
            "an edit joins",
            "Edit",
            json!({"file_path": "src/a.py", "old_string": "__", "new_string": back}),
            "k = 'AKIAPQH2__'\n",
        ),
        (
            "replace_all joins the second place",
            "Edit",
            json!({"file_path": "src/a.py", "old_string": "__", "new_string": back, "replace_all": true}),
            "a__\nk = 'AKIAPQH2__'\n",
        ),
        (
            "edits in order",
            "MultiEdit",
            json!({"file_path": "src/a.py", "edits": [{"old_string": "x", "new_string": format!("{front}__")}, {"old_string": "__", "new_string": back}]}),
            "k = 'x'\n",
        ),
        (
            "a file that its first edit makes",
            "MultiEdit",
            json!({"file_path": "src/new.py", "edits": [{"old_string": "", "new_string": format!("k = '{front}__'")}, {"old_string": "__", "new_string": back}]}),
            "",
        ),
        (
            "ends of lines",
            "Edit",
            json!({"file_path": "src/a.py", "old_string": "__'\nb", "new_string": format!("{back}'\nb")}),
            "k = 'AKIAPQH2__'\r\nb\r\n",
        ),
        (
            "a cell",
            "NotebookEdit",
            json!({"notebook_path": "src/a.ipynb", "new_source": format!("k = '{key}'")}),
            "",
        ),
        ("lines", "mcp__x__put", json!({"path": "src/a.py", "lines": ["a", format!("k = '{key}'")]}), ""),
        ("an odd key", "mcp__x__put", json!({"path": "src/a.py", "markdown": format!("k = '{key}'")}), ""),
        ("another odd key", "mcp__x__put", json!({"path": "src/a.py", "zzz": format!("k = '{key}'")}), ""),
        (
            "a decoy",
            "mcp__x__put",
            json!({"path": "src/a.py", "content": "x", "text": format!("k = '{key}'")}),
            "",
        ),
        ("base64", "mcp__x__put", json!({"path": "src/a.py", "content": encoded, "encoding": "base64"}), ""),
        (
            "deep",
            "mcp__x__put",
            (0..40).fold(json!({"path": "src/a.py", "content": key}), |v, _| json!({"a": v})),
            "",
        ),
        ("a map of files", "mcp__x__put", json!({"files": {"src/a.py": format!("k = '{key}'")}}), ""),
        (
            "a shell by its name",
            "script_write",
            json!({"path": "src/a.py", "content": format!("k = '{key}'")}),
            "",
        ),
        ("wide letters", "Write", json!({"file_path": "src/a.py", "content": spread}), ""),
        (
            "a patch",
            "apply_patch",
            json!({"input": format!("*** Begin Patch\n*** Update File: src/a.py\n@@\n-k = 1\n+k = '{key}'\n*** End Patch")}),
            "k = 1\n",
        ),
        (
            "a patch that does not fit",
            "apply_patch",
            json!({"input": format!("*** Begin Patch\n*** Update File: src/a.py\n@@\n-none\n+k = '{key}'\n*** End Patch")}),
            "k = 1\n",
        ),
        (
            "a patch that moves",
            "apply_patch",
            json!({"input": format!("*** Begin Patch\n*** Update File: a.py\n*** Move to: src/b.py\n@@\n-k = 1\n+k = '{key}'\n*** End Patch")}),
            "k = 1\n",
        ),
    ];
    let mut missed = Vec::new();
    for (name, tool, arguments, disk) in cases {
        world.file("repo/src/a.py", disk);
        world.file("repo/a.py", disk);
        if checked(&world, tool, &arguments) != Some(2) {
            missed.push(name);
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn what_a_shell_writes_is_seen() {
    let world = world("texts-shell");
    let [front, back] = PIECES;
    let key = key();
    let mut missed = Vec::new();
    for (command, disk) in [
        (format!("cat > src/a.py <<'E'\nk = '{key}'\nE\n"), ""),
        (format!("cat > src/a.py <<E\nk = '{key}'\nv = ${{HOME}}\nE\n"), ""),
        (format!("cat <<< \"k = '{key}'\" > src/a.py"), ""),
        (format!("echo \"k = '{front}\"\"{back}'\" > src/a.py"), ""),
        (format!("printf 'k = %s%s\\n' {front} {back} > src/a.py"), ""),
        (format!("echo -n {front} > src/a.py; printf {back} >> src/a.py"), ""),
        (format!("printf {back} >> src/a.py"), "AKIAPQH2"),
        (format!("echo {key} | tee src/a.py"), ""),
        (format!("echo {key} | tee -a src/a.py"), ""),
        (format!("echo {key} | sudo tee src/a.py > /dev/null"), ""),
        ("echo a2V5ID0gIkFLSUFQUUgyWkpJWlY3TE1IM0Y1Igo= | base64 -d > src/a.py".to_owned(), ""),
        (format!("bash -c 'echo {key} > src/a.py'"), ""),
        (format!("cd src && echo {key} > a.py"), ""),
        (format!("A={front}; echo \"${{A}}{back}\" > src/a.py"), ""),
        (format!("{{ echo a; echo {key}; }} > src/a.py"), ""),
        (format!("(echo {key}) > src/a.py"), ""),
    ] {
        world.file("repo/src/a.py", disk);
        let arguments = json!({ "command": command });
        if checked(&world, "Bash", &arguments) != Some(2) {
            missed.push(command);
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_was_there_and_what_only_looks_so_is_left_alone() {
    let world = world("texts-quiet");
    let key = key();
    let disk = format!("k = '{key}'\nx = 1\nBEGIN;\ny\nEND;\n");
    for (tool, arguments) in [
        ("Edit", json!({"file_path": "src/a.py", "old_string": "x = 1", "new_string": "x = 2"})),
        ("Edit", json!({"file_path": "src/a.py", "old_string": "x = 1\n", "new_string": ""})),
        ("Bash", json!({"command": "echo 'x = 3' >> src/a.py"})),
        ("Write", json!({"file_path": "src/a.py", "content": format!("k = '{key}'\n")})),
        ("mcp__x__put", json!({"path": "src/a.py", "value": "x = 3"})),
        ("mcp__x__put", json!({"path": "docs/a.py", "description": "BEGIN;\nEND;", "content": "x"})),
        (
            "Edit",
            json!({"file_path": "src/a.py", "old_string": "x = 1", "new_string": "2", "description": "BEGIN;\nEND;"}),
        ),
        ("Bash", json!({"command": "cat > src/a.py <<E\nurl = https://app:${PASS}@git.example.com/x\nE\n"})),
    ] {
        world.file("repo/src/a.py", &disk);
        assert_eq!(checked(&world, tool, &arguments), Some(0), "{tool} {arguments}");
    }
    // A line between that goes brings together what was apart.
    let gone = json!({"file_path": "src/a.py", "old_string": "y\n", "new_string": ""});
    assert_eq!(checked(&world, "Edit", &gone), Some(2));
}

/// What hosts are answered when a tool gave back a secret: events of files, with the token put in.
#[test]
fn secrets_that_tools_give_back_are_taken_out() {
    let world = world("texts-read");
    let policy = world.word("t.policy");
    checked(&world, "Read", &json!({"file_path": "a"}));
    for (host, folder) in [
        ("claude-code", "claude-code"),
        ("generic", "generic"),
        ("gemini", "gemini"),
        ("codex", "codex"),
        ("cursor", "cursor"),
    ] {
        for (name, text) in files(&format!("tests/secrets/{folder}"), ".json") {
            let event = text
                .replace("@KEY@", &key())
                .replace("/home/dev/project", &world.word("repo"))
                .replace("/home/dev", &world.word("home"));
            let out = world.run(&["hook", "--host", host, "--policy", &policy], event.as_bytes());
            let reply = String::from_utf8(out.stdout.clone()).unwrap();
            assert!(!reply.contains(&key()), "{host} {name}: {reply}");
            let value: Value = serde_json::from_str(&reply).unwrap_or(Value::Null);
            let shown = format!(
                "exit {}\n{}\n",
                out.status.code().unwrap_or(-1),
                serde_json::to_string_pretty(&value).unwrap()
            );
            snapshot(&format!("secrets-{host}"), name.trim_end_matches(".json"), &world.plain(&shown));
        }
    }
}
