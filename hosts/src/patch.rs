//! Patches: what the files of an `apply_patch` call are before and after it.
//!
//! INVARIANT: a patch is applied to texts, never to files; each hunk has exactly one place or the patch is refused. Time and
//! memory are bounded, and nothing outside the project is read.

mod change;
mod disk;
mod scope;
mod seek;

pub use disk::Disk;

use crate::reply::clean;
use change::change;
use policy_grammar::patch::{self, Body, Hunk};
use seek::Work;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

/// Longest patch, bytes.
pub const MAX_PATCH_BYTES: usize = 2_000_000;
/// Longest file that is changed, bytes.
pub const MAX_FILE_BYTES: usize = 5_000_000;
/// Most files that one patch changes.
pub const MAX_TARGETS: usize = 200;
/// Most bytes of all files of one patch.
const MAX_ALL_BYTES: usize = 64_000_000;

/// The files that a patch is applied to.
pub trait Files {
    /// Where an absolute path leads, links followed; the end need not exist.
    ///
    /// # Errors
    ///
    /// When it cannot be told, with the cause.
    fn real(&self, path: &Path) -> Result<PathBuf, String>;

    /// What a path is; links are followed.
    fn kind(&self, path: &Path) -> FileKind;

    /// The bytes of a file, at most one more than `max`.
    ///
    /// # Errors
    ///
    /// When it cannot be read, with the cause.
    fn read(&self, path: &Path, max: usize) -> Result<Vec<u8>, String>;
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Nothing.
    Missing,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Anything else, or what cannot be looked at.
    Other,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// It is new.
    Add,
    /// It is changed.
    Update,
    /// It goes; also the old name of a file that is moved.
    Delete,
    /// The new name of a file that is moved; the text before is the one under the old name.
    Move,
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The path as the patch writes it.
    pub written: String,
    /// The path, absolute, links not followed.
    pub path: PathBuf,
    /// What is done.
    pub kind: TargetKind,
    /// The text before, when there was one.
    pub before: Option<String>,
    /// The text after, when there is one.
    pub after: Option<String>,
    /// Which operation of the patch it comes from, from 0.
    pub operation: usize,
}

/// The kind of a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It is no patch.
    Syntax,
    /// The line behind `@@` is not there.
    AnchorMissing,
    /// The old lines, or the file, are not there.
    Missing,
    /// The old lines stand in several places.
    Ambiguous,
    /// It reaches out of the project, over a limit, or over a file that is there.
    Boundary,
    /// The file cannot be read as text.
    Read,
}

impl Reason {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Reason::Syntax => "syntax",
            Reason::AnchorMissing => "anchor-missing",
            Reason::Missing => "missing",
            Reason::Ambiguous => "ambiguous",
            Reason::Boundary => "boundary",
            Reason::Read => "read",
        }
    }
}

/// Why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// The kind.
    pub reason: Reason,
    /// The file as the patch writes it; empty when it is about the whole.
    pub path: String,
    /// The hunk in it, from 1.
    pub hunk: Option<usize>,
    /// One sentence without a period.
    pub message: String,
    /// Lines of the file, or of the patch when it cannot be read; at most ten, from 1.
    pub lines: Vec<usize>,
    /// What to do instead.
    pub suggest: &'static str,
}

impl PatchError {
    fn new(reason: Reason, path: &str, message: impl Into<String>) -> PatchError {
        let suggest = match reason {
            Reason::Syntax => "write the envelope as the tool describes it",
            Reason::AnchorMissing => "read the file again and copy a whole line of it behind `@@`",
            Reason::Missing => "read the file again and copy its lines as they are now",
            Reason::Ambiguous => {
                "add lines of context, or a line behind `@@` that stands only before the place that is meant"
            }
            Reason::Boundary => "change files of the project only, each once",
            Reason::Read => "change only text files that are there",
        };
        let path = clean(path, 300);
        PatchError { reason, path, hunk: None, message: message.into(), lines: Vec::new(), suggest }
    }
}

/// Applies a patch to the texts of files; `cwd` is the folder its paths count from.
///
/// # Errors
///
/// Everything that keeps it from being applied: for each file the first reason.
pub fn apply(
    text: &str,
    files: &dyn Files,
    project: &Path,
    cwd: &Path,
) -> Result<Vec<Target>, Vec<PatchError>> {
    if text.len() > MAX_PATCH_BYTES {
        let why = format!("the patch is longer than {MAX_PATCH_BYTES} bytes");
        return Err(vec![PatchError::new(Reason::Syntax, "", why)]);
    }
    let patch = patch::parse(text);
    let mut errors = Vec::new();
    if let Some(wrong) = &patch.wrong {
        let message = format!("{}line {}: {}", named(&wrong.path, None), wrong.line, wrong.why);
        let mut error = PatchError::new(Reason::Syntax, &wrong.path, message);
        error.lines.push(wrong.line as usize);
        return Err(vec![error]);
    }
    let mut run = match Run::new(files, project, cwd) {
        Ok(run) => run,
        Err(error) => return Err(vec![error]),
    };
    let count: usize = patch.files.iter().map(|file| 1 + usize::from(moved(&file.body).is_some())).sum();
    if count > MAX_TARGETS {
        let why = format!("the patch changes {count} files; {MAX_TARGETS} are the most");
        return Err(vec![PatchError::new(Reason::Boundary, "", why)]);
    }
    for (operation, file) in patch.files.iter().enumerate() {
        if let Err(error) = run.operation(operation, file) {
            errors.push(error);
        }
    }
    if errors.is_empty() { Ok(run.targets) } else { Err(errors) }
}

fn moved<'t>(body: &Body<'t>) -> Option<&'t str> {
    match body {
        Body::Update { to, .. } => *to,
        _ => None,
    }
}

/// `a.py`, hunk 2:
fn named(path: &str, hunk: Option<usize>) -> String {
    let mut out = String::new();
    if !path.is_empty() {
        let _ = write!(out, "`{}`", clean(path, 300));
        if let Some(hunk) = hunk {
            let _ = write!(out, ", hunk {hunk}");
        }
        out.push_str(": ");
    }
    out
}

struct Run<'f> {
    files: &'f dyn Files,
    project: PathBuf,
    cwd: PathBuf,
    /// Files of this patch, links followed.
    seen: BTreeSet<PathBuf>,
    targets: Vec<Target>,
    bytes: usize,
    work: Work,
}

impl<'f> Run<'f> {
    fn new(files: &'f dyn Files, project: &Path, cwd: &Path) -> Result<Run<'f>, PatchError> {
        let boundary = |why: String| PatchError::new(Reason::Boundary, "", why);
        let root = files.real(project).map_err(|why| boundary(format!("the project folder: {why}")))?;
        let real = files.real(cwd).map_err(|why| boundary(format!("the folder of the patch: {why}")))?;
        if !real.starts_with(&root) {
            return Err(boundary("the folder of the patch is outside the project".to_owned()));
        }
        Ok(Run {
            files,
            project: root,
            cwd: cwd.to_path_buf(),
            seen: BTreeSet::new(),
            targets: Vec::new(),
            bytes: 0,
            work: Work::new(),
        })
    }

    fn operation(&mut self, operation: usize, file: &patch::File<'_>) -> Result<(), PatchError> {
        let (path, real) = self.place(file.path)?;
        let add = |kind: TargetKind,
                   written: &str,
                   path: &Path,
                   before: Option<String>,
                   after: Option<String>| {
            Target { written: written.to_owned(), path: path.to_path_buf(), kind, before, after, operation }
        };
        match &file.body {
            Body::Add(lines) => {
                self.vacant(file.path, &real)?;
                let mut after = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
                for line in lines {
                    after.push_str(line);
                    after.push('\n');
                }
                self.targets.push(add(TargetKind::Add, file.path, &path, None, Some(after)));
            }
            Body::Delete => {
                let before = self.read(file.path, &real)?;
                self.targets.push(add(TargetKind::Delete, file.path, &path, Some(before), None));
            }
            Body::Update { to, hunks } => {
                let before = self.read(file.path, &real)?;
                let after = change(&mut self.work, file.path, &before, hunks)?;
                match to {
                    None => {
                        self.targets.push(add(
                            TargetKind::Update,
                            file.path,
                            &path,
                            Some(before),
                            Some(after),
                        ));
                    }
                    Some(to) => {
                        let (new, new_real) = self.place(to)?;
                        self.vacant(to, &new_real)?;
                        self.targets.push(add(
                            TargetKind::Delete,
                            file.path,
                            &path,
                            Some(before.clone()),
                            None,
                        ));
                        self.targets.push(add(TargetKind::Move, to, &new, Some(before), Some(after)));
                    }
                }
            }
        }
        Ok(())
    }

    /// Where a path of the patch is, as text and with links followed; each only once.
    fn place(&mut self, written: &str) -> Result<(PathBuf, PathBuf), PatchError> {
        let boundary =
            |why: &str| PatchError::new(Reason::Boundary, written, format!("{}{why}", named(written, None)));
        if written.contains('\0') {
            return Err(boundary("the path has a NUL in it"));
        }
        let joined = self.cwd.join(written);
        let real = self.files.real(&joined).map_err(|why| boundary(&why))?;
        if !real.starts_with(&self.project) || real == self.project {
            return Err(boundary("the file is outside the project"));
        }
        if !self.seen.insert(real.clone()) {
            return Err(boundary("the patch names the file twice"));
        }
        Ok((lexical(&joined), real))
    }

    fn vacant(&self, written: &str, real: &Path) -> Result<(), PatchError> {
        if self.files.kind(real) == FileKind::Missing {
            return Ok(());
        }
        let why = format!("{}the file is there already", named(written, None));
        Err(PatchError::new(Reason::Boundary, written, why))
    }

    fn read(&mut self, written: &str, real: &Path) -> Result<String, PatchError> {
        let error = |reason: Reason, why: &str| {
            PatchError::new(reason, written, format!("{}{why}", named(written, None)))
        };
        match self.files.kind(real) {
            FileKind::File => {}
            FileKind::Missing => {
                let suggest = "name files that are there, or add the file";
                return Err(PatchError { suggest, ..error(Reason::Missing, "the file is not there") });
            }
            FileKind::Folder => return Err(error(Reason::Read, "it is a folder")),
            FileKind::Other => return Err(error(Reason::Read, "it is no regular file that can be read")),
        }
        let bytes = self.files.read(real, MAX_FILE_BYTES).map_err(|why| error(Reason::Read, &why))?;
        if bytes.len() > MAX_FILE_BYTES {
            return Err(error(Reason::Read, &format!("the file is longer than {MAX_FILE_BYTES} bytes")));
        }
        self.bytes += bytes.len();
        if self.bytes > MAX_ALL_BYTES {
            let why = format!("the files of the patch are longer than {MAX_ALL_BYTES} bytes together");
            return Err(error(Reason::Read, &why));
        }
        String::from_utf8(bytes).map_err(|_| error(Reason::Read, "the file is not UTF-8 text"))
    }
}

/// The text of a file after hunks; nothing when they do not fit it.
pub(crate) fn changed(written: &str, before: &str, hunks: &[Hunk<'_>]) -> Option<String> {
    change(&mut Work::new(), written, before, hunks).ok()
}

/// The path without its dot segments.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
