//! `agent-firewall.yml` to the tree of a policy: each of its rules becomes a rule whose `otherwise` is its decision.
//!
//! INVARIANT: the tree decides as the format says: the first rule whose tool matches, block before the longest pattern,
//! ask at a tie, plain lists for "only these"; and nothing behind the file's own rules is ever asked.

mod rule;

use super::code::Code;
use super::node::{self, Key, Node, Value};
use super::words;
use crate::ast::{Block, BlockKind, DefaultWord, Effect, File, Header, Item, Origin, Otherwise};
use crate::diagnostic::{Diagnostic, Level};
use crate::parse::{Parsed, empty_block};
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
            None if ["packs", "exclude_packs", "severity", "stack", "projects"]
                .contains(&key.text.as_str()) =>
            {
                "this is a key of an `agentlint.yml`, and only a file of that name is read as one".to_owned()
            }
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
            ..empty_block(BlockKind::Rule, spanned(name, span), span)
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

#[cfg(test)]
mod tests;
