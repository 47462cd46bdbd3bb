//! The list of checks: name, what it looks at, options, and the function behind it.
//!
//! INVARIANT: every name stands here once, and has a function for its subject (a test compares).

use crate::file::File;
use crate::{Check, Found, OptionKind, OptionSpec, Options, Subject, command, python, quality};

/// How a check of a text runs.
pub(crate) enum Run {
    /// On one text; what the text before had is taken away.
    Each(fn(&File, &Options) -> Vec<Found>),
    /// On the change itself.
    Change(fn(&File, Option<&File>, &Options) -> Vec<Found>),
}

/// How a check of a command runs.
pub(crate) type CommandRun = fn(&[Option<&str>], Option<&str>, &Options) -> Vec<Found>;

const fn option(
    name: &'static str,
    kind: OptionKind,
    default: &'static str,
    summary: &'static str,
) -> OptionSpec {
    OptionSpec { name, kind, default, summary }
}

const EVENTS: OptionSpec =
    option("events", OptionKind::List, "those of the check", "The events at which the check speaks.");
const POST: &[&str] = &["post_tool_use", "stop"];
const STOP: &[&str] = &["stop"];
const ALL: &[&str] = &[];

const fn text(
    name: &'static str,
    events: &'static [&'static str],
    summary: &'static str,
    options: &'static [OptionSpec],
) -> Check {
    Check { name, subject: Subject::Text, summary, options, events }
}

/// Every built-in check.
pub const CHECKS: &[Check] = &[
    text(
        "max-file-size",
        ALL,
        "A file grows over a number of lines; valid JSON, locks and data may.",
        &[
            EVENTS,
            option("limit", OptionKind::Int, "500", "The most lines a file may have."),
            option("exempt_json_data", OptionKind::Bool, "true", "Valid JSON may be of any length."),
        ],
    ),
    text(
        "no-large-diff",
        POST,
        "One change adds or removes very many lines of code.",
        &[
            EVENTS,
            option("max_added", OptionKind::Int, "200", "The most lines a file may grow by."),
            option("max_removed", OptionKind::Int, "100", "The most lines a file may shrink by."),
        ],
    ),
    text(
        "naming-conventions",
        ALL,
        "A new file is not named as files of its language are.",
        &[EVENTS, option("exempt", OptionKind::List, "none", "File names that are fine as they are.")],
    ),
    Check {
        name: "commit-message-format",
        subject: Subject::Command,
        summary: "The message of a commit has no type in front or a long subject.",
        options: &[
            option("max_subject_length", OptionKind::Int, "72", "The most letters of the first line."),
            option(
                "format",
                OptionKind::Text,
                "conventional",
                "`conventional`, or `any` for the length alone.",
            ),
            option("types", OptionKind::List, "the eleven common ones", "The types that may stand in front."),
        ],
        events: ALL,
    },
    text("no-bare-except", ALL, "Python that catches every error, interrupts and exits too.", &[EVENTS]),
    text(
        "no-unsafe-shell",
        ALL,
        "Python that hands a text to a shell.",
        &[
            EVENTS,
            option("allow_shell_true", OptionKind::Bool, "false", "subprocess with shell=True is fine."),
        ],
    ),
    text("no-sql-injection", ALL, "Python that puts SQL together from text and values.", &[EVENTS]),
    text("no-wildcard-import", ALL, "Python that imports every name of a module.", &[EVENTS]),
    text(
        "no-dangerous-migration",
        ALL,
        "A database migration in Python that loses data or locks a table.",
        &[EVENTS, option("migration_paths", OptionKind::List, "none", "Further folders with migrations.")],
    ),
    text("no-unnecessary-async", POST, "An async function in Python that never awaits.", &[EVENTS]),
];

/// The function of a check of texts.
pub(crate) fn text_run(name: &str) -> Option<Run> {
    Some(match name {
        "max-file-size" => Run::Change(quality::size::max_file_size),
        "no-large-diff" => Run::Change(quality::size::large_diff),
        "naming-conventions" => Run::Change(quality::naming::conventions),
        "no-bare-except" => Run::Each(python::except::bare),
        "no-unsafe-shell" => Run::Each(python::shell::unsafe_shell),
        "no-sql-injection" => Run::Each(python::sql::injection),
        "no-wildcard-import" => Run::Each(python::names::wildcard),
        "no-dangerous-migration" => Run::Each(python::migration::dangerous),
        "no-unnecessary-async" => Run::Each(python::asyncs::unnecessary),
        _ => return None,
    })
}

/// The function of a check of commands.
pub(crate) fn command_run(name: &str) -> Option<CommandRun> {
    Some(match name {
        "commit-message-format" => command::commit::message_format,
        _ => return None,
    })
}
