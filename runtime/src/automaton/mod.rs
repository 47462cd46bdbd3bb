//! Reads the combined automaton of many globs: one pass over a value, however many globs there are.
//!
//! INVARIANT: the bytes are used in place and never trusted: each access is checked, each loop counts against a
//! budget, and whatever does not fit is [`Damaged`]; nothing is allocated but the bounded [`Scratch`].

pub mod layout;
mod walk;

use crate::bytes::Bytes;
use layout::{
    CLASSES, FLAG_FOLD, FLAG_PATH, FLAG_ROWS, HEADER, MAGIC, PARTS, Part, ROW_SHIFT, VERSION, WIDTH, head,
};
use std::fmt;

/// The most places in a value that are remembered at one time.
pub const MOST_ACTIVE: usize = 256;
/// The most ids that one value reports.
pub const MOST_FOUND: usize = 1 << 20;

/// Why there is no answer. None of these may ever count as "nothing matches".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damaged {
    /// Not a section, another version, or of the wrong length.
    Header,
    /// A number in the section points outside.
    Index,
    /// More transitions than any undamaged section needs.
    Probes,
    /// The value begins more patterns at one time than are followed.
    Active,
    /// The value needs more work than is given to one.
    Steps,
    /// More matches than are reported.
    Found,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Damaged::Header => "the automaton has a damaged header",
            Damaged::Index => "the automaton is damaged",
            Damaged::Probes => "the automaton runs in a circle",
            Damaged::Active => "the value begins too many patterns at one time",
            Damaged::Steps => "the value takes too much work",
            Damaged::Found => "the value matches too often",
        })
    }
}

impl std::error::Error for Damaged {}

#[derive(Debug, Clone, Copy, Default)]
struct Active {
    node: u32,
    /// Of the node.
    gap: u32,
    /// Marks of the pieces that follow the node.
    marks: u32,
    /// Where the gap may begin.
    end: usize,
    /// Separators before `end`.
    segment: usize,
}

/// Memory for a walk, to be used again; bounded by [`MOST_ACTIVE`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    active: Vec<Active>,
    /// Lists that were reported, each with the walk in which it was.
    seen: Vec<u64>,
    walks: u32,
    /// Transitions tried since it was made.
    pub probes: u64,
    /// Pieces, edges and characters looked at since it was made.
    pub steps: u64,
}

impl Scratch {
    /// An empty one.
    #[must_use]
    pub fn new() -> Scratch {
        Scratch::default()
    }
}

/// A checked view of one section.
#[derive(Debug, Clone, Copy)]
pub struct Automaton<'a> {
    bytes: Bytes<'a>,
    /// First byte and count of records of each part.
    parts: [(u32, u32); PARTS],
    path: bool,
    fold: bool,
    /// Bits of a place in the rows that are the class, when there are rows.
    rows: Option<u32>,
    /// Base (with rows: number), what is tried next and output of the state behind the start.
    first: [u32; 3],
    every: u32,
    every_ids: u32,
    greatest: u32,
}

/// Records of one part.
#[derive(Debug, Clone, Copy)]
struct Records<'a> {
    bytes: Bytes<'a>,
    count: u32,
}

impl Records<'_> {
    /// The words of record `i`.
    #[inline]
    fn get<const N: usize>(&self, i: u32) -> Result<[u32; N], Damaged> {
        let from = (i as usize).checked_mul(N * 4).ok_or(Damaged::Index)?;
        let bytes = self.bytes.get(from, N * 4)?;
        let mut out = [0; N];
        for (word, chunk) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*chunk);
        }
        Ok(out)
    }
}

impl<'a> Automaton<'a> {
    /// Looks at the header only: constant work, whatever the size.
    ///
    /// # Errors
    /// [`Damaged::Header`] when the bytes are not a whole section of this version.
    pub fn new(bytes: &'a [u8]) -> Result<Automaton<'a>, Damaged> {
        Automaton::within(Bytes::from(bytes))
    }

    /// The same for a part of a table.
    ///
    /// # Errors
    /// As for [`Automaton::new`].
    pub fn within(bytes: Bytes<'a>) -> Result<Automaton<'a>, Damaged> {
        let head = bytes.get(0, HEADER * 4).map_err(|_| Damaged::Header)?;
        let word = |i: usize| -> Result<u32, Damaged> {
            let chunk = head.get(i * 4..).and_then(<[u8]>::first_chunk::<4>).ok_or(Damaged::Header)?;
            Ok(u32::from_le_bytes(*chunk))
        };
        if word(head::MAGIC)? != MAGIC || word(head::VERSION)? != VERSION {
            return Err(Damaged::Header);
        }
        if word(head::WORDS)? as usize * 4 != bytes.len() {
            return Err(Damaged::Header);
        }
        let flags = word(head::FLAGS)?;
        let shift = flags >> ROW_SHIFT;
        let known = flags & ((1 << ROW_SHIFT) - 1) & !(FLAG_PATH | FLAG_FOLD | FLAG_ROWS) == 0;
        if !known || shift > 8 || (shift > 0) != (flags & FLAG_ROWS != 0) {
            return Err(Damaged::Header);
        }
        let mut parts = [(0, 0); PARTS];
        for (i, (part, width)) in parts.iter_mut().zip(WIDTH).enumerate() {
            let offset = word(head::PARTS + i * 2)?.checked_mul(4).ok_or(Damaged::Header)?;
            let count = word(head::PARTS + i * 2 + 1)?;
            let len = (count as usize).checked_mul(width * 4).ok_or(Damaged::Header)?;
            bytes.part(offset as usize, len).map_err(|_| Damaged::Header)?;
            *part = (offset, count);
        }
        Ok(Automaton {
            bytes,
            parts,
            path: flags & FLAG_PATH != 0,
            fold: flags & FLAG_FOLD != 0,
            rows: (shift > 0).then_some(shift),
            first: [word(head::FIRST)?, word(head::FIRST_NEXT)?, word(head::FIRST_OUT)?],
            every: word(head::EVERY)?,
            every_ids: word(head::EVERY_IDS)?,
            greatest: word(head::GREATEST)?,
        })
    }

    /// The greatest id whose glob matches the value, 0 for none.
    ///
    /// # Errors
    /// [`Damaged`] when there is no answer; the caller must then answer as if the worst had matched.
    pub fn best(&self, value: &[u8], scratch: &mut Scratch) -> Result<u32, Damaged> {
        let mut sink = walk::Best { best: self.every, greatest: self.greatest };
        walk::run(self, value, scratch, &mut sink)?;
        if sink.best > self.greatest { Err(Damaged::Index) } else { Ok(sink.best) }
    }

    /// Reports every id whose glob matches the value, in no order, some several times.
    ///
    /// # Errors
    /// [`Damaged`] when the reports are not all; see [`Automaton::best`].
    pub fn each(
        &self,
        value: &[u8],
        scratch: &mut Scratch,
        found: &mut dyn FnMut(u32),
    ) -> Result<(), Damaged> {
        let mut seen = std::mem::take(&mut scratch.seen);
        // The marks of other walks stay: clearing them would cost more than most walks.
        scratch.walks = scratch.walks.wrapping_add(1);
        if seen.is_empty() || scratch.walks == 0 {
            seen = vec![0; walk::SEEN];
            scratch.walks = 1;
        }
        let walk = u64::from(scratch.walks) << 32;
        let mut sink = walk::Each { automaton: self, seen, walk, found, left: MOST_FOUND };
        let result = match self.every_ids {
            0 => Ok(()),
            list => sink.list(list),
        };
        let result = result.and_then(|()| walk::run(self, value, scratch, &mut sink));
        scratch.seen = sink.seen;
        result
    }

    fn records(&self, part: Part) -> Result<Records<'a>, Damaged> {
        let (offset, count) = self.parts.get(part as usize).copied().ok_or(Damaged::Index)?;
        let width = WIDTH.get(part as usize).copied().ok_or(Damaged::Index)?;
        Ok(Records { bytes: self.bytes.part(offset as usize, count as usize * width * 4)?, count })
    }

    /// An id of the flat lists, which take the rest behind the last part.
    fn id(&self, at: u32) -> Result<u32, Damaged> {
        let lists = self.records(Part::IdLists)?;
        let (offset, _) = self.parts.get(Part::IdLists as usize).copied().ok_or(Damaged::Index)?;
        let place =
            (at as usize).checked_mul(4).and_then(|at| at.checked_add(offset as usize + lists.bytes.len()));
        Ok(self.bytes.u32_at(place.ok_or(Damaged::Index)?)?)
    }

    /// The class of each symbol.
    fn classes(&self) -> Result<&'a [u8], Damaged> {
        Ok(self.bytes.get(HEADER * 4, CLASSES * 4)?)
    }
}

impl From<crate::table::read::Damaged> for Damaged {
    fn from(_: crate::table::read::Damaged) -> Damaged {
        Damaged::Index
    }
}
