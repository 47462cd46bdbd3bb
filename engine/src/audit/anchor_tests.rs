//! Tests of anchors.
//!
//! INVARIANT: no journal of the machine is told anything here: listeners are sockets of the test.

use super::*;
use crate::testing::Scratch;

fn entries(lines: &[String], log: &Path) -> Anchors {
    Anchors::read(lines.join("\n").as_bytes(), log, 1000).unwrap()
}

fn link(seq: u64) -> Link {
    Link { seq, hash: [7; 32] }
}

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
    let entry = |user: &str, link, log: &Path| {
        serde_json::json!({"MESSAGE": text(link, log), "_UID": user, "SYSLOG_IDENTIFIER": NAME}).to_string()
    };
    let anchors = entries(
        &[
            entry("1000", link(64), log),
            entry("0", link(65), log),
            entry("1001", link(66), log),
            entry("1000", link(67), Path::new("/other")),
            "no JSON: audit anchor: ".to_owned(),
            serde_json::json!({"MESSAGE": "audit anchor: sequence x, hash y, log /h"}).to_string(),
            // Journals give a field that was sent twice as a list, and one that is no text as numbers.
            serde_json::json!({"MESSAGE": [text(link(68), log)], "_UID": "1000"}).to_string(),
            "x".repeat(200_000),
            entry("1000", link(63), log),
        ],
        log,
    );
    assert_eq!(anchors.last(), Some(65));
    assert_eq!(anchors.of(64), [[7; 32]]);
    assert_eq!(anchors.of(63), [[7; 32]], "behind an entry that is too long");
    assert!(anchors.of(66).is_empty() && anchors.of(67).is_empty() && anchors.of(68).is_empty());
    assert_eq!(anchors.elsewhere.as_deref(), Some("/other"));
}

#[test]
fn a_syslog_file_is_read_too() {
    let log = Path::new("/h/audit.jsonl");
    let line = format!("2026-12-01T05:18:48+00:00 vm policy: {}", text(link(64), log));
    let anchors = entries(&[line, "audit anchor: sequence 1, hash".to_owned()], log);
    assert_eq!((anchors.last(), anchors.of(64)), (Some(64), &[[7; 32]][..]));
}

#[test]
fn the_journal_is_told_by_its_own_protocol_and_syslog_by_its() {
    let scratch = Scratch::new("anchor-told");
    let folder = scratch.folder("");
    let (journal, syslog) = (folder.join("journal"), folder.join("syslog"));
    let log = Path::new("/h/audit.jsonl");
    assert!(Listener::at(&journal, &syslog).is_none());
    let heard = |socket: &UnixDatagram| {
        let mut bytes = [0; 4096];
        let count = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..count].to_vec()).unwrap()
    };
    let other = UnixDatagram::bind(&syslog).unwrap();
    let listener = Listener::at(&journal, &syslog).unwrap();
    assert_eq!(listener.name(), "syslog");
    listener.tell(link(64), log);
    let told = heard(&other);
    assert!(told.starts_with("<14>policy: audit anchor: sequence 64, hash 0707"), "{told}");
    let own = UnixDatagram::bind(&journal).unwrap();
    let listener = Listener::at(&journal, &syslog).unwrap();
    assert_eq!(listener.name(), "journal");
    listener.tell(link(64), log);
    let told = heard(&own);
    let fields: Vec<(&str, &str)> = told.lines().map(|line| line.split_once('=').unwrap()).collect();
    let field = |name: &str| fields.iter().find(|(own, _)| *own == name).map(|(_, value)| *value).unwrap();
    assert_eq!((field("SYSLOG_IDENTIFIER"), field("POLICY_AUDIT_SEQ")), (NAME, "64"));
    assert_eq!(read(field("MESSAGE")), Some((link(64), "/h/audit.jsonl".to_owned())));
    // One that does not read any more holds up nothing.
    (0..10_000).for_each(|_| listener.tell(link(65), log));
    drop(own);
    listener.tell(link(66), log);
}
