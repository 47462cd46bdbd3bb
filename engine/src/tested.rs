//! Runs the tested calls of a policy.
//!
//! INVARIANT: the same on every machine: fixed folders, no disk, and the day that the test gives.

use crate::combine::refusal;
use crate::decide::today;
use crate::past::{self, Asking, Entry, Keeper, Memory};
use crate::programs::TablePrograms;
use policy_compiler::{Before as Happened, ExpectCase, check_expects};
use policy_grammar::ast::{ExpectArgs, Value as Written};
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::{SourceMap, Spanned};
use policy_hosts::call::{Call, Places};
use policy_hosts::facts::{NoResolver, extract, texts};
use policy_runtime::outside::Outside;
use policy_runtime::table::Table;
use policy_runtime::verdict::Verdict;
use policy_runtime::{Context, Facts};
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
    let before = Before { table, places: &places, memory: Memory::default(), today: case.today };
    for happened in case.before.iter() {
        before.happen(case, happened);
    }
    before.judge(&call(case), &before.asking(&call(case), case.before.len()))
}

/// The session of a tested call.
struct Before<'a> {
    table: &'a Table<'a>,
    places: &'a Places,
    memory: Memory,
    today: Option<i64>,
}

impl Before<'_> {
    fn asking(&self, call: &Call, number: usize) -> Asking<'_> {
        let (tool, digest) = past::digests(call);
        // A second apart: nothing of a test is long ago.
        let now_ms = i64::try_from(number).unwrap_or(i64::MAX / 1000) * 1000;
        let entry = Entry { tool, call: digest, now_ms, session: "test".to_owned(), ..Entry::default() };
        Asking::new(Keeper::Store(&self.memory), entry).with_nothing_paid(call)
    }

    /// Lets something happen: the call is judged, so that limits count it, and then it succeeds.
    fn happen(&self, case: &ExpectCase, happened: &Happened) {
        let (tool, field, value) = match happened {
            Happened::Flagged => {
                let asking = self.asking(&call(case), 0);
                asking.flag("given");
                asking.record(&Call::default(), false, Vec::new(), &Facts::default());
                return;
            }
            Happened::Ran(command) => ("Bash", "command", command),
            Happened::Read(path) => ("Read", "file_path", path),
            Happened::Wrote(path) => ("Write", "file_path", path),
        };
        let mut arguments = Map::from_iter([(field.to_owned(), Value::from(value.as_str()))]);
        if tool == "Write" {
            arguments.insert("content".to_owned(), "".into());
        }
        let mut call =
            Call { tool: tool.to_owned(), server: None, arguments: arguments.into(), ..call(case) };
        for event in ["pre_tool_use", "post_tool_use"] {
            call.event = event.to_owned();
            let asking = self.asking(&call, 0);
            self.judge(&call, &asking);
            let facts = extract(&call, self.places, &TablePrograms::new(*self.table), &NoResolver);
            let events = policy_runtime::happened(self.table, &facts).unwrap_or_default();
            asking.record(&call, false, events, &facts);
        }
    }

    fn judge(&self, call: &Call, asking: &Asking<'_>) -> Verdict {
        let table = self.table;
        let mut facts = extract(call, self.places, &TablePrograms::new(*table), &NoResolver);
        if table.looks_at_texts() {
            facts.texts = texts(call, &facts, &NoResolver);
        }
        let context = Context { today: self.today.unwrap_or_else(today) };
        policy_runtime::decide_with(table, &facts, &context, asking)
    }
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
