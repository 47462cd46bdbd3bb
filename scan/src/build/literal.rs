//! Which literal of a pattern is looked for, and what remains before and behind it.
//!
//! INVARIANT: the ways of a pattern together match exactly what it matches; every way has one of its literals.

use super::set::{End, Set, edge};
use super::{BuildErrorKind, window};
use crate::layout::WINDOW;
use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::Range;

/// A byte of a literal, lower case if both cases match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) byte: u8,
    /// 0x20 if both cases of the letter match, else 0.
    pub(super) fold: u8,
}

impl Part {
    pub(super) fn set(self) -> Set {
        let fold = (self.fold != 0).then_some(self.byte.to_ascii_uppercase());
        Set::of([self.byte].into_iter().chain(fold))
    }
}

/// One choice of literals with what stands around all of them.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) literals: Vec<Vec<Part>>,
    pub(super) before: Hir,
    pub(super) behind: Hir,
}

/// Most literals that one way has.
const MAX_LITERALS: usize = 64;
/// Most ways of a pattern.
const MAX_WAYS: usize = 64;
/// Most bytes of a literal.
const MAX_LITERAL: usize = 32;
/// Most bytes of a class that is spelled out.
const MAX_CHOICES: usize = 4;
/// Repetitions of a byte that are spelled out.
const MAX_COPIES: u32 = 16;

/// The ways of a pattern.
///
/// # Errors
///
/// When some match would have no literal, or the ways are too many.
pub(super) fn ways(pattern: &Hir) -> Result<Vec<Way>, BuildErrorKind> {
    let mut ways = Vec::new();
    let mut open = vec![flatten(pattern)];
    while let Some(items) = open.pop() {
        if let Some(way) = best(&items) {
            ways.push(way);
        } else {
            let parts = |item: &Hir| match item.kind() {
                HirKind::Alternation(parts) => Some(parts.clone()),
                _ => None,
            };
            let split = items.iter().enumerate().find_map(|(index, item)| Some((index, parts(item)?)));
            let (index, parts) = split.ok_or(BuildErrorKind::NoLiteral)?;
            let (before, rest) = items.split_at(index);
            let (_, behind) = rest.split_at(1);
            let count = ways.len() + open.len() + parts.len();
            if count > MAX_WAYS {
                return Err(BuildErrorKind::TooMany { what: "ways to match", count, limit: MAX_WAYS });
            }
            for part in parts.iter().rev() {
                open.push([before, &flatten(part), behind].concat());
            }
        }
    }
    Ok(ways)
}

/// The parts of a sequence, literals in single bytes.
fn flatten(pattern: &Hir) -> Vec<Hir> {
    match pattern.kind() {
        HirKind::Empty => Vec::new(),
        HirKind::Concat(parts) => parts.iter().flat_map(flatten).collect(),
        HirKind::Capture(capture) => flatten(&capture.sub),
        HirKind::Literal(literal) => literal.0.iter().map(|byte| Hir::literal([*byte])).collect(),
        HirKind::Repetition(repetition)
            if repetition.max == Some(repetition.min)
                && repetition.min <= MAX_COPIES
                && choices(&repetition.sub).is_some_and(|choices| choices.len() == 1) =>
        {
            (0..repetition.min).flat_map(|_| flatten(&repetition.sub)).collect()
        }
        _ => vec![pattern.clone()],
    }
}

/// The literals that a part is one of, if they are few.
fn choices(part: &Hir) -> Option<Vec<Vec<Part>>> {
    let mut all = match part.kind() {
        HirKind::Empty => vec![Vec::new()],
        HirKind::Look(_) => return None,
        HirKind::Literal(literal) => {
            vec![literal.0.iter().map(|byte| Part { byte: *byte, fold: 0 }).collect()]
        }
        HirKind::Class(class) => bytes_of(class)?.into_iter().map(|part| vec![part]).collect(),
        HirKind::Capture(capture) => choices(&capture.sub)?,
        HirKind::Repetition(repetition) => {
            let max =
                repetition.max.filter(|max| *max <= MAX_COPIES && (*max == 1 || repetition.min == *max))?;
            let one = choices(&repetition.sub)?;
            let many = (0..max).try_fold(vec![Vec::new()], |done, _| product(&done, &one))?;
            if repetition.min == 0 { many.into_iter().chain([Vec::new()]).collect() } else { many }
        }
        HirKind::Concat(parts) => {
            parts.iter().try_fold(vec![Vec::new()], |done, part| product(&done, &choices(part)?))?
        }
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(choices(part)?);
            }
            all
        }
    };
    all.sort();
    all.dedup();
    (!all.is_empty() && all.len() <= MAX_LITERALS).then_some(all)
}

/// Every literal of the first with every one of the second, if that is few and short.
fn product(firsts: &[Vec<Part>], seconds: &[Vec<Part>]) -> Option<Vec<Vec<Part>>> {
    let longest = |literals: &[Vec<Part>]| literals.iter().map(Vec::len).max().unwrap_or(0);
    let short = longest(firsts) + longest(seconds) <= MAX_LITERAL;
    (short && firsts.len() * seconds.len() <= MAX_LITERALS).then(|| {
        firsts
            .iter()
            .flat_map(|first| seconds.iter().map(|second| [first.as_slice(), second].concat()))
            .collect()
    })
}

/// The bytes of a small class, both cases of a letter as one.
fn bytes_of(class: &Class) -> Option<Vec<Part>> {
    let set = Set::of_class(class)?;
    let folds = |byte: u8| set.has(byte.to_ascii_uppercase()) && set.has(byte.to_ascii_lowercase());
    let parts: Vec<Part> = set
        .bytes()
        .take(2 * MAX_CHOICES + 1)
        .filter(|byte| !(byte.is_ascii_uppercase() && folds(*byte)))
        .map(|byte| Part { byte, fold: if byte.is_ascii_lowercase() && folds(byte) { 0x20 } else { 0 } })
        .collect();
    (parts.len() <= MAX_CHOICES).then_some(parts)
}

/// The best sequence of parts that is one of few literals.
fn best(items: &[Hir]) -> Option<Way> {
    let all_choices: Vec<_> = items.iter().map(choices).collect();
    let mut best: Option<(_, Range<usize>, _)> = None;
    for first in 0..items.len() {
        let mut literals = vec![Vec::new()];
        for (last, choices) in all_choices.iter().enumerate().skip(first) {
            let Some(longer) = choices.as_ref().and_then(|choices| product(&literals, choices)) else {
                break;
            };
            literals = longer;
            literals.sort();
            literals.dedup();
            // One more byte that always follows can only make it rarer.
            let longest = literals.iter().map(Vec::len).max().unwrap_or(0);
            let next = all_choices.get(last + 1).and_then(Option::as_ref);
            if longest < MAX_LITERAL
                && next.is_some_and(|next| matches!(next.as_slice(), [one] if one.len() == 1))
            {
                continue;
            }
            let Some(cost) = cost(&literals, items, first..last + 1) else { continue };
            let least = literals.iter().map(Vec::len).min().unwrap_or(0);
            let key = (cost, std::cmp::Reverse(least));
            if best.as_ref().is_none_or(|(other, _, _)| key < *other) {
                best = Some((key, first..last + 1, literals.clone()));
            }
        }
    }
    let (_, range, literals) = best?;
    Some(Way { literals, before: side(items, 0..range.start), behind: side(items, range.end..items.len()) })
}

fn side(items: &[Hir], range: Range<usize>) -> Hir {
    Hir::concat(items.get(range).unwrap_or_default().to_vec())
}

/// How often the windows of these literals are met; `None` if one has no window. They stand at `range` of the parts.
fn cost(literals: &[Vec<Part>], items: &[Hir], range: Range<usize>) -> Option<u64> {
    let least = literals.iter().map(Vec::len).min().unwrap_or(0);
    if least + 1 < WINDOW {
        return None;
    }
    let (before, behind) = if least < WINDOW {
        (edge(items.get(..range.start)?, End::Last), edge(items.get(range.end..)?, End::First))
    } else {
        (None, None)
    };
    literals.iter().try_fold(0, |sum: u64, literal| {
        Some(sum.saturating_add(window::choose(literal, before, behind)?.cost))
    })
}
