//! The store as many processes and one person use it.
//!
//! INVARIANT: none of these look at anything but answers and the file itself.

use super::*;
use crate::code::{Reader, Writer};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .join(format!("approvals-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    folder.canonicalize().unwrap()
}

pub(crate) fn question(session: &str, arguments: &str) -> Question {
    Question {
        host: "h".to_owned(),
        session: session.to_owned(),
        actor: String::new(),
        server: Some(Server { name: "files".to_owned(), source: "s".to_owned(), pin: "p".to_owned() }),
        tool: "write".to_owned(),
        arguments: arguments.to_owned(),
        cwd: PathBuf::from("/p"),
        tables: vec![[1; 32]],
        operands: Vec::new(),
        said: vec![Said { decision: "ask".to_owned(), rule: "r".to_owned(), ..Said::default() }],
        shown: Shown { commands: vec!["ls".to_owned()], diff: String::new(), marked: vec!["x".to_owned()] },
        page_only: false,
        run: RunId([7; 16]),
        timeout: Duration::from_secs(60),
    }
}

fn ticket(store: &Store, question: &Question) -> Ticket {
    match store.ask(question).unwrap() {
        Asked::Waiting(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Asks and gives the question up.
fn left(store: &Store, question: &Question) -> Ticket {
    let ticket = ticket(store, question);
    assert_eq!(store.wait(&ticket, Instant::now()), Answer::TimedOut);
    ticket
}

fn sql(folder: &Path, sql: &str) {
    let changed = rusqlite::Connection::open(folder.join("questions.db")).unwrap().execute(sql, []).unwrap();
    assert!(changed > 0, "{sql}");
}

#[test]
fn an_approval_is_used_once() {
    let store = Store::at(&folder("once")).unwrap();
    let asked = question("s", "{}");
    let waiting = ticket(&store, &asked);
    let open = store.open_questions().unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].question, asked);
    assert!(!store.take(&asked), "nobody answered");
    store.answer(&waiting.id, Verdict::Once, Channel::Page).unwrap();
    assert_eq!(
        store.wait(&waiting, soon()),
        Answer::Approved(Approval { session: false, channel: Channel::Page })
    );
    assert!(store.open_questions().unwrap().is_empty());
    assert!(store.take(&asked));
    assert!(!store.take(&asked), "replay");
    assert_eq!(store.answer(&waiting.id, Verdict::Once, Channel::Page), Err(Unanswered::Closed));
    assert_eq!(store.wait(&waiting, soon()), Answer::Gone, "used");
    assert!(matches!(store.ask(&asked).unwrap(), Asked::Waiting(_)), "asked again");
}

#[test]
fn no_and_withdrawn() {
    let store = Store::at(&folder("no")).unwrap();
    let asked = question("s", "{}");
    let waiting = ticket(&store, &asked);
    store.answer(&waiting.id, Verdict::Deny, Channel::Terminal).unwrap();
    assert_eq!(store.wait(&waiting, soon()), Answer::Denied { by: Channel::Terminal });
    assert!(!store.take(&asked));
    let waiting = ticket(&store, &asked);
    store.answer(&waiting.id, Verdict::Once, Channel::Page).unwrap();
    store.cancel(&waiting).unwrap();
    assert_eq!(store.wait(&waiting, soon()), Answer::Gone);
    assert!(!store.take(&asked), "an approval of a withdrawn question is void");
    assert_eq!(store.answer("00", Verdict::Once, Channel::Page), Err(Unanswered::Unknown));
}

#[test]
fn for_the_session_until_the_run_is_closed() {
    let store = Store::at(&folder("session")).unwrap();
    let asked = question("s", "{}");
    let waiting = ticket(&store, &asked);
    store.answer(&waiting.id, Verdict::Session, Channel::Page).unwrap();
    let approval = Approval { session: true, channel: Channel::Page };
    assert_eq!(store.wait(&waiting, soon()), Answer::Approved(approval));
    assert!(store.take(&asked));
    assert!(store.take(&asked));
    assert_eq!(store.ask(&asked).unwrap(), Asked::Granted(approval));
    // Not for other arguments, servers, actors, tables, folders, nor for another run.
    let change: [fn(&mut Question); 9] = [
        |asked| asked.arguments.push(' '),
        |asked| asked.server.as_mut().unwrap().pin.push('x'),
        |asked| asked.server.as_mut().unwrap().source.push('x'),
        |asked| asked.server = None,
        |asked| asked.actor.push('x'),
        |asked| asked.tables.push([2; 32]),
        |asked| asked.cwd.push("x"),
        |asked| asked.host.push('x'),
        |asked| asked.run = RunId([8; 16]),
    ];
    for (number, change) in change.into_iter().enumerate() {
        let mut other = asked.clone();
        change(&mut other);
        assert!(!store.take(&other), "{number}");
    }
    store.close_run(asked.run).unwrap();
    assert!(!store.take(&asked));
    assert!(matches!(store.ask(&asked).unwrap(), Asked::Waiting(_)));
}

#[test]
fn an_approval_of_a_closed_run_is_void() {
    let store = Store::at(&folder("closed")).unwrap();
    let asked = question("s", "{}");
    let waiting = ticket(&store, &asked);
    store.answer(&waiting.id, Verdict::Session, Channel::Page).unwrap();
    store.close_run(asked.run).unwrap();
    assert!(!store.take(&asked));
    assert!(!store.take(&Question { run: RunId([8; 16]), ..asked.clone() }));
    let waiting = ticket(&store, &asked);
    store.close_run(asked.run).unwrap();
    assert_eq!(store.wait(&waiting, soon()), Answer::Gone);
}

#[test]
fn unanswered_is_denied_and_an_identical_call_uses_the_late_answer_once() {
    let store = Store::at(&folder("late")).unwrap();
    let asked = question("s", "{}");
    let waiting = left(&store, &asked);
    assert_eq!(store.open_questions().unwrap().len(), 1, "it stays open");
    // Asked again: the same card.
    let again = left(&store, &Question { run: RunId([9; 16]), ..asked.clone() });
    assert_eq!(waiting, again);
    store.answer(&waiting.id, Verdict::Once, Channel::Page).unwrap();
    assert!(matches!(store.ask(&question("s", "{ }")).unwrap(), Asked::Waiting(_)), "not identical");
    let retry = Question { run: RunId([10; 16]), ..asked.clone() };
    assert!(matches!(store.ask(&retry).unwrap(), Asked::Granted(Approval { session: false, .. })));
    assert!(matches!(store.ask(&retry).unwrap(), Asked::Waiting(_)), "once");
}

#[test]
fn an_approval_that_someone_waits_for_is_not_used_by_another() {
    let store = Store::at(&folder("theirs")).unwrap();
    let asked = question("s", "{}");
    let waiting = ticket(&store, &asked);
    store.answer(&waiting.id, Verdict::Once, Channel::Page).unwrap();
    let other = ticket(&store, &asked);
    assert_ne!(waiting, other);
    assert!(store.take(&asked));
    assert_eq!(store.wait(&other, Instant::now()), Answer::TimedOut);
}

#[test]
fn what_is_too_old_does_not_count() {
    let home = folder("old");
    let store = Store::at(&home).unwrap();
    let asked = question("s", "{}");
    let waiting = left(&store, &asked);
    store.answer(&waiting.id, Verdict::Once, Channel::Page).unwrap();
    sql(&home, "UPDATE question SET answered = answered - 600001");
    assert!(!store.take(&asked), "approved ten minutes ago");
    sql(&home, "UPDATE question SET answered = answered + 9999999999");
    assert!(!store.take(&asked), "approved in the future");
    let waiting = left(&store, &asked);
    sql(&home, "UPDATE question SET waits = waits - 700000, closes = closes - 700000 WHERE state = 0");
    assert_eq!(store.answer(&waiting.id, Verdict::Once, Channel::Page), Err(Unanswered::Closed));
    assert!(store.open_questions().unwrap().is_empty());
    assert_eq!(store.wait(&waiting, soon()), Answer::Gone);
}

#[test]
fn a_changed_file_voids_the_approval() {
    let home = folder("operand");
    let script = home.join("run.sh");
    std::fs::write(&script, "echo 1").unwrap();
    let store = Store::at(&home.join("approvals")).unwrap();
    let asked = Question { operands: vec![(script.clone(), content(&script))], ..question("s", "{}") };
    // Before the click.
    let waiting = ticket(&store, &asked);
    std::fs::write(&script, "echo 2").unwrap();
    assert_eq!(
        store.answer(&waiting.id, Verdict::Session, Channel::Page),
        Err(Unanswered::Changed(script.clone()))
    );
    assert_eq!(store.wait(&waiting, soon()), Answer::Gone);
    assert!(!store.take(&asked));
    // Between click and use, by both ways of using.
    std::fs::write(&script, "echo 1").unwrap();
    let waiting = left(&store, &asked);
    store.answer(&waiting.id, Verdict::Session, Channel::Page).unwrap();
    std::fs::write(&script, "echo 2").unwrap();
    assert!(!store.take(&asked));
    assert!(matches!(store.ask(&asked).unwrap(), Asked::Waiting(_)));
    let now = Question { operands: vec![(script.clone(), content(&script))], ..asked.clone() };
    assert!(!store.take(&now), "what is there now was not approved");
    std::fs::remove_file(&script).unwrap();
    assert!(!store.take(&Question { operands: vec![(script, None)], ..asked }));
}

#[test]
fn three_of_a_session() {
    let store = Store::at(&folder("three")).unwrap();
    for number in 0..3 {
        ticket(&store, &question("s", &number.to_string()));
    }
    assert_eq!(store.ask(&question("s", "3")), Err(Refused::TooMany));
    // Another run is still the same session; another session is not.
    assert_eq!(store.ask(&Question { run: RunId([1; 16]), ..question("s", "3") }), Err(Refused::TooMany));
    ticket(&store, &question("t", "3"));
    assert_eq!(store.ask(&question("u", &"x".repeat(3 << 20))), Err(Refused::TooLarge));
}

#[test]
fn only_on_the_page() {
    let store = Store::at(&folder("page")).unwrap();
    let asked = Question { page_only: true, ..question("s", "{}") };
    let waiting = ticket(&store, &asked);
    for channel in [Channel::Terminal, Channel::Elicit] {
        assert_eq!(store.answer(&waiting.id, Verdict::Once, channel), Err(Unanswered::PageOnly));
    }
    store.answer(&waiting.id, Verdict::Once, Channel::Page).unwrap();
    assert!(!store.take(&Question { page_only: false, ..asked.clone() }));
    assert!(store.take(&asked));
    let waiting = ticket(&store, &asked);
    store.answer(&waiting.id, Verdict::Deny, Channel::Terminal).unwrap();
}

#[test]
fn the_file_is_private_and_keeps_nothing_of_what_was_answered() {
    let home = folder("private").join("deep").join("approvals");
    let store = Store::at(&home).unwrap();
    let waiting = ticket(&store, &question("s", "a-secret-of-mine"));
    for entry in std::fs::read_dir(&home).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(std::fs::metadata(&home).unwrap().permissions().mode() & 0o777, 0o700);
    store.answer(&waiting.id, Verdict::Deny, Channel::Page).unwrap();
    let kept: Vec<u8> = rusqlite::Connection::open(home.join("questions.db"))
        .unwrap()
        .query_row("SELECT body FROM question", [], |row| row.get(0))
        .unwrap();
    assert!(kept.is_empty());
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(store.ask(&question("s", "{}")), Err(Refused::Store(_))));
}

#[test]
fn a_damaged_file_is_no_approval() {
    let home = folder("damaged");
    let store = Store::at(&home).unwrap();
    let asked = question("s", "{}");
    let waiting = ticket(&store, &asked);
    store.answer(&waiting.id, Verdict::Session, Channel::Page).unwrap();
    let other = ticket(&store, &question("s", "2"));
    sql(&home, "UPDATE question SET body = x'010203' WHERE state = 0");
    assert!(matches!(store.answer(&other.id, Verdict::Once, Channel::Page), Err(Unanswered::Store(_))));
    assert!(store.open_questions().is_err());
    for entry in std::fs::read_dir(&home).unwrap() {
        std::fs::write(entry.unwrap().path(), [0x55; 8192]).unwrap();
    }
    assert!(matches!(store.ask(&asked), Err(Refused::Store(_))));
    assert!(!store.take(&asked));
    assert!(matches!(store.wait(&waiting, soon()), Answer::Failed(_)));
    assert!(store.open_questions().is_err());
    assert!(matches!(store.answer(&waiting.id, Verdict::Once, Channel::Page), Err(Unanswered::Store(_))));
    assert!(Store::at(&home).is_err());
}

#[test]
fn what_is_approved_is_what_was_asked() {
    let home = folder("swapped");
    let store = Store::at(&home).unwrap();
    let waiting = ticket(&store, &question("s", "{}"));
    let mut connection = rusqlite::Connection::open(home.join("questions.db")).unwrap();
    let transaction = connection.transaction().unwrap();
    transaction
        .execute("UPDATE question SET body = ?1", rusqlite::params![question("s", "[]").encode()])
        .unwrap();
    transaction.commit().unwrap();
    assert!(matches!(store.answer(&waiting.id, Verdict::Once, Channel::Page), Err(Unanswered::Store(_))));
    assert!(!store.take(&question("s", "[]")) && !store.take(&question("s", "{}")));
}

#[test]
fn one_of_many_takes_it() {
    let store = Store::at(&folder("race")).unwrap();
    let asked = question("s", "{}");
    let waiting = left(&store, &asked);
    store.answer(&waiting.id, Verdict::Once, Channel::Page).unwrap();
    let threads: Vec<_> = (0..32)
        .map(|_| {
            let (store, asked) = (store.clone(), asked.clone());
            std::thread::spawn(move || store.take(&asked))
        })
        .collect();
    let taken = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|taken| *taken).count();
    assert_eq!(taken, 1);
}

/// What one of fifty processes does; run by the test below.
#[test]
fn one_process() {
    let Ok(number) = std::env::var("APPROVALS_NUMBER") else { return };
    let store = Store::at(Path::new(&std::env::var("APPROVALS_FOLDER").unwrap())).unwrap();
    let asked = question(&number, &number);
    let waiting = ticket(&store, &asked);
    let answer = store.wait(&waiting, Instant::now() + Duration::from_secs(120));
    let odd = number.parse::<u32>().unwrap() % 2 == 1;
    match answer {
        Answer::Approved(_) => assert!(odd && store.take(&asked) && !store.take(&asked)),
        Answer::Denied { .. } => assert!(!odd && !store.take(&asked)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn fifty_processes_at_once() {
    let home = folder("fifty");
    let processes: Vec<_> = (0..50)
        .map(|number| {
            std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "tests::one_process"])
                .env("APPROVALS_NUMBER", number.to_string())
                .env("APPROVALS_FOLDER", &home)
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let store = Store::at(&home).unwrap();
    // As the page's server does: one connection stays while others come and go.
    let mut watch = None;
    let mut seen = std::collections::BTreeSet::new();
    let until = Instant::now() + Duration::from_secs(120);
    while seen.len() < 50 && Instant::now() < until {
        store.changes(&mut watch).unwrap();
        for open in store.open_questions().unwrap() {
            assert_eq!(open.question.session, open.question.arguments);
            assert!(seen.insert(open.question.session.clone()), "each once");
            let odd = open.question.session.parse::<u32>().unwrap() % 2 == 1;
            let verdict = if odd { Verdict::Once } else { Verdict::Deny };
            store.answer(&open.id, verdict, Channel::Page).unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(seen.len(), 50);
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert!(store.open_questions().unwrap().is_empty());
}

#[test]
fn changes_are_noticed() {
    let store = Store::at(&folder("watch")).unwrap();
    let mut watch = None;
    let before = store.changes(&mut watch).unwrap();
    assert_eq!(store.changes(&mut watch).unwrap(), before);
    ticket(&store, &question("s", "{}"));
    assert_ne!(store.changes(&mut watch).unwrap(), before);
}

#[test]
fn parts_are_told_apart() {
    let both = |parts: [&str; 2]| {
        let mut writer = Writer::default();
        parts.iter().for_each(|part| writer.text(part));
        writer.end()
    };
    assert_ne!(both(["ab", "c"]), both(["a", "bc"]));
    let mut asked = question("s", "{}");
    asked.operands = vec![(PathBuf::from("/a"), None), (PathBuf::from("/b"), Some([3; 32]))];
    let bytes = asked.encode();
    assert_eq!(Question::decode(&bytes), Some(asked));
    for length in 0..bytes.len() {
        assert_eq!(Question::decode(&bytes[..length]), None);
    }
    assert_eq!(Reader(&[0xff; 16]).bytes(), None);
    assert_eq!(Reader(&[0xff; 8]).list(|reader| reader.number()), None);
}

#[test]
fn a_code_opens_once() {
    let home = folder("codes");
    let store = Store::at(&home).unwrap();
    let code = store.new_code().unwrap();
    assert_eq!(code.len(), 32);
    assert!(store.unused(&code).unwrap());
    assert!(store.expected(&place(&code)).unwrap() && !store.expected(&code).unwrap());
    assert!(!store.redeem("").unwrap() && !store.redeem(code.get(1..).unwrap()).unwrap());
    assert!(store.redeem(&code).unwrap());
    assert!(!store.redeem(&code).unwrap() && !store.unused(&code).unwrap());
    let late = store.new_code().unwrap();
    sql(&home, "UPDATE code SET at = at - 60001");
    assert!(!store.redeem(&late).unwrap());
    let first = store.new_code().unwrap();
    (0..8).for_each(|_| drop(store.new_code().unwrap()));
    assert!(!store.redeem(&first).unwrap(), "no more than eight");
}

#[test]
fn a_link_opens_one_open_question_once_and_not_for_long() {
    let home = folder("links");
    let store = Store::at(&home).unwrap();
    let waiting = ticket(&store, &question("s", "a"));
    let code = store.new_link(&waiting).unwrap().unwrap();
    // It is of another kind than those of the page.
    assert!(!store.redeem(&code).unwrap() && store.expected(&place(&code)).unwrap());
    assert_eq!(store.follow(&code).unwrap(), Some(waiting.id.clone()));
    assert!(store.follow(&code).unwrap().is_none() && !store.expected(&place(&code)).unwrap());
    let late = store.new_link(&waiting).unwrap().unwrap();
    sql(&home, "UPDATE link SET at = at - 120001");
    assert!(store.follow(&late).unwrap().is_none() && !store.expected(&place(&late)).unwrap());
    let page = store.new_code().unwrap();
    assert_eq!(store.follow(&page).unwrap(), None);
    for _ in 0..4 {
        assert!(store.new_link(&waiting).unwrap().is_some());
    }
    assert_eq!(store.new_link(&waiting).unwrap(), None, "no more than four");
    store.keep_quiet(&waiting).unwrap();
    assert!(store.open_besides(&|_| true).unwrap().iter().all(|open| open.quiet));
    store.answer(&waiting.id, Verdict::Deny, Channel::Page).unwrap();
    assert_eq!(store.new_link(&waiting).unwrap(), None, "it is closed");
}

#[test]
fn those_who_make_the_file_at_once_all_get_it() {
    for round in 0..150 {
        let folder = folder(&format!("made-{round}"));
        let begin = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for number in 0..6 {
                let (folder, begin) = (&folder, &begin);
                scope.spawn(move || {
                    begin.wait();
                    let asked = question(&format!("s{number}"), "{}");
                    let store = Store::at(folder).unwrap_or_else(|error| panic!("{round}: {error}"));
                    ticket(&store, &asked);
                });
            }
        });
        assert_eq!(Store::at(&folder).unwrap().open_questions().unwrap().len(), 6);
        let _ = std::fs::remove_dir_all(folder);
    }
}
