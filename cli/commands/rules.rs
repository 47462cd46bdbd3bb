//! `policy rules`: what the built-in rules are.
//!
//! INVARIANT: it prints what the packs say; a name that is none of theirs is an error with the nearest one.

use crate::args::RulesArgs;
use crate::context::Context;
use crate::output::{Failure, OK, Outcome, print};
use policy_compiler::pages::{self, Summary};
use serde_json::json;
use std::fmt::Write as _;

/// Runs the command.
pub(crate) fn run(args: &RulesArgs, context: &Context) -> Outcome {
    let all = pages::summaries();
    let mut out = String::new();
    if args.names.is_empty() {
        if context.output.json() {
            out = format!("{}\n", json!(all.iter().map(value).collect::<Vec<_>>()));
        } else {
            list(&mut out, &all);
        }
    }
    for name in &args.names {
        let of_pack = |rule: &&Summary| rule.name.rsplit_once('/').is_some_and(|(pack, _)| pack == name);
        let named = named(name, &all);
        if context.output.json() {
            let own: Vec<_> = all.iter().filter(|rule| of_pack(rule) || named.contains(&rule.name)).collect();
            if own.is_empty() && pages::page(name).is_none() {
                return Err(unknown(name, &all));
            }
            let _ = writeln!(out, "{}", json!(own.into_iter().map(value).collect::<Vec<_>>()));
            continue;
        }
        let parts = match pages::page(name) {
            Some(page) => vec![page],
            None => named.iter().filter_map(|rule| pages::rule(rule)).collect(),
        };
        if parts.is_empty() {
            return Err(unknown(name, &all));
        }
        out += &parts.join("\n");
    }
    print(&out);
    Ok(OK)
}

fn list(out: &mut String, all: &[Summary]) {
    let widest = all.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    for (pack, _) in policy_compiler::PACKS {
        let _ = writeln!(out, "{pack}");
        let sentence = pages::sentence(pack).unwrap_or_default();
        if !sentence.is_empty() {
            let _ = writeln!(out, "  {sentence}");
        }
        let own = |rule: &&Summary| rule.name.rsplit_once('/').is_some_and(|(of, _)| of == *pack);
        for rule in all.iter().filter(own) {
            let line = format!("  {:<widest$}  {:<5}  {}", rule.name, rule.effect, rule.because);
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}

fn value(rule: &Summary) -> serde_json::Value {
    json!({
        "name": rule.name,
        "kind": rule.kind,
        "effect": rule.effect,
        "because": rule.because,
        "suggest": rule.suggest,
    })
}

/// Full names of the rules that a name stands for.
fn named(name: &str, all: &[Summary]) -> Vec<String> {
    let fits =
        |rule: &&Summary| rule.name == name || rule.name.rsplit_once('/').is_some_and(|(_, own)| own == name);
    let mut found: Vec<String> = all.iter().filter(fits).map(|rule| rule.name.clone()).collect();
    found.dedup();
    found
}

fn unknown(name: &str, all: &[Summary]) -> Failure {
    let packs = policy_compiler::PACKS.iter().map(|(pack, _)| *pack);
    let owns = all.iter().filter_map(|rule| rule.name.rsplit_once('/')).map(|(_, own)| own);
    let names = all.iter().map(|rule| rule.name.as_str()).chain(packs).chain(owns);
    let near = policy_compiler::nearest(name, names);
    let help =
        near.map_or_else(|| "`policy rules` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
    Failure::usage(format!("there is no pack and no rule `{name}`; {help}"))
}
