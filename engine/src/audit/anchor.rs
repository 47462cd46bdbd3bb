//! Anchors: number and hash of a line told to the system's journal, which the user of the log cannot rewrite.
//!
//! INVARIANT: nothing is waited for and nothing fails by it; a line that should have been anchored says whether somebody
//! listened.

use super::chain::{Hash, Link, hex, unhex};
use std::collections::BTreeMap;
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
    pub fn find() -> Option<Listener> {
        let socket = UnixDatagram::unbound().ok()?;
        socket.set_nonblocking(true).ok()?;
        let journal = socket.connect(JOURNAL).is_ok();
        (journal || socket.connect(SYSLOG).is_ok()).then_some(Listener { socket, journal })
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
    format!("audit anchor: sequence {}, hash {}, log {}", link.seq, hex(&link.hash), named(log))
}

/// A path on one line.
fn named(log: &Path) -> String {
    log.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Anchors of one log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Anchors {
    all: BTreeMap<u64, Vec<Hash>>,
}

impl Anchors {
    /// Reads entries as `journalctl -o json` writes them, one a line. Only those of this log that `user` or root wrote
    /// count: anybody may write to the journal, and the journal says who did.
    pub fn read(entries: &str, log: &Path, user: u32) -> Anchors {
        let mut out = Anchors::default();
        for entry in entries.lines().filter(|line| line.contains("audit anchor: ")) {
            let Ok(entry) = serde_json::from_str::<serde_json::Value>(entry) else { continue };
            let field = |name: &str| entry.get(name).and_then(serde_json::Value::as_str);
            let writer = field("_UID").and_then(|number| number.parse::<u32>().ok());
            if writer.is_some_and(|writer| writer != user && writer != 0) {
                continue;
            }
            if let Some(link) = field("MESSAGE").and_then(|message| read(message, log)) {
                out.add(link);
            }
        }
        out
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

fn read(message: &str, log: &Path) -> Option<Link> {
    let rest = message.strip_prefix("audit anchor: sequence ")?;
    let (seq, rest) = rest.split_once(", hash ")?;
    let (hash, path) = rest.split_once(", log ")?;
    (path == named(log)).then_some(Link { seq: seq.parse().ok()?, hash: unhex(hash.as_bytes())? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_64_lines_and_every_minute() {
        let minute = SPAN_NS;
        assert!(due(64, 0, 0) && due(128, 0, 0) && due(1, 0, 0));
        assert!(!due(63, 5, minute - 1));
        assert!(due(63, minute - 1, minute));
        assert!(due(63, minute, minute - 1), "a clock that was put back is no reason to be silent");
    }

    #[test]
    fn only_entries_of_this_log_and_its_user_count() {
        let log = Path::new("/h/audit\n.jsonl");
        let link = |seq| Link { seq, hash: [7; 32] };
        let entry = |user: &str, link, log: &Path| {
            serde_json::json!({"MESSAGE": text(link, log), "_UID": user, "SYSLOG_IDENTIFIER": NAME})
                .to_string()
        };
        let entries = [
            entry("1000", link(64), log),
            entry("0", link(65), log),
            entry("1001", link(66), log),
            entry("1000", link(67), Path::new("/other")),
            "no JSON: audit anchor: ".to_owned(),
            serde_json::json!({"MESSAGE": "audit anchor: sequence x, hash y, log /h"}).to_string(),
        ];
        let anchors = Anchors::read(&entries.join("\n"), log, 1000);
        assert_eq!(anchors.last(), Some(65));
        assert_eq!(anchors.of(64), [[7; 32]]);
        assert!(anchors.of(66).is_empty() && anchors.of(67).is_empty());
    }
}
