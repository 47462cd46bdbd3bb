//! `policy pins`: the tools of wrapped servers as they were pinned, and what changed.
//!
//! INVARIANT: text of servers is printed through the one display function, and labelled; what is accepted is what was shown.

use crate::args::{PinsArgs, PinsCommand};
use crate::commands::approvals::{fold, now, one_line};
use crate::context::Context;
use crate::output::{Failure, OK, Outcome, print};
use policy_gateway::approve::plain;
use policy_gateway::pins::{Change, Entry, Pins, Shelf, changes};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Least digits of an id that are taken for it.
const SHORTEST: usize = 6;
/// Digits of an id that are shown.
const SHOWN: usize = 12;

/// Runs the command.
pub(crate) fn run(args: &PinsArgs, context: &Context) -> Outcome {
    let shelf = Shelf::of(&context.folders()?);
    match &args.command {
        PinsCommand::List => list(&shelf, context),
        PinsCommand::Show { name } => show(&shelf, context, name),
        PinsCommand::Accept { name, tools } => accept(&shelf, context, name, tools),
        PinsCommand::Forget { name } => {
            let entry = find(&shelf, name)?;
            shelf.forget(&entry.key).map_err(failed)?;
            context.output.remark("forgotten; what the server lists next is pinned");
            Ok(OK)
        }
    }
}

fn failed(why: String) -> Failure {
    Failure::usage(plain(&why))
}

fn list(shelf: &Shelf, context: &Context) -> Outcome {
    let all = shelf.list().map_err(failed)?;
    if context.output.json() {
        all.iter().for_each(|entry| print(&format!("{}\n", as_json(entry, false))));
        return Ok(OK);
    }
    if all.is_empty() {
        context.output.remark("no server is pinned yet");
    }
    for (number, entry) in all.iter().enumerate() {
        print(&format!("{}{}", if number > 0 { "\n" } else { "" }, head(entry)));
    }
    Ok(OK)
}

fn show(shelf: &Shelf, context: &Context, name: &str) -> Outcome {
    let entry = find(shelf, name)?;
    let pins = entry.pins.as_ref().map_err(|why| failed(why.clone()))?;
    if context.output.json() {
        print(&format!("{}\n", as_json(&entry, true)));
    } else {
        let mut out = head(&entry);
        for change in changes(pins) {
            let title = title(&change);
            let _ = writeln!(out, "\n{title}; written by the server, between the lines:\n  ---");
            for line in change.lines {
                fold(&mut out, "  | ", "  : ", &plain(&line));
            }
            out.push_str("  ---\n");
        }
        if pins.waiting.is_empty() {
            fold(&mut out, "\n", "", "nothing waits of it; these are its tools:");
            for tool in pins.tools.keys() {
                fold(&mut out, "  ", "    ", &one_line(tool));
            }
        }
        print(&out);
    }
    if !pins.waiting.is_empty() {
        // ORDER: printed first, and only then as good as looked at.
        shelf.shown(&entry.key, &pins.waiting).map_err(failed)?;
    }
    Ok(OK)
}

fn accept(shelf: &Shelf, context: &Context, name: &str, tools: &[String]) -> Outcome {
    let entry = find(shelf, name)?;
    let (taken, instructions) = shelf.accept(&entry.key, tools, now()).map_err(failed)?;
    let mut parts: Vec<String> = taken.iter().map(|tool| one_line(tool)).collect();
    if instructions {
        parts.push("the instructions of the server".to_owned());
    }
    context.output.remark(&format!("accepted: {}", parts.join(", ")));
    Ok(OK)
}

/// The server that somebody means.
fn find(shelf: &Shelf, name: &str) -> Result<Entry, Failure> {
    let all = shelf.list().map_err(failed)?;
    let named = |entry: &&Entry| entry.pins.as_ref().is_ok_and(|pins| !name.is_empty() && pins.name == name);
    let digits = name.len() >= SHORTEST && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let by_name: Vec<&Entry> = all.iter().filter(named).collect();
    let found = match by_name.is_empty() {
        false => by_name,
        true => all.iter().filter(|entry| digits && entry.key.starts_with(name)).collect(),
    };
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(failed(format!("no server `{name}` is pinned; `policy pins list` shows those that are"))),
        _ => Err(failed(format!(
            "several servers are called `{name}`; name one by the digits that `policy pins list` shows"
        ))),
    }
}

fn title(change: &Change) -> String {
    match &change.tool {
        Some(tool) => format!("tool {}, {}", one_line(tool), change.what),
        None => format!("instructions, {}", change.what),
    }
}

/// A server in a few lines.
fn head(entry: &Entry) -> String {
    let mut out = String::new();
    let id = entry.key.get(..SHOWN).unwrap_or(&entry.key);
    let pins = match &entry.pins {
        Ok(pins) => pins,
        Err(why) => {
            fold(&mut out, "", "    ", &format!("{id}  cannot be used; all calls of the server are denied"));
            fold(&mut out, "  ", "    ", &one_line(why));
            return out;
        }
    };
    let name = if pins.name.is_empty() { "(no name)".to_owned() } else { one_line(&pins.name) };
    fold(&mut out, "", "    ", &format!("{id}  {name}, {}", told(pins)));
    fold(&mut out, "  ", "    ", &one_line(&pins.source));
    for change in changes(pins) {
        fold(&mut out, "  waits: ", "    ", &title(&change));
    }
    out
}

fn told(pins: &Pins) -> String {
    let days = |since: i64| match now().saturating_sub(since).max(0) / 86_400_000 {
        0 => "today".to_owned(),
        1 => "yesterday".to_owned(),
        days => format!("{days} days ago"),
    };
    let tools = match pins.tools.len() {
        1 => "one tool".to_owned(),
        many => format!("{many} tools"),
    };
    let accepted = match pins.accepted {
        0 => String::new(),
        at => format!(", accepted last {}", days(at)),
    };
    format!("{tools}, pinned {}{accepted}", days(pins.first_seen))
}

fn as_json(entry: &Entry, whole: bool) -> Value {
    let pins = match &entry.pins {
        Ok(pins) => pins,
        Err(why) => return json!({ "id": entry.key, "error": why }),
    };
    let waiting: Vec<Value> = changes(pins)
        .into_iter()
        .map(|change| match whole {
            true => json!({ "tool": change.tool, "what": change.what, "lines": change.lines }),
            false => json!({ "tool": change.tool, "what": change.what }),
        })
        .collect();
    json!({
        "id": entry.key,
        "name": pins.name,
        "command": pins.source,
        "first_seen": pins.first_seen,
        "accepted": pins.accepted,
        "tools": pins.tools.keys().collect::<Vec<_>>(),
        "waiting": waiting,
    })
}
