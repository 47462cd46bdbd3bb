//! The list of checks: name, what it looks at, options, and the function behind it.
//!
//! INVARIANT: every name stands here once, and has a function for its subject (a test compares).

use crate::file::File;
use crate::{
    Check, Found, OptionKind, OptionSpec, Options, Subject, command, python, quality, transcript, web,
};

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
pub(crate) const POST: &[&str] = &["post_tool_use", "stop"];
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
    text(
        "no-error-handling-removal",
        ALL,
        "A change takes the handling of errors away and keeps what may fail.",
        &[EVENTS],
    ),
    text("no-test-weakening", ALL, "A test is skipped, emptied, or claims less than before.", &[EVENTS]),
    text(
        "no-dead-imports",
        STOP,
        "A name is imported and not used, in Python and scripts.",
        &[
            EVENTS,
            option(
                "grace_period",
                OptionKind::Bool,
                "true",
                "Speak only at the end, and not after each call.",
            ),
        ],
    ),
    text("no-debug-artifacts", STOP, "Prints for debugging and breakpoints are left in code.", &[EVENTS]),
    text(
        "no-todo-left",
        STOP,
        "A comment says that work is left.",
        &[
            EVENTS,
            option(
                "markers",
                OptionKind::List,
                concat!("TODO FIX", "ME HACK XX", "X"),
                "The words that begin such a comment.",
            ),
        ],
    ),
    Check {
        name: "env-credential-reference",
        subject: Subject::Both,
        summary: "A variable of the environment points at a file with credentials.",
        options: &[EVENTS],
        events: ALL,
    },
    text(
        "subagent-transcript-audit",
        ALL,
        "A transcript in lines of JSON has commands that destroy, publish or open something.",
        &[EVENTS],
    ),
    text("a11y-image-alt", ALL, "An image has no alt text.", &[EVENTS]),
    text("a11y-form-labels", ALL, "A field of a form has no label.", &[EVENTS]),
    text(
        "a11y-interactive-elements",
        ALL,
        "An element reacts to clicks only, or the text of a link says nothing.",
        &[EVENTS],
    ),
    text(
        "a11y-heading-hierarchy",
        ALL,
        "Headings leave a level out, or there are two first ones.",
        &[EVENTS],
    ),
    text("mobile-touch-targets", ALL, "A button is too small for a finger.", &[EVENTS]),
    text("mobile-responsive-patterns", ALL, "A layout does not fit a small screen.", &[EVENTS]),
    text("style-no-arbitrary-values", ALL, "A class has a color or distance of its own.", &[EVENTS]),
    text("style-focus-visible", ALL, "An outline is taken away and nothing shows the focus.", &[EVENTS]),
    text(
        "react-query-loading-state",
        ALL,
        "A query or mutation does not show that it is loading or failed.",
        &[EVENTS],
    ),
    text(
        "react-empty-state",
        ALL,
        "A list is shown and nothing says what an empty one looks like.",
        &[EVENTS],
    ),
    text(
        "react-lazy-loading",
        ALL,
        "A page loads a heavy component at once, or a lazy one with no Suspense.",
        &[EVENTS],
    ),
    text("seo-page-metadata", ALL, "A page has no title and no description.", &[EVENTS]),
    text("seo-open-graph", ALL, "A page has metadata and none for previews.", &[EVENTS]),
    text(
        "seo-semantic-html",
        ALL,
        "Many div elements and no element that says what a part is.",
        &[EVENTS, option("min_divs", OptionKind::Int, "10", "From how many on.")],
    ),
    text(
        "seo-structured-data",
        ALL,
        "A page of a product, article or event has no structured data.",
        &[EVENTS],
    ),
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
        "no-error-handling-removal" => Run::Change(quality::errors::removal),
        "no-test-weakening" => Run::Change(quality::weaken::weakening),
        "no-dead-imports" => Run::Each(quality::dead::imports_unused),
        "no-debug-artifacts" => Run::Each(quality::leftover::debug),
        "no-todo-left" => Run::Each(quality::leftover::todo),
        "env-credential-reference" => Run::Each(command::credential::in_text),
        "subagent-transcript-audit" => Run::Each(transcript::audit),
        "a11y-image-alt" => Run::Each(web::access::image_alt),
        "a11y-form-labels" => Run::Each(web::access::form_labels),
        "a11y-interactive-elements" => Run::Each(web::access::interactive),
        "a11y-heading-hierarchy" => Run::Each(web::access::headings),
        "mobile-touch-targets" => Run::Each(web::style::touch_targets),
        "mobile-responsive-patterns" => Run::Each(web::style::responsive),
        "style-no-arbitrary-values" => Run::Each(web::style::arbitrary),
        "style-focus-visible" => Run::Each(web::style::focus_visible),
        "react-query-loading-state" => Run::Each(web::react::query_state),
        "react-empty-state" => Run::Each(web::react::empty_state),
        "react-lazy-loading" => Run::Each(web::react::lazy_loading),
        "seo-page-metadata" => Run::Each(web::seo::page_metadata),
        "seo-open-graph" => Run::Each(web::seo::open_graph),
        "seo-semantic-html" => Run::Each(web::seo::semantic_html),
        "seo-structured-data" => Run::Each(web::seo::structured_data),
        _ => return None,
    })
}

/// The function of a check of commands.
pub(crate) fn command_run(name: &str) -> Option<CommandRun> {
    Some(match name {
        "commit-message-format" => command::commit::message_format,
        "env-credential-reference" => command::credential::in_command,
        _ => return None,
    })
}
