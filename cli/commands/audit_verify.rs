//! `policy audit verify`: whether the chain of the log holds, and how far somebody outside vouches for it.
//!
//! INVARIANT: what holds is said with what nothing proves; exit 0 only when no fault was found.

use super::audit::{default_file, file};
use super::audit_key;
use crate::args::AuditVerifyArgs;
use crate::context::Context;
use crate::output::{FINDINGS, Failure, OK, Outcome, print, visible};
use policy_engine::audit::anchor::{Anchors, NAME};
use policy_engine::audit::chain::hex;
use policy_engine::audit::rotate;
use policy_engine::audit::verify::{Against, Checkpoint, Report, verify};
use policy_engine::open::{self, Care};
use serde_json::{Value, json};
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the system's own program lies; what else has its name is not asked.
const JOURNALCTL: [&str; 2] = ["/usr/bin/journalctl", "/bin/journalctl"];

/// Runs the command.
pub(crate) fn run(args: &AuditVerifyArgs, context: &Context) -> Outcome {
    let log = file(args.file.as_deref(), context)?;
    let mut files: Vec<PathBuf> = if args.alone { Vec::new() } else { rotate::earlier(&log) };
    files.push(log.clone());
    let user = std::fs::metadata(&log).map(|meta| meta.uid()).ok();
    let known_as = args.written_as.clone().unwrap_or_else(|| log.clone());
    let owner = user.unwrap_or(u32::MAX);
    let (anchors, source) = match &args.anchors {
        Some(file) => {
            let file = context.path(file)?;
            let opened = open::open(&file, Care::Named, u64::MAX);
            let opened = opened.map_err(|error| Failure::usage(error.to_string()))?;
            let read = Anchors::read(BufReader::new(opened.file), &known_as, owner);
            let failed = |error| Failure::usage(format!("`{}` cannot be read: {error}", file.display()));
            (Some(read.map_err(failed)?), file.display().to_string())
        }
        None => (journal(&known_as, owner), "the system journal".to_owned()),
    };
    let asked = anchors.is_some();
    let anchors = anchors.unwrap_or_default();
    if user.is_none() {
        return missing(&log, &anchors, args, context);
    }
    let trusted = audit_key::trusted(&args.key, context)?;
    let signature = |by: &Checkpoint, text: &[u8]| {
        (trusted.is_empty() || trusted.contains(&by.key)) && audit_key::is_good(by, text)
    };
    let against = Against { anchors: &anchors, alone: args.alone, signature: &signature };
    let report = verify(&files, &against).map_err(|error| Failure::usage(error.to_string()))?;
    let outside = Outside {
        asked,
        any: !anchors.is_empty(),
        elsewhere: anchors.elsewhere.clone(),
        source,
        trusted: !trusted.is_empty(),
    };
    print(&if context.output.json() { as_json(&report, &outside) } else { as_text(&report, &outside, &log) });
    // Who names a key wants a proof by it: a log without its checkpoints was not signed, or was written anew.
    let proved = args.key.is_empty() || report.signed.is_some();
    Ok(if report.count == 0 && proved { OK } else { FINDINGS })
}

struct Outside {
    asked: bool,
    any: bool,
    elsewhere: Option<String>,
    source: String,
    /// Whether the key of checkpoints is known.
    trusted: bool,
}

/// No file: nothing was decided yet, or all of it was removed.
fn missing(log: &Path, anchors: &Anchors, args: &AuditVerifyArgs, context: &Context) -> Outcome {
    if let Some(last) = anchors.last() {
        print(&format!(
            "`{}` is not there, and sequence {last} of it is anchored: it was removed\n",
            log.display()
        ));
        return Ok(FINDINGS);
    }
    let default = args.file.is_none() && default_file(context).is_ok_and(|file| file == log);
    let more = if default { ": no decision was recorded yet, or all of it was removed" } else { "" };
    Err(Failure { message: format!("`{}` does not exist{more}", log.display()), code: FINDINGS })
}

/// The anchors in the journal, when it can be asked.
fn journal(log: &Path, owner: u32) -> Option<Anchors> {
    let program = JOURNALCTL.iter().find(|program| Path::new(program).exists())?;
    let mut child = Command::new(program)
        .args(["--quiet", "--no-pager", "--all", "-o", "json", "--output-fields=MESSAGE,_UID", "-t", NAME])
        // SECURITY: the settings of a repository may set variables; one would make it load a library of theirs.
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let read = child.stdout.take().map(|stdout| Anchors::read(BufReader::new(stdout), log, owner));
    let ended = child.wait().ok()?;
    read?.ok().filter(|_| ended.success())
}

fn as_json(report: &Report, outside: &Outside) -> String {
    let faults: Vec<Value> = report
        .faults
        .iter()
        .map(
            |fault| json!({"file": fault.file.display().to_string(), "line": fault.line, "what": fault.what}),
        )
        .collect();
    let out = json!({
        "holds": report.count == 0,
        "lines": report.lines,
        "unsealed": report.old,
        "unsealed_covered": report.old_covered,
        "first": report.first.map(|link| link.seq),
        "last": report.last.map(|link| link.seq),
        "hash": report.last.map(|link| hex(&link.hash)),
        "anchored": report.anchored,
        "signed": report.signed,
        "signer_known": outside.trusted,
        "anchors_read": outside.asked,
        "anchor_said": report.said.as_ref().map(|(seq, by)| json!({"sequence": seq, "by": by})),
        "faults": report.count,
        "first_faults": faults,
    });
    format!("{out}\n")
}

fn as_text(report: &Report, outside: &Outside, log: &Path) -> String {
    let mut out = String::new();
    for fault in &report.faults {
        out.push_str(&format!(
            "{}:{}: {}\n",
            visible(&fault.file.display().to_string()),
            fault.line,
            visible(&fault.what)
        ));
    }
    if let Some(more) = report.count.checked_sub(report.faults.len() as u64).filter(|more| *more > 0) {
        out.push_str(&format!("and {more} more faults\n"));
    }
    match (report.count, report.faults.first(), report.first, report.last) {
        (0, _, Some(first), Some(last)) => {
            out.push_str(&format!(
                "the chain holds from sequence {} to {} (`{}`)\n",
                first.seq,
                last.seq,
                visible(&log.display().to_string())
            ));
        }
        (_, Some(fault), ..) => {
            out.push_str(&format!("the chain is broken; the first bad line is line {}\n", fault.line));
        }
        _ => out.push_str("the chain is broken\n"),
    }
    match (report.old, report.old_covered) {
        (0, _) => {}
        (old, true) => out.push_str(&format!(
            "{old} lines before it are of the time before seals: unchanged since the first seal, and not proved before\n"
        )),
        (old, false) => out.push_str(&format!("{old} lines before it have no seal: nothing proves them\n")),
    }
    out.push_str(&anchored(report, outside));
    let by = if outside.trusted { "" } else { ", by a key that nobody vouches for (`--key`)" };
    match (report.signed, outside.trusted) {
        (Some(seq), _) => out.push_str(&format!("signed up to sequence {seq}{by}\n")),
        (None, true) => out.push_str("no line is signed by the key\n"),
        (None, false) => {}
    }
    out
}

fn anchored(report: &Report, outside: &Outside) -> String {
    let Some(last) = report.last else { return String::new() };
    match report.anchored {
        Some(seq) if seq == last.seq => {
            format!("anchored up to sequence {seq}, the last ({})\n", outside.source)
        }
        Some(seq) => format!(
            "anchored up to sequence {seq} ({}); {} lines behind it could be cut off without a trace\n",
            outside.source,
            last.seq.saturating_sub(seq)
        ),
        None => {
            let why = match (outside.asked, outside.any) {
                (false, _) => "the system journal cannot be read here",
                (true, false) => "there are no anchors of this log",
                (true, true) => "no anchor of this log fits",
            };
            let other = match &outside.elsewhere {
                Some(path) if !outside.any => {
                    format!(
                        " (there are some of `{}`; `--anchors` and `--written-as` say that it is the same)",
                        visible(path)
                    )
                }
                _ => String::new(),
            };
            let said = match &report.said {
                Some((seq, by)) if by != "none" => {
                    format!("; the last line that was sent to the {by} is sequence {seq}")
                }
                _ => String::new(),
            };
            format!(
                "the end is not anchored: {why}{other}, so that lines cut off at the end, or a chain written anew, would not be seen{said}\n"
            )
        }
    }
}
