//! Tree to canonical text: what `policy fmt` writes, and what an import writes.
//!
//! INVARIANT: the order is never changed, no comment is lost, and formatting twice is formatting once.

mod items;
mod lines;
mod pieces;

use crate::ast;
use crate::diagnostic::{Diagnostic, Level};
use crate::parse::parse;
use crate::source::{FileId, Span, Spanned};
use std::fmt::Write as _;

/// Formats a policy; its comments keep their places.
///
/// # Errors
///
/// Gives the diagnostics of a text that is no policy; such a text is left alone.
pub fn format(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(file, text);
    if parsed.file.skipped || parsed.diagnostics.iter().any(|d| d.level == Level::Error) {
        return Err(parsed.diagnostics);
    }
    Ok(Printer::new(&parsed.file, Some(text)).file(&parsed.file))
}

/// Writes a tree that has no text of its own, such as an imported one.
pub fn print(file: &ast::File) -> String {
    let bare = ast::File { comments: Vec::new(), ..file.clone() };
    Printer::new(&bare, None).file(&bare)
}

/// Widest line, in characters, where there is a choice.
const WIDTH: usize = 100;

struct Printer<'a> {
    /// The text of the tree; leaves are copied from it as they were written.
    text: Option<&'a str>,
    comments: &'a [ast::Comment],
    out: String,
    /// Where in `out` the current line begins.
    line_start: usize,
    /// Where in the text the thing written last ends; none at the beginning of a file or block.
    last: Option<u32>,
}

impl<'a> Printer<'a> {
    fn new(file: &'a ast::File, text: Option<&'a str>) -> Self {
        Printer { text, comments: &file.comments, out: String::new(), line_start: 0, last: None }
    }

    fn file(mut self, file: &ast::File) -> String {
        if let Some(header) = &file.header {
            self.header(header);
        }
        for item in &file.items {
            self.item(item, 0);
        }
        self.comments_before(u32::MAX, 0);
        self.out
    }

    fn column(&self) -> usize {
        self.out.get(self.line_start..).unwrap_or("").chars().count()
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        self.line_start = self.out.len();
    }

    fn pad(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    /// A token as it was written, or as its value is written.
    fn leaf(&self, span: Span, value: impl FnOnce() -> String) -> String {
        match self.text {
            Some(text) => text.get(span.start as usize..span.end as usize).unwrap_or("").to_owned(),
            None => value(),
        }
    }

    fn quoted(&self, text: &ast::Text) -> String {
        self.leaf(text.span, || quote(&text.node))
    }

    fn seconds(&self, seconds: &Spanned<u64>) -> String {
        self.leaf(seconds.span, || duration(seconds.node))
    }

    fn pending(&self) -> Option<&'a ast::Comment> {
        self.comments.first()
    }

    fn take_comment(&mut self) -> Option<&'a ast::Comment> {
        let (first, rest) = self.comments.split_first()?;
        self.comments = rest;
        Some(first)
    }

    /// Whether the text has an empty line between what was written last and this place.
    fn blank_before(&self, start: u32) -> bool {
        let (Some(text), Some(last)) = (self.text, self.last) else { return false };
        let between = text.get(last as usize..start as usize).unwrap_or("");
        between.replace("\r\n", "\n").bytes().filter(|b| matches!(b, b'\n' | b'\r')).count() > 1
    }

    /// Writes the comments before a place on lines of their own.
    fn comments_before(&mut self, start: u32, indent: usize) {
        while self.pending().is_some_and(|comment| comment.text.span.start < start) {
            let Some(comment) = self.take_comment() else { return };
            self.open_line(comment.text.span.start, indent);
            self.out.push_str(&comment.text.node);
            self.new_line();
            self.last = Some(comment.text.span.end);
        }
    }

    /// Begins a line for something that stands at this place of the text.
    fn open_line(&mut self, start: u32, indent: usize) {
        if self.blank_before(start) {
            self.new_line();
        }
        self.pad(indent);
    }

    /// Ends the line of a statement or brace with the comment that stands behind it.
    fn close_line(&mut self, end: u32) {
        self.last = Some(end);
        let gap = |comment: &ast::Comment| {
            let text = self.text?.get(end as usize..comment.text.span.start as usize)?;
            Some(text.bytes().all(|b| matches!(b, b' ' | b'\t')))
        };
        if self.pending().and_then(gap) == Some(true) {
            self.trailing_comment();
        }
        self.new_line();
    }

    /// Writes the next comment behind what is on the line, in its old column if there is room.
    fn trailing_comment(&mut self) {
        let Some(comment) = self.take_comment() else { return };
        let start = comment.text.span.start as usize;
        let before = self.text.and_then(|text| text.get(..start)).unwrap_or("");
        let line = before.rsplit(['\n', '\r']).next().unwrap_or("");
        let column = line.chars().count();
        let here = self.column();
        self.pad(column.max(here + 2) - here);
        self.out.push_str(&comment.text.node);
        self.last = Some(comment.text.span.end);
    }
}

/// A quoted text with its escapes.
pub(crate) fn quote(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for ch in value.chars() {
        match ch {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ if crate::parse::hidden(ch).is_some() || ch == '\r' => {
                // Writing to a String does not fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(ch));
            }
            _ => out.push(ch),
        }
    }
    out.push('"');
    out
}

fn duration(seconds: u64) -> String {
    let units = [(86_400, 'd'), (3600, 'h'), (60, 'm')];
    match units.iter().find(|(size, _)| seconds > 0 && seconds.is_multiple_of(*size)) {
        Some((size, unit)) => format!("{}{unit}", seconds / size),
        None => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &str) {
        let once = format(FileId(0), text).unwrap();
        assert_eq!(once, wanted);
        assert_eq!(format(FileId(0), &once).unwrap(), once);
    }

    #[test]
    fn lines_are_laid_out() {
        check(
            "policy   \"n\"\nlanguage 1\n\n\n\nrule r on a,b { deny path \"x\" because \"y\" allow run `a` otherwise ask expect deny a { k : 1 }\n\nexpect allow a \"x\"}",
            "policy \"n\" language 1\n\nrule r on a, b {\n  deny  path \"x\"  because \"y\"\n  allow run `a`\n  otherwise ask\n  expect deny  a { k: 1 }\n\n  expect allow a \"x\"\n}\n",
        );
    }

    #[test]
    fn comments_keep_their_places() {
        check(
            "# top\npolicy \"n\" language 1 # h\n# a\nguard g { # open\n# in\ndeny path [ # first\n\"a\", # of a\n# of b\n\"b\" ]   # end\n# why\nbecause \"y\"\n# last\n} # closed\n# eof",
            "# top\npolicy \"n\" language 1  # h\n# a\nguard g {  # open\n  # in\n  deny path [  # first\n    \"a\",  # of a\n    # of b\n    \"b\",\n  ]     # end\n    # why\n    because \"y\"\n  # last\n}  # closed\n# eof\n",
        );
    }

    #[test]
    fn durations_and_texts_are_written_without_a_text() {
        assert_eq!(
            [duration(0), duration(90), duration(120), duration(7200), duration(172_800)].join(" "),
            "0s 90s 2m 2h 2d"
        );
        assert_eq!(quote("a\"\\\n\u{202e}"), "\"a\\\"\\\\\\n\\u{202e}\"");
    }
}
