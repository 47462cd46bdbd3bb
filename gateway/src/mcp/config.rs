//! The configuration in force: which packs and layers hold, and what a project's `agentlint.yml` sets.
//!
//! INVARIANT: what is told comes from the tables that decide; a file is only read for settings of a layer that holds, and its
//! texts are cleaned.

use crate::mcp::rules::pack_of;
use policy_engine::combine::clean;
use policy_engine::compile::Kind;
use policy_engine::layers::Layer;
use policy_engine::open::{self, Care};
use policy_hosts::reply::for_model;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::rc::Rc;

/// Names of the linter's configuration.
const LINTER_FILES: [&str; 2] = ["agentlint.yml", "agentlint.yaml"];
/// Largest configuration that is read, bytes.
const CAP: u64 = 1024 * 1024;
/// Deepest value of a rule's options.
const MAX_DEPTH: usize = 8;

/// The configuration as an answer has it.
pub(crate) fn config(layers: &[Rc<Layer>]) -> Value {
    let mut packs: Vec<String> = Vec::new();
    let (mut told, mut default, mut set) = (Vec::new(), Value::Null, None);
    for layer in layers {
        let mut value =
            json!({"kind": layer.kind.word(), "name": clean(&layer.name), "restricted": layer.restricted});
        let note = match &layer.table {
            Ok(_) => layer.note.clone(),
            Err(cause) => format!("cannot be used: {}", clean(cause)),
        };
        let note = for_model(&note, 400);
        if let (Some(map), false) = (value.as_object_mut(), note.is_empty()) {
            map.insert("note".to_owned(), note.into());
        }
        told.push(value);
        let Some(table) = layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok()) else { continue };
        set = set.or_else(|| settings(layer));
        for number in 0..table.blocks() {
            let Ok(block) = table.block(number) else { break };
            let pack = pack_of(block.name).map(str::to_owned);
            packs.extend(pack.filter(|pack| !packs.contains(pack)));
        }
        if let Ok(info) = table.info()
            && let Some(word) = info.default.filter(|_| !layer.restricted && default.is_null())
        {
            default = word.word().into();
        }
    }
    let Settings { severity, rules } = set.unwrap_or_default();
    json!({
        "severity": severity,
        "packs": packs,
        "custom_rules_dir": null,
        "rules": rules,
        "default": default,
        "layers": told,
    })
}

/// What `agentlint.yml` sets beside packs.
#[derive(Debug, PartialEq)]
struct Settings {
    severity: &'static str,
    rules: Value,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { severity: "standard", rules: json!({}) }
    }
}

/// The settings of a layer that is such a file.
fn settings(layer: &Layer) -> Option<Settings> {
    let name = Path::new(&layer.name).file_name()?.to_str()?;
    let folder = layer.project.as_ref().filter(|_| layer.kind == Kind::Project)?;
    if !LINTER_FILES.contains(&name) {
        return None;
    }
    let (bytes, _) = open::read(&folder.join(name), Care::Private, CAP).ok()?;
    Some(read(std::str::from_utf8(&bytes).ok()?))
}

/// The settings in the text of the file; what cannot be read there is told by the layer.
fn read(text: &str) -> Settings {
    let mut settings = Settings::default();
    let Ok(Value::Object(map)) = serde_yaml::from_str::<Value>(text) else { return settings };
    if let Some(word) = map.get("severity").and_then(Value::as_str) {
        let known = ["strict", "standard", "relaxed"].into_iter().find(|known| *known == word);
        settings.severity = known.unwrap_or(settings.severity);
    }
    if let Some(rules @ Value::Object(_)) = map.get("rules") {
        settings.rules = cleaned(rules, 0);
    }
    settings
}

/// SECURITY: a project's own words are read by a model here too.
fn cleaned(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => for_model(text, 200).into(),
        Value::Array(items) if depth < MAX_DEPTH => {
            items.iter().map(|item| cleaned(item, depth + 1)).collect()
        }
        Value::Object(map) if depth < MAX_DEPTH => {
            let one = |(key, value): (&String, &Value)| (for_model(key, 200), cleaned(value, depth + 1));
            Value::Object(map.iter().map(one).collect::<Map<_, _>>())
        }
        Value::Array(_) | Value::Object(_) => Value::Null,
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_file_sets_is_told_in_cleaned_words() {
        let text = "severity: strict\npacks: [universal]\nrules:\n  max-file-size:\n    limit: 300\n    why: \"a\\nb\"\n";
        let rules = json!({"max-file-size": {"limit": 300, "why": "a b"}});
        assert_eq!(read(text), Settings { severity: "strict", rules });
        for broken in ["", "- a", "severity: [", "severity: loud\nrules: 3\n", "a: &a [*a]"] {
            assert_eq!(read(broken), Settings::default(), "{broken}");
        }
    }
}
