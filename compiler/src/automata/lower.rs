//! Cuts a glob into literal pieces with gaps between them.
//!
//! INVARIANT: a text matches the glob when and only when it matches one of the pieces' sequences given here, by
//! the rules of `policy_runtime::automaton::layout`.

use super::BuildError;
use policy_runtime::automaton::layout::{END, Gap, START};
use policy_runtime::glob::{HOLE, RUN, Syntax, Token, parse};

/// One place of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Elem {
    /// This symbol.
    Symbol(u16),
    /// One character.
    One,
}

/// A gap with the characters wanted at its start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GapSpec {
    pub(super) gap: Gap,
    pub(super) head: u8,
    pub(super) tail: u8,
}

impl GapSpec {
    pub(super) const DONE: GapSpec = GapSpec { gap: Gap::Done, head: 0, tail: 0 };
}

/// Pieces, each with the gap behind it; the last gap is `Done`. No pieces: everything matches.
pub(super) type Sequence = Vec<(Vec<Elem>, GapSpec)>;

/// The sequences of a glob: two when it ends in `/**`, else one.
pub(super) fn lower(text: &str, syntax: Syntax, fold: bool, id: u32) -> Result<Vec<Sequence>, BuildError> {
    let special = |c: char| c == char::from(HOLE) || c == char::from(RUN);
    if text.chars().any(special) {
        return Err(BuildError::SpecialByte { id });
    }
    let tokens = parse(text, syntax);
    if let [head @ .., Token::Maybe2, Token::Lit('/'), Token::Any] = tokens.as_slice() {
        let mut below = head.to_vec();
        below.extend([Token::Lit('/'), Token::Any]);
        return Ok(vec![sequence(head, syntax, fold, id)?, sequence(&below, syntax, fold, id)?]);
    }
    Ok(vec![sequence(&tokens, syntax, fold, id)?])
}

fn sequence(tokens: &[Token], syntax: Syntax, fold: bool, id: u32) -> Result<Sequence, BuildError> {
    let slash = Elem::Symbol(u16::from(b'/'));
    let mut out: Sequence = Vec::new();
    let mut piece = vec![Elem::Symbol(START)];
    let mut rest = tokens;
    if let [Token::Maybe2, Token::Any, Token::Lit('/'), more @ ..] = rest {
        piece = vec![slash];
        rest = more;
    }
    // The walk can not tell a shared slash from the one before it.
    let finish = |piece: &mut Vec<Elem>, spec: GapSpec, out: &mut Sequence| {
        let shared = out.last().is_some_and(|(_, before)| before.gap == Gap::Slash);
        if shared && *piece == [slash] && spec != GapSpec::DONE {
            return Err(BuildError::Marks { id });
        }
        out.push((std::mem::take(piece), spec));
        Ok(())
    };
    while let Some((&token, more)) = rest.split_first() {
        match token {
            Token::Lit(c) => {
                let c = if fold { c.to_ascii_lowercase() } else { c };
                piece.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|b| Elem::Symbol(u16::from(b))));
                rest = more;
            }
            Token::Maybe2 => {
                finish(&mut piece, GapSpec { gap: Gap::Slash, head: 0, tail: 0 }, &mut out)?;
                piece.push(slash);
                rest = more.get(2..).unwrap_or_default();
            }
            Token::One | Token::Star | Token::Any => {
                let wild = |t: &Token| matches!(t, Token::One | Token::Star | Token::Any);
                let len = rest.iter().position(|t| !wild(t)).unwrap_or(rest.len());
                let (run, behind) = rest.split_at_checked(len).unwrap_or((rest, &[]));
                rest = behind;
                let Some(spec) = gap(run, id)? else {
                    piece.extend(run.iter().map(|_| Elem::One));
                    continue;
                };
                let free = spec == GapSpec { gap: Gap::Any, head: 0, tail: 0 };
                if free && rest.is_empty() {
                    // Whatever follows: the pattern is complete here.
                    if !out.is_empty() || piece != [Elem::Symbol(START)] {
                        finish(&mut piece, GapSpec::DONE, &mut out)?;
                    }
                    return Ok(out);
                }
                // A piece that begins with `/` and has nothing before it also matches at the start: only a
                // leading `**/` means that, so `**/*/x` keeps the start as a piece of its own.
                let at_slash = syntax == Syntax::Path && rest.first() == Some(&Token::Lit('/'));
                if free && !at_slash && out.is_empty() && piece == [Elem::Symbol(START)] {
                    piece.clear();
                    continue;
                }
                finish(&mut piece, spec, &mut out)?;
            }
        }
    }
    piece.push(Elem::Symbol(END));
    finish(&mut piece, GapSpec::DONE, &mut out)?;
    Ok(out)
}

/// The gap of a run of wildcards; none when it has only `?`.
fn gap(run: &[Token], id: u32) -> Result<Option<GapSpec>, BuildError> {
    let open = |t: &Token| matches!(t, Token::Star | Token::Any);
    let (Some(first), Some(last)) = (run.iter().position(open), run.iter().rposition(open)) else {
        return Ok(None);
    };
    if run.iter().enumerate().any(|(i, t)| (first..last).contains(&i) && *t == Token::One) {
        return Err(BuildError::Marks { id });
    }
    let gap = if run.contains(&Token::Any) { Gap::Any } else { Gap::Segment };
    let count = |n: usize| u8::try_from(n).map_err(|_| BuildError::Marks { id });
    let (head, tail) = (count(first)?, count(run.len().saturating_sub(last + 1))?);
    Ok(Some(GapSpec { gap, head, tail }))
}
