//! Sets of bytes, and the sets that a part of a pattern may begin or end with.
//!
//! INVARIANT: the sets of ends are never too small; they may be too large.

use regex_syntax::hir::{Class, Hir, HirKind};

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Set(pub(super) [u8; 32]);

impl Set {
    pub(super) fn of(bytes: impl IntoIterator<Item = u8>) -> Self {
        let mut set = Self::default();
        for byte in bytes {
            set.add(byte);
        }
        set
    }

    pub(super) fn add(&mut self, byte: u8) {
        if let Some(bits) = self.0.get_mut(usize::from(byte >> 3)) {
            *bits |= 1 << (byte & 7);
        }
    }

    pub(super) fn has(&self, byte: u8) -> bool {
        crate::verify::contains(&self.0, byte)
    }

    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> {
        (0..=255).filter(|byte| self.has(*byte))
    }

    pub(super) fn union(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(bits, more)| *bits |= more);
        self
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(a, b)| a & b != 0)
    }

    pub(super) fn within(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).all(|(a, b)| a & !b == 0)
    }

    /// Letters, digits and `_`.
    pub(super) fn word() -> Self {
        Self::of((0..=255).filter(|byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_'))
    }

    /// The bytes of a class; `None` if it has characters of more than one byte.
    pub(super) fn of_class(class: &Class) -> Option<Self> {
        let mut set = Self::default();
        match class {
            Class::Bytes(class) => {
                class
                    .ranges()
                    .iter()
                    .flat_map(|range| range.start()..=range.end())
                    .for_each(|byte| set.add(byte));
            }
            Class::Unicode(class) => {
                for range in class.ranges() {
                    if !range.end().is_ascii() {
                        return None;
                    }
                    (range.start() as u8..=range.end() as u8).for_each(|byte| set.add(byte));
                }
            }
        }
        Some(set)
    }
}

/// Which end of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

/// What a sequence of parts may begin or end with, `None` if it may be empty.
pub(super) fn edge(parts: &[Hir], end: End) -> Option<Set> {
    let (set, may_be_empty) = edge_of_sequence(parts, end);
    (!may_be_empty).then_some(set)
}

fn edge_of_sequence(parts: &[Hir], end: End) -> (Set, bool) {
    let mut all = Set::default();
    let mut next = |part: &Hir| {
        let (set, empty) = edge_or_empty(part, end);
        all = all.union(&set);
        empty
    };
    let empty =
        if end == End::First { parts.iter().all(&mut next) } else { parts.iter().rev().all(&mut next) };
    (all, empty)
}

fn edge_or_empty(part: &Hir, end: End) -> (Set, bool) {
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => (Set::default(), true),
        HirKind::Literal(literal) => {
            let byte = if end == End::First { literal.0.first() } else { literal.0.last() };
            (Set::of(byte.copied()), byte.is_none())
        }
        HirKind::Class(class) => (Set::of_class(class).unwrap_or(Set([0xFF; 32])), false),
        HirKind::Repetition(repetition) => {
            let (set, empty) = edge_or_empty(&repetition.sub, end);
            (set, empty || repetition.min == 0)
        }
        HirKind::Capture(capture) => edge_or_empty(&capture.sub, end),
        HirKind::Concat(parts) => edge_of_sequence(parts, end),
        HirKind::Alternation(parts) => parts.iter().fold((Set::default(), false), |(all, may), part| {
            let (set, empty) = edge_or_empty(part, end);
            (all.union(&set), may || empty)
        }),
    }
}
