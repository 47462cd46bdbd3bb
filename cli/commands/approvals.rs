//! `policy approvals`: what waits for a person, and the answers from a terminal.
//!
//! INVARIANT: text of agents is printed through the one display function, and labelled; nothing that opens the page is printed.

use crate::args::{ApprovalsArgs, ApprovalsCommand};
use crate::context::Context;
use crate::output::{Failure, OK, Outcome, print};
use policy_approvals::{Channel, Open, Store, Verdict};
use policy_engine::places::Folders;
use policy_gateway::approve::{self, laid_out, plain};
use serde_json::json;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the file that opens the page is kept for a browser.
const OPENS_WITHIN: Duration = Duration::from_secs(60);
/// Least digits of an id that are taken for it.
const SHORTEST: usize = 6;

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
    let open = store(folders)?.open_questions().map_err(Failure::usage)?;
    if context.output.json() {
        for open in &open {
            print(&format!("{}\n", as_json(open)));
        }
        return Ok(OK);
    }
    if open.is_empty() {
        context.output.remark("nothing waits for you");
    }
    for (number, open) in open.iter().enumerate() {
        let gap = if number > 0 { "\n" } else { "" };
        print(&format!("{gap}{}", as_text(open)));
    }
    Ok(OK)
}

fn answer(folders: &Folders, context: &Context, id: &str, verdict: Verdict) -> Outcome {
    let store = store(folders)?;
    let open = store.open_questions().map_err(Failure::usage)?;
    let known: Vec<&Open> = open.iter().filter(|open| open.id.starts_with(id)).collect();
    let one = match known.as_slice() {
        _ if id.len() < SHORTEST => {
            return Err(Failure::usage(format!("write at least {SHORTEST} digits of the id")));
        }
        [one] => *one,
        [] => {
            let help = "no open question has this id; `policy approvals list` shows them";
            return Err(Failure::usage(help));
        }
        _ => return Err(Failure::usage("several questions begin so; write more of the id")),
    };
    store
        .answer(&one.id, verdict, Channel::Terminal)
        .map_err(|error| Failure::usage(plain(&error.to_string())))?;
    let said = match verdict {
        Verdict::Once => "approved, once",
        Verdict::Session => "approved for this session",
        Verdict::Deny => "denied",
    };
    context.output.remark(&format!("{said}: {}", one_line(&one.question.tool)));
    Ok(OK)
}

fn store(folders: &Folders) -> Result<Store, Failure> {
    Store::open(folders).map_err(Failure::usage)
}

/// A question for a person at a terminal.
fn as_text(open: &Open) -> String {
    let asked = &open.question;
    let mut out = String::new();
    let _ = write!(out, "{}  {}", open.id, one_line(&asked.tool));
    if let Some(server) = &asked.server {
        let _ = write!(out, " of {}", one_line(&server.name));
    }
    let _ = writeln!(out, "\n  host {}, session {}", one_line(&asked.host), one_line(&asked.session));
    if !asked.actor.is_empty() {
        let _ = writeln!(out, "  agent {}", one_line(&asked.actor));
    }
    let _ = writeln!(out, "  in {}", one_line(&asked.cwd.to_string_lossy()));
    let left = open.waits.saturating_sub(now()) / 1000;
    if left > 0 {
        let _ = writeln!(out, "  the call waits {left} s");
    } else {
        let _ = writeln!(
            out,
            "  the call was denied, unanswered; an approval now counts once for an identical one"
        );
    }
    for said in &asked.said {
        let _ = write!(out, "  {} by {}", one_line(&said.decision), one_line(&said.rule));
        for (before, text) in [(" ", &said.place), (": ", &said.reason), ("; looked at ", &said.matched)] {
            if !text.is_empty() {
                let _ = write!(out, "{before}{}", one_line(text));
            }
        }
        out.push('\n');
    }
    let _ = writeln!(out, "  written by the agent, between the lines:");
    let mut block = |name: &str, text: &str| {
        let _ = writeln!(out, "  --- {name}");
        for line in plain(text).lines() {
            let _ = writeln!(out, "  | {line}");
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

/// Text within a line of ours: a line break would make a line of its own.
fn one_line(text: &str) -> String {
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
        "page_only": asked.page_only,
    })
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
