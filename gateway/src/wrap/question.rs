//! A call as a person is asked about it.
//!
//! INVARIANT: everything that an approval holds for is made anew from the call and the files as they are now; the same call gives
//! the same question.

use crate::wrap::diff::diff;
use policy_approvals::{Question, RunId, Said, Server, Shown, content};
use policy_engine::decide::Answer;
use policy_engine::touched::touched;
use policy_hosts::call::Call;
use policy_runtime::facts::{Access, Facts, TextRole};
use policy_runtime::verdict::Step;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// How long a person is waited for when the policy says nothing else, and at most: less than the 60 s after which clients give up.
pub(crate) const WAIT: Duration = Duration::from_secs(50);
/// Most files that are executed and looked at.
const MOST_OPERANDS: usize = 64;
/// Most lines of a change that are shown.
const MOST_LINES: usize = 2000;

/// What the questions of one asker have in common.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) server: Option<Server>,
    pub(crate) run: RunId,
    /// Longest wait.
    pub(crate) most: Duration,
}

/// The question about a call.
pub(crate) fn of(asker: &Asker, call: &Call, answer: &Answer) -> Question {
    let steps = &answer.verdict.steps;
    let timeout =
        steps.first().and_then(|step| step.ask_timeout).map(|own| Duration::from_secs(u64::from(own)));
    Question {
        host: call.host.clone(),
        session: call.session.clone(),
        actor: call.agent.clone().unwrap_or_default(),
        server: asker.server.clone(),
        tool: call.tool.clone(),
        arguments: canonical(&call.arguments),
        cwd: std::fs::canonicalize(&call.cwd).unwrap_or_else(|_| call.cwd.clone()),
        tables: tables(answer),
        operands: operands(&answer.facts),
        said: steps.iter().map(said).collect(),
        shown: Shown {
            commands: commands(&answer.facts),
            diff: change(&answer.facts),
            marked: steps.iter().map(|step| step.value.clone()).filter(|value| !value.is_empty()).collect(),
        },
        page_only: answer.verdict.page_only(),
        run: asker.run,
        timeout: timeout.unwrap_or(WAIT).min(asker.most),
    }
}

fn said(step: &Step) -> Said {
    let place = &step.place;
    Said {
        decision: step.decision.word().to_owned(),
        rule: step.rule.clone(),
        place: match (place.file.as_str(), place.line) {
            ("", _) => String::new(),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        },
        reason: step.because.clone(),
        suggest: step.suggest.clone(),
        matched: step.value.clone(),
    }
}

/// The digests of the sources of the tables that judged it; a layer without one stands as zeros.
fn tables(answer: &Answer) -> Vec<[u8; 32]> {
    let digest = |layer: &std::rc::Rc<policy_engine::layers::Layer>| {
        let table = layer.table.as_ref().ok()?.table().ok()?;
        table.info().ok().map(|info| info.sources_digest)
    };
    answer.layers.iter().map(|layer| digest(layer).unwrap_or([0; 32])).collect()
}

/// Files that the call runs, with what they hold now.
fn operands(facts: &Facts) -> Vec<(PathBuf, Option<[u8; 32]>)> {
    let run = facts.paths.iter().filter(|path| path.access.any(Access::RUN));
    let views = run.filter_map(|path| {
        path.names.iter().flat_map(|name| &name.views).find(|view| view.starts_with('/')).map(PathBuf::from)
    });
    let mut all: Vec<PathBuf> = views.take(MOST_OPERANDS).collect();
    all.sort();
    all.dedup();
    all.into_iter().map(|path| (path.clone(), content(&path))).collect()
}

/// The commands that were read in it, each with what it touches.
fn commands(facts: &Facts) -> Vec<String> {
    if facts.scripts.is_empty() && facts.commands.is_empty() {
        return Vec::new();
    }
    let mut lines = touched(facts);
    // The tool stands above them.
    lines.retain(|line| !line.starts_with("tool "));
    cut(&mut lines);
    lines
}

/// What the call writes.
fn change(facts: &Facts) -> String {
    let mut out = Vec::new();
    for text in facts.texts.iter().filter(|text| text.role == TextRole::File) {
        let path = text.path.and_then(|path| facts.paths.get(path as usize));
        let name = path.map_or("", |path| path.written.as_str()).replace('\n', "\u{2028}");
        out.push(match text.before {
            Some(_) => format!("@@ {name}"),
            None => format!("@@ {name}, a new file"),
        });
        if !text.gap.is_empty() {
            out.push(format!("… not all of it is known: {}", text.gap));
        }
        out.extend(diff(text.before.as_deref().unwrap_or_default(), &text.after));
    }
    cut(&mut out);
    out.join("\n")
}

fn cut(lines: &mut Vec<String>) {
    if lines.len() > MOST_LINES {
        let more = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push(format!("… {more} more lines; the arguments show all"));
    }
}

/// JSON with the keys of each object in order.
pub(crate) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            for (number, (key, value)) in entries.into_iter().enumerate() {
                out.push(if number == 0 { '{' } else { ',' });
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write_canonical(value, out);
            }
            out.push_str(if map.is_empty() { "{}" } else { "}" });
        }
        Value::Array(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_count() {
        let (one, two) =
            (json!({"b": [1, {"y": 1, "x": 2}], "a": "\n"}), json!({"a": "\n", "b": [1, {"x": 2, "y": 1}]}));
        assert_eq!(canonical(&one), canonical(&two));
        assert_eq!(canonical(&one), r#"{"a":"\n","b":[1,{"x":2,"y":1}]}"#);
        assert_ne!(canonical(&json!([1, 2])), canonical(&json!([2, 1])));
        assert_eq!(canonical(&json!({"e": {}, "a": [], "d": [[], {}]})), r#"{"a":[],"d":[[],{}],"e":{}}"#);
    }
}
