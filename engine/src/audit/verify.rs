//! Whether the chain of a log holds.
//!
//! INVARIANT: every byte of every line is looked at once; what does not hold is told with its file and line, and what
//! nothing proves is told too. Memory is bounded by the longest line.

use super::anchor::Anchors;
use super::chain::{Hash, Link, Seal, hex, read_end, unhex};
use crate::append::settled_size;
use crate::open::{self, Care, FileError};
use sha2::{Digest as _, Sha256};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line that is read.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// Most faults that are kept; all are counted.
const MAX_FAULTS: usize = 50;
/// A checkpoint covers one of so many lines before it.
const MAX_RECENT: usize = 1024;

/// Bytes at the end of a log in which its last checkpoint is looked for.
const MAX_SINCE: u64 = 4 * 1024 * 1024;
/// How the line of a checkpoint begins.
const CHECKPOINT: &[u8] = b"{\"checkpoint\":";

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong, a clause.
    pub what: String,
}

/// A signed checkpoint as it stands in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The public key.
    pub key: [u8; 32],
    /// The signature.
    pub signature: [u8; 64],
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Lines.
    pub lines: u64,
    /// Lines at the beginning that no seal of their own holds.
    pub old: u64,
    /// Whether the first seal covers them.
    pub old_covered: bool,
    /// The first sealed line.
    pub first: Option<Link>,
    /// The last sealed line.
    pub last: Option<Link>,
    /// The first faults.
    pub faults: Vec<Fault>,
    /// All faults.
    pub count: u64,
    /// The highest line that an anchor outside the file confirms.
    pub anchored: Option<u64>,
    /// The last line that says it was anchored, and by whom.
    pub said: Option<(u64, String)>,
    /// The highest line that a good signature covers.
    pub signed: Option<u64>,
}

/// What a log is held against.
pub struct Against<'a> {
    /// Anchors from outside the file.
    pub anchors: &'a Anchors,
    /// Whether the first line may follow one that is not here.
    pub alone: bool,
    /// Whether a checkpoint's signature of this text is good.
    pub signature: &'a dyn Fn(&Checkpoint, &[u8]) -> bool,
}

/// A checkpoint for the log: it signs the line `last`.
pub fn checkpoint_line(time: &str, last: Link, by: &Checkpoint) -> Vec<u8> {
    let (key, signature) = (hex(&by.key), hex(&by.signature));
    format!(
        "{{\"checkpoint\":{{\"seq\":{},\"key\":\"{key}\",\"signature\":\"{signature}\"}},\"time\":\"{time}\",\"event\":\"checkpoint\"}}\n",
        last.seq
    )
    .into_bytes()
}

/// The text that a checkpoint of this line signs.
pub fn signed_text(last: Link) -> Vec<u8> {
    format!("policy audit checkpoint 1\nsequence {}\nhash {}\n", last.seq, hex(&last.hash)).into_bytes()
}

/// Verifies these files, oldest first, as one chain.
///
/// # Errors
/// When a file cannot be read.
pub fn verify(files: &[PathBuf], against: &Against<'_>) -> Result<Report, FileError> {
    let mut walk = Walk::new(against);
    for (at, path) in files.iter().enumerate() {
        walk.file(path, at == 0)?;
    }
    walk.end(files.last().map_or(Path::new(""), PathBuf::as_path));
    Ok(walk.report)
}

/// Verifies what follows the line that the newest checkpoint of `own` near the end of a log covers, that line included; none
/// when there is no such checkpoint near. The chain before it was looked at when that was signed.
///
/// # Errors
/// When the file cannot be read.
pub fn verify_since(
    path: &Path,
    own: &[u8; 32],
    signature: &dyn Fn(&Checkpoint, &[u8]) -> bool,
) -> Result<Option<Report>, FileError> {
    let opened = open::open(path, Care::Named, u64::MAX)?;
    let size = settled_size(path, &opened.file)?;
    let end = read_end(&opened.file, size, MAX_SINCE).unwrap_or_default();
    let Some(at) = covered_line(&end, own, signature) else { return Ok(None) };
    let anchors = Anchors::default();
    let against = Against { anchors: &anchors, alone: true, signature };
    let mut walk = Walk::new(&against);
    walk.lines(end.get(at..).unwrap_or_default(), path, true)?;
    walk.end(path);
    Ok(Some(walk.report))
}

/// Where the line begins that the newest good checkpoint covers.
fn covered_line(
    bytes: &[u8],
    own: &[u8; 32],
    signature: &dyn Fn(&Checkpoint, &[u8]) -> bool,
) -> Option<usize> {
    let mut rest = bytes;
    let mut wanted: Option<(u64, Checkpoint)> = None;
    // From the end back. What the beginning of the bytes cuts in two is no sealed line that holds.
    while let Some(text) = rest.strip_suffix(b"\n") {
        let start = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = text.get(start..).unwrap_or_default();
        rest = bytes.get(..start).unwrap_or_default();
        let Some(seal) = Seal::of(line) else { continue };
        match &wanted {
            None if line.starts_with(CHECKPOINT) && seal.holds(line) => {
                let told = member(line, "checkpoint").unwrap_or_default();
                let by = signed_by(&told).filter(|by| by.key == *own);
                wanted = told.get("seq").and_then(serde_json::Value::as_u64).zip(by);
            }
            Some((seq, by)) if *seq == seal.link.seq => {
                let good = seal.holds(line) && signature(by, &signed_text(seal.link));
                return good.then_some(start);
            }
            _ => {}
        }
    }
    None
}

struct Walk<'a> {
    against: &'a Against<'a>,
    report: Report,
    /// The line before did not hold, so that nothing is known of what the next follows.
    doubt: bool,
    /// The last good lines, which a checkpoint may cover.
    recent: VecDeque<Link>,
    /// All that stands before the first seal.
    before: Sha256,
    bytes: u64,
}

impl<'a> Walk<'a> {
    fn new(against: &'a Against<'a>) -> Walk<'a> {
        Walk {
            against,
            report: Report::default(),
            doubt: false,
            recent: VecDeque::new(),
            before: Sha256::new(),
            bytes: 0,
        }
    }

    fn file(&mut self, path: &Path, first: bool) -> Result<(), FileError> {
        let opened = open::open(path, Care::Named, u64::MAX)?;
        let size = settled_size(path, &opened.file)?;
        self.lines(BufReader::with_capacity(1 << 18, opened.file.take(size)), path, first)
    }

    fn lines(&mut self, mut reader: impl BufRead, path: &Path, first: bool) -> Result<(), FileError> {
        let failed = |error: std::io::Error| FileError::io(path, &error);
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            let read = (&mut reader).take(MAX_LINE as u64).read_until(b'\n', &mut line).map_err(failed)?;
            if read == 0 {
                return Ok(());
            }
            number += 1;
            self.report.lines += 1;
            let place = (path, number);
            match line.strip_suffix(b"\n") {
                Some(text) => self.line(text, place, first),
                None => {
                    let what = if read == MAX_LINE { "is too long to be one of ours" } else { "is cut off" };
                    self.fault(place, what);
                    self.doubt = true;
                    if read == MAX_LINE {
                        skip(&mut reader).map_err(failed)?;
                    }
                }
            }
        }
    }

    fn line(&mut self, text: &[u8], place: (&Path, u64), first_file: bool) {
        let Some(seal) = Seal::of(text) else {
            if self.report.last.is_none() && self.report.count == 0 && first_file {
                // The last newline may be that of the one who sealed what follows.
                if self.report.old > 0 {
                    self.before.update(b"\n");
                }
                self.report.old += 1;
                self.before.update(text);
                self.bytes += text.len() as u64 + 1;
            } else {
                self.fault(place, "has no seal: it was added or changed, or a crash cut it short");
                self.doubt = true;
            }
            return;
        };
        if !seal.holds(text) {
            self.fault(
                place,
                &format!("(sequence {}) was changed: its hash is not that of its bytes", seal.link.seq),
            );
            self.doubt = true;
            return;
        }
        self.order(&seal, text, place);
        self.doubt = false;
        if self.report.first.is_none() {
            self.report.first = Some(seal.link);
        }
        self.anchor(seal.link, text, place);
        self.checkpoint(&seal, text, place);
        // A line that was put elsewhere moves nothing back.
        if self.report.last.is_none_or(|last| seal.link.seq > last.seq) {
            self.report.last = Some(seal.link);
        }
    }

    fn order(&mut self, seal: &Seal, text: &[u8], place: (&Path, u64)) {
        let seq = seal.link.seq;
        let Some(last) = self.report.last else { return self.begin(seal, text, place) };
        let next = last.seq.saturating_add(1);
        if seq > next {
            let what = match next + 1 == seq {
                true => format!("(sequence {seq}) does not follow: the line with sequence {next} is missing"),
                false => {
                    format!("(sequence {seq}) does not follow: sequences {next} to {} are missing", seq - 1)
                }
            };
            // Of one changed line only that is known.
            if !self.doubt || next + 1 != seq {
                self.fault(place, &what);
            }
        } else if seq < next {
            self.fault(
                place,
                &format!(
                    "(sequence {seq}) stands behind sequence {}: moved, repeated or begun anew",
                    last.seq
                ),
            );
        } else if seal.prev != last.hash {
            self.fault(
                place,
                &format!("(sequence {seq}) follows another line than the one with sequence {}", last.seq),
            );
        }
    }

    /// The first sealed line.
    fn begin(&mut self, seal: &Seal, text: &[u8], place: (&Path, u64)) {
        let seq = seal.link.seq;
        if !(self.against.alone || seq == 1 && seal.prev == Link::START.hash) {
            self.fault(place, &format!("(sequence {seq}) is the first: the lines before it are not here"));
        }
        if self.report.old == 0 {
            return;
        }
        let Some(before) = member(text, "before") else {
            return self.fault(place, "is sealed, and knows nothing of the lines before it");
        };
        let length = before.get("bytes").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let mut all = self.before.clone();
        if length == self.bytes {
            all.update(b"\n");
        }
        let hash: Hash = all.finalize().into();
        match before.get("sha256").and_then(serde_json::Value::as_str) {
            // They were too long to be covered.
            None => {}
            Some(told) if told == hex(&hash) => self.report.old_covered = true,
            Some(_) => {
                self.fault(place, "does not fit: the lines before it, which have no seal, were changed")
            }
        }
    }

    fn anchor(&mut self, link: Link, text: &[u8], place: (&Path, u64)) {
        match self.against.anchors.of(link.seq) {
            [] => {}
            hashes if hashes.iter().all(|hash| *hash == link.hash) => self.report.anchored = Some(link.seq),
            _ => self.fault(place, &format!("(sequence {}) is anchored with another hash", link.seq)),
        }
        // ORDER: the cheap look first; this runs on every line.
        let end = text.get(text.len().saturating_sub(300)..).unwrap_or_default();
        if end.windows(10).any(|part| part == b",\"anchor\":")
            && let Some(serde_json::Value::String(by)) = member(text, "anchor")
        {
            self.report.said = Some((link.seq, by));
        }
    }

    fn checkpoint(&mut self, seal: &Seal, text: &[u8], place: (&Path, u64)) {
        if text.starts_with(CHECKPOINT) {
            let told = member(text, "checkpoint").unwrap_or_default();
            let good = self.recent.iter().rev().find(|link| told.get("seq") == Some(&link.seq.into()));
            let good = good.copied().filter(|link| {
                signed_by(&told).is_some_and(|by| (self.against.signature)(&by, &signed_text(*link)))
            });
            let first = self.report.first.map_or(0, |first| first.seq);
            let earlier = told.get("seq").and_then(serde_json::Value::as_u64).is_some_and(|seq| seq < first);
            match good {
                // What it covers is not here, and need not be.
                None if self.against.alone && earlier => {}
                Some(link) => self.report.signed = Some(link.seq),
                None => self.fault(
                    place,
                    &format!("(sequence {}) is a checkpoint whose signature is not good", seal.link.seq),
                ),
            }
        }
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(seal.link);
    }

    fn end(&mut self, path: &Path) {
        let line = self.report.lines;
        match (self.report.last, self.against.anchors.last()) {
            (None, _) => self.fault((path, line), "is the end, and no line is sealed"),
            (Some(last), Some(anchored)) if anchored > last.seq && !self.against.alone => self.fault(
                (path, line),
                &format!(
                    "(sequence {}) is the last: cut off, since sequence {anchored} is anchored",
                    last.seq
                ),
            ),
            _ => {}
        }
    }

    fn fault(&mut self, (file, line): (&Path, u64), what: &str) {
        self.report.count += 1;
        if self.report.faults.len() < MAX_FAULTS {
            self.report.faults.push(Fault { file: file.to_path_buf(), line, what: what.to_owned() });
        }
    }
}

fn signed_by(told: &serde_json::Value) -> Option<Checkpoint> {
    let field =
        |name: &str| told.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().as_bytes();
    Some(Checkpoint { key: unhex(field("key"))?, signature: unhex(field("signature"))? })
}

fn member(text: &[u8], name: &str) -> Option<serde_json::Value> {
    serde_json::from_slice::<serde_json::Value>(text).ok()?.get_mut(name).map(serde_json::Value::take)
}

fn skip(reader: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let chunk = reader.fill_buf()?;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(chunk.len(), |at| at + 1);
        reader.consume(used);
        if end.is_some() || used == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
