//! A diagnostic with its texts, as miette draws it, and as plain lines.
//!
//! INVARIANT: a report borrows the texts and draws nothing itself; how it looks is the choice of who prints it.

use crate::diagnostic::{Diagnostic, Label, Level};
use crate::source::{FileId, SourceFile, SourceMap};
use miette::{LabeledSpan, MietteError, MietteSpanContents, Severity, SourceCode, SourceSpan, SpanContents};
use std::fmt::{self, Display, Write as _};

/// A diagnostic together with the texts that it speaks of.
#[derive(Debug)]
pub struct Report<'s> {
    diagnostic: &'s Diagnostic,
    text: Option<Named<'s>>,
    labels: Vec<LabeledSpan>,
    others: Vec<Elsewhere<'s>>,
}

/// The labels of one further file.
#[derive(Debug)]
struct Elsewhere<'s> {
    message: &'s str,
    text: Option<Named<'s>>,
    labels: Vec<LabeledSpan>,
}

#[derive(Debug, Clone, Copy)]
struct Named<'s>(&'s SourceFile);

impl SourceCode for Named<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.0.text.read_span(span, before, after)?;
        let (data, place) = (inner.data(), *inner.span());
        let named = MietteSpanContents::new_named(
            self.0.name.clone(),
            data,
            place,
            inner.line(),
            inner.column(),
            inner.line_count(),
        );
        Ok(Box::new(named))
    }
}

fn labeled(label: &Label, primary: bool) -> LabeledSpan {
    let start = label.span.start as usize;
    let length = (label.span.end as usize).saturating_sub(start);
    let text = Some(label.text.clone());
    if primary {
        LabeledSpan::new_primary_with_span(text, (start, length))
    } else {
        LabeledSpan::new_with_span(text, (start, length))
    }
}

impl Diagnostic {
    /// The diagnostic ready to be drawn; labels in other files than the first become reports of their own.
    pub fn report<'s>(&'s self, sources: &'s SourceMap) -> Report<'s> {
        let home = self.labels.first().map(|label| label.span.file);
        let of = |file: FileId| sources.file(file).map(Named);
        let mut report =
            Report { diagnostic: self, text: home.and_then(of), labels: Vec::new(), others: Vec::new() };
        let mut files: Vec<FileId> = Vec::new();
        for (at, label) in self.labels.iter().enumerate() {
            let file = label.span.file;
            if Some(file) == home {
                report.labels.push(labeled(label, at == 0));
                continue;
            }
            match files.iter().position(|known| *known == file).and_then(|at| report.others.get_mut(at)) {
                Some(other) => other.labels.push(labeled(label, false)),
                None => {
                    files.push(file);
                    let labels = vec![labeled(label, true)];
                    report.others.push(Elsewhere { message: &label.text, text: of(file), labels });
                }
            }
        }
        report
    }

    /// The diagnostic as plain lines: level, code, message; places; help.
    pub fn plain(&self, sources: &SourceMap) -> String {
        let level = match self.level {
            Level::Advice => "advice",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        let mut out = format!("{level}[{}]: {}\n", self.code, self.message);
        for label in &self.labels {
            let (name, line, column) = sources.place(label.span).unwrap_or(("?", 0, 0));
            // Writing to a String does not fail.
            let _ = writeln!(out, "  {name}:{line}:{column}: {}", label.text);
        }
        if let Some(help) = &self.help {
            let _ = writeln!(out, "  help: {help}");
        }
        out
    }
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.diagnostic.level {
            Level::Advice => Severity::Advice,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.diagnostic.help.as_ref().map(|help| Box::new(help) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.text.as_ref().map(|text| text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        if self.others.is_empty() {
            return None;
        }
        Some(Box::new(self.others.iter().map(|other| other as &dyn miette::Diagnostic)))
    }
}

impl Display for Elsewhere<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for Elsewhere<'_> {}

impl miette::Diagnostic for Elsewhere<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(Severity::Advice)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.text.as_ref().map(|text| text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Diagnostic;
    use crate::source::{SourceMap, Span};
    use miette::Diagnostic as _;

    #[test]
    fn labels_of_another_file_are_a_report_of_their_own() {
        let mut sources = SourceMap::default();
        let (one, two) = (sources.add("a.policy", "abc\ndef"), sources.add("b.policy", "xyz"));
        let span = |file, start, end| Span { file, start, end };
        let error = Diagnostic::error("policy::lint::x", "two places", span(one, 4, 7), "here")
            .with_label(span(two, 0, 1), "and there")
            .with_label(span(one, 0, 1), "and here")
            .with_help("do it");
        let report = error.report(&sources);
        assert_eq!(report.labels().map(Iterator::count), Some(2));
        assert_eq!(report.related().map(Iterator::count), Some(1));
        let plain = error.plain(&sources);
        assert_eq!(
            plain,
            "error[policy::lint::x]: two places\n  a.policy:2:1: here\n  b.policy:1:1: and there\n  a.policy:1:1: and here\n  help: do it\n"
        );
    }
}
