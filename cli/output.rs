//! How the commands report: exit codes, formats, colors.
//!
//! INVARIANT: results go to standard output, everything about the run to standard error; colors only at a terminal that
//! was not told otherwise.

use crate::args::{Common, Format};
pub(crate) use policy_hook::{DENY, complain};
use std::io::{IsTerminal, Write};

/// Ok, or allow.
pub(crate) const OK: u8 = 0;
/// Findings, or failed tests.
pub(crate) const FINDINGS: u8 = 1;
/// Ask.
pub(crate) const ASK: u8 = 3;
/// A policy that cannot be used.
pub(crate) const BAD_POLICY: u8 = 4;
/// Bad usage, or a file that is not there.
pub(crate) const USAGE: u8 = 64;

/// Why a command ended early: what to say, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    /// One sentence; empty when everything was said.
    pub(crate) message: String,
    /// Exit code.
    pub(crate) code: u8,
}

impl Failure {
    /// Bad usage.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: USAGE }
    }

    /// A policy that cannot be used.
    pub(crate) fn policy(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: BAD_POLICY }
    }
}

/// What a command ends with.
pub(crate) type Outcome = Result<u8, Failure>;

/// How this run reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// The format.
    pub(crate) format: Format,
    /// Only what went wrong.
    pub(crate) quiet: bool,
    /// More.
    pub(crate) verbose: bool,
}

impl Output {
    /// From the command line; a person is assumed where nothing was said.
    pub(crate) fn new(common: &Common) -> Output {
        Output {
            format: common.format.unwrap_or(Format::Human),
            quiet: common.quiet,
            verbose: common.verbose,
        }
    }

    /// Whether to color what goes to standard error.
    pub(crate) fn color_errors(self) -> bool {
        self.format == Format::Human && std::io::stderr().is_terminal() && colors_wanted()
    }

    /// Whether to color what goes to standard output.
    pub(crate) fn color(self) -> bool {
        self.format == Format::Human && std::io::stdout().is_terminal() && colors_wanted()
    }

    /// Whether results are JSON.
    pub(crate) fn json(self) -> bool {
        self.format == Format::Json
    }

    /// A word in a color, where colors are shown.
    pub(crate) fn paint(self, word: &str, color: Color) -> String {
        if self.color() { format!("\u{1b}[{}m{word}\u{1b}[0m", color as u8) } else { word.to_string() }
    }

    /// A remark about the run, unless quiet.
    pub(crate) fn remark(self, text: &str) {
        if !self.quiet {
            complain(&format!("{text}\n"));
        }
    }
}

/// Colors of words.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Color {
    /// Refused.
    Red = 31,
    /// Let through.
    Green = 32,
    /// Asked.
    Yellow = 33,
}

fn colors_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Writes a result; a reader that went away is no error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Control and direction characters made visible, so that a text from outside cannot draw on the terminal.
pub(crate) fn visible(text: &str) -> String {
    let hidden = |ch: char| {
        (ch.is_control() && ch != '\n' && ch != '\t')
            || matches!(ch, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    if !text.chars().any(hidden) {
        return text.to_string();
    }
    text.chars().map(|ch| if hidden(ch) { ch.escape_unicode().to_string() } else { ch.to_string() }).collect()
}
