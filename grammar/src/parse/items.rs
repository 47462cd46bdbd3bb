//! Items: settings, lists, projects, and which word begins what.
//!
//! INVARIANT: the loop over items always moves on, and ends at the end of the text or of its project.

use super::build::Node;
use super::lex::Kind;
use super::{Failed, MAX_DEPTH, Parser, Rule};
use crate::ast::{
    AskPlace, DefaultWord, Effect, Header, Item, List, Member, Mode, Origin, SetTo, SeverityWord, Text,
};
use crate::code::Code;
use crate::source::{Span, Spanned};

/// The words that begin an item (`ask timeout` and `ask via` begin one too).
pub(super) const ITEM_WORDS: &[&str] = &[
    "default",
    "mode",
    "severity",
    "use",
    "set",
    "list",
    "asset",
    "payee",
    "secret",
    "program",
    "project",
    "rule",
    "guard",
    "exception",
    "assert",
    "test",
    "policy",
];

pub(super) fn is_item_word(word: &str) -> bool {
    ITEM_WORDS.contains(&word)
}

impl<'t> Parser<'t> {
    /// Items from `at` to the end of the text, or of the project whose opening brace is given.
    pub(super) fn items(&mut self, mut at: usize, project: Option<Span>, depth: usize) -> (Vec<Item>, usize) {
        let mut items = Vec::new();
        loop {
            let token = self.next(at);
            let word = token.text(self.text);
            match token.kind {
                Kind::End => {
                    if let Some(open) = project {
                        self.never_closed(open, token, "project");
                    }
                    return (items, token.start);
                }
                Kind::Close if word == "}" => {
                    if self.stray > 0 {
                        self.stray -= 1;
                    } else if project.is_some() {
                        return (items, token.end);
                    } else {
                        self.skipped = true;
                        let help = "remove it, or add the `{` that it should close";
                        self.error_help(
                            Code::StrayBrace,
                            "this brace closes nothing",
                            self.token_span(token),
                            "no block is open here",
                            help,
                        );
                    }
                    at = token.end;
                }
                Kind::Word => match self.item(token.start, word, depth) {
                    Ok((item, end)) => {
                        items.extend(item);
                        at = end;
                    }
                    Err(failed) => at = self.recover_items(token.start, failed.0),
                },
                _ => {
                    self.unexpected_item(token);
                    at = self.recover_items(token.start, token.end);
                }
            }
        }
    }

    fn item(&mut self, at: usize, word: &str, depth: usize) -> Result<(Option<Item>, usize), Failed> {
        let rule = match word {
            "default" => Rule::default,
            "mode" => Rule::mode,
            "severity" => Rule::severity,
            "use" => Rule::use_,
            "set" => Rule::set,
            "list" => Rule::named,
            "asset" => Rule::asset,
            "payee" => Rule::payee,
            "policy" => Rule::header,
            "ask" if self.next(at + 3).text(self.text) == "timeout" => Rule::ask_timeout,
            "ask" if self.next(at + 3).text(self.text) == "via" => Rule::ask_via,
            "project" => return self.project(at, depth),
            "rule" | "guard" | "exception" | "assert" | "test" | "secret" | "program" => {
                return self.block_item(at, word).map(|(item, end)| (Some(item), end));
            }
            _ => return Err(self.unknown_item(at)),
        };
        let (node, end) = self.statement(rule, at)?;
        Ok((self.setting(&node), end))
    }

    fn project(&mut self, at: usize, depth: usize) -> Result<(Option<Item>, usize), Failed> {
        if depth >= MAX_DEPTH {
            let span = self.span(at, at + "project".len());
            let message = format!("projects are nested more than {MAX_DEPTH} deep");
            self.error(Code::TooDeep, message, span, "one too many");
            return Err(Failed(at));
        }
        let (folders, open, body) = match self.statement(Rule::project_head, at) {
            Ok((head, end)) => {
                let folders = head.kid(Rule::list).map(|list| self.list(&list));
                let open = head.kid(Rule::lbrace).map(|brace| brace.span());
                (folders, open, end)
            }
            Err(failed) => {
                let open = self.find_open(failed.0).ok_or(failed)?;
                (None, Some(self.span(open, open + 1)), open + 1)
            }
        };
        let span = self.span(at, body);
        let folders = folders.unwrap_or(List { entries: Vec::new(), bracketed: false, span });
        let (items, end) = self.items(body, Some(open.unwrap_or(span)), depth + 1);
        Ok((Some(Item::Project { folders, items, span: self.span(at, end) }), end))
    }

    pub(super) fn build_header(&mut self, node: Node<'t>) -> Option<Header> {
        let language = self.scalar(&node);
        let version = self.integer(&language, "the language version");
        if version.node > 1 || (version.node == 0 && language.text() == "0") {
            let message = format!("language {} is unknown", version.node);
            let help = "this program reads language 1; a newer file needs a newer program";
            self.error_help(Code::UnsupportedLanguageVersion, message, version.span, "this version", help);
        }
        Some(Header { name: self.quoted(&node), language: version, span: node.span() })
    }

    fn setting(&mut self, node: &Node<'t>) -> Option<Item> {
        let span = node.span();
        let word = node.kid(Rule::word);
        Some(match node.rule() {
            Rule::default => Item::Default { value: self.default_word(&word?), span },
            Rule::mode => {
                let value = self.one_of(
                    &word?,
                    "mode",
                    &[("enforce", Mode::Enforce), ("observe", Mode::Observe)],
                    Mode::Enforce,
                );
                Item::Mode { value, span }
            }
            Rule::severity => {
                let words = [
                    ("strict", SeverityWord::Strict),
                    ("standard", SeverityWord::Standard),
                    ("relaxed", SeverityWord::Relaxed),
                ];
                Item::Severity {
                    value: self.one_of(&word?, "severity", &words, SeverityWord::Standard),
                    span,
                }
            }
            Rule::ask_timeout => {
                let scalar = self.scalar(node);
                Item::AskTimeout { seconds: self.duration(&scalar), span }
            }
            Rule::ask_via => Item::AskVia { place: self.ask_place(node), span },
            Rule::use_ => {
                let origins = node.kids().filter_map(|kid| match kid.rule() {
                    Rule::path_id => Some(Origin::Pack(kid.as_text())),
                    Rule::string => Some(Origin::File(kid.value())),
                    _ => None,
                });
                Item::Use { origins: origins.collect(), span }
            }
            Rule::set => {
                let to = word?;
                let value = match to.text() {
                    "off" => SetTo::Off,
                    _ => SetTo::Effect(self.effect(&to, &["off"]).node),
                };
                let to = Spanned { node: value, span: to.span() };
                let because = node.kid(Rule::because).map(|because| self.quoted(&because))?;
                Item::Set { target: node.kid(Rule::path_id)?.as_text(), to, because, span }
            }
            Rule::named => {
                let name = self.name(&word?);
                let (members, bracketed) = self.members(&node.kid(Rule::members)?);
                Item::List { name, members, bracketed, span }
            }
            Rule::asset => {
                let symbol = word?;
                if !symbol.text().bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()) {
                    let message = format!("`{}` is no name for an asset", symbol.text());
                    let help = format!("assets are written in capitals: `{}`", symbol.text().to_uppercase());
                    self.error_help(Code::BadName, message, symbol.span(), "this name", help);
                }
                let scalar = self.scalar(node);
                let decimals = self.integer(&scalar, "the decimals of the asset");
                Item::Asset { symbol: symbol.as_text(), id: self.quoted(node), decimals, span }
            }
            Rule::payee => {
                let name = self.name(&word?);
                let addresses = self.list(&node.kid(Rule::list)?);
                Item::Payee { name, addresses, span }
            }
            Rule::header => {
                let help = "remove it, or move what follows into a file of its own";
                self.error_help(Code::RepeatedHeader, "a second header", span, "a file has one", help);
                return None;
            }
            _ => return None,
        })
    }

    fn members(&mut self, node: &Node<'t>) -> (Vec<Member>, bool) {
        let mut bracketed = false;
        let mut members = Vec::new();
        for kid in node.kids() {
            match kid.rule() {
                Rule::lbracket => bracketed = true,
                Rule::bare => members.push(Member::Name(kid.as_text())),
                Rule::string => members.push(Member::Pattern(kid.value())),
                Rule::run => members.push(Member::Run(self.run_pattern(&kid))),
                Rule::at_ref => members.push(Member::Ref(kid.value())),
                _ => {}
            }
        }
        (members, bracketed)
    }

    fn default_word(&mut self, word: &Node<'t>) -> Spanned<DefaultWord> {
        let span = word.span();
        let node = match word.text() {
            "host" => DefaultWord::Host,
            "allow" => DefaultWord::Allow,
            "ask" => DefaultWord::Ask,
            "deny" => DefaultWord::Deny,
            "info" | "warn" => {
                let message = format!("`{}` cannot be the default", word.text());
                let help = "the default is allow, host, ask or deny";
                self.error_help(Code::UnknownWord, message, span, "not a default", help);
                DefaultWord::Deny
            }
            _ => {
                self.effect(word, &["host"]);
                DefaultWord::Deny
            }
        };
        Spanned { node, span }
    }

    /// A decision; a wrong word is explained and counts as `deny`.
    pub(super) fn effect(&mut self, word: &Node<'t>, also: &[&str]) -> Spanned<Effect> {
        let span = word.span();
        let node = match word.text() {
            "allow" => Effect::Allow,
            "info" => Effect::Info,
            "warn" => Effect::Warn,
            "ask" => Effect::Ask,
            "deny" => Effect::Deny,
            other => {
                self.unknown_decision(other, span, also);
                Effect::Deny
            }
        };
        Spanned { node, span }
    }

    /// One of a few words; a wrong word is explained and counts as `fallback`.
    fn one_of<T: Copy>(
        &mut self,
        word: &Node<'t>,
        what: &str,
        words: &[(&str, T)],
        fallback: T,
    ) -> Spanned<T> {
        let span = word.span();
        let found = words.iter().find(|(name, _)| *name == word.text());
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            self.unknown_word(what, &word.as_text(), &names);
        }
        let node = found.map_or(fallback, |(_, value)| *value);
        Spanned { node, span }
    }

    /// Where a person answers.
    pub(super) fn ask_place(&mut self, node: &Node<'t>) -> Spanned<AskPlace> {
        let word = node.kid(Rule::word).unwrap_or_else(|| node.clone());
        self.one_of(&word, "place to answer", &[("page", AskPlace::Page)], AskPlace::Page)
    }

    /// A word that must be one of a few, kept as text.
    pub(super) fn checked_word(&mut self, what: &str, word: &Text, words: &[&str]) {
        if !words.contains(&word.node.as_str()) {
            self.unknown_word(what, word, words);
        }
    }
}
