//! Filters of `jq` (and `yq`, `gojq`).
//!
//! INVARIANT: a filter can only read: its variables of the environment, and modules by name. Both are seen outside
//! texts and comments; a filter that loads a module is not complete.

use super::{Found, Inside};
use crate::shell::Word;

/// Reads a filter.
pub(super) fn read(code: &str) -> Found {
    let mut found = Found { inside: Vec::new(), complete: true };
    let mut rest = code;
    // Depth of brackets at which a text goes on behind `\( ... )`.
    let mut texts: Vec<usize> = Vec::new();
    let mut depth = 0usize;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let mut size = c.len_utf8();
        match c {
            '"' => size += text(rest.get(1..).unwrap_or_default(), depth, &mut texts, &mut found),
            '(' => depth += 1,
            ')' if texts.last() == Some(&depth) => {
                texts.pop();
                size += text(rest.get(1..).unwrap_or_default(), depth, &mut texts, &mut found);
            }
            ')' => depth = depth.saturating_sub(1),
            '#' => size = rest.find('\n').unwrap_or(rest.len()),
            c if c.is_alphabetic() || c == '_' || c == '$' => {
                size = rest
                    .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$' | ':'))
                    .unwrap_or(rest.len());
                let word = rest.get(..size).unwrap_or_default();
                match word.trim_end_matches(':') {
                    // A whole environment, or one of its variables.
                    "env" | "$ENV" if before != '.' && word.len() <= 4 => {
                        let behind = rest.get(size..).unwrap_or_default().trim_start();
                        let name: String = behind
                            .trim_start_matches(['.', '[', '"'])
                            .chars()
                            .take_while(|c| c.is_alphanumeric() || *c == '_')
                            .collect();
                        let mut words = vec![Word::Known("printenv".into())];
                        if !name.is_empty() && behind.starts_with(['.', '[']) {
                            words.push(Word::Known(name));
                        }
                        found.inside.push(Inside::Argv(words));
                    }
                    "include" | "import" if before != '.' => found.complete = false,
                    "modulemeta" | "strenv" | "envsubst" | "load" | "load_str" | "eval" | "system"
                        if before != '.' =>
                    {
                        found.complete = false;
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
        rest = rest.get(size..).unwrap_or_default();
    }
    found.complete &= texts.is_empty();
    found
}

/// The size of the rest of a text up to its end, or to an expression inside it.
fn text(source: &str, depth: usize, texts: &mut Vec<usize>, found: &mut Found) -> usize {
    let mut chars = source.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return at + 1,
            '\\' => {
                if let Some((at, '(')) = chars.next() {
                    texts.push(depth);
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    found.complete = false;
    source.len()
}
