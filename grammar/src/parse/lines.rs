//! Lines: a verb, a subject, and the clauses that belong to it.
//!
//! INVARIANT: every clause is kept once and in the place that the language gives it, or a diagnostic says otherwise.

use super::Parser;
use super::Rule;
use super::build::{Node, duration_seconds};
use crate::ast::{
    BlockKind, CheckOption, CheckValue, Condition, ConditionTest, Effect, Line, Obligation, Past, Quantity,
    RunSubject, Subject, Tally, Text, Verb, View, Window,
};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::source::{Span, Spanned};

/// The order in which the clauses of a line stand.
const CLAUSES: &[Rule] = &[Rule::tally, Rule::condition, Rule::because, Rule::suggest, Rule::obligation];

fn clause_word(rule: Rule) -> &'static str {
    match rule {
        Rule::tally => "over",
        Rule::condition => "when",
        Rule::because => "because",
        Rule::suggest => "suggest",
        Rule::obligation => "then",
        Rule::run_except | Rule::except | Rule::except_late => "except",
        Rule::touching => "touching",
        Rule::reading => "reading",
        Rule::writing => "writing",
        Rule::deleting => "deleting",
        Rule::sending => "sending",
        Rule::via => "via",
        _ => "clause",
    }
}

impl<'t> Parser<'t> {
    pub(super) fn clause_twice(&mut self, first: Span, second: Span, word: &str) {
        let error = Diagnostic::error(
            Code::ClauseTwice.as_str(),
            format!("`{word}` is said twice"),
            first,
            "said here...",
        )
        .with_label(second, "...and again here")
        .with_help("keep one of them; several patterns stand in one list");
        self.push(error);
    }

    fn clause_order(&mut self, clause: &Node<'t>, before: Span, help: &str) {
        let message = format!("`{}` comes too late in this line", clause_word(clause.rule()));
        let error = Diagnostic::error(Code::ClauseOrder.as_str(), message, clause.span(), "this clause...")
            .with_label(before, "...stands before this one")
            .with_help(help);
        self.push(error);
    }

    pub(super) fn line(&mut self, kind: BlockKind, node: &Node<'t>) -> Option<Line> {
        let mut kids = node.kids();
        let verb = self.verb(&kids.next()?);
        self.check_verb(kind, verb.node, verb.span);
        let mut line = Line {
            verb,
            subject: None,
            tally: None,
            condition: None,
            because: None,
            suggest: None,
            obligation: None,
            span: node.span(),
        };
        let mut last: Option<Node<'t>> = None;
        for kid in kids {
            let rule = kid.rule();
            if rule == Rule::except_late {
                self.late_except(&line, &kid);
                continue;
            }
            let Some(place) = CLAUSES.iter().position(|known| *known == rule) else {
                let span = kid.span();
                line.subject = self.subject(&kid).map(|subject| Spanned { node: subject, span });
                continue;
            };
            let later =
                last.as_ref().filter(|last| CLAUSES.iter().position(|c| *c == last.rule()) > Some(place));
            if let Some(later) = later {
                let help = "the order of a line is verb, subject, `over`, `when` or `unless`, `because`, `suggest`, `then`";
                self.clause_order(&kid, later.span(), help);
            }
            let first = self.clause(&mut line, &kid);
            if let Some(first) = first {
                self.clause_twice(first, kid.span(), clause_word(rule));
            }
            last = Some(kid);
        }
        self.check_measure(&line);
        Some(line)
    }

    fn verb(&mut self, node: &Node<'t>) -> Spanned<Verb> {
        let verb = match node.text() {
            "only" => Verb::Only,
            "open" => Verb::Open,
            "allow" => Verb::Effect(Effect::Allow),
            "info" => Verb::Effect(Effect::Info),
            "warn" => Verb::Effect(Effect::Warn),
            "ask" => Verb::Effect(Effect::Ask),
            _ => Verb::Effect(Effect::Deny),
        };
        Spanned { node: verb, span: node.span() }
    }

    /// Sets a clause; gives the place of an earlier one of its kind.
    fn clause(&mut self, line: &mut Line, kid: &Node<'t>) -> Option<Span> {
        let span = kid.span();
        match kid.rule() {
            Rule::tally => line.tally.replace(self.tally(kid)?).map(|first| first.span),
            Rule::condition => line.condition.replace(self.condition(kid)?).map(|first| first.span),
            Rule::because => line.because.replace(self.quoted(kid)).map(|first| first.span),
            Rule::suggest => line.suggest.replace(self.quoted(kid)).map(|first| first.span),
            _ => {
                let flags = kid.kid(Rule::flag_session).is_some();
                let node = if flags { Obligation::FlagSession } else { Obligation::FileContent };
                line.obligation.replace(Spanned { node, span }).map(|first| first.span)
            }
        }
    }

    fn late_except(&mut self, line: &Line, kid: &Node<'t>) {
        let Some(subject) = &line.subject else {
            let help = "name what the line looks at first: `deny path \"…\" except \"…\"`";
            self.error_help(
                Code::MisplacedClause,
                "`except` takes back from nothing",
                kid.span(),
                "no list before this",
                help,
            );
            return;
        };
        match &subject.node {
            Subject::Path(_)
            | Subject::Domain(_)
            | Subject::Command(_)
            | Subject::Arg { .. }
            | Subject::Run(_) => {
                let help = "`except` takes back from the list right before it: put it there, once, with all its patterns";
                self.clause_order(kid, subject.span, help);
            }
            _ => {
                let help = "only paths, hosts, commands, run patterns and arguments take an `except`";
                self.error_help(
                    Code::MisplacedClause,
                    "this subject takes no `except`",
                    kid.span(),
                    "not here",
                    help,
                );
            }
        }
    }

    fn check_measure(&mut self, line: &Line) {
        let Some(subject) = &line.subject else {
            if let Some(tally) = &line.tally {
                let help = "say what is counted: `deny calls over 30 per 1h`";
                self.error_help(
                    Code::TallyWithoutOver,
                    "`over` counts nothing",
                    tally.span,
                    "no measure or subject before this",
                    help,
                );
            }
            return;
        };
        if let (Subject::Measure(word), None) = (&subject.node, &line.tally) {
            let help = format!("write the limit: `{} over …`", word.node);
            let message = format!("`{}` has no limit", word.node);
            self.error_help(Code::MeasureWithoutOver, message, word.span, "a measure needs `over`", help);
        }
    }

    fn subject(&mut self, node: &Node<'t>) -> Option<Subject> {
        Some(match node.rule() {
            Rule::s_path => Subject::Path(self.pattern_list(node)),
            Rule::s_domain => Subject::Domain(self.pattern_list(node)),
            Rule::s_command => Subject::Command(self.pattern_list(node)),
            Rule::s_network => Subject::Network(self.pattern_list(node).list),
            Rule::s_seller => Subject::Seller(self.pattern_list(node)),
            Rule::s_run => Subject::Run(Box::new(self.run_subject(node))),
            Rule::s_arg => self.arg(node),
            Rule::s_shell => {
                let names = node.kid(Rule::names)?;
                Subject::Shell(self.plain_names(&names, "a form of the shell"))
            }
            Rule::s_content if node.kid(Rule::kw_secret).is_some() => {
                let names = node.kid(Rule::names).map(|names| {
                    let span = names.span();
                    crate::ast::Names { names: self.names(&names), span }
                });
                Subject::ContentSecret { view: view(node), names }
            }
            Rule::s_content => {
                let patterns = node.kids().filter(|kid| matches!(kid.rule(), Rule::raw | Rule::string));
                let patterns = patterns.map(|pattern| self.regex(&pattern)).collect();
                Subject::Content { view: view(node), patterns }
            }
            Rule::s_check => self.check(node)?,
            Rule::s_payee => match node.kid(Rule::list) {
                Some(_) => Subject::Payee(self.pattern_list(node)),
                None => {
                    let names = node.kid(Rule::names)?;
                    // A word that is no test is the name of a payee.
                    Subject::PayeeTest(self.plain_names(&names, "a payee, or a test of it"))
                }
            },
            Rule::s_scheme => Subject::Scheme(self.names_clause(node)),
            Rule::s_call => Subject::Call(self.names_clause(node)),
            Rule::s_asset => {
                let names = node.kid(Rule::names)?;
                Subject::Asset(self.plain_names(&names, "an asset"))
            }
            Rule::measure => Subject::Measure(node.as_text()),
            _ => return None,
        })
    }

    fn check(&self, node: &Node<'t>) -> Option<Subject> {
        let name = node.kid(Rule::word)?.as_text();
        let options = node.kid(Rule::check_with).into_iter().flat_map(|with| with.kids().collect::<Vec<_>>());
        let options = options.filter(|kid| kid.rule() == Rule::check_option).filter_map(|option| {
            let mut kids = option.kids();
            let name = kids.next()?.as_text();
            let value = kids.next()?;
            let value = match value.rule() {
                Rule::number => CheckValue::Number(value.as_text()),
                Rule::string => CheckValue::Quoted(value.value()),
                Rule::check_list => {
                    let texts = value.kids().filter(|kid| kid.rule() == Rule::string);
                    CheckValue::List(texts.map(|kid| kid.value()).collect(), value.span())
                }
                _ => CheckValue::Word(value.as_text()),
            };
            Some(CheckOption { name, value })
        });
        Some(Subject::Check { name, options: options.collect() })
    }

    /// A regular expression; one in plain quotes is read as if it were in `r"…"`, with a diagnostic.
    pub(super) fn regex(&mut self, node: &Node<'t>) -> Text {
        if node.rule() == Rule::string {
            let help = format!("write `r{}`; a backslash is then a plain letter", node.text());
            self.error_help(
                Code::QuotedRegex,
                "a content pattern is a regular expression",
                node.span(),
                "in plain quotes",
                help,
            );
        }
        node.value()
    }

    fn arg(&mut self, node: &Node<'t>) -> Subject {
        let patterns = self.pattern_list(node);
        let name = match (node.kid(Rule::arg_name), node.kid(Rule::string)) {
            (Some(name), _) => name.as_text(),
            (None, Some(quoted)) => {
                let help = format!(
                    "write it bare: `arg {}`; nested ones are dotted, `arg options.force`",
                    quoted.value().node
                );
                self.error_help(
                    Code::QuotedArgumentName,
                    "the name of an argument stands bare",
                    quoted.span(),
                    "in quotes",
                    help,
                );
                quoted.value()
            }
            (None, None) => Text { node: String::new(), span: node.span() },
        };
        Subject::Arg { name, patterns }
    }

    fn run_subject(&mut self, node: &Node<'t>) -> RunSubject {
        let (patterns, bracketed) = match node.kid(Rule::runs_list) {
            Some(list) => self.runs(&list),
            None => (Vec::new(), false),
        };
        let list = node.kid(Rule::runs_list).map_or(node.span(), |list| list.span());
        let mut subject = RunSubject { patterns, bracketed, ..RunSubject::default() };
        let mut seen: Vec<Node<'t>> = Vec::new();
        let mut told = false;
        for kid in node.kids().filter(|kid| kid.rule() != Rule::kw_run && kid.rule() != Rule::runs_list) {
            let word = clause_word(kid.rule());
            if let Some(first) = seen.iter().find(|first| first.rule() == kid.rule()) {
                self.clause_twice(first.span(), kid.span(), word);
                continue;
            }
            match kid.rule() {
                Rule::run_except => {
                    if let Some(other) = seen.first() {
                        let help = "`except` takes back from the list right before it: put it behind the run patterns";
                        self.clause_order(&kid, other.span(), help);
                    }
                    let except = kid.kid(Rule::runs_list);
                    subject.except = except.map(|list| self.runs(&list).0).unwrap_or_default();
                }
                _ if subject.patterns.len() > 1 && !told => {
                    told = true;
                    let help = format!("write a line of its own for each pattern, each with its `{word}`");
                    let error = Diagnostic::error(
                        Code::ListTakesNoClause.as_str(),
                        format!("a list of run patterns takes no `{word}`"),
                        kid.span(),
                        "this belongs to one pattern",
                    );
                    self.push(error.with_label(list, "and here is a list").with_help(help));
                }
                Rule::touching => subject.touching = Some(self.pattern_list(&kid)),
                Rule::reading => subject.reading = Some(self.pattern_list(&kid)),
                Rule::writing => subject.writing = Some(self.pattern_list(&kid)),
                Rule::deleting => subject.deleting = Some(self.pattern_list(&kid)),
                Rule::sending => subject.sending = Some(self.pattern_list(&kid)),
                Rule::via => subject.via = Some(self.names_clause(&kid)),
                _ => {}
            }
            seen.push(kid);
        }
        subject
    }

    fn tally(&mut self, node: &Node<'t>) -> Option<Tally> {
        let over = self.quantity(&node.kid(Rule::quantity)?);
        let window = if let Some(per) = node.kid(Rule::per) {
            Some(match per.kid(Rule::scalar) {
                Some(scalar) => Window::Per(self.duration(&scalar)),
                None => Window::PerSession(per.span()),
            })
        } else {
            node.kid(Rule::since).and_then(|since| self.since(&since)).map(Window::Since)
        };
        let by = node.kid(Rule::counted_by).and_then(|by| by.kid(Rule::word)).map(|word| word.as_text());
        if let Some(by) = &by {
            self.checked_word("way to count", by, &["payee", "seller", "session", "tool"]);
        }
        Some(Tally { over, window, by, span: node.span() })
    }

    fn quantity(&mut self, node: &Node<'t>) -> Spanned<Quantity> {
        let span = node.span();
        let scalar = self.scalar(node);
        let number = scalar.text();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let quantity = match node.kid(Rule::symbol) {
            Some(symbol) => {
                let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
                let good = digits(whole) && digits(fraction);
                let amount = number.to_owned();
                good.then(|| Quantity::Money { amount, symbol: symbol.text().to_owned() })
            }
            None if digits(number) => number.parse().ok().map(Quantity::Integer),
            None => match number.strip_suffix('%') {
                Some(percent) if digits(percent) => percent.parse().ok().map(Quantity::Percent),
                _ => duration_seconds(number).map(Quantity::Duration),
            },
        };
        if quantity.is_none() {
            let help = "write money (`5 USDC`), a share (`50%`), a time (`10m`) or a count (`30`)";
            let message = format!("`{}` is no quantity", node.text().trim_end());
            self.error_help(Code::BadQuantity, message, span, "not a quantity", help);
        }
        Spanned { node: quantity.unwrap_or(Quantity::Integer(0)), span }
    }

    pub(super) fn since(&mut self, node: &Node<'t>) -> Option<Past> {
        let past = node.kid(Rule::past)?;
        self.past(&past)
    }

    pub(super) fn past(&mut self, node: &Node<'t>) -> Option<Past> {
        let span = node.span();
        if node.kid(Rule::kw_flagged).is_some() {
            return Some(Past::Flagged(span));
        }
        if let Some(runs) = node.kid(Rule::runs_list) {
            return Some(Past::Ran(self.runs(&runs).0, span));
        }
        let list = self.list(&node.kid(Rule::list)?);
        Some(if node.kid(Rule::kw_read).is_some() { Past::Read(list, span) } else { Past::Wrote(list, span) })
    }

    fn condition(&mut self, node: &Node<'t>) -> Option<Condition> {
        let test = if let Some(session) = node.kid(Rule::session) {
            let past = session.kid(Rule::past).and_then(|past| self.past(&past))?;
            let over = session.kid(Rule::quantity).map(|quantity| self.quantity(&quantity));
            let since = session.kid(Rule::since).and_then(|since| self.since(&since));
            ConditionTest::Session { past, over, since }
        } else if let Some(hours) = node.kid(Rule::hours) {
            ConditionTest::Hours(self.quoted(&hours))
        } else {
            ConditionTest::Fenced(node.kid(Rule::kw_fenced)?.span())
        };
        Some(Condition { unless: node.kid(Rule::kw_unless).is_some(), test, span: node.span() })
    }
}

/// The view of a content line.
fn view(node: &Node<'_>) -> View {
    match node.kid(Rule::view).map(|view| view.text()) {
        Some("before") => View::Before,
        Some("after") => View::After,
        _ => View::Added,
    }
}
