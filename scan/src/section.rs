//! A section of bytes as the scanner sees it: parts of known size, nothing copied.
//!
//! INVARIANT: opening checks the sum and that every part lies inside; each later access is checked on its own, so that
//! safety never rests on the sum.

use crate::layout::{
    BITMAP, Case, Counts, HEADER, MAGIC, MASKS, MAX_REACH, RANKS, Step, WINDOW, hash, hash_of_three, sum,
};

/// Why bytes are no section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionError {
    what: &'static str,
}

impl SectionError {
    pub(crate) const AUTOMATON: Self = Self { what: "an automaton" };
    pub(crate) const STEPS: Self = Self { what: "a run program" };
    pub(crate) const CASES: Self = Self { what: "what a window leads to" };

    pub(crate) fn new(what: &'static str) -> Self {
        Self { what }
    }

    /// What was being read.
    #[must_use]
    pub fn what(&self) -> &'static str {
        self.what
    }
}

impl std::fmt::Display for SectionError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "the section of content patterns is damaged: {}", self.what)
    }
}

impl std::error::Error for SectionError {}

/// A bit of a bitmap.
#[inline(always)]
fn bit(bitmap: &[u8; BITMAP], hash: u16) -> bool {
    bitmap.get(usize::from(hash >> 3)).is_some_and(|byte| byte >> (hash & 7) & 1 == 1)
}

/// Cases that one window leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    window: u32,
    fold: u32,
    care: u32,
    /// First entry in 22 bits, count in ten.
    entries: u32,
}

impl Group {
    fn read(bytes: &[u8; 16]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<4>();
        let [window, fold, care, entries] = words else { return None };
        let word = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
        Some(Self { window: word(window), fold: word(fold), care: word(care), entries: word(entries) })
    }

    /// Whether a window of text is this one.
    #[inline]
    pub(crate) fn is(&self, window: u32) -> bool {
        (window & self.care) | self.fold == self.window
    }
}

/// Checked parts of a section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section<'a> {
    /// Nibble masks of the filter.
    pub(crate) masks: &'a [[u8; 32]; MASKS],
    /// Bits by hash of window.
    pub(crate) bitmap: &'a [u8; BITMAP],
    /// Bits by hash of the first and the last three bytes of windows.
    pub(crate) threes: &'a [u8; BITMAP],
    /// Odd factor of the hash.
    pub(crate) multiplier: u32,
    /// Bytes needed before a window to decide it.
    pub(crate) back: usize,
    /// Bytes needed from a window's first byte on to decide it.
    pub(crate) ahead: usize,
    ranks: &'a [[u8; 2]],
    slots: &'a [[u8; 4]],
    groups: &'a [[u8; 16]],
    entries: &'a [[u8; 8]],
    cases: &'a [[u8; 32]],
    sets: &'a [[u8; 32]],
    steps: &'a [[u8; 8]],
    automata: &'a [[u8; 8]],
    literals: &'a [u8],
    automaton_bytes: &'a [u8],
}

impl<'a> Section<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, SectionError> {
        let sum_of = bytes.get(16..).map_or(0, sum);
        let told = bytes.get(8..16).and_then(|told| told.try_into().ok()).map_or(0, u64::from_le_bytes);
        let section = Self::open_summed(bytes);
        if section.is_ok() && told != sum_of { Err(SectionError::new("the sum")) } else { section }
    }

    /// Opens a section whose bytes were summed already, with the file that it is a part of.
    pub(crate) fn open_summed(bytes: &'a [u8]) -> Result<Self, SectionError> {
        let (header, _) = bytes.split_at_checked(HEADER).ok_or(SectionError::new("the header"))?;
        let (magic, _) = header.split_at_checked(8).ok_or(SectionError::new("the header"))?;
        if magic != MAGIC {
            return Err(SectionError::new("the first bytes or the version"));
        }
        let (words, _) = header.as_chunks::<4>();
        let word = |at: usize| words.get(at).map_or(0, |word| u32::from_le_bytes(*word));
        let number = |at: usize| word(at) as usize;
        if number(4) != bytes.len() {
            return Err(SectionError::new("the length"));
        }
        let reach = number(6);
        let (back, ahead) = (reach & 0xFFFF, reach >> 16);
        if back >= MAX_REACH || ahead < WINDOW {
            return Err(SectionError::new("the reach"));
        }
        let counts = Counts {
            slots: number(7),
            groups: number(8),
            entries: number(9),
            cases: number(10),
            sets: number(11),
            steps: number(12),
            automata: number(13),
            literals: number(14),
            automaton_bytes: number(15),
        };
        let mut rest = bytes.get(HEADER..).unwrap_or_default();
        let mut part = |size: usize, what: &'static str| {
            let (part, behind) = rest.split_at_checked(size).ok_or(SectionError::new(what))?;
            rest = behind;
            Ok(part)
        };
        let masks = part(MASKS * 32, "the masks")?;
        let bitmap = part(BITMAP, "the bitmap")?;
        let threes = part(BITMAP, "the bitmap")?;
        let ranks = part(RANKS * 2, "the ranks")?;
        let [slots, groups, entries, cases, sets, steps, automata, literals, automaton_bytes] =
            counts.sizes().ok_or(SectionError::new("the counts"))?;
        let slots = part(slots, "the slots")?;
        let groups = part(groups, "the groups")?;
        let entries = part(entries, "the entries")?;
        let cases = part(cases, "the cases")?;
        let sets = part(sets, "the sets")?;
        let steps = part(steps, "the steps")?;
        let automata = part(automata, "the automata")?;
        let literals = part(literals, "the literals")?;
        let automaton_bytes = part(automaton_bytes, "the automata")?;
        if !rest.is_empty() {
            return Err(SectionError::new("the length"));
        }
        Ok(Self {
            masks: masks.as_chunks().0.first_chunk().ok_or(SectionError::new("the masks"))?,
            bitmap: bitmap.first_chunk().ok_or(SectionError::new("the bitmap"))?,
            threes: threes.first_chunk().ok_or(SectionError::new("the bitmap"))?,
            multiplier: word(5),
            back,
            ahead,
            ranks: ranks.as_chunks().0,
            slots: slots.as_chunks().0,
            groups: groups.as_chunks().0,
            entries: entries.as_chunks().0,
            cases: cases.as_chunks().0,
            sets: sets.as_chunks().0,
            steps: steps.as_chunks().0,
            automata: automata.as_chunks().0,
            literals,
            automaton_bytes,
        })
    }

    pub(crate) fn automata(&self) -> usize {
        self.automata.len()
    }

    pub(crate) fn cases(&self) -> usize {
        self.cases.len()
    }

    /// Whether the bitmap knows the hash of a window.
    #[inline(always)]
    pub(crate) fn has(&self, window: u32) -> bool {
        bit(self.bitmap, hash(window, self.multiplier))
    }

    /// Whether the first three bytes of a word may be the first or the last three of a window.
    #[inline(always)]
    pub(crate) fn has_three(&self, word: u32) -> bool {
        bit(self.threes, hash_of_three(word, self.multiplier))
    }

    /// Whether the first and the last three bytes of a window may be those of one that is looked for.
    pub(crate) fn has_threes(&self, window: u32) -> bool {
        self.has_three(window) && self.has_three(window >> 8)
    }

    /// Numbers of the groups that a window's hash leads to.
    pub(crate) fn groups(&self, window: u32) -> Option<std::ops::Range<usize>> {
        let hash = usize::from(hash(window, self.multiplier));
        let word = u64::from_le_bytes(*self.bitmap.as_chunks().0.get(hash >> 6)?);
        let before = (word & !(u64::MAX << (hash & 63))).count_ones() as usize;
        let slot = usize::from(u16::from_le_bytes(*self.ranks.get(hash >> 6)?)) + before;
        let at = |slot: usize| self.slots.get(slot).map(|word| u32::from_le_bytes(*word) as usize);
        Some(at(slot)?..at(slot + 1)?)
    }

    /// A group and the numbers of its entries.
    pub(crate) fn group(&self, index: usize) -> Option<(Group, std::ops::Range<usize>)> {
        let group = Group::read(self.groups.get(index)?)?;
        let first = (group.entries & 0x3F_FFFF) as usize;
        Some((group, first..first + (group.entries >> 22) as usize))
    }

    /// The number of a case, the case, and where the window lies behind the first byte of its literal.
    pub(crate) fn entry(&self, index: usize) -> Option<(usize, Case, isize)> {
        let [c0, c1, c2, c3, o0, o1, _, _] = *self.entries.get(index)?;
        let number = u32::from_le_bytes([c0, c1, c2, c3]) as usize;
        let case = Case::read(self.cases.get(number)?)?;
        Some((number, case, isize::from(i16::from_le_bytes([o0, o1]))))
    }

    /// The literal of a case and its fold masks, none if it is compared as it stands.
    pub(crate) fn literal(&self, case: &Case) -> Option<(&'a [u8], &'a [u8])> {
        let (start, len) = (case.literal as usize, usize::from(case.literal_len));
        let literal = self.literals.get(start..start.checked_add(len)?)?;
        let masks = if case.folded { self.literals.get(start + len..start + 2 * len)? } else { &[] };
        Some((literal, masks))
    }

    pub(crate) fn steps(&self, first: usize, count: usize) -> Option<&'a [[u8; 8]]> {
        self.steps.get(first..first.checked_add(count)?)
    }

    pub(crate) fn step(bytes: &[u8; 8]) -> Option<Step> {
        Step::read(bytes)
    }

    pub(crate) fn set(&self, index: u16) -> Option<&'a [u8; 32]> {
        self.sets.get(usize::from(index))
    }

    pub(crate) fn automaton(&self, index: usize) -> Option<&'a [u8]> {
        let [o0, o1, o2, o3, l0, l1, l2, l3] = *self.automata.get(index)?;
        let start = u32::from_le_bytes([o0, o1, o2, o3]) as usize;
        self.automaton_bytes.get(start..start.checked_add(u32::from_le_bytes([l0, l1, l2, l3]) as usize)?)
    }
}
