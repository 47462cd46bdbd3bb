//! The catalogue of rules.
//!
//! INVARIANT: every rule has one id here, in violations and where it is suppressed: the short one for the packs of the linter,
//! whose ids are a promise, the full name for all others.

use crate::mcp::arguments::Wrong;
use crate::mcp::events;
use policy_engine::combine::clean;
use policy_engine::compile::Kind;
use policy_engine::layers::Layer;
use policy_grammar::ast::{self, BlockKind, Effect, Item, NameRef};
use policy_grammar::source::FileId;
use policy_hosts::reply::for_model;
use policy_runtime::table::{Read, Table, Verb};
use policy_runtime::verdict::Severity;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

/// Packs whose rules have short ids.
const LINTER: [&str; 8] =
    ["autopilot", "frontend", "python", "quality", "react", "security", "seo", "universal"];
/// Packs without rules that people choose, by the beginning of their names.
const NO_RULES: [&str; 2] = ["std/programs", "std/tools"];

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    name: String,
    pack: String,
    description: String,
    severity: Severity,
    events: Vec<String>,
}

impl Rule {
    /// Its full name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it refuses something.
    pub(crate) fn has_errors(&self) -> bool {
        self.severity == Severity::Error
    }

    fn json(&self) -> Value {
        let events: Vec<&str> = self.events.iter().map(|event| events::of_hooks(event)).collect();
        json!({
            "id": short(&self.name),
            "description": self.description,
            "severity": self.severity.word(),
            "events": events,
            "pack": self.pack,
        })
    }
}

/// The id of a rule by its full name.
pub(crate) fn short(name: &str) -> &str {
    match name.strip_prefix("std/").and_then(|rest| rest.split_once('/')) {
        Some((pack, id)) if LINTER.contains(&pack) => id,
        _ => name,
    }
}

/// Every rule: of the built-in packs, and of the layers of this project.
pub(crate) fn catalogue(layers: &[Rc<Layer>]) -> Vec<Rule> {
    let mut all: BTreeMap<(String, String), Rule> = BTreeMap::new();
    for (pack, text) in policy_compiler::PACKS {
        if !NO_RULES.iter().any(|start| pack.starts_with(start)) {
            let items = policy_grammar::parse(FileId::default(), text).file.items;
            of_items(pack, &items, &mut |rule| add(&mut all, rule));
        }
    }
    for layer in layers {
        let Some(table) = layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok()) else { continue };
        // A damaged table tells what it can; what it decides is a refusal anyway.
        let _ = of_table(layer, &table, &mut |rule| add(&mut all, rule));
    }
    all.into_values().collect()
}

/// Blocks of one name are one rule.
fn add(all: &mut BTreeMap<(String, String), Rule>, rule: Rule) {
    match all.entry((rule.pack.clone(), short(&rule.name).to_owned())) {
        Entry::Vacant(free) => {
            free.insert(rule);
        }
        Entry::Occupied(mut known) => {
            let known = known.get_mut();
            known.severity = known.severity.max(rule.severity);
            let new = rule.events.into_iter().filter(|event| !known.events.contains(event));
            known.events.extend(new.collect::<Vec<_>>());
        }
    }
}

fn of_items(pack: &str, items: &[Item], add: &mut impl FnMut(Rule)) {
    for item in items {
        match item {
            Item::Project { items, .. } => of_items(pack, items, add),
            Item::Block(block) if matches!(block.kind, BlockKind::Rule | BlockKind::Guard) => {
                let lines = block.lines.iter().map(|line| of_verb(&line.verb.node));
                let otherwise = block.otherwise.iter().map(|otherwise| of_effect(otherwise.effect.node));
                let severity = lines.chain(otherwise).max();
                let named = |name: &NameRef| match name {
                    NameRef::Bare(text) | NameRef::Quoted(text) | NameRef::Ref(text) => text.node.clone(),
                };
                let events = block.scopes.at.as_ref().map(|at| at.names.iter().map(named).collect());
                add(Rule {
                    name: format!("{pack}/{}", block.name.node),
                    pack: pack.strip_prefix("std/").unwrap_or(pack).to_owned(),
                    description: described(block),
                    severity: severity.unwrap_or(Severity::Info),
                    events: events.unwrap_or_else(|| vec!["pre_tool_use".to_owned()]),
                });
            }
            _ => {}
        }
    }
}

fn described(block: &ast::Block) -> String {
    let of_lines = || block.lines.iter().find_map(|line| line.because.as_ref());
    let last = || block.otherwise.as_ref().and_then(|otherwise| otherwise.because.as_ref());
    match block.because.as_ref().or_else(of_lines).or_else(last) {
        Some(text) => for_model(&text.node, 400),
        // The name is what there is.
        None => block.name.node.replace('-', " "),
    }
}

fn of_verb(verb: &ast::Verb) -> Severity {
    match verb {
        ast::Verb::Effect(effect) => of_effect(*effect),
        ast::Verb::Only => Severity::Error,
        ast::Verb::Open => Severity::Info,
    }
}

fn of_effect(effect: Effect) -> Severity {
    match effect {
        Effect::Deny => Severity::Error,
        Effect::Ask | Effect::Warn => Severity::Warning,
        Effect::Allow | Effect::Info => Severity::Info,
    }
}

fn of_table(layer: &Layer, table: &Table<'_>, add: &mut impl FnMut(Rule)) -> Read<()> {
    use policy_runtime::table::BlockKind;
    for number in 0..table.blocks() {
        let block = table.block(number)?;
        if block.kind == BlockKind::Exception || pack_of(block.name).is_some() {
            continue;
        }
        let mut severity = Severity::Info;
        let mut because = block.because;
        for line in table.lines_of(&block)? {
            let line = line?;
            severity = severity.max(match line.verb {
                Verb::Deny | Verb::Only | Verb::OtherwiseDeny => Severity::Error,
                Verb::Ask | Verb::Warn | Verb::OtherwiseAsk => Severity::Warning,
                Verb::Allow | Verb::Info | Verb::Open | Verb::OtherwiseAllow => Severity::Info,
            });
            because = if because.is_empty() { line.because } else { because };
        }
        let because = for_model(because, 400);
        add(Rule {
            name: clean(block.name),
            pack: own(layer.kind).to_owned(),
            // SECURITY: a project's own words are marked as such until it is trusted.
            description: if layer.restricted && !because.is_empty() {
                format!("the project's policy says: {because}")
            } else {
                because
            },
            severity,
            events: table.events_of(&block)?.into_iter().map(str::to_owned).collect(),
        });
    }
    Ok(())
}

/// The pack that rules written in a layer's own files belong to.
fn own(kind: Kind) -> &'static str {
    match kind {
        Kind::Managed => "managed",
        Kind::User => "user",
        Kind::Project => "project",
        Kind::Named => "named",
        Kind::BuiltIn | Kind::Always | Kind::Test => "built-in",
    }
}

/// The built-in pack of a block, without `std/`.
pub(crate) fn pack_of(name: &str) -> Option<&str> {
    let (pack, _) = name.rsplit_once('/')?;
    policy_compiler::pack(pack)?;
    pack.strip_prefix("std/")
}

/// The rules as an answer has them, of one pack or of all.
pub(crate) fn list(rules: &[Rule], pack: Option<&str>) -> Result<Value, Wrong> {
    let Some(pack) = pack else { return Ok(rules.iter().map(Rule::json).collect()) };
    let wanted = pack.strip_prefix("std/").unwrap_or(pack);
    let of_pack: Vec<Value> = rules.iter().filter(|rule| rule.pack == wanted).map(Rule::json).collect();
    // A pack without a rule of its own is there all the same.
    if of_pack.is_empty()
        && policy_compiler::pack(&format!("std/{wanted}")).is_none()
        && !OWN.contains(&wanted)
    {
        let known = rules.iter().map(|rule| rule.pack.as_str());
        return Err(Wrong::unknown("pack", "pack", pack, known));
    }
    Ok(Value::Array(of_pack))
}

const OWN: [&str; 4] = ["managed", "user", "project", "named"];

/// The full name of a rule by its id or full name.
pub(crate) fn resolve<'r>(rules: &'r [Rule], id: &str) -> Result<&'r Rule, Wrong> {
    let found = rules.iter().find(|rule| rule.name == id || short(&rule.name) == id);
    found.ok_or_else(|| {
        let short_ones = rules.iter().map(|rule| short(&rule.name));
        let known = short_ones.chain(rules.iter().map(|rule| rule.name.as_str()));
        // The last part alone is how people remember a rule of another pack.
        let last = rules.iter().find(|rule| rule.name.rsplit('/').next() == Some(id));
        match last {
            Some(rule) => Wrong::field("rule_id", &format!("names no rule; did you mean `{}`?", rule.name)),
            None => Wrong::unknown("rule_id", "rule", id, known),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_rule_is_listed_once() {
        let rules = catalogue(&[]);
        assert!(
            rules.iter().any(|rule| rule.name == "std/git/force-push" || rule.pack == "git"),
            "{rules:?}"
        );
        let mut ids: Vec<(&str, &str)> =
            rules.iter().map(|rule| (rule.pack.as_str(), short(&rule.name))).collect();
        assert!(ids.is_sorted());
        ids.dedup();
        assert_eq!(ids.len(), rules.len());
        for rule in &rules {
            assert!(!rule.description.is_empty(), "{}", rule.name);
            assert!(
                rule.events.iter().all(|event| policy_compiler::EVENTS.contains(&event.as_str())),
                "{rule:?}"
            );
            assert_eq!(resolve(&rules, &rule.name).unwrap().name, rule.name);
        }
        let git = list(&rules, Some("git")).unwrap();
        assert_eq!(git, list(&rules, Some("std/git")).unwrap());
        assert!(list(&rules, Some("gti")).unwrap_err().message.ends_with("did you mean `git`?"));
        assert!(resolve(&rules, "nothing of the kind").is_err());
    }

    #[test]
    fn the_linters_ids_are_short() {
        assert_eq!(short("std/universal/no-secrets"), "no-secrets");
        assert_eq!(short("std/git/no-secrets"), "std/git/no-secrets");
        assert_eq!(short("reads"), "reads");
    }
}
