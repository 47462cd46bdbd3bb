//! What stands around a literal: run programs, and small automata where a run program would not be exact.
//!
//! INVARIANT: a check looks at no byte beyond the reach of its case (one more for what is asked between two bytes), and
//! says how many bytes it looked at. It gives the longest match on its side. Where it finds none because the reach ends, it
//! says so: that is not the same as none.

use crate::layout::{Case, Check, Look, Step};
use crate::scanner::ScanError;
use crate::section::{Section, SectionError};
use regex_automata::Input;
use regex_automata::dfa::{Automaton, sparse};
use regex_automata::util::primitives::StateID;
use std::sync::OnceLock;

type Dfa<'a> = sparse::DFA<&'a [u8]>;

/// Automata of a section, each opened when it is first needed.
#[derive(Debug)]
pub(crate) struct Automata<'a> {
    opened: Vec<OnceLock<Option<Box<Dfa<'a>>>>>,
}

const DAMAGED: ScanError = ScanError::Damaged(SectionError::AUTOMATON);

impl<'a> Automata<'a> {
    pub(crate) fn new(count: usize) -> Self {
        Self { opened: (0..count).map(|_| OnceLock::new()).collect() }
    }

    fn get(&self, section: &Section<'a>, index: usize) -> Result<&Dfa<'a>, ScanError> {
        let cell = self.opened.get(index).ok_or(DAMAGED)?;
        let open = || Some(Box::new(Dfa::from_bytes(section.automaton(index)?).ok()?.0));
        cell.get_or_init(open).as_deref().ok_or(DAMAGED)
    }
}

/// What a check found on one side, or on both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found<T> {
    /// A match, and its end.
    Match(T),
    /// None.
    None,
    /// None as far as the case reaches; beyond that there may be one.
    Cut,
}

/// Where one side of a literal ends.
#[derive(Debug, Clone, Copy)]
struct Limit {
    at: usize,
    /// The text goes on behind it, and so might a match.
    cut: bool,
}

/// What a step of a run program took.
#[derive(Debug, Clone, Copy)]
struct Taken {
    bytes: usize,
    /// It has as many as it needs.
    enough: bool,
    /// It would take more.
    more: bool,
}

/// Checks against one text.
pub(crate) struct Verifier<'s, 'a, 't> {
    pub(crate) section: &'s Section<'a>,
    pub(crate) automata: &'s Automata<'a>,
    pub(crate) text: &'t [u8],
    /// Bytes looked at.
    pub(crate) steps: u64,
}

impl Verifier<'_, '_, '_> {
    /// Start and end of the match around the literal at `literal .. literal_end` that begins at `free_from` or later.
    pub(crate) fn around(
        &mut self,
        case: &Case,
        literal: usize,
        literal_end: usize,
        free_from: usize,
    ) -> Result<Found<(usize, usize)>, ScanError> {
        let reach = literal_end.saturating_add(usize::from(case.behind_max));
        let limit = Limit { at: self.text.len().min(reach), cut: reach < self.text.len() };
        let end = match case.behind {
            Check::Empty => Found::Match(literal_end),
            Check::Runs { first, count } => {
                self.runs(first, count, |v, steps| v.forward(steps, literal_end, limit))?
            }
            Check::Automaton { index } => self.automaton_forward(index, literal_end, limit)?,
        };
        if end == Found::None {
            return Ok(Found::None);
        }
        let reach = literal.saturating_sub(usize::from(case.before_max));
        let limit = Limit { at: reach.max(free_from), cut: reach > free_from };
        let start = match case.before {
            Check::Empty => Found::Match(literal),
            Check::Runs { first, count } => {
                self.runs(first, count, |v, steps| v.backward(steps, literal, limit))?
            }
            Check::Automaton { index } => self.automaton_backward(index, literal, limit)?,
        };
        Ok(match (start, end) {
            (Found::Match(start), Found::Match(end)) => Found::Match((start, end)),
            (Found::None, _) | (_, Found::None) => Found::None,
            (Found::Cut, _) | (_, Found::Cut) => Found::Cut,
        })
    }

    fn runs(
        &mut self,
        first: usize,
        count: usize,
        check: impl FnOnce(&mut Self, &[[u8; 8]]) -> Result<Found<usize>, ScanError>,
    ) -> Result<Found<usize>, ScanError> {
        let steps = self.section.steps(first, count).ok_or(ScanError::Damaged(SectionError::STEPS))?;
        check(self, steps)
    }

    fn forward(&mut self, steps: &[[u8; 8]], from: usize, limit: Limit) -> Result<Found<usize>, ScanError> {
        let (mut at, mut cut) = (from, false);
        for step in steps {
            let rest = self.text.get(at..limit.at).unwrap_or_default();
            let taken = self.step(step, at, || rest.iter())?;
            cut |= limit.cut && taken.more && taken.bytes == rest.len();
            if !taken.enough {
                return Ok(if cut { Found::Cut } else { Found::None });
            }
            at += taken.bytes;
        }
        Ok(Found::Match(at))
    }

    fn backward(&mut self, steps: &[[u8; 8]], from: usize, limit: Limit) -> Result<Found<usize>, ScanError> {
        let (mut at, mut cut) = (from, false);
        for step in steps {
            let rest = self.text.get(limit.at..at).unwrap_or_default();
            let taken = self.step(step, at, || rest.iter().rev())?;
            cut |= limit.cut && taken.more && taken.bytes == rest.len();
            if !taken.enough {
                return Ok(if cut { Found::Cut } else { Found::None });
            }
            at = at.saturating_sub(taken.bytes);
        }
        Ok(Found::Match(at))
    }

    /// How many bytes a step takes.
    fn step<'b, B: Iterator<Item = &'b u8>>(
        &mut self,
        step: &[u8; 8],
        at: usize,
        bytes: impl FnOnce() -> B,
    ) -> Result<Taken, ScanError> {
        let damaged = ScanError::Damaged(SectionError::STEPS);
        let (taken, min, max) = match Section::step(step).ok_or(damaged)? {
            Step::Byte { byte, min, max } => {
                (bytes().take(usize::from(max)).take_while(|b| **b == byte).count(), min, max)
            }
            Step::Set { set, min, max } => {
                let set = self.section.set(set).ok_or(damaged)?;
                (bytes().take(usize::from(max)).take_while(|byte| contains(set, **byte)).count(), min, max)
            }
            Step::Look(look) => return Ok(Taken { bytes: 0, enough: self.look(look, at), more: false }),
        };
        self.steps += taken as u64 + 1;
        Ok(Taken { bytes: taken, enough: taken >= usize::from(min), more: taken < usize::from(max) })
    }

    fn look(&self, look: Look, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.text.get(at)).copied();
        let behind = self.text.get(at).copied();
        let word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match look {
            Look::Start => before.is_none(),
            Look::End => behind.is_none(),
            Look::LineStart => before.is_none_or(|byte| byte == b'\n'),
            Look::LineEnd => behind.is_none_or(|byte| byte == b'\n'),
            Look::Word => word(before) != word(behind),
            Look::NotWord => word(before) == word(behind),
            Look::WordStart => !word(before) && word(behind),
            Look::WordEnd => word(before) && !word(behind),
            Look::NoWordBefore => !word(before),
            Look::NoWordBehind => !word(behind),
        }
    }

    fn automaton_forward(
        &mut self,
        index: usize,
        from: usize,
        limit: Limit,
    ) -> Result<Found<usize>, ScanError> {
        let dfa = self.automata.get(self.section, index)?;
        let input = Input::new(self.text).range(from..limit.at).anchored(regex_automata::Anchored::Yes);
        let mut state = dfa.start_state_forward(&input).map_err(|_| DAMAGED)?;
        let mut last = None;
        // A match is known one byte late: at the byte behind it.
        for (at, byte) in (from..limit.at).zip(self.text.get(from..limit.at).unwrap_or_default()) {
            state = dfa.next_state(state, *byte);
            self.steps += 1;
            if note(dfa, state, at, &mut last)? {
                return Ok(found(last, false));
            }
        }
        state = match self.text.get(limit.at) {
            Some(byte) => dfa.next_state(state, *byte),
            None => dfa.next_eoi_state(state),
        };
        let dead = note(dfa, state, limit.at, &mut last)?;
        Ok(found(last, limit.cut && !dead))
    }

    fn automaton_backward(
        &mut self,
        index: usize,
        from: usize,
        limit: Limit,
    ) -> Result<Found<usize>, ScanError> {
        let dfa = self.automata.get(self.section, index)?;
        let input = Input::new(self.text).range(limit.at..from).anchored(regex_automata::Anchored::Yes);
        let mut state = dfa.start_state_reverse(&input).map_err(|_| DAMAGED)?;
        let mut last = None;
        for (at, byte) in (limit.at..from).zip(self.text.get(limit.at..from).unwrap_or_default()).rev() {
            state = dfa.next_state(state, *byte);
            self.steps += 1;
            if note(dfa, state, at + 1, &mut last)? {
                return Ok(found(last, false));
            }
        }
        state = match limit.at.checked_sub(1).and_then(|at| self.text.get(at)) {
            Some(byte) => dfa.next_state(state, *byte),
            None => dfa.next_eoi_state(state),
        };
        let dead = note(dfa, state, limit.at, &mut last)?;
        Ok(found(last, limit.cut && !dead))
    }
}

/// The match, or whether there may be one behind the limit.
fn found(last: Option<usize>, cut: bool) -> Found<usize> {
    match last {
        Some(at) => Found::Match(at),
        None if cut => Found::Cut,
        None => Found::None,
    }
}

/// Notes a match that ends at `at`; true if nothing more can follow.
fn note(dfa: &Dfa<'_>, state: StateID, at: usize, last: &mut Option<usize>) -> Result<bool, ScanError> {
    if !dfa.is_special_state(state) {
        return Ok(false);
    }
    if dfa.is_match_state(state) {
        *last = Some(at);
    }
    if dfa.is_quit_state(state) { Err(DAMAGED) } else { Ok(dfa.is_dead_state(state)) }
}

/// Whether a set has a byte.
#[inline(always)]
pub(crate) fn contains(set: &[u8; 32], byte: u8) -> bool {
    set.get(usize::from(byte >> 3)).is_some_and(|bits| bits >> (byte & 7) & 1 == 1)
}

/// Whether a literal stands at `at`. The masks are empty or as long as the literal.
#[inline]
pub(crate) fn literal_at(text: &[u8], at: usize, literal: &[u8], masks: &[u8]) -> bool {
    let Some(there) = text.get(at..).and_then(|rest| rest.get(..literal.len())) else { return false };
    if masks.is_empty() {
        there == literal
    } else {
        there.iter().zip(literal).zip(masks).all(|((there, byte), mask)| there | mask == *byte)
    }
}
