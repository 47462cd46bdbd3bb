//! A section of bytes as the scanner sees it: parts of known size, nothing copied.
//!
//! INVARIANT: opening checks the sum and that every part lies inside; each later access is checked on its own, so that
//! safety never rests on the sum. Of a section whose sums are looked at in place, no byte is used before its sum was.

use crate::layout::{
    BITMAP, Case, Counts, HEADER, MAGIC, MASKS, MAX_REACH, RANKS, Step, WINDOW, hash, hash_of_three, sum,
};
use std::fmt::Debug;
use std::ops::Range;

/// Who knows whether bytes of a section are as they were written, because it is a part of something that has sums.
pub trait Sums: Debug + Sync {
    /// Whether this part of the section's bytes is as it was written.
    fn intact(&self, part: Range<usize>) -> bool;
}

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

/// Records of one size, and where they begin in the section.
#[derive(Debug, Clone, Copy)]
struct Rows<'a, const SIZE: usize> {
    rows: &'a [[u8; SIZE]],
    at: usize,
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
    slots: Rows<'a, 4>,
    groups: Rows<'a, 16>,
    entries: Rows<'a, 8>,
    cases: Rows<'a, 32>,
    sets: Rows<'a, 32>,
    steps: Rows<'a, 8>,
    automata: Rows<'a, 8>,
    literals: Rows<'a, 1>,
    automaton_bytes: Rows<'a, 1>,
    sums: Option<&'a dyn Sums>,
}

impl<'a> Section<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, SectionError> {
        let sum_of = bytes.get(16..).map_or(0, sum);
        let told = bytes.get(8..16).and_then(|told| told.try_into().ok()).map_or(0, u64::from_le_bytes);
        let section = Self::open_summed(bytes, None);
        if section.is_ok() && told != sum_of { Err(SectionError::new("the sum")) } else { section }
    }

    /// Opens a section whose bytes have sums elsewhere: looked at already, or to be asked for.
    pub(crate) fn open_summed(bytes: &'a [u8], sums: Option<&'a dyn Sums>) -> Result<Self, SectionError> {
        const FILTER: usize = HEADER + MASKS * 32 + 2 * BITMAP + 2 * RANKS;
        if sums.is_some_and(|sums| !sums.intact(0..FILTER)) {
            return Err(SectionError::new("the filter"));
        }
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
        let mut parts = Parts { bytes, at: HEADER };
        let masks = parts.take(MASKS * 32, "the masks")?.0;
        let bitmap = parts.take(BITMAP, "the bitmap")?.0;
        let threes = parts.take(BITMAP, "the bitmap")?.0;
        let ranks = parts.take(RANKS * 2, "the ranks")?.0;
        let [slots, groups, entries, cases, sets, steps, automata, literals, automaton_bytes] =
            counts.sizes().ok_or(SectionError::new("the counts"))?;
        let section = Self {
            masks: masks.as_chunks().0.first_chunk().ok_or(SectionError::new("the masks"))?,
            bitmap: bitmap.first_chunk().ok_or(SectionError::new("the bitmap"))?,
            threes: threes.first_chunk().ok_or(SectionError::new("the bitmap"))?,
            multiplier: word(5),
            back,
            ahead,
            ranks: ranks.as_chunks().0,
            slots: parts.rows(slots, "the slots")?,
            groups: parts.rows(groups, "the groups")?,
            entries: parts.rows(entries, "the entries")?,
            cases: parts.rows(cases, "the cases")?,
            sets: parts.rows(sets, "the sets")?,
            steps: parts.rows(steps, "the steps")?,
            automata: parts.rows(automata, "the automata")?,
            literals: parts.rows(literals, "the literals")?,
            automaton_bytes: parts.rows(automaton_bytes, "the automata")?,
            sums,
        };
        if parts.at == bytes.len() { Ok(section) } else { Err(SectionError::new("the length")) }
    }

    /// Some records, unless they are not as they were written.
    #[inline]
    fn some<const SIZE: usize>(
        &self,
        rows: &Rows<'a, SIZE>,
        range: Range<usize>,
    ) -> Option<&'a [[u8; SIZE]]> {
        let some = rows.rows.get(range.clone())?;
        match self.sums {
            Some(sums) if !sums.intact(rows.at + range.start * SIZE..rows.at + range.end * SIZE) => None,
            _ => Some(some),
        }
    }

    #[inline]
    fn one<const SIZE: usize>(&self, rows: &Rows<'a, SIZE>, index: usize) -> Option<&'a [u8; SIZE]> {
        self.some(rows, index..index.checked_add(1)?)?.first()
    }

    fn bytes(&self, rows: &Rows<'a, 1>, start: usize, len: usize) -> Option<&'a [u8]> {
        self.some(rows, start..start.checked_add(len)?).map(<[[u8; 1]]>::as_flattened)
    }

    pub(crate) fn automata(&self) -> usize {
        self.automata.rows.len()
    }

    pub(crate) fn cases(&self) -> usize {
        self.cases.rows.len()
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
        let [first, behind] = *self.some(&self.slots, slot..slot + 2)?.first_chunk()?;
        Some(u32::from_le_bytes(first) as usize..u32::from_le_bytes(behind) as usize)
    }

    /// A group and the numbers of its entries.
    pub(crate) fn group(&self, index: usize) -> Option<(Group, std::ops::Range<usize>)> {
        let group = Group::read(self.one(&self.groups, index)?)?;
        let first = (group.entries & 0x3F_FFFF) as usize;
        Some((group, first..first + (group.entries >> 22) as usize))
    }

    /// The number of a case, the case, and where the window lies behind the first byte of its literal.
    pub(crate) fn entry(&self, index: usize) -> Option<(usize, Case, isize)> {
        let [c0, c1, c2, c3, o0, o1, _, _] = *self.one(&self.entries, index)?;
        let number = u32::from_le_bytes([c0, c1, c2, c3]) as usize;
        let case = Case::read(self.one(&self.cases, number)?)?;
        Some((number, case, isize::from(i16::from_le_bytes([o0, o1]))))
    }

    /// The literal of a case and its fold masks, none if it is compared as it stands.
    pub(crate) fn literal(&self, case: &Case) -> Option<(&'a [u8], &'a [u8])> {
        let (start, len) = (case.literal as usize, usize::from(case.literal_len));
        let literal = self.bytes(&self.literals, start, len)?;
        let masks = if case.folded { self.bytes(&self.literals, start + len, len)? } else { &[] };
        Some((literal, masks))
    }

    pub(crate) fn steps(&self, first: usize, count: usize) -> Option<&'a [[u8; 8]]> {
        self.some(&self.steps, first..first.checked_add(count)?)
    }

    pub(crate) fn step(bytes: &[u8; 8]) -> Option<Step> {
        Step::read(bytes)
    }

    pub(crate) fn set(&self, index: u16) -> Option<&'a [u8; 32]> {
        self.one(&self.sets, usize::from(index))
    }

    pub(crate) fn automaton(&self, index: usize) -> Option<&'a [u8]> {
        let [o0, o1, o2, o3, l0, l1, l2, l3] = *self.one(&self.automata, index)?;
        let start = u32::from_le_bytes([o0, o1, o2, o3]) as usize;
        self.bytes(&self.automaton_bytes, start, u32::from_le_bytes([l0, l1, l2, l3]) as usize)
    }
}

/// Cuts a section into its parts.
struct Parts<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Parts<'a> {
    /// The next part, and where it begins.
    fn take(&mut self, size: usize, what: &'static str) -> Result<(&'a [u8], usize), SectionError> {
        let at = self.at;
        let part = self.bytes.get(at..).and_then(|rest| rest.get(..size)).ok_or(SectionError::new(what))?;
        self.at += size;
        Ok((part, at))
    }

    fn rows<const SIZE: usize>(
        &mut self,
        size: usize,
        what: &'static str,
    ) -> Result<Rows<'a, SIZE>, SectionError> {
        let (part, at) = self.take(size, what)?;
        Ok(Rows { rows: part.as_chunks().0, at })
    }
}
