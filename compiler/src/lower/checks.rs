//! What lines say about checks: their names, their options, and when they speak.
//!
//! INVARIANT: a name, an option or a value that no check knows is an error, so that no line waits for what never comes.

use super::Builder;
use super::line::Home;
use super::subject::{Found, Lowered};
use crate::code::Code;
use crate::events::EVENTS;
use crate::ir;
use crate::text::{listed, nearest};
use policy_checks::{CHECKS, Check, OptionKind, OptionSpec, Subject};
use policy_grammar::ast::{self, CheckValue};
use policy_grammar::source::Span;
use policy_runtime::outside::{FIELD, OPTION};

/// The check that looks for orders to an agent in what it reads.
pub const INJECTED_ORDERS: &str = "injected-orders";
/// The check that applies a patch to the files that it names.
pub const PATCH_INSPECTION: &str = "codex-patch-inspection";
/// The check that looks for files which commands write.
pub const SHELL_WRITES: &str = "no-bash-file-write";
/// The check that looks for changes to infrastructure that nobody has seen.
pub const DRY_RUN: &str = "dry-run-required";
/// The check that looks for code which was changed without a test.
pub const TEST_WITH_CHANGES: &str = "test-with-changes";
/// Checks that ask a local feed.
pub const FEED_CHECKS: [&str; 9] = [
    "no-compromised-dependency",
    "no-vulnerable-version-install",
    "no-nvd-critical-cve-install",
    "no-vulnerable-import",
    "no-leaked-secret-pattern",
    "no-compromised-action",
    "no-malicious-url-fetch",
    "no-blocked-domain-fetch",
    "token-burn-against-team-budget",
];

/// The classes that `injected-orders` knows (the engine's tests compare).
pub const CLASSES: [&str; 14] = [
    "override",
    "role-hijack",
    "role-marker",
    "agent-addressed",
    "concealment",
    "prompt-leak",
    "secret-request",
    "exfil",
    "payment-steer",
    "tool-force",
    "output-steer",
    "authority",
    "decode-follow",
    "hidden-chars",
];

const fn list(name: &'static str, default: &'static str, summary: &'static str) -> OptionSpec {
    OptionSpec { name, kind: OptionKind::List, default, summary }
}

const fn own(
    name: &'static str,
    subject: Subject,
    summary: &'static str,
    options: &'static [OptionSpec],
) -> Check {
    Check { name, subject, summary, options, events: &[] }
}

/// Checks that need more than a text or a command.
pub const OWN_CHECKS: &[Check] = &[
    own(
        INJECTED_ORDERS,
        Subject::Text,
        "A text gives orders to an agent.",
        &[list("classes", "all", "The classes of orders that are looked for.")],
    ),
    own(
        SHELL_WRITES,
        Subject::Command,
        "A command writes a file that is not for scratch.",
        &[
            list("allow", "none", "Files that commands may write."),
            list("safe", "none", "Programs that may write."),
        ],
    ),
    own(
        DRY_RUN,
        Subject::Command,
        "Infrastructure is changed before anybody has seen what would change.",
        &[],
    ),
    own(PATCH_INSPECTION, Subject::Both, "A patch cannot be applied to the files that it names.", &[]),
    own(TEST_WITH_CHANGES, Subject::Both, "Code was changed without a test.", &[]),
    own(
        "no-compromised-dependency",
        Subject::Command,
        "A package that is installed is compromised, as a feed says.",
        &[],
    ),
    own(
        "no-vulnerable-version-install",
        Subject::Command,
        "A version that is installed has a known hole, as a feed says.",
        &[],
    ),
    own(
        "no-nvd-critical-cve-install",
        Subject::Command,
        "A version that is installed has a critical hole, as a feed says.",
        &[],
    ),
    own(
        "no-vulnerable-import",
        Subject::Text,
        "A package that is imported has versions with a known hole, as a feed says.",
        &[],
    ),
    own("no-leaked-secret-pattern", Subject::Text, "A token of a kind that a feed names is written.", &[]),
    own(
        "no-compromised-action",
        Subject::Text,
        "A pipeline uses an action that is compromised, as a feed says.",
        &[],
    ),
    own("no-malicious-url-fetch", Subject::Both, "An address is asked that does harm, as a feed says.", &[]),
    own("no-blocked-domain-fetch", Subject::Both, "A host is asked that a feed blocks.", &[]),
    own(
        "token-burn-against-team-budget",
        Subject::Both,
        "The team has used its budget, as a feed says.",
        &[],
    ),
];

/// Every check that a line can name.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    CHECKS.iter().chain(OWN_CHECKS)
}

/// What the texts of an option can be; none for any.
fn values(check: &Check, option: &str) -> Option<&'static [&'static str]> {
    match (check.name, option) {
        (_, "events") => Some(EVENTS),
        (INJECTED_ORDERS, "classes") => Some(&CLASSES),
        ("commit-message-format", "format") => Some(&["conventional", "any"]),
        _ => None,
    }
}

impl Builder<'_> {
    /// `check NAME with …`.
    pub(super) fn check_line(
        &mut self,
        home: &Home<'_>,
        name: &ast::Text,
        options: &[ast::CheckOption],
        span: Span,
    ) -> Lowered {
        let known = checks().find(|check| check.name == name.node);
        match known {
            Some(check) => self.speaks(home, check, options, name.span),
            None => {
                let error = Code::UnknownCheck.error(
                    format!("no check is named `{}`", name.node),
                    name.span,
                    "not a check",
                );
                self.sink.push(match nearest(&name.node, checks().map(|check| check.name)) {
                    Some(near) => error.with_help(format!("write `{near}`")),
                    None => error.with_help("`policy rules checks` lists them"),
                });
            }
        }
        let mut text = String::new();
        for option in options {
            if let Some(check) = known {
                self.option(check, option);
            }
            if !text.is_empty() {
                text.push(OPTION);
            }
            text.push_str(&option.name.node);
            text.push(FIELD);
            match &option.value {
                CheckValue::Number(value) => {
                    if value.node.parse::<i64>().is_err() {
                        self.sink.push(
                            Code::BadPattern
                                .error("an option takes a whole number", value.span, "not a whole number")
                                .with_help("write digits only, such as `500`"),
                        );
                    }
                    text.push('n');
                    text.push_str(&value.node);
                }
                CheckValue::Quoted(value) | CheckValue::Word(value) => {
                    text.push('t');
                    text.push_str(&plain(&value.node));
                }
                CheckValue::List(values, _) => {
                    text.push('l');
                    let values: Vec<String> = values.iter().map(|value| plain(&value.node)).collect();
                    text.push_str(&values.join(&FIELD.to_string()));
                }
            }
        }
        let matcher = ir::Matcher::Check(text);
        let found = Found { text: format!("check {}", name.node), matcher, words: 0, bytes: 0, span };
        Lowered { kind: ir::Kind::Check, arg: name.node.clone(), patterns: vec![found], excepts: Vec::new() }
    }

    /// Says when the block of a line looks at nothing at which its check speaks.
    fn speaks(&mut self, home: &Home<'_>, check: &Check, options: &[ast::CheckOption], span: Span) {
        let given =
            options.iter().any(|option| ["events", "grace_period"].contains(&option.name.node.as_str()));
        let scope = self.policy.blocks.get(home.block.0 as usize).map(|block| block.scope.0 as usize);
        let Some(scope) = scope.and_then(|scope| self.policy.scopes.get(scope)) else { return };
        if given
            || check.events.is_empty()
            || scope.events.iter().any(|at| check.events.contains(&at.as_str()))
        {
            return;
        }
        let (own, at) = (check.events.join(", "), scope.events.join(", "));
        self.sink.push(
            Code::SilentCheck
                .warning(format!("`{}` says nothing at {at}", check.name), span, format!("speaks at {own}"))
                .with_help(format!("write `at {own}` at the guard, or `with events [\"{at}\"]` at the line")),
        );
    }

    /// Says what is wrong with an option of a check.
    fn option(&mut self, check: &Check, option: &ast::CheckOption) {
        let Some(spec) = check.options.iter().find(|spec| spec.name == option.name.node) else {
            let names: Vec<&str> = check.options.iter().map(|spec| spec.name).collect();
            let error = Code::UnknownCheck.error(
                format!("`{}` has no option `{}`", check.name, option.name.node),
                option.name.span,
                "not an option",
            );
            let help = match nearest(&option.name.node, names.iter().copied()) {
                Some(near) => format!("write `{near}`"),
                None if names.is_empty() => "it takes no options".to_owned(),
                None => format!("its options are {}", names.join(", ")),
            };
            self.sink.push(error.with_help(help));
            return;
        };
        let fits = matches!(
            (spec.kind, &option.value),
            (OptionKind::Int, CheckValue::Number(_))
                | (OptionKind::Text, CheckValue::Quoted(_) | CheckValue::Word(_))
                | (OptionKind::List, CheckValue::List(..) | CheckValue::Quoted(_))
        ) || matches!((spec.kind, &option.value), (OptionKind::Bool, CheckValue::Word(word))
            if ["on", "off", "yes", "no", "true", "false"].contains(&word.node.as_str()));
        if !fits {
            let wanted = match spec.kind {
                OptionKind::Int => "a whole number, such as `500`",
                OptionKind::Text => "a text in quotes",
                OptionKind::List => "a list of texts, such as `[\"a\", \"b\"]`",
                OptionKind::Bool => "`on` or `off`",
            };
            self.sink.push(
                Code::UnknownCheck
                    .error(
                        format!("`{}` takes {wanted}", option.name.node),
                        option.name.span,
                        "another kind of value",
                    )
                    .with_help(spec.summary),
            );
        }
        let Some(known) = values(check, spec.name) else { return };
        let given = match &option.value {
            CheckValue::List(values, _) => values.as_slice(),
            CheckValue::Quoted(value) | CheckValue::Word(value) => std::slice::from_ref(value),
            CheckValue::Number(_) => &[],
        };
        for value in given {
            let text = plain(&value.node);
            if known.contains(&text.as_str()) {
                continue;
            }
            let error = Code::UnknownCheck.error(
                format!("`{}` of `{}` is never `{text}`", spec.name, check.name),
                value.span,
                "not one of its values",
            );
            self.sink.push(match nearest(&text, known.iter().copied()) {
                Some(near) => error.with_help(format!("write `{near}`")),
                None => error.with_help(format!("it can be {}", listed(known.iter().copied()))),
            });
        }
    }
}

/// Without what parts an option from the next.
fn plain(text: &str) -> String {
    text.replace([FIELD, OPTION], " ")
}
