//! Run patterns: what stands between the backticks.
//!
//! INVARIANT: a pattern is read as words, braces and literals only; whatever a shell would read otherwise is refused.

use super::build::Node;
use super::{Parser, PolicyGrammar, Rule, diagnose};
use crate::ast::{RunItem, RunPattern, Stage, Term, TermPart};
use crate::code::Code;
use crate::source::Span;
use pest::Parser as _;

/// Words that a shell reads as operators.
const OPERATORS: &[&str] =
    &["&&", "||", ";", ";;", "&", ">", ">>", "<", "<<", "<<<", "2>", "2>>", "&>", ">|", "(", ")"];

impl<'t> Parser<'t> {
    /// Run patterns side by side; true when they stand in brackets.
    pub(super) fn runs(&mut self, list: &Node<'t>) -> (Vec<RunItem>, bool) {
        let mut bracketed = false;
        let mut items = Vec::new();
        for kid in list.kids() {
            match kid.rule() {
                Rule::lbracket => bracketed = true,
                Rule::run => items.push(RunItem::Pattern(self.run_pattern(&kid))),
                Rule::at_ref => items.push(RunItem::Ref(kid.value())),
                _ => {}
            }
        }
        (items, bracketed)
    }

    pub(super) fn run_pattern(&mut self, node: &Node<'t>) -> RunPattern {
        let span = node.span();
        let written = node.text();
        let text: &'t str = written.get(1..written.len().saturating_sub(1)).unwrap_or("");
        let mut pattern = RunPattern { stages: Vec::new(), rest: false, text: text.to_owned(), span };
        if text.trim().is_empty() {
            let help = "name a program, or write `*` in backticks for every command";
            self.error_help(
                Code::EmptyRunPattern,
                "this run pattern is empty",
                span,
                "names no program",
                help,
            );
            return pattern;
        }
        let base = span.start as usize + 1;
        match PolicyGrammar::parse(Rule::run_body, text).map(|mut pairs| pairs.next()) {
            Ok(Some(pair)) => self.stages(&Node::new(pair, self.file, base), &mut pattern),
            Ok(None) => {}
            Err(error) => {
                self.run_fault(text, base, diagnose::location(&error));
            }
        }
        pattern
    }

    /// Says why the text between backticks is no run pattern.
    fn run_fault(&mut self, text: &str, base: usize, at: usize) {
        let before = text.get(..at).unwrap_or("");
        let here = text.get(at..).and_then(|rest| rest.chars().next());
        let place = self.span(base + at, base + at + here.map_or(0, char::len_utf8));
        let opening = |c: char| before.rfind(c).map(|found| base + found);
        let in_braces = before.matches('{').count() > before.matches('}').count();
        match here {
            Some('{') if in_braces => {
                let help = "spell the choices out side by side: `{a,b,c}`";
                self.error_help(
                    Code::NestedBraces,
                    "braces inside braces",
                    place,
                    "opens a second time",
                    help,
                );
            }
            Some('}') => {
                let help = "a literal brace is written in single quotes: `'{}'`";
                self.error_help(
                    Code::UnclosedChoice,
                    "this brace closes nothing",
                    place,
                    "no `{` before it",
                    help,
                );
            }
            _ if in_braces && !before.ends_with('|') => {
                let start = opening('{').unwrap_or(base);
                let help = "choices are words without blanks: `{a,b}`; a literal brace is written `'{'`";
                self.error_help(
                    Code::UnclosedChoice,
                    "these braces are not closed",
                    self.span(start, start + 1),
                    "opened here",
                    help,
                );
            }
            Some('|') | None if before.trim_end().ends_with('|') || before.trim().is_empty() => {
                let help = "write a program on each side of `|`; a literal bar is written `'|'`";
                self.error_help(
                    Code::EmptyRunPattern,
                    "a side of this pipe is empty",
                    place,
                    "a program must stand here",
                    help,
                );
            }
            _ => {
                let start = opening('\'').unwrap_or(base + at);
                let help = "close the single quote; a literal one cannot stand in a run pattern";
                self.error_help(
                    Code::UnclosedChoice,
                    "this quote is not closed",
                    self.span(start, start + 1),
                    "opened here",
                    help,
                );
            }
        }
    }

    fn stages(&mut self, body: &Node<'t>, pattern: &mut RunPattern) {
        let mut rest: Option<Span> = None;
        for stage in body.kids().filter(|kid| kid.rule() == Rule::stage) {
            let mut terms = Vec::new();
            for term in stage.kids().filter(|kid| kid.rule() == Rule::term) {
                if let Some(early) = rest {
                    self.rest_not_last(early);
                    rest = None;
                }
                if term.kid(Rule::rest).is_some() {
                    if terms.is_empty() {
                        self.rest_not_last(term.span());
                    } else {
                        rest = Some(term.span());
                    }
                    continue;
                }
                if OPERATORS.contains(&term.text()) {
                    let message = format!("`{}` is an operator of the shell", term.text());
                    let help = "each command is decided alone: write one pattern a command; redirect targets are `writing \"…\"`, a literal is `';'`";
                    self.error_help(
                        Code::ShellOperatorInRun,
                        message,
                        term.span(),
                        "not a word of a command",
                        help,
                    );
                }
                let parts = self.parts(&term);
                terms.push(Term { parts, span: term.span() });
            }
            pattern.stages.push(Stage { terms, span: stage.span() });
        }
        pattern.rest = rest.is_some();
    }

    fn rest_not_last(&mut self, span: Span) {
        let help = "`...` stands for further words and comes last; `*` is one word, `-*` any flags";
        self.error_help(
            Code::RestNotLast,
            "`...` must be the last word",
            span,
            "words follow, or none come before",
            help,
        );
    }

    fn parts(&mut self, word: &Node<'t>) -> Vec<TermPart> {
        let mut parts = Vec::new();
        for kid in word.kids() {
            match kid.rule() {
                Rule::chunk | Rule::choice_text => parts.push(TermPart::Text(kid.text().to_owned())),
                Rule::quoted => {
                    let text = kid.kid(Rule::quoted_text).map_or("", |text| text.text());
                    parts.push(TermPart::Quoted(text.to_owned()));
                }
                Rule::dquoted => {
                    let help = "write single quotes for a literal word, or nothing: words are compared as the shell would read them";
                    self.error_help(
                        Code::DoubleQuoteInRun,
                        "a double quote in a run pattern",
                        kid.span(),
                        "quoted here",
                        help,
                    );
                    parts.push(TermPart::Quoted(kid.text().trim_matches('"').to_owned()));
                }
                Rule::braces => parts.push(TermPart::Braces(self.braces(&kid))),
                _ => {}
            }
        }
        parts
    }

    fn braces(&mut self, node: &Node<'t>) -> Vec<Vec<TermPart>> {
        let mut choices = Vec::new();
        for choice in node.kids().filter(|kid| kid.rule() == Rule::choice) {
            let parts = self.parts(&choice);
            choices.push((parts, choice.span()));
        }
        let written = node.text();
        let whole = node.span();
        if let Some((_, empty)) = choices.iter().find(|(parts, _)| parts.is_empty()) {
            let (span, help) = match choices.len() {
                1 => (whole, "a literal pair of braces is written `'{}'`"),
                _ => (*empty, "leave the comma out; for a word that may be missing write two patterns"),
            };
            self.error_help(
                Code::EmptyChoice,
                "an empty choice in braces",
                span,
                "nothing stands here",
                help,
            );
        } else if choices.len() == 1 {
            let bare = written.trim_matches(['{', '}']);
            let help = format!("write `{bare}` without braces, or `'{written}'` for literal braces");
            self.error_help(
                Code::SingleChoice,
                "braces with a single choice",
                whole,
                "nothing to choose from",
                help,
            );
        }
        choices.into_iter().map(|(parts, _)| parts).collect()
    }
}
