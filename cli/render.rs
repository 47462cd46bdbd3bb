//! Diagnostics for people and programs, drawn by miette.
//!
//! INVARIANT: the text of a policy never draws on the terminal: what is hidden or moves the cursor is made visible.

use crate::args::Format;
use crate::output::{Output, visible};
use miette::{GraphicalReportHandler, GraphicalTheme, JSONReportHandler, NarratableReportHandler};
use policy_grammar::diagnostic::{Diagnostic, Level};
use policy_grammar::source::SourceMap;

/// Width of drawn reports.
const WIDTH: usize = 90;
/// Most diagnostics of one file that are drawn.
const MAX_SHOWN: usize = 100;

/// Diagnostics as text in the run's format (`json`: one object a line).
pub(crate) fn diagnostics(diagnostics: &[Diagnostic], map: &SourceMap, output: Output) -> String {
    let mut text = String::new();
    let color = output.color_errors();
    for diagnostic in shown(diagnostics) {
        if output.quiet && diagnostic.level != Level::Error {
            continue;
        }
        let report = diagnostic.report(map);
        let mut one = String::new();
        let drawn = match output.format {
            Format::Human | Format::Sarif | Format::Github => {
                let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
                let handler = GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_links(false);
                handler.render_report(&mut one, &report)
            }
            Format::Plain => NarratableReportHandler::new().render_report(&mut one, &report),
            Format::Json => JSONReportHandler::new().render_report(&mut one, &report),
        };
        if drawn.is_err() {
            one = diagnostic.plain(map);
        }
        // Colors are escape sequences of our own; where there are none, every other one came with the policy.
        text.push_str(&if color { one } else { visible(&one) });
        text.push('\n');
    }
    let left = diagnostics.len().saturating_sub(MAX_SHOWN);
    if left > 0 && output.format != Format::Json {
        text.push_str(&format!("... and {left} more\n"));
    }
    text
}

/// The worst ones, in their order: drawing looks for each line from the beginning of its file.
fn shown(all: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut room = MAX_SHOWN;
    let mut kept = vec![false; all.len()];
    for level in [Level::Error, Level::Warning, Level::Advice] {
        for (diagnostic, kept) in all.iter().zip(&mut kept) {
            if diagnostic.level == level && room > 0 {
                *kept = true;
                room -= 1;
            }
        }
    }
    all.iter().zip(kept).filter(|(_, kept)| *kept).map(|(diagnostic, _)| diagnostic).collect()
}

/// Diagnostics as JSON values.
pub(crate) fn values(diagnostics: &[Diagnostic], map: &SourceMap) -> Vec<serde_json::Value> {
    let one = |diagnostic: &Diagnostic| {
        let mut text = String::new();
        JSONReportHandler::new().render_report(&mut text, &diagnostic.report(map)).ok()?;
        let mut value: serde_json::Value = serde_json::from_str(&text).ok()?;
        let place = diagnostic.labels.first().and_then(|label| map.place(label.span));
        if let (Some(object), Some((file, line, column))) = (value.as_object_mut(), place) {
            object.insert("filename".into(), file.into());
            object.insert("line".into(), line.into());
            object.insert("column".into(), column.into());
        }
        Some(value)
    };
    shown(diagnostics).into_iter().filter_map(one).collect()
}
