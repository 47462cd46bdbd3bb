//! The bytes of a section.
//!
//! INVARIANT: everything is in an order that follows from the patterns: cases as they were added, windows sorted, the first
//! of the best multipliers.

use super::program::{Programs, Side, too_many};
use super::set::{End, edge};
use super::window::{self, Window, masks};
use super::{BuildError, BuildErrorKind, Builder, reach};
use crate::layout::{
    BITMAP, Case, Counts, HEADER, MAGIC, MAX_GROUPS_OF_A_HASH, MAX_REACH, RANKS, WINDOW, hash, hash_of_three,
    sum,
};
use std::collections::BTreeMap;

/// Odd factors that are tried for the hash.
const MULTIPLIERS: [u32; 8] =
    [0x9E37_79B1, 0x85EB_CA77, 0xC2B2_AE3D, 0x27D4_EB2F, 0x1656_67B1, 0xCC9E_2D51, 0x1B87_3593, 0x2545_F491];
/// Most cases of one window.
const MAX_ENTRIES_OF_A_GROUP: usize = 1023;
/// Most entries.
const MAX_ENTRIES: usize = 1 << 22;

/// A window without its place, and the cases (with the place) that it leads to.
type Groups = BTreeMap<Window, Vec<(u32, i16)>>;

pub(super) fn emit(builder: &Builder) -> Result<Vec<u8>, BuildError> {
    let general = |kind| BuildError { id: None, kind };
    let limits = &builder.limits;
    let mut programs = Programs::default();
    let (mut cases, mut literals) = (Vec::new(), Vec::new());
    let mut groups = Groups::new();
    let (mut back, mut ahead) = (1, WINDOW);
    for (number, parts) in builder.cases.iter().enumerate() {
        let failed = |kind| BuildError { id: Some(parts.id), kind };
        let window = window::choose(
            &parts.literal,
            edge(std::slice::from_ref(&parts.before), End::Last),
            edge(std::slice::from_ref(&parts.behind), End::First),
        )
        .ok_or(failed(BuildErrorKind::NoLiteral))?;
        let case = Case {
            id: parts.id,
            literal: literals.len() as u32,
            literal_len: parts.literal.len() as u16,
            folded: parts.literal.iter().any(|part| part.fold != 0),
            before: programs.check(&parts.before, Side::Before, limits).map_err(failed)?,
            behind: programs.check(&parts.behind, Side::Behind, limits).map_err(failed)?,
            before_max: reach(&parts.before, usize::from(limits.before), true).map_err(failed)?,
            behind_max: reach(&parts.behind, usize::from(limits.behind), false).map_err(failed)?,
        };
        literals.extend(parts.literal.iter().map(|part| part.byte));
        if case.folded {
            literals.extend(parts.literal.iter().map(|part| part.fold));
        }
        let offset = isize::from(window.offset);
        // One more byte on each side for what is asked between two bytes.
        back = back.max(usize::from(case.before_max) + offset.max(0) as usize + 1);
        ahead = ahead
            .max((parts.literal.len() + usize::from(case.behind_max)).saturating_add_signed(-offset) + 1);
        groups.entry(Window { offset: 0, ..window }).or_default().push((number as u32, window.offset));
        cases.push(case);
    }
    if back >= MAX_REACH || ahead >= MAX_REACH {
        return Err(general(BuildErrorKind::TooLong {
            before: back > ahead,
            bytes: back.max(ahead),
            limit: MAX_REACH - 1,
        }));
    }
    let windows: Vec<Window> = groups.keys().copied().collect();
    let (multiplier, slots) = spread(&windows).map_err(general)?;

    let mut section = Parts::default();
    for entries in groups.values() {
        too_many("cases of one window", entries.len(), MAX_ENTRIES_OF_A_GROUP + 1).map_err(general)?;
        section.firsts.push((section.entries.len() / 8, entries.len()));
        for (case, offset) in entries {
            section.entries.extend(case.to_le_bytes());
            section.entries.extend(offset.to_le_bytes());
            section.entries.extend([0; 2]);
        }
    }
    too_many("entries", section.entries.len() / 8, MAX_ENTRIES).map_err(general)?;
    section.filter(&windows, &slots);
    let (mut automata, mut automaton_bytes) = (Vec::new(), Vec::new());
    for automaton in &programs.automata {
        automata.extend((automaton_bytes.len() as u32).to_le_bytes());
        automata.extend((automaton.len() as u32).to_le_bytes());
        automaton_bytes.extend(automaton);
    }
    let counts = Counts {
        slots: slots.len(),
        groups: section.groups.len() / 16,
        entries: section.entries.len() / 8,
        cases: cases.len(),
        sets: programs.sets.len(),
        steps: programs.steps.len(),
        automata: programs.automata.len(),
        literals: literals.len(),
        automaton_bytes: automaton_bytes.len(),
    };

    let mut out = Vec::from(MAGIC);
    out.extend([0; 8]);
    out.extend([0; 4]);
    out.extend(multiplier.to_le_bytes());
    out.extend((back as u32 | (ahead as u32) << 16).to_le_bytes());
    counts.in_order().iter().for_each(|count| out.extend((*count as u32).to_le_bytes()));
    masks(&windows).iter().for_each(|mask| out.extend(mask));
    out.extend(&section.bitmap);
    out.extend(threes(&windows, multiplier));
    out.extend(&section.ranks);
    out.extend(&section.slots);
    out.extend(&section.groups);
    out.extend(&section.entries);
    cases.iter().for_each(|case| out.extend(case.write()));
    programs.sets.iter().for_each(|set| out.extend(set.0));
    programs.steps.iter().for_each(|step| out.extend(step.write()));
    out.extend(&automata);
    out.extend(&literals);
    out.extend(&automaton_bytes);
    too_many("bytes of the section", out.len(), limits.section.min(u32::MAX as usize) + 1)
        .map_err(general)?;
    let len = (out.len() as u32).to_le_bytes();
    put(&mut out, 16, &len);
    let sum = sum(out.get(16..).unwrap_or_default()).to_le_bytes();
    put(&mut out, 8, &sum);
    debug_assert!(out.len() > HEADER);
    Ok(out)
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// The bitmap over three bytes of each window.
fn threes(windows: &[Window], multiplier: u32) -> Vec<u8> {
    let mut bitmap = vec![0; BITMAP];
    for value in windows.iter().flat_map(Window::values) {
        set_bit(&mut bitmap, hash_of_three(value, multiplier));
        set_bit(&mut bitmap, hash_of_three(value >> 8, multiplier));
    }
    bitmap
}

fn set_bit(bitmap: &mut [u8], hash: u16) {
    if let Some(byte) = bitmap.get_mut(usize::from(hash >> 3)) {
        *byte |= 1 << (hash & 7);
    }
}

/// Numbers of the windows by hash.
type Slots = BTreeMap<u16, Vec<usize>>;

/// The multiplier that puts the fewest windows on one hash, with what it gives.
fn spread(windows: &[Window]) -> Result<(u32, Slots), BuildErrorKind> {
    let mut best: Option<(usize, u32, Slots)> = None;
    for multiplier in MULTIPLIERS {
        let mut slots = Slots::new();
        for (number, window) in windows.iter().enumerate() {
            for value in window.values() {
                let slot = slots.entry(hash(value, multiplier)).or_default();
                if slot.last() != Some(&number) {
                    slot.push(number);
                }
            }
        }
        let most = slots.values().map(Vec::len).max().unwrap_or(0);
        if best.as_ref().is_none_or(|(least, _, _)| most < *least) {
            best = Some((most, multiplier, slots));
        }
    }
    let (most, multiplier, slots) = best.unwrap_or_default();
    too_many("windows of one hash", most, MAX_GROUPS_OF_A_HASH + 1)?;
    Ok((multiplier, slots))
}

/// Parts of the filter, as bytes.
#[derive(Debug, Default)]
struct Parts {
    bitmap: Vec<u8>,
    ranks: Vec<u8>,
    slots: Vec<u8>,
    groups: Vec<u8>,
    entries: Vec<u8>,
    /// First entry and number of entries of each window.
    firsts: Vec<(usize, usize)>,
}

impl Parts {
    fn filter(&mut self, windows: &[Window], slots: &Slots) {
        self.bitmap = vec![0; BITMAP];
        for (hash, numbers) in slots {
            set_bit(&mut self.bitmap, *hash);
            self.slots.extend((self.groups.len() as u32 / 16).to_le_bytes());
            for number in numbers {
                let (Some(window), Some((first, count))) = (windows.get(*number), self.firsts.get(*number))
                else {
                    continue;
                };
                for word in [window.value, window.fold, window.care, *first as u32 | (*count as u32) << 22] {
                    self.groups.extend(word.to_le_bytes());
                }
            }
        }
        self.slots.extend((self.groups.len() as u32 / 16).to_le_bytes());
        let mut rank = 0u32;
        for word in self.bitmap.as_chunks::<8>().0 {
            self.ranks.extend((rank as u16).to_le_bytes());
            rank += u64::from_le_bytes(*word).count_ones();
        }
        debug_assert_eq!(self.ranks.len(), RANKS * 2);
    }
}
