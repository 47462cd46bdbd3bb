//! What lines say about the session: limits, conditions, and what they leave behind.
//!
//! INVARIANT: only guards ask the past, since what is remembered only tightens; what cannot be counted is an error.

use super::line::Home;
use super::subject::{Found, Lowered};
use super::{Builder, number};
use crate::code::Code;
use crate::ir;
use crate::lists::Quoted;
use crate::pattern::path;
use crate::plan::Body;
use policy_grammar::ast::{self, ConditionTest, Obligation, Quantity, Window};
use policy_grammar::source::Span;
use policy_runtime::checksum;
use policy_runtime::hours::{BadHours, Hours};
use policy_runtime::outside::{KEPT_SECONDS, Measure, PastKind};

/// A number of a limit; what is none was refused before.
fn small(over: &Quantity) -> u32 {
    match over {
        Quantity::Integer(n) | Quantity::Percent(n) => u32::try_from(*n).unwrap_or(u32::MAX),
        _ => 0,
    }
}

/// What a ledger counts for this word; `pays`: the block looks at payments.
fn of_ledger(word: &str, pays: bool) -> Option<Measure> {
    match word {
        "calls" if pays => Some(Measure::Payments),
        "repeats" if pays => Some(Measure::Same),
        _ => Measure::of(word).filter(|own| own.of_ledger()),
    }
}

/// Whether the block of a line looks at payments.
fn pays_in(home: &Home<'_>) -> bool {
    match &home.instance.body {
        Body::Block(block) => super::payment::pays(&block.lines),
        Body::Default(..) => false,
    }
}

impl Builder<'_> {
    /// Whether everything that the line says about session, hour and obligations can be enforced; says what cannot.
    pub(super) fn enforceable(&mut self, home: &Home<'_>, line: &ast::Line) -> bool {
        use ast::Subject;
        let subject = line.subject.as_ref();
        let measure = subject.and_then(|subject| match &subject.node {
            Subject::Measure(word) => Some(word),
            _ => None,
        });
        let pays = pays_in(home);
        // Of payments it is said in their own words.
        let money = measure.and_then(|word| Measure::of(&word.node));
        let money = money.filter(|own| own.of_payment().is_some() || own.of_ledger());
        if let (Some(tally), Some(Subject::PayeeTest(_))) = (&line.tally, subject.map(|own| &own.node)) {
            self.sink.push(
                Code::BadLimit
                    .error("a test of a payee is not counted", tally.span, "cannot be counted")
                    .with_help(
                        "leave the number out; payments are counted by `calls over 5 per 1d by payee`",
                    ),
            );
            return false;
        }
        let whole = |tally: &&ast::Tally| !matches!(tally.over.node, Quantity::Integer(_));
        if let Some(tally) = line.tally.as_ref().filter(|_| money.is_none()).filter(whole) {
            self.sink.push(
                Code::BadLimit
                    .error("matches and calls are counted by a whole number", tally.over.span, "cannot be counted")
                    .with_help("write a number such as 5; money is `amount over 5 USDC` or `spend over 50 USDC per 1d`"),
            );
            return false;
        }
        let refused = if let Some(condition) = &line.condition
            && matches!(condition.test, ConditionTest::Fenced(_))
        {
            Some((Code::NotYetCondition, "conditions on the fence", condition.span))
        } else if let Some(obligation) = &line.obligation
            && obligation.node == Obligation::FileContent
        {
            Some((Code::NotYetObligation, "`then file content`", obligation.span))
        } else {
            None
        };
        if let Some((code, what, span)) = refused {
            self.sink.push(
                code.error(format!("this version cannot enforce {what}"), span, "not enforced yet")
                    .with_help("remove the line until it can be enforced; nothing is accepted and ignored"),
            );
            return false;
        }
        if let Some(ast::Condition { test: ConditionTest::Hours(text), .. }) = &line.condition
            && let Err(bad) = Hours::read(&text.node)
        {
            let error = match bad {
                BadHours::Zone => Code::NotYetCondition
                    .error("this version knows no time zone by its name", text.span, "not enforced yet")
                    .with_help("write `UTC` or an offset such as `+02:00`"),
                BadHours::Form => Code::BadLimit
                    .error(format!("`{}` is no hours of a week", text.node), text.span, "cannot be read")
                    .with_help("write `mon-fri 08:00-20:00 UTC`"),
            };
            self.sink.push(error);
            return false;
        }
        let asks = line.tally.as_ref().map(|tally| tally.span);
        let asks = asks.or(line.condition.as_ref().map(|condition| condition.span));
        let asks = asks.or(line.obligation.as_ref().map(|obligation| obligation.span));
        let asks = asks.or(measure.map(|word| word.span));
        let elsewhere = home.instance.kind != ir::BlockKind::Guard && money.is_none();
        if let Some(span) = asks
            && (elsewhere || line.verb.node == ast::Verb::Only)
        {
            self.sink.push(
                Code::StateOutsideGuard
                    .error("what happened before only tightens", span, "only a guard looks at the session")
                    .with_help("move the line into a guard, with `info`, `warn`, `ask` or `deny`"),
            );
            return false;
        }
        line.tally.as_ref().is_none_or(|tally| self.countable(measure, tally, pays))
            && line.condition.as_ref().is_none_or(|condition| self.files_counted(condition))
    }

    /// A condition counts files; what else happened has no number of different ones.
    fn files_counted(&mut self, condition: &ast::Condition) -> bool {
        let ConditionTest::Session { past, over: Some(over), .. } = &condition.test else { return true };
        let (message, help) = match (past, &over.node) {
            (ast::Past::Flagged(_) | ast::Past::Ran(..), _) => (
                "a condition counts only files",
                "write `session wrote PATHS over 15`; commands are counted by a limit of their own line",
            ),
            (_, Quantity::Integer(n)) if *n < u64::from(u32::MAX) => return true,
            _ => ("a condition counts files by a whole number", "write `session wrote PATHS over 15`"),
        };
        self.sink.push(Code::BadLimit.error(message, over.span, "cannot be counted").with_help(help));
        false
    }

    fn countable(&mut self, measure: Option<&ast::Text>, tally: &ast::Tally, pays: bool) -> bool {
        let ledger = measure.and_then(|word| of_ledger(&word.node, pays));
        if let Some(measure) = ledger {
            return self.paid_countable(measure, tally);
        }
        let word = measure.map(|word| word.node.as_str());
        let of_payment = word.and_then(Measure::of).filter(|own| own.of_payment().is_some());
        let (message, span, help) = match (&tally.window, &tally.by) {
            (None, None) if of_payment.is_some() => {
                let own = of_payment.and_then(|own| super::payment::quantity_of(own, &tally.over.node));
                let Some((message, help)) = own else { return true };
                (message, tally.over.span, help)
            }
            _ if of_payment.is_some() => (
                "this is looked at in one payment",
                tally.span,
                "leave window and `by` out; what is spent in a time is `spend over 50 USDC per 1d`",
            ),
            (Some(_), _) if word == Some("lines") => {
                ("`lines` are those of one text", tally.span, "leave the window out: `lines over 500`")
            }
            (None, _) if matches!(word, Some("calls" | "repeats")) => (
                "a count of calls needs a window",
                tally.span,
                "write how far back it counts, such as `per 10m` or `per session`",
            ),
            (Some(Window::Per(seconds)), _)
                if seconds.node == 0 || seconds.node > u64::from(KEPT_SECONDS) =>
            {
                (
                    "the record of a session does not reach so far",
                    seconds.span,
                    "write a window of a second to 14 days, or `per session`",
                )
            }
            (_, Some(by)) if !matches!(by.node.as_str(), "session" | "tool") => {
                ("calls are not counted by this", by.span, "write `by tool` or `by session`")
            }
            _ if matches!(tally.over.node, Quantity::Integer(n) if n >= u64::from(u32::MAX)) => {
                ("nothing is counted so far", tally.over.span, "write a smaller number")
            }
            _ => return true,
        };
        self.sink.push(Code::BadLimit.error(message, span, "cannot be counted").with_help(help));
        false
    }

    /// Whether a ledger of payments can count it.
    fn paid_countable(&mut self, measure: Measure, tally: &ast::Tally) -> bool {
        let wanted = match measure {
            Measure::Spend | Measure::Rise => super::payment::quantity_of(measure, &tally.over.node),
            _ => None,
        };
        let by = tally.by.as_ref();
        let (message, span, help) = match (&tally.window, by) {
            _ if wanted.is_some() => {
                let (message, help) = wanted.unwrap_or_default();
                (message, tally.over.span, help)
            }
            _ if matches!(tally.over.node, Quantity::Percent(n) if n > 1_000_000) => {
                ("no price rises so far", tally.over.span, "write a smaller number")
            }
            (Some(_), _) | (_, Some(_)) if measure == Measure::Rise => (
                "a price is compared with its first",
                tally.span,
                "leave window and `by` out: `rise over 50%`",
            ),
            _ if measure == Measure::Rise => return true,
            (None, _) => (
                "what is paid is added up over a time",
                tally.span,
                "write how far back it counts, such as `per 1d` or `per session`",
            ),
            (Some(Window::Since(_)), _) => (
                "payments are added up over a time or a session",
                tally.span,
                "write how far back it counts, such as `per 1d` or `per session`",
            ),
            (Some(Window::Per(seconds)), _) if seconds.node == 0 || seconds.node > u64::from(u32::MAX) => {
                ("no ledger reaches so far", seconds.span, "write a window from a second to 49000 days")
            }
            (_, Some(by)) if measure == Measure::Same => {
                ("the same payment has one payee and one seller", by.span, "leave `by` out")
            }
            (Some(Window::PerSession(_)), Some(by)) if by.node != "session" => {
                ("a session is counted by itself", by.span, "write `per session`, or a time and `by`")
            }
            _ if matches!(tally.over.node, Quantity::Integer(n) if n >= u64::from(u32::MAX)) => {
                ("nothing is counted so far", tally.over.span, "write a smaller number")
            }
            _ => return true,
        };
        self.sink.push(Code::BadLimit.error(message, span, "cannot be counted").with_help(help));
        false
    }

    /// `calls`, `repeats` and `lines`: the line matches every call, and its count decides.
    pub(super) fn measure(&mut self, word: &ast::Text, line: &ast::Line) -> Option<Lowered> {
        let Some(tally) = &line.tally else {
            self.sink.push(
                Code::BadLimit
                    .error(format!("`{}` says no number", word.node), word.span, "how many?")
                    .with_help(format!("write `{} over 10 per session`", word.node)),
            );
            return None;
        };
        let shown = self.sources.slice(Span { start: word.span.start, ..tally.span }).to_owned();
        let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = Found { text, matcher: ir::Matcher::Always, words: 0, bytes: 0, span: word.span };
        let arg = String::new();
        Some(Lowered { kind: ir::Kind::Call, arg, patterns: vec![found], excepts: Vec::new() })
    }

    /// Keeps what the line asks of the past.
    pub(super) fn tail(&mut self, home: &Home<'_>, id: ir::LineId, line: &ast::Line) {
        let tests = match line.subject.as_ref().map(|subject| &subject.node) {
            Some(ast::Subject::PayeeTest(words)) => {
                let ledger = |word: &ast::Text| matches!(word.node.as_str(), "new" | "lookalike" | "filed");
                words.iter().any(ledger)
            }
            _ => false,
        };
        if line.tally.is_none() && line.condition.is_none() && line.obligation.is_none() && !tests {
            return;
        }
        let mut limit = line.tally.as_ref().map(|tally| self.limit(home, line, tally));
        if tests {
            limit = Some(ir::Limit {
                measure: Measure::Payee,
                over: 0,
                window: ir::Window::Call,
                by: ir::By::All,
                key: 0,
                shown: String::new(),
                most: self.known_payees(),
            });
        }
        let condition = line.condition.as_ref().and_then(|condition| {
            let ConditionTest::Session { past, over, since } = &condition.test else { return None };
            Some(ir::Condition {
                unless: condition.unless,
                past: self.past(home, past),
                over: over.as_ref().map_or(0, |over| small(&over.node)),
                since: since.as_ref().map(|since| self.past(home, since)),
            })
        });
        let hours = line.condition.as_ref().and_then(|condition| match &condition.test {
            ConditionTest::Hours(text) => Some((condition.unless, text.node.clone())),
            _ => None,
        });
        let flags = line.obligation.is_some();
        self.policy.tails.push(ir::Tail { line: id, limit, condition, hours, flags });
    }

    fn limit(&mut self, home: &Home<'_>, line: &ast::Line, tally: &ast::Tally) -> ir::Limit {
        let measure = match line.subject.as_ref().map(|subject| &subject.node) {
            Some(ast::Subject::Measure(word)) => {
                let own = of_ledger(&word.node, pays_in(home)).or_else(|| Measure::of(&word.node));
                own.unwrap_or(Measure::Matches)
            }
            _ => Measure::Matches,
        };
        let (over, named, most) = match measure {
            Measure::Spend => {
                let (decimals, symbol, units) = self.most(&tally.over).unwrap_or_default();
                (decimals, String::new(), format!("{units} {symbol} {}", self.asset_ids(&symbol)))
            }
            _ if measure.of_payment().is_some() => self.most(&tally.over).unwrap_or_default(),
            _ => (small(&tally.over.node), String::new(), String::new()),
        };
        let window = match &tally.window {
            None => ir::Window::Call,
            Some(Window::Per(seconds)) => ir::Window::Seconds(super::seconds(seconds.node)),
            Some(Window::PerSession(_)) => ir::Window::Session,
            Some(Window::Since(past)) => ir::Window::Since(self.past(home, past)),
        };
        let shown = tally.window.as_ref().map_or(named, |window| match window {
            Window::Per(seconds) => format!("in {}", self.sources.slice(seconds.span)),
            Window::PerSession(_) => "in this session".to_owned(),
            Window::Since(past) => format!("since {}", self.shown(past)),
        });
        let by = match tally.by.as_ref().map(|by| by.node.as_str()) {
            Some("tool") => ir::By::Tool,
            Some("payee") => ir::By::Payee,
            Some("seller") => ir::By::Seller,
            Some("session") => ir::By::Session,
            _ if window == ir::Window::Session => ir::By::Session,
            _ => ir::By::All,
        };
        let shown = match (by, measure.of_ledger()) {
            (ir::By::Tool, true) => format!("{shown} by this tool"),
            (ir::By::Payee, true) => format!("{shown} to this payee"),
            (ir::By::Seller, true) => format!("{shown} at this seller"),
            (ir::By::Session, true) if window != ir::Window::Session => format!("{shown} in this session"),
            _ => shown,
        };
        // Two layers with the same line count together, and count one call once.
        let place = home.instance.folders.join("\0");
        let text = self.sources.slice(line.span).split_whitespace().collect::<Vec<_>>().join(" ");
        let key = checksum(format!("{}\0{place}\0{text}", home.instance.name).as_bytes());
        ir::Limit { measure, over, window, by, key, shown, most }
    }

    fn shown(&self, past: &ast::Past) -> String {
        let (word, span) = match past {
            ast::Past::Flagged(_) => return "the session was flagged".to_owned(),
            ast::Past::Ran(_, span) => ("ran", *span),
            ast::Past::Read(_, span) => ("read", *span),
            ast::Past::Wrote(_, span) => ("wrote", *span),
        };
        let text = self.sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
        if text.starts_with(word) { text } else { format!("{word} {text}") }
    }

    /// The number of a fact of the past.
    fn past(&mut self, home: &Home<'_>, past: &ast::Past) -> u32 {
        let file = home.instance.file;
        let lists = self.lists;
        let (kind, mut matchers) = match past {
            ast::Past::Flagged(_) => (PastKind::Flagged, Vec::new()),
            ast::Past::Ran(items, _) => {
                let mut out: Vec<(String, ir::Matcher)> = Vec::new();
                for (pattern, span) in lists.runs(file, items, self.sink) {
                    for spelled in self.spelled(pattern, span, false) {
                        out.push((pattern.text.clone(), ir::Matcher::Run(spelled.pattern)));
                    }
                }
                (PastKind::Ran, out)
            }
            ast::Past::Read(list, _) => (PastKind::Read, self.past_paths(home, list)),
            ast::Past::Wrote(list, _) => (PastKind::Wrote, self.past_paths(home, list)),
        };
        matchers.sort_by(|a, b| a.0.cmp(&b.0));
        let mut name = kind.word().to_owned();
        let mut last = None;
        for (text, _) in &matchers {
            if last != Some(text) {
                name.push('\0');
                name.push_str(text);
            }
            last = Some(text);
        }
        let key = checksum(name.as_bytes());
        if let Some(at) = self.policy.pasts.iter().position(|past| past.key == key) {
            return number(at);
        }
        let text = self.shown(past);
        let matchers = matchers.into_iter().map(|(_, matcher)| matcher).collect();
        self.policy.pasts.push(ir::Past { kind, matchers, key, text });
        number(self.policy.pasts.len() - 1)
    }

    fn past_paths(&mut self, home: &Home<'_>, list: &ast::List) -> Vec<(String, ir::Matcher)> {
        let mut out = Vec::new();
        for Quoted { text, span } in self.lists.patterns(home.instance.file, list, self.sink) {
            match path::path(&text, &home.instance.folders) {
                Ok(all) => out.extend(all.into_iter().map(|s| {
                    let folded = policy_runtime::fold::fold(&s.glob);
                    (folded.clone(), ir::Matcher::Path(folded))
                })),
                Err(problem) => self.sink.push(problem.diagnostic(&text, span)),
            }
        }
        out
    }
}
