//! Messages to the people who write policies: code, message, labels, help.
//!
//! INVARIANT: a message is lower case, one line, without a final period and without a name of our source code.

use crate::source::Span;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing.
    Advice,
    /// The policy compiles; something is likely wrong.
    Warning,
    /// Nothing compiles.
    Error,
}

/// An underlined place with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is to be seen there.
    pub text: String,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// `policy::<phase>::<kebab>`.
    pub code: &'static str,
    /// How bad it is.
    pub level: Level,
    /// One lower-case sentence without a final period.
    pub message: String,
    /// The places, in reading order; the first is the primary one.
    pub labels: Vec<Label>,
    /// An instruction, or the corrected text.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with one place.
    pub fn error(
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Self {
        Self::new(Level::Error, code, message, span, label)
    }

    /// A warning with one place.
    pub fn warning(
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Self {
        Self::new(Level::Warning, code, message, span, label)
    }

    fn new(
        level: Level,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Self {
        let labels = vec![Label { span, text: label.into() }];
        Diagnostic { code, level, message: message.into(), labels, help: None }
    }

    /// Adds a further place.
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds the help.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
