//! Lines of blocks as pieces.
//!
//! INVARIANT: clauses come in the order of the language, which is the order in which they were read.

use super::items::wrapped;
use super::pieces::{Glue, Group, Piece};
use super::{Printer, quote};
use crate::ast::{
    CheckValue, Condition, ConditionTest, Entry, Line, List, Names, Obligation, Past, PatternList, Quantity,
    RunItem, RunSubject, Scopes, Subject, Tally, Text, Verb, View, Window,
};
use crate::parse::{TokenKind, next_token};
use crate::source::{Span, Spanned};

/// The word for a view, where one was meant that is not the ordinary one.
fn view_piece(view: View, start: u32) -> Option<Piece> {
    (view != View::Added).then(|| Piece::new(start, Glue::Space, view.word()))
}

impl Printer<'_> {
    pub(super) fn line(&mut self, line: &Line, width: usize, indent: usize) {
        let word = match line.verb.node {
            Verb::Effect(effect) => effect.word(),
            Verb::Only => "only",
            Verb::Open => "open",
        };
        let bare = line.subject.is_none() && line.tally.is_none() && line.condition.is_none();
        let width = if bare { 0 } else { width };
        let mut pieces = vec![Piece::new(line.span.start, Glue::Space, format!("{word:width$}"))];
        if let Some(subject) = &line.subject {
            self.subject(&subject.node, subject.span, &mut pieces);
        }
        if let Some(tally) = &line.tally {
            self.tally(tally, &mut pieces);
        }
        if let Some(condition) = &line.condition {
            self.condition(condition, &mut pieces);
        }
        let clauses = pieces.len();
        pieces.extend(line.because.as_ref().map(|text| self.clause("because", text)));
        pieces.extend(line.suggest.as_ref().map(|text| self.clause("suggest", text)));
        if let Some(obligation) = &line.obligation {
            let text = match obligation.node {
                Obligation::FlagSession => "then flag session",
                Obligation::FileContent => "then file content",
            };
            pieces.push(Piece::new(obligation.span.start, Glue::Clause, text));
        }
        if let Some(first) = pieces.get_mut(clauses).filter(|_| bare) {
            first.glue = Glue::Wrap;
        }
        self.statement(line.span.start, line.span.end, indent, &pieces);
    }

    pub(super) fn clause(&self, word: &str, text: &Text) -> Piece {
        Piece::new(text.span.start, Glue::Clause, format!("{word} {}", self.quoted(text)))
    }

    /// Adds the scopes of a head in the order in which they were written; gives where they end.
    pub(super) fn scopes(&self, scopes: &Scopes, pieces: &mut Vec<Piece>) -> u32 {
        let named = [("on", &scopes.on), ("from", &scopes.from), ("as", &scopes.as_), ("at", &scopes.at)];
        let mut parts: Vec<(u32, u32, Vec<Piece>)> = Vec::new();
        for (word, names) in named {
            let Some(names) = names else { continue };
            parts.push((names.span.start, names.span.end, self.names(word, names)));
        }
        if let Some(files) = &scopes.files {
            let mut part = vec![Piece::new(files.list.span.start, Glue::Wrap, "for")];
            self.pattern_list(files, &mut part);
            let end = files.except.as_ref().map_or(files.list.span.end, |except| except.span.end);
            parts.push((files.list.span.start, end, part));
        }
        // Without a text every place is the same, and the order above stays.
        parts.sort_by_key(|(start, ..)| *start);
        let end = parts.iter().map(|(_, end, _)| *end).max().unwrap_or(0);
        pieces.extend(parts.into_iter().flat_map(|(_, _, part)| part));
        end
    }

    fn names(&self, word: &str, names: &Names) -> Vec<Piece> {
        let mut pieces = wrapped(names.names.iter().map(|name| self.name_ref(name)).collect());
        // The keyword stays with its first name.
        if let Some(first) = pieces.first_mut()
            && let super::pieces::Content::Text(text) = &mut first.content
        {
            *text = format!("{word} {text}");
        }
        pieces
    }

    fn words(&self, word: &str, start: u32, texts: &[Text], pieces: &mut Vec<Piece>) {
        pieces.push(Piece::new(start, Glue::Space, word));
        let texts =
            texts.iter().map(|text| (text.span.start, self.leaf(text.span, || bare_or_quote(&text.node))));
        pieces.extend(wrapped(texts.collect()));
    }

    pub(super) fn list(&self, list: &List) -> Piece {
        let entries = list.entries.iter().map(|entry| match entry {
            Entry::Pattern(text) => (text.span.start, self.quoted(text)),
            Entry::Ref(text) => (text.span.start, format!("@{}", text.node)),
        });
        let end = if list.bracketed { list.span.end.saturating_sub(1) } else { list.span.end };
        let start = list.span.start;
        Piece::group(Group { open: "[", close: "]", entries: entries.collect(), start, end, object: false })
    }

    fn pattern_list(&self, patterns: &PatternList, pieces: &mut Vec<Piece>) {
        pieces.push(self.list(&patterns.list));
        if let Some(except) = &patterns.except {
            pieces.push(Piece::new(except.span.start, Glue::Space, "except"));
            pieces.push(self.list(except));
        }
    }

    /// A regular expression as it was written.
    pub(super) fn regex(&self, text: &Text) -> String {
        self.leaf(text.span, || {
            if text.node.contains('"') {
                format!("r#\"{}\"#", text.node)
            } else {
                format!("r\"{}\"", text.node)
            }
        })
    }

    fn subject(&self, subject: &Subject, span: Span, pieces: &mut Vec<Piece>) {
        let start = span.start;
        let mut keyword = |word: &str| pieces.push(Piece::new(start, Glue::Space, word));
        match subject {
            Subject::Path(list) => {
                keyword("path");
                self.pattern_list(list, pieces);
            }
            Subject::Domain(list) => {
                keyword("domain");
                self.pattern_list(list, pieces);
            }
            Subject::Command(list) => {
                keyword("command");
                self.pattern_list(list, pieces);
            }
            Subject::Arg { name, patterns } => {
                keyword("arg");
                pieces.push(Piece::new(name.span.start, Glue::Space, name.node.clone()));
                self.pattern_list(patterns, pieces);
            }
            Subject::Network(list) => {
                keyword("network");
                pieces.push(self.list(list));
            }
            Subject::Seller(list) => {
                keyword("seller");
                self.pattern_list(list, pieces);
            }
            Subject::Payee(list) => {
                keyword("payee");
                self.pattern_list(list, pieces);
            }
            Subject::Run(run) => self.run(run, span, pieces),
            Subject::Shell(words) => self.words("shell", start, words, pieces),
            Subject::PayeeTest(words) => self.words("payee", start, words, pieces),
            Subject::Asset(words) => self.words("asset", start, words, pieces),
            Subject::Scheme(names) => pieces.extend(self.names("scheme", names)),
            Subject::Call(names) => pieces.extend(self.names("call", names)),
            Subject::ContentSecret { view, names } => {
                keyword("content");
                pieces.extend(view_piece(*view, start));
                pieces.push(Piece::new(start, Glue::Space, "secret"));
                if let Some(names) = names {
                    pieces.extend(wrapped(names.names.iter().map(|name| self.name_ref(name)).collect()));
                }
            }
            Subject::Content { view, patterns } => {
                keyword("content");
                pieces.extend(view_piece(*view, start));
                let patterns = patterns.iter().map(|pattern| (pattern.span.start, self.regex(pattern)));
                pieces.extend(wrapped(patterns.collect()));
            }
            Subject::Check { name, options } => {
                keyword("check");
                pieces.push(Piece::new(name.span.start, Glue::Space, name.node.clone()));
                if let Some(first) = options.first() {
                    pieces.push(Piece::new(first.name.span.start, Glue::Space, "with"));
                }
                let words = options.iter().map(|option| {
                    let value = match &option.value {
                        CheckValue::Number(text) | CheckValue::Word(text) => text.node.clone(),
                        CheckValue::Quoted(text) => self.quoted(text),
                        CheckValue::List(texts, _) => {
                            let texts: Vec<String> = texts.iter().map(|text| self.quoted(text)).collect();
                            format!("[{}]", texts.join(", "))
                        }
                    };
                    (option.name.span.start, format!("{} {value}", option.name.node))
                });
                pieces.extend(wrapped(words.collect()));
            }
            Subject::Measure(word) => keyword(&word.node),
        }
    }

    fn run(&self, run: &RunSubject, span: Span, pieces: &mut Vec<Piece>) {
        pieces.push(Piece::new(span.start, Glue::Space, "run"));
        pieces.push(self.run_group(&run.patterns, run.bracketed, || self.find_after(span.start, "run")));
        if !run.except.is_empty() {
            let before = run.patterns.last().map_or(span.start, |item| item_span(item).end);
            let group = self.run_group(&run.except, true, || self.find_after(before, "except"));
            pieces.push(Piece::new(group.start, Glue::Space, "except"));
            pieces.push(group);
        }
        let mut clauses: Vec<(u32, Vec<Piece>)> = Vec::new();
        for (word, patterns) in run.sets() {
            let start = patterns.list.span.start;
            let mut clause = vec![Piece::new(start, Glue::Space, word)];
            self.pattern_list(patterns, &mut clause);
            clauses.push((start, clause));
        }
        clauses.extend(run.via.as_ref().map(|via| (via.span.start, self.names("via", via))));
        clauses.sort_by_key(|(start, _)| *start);
        pieces.extend(clauses.into_iter().flat_map(|(_, clause)| clause));
    }

    fn run_group(&self, items: &[RunItem], bracketed: bool, before: impl FnOnce() -> Option<u32>) -> Piece {
        let entries = items.iter().map(|item| match item {
            RunItem::Pattern(run) => (run.span.start, self.leaf(run.span, || format!("`{}`", run.text))),
            RunItem::Ref(text) => (text.span.start, format!("@{}", text.node)),
        });
        let last = items.last().map(item_span);
        Piece::group(self.bracket_group(entries.collect(), last, bracketed, before))
    }

    /// Entries whose brackets have no place of their own in the tree: they are found in the text.
    pub(super) fn bracket_group(
        &self,
        entries: Vec<(u32, String)>,
        last: Option<Span>,
        bracketed: bool,
        before: impl FnOnce() -> Option<u32>,
    ) -> Group {
        let mut start = entries.first().map_or(0, |(start, _)| *start);
        let mut end = last.map_or(start, |span| span.end);
        if let Some(text) = self.text.filter(|_| bracketed) {
            let open = before().map(|at| next_token(text, at as usize));
            if let Some(open) = open.filter(|token| token.kind == TokenKind::Open) {
                start = open.start as u32;
                let mut close = next_token(text, end as usize);
                if close.kind != TokenKind::Close {
                    close = next_token(text, close.end);
                }
                end = close.start as u32;
            }
        }
        Group { open: "[", close: "]", entries, start, end, object: false }
    }

    fn tally(&self, tally: &Tally, pieces: &mut Vec<Piece>) {
        self.over(tally.span.start, &tally.over, pieces);
        match &tally.window {
            Some(Window::Per(time)) => {
                pieces.push(Piece::new(time.span.start, Glue::Space, format!("per {}", self.seconds(time))));
            }
            Some(Window::PerSession(span)) => pieces.push(Piece::new(span.start, Glue::Space, "per session")),
            Some(Window::Since(past)) => self.since(past, pieces),
            None => {}
        }
        if let Some(by) = &tally.by {
            pieces.push(Piece::new(by.span.start, Glue::Space, format!("by {}", by.node)));
        }
    }

    fn over(&self, at: u32, over: &Spanned<Quantity>, pieces: &mut Vec<Piece>) {
        let amount = match &over.node {
            Quantity::Money { amount, symbol } => format!("{amount} {symbol}"),
            Quantity::Percent(percent) => format!("{percent}%"),
            Quantity::Integer(count) => count.to_string(),
            Quantity::Duration(seconds) => self.leaf(over.span, || super::duration(*seconds)),
        };
        pieces.push(Piece::new(at, Glue::Space, format!("over {amount}")));
    }

    fn since(&self, past: &Past, pieces: &mut Vec<Piece>) {
        pieces.push(Piece::new(past_span(past).start, Glue::Space, "since"));
        self.past(past, pieces);
    }

    pub(super) fn past(&self, past: &Past, pieces: &mut Vec<Piece>) {
        let start = past_span(past).start;
        match past {
            Past::Flagged(_) => pieces.push(Piece::new(start, Glue::Space, "flagged")),
            Past::Ran(items, _) => {
                pieces.push(Piece::new(start, Glue::Space, "ran"));
                pieces.push(self.run_group(items, true, || self.find_after(start, "ran")));
            }
            Past::Read(list, _) => {
                pieces.push(Piece::new(start, Glue::Space, "read"));
                pieces.push(self.list(list));
            }
            Past::Wrote(list, _) => {
                pieces.push(Piece::new(start, Glue::Space, "wrote"));
                pieces.push(self.list(list));
            }
        }
    }

    fn condition(&self, condition: &Condition, pieces: &mut Vec<Piece>) {
        let word = if condition.unless { "unless" } else { "when" };
        pieces.push(Piece::new(condition.span.start, Glue::Space, word));
        match &condition.test {
            ConditionTest::Session { past, over, since } => {
                pieces.push(Piece::new(condition.span.start, Glue::Space, "session"));
                self.past(past, pieces);
                if let Some(over) = over {
                    self.over(over.span.start, over, pieces);
                }
                if let Some(since) = since {
                    self.since(since, pieces);
                }
            }
            ConditionTest::Hours(hours) => {
                pieces.push(Piece::new(
                    hours.span.start,
                    Glue::Space,
                    format!("hours {}", self.quoted(hours)),
                ));
            }
            ConditionTest::Fenced(span) => pieces.push(Piece::new(span.start, Glue::Space, "fenced")),
        }
    }

    /// Where a word ends that stands at or behind this place, with nothing but names and commas before it.
    pub(super) fn find_after(&self, from: u32, word: &str) -> Option<u32> {
        let text = self.text?;
        let mut at = from as usize;
        for _ in 0..4 {
            let token = next_token(text, at);
            if token.text(text) == word {
                return Some(token.end as u32);
            }
            at = token.end;
        }
        None
    }

    /// Where the keyword begins that stands right before a value, or the value itself without a text.
    pub(super) fn keyword_before(&self, value: u32, word: &str) -> u32 {
        let Some(text) = self.text else { return value };
        // Only blanks and comments stand between; the comments may hold the word, so each hit is checked.
        let first = word.split(' ').next().unwrap_or(word);
        let before = text.get(..value as usize).unwrap_or("");
        let words = word.split(' ').count();
        for (at, _) in before.rmatch_indices(first) {
            let mut end = at;
            for _ in 0..words {
                end = next_token(text, end).end;
            }
            if next_token(text, end).start == value as usize {
                return at as u32;
            }
        }
        value
    }

    /// The last token of a span, as it was written.
    pub(super) fn last_token(&self, span: Span) -> Option<String> {
        let text = self.text?;
        let mut token = next_token(text, span.start as usize);
        while token.end < span.end as usize {
            token = next_token(text, token.end);
        }
        Some(token.text(text).to_owned())
    }
}

fn item_span(item: &RunItem) -> Span {
    match item {
        RunItem::Pattern(run) => run.span,
        RunItem::Ref(text) => text.span,
    }
}

fn past_span(past: &Past) -> Span {
    match past {
        Past::Flagged(span) | Past::Ran(_, span) | Past::Read(_, span) | Past::Wrote(_, span) => *span,
    }
}

fn bare_or_quote(name: &str) -> String {
    if crate::parse::is_bare_name(name) { name.to_owned() } else { quote(name) }
}
