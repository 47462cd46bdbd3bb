//! What the file says of one rule: the guard of the pack with other options, as a guard of the policy's own.
//!
//! INVARIANT: a guard is copied whole and only changed where an option says so; what an option cannot say here is told.

use super::super::code::Code;
use super::super::node::{Key, Node, Value};
use super::{Around, Pack, Reader, Wish};
use super::{globs, words};
use crate::ast::{
    self, Block, ConditionTest, Effect, Entry, Line, List, PatternList, Quantity, RunItem, RunPattern,
    Subject, Verb,
};
use crate::source::{Span, Spanned};

/// Rules of the format that no pack has, and what stands in their place.
pub(super) const ELSEWHERE: &[(&str, &str)] = &[
    (
        "cli-integration",
        "commands of a project are not run to decide about it; run them as a hook of git or in CI",
    ),
    ("git-checkpoint", "work that would be lost is refused or asked for; `git stash push` keeps it"),
    ("operation-journal", "the audit file holds every call"),
];

/// A list of a pack that an option adds to: rule, option, list, and how a value becomes a member.
type Added = (&'static str, &'static str, &'static str, fn(&str) -> Option<String>);
const LISTS: &[Added] = &[
    ("no-destructive-commands", "safe_rm_targets", "build-outputs", |name| {
        globs::path(name).map(|glob| format!("{}/**", glob.trim_end_matches("/**")))
    }),
    ("no-destructive-commands", "safe_path_prefixes", "safe-rm-targets", |prefix| {
        // What it names is written into a text of the language, as the paths of all options are.
        let glob = globs::path(prefix).filter(|glob| glob.starts_with('/'))?;
        Some(format!("{}/**", glob.trim_end_matches("/**").trim_end_matches('/')))
    }),
    ("no-network-exfil", "allowed_hosts", "hosts-of-code", |host| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
        host.chars().all(plain).then(|| format!("http{{s,}}://{host}{{,/*}}"))
    }),
];

/// What the options of a rule change.
#[derive(Default)]
struct Changes {
    paths: Vec<String>,
    runs: Vec<String>,
    /// Operands that are let through.
    operands: Vec<String>,
    lines: Vec<String>,
    check: Vec<(String, Node)>,
    lists: Vec<(&'static str, Vec<String>)>,
    /// The number of a limit and of a condition.
    over: Option<u64>,
    budget: Budget,
    any: bool,
}

/// The options of `token-budget`.
#[derive(Default)]
struct Budget {
    most: Option<u64>,
    percent: Option<u64>,
    /// Tools whose calls are counted; empty when the file does not say.
    tools: Vec<String>,
}

impl Reader {
    /// The guard with its options; none when nothing changes.
    pub(super) fn changed(
        &mut self,
        pack: &Pack,
        guard: &Block,
        wish: &Wish,
        everywhere: &[(Key, Node)],
        first: bool,
        around: &Around<'_>,
    ) -> Option<String> {
        let id = guard.name.node.as_str();
        let told = self.diagnostics.len();
        let mut changes = Changes::default();
        for (key, value) in everywhere.iter().chain(&wish.options) {
            self.option(id, key, value, guard, &mut changes, around);
        }
        // Of two guards with one name the first has said all there is to say.
        if !first {
            self.diagnostics.truncate(told);
        }
        if !changes.any {
            return None;
        }
        let mut block = guard.clone();
        block.expects.clear();
        for line in &mut block.lines {
            change(line, &changes);
        }
        if !changes.budget.tools.is_empty() {
            let names = changes.budget.tools.iter();
            let names =
                names.map(|tool| ast::NameRef::Quoted(Spanned { node: tool.clone(), span: block.span }));
            block.scopes.on = Some(ast::Names { names: names.collect(), span: block.span });
        }
        if !changes.paths.is_empty() {
            let span = block.span;
            let all = List { entries: vec![entry("/**", span)], bracketed: false, span };
            let scope = block.scopes.files.get_or_insert(PatternList { list: all, except: None });
            let except = scope.except.get_or_insert(List { entries: Vec::new(), bracketed: true, span });
            except.entries.extend(changes.paths.iter().map(|path| entry(path, span)));
        }
        let mut text = printed(block);
        if !changes.lines.is_empty()
            && let Some(end) = text.rfind('}')
        {
            text.insert_str(end, &format!("{}\n", changes.lines.join("\n")));
        }
        let mut lists = String::new();
        for list in &pack.lists {
            let own = changes.lists.iter().any(|(own, _)| own == list);
            let full = format!("std/{}/{list}", pack.name);
            text = renamed(&text, list, if own { list } else { &full });
            if own && first {
                let members = changes.lists.iter().filter(|(own, _)| own == list).flat_map(|(_, m)| m);
                let members: Vec<String> = members.map(|member| format!("\"{member}\"")).collect();
                lists.push_str(&format!("\nlist {list} is [@{full}, {}]\n", members.join(", ")));
            }
        }
        Some(format!("{lists}\n{text}"))
    }

    fn option(
        &mut self,
        id: &str,
        key: &Key,
        value: &Node,
        guard: &Block,
        changes: &mut Changes,
        around: &Around<'_>,
    ) {
        let name = key.text.as_str();
        if let Some((_, _, list, member)) =
            LISTS.iter().find(|(rule, option, ..)| *rule == id && *option == name)
        {
            let mut members = Vec::new();
            for (text, span) in self.texts(&format!("`{name}`"), value) {
                match member(&text) {
                    Some(member) => {
                        self.doubt(&member, span);
                        members.push(member);
                    }
                    None => self.bad(&text, span),
                }
            }
            changes.any |= !members.is_empty();
            changes.lists.push((list, members));
            return;
        }
        let checked = checks(guard);
        match name {
            "allow_paths" | "ignore_paths" | "allowed_files" => {
                for (text, span) in self.texts(&format!("`{name}`"), value) {
                    match globs::path(&text) {
                        Some(glob) => {
                            self.doubt(&glob, span);
                            changes.paths.push(glob);
                        }
                        None => self.bad(&text, span),
                    }
                }
                changes.any |= !changes.paths.is_empty();
                if checked.iter().any(|check| (around.options)(check).contains(&"allow")) {
                    changes.check.push(("allow".to_owned(), value.clone()));
                }
            }
            "allow_operations" => {
                let Value::List(list) = &value.value else {
                    self.wrong_type("`allow_operations`", "a list of operations", value);
                    return;
                };
                for node in list {
                    changes.runs.extend(self.operation(node).unwrap_or_default());
                }
                changes.any |= !changes.runs.is_empty();
            }
            "allow_patterns" => {
                for (text, span) in self.texts("`allow_patterns`", value) {
                    match words::runs(None, &text) {
                        Some(runs) => changes.runs.extend(runs),
                        None => self.left(&format!("the pattern `{text}` of `allow_patterns`"), span, WORDS),
                    }
                }
                changes.any |= !changes.runs.is_empty();
            }
            "extra_prefixes" if id == "no-secrets" => {
                for (text, span) in self.texts("`extra_prefixes`", value) {
                    if text.len() < 3 || text.contains(['"', '\n', '\r']) {
                        self.bad(&text, span);
                        continue;
                    }
                    let quoted: String = text.chars().flat_map(escaped).collect();
                    changes.lines.push(format!("  deny content added r\"{quoted}[A-Za-z0-9_-]{{8,200}}\""));
                    changes.any = true;
                }
            }
            "allowed_registries" if id == "package-publish-guard" => {
                for (text, span) in self.texts("`allowed_registries`", value) {
                    match words::to_registry(&text) {
                        Some(runs) => changes.runs.extend(runs),
                        None => self.bad(&text, span),
                    }
                }
                changes.any |= !changes.runs.is_empty();
            }
            "allowed_projects" | "allowed_hosts" if id == "production-guard" => {
                for (text, span) in self.texts(&format!("`{name}`"), value) {
                    if text.is_empty()
                        || !text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
                    {
                        self.bad(&text, span);
                        continue;
                    }
                    changes.operands.extend([text.clone(), format!("*={text}")]);
                    if name == "allowed_hosts" {
                        changes.operands.push(format!("*{{@,://}}{text}{{,:*,/*}}"));
                    }
                }
                changes.any |= !changes.operands.is_empty();
            }
            "safe_binaries" if checked.iter().any(|check| (around.options)(check).contains(&"safe")) => {
                changes.check.push(("safe".to_owned(), value.clone()));
                changes.any = true;
            }
            "threshold" if id == "drift-detector" => {
                changes.over = self.number("`threshold`", value);
                changes.any |= changes.over.is_some();
            }
            "max_tool_invocations" if id == "token-budget" => {
                changes.budget.most = self.number("`max_tool_invocations`", value);
                changes.any |= changes.budget.most.is_some();
            }
            "warn_at_percent" if id == "token-budget" => {
                changes.budget.percent = self.number("`warn_at_percent`", value);
                changes.any |= changes.budget.percent.is_some();
            }
            "count_tools" if id == "token-budget" => {
                for (tool, span) in self.texts("`count_tools`", value) {
                    let tool = if tool == "all" { "*".to_owned() } else { tool };
                    if tool.chars().all(|c| c.is_ascii_alphanumeric() || "_-*.:".contains(c)) {
                        changes.budget.tools.push(tool);
                    } else {
                        self.bad(&tool, span);
                    }
                }
                changes.any |= !changes.budget.tools.is_empty();
            }
            "strict_mode" => self.left("`strict_mode`", key.span, "the rule is always strict"),
            "circuit_breaker" => {
                self.left(
                    "`circuit_breaker`",
                    key.span,
                    "a refusal does not wear off; `exception` opens one guard until a day",
                );
            }
            _ => {
                let known: Vec<&str> = checked.iter().flat_map(|check| (around.options)(check)).collect();
                if known.contains(&name) && matches!(value.value, Value::Null | Value::Map(_)) {
                    self.wrong_type(&format!("`{name}`"), "a number, a word or a list", value);
                } else if known.contains(&name) {
                    changes.check.push((name.to_owned(), value.clone()));
                    changes.any = true;
                } else if OTHERS.contains(&name) {
                    self.left(
                        &format!("`{name}` of `{id}`"),
                        key.span,
                        "`policy import` writes the rule, and a line of it can say so",
                    );
                } else {
                    let lists = LISTS.iter().filter(|(rule, ..)| *rule == id).map(|(_, option, ..)| *option);
                    let mut all = known;
                    all.extend(lists);
                    all.extend([
                        "enabled",
                        "allow_paths",
                        "ignore_paths",
                        "allow_operations",
                        "allow_patterns",
                    ]);
                    self.unknown(&format!("`{id}`"), name, key.span, &all);
                }
            }
        }
    }

    fn number(&mut self, what: &str, node: &Node) -> Option<u64> {
        let number = match &node.value {
            Value::Number(number) => number.parse::<u64>().ok().filter(|number| *number < 1 << 31),
            _ => None,
        };
        if number.is_none() {
            self.wrong_type(what, "a whole number", node);
        }
        number
    }

    fn bad(&mut self, text: &str, span: Span) {
        let help = "write a path or a name; `*` is any run of letters";
        self.error(
            Code::BadPattern,
            format!("`{text}` cannot be read here"),
            span,
            "not such a pattern",
            help,
        );
    }

    /// A command that a rule lets through, as run patterns.
    fn operation(&mut self, node: &Node) -> Option<Vec<String>> {
        let Value::Map(pairs) = &node.value else {
            self.wrong_type("an operation", "`binary` and `args_prefix`", node);
            return None;
        };
        let (mut binary, mut prefix, mut regex) = (None, Vec::new(), None);
        for (key, value) in pairs {
            match key.text.as_str() {
                "binary" => binary = self.one_text("`binary`", value),
                "args_prefix" => prefix = self.texts("`args_prefix`", value),
                "args_regex" => regex = self.one_text("`args_regex`", value),
                other => {
                    self.unknown("an operation", other, key.span, &["binary", "args_prefix", "args_regex"])
                }
            }
        }
        let Some((binary, span)) = binary else {
            self.error(
                Code::WrongType,
                "an operation names no program".to_owned(),
                node.span,
                "no `binary`",
                "add `binary: terraform`",
            );
            return None;
        };
        let mut run = Vec::new();
        for (word, span) in std::iter::once((binary, span)).chain(prefix) {
            match quoted(&word) {
                Some(word) => run.push(word),
                None => {
                    self.bad(&word, span);
                    return None;
                }
            }
        }
        if let Some((expression, at)) = regex {
            let runs = words::runs(Some(&run.join(" ")), &expression);
            if runs.is_none() {
                self.left(&format!("the pattern `{expression}` of `args_regex`"), at, WORDS);
            }
            return runs;
        }
        Some(vec![format!("{} ...", run.join(" "))])
    }

    /// `file-scope`: what it does not allow is denied.
    pub(super) fn file_scope(&mut self, wish: &Wish) -> String {
        let (mut allow, mut deny) = (Vec::new(), Vec::new());
        for (key, value) in &wish.options {
            let into = match key.text.as_str() {
                "allow" => &mut allow,
                "deny" => &mut deny,
                other => {
                    self.unknown("`file-scope`", other, key.span, &["allow", "deny", "enabled"]);
                    continue;
                }
            };
            for (text, span) in self.texts(&format!("`{}`", key.text), value) {
                match globs::path(&text) {
                    Some(glob) => into.push(format!("\"{glob}\"")),
                    None => self.bad(&text, span),
                }
            }
        }
        let mut text = String::from(
            "\nguard file-scope {\n  because \"the file lies outside the part that the agent works on\"\n",
        );
        if !allow.is_empty() {
            text.push_str(&format!("  deny path \"/**\" except [{}, \"/dev/**\"]\n", allow.join(", ")));
        }
        if !deny.is_empty() {
            text.push_str(&format!("  deny path [{}]\n", deny.join(", ")));
        }
        text.push_str("}\n");
        if allow.is_empty() && deny.is_empty() { String::new() } else { text }
    }

    /// Dated holes.
    pub(super) fn exceptions(&mut self, node: Node, packs: &[Pack], own: &[String]) -> String {
        let Value::List(list) = node.value else {
            self.wrong_type("`exceptions`", "a list", &node);
            return String::new();
        };
        let mut text = String::new();
        for (number, node) in list.into_iter().enumerate() {
            let span = node.span;
            let mut said = std::collections::BTreeMap::new();
            for (key, value) in self.map("an exception", node) {
                let known =
                    ["id", "rule_id", "repository", "operation", "created_at", "expires_at", "reason"];
                if !known.contains(&key.text.as_str()) {
                    self.unknown("an exception", &key.text, key.span, &known);
                } else if let Some(value) = self.one_text(&format!("`{}`", key.text), &value) {
                    said.insert(key.text, value);
                }
            }
            let get = |name: &str| said.get(name).cloned();
            let (Some((rule, at)), Some((operation, place)), Some((until, day))) =
                (get("rule_id"), get("operation"), get("expires_at"))
            else {
                let help = "an exception has `rule_id`, `operation`, `expires_at` and `reason`";
                self.error(
                    Code::WrongType,
                    "an exception is not complete".to_owned(),
                    span,
                    "this one",
                    help,
                );
                continue;
            };
            let pack = packs.iter().find(|pack| pack.guards.iter().any(|guard| guard.name.node == rule));
            let Some(pack) = pack else {
                self.error(
                    Code::UnknownKey,
                    format!("no rule is named `{rule}`"),
                    at,
                    "not a rule in use",
                    "name a rule of a pack in use",
                );
                continue;
            };
            let plain = |c: char| c.is_ascii_alphanumeric() || " -_./:=@,+%".contains(c);
            let run: Option<Vec<String>> = operation.split_whitespace().map(quoted).collect();
            let Some(run) = run.filter(|run| !run.is_empty() && operation.chars().all(plain)) else {
                self.error(
                    Code::BadPattern,
                    "an exception opens one simple command".to_owned(),
                    place,
                    "not one simple command",
                    "write its words, without quotes and signs of the shell",
                );
                continue;
            };
            let until: String = until.chars().take(10).collect();
            if until.len() != 10 || !until.chars().all(|c| c.is_ascii_digit() || c == '-') {
                self.error(
                    Code::WrongType,
                    format!("`{until}` is no day"),
                    day,
                    "not a day",
                    "write `2026-12-31`",
                );
                continue;
            }
            let target = if own.contains(&rule) { rule.clone() } else { format!("std/{}/{rule}", pack.name) };
            let reason = get("reason").map_or_else(|| "the file says so".to_owned(), |(reason, _)| reason);
            let within = match get("repository") {
                Some((folder, _)) if folder.starts_with('/') && globs::path(&folder).is_some() => {
                    format!(" for \"{}/**\"", folder.trim_end_matches('/'))
                }
                Some((folder, at)) => {
                    self.bad(&folder, at);
                    continue;
                }
                None => String::new(),
            };
            let id = get("id").map_or_else(|| format!("exception-{}", number + 1), |(id, _)| id);
            let name = super::super::words::name_of(&id, number + 1);
            text.push_str(&format!(
                "\nexception {name} to {target}{within} {{\n  owner \"agentlint.yml\"\n  until {until}\n  because {}\n\n  open run `{}`\n}}\n",
                string(&reason),
                run.join(" "),
            ));
        }
        text
    }
}

/// What to write where an expression says more than words.
const WORDS: &str = "words, `.*` for the rest of one, `(a|b)`, `^` and `$` are understood; write them as `args_prefix`, or let \
                     `policy import` write the rule and put a run pattern behind its `except`";

/// Options that the rules of the packs do not have.
const OTHERS: &[&str] = &[
    "allowed_hosts",
    "allowed_ops",
    "safe_binaries",
    "allowed_files",
    "patterns",
    "auto_suppress_after",
    "page_patterns",
    "max_h1",
    "heavy_components",
];

/// The names of the checks of a guard.
fn checks(guard: &Block) -> Vec<&str> {
    guard
        .lines
        .iter()
        .filter_map(|line| match &line.subject.as_ref()?.node {
            Subject::Check { name, .. } => Some(name.node.as_str()),
            _ => None,
        })
        .collect()
}

fn change(line: &mut Line, changes: &Changes) {
    let span = line.span;
    if let Some(over) = line.tally.as_mut().map(|tally| &mut tally.over) {
        let of_budget =
            matches!(line.subject.as_ref().map(|subject| &subject.node), Some(Subject::Measure(_)));
        let (most, percent) = (changes.budget.most, changes.budget.percent);
        if of_budget && (most.is_some() || percent.is_some()) {
            let most = most.unwrap_or(200);
            over.node = Quantity::Integer(match line.verb.node {
                // At its share, not behind it.
                Verb::Effect(Effect::Info) => {
                    (most.saturating_mul(percent.unwrap_or(80)) / 100).saturating_sub(1)
                }
                _ => most,
            });
        } else if let Some(number) = changes.over {
            over.node = Quantity::Integer(number);
        }
    }
    if let (
        Some(number),
        Some(ast::Condition { test: ConditionTest::Session { over: Some(over), .. }, .. }),
    ) = (changes.over, &mut line.condition)
    {
        over.node = Quantity::Integer(number);
    }
    match line.subject.as_mut().map(|subject| &mut subject.node) {
        Some(Subject::Check { options, .. }) => {
            for (name, value) in &changes.check {
                options.retain(|option| option.name.node != *name);
                options.extend(option(name, value, span));
            }
        }
        Some(Subject::Run(run)) => {
            for pattern in &changes.runs {
                let text = pattern.clone();
                run.except.push(RunItem::Pattern(RunPattern { stages: Vec::new(), rest: true, text, span }));
            }
            if let Some(set) = run.touching.as_mut().filter(|_| !changes.operands.is_empty()) {
                let except = set.except.get_or_insert(List { entries: Vec::new(), bracketed: true, span });
                except.entries.extend(changes.operands.iter().map(|operand| entry(operand, span)));
            }
            for set in [&mut run.writing, &mut run.touching].into_iter().flatten() {
                let has_path = set.list.entries.iter().any(|entry| match entry {
                    Entry::Ref(_) => true,
                    Entry::Pattern(text) => text.node.starts_with(['.', '*', '/', '~']),
                });
                if has_path && !changes.paths.is_empty() {
                    let except =
                        set.except.get_or_insert(List { entries: Vec::new(), bracketed: true, span });
                    except.entries.extend(changes.paths.iter().map(|path| entry(path, span)));
                }
            }
        }
        _ => {}
    }
}

fn option(name: &str, node: &Node, span: Span) -> Option<ast::CheckOption> {
    let text = |text: &str| Spanned { node: text.to_owned(), span };
    let value = match &node.value {
        Value::Bool(on) => ast::CheckValue::Word(text(if *on { "on" } else { "off" })),
        Value::Number(number) => ast::CheckValue::Number(text(number)),
        Value::Text(word) => ast::CheckValue::Quoted(text(word)),
        Value::List(list) => {
            let texts = list.iter().filter_map(|node| match &node.value {
                Value::Text(word) | Value::Number(word) => Some(text(word)),
                _ => None,
            });
            ast::CheckValue::List(texts.collect(), span)
        }
        Value::Null | Value::Map(_) => return None,
    };
    Some(ast::CheckOption { name: text(name), value })
}

fn entry(text: &str, span: Span) -> Entry {
    Entry::Pattern(Spanned { node: text.to_owned(), span })
}

fn printed(block: Block) -> String {
    let file = ast::File {
        header: None,
        items: vec![ast::Item::Block(block)],
        comments: Vec::new(),
        skipped: false,
    };
    crate::print::print(&file)
}

/// `@list` under another name.
fn renamed(text: &str, list: &str, full: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mark = format!("@{list}");
    while let Some((before, after)) = rest.split_once(mark.as_str()) {
        out.push_str(before);
        let goes_on = after.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/'));
        out.push_str(if goes_on { &mark } else { "@" });
        if !goes_on {
            out.push_str(full);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A word of a run pattern that means only itself.
fn quoted(word: &str) -> Option<String> {
    if word.is_empty() || word.contains(['\'', '`', '"', '\n', '\r', '\t', ' ']) {
        return None;
    }
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    Some(if word.chars().all(bare) && word != "..." { word.to_owned() } else { format!("'{word}'") })
}

/// A text of the language.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for ch in text.chars().filter(|c| !c.is_control()) {
        if matches!(ch, '"' | '\\') {
            out.push('\\');
        }
        out.push(ch);
    }
    out.push('"');
    out
}

/// A letter of a pattern that means only itself.
fn escaped(ch: char) -> impl Iterator<Item = char> {
    let special = !ch.is_ascii_alphanumeric() && ch.is_ascii() && ch != '_' && ch != '-';
    special.then_some('\\').into_iter().chain([ch])
}
