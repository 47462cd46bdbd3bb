//! Lines and columns of positions, counted only as far as they are asked for.
//!
//! INVARIANT: each byte is counted once for the checkpoint and once more for a hit at most a bounded way behind it;
//! both lines and columns begin at 1, a column counts bytes.

/// Newlines up to a checkpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines {
    /// Offset of the checkpoint in the whole text.
    at: u64,
    /// Line of the checkpoint.
    line: u64,
    /// Offset of the first byte of that line.
    line_start: u64,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self { at: 0, line: 1, line_start: 0 }
    }

    /// Moves the checkpoint to `to`, if that is further on. `text` begins at `base` and holds all bytes between.
    pub(crate) fn advance(&mut self, text: &[u8], base: u64, to: u64) {
        if to <= self.at {
            return;
        }
        let (from, end) = (self.at.saturating_sub(base) as usize, to.saturating_sub(base) as usize);
        if let Some(part) = text.get(from..end) {
            let lines = newlines(part);
            if lines > 0 {
                self.line += lines;
                let last = part.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
                self.line_start = self.at + last as u64 + 1;
            }
            self.at = to;
        }
    }

    /// Line and column of a position at or behind the checkpoint.
    pub(crate) fn place(mut self, text: &[u8], base: u64, position: u64) -> (u64, u64) {
        self.advance(text, base, position);
        (self.line, position.saturating_sub(self.line_start) + 1)
    }
}

/// Counts newlines, in sums of bytes that the compiler turns into vectors.
fn newlines(text: &[u8]) -> u64 {
    const LANES: usize = 64;
    let mut count = 0;
    for block in text.chunks(LANES * 255) {
        let (rows, rest) = block.as_chunks::<LANES>();
        let mut lanes = [0u8; LANES];
        for row in rows {
            for (lane, byte) in lanes.iter_mut().zip(row) {
                *lane += u8::from(*byte == b'\n');
            }
        }
        let rest = rest.iter().filter(|byte| **byte == b'\n').count();
        count += lanes.iter().map(|lane| u64::from(*lane)).sum::<u64>() + rest as u64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{Lines, newlines};

    #[test]
    fn counts_like_the_plain_way() {
        let text: Vec<u8> = (0..20_000u32)
            .map(|i| if i.wrapping_mul(2_654_435_761) >> 29 == 0 { b'\n' } else { b'x' })
            .collect();
        for end in [0, 1, 63, 64, 65, 9000, 16_319, 16_320, 16_321, 20_000] {
            assert_eq!(
                newlines(&text[..end]),
                text[..end].iter().filter(|byte| **byte == b'\n').count() as u64
            );
        }
        assert_eq!(newlines(&[b'\n'; 50_000]), 50_000);
    }

    #[test]
    fn places() {
        let text = b"ab\ncd\n\nx";
        let mut lines = Lines::new();
        assert_eq!(lines.place(text, 0, 1), (1, 2));
        lines.advance(text, 0, 3);
        assert_eq!(lines.place(text, 0, 3), (2, 1));
        assert_eq!(lines.place(&text[3..], 3, 7), (4, 1));
        lines.advance(&text[2..], 2, 6);
        assert_eq!(lines.place(&text[6..], 6, 6), (3, 1));
    }
}
