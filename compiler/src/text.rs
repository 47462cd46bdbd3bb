//! Small tools on names and globs: nearest name, escapes, and whether one glob covers another.
//!
//! INVARIANT: `covers` never says yes when a text of the second glob is not a text of the first.

/// The candidate that is nearest to `name`, when one is near enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.chars().take(64).flat_map(char::to_lowercase).collect();
    let limit = (wanted.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    // The shortest that begins so, for a name that was cut short.
    let mut first: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other: Vec<char> = candidate.chars().take(64).flat_map(char::to_lowercase).collect();
        let distance = distance(&wanted, &other);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
        if other.starts_with(&wanted) && first.is_none_or(|(least, _)| other.len() < least) {
            first = Some((other.len(), candidate));
        }
    }
    let (best, begun) = (best.map(|(_, candidate)| candidate), wanted.len() >= 4);
    best.or_else(|| first.filter(|_| begun).map(|(_, candidate)| candidate))
}

/// Edit distance with exchanged neighbors counted once.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let mut cost =
                (at(&last, j) + usize::from(ca != cb)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let exchanged = i > 0 && j > 0 && a.get(i - 1) == Some(cb) && b.get(j - 1) == Some(ca);
            if exchanged && ca != cb {
                cost = cost.min(at(&before, j - 1) + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

/// The text as a glob that matches only itself.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Whether every text of glob `b` is a text of glob `a` (`*` is any run, `?` one character). May say no when
/// it is so.
pub(crate) fn covers(a: &str, b: &str) -> bool {
    let a: Vec<(char, bool)> = tokens(a);
    let b: Vec<(char, bool)> = tokens(b);
    let one = |p: (char, bool), t: (char, bool)| match p {
        ('?', true) => t != ('*', true),
        _ => p == t,
    };
    let (mut i, mut j) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(&t) = b.get(j) {
        match a.get(i) {
            Some(&('*', true)) => {
                back = Some((i, j));
                i += 1;
            }
            Some(&p) if one(p, t) => {
                i += 1;
                j += 1;
            }
            _ => {
                let Some((star, from)) = back else { return false };
                back = Some((star, from + 1));
                i = star + 1;
                j = from + 1;
            }
        }
    }
    a.iter().skip(i).all(|p| *p == ('*', true))
}

/// The characters of a glob; true when the character is a wildcard.
fn tokens(glob: &str) -> Vec<(char, bool)> {
    let mut out = Vec::new();
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push((chars.next().unwrap_or('\\'), false)),
            '*' if out.last() == Some(&('*', true)) => {}
            '*' | '?' => out.push((c, true)),
            _ => out.push((c, false)),
        }
    }
    out
}

/// Names in backticks with commas (`a`, `b` and 3 more).
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let shown: Vec<String> = names.iter().take(12).map(|n| format!("`{n}`")).collect();
    match names.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name() {
        assert_eq!(nearest("std/gti", ["std/git", "std/self"]), Some("std/git"));
        assert_eq!(nearest("banana", ["std/git"]), None);
        assert_eq!(nearest("pre_tool", ["pre_tool_use_and_more", "pre_tool_use"]), Some("pre_tool_use"));
        assert_eq!(nearest("std", ["std/git/no-force-push"]), None);
        assert_eq!(nearest("shels", ["shells", "shell"]), Some("shells"));
    }

    #[test]
    fn covering() {
        for (a, b, yes) in [
            ("*", "a*", true),
            ("a*", "*", false),
            ("*a", "ba", true),
            ("?", "*", false),
            ("?*", "*", false),
            ("*_read", "file_read", true),
            ("a*c", "a*b*c", true),
            ("a\\*", "ab", false),
            ("a\\*", "a*", false),
            ("a*", "a\\*", true),
            ("", "", true),
        ] {
            assert_eq!(covers(a, b), yes, "{a} {b}");
        }
    }
}
