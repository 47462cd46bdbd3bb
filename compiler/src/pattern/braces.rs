//! Spells braces out: `*.{pem,key}` becomes `*.pem` and `*.key`.
//!
//! INVARIANT: at most [`MAX_SPELLINGS`] texts leave here, in the order in which they are written.

use super::{MAX_SPELLINGS, Problem};
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

const MAX_DEPTH: usize = 8;

/// Every spelling of `text`. A backslash keeps the next character out of it; escapes stay in the spelling.
pub(crate) fn expand(text: &str) -> Result<Vec<String>, Problem> {
    let mut chars = text.chars().peekable();
    sequence(&mut chars, 0)
}

fn sequence(chars: &mut Peekable<Chars<'_>>, depth: usize) -> Result<Vec<String>, Problem> {
    let mut out = vec![String::new()];
    while let Some(&c) = chars.peek() {
        match c {
            ',' | '}' if depth > 0 => return Ok(out),
            '}' => return Err(Problem::Unbalanced),
            '{' => {
                chars.next();
                out = product(&out, &choices(chars, depth + 1)?)?;
            }
            '\\' => {
                chars.next();
                let next = chars.next();
                for spelling in &mut out {
                    spelling.push('\\');
                    spelling.extend(next);
                }
            }
            _ => {
                chars.next();
                out.iter_mut().for_each(|spelling| spelling.push(c));
            }
        }
    }
    if depth > 0 { Err(Problem::Unbalanced) } else { Ok(out) }
}

/// What stands between `{` and `}`; the `{` is behind us.
fn choices(chars: &mut Peekable<Chars<'_>>, depth: usize) -> Result<Vec<String>, Problem> {
    if depth > MAX_DEPTH {
        return Err(Problem::TooDeep);
    }
    let mut all = Vec::new();
    let mut count = 0;
    loop {
        all.extend(sequence(chars, depth)?);
        count += 1;
        if all.len() > MAX_SPELLINGS {
            return Err(Problem::TooMany);
        }
        match chars.next() {
            Some(',') => {}
            Some('}') if count == 1 => return Err(Problem::SingleChoice(all.concat())),
            Some('}') => return Ok(all),
            _ => return Err(Problem::Unbalanced),
        }
    }
}

/// Every text of `left` before every text of `right`.
pub(crate) fn product(left: &[String], right: &[String]) -> Result<Vec<String>, Problem> {
    if left.len().saturating_mul(right.len()) > MAX_SPELLINGS {
        return Err(Problem::TooMany);
    }
    Ok(left.iter().flat_map(|l| right.iter().map(move |r| format!("{l}{r}"))).collect())
}

/// The text of a text glob: braces without a partner, and those that hold no comma, are ordinary letters there (`{}`
/// in a script, `:(){`), as in the shell.
pub(crate) fn lenient(text: &str) -> String {
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut choices: BTreeSet<usize> = BTreeSet::new();
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => open.push((at, false)),
            ',' => {
                if let Some((_, comma)) = open.last_mut() {
                    *comma = true;
                }
            }
            '}' => {
                if let Some((start, true)) = open.pop() {
                    choices.extend([start, at]);
                }
            }
            _ => {}
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if !escaped && matches!(c, '{' | '}') && !choices.contains(&at) {
            out.push('\\');
        }
        escaped = !escaped && c == '\\';
        out.push(c);
    }
    out
}

/// A spelling with escapes only where a wildcard or a backslash would stand without them.
pub(crate) fn plain(spelling: &str) -> String {
    let mut out = String::with_capacity(spelling.len());
    let mut chars = spelling.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(next @ ('*' | '?' | '\\')) => out.extend(['\\', next]),
            Some(next @ ('{' | '}' | ',')) => out.push(next),
            Some(next) => out.extend(['\\', '\\', next]),
            None => out.push_str("\\\\"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_out() {
        assert_eq!(expand("a{b,c{d,e}}f").unwrap(), ["abf", "acdf", "acef"]);
        assert_eq!(expand("/{bin,lib}/{a,b}").unwrap().len(), 4);
        assert_eq!(expand("x{,y}").unwrap(), ["x", "xy"]);
        assert_eq!(expand("a,b").unwrap(), ["a,b"]);
        assert_eq!(expand("\\{a\\}").unwrap(), ["\\{a\\}"]);
        assert_eq!(plain("\\{a\\}\\*\\d"), "{a}\\*\\\\d");
    }

    #[test]
    fn braces_of_texts() {
        let globs = |text: &str| expand(&lenient(text)).unwrap().iter().map(|s| plain(s)).collect::<Vec<_>>();
        assert_eq!(globs("*deleteMany({})*"), ["*deleteMany({})*"]);
        assert_eq!(globs(":(){*"), [":(){*"]);
        assert_eq!(globs("a}b"), ["a}b"]);
        assert_eq!(globs("drop {table,{x}}"), ["drop table", "drop {x}"]);
        assert_eq!(globs("{a,b"), ["{a,b"]);
        assert_eq!(globs("{x,{y,z}"), ["{x,y", "{x,z"]);
        assert_eq!(globs("\\{a,b\\}"), ["{a,b}"]);
    }

    #[test]
    fn refuses() {
        assert_eq!(expand("a{b"), Err(Problem::Unbalanced));
        assert_eq!(expand("a}b"), Err(Problem::Unbalanced));
        assert_eq!(expand("a{b}"), Err(Problem::SingleChoice("b".into())));
        assert_eq!(expand("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"), Err(Problem::TooMany));
        assert_eq!(expand(&"{a,".repeat(20)), Err(Problem::TooDeep));
    }
}
