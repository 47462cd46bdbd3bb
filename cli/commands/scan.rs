//! `policy scan`: what the content lines of the policy in force find in files, in what a change adds, in texts.
//!
//! INVARIANT: a file that was not looked at, or not wholly, is told; exit 0 only when no error was found and everything was
//! looked at.

mod baseline;
mod batch;
mod diff;
mod files;
mod report;

use crate::args::ScanArgs;
use crate::context::Context;
use crate::output::{BAD_POLICY, FINDINGS, Failure, OK, Outcome};
use policy_engine::scan::Sieve;
use policy_runtime::verdict::{Finding, Severity};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Largest file that is looked at, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// One file to look at.
#[derive(Debug, Clone)]
struct Target {
    /// As it is shown.
    shown: String,
    /// On disk.
    path: PathBuf,
    /// The lines to look at, counted from 1; none is all.
    lines: Option<Vec<Range<usize>>>,
    /// Where its content is.
    source: Source,
}

/// Where the content of a file is.
#[derive(Debug, Clone)]
enum Source {
    /// At its path.
    Disk,
    /// In git, under this name.
    Blob(String),
}

/// What was found in one file.
#[derive(Debug, Clone, Default)]
struct Scanned {
    shown: String,
    found: Vec<Found>,
    /// Why it was not, or not wholly, looked at.
    problems: Vec<String>,
}

/// A finding and what knows it again.
#[derive(Debug, Clone)]
struct Found {
    finding: Finding,
    /// Of the rule, the file and the text of the line: the same wherever the line moves to.
    print: String,
}

/// Runs the command.
pub(crate) fn run(args: &ScanArgs, context: &Context) -> Outcome {
    if args.batch {
        return batch::run(args, context);
    }
    let cwd = context.cwd()?;
    let baseline = args.baseline.as_deref().map(|file| context.path(file)).transpose()?;
    if args.update_baseline && baseline.is_none() {
        return Err(Failure::usage("`--update-baseline` needs `--baseline FILE`"));
    }
    let targets = match &args.diff {
        Some(range) => diff::targets(range, &args.paths, &cwd)?,
        None => files::targets(&args.paths, &cwd)?,
    };
    let sieve = sieve(args, context, &cwd)?;
    let progress = files::Progress::new(targets.len(), context.output);
    let mut scanned = files::scan(&sieve, (&targets, &cwd), &progress)?;
    progress.end();
    let mut old = 0;
    if let Some(file) = &baseline {
        if args.update_baseline {
            let count = baseline::write(file, &scanned)?;
            context.output.remark(&format!("{count} findings are old from now on: `{}`", file.display()));
            scanned.iter_mut().for_each(|file| file.found.clear());
            scanned.retain(|file| !file.problems.is_empty());
            if scanned.is_empty() {
                return Ok(OK);
            }
        } else {
            old = baseline::take_away(file, &mut scanned)?;
        }
    }
    report::print(&scanned, targets.len(), old, context);
    let errors = scanned.iter().flat_map(|file| &file.found).any(|f| f.finding.severity == Severity::Error);
    let unread = scanned.iter().any(|file| !file.problems.is_empty());
    Ok(if errors || unread { FINDINGS } else { OK })
}

/// The content lines that hold in the folder, or of `--policy`.
fn sieve(args: &ScanArgs, context: &Context, cwd: &Path) -> Result<Sieve, Failure> {
    let call = crate::args::CallArgs { policy: args.policy.clone(), ..crate::args::CallArgs::default() };
    let mut engine = super::check::engine(&call, context, true)?;
    let layers = engine.layers_at(cwd);
    let home = context.folders()?.home;
    Sieve::new(&layers, cwd, &home).map_err(|message| Failure { message, code: BAD_POLICY })
}
