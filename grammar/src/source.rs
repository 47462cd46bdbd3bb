//! Named texts and byte ranges in them.
//!
//! INVARIANT: a [`Span`] always belongs to exactly one [`SourceFile`] of one [`SourceMap`].

/// Number of a file within its [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileId(pub u32);

/// A byte range in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A value with the place where it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The value.
    pub node: T,
    /// Its place.
    pub span: Span,
}

/// A named text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The name shown to people: a path as the user wrote it, or a pack (`std/git`).
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// Line and column (in characters) of a byte offset, both from 1.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let mut line = 1;
        let mut column = 1;
        for (at, ch) in self.text.char_indices() {
            if at >= offset as usize {
                break;
            }
            if ch == '\n' {
                line += 1;
                column = 1;
            } else {
                column += 1;
            }
        }
        (line, column)
    }
}

/// All texts of one compile.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a text and gives its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        FileId(self.files.len() as u32 - 1)
    }

    /// The text with this number.
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// All texts in the order in which they were added.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The text of a span, empty when the span is not of this map.
    pub fn slice(&self, span: Span) -> &str {
        self.file(span.file).and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// File name, line and column of the start of a span.
    pub fn place(&self, span: Span) -> Option<(&str, u32, u32)> {
        let file = self.file(span.file)?;
        let (line, column) = file.line_column(span.start);
        Some((&file.name, line, column))
    }
}
