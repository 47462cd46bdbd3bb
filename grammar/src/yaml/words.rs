//! Words of the YAML formats: the nearest known one, and names for rules.
//!
//! INVARIANT: suggestions come from the given list only, in its order at a tie.

use crate::parse::{distance, is_bare_name};

/// What other tools call it.
const KNOWN_WRONG: &[(&str, &str)] = &[
    ("deny", "block"),
    ("denied", "block"),
    ("forbid", "block"),
    ("forbidden", "block"),
    ("reject", "block"),
    ("prompt", "ask"),
    ("confirm", "ask"),
    ("review", "ask"),
    ("allowed", "allow"),
    ("permit", "allow"),
    ("action", "decision"),
    ("effect", "decision"),
    ("verdict", "decision"),
    ("name", "id"),
    ("tools", "tool"),
    ("match", "tool"),
    ("path", "paths"),
    ("files", "paths"),
    ("command", "commands"),
    ("cmds", "commands"),
    ("hosts", "domains"),
    ("domain", "domains"),
    ("urls", "domains"),
    ("message", "reason"),
    ("because", "reason"),
    ("description", "reason"),
    ("timeout", "askTimeout"),
    ("builtin", "builtins"),
];

/// The known word that was likely meant.
pub(super) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let lower = word.to_lowercase();
    let wanted = KNOWN_WRONG.iter().find(|(wrong, _)| *wrong == lower).map(|(_, right)| *right);
    if let Some(found) = known.iter().find(|k| Some(**k) == wanted || k.eq_ignore_ascii_case(word)) {
        return Some(found);
    }
    let squeezed: String = lower.chars().filter(|c| c.is_alphanumeric()).take(32).collect();
    let best =
        known.iter().map(|k| (distance(&squeezed, &k.to_lowercase()), *k)).min_by_key(|(far, _)| *far)?;
    (best.0 <= 1 + best.1.len() / 4).then_some(best.1)
}

/// Whether a block of the language may have this name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= 100
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Whether a tool or server may stand without quotes.
pub(super) fn is_bare(text: &str) -> bool {
    is_name(text) && is_bare_name(text)
}

/// A name made of an id: letters, digits and single dashes.
pub(super) fn name_of(id: &str, number: usize) -> String {
    let mut name = String::new();
    for ch in id.chars() {
        if name.len() >= 60 {
            break;
        }
        if ch.is_ascii_alphanumeric() || ch == '_' {
            name.push(ch);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_end_matches('-');
    match name.chars().next() {
        None => format!("rule-{number}"),
        Some(first) if first.is_ascii_digit() => format!("rule-{name}"),
        Some(_) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found() {
        let known = ["allow", "ask", "block"];
        assert_eq!(nearest("deny", &known), Some("block"));
        assert_eq!(nearest("Allow", &known), Some("allow"));
        assert_eq!(nearest("blok", &known), Some("block"));
        assert_eq!(nearest("banana", &known), None);
        assert_eq!(nearest("ask_timeout", &["default", "askTimeout", "rules"]), Some("askTimeout"));
    }

    #[test]
    fn ids_become_names() {
        for (id, name) in [
            ("My Rule!", "My-Rule"),
            ("1st", "rule-1st"),
            ("日本", "rule-7"),
            ("a--b", "a-b"),
            ("", "rule-7"),
        ] {
            assert_eq!(name_of(id, 7), name);
            assert!(is_name(&name_of(id, 7)));
        }
    }
}
