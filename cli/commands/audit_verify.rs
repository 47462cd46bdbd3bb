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
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the system's own program lies; what else has its name is not asked.
const JOURNALCTL: [&str; 2] = ["/usr/bin/journalctl", "/bin/journalctl"];
/// Most that is read of the journal, in bytes.
const MAX_ENTRIES: u64 = 512 * 1024 * 1024;

/// Runs the command.
pub(crate) fn run(args: &AuditVerifyArgs, context: &Context) -> Outcome {
    let log = file(args.file.as_deref(), context)?;
    let mut files: Vec<PathBuf> = if args.alone { Vec::new() } else { rotate::earlier(&log) };
    files.push(log.clone());
    let user = std::fs::metadata(&log).map(|meta| meta.uid()).ok();
    let known_as = args.written_as.clone().unwrap_or_else(|| log.clone());
    let (entries, source) = match &args.anchors {
        Some(file) => {
            let file = context.path(file)?;
            let read = open::read(&file, Care::Named, MAX_ENTRIES);
            let (bytes, _) = read.map_err(|error| Failure::usage(error.to_string()))?;
            (Some(String::from_utf8_lossy(&bytes).into_owned()), file.display().to_string())
        }
        None => (journal(), "the system journal".to_owned()),
    };
    let asked = entries.is_some();
    let anchors = Anchors::read(&entries.unwrap_or_default(), &known_as, user.unwrap_or(u32::MAX));
    if user.is_none() {
        return missing(&log, &anchors, args, context);
    }
    let trusted = audit_key::trusted(args.key.as_deref(), context)?;
    let signature = |by: &Checkpoint, text: &[u8]| {
        trusted.is_none_or(|key| key == by.key) && audit_key::is_good(by, text)
    };
    let against = Against { anchors: &anchors, alone: args.alone, signature: &signature };
    let report = verify(&files, &against).map_err(|error| Failure::usage(error.to_string()))?;
    let outside = Outside { asked, any: !anchors.is_empty(), source, trusted: trusted.is_some() };
    print(&if context.output.json() { as_json(&report, &outside) } else { as_text(&report, &outside, &log) });
    Ok(if report.count == 0 { OK } else { FINDINGS })
}

struct Outside {
    asked: bool,
    any: bool,
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

/// The entries of this user in the journal, when it can be asked.
fn journal() -> Option<String> {
    let program = JOURNALCTL.iter().find(|program| Path::new(program).exists())?;
    let mut child = Command::new(program)
        .args(["--quiet", "--no-pager", "-o", "json", "--output-fields=MESSAGE,_UID", "-t", NAME])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut out = Vec::new();
    let read = child.stdout.take().map(|stdout| {
        use std::io::Read as _;
        stdout.take(MAX_ENTRIES).read_to_end(&mut out)
    });
    let ended = child.wait().ok()?;
    read?.ok()?;
    ended.success().then(|| String::from_utf8_lossy(&out).into_owned())
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
    if let Some(seq) = report.signed {
        let by = if outside.trusted { "" } else { ", by a key that nobody vouches for (`--key`)" };
        out.push_str(&format!("signed up to sequence {seq}{by}\n"));
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
            let said = match &report.said {
                Some((seq, by)) if by != "none" => {
                    format!("; the last line that was sent to the {by} is sequence {seq}")
                }
                _ => String::new(),
            };
            format!(
                "the end is not anchored: {why}, so that lines cut off at the end, or a chain written anew, would not be seen{said}\n"
            )
        }
    }
}
