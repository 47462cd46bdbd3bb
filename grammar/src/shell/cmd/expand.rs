//! `%NAME%` and `!NAME!`: what cmd puts in before it looks at anything else.
//!
//! INVARIANT: what is not known becomes [`HOLE`], a home [`HOME`]; linear in the text and what is put in.

use crate::shell::Word;
use crate::shell::pwsh::well_known;
use std::collections::BTreeMap;

/// Stands for text that is not known.
pub(super) const HOLE: char = '\u{1}';
/// Stands for the home at the start of a path.
pub(super) const HOME: char = '\u{2}';
/// Longest value that is followed, bytes.
const MAX_VALUE: usize = 1024;
/// Most variables that are followed.
const MAX_NAMES: usize = 128;

/// A text with its variables put in.
pub(super) struct Expanded {
    pub(super) text: String,
    /// A variable was used on the line that sets it.
    pub(super) same_line: bool,
}

/// Puts in what is known.
pub(super) fn expand(text: &str) -> Expanded {
    let mut vars: BTreeMap<String, String> = BTreeMap::new();
    let (mut out, mut same_line) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        let mut set_here: Vec<String> = Vec::new();
        let mut uncertain = false;
        for part in parts(line) {
            let before = out.len();
            put_in(part, &vars, &set_here, &mut out, &mut same_line);
            if out.len() > 4 * super::MAX_COMMAND_BYTES {
                return Expanded { text: out, same_line: true };
            }
            let done = out.get(before..).unwrap_or_default().to_string();
            let first = done.trim_start_matches([' ', '\t', '@', '(', '&', '|', ',', ';', '=']);
            let word =
                first.split([' ', '\t', '(', ',', ';', '=', '/']).next().unwrap_or_default().to_lowercase();
            uncertain |= matches!(word.as_str(), "if" | "for" | "else") || done.contains('(');
            // `if x set y=1`: a value that may be or not.
            let inner = if uncertain { find_set(first) } else { Some(first) };
            if let Some((name, value)) = inner.and_then(setting) {
                if vars.len() < MAX_NAMES || vars.contains_key(&name) {
                    let unknown = uncertain || value.len() > MAX_VALUE;
                    vars.insert(name.clone(), if unknown { HOLE.to_string() } else { value });
                } else {
                    // More than are followed: what the name stands for is told nowhere.
                    same_line = true;
                }
                set_here.push(name);
            }
        }
    }
    Expanded { text: out, same_line }
}

/// A line cut before each `&` and `|` outside quotes.
fn parts(line: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in line.char_indices() {
        match c {
            '"' if !escaped => quoted = !quoted,
            '&' | '|' if !quoted && !escaped && at > from => {
                parts.extend(line.get(from..at));
                from = at;
            }
            _ => {}
        }
        escaped = c == '^' && !escaped && !quoted;
    }
    parts.extend(line.get(from..));
    parts
}

fn find_set(text: &str) -> Option<&str> {
    let lower = text.to_lowercase();
    let at = lower.find("set ")?;
    text.get(at..)
}

/// `set NAME=VALUE`, `set "NAME=VALUE"`; what `/a` and `/p` give is not known.
fn setting(text: &str) -> Option<(String, String)> {
    let rest = text.get(..3).filter(|word| word.eq_ignore_ascii_case("set")).and_then(|_| text.get(3..))?;
    if !rest.starts_with([' ', '\t', '"']) {
        return None;
    }
    let rest = rest.trim_start();
    let lower = rest.to_lowercase();
    let (rest, asks) = match lower.strip_prefix("/a").or_else(|| lower.strip_prefix("/p")) {
        Some(_) => (rest.get(2..)?.trim_start(), true),
        None => (rest, false),
    };
    let rest = rest.trim_end_matches(['\n', '\r']);
    let (rest, quoted) = match rest.strip_prefix('"') {
        Some(inner) => (inner.rsplit_once('"').map_or(inner, |(inner, _)| inner), true),
        None => (rest, false),
    };
    let (name, value) = rest.split_once('=')?;
    let value = if quoted { value } else { value.trim_end_matches(')') };
    let value = if asks { HOLE.to_string() } else { value.replace('^', "") };
    (!name.is_empty() && name.len() <= 64).then(|| (name.trim().to_lowercase(), value))
}

fn put_in(
    text: &str,
    vars: &BTreeMap<String, String>,
    set_here: &[String],
    out: &mut String,
    same_line: &mut bool,
) {
    let mut rest = text;
    while let Some(at) = rest.find(['%', '!']) {
        let (front, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(front);
        let sign = behind.chars().next().unwrap_or('%');
        let after = behind.get(1..).unwrap_or_default();
        // `%%i` of a batch file is the `%i` of a line.
        if sign == '%' && after.starts_with('%') {
            out.push('%');
            rest = after.get(1..).unwrap_or_default();
            if !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '~') {
                out.push('%');
            }
            continue;
        }
        // The arguments of a batch file.
        if sign == '%' && after.starts_with(|c: char| c.is_ascii_digit() || c == '*') {
            out.push(HOLE);
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        let end =
            after.find([sign, '\n']).filter(|end| after.get(*end..).is_some_and(|r| r.starts_with(sign)));
        let inside = end.and_then(|end| after.get(..end)).unwrap_or_default();
        let (name, change) = match inside.split_once(':') {
            Some((name, change)) => (name, Some(change)),
            None => (inside, None),
        };
        let valid = !name.is_empty()
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | ')' | '.' | '-' | '#'));
        if !valid {
            out.push(sign);
            rest = after;
            continue;
        }
        let lower = name.to_lowercase();
        *same_line |= set_here.contains(&lower) && sign == '%';
        let value = value_of(&lower, vars);
        match (change, value) {
            (None, Some(value)) => out.push_str(&value),
            (Some(change), Some(value)) => match changed(&value, change) {
                Some(value) => out.push_str(&value),
                None => out.push(HOLE),
            },
            (_, None) => out.push(HOLE),
        }
        rest = after.get(inside.len() + 1..).unwrap_or_default();
    }
    out.push_str(rest);
}

fn value_of(name: &str, vars: &BTreeMap<String, String>) -> Option<String> {
    if let Some(value) = vars.get(name) {
        return Some(value.clone());
    }
    if name == "cd" {
        return Some(".".to_string());
    }
    match well_known(&format!("env:{name}"))? {
        Word::Known(text) => Some(text.replace('/', "\\")),
        Word::Tilde(text) => Some(format!("{HOME}{}", text.trim_start_matches('~').replace('/', "\\"))),
        _ => None,
    }
}

/// `%x:~1,2%` and `%x:from=to%`.
fn changed(value: &str, change: &str) -> Option<String> {
    if value.contains([HOLE, HOME]) {
        return None;
    }
    let letters: Vec<char> = value.chars().collect();
    if let Some(range) = change.strip_prefix('~') {
        let mut numbers = range.split(',').map(|n| n.trim().parse::<i64>().ok());
        let length = i64::try_from(letters.len()).ok()?;
        let place = |n: i64| if n < 0 { (length + n).max(0) } else { n.min(length) };
        let from = place(numbers.next()??);
        let to = match numbers.next() {
            None => length,
            Some(count) => {
                let count = count?;
                if count < 0 { length + count } else { (from + count).min(length) }
            }
        };
        return letters
            .get(usize::try_from(from).ok()?..usize::try_from(to.max(from)).ok()?)
            .map(|l| l.iter().collect());
    }
    let (from, to) = change.split_once('=')?;
    if from.is_empty() || from.starts_with('*') {
        return None;
    }
    Some(value.replace(from, to)).filter(|value| value.len() <= MAX_VALUE)
}
