//! Checked reading of numbers, texts and records.
//!
//! INVARIANT: every access is checked; a wrong place or count is [`Damaged`], never a panic.

use crate::bytes::Bytes;

/// The table says something that cannot be: its content is not what the compiler wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the table is damaged")
    }
}

impl std::error::Error for Damaged {}

/// Checked result.
pub type Read<T> = Result<T, Damaged>;

/// Rows of u32 words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) bytes: Bytes<'a>,
    pub(crate) width: usize,
}

impl<'a> Rows<'a> {
    /// How many there are.
    pub(crate) fn len(self) -> u32 {
        u32::try_from(self.bytes.len() / (4 * self.width.max(1))).unwrap_or(u32::MAX)
    }

    /// One of them.
    pub(crate) fn get(self, index: u32) -> Read<Row<'a>> {
        let size = 4 * self.width;
        let start = (index as usize).checked_mul(size).ok_or(Damaged)?;
        Ok(Row(self.bytes.get(start, size)?))
    }
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a>(&'a [u8]);

impl Row<'_> {
    /// Its word of that number.
    pub(crate) fn word(self, index: usize) -> Read<u32> {
        let bytes = self.0.get(index * 4..).and_then(<[u8]>::first_chunk::<4>).ok_or(Damaged)?;
        Ok(u32::from_le_bytes(*bytes))
    }

    /// Two words that say first and count.
    pub(crate) fn range(self, index: usize) -> Read<Range> {
        Ok(Range { first: self.word(index)?, count: self.word(index + 1)? })
    }
}

/// A run of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Range {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Range {
    /// The indices; checked against `len` first, so that a damaged count ends at once.
    pub(crate) fn within(self, len: u32) -> Read<std::ops::Range<u32>> {
        let end = self.first.checked_add(self.count).filter(|&end| end <= len).ok_or(Damaged)?;
        Ok(self.first..end)
    }
}

/// Words read one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words<'a> {
    bytes: Bytes<'a>,
    at: usize,
}

impl<'a> Words<'a> {
    /// From the word with this number.
    pub(crate) fn new(bytes: impl Into<Bytes<'a>>, word: u32) -> Read<Words<'a>> {
        Ok(Words { bytes: bytes.into(), at: (word as usize).checked_mul(4).ok_or(Damaged)? })
    }

    /// The next word.
    pub(crate) fn next(&mut self) -> Read<u32> {
        let value = self.bytes.u32_at(self.at)?;
        self.at += 4;
        Ok(value)
    }

    /// Passes over so many words.
    pub(crate) fn skip(&mut self, words: usize) -> Read<()> {
        let bytes = words.checked_mul(4).ok_or(Damaged)?;
        self.at = self.at.checked_add(bytes).filter(|at| *at <= self.bytes.len()).ok_or(Damaged)?;
        Ok(())
    }

    /// The next word as a count of things that follow, each of at least one word.
    pub(crate) fn count(&mut self) -> Read<usize> {
        let count = self.next()? as usize;
        let left = self.bytes.len().saturating_sub(self.at) / 4;
        if count > left { Err(Damaged) } else { Ok(count) }
    }
}
