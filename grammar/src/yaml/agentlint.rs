//! `agentlint.yml` to the text of a policy: `default allow`, the packs of the linter, and what the file changes of them.
//!
//! INVARIANT: what is not taken over is told, an unknown key is an error, and nothing here opens what a pack refuses
//! except the paths, commands and days that the file names.

mod globs;
mod rule;
mod words;

use super::code::Code;
use super::node::{self, Key, Node, Value};
use crate::ast;
use crate::diagnostic::{Diagnostic, Level};
use crate::parse::distance;
use crate::source::{FileId, Span};
use std::collections::BTreeMap;

/// Messages of one file that are kept.
const MAX_DIAGNOSTICS: usize = 100;
/// The packs, as the format and `std/` name them.
const PACKS: [&str; 8] =
    ["universal", "quality", "python", "frontend", "react", "seo", "security", "autopilot"];
/// The pack of the rules that ask the record of the session, and with which pack of the format each of them comes.
const SESSION: &str = "session-rules";
const SESSION_RULES: [(&str, &str); 5] = [
    ("drift-detector", "universal"),
    ("token-budget", "universal"),
    ("no-file-creation-sprawl", "quality"),
    ("bash-rate-limiter", "autopilot"),
    ("cross-account-guard", "autopilot"),
];
const KEYS: [&str; 13] = [
    "stack",
    "severity",
    "packs",
    "exclude_packs",
    "rules",
    "projects",
    "exceptions",
    "custom_rules_dir",
    "circuit_breaker",
    "evidence",
    "recording",
    "agentchute",
    "workspace",
];
/// What is read and not taken over, and what stands in its place.
const LEFT: [(&str, &str); 6] = [
    (
        "custom_rules_dir",
        "rules are lines of a `.policy` file, and a project's code is never run to decide; `policy import` gives one to begin with",
    ),
    ("circuit_breaker", "a refusal does not wear off; `exception` opens one guard until a day"),
    ("evidence", "the audit file says what was decided"),
    ("recording", "the audit file says what was decided"),
    ("agentchute", "share a `.policy` file with `use`, or put it into the managed layer"),
    ("drift_ignore_packs", "packs are only those that the file names"),
];

/// What the front end knows of the world around the file; it looks at nothing itself.
pub struct Around<'a> {
    /// The text of a built-in pack.
    pub pack: &'a dyn Fn(&str) -> Option<&'static str>,
    /// The options of a built-in check.
    pub options: &'a dyn Fn(&str) -> Vec<&'static str>,
    /// The packs for what the project is made of, by [`detected`]; only asked when the file names none.
    pub stack: &'a mut dyn FnMut() -> Vec<String>,
}

/// What the file says.
#[derive(Debug)]
pub struct Reading {
    /// The policy.
    pub policy: String,
    /// What there is to say about the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Something was not understood: the policy must not be used.
    pub broken: bool,
}

/// Whether a file of this name is of this format.
pub fn is_name(name: &str) -> bool {
    matches!(name, "agentlint.yml" | "agentlint.yaml" | ".agentlint.yml" | ".agentlint.yaml")
}

/// Reads an `agentlint.yml`.
pub fn read(file: FileId, text: &str, around: &mut Around<'_>) -> Reading {
    let mut reader = Reader { diagnostics: Vec::new(), dropped: 0 };
    let mut faults = Vec::new();
    let root = node::read(file, text, &mut faults);
    faults.into_iter().for_each(|fault| reader.push(fault));
    let policy = root.map(|root| reader.file(root, around)).unwrap_or_default();
    let broken = reader.dropped > 0 || reader.diagnostics.iter().any(|d| d.level == Level::Error);
    reader.diagnostics.sort_by_key(|d| d.labels.first().map(|l| l.span.start));
    Reading { policy, diagnostics: reader.diagnostics, broken }
}

/// A rule of the format, with what the file says of it.
#[derive(Default)]
struct Wish {
    off: bool,
    options: Vec<(Key, Node)>,
}

struct Reader {
    diagnostics: Vec<Diagnostic>,
    dropped: usize,
}

/// A pack with its blocks.
struct Pack {
    name: &'static str,
    guards: Vec<ast::Block>,
    lists: Vec<String>,
}

impl Reader {
    fn push(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else {
            self.dropped += usize::from(diagnostic.level == Level::Error);
        }
    }

    fn error(&mut self, code: Code, message: String, span: Span, label: &str, help: impl Into<String>) {
        self.push(Diagnostic::error(code.as_str(), message, span, label).with_help(help));
    }

    fn left(&mut self, what: &str, span: Span, instead: &str) {
        let message = format!("{what} is not taken over");
        let warning = Diagnostic::warning(Code::NotTakenOver.as_str(), message, span, "has no effect");
        self.push(warning.with_help(instead));
    }

    fn wrong_type(&mut self, what: &str, wanted: &str, node: &Node) {
        let message = format!("{what} takes {wanted}, not {}", node.value.kind());
        let error = Diagnostic::error(Code::WrongType.as_str(), message, node.span, "of the wrong type");
        self.push(error);
    }

    /// Whether there is no room for one more message, which then need not be made: there may be as many as the file has keys.
    fn full(&mut self) -> bool {
        let full = self.diagnostics.len() >= MAX_DIAGNOSTICS;
        self.dropped += usize::from(full);
        full
    }

    fn unknown(&mut self, what: &str, name: &str, span: Span, known: &[&str]) {
        if self.full() {
            return;
        }
        let near = known.iter().map(|k| (distance(name, k), *k)).min_by_key(|(far, _)| *far);
        let help = match near {
            Some((far, near)) if far <= 1 + near.len() / 4 => format!("did you mean `{near}`?"),
            _ => format!("known are {}", known.join(", ")),
        };
        self.error(Code::UnknownKey, format!("{what} has no `{name}`"), span, "not known", help);
    }

    fn map(&mut self, what: &str, node: Node) -> Vec<(Key, Node)> {
        match node.value {
            Value::Map(pairs) => pairs,
            Value::Null => Vec::new(),
            _ => {
                self.wrong_type(what, "keys and values", &node);
                Vec::new()
            }
        }
    }

    /// Texts of a list, or of one text.
    fn texts(&mut self, what: &str, node: &Node) -> Vec<(String, Span)> {
        match &node.value {
            Value::Text(text) | Value::Number(text) => vec![(text.clone(), node.span)],
            Value::Null => Vec::new(),
            Value::List(list) => list.iter().flat_map(|node| self.one_text(what, node)).collect(),
            _ => {
                self.wrong_type(what, "a list of texts", node);
                Vec::new()
            }
        }
    }

    fn one_text(&mut self, what: &str, node: &Node) -> Option<(String, Span)> {
        match &node.value {
            Value::Text(text) | Value::Number(text) => Some((text.clone(), node.span)),
            _ => {
                self.wrong_type(what, "texts", node);
                None
            }
        }
    }

    fn file(&mut self, root: Node, around: &mut Around<'_>) -> String {
        let mut named: Option<Vec<String>> = None;
        let (mut excluded, mut detect, mut severity) = (Vec::new(), true, String::new());
        let (mut rules, mut exceptions, mut projects) = (Vec::new(), None, Vec::new());
        let mut required: Vec<(String, Span)> = Vec::new();
        for (key, value) in self.map("the file", root) {
            match key.text.as_str() {
                "packs" if matches!(value.value, Value::Null) => {}
                "packs" => named = Some(self.packs("`packs`", &value)),
                "exclude_packs" => excluded = self.packs("`exclude_packs`", &value),
                "stack" => detect = self.stack(&value),
                "severity" => severity = self.severity(&value),
                "rules" => rules = self.map("`rules`", value),
                "projects" => projects = self.map("`projects`", value),
                "exceptions" => exceptions = Some(value),
                "workspace" => required = self.required(value),
                word => match LEFT.iter().find(|(left, _)| *left == word) {
                    Some((_, instead)) => self.left(&format!("`{word}`"), key.span, instead),
                    None => self.unknown("the file", word, key.span, &KEYS),
                },
            }
        }
        let mut used = named.unwrap_or_else(|| if detect { (around.stack)() } else { Vec::new() });
        used.extend(["universal".to_owned(), "quality".to_owned()]);
        used.retain(|pack| !excluded.contains(pack));
        let mut packs: Vec<Pack> = Vec::new();
        for name in PACKS.iter().filter(|name| used.iter().any(|used| used == *name)) {
            packs.extend(load(name, around));
        }
        let mut other: Vec<Pack> = PACKS
            .iter()
            .filter(|name| !used.iter().any(|used| used == *name))
            .filter_map(|name| load(name, around))
            .collect();
        let mut sets: BTreeMap<String, &str> = BTreeMap::new();
        if let Some(pack) = load(SESSION, around) {
            let comes = |id: &str| {
                SESSION_RULES.iter().any(|(rule, with)| *rule == id && used.iter().any(|used| used == with))
            };
            let known = |id: &str| SESSION_RULES.iter().any(|(rule, _)| *rule == id);
            let (own, rest): (Vec<ast::Block>, Vec<ast::Block>) =
                pack.guards.into_iter().partition(|guard| comes(guard.name.node.as_str()));
            if !own.is_empty() {
                for guard in &rest {
                    let id = guard.name.node.as_str();
                    let why = if known(id) {
                        "its pack is not among `packs`"
                    } else {
                        "this file has no such rule"
                    };
                    sets.insert(format!("std/{SESSION}/{id}"), why);
                }
                packs.push(Pack { name: SESSION, guards: own, lists: pack.lists.clone() });
            }
            let rest = rest.into_iter().filter(|guard| known(guard.name.node.as_str())).collect();
            other.push(Pack { name: SESSION, guards: rest, lists: pack.lists });
        }

        let mut text = String::from("policy \"agentlint\" language 1\n\ndefault allow\n");
        if !severity.is_empty() {
            text.push_str(&format!("severity {severity}\n"));
        }
        let names: Vec<String> = packs.iter().map(|pack| format!("std/{}", pack.name)).collect();
        if !names.is_empty() {
            text.push_str(&format!("\nuse {}\n", names.join(", ")));
        }
        let (mut wishes, everywhere) = self.wishes(rules, &packs, &other);
        self.keep(&required, &mut wishes, &packs);
        let mut blocks = String::new();
        let mut own: Vec<String> = Vec::new();
        for pack in &packs {
            let mut done: Vec<&str> = Vec::new();
            for guard in &pack.guards {
                let id = guard.name.node.as_str();
                let empty = Wish::default();
                let wish = wishes.get(id).unwrap_or(&empty);
                let name = format!("std/{}/{id}", pack.name);
                if wish.off {
                    sets.insert(name, "the file switches it off");
                    continue;
                }
                let bound = required.iter().any(|(rule, _)| rule == id);
                let everywhere = if bound { &[][..] } else { &everywhere };
                if wish.options.is_empty() && everywhere.is_empty() {
                    continue;
                }
                let first = !done.contains(&id);
                let changed = self.changed(pack, guard, wish, everywhere, first, around);
                done.push(id);
                if let Some(block) = changed {
                    sets.insert(name, "the file gives it options of its own");
                    blocks.push_str(&block);
                    own.push(id.to_owned());
                }
            }
        }
        if let Some(wish) = wishes.get("file-scope").filter(|wish| !wish.off) {
            blocks.push_str(&self.file_scope(wish));
        }
        for (name, why) in &sets {
            text.push_str(&format!("set {name} to off because \"{why}\"\n"));
        }
        text.push_str(&blocks);
        text.push_str(&self.projects(projects, &packs));
        if let Some(exceptions) = exceptions {
            text.push_str(&self.exceptions(exceptions, &packs, &own));
        }
        match crate::print::format(FileId(0), &text) {
            Ok(pretty) => pretty,
            Err(_) => text,
        }
    }

    /// Whether the project is looked at for its packs.
    fn stack(&mut self, node: &Node) -> bool {
        match &node.value {
            Value::Null => return true,
            Value::Text(word) if word == "auto" => return true,
            Value::Text(word) if word == "none" => {}
            Value::Text(word) => {
                let what = format!("`stack: {word}`");
                self.left(&what, node.span, "`auto` finds the packs; else name them under `packs`");
            }
            _ => self.wrong_type("`stack`", "`auto` or a word", node),
        }
        false
    }

    /// A glob that takes every file out of a rule is hardly meant.
    fn doubt(&mut self, glob: &str, span: Span) {
        let rest = glob.strip_prefix(['.', '~']).unwrap_or(glob);
        if !rest.contains("**") || !rest.chars().all(|c| matches!(c, '*' | '/')) {
            return;
        }
        let message = format!("`{glob}` covers every file");
        let warning = Diagnostic::warning(
            Code::DoubtfulPattern.as_str(),
            message,
            span,
            "nothing is left that the rule looks at",
        );
        let warning = warning.with_help("name the files, or switch the rule off so that it is seen");
        if !self.diagnostics.contains(&warning) {
            self.push(warning);
        }
    }

    fn severity(&mut self, node: &Node) -> String {
        match &node.value {
            Value::Text(word) if matches!(word.as_str(), "standard" | "strict" | "relaxed") => word.clone(),
            Value::Text(word) => {
                let word = word.clone();
                self.unknown("`severity`", &word, node.span, &["standard", "strict", "relaxed"]);
                String::new()
            }
            _ => {
                self.wrong_type("`severity`", "standard, strict or relaxed", node);
                String::new()
            }
        }
    }

    fn packs(&mut self, what: &str, node: &Node) -> Vec<String> {
        let mut out = Vec::new();
        for (name, span) in self.texts(what, node) {
            if PACKS.contains(&name.as_str()) {
                out.push(name);
            } else {
                self.unknown(what, &name, span, &PACKS);
            }
        }
        out
    }

    /// What the file says of each rule, and of all of them.
    fn wishes(
        &mut self,
        rules: Vec<(Key, Node)>,
        packs: &[Pack],
        other: &[Pack],
    ) -> (BTreeMap<String, Wish>, Vec<(Key, Node)>) {
        let mut wishes: BTreeMap<String, Wish> = BTreeMap::new();
        let mut everywhere = Vec::new();
        let ids = |packs: &[Pack]| -> Vec<String> {
            packs.iter().flat_map(|p| p.guards.iter().map(|g| g.name.node.clone())).collect()
        };
        let (ids, others) = (ids(packs), ids(other));
        for (key, value) in rules {
            let id = key.text.as_str();
            match id {
                "ignore_paths" | "allow_paths" => {
                    everywhere.push((key, value));
                    continue;
                }
                "strict_mode" | "auto_suppress_after" | "allow_patterns" | "circuit_breaker" => {
                    self.left(
                        &format!("`{id}` for all rules"),
                        key.span,
                        "write it under the rule that it is for",
                    );
                    continue;
                }
                _ => {}
            }
            let mut wish = Wish::default();
            match value.value {
                Value::Bool(on) => wish.off = !on,
                Value::Null => {}
                Value::Map(pairs) => {
                    for (name, value) in pairs {
                        match (name.text.as_str(), &value.value) {
                            ("enabled", Value::Bool(on)) => wish.off = !on,
                            ("enabled", _) => self.wrong_type("`enabled`", "true or false", &value),
                            _ => wish.options.push((name, value)),
                        }
                    }
                }
                _ => self.wrong_type(&format!("`{id}`"), "true, false or options", &value),
            }
            if ids.iter().any(|known| known == id) || id == "file-scope" {
                wishes.insert(id.to_owned(), wish);
            } else if others.iter().any(|known| known == id) {
                if !wish.off {
                    self.left(&format!("`{id}`"), key.span, "its pack is not among `packs`");
                }
            } else if let Some((_, instead)) = rule::ELSEWHERE.iter().find(|(known, _)| *known == id) {
                if !wish.off {
                    self.left(&format!("`{id}`"), key.span, instead);
                }
            } else if !self.full() {
                let known: Vec<&str> = ids.iter().chain(&others).map(String::as_str).collect();
                let near = known.iter().map(|k| (distance(id, k), *k)).min_by_key(|(far, _)| *far);
                let help = match near {
                    Some((far, near)) if far <= 1 + near.len() / 4 => format!("did you mean `{near}`?"),
                    _ => "`policy explain` lists the rules of a policy".to_owned(),
                };
                self.error(
                    Code::UnknownKey,
                    format!("no rule is named `{id}`"),
                    key.span,
                    "not a rule",
                    help,
                );
            }
        }
        (wishes, everywhere)
    }

    /// `workspace`: rules that the rest of the file does not switch off or open for paths.
    fn required(&mut self, node: Node) -> Vec<(String, Span)> {
        let mut rules = Vec::new();
        for (key, value) in self.map("`workspace`", node) {
            match key.text.as_str() {
                "required_rules" => rules = self.texts("`required_rules`", &value),
                other => self.unknown("`workspace`", other, key.span, &["required_rules"]),
            }
        }
        rules
    }

    fn keep(&mut self, required: &[(String, Span)], wishes: &mut BTreeMap<String, Wish>, packs: &[Pack]) {
        for (rule, span) in required {
            if !packs.iter().any(|pack| pack.guards.iter().any(|guard| guard.name.node == *rule)) {
                let help = "name a rule of a pack in use; a file that several projects share belongs into the user's layer";
                self.error(
                    Code::UnknownKey,
                    format!("no rule in use is named `{rule}`"),
                    *span,
                    "required here",
                    help,
                );
                continue;
            }
            let Some(wish) = wishes.get_mut(rule) else { continue };
            let paths =
                |key: &Key| matches!(key.text.as_str(), "allow_paths" | "ignore_paths" | "allowed_files");
            let mut left: Vec<(String, Span)> = Vec::new();
            if std::mem::take(&mut wish.off) {
                left.push((format!("`{rule}: false`"), *span));
            }
            wish.options.retain(|(key, _)| {
                if paths(key) {
                    left.push((format!("`{}` of `{rule}`", key.text), key.span));
                }
                !paths(key)
            });
            for (what, at) in left {
                self.left(
                    &what,
                    at,
                    "`workspace` requires the rule; take it out of `required_rules` to change that",
                );
            }
        }
    }

    fn projects(&mut self, projects: Vec<(Key, Node)>, packs: &[Pack]) -> String {
        let mut text = String::new();
        for (folder, value) in projects {
            for (key, value) in self.map("a project", value) {
                if key.text != "packs" {
                    self.unknown("a project", &key.text, key.span, &["packs"]);
                    continue;
                }
                let named = self.packs("`packs`", &value);
                let more: Vec<String> = named
                    .iter()
                    .filter(|name| !packs.iter().any(|pack| pack.name == name.as_str()))
                    .map(|name| format!("std/{name}"))
                    .collect();
                let path = folder.text.trim_matches('/').trim_start_matches("./");
                if path.is_empty()
                    || path.split('/').any(|part| part == "..")
                    || path.contains(['*', '"', '\\'])
                    || path.chars().any(char::is_control)
                {
                    let help = "name a folder below the project, such as `packages/web`";
                    self.error(
                        Code::BadPattern,
                        format!("`{}` is no folder of the project", path.escape_debug()),
                        folder.span,
                        "not such a folder",
                        help,
                    );
                } else if !more.is_empty() {
                    text.push_str(&format!("\nproject \"./{path}\" {{\n  use {}\n}}\n", more.join(", ")));
                }
            }
        }
        text
    }
}

/// A pack, taken apart.
fn load(name: &'static str, around: &Around<'_>) -> Option<Pack> {
    let text = (around.pack)(&format!("std/{name}"))?;
    let tree = crate::parse::parse(FileId(0), text).file;
    let mut pack = Pack { name, guards: Vec::new(), lists: Vec::new() };
    for item in tree.items {
        match item {
            ast::Item::Block(block) if block.kind == ast::BlockKind::Guard => pack.guards.push(block),
            ast::Item::List { name, .. } => pack.lists.push(name.node),
            _ => {}
        }
    }
    Some(pack)
}

/// The packs for what lies in the folder; `beside` gives the text of a file there, none when there is none.
pub fn detected(beside: &mut dyn FnMut(&str) -> Option<String>) -> Vec<String> {
    let mut packs = Vec::new();
    if beside("pyproject.toml").is_some() || beside("setup.py").is_some() {
        packs.push("python".to_owned());
    }
    if let Some(package) = beside("package.json") {
        packs.push("frontend".to_owned());
        let has = |name: &str| package.contains(&format!("\"{name}\""));
        if has("react") {
            packs.push("react".to_owned());
        }
        let seo = [
            "next",
            "nuxt",
            "gatsby",
            "astro",
            "@sveltejs/kit",
            "@remix-run/react",
            "@angular/ssr",
            "vite-plugin-ssr",
        ];
        if seo.into_iter().any(has) {
            packs.push("seo".to_owned());
        }
    }
    packs
}

#[cfg(test)]
mod tests;
