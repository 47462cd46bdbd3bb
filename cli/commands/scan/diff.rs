//! The lines that a change adds, as `git diff` tells them.
//!
//! INVARIANT: what was given as a range is never an option of git, and no program of the repository's configuration runs;
//! files are read as they are in the working folder where that is the change's end, else as git has them.

use super::Target;
use crate::output::Failure;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The files that a range changes, with their added lines.
pub(super) fn targets(range: &str, paths: &[PathBuf], cwd: &Path) -> Result<Vec<Target>, Failure> {
    let mut git = git(cwd);
    git.args(["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", "--no-renames"]);
    git.args([
        "--relative",
        "--diff-filter=AM",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--ignore-submodules=all",
    ]);
    git.args(["--end-of-options", range, "--"]).args(paths);
    let out = git.output().map_err(|error| Failure::usage(format!("git cannot be run: {error}")))?;
    if !out.status.success() {
        let told = String::from_utf8_lossy(&out.stderr).trim().to_owned();
        return Err(Failure::usage(format!("git diff: {told}")));
    }
    let end = end(range, cwd)?;
    let target = |(shown, lines): (String, Vec<Range<usize>>)| Target {
        path: cwd.join(&shown),
        kept: end.as_ref().map(|end| format!("{end}:./{shown}")),
        shown,
        lines: Some(lines),
    };
    Ok(read(&String::from_utf8_lossy(&out.stdout)).into_iter().map(target).collect())
}

/// The commit at which a range ends; none when that is the working folder.
fn end(range: &str, cwd: &Path) -> Result<Option<String>, Failure> {
    let out = git(cwd)
        .args(["rev-parse", "--revs-only", "--end-of-options", range])
        .output()
        .map_err(|error| Failure::usage(format!("git cannot be run: {error}")))?;
    if !out.status.success() {
        let told = String::from_utf8_lossy(&out.stderr).trim().to_owned();
        return Err(Failure::usage(format!("git rev-parse: {told}")));
    }
    // What is left out has a `^` before it; of `A...B` the end comes first.
    let text = String::from_utf8_lossy(&out.stdout);
    let open = text.lines().any(|line| line.starts_with('^'));
    let first = text.lines().find(|line| line.bytes().all(|byte| byte.is_ascii_hexdigit()));
    Ok(first.filter(|_| open).map(str::to_owned))
}

/// A file as git keeps it, `COMMIT:./PATH`; at most `most` bytes and one more.
pub(super) fn kept(name: &str, most: u64, cwd: &Path) -> Result<Vec<u8>, String> {
    let told = |error: std::io::Error| format!("git cannot be run: {error}");
    let mut git = git(cwd);
    let mut child = git
        .args(["cat-file", "blob", name])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(told)?;
    let mut bytes = Vec::new();
    let pipe = child.stdout.take().map_or(Ok(0), |out| out.take(most + 1).read_to_end(&mut bytes));
    let whole = bytes.len() as u64 <= most;
    let status = child.wait().map_err(told)?;
    pipe.map_err(told)?;
    // Of what is too large not all was read, and git says so.
    if status.success() || !whole { Ok(bytes) } else { Err("git does not give it".to_owned()) }
}

fn git(cwd: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(cwd).stdin(Stdio::null());
    git.args(["-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "core.pager=cat"]);
    git.env("GIT_OPTIONAL_LOCKS", "0").env_remove("GIT_EXTERNAL_DIFF");
    git
}

/// Names and ranges of added lines of a diff without context.
fn read(text: &str) -> Vec<(String, Vec<Range<usize>>)> {
    let mut out: Vec<(String, Vec<Range<usize>>)> = Vec::new();
    // Lines of the change may look like heads; how many there are is told before them.
    let mut left = 0_usize;
    for line in text.split('\n') {
        if left > 0 && line.starts_with(['+', '-', '\\']) {
            left -= usize::from(!line.starts_with('\\'));
            continue;
        }
        left = 0;
        if let Some(name) = line.strip_prefix("+++ b/") {
            out.push((unquoted(name.trim_end_matches('\t')), Vec::new()));
        } else if let Some(name) = line.strip_prefix("+++ \"b/") {
            out.push((unquoted(name.trim_end_matches(['\t', '"'])), Vec::new()));
        } else if let Some(head) = line.strip_prefix("@@ -") {
            let Some((old, rest)) = head.split_once(" +") else { continue };
            let Some((new, _)) = rest.split_once(" @@") else { continue };
            let ((_, gone), (start, count)) = (span(old), span(new));
            left = gone + count;
            if let Some((_, lines)) = out.last_mut().filter(|_| count > 0) {
                lines.push(start..start + count);
            }
        }
    }
    out.retain(|(_, lines)| !lines.is_empty());
    out
}

/// `12,3` or `12`.
fn span(text: &str) -> (usize, usize) {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    (start.parse().unwrap_or(0), count.parse().unwrap_or(0))
}

fn unquoted(name: &str) -> String {
    name.replace("\\\"", "\"").replace("\\\\", "\\").replace("\\t", "\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_are_read_and_nothing_else() {
        let text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ fn\n-old\n+++ b/evil\n+@@ -1 +9,9 @@\n@@ -5,0 +7 @@\n+z\ndiff --git a/y b/y\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-q\n";
        let found = read(text);
        assert_eq!(found, [("x".to_owned(), vec![1..3, 7..8])]);
    }
}
