//! A text that comes in chunks of any size.
//!
//! INVARIANT: the buffer has a fixed size that depends on the patterns; a window is decided when all bytes that may decide
//! it are there, so that the cuts cannot be seen in what is found. A stream that failed stays failed.

use crate::layout::WINDOW;
use crate::scanner::{Hit, Outcome, Pass, Piece, ScanError, Scanner};
use std::ops::ControlFlow;

/// Scans a text that comes in chunks. The end of the text is scanned by [`Stream::finish`].
#[derive(Debug)]
#[must_use = "the end of the text is scanned by `finish`"]
pub struct Stream<'s, 'a> {
    scanner: &'s Scanner<'a>,
    pass: Pass,
    /// Bytes that are kept, and where they begin.
    kept: Vec<u8>,
    base: u64,
    /// The next window to decide.
    next: u64,
    /// How it ended, if it did.
    ended: Option<Result<Outcome, ScanError>>,
}

/// Least size of the buffer.
const LEAST: usize = 4096;

impl<'s, 'a> Stream<'s, 'a> {
    pub(crate) fn new(scanner: &'s Scanner<'a>) -> Self {
        Self { scanner, pass: Pass::new(), kept: Vec::new(), base: 0, next: 0, ended: None }
    }

    /// Bytes that decide one window.
    fn need(&self) -> usize {
        self.scanner.section.back + self.scanner.section.ahead
    }

    fn capacity(&self) -> usize {
        (4 * self.need()).max(LEAST)
    }

    /// Offset behind the last byte that came.
    fn end(&self) -> u64 {
        self.base + self.kept.len() as u64
    }

    /// Takes the next bytes of the text. Hits may come with a later chunk, or with [`Stream::finish`].
    ///
    /// # Errors
    ///
    /// As [`Scanner::scan`]; all later calls give the same error. Whether the text is complete is said by
    /// [`Stream::finish`] alone.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        mut sink: impl FnMut(&Hit<'_>) -> ControlFlow<()>,
    ) -> Result<Outcome, ScanError> {
        let mut rest = chunk;
        while !rest.is_empty() {
            if let Some(ended) = self.ended {
                return ended;
            }
            if self.kept.capacity() == 0 {
                self.kept.reserve_exact(self.capacity());
            }
            let room = self.capacity() - self.kept.len();
            if rest.len() <= room {
                self.kept.extend_from_slice(rest);
                break;
            }
            self.settle(&mut sink)?;
            if self.ended.is_some() {
                continue;
            }
            if rest.len() > self.capacity() {
                self.large(rest, &mut sink)?;
                rest = &[];
            } else {
                let (taken, behind) = rest.split_at(rest.len().min(self.capacity() - self.kept.len()));
                self.kept.extend_from_slice(taken);
                rest = behind;
            }
        }
        self.ended.unwrap_or(Ok(Outcome::Complete))
    }

    /// Scans what is left.
    ///
    /// # Errors
    ///
    /// As [`Stream::feed`].
    pub fn finish(mut self, mut sink: impl FnMut(&Hit<'_>) -> ControlFlow<()>) -> Result<Outcome, ScanError> {
        if self.ended.is_none() {
            self.decide((self.end() + 1).saturating_sub(WINDOW as u64), &mut sink)?;
        }
        self.ended.unwrap_or(Ok(self.pass.outcome()))
    }

    /// Scans the kept windows that begin before `to`.
    fn decide(
        &mut self,
        to: u64,
        sink: &mut impl FnMut(&Hit<'_>) -> ControlFlow<()>,
    ) -> Result<(), ScanError> {
        if to <= self.next {
            return Ok(());
        }
        let piece = Piece { text: &self.kept, base: self.base };
        let windows = (self.next - self.base) as usize..(to - self.base) as usize;
        let result = self.scanner.pass(&mut self.pass, piece, windows.clone(), to, sink);
        self.scanner.count_lines(&mut self.pass, piece, windows.end);
        self.next = to;
        self.note(result)
    }

    fn note(&mut self, result: Result<Outcome, ScanError>) -> Result<(), ScanError> {
        if result != Ok(Outcome::Complete) {
            self.ended = Some(result);
        }
        result.map(|_| ())
    }

    /// Decides what can be decided, and drops what is no longer needed.
    fn settle(&mut self, sink: &mut impl FnMut(&Hit<'_>) -> ControlFlow<()>) -> Result<(), ScanError> {
        self.decide((self.end() + 1).saturating_sub(self.scanner.section.ahead as u64), sink)?;
        let keep_from = self.next.saturating_sub(self.scanner.section.back as u64).max(self.base);
        self.kept.drain(..(keep_from - self.base) as usize);
        self.base = keep_from;
        Ok(())
    }

    /// Scans a chunk in place: the windows at its seam in the buffer, all others where they lie.
    fn large(
        &mut self,
        chunk: &[u8],
        sink: &mut impl FnMut(&Hit<'_>) -> ControlFlow<()>,
    ) -> Result<(), ScanError> {
        let (back, ahead) = (self.scanner.section.back, self.scanner.section.ahead);
        let base = self.end();
        let (seam, _) = chunk.split_at(self.need().min(chunk.len()));
        self.kept.extend_from_slice(seam);
        self.decide(base + back as u64, sink)?;
        if self.ended.is_some() {
            return Ok(());
        }
        let piece = Piece { text: chunk, base };
        let windows = back..(chunk.len() + 1).saturating_sub(ahead).max(back);
        let result =
            self.scanner.pass(&mut self.pass, piece, windows.clone(), base + chunk.len() as u64, sink);
        self.scanner.count_lines(&mut self.pass, piece, windows.end);
        self.next = base + windows.end as u64;
        let (_, kept) = chunk.split_at(windows.end - back);
        self.kept.clear();
        self.kept.extend_from_slice(kept);
        self.base = base + (windows.end - back) as u64;
        self.note(result)
    }
}
