//! The built-in checks of the linter: what a policy cannot say in one line of words and patterns.
//!
//! A policy line names a check (`warn check NAME with OPTION VALUE`); the caller hands over the text before and after a call, or one
//! resolved command, and gets findings with places. What the call did not bring is not found again.
//!
//! INVARIANT: pure and deterministic: no IO, no clock, no state between calls; time and memory are linear in the text; no bytes make it
//! panic. A text too large to look at is a finding, never silence.

mod added;
mod catalog;
mod code;
mod command;
mod file;
mod options;
mod paths;
mod python;
mod quality;
mod tokens;
mod transcript;
mod web;

pub use catalog::CHECKS;
pub use options::{OptionKind, OptionSpec, Options, Value};
pub use paths::without_test;
pub use transcript::commands_in_transcript;

use catalog::Run;
use file::File;

/// The most bytes of one text that are looked at.
pub const MAX_TEXT: usize = 64 << 20;

/// The most findings of one check in one text.
pub const MAX_FOUND: usize = 200;

/// A text that a call writes.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The path: relative to the project with `/`, or absolute.
    pub path: &'a str,
    /// The text before the call; none for a new file.
    pub before: Option<&'a str>,
    /// The text after the call.
    pub after: &'a str,
    /// What happens: `pre_tool_use`, `post_tool_use`, `stop` or another event.
    pub event: &'a str,
}

/// How much a finding matters, where the check itself can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Should be looked at.
    Warning,
    /// Must not be.
    Error,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The line in the text after the call, from 1; 0 when it is about the whole.
    pub line: u32,
    /// The column in letters, from 1; 0 when it is about the whole.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub suggest: String,
    /// Only where the check itself grades.
    pub severity: Option<Severity>,
}

/// What a check looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A text that is written.
    Text,
    /// A command that is run.
    Command,
    /// Either.
    Both,
}

/// A built-in check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name as written in a policy.
    pub name: &'static str,
    /// What it looks at.
    pub subject: Subject,
    /// One sentence on what it finds.
    pub summary: &'static str,
    /// The options it knows.
    pub options: &'static [OptionSpec],
    /// The events at which it speaks unless the option `events` names others; empty: all.
    pub events: &'static [&'static str],
}

/// The check of that name.
pub fn find(name: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.name == name)
}

/// One text and what it was before, read once for all checks that look at it.
pub struct Reading<'a> {
    after: File<'a>,
    before: Option<File<'a>>,
    event: &'a str,
    whole: bool,
}

impl<'a> Reading<'a> {
    /// Takes a text; nothing is read before a check asks.
    pub fn new(text: &Text<'a>) -> Reading<'a> {
        Reading {
            after: File::new(text.path, part_of(text.after)),
            before: text.before.map(|before| File::new(text.path, part_of(before))),
            event: text.event,
            whole: text.after.len() <= MAX_TEXT,
        }
    }

    /// Runs a check; an unknown name, or a check of commands, finds nothing.
    pub fn check(&self, name: &str, options: &Options) -> Vec<Found> {
        let (Some(check), Some(run)) = (find(name), catalog::text_run(name)) else { return Vec::new() };
        let speaks = match options.list("events") {
            Some(events) => events.contains(&self.event),
            // An import may be written one call before its use: a single call is asked only by those who want no patience.
            None if name == "no-dead-imports" && !options.flag("grace_period", true) => {
                catalog::POST.contains(&self.event)
            }
            None => check.events.is_empty() || check.events.contains(&self.event),
        };
        if !speaks {
            return Vec::new();
        }
        let mut found = match run {
            Run::Each(run) => {
                let found = run(&self.after, options);
                match &self.before {
                    Some(before) if !found.is_empty() => {
                        added::only_new(found, &self.after, run(before, options), before)
                    }
                    _ => found,
                }
            }
            Run::Change(run) => run(&self.after, self.before.as_ref(), options),
        };
        found.truncate(MAX_FOUND);
        if !self.whole {
            // First, since who asks may not take all.
            let message = format!("only the first {MAX_TEXT} bytes of the text were looked at");
            found.insert(0, self.after.found_whole(message, "write smaller files"));
        }
        found
    }
}

/// Runs one check on a text; for several take a [`Reading`].
pub fn check_text(name: &str, text: &Text, options: &Options) -> Vec<Found> {
    Reading::new(text).check(name, options)
}

/// Runs a check on one command whose words are resolved, a word that nobody knows being none; `stdin` is the text of a here-document.
pub fn check_command(
    name: &str,
    words: &[Option<&str>],
    stdin: Option<&str>,
    options: &Options,
) -> Vec<Found> {
    match catalog::command_run(name) {
        Some(run) => run(words, stdin, options),
        None => Vec::new(),
    }
}

fn part_of(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    file::part(text, 0, end)
}
