//! Builds one automaton out of many globs: a section of bytes that the runtime uses in place.
//!
//! INVARIANT: the same set of globs gives the same bytes in whatever order they come; the section is read with
//! `policy_runtime::automaton::Automaton` and matches what `policy_runtime::glob::matches` says of each glob.

mod array;
mod lower;
mod pieces;
#[cfg(test)]
mod tests;
mod trie;
#[cfg(test)]
mod work_tests;
mod write;

pub use policy_runtime::glob::Syntax;

use lower::{Elem, Sequence, lower};
use pieces::Pieces;
use policy_runtime::automaton::MOST_ACTIVE;
use policy_runtime::automaton::layout::{END, MAX_ID, START, SYMBOLS};
use std::collections::BTreeMap;
use std::fmt;
use trie::Trie;

/// The longest glob, bytes.
pub const MOST_GLOB_BYTES: usize = 8192;
/// The most states.
pub const MOST_STATES: usize = 1 << 22;
/// The largest section, bytes.
pub const MOST_BYTES: usize = 64 << 20;
/// The most pieces with `?` that are tried when one literal is found.
pub const MOST_PER_LITERAL: usize = 256;

/// One glob with what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobInput<'a> {
    /// The glob, braces already spelled out.
    pub text: &'a str,
    /// Greater than 0; when several globs match, the greatest wins. Globs may share one.
    pub id: u32,
}

/// Why there is no automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildError {
    /// An id is 0 or above the greatest.
    Id {
        /// The id.
        id: u32,
    },
    /// A glob is too long.
    GlobTooLong {
        /// Whose.
        id: u32,
        /// Its length.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// A glob holds one of the bytes 0x01 and 0x02, which stand for the unknown in values.
    SpecialByte {
        /// Whose.
        id: u32,
    },
    /// A glob wants single characters between two `**`, or 256 of them in one place.
    Marks {
        /// Whose.
        id: u32,
    },
    /// Too many globs with `?` share all their literals.
    TooManyPerLiteral {
        /// How many.
        pieces: usize,
        /// The most.
        limit: usize,
    },
    /// The globs have too many letters.
    TooManyStates {
        /// How many.
        states: usize,
        /// The most.
        limit: usize,
    },
    /// One beginning of a value would begin too many globs with wildcards inside.
    TooManyActive {
        /// How many.
        nodes: usize,
        /// The most.
        limit: usize,
    },
    /// The section would be too large.
    TooLarge {
        /// How large.
        bytes: usize,
        /// The most.
        limit: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Id { id } => write!(f, "pattern number {id} is not between 1 and {MAX_ID}"),
            BuildError::GlobTooLong { bytes, limit, .. } => {
                write!(f, "the pattern has {bytes} bytes, the most is {limit}")
            }
            BuildError::SpecialByte { .. } => {
                f.write_str("the pattern holds one of the control characters 0x01 and 0x02")
            }
            BuildError::Marks { .. } => {
                f.write_str("the pattern has a `?` between two `**`, or more than 255 of them in one place")
            }
            BuildError::TooManyPerLiteral { pieces, limit } => {
                write!(f, "{pieces} patterns with `?` share their letters, the most is {limit}")
            }
            BuildError::TooManyStates { states, limit } => {
                write!(f, "the patterns need {states} states, the most is {limit}")
            }
            BuildError::TooManyActive { nodes, limit } => {
                write!(f, "one value could begin {nodes} of the patterns at one time, the most is {limit}")
            }
            BuildError::TooLarge { bytes, limit } => {
                write!(f, "the patterns need {bytes} bytes, the most is {limit}")
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Lists of ids, shared when equal.
#[derive(Debug, Default)]
struct IdLists {
    /// First and count in `flat`, next list; the first record is none.
    records: Vec<[u32; 3]>,
    flat: Vec<u32>,
}

impl IdLists {
    fn add(&mut self, ids: &[u32]) -> u32 {
        if self.records.is_empty() {
            self.records.push([0; 3]);
        }
        let (first, count) = (len32(&self.flat), len32(ids));
        self.flat.extend_from_slice(ids);
        self.records.push([first, count, 0]);
        len32(&self.records) - 1
    }
}

fn len32<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

/// Builds the section of all globs.
///
/// With `fold_case` ASCII letters match in either case; for other letters the caller lower-cases globs and values.
///
/// # Errors
/// [`BuildError`] when a glob or all together are over a limit.
pub fn build(globs: &[GlobInput], syntax: Syntax, fold_case: bool) -> Result<Vec<u8>, BuildError> {
    let sequences = sequences(globs, syntax, fold_case)?;
    let mut trie = Trie::new(classes(&sequences, syntax, fold_case));
    let mut lists = IdLists::default();
    lists.records.push([0; 3]);
    let mut pieces = Pieces::new();
    let mut every: &[u32] = &[];
    let mut decided: BTreeMap<u32, &[u32]> = BTreeMap::new();
    for (sequence, ids) in &sequences {
        match sequence.as_slice() {
            [] => every = ids,
            [(piece, _)] if let Some(literal) = symbols(piece) => {
                decided.insert(trie.insert(&literal), ids);
            }
            _ => pieces.add(sequence, ids, &mut trie, &mut lists)?,
        }
        if trie.states.len() > MOST_STATES {
            return Err(BuildError::TooManyStates { states: trie.states.len(), limit: MOST_STATES });
        }
    }
    for (&state, ids) in &decided {
        let list = lists.add(ids);
        if let Some(state) = trie.states.get_mut(state as usize) {
            state.ids = list;
            state.best = ids.last().copied().unwrap_or(0);
        }
    }
    let every_ids = if every.is_empty() { 0 } else { lists.add(every) };
    let literals = pieces.literals(&mut trie);
    trie.link(syntax == Syntax::Path);
    let nodes = pieces.most_at_start(&trie);
    if nodes > MOST_ACTIVE {
        return Err(BuildError::TooManyActive { nodes, limit: MOST_ACTIVE });
    }
    let every = (every.last().copied().unwrap_or(0), every_ids);
    let greatest = sequences.values().filter_map(|ids| ids.last()).max().copied().unwrap_or(0);
    write::section(&trie, &pieces, literals, lists, every, greatest, (syntax, fold_case))
}

/// Every sequence with its ids, ascending.
fn sequences(
    globs: &[GlobInput],
    syntax: Syntax,
    fold: bool,
) -> Result<BTreeMap<Sequence, Vec<u32>>, BuildError> {
    let mut out: BTreeMap<Sequence, Vec<u32>> = BTreeMap::new();
    for &GlobInput { text, id } in globs {
        if id == 0 || id > MAX_ID {
            return Err(BuildError::Id { id });
        }
        if text.len() > MOST_GLOB_BYTES {
            return Err(BuildError::GlobTooLong { id, bytes: text.len(), limit: MOST_GLOB_BYTES });
        }
        for sequence in lower(text, syntax, fold, id)? {
            out.entry(sequence).or_default().push(id);
        }
    }
    for ids in out.values_mut() {
        ids.sort_unstable();
        ids.dedup();
    }
    Ok(out)
}

/// The symbols of a piece without `?`.
fn symbols(piece: &[Elem]) -> Option<Vec<u16>> {
    let symbol = |e: &Elem| match e {
        Elem::Symbol(s) => Some(*s),
        Elem::One => None,
    };
    piece.iter().map(symbol).collect()
}

/// A class for each symbol that occurs, 0 for the others. Text has no more than 243 different bytes.
fn classes(sequences: &BTreeMap<Sequence, Vec<u32>>, syntax: Syntax, fold: bool) -> Vec<u8> {
    let mut used = vec![false; SYMBOLS];
    let mut mark = |symbol: u16| {
        if let Some(slot) = used.get_mut(usize::from(symbol)) {
            *slot = true;
        }
    };
    mark(START);
    mark(END);
    if syntax == Syntax::Path {
        mark(u16::from(b'/'));
    }
    for (piece, _) in sequences.keys().flatten() {
        for elem in piece {
            if let Elem::Symbol(symbol) = elem {
                mark(*symbol);
            }
        }
    }
    let mut next = 0u8;
    let mut out: Vec<u8> = used
        .iter()
        .map(|&used| {
            next += u8::from(used);
            if used { next } else { 0 }
        })
        .collect();
    if fold {
        for letter in b'A'..=b'Z' {
            let lower = out.get(usize::from(letter.to_ascii_lowercase())).copied().unwrap_or(0);
            if let Some(slot) = out.get_mut(usize::from(letter)) {
                *slot = lower;
            }
        }
    }
    out
}
