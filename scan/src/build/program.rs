//! What checks one side of a literal: a run program where greed cannot go wrong, else a small automaton.
//!
//! INVARIANT: a program and an automaton accept the same; a run program is made only where no shorter run could match
//! more: a run with a choice shares no byte with what may follow it, and nothing is asked inside of it that could hold.

use super::set::Set;
use super::{BuildErrorKind, Limits};
use crate::layout::{Check, Look, Step};
use regex_automata::MatchKind;
use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_syntax::hir::{self, Hir, HirKind};
use std::collections::BTreeMap;

/// Which side of the literal, and so in which direction it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    Behind,
}

/// Sets, programs and automata of all cases, each once.
#[derive(Debug, Default)]
pub(super) struct Programs {
    pub(super) sets: Vec<Set>,
    pub(super) steps: Vec<Step>,
    pub(super) automata: Vec<Vec<u8>>,
    set_numbers: BTreeMap<Set, u16>,
    known: BTreeMap<Vec<[u8; 8]>, usize>,
    known_automata: BTreeMap<Vec<u8>, usize>,
}

impl Programs {
    /// Makes the check of one side.
    pub(super) fn check(&mut self, part: &Hir, side: Side, limits: &Limits) -> Result<Check, BuildErrorKind> {
        let mut runs = Vec::new();
        if !flatten(part, &mut runs) {
            return self.automaton(part, side, limits);
        }
        if side == Side::Before {
            runs.reverse();
        }
        if runs.is_empty() {
            Ok(Check::Empty)
        } else if runs.len() <= Check::MAX_COUNT && exact(&runs, side) {
            self.program(&runs)
        } else {
            self.automaton(part, side, limits)
        }
    }

    fn program(&mut self, runs: &[Run]) -> Result<Check, BuildErrorKind> {
        let mut steps = Vec::new();
        for run in runs {
            steps.push(match *run {
                Run::Look(look) => Step::Look(look),
                Run::Of { set, min, max } => {
                    let max = max.map_or(u16::MAX, |max| u16::try_from(max).unwrap_or(u16::MAX));
                    let min = u16::try_from(min).unwrap_or(u16::MAX);
                    let mut bytes = set.bytes();
                    match (bytes.next(), bytes.next()) {
                        (Some(byte), None) => Step::Byte { byte, min, max },
                        _ => Step::Set { set: self.set(set)?, min, max },
                    }
                }
            });
        }
        let key = steps.iter().map(|step| step.write()).collect();
        let first = *self.known.entry(key).or_insert(self.steps.len());
        if first == self.steps.len() {
            self.steps.extend(&steps);
        }
        too_many("steps of run programs", self.steps.len(), Check::MAX_FIRST)?;
        Ok(Check::Runs { first, count: steps.len() })
    }

    fn set(&mut self, set: Set) -> Result<u16, BuildErrorKind> {
        too_many("classes", self.sets.len(), usize::from(u16::MAX))?;
        let number = self.sets.len() as u16;
        let known = *self.set_numbers.entry(set).or_insert(number);
        if known == number {
            self.sets.push(set);
        }
        Ok(known)
    }

    fn automaton(&mut self, part: &Hir, side: Side, limits: &Limits) -> Result<Check, BuildErrorKind> {
        let limit = limits.automaton;
        let too_big = |bytes| BuildErrorKind::AutomatonTooBig { bytes, limit };
        let config = thompson::Config::new()
            .utf8(false)
            .reverse(side == Side::Before)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(limit.saturating_mul(4)));
        let nfa = NFA::compiler().configure(config).build_from_hir(part).map_err(|_| too_big(None))?;
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .dfa_size_limit(Some(limit.saturating_mul(4)))
            .determinize_size_limit(Some(limit.saturating_mul(8)));
        let dense =
            dense::Builder::new().configure(config).build_from_nfa(&nfa).map_err(|_| too_big(None))?;
        let bytes = dense.to_sparse().map_err(|_| too_big(None))?.to_bytes_little_endian();
        if bytes.len() > limit {
            return Err(too_big(Some(bytes.len())));
        }
        let index = *self.known_automata.entry(bytes.clone()).or_insert(self.automata.len());
        if index == self.automata.len() {
            self.automata.push(bytes);
        }
        too_many("automata", self.automata.len(), Check::MAX_FIRST)?;
        Ok(Check::Automaton { index })
    }
}

pub(super) fn too_many(what: &'static str, count: usize, limit: usize) -> Result<(), BuildErrorKind> {
    if count >= limit { Err(BuildErrorKind::TooMany { what, count, limit }) } else { Ok(()) }
}

/// A step of a program that is not yet known to be exact.
#[derive(Debug, Clone, Copy)]
enum Run {
    Of { set: Set, min: u32, max: Option<u32> },
    Look(Look),
}

/// Adds the runs of a part; false if it is not made of runs alone.
fn flatten(part: &Hir, runs: &mut Vec<Run>) -> bool {
    match part.kind() {
        HirKind::Empty => true,
        HirKind::Literal(literal) => {
            runs.extend(literal.0.iter().map(|byte| Run::Of { set: Set::of([*byte]), min: 1, max: Some(1) }));
            true
        }
        HirKind::Class(class) => {
            let set = Set::of_class(class);
            runs.extend(set.map(|set| Run::Of { set, min: 1, max: Some(1) }));
            set.is_some()
        }
        HirKind::Look(look) => {
            let look = look_of(*look);
            runs.extend(look.map(Run::Look));
            look.is_some()
        }
        HirKind::Capture(capture) => flatten(&capture.sub, runs),
        HirKind::Concat(parts) => parts.iter().all(|part| flatten(part, runs)),
        HirKind::Repetition(repetition) => {
            let mut inner = Vec::new();
            if !flatten(&repetition.sub, &mut inner) {
                return false;
            }
            match inner.as_slice() {
                [Run::Of { set, min: 1, max: Some(1) }] => {
                    runs.push(Run::Of { set: *set, min: repetition.min, max: repetition.max });
                    true
                }
                _ => false,
            }
        }
        HirKind::Alternation(_) => false,
    }
}

fn look_of(look: hir::Look) -> Option<Look> {
    Some(match look {
        hir::Look::Start => Look::Start,
        hir::Look::End => Look::End,
        hir::Look::StartLF => Look::LineStart,
        hir::Look::EndLF => Look::LineEnd,
        hir::Look::WordAscii => Look::Word,
        hir::Look::WordAsciiNegate => Look::NotWord,
        hir::Look::WordStartAscii => Look::WordStart,
        hir::Look::WordEndAscii => Look::WordEnd,
        hir::Look::WordStartHalfAscii => Look::NoWordBefore,
        hir::Look::WordEndHalfAscii => Look::NoWordBehind,
        _ => return None,
    })
}

/// Whether taking as much as there is, run by run, finds the longest match and misses none.
fn exact(runs: &[Run], side: Side) -> bool {
    runs.iter().enumerate().all(|(index, run)| match run {
        Run::Of { set, min, max } if *max != Some(*min) => {
            for next in runs.iter().skip(index + 1) {
                match next {
                    Run::Look(look) if *min == 0 || !never_inside(*look, set, side) => return false,
                    Run::Of { set: other, .. } if set.overlaps(other) => return false,
                    Run::Of { min: 1.., .. } => break,
                    _ => {}
                }
            }
            true
        }
        _ => true,
    })
}

/// Whether something cannot hold between two bytes of a set. What is asked at an end of the text cannot hold where the
/// run could go on.
fn never_inside(look: Look, set: &Set, side: Side) -> bool {
    let word = Set::word();
    let all_words = set.within(&word);
    let no_words = !set.overlaps(&word);
    match look {
        Look::Word | Look::WordStart | Look::WordEnd => all_words || no_words,
        Look::NoWordBefore | Look::NoWordBehind => all_words,
        Look::Start => side == Side::Before,
        Look::End => side == Side::Behind,
        Look::LineStart => side == Side::Before && !set.has(b'\n'),
        Look::LineEnd => side == Side::Behind && !set.has(b'\n'),
        Look::NotWord => false,
    }
}
