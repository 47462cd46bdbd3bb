//! What the packs advise instead of what they refuse.
//!
//! INVARIANT: in a `suggest`, what stands in backticks is a command, and the built-in default denies none of them.

use crate::support::World;
use policy_grammar::ast::{Block, File, Item, Line};
use policy_grammar::source::FileId;

/// The `suggest` texts of a tree with the blocks that they stand in, those inside projects too.
fn suggestions(items: &[Item], found: &mut Vec<(String, String)>) {
    for item in items {
        match item {
            Item::Block(Block { name, suggest, lines, .. }) => {
                let own = suggest.iter().chain(lines.iter().filter_map(|line: &Line| line.suggest.as_ref()));
                found.extend(own.map(|text| (name.node.clone(), text.node.clone())));
            }
            Item::Project { items, .. } => suggestions(items, found),
            _ => {}
        }
    }
}

/// The commands of a suggestion.
fn commands(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn no_suggested_command_is_denied() {
    let world = World::new("suggestions");
    let mut rows = Vec::new();
    for (pack, text) in policy_compiler::PACKS {
        let tree: File = policy_grammar::parse(FileId(0), text).file;
        let mut found = Vec::new();
        suggestions(&tree.items, &mut found);
        for (block, suggest) in found {
            assert!(suggest.matches('`').count() % 2 == 0, "{pack}/{block}: an open backtick in `{suggest}`");
            rows.extend(
                commands(&suggest).into_iter().map(|one| (format!("{pack}/{block}"), one.to_owned())),
            );
        }
    }
    assert!(rows.len() >= 10, "{rows:?}");
    let lines: String = rows
        .iter()
        .enumerate()
        .map(|(id, (_, command))| {
            let call = serde_json::json!({ "id": id, "tool": "Bash", "arguments": { "command": command } });
            format!("{call}\n")
        })
        .collect();
    let output = world.run(&["check", "--batch"], lines.as_bytes());
    let answers = String::from_utf8(output.stdout).unwrap();
    let mut denied = Vec::new();
    let mut seen = 0;
    for line in answers.lines() {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        let (block, command) = &rows[answer["id"].as_u64().unwrap() as usize];
        seen += 1;
        if answer["decision"] == "deny" {
            denied.push(format!("{block} suggests `{command}`, which {} denies", answer["rule"]));
        }
    }
    assert_eq!(seen, rows.len());
    assert!(denied.is_empty(), "{}", denied.join("\n"));
}
