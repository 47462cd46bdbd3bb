//! Globs by plain recursion: whether one covers a value, and whether it and a value's own glob have a common member.
//!
//! INVARIANT: nothing here is shared with `policy_runtime::glob`, and nothing is clever; values and globs are short. What a run
//! of several different wildcards (`*?*`) covers of another wildcard is not said here, for no generated glob has one.

use policy_runtime::glob::Syntax;

/// One sign of a pattern's glob.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    Lit(char),
    One,
    Star,
    Any,
    /// These or nothing.
    Maybe(Vec<Sign>),
}

/// One sign of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// A known letter.
    Lit(char),
    /// `?`: one letter of a segment.
    One,
    /// `[...]`: one letter of these ranges, or none of them.
    Range(Vec<(char, char)>, bool),
    /// `*`: a run in a segment.
    Star,
    /// Any run: a hole, or a segment `**`.
    Hole,
    /// A run in a segment that may begin with a dot.
    Run,
}

/// "`/**/` also matches `/`; a leading `**/` matches at the start; a trailing `/**` also matches the folder itself."
fn signs(glob: &str, syntax: Syntax) -> Vec<Sign> {
    let (mut out, mut rest, mut fresh) = (Vec::new(), glob, true);
    while !rest.is_empty() {
        let folders = folders(rest).filter(|_| fresh && syntax == Syntax::Path);
        match folders {
            Some("") if out.len() > 1 && out.last() == Some(&Sign::Lit('/')) => {
                out.pop();
                out.push(Sign::Maybe(vec![Sign::Lit('/'), Sign::Any]));
                rest = "";
            }
            // Several in a row are one.
            Some(more) if more.strip_prefix('/').is_some_and(folders_only) => rest = &more[1..],
            Some(more) if more.starts_with('/') => {
                out.push(Sign::Maybe(vec![Sign::Any, Sign::Lit('/')]));
                rest = &more[1..];
            }
            _ => {
                fresh = rest.starts_with('/');
                rest = sign(rest, &mut out);
            }
        }
    }
    if syntax == Syntax::Plain {
        out.iter_mut().filter(|sign| **sign == Sign::Star).for_each(|sign| *sign = Sign::Any);
    }
    out
}

/// What stands behind two or more stars.
fn folders(glob: &str) -> Option<&str> {
    glob.starts_with("**").then(|| glob.trim_start_matches('*'))
}

/// Whether the next segment is two or more stars.
fn folders_only(glob: &str) -> bool {
    folders(glob).is_some_and(|more| more.is_empty() || more.starts_with('/'))
}

fn sign<'g>(glob: &'g str, out: &mut Vec<Sign>) -> &'g str {
    let mut chars = glob.chars();
    out.push(match chars.next() {
        Some('\\') => Sign::Lit(chars.next().unwrap_or('\\')),
        Some('?') => Sign::One,
        Some('*') => {
            let stars = chars.as_str().trim_start_matches('*');
            let wide = stars.len() < chars.as_str().len();
            chars = stars.chars();
            if wide { Sign::Any } else { Sign::Star }
        }
        Some(c) => Sign::Lit(c),
        None => return "",
    });
    chars.as_str()
}

/// A value as it stands; the bytes that mark holes and runs mean what they mark.
pub(super) fn known(text: &str) -> Vec<Piece> {
    let piece = |c| match c {
        '\u{1}' => Piece::Hole,
        '\u{2}' => Piece::Run,
        c => Piece::Lit(c),
    };
    text.chars().map(piece).collect()
}

/// A value that is a file pattern of a shell.
pub(super) fn pattern(text: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut chars = text.chars();
    let mut before = '/';
    while let Some(c) = chars.next() {
        let fresh = before == '/';
        before = c;
        out.push(match c {
            '\\' => Piece::Lit(chars.next().unwrap_or('\\')),
            '?' => Piece::One,
            '*' => {
                let stars = chars.as_str().trim_start_matches('*');
                let wide = stars.len() < chars.as_str().len();
                chars = stars.chars();
                let whole = fresh && (stars.is_empty() || stars.starts_with('/'));
                if wide && whole { Piece::Hole } else { Piece::Star }
            }
            '[' => match bracket(chars.as_str()) {
                Some((piece, rest)) => {
                    chars = rest.chars();
                    piece
                }
                None => Piece::Lit('['),
            },
            '\u{1}' => Piece::Hole,
            '\u{2}' => Piece::Run,
            c => Piece::Lit(c),
        });
    }
    out
}

/// Only plain ranges; a `]` right behind the opening is a letter.
fn bracket(text: &str) -> Option<(Piece, &str)> {
    let body = text.strip_prefix(['!', '^']);
    let (negated, body) = (body.is_some(), body.unwrap_or(text));
    let end = body.char_indices().skip(1).find(|(_, c)| *c == ']')?.0;
    let letters: Vec<char> = body[..end].chars().collect();
    let (mut ranges, mut rest) = (Vec::new(), letters.as_slice());
    loop {
        rest = match rest {
            [a, '-', b, more @ ..] => {
                ranges.push((*a, *b));
                more
            }
            [a, more @ ..] => {
                ranges.push((*a, *a));
                more
            }
            [] => break,
        };
    }
    Some((Piece::Range(ranges, negated), &body[end + 1..]))
}

/// Whether the glob covers all that the value stands for.
pub(super) fn covers(glob: &str, value: &[Piece], syntax: Syntax) -> bool {
    fits(&signs(glob, syntax), value, syntax)
}

fn fits(signs: &[Sign], value: &[Piece], syntax: Syntax) -> bool {
    let Some((sign, rest)) = signs.split_first() else { return value.is_empty() };
    if let Sign::Maybe(inner) = sign {
        return fits(rest, value, syntax) || fits(&[inner, rest].concat(), value, syntax);
    }
    let run = matches!(sign, Sign::Star | Sign::Any);
    if run && fits(rest, value, syntax) {
        return true;
    }
    let Some((piece, more)) = value.split_first() else { return false };
    let takes = match (sign, piece) {
        (Sign::Lit(own), Piece::Lit(c)) => own == c,
        (Sign::One, Piece::Lit(c)) => *c != '/' || syntax == Syntax::Plain,
        (Sign::Star, Piece::Lit(c)) => *c != '/',
        (Sign::Star, piece) => *piece != Piece::Hole,
        (Sign::Any, _) => true,
        _ => false,
    };
    takes && fits(if run { signs } else { rest }, more, syntax)
}

/// Whether the glob and the value have a common member.
pub(super) fn meets(glob: &str, value: &[Piece], syntax: Syntax) -> bool {
    common(&signs(glob, syntax), value, true, syntax)
}

/// One letter that both sides may give.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letter {
    Is(char),
    /// Any one of a segment.
    Own,
    All,
}

/// `fresh`: a wildcard of a shell that stands here stands for no dot.
fn common(signs: &[Sign], value: &[Piece], fresh: bool, syntax: Syntax) -> bool {
    if let Some((Sign::Maybe(inner), rest)) = signs.split_first() {
        return common(rest, value, fresh, syntax) || common(&[inner, rest].concat(), value, fresh, syntax);
    }
    let (sign, piece) = (signs.first(), value.first());
    if sign.is_none() && piece.is_none() {
        return true;
    }
    let (long_sign, long_piece) = (
        matches!(sign, Some(Sign::Star | Sign::Any)),
        matches!(piece, Some(Piece::Star | Piece::Hole | Piece::Run)),
    );
    if long_sign && common(&signs[1..], value, fresh, syntax)
        || long_piece && common(signs, &value[1..], fresh, syntax)
    {
        return true;
    }
    let (Some(sign), Some(piece)) = (sign, piece) else { return false };
    if long_sign && long_piece {
        // Both give a letter that is neither a slash nor a dot and stay where they are.
        return fresh && common(signs, value, false, syntax);
    }
    let mine = match sign {
        Sign::Lit(c) => Letter::Is(*c),
        Sign::Any => Letter::All,
        Sign::One if syntax == Syntax::Plain => Letter::All,
        _ => Letter::Own,
    };
    let yours = match piece {
        Piece::Lit(c) => Letter::Is(*c),
        Piece::Hole => Letter::All,
        _ => Letter::Own,
    };
    let dotless = fresh && matches!(piece, Piece::One | Piece::Star);
    let given = match (mine, yours) {
        (Letter::Is(a), Letter::Is(b)) => (a == b).then_some(a),
        (Letter::Is(c), other) | (other, Letter::Is(c)) => {
            let inside = |a: &(char, char)| a.0 <= c && c <= a.1;
            let ranged = match piece {
                Piece::Range(ranges, negated) => ranges.iter().any(inside) != *negated,
                _ => true,
            };
            (ranged && (other == Letter::All || c != '/') && !(dotless && c == '.')).then_some(c)
        }
        // Some letter in the middle of a segment.
        _ => Some('x'),
    };
    let signs = if long_sign { signs } else { &signs[1..] };
    let value = if long_piece { value } else { &value[1..] };
    given.is_some_and(|c| common(signs, value, c == '/', syntax))
}
