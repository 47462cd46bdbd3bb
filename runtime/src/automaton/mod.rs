//! Reads the combined automaton of many globs: one pass over a value, however many globs there are.
//!
//! INVARIANT: the bytes are used in place and never trusted: each access is checked, each loop counts against a
//! budget, and whatever does not fit is [`Damaged`]; nothing is allocated but the bounded [`Scratch`].

pub mod layout;
mod walk;

use layout::{CLASSES, FLAG_FOLD, FLAG_PATH, HEADER, MAGIC, PARTS, Part, VERSION, WIDTH, head};
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
    /// Where the gap may begin.
    end: usize,
    /// Separators before `end`.
    segment: usize,
}

/// Memory for a walk, to be used again; bounded by [`MOST_ACTIVE`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    active: Vec<Active>,
    seen: Vec<u32>,
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
    classes: &'a [u8],
    parts: [Records<'a>; PARTS],
    path: bool,
    fold: bool,
    first: u32,
    every: u32,
    every_ids: u32,
    ids: &'a [u8],
    greatest: u32,
}

/// Records of one part.
#[derive(Debug, Clone, Copy)]
struct Records<'a> {
    bytes: &'a [u8],
    count: u32,
}

impl Records<'_> {
    /// The words of record `i`.
    #[inline]
    /// Whether this cell lies in the last block of 256, which ends with its last taken cell.
    fn ends_before(&self, i: u32) -> bool {
        (i as usize) / layout::BLOCK == (self.bytes.len() / 16).saturating_sub(1) / layout::BLOCK
    }

    fn get<const N: usize>(&self, i: u32) -> Result<[u32; N], Damaged> {
        let from = (i as usize).checked_mul(N * 4).ok_or(Damaged::Index)?;
        let bytes = self.bytes.get(from..).and_then(|b| b.get(..N * 4)).ok_or(Damaged::Index)?;
        let mut out = [0; N];
        for (word, chunk) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*chunk);
        }
        Ok(out)
    }
}

fn word(bytes: &[u8], i: usize) -> Result<u32, Damaged> {
    let chunk = bytes.get(i * 4..).and_then(<[u8]>::first_chunk::<4>).ok_or(Damaged::Header)?;
    Ok(u32::from_le_bytes(*chunk))
}

fn words(bytes: &[u8], from: usize, count: usize) -> Result<&[u8], Damaged> {
    let start = from.checked_mul(4).ok_or(Damaged::Header)?;
    let len = count.checked_mul(4).ok_or(Damaged::Header)?;
    bytes.get(start..).and_then(|b| b.get(..len)).ok_or(Damaged::Header)
}

impl<'a> Automaton<'a> {
    /// Looks at the header only: constant work, whatever the size.
    ///
    /// # Errors
    /// [`Damaged::Header`] when the bytes are not a whole section of this version.
    pub fn new(bytes: &'a [u8]) -> Result<Automaton<'a>, Damaged> {
        if word(bytes, head::MAGIC)? != MAGIC || word(bytes, head::VERSION)? != VERSION {
            return Err(Damaged::Header);
        }
        if word(bytes, head::WORDS)? as usize * 4 != bytes.len() {
            return Err(Damaged::Header);
        }
        let flags = word(bytes, head::FLAGS)?;
        if flags & !(FLAG_PATH | FLAG_FOLD) != 0 {
            return Err(Damaged::Header);
        }
        let mut parts = [Records { bytes: &[], count: 0 }; PARTS];
        for (i, (part, width)) in parts.iter_mut().zip(WIDTH).enumerate() {
            let offset = word(bytes, head::PARTS + i * 2)? as usize;
            let count = word(bytes, head::PARTS + i * 2 + 1)?;
            let len = (count as usize).checked_mul(width).ok_or(Damaged::Header)?;
            *part = Records { bytes: words(bytes, offset, len)?, count };
        }
        // The flat ids take the rest behind the last part.
        let last = word(bytes, head::PARTS + (PARTS - 1) * 2)? as usize;
        let lists = parts.get(Part::IdLists as usize).ok_or(Damaged::Header)?;
        let behind = last
            .checked_mul(4)
            .and_then(|start| start.checked_add(lists.bytes.len()))
            .ok_or(Damaged::Header)?;
        Ok(Automaton {
            classes: words(bytes, HEADER, CLASSES)?,
            parts,
            path: flags & FLAG_PATH != 0,
            fold: flags & FLAG_FOLD != 0,
            first: word(bytes, head::FIRST)?,
            every: word(bytes, head::EVERY)?,
            every_ids: word(bytes, head::EVERY_IDS)?,
            ids: bytes.get(behind..).ok_or(Damaged::Header)?,
            greatest: word(bytes, head::GREATEST)?,
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
        seen.clear();
        seen.resize(walk::SEEN, 0);
        let mut sink = walk::Each { automaton: self, seen, found, left: MOST_FOUND };
        let result = match self.every_ids {
            0 => Ok(()),
            list => sink.list(list),
        };
        let result = result.and_then(|()| walk::run(self, value, scratch, &mut sink));
        scratch.seen = sink.seen;
        result
    }

    #[inline]
    fn records(&self, part: Part) -> Result<&Records<'a>, Damaged> {
        self.parts.get(part as usize).ok_or(Damaged::Index)
    }

    #[inline]
    fn class(&self, symbol: usize) -> Result<u32, Damaged> {
        self.classes.get(symbol).map(|&c| u32::from(c)).ok_or(Damaged::Index)
    }
}
