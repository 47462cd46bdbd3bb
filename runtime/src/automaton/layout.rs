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
pub const VERSION: u32 = 2;
/// The symbol before the first byte.
pub const START: u16 = 256;
/// The symbol behind the last byte.
pub const END: u16 = 257;
/// Count of symbols.
pub const SYMBOLS: usize = 258;

/// Words of the header, then of the class map (four classes a word).
pub const HEADER: usize = 26;
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
    /// Cell of the state behind [`super::START`].
    pub const FIRST: usize = 4;
    /// Greatest id of the globs that match everything.
    pub const EVERY: usize = 5;
    /// Record of ids of the globs that match everything.
    pub const EVERY_IDS: usize = 6;
    /// Greatest id of all.
    pub const GREATEST: usize = 7;
    /// First of the pairs (offset, count of records); in the order of [`super::Part`].
    pub const PARTS: usize = 8;
}

/// Path syntax: `/` may stand for the start.
pub const FLAG_PATH: u32 = 1;
/// ASCII letters are equal in either case.
pub const FLAG_FOLD: u32 = 2;
/// The states have rows ([`Part::Rows`]) instead of a double array.
pub const FLAG_ROWS: u32 = 4;
/// The flags' word holds, from this bit on, how many bits of a place in the rows are the class.
pub const ROW_SHIFT: u32 = 8;
/// Most bytes of rows; larger automata have the double array, which is smaller by far.
pub const MOST_ROWS: usize = 32 << 10;
/// Bit of an entry of a row: the state that it leads to has an id or ends a literal of a piece.
pub const MARK: u16 = 1 << 15;

/// A table inside a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// base, check, fail, greatest id ([`REPORTS`] when pieces or ids are listed). With rows a cell is a state, and only
    /// the id counts.
    Cells = 0,
    /// Of each cell: literal (0 none), ids (0 none), both of the longest suffix that has any.
    Outs = 1,
    /// length, first piece, count of pieces, next shorter literal (0 none).
    Literals = 2,
    /// mask, slashes back from the end of the literal, slashes after it, program (0 none).
    Pieces = 3,
    /// Program words: symbols, [`OP_ONE`], [`OP_STOP`].
    Programs = 4,
    /// node + 1 (0 free), piece, target: open addressing, the count is a power of two.
    Edges = 5,
    /// greatest id below, gap, span, sibling, ids.
    Nodes = 6,
    /// Of each state and each class, 16 bits: the next state, with [`MARK`]. Suffixes are followed beforehand.
    Rows = 7,
    /// first, count, next.
    IdLists = 8,
}

/// Count of parts.
pub const PARTS: usize = 9;
/// Words of a record of each part.
pub const WIDTH: [usize; PARTS] = [4, 2, 4, 4, 1, 3, 5, 1, 3];

/// Flag in a cell's id: the state ends a literal of a piece.
pub const REPORTS: u32 = 1 << 31;
/// A base with any class stays in its block of this many cells; the last block ends with its last taken cell.
pub const BLOCK: usize = 256;
/// The owner of a cell that has none.
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

/// The slot at which the search for an edge begins, before the mask.
#[must_use]
pub fn hash(node: u32, piece: u32) -> u32 {
    let key = u64::from(node) << 32 | u64::from(piece);
    let bytes = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    let [_, _, _, _, _, a, b, c] = bytes;
    u32::from_le_bytes([a, b, c, 0])
}
