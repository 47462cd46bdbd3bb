//! Lines of a stream: one message each.
//!
//! INVARIANT: no more than [`MOST`] bytes of a line are held, however long it is; what is over it is skipped to its end and
//! told, with its two ends, and the next line is read as if nothing had been.

use std::io::{self, BufRead, BufReader, Read};

/// Longest message, bytes.
pub(crate) const MOST: usize = 8 * 1024 * 1024;
/// Bytes that are kept of each end of a line that is too long: its id may stand there.
const ENDS: usize = 512;

/// What a stream gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A line without its end.
    Line(Vec<u8>),
    /// One that is longer than a message may be: its first and its last bytes.
    TooLong(Vec<u8>, Vec<u8>),
    /// No more.
    End,
}

/// Reads lines.
pub(crate) struct Frames<R> {
    stream: BufReader<R>,
}

impl<R: Read> Frames<R> {
    pub(crate) fn new(stream: R) -> Frames<R> {
        Frames { stream: BufReader::with_capacity(64 * 1024, stream) }
    }

    /// The next line that is not empty. A last line without an end counts.
    pub(crate) fn next(&mut self) -> io::Result<Frame> {
        loop {
            let frame = self.line()?;
            if !matches!(&frame, Frame::Line(line) if line.iter().all(u8::is_ascii_whitespace)) {
                return Ok(frame);
            }
        }
    }

    fn line(&mut self) -> io::Result<Frame> {
        let mut line = Vec::new();
        let mut last: Option<Vec<u8>> = None;
        let mut any = false;
        loop {
            let bytes = match self.stream.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let own = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            any |= !bytes.is_empty();
            match &mut last {
                None if line.len() + own.len() <= MOST => line.extend_from_slice(own),
                None => {
                    let mut tail = line.split_off(line.len().saturating_sub(ENDS));
                    keep(&mut tail, own);
                    line.truncate(ENDS);
                    last = Some(tail);
                }
                Some(tail) => keep(tail, own),
            }
            let ended = bytes.is_empty() || end.is_some();
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.stream.consume(used);
            if !ended {
                continue;
            }
            return Ok(match last {
                Some(tail) => Frame::TooLong(line, tail),
                None if !any => Frame::End,
                None => {
                    if line.last() == Some(&b'\r') {
                        line.pop();
                    }
                    Frame::Line(line)
                }
            });
        }
    }
}

/// The last bytes of what came so far.
fn keep(tail: &mut Vec<u8>, own: &[u8]) {
    tail.extend_from_slice(own.get(own.len().saturating_sub(ENDS)..).unwrap_or_default());
    let over = tail.len().saturating_sub(ENDS);
    tail.drain(..over);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Vec<Frame> {
        let mut frames = Frames::new(bytes);
        let mut out = Vec::new();
        loop {
            match frames.next().unwrap() {
                Frame::End => return out,
                frame => out.push(frame),
            }
        }
    }

    #[test]
    fn lines_end_at_line_feeds_alone() {
        let line = |text: &str| Frame::Line(text.as_bytes().to_vec());
        assert_eq!(frames(b"a\r\n\n  \nb\rc\nd"), [line("a"), line("b\rc"), line("d")]);
        assert_eq!(frames(b""), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_told() {
        let mut bytes = b"{\"id\":7,".to_vec();
        bytes.extend(vec![b'x'; MOST]);
        bytes.extend(b",\"end\":1}\nnext\n");
        let frames = frames(&bytes);
        let [Frame::TooLong(first, last), Frame::Line(next)] = frames.as_slice() else {
            panic!("{frames:?}")
        };
        assert!(first.starts_with(b"{\"id\":7,") && first.len() <= ENDS);
        assert!(last.ends_with(b",\"end\":1}") && last.len() <= ENDS);
        assert_eq!(next, b"next");
        let exact = [vec![b'y'; MOST], b"\n".to_vec()].concat();
        assert!(matches!(self::frames(&exact).as_slice(), [Frame::Line(line)] if line.len() == MOST));
    }
}
