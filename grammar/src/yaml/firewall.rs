//! `agent-firewall.yml` to the tree of a policy: each of its rules becomes a rule whose `otherwise` is its decision.
//!
//! INVARIANT: the tree decides as the format says: the first rule whose tool matches, block before the longest pattern,
//! ask at a tie, plain lists for "only these"; and nothing behind the file's own rules is ever asked.

use super::code::Code;
use super::glob::{self, Side};
use super::node::{self, Key, Node, Value};
use super::words;
use crate::ast::{
    Block, BlockKind, DefaultWord, Effect, Entry, File, Header, Item, Line, List, NameRef, Names, Origin,
    Otherwise, PatternList, Scopes, Subject, Text, Verb,
};
use crate::diagnostic::{Diagnostic, Level};
use crate::parse::Parsed;
use crate::source::{FileId, Span, Spanned};
use std::collections::BTreeMap;

/// The pack that holds the built-in protections.
const BUILTINS: &str = "std/agent-firewall";
/// The rule for calls that no rule of the file covers.
const LAST_RULE: &str = "no-rule-matched";
/// Seconds after which nobody is expected to answer any more.
const MAX_TIMEOUT: u64 = 30 * 24 * 3600;
/// Messages of one file that are kept.
const MAX_DIAGNOSTICS: usize = 100;

/// Reads an `agent-firewall.yml`. Spans point into the YAML text.
pub fn parse(file: FileId, text: &str) -> Parsed {
    let mut reader = Reader { file, diagnostics: Vec::new(), dropped: 0, names: BTreeMap::new() };
    let mut faults = Vec::new();
    let root = node::read(file, text, &mut faults);
    faults.into_iter().for_each(|fault| reader.push(fault));
    let items = root.map(|root| reader.file(root)).unwrap_or_default();
    let broken = reader.dropped > 0 || reader.diagnostics.iter().any(|d| d.level == Level::Error);
    let header = reader.header();
    reader.diagnostics.sort_by_key(|d| d.labels.first().map(|l| l.span.start));
    let tree = File { header: Some(header), items, comments: Vec::new(), skipped: broken };
    Parsed { file: tree, diagnostics: reader.diagnostics }
}

/// Writes the tree of an `agent-firewall.yml` as a policy; `origin` is the file's name, for a comment at the top.
///
/// The text says the same as the YAML file. Its blocks have no tests yet.
pub fn to_policy(tree: &File, origin: &str) -> String {
    let origin: String = origin.chars().filter(|c| !c.is_control()).collect();
    let mut text = format!(
        "# Imported from {origin}. Each rule of that file is a rule here; `otherwise` is its decision.\n\n"
    );
    text.push_str(&crate::print::print(tree));
    text
}

struct Reader {
    file: FileId,
    diagnostics: Vec<Diagnostic>,
    dropped: usize,
    /// Names that are taken, each with the number to try next.
    names: BTreeMap<String, u32>,
}

/// The three decisions of the format.
#[derive(Clone, Copy)]
enum Decision {
    Allow,
    Ask,
    Block,
}

const DECISIONS: &[&str] = &["allow", "ask", "block"];

impl Decision {
    fn of(word: &str) -> Option<Decision> {
        match word {
            "allow" => Some(Decision::Allow),
            "ask" => Some(Decision::Ask),
            "block" => Some(Decision::Block),
            _ => None,
        }
    }

    fn effect(self) -> Effect {
        match self {
            Decision::Allow => Effect::Allow,
            Decision::Ask => Effect::Ask,
            Decision::Block => Effect::Deny,
        }
    }

    fn default(self) -> DefaultWord {
        match self {
            Decision::Allow => DefaultWord::Allow,
            Decision::Ask => DefaultWord::Ask,
            Decision::Block => DefaultWord::Deny,
        }
    }
}

/// What a list of patterns is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paths,
    Commands,
    Domains,
}

/// The parts of one rule as they stand in the file.
#[derive(Default)]
struct Parts {
    id: Option<Text>,
    tool: Option<Vec<Text>>,
    tool_span: Option<Span>,
    tool_seen: bool,
    server: Option<Vec<Text>>,
    server_span: Option<Span>,
    decision: Option<Spanned<Decision>>,
    reason: Option<Text>,
    lines: Vec<Line>,
    /// A plain list without entries: nothing is allowed.
    nothing: Option<Span>,
}

fn spanned<T>(node: T, span: Span) -> Spanned<T> {
    Spanned { node, span }
}

impl Reader {
    fn start(&self) -> Span {
        Span { file: self.file, start: 0, end: 0 }
    }

    fn header(&self) -> Header {
        let span = self.start();
        Header { name: spanned("agent-firewall".to_owned(), span), language: spanned(1, span), span }
    }

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

    fn wrong_type(&mut self, what: &str, wanted: &str, node: &Node, help: &str) {
        let message = format!("{what} takes {wanted}, not {}", node.value.kind());
        let label =
            if matches!(node.value, Value::Null) { "nothing stands here" } else { "of the wrong type" };
        let mut diagnostic = Diagnostic::error(Code::WrongType.as_str(), message, node.span, label);
        if !help.is_empty() {
            diagnostic = diagnostic.with_help(help);
        }
        self.push(diagnostic);
    }

    fn unknown_key(&mut self, key: &Key, what: &str, known: &[&str]) {
        let message = format!("{what} has no `{}`", key.text);
        let help = match words::nearest(&key.text, known) {
            _ if key.text == "<<" => "merge keys are not read; write the entries out".to_owned(),
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", known.join(", ")),
        };
        self.error(Code::UnknownKey, message, key.span, "not a key of the format", help);
    }

    fn file(&mut self, root: Node) -> Vec<Item> {
        let span = root.span;
        let pairs = match root.value {
            Value::Map(pairs) => pairs,
            Value::Null => Vec::new(),
            _ => {
                self.wrong_type(
                    "the file",
                    "keys such as `default` and `rules`",
                    &root,
                    "begin with `rules:`",
                );
                return Vec::new();
            }
        };
        let mut default = None;
        let mut timeout = None;
        let mut builtins = None;
        let mut rules: Vec<Node> = Vec::new();
        for (key, value) in pairs {
            match key.text.as_str() {
                "default" if matches!(value.value, Value::Null) => {}
                "default" => default = self.decision("default", value),
                "askTimeout" => timeout = self.timeout(value).map(|seconds| (seconds, key.span)),
                "builtins" => match value.value {
                    Value::Bool(on) => builtins = Some(spanned(on, key.span.to(value.span))),
                    _ => self.wrong_type(
                        "`builtins`",
                        "true or false",
                        &value,
                        "write `builtins: false` to switch them off",
                    ),
                },
                "rules" => match value.value {
                    Value::List(list) => rules = list,
                    Value::Null => {}
                    _ => self.wrong_type("`rules`", "a list", &value, "begin each rule with `- id:`"),
                },
                _ => self.unknown_key(&key, "the file", &["default", "askTimeout", "rules", "builtins"]),
            }
        }
        let default = default.unwrap_or(spanned(Decision::Ask, self.start()));
        if rules.is_empty() && self.diagnostics.is_empty() {
            let message = "the file has no rules".to_owned();
            let help = format!("every call gets the default, `{}`", default.node.default_word());
            self.push(
                Diagnostic::warning(Code::NoRules.as_str(), message, span, "nothing here decides")
                    .with_help(help),
            );
        }
        let mut items = Vec::new();
        if builtins.as_ref().is_none_or(|on| on.node) {
            let span = builtins.map_or(self.start(), |on| on.span);
            items.push(Item::Use { origins: vec![Origin::Pack(spanned(BUILTINS.to_owned(), span))], span });
        }
        items
            .push(Item::Default { value: spanned(default.node.default(), default.span), span: default.span });
        if let Some((seconds, span)) = timeout {
            items.push(Item::AskTimeout { span: span.to(seconds.span), seconds });
        }
        for (number, rule) in rules.into_iter().enumerate() {
            if let Some(block) = self.rule(rule, number + 1, &default) {
                items.push(Item::Block(block));
            }
        }
        items.push(Item::Block(self.last_rule(&default)));
        items
    }

    /// What no rule covers gets the default, before any rule of a pack is asked.
    fn last_rule(&mut self, default: &Spanned<Decision>) -> Block {
        let span = default.span;
        let name = self.free_name(LAST_RULE);
        Block {
            otherwise: Some(Otherwise { effect: spanned(default.node.effect(), span), because: None, span }),
            because: Some(spanned("no rule of the file is for this tool".to_owned(), span)),
            ..empty_rule(spanned(name, span), span)
        }
    }

    fn decision(&mut self, what: &str, node: Node) -> Option<Spanned<Decision>> {
        let Value::Text(word) = &node.value else {
            self.wrong_type(&format!("`{what}`"), "allow, ask or block", &node, "");
            return None;
        };
        let found = Decision::of(word);
        if found.is_none() {
            let help = match words::nearest(word, DECISIONS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "the decisions are allow, ask and block".to_owned(),
            };
            self.error(
                Code::UnknownDecision,
                format!("unknown decision `{word}`"),
                node.span,
                "not a decision",
                help,
            );
        }
        found.map(|decision| spanned(decision, node.span))
    }

    fn timeout(&mut self, node: Node) -> Option<Spanned<u64>> {
        let seconds = match &node.value {
            Value::Number(number) => number.parse::<u64>().ok().filter(|s| *s <= MAX_TIMEOUT),
            _ => None,
        };
        if seconds.is_none() {
            let help = "120 is two minutes; an ask that nobody answers is then denied";
            self.wrong_value("`askTimeout`", &format!("whole seconds, at most {MAX_TIMEOUT}"), &node, help);
        }
        seconds.map(|seconds| spanned(seconds, node.span))
    }

    fn wrong_value(&mut self, what: &str, wanted: &str, node: &Node, help: &str) {
        match &node.value {
            Value::Number(number) => {
                let message = format!("{what} takes {wanted}, not {number}");
                self.error(Code::WrongType, message, node.span, "not such a number", help);
            }
            _ => self.wrong_type(what, wanted, node, help),
        }
    }

    fn rule(&mut self, rule: Node, number: usize, default: &Spanned<Decision>) -> Option<Block> {
        let Value::Map(pairs) = rule.value else {
            self.wrong_type(
                "a rule",
                "keys such as `tool` and `decision`",
                &rule,
                "begin it with `- id:` or `- tool:`",
            );
            return None;
        };
        let head = pairs.first().map_or(rule.span, |(key, value)| key.span.to(value.span));
        let mut parts = Parts::default();
        for (key, value) in pairs {
            self.part(&mut parts, key, value);
        }
        if !parts.tool_seen {
            let help = "add `tool: [read_file, \"*_read\"]`, or `tool: \"*\"` for every tool";
            self.error(Code::MissingTool, "a rule has no `tool`".to_owned(), head, "this rule", help);
        }
        let (name, because) = self.name(&parts, number, head);
        let otherwise = parts.decision.map(|d| spanned(d.node.effect(), d.span));
        let otherwise = otherwise.unwrap_or(spanned(default.node.effect(), head));
        let (lines, otherwise) = match parts.nothing {
            Some(span) => (Vec::new(), spanned(Effect::Deny, span)),
            None => (parts.lines, otherwise),
        };
        Some(Block {
            scopes: Scopes {
                on: names(parts.tool, parts.tool_span),
                from: names(parts.server, parts.server_span),
                ..Scopes::default()
            },
            because,
            lines,
            otherwise: Some(Otherwise { span: otherwise.span, effect: otherwise, because: None }),
            ..empty_rule(name, rule.span)
        })
    }

    fn part(&mut self, parts: &mut Parts, key: Key, value: Node) {
        const KEYS: &[&str] = &["id", "tool", "server", "decision", "reason", "paths", "commands", "domains"];
        let whole = key.span.to(value.span);
        match key.text.as_str() {
            "id" => match value.value {
                Value::Text(id) | Value::Number(id) => parts.id = Some(spanned(id, value.span)),
                Value::Null => {}
                _ => self.wrong_type("`id`", "a text", &value, ""),
            },
            "tool" => {
                parts.tool_seen = true;
                parts.tool_span = Some(whole);
                parts.tool = self.texts("tool", value, true).map(|l| l.into_iter().map(escaped).collect());
            }
            "server" => {
                parts.server_span = Some(whole);
                parts.server =
                    self.texts("server", value, true).map(|l| l.into_iter().map(escaped).collect());
            }
            "decision" => parts.decision = self.decision("decision", value),
            "reason" => match value.value {
                Value::Text(reason) => parts.reason = Some(spanned(reason, value.span)),
                Value::Null => {}
                _ => self.wrong_type("`reason`", "a text", &value, "put it in quotes"),
            },
            "paths" => self.lists(parts, Kind::Paths, key, value),
            "commands" => self.lists(parts, Kind::Commands, key, value),
            "domains" => self.lists(parts, Kind::Domains, key, value),
            _ => self.unknown_key(&key, "a rule", KEYS),
        }
    }

    /// A list of texts that are not empty; one text alone where `single` says so.
    fn texts(&mut self, what: &str, node: Node, single: bool) -> Option<Vec<Text>> {
        let span = node.span;
        let list = match node.value {
            Value::List(list) => list,
            Value::Text(text) if single => vec![Node { value: Value::Text(text), span }],
            _ => {
                let wanted = if single { "a text or a list of texts" } else { "a list of texts" };
                let help = match &node.value {
                    Value::Text(text) => format!("write [\"{text}\"]"),
                    _ => "write [\"a\", \"b\"]".to_owned(),
                };
                self.wrong_type(&format!("`{what}`"), wanted, &node, &help);
                return None;
            }
        };
        if list.is_empty() && single {
            let help = format!("leave `{what}` away, or name one");
            self.error(Code::WrongType, format!("`{what}` names nothing"), span, "an empty list", help);
            return None;
        }
        let mut texts = Vec::with_capacity(list.len());
        for entry in list {
            match entry.value {
                Value::Text(text) if text.trim().is_empty() => {
                    let message = format!("`{what}` holds an empty text");
                    self.error(
                        Code::BadPattern,
                        message,
                        entry.span,
                        "matches nothing",
                        "remove it, or write the pattern",
                    );
                }
                Value::Text(text) if text.chars().any(char::is_control) => {
                    let message = format!("`{what}` holds a control character");
                    self.error(
                        Code::BadPattern,
                        message,
                        entry.span,
                        "holds a character that cannot be seen",
                        "remove it",
                    );
                }
                Value::Text(text) => texts.push(spanned(text, entry.span)),
                _ => self.wrong_type(&format!("`{what}`"), "texts", &entry, "put it in quotes"),
            }
        }
        Some(texts)
    }

    /// `paths`, `commands`, `domains`: three lists, or one plain list for "only these".
    fn lists(&mut self, parts: &mut Parts, kind: Kind, key: Key, value: Node) {
        let whole = key.span.to(value.span);
        match value.value {
            Value::List(_) => {
                let verb = spanned(Verb::Only, key.span);
                match self.texts(&key.text, value, false) {
                    Some(texts) if texts.is_empty() => parts.nothing = Some(whole),
                    Some(texts) => self.line(parts, kind, verb, texts, whole),
                    None => {}
                }
            }
            Value::Map(pairs) => {
                for (word, value) in pairs {
                    let Some(decision) = Decision::of(&word.text) else {
                        self.unknown_key(&word, &format!("`{}`", key.text), DECISIONS);
                        continue;
                    };
                    let whole = word.span.to(value.span);
                    let verb = spanned(Verb::Effect(decision.effect()), word.span);
                    if let Some(texts) = self.texts(&format!("{}.{}", key.text, word.text), value, false) {
                        self.line(parts, kind, verb, texts, whole);
                    }
                }
            }
            _ => {
                let help =
                    "write { allow: [...], ask: [...], block: [...] }, or a plain list for \"only these\"";
                self.wrong_type(&format!("`{}`", key.text), "a list or allow, ask and block", &value, help);
            }
        }
    }

    fn line(&mut self, parts: &mut Parts, kind: Kind, verb: Spanned<Verb>, texts: Vec<Text>, span: Span) {
        let side = match verb.node {
            Verb::Only | Verb::Effect(Effect::Allow) => Side::Grant,
            _ => Side::Refusal,
        };
        let mut entries = Vec::with_capacity(texts.len());
        for text in texts {
            if let Some(pattern) = self.pattern(kind, side, text) {
                entries.push(Entry::Pattern(pattern));
            }
        }
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return };
        let list_span = entry_span(first).to(entry_span(last));
        let bracketed = entries.len() > 3 || entries.iter().map(entry_length).sum::<usize>() > 80;
        let list = PatternList { list: List { entries, bracketed, span: list_span }, except: None };
        let subject = match kind {
            Kind::Paths => Subject::Path(list),
            Kind::Commands => Subject::Command(list),
            Kind::Domains => Subject::Domain(list),
        };
        parts.lines.push(Line {
            verb,
            subject: Some(spanned(subject, span)),
            tally: None,
            condition: None,
            because: None,
            suggest: None,
            obligation: None,
            span,
        });
    }

    fn pattern(&mut self, kind: Kind, side: Side, text: Text) -> Option<Text> {
        match kind {
            Kind::Commands => Some(escaped(text)),
            Kind::Domains => {
                let lower = text.node.to_lowercase();
                if text.node.contains(['/', ':', '@', ' ']) {
                    let message = format!("`{}` can match no host", text.node);
                    let help =
                        "write the host alone, without scheme, user, port and path: \"api.example.com\"";
                    self.error(Code::BadPattern, message, text.span, "not a host", help);
                    return None;
                }
                Some(spanned(glob::text(&lower), text.span))
            }
            Kind::Paths => {
                if text.node.len() > 1 && text.node.ends_with(['/', '\\']) && !text.node.ends_with("**/") {
                    let message = format!("`{}` matches the folder alone", text.node);
                    let help = format!(
                        "write \"{}/**\" for all that is in it",
                        text.node.trim_end_matches(['/', '\\'])
                    );
                    let code = Code::DoubtfulPattern.as_str();
                    self.push(
                        Diagnostic::warning(code, message, text.span, "ends with a slash").with_help(help),
                    );
                }
                match glob::path(&text.node, side) {
                    glob::Path::Is(pattern) => Some(spanned(pattern, text.span)),
                    glob::Path::Leaves => {
                        let message = format!("`{}` leaves the folder it begins in", text.node);
                        let help = "begin it with `/`, `~/` or `**/`, without `..`";
                        self.error(Code::BadPattern, message, text.span, "goes up with `..`", help);
                        None
                    }
                }
            }
        }
    }

    fn free_name(&mut self, wanted: &str) -> String {
        let mut number = self.names.get(wanted).copied().unwrap_or(1);
        let name = loop {
            let name = if number == 1 { wanted.to_owned() } else { format!("{wanted}-{number}") };
            number += 1;
            if !self.names.contains_key(&name) {
                break name;
            }
        };
        self.names.insert(wanted.to_owned(), number);
        self.names.entry(name.clone()).or_insert(2);
        name
    }

    /// The rule's name, and its reason with the id when the name is another.
    fn name(&mut self, parts: &Parts, number: usize, head: Span) -> (Text, Option<Text>) {
        let Some(id) = &parts.id else {
            let name = self.free_name(&format!("rule-{number}"));
            return (spanned(name, head), parts.reason.clone());
        };
        let wanted =
            if words::is_name(&id.node) { id.node.clone() } else { words::name_of(&id.node, number) };
        let name = self.free_name(&wanted);
        if name == id.node {
            return (spanned(name, id.span), parts.reason.clone());
        }
        let taken = wanted == id.node;
        let message = format!("the rule `{}` is called `{name}` here", shown(&id.node));
        let label =
            if taken { "another rule has this id" } else { "not a name: letters, digits, `-` and `_`" };
        let code = Code::RenamedRule.as_str();
        let level = if taken { Level::Warning } else { Level::Advice };
        let mut diagnostic = Diagnostic::warning(code, message, id.span, label);
        diagnostic.level = level;
        self.push(diagnostic.with_help(format!("give it the id `{name}`")));
        let because = match &parts.reason {
            Some(reason) => spanned(format!("{} (rule `{}`)", reason.node, shown(&id.node)), reason.span),
            None => spanned(format!("rule `{}`", shown(&id.node)), id.span),
        };
        (spanned(name, id.span), Some(because))
    }
}

impl Decision {
    fn default_word(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Block => "block",
        }
    }
}

/// An id as messages show it: one line, not too long.
fn shown(id: &str) -> String {
    let mut text: String = id.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect();
    if text.len() < id.len() {
        text.push('…');
    }
    text
}

fn escaped(text: Text) -> Text {
    spanned(glob::text(&text.node), text.span)
}

fn entry_span(entry: &Entry) -> Span {
    match entry {
        Entry::Pattern(text) | Entry::Ref(text) => text.span,
    }
}

fn entry_length(entry: &Entry) -> usize {
    match entry {
        Entry::Pattern(text) | Entry::Ref(text) => text.node.len(),
    }
}

fn names(texts: Option<Vec<Text>>, span: Option<Span>) -> Option<Names> {
    let names: Vec<NameRef> = texts?
        .into_iter()
        .map(|text| if words::is_bare(&text.node) { NameRef::Bare(text) } else { NameRef::Quoted(text) })
        .collect();
    Some(Names { names, span: span? })
}

fn empty_rule(name: Text, span: Span) -> Block {
    Block {
        kind: BlockKind::Rule,
        name,
        to: None,
        scopes: Scopes::default(),
        because: None,
        suggest: None,
        ask_timeout: None,
        owner: None,
        until: None,
        lines: Vec::new(),
        otherwise: None,
        expects: Vec::new(),
        span,
    }
}

#[cfg(test)]
mod tests;
