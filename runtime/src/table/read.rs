//! Checked reading of numbers, texts and records.
//!
//! INVARIANT: every access is checked; a wrong place or count is [`Damaged`], never a panic.

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

/// `len` bytes from `start`.
pub(crate) fn bytes_at(bytes: &[u8], start: usize, len: usize) -> Read<&[u8]> {
    let end = start.checked_add(len).ok_or(Damaged)?;
    bytes.get(start..end).ok_or(Damaged)
}

/// The number at byte `start`.
pub(crate) fn u32_at(bytes: &[u8], start: usize) -> Read<u32> {
    let end = start.checked_add(4).ok_or(Damaged)?;
    match bytes.get(start..end) {
        Some(&[a, b, c, d]) => Ok(u32::from_le_bytes([a, b, c, d])),
        _ => Err(Damaged),
    }
}

/// The number at byte `start`.
pub(crate) fn u64_at(bytes: &[u8], start: usize) -> Read<u64> {
    let (low, high) = (u32_at(bytes, start)?, u32_at(bytes, start.checked_add(4).ok_or(Damaged)?)?);
    Ok(u64::from(low) | u64::from(high) << 32)
}

/// Rows of u32 words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) bytes: &'a [u8],
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
        Ok(Row(bytes_at(self.bytes, start, size)?))
    }
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a>(&'a [u8]);

impl Row<'_> {
    /// Its word of that number.
    pub(crate) fn word(self, index: usize) -> Read<u32> {
        u32_at(self.0, index * 4)
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
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    /// From the word with this number.
    pub(crate) fn new(bytes: &'a [u8], word: u32) -> Read<Words<'a>> {
        Ok(Words { bytes, at: (word as usize).checked_mul(4).ok_or(Damaged)? })
    }

    /// The next word.
    pub(crate) fn next(&mut self) -> Read<u32> {
        let value = u32_at(self.bytes, self.at)?;
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
