//! The `apply_patch` envelope as a tree.
//!
//! INVARIANT: any text gives a tree of what could be read and, when something could not, the first line that is wrong;
//! nothing behind that line is in the tree. Time and memory are linear.
//!
//! Read as leniently as the native tool reads: a whole here-document around the envelope, blanks around headers, an
//! empty line in a hunk for an empty line of context, a first hunk without `@@`, empty lines between files.

/// First line of an envelope.
const BEGIN: &str = "*** Begin Patch";
/// Its last line.
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";
const ENVIRONMENT: &str = "*** Environment ID:";
const END_OF_FILE: &str = "*** End of File";

/// An envelope as far as it could be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch<'t> {
    /// The operations in their order.
    pub files: Vec<File<'t>>,
    /// The first thing that is wrong.
    pub wrong: Option<Wrong>,
}

/// Why an envelope could not be read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The line of the text, from 1.
    pub line: u32,
    /// What is wrong there, one clause.
    pub why: String,
    /// The file whose operation it stands in; empty when in none.
    pub path: String,
}

/// One operation on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File<'t> {
    /// The path as written.
    pub path: &'t str,
    /// The line of its header, from 1.
    pub line: u32,
    /// The lines of the operation as written, header included.
    pub text: &'t str,
    /// What is done.
    pub body: Body<'t>,
}

/// What is done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body<'t> {
    /// A new file with these lines.
    Add(Vec<&'t str>),
    /// The file goes away.
    Delete,
    /// Lines are changed, and the file may get another name.
    Update {
        /// The new name.
        to: Option<&'t str>,
        /// The changes in their order.
        hunks: Vec<Hunk<'t>>,
    },
}

/// One change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk<'t> {
    /// Where it begins in the text, from 1.
    pub line: u32,
    /// Lines behind which it is looked for, each behind the one before.
    pub anchors: Vec<&'t str>,
    /// Its lines.
    pub lines: Vec<Line<'t>>,
    /// Its old lines end the file.
    pub ends_file: bool,
}

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'t> {
    /// What is done with it.
    pub kind: Kind,
    /// The line without its sign.
    pub text: &'t str,
}

/// What is done with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It stays.
    Context,
    /// It goes.
    Remove,
    /// It comes.
    Add,
}

impl<'t> Hunk<'t> {
    /// The lines that must be there: context and what goes.
    #[must_use]
    pub fn before(&self) -> Vec<&'t str> {
        self.lines.iter().filter(|line| line.kind != Kind::Add).map(|line| line.text).collect()
    }

    /// The lines that are there afterwards: context and what comes.
    #[must_use]
    pub fn after(&self) -> Vec<&'t str> {
        self.lines.iter().filter(|line| line.kind != Kind::Remove).map(|line| line.text).collect()
    }
}

/// Whether a text begins as an envelope does.
#[must_use]
pub fn is_patch(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(BEGIN) || within(text).is_some_and(|(inner, _)| inner.trim_start().starts_with(BEGIN))
}

/// The operation of one file as an envelope of its own.
#[must_use]
pub fn alone(file: &File<'_>) -> String {
    format!("{BEGIN}\n{}\n{END}\n", file.text)
}

/// Reads an envelope.
#[must_use]
pub fn parse(text: &str) -> Patch<'_> {
    let (body, skipped) = within(text).unwrap_or((text, 0));
    let blank = body.len() - body.trim_start().len();
    let above = body.get(..blank).unwrap_or_default().matches('\n').count();
    let body = body.trim();
    let lines: Vec<&str> = body.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let mut reader = Reader { body, lines, at: 0, first: number(skipped + above + 1) };
    let mut patch = Patch::default();
    match reader.read(&mut patch) {
        Ok(()) => {}
        Err((line, why, path)) => {
            let line = reader.first.saturating_add(number(line));
            patch.wrong = Some(Wrong { line, why, path });
        }
    }
    patch
}

/// The inside of `<<'EOF' … EOF`, and how many lines stand above it.
fn within(text: &str) -> Option<(&str, usize)> {
    let above = text.len() - text.trim_start().len();
    let above = text.get(..above)?.matches('\n').count();
    let (first, rest) = text.trim().split_once('\n')?;
    let word = first.trim_end().strip_prefix("<<")?;
    let quotes: &[char] = &['\'', '"'];
    let word = word.trim_matches(quotes);
    let (inner, last) = rest.rsplit_once('\n')?;
    (!word.is_empty() && last.trim() == word).then_some((inner, above + 1))
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The index of the line, what is wrong, and the file.
type Stop = (usize, String, String);

struct Reader<'t> {
    body: &'t str,
    lines: Vec<&'t str>,
    at: usize,
    /// The number of the first line.
    first: u32,
}

impl<'t> Reader<'t> {
    fn line(&self) -> Option<&'t str> {
        self.lines.get(self.at).copied()
    }

    fn stop(&self, why: &str, path: &str) -> Stop {
        (self.at, why.to_owned(), path.to_owned())
    }

    fn read(&mut self, patch: &mut Patch<'t>) -> Result<(), Stop> {
        if self.line().is_none_or(|line| line.trim() != BEGIN) {
            return Err(self.stop(&format!("the first line is not `{BEGIN}`"), ""));
        }
        // ORDER: a cut envelope may have lost operations, but those that are there are told.
        let whole = self.lines.len() > 1 && self.lines.last().is_some_and(|line| line.trim() == END);
        if whole {
            self.lines.pop();
        }
        self.at = 1;
        while let Some(line) = self.line() {
            if line.trim().is_empty() {
                self.at += 1;
                continue;
            }
            let file = self.file(line.trim())?;
            patch.files.push(file);
        }
        if !whole {
            self.at = self.lines.len().saturating_sub(1);
            return Err(self.stop(&format!("the last line is not `{END}`"), ""));
        }
        if patch.files.is_empty() {
            return Err(self.stop("it changes no file", ""));
        }
        Ok(())
    }

    fn file(&mut self, header: &'t str) -> Result<File<'t>, Stop> {
        let start = self.at;
        let named = |prefix: &str| header.strip_prefix(prefix).map(str::trim);
        let (path, body) = if let Some(path) = named(ADD) {
            self.at += 1;
            (path, self.added(path)?)
        } else if let Some(path) = named(DELETE) {
            self.at += 1;
            if self.line().is_some_and(|line| !line.trim().is_empty() && !is_header(line)) {
                return Err(self.stop("a file that is deleted has no lines", path));
            }
            (path, Body::Delete)
        } else if let Some(path) = named(UPDATE) {
            self.at += 1;
            (path, self.updated(path)?)
        } else if header.starts_with(ENVIRONMENT) {
            return Err(self.stop("it is for another environment, whose files are not here", ""));
        } else {
            return Err(self
                .stop("a line is no `*** Add File:`, `*** Update File:` or `*** Delete File:` header", ""));
        };
        if path.is_empty() {
            self.at = start;
            return Err(self.stop("a header names no file", ""));
        }
        let line = self.first.saturating_add(number(start));
        Ok(File { path, line, text: self.text(start), body })
    }

    /// The text from a line to the one before the present.
    fn text(&self, from: usize) -> &'t str {
        let start = self.lines.get(from).map_or(0, |line| self.place(line));
        let last = self.lines.get(self.at.saturating_sub(1)).copied().unwrap_or_default();
        self.body.get(start..self.place(last) + last.len()).unwrap_or_default()
    }

    /// Where a line of the body begins in it.
    fn place(&self, line: &str) -> usize {
        (line.as_ptr() as usize).saturating_sub(self.body.as_ptr() as usize)
    }

    fn added(&mut self, path: &str) -> Result<Body<'t>, Stop> {
        let mut lines = Vec::new();
        while let Some(line) = self.line() {
            match line.strip_prefix('+') {
                Some(text) => lines.push(text),
                None if line.trim().is_empty() || is_header(line) => break,
                None => return Err(self.stop("a line of an added file does not begin with `+`", path)),
            }
            self.at += 1;
        }
        Ok(Body::Add(lines))
    }

    fn updated(&mut self, path: &str) -> Result<Body<'t>, Stop> {
        let mut to = None;
        if let Some(name) = self.line().and_then(|line| line.trim().strip_prefix(MOVE)) {
            let name = name.trim();
            if name.is_empty() {
                return Err(self.stop("a move names no file", path));
            }
            to = Some(name);
            self.at += 1;
        }
        let mut hunks = Vec::new();
        while let Some(line) = self.line() {
            if line.trim().is_empty() {
                self.at += 1;
            } else if line.starts_with("***") && line.trim_end() != END_OF_FILE {
                break;
            } else {
                hunks.push(self.hunk(path, hunks.is_empty())?);
            }
        }
        if hunks.is_empty() && to.is_none() {
            return Err(self.stop("an update changes nothing", path));
        }
        Ok(Body::Update { to, hunks })
    }

    fn hunk(&mut self, path: &str, first: bool) -> Result<Hunk<'t>, Stop> {
        let mut hunk = Hunk { line: self.first.saturating_add(number(self.at)), ..Hunk::default() };
        let mut marked = false;
        while let Some(line) = self.line() {
            let trimmed = line.trim_end();
            match (trimmed == "@@", line.strip_prefix("@@ ")) {
                (true, _) => {}
                (false, Some(anchor)) if anchor.trim().is_empty() => {}
                (false, Some(anchor)) => hunk.anchors.push(anchor),
                (false, None) => break,
            }
            marked = true;
            self.at += 1;
        }
        if !marked && !first {
            return Err(self.stop("a hunk does not begin with `@@`", path));
        }
        while let Some(line) = self.line() {
            let (kind, text) = match line.chars().next() {
                None => (Kind::Context, ""),
                Some(' ') => (Kind::Context, line.get(1..).unwrap_or_default()),
                Some('-') => (Kind::Remove, line.get(1..).unwrap_or_default()),
                Some('+') => (Kind::Add, line.get(1..).unwrap_or_default()),
                Some(_) if line.trim_end() == END_OF_FILE && !hunk.lines.is_empty() => {
                    hunk.ends_file = true;
                    self.at += 1;
                    break;
                }
                Some(_) if hunk.lines.is_empty() || !(line.starts_with("@@") || line.starts_with("***")) => {
                    return Err(self.stop("a line of a hunk begins with none of ` `, `+` and `-`", path));
                }
                Some(_) => break,
            };
            hunk.lines.push(Line { kind, text });
            self.at += 1;
        }
        if hunk.lines.is_empty() {
            return Err(self.stop("a hunk has no lines", path));
        }
        Ok(hunk)
    }
}

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with("*** ")
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
