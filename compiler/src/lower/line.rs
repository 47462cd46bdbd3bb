//! One line: its verb and its rank.
//!
//! INVARIANT: a line with a clause that this version cannot enforce is an error, never a line without the clause.

use super::subject::Lowered;
use super::{Builder, note, number, severe};
use crate::code::Code;
use crate::ir;
use crate::plan::{Body, Instance, Part};
use policy_grammar::ast;
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::Span;
use policy_runtime::outside::Measure;
use std::collections::BTreeMap;

/// The block that a line stands in.
pub(super) struct Home<'i> {
    pub(super) instance: &'i Instance<'i>,
    pub(super) block: ir::BlockId,
    /// Rules asked before this one.
    pub(super) number: usize,
}

/// `only` lines of a block so far: what they look at and where.
pub(super) type Only = BTreeMap<(ir::Kind, String), Span>;

impl Builder<'_> {
    /// Lowers a line of a block.
    pub(super) fn line(&mut self, home: &Home<'_>, line: &ast::Line, only: &mut Only) {
        let Some(verb) = self.verb(home, line) else { return };
        if !self.enforceable(home, line) {
            return;
        }
        let grant = matches!(verb, ir::Verb::Allow | ir::Verb::Only | ir::Verb::Open);
        let Some(subject) = &line.subject else {
            self.bare(home, line, verb);
            return;
        };
        if let ast::Subject::Measure(word) = &subject.node {
            let measure = Measure::of(&word.node).filter(|measure| {
                measure.of_payment().is_some() || matches!(measure, Measure::Spend | Measure::Rise)
            });
            let lowered = match measure {
                Some(measure) => self.payment_measure(home, measure, line, word.span),
                None => self.measure(word, line),
            };
            let Some(lowered) = lowered else { return };
            self.lowered(home, line, verb, lowered);
            return;
        }
        let Some(lowered) = self.subject(home, &subject.node, subject.span, grant) else { return };
        if verb == ir::Verb::Only && !self.first_only(&lowered, line, only) {
            return;
        }
        self.lowered(home, line, verb, lowered);
    }

    fn lowered(&mut self, home: &Home<'_>, line: &ast::Line, verb: ir::Verb, lowered: Lowered) {
        let grant = matches!(verb, ir::Verb::Allow | ir::Verb::Only | ir::Verb::Open);
        let id = self.push_line(home, verb, lowered.kind, lowered.arg, line);
        self.tail(home, id, line);
        for found in lowered.patterns {
            let rank = rank(home, verb, id, found.words, found.bytes);
            let pattern = ir::Pattern { line: id, text: found.text, matcher: found.matcher, grant };
            self.pattern(pattern, rank, found.span);
        }
        for (matcher, span) in lowered.excepts {
            self.except(ir::Except { line: id, matcher, grant: !grant }, span);
        }
    }

    /// The verb in this kind of block; none when it does not belong there (said), or does not count.
    fn verb(&mut self, home: &Home<'_>, line: &ast::Line) -> Option<ir::Verb> {
        let instance = home.instance;
        let span = line.verb.span;
        let effect = match (instance.kind, line.verb.node) {
            (ir::BlockKind::Exception, ast::Verb::Open) => return Some(ir::Verb::Open),
            (ir::BlockKind::Exception, _) => {
                self.misplaced(
                    policy_grammar::Code::VerbInException,
                    "an exception only opens its guard",
                    span,
                );
                return None;
            }
            (_, ast::Verb::Open) => {
                self.misplaced(
                    policy_grammar::Code::OpenOutsideException,
                    "`open` outside an exception",
                    span,
                );
                return None;
            }
            (_, ast::Verb::Only) => {
                return (instance.part != Part::Refusals).then_some(ir::Verb::Only);
            }
            (_, ast::Verb::Effect(effect)) => effect,
        };
        if instance.part == Part::OnlyLines
            || (instance.part == Part::Refusals && effect == ast::Effect::Allow)
        {
            return None;
        }
        if instance.kind == ir::BlockKind::Guard && effect == ast::Effect::Allow {
            self.sink.push(
                Code::AllowInGuard
                    .error("a guard cannot allow", span, "a guard only tightens")
                    .with_help("move the line into a rule, or take it back with `except`"),
            );
            return None;
        }
        if instance.kind == ir::BlockKind::Rule && matches!(effect, ast::Effect::Warn | ast::Effect::Info) {
            self.sink.push(
                Code::ReportInRule
                    .error(format!("a rule cannot `{}`", effect.word()), span, "not an answer")
                    .with_help("write `allow`, `ask` or `deny`, or move the line into a guard"),
            );
            return None;
        }
        Some(match instance.set.unwrap_or_else(|| severe(effect, instance)) {
            ast::Effect::Allow => ir::Verb::Allow,
            ast::Effect::Info => ir::Verb::Info,
            ast::Effect::Warn => ir::Verb::Warn,
            ast::Effect::Ask => ir::Verb::Ask,
            ast::Effect::Deny => ir::Verb::Deny,
        })
    }

    /// What the parser refuses, and a tree that was made by hand may still hold.
    pub(super) fn misplaced(&mut self, code: policy_grammar::Code, message: &str, span: Span) {
        self.sink.push(Diagnostic::error(code.as_str(), message, span, "does not belong here"));
    }

    fn bare(&mut self, home: &Home<'_>, line: &ast::Line, verb: ir::Verb) {
        if home.instance.kind == ir::BlockKind::Rule {
            let word = line_word(line);
            self.sink.push(
                Code::VerbWithoutCondition
                    .error(format!("`{word}` does not say what it looks at"), line.verb.span, "no subject")
                    .with_help(format!(
                        "write `otherwise {word}` as the last line, or a subject such as `path \"./**\"`"
                    )),
            );
            return;
        }
        let tree = tree(home.instance);
        let because = line.because.as_ref().or(tree.and_then(|t| t.because.as_ref()));
        let suggest = line.suggest.as_ref().or(tree.and_then(|t| t.suggest.as_ref()));
        let (because, suggest) = (note(because), note(suggest));
        let id = self.always(home, verb, line_word(line).to_owned(), because, suggest, line.span);
        self.tail(home, id, line);
    }

    /// A line that matches every call in scope.
    pub(super) fn always(
        &mut self,
        home: &Home<'_>,
        verb: ir::Verb,
        text: String,
        because: String,
        suggest: String,
        span: Span,
    ) -> ir::LineId {
        let id = ir::LineId(number(self.policy.lines.len()));
        let place = self.place(span);
        let (kind, arg) = (ir::Kind::Call, String::new());
        self.policy.lines.push(ir::Line { block: home.block, verb, kind, arg, because, suggest, place });
        let grant = matches!(verb, ir::Verb::OtherwiseAllow | ir::Verb::Open);
        let rank = rank(home, verb, id, 0, 0);
        self.pattern(ir::Pattern { line: id, text, matcher: ir::Matcher::Always, grant }, rank, span);
        id
    }

    fn push_line(
        &mut self,
        home: &Home<'_>,
        verb: ir::Verb,
        kind: ir::Kind,
        arg: String,
        line: &ast::Line,
    ) -> ir::LineId {
        let id = ir::LineId(number(self.policy.lines.len()));
        let tree = tree(home.instance);
        let because = line.because.as_ref().or(tree.and_then(|t| t.because.as_ref()));
        let suggest = line.suggest.as_ref().or(tree.and_then(|t| t.suggest.as_ref()));
        let (because, suggest) = (note(because), note(suggest));
        let place = self.place(line.span);
        self.policy.lines.push(ir::Line { block: home.block, verb, kind, arg, because, suggest, place });
        id
    }

    fn first_only(&mut self, lowered: &Lowered, line: &ast::Line, only: &mut Only) -> bool {
        let kind = match lowered.kind {
            ir::Kind::Command | ir::Kind::Shell => ir::Kind::Run,
            kind => kind,
        };
        if let Some(first) = only.get(&(kind, lowered.arg.clone())) {
            self.sink.push(
                Code::OnlyTwice
                    .error(
                        "two `only` lines of one kind contradict each other",
                        *first,
                        "these and nothing else",
                    )
                    .with_label(line.span, "and again others")
                    .with_help("put both lists into one line"),
            );
            return false;
        }
        only.insert((kind, lowered.arg.clone()), line.span);
        true
    }
}

fn tree<'i>(instance: &Instance<'i>) -> Option<&'i ast::Block> {
    match instance.body {
        Body::Block(tree) => Some(tree),
        Body::Default(..) => None,
    }
}

fn line_word(line: &ast::Line) -> &'static str {
    match line.verb.node {
        ast::Verb::Effect(effect) => effect.word(),
        ast::Verb::Only => "only",
        ast::Verb::Open => "open",
    }
}

/// The place of a pattern among the others. ORDER: rules lowest, the earlier rule higher; in a rule `otherwise`, then
/// the longest pattern (`ask` before `allow`, then the earlier line), then every `deny`; above them exceptions, then
/// guards, the stricter effect higher.
fn rank(home: &Home<'_>, verb: ir::Verb, line: ir::LineId, words: u32, bytes: u32) -> super::Rank {
    let down = |n: u64| u64::from(u32::MAX) - n;
    let strictness = match verb {
        ir::Verb::Only | ir::Verb::Open => 0,
        ir::Verb::Allow | ir::Verb::OtherwiseAllow => 1,
        ir::Verb::Info => 2,
        ir::Verb::Warn => 3,
        ir::Verb::Ask | ir::Verb::OtherwiseAsk => 4,
        ir::Verb::Deny | ir::Verb::OtherwiseDeny => 5,
    };
    let (words, bytes, line) = (u64::from(words), u64::from(bytes), down(u64::from(line.0)));
    match home.instance.kind {
        ir::BlockKind::Rule => {
            let (class, ask) = match verb {
                ir::Verb::OtherwiseAllow | ir::Verb::OtherwiseAsk | ir::Verb::OtherwiseDeny => (0, 0),
                ir::Verb::Deny => (2, 0),
                ir::Verb::Ask => (1, 1),
                _ => (1, 0),
            };
            [0, down(home.number as u64), class, words, bytes, ask, line]
        }
        ir::BlockKind::Exception => [1, 0, strictness, words, bytes, 0, line],
        ir::BlockKind::Guard => [2, 0, strictness, words, bytes, 0, line],
    }
}
