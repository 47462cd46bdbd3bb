//! The scanner: from candidates to hits.
//!
//! INVARIANT: hits of one case are found from left to right and do not overlap; what is found and what it
//! costs depends on the text alone. No more than [`STEPS_A_BYTE`] steps are done for each byte of text. A match that would
//! be longer than its limit is counted, never passed over.

use crate::filter::{Batch, Path, fill, window};
use crate::layout::{MAX_GROUPS_OF_A_HASH, WINDOW};
use crate::lines::Lines;
use crate::section::{Section, SectionError, Sums};
use crate::stream::Stream;
use crate::verify::{Automata, Found, Verifier, literal_at};
use std::ops::{ControlFlow, Range};

/// Bytes that may be looked at behind the filter for each byte of text.
pub(crate) const STEPS_A_BYTE: u64 = 256;
/// Steps that any text may take.
pub(crate) const STEPS_FREE: u64 = 1 << 20;
/// Steps of a window's group beside the bytes it looks at.
const STEPS_A_CASE: u64 = 8;

/// A place where a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit<'t> {
    /// What the builder was told to call the pattern.
    pub id: u32,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset behind the last byte.
    pub end: u64,
    /// Line of the first byte, counted from 1.
    pub line: u64,
    /// Column of the first byte, in bytes, counted from 1.
    pub column: u64,
    /// What matched.
    pub text: &'t [u8],
}

/// Whether a scan went over the whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// All of the text was scanned.
    Complete,
    /// All of the text was scanned, but at some places a pattern that is open goes on further than the limit that was given
    /// at build time: whether it matches there is not known. Whoever has to be sure treats the text as *not scanned*.
    Incomplete {
        /// How many literals of such patterns there are.
        places: u64,
        /// Where the first of them is.
        first: u64,
    },
    /// The caller stopped it at a hit.
    Stopped,
}

/// Why a text was not scanned. Hits reported before stand; that there are no more is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanError {
    /// The text needs more work than a text of its size may take; it is made to do so, or the patterns are too loose.
    Budget {
        /// Where the scan gave up.
        offset: u64,
    },
    /// The section is damaged.
    Damaged(SectionError),
}

impl std::fmt::Display for ScanError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Budget { offset } => {
                write!(out, "not scanned: over {STEPS_A_BYTE} steps for each byte of text at offset {offset}")
            }
            Self::Damaged(error) => write!(out, "not scanned: {error}"),
        }
    }
}

impl std::error::Error for ScanError {}

/// Patterns that are ready to be looked for, in the bytes of a section.
#[derive(Debug)]
pub struct Scanner<'a> {
    pub(crate) section: Section<'a>,
    automata: Automata<'a>,
    path: Path,
}

/// What one pass over a text remembers.
#[derive(Debug)]
pub(crate) struct Pass {
    /// Steps taken.
    steps: u64,
    /// Where the last hit of each case ends; empty before the first hit.
    ends: Vec<u64>,
    lines: Lines,
    /// How often a match would have to be longer than its limit, and where the first literal of those stands.
    places: u64,
    first: u64,
}

impl Pass {
    pub(crate) fn new() -> Self {
        Self { steps: 0, ends: Vec::new(), lines: Lines::new(), places: 0, first: 0 }
    }

    /// What came of a whole text.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.places {
            0 => Outcome::Complete,
            places => Outcome::Incomplete { places, first: self.first },
        }
    }

    /// Steps taken so far.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }
}

/// A piece of the text: its bytes and where they begin in the whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) base: u64,
}

impl<'a> Scanner<'a> {
    /// Opens a section in place.
    ///
    /// # Errors
    ///
    /// When the bytes are no section, are of another version, or are damaged. Never panics.
    pub fn new(section: &'a [u8]) -> Result<Self, SectionError> {
        let section = Section::open(section)?;
        Ok(Self { section, automata: Automata::new(section.automata()), path: Path::Auto })
    }

    /// Opens a section in place that is a part of something with sums: `sums` tells of each part when it is first looked at,
    /// or none if all were looked at already.
    ///
    /// # Errors
    ///
    /// As [`Scanner::new`], but for the sum. Never panics, whatever the bytes.
    pub fn in_place(section: &'a [u8], sums: Option<&'a dyn Sums>) -> Result<Self, SectionError> {
        let section = Section::open_summed(section, sums)?;
        Ok(Self { section, automata: Automata::new(section.automata()), path: Path::Auto })
    }

    /// Chooses the way of the filter; what is found does not depend on it.
    #[must_use]
    pub fn with_path(mut self, path: Path) -> Self {
        self.path = path;
        self
    }

    /// Calls `sink` with every hit in a text that lies in memory, until it breaks.
    ///
    /// # Errors
    ///
    /// When the text takes too many steps or the section turns out to be damaged: the text is not scanned.
    pub fn scan<'t>(
        &self,
        text: &'t [u8],
        mut sink: impl FnMut(&Hit<'t>) -> ControlFlow<()>,
    ) -> Result<Outcome, ScanError> {
        let windows = 0..(text.len() + 1).saturating_sub(WINDOW);
        let mut pass = Pass::new();
        match self.pass(&mut pass, Piece { text, base: 0 }, windows, text.len() as u64, &mut sink)? {
            Outcome::Complete => Ok(pass.outcome()),
            other => Ok(other),
        }
    }

    /// Begins to scan a text that comes in chunks.
    pub fn stream(&self) -> Stream<'_, 'a> {
        Stream::new(self)
    }

    /// Scans the windows of a piece. The piece holds all bytes that may decide them; `known` bytes of text exist so far.
    pub(crate) fn pass<'t>(
        &self,
        pass: &mut Pass,
        piece: Piece<'t>,
        windows: Range<usize>,
        known: u64,
        sink: &mut impl FnMut(&Hit<'t>) -> ControlFlow<()>,
    ) -> Result<Outcome, ScanError> {
        let level = self.path.level(known);
        let mut batch = Batch::new();
        let mut from = windows.start;
        while from < windows.end {
            from = fill(level, &self.section, piece.text, from, windows.end, &mut batch);
            for at in batch.windows() {
                if self.candidate(pass, piece, at, sink)?.is_break() {
                    return Ok(Outcome::Stopped);
                }
            }
        }
        Ok(Outcome::Complete)
    }

    /// Moves the count of lines to where nothing of it can be asked before `window`.
    pub(crate) fn count_lines(&self, pass: &mut Pass, piece: Piece<'_>, window: usize) {
        let to = (piece.base + window as u64).saturating_sub(self.section.back as u64);
        pass.lines.advance(piece.text, piece.base, to);
    }

    /// Looks at a window that passed the filter.
    fn candidate<'t>(
        &self,
        pass: &mut Pass,
        piece: Piece<'t>,
        at: usize,
        sink: &mut impl FnMut(&Hit<'t>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ScanError> {
        let damaged = ScanError::Damaged(SectionError::CASES);
        let window = window(piece.text, at).ok_or(damaged)?;
        // The paths of the filter differ in what else they let through; what is done here, and counted, does not.
        if !self.section.has_threes(window) {
            return Ok(ControlFlow::Continue(()));
        }
        let groups = self.section.groups(window).ok_or(damaged)?;
        if groups.len() > MAX_GROUPS_OF_A_HASH {
            return Err(damaged);
        }
        for group in groups {
            let (group, entries) = self.section.group(group).ok_or(damaged)?;
            if !group.is(window) {
                continue;
            }
            for entry in entries {
                let hit = self.entry(pass, piece, at, entry)?;
                let offset = piece.base + at as u64;
                if pass.steps > STEPS_FREE + STEPS_A_BYTE * (offset + 1) {
                    return Err(ScanError::Budget { offset });
                }
                let Some((id, start, end)) = hit else { continue };
                self.count_lines(pass, piece, at);
                let (line, column) = pass.lines.place(piece.text, piece.base, piece.base + start as u64);
                let hit = Hit {
                    id,
                    start: piece.base + start as u64,
                    end: piece.base + end as u64,
                    line,
                    column,
                    text: piece.text.get(start..end).unwrap_or_default(),
                };
                if sink(&hit).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Looks for one case; gives the pattern's id and where its match starts and ends in the piece.
    fn entry(
        &self,
        pass: &mut Pass,
        piece: Piece<'_>,
        at: usize,
        entry: usize,
    ) -> Result<Option<(u32, usize, usize)>, ScanError> {
        let damaged = ScanError::Damaged(SectionError::CASES);
        let (number, case, offset) = self.section.entry(entry).ok_or(damaged)?;
        let (literal, masks) = self.section.literal(&case).ok_or(damaged)?;
        pass.steps += STEPS_A_CASE;
        let Some(start) = at.checked_add_signed(-offset) else { return Ok(None) };
        // What the last hit of the case covers is taken.
        let free_from = pass.ends.get(number).map_or(0, |end| end.saturating_sub(piece.base) as usize);
        if start < free_from || !literal_at(piece.text, start, literal, masks) {
            return Ok(None);
        }
        pass.steps += literal.len() as u64;
        let mut verifier =
            Verifier { section: &self.section, automata: &self.automata, text: piece.text, steps: 0 };
        let found = verifier.around(&case, start, start + literal.len(), free_from);
        pass.steps += verifier.steps;
        let (start, end) = match found? {
            Found::Match(around) => around,
            Found::None => return Ok(None),
            Found::Cut => {
                if pass.places == 0 {
                    pass.first = piece.base + start as u64;
                }
                pass.places += 1;
                return Ok(None);
            }
        };
        if pass.ends.is_empty() {
            pass.ends.resize(self.section.cases(), 0);
        }
        if let Some(last) = pass.ends.get_mut(number) {
            *last = piece.base + end as u64;
        }
        Ok(Some((case.id, start, end)))
    }
}
