//! `policy approvals`: what waits for a person, and the answers from a terminal.
//!
//! INVARIANT: text of agents is printed through the one display function, and labelled; nothing that opens the page is printed.

use crate::args::{ApprovalsArgs, ApprovalsCommand};
use crate::context::Context;
use crate::output::{Failure, OK, Outcome, print};
use policy_approvals::{Channel, Notice, Open, PINS, Standing, Store, Verdict};
use policy_engine::places::Folders;
use policy_gateway::approve::{self, laid_out, plain};
use policy_gateway::pay::held;
use policy_ledger::Sqlite;
use policy_payments::ledger::{Decision, Status};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the file that opens the page is kept for a browser.
const OPENS_WITHIN: Duration = Duration::from_secs(60);
/// Least digits of an id that are taken for it.
const SHORTEST: usize = 6;
/// Columns of a line.
const WIDTH: usize = 80;

/// Runs the command.
pub(crate) fn run(args: &ApprovalsArgs, context: &Context) -> Outcome {
    let folders = context.folders()?;
    match &args.command {
        None => open(&folders, context),
        Some(ApprovalsCommand::List) => list(&folders, context),
        Some(ApprovalsCommand::Approve { id, session }) => {
            let verdict = if *session { Verdict::Session } else { Verdict::Once };
            answer(&folders, context, id, verdict)
        }
        Some(ApprovalsCommand::Deny { id }) => answer(&folders, context, id, Verdict::Deny),
        Some(ApprovalsCommand::Serve) => approve::serve(&folders).map_err(Failure::usage).map(|()| OK),
    }
}

fn open(folders: &Folders, context: &Context) -> Outcome {
    let program = std::env::current_exe().map_err(|error| Failure::usage(error.to_string()))?;
    let opening = approve::open_page(folders, &program).map_err(Failure::usage)?;
    if opening.started {
        context.output.remark("the page opens in your browser");
    } else {
        let file = opening.file.display();
        context.output.remark(&format!("open `{file}` in a browser within a minute; it opens the page once"));
    }
    if opening.finish(OPENS_WITHIN) {
        return Ok(OK);
    }
    Err(Failure::usage(
        "the page was not opened within a minute; `policy approvals list` shows questions here",
    ))
}

fn list(folders: &Folders, context: &Context) -> Outcome {
    let store = store(folders)?;
    let notices = store.notices().map_err(Failure::usage)?;
    let open = store.open_questions().map_err(Failure::usage)?;
    let payments = held::waiting(&ledger(folders)).map_err(Failure::usage)?;
    if context.output.json() {
        for notice in &notices {
            print(&format!("{}\n", notice_as_json(notice)));
        }
        for open in &open {
            print(&format!("{}\n", as_json(open)));
        }
        for own in &payments {
            print(&format!("{}\n", payment_as_json(own)));
        }
        return Ok(OK);
    }
    if open.is_empty() && payments.is_empty() {
        context.output.remark("nothing waits for you");
    }
    let notices = notices.iter().map(notice_as_text);
    let payments = payments.iter().map(payment_as_text);
    for (number, text) in notices.chain(open.iter().map(as_text)).chain(payments).enumerate() {
        let gap = if number > 0 { "\n" } else { "" };
        print(&format!("{gap}{text}"));
    }
    Ok(OK)
}

fn answer(folders: &Folders, context: &Context, id: &str, verdict: Verdict) -> Outcome {
    let no = |why: &str| Failure::usage(why.to_owned());
    if let Some(own) = payment(folders, id)? {
        return answer_payment(folders, context, &own, verdict);
    }
    if id.len() < SHORTEST || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Failure::usage(format!(
            "an id is digits of 0-9 and a-f, of which at least {SHORTEST} are needed; `policy approvals list` shows them"
        )));
    }
    let store = store(folders)?;
    let known = store.known(id).map_err(Failure::usage)?;
    let open: Vec<_> = known.iter().filter(|known| known.standing == Standing::Open).collect();
    let one = match (open.as_slice(), known.first()) {
        ([one], _) => *one,
        ([_, ..], _) => return Err(no("several open questions begin so; write more digits of the id")),
        ([], None) => {
            return Err(no(
                "no question of the last day has this id; `policy approvals list` shows what is open",
            ));
        }
        ([], Some(gone)) => return Err(no(gone_because(gone.standing))),
    };
    let tool = store.open_questions().map_err(Failure::usage)?;
    let tool = tool
        .iter()
        .find(|open| open.id == one.id)
        .map_or(String::new(), |open| one_line(&open.question.tool));
    store
        .answer(&one.id, verdict, Channel::Terminal)
        .map_err(|error| Failure::usage(plain(&error.to_string())))?;
    let said = match verdict {
        Verdict::Once => "approved, once",
        Verdict::Session => "approved for this session",
        Verdict::Deny => "denied",
    };
    context.output.remark(&format!("{said}: {tool}"));
    Ok(OK)
}

fn ledger(folders: &Folders) -> Sqlite {
    Sqlite::at(policy_ledger::file(&folders.state))
}

/// The payment that waits under this id, or the beginning of it.
fn payment(folders: &Folders, id: &str) -> Result<Option<Decision>, Failure> {
    let fine = id.len() >= SHORTEST && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    // A ledger that cannot be used says so with the question about it.
    let waiting = if fine { held::waiting(&ledger(folders)).unwrap_or_default() } else { Vec::new() };
    let mut all = waiting.into_iter().filter(|own| own.id.starts_with(id));
    match (all.next(), all.next()) {
        (Some(_), Some(_)) => {
            Err(Failure::usage("several payments begin so; write more of the id".to_owned()))
        }
        (one, _) => Ok(one),
    }
}

fn answer_payment(folders: &Folders, context: &Context, own: &Decision, verdict: Verdict) -> Outcome {
    let approve = match verdict {
        Verdict::Once => true,
        Verdict::Deny => false,
        Verdict::Session => {
            return Err(Failure::usage("a payment is approved once; leave `--session` out".to_owned()));
        }
    };
    let done = held::answer(folders, &ledger(folders), &own.id, approve)
        .map_err(|why| Failure::usage(plain(&why.sentence())))?;
    if approve && done.status == Status::Denied {
        let why: Vec<String> = done.reasons.iter().map(|reason| plain(&reason.sentence)).collect();
        return Err(Failure::usage(format!(
            "something speaks against it now, and the payment is denied: {}",
            why.join("; ")
        )));
    }
    context.output.remark(if approve { "approved, once: the payment" } else { "denied: the payment" });
    Ok(OK)
}

/// A payment for a person at a terminal.
fn payment_as_text(own: &Decision) -> String {
    let asked = held::question(own);
    let mut out = String::new();
    fold(&mut out, "", "    ", &format!("{}  payment", own.id));
    let line = |out: &mut String, text: &str| fold(out, "  ", "    ", text);
    for told in &asked.shown.commands {
        line(&mut out, &one_line(told));
    }
    for reason in &own.reasons {
        line(&mut out, &format!("{}: {}", one_line(&reason.rule), one_line(&reason.sentence)));
    }
    line(&mut out, &format!("session {}", one_line(&own.session)));
    line(&mut out, &one_line(&asked.arguments));
    out
}

fn payment_as_json(own: &Decision) -> Value {
    let reasons: Vec<Value> = own
        .reasons
        .iter()
        .map(|reason| json!({ "denies": reason.denies, "rule": reason.rule, "sentence": reason.sentence }))
        .collect();
    json!({
        "payment": own.id, "session": own.session, "reasons": reasons, "expires": own.expires,
        "asked": serde_json::from_str::<Value>(&own.shown).unwrap_or_default(),
    })
}

/// Why a question takes no answer any more.
fn gone_because(standing: Standing) -> &'static str {
    match standing {
        Standing::Open => "it is open",
        Standing::Approved(Channel::Page) => "it was approved already, on the page",
        Standing::Approved(Channel::Terminal) => "it was approved already, at a terminal",
        Standing::Approved(Channel::Elicit) => "it was approved already, in the client",
        Standing::Denied(Channel::Page) => "it was denied already, on the page",
        Standing::Denied(Channel::Terminal) => "it was denied already, at a terminal",
        Standing::Denied(Channel::Elicit) => "it was denied already, in the client",
        Standing::Closed => {
            "it is closed: its time was over, it was withdrawn, or a file that the call executes has changed"
        }
    }
}

fn store(folders: &Folders) -> Result<Store, Failure> {
    Store::open(folders).map_err(Failure::usage)
}

/// A question for a person at a terminal.
fn as_text(open: &Open) -> String {
    let asked = &open.question;
    let mut out = String::new();
    let own = |out: &mut String, text: &str| fold(out, "  ", "    ", text);
    let server =
        asked.server.as_ref().map_or(String::new(), |server| format!(" of {}", one_line(&server.name)));
    fold(&mut out, "", "    ", &format!("{}  {}{server}", open.id, one_line(&asked.tool)));
    own(&mut out, &format!("host {}, session {}", one_line(&asked.host), one_line(&asked.session)));
    if !asked.actor.is_empty() {
        own(&mut out, &format!("agent {}", one_line(&asked.actor)));
    }
    own(&mut out, &format!("in {}", one_line(&asked.cwd.to_string_lossy())));
    let left = open.waits.saturating_sub(now()) / 1000;
    if left > 0 {
        own(&mut out, &format!("the call waits {left} s"));
    } else {
        own(&mut out, "the call was denied, unanswered; an approval now counts once for an identical one");
    }
    for said in &asked.said {
        let mut text = format!("{} by {}", one_line(&said.decision), one_line(&said.rule));
        for (before, part) in [
            (" ", &said.place),
            (": ", &said.reason),
            ("; looked at ", &said.matched),
            ("; instead: ", &said.suggest),
        ] {
            if !part.is_empty() {
                text.push_str(before);
                text.push_str(&one_line(part));
            }
        }
        own(&mut out, &text);
    }
    own(&mut out, "written by the agent, between the lines:");
    let mut block = |name: &str, text: &str| {
        let _ = writeln!(out, "  --- {name}");
        // SECURITY: folded by us, since a terminal would begin the rest of a long line where lines of ours begin.
        for line in plain(text).split('\n') {
            fold(&mut out, "  | ", "  : ", line);
        }
    };
    if !asked.shown.commands.is_empty() {
        block("commands", &asked.shown.commands.join("\n"));
    }
    if !asked.shown.diff.is_empty() {
        block("change", &asked.shown.diff);
    }
    block("arguments", &laid_out(&asked.arguments));
    for (file, _) in &asked.operands {
        block("runs", &file.to_string_lossy());
    }
    out.push_str("  ---\n");
    if asked.page_only {
        out.push_str("  only the page may approve it: `policy approvals`\n");
    }
    out
}

/// A policy with errors, or a server that changed, for a person at a terminal.
fn notice_as_text(notice: &Notice) -> String {
    let mut out = String::new();
    if notice.code == PINS {
        fold(&mut out, "", "    ", &format!("{}: {}", one_line(&notice.file), one_line(&notice.message)));
        fold(&mut out, "  ", "    ", &one_line(&notice.help));
        return out;
    }
    let minutes = |from: i64, to: i64| to.saturating_sub(from).max(0) / 60_000 + 1;
    let now = now();
    let since = minutes(notice.since, now);
    let head = format!("{} cannot be used, since {since} min", one_line(&notice.file));
    fold(&mut out, "", "    ", &head);
    let place =
        if notice.place.is_empty() { String::new() } else { format!("{}: ", one_line(&notice.place)) };
    let code = if notice.code.is_empty() { String::new() } else { format!(" ({})", one_line(&notice.code)) };
    fold(&mut out, "  ", "    ", &format!("{place}{}{code}", one_line(&notice.message)));
    if !notice.help.is_empty() {
        fold(&mut out, "  ", "    ", &format!("help: {}", one_line(&notice.help)));
    }
    if notice.more > 0 {
        fold(&mut out, "  ", "    ", &format!("and {} more", notice.more));
    }
    let holds = match notice.until {
        0 => "it holds for nothing, and calls are denied until it is mended".to_owned(),
        until => {
            format!("as it was before it holds {} min more, and what it allows is asked", minutes(now, until))
        }
    };
    fold(&mut out, "  ", "    ", &holds);
    out
}

fn notice_as_json(notice: &Notice) -> serde_json::Value {
    json!({ "notice": {
        "file": notice.file, "place": notice.place, "code": notice.code, "message": notice.message,
        "help": notice.help, "more": notice.more, "since": notice.since, "until": notice.until,
    }})
}

/// Lines of at most [`WIDTH`] columns, the first behind `first`, the others behind `next`.
pub(crate) fn fold(out: &mut String, first: &str, next: &str, text: &str) {
    out.push_str(first);
    let mut column = first.len();
    for letter in text.chars() {
        // Letters of the far east and signs are two columns wide; too many are no harm.
        let wide = if u32::from(letter) < 0x1100 { 1 } else { 2 };
        if column + wide > WIDTH {
            out.push('\n');
            out.push_str(next);
            column = next.len();
        }
        out.push(letter);
        column += wide;
    }
    out.push('\n');
}

/// Text within a line of ours: a line break would make a line of its own.
pub(crate) fn one_line(text: &str) -> String {
    plain(&text.replace('\n', "\u{2028}"))
}

fn as_json(open: &Open) -> serde_json::Value {
    let asked = &open.question;
    json!({
        "id": open.id,
        "asked": open.asked,
        "waits": open.waits,
        "closes": open.closes,
        "host": asked.host,
        "session": asked.session,
        "actor": asked.actor,
        "server": asked.server.as_ref().map(|server| &server.name),
        "tool": asked.tool,
        "arguments": asked.arguments,
        "cwd": asked.cwd.to_string_lossy(),
        "said": asked.said.iter().map(|said| json!({
            "decision": said.decision, "rule": said.rule, "place": said.place, "reason": said.reason,
            "suggest": said.suggest, "matched": said.matched,
        })).collect::<Vec<_>>(),
        "commands": asked.shown.commands,
        "change": asked.shown.diff,
        "runs": asked.operands.iter().map(|(path, _)| path.to_string_lossy()).collect::<Vec<_>>(),
        "page_only": asked.page_only,
    })
}

pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
