//! `policy rules`: what the built-in rules are.
//!
//! INVARIANT: it prints what the packs say; a name that is none of theirs is an error with the nearest one.

use crate::args::RulesArgs;
use crate::context::Context;
use crate::output::{Failure, OK, Outcome, print};
use policy_compiler::pages::{self, Summary};
use serde_json::json;
use std::borrow::Cow;
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
    if args.names.iter().any(|name| name == "checks") && !context.output.json() {
        out += &pages::checks();
    }
    let names = args.names.iter().filter(|name| *name != "checks" || context.output.json());
    for name in names.map(|name| whole(name)) {
        let name = name.as_ref();
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
            None => named.iter().filter_map(|rule| pages::rule(rule)).chain(format(name)).collect(),
        };
        if parts.is_empty() {
            return Err(unknown(name, &all));
        }
        out += &parts.join("\n");
    }
    print(&out);
    Ok(OK)
}

/// A pack of std may be named without `std/`.
fn whole(name: &str) -> Cow<'_, str> {
    let pack = format!("std/{name}");
    match policy_compiler::PACKS.iter().any(|(own, _)| *own == pack) {
        true => Cow::Owned(pack),
        false => Cow::Borrowed(name),
    }
}

/// The part of the page of secrets that has a format.
fn format(name: &str) -> Option<String> {
    let page = pages::page(SECRETS)?;
    let head = format!("## secret `{}`\n", name.rsplit('/').next()?);
    let mut parts = page.split_inclusive('\n').skip_while(|line| *line != head);
    let first = parts.next()?;
    Some(std::iter::once(first).chain(parts.take_while(|line| !line.starts_with("## "))).collect())
}

/// The pack of data that has no rules.
const SECRETS: &str = "std/secret-formats";

fn list(out: &mut String, all: &[Summary]) {
    let widest = all.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    for (pack, _) in policy_compiler::PACKS {
        let _ = writeln!(out, "{pack}");
        let sentence = pages::sentence(pack).unwrap_or_default();
        if !sentence.is_empty() {
            let _ = writeln!(out, "  {sentence}");
        }
        if *pack == SECRETS {
            let formats = pages::page(pack).map_or(0, |page| page.matches("\n## secret `").count());
            let _ = writeln!(out, "  {formats} formats, on its page: policy rules {pack}");
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
