//! Tests of the files of patches.
//!
//! INVARIANT: what a patch tool is given and cannot be read is opaque.

use crate::call::{Call, Places};
use crate::facts::{NoResolver, extract};
use policy_grammar::shell::program::NoPrograms;
use policy_runtime::facts::{Access, Facts};
use serde_json::{Value, json};

fn facts(tool: &str, arguments: Value) -> Facts {
    let call = Call {
        event: "pre_tool_use".to_owned(),
        tool: tool.to_owned(),
        arguments,
        cwd: "/work/app/sub".into(),
        ..Call::default()
    };
    let places =
        Places { project: Some("/work/app".into()), home: Some("/home/me".into()), ..Places::default() };
    extract(&call, &places, &NoPrograms, &NoResolver)
}

fn touched(facts: &Facts) -> Vec<(&str, &str)> {
    let word = |access: Access| match (access.any(Access::WRITE), access.any(Access::DELETE)) {
        (true, false) => "write",
        (false, true) => "delete",
        _ => "?",
    };
    facts.paths.iter().map(|path| (path.names[0].views[0].as_str(), word(path.access))).collect()
}

const PATCH: &str = "*** Begin Patch\n*** Add File: new\n+rm -rf /\n*** Delete File: ../gone\n*** Update File: a\n*** Move to: /etc/b\n@@\n-x\n+y\n*** Update File: ~/c\n@@\n-x\n*** End Patch\n";
const WANT: [(&str, &str); 5] = [
    ("./sub/new", "write"),
    ("./gone", "delete"),
    ("./sub/a", "delete"),
    ("/etc/b", "write"),
    ("./sub/~/c", "write"),
];

#[test]
fn each_file_of_a_patch_is_written_or_deleted() {
    for (tool, key) in [
        ("apply_patch", "command"),
        ("ApplyPatch", "input"),
        ("mcp__x__apply_patch", "patch"),
        ("applyPatch", "patchText"),
    ] {
        let facts = facts(tool, json!({ key: PATCH, "explanation": "why" }));
        assert_eq!(touched(&facts)[..4], WANT[..4], "{tool}");
        assert!(
            touched(&facts)[4].1 == "write" && facts.opaque.is_empty() && facts.commands.is_empty(),
            "{facts:?}"
        );
    }
}

#[test]
fn the_command_of_that_name_is_read_too() {
    for text in [
        format!("apply_patch <<'EOF'\n{PATCH}EOF\n"),
        format!("cd . && applypatch '{PATCH}'"),
        format!("/usr/bin/apply_patch <<EOF\n{PATCH}EOF"),
    ] {
        let facts = facts("Bash", json!({ "command": text }));
        let touched = touched(&facts);
        for want in &WANT[..4] {
            assert!(touched.contains(want), "{text} {touched:?}");
        }
        assert!(facts.opaque.is_empty(), "{:?}", facts.opaque);
    }
    for text in ["apply_patch < file.patch", "cat p | apply_patch", "apply_patch \"$P\""] {
        assert!(!facts("Bash", json!({ "command": text })).opaque.is_empty(), "{text}");
    }
}

#[test]
fn what_is_no_patch_is_opaque() {
    for arguments in [
        json!({}),
        json!({"command": ""}),
        json!({"command": 7}),
        json!({"command": "rm -rf /"}),
        json!({"command": ["apply_patch", "x"]}),
        json!({"path": "a", "content": "x"}),
        json!({"command": "*** Begin Patch\n*** Add File: a\n+x\n"}),
        json!({"command": "*** Begin Patch\n*** Environment ID: far\n*** Add File: a\n+x\n*** End Patch"}),
        json!({"command": format!("*** Begin Patch\n*** Add File: a\n+{}\n*** End Patch", "x".repeat(2_000_000))}),
        json!({"command": format!("*** Begin Patch\n{}*** End Patch", "*** Delete File: a\n".repeat(201))}),
    ] {
        assert!(!facts("apply_patch", arguments.clone()).opaque.is_empty(), "{:.200}", arguments.to_string());
    }
    let cut =
        facts("apply_patch", json!({"command": "*** Begin Patch\n*** Add File: a\n+x\n*** Move File: b"}));
    assert_eq!(touched(&cut), [("./sub/a", "write")]);
    // A patch that is only written down is no patch.
    let written = facts("Write", json!({"file_path": "p.patch", "content": PATCH}));
    assert_eq!(touched(&written), [("./sub/p.patch", "write")]);
}
