//! Statements as pieces: what may break where, and where the comments inside go.
//!
//! INVARIANT: a comment is written before the first piece that stands behind it in the text.

use super::{Printer, WIDTH};

/// What stands before a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glue {
    /// One space.
    Space,
    /// One space, or a new line where the piece does not fit.
    Wrap,
    /// Two spaces, or a line alone where the piece does not fit.
    Clause,
}

/// Entries in brackets, on the line or one a line.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Each with its place in the text.
    pub(super) entries: Vec<(u32, String)>,
    /// Where the group begins and ends in the text.
    pub(super) start: u32,
    pub(super) end: u32,
    /// An object: always in its braces, with blanks inside, of any number of entries.
    pub(super) object: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    Text(String),
    Group(Group),
}

#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) start: u32,
    pub(super) glue: Glue,
    pub(super) content: Content,
}

impl Piece {
    pub(super) fn new(start: u32, glue: Glue, text: impl Into<String>) -> Self {
        Piece { start, glue, content: Content::Text(text.into()) }
    }

    pub(super) fn group(group: Group) -> Self {
        Piece { start: group.start, glue: Glue::Space, content: Content::Group(group) }
    }
}

/// Entries that stand on a line at most.
const SHORT_LIST: usize = 3;

impl Printer<'_> {
    /// Writes a statement with the comments before, in and behind it.
    pub(super) fn statement(&mut self, start: u32, end: u32, indent: usize, pieces: &[Piece]) {
        self.comments_before(start, indent);
        self.open_line(start, indent);
        let deeper = indent + 4 - 2;
        let mut fresh = true;
        let mut broken = false;
        for piece in pieces {
            if self.inner_comments(piece.start, deeper) {
                fresh = true;
            }
            let width = match &piece.content {
                Content::Text(text) => text.chars().count(),
                Content::Group(_) => 0,
            };
            match piece.glue {
                _ if fresh => {}
                Glue::Space => self.out.push(' '),
                Glue::Wrap if self.column() + 1 + width <= WIDTH => self.out.push(' '),
                Glue::Clause if !broken && self.column() + 2 + width <= WIDTH => self.out.push_str("  "),
                Glue::Wrap => self.continue_line(deeper),
                Glue::Clause => {
                    broken = true;
                    self.continue_line(deeper);
                }
            }
            fresh = false;
            match &piece.content {
                Content::Text(text) => self.out.push_str(text),
                Content::Group(group) => self.write_group(group, indent),
            }
        }
        self.close_line(end);
    }

    fn continue_line(&mut self, indent: usize) {
        self.new_line();
        self.pad(indent);
    }

    /// Writes the comments of a statement before this place; true when a new line was begun.
    fn inner_comments(&mut self, start: u32, indent: usize) -> bool {
        let mut any = false;
        while let Some(comment) = self.pending().filter(|comment| comment.text.span.start < start) {
            if comment.own_line || any {
                if !any {
                    self.continue_line(indent);
                }
                self.out.push_str(&comment.text.node);
                self.comments = self.comments.get(1..).unwrap_or(&[]);
            } else {
                self.trailing_comment();
            }
            self.continue_line(indent);
            any = true;
        }
        any
    }

    fn write_group(&mut self, group: &Group, indent: usize) {
        let commented = self.pending().is_some_and(|comment| comment.text.span.start < group.end);
        if !commented && let Some(flat) = self.flat(group) {
            self.out.push_str(&flat);
            return;
        }
        self.out.push_str(group.open);
        let inner = indent + 2;
        for (start, entry) in &group.entries {
            self.group_comments(*start, inner);
            self.continue_line(inner);
            self.out.push_str(entry);
            self.out.push(',');
        }
        self.group_comments(group.end, inner);
        self.continue_line(indent);
        self.out.push_str(group.close);
    }

    /// Comments among entries: behind the entry on its line, else on lines of their own.
    fn group_comments(&mut self, start: u32, indent: usize) {
        while let Some(comment) = self.pending().filter(|comment| comment.text.span.start < start) {
            if comment.own_line {
                self.continue_line(indent);
                self.out.push_str(&comment.text.node);
                self.comments = self.comments.get(1..).unwrap_or(&[]);
            } else {
                self.trailing_comment();
            }
        }
    }

    /// The group on one line, if it may be and fits.
    fn flat(&self, group: &Group) -> Option<String> {
        let entries: Vec<&str> = group.entries.iter().map(|(_, entry)| entry.as_str()).collect();
        let (many, flat) = match (group.object, entries.len()) {
            (true, 0) => (false, format!("{}{}", group.open, group.close)),
            (true, _) => (false, format!("{} {} {}", group.open, entries.join(", "), group.close)),
            (false, count) => (count > SHORT_LIST, entries.join(", ")),
        };
        let fits = self.column() + flat.chars().count() <= WIDTH || entries.len() < 2;
        (fits && !many).then_some(flat)
    }
}
