//! A table in place: header, sections, checked views.
//!
//! INVARIANT: opening reads the header; the bytes are summed whole, or in place a page at a time when it is first looked
//! at. Whatever stands behind a good sum is still read with checks, and a wrong place ends in [`Damaged`].

mod error;
pub(crate) mod groups;
pub mod layout;
mod money;
pub(crate) mod past;
mod programs;
pub(crate) mod read;
pub(crate) mod records;

pub use error::TableError;
pub use money::Budget;
pub use read::{Damaged, Read};
pub use records::{Block, BlockKind, Info, Kind, Line, Pattern, Verb};

use crate::bytes::{Bytes, MOST_PAGES, PAGE, SUM, Seen, Summed};
use crate::checksum::checksum;
use layout::{SECTIONS, Section, WIDTH, at};
use read::{Range, Row, Rows};

/// A compiled policy, used where its bytes lie.
///
/// # Example
///
/// ```
/// use policy_runtime::table::{Table, TableError};
/// assert_eq!(Table::open(b"#!/bin/sh").err(), Some(TableError::Foreign));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    header: &'a [u8],
    summed: Summed<'a>,
    /// Where it is used in place: the pages whose sums were found right.
    seen: Option<&'a Seen>,
    /// Offset and length of each section.
    sections: [(u32, u32); SECTIONS],
}

impl<'a> Table<'a> {
    /// Looks at the header and at the sums of all bytes.
    ///
    /// # Errors
    ///
    /// When the bytes are not a whole, undamaged table that this build understands.
    pub fn open(bytes: &'a [u8]) -> Result<Table<'a>, TableError> {
        let table = Table::framed(bytes)?;
        table.summed.check_all().map_err(|_| TableError::Damaged)?;
        Ok(table)
    }

    /// Looks at the header alone; each page is summed when it is first looked at, so that the work does not grow with the
    /// table. A page that is damaged is noticed then: the decision is to deny, with that cause.
    ///
    /// # Errors
    ///
    /// When the header is not that of a table that this build understands.
    pub fn in_place(bytes: &'a [u8], seen: &'a Seen) -> Result<Table<'a>, TableError> {
        Ok(Table { seen: Some(seen), ..Table::framed(bytes)? })
    }

    fn framed(bytes: &'a [u8]) -> Result<Table<'a>, TableError> {
        let magic = bytes.get(..layout::MAGIC.len());
        if magic != Some(&layout::MAGIC) {
            // The beginning of a table is a table cut short; anything else never was one.
            let cut = magic.is_none() && layout::MAGIC.starts_with(bytes);
            return Err(if cut { TableError::Truncated } else { TableError::Foreign });
        }
        let header = bytes.get(..layout::HEADER).ok_or(TableError::Truncated)?;
        let fields = Bytes::from(header);
        let number = |place| fields.u32_at(place).map_err(|_| TableError::Truncated);
        if number(at::ENDIAN)? != layout::ENDIAN {
            let swapped = number(at::ENDIAN)? == layout::ENDIAN.swap_bytes();
            return Err(if swapped { TableError::Endianness } else { TableError::Damaged });
        }
        let versions = number(at::FORMAT)?;
        let (format, reader) = ((versions & 0xFFFF) as u16, (versions >> 16) as u16);
        let semantics = number(at::SEMANTICS)?;
        if reader > layout::FORMAT || semantics > layout::SEMANTICS {
            return Err(TableError::TooNew { format, semantics });
        }
        if format < layout::OLDEST || semantics < layout::SEMANTICS {
            return Err(TableError::TooOld { format, semantics });
        }
        let length = fields.u64_at(at::LENGTH).map_err(|_| TableError::Truncated)?;
        let sum = fields.u64_at(at::HEADER_SUM).map_err(|_| TableError::Truncated)?;
        let frame = Frame::of(header).ok_or(TableError::Damaged)?;
        let behind = bytes.get(layout::HEADER..frame.content).ok_or(TableError::Truncated)?;
        let summed = header.get(..at::HEADER_SUM).unwrap_or_default();
        // The sum does not cover itself and what fills the header up behind it.
        let rest = header.get(at::HEADER_SUM + 8..).unwrap_or_default();
        if sum != header_sum(summed, behind) || rest.iter().any(|byte| *byte != 0) {
            return Err(TableError::Damaged);
        }
        match (bytes.len() as u64).cmp(&length) {
            std::cmp::Ordering::Less => return Err(TableError::Truncated),
            std::cmp::Ordering::Greater => return Err(TableError::Damaged),
            std::cmp::Ordering::Equal => {}
        }
        if bytes.len() != frame.end {
            return Err(TableError::Damaged);
        }
        let (directory, roots) = behind.split_at_checked(frame.directory).ok_or(TableError::Damaged)?;
        let sections = sections(&frame, directory).map_err(|_| TableError::Damaged)?;
        let summed = Summed { file: bytes, content: frame.content, sums: frame.sums, roots };
        Ok(Table { header, summed, seen: None, sections })
    }

    /// The bytes of a section.
    pub(crate) fn section(&self, section: Section) -> Bytes<'a> {
        let (start, len) = self.sections.get(section as usize).copied().unwrap_or_default();
        let (start, len) = (start as usize, len as usize);
        let bytes = match self.seen {
            Some(seen) => Bytes::lazily(self.summed, seen, start, len),
            None => Bytes::from(self.summed.file).part(start, len),
        };
        // The places were compared with the length of the file.
        bytes.unwrap_or(Bytes::EMPTY)
    }

    /// The records of a section.
    pub(crate) fn rows(&self, section: Section) -> Rows<'a> {
        Rows { bytes: self.section(section), width: WIDTH.get(section as usize).copied().unwrap_or(1) }
    }

    /// One record.
    pub(crate) fn row(&self, section: Section, index: u32) -> Read<Row<'a>> {
        self.rows(section).get(index)
    }

    /// A text by place and length.
    pub(crate) fn text(&self, start: u32, len: u32) -> Read<&'a str> {
        let bytes = self.section(Section::Texts).get(start as usize, len as usize)?;
        std::str::from_utf8(bytes).map_err(|_| Damaged)
    }

    /// The text whose place stands in two words of a record.
    pub(crate) fn text_in(&self, row: Row<'a>, word: usize) -> Read<&'a str> {
        self.text(row.word(word)?, row.word(word + 1)?)
    }

    /// A list of texts.
    pub(crate) fn texts(&self, range: Range) -> Read<impl Iterator<Item = Read<&'a str>>> {
        let table = *self;
        let rows = self.rows(Section::TextLists);
        Ok(range.within(rows.len())?.map(move |index| table.text_in(rows.get(index)?, 0)))
    }

    /// A list of numbers.
    pub(crate) fn numbers(&self, range: Range) -> Read<impl DoubleEndedIterator<Item = Read<u32>> + use<'a>> {
        let rows = self.rows(Section::Numbers);
        Ok(range.within(rows.len())?.map(move |index| rows.get(index)?.word(0)))
    }

    /// What the scanner reads, not looked at yet: the section holds its length, then its bytes.
    pub(crate) fn scan(&self) -> Read<Bytes<'a>> {
        let section = self.section(Section::Scan);
        section.part(4, section.u32_at(0)? as usize)
    }

    /// Whether anything of it looks at texts, so that they have to be made. Something of a damaged table may.
    #[must_use]
    pub fn looks_at_texts(&self) -> bool {
        self.rows(Section::Needles).len() > 0 || self.flags_checks()
    }

    /// Whether a decision may need the record of a session. A damaged table may.
    #[must_use]
    pub fn asks_the_past(&self) -> bool {
        self.row(Section::Info, 0).and_then(|row| row.word(28)) != Ok(0)
    }

    fn flags_checks(&self) -> bool {
        self.row(Section::Info, 0).and_then(|row| row.word(27)) != Ok(0)
    }

    /// An automaton by place and length.
    pub(crate) fn automaton(&self, range: Range) -> Read<Bytes<'a>> {
        self.section(Section::Automata).part(range.first as usize, range.count as usize)
    }
}

/// Where the parts of a file lie, by its header.
struct Frame {
    /// Bytes of the directory.
    directory: usize,
    /// Where the content begins.
    content: usize,
    /// Where the sums of its pages begin.
    sums: usize,
    /// Where the file ends.
    end: usize,
}

impl Frame {
    fn of(header: &[u8]) -> Option<Frame> {
        let fields = Bytes::from(header);
        let count = fields.u32_at(at::SECTIONS).ok()? as usize;
        let sums = usize::try_from(fields.u64_at(at::PAGE_SUMS).ok()?).ok()?;
        let pages = sums / PAGE;
        if count > 1024 || !sums.is_multiple_of(PAGE) || pages > MOST_PAGES {
            return None;
        }
        let directory = count * layout::ENTRY;
        let roots = (pages * SUM).div_ceil(PAGE) * SUM;
        let content = layout::HEADER + directory + roots;
        (content <= sums).then_some(Frame { directory, content, sums, end: sums + pages * SUM })
    }
}

/// Where the content of a table begins: behind the header, the directory and the roots.
#[must_use]
pub fn content_start(sections: usize, content: usize) -> usize {
    let mut start = layout::HEADER + sections * layout::ENTRY;
    // The roots lie before what they are of, and so add to it.
    for _ in 0..2 {
        let pages = (start + content).div_ceil(PAGE);
        start = layout::HEADER + sections * layout::ENTRY + (pages * SUM).div_ceil(PAGE) * SUM;
    }
    start
}

/// Writes all sums into bytes whose header is complete but for them. Without a header that fits nothing is written.
pub fn seal(bytes: &mut [u8]) {
    let Some(frame) = bytes.get(..layout::HEADER).and_then(Frame::of) else { return };
    let Some(file) = bytes.get(..frame.end) else { return };
    let summed = Summed { file, content: frame.content, sums: frame.sums, roots: &[] };
    let sums: Vec<u8> = (0..summed.pages())
        .flat_map(|page| summed.page(page).map(checksum).unwrap_or_default().to_le_bytes())
        .collect();
    let roots: Vec<u8> = sums.chunks(PAGE).flat_map(|page| checksum(page).to_le_bytes()).collect();
    let mut put = |place: usize, new: &[u8]| {
        if let Some(slot) = bytes.get_mut(place..place + new.len()) {
            slot.copy_from_slice(new);
        }
    };
    put(frame.sums, &sums);
    put(layout::HEADER + frame.directory, &roots);
    let (header, rest) = bytes.split_at(layout::HEADER);
    let behind = rest.get(..frame.content - layout::HEADER).unwrap_or_default();
    let sum = header_sum(header.get(..at::HEADER_SUM).unwrap_or_default(), behind);
    if let Some(slot) = bytes.get_mut(at::HEADER_SUM..at::HEADER_SUM + 8) {
        slot.copy_from_slice(&sum.to_le_bytes());
    }
}

/// The sum that stands in a header: of the header up to the sum, and of directory and roots.
fn header_sum(header: &[u8], behind: &[u8]) -> u64 {
    checksum(header).rotate_left(1) ^ checksum(behind)
}

fn sections(frame: &Frame, directory: &[u8]) -> Read<[(u32, u32); SECTIONS]> {
    let mut out = [None; SECTIONS];
    for entry in directory.chunks_exact(layout::ENTRY).map(Bytes::from) {
        let tag = entry.u32_at(0)? as usize;
        let (start, len) = (entry.u64_at(8)?, entry.u64_at(16)?);
        // A section that this build does not know was added by a newer one that says it may be ignored.
        let Some(slot) = out.get_mut(tag) else { continue };
        let end = start.checked_add(len).ok_or(Damaged)?;
        let inside = start >= frame.content as u64 && end <= frame.sums as u64;
        if slot.is_some() || !start.is_multiple_of(layout::ALIGN as u64) || !inside {
            return Err(Damaged);
        }
        let small = |number: u64| u32::try_from(number).map_err(|_| Damaged);
        *slot = Some((small(start)?, small(len)?));
    }
    let mut sections = [(0, 0); SECTIONS];
    for (section, slot) in sections.iter_mut().zip(out) {
        *section = slot.ok_or(Damaged)?;
    }
    Ok(sections)
}
