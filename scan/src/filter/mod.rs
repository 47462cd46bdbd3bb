//! The filter in front: which windows of four bytes may belong to a literal.
//!
//! INVARIANT: every path gives, in their order, the windows that the nibble masks admit and both bitmaps know, and may give
//! others that the masks and the first bitmap take: what reads them asks [`Section::has_threes`] first. A processor is
//! asked for its features only for a text that is long enough to pay for it (one `cpuid` costs as much in a virtual
//! machine as scanning 20 KB).

#[cfg(target_arch = "x86_64")]
mod avx2;

use crate::layout::{MASKS, WINDOW};
use crate::section::Section;

/// Which way the filter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Path {
    /// Scalar for short texts, vector where the machine has it for long ones.
    #[default]
    Auto,
    /// Never the vector path.
    Scalar,
    /// The vector path where the machine has it, for texts of any length.
    Vector,
}

/// Bytes from which asking the processor pays.
#[cfg(target_arch = "x86_64")]
const ASK_FROM: u64 = 32 * 1024;

/// What runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Token),
}

impl Path {
    /// The level for a text of which `bytes` are known to exist.
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "nothing to ask"))]
    pub(crate) fn level(self, bytes: u64) -> Level {
        match self {
            Self::Scalar => Level::Scalar,
            #[cfg(target_arch = "x86_64")]
            Self::Auto => match avx2::known() {
                Some(token) => token.map_or(Level::Scalar, Level::Avx2),
                None if bytes < ASK_FROM => Level::Scalar,
                None => avx2::ask().map_or(Level::Scalar, Level::Avx2),
            },
            #[cfg(target_arch = "x86_64")]
            Self::Vector => avx2::ask().map_or(Level::Scalar, Level::Avx2),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Auto | Self::Vector => Level::Scalar,
        }
    }

    /// Whether this machine has a vector path. Asks the processor.
    #[must_use]
    pub fn has_vector() -> bool {
        Self::Vector.level(0) != Level::Scalar
    }
}

/// Most candidates of one call.
const BATCH: usize = 1024;
/// Most windows of one call.
const MOST_WINDOWS: usize = 1 << 16;

/// Windows that may belong to a literal.
pub(crate) struct Batch {
    /// Where the first window of the call begins.
    base: usize,
    /// Distances from there.
    at: [u16; BATCH],
    len: usize,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self { base: 0, at: [0; BATCH], len: 0 }
    }

    pub(crate) fn windows(&self) -> impl Iterator<Item = usize> {
        self.at.iter().take(self.len).map(|at| self.base + usize::from(*at))
    }

    /// Notes a window if `keep`; there is no branch on it.
    #[inline(always)]
    fn push(&mut self, window: usize, keep: bool) {
        if let Some(at) = self.at.get_mut(self.len) {
            *at = (window - self.base) as u16;
            self.len += usize::from(keep);
        }
    }

    #[inline(always)]
    fn room(&self) -> usize {
        BATCH - self.len
    }
}

/// The four bytes at `at`.
#[inline(always)]
pub(crate) fn window(text: &[u8], at: usize) -> Option<u32> {
    text.get(at..)?.first_chunk::<WINDOW>().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Fills the batch with candidates among the windows that begin at `from` up to before `to`, and returns where it
/// stopped: `to`, or earlier if the batch is full or the text long.
pub(crate) fn fill(
    level: Level,
    section: &Section<'_>,
    text: &[u8],
    from: usize,
    to: usize,
    batch: &mut Batch,
) -> usize {
    (batch.base, batch.len) = (from, 0);
    let to = to.min(from + MOST_WINDOWS);
    match level {
        Level::Scalar => scalar(section, text, from, to, batch),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(token) => {
            let done = avx2::fill(token, section, text, from, to, batch);
            if batch.room() < avx2::MOST_OF_A_BLOCK { done } else { scalar(section, text, done, to, batch) }
        }
    }
}

/// Windows that one look of the scalar path decides.
const STRIDE: usize = 6;

/// Every window has three bytes that begin at an odd place: three questions decide six windows.
fn scalar(section: &Section<'_>, text: &[u8], from: usize, to: usize, batch: &mut Batch) -> usize {
    let mut at = from;
    while at < to && batch.room() >= STRIDE {
        let Some(rest) = text.get(at..) else { return to };
        let windows = match rest.first_chunk::<8>() {
            Some(bytes) if to - at >= STRIDE => {
                let word = u64::from_le_bytes(*bytes);
                let three = |place: u32| section.has_three((word >> (8 * place)) as u32);
                if !(three(1) | three(3) | three(5)) {
                    at += STRIDE;
                    continue;
                }
                STRIDE
            }
            _ => 1,
        };
        for (index, bytes) in rest.array_windows().enumerate().take(windows) {
            if section.has(u32::from_le_bytes(*bytes)) && admits(section.masks, *bytes) {
                batch.push(at + index, true);
            }
        }
        at += windows;
    }
    at
}

/// Whether some bucket takes the four bytes.
fn admits(masks: &[[u8; 32]; MASKS], bytes: [u8; WINDOW]) -> bool {
    let (low, high) = masks.split_at(WINDOW);
    let row = |row: usize| {
        bytes.iter().zip(low.iter().zip(high)).fold(0xFF, |buckets, (byte, (low, high))| {
            let at = |mask: &[u8; 32], nibble: u8| mask.get(row + usize::from(nibble)).copied().unwrap_or(0);
            buckets & at(low, byte & 15) & at(high, byte >> 4)
        })
    };
    row(0) | row(16) != 0
}
