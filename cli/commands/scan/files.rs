//! Which files are looked at, and looking at them with all processors.
//!
//! INVARIANT: the answer does not depend on the number of threads; what is no text is passed over, and what git ignores unless
//! it was named.

use super::{Found, MOST_BYTES, Scanned, Source, Target, baseline, diff};
use crate::output::{Failure, Output, complain};
use policy_engine::open::{self, Care};
use policy_engine::scan::{Opened, Sieve};
use std::io::{IsTerminal, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Bytes at the beginning of a file that tell whether it is text.
const LOOKED_AT: usize = 8192;

/// Every file below the paths, in order.
pub(super) fn targets(paths: &[PathBuf], cwd: &Path) -> Result<Vec<Target>, Failure> {
    let here = [PathBuf::from(".")];
    let mut out = Vec::new();
    for path in if paths.is_empty() { &here[..] } else { paths } {
        let full = cwd.join(path);
        let meta = std::fs::metadata(&full)
            .map_err(|error| Failure::usage(format!("`{}` cannot be read: {error}", path.display())))?;
        // What is neither file nor folder is told when it cannot be read.
        if !meta.is_dir() {
            out.push(target(full, cwd));
            continue;
        }
        // What git keeps is looked at although a later line of `.gitignore` names it.
        out.extend(diff::kept_and_ignored(&full).into_iter().map(|path| target(path, cwd)));
        let walk = ignore::WalkBuilder::new(&full)
            .hidden(false)
            // SECURITY: only what git passes over: a file that this tool alone obeys would hide things where nobody looks.
            .ignore(false)
            .require_git(false)
            .parents(true)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for entry in walk {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    out.push(target(entry.into_path(), cwd));
                }
                Ok(_) => {}
                Err(error) => return Err(Failure::usage(format!("`{}`: {error}", path.display()))),
            }
        }
    }
    out.sort_by(|a, b| a.shown.cmp(&b.shown));
    out.dedup_by(|a, b| a.path == b.path);
    Ok(out)
}

fn target(path: PathBuf, cwd: &Path) -> Target {
    let own: PathBuf = path.components().collect();
    let shown = own.strip_prefix(cwd).unwrap_or(&own).to_string_lossy().into_owned();
    Target { shown, path: own, lines: None, source: Source::Disk }
}

/// Looks at all files; those with nothing to say are left out.
pub(super) fn scan(
    sieve: &Sieve,
    (targets, cwd): (&[Target], &Path),
    progress: &Progress,
) -> Result<Vec<Scanned>, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(targets.len()).clamp(1, 32);
    let next = AtomicUsize::new(0);
    let out: Mutex<Vec<(usize, Scanned)>> = Mutex::new(Vec::new());
    let failed: Mutex<Option<String>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let opened = match sieve.open() {
                    Ok(opened) => opened,
                    Err(error) => {
                        if let Ok(mut failed) = failed.lock() {
                            *failed = Some(error);
                        }
                        return;
                    }
                };
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(target) = targets.get(at) else { break };
                    let scanned = one(&opened, target, cwd);
                    if (!scanned.found.is_empty() || !scanned.problems.is_empty())
                        && let Ok(mut out) = out.lock()
                    {
                        out.push((at, scanned));
                    }
                    progress.step();
                }
            });
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_default() {
        return Err(Failure::policy(error));
    }
    let mut out = out.into_inner().unwrap_or_default();
    out.sort_by_key(|(at, _)| *at);
    Ok(out.into_iter().map(|(_, scanned)| scanned).collect())
}

fn one(opened: &Opened<'_>, target: &Target, cwd: &Path) -> Scanned {
    let problem =
        |why: String| Scanned { shown: target.shown.clone(), problems: vec![why], ..Scanned::default() };
    let read = match &target.source {
        Source::Disk => read(&target.path),
        Source::Blob(id) => diff::blob(id, cwd, MOST_BYTES + 1),
    };
    let text = match read.and_then(text_of) {
        Ok(Some(text)) => text,
        Ok(None) => return Scanned::default(),
        Err(why) => return problem(why),
    };
    let parts = target.lines.as_deref().map(|lines| bytes_of(&text, lines));
    let judged = opened.judge(&target.shown, &text, parts.as_deref());
    // ORDER: in the order of lines, so the text is gone through once.
    let (mut lines, mut line) = (text.split('\n').zip(1_u32..), ("", 0));
    let found = judged.findings.into_iter().map(|finding| {
        while line.1 < finding.line {
            let Some(next) = lines.next() else { break };
            line = next;
        }
        Found { print: baseline::print(&finding.rule, &target.shown, line.0), finding }
    });
    Scanned { shown: target.shown.clone(), found: found.collect(), problems: judged.problems }
}

/// The content of a file, at most one byte more than is looked at. Opening never waits.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut opened = open::open(path, Care::Named, u64::MAX).map_err(|error| format!("it {}", error.why))?;
    let mut bytes = Vec::new();
    let read = opened.file.by_ref().take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|error| format!("it cannot be read: {error}"))
}

/// The text in the bytes of a file; none when it is no text.
fn text_of(bytes: Vec<u8>) -> Result<Option<String>, String> {
    let wide = wide(&bytes);
    if wide.is_none() && bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0) {
        return Ok(None);
    }
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("it is larger than {} MB", MOST_BYTES >> 20));
    }
    Ok(Some(match (wide, String::from_utf8(bytes)) {
        (Some(text), _) | (None, Ok(text)) => text,
        (None, Err(error)) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }))
}

/// UTF-16, which programs of Windows write and which is half NULs.
fn wide(bytes: &[u8]) -> Option<String> {
    let (little, rest) = match bytes {
        [0xFF, 0xFE, rest @ ..] => (true, rest),
        [0xFE, 0xFF, rest @ ..] => (false, rest),
        _ => return None,
    };
    let units = rest.chunks_exact(2).map(|pair| {
        let pair = [pair.first().copied().unwrap_or_default(), pair.last().copied().unwrap_or_default()];
        if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
    });
    Some(char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Lines as places in the text.
fn bytes_of(text: &str, lines: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    starts.extend(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1));
    let start = |line: usize| starts.get(line.saturating_sub(1)).copied().unwrap_or(text.len());
    lines.iter().map(|range| start(range.start)..start(range.end)).filter(|range| !range.is_empty()).collect()
}

/// How far it is, for a person at a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    all: usize,
    done: AtomicUsize,
    shown: Mutex<Instant>,
    visible: bool,
}

impl Progress {
    /// None done.
    pub(super) fn new(all: usize, output: Output) -> Progress {
        let human = output.format == crate::args::Format::Human;
        let visible = human && !output.quiet && std::io::stderr().is_terminal();
        Progress { all, done: AtomicUsize::new(0), shown: Mutex::new(Instant::now()), visible }
    }

    fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.visible {
            return;
        }
        if let Ok(mut shown) = self.shown.try_lock()
            && shown.elapsed() >= Duration::from_millis(100)
        {
            *shown = Instant::now();
            let filled = done * 30 / self.all.max(1);
            complain(&format!("\r[{:-<30}] {done}/{} files", "#".repeat(filled), self.all));
        }
    }

    /// Takes the bar away.
    pub(super) fn end(&self) {
        if self.visible {
            complain("\r\u{1b}[2K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_places() {
        let text = "a\nbb\nccc";
        for (lines, bytes) in [(2..3, 2..5), (3..4, 5..8), (1..4, 0..8)] {
            assert_eq!(bytes_of(text, std::slice::from_ref(&lines)), std::slice::from_ref(&bytes));
        }
        assert!(bytes_of(text, std::slice::from_ref(&(9..10))).is_empty());
    }
}
