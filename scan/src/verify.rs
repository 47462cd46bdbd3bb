//! What stands around a literal: run programs, and small automata where a run program would not be exact.
//!
//! INVARIANT: a check looks at no byte beyond the reach of its case (one more for what is asked between two bytes), and
//! says how many bytes it looked at. It gives the longest match on its side.

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
    ) -> Result<Option<(usize, usize)>, ScanError> {
        let limit = self.text.len().min(literal_end.saturating_add(usize::from(case.behind_max)));
        let end = match case.behind {
            Check::Empty => Some(literal_end),
            Check::Runs { first, count } => {
                self.runs(first, count, |v, steps| v.forward(steps, literal_end, limit))?
            }
            Check::Automaton { index } => self.automaton_forward(index, literal_end, limit)?,
        };
        let Some(end) = end else { return Ok(None) };
        let limit = literal.saturating_sub(usize::from(case.before_max)).max(free_from);
        let start = match case.before {
            Check::Empty => Some(literal),
            Check::Runs { first, count } => {
                self.runs(first, count, |v, steps| v.backward(steps, literal, limit))?
            }
            Check::Automaton { index } => self.automaton_backward(index, literal, limit)?,
        };
        Ok(start.map(|start| (start, end)))
    }

    fn runs(
        &mut self,
        first: usize,
        count: usize,
        check: impl FnOnce(&mut Self, &[[u8; 8]]) -> Result<Option<usize>, ScanError>,
    ) -> Result<Option<usize>, ScanError> {
        let steps = self.section.steps(first, count).ok_or(ScanError::Damaged(SectionError::STEPS))?;
        check(self, steps)
    }

    fn forward(&mut self, steps: &[[u8; 8]], from: usize, limit: usize) -> Result<Option<usize>, ScanError> {
        let mut at = from;
        for step in steps {
            let rest = self.text.get(at..limit).unwrap_or_default();
            match self.step(step, at, || rest.iter())? {
                Some(taken) => at += taken,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    fn backward(&mut self, steps: &[[u8; 8]], from: usize, limit: usize) -> Result<Option<usize>, ScanError> {
        let mut at = from;
        for step in steps {
            let rest = self.text.get(limit..at).unwrap_or_default();
            match self.step(step, at, || rest.iter().rev())? {
                Some(taken) => at = at.saturating_sub(taken),
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// How many bytes a step takes, if it can be taken.
    fn step<'b, B: Iterator<Item = &'b u8>>(
        &mut self,
        step: &[u8; 8],
        at: usize,
        bytes: impl FnOnce() -> B,
    ) -> Result<Option<usize>, ScanError> {
        let damaged = ScanError::Damaged(SectionError::STEPS);
        let (taken, min) = match Section::step(step).ok_or(damaged)? {
            Step::Byte { byte, min, max } => {
                (bytes().take(usize::from(max)).take_while(|b| **b == byte).count(), min)
            }
            Step::Set { set, min, max } => {
                let set = self.section.set(set).ok_or(damaged)?;
                (bytes().take(usize::from(max)).take_while(|byte| contains(set, **byte)).count(), min)
            }
            Step::Look(look) => return Ok(self.look(look, at).then_some(0)),
        };
        self.steps += taken as u64 + 1;
        Ok((taken >= usize::from(min)).then_some(taken))
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
        limit: usize,
    ) -> Result<Option<usize>, ScanError> {
        let dfa = self.automata.get(self.section, index)?;
        let input = Input::new(self.text).range(from..limit).anchored(regex_automata::Anchored::Yes);
        let mut state = dfa.start_state_forward(&input).map_err(|_| DAMAGED)?;
        let mut last = None;
        // A match is known one byte late: at the byte behind it.
        for (at, byte) in (from..limit).zip(self.text.get(from..limit).unwrap_or_default()) {
            state = dfa.next_state(state, *byte);
            self.steps += 1;
            if note(dfa, state, at, &mut last)? {
                return Ok(last);
            }
        }
        state = match self.text.get(limit) {
            Some(byte) => dfa.next_state(state, *byte),
            None => dfa.next_eoi_state(state),
        };
        note(dfa, state, limit, &mut last)?;
        Ok(last)
    }

    fn automaton_backward(
        &mut self,
        index: usize,
        from: usize,
        limit: usize,
    ) -> Result<Option<usize>, ScanError> {
        let dfa = self.automata.get(self.section, index)?;
        let input = Input::new(self.text).range(limit..from).anchored(regex_automata::Anchored::Yes);
        let mut state = dfa.start_state_reverse(&input).map_err(|_| DAMAGED)?;
        let mut last = None;
        for (at, byte) in (limit..from).zip(self.text.get(limit..from).unwrap_or_default()).rev() {
            state = dfa.next_state(state, *byte);
            self.steps += 1;
            if note(dfa, state, at + 1, &mut last)? {
                return Ok(last);
            }
        }
        state = match limit.checked_sub(1).and_then(|at| self.text.get(at)) {
            Some(byte) => dfa.next_state(state, *byte),
            None => dfa.next_eoi_state(state),
        };
        note(dfa, state, limit, &mut last)?;
        Ok(last)
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
