//! Bytes of a table, each page summed when it is first looked at.
//!
//! INVARIANT: every access is checked against the length, and in a table that is used in place also against the sum of
//! its page; a page that is not as it was written gives [`Damaged`], never its bytes.

use crate::checksum::checksum;
use crate::table::read::{Damaged, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of a page. A decision looks at few bytes of many pages, so small pages are summed sooner.
pub const PAGE: usize = 1024;
/// Most pages of a table, those of the sums aside: 64 MiB.
pub const MOST_PAGES: usize = 64 * 1024;
/// Bytes of a sum.
pub(crate) const SUM: usize = 8;
/// Sums on one page.
const SUMS: usize = PAGE / SUM;
/// Which pages of one table were found undamaged: a bit for each, at most 8 KB. A page for which there is no bit is summed
/// each time it is looked at.
#[derive(Debug)]
pub struct Seen {
    content: Box<[AtomicU64]>,
    /// Of the pages of sums.
    sums: Box<[AtomicU64]>,
    damaged: AtomicBool,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen::of(MOST_PAGES * PAGE)
    }
}

impl Seen {
    /// None yet, for a table of any size.
    #[must_use]
    pub fn new() -> Seen {
        Seen::default()
    }

    /// None yet, for a table of this many bytes.
    ///
    /// ORDER: on the heap and no larger than needed, since a new process pays for each page of memory that it touches.
    #[must_use]
    pub fn of(bytes: usize) -> Seen {
        let pages = bytes.div_ceil(PAGE).min(MOST_PAGES);
        let marks = |count: usize| (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Seen { content: marks(pages), sums: marks(pages.div_ceil(SUMS)), damaged: AtomicBool::new(false) }
    }

    #[inline]
    fn has(&self, page: usize) -> bool {
        marked(&self.content, page)
    }

    /// Whether a page was not as it was written.
    #[must_use]
    pub fn damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    /// How many pages of content were summed.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.content.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum()
    }
}

#[inline]
fn marked(marks: &[AtomicU64], page: usize) -> bool {
    marks.get(page / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (page % 64) & 1 == 1)
}

fn mark(marks: &[AtomicU64], page: usize) {
    if let Some(word) = marks.get(page / 64) {
        word.fetch_or(1 << (page % 64), Ordering::Relaxed);
    }
}

/// A table's file with its sums, of which the header has vouched for the roots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summed<'a> {
    pub(crate) file: &'a [u8],
    /// Where the content begins: behind header, directory and roots.
    pub(crate) content: usize,
    /// Where the sums begin, at a page.
    pub(crate) sums: usize,
    /// The sums of the pages of sums.
    pub(crate) roots: &'a [u8],
}

impl<'a> Summed<'a> {
    /// Pages of content.
    pub(crate) fn pages(&self) -> usize {
        self.sums / PAGE
    }

    fn stored(bytes: &[u8], index: usize) -> Read<u64> {
        let start = index.checked_mul(SUM).ok_or(Damaged)?;
        let sum = bytes.get(start..).and_then(<[u8]>::first_chunk::<SUM>).ok_or(Damaged)?;
        Ok(u64::from_le_bytes(*sum))
    }

    /// Compares a page of content with its sum, and first the page that holds the sum with its root.
    #[cold]
    fn check(&self, seen: &Seen, page: usize) -> Read<()> {
        let result = self.compare(seen, page);
        if result.is_err() {
            seen.damaged.store(true, Ordering::Relaxed);
        }
        result
    }

    fn compare(&self, seen: &Seen, page: usize) -> Read<()> {
        let group = page / SUMS;
        let sums = self.file.get(self.sums..).ok_or(Damaged)?;
        if !marked(&seen.sums, group) {
            let start = group.checked_mul(PAGE).ok_or(Damaged)?;
            let own = sums.get(start..).ok_or(Damaged)?;
            let own = own.get(..PAGE.min(own.len())).ok_or(Damaged)?;
            if checksum(own) != Summed::stored(self.roots, group)? {
                return Err(Damaged);
            }
            mark(&seen.sums, group);
        }
        if checksum(self.page(page)?) != Summed::stored(sums, page)? {
            return Err(Damaged);
        }
        mark(&seen.content, page);
        Ok(())
    }

    /// What the sum of a page is of: not the header, whose sum is in itself.
    pub(crate) fn page(&self, page: usize) -> Read<&'a [u8]> {
        let start = page.checked_mul(PAGE).ok_or(Damaged)?;
        let end = (start + PAGE).min(self.sums);
        self.file.get(start.max(self.content).min(end)..end).ok_or(Damaged)
    }

    /// Compares everything.
    pub(crate) fn check_all(&self) -> Read<()> {
        let seen = Seen::of(self.file.len());
        (0..self.pages()).try_for_each(|page| self.check(&seen, page))
    }
}

/// A part of a table.
#[derive(Debug, Clone, Copy)]
pub struct Bytes<'a> {
    bytes: &'a [u8],
    /// Where it begins in the file.
    at: usize,
    lazily: Option<(Summed<'a>, &'a Seen)>,
}

impl<'a> From<&'a [u8]> for Bytes<'a> {
    fn from(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes { bytes, at: 0, lazily: None }
    }
}

impl<'a> Bytes<'a> {
    /// No bytes.
    pub(crate) const EMPTY: Bytes<'static> = Bytes { bytes: &[], at: 0, lazily: None };

    /// A part of a file whose pages are summed when they are first looked at.
    pub(crate) fn lazily(summed: Summed<'a>, seen: &'a Seen, start: usize, len: usize) -> Read<Bytes<'a>> {
        let end = start.checked_add(len).ok_or(Damaged)?;
        Ok(Bytes {
            bytes: summed.file.get(start..end).ok_or(Damaged)?,
            at: start,
            lazily: Some((summed, seen)),
        })
    }

    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// All of them, where nothing is left to be summed.
    #[inline]
    pub(crate) fn all(&self) -> Option<&'a [u8]> {
        self.lazily.is_none().then_some(self.bytes)
    }

    /// All of them, for a reader that asks [`Sums`](policy_scan::Sums) about each part before it uses it.
    #[inline]
    pub(crate) fn unseen(&self) -> &'a [u8] {
        self.bytes
    }

    /// A part of them, not looked at yet.
    #[inline]
    pub(crate) fn part(&self, start: usize, len: usize) -> Read<Bytes<'a>> {
        let end = start.checked_add(len).ok_or(Damaged)?;
        let bytes = self.bytes.get(start..end).ok_or(Damaged)?;
        Ok(Bytes { bytes, at: self.at + start, lazily: self.lazily })
    }

    /// Some of them.
    #[inline]
    pub(crate) fn get(&self, start: usize, len: usize) -> Read<&'a [u8]> {
        let end = start.checked_add(len).ok_or(Damaged)?;
        let bytes = self.bytes.get(start..end).ok_or(Damaged)?;
        if let Some((summed, seen)) = &self.lazily
            && len > 0
        {
            for page in (self.at + start) / PAGE..=(self.at + end - 1) / PAGE {
                if !seen.has(page) {
                    summed.check(seen, page)?;
                }
            }
        }
        Ok(bytes)
    }

    /// The number at byte `start`.
    #[inline]
    pub(crate) fn u32_at(&self, start: usize) -> Read<u32> {
        let bytes = self.get(start, 4)?.first_chunk::<4>().ok_or(Damaged)?;
        Ok(u32::from_le_bytes(*bytes))
    }

    /// The number at byte `start`.
    #[inline]
    pub(crate) fn u64_at(&self, start: usize) -> Read<u64> {
        let bytes = self.get(start, 8)?.first_chunk::<8>().ok_or(Damaged)?;
        Ok(u64::from_le_bytes(*bytes))
    }
}

impl policy_scan::Sums for Bytes<'_> {
    fn intact(&self, part: std::ops::Range<usize>) -> bool {
        part.end.checked_sub(part.start).is_some_and(|len| self.get(part.start, len).is_ok())
    }
}
