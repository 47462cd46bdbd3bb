//! Leaves of the tree: texts, names, lists, numbers, dates and durations.
//!
//! INVARIANT: a leaf that cannot be read gives a diagnostic and a harmless value, so that its statement stays whole.

use super::{Parser, Rule, lex};
use crate::ast::{Date, Entry, List, NameRef, Names, PatternList, Text};
use crate::code::Code;
use crate::source::{FileId, Span, Spanned};
use pest::iterators::Pair;

/// A pair of the grammar with the place of its statement.
#[derive(Clone)]
pub(super) struct Node<'t> {
    pair: Pair<'t, Rule>,
    file: FileId,
    base: usize,
}

impl<'t> Node<'t> {
    pub(super) fn new(pair: Pair<'t, Rule>, file: FileId, base: usize) -> Self {
        Node { pair, file, base }
    }

    pub(super) fn rule(&self) -> Rule {
        self.pair.as_rule()
    }

    pub(super) fn text(&self) -> &'t str {
        self.pair.as_str()
    }

    /// From its first to its last letter; pest's own span may end in blanks and comments.
    pub(super) fn span(&self) -> Span {
        let mut last = self.pair.clone();
        while let Some(inner) = last.clone().into_inner().next_back() {
            last = inner;
        }
        let start = self.base + self.pair.as_span().start();
        let end = self.base + last.as_span().end();
        Span { file: self.file, start: start as u32, end: end as u32 }
    }

    pub(super) fn kids(&self) -> impl DoubleEndedIterator<Item = Node<'t>> + use<'t> {
        let (file, base) = (self.file, self.base);
        self.pair.clone().into_inner().map(move |pair| Node { pair, file, base })
    }

    /// The first child of this kind.
    pub(super) fn kid(&self, rule: Rule) -> Option<Node<'t>> {
        self.kids().find(|kid| kid.rule() == rule)
    }

    /// The text as written, with its place.
    pub(super) fn as_text(&self) -> Text {
        Spanned { node: self.text().to_owned(), span: self.span() }
    }

    /// The value of a quoted text or regular expression, else the text as written; a list name loses its `@`.
    pub(super) fn value(&self) -> Text {
        let written = self.text();
        let value = match self.rule() {
            Rule::string => lex::unescape(inner(written, 1, 1)),
            Rule::raw if written.starts_with("r#") => inner(written, 3, 2).to_owned(),
            Rule::raw => inner(written, 2, 1).to_owned(),
            Rule::at_ref => inner(written, 1, 0).to_owned(),
            _ => written.to_owned(),
        };
        Spanned { node: value, span: self.span() }
    }
}

fn inner(text: &str, front: usize, back: usize) -> &str {
    text.get(front..text.len().saturating_sub(back)).unwrap_or("")
}

/// Whether a word may name a block or list: small letters, digits and dashes.
fn is_plain_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

impl<'t> Parser<'t> {
    /// The name of a block or list.
    pub(super) fn name(&mut self, node: &Node<'t>) -> Text {
        let name = node.as_text();
        if !is_plain_name(&name.node) {
            let plain = name.node.to_lowercase().replace('_', "-");
            let help = format!("names are small letters, digits and dashes: `{}`", plain.trim_matches('-'));
            let message = format!("`{}` is no name for a block or list", name.node);
            self.error_help(Code::BadName, message, name.span, "this name", help);
        }
        name
    }

    pub(super) fn names(&self, node: &Node<'t>) -> Vec<NameRef> {
        node.kids()
            .filter_map(|kid| match kid.rule() {
                Rule::at_ref => Some(NameRef::Ref(kid.value())),
                Rule::string => Some(NameRef::Quoted(kid.value())),
                Rule::bare => Some(NameRef::Bare(kid.as_text())),
                _ => None,
            })
            .collect()
    }

    /// `names` behind a keyword; the place is the whole clause.
    pub(super) fn names_clause(&self, clause: &Node<'t>) -> Names {
        let names = clause.kid(Rule::names).map(|names| self.names(&names)).unwrap_or_default();
        Names { names, span: clause.span() }
    }

    /// Names as plain texts; a list has no place among them.
    pub(super) fn plain_names(&mut self, node: &Node<'t>, what: &str) -> Vec<Text> {
        let mut texts = Vec::new();
        for name in self.names(node) {
            match name {
                NameRef::Bare(text) | NameRef::Quoted(text) => texts.push(text),
                NameRef::Ref(text) => {
                    let message = format!("a list cannot stand for {what}");
                    self.error(Code::Unexpected, message, text.span, "write the words themselves");
                }
            }
        }
        texts
    }

    pub(super) fn list(&self, node: &Node<'t>) -> List {
        let mut bracketed = false;
        let mut entries = Vec::new();
        for kid in node.kids() {
            match kid.rule() {
                Rule::lbracket => bracketed = true,
                Rule::string => entries.push(Entry::Pattern(kid.value())),
                Rule::at_ref => entries.push(Entry::Ref(kid.value())),
                _ => {}
            }
        }
        List { entries, bracketed, span: node.span() }
    }

    /// The list and its `except` among the children of a clause.
    pub(super) fn pattern_list(&self, clause: &Node<'t>) -> PatternList {
        let empty = List { entries: Vec::new(), bracketed: false, span: clause.span() };
        let list = clause.kid(Rule::list).map_or(empty, |list| self.list(&list));
        let except = clause.kid(Rule::except).and_then(|e| e.kid(Rule::list)).map(|list| self.list(&list));
        PatternList { list, except }
    }

    /// The quoted text of `because "…"` and its like.
    pub(super) fn quoted(&self, clause: &Node<'t>) -> Text {
        clause
            .kid(Rule::string)
            .map_or_else(|| Spanned { node: String::new(), span: clause.span() }, |string| string.value())
    }

    /// The scalar of a clause, or the clause itself where there is none.
    pub(super) fn scalar(&self, clause: &Node<'t>) -> Node<'t> {
        clause.kid(Rule::scalar).unwrap_or_else(|| clause.clone())
    }

    /// `120s` in seconds.
    pub(super) fn duration(&mut self, node: &Node<'t>) -> Spanned<u64> {
        let span = node.span();
        let Some(seconds) = duration_seconds(node.text()) else {
            let help = "write a whole number and `s`, `m`, `h` or `d`: `90s`, `10m`, `1d`";
            self.error_help(
                Code::BadDuration,
                format!("`{}` is no duration", node.text()),
                span,
                "not a duration",
                help,
            );
            return Spanned { node: 0, span };
        };
        Spanned { node: seconds, span }
    }

    /// A whole number that fits.
    pub(super) fn integer(&mut self, node: &Node<'t>, what: &str) -> Spanned<u32> {
        let span = node.span();
        let value =
            if node.text().bytes().all(|b| b.is_ascii_digit()) { node.text().parse().ok() } else { None };
        if value.is_none() {
            let message = format!("`{}` is no whole number", node.text());
            self.error_help(Code::BadNumber, message, span, what, "write digits only");
        }
        Spanned { node: value.unwrap_or(0), span }
    }

    pub(super) fn date(&mut self, node: &Node<'t>) -> Spanned<Date> {
        let span = node.span();
        match read_date(node.text()) {
            Ok(date) => Spanned { node: date, span },
            Err(label) => {
                let help = "write year, month and day: `2027-03-31`";
                self.error_help(Code::BadDate, format!("`{}` is no date", node.text()), span, label, help);
                Spanned { node: Date { year: 1970, month: 1, day: 1 }, span }
            }
        }
    }
}

pub(super) fn duration_seconds(text: &str) -> Option<u64> {
    let unit = match text.as_bytes().last()? {
        b's' => 1,
        b'm' => 60,
        b'h' => 3600,
        b'd' => 86_400,
        _ => return None,
    };
    let digits = text.get(..text.len() - 1)?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

fn read_date(text: &str) -> Result<Date, String> {
    let shape = || "not written as year-month-day".to_owned();
    let mut parts = text.split('-');
    let mut part = |digits: usize| {
        let part = parts.next().filter(|p| p.len() == digits && p.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse::<u16>().ok()
    };
    let (Some(year), Some(month), Some(day)) = (part(4), part(2), part(2)) else { return Err(shape()) };
    if parts.next().is_some() {
        return Err(shape());
    }
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        2 => 28 + u16::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return Err("there are twelve months".to_owned()),
    };
    if day == 0 || day > days {
        return Err(format!("that month has {days} days"));
    }
    Ok(Date { year, month: month as u8, day: day as u8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        for good in ["2028-02-29", "2000-02-29", "2027-12-31"] {
            assert!(read_date(good).is_ok(), "{good}");
        }
        for bad in [
            "2027-02-29",
            "1900-02-29",
            "2027-13-01",
            "2027-00-01",
            "2027-04-31",
            "2027-1-1",
            "27-01-01",
            "2027-01-01-1",
        ] {
            assert!(read_date(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_have_one_unit() {
        assert_eq!(duration_seconds("2h"), Some(7200));
        for bad in ["5", "m", "5w", "1h30m", "99999999999999999999d", "213503982334602d"] {
            assert_eq!(duration_seconds(bad), None, "{bad}");
        }
    }
}
