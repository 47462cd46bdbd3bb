//! `policy audit gaps`: tool calls in transcripts of a host that have no line in the log. Claude Code writes them, and Codex.
//!
//! INVARIANT: a call counts once, however often transcripts repeat it, and a line of the log answers for one call only; what
//! cannot be compared is counted and said.

use super::audit::{field, file};
use super::check::Lines;
use crate::args::AuditGapsArgs;
use crate::context::Context;
use crate::output::{FINDINGS, Failure, OK, Outcome, print, visible};
use policy_engine::audit::rotate;
use policy_engine::open::{self, Care};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Most files that a folder gives.
const MAX_FILES: usize = 10_000;
/// Longest beginning of arguments that is shown, in characters.
const MAX_SHOWN: usize = 100;

/// How a result begins when the host made no call: no such tool, arguments that do not fit. No hook hears of it.
const REFUSED_BY_CLAUDE: &str = "<tool_use_error>";
const NO_TOOL_OF_CODEX: &str = "unsupported call: ";

/// Session and tool.
type Kind = (String, String);

/// A call that a transcript tells of.
struct Told {
    place: String,
    time: String,
    kind: Kind,
    arguments: String,
    /// The call's own name.
    key: String,
}

/// Runs the command.
pub(crate) fn run(args: &AuditGapsArgs, context: &Context) -> Outcome {
    let log = file(args.file.as_deref(), context)?;
    let mut files = rotate::earlier(&log);
    if files.is_empty() || open::present(&log).is_ok_and(|present| present) {
        files.push(log);
    }
    let mut known = Log::default();
    for file in &files {
        known.read(file)?;
    }
    let mut told = Transcripts::default();
    for path in transcripts(&args.transcripts, context)? {
        told.read(&path)?;
    }
    let number = told.calls.len();
    let begins = known.begins.clone();
    // SECURITY: a tool can give such a text back too, so these are counted and said.
    let (never, left): (Vec<Told>, Vec<Told>) =
        known.without(told.calls).into_iter().partition(|call| told.refused.contains(&call.key));
    // ORDER: a call stands in the transcript before it stands in the log, the first one too.
    let (early, gaps): (Vec<Told>, Vec<Told>) =
        left.into_iter().partition(|call| !call.time.is_empty() && call.time < begins);
    if context.output.json() {
        for gap in &gaps {
            let (session, tool) = &gap.kind;
            let row = json!({"place": gap.place, "time": gap.time, "session": session, "tool": tool, "arguments": gap.arguments});
            print(&format!("{row}\n"));
        }
    } else {
        gaps.iter().for_each(|gap| print(&shown(gap)));
    }
    if told.bad > 0 {
        context.output.remark(&format!("{} lines of the transcripts are no JSON", told.bad));
    }
    if !early.is_empty() {
        context
            .output
            .remark(&format!("{} calls without a line are older than the log ({begins})", early.len()));
    }
    if !never.is_empty() {
        context.output.remark(&format!(
            "{} calls without a line were not made, as their results say: the host refused them",
            never.len()
        ));
    }
    context.output.remark(&format!("{} of {number} calls have no line in the log", gaps.len()));
    Ok(if gaps.is_empty() { OK } else { FINDINGS })
}

fn shown(gap: &Told) -> String {
    let (session, tool) = &gap.kind;
    let start: String = gap.arguments.chars().take(MAX_SHOWN).collect();
    let more = if start.len() < gap.arguments.len() { "…" } else { "" };
    let text = format!("{}: {}  {tool}  {start}{more}  (session {session})", gap.place, gap.time);
    format!("{}\n", visible(&text).replace('\n', "\\n"))
}

fn transcripts(named: &[PathBuf], context: &Context) -> Result<Vec<PathBuf>, Failure> {
    let mut out = Vec::new();
    for path in named {
        let path = context.path(path)?;
        if !path.is_dir() {
            out.push(path);
            continue;
        }
        let mut inside: Vec<PathBuf> = ignore::WalkBuilder::new(&path)
            .standard_filters(false)
            .build()
            .filter_map(|entry| Some(entry.ok()?.into_path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file())
            .take(MAX_FILES)
            .collect();
        inside.sort();
        out.append(&mut inside);
    }
    Ok(out)
}

/// The name under which a tool of Claude Code is compared: its transcripts call one tool by its old name.
fn named(tool: &str) -> String {
    if tool == "Task" { "Agent".to_owned() } else { tool.to_owned() }
}

/// The lines of the log that have not answered for a call.
#[derive(Default)]
struct Log {
    begins: String,
    /// Names of calls with several lines: they answer for one call.
    calls: HashSet<String>,
    lines: BTreeMap<Kind, Vec<String>>,
}

impl Log {
    fn read(&mut self, path: &Path) -> Result<(), Failure> {
        each(path, |_, row| {
            let Some(row) = row else { return };
            let time = field(&row, "time");
            if !time.is_empty() && (self.begins.is_empty() || time < self.begins.as_str()) {
                self.begins = time.to_owned();
            }
            let call = field(&row, "call");
            let first = call.is_empty() || self.calls.insert(call.to_owned());
            if first && field(&row, "event") == "pre_tool_use" {
                let kind = (field(&row, "session").to_owned(), named(field(&row, "tool")));
                self.lines.entry(kind).or_default().push(field(&row, "arguments").to_owned());
            }
        })
    }

    /// The calls that no line answers for. Another hook may have changed the arguments of a call before it was seen, so
    /// that lines left over answer for the calls left over, the first ones.
    fn without(mut self, calls: Vec<Told>) -> Vec<Told> {
        let mut left: Vec<Told> = Vec::new();
        for call in calls {
            let same = self.lines.get_mut(&call.kind).and_then(|lines| {
                let at = lines.iter().position(|arguments| *arguments == call.arguments)?;
                Some(lines.swap_remove(at))
            });
            if same.is_none() {
                left.push(call);
            }
        }
        left.retain(|call| self.lines.get_mut(&call.kind).and_then(Vec::pop).is_none());
        left
    }
}

/// The calls of transcripts.
#[derive(Default)]
struct Transcripts {
    calls: Vec<Told>,
    known: HashSet<String>,
    /// Calls that the host refused by itself.
    refused: HashSet<String>,
    bad: u64,
}

impl Transcripts {
    fn read(&mut self, path: &Path) -> Result<(), Failure> {
        // A rollout of Codex says it once, in its first line.
        let mut session = String::new();
        each(path, |number, row| {
            let Some(row) = row else {
                self.bad += 1;
                return;
            };
            let place = format!("{}:{number}", path.display());
            let told = |kind, arguments: &Value, key| Told {
                place: place.clone(),
                time: field(&row, "timestamp").to_owned(),
                kind,
                arguments: policy_hosts::audit::arguments(arguments),
                key,
            };
            if let Some(payload) = row.get("payload") {
                let key = field(payload, "call_id").to_owned();
                match (field(&row, "type"), codex(payload)) {
                    ("session_meta", _) => field(payload, "id").clone_into(&mut session),
                    ("response_item", Some((tool, input))) => {
                        self.add(told((session.clone(), tool), &input, key));
                    }
                    ("response_item", None) if field(payload, "output").starts_with(NO_TOOL_OF_CODEX) => {
                        self.refused.insert(key);
                    }
                    _ => {}
                }
                return;
            }
            let content = row.get("message").and_then(|message| message.get("content"));
            for block in content.and_then(Value::as_array).into_iter().flatten() {
                let key = |id| format!("{} {}", field(&row, "agentId"), field(block, id));
                match (field(&row, "type"), field(block, "type")) {
                    ("assistant", "tool_use") => {
                        let kind = (field(&row, "sessionId").to_owned(), named(field(block, "name")));
                        self.add(told(kind, block.get("input").unwrap_or(&Value::Null), key("id")));
                    }
                    (_, "tool_result") if field(block, "content").starts_with(REFUSED_BY_CLAUDE) => {
                        self.refused.insert(key("tool_use_id"));
                    }
                    _ => {}
                }
            }
        })
    }

    /// A session that is taken up again repeats what came before.
    fn add(&mut self, call: Told) {
        if call.key.trim_end().is_empty() || self.known.insert(call.key.clone()) {
            self.calls.push(call);
        }
    }
}

/// Tool and arguments of an item of Codex, as it tells them to a hook; none when the item is no call.
fn codex(item: &Value) -> Option<(String, Value)> {
    let name = field(item, "name");
    match field(item, "type") {
        "function_call" => {
            let input: Value = serde_json::from_str(field(item, "arguments")).unwrap_or_default();
            Some(match (field(item, "namespace"), name) {
                ("", "exec_command") => {
                    ("Bash".to_owned(), json!({"command": input.get("cmd").cloned().unwrap_or_default()}))
                }
                ("", "shell" | "shell_command") => ("Bash".to_owned(), input),
                ("", name) => (name.to_owned(), input),
                (server, name) => (format!("{server}__{name}"), input),
            })
        }
        "custom_tool_call" => Some((name.to_owned(), json!({"command": field(item, "input")}))),
        "local_shell_call" => Some(("Bash".to_owned(), item.get("action").cloned().unwrap_or_default())),
        _ => None,
    }
}

/// Reads the lines of a file; one that is no JSON object is given as none.
fn each(path: &Path, mut told: impl FnMut(u64, Option<Value>)) -> Result<(), Failure> {
    let opened =
        open::open(path, Care::Named, u64::MAX).map_err(|error| Failure::usage(error.to_string()))?;
    let mut lines = Lines { reader: BufReader::new(opened.file) };
    let mut number = 0;
    while let Some(line) = lines.next()? {
        number += 1;
        if !line.iter().all(u8::is_ascii_whitespace) {
            told(number, serde_json::from_slice(&line).ok().filter(Value::is_object));
        }
    }
    Ok(())
}
