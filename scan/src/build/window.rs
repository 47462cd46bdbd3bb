//! The four bytes of a literal that the filter looks for, and the buckets that share the nibble masks.
//!
//! INVARIANT: every text that has the literal (and what always stands beside it) passes the masks and the bitmap.

use super::literal::Part;
use super::set::Set;
use crate::layout::{BUCKETS, MASKS, WINDOW};

/// Four sets of bytes, and where they lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Window {
    pub(super) sets: [Set; WINDOW],
    /// Value of the window with `fold` applied, where `care` is set.
    pub(super) value: u32,
    pub(super) fold: u32,
    pub(super) care: u32,
    /// Where the window begins behind the literal's first byte.
    pub(super) offset: i16,
}

impl Window {
    /// How often it is met in text, in parts of 4096⁴.
    pub(super) fn cost(&self) -> u64 {
        self.sets.iter().fold(1, |product: u64, set| product.saturating_mul(frequency(set).max(1)))
    }

    /// Every value that the hash has to know.
    pub(super) fn values(&self) -> Vec<u32> {
        let open = self.sets.iter().enumerate().find(|(index, _)| self.care >> (8 * index) & 0xFF == 0);
        match open {
            None => vec![self.value],
            Some((index, set)) => {
                set.bytes().map(|byte| self.value | u32::from(byte) << (8 * index)).collect()
            }
        }
    }
}

/// The window of a literal that is met least often. `before` and `behind` are the bytes that always stand beside it.
pub(super) fn choose(literal: &[Part], before: Option<Set>, behind: Option<Set>) -> Option<Window> {
    let set = |at: isize| -> Option<(Set, Option<Part>)> {
        match usize::try_from(at) {
            Err(_) => before.filter(|_| at == -1).map(|set| (set, None)),
            Ok(at) => match literal.get(at) {
                Some(part) => Some((part.set(), Some(*part))),
                None => behind.filter(|_| at == literal.len()).map(|set| (set, None)),
            },
        }
    };
    let mut best: Option<Window> = None;
    for offset in -1..=literal.len() as isize {
        let mut window = Window {
            sets: [Set::default(); WINDOW],
            value: 0,
            fold: 0,
            care: 0,
            offset: i16::try_from(offset).ok()?,
        };
        let mut found = 0;
        for (index, slot) in window.sets.iter_mut().enumerate() {
            let Some((set, part)) = set(offset + index as isize) else { break };
            found += 1;
            *slot = set;
            if let Some(part) = part {
                window.value |= u32::from(part.byte) << (8 * index);
                window.fold |= u32::from(part.fold) << (8 * index);
                window.care |= 0xFF << (8 * index);
            }
        }
        let open = window.care.count_zeros() / 8;
        if found == WINDOW && open <= 1 && best.is_none_or(|best| window.cost() < best.cost()) {
            best = Some(window);
        }
    }
    best
}

/// How often a byte is met in source text, in parts of 4096.
fn frequency_of(byte: u8) -> u64 {
    match byte {
        b' ' => 600,
        b'e' | b't' => 260,
        b'a' | b'i' | b'n' | b'o' | b'r' | b's' => 200,
        b'c' | b'd' | b'f' | b'l' | b'm' | b'p' | b'u' => 110,
        b'\n' => 110,
        b'a'..=b'z' => 45,
        b'_' | b'.' | b'(' | b')' | b',' | b':' | b';' | b'/' => 60,
        b'-' | b'=' | b'"' | b'0' | b'1' | b'*' => 35,
        b'A'..=b'Z' | b'0'..=b'9' => 15,
        b'!'..=b'~' => 20,
        0x80.. => 3,
        _ => 1,
    }
}

fn frequency(set: &Set) -> u64 {
    set.bytes().map(frequency_of).sum()
}

/// Low nibbles of four bytes, then high nibbles: what one bucket takes.
type Nibbles = [u16; MASKS];

fn nibbles(window: &Window) -> Nibbles {
    let mut nibbles = [0; MASKS];
    let (low, high) = nibbles.split_at_mut(WINDOW);
    for ((low, high), set) in low.iter_mut().zip(high).zip(&window.sets) {
        for byte in set.bytes() {
            *low |= 1 << (byte & 15);
            *high |= 1 << (byte >> 4);
        }
    }
    nibbles
}

fn join(mut bucket: Nibbles, more: &Nibbles) -> Nibbles {
    bucket.iter_mut().zip(more).for_each(|(bits, more)| *bits |= more);
    bucket
}

/// How often a bucket takes a window of text.
fn cost(bucket: &Nibbles) -> u64 {
    let (low, high) = bucket.split_at(WINDOW);
    low.iter().zip(high).fold(1, |product: u64, (low, high)| {
        let taken = (0..=255u8).filter(|byte| low >> (byte & 15) & high >> (byte >> 4) & 1 == 1);
        product.saturating_mul(taken.map(frequency_of).sum())
    })
}

/// Nibble masks for all windows: each goes into the bucket that it makes worse the least.
pub(super) fn masks(windows: &[Window]) -> [[u8; 32]; MASKS] {
    let mut buckets = [([0u16; MASKS], 0u64); BUCKETS];
    for window in windows {
        let nibbles = nibbles(window);
        let joined = buckets.iter().enumerate().map(|(index, (bucket, before))| {
            let joined = join(*bucket, &nibbles);
            let after = cost(&joined);
            (after.saturating_sub(*before), index, joined, after)
        });
        if let Some((_, index, joined, after)) = joined.min_by_key(|(worse, index, _, _)| (*worse, *index))
            && let Some(bucket) = buckets.get_mut(index)
        {
            *bucket = (joined, after);
        }
    }
    let mut masks = [[0; 32]; MASKS];
    for (index, (bucket, _)) in buckets.iter().enumerate() {
        for (mask, nibbles) in masks.iter_mut().zip(bucket) {
            let row = mask.iter_mut().skip(index / 8 * 16).take(16);
            row.enumerate()
                .for_each(|(nibble, bits)| *bits |= ((nibbles >> nibble & 1) as u8) << (index % 8));
        }
    }
    masks
}
