//! The record as several processes use it.
//!
//! INVARIANT: none of these look at anything but answers and the file itself.

use super::*;
use policy_engine::past::{Memory, record_file};
use policy_runtime::outside::{Event, PastKind};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .join(format!("state-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    folder.canonicalize().unwrap()
}

fn entry(state: &std::path::Path, session: &str, now_s: i64) -> Entry {
    Entry {
        state: state.to_path_buf(),
        host: "h".to_owned(),
        session: session.to_owned(),
        project: "/p".to_owned(),
        tool: 1,
        call: 2,
        now_ms: now_s * 1000,
    }
}

fn count(key: u64, adds: Adds, window: Window) -> Question {
    Question::Count { key, adds, window, by_tool: false }
}

fn counted(store: &dyn Store, entry: &Entry, question: Question) -> u64 {
    match store.ask(entry, &[question]).unwrap().as_slice() {
        [Answer::Count(count)] => *count,
        other => panic!("{other:?}"),
    }
}

#[test]
fn sixty_four_at_once_lose_nothing() {
    let state = folder("many");
    let threads: Vec<_> = (0..64)
        .map(|_| {
            let state = state.clone();
            std::thread::spawn(move || {
                counted(&Sqlite, &entry(&state, "s", 1), count(7, Adds::New(1), Window::Session))
            })
        })
        .collect();
    let mut counts: Vec<u64> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    counts.sort_unstable();
    assert_eq!(counts, (1..=64).collect::<Vec<u64>>(), "each saw another number: no update was lost");
}

/// Whatever is asked and remembered, the two records answer alike.
#[test]
fn as_in_memory() {
    let state = folder("alike");
    let memory = Memory::default();
    let moment = |key, succeeded| Moment { kind: PastKind::Ran, key, succeeded };
    let mut seed = 1u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for second in 0..400 {
        let mut entry = entry(&state, "s", second);
        entry.call = next(3);
        entry.tool = next(2);
        if next(3) == 0 {
            let events =
                vec![Event { key: 100 + next(2), kind: PastKind::Ran, value: next(4), sure: next(2) == 0 }];
            let note = Note { events, succeeded: next(2) == 0, ..Note::default() };
            Sqlite.record(&entry, &note).unwrap();
            memory.record(&entry, &note).unwrap();
            continue;
        }
        let window = match next(4) {
            0 => Window::Session,
            1 => Window::Seconds(20),
            _ => Window::Since(moment(100 + next(2), next(2) == 0)),
        };
        let adds = match next(3) {
            0 => Adds::New(1),
            1 => Adds::Repeat,
            _ => Adds::Values(vec![next(5), next(5)]),
        };
        // One name is always asked in one way.
        let key = match adds {
            Adds::New(_) => 1,
            Adds::Repeat => 2,
            Adds::Values(_) => 3,
        };
        let questions = [
            Question::Count { key, adds, window, by_tool: next(2) == 0 },
            Question::Happened { past: moment(100, next(2) == 0), since: None, over: next(3) as u32 },
            Question::Happened {
                past: moment(100, true),
                since: Some(moment(101, next(2) == 0)),
                over: next(2) as u32,
            },
        ];
        assert_eq!(Sqlite.ask(&entry, &questions), memory.ask(&entry, &questions), "{second}: {questions:?}");
    }
}

#[test]
fn the_file_is_private_and_sessions_are_apart() {
    let state = folder("private");
    let ask =
        |session: &str| counted(&Sqlite, &entry(&state, session, 1), count(7, Adds::New(1), Window::Session));
    assert_eq!((ask("a"), ask("a"), ask("b")), (1, 2, 1));
    // The project's own session is what happened in it.
    assert_eq!(ask(""), 4);
    for file in std::fs::read_dir(record_file(&state).parent().unwrap()).unwrap() {
        let mode = file.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
}

#[test]
fn flags_and_suppressions_of_the_project_hold_for_its_sessions() {
    let state = folder("flags");
    let happened = |session: &str| {
        let past = Moment { kind: PastKind::Flagged, key: flagged(), succeeded: false };
        Sqlite.ask(&entry(&state, session, 9), &[Question::Happened { past, since: None, over: 0 }]).unwrap()
    };
    let flag = |session: &str| {
        let note = Note { flags: ["g".to_owned()].into(), ..Note::default() };
        Sqlite.record(&entry(&state, session, 5), &note).unwrap();
    };
    flag("a");
    assert_eq!(happened("a"), [Answer::Happened(true)]);
    assert_eq!(happened("b"), [Answer::Happened(false)]);
    flag("");
    assert_eq!(happened("b"), [Answer::Happened(true)]);
    Sqlite.suppress(&entry(&state, "", 5), Suppress::Add("r")).unwrap();
    Sqlite.suppress(&entry(&state, "b", 5), Suppress::Add("q")).unwrap();
    assert_eq!(Sqlite.told(&entry(&state, "b", 6)).unwrap().suppressed, ["q", "r"]);
    assert_eq!(Sqlite.told(&entry(&state, "c", 6)).unwrap().suppressed, ["r"]);
    Sqlite.suppress(&entry(&state, "b", 5), Suppress::Clear).unwrap();
    assert_eq!(Sqlite.told(&entry(&state, "b", 6)).unwrap().suppressed, ["r"]);
}

#[test]
fn old_sessions_go() {
    let state = folder("old");
    let ask = |session: &str, now| {
        counted(&Sqlite, &entry(&state, session, now), count(7, Adds::New(1), Window::Session))
    };
    assert_eq!((ask("a", 1), ask("a", 2)), (1, 2));
    ask("b", 3_000_000);
    assert_eq!(ask("a", 3_000_001), 1);
    // A session without an end keeps no more than that either.
    assert_eq!((ask("", 3_000_002), ask("", 6_000_000), ask("", 6_000_001)), (3, 1, 2));
}

#[test]
fn a_record_of_another_version_is_left_alone() {
    let state = folder("version");
    let ask = || Sqlite.ask(&entry(&state, "a", 1), &[count(7, Adds::New(1), Window::Session)]);
    ask().unwrap();
    let connection = Connection::open(record_file(&state)).unwrap();
    connection.execute_batch("PRAGMA user_version = 2").unwrap();
    assert!(ask().unwrap_err().contains("newer policy (version 2"));
    connection.execute_batch("PRAGMA user_version = -1").unwrap();
    assert!(ask().unwrap_err().contains("another version"));
}

#[test]
fn what_cannot_be_used_is_an_error() {
    let state = folder("damaged");
    let ask = || Sqlite.ask(&entry(&state, "a", 1), &[count(7, Adds::New(1), Window::Session)]);
    ask().unwrap();
    let file = record_file(&state);
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
    std::fs::write(&file, b"no database at all, and long enough to be looked at as one").unwrap();
    assert!(ask().unwrap_err().contains("record.db"));
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, b"").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(ask().unwrap_err().contains("other users"));
}

#[test]
fn a_record_that_is_held_is_told_and_waited_for_once() {
    let state = folder("held");
    let ask = || Sqlite.ask(&entry(&state, "s", 1), &[count(7, Adds::New(1), Window::Session)]);
    ask().unwrap();
    let holder = Connection::open(record_file(&state)).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (begun, cause) = (std::time::Instant::now(), ask().unwrap_err());
    assert!(cause.contains("another process has held it"), "{cause}");
    let first = begun.elapsed();
    let note = Note { wrote: vec!["/p/a".to_owned()], ..Note::default() };
    assert!(Sqlite.record(&entry(&state, "s", 1), &note).is_err() && ask().is_err());
    assert!(begun.elapsed() - first < first, "the second and third wait together are shorter than the first");
    holder.execute_batch("ROLLBACK").unwrap();
    ask().unwrap();
}
