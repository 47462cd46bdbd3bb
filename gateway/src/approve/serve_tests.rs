//! The page's server as browsers and others talk to it.
//!
//! INVARIANT: spoken over the socket, header by header; nothing of the server is looked at.

use super::*;
use crate::approve::link;
use policy_approvals::{Answer, Asked as Waits, Notice, Question, RunId, Said, Shown, Ticket};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

pub(super) fn folders(name: &str) -> Folders {
    let exe = std::env::current_exe().unwrap();
    let home = exe.parent().unwrap().join(format!("approve-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(&home).unwrap();
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).unwrap();
    Folders::under(&home.canonicalize().unwrap())
}

fn question(arguments: &str) -> Question {
    Question {
        host: "h".to_owned(),
        session: "s".to_owned(),
        actor: String::new(),
        server: None,
        tool: "write\u{202e}".to_owned(),
        arguments: arguments.to_owned(),
        cwd: PathBuf::from("/p"),
        tables: Vec::new(),
        operands: Vec::new(),
        said: vec![Said { decision: "ask".to_owned(), matched: "a\"b".to_owned(), ..Said::default() }],
        shown: Shown { diff: "+new\n-old\n".to_owned(), ..Shown::default() },
        page_only: true,
        run: RunId([7; 16]),
        timeout: Duration::from_secs(60),
    }
}

pub(super) fn plain_question() -> Question {
    Question { page_only: false, ..question("{}") }
}

/// A server of a scratch home.
pub(super) struct Page {
    pub(super) folders: Folders,
    port: u16,
}

pub(super) fn page_of(name: &str) -> Page {
    let folders = folders(name);
    let own = folders.clone();
    std::thread::spawn(move || serve(&own).unwrap());
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        assert!(Instant::now() < until, "the server did not start");
        if let Ok(text) = std::fs::read_to_string(port_file(&folders)) {
            return Page { folders, port: text.trim().parse().unwrap() };
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Page {
    fn raw(&self, text: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer.get(9..12).unwrap().parse().unwrap(), answer)
    }

    pub(super) fn get(&self, path: &str, headers: &str) -> (u16, String) {
        let port = self.port;
        self.raw(&format!(
            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n{headers}\r\n"
        ))
    }

    pub(super) fn post(&self, path: &str, headers: &str, body: &str) -> (u16, String) {
        let (port, length) = (self.port, body.len());
        self.raw(&format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\norigin: http://127.0.0.1:{port}\r\nconnection: close\r\n\
             content-length: {length}\r\n{headers}\r\n{body}"
        ))
    }

    pub(super) fn token(&self) -> String {
        let code = Store::open(&self.folders).unwrap().new_code().unwrap();
        let (status, answer) = self.post("/code", "", &code);
        assert_eq!(status, 200);
        let (again, _) = self.post("/code", "", &code);
        assert_eq!(again, 403, "a code is used once");
        body(&answer)["token"].as_str().unwrap().to_owned()
    }
}

pub(super) fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

fn asked(store: &Store, question: &Question) -> Ticket {
    match store.ask(question).unwrap() {
        Waits::Waiting(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_question_is_answered_on_the_page() {
    let page = page_of("answered");
    let store = Store::open(&page.folders).unwrap();
    let held = format!("x-policy-token: {}\r\n", page.token());
    let first = body(&page.get("/questions?seen=", &held).1);
    assert_eq!(first["questions"], json!([]));
    let ask = question(r#"{"path":"a\"b"}"#);
    let ticket = asked(&store, &ask);
    let seen = first["seen"].as_str().unwrap();
    let second = body(&page.get(&format!("/questions?seen={seen}"), &held).1);
    let one = &second["questions"][0];
    let card = &one["card"];
    assert_eq!(card["tool"], json!([["write", 0], ["⟨U+202E⟩", 2]]));
    assert_eq!(card["arguments"], json!([["{\n  \"path\": \"", 0], ["a\\\"b", 1], ["\"\n}", 0]]));
    assert_eq!(card["diff"][0]["kind"], "added");
    let id = one["id"].as_str().unwrap();
    // What a page has is not sent again.
    let other = asked(&store, &question("{}"));
    let seen = second["seen"].as_str().unwrap();
    let third = body(&page.get(&format!("/questions?seen={seen}"), &held).1);
    assert_eq!((&third["questions"][0]["id"], &third["questions"][0]["card"]), (&json!(id), &json!(null)));
    assert_eq!(third["questions"][1]["card"]["tool"], card["tool"]);
    assert_eq!(body(&page.get("/questions?seen=", &held).1)["questions"][0]["card"], *card);
    store.cancel(&other).unwrap();
    for wrong in ["", "{}", "[]", &format!("{{\"id\":\"{id}\",\"verdict\":\"yes\"}}")] {
        assert_eq!(page.post("/answer", &held, wrong).0, 400, "{wrong}");
    }
    let said = json!({ "id": id, "verdict": "once" }).to_string();
    assert_eq!(page.post("/answer", "", &said).0, 401);
    assert_eq!(page.post("/answer", "x-policy-token: 00\r\n", &said).0, 401);
    assert_eq!(body(&page.post("/answer", &held, &said).1), json!({ "ok": true }));
    assert_eq!(body(&page.post("/answer", &held, &said).1)["closed"], true, "once");
    assert!(matches!(store.wait(&ticket, Instant::now()), Answer::Approved(_)));
    assert!(store.take(&ask) && !store.take(&ask));
}

#[test]
fn a_policy_with_errors_is_told_until_it_has_none() {
    let page = page_of("noticed");
    let store = Store::open(&page.folders).unwrap();
    let held = format!("x-policy-token: {}\r\n", page.token());
    let first = body(&page.get("/questions?seen=", &held).1);
    assert_eq!(first["notices"], json!([]));
    let notice = Notice { file: "a\u{202e}.policy".to_owned(), since: 5, until: 9, ..Notice::default() };
    store.note(&[notice], &[]).unwrap();
    let second = body(&page.get(&format!("/questions?seen={}", first["seen"].as_str().unwrap()), &held).1);
    let told = &second["notices"][0];
    assert_eq!(told["file"], json!([["a", 0], ["⟨U+202E⟩", 2], [".policy", 0]]));
    assert_eq!((&told["since"], &told["until"]), (&json!(5), &json!(9)));
    store.note(&[], &["a\u{202e}.policy".to_owned()]).unwrap();
    let third = body(&page.get(&format!("/questions?seen={}", second["seen"].as_str().unwrap()), &held).1);
    assert_eq!(third["notices"], json!([]));
}

#[test]
fn others_are_refused_and_every_answer_has_the_headers() {
    let page = page_of("refused");
    let port = page.port;
    let held = format!("x-policy-token: {}\r\n", page.token());
    let foreign = [
        "sec-fetch-site: cross-site\r\n",
        "sec-fetch-site: same-site\r\n",
        "origin: http://evil.test\r\n",
        "origin: null\r\n",
        "origin: http://127.0.0.1:1\r\n",
    ];
    for headers in foreign {
        for path in ["/", "/questions", "/nowhere"] {
            assert_eq!(page.get(path, &format!("{held}{headers}")).0, 403, "{path} {headers}");
        }
        // A second origin is no better than a foreign one.
        assert_eq!(page.post("/answer", &format!("{held}{headers}"), "{}").0, 403, "{headers}");
        assert_eq!(page.post("/code", headers, "x").0, 403);
    }
    for host in ["localhost", "evil.test", "127.0.0.1"] {
        assert_eq!(page.raw(&format!("GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")).0, 403);
    }
    let absolute = format!(
        "GET http://127.0.0.1:{port}/ HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n"
    );
    assert_eq!(page.raw(&absolute).0, 403);
    assert_eq!(page.get("/questions", "").0, 401);
    assert_eq!(page.get("/nowhere", "").0, 401, "nothing is told without a token");
    assert_eq!(page.get("/nowhere", &held).0, 404);
    assert_eq!(page.get("/open/00", "").0, 403);
    assert_eq!(page.post("/answer", &held, &"x".repeat(5000)).0, 413);
    for (status, answer) in [
        page.get("/", ""),
        page.get("/questions", ""),
        page.get("/nowhere", &held),
        page.get("/", foreign[0]),
    ] {
        for header in [
            "content-security-policy: default-src 'none'; script-src 'sha256-",
            "frame-ancestors 'none'",
            "form-action 'none'",
            "connect-src 'self'",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            "x-frame-options: DENY",
            "cache-control: no-store",
        ] {
            assert!(answer.contains(header), "{status} {header}");
        }
        assert!(!answer.contains("set-cookie") && !answer.contains("access-control"));
    }
}

#[test]
fn the_file_that_opens_it_is_private_and_goes() {
    let page = page_of("file");
    let opening = at_port(&page.folders, page.port).unwrap();
    let text = std::fs::read_to_string(&opening.file).unwrap();
    let mode = std::fs::metadata(&opening.file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let address = text.split('"').find(|part| part.contains("url=")).unwrap();
    let (place, code) = address.split_once("/open/").unwrap().1.split_once('#').unwrap();
    let navigated = "sec-fetch-site: cross-site\r\nsec-fetch-mode: navigate\r\nsec-fetch-dest: document\r\n";
    assert_eq!(page.get(&format!("/open/{place}"), navigated).0, 200);
    assert_eq!(page.post("/code", "", code).0, 200);
    assert_eq!(page.get(&format!("/open/{place}"), navigated).0, 403, "used");
    let file = opening.file.clone();
    assert!(opening.finish(Duration::from_secs(5)));
    assert!(!file.exists());
    assert_eq!(serve(&page.folders), Err("the page is served already".to_owned()));
}

#[test]
fn an_address_that_a_client_shows_opens_one_question_and_answers_as_in_the_client() {
    let page = page_of("link");
    let store = Store::open(&page.folders).unwrap();
    let plain = |arguments: &str| Question { page_only: false, ..question(arguments) };
    let (one, other, alone) = (plain("{\"n\":1}"), plain("{\"n\":2}"), question("{\"n\":3}"));
    let tickets = [&one, &other, &alone].map(|question| asked(&store, question));
    let id = |ticket: &Ticket| {
        let open = store.open_questions().unwrap();
        let at = tickets.iter().position(|own| own == ticket).unwrap();
        let wanted = [&one, &other, &alone][at];
        open.into_iter().find(|open| open.question.arguments == wanted.arguments).unwrap().id
    };
    let ids = tickets.each_ref().map(id);
    let follow = |ticket: &Ticket| {
        let address = link(&page.folders, ticket).unwrap();
        let start = format!("http://127.0.0.1:{}", page.port);
        let (path, code) = address.strip_prefix(&start).unwrap().split_once('#').unwrap();
        let from = "sec-fetch-site: cross-site\r\nsec-fetch-mode: navigate\r\nsec-fetch-dest: document\r\n";
        assert_eq!((page.get(path, from).0, page.get(path, "sec-fetch-site: none\r\n").0), (200, 200));
        let (status, answer) = page.post("/code", "", code);
        assert_eq!((status, page.post("/code", "", code).0), (200, 403), "it is used once");
        assert_eq!(page.get(path, from).0, 403, "and its place is no longer expected");
        format!("x-policy-token: {}\r\n", body(&answer)["token"].as_str().unwrap())
    };
    let held = follow(&tickets[0]);
    let mut news = json!({"seen": ""});
    let end = Instant::now() + Duration::from_secs(30);
    while news["questions"].as_array().is_none_or(Vec::is_empty) && Instant::now() < end {
        let seen = news["seen"].as_str().unwrap().to_owned();
        news = body(&page.get(&format!("/questions?seen={seen}"), &held).1);
    }
    let seen: Vec<&Value> = news["questions"].as_array().unwrap().iter().map(|own| &own["id"]).collect();
    assert_eq!(seen, [&json!(ids[0])], "it sees no other question");
    let answer =
        |held: &str, id: &str| page.post("/answer", held, &json!({"id": id, "verdict": "once"}).to_string());
    assert_eq!(answer(&held, &ids[1]).0, 403, "nor answers it");
    // What is for the page alone is not answered by it.
    let (status, told) = answer(&follow(&tickets[2]), &ids[2]);
    assert!(status == 200 && body(&told)["error"].as_str().unwrap().contains("on the page"), "{told}");
    assert_eq!(body(&answer(&held, &ids[0]).1)["ok"], true);
    let said = store.wait(&tickets[0], Instant::now());
    let Answer::Approved(approval) = said else { panic!("{said:?}") };
    assert_eq!(approval.channel, Channel::Elicit);
    // A closed question has no address, and the code of one no longer opens anything.
    assert_eq!(link(&page.folders, &tickets[0]), None);
    let code = store.new_link(&tickets[1]).unwrap().unwrap();
    store.cancel(&tickets[1]).unwrap();
    assert_eq!(page.post("/code", "", &code).0, 403);
}
