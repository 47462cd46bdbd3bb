//! One rule of an `agent-firewall.yml` to a rule block.
//!
//! INVARIANT: a rule that is not understood in every part gives an error; none of its lists is left out in silence.

use super::{DECISIONS, Decision, Reader, spanned};
use crate::ast::{
    Block, BlockKind, Effect, Entry, Line, List, NameRef, Names, Otherwise, PatternList, Scopes, Subject,
    Text, Verb,
};
use crate::diagnostic::{Diagnostic, Level};
use crate::parse::{empty_block, hidden};
use crate::source::{Span, Spanned};
use crate::yaml::code::Code;
use crate::yaml::glob::{self, Side};
use crate::yaml::node::{Key, Node, Value};
use crate::yaml::words;

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

impl Reader {
    pub(super) fn rule(&mut self, rule: Node, number: usize, default: &Spanned<Decision>) -> Option<Block> {
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
            ..empty_block(BlockKind::Rule, name, rule.span)
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
                Value::Text(text) if text.chars().any(|ch| hidden(ch).is_some()) => {
                    let message = format!("`{what}` holds a hidden character");
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
