//! Runs the tested calls of a policy.
//!
//! INVARIANT: the same on every machine: fixed folders, no disk, and the day that the test gives.

use crate::combine::refusal;
use crate::decide::today;
use crate::programs::TablePrograms;
use policy_compiler::{ExpectCase, check_expects};
use policy_grammar::ast::{ExpectArgs, Value as Written};
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::{SourceMap, Spanned};
use policy_hosts::call::{Call, Places};
use policy_hosts::facts::{NoResolver, extract, texts};
use policy_runtime::Context;
use policy_runtime::table::Table;
use policy_runtime::verdict::Verdict;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The project of every tested call.
pub const PROJECT: &str = "/project";
/// The home of every tested call.
pub const HOME: &str = "/home/user";

/// What the tested calls that got something else say.
pub fn unmet(cases: &[ExpectCase], map: &SourceMap, table: &[u8]) -> Vec<Diagnostic> {
    match Table::open(table) {
        Ok(table) => check_expects(cases, map, &mut |case| run(case, &table)),
        Err(error) => check_expects(cases, map, &mut |_| refusal(&error.to_string())),
    }
}

fn run(case: &ExpectCase, table: &Table<'_>) -> Verdict {
    let places = Places {
        project: Some(PathBuf::from(PROJECT)),
        home: Some(PathBuf::from(HOME)),
        resolve_links: false,
        windows: false,
    };
    let call = call(case);
    let mut facts = extract(&call, &places, &TablePrograms::new(*table), &NoResolver);
    if table.looks_at_texts() {
        facts.texts = texts(&call, &facts, &NoResolver);
    }
    policy_runtime::decide_with(
        table,
        &facts,
        &Context { today: case.today.unwrap_or_else(today) },
        &crate::checks::Checks,
    )
}

fn call(case: &ExpectCase) -> Call {
    let project = PathBuf::from(PROJECT);
    Call {
        host: "test".to_string(),
        event: "pre_tool_use".to_string(),
        server: case.from.as_ref().map(|server| server.node.clone()),
        tool: case.tool.node.clone(),
        arguments: arguments(&case.args.node),
        cwd: case.dir.as_ref().map_or_else(|| project.clone(), |dir| project.join(dir)),
        label: case.as_.as_ref().map(|label| label.node.clone()),
        ..Call::default()
    }
}

fn arguments(args: &ExpectArgs) -> Value {
    match args {
        ExpectArgs::Command(text) => {
            Value::Object(Map::from_iter([("command".to_string(), text.clone().into())]))
        }
        ExpectArgs::Object(fields) => object(fields),
    }
}

fn object(fields: &[(Spanned<String>, Spanned<Written>)]) -> Value {
    Value::Object(fields.iter().map(|(name, value)| (name.node.clone(), json(&value.node))).collect())
}

fn json(value: &Written) -> Value {
    match value {
        Written::String(text) => text.clone().into(),
        Written::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| text.clone().into()),
        Written::Bool(is) => (*is).into(),
        Written::Null => Value::Null,
        Written::Array(values) => values.iter().map(|value| json(&value.node)).collect(),
        Written::Object(fields) => object(fields),
    }
}
