//! The lines that a change adds, as `git diff` tells them.
//!
//! INVARIANT: what was given as a range is never an option of git, and no program of the repository's configuration runs;
//! files are read as they are in the working folder where that is the change's end, else as git has them. What the
//! repository says of its own files (attributes, settings of diffs) leaves no added line out.

use super::{Source, Target};
use crate::output::Failure;
use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The files that a range changes, with their added lines.
pub(super) fn targets(range: &str, paths: &[PathBuf], cwd: &Path) -> Result<Vec<Target>, Failure> {
    let mut git = git(cwd);
    git.args(["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", "--no-renames"]);
    git.args([
        "--relative",
        // A link that becomes a file is a change of the type.
        "--diff-filter=AMT",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--ignore-submodules=all",
        // SECURITY: `.gitattributes` may call any file binary, and then no line of it would be told.
        "--text",
        "--inter-hunk-context=0",
        "--full-index",
    ]);
    git.args(["--end-of-options", range, "--"]).args(paths);
    let told = told(git, "diff")?;
    let on_disk = ends_on_disk(range, cwd);
    let targets = read(&told).into_iter().filter(|file| !file.lines.is_empty() && !file.link);
    Ok(targets
        .map(|file| {
            let source = if on_disk { Source::Disk } else { Source::Blob(file.blob) };
            let shown = file.name.to_string_lossy().into_owned();
            Target { shown, path: cwd.join(&file.name), lines: Some(file.lines), source }
        })
        .collect())
}

/// The files below a folder that git keeps although something in it says to ignore them; none outside of git.
pub(super) fn kept_and_ignored(folder: &Path) -> Vec<PathBuf> {
    let mut git = git(folder);
    git.args(["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"]);
    let Ok(told) = told(git, "ls-files") else { return Vec::new() };
    let names = told.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let files = names.map(|name| folder.join(OsString::from_vec(name.to_vec())));
    files.filter(|file| file.symlink_metadata().is_ok_and(|meta| meta.is_file())).collect()
}

/// One revision is compared with the working folder, more are compared with each other.
fn ends_on_disk(range: &str, cwd: &Path) -> bool {
    let mut git = git(cwd);
    git.args(["rev-parse", "--revs-only", "--end-of-options", range]);
    let lines = |text: &[u8]| text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    told(git, "rev-parse").is_ok_and(|text| lines(&text) == 1)
}

/// A file as git has it.
pub(super) fn blob(id: &str, cwd: &Path, most: u64) -> Result<Vec<u8>, String> {
    use std::io::Read;
    let failed = |error: std::io::Error| format!("git cannot be run: {error}");
    let mut git = git(cwd);
    let mut child = git
        .args(["cat-file", "blob", id])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let mut bytes = Vec::new();
    if let Some(out) = child.stdout.take() {
        out.take(most).read_to_end(&mut bytes).map_err(failed)?;
    }
    let done = child.wait().map_err(failed)?;
    // It ends by a signal where not all of it is taken.
    match done.success() || bytes.len() as u64 == most {
        true => Ok(bytes),
        false => Err("git does not have it".to_owned()),
    }
}

fn told(mut git: Command, what: &str) -> Result<Vec<u8>, Failure> {
    let out = git.output().map_err(|error| Failure::usage(format!("git cannot be run: {error}")))?;
    if !out.status.success() {
        let told = String::from_utf8_lossy(&out.stderr).trim().to_owned();
        return Err(Failure::usage(format!("git {what}: {told}")));
    }
    Ok(out.stdout)
}

fn git(cwd: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(cwd).stdin(Stdio::null());
    git.args(["-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "core.pager=cat"]);
    git.env("GIT_OPTIONAL_LOCKS", "0").env_remove("GIT_EXTERNAL_DIFF").env_remove("GIT_DIFF_OPTS");
    git
}

/// A file of a diff.
#[derive(Debug, Default, PartialEq)]
struct Changed {
    name: OsString,
    /// What git calls its content.
    blob: String,
    /// It is a link, which has no lines of its own.
    link: bool,
    lines: Vec<Range<usize>>,
}

/// Names and ranges of added lines of a diff without context.
fn read(text: &[u8]) -> Vec<Changed> {
    let mut out: Vec<Changed> = Vec::new();
    let mut head = Changed::default();
    // Lines of the change may look like heads; how many there are is told before them.
    let mut left = 0_usize;
    for line in text.split(|byte| *byte == b'\n') {
        if left > 0 && matches!(line.first(), Some(b'+' | b'-' | b'\\')) {
            left -= usize::from(!line.starts_with(b"\\"));
            continue;
        }
        left = 0;
        if line.starts_with(b"diff --git ") {
            head = Changed::default();
        } else if let Some(ids) = line.strip_prefix(b"index ") {
            let ids = String::from_utf8_lossy(ids).into_owned();
            let (ids, mode) = ids.split_once(' ').unwrap_or((&ids, ""));
            head.link |= mode == "120000";
            head.blob = ids.split_once("..").map(|(_, new)| new.to_owned()).unwrap_or_default();
        } else if line == b"new file mode 120000" || line == b"new mode 120000" {
            head.link = true;
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            if let Some(name) = unquoted(name) {
                out.push(Changed { name, ..std::mem::take(&mut head) });
            }
        } else if let Some(span) = line.strip_prefix(b"@@ -") {
            let span = String::from_utf8_lossy(span).into_owned();
            let Some((old, rest)) = span.split_once(" +") else { continue };
            let Some((new, _)) = rest.split_once(" @@") else { continue };
            let ((_, gone), (start, count)) = (self::span(old), self::span(new));
            left = gone.saturating_add(count);
            if let Some(file) = out.last_mut().filter(|_| count > 0) {
                file.lines.push(start..start.saturating_add(count));
            }
        }
    }
    out
}

/// `12,3` or `12`.
fn span(text: &str) -> (usize, usize) {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    (start.parse().unwrap_or(0), count.parse().unwrap_or(0))
}

/// The name behind `+++`, which git quotes as a text of C where it holds signs that a terminal acts on.
fn unquoted(name: &[u8]) -> Option<OsString> {
    // A tab ends a name with blanks.
    let name = name.strip_suffix(b"\t").unwrap_or(name);
    let Some(quoted) = name.strip_prefix(b"\"") else {
        return name.strip_prefix(b"b/").map(|name| OsString::from_vec(name.to_vec()));
    };
    let mut out = Vec::new();
    let mut rest = quoted.strip_suffix(b"\"")?.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match rest.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            digit @ b'0'..=b'7' => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(digit) = rest.next_if(|byte| matches!(byte, b'0'..=b'7')) else { break };
                    value = value * 8 + u32::from(digit - b'0');
                }
                u8::try_from(value).ok()?
            }
            other => other,
        });
    }
    out.strip_prefix(b"b/").map(|name| OsString::from_vec(name.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_are_read_and_nothing_else() {
        let text = "diff --git a/x b/x\nindex 11..22 100644\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ fn\n-old\n+++ b/evil\n+@@ -1 +9,9 @@\n@@ -5,0 +7 @@\n+z\ndiff --git a/y b/y\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-q\n";
        let found = read(text.as_bytes());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.to_str(), found[0].blob.as_str()), (Some("x"), "22"));
        assert_eq!(found[0].lines, [1..3, 7..8]);
    }

    #[test]
    fn names_are_read_as_git_writes_them() {
        for (told, want) in [
            (&b"b/a b\t"[..], Some(&b"a b"[..])),
            (b"b/\xff", Some(b"\xff")),
            (b"\"b/a\\nb\\\\t\\\"\\033\\377\"", Some(b"a\nb\\t\"\x1b\xff")),
            (b"/dev/null", None),
            (b"\"b/a", None),
            (b"\"b/a\\777\"", None),
        ] {
            assert_eq!(unquoted(told).map(OsString::into_vec).as_deref(), want);
        }
    }

    #[test]
    fn a_link_has_no_lines_of_its_own() {
        let text = "diff --git a/x b/x\nnew file mode 120000\nindex 00..11\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/dev/zero\n\\ No newline at end of file\ndiff --git a/y b/y\nnew file mode 100644\nindex 00..22\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+a\n";
        assert_eq!(read(text.as_bytes()).iter().map(|file| file.link).collect::<Vec<_>>(), [true, false]);
    }
}
