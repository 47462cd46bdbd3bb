//! The seed's own format: every case through the YAML file, through its import and through a hand-written twin.
//!
//! INVARIANT: all ways decide alike, by the same rule, and as the format says.

use crate::support::{World, files, root};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The default of the format, where a case names no file.
const NONE: &str = "policy \"none\" language 1\n\nuse std/agent-firewall\n";

fn cases() -> Vec<Value> {
    let files = files("tests/firewall", ".jsonl");
    let rows: Vec<Value> = files
        .iter()
        .flat_map(|(_, text)| text.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(rows.len() >= 100, "{}", rows.len());
    rows
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

/// Decision, rule without its policy, and reason of each case.
fn answers(world: &World, policy: &str, cases: &[&Value]) -> BTreeMap<String, (String, String, String)> {
    let calls: String = cases
        .iter()
        .map(|row| {
            let server = &row["server"];
            let call = json!({"id": row["id"], "tool": row["tool"], "arguments": row["arguments"], "server": server});
            format!("{call}\n")
        })
        .collect();
    let output = world.run(&["check", "--batch", "--policy", policy], calls.as_bytes());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{policy}: {said} {}", String::from_utf8_lossy(&output.stderr));
    let answers: BTreeMap<_, _> = said
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let rule = text(&row, "rule").rsplit('/').next().unwrap().to_owned();
            (
                text(&row, "id").to_owned(),
                (text(&row, "decision").to_owned(), rule, text(&row, "reason").to_owned()),
            )
        })
        .collect();
    assert_eq!(answers.len(), cases.len(), "{policy}");
    answers
}

/// What a case wants against what it got.
fn check(row: &Value, got: &(String, String, String)) {
    let (decision, rule, reason) = got;
    let any: Vec<&str> = row["want_any"]
        .as_array()
        .map_or(vec![text(row, "want")], |any| any.iter().filter_map(Value::as_str).collect());
    assert!(any.contains(&decision.as_str()), "{row}: got {got:?}");
    assert!(row["rule"].is_null() || text(row, "rule") == rule, "{row}: got {got:?}");
    assert!(row["rule_not"].is_null() || text(row, "rule_not") != rule, "{row}: got {got:?}");
    assert!(reason.contains(text(row, "reason_contains")), "{row}: got {got:?}");
}

#[test]
fn yaml_import_and_twin_decide_alike() {
    let world = World::new("firewall");
    let cases = cases();
    let mut of: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for row in &cases {
        of.entry(text(row, "policy")).or_default().push(row);
    }
    assert_eq!(of.keys().copied().collect::<Vec<_>>(), ["", "more.yml", "precedence.yml", "seed.yml"]);
    for (name, cases) in of {
        if name.is_empty() {
            let policy = world.file("none.policy", NONE).display().to_string();
            let got = answers(&world, &policy, &cases);
            cases.iter().for_each(|row| check(row, &got[text(row, "id")]));
            continue;
        }
        let folder = root().join("tests/firewall");
        let yaml = std::fs::read_to_string(folder.join(name)).unwrap();
        let yaml = world.file(&format!("repo/{name}"), yaml).display().to_string();
        let direct = answers(&world, &yaml, &cases);
        cases.iter().for_each(|row| check(row, &direct[text(row, "id")]));

        let stem = name.trim_end_matches(".yml");
        let imported = world.word(&format!("imported-{stem}.policy"));
        let output = world.run(&["import", &yaml, "-o", &imported], b"");
        assert!(output.status.success(), "{output:?}");
        let mut ways = vec![imported];
        if let Ok(twin) = std::fs::read_to_string(folder.join(format!("{stem}.policy"))) {
            ways.push(world.file(&format!("twin-{stem}.policy"), twin).display().to_string());
        }
        for way in ways {
            let other = answers(&world, &way, &cases);
            for (id, (decision, rule, _)) in &direct {
                let (other_decision, other_rule, _) = &other[id];
                assert_eq!((decision, rule), (other_decision, other_rule), "{id} by {way}");
            }
        }
    }
}

/// Called by the seed's name, the binary has the seed's default and the seed's words.
#[test]
fn the_name_of_the_seed_gives_its_default() {
    let world = World::new("firewall-name");
    let link = world.path("agent-firewall");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_policy"), &link).unwrap();
    for row in cases().iter().filter(|row| row["policy"].is_null()) {
        let arguments = row["arguments"].to_string();
        let home = world.word("home");
        let output = std::process::Command::new(&link)
            .args(["check", text(row, "tool"), &arguments, "--home", &home])
            .current_dir(world.path("repo"))
            .output()
            .unwrap();
        let wanted = row["want_any"].as_array().cloned().unwrap_or_else(|| vec![row["want"].clone()]);
        let code = |want: &str| match want {
            "allow" => 0,
            "deny" => 2,
            _ => 3,
        };
        let codes: Vec<i32> = wanted.iter().filter_map(Value::as_str).map(code).collect();
        assert!(codes.contains(&output.status.code().unwrap()), "{row}: {output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        let word = ["ALLOW", "BLOCK", "ASK"].into_iter().any(|word| said.starts_with(word));
        assert!(word, "{said}");
    }
}
