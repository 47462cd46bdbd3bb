//! A table in place: header, sections, checked views.
//!
//! INVARIANT: opening reads the header and sums the bytes, nothing more; whatever stands behind a good sum is still
//! read with checks, and a wrong place ends in [`Damaged`].

mod error;
pub(crate) mod groups;
pub mod layout;
mod programs;
pub(crate) mod read;
pub(crate) mod records;

pub use error::TableError;
pub use read::{Damaged, Read};
pub use records::{Block, BlockKind, Info, Kind, Line, Pattern, Verb};

use crate::checksum::checksum;
use layout::{SECTIONS, Section, WIDTH, at};
use read::{Range, Row, Rows, u32_at, u64_at};

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
    sections: [&'a [u8]; SECTIONS],
}

impl<'a> Table<'a> {
    /// Looks at the header and the sums.
    ///
    /// # Errors
    ///
    /// When the bytes are not a whole, undamaged table that this build understands.
    pub fn open(bytes: &'a [u8]) -> Result<Table<'a>, TableError> {
        let (table, body) = Table::framed(bytes)?;
        if u64_at(table.header, at::CONTENT_SUM) != Ok(checksum(body)) {
            return Err(TableError::Damaged);
        }
        Ok(table)
    }

    /// Looks at the header alone, for bytes in memory that [`Table::open`] has accepted.
    ///
    /// # Errors
    ///
    /// When the header is not that of a table that this build understands.
    pub fn open_again(bytes: &'a [u8]) -> Result<Table<'a>, TableError> {
        Table::framed(bytes).map(|(table, _)| table)
    }

    /// The table and what its content sum is of.
    fn framed(bytes: &'a [u8]) -> Result<(Table<'a>, &'a [u8]), TableError> {
        let magic = bytes.get(..layout::MAGIC.len());
        if magic != Some(&layout::MAGIC) {
            // The beginning of a table is a table cut short; anything else never was one.
            let cut = magic.is_none() && layout::MAGIC.starts_with(bytes);
            return Err(if cut { TableError::Truncated } else { TableError::Foreign });
        }
        let header = bytes.get(..layout::HEADER).ok_or(TableError::Truncated)?;
        let number = |place| u32_at(header, place).map_err(|_| TableError::Truncated);
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
        let length = u64_at(header, at::LENGTH).map_err(|_| TableError::Truncated)?;
        let sum = u64_at(header, at::HEADER_SUM).map_err(|_| TableError::Truncated)?;
        let count = number(at::SECTIONS)? as usize;
        if count > 1024 {
            return Err(TableError::Damaged);
        }
        let content = layout::HEADER + count * layout::ENTRY;
        let directory = bytes.get(layout::HEADER..content).ok_or(TableError::Truncated)?;
        let summed = header.get(..at::HEADER_SUM).unwrap_or_default();
        // The sum does not cover itself and what fills the header up behind it.
        let rest = header.get(at::HEADER_SUM + 8..).unwrap_or_default();
        if sum != header_sum(summed, directory) || rest.iter().any(|byte| *byte != 0) {
            return Err(TableError::Damaged);
        }
        match (bytes.len() as u64).cmp(&length) {
            std::cmp::Ordering::Less => return Err(TableError::Truncated),
            std::cmp::Ordering::Greater => return Err(TableError::Damaged),
            std::cmp::Ordering::Equal => {}
        }
        let body = bytes.get(content..).unwrap_or_default();
        let sections = sections(bytes, directory).map_err(|_| TableError::Damaged)?;
        Ok((Table { header, sections }, body))
    }

    /// The bytes of a section.
    pub(crate) fn section(&self, section: Section) -> &'a [u8] {
        self.sections.get(section as usize).copied().unwrap_or_default()
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
        let bytes = read::bytes_at(self.section(Section::Texts), start as usize, len as usize)?;
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

    /// An automaton by place and length.
    pub(crate) fn automaton(&self, range: Range) -> Read<&'a [u8]> {
        read::bytes_at(self.section(Section::Automata), range.first as usize, range.count as usize)
    }
}

/// The sum that stands in a header: of the header up to the sum, and of the directory.
#[must_use]
pub fn header_sum(header: &[u8], directory: &[u8]) -> u64 {
    checksum(header).rotate_left(1) ^ checksum(directory)
}

fn sections<'a>(bytes: &'a [u8], directory: &[u8]) -> Read<[&'a [u8]; SECTIONS]> {
    let mut out = [None; SECTIONS];
    for entry in directory.chunks_exact(layout::ENTRY) {
        let tag = u32_at(entry, 0)? as usize;
        let (start, len) = (u64_at(entry, 8)?, u64_at(entry, 16)?);
        let start = usize::try_from(start).map_err(|_| Damaged)?;
        let len = usize::try_from(len).map_err(|_| Damaged)?;
        // A section that this build does not know was added by a newer one that says it may be ignored.
        let Some(slot) = out.get_mut(tag) else { continue };
        if slot.is_some() || !start.is_multiple_of(layout::ALIGN) {
            return Err(Damaged);
        }
        *slot = Some(read::bytes_at(bytes, start, len)?);
    }
    let mut sections = [&[] as &[u8]; SECTIONS];
    for (section, slot) in sections.iter_mut().zip(out) {
        *section = slot.ok_or(Damaged)?;
    }
    Ok(sections)
}
