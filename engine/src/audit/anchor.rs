//! Anchors: number and hash of a line told to the system's journal, which the user of the log cannot rewrite.
//!
//! INVARIANT: nothing is waited for and nothing fails by it; a line that should have been anchored says whether somebody
//! listened.

use super::chain::{Hash, Link, hex, unhex};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};
use std::os::unix::net::UnixDatagram;
use std::path::Path;

/// A line with such a number is anchored.
pub const EVERY: u64 = 64;
/// The first line in each such span is anchored too.
const SPAN_NS: i64 = 60 * 1_000_000_000;
/// By what the entries in the journal are found.
pub const NAME: &str = "policy";

const JOURNAL: &str = "/run/systemd/journal/socket";
const SYSLOG: &str = "/dev/log";
/// One kind of entry, one number, as the journal has it.
const MESSAGE_ID: &str = "6e0c3f4d1f0b4d0ba7a1b1f3b9d2c867";
/// How every entry begins.
const BEGIN: &str = "audit anchor: sequence ";
/// Longest entry that is read, bytes; ours have a path and less than a thousand more.
const MAX_ENTRY: u64 = 64 * 1024;
/// Most anchors that are kept.
const MAX_ANCHORS: usize = 1_000_000;

/// Whether a line is anchored: its number, when the line before was written, and now.
///
/// No clock runs between two calls, so the minute of the last change of the file stands for the last anchor: the first line
/// of each minute is anchored, and so no line comes more than a minute behind an anchor without being one.
pub fn due(seq: u64, before_ns: i64, now_ns: i64) -> bool {
    seq.is_multiple_of(EVERY) || seq == 1 || before_ns.div_euclid(SPAN_NS) != now_ns.div_euclid(SPAN_NS)
}

/// Somebody who listens.
#[derive(Debug)]
pub struct Listener {
    socket: UnixDatagram,
    journal: bool,
}

impl Listener {
    /// The journal, else the system's log, when there is one.
    ///
    /// SECURITY: the places are constants; who could name another could listen in the place of the journal.
    pub fn find() -> Option<Listener> {
        Listener::at(JOURNAL, SYSLOG)
    }

    pub(crate) fn at(journal: impl AsRef<Path>, syslog: impl AsRef<Path>) -> Option<Listener> {
        let socket = UnixDatagram::unbound().ok()?;
        socket.set_nonblocking(true).ok()?;
        let is_journal = socket.connect(journal).is_ok();
        (is_journal || socket.connect(syslog).is_ok()).then_some(Listener { socket, journal: is_journal })
    }

    /// Its name in a line.
    pub fn name(&self) -> &'static str {
        if self.journal { "journal" } else { "syslog" }
    }

    /// Tells it a line of the log. A full queue loses this one; the next follows.
    pub fn tell(&self, link: Link, log: &Path) {
        let text = text(link, log);
        let datagram = match self.journal {
            true => format!(
                "MESSAGE={text}\nPRIORITY=6\nSYSLOG_IDENTIFIER={NAME}\nMESSAGE_ID={MESSAGE_ID}\n\
                 POLICY_AUDIT_SEQ={}\nPOLICY_AUDIT_HASH={}\n",
                link.seq,
                hex(&link.hash)
            ),
            false => format!("<14>{NAME}: {text}"),
        };
        let _ = self.socket.send(datagram.as_bytes());
    }
}

fn text(link: Link, log: &Path) -> String {
    format!("{BEGIN}{}, hash {}, log {}", link.seq, hex(&link.hash), named(log))
}

/// A path on one line.
fn named(log: &Path) -> String {
    log.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Anchors of one log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Anchors {
    all: BTreeMap<u64, Vec<Hash>>,
    /// Another log that was anchored, should there be none of this one.
    pub elsewhere: Option<String>,
}

impl Anchors {
    /// Reads entries as `journalctl -o json` writes them, one a line, or lines of a syslog file. Of the journal only those of
    /// this log that `user` or root wrote count: anybody may write to it, but it says who did.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(mut entries: impl BufRead, log: &Path, user: u32) -> io::Result<Anchors> {
        let log = named(log);
        let mut out = Anchors::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            // The rest of a longer one is the next, which is none of ours.
            if entries.by_ref().take(MAX_ENTRY).read_until(b'\n', &mut line)? == 0 {
                return Ok(out);
            }
            out.entry(&String::from_utf8_lossy(&line), &log, user);
        }
    }

    fn entry(&mut self, entry: &str, log: &str, user: u32) {
        // ORDER: the cheap look first; most entries of a journal are others'.
        let Some(at) = entry.find(BEGIN) else { return };
        let plain = entry.get(at..).unwrap_or_default().trim_end();
        let (told, writer) = match serde_json::from_str::<serde_json::Value>(entry) {
            Ok(entry) => {
                let field =
                    |name: &str| entry.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
                let writer = field("_UID").and_then(|number| number.parse::<u32>().ok());
                (field("MESSAGE").and_then(|message| read(&message)), writer)
            }
            Err(_) => (read(plain), None),
        };
        match told {
            _ if writer.is_some_and(|writer| writer != user && writer != 0) => {}
            Some((link, path)) if path == log => self.add(link),
            Some((_, path)) => self.elsewhere = Some(path),
            None => {}
        }
    }

    /// Adds one.
    pub fn add(&mut self, link: Link) {
        let hashes = self.all.entry(link.seq).or_default();
        if !hashes.contains(&link.hash) && hashes.len() < 8 {
            hashes.push(link.hash);
        }
        if self.all.len() > MAX_ANCHORS {
            self.all.pop_first();
        }
    }

    /// The hashes with which a line is anchored.
    pub fn of(&self, seq: u64) -> &[Hash] {
        self.all.get(&seq).map_or(&[], Vec::as_slice)
    }

    /// The highest number.
    pub fn last(&self) -> Option<u64> {
        self.all.last_key_value().map(|(seq, _)| *seq)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The line and the log that an entry tells of.
fn read(message: &str) -> Option<(Link, String)> {
    let rest = message.strip_prefix(BEGIN)?;
    let (seq, rest) = rest.split_once(", hash ")?;
    let (hash, path) = rest.split_once(", log ")?;
    Some((Link { seq: seq.parse().ok()?, hash: unhex(hash.as_bytes())? }, path.to_owned()))
}

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;
