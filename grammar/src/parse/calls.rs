//! Tested calls: `expect`, `given` and the objects in them.
//!
//! INVARIANT: values are never nested deeper than `MAX_DEPTH` when the grammar sees them, so it cannot exhaust the stack.

use super::build::Node;
use super::lex::Kind;
use super::{Failed, MAX_DEPTH, Parser, Rule};
use crate::ast::{Expect, ExpectArgs, Given, SecretExpect, Text, Value};
use crate::code::Code;
use crate::source::Spanned;
use std::collections::BTreeSet;

impl<'t> Parser<'t> {
    /// Refuses a call whose arguments are nested too deep.
    pub(super) fn check_depth(&mut self, start: usize) -> Result<(), Failed> {
        // `expect`, the decision and the tool come before the arguments.
        let mut at = (0..3).fold(start, |at, _| self.next(at).end);
        let mut depth = 0usize;
        loop {
            let token = self.next(at);
            match token.kind {
                Kind::End => return Ok(()),
                Kind::Open if depth >= MAX_DEPTH => {
                    let message = format!("values are nested more than {MAX_DEPTH} deep");
                    self.error(Code::TooDeep, message, self.token_span(token), "one too many");
                    return Err(Failed(token.start));
                }
                Kind::Open => depth += 1,
                Kind::Close if depth <= 1 => return Ok(()),
                Kind::Close => depth -= 1,
                // A command instead of an object, or a fault.
                _ if depth == 0 => return Ok(()),
                _ => {}
            }
            at = token.end;
        }
    }

    pub(super) fn expect(&mut self, node: &Node<'t>) -> Option<Expect> {
        let effect = self.effect(&node.kid(Rule::word)?, &[]);
        let mut tool = None;
        let mut args = None;
        let (mut from, mut as_, mut by) = (None, None, None);
        for kid in node.kids() {
            let span = kid.span();
            match kid.rule() {
                Rule::bare => tool = Some(kid.as_text()),
                Rule::string if tool.is_none() => tool = Some(kid.value()),
                Rule::string => args = Some(Spanned { node: ExpectArgs::Command(kid.value().node), span }),
                Rule::object => args = Some(Spanned { node: ExpectArgs::Object(self.object(&kid)), span }),
                Rule::from_one => self.keep_clause(&mut from, &kid, "from"),
                Rule::as_one => self.keep_clause(&mut as_, &kid, "as"),
                Rule::by_block => self.keep_clause(&mut by, &kid, "by"),
                _ => {}
            }
        }
        Some(Expect { effect, tool: tool?, args: args?, from, as_, by, span: node.span() })
    }

    /// `expect found "…"` of a secret.
    pub(super) fn secret_expect(&mut self, node: &Node<'t>) -> Option<SecretExpect> {
        let word = node.kid(Rule::word)?;
        let found = match word.text() {
            "found" => true,
            "nothing" => false,
            _ => {
                self.error_help(
                    Code::Unexpected,
                    "a secret is found in a text or not",
                    word.span(),
                    "neither `found` nor `nothing`",
                    "write `expect found \"…\"`, or `expect nothing \"…\"`",
                );
                return None;
            }
        };
        let pieces = node.kids().filter(|kid| matches!(kid.rule(), Rule::raw | Rule::string));
        let pieces = pieces.map(|kid| kid.value()).collect();
        Some(SecretExpect { found: Spanned { node: found, span: word.span() }, pieces, span: node.span() })
    }

    fn keep_clause(&mut self, place: &mut Option<Text>, clause: &Node<'t>, word: &str) {
        let value = clause.kids().find(|kid| matches!(kid.rule(), Rule::bare | Rule::string | Rule::path_id));
        match (&place, value) {
            (Some(first), _) => {
                let first = first.span;
                self.clause_twice(first, clause.span(), word);
            }
            (None, value) => *place = value.map(|value| value.value()),
        }
    }

    pub(super) fn given(&mut self, node: &Node<'t>) -> Option<Given> {
        if let Some(session) = node.kid(Rule::session) {
            if let Some(over) = session.kid(Rule::quantity) {
                self.error_help(
                    Code::MisplacedClause,
                    "`given` takes no `over`",
                    over.span(),
                    "not here",
                    "write each file that it is to count",
                );
            }
            if let Some(since) = session.kid(Rule::since) {
                let help = "give the events one by one, in the order in which they happened";
                self.error_help(
                    Code::MisplacedClause,
                    "`given` takes no `since`",
                    since.span(),
                    "not here",
                    help,
                );
            }
            let past = session.kid(Rule::past)?;
            return self.past(&past).map(Given::Session);
        }
        if let Some(scalar) = node.kid(Rule::scalar) {
            return Some(Given::Today(self.date(&scalar).node));
        }
        let text = self.quoted(node).node;
        Some(if node.kid(Rule::kw_file).is_some() { Given::File(text) } else { Given::Dir(text) })
    }

    fn object(&mut self, node: &Node<'t>) -> Vec<(Text, Spanned<Value>)> {
        let mut pairs = Vec::new();
        let mut seen = BTreeSet::new();
        for pair in node.kids().filter(|kid| kid.rule() == Rule::pair) {
            let Some(key) = pair.kids().next().map(|key| key.value()) else { continue };
            let Some(value) = pair.kid(Rule::value) else { continue };
            if !seen.insert(key.node.clone()) {
                let message = format!("the key `{}` stands twice", key.node);
                self.error_help(Code::RepeatedKey, message, key.span, "again here", "keep one of them");
            }
            let value = self.value(&value);
            pairs.push((key, value));
        }
        pairs
    }

    fn value(&mut self, node: &Node<'t>) -> Spanned<Value> {
        let span = node.span();
        let Some(inner) = node.kids().next() else { return Spanned { node: Value::Null, span } };
        let value = match inner.rule() {
            Rule::string => Value::String(inner.value().node),
            Rule::number => {
                if !is_json_number(inner.text()) {
                    let message = format!("`{}` is no number", inner.text());
                    let help = "numbers are written as in JSON: `12`, `-0.5`, `1e9`; anything else in quotes";
                    self.error_help(Code::BadNumber, message, span, "not a number", help);
                }
                Value::Number(inner.text().to_owned())
            }
            Rule::truth => match inner.text() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => Value::Null,
            },
            Rule::array => {
                let values = inner.kids().filter(|kid| kid.rule() == Rule::value);
                Value::Array(values.map(|value| self.value(&value)).collect())
            }
            Rule::object => Value::Object(self.object(&inner)),
            _ => Value::Null,
        };
        Spanned { node: value, span }
    }
}

fn is_json_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
        None => (text, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction) && digits(exponent) && (whole == "0" || !whole.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::is_json_number;

    #[test]
    fn numbers_are_those_of_json() {
        for good in ["0", "-0.5", "12", "1e9", "1.5E-3"] {
            assert!(is_json_number(good), "{good}");
        }
        for bad in ["01", "1.", "1e", "1.2.3", "0x10", "1-2", "-"] {
            assert!(!is_json_number(bad), "{bad}");
        }
    }
}
