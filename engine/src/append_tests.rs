//! Tests of the audit file.
//!
//! INVARIANT: whatever the file holds, a line is appended whole and says what it follows.

use super::*;
use crate::audit::chain::{Hash, Seal, sha256};
use crate::testing::Scratch;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

fn rows(file: &Path) -> Vec<serde_json::Value> {
    std::fs::read_to_string(file)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| line.into()))
        .collect()
}

#[test]
fn a_held_lock_is_waited_for_only_a_moment() {
    let scratch = Scratch::new("append-lock");
    let file = scratch.file("log", "");
    let held = File::open(&file).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let start = Instant::now();
    assert!(append(&file, b"{}\n", Care::Private).unwrap_err().why.contains("locked"));
    assert!(start.elapsed() < Duration::from_millis(1500));
    drop(held);
    append(&file, b"{}\n", Care::Private).unwrap();
}

#[test]
fn a_line_never_joins_one_that_a_crash_cut_short() {
    let scratch = Scratch::new("append-cut");
    let file = scratch.file("log", "{\"whole\":1}\n{\"cut");
    append(&file, b"{}\n", Care::Private).unwrap();
    append(&file, b"{}\n", Care::Private).unwrap();
    let rows = rows(&file);
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[1], "{\"cut");
    assert_eq!(rows[2]["before"]["bytes"], 17);
    assert_eq!((&rows[2]["seq"], &rows[3]["seq"]), (&1.into(), &2.into()));
    assert_eq!(rows[3]["prev"], rows[2]["hash"]);
}

#[test]
fn a_damaged_end_is_said_and_the_chain_goes_on() {
    let scratch = Scratch::new("append-damaged");
    let file = scratch.file("log", "");
    let first = append(&file, b"{\"a\":1}\n", Care::Private).unwrap();
    let good = std::fs::read(&file).unwrap();
    for damage in [&b"{\"cut"[..], b"\n\n\n", b"{\"a\":1}\n", &[b'x'; 300_000], b"\0\xff\n"] {
        std::fs::write(&file, [&good, damage].concat()).unwrap();
        let link = append(&file, b"{\"a\":2}\n", Care::Private).unwrap();
        assert_eq!(link.seq, 2);
        let bytes = std::fs::read(&file).unwrap();
        let last = bytes.strip_suffix(b"\n").unwrap().rsplit(|byte| *byte == b'\n').next().unwrap();
        assert_eq!(Seal::of(last).unwrap().prev, first.hash);
        let row: serde_json::Value = serde_json::from_slice(last).unwrap();
        assert_eq!(row["gap"], damage.len());
        assert!(Seal::of(last).unwrap().holds(last));
    }
    // More damage than is searched: begun anew, and all of it covered.
    std::fs::write(&file, [&good[..], &[b'x'; 3_000_000]].concat()).unwrap();
    let want: Hash = sha256(&std::fs::read(&file).unwrap());
    assert_eq!(append(&file, b"{}", Care::Private).unwrap().seq, 1);
    let bytes = std::fs::read(&file).unwrap();
    let last = bytes.strip_suffix(b"\n").unwrap().rsplit(|byte| *byte == b'\n').next().unwrap();
    let row: serde_json::Value = serde_json::from_slice(last).unwrap();
    assert_eq!(row["before"]["sha256"], crate::audit::chain::hex(&want));
}

#[test]
fn a_full_log_is_put_aside_and_the_next_one_goes_on() {
    let scratch = Scratch::new("append-full");
    let file = scratch.file("log.jsonl", "");
    append(&file, b"{}", Care::Private).unwrap();
    // A line as large as a log is: sparse, so that it costs no disk.
    let open = File::options().write(true).open(&file).unwrap();
    open.set_len(MAX_BYTES).unwrap();
    drop(open);
    let link = append(&file, b"{\"new\":1}", Care::Private).unwrap();
    let aside = file.with_file_name("log-000000000001.jsonl");
    assert_eq!(std::fs::metadata(&aside).unwrap().len(), MAX_BYTES);
    assert_eq!(rotate::earlier(&file), [aside]);
    let rows = rows(&file);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["continues"], "log-000000000001.jsonl");
    assert_eq!(append(&file, b"{}", Care::Private).unwrap().seq, link.seq + 1);
}

#[test]
fn many_at_once_make_one_chain() {
    let scratch = Scratch::new("append-many");
    let file = scratch.folder("").join("log");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                (0..25).for_each(|_| assert!(append(&file, b"{\"a\":1}\n", Care::Private).is_ok()))
            });
        }
    });
    let text = std::fs::read_to_string(&file).unwrap();
    let mut last = Link::START;
    for line in text.lines() {
        let seal = Seal::of(line.as_bytes()).unwrap();
        assert!(seal.holds(line.as_bytes()));
        assert_eq!((seal.prev, seal.link.seq), (last.hash, last.seq + 1));
        last = seal.link;
    }
    assert_eq!(last.seq, 200);
    // The first line, and those of every 64.
    let anchored = rows(&file).iter().filter(|row| row.get("anchor").is_some()).count();
    assert!(anchored >= 4, "{anchored}");
}

/// A journal of the test, and what it heard: numbers of lines.
struct Journal {
    socket: std::os::unix::net::UnixDatagram,
    place: std::path::PathBuf,
}

impl Journal {
    fn new(scratch: &Scratch) -> Journal {
        let place = scratch.folder("").join("socket");
        let socket = std::os::unix::net::UnixDatagram::bind(&place).unwrap();
        socket.set_nonblocking(true).unwrap();
        Journal { socket, place }
    }

    fn append(&self, file: &Path) -> Link {
        append_telling(file, b"{}", Care::Private, &|| Listener::at(&self.place, "/none")).unwrap()
    }

    fn heard(&self) -> Vec<u64> {
        let mut out = Vec::new();
        let mut bytes = [0; 4096];
        while let Ok(count) = self.socket.recv(&mut bytes) {
            let text = std::str::from_utf8(&bytes[..count]).unwrap();
            let number = text.split("POLICY_AUDIT_SEQ=").nth(1).unwrap().lines().next().unwrap();
            out.push(number.parse().unwrap());
        }
        out
    }
}

/// As if the last line was written a minute before.
fn age(file: &Path) {
    let open = File::options().write(true).open(file).unwrap();
    open.set_modified(std::time::SystemTime::now() - Duration::from_secs(60)).unwrap();
}

#[test]
fn the_journal_hears_of_every_64th_line() {
    let scratch = Scratch::new("append-64");
    let (file, journal) = (scratch.folder("").join("log"), Journal::new(&scratch));
    (0..130).for_each(|_| assert!(journal.append(&file).seq > 0));
    let heard = journal.heard();
    assert!([1, 64, 128].iter().all(|seq| heard.contains(seq)), "{heard:?}");
    // A minute may have begun in between, but not with every line.
    assert!(heard.len() < 20, "{heard:?}");
    let said: Vec<u64> = rows(&file)
        .iter()
        .filter(|row| row.get("anchor") == Some(&"journal".into()))
        .map(|row| row["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(said, heard, "the lines say so themselves");
}

#[test]
fn the_journal_hears_of_the_first_line_of_a_minute() {
    let scratch = Scratch::new("append-minute");
    let (file, journal) = (scratch.folder("").join("log"), Journal::new(&scratch));
    journal.append(&file);
    for seq in 2..5 {
        journal.heard();
        age(&file);
        assert_eq!((journal.append(&file).seq, journal.heard()), (seq, vec![seq]));
    }
}

#[test]
fn the_journal_hears_of_the_last_line_when_a_session_ends() {
    let scratch = Scratch::new("append-end");
    let (file, journal) = (scratch.folder("").join("log"), Journal::new(&scratch));
    let end = || anchor_last_telling(&file, Care::Private, &|| Listener::at(&journal.place, "/none"));
    end();
    assert!(journal.heard().is_empty());
    (0..10).for_each(|_| assert!(journal.append(&file).seq > 0));
    journal.heard();
    let before = std::fs::read(&file).unwrap();
    end();
    assert_eq!(journal.heard(), [10]);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    // A damaged end is nothing to vouch for.
    std::fs::write(&file, [&before[..], b"{\"cut"].concat()).unwrap();
    end();
    assert!(journal.heard().is_empty());
}

#[test]
fn refuses_what_is_no_file_of_ours() {
    let scratch = Scratch::new("append-odd");
    let file = scratch.file("log", "");
    let link = scratch.folder("").join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert!(append(&link, b"x\n", Care::Private).unwrap_err().why.contains("symbolic link"));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
    assert!(append(&file, b"x\n", Care::Private).is_err());
    let new = scratch.folder("").join("new");
    append(&new, b"x\n", Care::Private).unwrap();
    assert_eq!(std::fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o600);
}
