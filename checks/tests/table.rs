//! Labelled cases: which of the wanted findings the checks give, and which they give beside.
//!
//! INVARIANT: fails below what was reached.

use std::collections::{BTreeSet, HashMap};

use policy_checks::{CHECKS, Options, Subject, Text, Value, check_command, check_text};
use serde_json::Value as Json;

const ROWS: &str = include_str!("rows.jsonl");

/// Packs that are active only when a row names them.
fn pack(name: &str) -> &'static str {
    match name {
        "no-bare-except"
        | "no-unsafe-shell"
        | "no-sql-injection"
        | "no-wildcard-import"
        | "no-dangerous-migration"
        | "no-unnecessary-async" => "python",
        "react-query-loading-state" | "react-empty-state" | "react-lazy-loading" => "react",
        "env-credential-reference" => "security",
        "subagent-transcript-audit" => "autopilot",
        name if name.starts_with("seo-") => "seo",
        name if ["a11y-", "mobile-", "style-"].iter().any(|start| name.starts_with(start)) => "frontend",
        _ => "",
    }
}

#[derive(Default)]
struct Call {
    texts: Vec<(String, Option<String>, String)>,
    words: Vec<String>,
}

fn call(row: &Json) -> Call {
    let mut call = Call::default();
    let input = &row["tool_input"];
    let post = row["event"] == "PostToolUse";
    let cached =
        |path: &str| row["session"]["file_cache"][format!("$PROJ/{path}")].as_str().map(str::to_owned);
    match row["tool_name"].as_str().unwrap_or("") {
        "Write" => {
            let path = input["file_path"].as_str().unwrap_or("");
            let content = input["content"].as_str().unwrap_or("");
            let disk = row["file_content"].as_str().map(str::to_owned);
            let (before, after) = if post {
                (cached(path), disk.unwrap_or(content.to_owned()))
            } else {
                (disk, content.to_owned())
            };
            call.texts.push((path.to_owned(), before, after));
        }
        "Edit" | "MultiEdit" => {
            let path = input["file_path"].as_str().unwrap_or("");
            let disk = row["file_content"].as_str().unwrap_or("").to_owned();
            let mut after = disk.clone();
            let one = vec![input.clone()];
            for edit in input["edits"].as_array().unwrap_or(&one) {
                let old = edit["old_string"].as_str().unwrap_or("");
                if after.matches(old).count() == 1 {
                    after = after.replace(old, edit["new_string"].as_str().unwrap_or(""));
                }
            }
            call.texts.push((path.to_owned(), Some(disk), after));
        }
        "Bash" => call.words = words(input["command"].as_str().unwrap_or("")),
        _ => {}
    }
    if row["event"] == "Stop" || row["event"] == "SubagentStop" {
        for (path, text) in row["files"].as_object().into_iter().flatten() {
            call.texts.push((path.clone(), None, text.as_str().unwrap_or("").to_owned()));
        }
    }
    call
}

/// Words of one simple command: quotes only, assignments in front dropped.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in command.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    let first = words.iter().position(|word| !word.contains('=')).unwrap_or(0);
    words.split_off(first)
}

fn options(row: &Json, name: &str) -> Options {
    let mut options = Vec::new();
    for (key, value) in row["config"]["rules"][name].as_object().into_iter().flatten() {
        let value = match value {
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(value) => Value::Int(value.as_i64().unwrap_or(0)),
            Json::String(value) => Value::Text(value.clone()),
            Json::Array(values) => {
                Value::List(values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect())
            }
            _ => continue,
        };
        options.push((key.clone(), value));
    }
    // Whoever keeps a session sees the import a second time and says so.
    if name == "no-dead-imports" && row["session"]["_dead_imports_pending"].is_object() {
        options.push(("grace_period".to_owned(), Value::Bool(false)));
    }
    Options(options)
}

#[test]
fn the_labelled_cases() {
    let (mut wanted, mut reached, mut exact, mut rows) = (0, 0, 0, 0);
    let mut beside: Vec<String> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    let mut of_rule: HashMap<String, (u32, u32)> = HashMap::new();
    for line in ROWS.lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        let id = row["id"].as_str().unwrap();
        let call = call(&row);
        let packs: BTreeSet<&str> =
            row["config"]["packs"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let event = match row["event"].as_str().unwrap() {
            "PreToolUse" => "pre_tool_use",
            "PostToolUse" => "post_tool_use",
            "SubagentStop" => "sub_agent_stop",
            _ => "stop",
        };
        let mut found: BTreeSet<String> = BTreeSet::new();
        for check in CHECKS {
            let pack = pack(check.name);
            if !pack.is_empty() && !packs.contains(pack) {
                continue;
            }
            // The rules of single calls are not asked again at the end.
            let audit = event == "sub_agent_stop" && check.name == "subagent-transcript-audit";
            if event.ends_with("stop") && !check.events.contains(&"stop") && !audit {
                continue;
            }
            let options = options(&row, check.name);
            let any = call.texts.iter().any(|(path, before, after)| {
                let text = Text { path, before: before.as_deref(), after, event };
                !check_text(check.name, &text, &options).is_empty()
            });
            let words: Vec<Option<&str>> = call.words.iter().map(|word| Some(word.as_str())).collect();
            let command = check.subject != Subject::Text
                && !words.is_empty()
                && !check_command(check.name, &words, None, &options).is_empty();
            if any || command {
                found.insert(check.name.to_owned());
            }
        }
        let ideal: BTreeSet<String> =
            row["ideal"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
        rows += 1;
        exact += u32::from(ideal == found);
        for rule in &ideal {
            wanted += 1;
            let count = of_rule.entry(rule.clone()).or_default();
            count.1 += 1;
            if found.contains(rule) {
                reached += 1;
                count.0 += 1;
            } else {
                missing.push(format!("{id} {rule}"));
            }
        }
        beside.extend(found.difference(&ideal).map(|rule| format!("{id} {rule}")));
    }
    println!(
        "rows {rows}, exact {exact}; wanted findings {wanted}, found {reached}, beside {}",
        beside.len()
    );
    println!("missing: {missing:#?}\nbeside: {beside:#?}");
    assert!(
        reached >= REACHED && beside.len() == BESIDE,
        "found {reached} of {wanted}, {} beside",
        beside.len()
    );
}

const REACHED: usize = 56;
const BESIDE: usize = 0;
