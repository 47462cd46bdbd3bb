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
    /// How often it is met in text, as a weight.
    pub(super) cost: u64,
}

impl Window {
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
///
/// A class costs many bits of the bitmap: it stands in only where the literal is too short.
pub(super) fn choose(literal: &[Part], before: Option<Set>, behind: Option<Set>) -> Option<Window> {
    let (before, behind) = if literal.len() < WINDOW { (before, behind) } else { (None, None) };
    let beside =
        |set: Option<Set>| set.map(|set| Place { set, part: None, often: often(|byte| set.has(byte)) });
    let places: Vec<Place> = beside(before)
        .into_iter()
        .chain(literal.iter().map(|part| Place { set: part.set(), part: Some(*part), often: part.often() }))
        .chain(beside(behind))
        .collect();
    let first = if before.is_some() { -1 } else { 0 };
    let mut best: Option<Window> = None;
    for (offset, places) in (first..).zip(places.array_windows::<WINDOW>()) {
        let [a, b, c, d] = places;
        let cost = met([&a.often, &b.often, &c.often, &d.often]).max(1);
        let mut window =
            Window { sets: [a.set, b.set, c.set, d.set], value: 0, fold: 0, care: 0, offset, cost };
        for (index, place) in places.iter().enumerate() {
            if let Some(part) = place.part {
                window.value |= u32::from(part.byte) << (8 * index);
                window.fold |= u32::from(part.fold) << (8 * index);
                window.care |= 0xFF << (8 * index);
            }
        }
        let open = window.care.count_zeros() / 8;
        if open <= 1 && best.is_none_or(|best| cost < best.cost) {
            best = Some(window);
        }
    }
    best
}

/// A byte of a window.
#[derive(Debug, Clone, Copy)]
struct Place {
    set: Set,
    /// `None` for a class.
    part: Option<Part>,
    often: Often,
}

impl Part {
    fn often(self) -> Often {
        let of = |byte: u8| BYTES.get(usize::from(byte)).copied().unwrap_or_default();
        let mut often = of(self.byte);
        if self.fold != 0 {
            often.iter_mut().zip(of(self.byte.to_ascii_uppercase())).for_each(|(often, more)| *often += more);
        }
        often
    }
}

/// Kinds of text: how much of all text each is, in 64ths.
///
/// Bytes that stand together are of one kind. Without that, four capitals would seem to be rarer than they are.
const SHARES: [u64; 4] = [40, 9, 4, 11];

/// For each kind of text a weight.
type Often = [u64; SHARES.len()];

/// How often each byte is met in each kind of text, in 1024ths.
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
const BYTES: [Often; 256] = {
    let mut bytes = [[0; SHARES.len()]; 256];
    let mut byte = 0;
    while byte < bytes.len() {
        bytes[byte] = [words(byte as u8), capitals(byte as u8), numbers(byte as u8), anything(byte as u8)];
        byte += 1;
    }
    bytes
};

const fn words(byte: u8) -> u64 {
    match byte {
        b'e' | b't' => 100,
        b'a' | b'i' | b'n' | b'o' | b'r' | b's' => 70,
        b'c' | b'd' | b'f' | b'l' | b'm' | b'p' | b'u' => 35,
        b'a'..=b'z' => 12,
        b' ' => 100,
        b'_' => 30,
        b'A'..=b'Z' | b'0'..=b'9' => 4,
        b'.' | b'(' | b':' | b'"' | b',' | b'\n' => 20,
        b'!'..=b'~' => 1,
        _ => 0,
    }
}

const fn capitals(byte: u8) -> u64 {
    match byte {
        b'_' => 110,
        b'0'..=b'9' => 10,
        b' ' | b',' | b'\n' => 10,
        b'A'..=b'Z' => words(byte.to_ascii_lowercase()),
        b'a'..=b'z' => 6,
        b'!'..=b'~' => 1,
        _ => 0,
    }
}

const fn numbers(byte: u8) -> u64 {
    match byte {
        b'0'..=b'9' => 70,
        b'a'..=b'f' | b'x' => 25,
        b'A'..=b'F' | b'.' | b',' | b' ' | b'-' | b'_' => 18,
        b'!'..=b'~' => 2,
        _ => 0,
    }
}

const fn anything(byte: u8) -> u64 {
    match byte {
        b' ' => 400,
        b'\n' => 60,
        b'/' | b'(' | b')' | b'=' | b'"' | b'.' | b',' | b';' | b':' | b'*' => 30,
        b'!'..=b'~' => 4,
        _ => 1,
    }
}

/// How often a byte is met that is taken.
fn often(takes: impl Fn(u8) -> bool) -> Often {
    let mut sums = Often::default();
    for (_, often) in (0..=255).zip(&BYTES).filter(|(byte, _)| takes(*byte)) {
        sums.iter_mut().zip(often).for_each(|(sum, often)| *sum += often);
    }
    sums
}

/// How often a window is met whose bytes are met that often, as a weight.
fn met(bytes: [&Often; WINDOW]) -> u64 {
    let mut products = SHARES;
    for often in bytes {
        products.iter_mut().zip(often).for_each(|(product, often)| *product *= often);
    }
    products.iter().sum()
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

/// What one bucket takes, and how often it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Bucket {
    nibbles: Nibbles,
    often: [Often; WINDOW],
    cost: u64,
}

impl Bucket {
    /// The bucket with one more window.
    fn with(mut self, more: &Nibbles) -> Self {
        let before = self.nibbles;
        self.nibbles.iter_mut().zip(more).for_each(|(bits, more)| *bits |= more);
        if self.nibbles == before {
            return self;
        }
        let (low, high) = self.nibbles.split_at(WINDOW);
        let (low_before, high_before) = before.split_at(WINDOW);
        let places = low.iter().zip(high).zip(low_before.iter().zip(high_before));
        for (place, (now, before)) in self.often.iter_mut().zip(places) {
            if now != before {
                *place = often(|byte| now.0 >> (byte & 15) & now.1 >> (byte >> 4) & 1 == 1);
            }
        }
        self.cost = met(self.often.each_ref());
        self
    }
}

/// How often the assignment of windows to buckets is gone over.
const PASSES: usize = 3;
/// Windows up to which that is done more than once.
const PASSES_UP_TO: usize = 1000;

/// Nibble masks for all windows: each goes into the bucket that it makes worse the least.
pub(super) fn masks(windows: &[Window]) -> [[u8; 32]; MASKS] {
    let wanted: Vec<Nibbles> = windows.iter().map(nibbles).collect();
    let mut places: Vec<Option<usize>> = vec![None; windows.len()];
    let mut buckets = [Bucket::default(); BUCKETS];
    let passes = if windows.len() <= PASSES_UP_TO { PASSES } else { 1 };
    for number in (0..passes).flat_map(|_| 0..windows.len()) {
        let Some(nibbles) = wanted.get(number) else { continue };
        if let Some(old) = places.get_mut(number).and_then(Option::take)
            && let Some(bucket) = buckets.get_mut(old)
        {
            let rest = wanted.iter().zip(&places).filter(|(_, place)| **place == Some(old));
            *bucket = rest.fold(Bucket::default(), |bucket, (nibbles, _)| bucket.with(nibbles));
        }
        let joined = buckets.map(|bucket| (bucket.with(nibbles), bucket.cost));
        let worse =
            joined.iter().enumerate().min_by_key(|(index, (now, before))| (now.cost - before, *index));
        if let Some((index, (now, _))) = worse
            && let (Some(bucket), Some(place)) = (buckets.get_mut(index), places.get_mut(number))
        {
            *bucket = *now;
            *place = Some(index);
        }
    }
    let mut masks = [[0; 32]; MASKS];
    for (index, bucket) in buckets.iter().enumerate() {
        for (mask, nibbles) in masks.iter_mut().zip(bucket.nibbles) {
            let row = mask.iter_mut().skip(index / 8 * 16).take(16);
            row.enumerate()
                .for_each(|(nibble, bits)| *bits |= ((nibbles >> nibble & 1) as u8) << (index % 8));
        }
    }
    masks
}
