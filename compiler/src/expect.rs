//! Tested calls: `expect` lines of blocks and `test` blocks.
//!
//! INVARIANT: the compiler knows no host: a tested call leaves as data, and its verdict comes back.

use crate::code::Code;
use crate::near::Meant;
use policy_grammar::ast;
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::{FileId, SourceMap, Span, Spanned};
use policy_runtime::verdict::{Decision, Severity, Step, Verdict};
use std::rc::Rc;

/// Something that happened before a tested call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// The session was flagged.
    Flagged,
    /// This command ran, and succeeded.
    Ran(String),
    /// This file was read: a path of the project, of home (`~/`) or an absolute one.
    Read(String),
    /// This file was written.
    Wrote(String),
}

/// One tested call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectCase {
    /// What it must get.
    pub effect: Spanned<ast::Effect>,
    /// The tool, as a host would spell it.
    pub tool: ast::Text,
    /// Its arguments.
    pub args: Spanned<ast::ExpectArgs>,
    /// The server.
    pub from: Option<ast::Text>,
    /// Who calls.
    pub as_: Option<ast::Text>,
    /// The block that must decide.
    pub by: Option<ast::Text>,
    /// The UTC day of the call, days since the epoch; none is today.
    pub today: Option<i64>,
    /// The folder of the call below the project; none is the project itself.
    pub dir: Option<String>,
    /// What happened before it in the session, in order.
    pub before: Rc<[Before]>,
    /// The block it stands in, by full name.
    pub block: Option<String>,
    /// The whole clause.
    pub span: Span,
    /// What it was likely written for.
    pub(crate) meant: Rc<Meant>,
}

/// Runs the tested calls and says which got something else.
pub fn check_expects(
    cases: &[ExpectCase],
    sources: &SourceMap,
    run: &mut dyn FnMut(&ExpectCase) -> Verdict,
) -> Vec<Diagnostic> {
    cases.iter().filter_map(|case| check(case, sources, &run(case))).collect()
}

fn check(case: &ExpectCase, sources: &SourceMap, verdict: &Verdict) -> Option<Diagnostic> {
    let decision = verdict.observed.unwrap_or(verdict.decision);
    let got = decision.without_host();
    let wanted = case.effect.node;
    let message = match wanted {
        ast::Effect::Allow if got == Decision::Allow => None,
        ast::Effect::Ask if got == Decision::Ask => None,
        ast::Effect::Deny if got == Decision::Deny => None,
        ast::Effect::Warn => reported(case, verdict, Severity::Warning, decision),
        ast::Effect::Info => reported(case, verdict, Severity::Info, decision),
        _ => Some(format!("expected {}, got {}", wanted.word(), got_word(decision))),
    };
    let step = verdict.steps.first();
    if let Some(message) = message {
        let error = Code::Unmet.error(message, case.args.span, decided(case, step, decision));
        let error = explained(error, sources, step, case);
        return Some(nearly(error, case, step, got));
    }
    let by = case.by.as_ref()?;
    let named = |rule: &str| rule == by.node || rule.rsplit('/').next() == Some(by.node.as_str());
    let met = match wanted {
        // `reported` has looked at the name already.
        ast::Effect::Warn | ast::Effect::Info => true,
        ast::Effect::Allow => step.is_some_and(|s| named(&s.rule)),
        _ => verdict.steps.iter().any(|s| s.decision.without_host() == got && named(&s.rule)),
    };
    if met {
        return None;
    }
    let message = format!("expected {} by `{}`, got it elsewhere", wanted.word(), by.node);
    let error = Code::Unmet.error(message, by.span, decided(case, step, decision));
    Some(explained(error, sources, step, case))
}

/// What is wrong when a finding of this severity was expected; none when it is there.
fn reported(case: &ExpectCase, verdict: &Verdict, severity: Severity, decision: Decision) -> Option<String> {
    let word = case.effect.node.word();
    let by = case.by.as_ref().map(|b| b.node.as_str()).or(case.block.as_deref());
    let named = |rule: &str| by.is_none_or(|by| rule == by || rule.rsplit('/').next() == Some(by));
    if decision.without_host() == Decision::Deny {
        return Some(format!("expected {word}, got deny"));
    }
    if verdict.findings.iter().any(|f| f.severity == severity && named(&f.rule)) {
        return None;
    }
    Some(match by {
        Some(by) => format!("expected {word} by `{by}`, which reported nothing of the kind"),
        None => format!("expected {word}, and nothing of the kind was reported"),
    })
}

fn got_word(decision: Decision) -> &'static str {
    match decision {
        Decision::Host => "ask (no opinion)",
        other => other.word(),
    }
}

/// The command that decided, when it is only a part of the text: one of a chain, or one that another runs.
fn part<'s>(case: &ExpectCase, step: &'s Step) -> Option<&'s str> {
    match &case.args.node {
        ast::ExpectArgs::Command(all) if !step.value.is_empty() && *all != step.value => Some(&step.value),
        _ => None,
    }
}

fn decided(case: &ExpectCase, step: Option<&Step>, decision: Decision) -> String {
    let Some(step) = step else { return "decided by nothing".to_owned() };
    match step.rule.as_str() {
        "default" | "" if step.place.line == 0 => match part(case, step) {
            Some(value) => format!("no rule answers `{value}`, and no default is written"),
            None => "no rule answers and no default is written".to_owned(),
        },
        "default" | "" => match part(case, step) {
            Some(value) => format!("`{value}` gets the default, `{}`", decision.word()),
            None => format!("decided by the default, `{}`", decision.word()),
        },
        "built-in" => format!("decided by what no policy can change: {}", step.because),
        rule => {
            let kind = if step.guard { "guard" } else { "rule" };
            let value = if step.value.is_empty() { String::new() } else { format!(" for `{}`", step.value) };
            format!("decided by {kind} `{rule}`{value}")
        }
    }
}

/// Adds the place that decided and what to do.
fn explained(error: Diagnostic, sources: &SourceMap, step: Option<&Step>, case: &ExpectCase) -> Diagnostic {
    let Some(step) = step else { return error };
    let error = match line_span(sources, &step.place.file, step.place.line) {
        Some(span) if step.matched.is_empty() => error.with_label(span, "decides here"),
        Some(span) => error.with_label(span, format!("matches `{}`", step.matched)),
        None => error,
    };
    let words = matches!(case.args.node, ast::ExpectArgs::Command(_));
    let help = match (case.effect.node, step.rule.as_str()) {
        (ast::Effect::Allow, _) if step.rule == "built-in" => {
            "what cannot be understood is never allowed; write the call more simply".to_owned()
        }
        (ast::Effect::Allow, "default" | "") if words && part(case, step).is_some() => {
            "each command of a text, and each that another one runs, needs an `allow` of its own".to_owned()
        }
        (ast::Effect::Allow, "default" | "") if words => {
            "no line matches: an `allow` needs exactly these words; `...` lets further words follow"
                .to_owned()
        }
        (ast::Effect::Allow | ast::Effect::Deny | ast::Effect::Ask, "default" | "") => {
            let tool = &case.tool.node;
            format!(
                "no line matches: is `{tool}` among the tools behind `on`, and does a pattern fit the call?"
            )
        }
        (ast::Effect::Warn | ast::Effect::Info, _) => {
            "`policy explain TOOL JSON` shows every line that was looked at".to_owned()
        }
        _ => format!("change `{}`, or expect {}", step.rule, step.decision.without_host().word()),
    };
    error.with_help(help)
}

/// Adds the pattern of the block that was likely meant, and what it misses.
fn nearly(error: Diagnostic, case: &ExpectCase, step: Option<&Step>, got: Decision) -> Diagnostic {
    let wanted = match case.effect.node {
        ast::Effect::Allow => Decision::Allow,
        ast::Effect::Ask => Decision::Ask,
        ast::Effect::Deny => Decision::Deny,
        ast::Effect::Warn | ast::Effect::Info => return error,
    };
    let ast::ExpectArgs::Command(command) = &case.args.node else { return error };
    // Too strict an answer is explained by the line that gave it.
    if wanted < got && wanted != Decision::Allow {
        return error;
    }
    match case.meant.nearest(command, step.map_or("", |s| &s.value), wanted == Decision::Allow) {
        Some(miss) => {
            let error = error.with_label(miss.span, miss.label);
            match miss.help {
                Some(help) => error.with_help(help),
                None => error,
            }
        }
        None => error,
    }
}

/// The text of a line, without the blanks around it.
fn line_span(sources: &SourceMap, file: &str, line: u32) -> Option<Span> {
    let index = sources.files().iter().position(|f| f.name == file)?;
    let text = &sources.files().get(index)?.text;
    let mut start = 0;
    let mut lines = text.split_inclusive('\n');
    for _ in 1..line {
        start += lines.next()?.len();
    }
    let found = lines.next().filter(|_| line > 0)?;
    let lead = found.len() - found.trim_start().len();
    let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let begin = start + lead;
    Some(Span { file: FileId(offset(index)), start: offset(begin), end: offset(begin + found.trim().len()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_runtime::verdict::{Finding, Place};

    fn case(effect: ast::Effect, by: Option<&str>) -> ExpectCase {
        let text = |t: &str| Spanned { node: t.to_owned(), span: Span::default() };
        ExpectCase {
            effect: Spanned { node: effect, span: Span::default() },
            tool: text("bash"),
            args: Spanned { node: ast::ExpectArgs::Command("ls".into()), span: Span::default() },
            from: None,
            as_: None,
            by: by.map(text),
            today: None,
            dir: None,
            before: Rc::default(),
            block: Some("std/x/g".into()),
            span: Span::default(),
            meant: Rc::default(),
        }
    }

    fn verdict(decision: Decision, rule: &str) -> Verdict {
        let place = Place { file: "a.policy".into(), line: 2 };
        let step = Step {
            decision,
            rule: rule.into(),
            place,
            value: "ls".into(),
            matched: "ls".into(),
            because: String::new(),
            suggest: String::new(),
            ask_timeout: None,
            page_only: false,
            guard: false,
        };
        Verdict::of(step)
    }

    fn messages(case: &ExpectCase, verdict: &Verdict) -> Vec<String> {
        let mut sources = SourceMap::default();
        sources.add("a.policy", "one\n  two\nthree");
        check_expects(std::slice::from_ref(case), &sources, &mut |_| verdict.clone())
            .into_iter()
            .map(|d| {
                assert!(d.labels.len() < 2 || sources.slice(d.labels[1].span) == "two");
                d.message
            })
            .collect()
    }

    #[test]
    fn decisions() {
        use ast::Effect::*;
        assert!(messages(&case(Allow, None), &verdict(Decision::Allow, "r")).is_empty());
        assert!(messages(&case(Ask, None), &verdict(Decision::Host, "default")).is_empty());
        let unmet = messages(&case(Allow, None), &verdict(Decision::Host, "default"));
        assert_eq!(unmet, ["expected allow, got ask (no opinion)"]);
        assert_eq!(messages(&case(Deny, None), &verdict(Decision::Ask, "r")), ["expected deny, got ask"]);
        assert!(messages(&case(Deny, Some("g")), &verdict(Decision::Deny, "std/x/g")).is_empty());
        assert_eq!(messages(&case(Deny, Some("h")), &verdict(Decision::Deny, "std/x/g")).len(), 1);
    }

    #[test]
    fn findings() {
        let mut v = verdict(Decision::Allow, "r");
        assert_eq!(messages(&case(ast::Effect::Warn, None), &v).len(), 1);
        v.findings.push(Finding {
            rule: "std/x/g".into(),
            severity: Severity::Warning,
            message: String::new(),
            suggest: String::new(),
            place: Place::default(),
            line: 0,
            column: 0,
        });
        assert!(messages(&case(ast::Effect::Warn, None), &v).is_empty());
        assert!(messages(&case(ast::Effect::Warn, Some("g")), &v).is_empty());
        assert_eq!(messages(&case(ast::Effect::Info, None), &v).len(), 1);
    }

    #[test]
    fn observed_decisions_count() {
        let mut v = verdict(Decision::Allow, "r");
        v.observed = Some(Decision::Deny);
        assert!(messages(&case(ast::Effect::Deny, None), &v).is_empty());
    }
}
