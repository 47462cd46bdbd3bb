//! Values that are made of others.
//!
//! INVARIANT: what a value came from stays with what is made of it.

use super::super::act::Fixed;
use super::super::text::{Text, Value, hole};
use super::Arg;
use crate::shell::Word;

/// Most elements of a list that one value stands for.
const MAX_JOINED: usize = 32;

/// The value of a constant.
pub(super) fn fixed_value(fixed: Fixed) -> Value {
    match fixed {
        Fixed::Environment => Value::Name("environ".into()),
        Fixed::Slash => Value::known("/"),
        Fixed::Plain => Value::Flag(true),
    }
}

/// What brackets around items stand for.
pub(super) fn group(mut items: Vec<Arg>) -> Value {
    if items.iter().any(|item| item.name.is_some()) {
        let entries = items.into_iter().map(|item| (item.name.unwrap_or_default(), item.value));
        return Value::Table(entries.collect()).bounded();
    }
    if items.len() == 1 {
        return items.remove(0).value;
    }
    Value::List(items.into_iter().map(|item| item.value).collect()).bounded()
}

/// One element of a value that is gone through.
pub(in super::super) fn element(value: &Value) -> Value {
    match value {
        Value::List(values) => {
            let mut rest = values.iter().cloned();
            let first = rest.next().unwrap_or_else(Value::unknown);
            let join = |(all, lost): (Value, bool), one: Value| {
                let (all, less) = all.or(one);
                (all, lost | less)
            };
            match rest.by_ref().take(MAX_JOINED).fold((first, false), join) {
                (value, false) if rest.next().is_none() => value.bounded(),
                // It may be one that is not followed.
                _ => {
                    let mut text = Text::unknown();
                    value.mark(&mut text);
                    Value::Text(text)
                }
            }
        }
        other => other.clone(),
    }
}

/// A text with its `%s` filled.
pub(super) fn format_with(left: Value, right: &Value) -> Value {
    let Value::Text(text) = &left else { return Value::unknown() };
    let values = match right {
        Value::List(values) => values.clone(),
        other => vec![other.clone()],
    };
    let Some(known) = text.word.known() else {
        let mut text = text.clone();
        right.mark(&mut text);
        return Value::Text(Text { word: hole(), ..text });
    };
    filled(known, "%s", &values, text)
}

/// A text with its placeholders filled in order.
pub(in super::super) fn filled(known: &str, mark: &str, values: &[Value], text: &Text) -> Value {
    let mut out = Text { word: Word::Known(String::new()), ..text.clone() };
    let mut values = values.iter();
    for (at, piece) in known.split(mark).enumerate() {
        if at > 64 {
            return Value::unknown();
        }
        if at > 0 {
            out = out.join(&values.next().map_or_else(Text::unknown, Value::text));
        }
        out = out.join(&Text::word(Word::Known(piece.to_string())));
    }
    for value in values {
        value.mark(&mut out);
    }
    Value::Text(out)
}

pub(super) fn repeated(text: &Text, times: i64) -> Value {
    match (text.word.known(), usize::try_from(times)) {
        (Some(known), Ok(times)) if known.len().saturating_mul(times) <= 4096 => {
            Value::Text(Text { word: Word::Known(known.repeat(times)), ..text.clone() })
        }
        _ => {
            let mut out = Text::unknown();
            out.mark(text);
            Value::Text(out)
        }
    }
}

/// A text read from its end: a way to hide one.
pub(in super::super) fn reversed(value: &Value) -> Value {
    let text = value.text();
    let word = match text.word.known() {
        Some(known) => Word::Known(known.chars().rev().collect()),
        None => hole(),
    };
    Value::Text(Text { word, decoded: true, ..text })
}
