//! Sets of operands: stored once, numbered in the order of first use, and looked up by automata over all of them.
//!
//! INVARIANT: every list that a pattern may ask a path for is in the automaton that answers: of a refusal its paths in any
//! case and what it takes back with exact letters, of a grant the other way round.

use super::programs::run_texts;
use super::store::{Range, Store};
use super::{EmitError, automaton};
use crate::automata::Syntax;
use crate::ir::{LineId, Matcher, OperandSet, Place, Policy};
use policy_runtime::fold::fold;
use policy_runtime::run_match::fronts;
use policy_runtime::table::layout::{Section, set_id};
use std::collections::{BTreeMap, BTreeSet};

/// The automata over sets, in the order of the table.
pub(super) const AUTOMATA: usize = 4;

type Key<'p> = [&'p [String]; 4];

struct Set<'p> {
    set: &'p OperandSet,
    /// The line that first names it.
    line: LineId,
    granted: bool,
    refused: bool,
    /// Patterns are found by it.
    keyed: bool,
}

/// The sets of a policy.
pub(super) struct Sets<'p> {
    sets: Vec<Set<'p>>,
    numbers: BTreeMap<Key<'p>, u32>,
}

fn key(set: &OperandSet) -> Key<'_> {
    [&set.paths, &set.texts, &set.except_paths, &set.except_texts]
}

impl<'p> Sets<'p> {
    /// Those of all run patterns.
    pub(super) fn of(policy: &'p Policy) -> Sets<'p> {
        let patterns = policy.patterns.iter().map(|p| (&p.matcher, p.line, p.grant));
        let excepts = policy.excepts.iter().map(|e| (&e.matcher, e.line, e.grant));
        let mut all = Sets { sets: Vec::new(), numbers: BTreeMap::new() };
        for (matcher, line, grant) in patterns.chain(excepts) {
            let Matcher::Run(pattern) = matcher else { continue };
            for (_, set) in pattern.sets() {
                let next = u32::try_from(all.sets.len()).unwrap_or(u32::MAX);
                let number = *all.numbers.entry(key(set)).or_insert(next);
                if number == next {
                    all.sets.push(Set { set, line, granted: false, refused: false, keyed: false });
                }
                if let Some(own) = all.sets.get_mut(number as usize) {
                    own.granted |= grant;
                    own.refused |= !grant;
                }
            }
        }
        all
    }

    /// The number of a set plus one; 0 for none.
    pub(super) fn number(&self, set: Option<&OperandSet>) -> u32 {
        set.and_then(|set| self.numbers.get(&key(set))).map_or(0, |number| number.saturating_add(1))
    }

    /// Some pattern is found by this set.
    pub(super) fn find_by(&mut self, number: u32) {
        if let Some(own) = self.sets.get_mut(number as usize) {
            own.keyed = true;
        }
    }

    /// Writes the sets.
    pub(super) fn records(&self, store: &mut Store) {
        for own in &self.sets {
            let [paths, texts, except_paths, except_texts] = key(own.set).map(|list| run_texts(store, list));
            let row = [paths, texts, except_paths, except_texts, u32::from(own.keyed)];
            store.record(Section::Sets, &row);
        }
    }

    /// Writes the automata over them.
    pub(super) fn automata(
        &self,
        policy: &Policy,
        store: &mut Store,
    ) -> Result<[Range; AUTOMATA], EmitError> {
        let [mut folded, mut exact, mut above, mut texts]: [BTreeSet<(u32, String)>; AUTOMATA] =
            Default::default();
        for (number, own) in (0u32..).zip(&self.sets) {
            let id = |except| {
                set_id(number, except)
                    .ok_or_else(|| EmitError::new("the policy has too many sets of operands"))
            };
            let (inside, back) = (id(false)?, id(true)?);
            if own.refused {
                folded.extend(own.set.paths.iter().map(|glob| (inside, fold(glob))));
                above.extend(own.set.paths.iter().flat_map(|glob| fronts(glob)).map(|f| (inside, fold(f))));
                texts.extend(own.set.texts.iter().map(|text| (inside, fold(text))));
                exact.extend(own.set.except_paths.iter().map(|glob| (back, glob.clone())));
            }
            if own.granted {
                exact.extend(own.set.paths.iter().map(|glob| (inside, glob.clone())));
                folded.extend(own.set.except_paths.iter().map(|glob| (back, fold(glob))));
            }
        }
        let sides = [
            (folded, Syntax::Path, true),
            (exact, Syntax::Path, false),
            (above, Syntax::Path, true),
            (texts, Syntax::Plain, true),
        ];
        let mut out = [Range::default(); AUTOMATA];
        for ((globs, syntax, any_case), slot) in sides.into_iter().zip(&mut out) {
            let globs: Vec<(String, u32)> = globs.into_iter().map(|(id, text)| (text, id)).collect();
            *slot = automaton(&globs, syntax, any_case, store).map_err(|(mut error, id)| {
                error.place = id.and_then(|id| self.place(policy, id));
                error
            })?;
        }
        Ok(out)
    }

    /// The line of the set with this id.
    fn place(&self, policy: &Policy, id: u32) -> Option<Place> {
        let set = self.sets.get((id.checked_sub(1)? / 2) as usize)?;
        policy.lines.get(set.line.0 as usize).map(|line| line.place)
    }
}
