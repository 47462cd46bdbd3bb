//! `policy suppress`: which rules keep quiet in a session.
//!
//! INVARIANT: only names of rules that hold here are taken; an error is shown whatever is suppressed.

use crate::args::{CallArgs, SuppressArgs};
use crate::context::Context;
use crate::output::{Failure, OK, Outcome, print};
use policy_engine::past::{Store, Suppress};
use policy_state::Sqlite;
use std::collections::BTreeSet;

/// Runs the command.
pub(crate) fn run(args: &SuppressArgs, context: &Context) -> Outcome {
    let mut engine = super::check::engine(&CallArgs::default(), context, true)?;
    let cwd = context.cwd()?;
    let session = args.session.as_deref().unwrap_or_default();
    let host = if session.is_empty() { "" } else { &args.host };
    let entry = engine.session_at(&cwd, host, session);
    let failed = Failure::usage;
    if args.list {
        let told = Sqlite.told(&entry).map_err(failed)?;
        if told.suppressed.is_empty() {
            context.output.remark("nothing is suppressed");
        }
        for rule in &told.suppressed {
            print(&format!("{rule}\n"));
        }
        return Ok(OK);
    }
    if args.clear {
        Sqlite.suppress(&entry, Suppress::Clear).map_err(failed)?;
        return Ok(OK);
    }
    if let Some(rule) = &args.remove {
        // What was suppressed may be gone from the policy.
        let told = Sqlite.told(&entry).map_err(failed)?;
        let rule = named(rule, &told.suppressed.into_iter().collect(), "is not suppressed")?;
        Sqlite.suppress(&entry, Suppress::Remove(&rule)).map_err(failed)?;
        return Ok(OK);
    }
    let rule = args.rule.as_deref().unwrap_or_default();
    let rule = named(rule, &engine.rules_at(&cwd), "is no rule that holds here").map_err(|failure| {
        let help = if failure.message.contains("; write ") { String::new() } else { elsewhere(rule) };
        Failure { message: format!("{}{help}", failure.message), ..failure }
    })?;
    Sqlite.suppress(&entry, Suppress::Add(&rule)).map_err(failed)?;
    context.output.remark(&format!("`{rule}` shows no warnings and remarks any more, until `policy suppress --remove {rule}`; its errors are shown"));
    Ok(OK)
}

/// Which packs have a rule of this name that nothing here uses.
fn elsewhere(rule: &str) -> String {
    let mut packs: Vec<String> = policy_compiler::pages::summaries()
        .into_iter()
        .filter_map(|own| {
            own.name.rsplit_once('/').map(|(pack, name)| (pack.to_owned(), name.to_owned(), own.name.clone()))
        })
        .filter(|(_, name, full)| name == rule || full == rule)
        .map(|(pack, ..)| format!("`{pack}`"))
        .collect();
    packs.dedup();
    match packs.as_slice() {
        [] => "; `policy explain` names those that do".to_owned(),
        packs => format!("; {} has it, which no policy here uses", packs.join(" or ")),
    }
}

/// The full name of a rule.
fn named(rule: &str, known: &BTreeSet<String>, not: &str) -> Result<String, Failure> {
    if known.contains(rule) {
        return Ok(rule.to_owned());
    }
    let last = |name: &String| name.rsplit('/').next() == Some(rule);
    let same: Vec<&String> = known.iter().filter(|name| last(name)).collect();
    match same.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let short = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
            let names: Vec<String> = known.iter().flat_map(|name| [name.clone(), short(name)]).collect();
            let help = match policy_compiler::nearest(rule, names.iter().map(String::as_str)) {
                Some(near) => format!("; write `{near}`"),
                None => String::new(),
            };
            Err(Failure::usage(format!("`{rule}` {not}{help}")))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
            Err(Failure::usage(format!("`{rule}` may be {}; write the full name", names.join(" or "))))
        }
    }
}
