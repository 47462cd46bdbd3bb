//! The bytes of a section: what stands where, shared by the builder and the reader. All numbers are little endian.
//!
//! INVARIANT: position-free (offsets count from the section's first byte), and the same patterns give the same bytes.
//!
//! Header of 64 bytes: magic and version, sum of the rest, length, multiplier of the hash, reaches, then a count for
//! each part. The parts follow in the order of [`Counts`]; each count is of records, for bytes of bytes.

/// The first bytes of a section, its format version among them.
pub(crate) const MAGIC: [u8; 8] = *b"polscan\x01";
/// Length of the header.
pub(crate) const HEADER: usize = 64;
/// Bytes of the filter's window.
pub(crate) const WINDOW: usize = 4;
/// Buckets of the nibble masks: one bit each, in two rows of eight.
#[cfg(feature = "build")]
pub(crate) const BUCKETS: usize = 16;
/// Nibble masks: low nibbles of the four bytes, then high nibbles. Bytes 0 to 15 are the first eight buckets.
pub(crate) const MASKS: usize = 8;
/// Bytes of the bitmap over hashes of windows, and of the one over hashes of their first and last three bytes.
pub(crate) const BITMAP: usize = 8192;
/// Set bits before each 64-bit word of the bitmap, `u16` each.
pub(crate) const RANKS: usize = BITMAP / 8;
/// Most groups that one hash may lead to.
pub(crate) const MAX_GROUPS_OF_A_HASH: usize = 32;
/// Most bytes to one side of a window that a section may ask for.
pub(crate) const MAX_REACH: usize = 1 << 16;

/// Folds a window and spreads it over 16 bits.
#[inline(always)]
pub(crate) fn hash(window: u32, multiplier: u32) -> u16 {
    ((window | 0x2020_2020).wrapping_mul(multiplier) >> 16) as u16
}

/// The hash of the first three bytes of a word.
#[inline(always)]
pub(crate) fn hash_of_three(word: u32, multiplier: u32) -> u16 {
    hash(word & 0x00FF_FFFF, multiplier)
}

/// How many records each part has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Set bits of the bitmap; the part has one more, four bytes each: first group of the hash.
    pub(crate) slots: usize,
    /// Windows, 16 bytes each.
    pub(crate) groups: usize,
    /// Cases that a window leads to, eight bytes each.
    pub(crate) entries: usize,
    /// Ways to match a pattern, 32 bytes each.
    pub(crate) cases: usize,
    /// Byte classes of run programs, 32 bytes each.
    pub(crate) sets: usize,
    /// Steps of run programs, eight bytes each.
    pub(crate) steps: usize,
    /// Automata, eight bytes each: offset and length in the last part.
    pub(crate) automata: usize,
    /// Bytes of literals and their fold masks.
    pub(crate) literals: usize,
    /// Bytes of automata.
    pub(crate) automaton_bytes: usize,
}

impl Counts {
    /// Bytes of the parts behind masks, two bitmaps and ranks, in their order; `None` if they do not fit a `u32`.
    pub(crate) fn sizes(&self) -> Option<[usize; 9]> {
        let sizes = [
            self.slots.checked_add(1)?.checked_mul(4)?,
            self.groups.checked_mul(16)?,
            self.entries.checked_mul(8)?,
            self.cases.checked_mul(32)?,
            self.sets.checked_mul(32)?,
            self.steps.checked_mul(8)?,
            self.automata.checked_mul(8)?,
            self.literals,
            self.automaton_bytes,
        ];
        sizes.iter().all(|size| *size <= u32::MAX as usize).then_some(sizes)
    }

    /// The counts as they stand in the header.
    #[cfg(feature = "build")]
    pub(crate) fn in_order(&self) -> [usize; 9] {
        [
            self.slots,
            self.groups,
            self.entries,
            self.cases,
            self.sets,
            self.steps,
            self.automata,
            self.literals,
            self.automaton_bytes,
        ]
    }
}

/// What checks one side of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Nothing stands there.
    Empty,
    /// Steps `first .. first + count` of the run programs.
    Runs { first: usize, count: usize },
    /// An automaton.
    Automaton { index: usize },
}

impl Check {
    /// Most steps of one program.
    #[cfg(feature = "build")]
    pub(crate) const MAX_COUNT: usize = 0x3FF;
    /// First step or automaton that no longer fits.
    #[cfg(feature = "build")]
    pub(crate) const MAX_FIRST: usize = 0x10_0000;

    /// Reads two bits of kind, ten of count, twenty of index.
    pub(crate) fn read(word: u32) -> Option<Self> {
        let (kind, count, first) = (word >> 30, (word >> 20 & 0x3FF) as usize, (word & 0xF_FFFF) as usize);
        match kind {
            0 => Some(Self::Empty),
            1 => Some(Self::Runs { first, count }),
            2 => Some(Self::Automaton { index: first }),
            _ => None,
        }
    }

    #[cfg(feature = "build")]
    pub(crate) fn write(self) -> u32 {
        match self {
            Self::Empty => 0,
            Self::Runs { first, count } => 1 << 30 | (count as u32 & 0x3FF) << 20 | (first as u32 & 0xF_FFFF),
            Self::Automaton { index } => 2 << 30 | (index as u32 & 0xF_FFFF),
        }
    }
}

/// One step of a run program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// From `min` to `max` times this byte, as many as there are.
    Byte { byte: u8, min: u16, max: u16 },
    /// From `min` to `max` bytes of a set, as many as there are.
    Set { set: u16, min: u16, max: u16 },
    /// Something that holds between two bytes.
    Look(Look),
}

/// What may be asked between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// The text begins here.
    Start,
    /// The text ends here.
    End,
    /// A line begins here.
    LineStart,
    /// A line ends here.
    LineEnd,
    /// A word begins or ends here.
    Word,
    /// No word begins or ends here.
    NotWord,
    /// A word begins here.
    WordStart,
    /// A word ends here.
    WordEnd,
    /// No word stands before.
    NoWordBefore,
    /// No word stands behind.
    NoWordBehind,
}

impl Look {
    const ALL: [Self; 10] = [
        Self::Start,
        Self::End,
        Self::LineStart,
        Self::LineEnd,
        Self::Word,
        Self::NotWord,
        Self::WordStart,
        Self::WordEnd,
        Self::NoWordBefore,
        Self::NoWordBehind,
    ];
}

impl Step {
    pub(crate) fn read(bytes: &[u8; 8]) -> Option<Self> {
        let [kind, byte, s0, s1, a0, a1, b0, b1] = *bytes;
        let (set, min, max) =
            (u16::from_le_bytes([s0, s1]), u16::from_le_bytes([a0, a1]), u16::from_le_bytes([b0, b1]));
        match kind {
            0 => Some(Self::Byte { byte, min, max }),
            1 => Some(Self::Set { set, min, max }),
            2 => Look::ALL.get(usize::from(byte)).map(|look| Self::Look(*look)),
            _ => None,
        }
    }

    #[cfg(feature = "build")]
    pub(crate) fn write(self) -> [u8; 8] {
        let (kind, byte, set, min, max) = match self {
            Self::Byte { byte, min, max } => (0, byte, 0, min, max),
            Self::Set { set, min, max } => (1, 0, set, min, max),
            Self::Look(look) => (2, Look::ALL.iter().position(|l| *l == look).unwrap_or(0) as u8, 0, 0, 0),
        };
        let ([s0, s1], [a0, a1], [b0, b1]) = (set.to_le_bytes(), min.to_le_bytes(), max.to_le_bytes());
        [kind, byte, s0, s1, a0, a1, b0, b1]
    }
}

/// One way to match a pattern: a literal and what stands around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    /// What the caller calls the pattern.
    pub(crate) id: u32,
    /// Where the literal begins among the literals; its fold masks follow it if it is `folded`.
    pub(crate) literal: u32,
    /// Bytes of the literal.
    pub(crate) literal_len: u16,
    /// Whether some letters match in both cases.
    pub(crate) folded: bool,
    /// What stands before, checked backwards.
    pub(crate) before: Check,
    /// What stands behind.
    pub(crate) behind: Check,
    /// Most bytes of a match before the literal.
    pub(crate) before_max: u16,
    /// Most bytes of a match behind the literal.
    pub(crate) behind_max: u16,
}

impl Case {
    pub(crate) fn read(bytes: &[u8; 32]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<4>();
        let [id, literal, lens, before, behind, reach, _, _] = words else { return None };
        let [l0, l1, folded, _] = *lens;
        let [b0, b1, h0, h1] = *reach;
        Some(Self {
            id: u32::from_le_bytes(*id),
            literal: u32::from_le_bytes(*literal),
            literal_len: u16::from_le_bytes([l0, l1]),
            folded: folded != 0,
            before: Check::read(u32::from_le_bytes(*before))?,
            behind: Check::read(u32::from_le_bytes(*behind))?,
            before_max: u16::from_le_bytes([b0, b1]),
            behind_max: u16::from_le_bytes([h0, h1]),
        })
    }

    #[cfg(feature = "build")]
    pub(crate) fn write(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        for word in [self.id, self.literal] {
            out.extend(word.to_le_bytes());
        }
        out.extend(self.literal_len.to_le_bytes());
        out.extend([u8::from(self.folded), 0]);
        out.extend(self.before.write().to_le_bytes());
        out.extend(self.behind.write().to_le_bytes());
        out.extend(self.before_max.to_le_bytes());
        out.extend(self.behind_max.to_le_bytes());
        out.extend([0; 8]);
        out
    }
}

/// A sum over bytes that finds accidents, not attackers.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9E37_79B1_85EB_CA87;
    let mut lanes = [1u64, 2, 3, 4];
    let (blocks, tail) = bytes.as_chunks::<32>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = (*lane ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME).rotate_left(29);
        }
    }
    let mut sum = bytes.len() as u64;
    for lane in lanes {
        sum = (sum ^ lane).wrapping_mul(PRIME).rotate_left(31);
    }
    for byte in tail {
        sum = (sum ^ u64::from(*byte)).wrapping_mul(PRIME).rotate_left(31);
    }
    sum ^ sum >> 32
}
