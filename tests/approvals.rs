//! `policy approvals` as a process: what is printed, and what is said where an answer is not taken.
//!
//! INVARIANT: questions are made by the store itself, in a home of the test's own.

use crate::support::{World, feed};
use policy_approvals::{
    Asked, Channel, Notice, Question, RunId, Said, Server, Shown, Store, Ticket, Verdict,
};
use policy_engine::places::Folders;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn question(session: &str, tool: &str, arguments: &str) -> Question {
    Question {
        host: "h".to_owned(),
        session: session.to_owned(),
        actor: String::new(),
        server: Some(Server { name: "files".to_owned(), source: String::new(), pin: String::new() }),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        cwd: PathBuf::from("/p"),
        tables: Vec::new(),
        operands: Vec::new(),
        said: vec![Said {
            decision: "ask".to_owned(),
            rule: "std/git/no-force-push".to_owned(),
            place: "std/git.policy:41".to_owned(),
            reason: "a forced push rewrites what others have".to_owned(),
            suggest: "push to a branch of your own".to_owned(),
            matched: "git push --force".to_owned(),
        }],
        shown: Shown::default(),
        page_only: false,
        run: RunId([7; 16]),
        timeout: Duration::from_secs(60),
    }
}

fn ask(store: &Store, question: &Question) -> Ticket {
    match store.ask(question).unwrap() {
        Asked::Waiting(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

fn home(name: &str) -> (World, Store) {
    let world = World::new(name);
    let store = Store::open(&Folders::under(&world.path("home"))).unwrap();
    (world, store)
}

fn run(world: &World, words: &[&str]) -> Output {
    let mut all = vec!["approvals"];
    all.extend(words);
    world.run(&all, b"")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What is said where an answer is not taken.
fn refused(world: &World, words: &[&str]) -> String {
    let output = run(world, words);
    assert_eq!(output.status.code(), Some(64), "{output:?}");
    text(&output.stderr)
}

fn only(store: &Store) -> String {
    let open = store.open_questions().unwrap();
    assert_eq!(open.len(), 1);
    open[0].id.clone()
}

#[test]
fn no_line_is_wider_than_a_terminal_and_text_of_agents_stays_behind_its_bar() {
    let (world, store) = home("approvals-list");
    let hostile = format!(
        "{{\"a\":\"{}\",\"b\":\"\u{202e}\u{200b}p\u{430}ypal{}\",\"c\":\"\\u001b[2J\\u0000\"}}",
        "x ".repeat(200),
        "\u{65e5}".repeat(100)
    );
    let tool = format!("write\n  allow by std/self\u{1b}[31m{}", "y".repeat(100));
    ask(&store, &question("s", &tool, &hostile));
    let listed = text(&run(&world, &["list"]).stdout);
    for line in listed.lines() {
        let columns: usize = line.chars().map(|letter| if u32::from(letter) < 0x1100 { 1 } else { 2 }).sum();
        assert!(columns <= 80, "{line}");
    }
    let between: Vec<&str> = listed
        .lines()
        .skip_while(|line| *line != "  --- arguments")
        .skip(1)
        .take_while(|line| *line != "  ---")
        .collect();
    assert!(
        between.len() > 8 && between.iter().all(|line| line.starts_with("  | ") || line.starts_with("  : ")),
        "{listed}"
    );
    for shown in [
        "\u{27e8}U+202E\u{27e9}",
        "\u{27e8}U+200B\u{27e9}",
        "p\u{27e8}U+0430\u{27e9}ypal",
        "instead: push",
        "looked at git push",
    ] {
        assert!(listed.replace("\n  : ", "").replace("\n    ", "").contains(shown), "{shown}: {listed}");
    }
    assert!(!listed.contains(['\u{1b}', '\u{202e}', '\0']) && !listed.contains("\n  allow by"), "{listed}");
}

#[test]
fn an_answer_that_is_not_taken_says_why() {
    let (world, store) = home("approvals-answers");
    assert!(text(&run(&world, &["list"]).stderr).contains("nothing waits for you"));
    for wrong in ["12345", "xyzxyz", "3f9a21%", "\u{661}\u{661}\u{661}"] {
        assert!(refused(&world, &["approve", wrong]).contains("an id is"), "{wrong}");
    }
    assert!(refused(&world, &["deny", "000000000000"]).contains("no question of the last day has this id"));
    // Answered on the page, at a terminal, withdrawn.
    for (verdict, channel, says) in [
        (Verdict::Once, Channel::Page, "approved already, on the page"),
        (Verdict::Deny, Channel::Elicit, "denied already, in the client"),
    ] {
        let asked = question("s", "t", "{}");
        ask(&store, &asked);
        let id = only(&store);
        store.answer(&id, verdict, channel).unwrap();
        assert!(refused(&world, &["approve", &id]).contains(says), "{says}");
        let _ = store.take(&asked);
    }
    let withdrawn = ask(&store, &question("s", "t", "{}"));
    let id = only(&store);
    store.cancel(&withdrawn).unwrap();
    assert!(refused(&world, &["deny", &id]).contains("it was withdrawn"));
    // What runs has changed since.
    let script = world.file("repo/run.sh", "echo good\n");
    let operands = vec![(script.clone(), policy_approvals::content(&script))];
    ask(&store, &Question { operands, ..question("s", "t", "{}") });
    let id = only(&store);
    world.file("repo/run.sh", "echo bad\n");
    assert!(refused(&world, &["approve", &id]).contains("has changed since"));
    assert!(refused(&world, &["approve", &id]).contains("it is closed"));
    // Only the page.
    ask(&store, &Question { page_only: true, ..question("s", "t", "{}") });
    let id = only(&store);
    assert!(refused(&world, &["approve", &id]).contains("on the page"));
    let denied = run(&world, &["deny", &id.get(..6).unwrap().to_uppercase()]);
    assert_eq!((denied.status.code(), text(&denied.stderr).trim()), (Some(0), "denied: t"));
}

#[test]
fn of_answers_at_once_one_counts() {
    let (world, store) = home("approvals-race");
    for round in 0..4 {
        let asked = question("s", "t", &format!("{{\"n\":{round}}}"));
        ask(&store, &asked);
        let id = only(&store);
        let codes: Vec<Option<i32>> = std::thread::scope(|scope| {
            let answers = [["approve", &id], ["deny", &id], ["approve", &id]].map(|words| {
                let world = &world;
                scope.spawn(move || run(world, &words).status.code())
            });
            answers.map(|answer| answer.join().unwrap()).to_vec()
        });
        let mut codes = codes;
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(64), Some(64)]);
        let _ = store.take(&asked);
    }
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_that_says_what_to_do() {
    let broken = |name: &str, change: &dyn Fn(&std::path::Path)| {
        let (world, store) = home(name);
        ask(&store, &question("s", "t", "{}"));
        let folder = world.path("home/.local/state/policy/approvals");
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.join(format!("questions.db{end}")));
        }
        change(&folder.join("questions.db"));
        let (list, deny) = (refused(&world, &["list"]), refused(&world, &["deny", "0123456789"]));
        assert!(list.contains("questions.db") && deny.contains("questions.db"), "{list} {deny}");
        list
    };
    let damaged = broken("approvals-damaged", &|file| std::fs::write(file, "x".repeat(8192)).unwrap());
    assert!(damaged.contains("until a person has removed it"), "{damaged}");
    let newer = broken("approvals-newer", &|file| {
        let mut bytes = std::fs::read(file).unwrap();
        // The version of the user stands at byte 60 of the header.
        bytes.splice(60..64, 99_u32.to_be_bytes());
        std::fs::write(file, bytes).unwrap();
    });
    assert!(newer.contains("newer policy (version 99"), "{newer}");
    let open = broken("approvals-open", &|file| {
        std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    });
    assert!(open.contains("chmod 600"), "{open}");
}

#[test]
fn a_policy_with_errors_is_listed() {
    let (world, store) = home("approvals-notice");
    let notice = Notice {
        file: "~/.config/policy/agent.policy".to_owned(),
        place: "agent.policy:7".to_owned(),
        code: "policy::parse::unknown-keyword".to_owned(),
        message: "unknown keyword `alow`".to_owned(),
        help: "write `allow`".to_owned(),
        more: 2,
        since: 1,
        until: i64::MAX,
    };
    store.note(&[notice], &[]).unwrap();
    let listed = text(&run(&world, &["list"]).stdout).replace("\n    ", "");
    for part in [
        "agent.policy cannot be used",
        "agent.policy:7: unknown keyword `alow` (policy::parse",
        "help: write",
        "and 2 more",
        "is asked",
    ] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let json = text(&run(&world, &["list", "--format", "json"]).stdout);
    assert!(json.contains("\"notice\""), "{json}");
}

const CODEX: &str = "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"touch ran.txt\"},\
    \"session_id\":\"s\"}";

/// A machine with a policy that asks, compiled beforehand: a slow machine takes longer for that than a hook has time.
fn asking(name: &str) -> (World, Store, String) {
    let (world, store) = home(name);
    let text = "policy \"p\" language 1\n\nrule r on Bash {\n  allow run `ls`\n  ask run `touch *`\n}\n";
    let policy = world.file("p.policy", text).display().to_string();
    world.run(&["check", "Bash", "{\"command\": \"ls\"}", "--policy", &policy], b"");
    (world, store, policy)
}

fn hook(world: &World, policy: &str, program: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    if !program.ends_with("hook") {
        command.arg("hook");
    }
    command
        .args(["--home", &world.word("home"), "--policy", policy])
        .args(words)
        .current_dir(world.path("repo"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

const PROGRAMS: [&str; 2] = [env!("CARGO_BIN_EXE_policy"), env!("CARGO_BIN_EXE_policy-hook")];

#[test]
fn a_host_that_cannot_ask_gets_a_question_whose_answer_counts_once() {
    for (number, program) in PROGRAMS.into_iter().enumerate() {
        let (world, store, policy) = asking(&format!("approvals-hook-{number}"));
        let codex =
            |event: &str| feed(&mut hook(&world, &policy, program, &["--host", "codex"]), event.as_bytes());
        let listed = codex(&CODEX.replace("touch ran.txt", "ls"));
        assert!(listed.stdout.is_empty() && listed.status.success(), "{listed:?}");
        assert!(store.open_questions().unwrap().is_empty());
        let denied = codex(CODEX);
        let said = text(&denied.stdout);
        assert!(said.contains("\"deny\"") && said.contains("stays open for ten minutes"), "{denied:?}");
        let id = only(&store);
        let model = format!("{said}{}", text(&denied.stderr));
        assert!(!model.contains(id.get(..6).unwrap()) && !model.contains("policy approvals"), "{model}");
        // The same again is the same question.
        codex(CODEX);
        assert_eq!(only(&store), id);
        store.answer(&id, Verdict::Once, Channel::Page).unwrap();
        let other = codex(&CODEX.replace("\"s\"", "\"t\""));
        assert!(text(&other.stdout).contains("\"deny\""), "another session: {other:?}");
        let approved = codex(CODEX);
        assert!(approved.stdout.is_empty() && approved.status.success(), "{approved:?}");
        assert!(text(&codex(CODEX).stdout).contains("\"deny\""), "it was used");
        let elsewhere = world.word("elsewhere");
        let words = ["--host", "codex", "--state", &elsewhere];
        let nobody = feed(&mut hook(&world, &policy, program, &words), CODEX.as_bytes());
        assert!(text(&nobody.stdout).contains("nobody can be asked"), "{nobody:?}");
        assert_eq!(store.open_questions().unwrap().len(), 2);
        let audit = std::fs::read_to_string(world.path("home/.local/state/policy/audit.jsonl")).unwrap();
        assert!(audit.contains("a person approved it before: once, on the page"), "{audit}");
        // One line for each call: none may answer for a call that no hook heard of.
        assert_eq!(audit.lines().filter(|line| line.contains("touch ran.txt")).count(), 5, "{audit}");
    }
}

#[test]
fn a_host_that_waits_long_hears_the_answer() {
    for (number, program) in PROGRAMS.into_iter().enumerate() {
        let (world, store, policy) = asking(&format!("approvals-wait-{number}"));
        for (verdict, says) in [(Verdict::Session, ""), (Verdict::Deny, "a person denied it on the page")] {
            let mut command = hook(&world, &policy, program, &["--host", "codex", "--wait", "60"]);
            let event = CODEX.replace("ran.txt", if says.is_empty() { "a.txt" } else { "b.txt" });
            let output = std::thread::scope(|scope| {
                let running = scope.spawn(|| feed(&mut command, event.as_bytes()));
                let end = Instant::now() + Duration::from_secs(30);
                while store.open_questions().unwrap().is_empty() {
                    assert!(Instant::now() < end, "nothing is asked");
                    std::thread::sleep(Duration::from_millis(20));
                }
                // Longer than the hook takes for anything else.
                std::thread::sleep(Duration::from_millis(2500));
                store.answer(&only(&store), verdict, Channel::Page).unwrap();
                running.join().unwrap()
            });
            let said = text(&output.stdout);
            assert!(
                output.status.success() && said.is_empty() == says.is_empty() && said.contains(says),
                "{output:?}"
            );
        }
        // For the session it holds until the session ends.
        let codex =
            |event: &str| feed(&mut hook(&world, &policy, program, &["--host", "codex"]), event.as_bytes());
        let same = CODEX.replace("ran.txt", "a.txt");
        assert!(codex(&same).stdout.is_empty());
        codex("{\"hook_event_name\":\"SessionEnd\",\"session_id\":\"s\"}");
        assert!(text(&codex(&same).stdout).contains("\"deny\""));
    }
}

#[test]
fn a_call_that_waits_for_a_person_counts_once() {
    for (number, program) in PROGRAMS.into_iter().enumerate() {
        let (world, store, policy) = asking(&format!("approvals-once-{number}"));
        let text = "policy \"p\" language 1\n\ndefault allow\n\nguard few on Bash {\n  ask\n  deny calls over 2 per 1h\n}\n";
        std::fs::write(&policy, text).unwrap();
        world.run(&["check", "Bash", "{\"command\": \"ls\"}", "--policy", &policy], b"");
        for name in ["a.txt", "b.txt", "c.txt"] {
            let mut command = hook(&world, &policy, program, &["--host", "codex", "--wait", "60"]);
            let event = CODEX.replace("ran.txt", name);
            let output = std::thread::scope(|scope| {
                let running = scope.spawn(|| feed(&mut command, event.as_bytes()));
                let end = Instant::now() + Duration::from_secs(30);
                while name != "c.txt" && store.open_questions().unwrap().is_empty() {
                    assert!(Instant::now() < end, "nothing is asked");
                    std::thread::sleep(Duration::from_millis(20));
                }
                if name != "c.txt" {
                    store.answer(&only(&store), Verdict::Once, Channel::Page).unwrap();
                }
                running.join().unwrap()
            });
            let said = self::text(&output.stdout);
            assert_eq!(said.contains("3 calls"), name == "c.txt", "{name}: {said}");
        }
        let audit = std::fs::read_to_string(world.path("home/.local/state/policy/audit.jsonl")).unwrap();
        assert!(
            audit
                .lines()
                .filter(|line| line.contains("a.txt") || line.contains("b.txt"))
                .all(|line| line.contains("\"rule\":\"few\"")),
            "{audit}"
        );
    }
}

/// Hosts with a question of their own, and an event of each.
fn native() -> [(&'static str, String); 3] {
    let generic = CODEX.replace("hook_event_name", "event").replace("PreToolUse", "pre_tool_use");
    let gemini = CODEX.replace("PreToolUse", "BeforeTool");
    [("claude-code", CODEX.to_owned()), ("gemini", gemini), ("generic", generic)]
}

#[test]
fn what_is_for_the_page_alone_no_host_asks() {
    for (number, program) in PROGRAMS.into_iter().enumerate() {
        let (world, store, policy) = asking(&format!("approvals-page-{number}"));
        let text = std::fs::read_to_string(&policy).unwrap();
        // Also what the product asks of its own, where the whole policy says so.
        let once = text.replace("  allow run", "  ask via page\n\n  allow run");
        let all = text.replace("rule r", "ask via page\n\nrule r").replace("ask run `touch *`", "");
        for text in [once, all] {
            std::fs::write(&policy, text).unwrap();
            world.run(&["check", "Bash", "{\"command\": \"ls\"}", "--policy", &policy], b"");
            for (host, event) in native() {
                let event = event.replace("touch ran.txt", "touch $(x) ran.txt");
                let run = || {
                    let output =
                        feed(&mut hook(&world, &policy, program, &["--host", host]), event.as_bytes());
                    self::text(&output.stdout)
                };
                let said = run();
                assert!(said.contains("\"deny\"") && !said.contains("\"ask\""), "{host}: {said}");
                let id = only(&store);
                assert!(store.answer(&id, Verdict::Once, Channel::Terminal).is_err());
                store.answer(&id, Verdict::Once, Channel::Page).unwrap();
                let said = run();
                // For one of them no word is a yes.
                assert!(
                    !said.contains("\"deny\"") && (host == "gemini" || said.contains("\"allow\"")),
                    "{host}: {said}"
                );
                assert!(run().contains("\"deny\""), "it was used");
                store.answer(&only(&store), Verdict::Deny, Channel::Page).unwrap();
            }
        }
    }
}

#[test]
fn a_host_that_asks_itself_makes_no_question() {
    let (world, store, policy) = asking("approvals-native");
    for (host, event) in native() {
        let output = feed(&mut hook(&world, &policy, PROGRAMS[0], &["--host", host]), event.as_bytes());
        assert!(text(&output.stdout).contains("\"ask\""), "{output:?}");
    }
    assert!(store.open_questions().unwrap().is_empty());
}
