//! Operators, casts and decoders over values: what hides a text can be undone where everything in it is known.
//!
//! INVARIANT: pure functions; a result is known only when it is exactly what PowerShell would give.

use super::expr::add;
use super::value::{Value, concat, hole};
use crate::shell::Word;
use crate::shell::quote::base64_bytes;

/// The value of a binary operator.
pub(super) fn apply(op: &str, left: Value, right: Value) -> Value {
    let unknown = |left: &Value, right: &Value| {
        let mut out = Value::unknown_one();
        out.taint(left.fetched | right.fetched, left.decoded | right.decoded);
        out
    };
    let known = |out: Option<String>| {
        let mut value = out.map_or_else(Value::unknown_one, Value::text);
        value.taint(left.fetched | right.fetched, left.decoded | right.decoded);
        value
    };
    match op {
        "+" => add(&left, right),
        "," => left.append(right),
        "-join" => {
            let by = right.known().unwrap_or_default().to_string();
            match right.known() {
                Some(_) => left.with(vec![left.joined(&by)]),
                None => unknown(&left, &right),
            }
        }
        "-f" => format(&left, &right),
        "-replace" | "-creplace" | "-ireplace" => known(replace(op, &left, &right)),
        "-split" | "-csplit" | "-isplit" => match (left.known(), right.known()) {
            (Some(text), Some(by)) if is_plain(by) && !by.is_empty() => {
                left.with(text.split(by).take(65).map(|part| Word::Known(part.to_string())).collect())
            }
            _ => {
                let mut out = Value::unknown();
                out.taint(left.fetched, left.decoded);
                out
            }
        },
        "*" => match (left.known(), right.known().and_then(|n| n.parse::<usize>().ok())) {
            (Some(text), Some(n)) if n <= 64 && text.len() <= 64 && text.parse::<f64>().is_err() => {
                known(Some(text.repeat(n)))
            }
            _ => unknown(&left, &right),
        },
        "-as" => left,
        "??" | "?" | ":" => left.join(&right),
        ".." => {
            let mut out = Value::unknown();
            out.taint(left.fetched, left.decoded);
            out
        }
        _ => unknown(&left, &right),
    }
}

/// Whether a pattern matches nothing but itself.
fn is_plain(pattern: &str) -> bool {
    !pattern.contains(['\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}'])
}

fn replace(op: &str, left: &Value, right: &Value) -> Option<String> {
    let text = left.known()?;
    let texts = right.texts()?;
    let (from, to) = match texts.as_slice() {
        [from] => (*from, ""),
        [from, to] => (*from, *to),
        _ => return None,
    };
    let (from, to) = (from.strip_prefix('\\').unwrap_or(from), to);
    if !is_plain(from) && from.len() != 1 || to.contains('$') || from.is_empty() {
        return None;
    }
    // Case does not count, so only a text in which it cannot matter is replaced.
    let same_case = text.to_lowercase().matches(&from.to_lowercase()).count() == text.matches(from).count();
    (op == "-creplace" || same_case).then(|| text.replace(from, to))
}

/// `'{1}{0}' -f 'x', 'ie'`.
fn format(left: &Value, right: &Value) -> Value {
    let mut out = Value::unknown_one();
    if let (Some(pattern), false) = (left.known(), right.items.iter().any(Word::may_split)) {
        let mut words: Vec<Word> = Vec::new();
        let mut rest = pattern;
        while let Some((before, behind)) = rest.split_once('{') {
            words.push(Word::Known(before.to_string()));
            let Some((inside, after)) = behind.split_once('}') else {
                words = vec![hole(true)];
                rest = "";
                break;
            };
            let number = inside.split([':', ',']).next().and_then(|n| n.trim().parse::<usize>().ok());
            let plain = !inside.contains([':', ',']);
            match number.and_then(|n| right.items.get(n)) {
                Some(word) if plain => words.push(word.clone()),
                _ => words.push(hole(true)),
            }
            rest = after;
            if words.len() > 256 {
                words = vec![hole(true)];
                rest = "";
                break;
            }
        }
        words.push(Word::Known(rest.to_string()));
        out = Value::word(concat(&words));
    }
    out.taint(left.fetched | right.fetched, left.decoded | right.decoded);
    out
}

/// `[type]value`.
pub(super) fn cast(ty: &str, value: Value) -> Value {
    let name = ty.trim_matches(['[', ']', ' ']).to_lowercase();
    let name = name.strip_prefix("system.").unwrap_or(&name);
    let character = |text: &str| {
        let number = match text.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => text.parse::<u32>().ok(),
        };
        number.and_then(char::from_u32).map(String::from)
    };
    match name {
        "char" => match value.known() {
            Some(text) => {
                value.with(vec![character(text).map_or_else(|| Word::Known(text.to_string()), Word::Known)])
            }
            None => value.with(vec![hole(true)]),
        },
        "char[]" | "char[" => match value.known() {
            // A string as its letters.
            Some(text) if text.parse::<u32>().is_err() && text.chars().count() <= 64 => {
                value.with(text.chars().map(|c| Word::Known(c.to_string())).collect())
            }
            _ => {
                let letters: Option<Vec<Word>> = value
                    .texts()
                    .and_then(|all| all.into_iter().map(|t| character(t).map(Word::Known)).collect());
                value.with(letters.unwrap_or_else(|| vec![hole(false)]))
            }
        },
        "scriptblock" | "management.automation.scriptblock" => Value { code: !value.block, ..value },
        "void" => Value::none(),
        "string" => value.with(vec![value.joined(" ")]),
        _ => value,
    }
}

/// The text in base64 of `-EncodedCommand`: UTF-16, little end first.
pub(crate) fn encoded_command(text: &str) -> Option<String> {
    utf16(&base64_bytes(text.trim())?)
}

/// Bytes as UTF-16, little end first.
pub(super) fn utf16(bytes: &[u8]) -> Option<String> {
    if bytes.len() % 2 == 1 {
        return None;
    }
    let units = bytes.chunks_exact(2).map(|pair| match pair {
        [low, high] => u16::from(*low) | u16::from(*high) << 8,
        _ => 0,
    });
    let text: Option<String> = char::decode_utf16(units).collect::<Result<String, _>>().ok();
    text.filter(|text| !text.contains('\0')).map(|text| text.trim_start_matches('\u{feff}').to_string())
}
