//! Where each word of a compiled automaton lies; the compiler writes it, this crate reads it.
//!
//! INVARIANT: everything is a little-endian `u32` word at a distance from the start of the section, so the bytes
//! mean the same at any address; version and offsets stand in the header and are checked before use.
//!
//! Symbols: 0 to 255 are bytes, [`START`] stands before the value and [`END`] behind it. A *literal* is a run of
//! symbols in the trie; a *piece* is a literal, or a literal with a program for the `?` and literals beside it; a
//! *node* is a piece found behind another node, with the gap that may follow it.

/// First word of a section.
pub const MAGIC: u32 = 0x4c47_4150;
/// Second word.
pub const VERSION: u32 = 3;
/// The symbol before the first byte.
pub const START: u16 = 256;
/// The symbol behind the last byte.
pub const END: u16 = 257;
/// Count of symbols.
pub const SYMBOLS: usize = 258;

/// Words of the header, then of the class map (four classes a word).
pub const HEADER: usize = 30;
/// Words of the class map.
pub const CLASSES: usize = SYMBOLS.div_ceil(4);

/// Header words, by index.
pub mod head {
    /// Magic.
    pub const MAGIC: usize = 0;
    /// Version.
    pub const VERSION: usize = 1;
    /// Words of the whole section.
    pub const WORDS: usize = 2;
    /// Flags, see [`super::FLAG_PATH`].
    pub const FLAGS: usize = 3;
    /// Base of the state behind [`super::START`], with rows the state.
    pub const FIRST: usize = 4;
    /// Its [`super::Part::Cells`] word for what is tried next, and its output.
    pub const FIRST_NEXT: usize = 5;
    /// See [`FIRST_NEXT`].
    pub const FIRST_OUT: usize = 6;
    /// Greatest id of the globs that match everything.
    pub const EVERY: usize = 7;
    /// Record of ids of the globs that match everything.
    pub const EVERY_IDS: usize = 8;
    /// Greatest id of all.
    pub const GREATEST: usize = 9;
    /// First of the pairs (offset, count of records); in the order of [`super::Part`].
    pub const PARTS: usize = 10;
}

/// Path syntax: `/` may stand for the start.
pub const FLAG_PATH: u32 = 1;
/// ASCII letters are equal in either case.
pub const FLAG_FOLD: u32 = 2;
/// The states have rows ([`Part::Rows`]) instead of cells.
pub const FLAG_ROWS: u32 = 4;
/// The flags' word holds, from this bit on, how many bits of a place in the rows are the class.
pub const ROW_SHIFT: u32 = 8;
/// Most bytes of rows; larger automata have cells, which are smaller by far.
pub const MOST_ROWS: usize = 32 << 10;
/// Bit of an entry of a row: the state that it leads to has an id or ends a literal of a piece.
pub const MARK: u16 = 1 << 15;

/// A table inside a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A transition: base of the state that it leaves ([`FREE`]: none), base of the state that it reaches, what that
    /// tries next, its output (0 none). The transition of class `c` of a state lies at its base XOR `c`. A state that
    /// lacks one tries another that reads the same end of the value: one with a transition for every class, of which
    /// this is the base, or with [`LINK`] the state that the cell of this number reaches.
    Cells = 0,
    /// greatest id ([`REPORTS`] when a literal of a piece ends), literal (0 none), ids (0 none), the last two of the longest
    /// suffix that has any; the [`mark`]s of all pieces that end, with [`BEGINS`]. The first record is none.
    Outs = 1,
    /// length, first piece, count of pieces, next shorter literal (0 none).
    Literals = 2,
    /// mask, slashes back from the end of the literal, slashes after it, program (0 none).
    Pieces = 3,
    /// Program words: symbols, [`OP_ONE`], [`OP_STOP`].
    Programs = 4,
    /// node + 1 (0 free), piece, target: open addressing, the count is a power of two.
    Edges = 5,
    /// greatest id below, gap, span, sibling, ids, [`mark`]s of the pieces that follow.
    Nodes = 6,
    /// Of each state and each class, 16 bits: the next state, with [`MARK`]. Suffixes are followed beforehand.
    Rows = 7,
    /// With rows the output of each state.
    States = 8,
    /// first, count, next.
    IdLists = 9,
}

/// Count of parts.
pub const PARTS: usize = 10;
/// Words of a record of each part.
pub const WIDTH: [usize; PARTS] = [4, 4, 4, 4, 1, 3, 6, 1, 1, 3];

/// Flag in an output's id: a literal of a piece ends here.
pub const REPORTS: u32 = 1 << 31;
/// Flag in an output's marks: one of the pieces may begin a pattern.
pub const BEGINS: u32 = 1 << 31;
/// Flag of what a state tries next: it lacks some transitions too.
pub const LINK: u32 = 1 << 31;
/// A base with any class stays in its block of this many cells.
pub const BLOCK: usize = 256;
/// The owner of a cell that has none. No state has this base.
pub const FREE: u32 = u32::MAX;

/// Greatest id.
pub const MAX_ID: u32 = REPORTS - 1;

/// A piece may begin a pattern.
pub const MASK_ROOT: u32 = 1;
/// A piece may follow another.
pub const MASK_INNER: u32 = 2;

/// Program word: one character.
pub const OP_ONE: u32 = 258;
/// Program word: end of a half; the first half goes back from the literal, the second on behind it.
pub const OP_STOP: u32 = 259;

/// What may stand between a node and the next piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// Nothing follows: the pattern is complete.
    Done = 0,
    /// Any run.
    Any = 1,
    /// Any run; the slash that ends the piece may be the one that begins the next.
    Slash = 2,
    /// A run without `/`.
    Segment = 3,
}

/// Packs a gap with the characters wanted at its start and its end.
#[must_use]
pub fn pack_gap(gap: Gap, head: u8, tail: u8) -> u32 {
    gap as u32 | u32::from(head) << 8 | u32::from(tail) << 16
}

/// One of 31 bits that tells pieces apart, as far as that goes. What is found at every turn, as a lone `/`, has bits of its
/// own, so that it costs nothing where nobody waits for it.
#[must_use]
pub fn mark(piece: u32, length: u32) -> u32 {
    match length {
        ..=2 => 1 << (piece % 8),
        _ => 1 << (8 + (piece.wrapping_mul(0x9e37_79b9) >> 8) % 23),
    }
}

/// The slot at which the search for an edge begins, before the mask.
#[must_use]
pub fn hash(node: u32, piece: u32) -> u32 {
    let key = u64::from(node) << 32 | u64::from(piece);
    let bytes = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    let [_, _, _, _, _, a, b, c] = bytes;
    u32::from_le_bytes([a, b, c, 0])
}
