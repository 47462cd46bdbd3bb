//! The codes of every message of the compiler.
//!
//! INVARIANT: a code is a name, never a number; every code has a summary, and `ALL` holds each exactly once.

use policy_grammar::diagnostic::{Diagnostic, Label, Level};
use policy_grammar::source::Span;
use std::collections::BTreeSet;

macro_rules! codes {
    ($($name:ident = $text:literal, $summary:literal;)*) => {
        /// A code of the compiler.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $summary] $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The code as it is printed (`policy::lower::unanchored-path`).
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// One sentence on what is wrong.
            pub const fn summary(self) -> &'static str {
                match self { $(Code::$name => $summary,)* }
            }
        }
    };
}

codes! {
    DuplicateBlock = "policy::resolve::duplicate-block", "Two blocks of one file have the same name.";
    DuplicateList = "policy::resolve::duplicate-list", "Two lists of one file have the same name.";
    DuplicatePolicy =
        "policy::resolve::duplicate-policy", "Two used files have the same name.";
    ListCycle = "policy::resolve::list-cycle", "A list holds itself.";
    ListTooLong = "policy::resolve::list-too-long", "A list has too many members once its lists are spelled out.";
    NotAGuard = "policy::resolve::not-a-guard", "An exception names a block that is no guard.";
    ProtectedBlock = "policy::resolve::protected-block", "A block that is always on cannot be changed or opened.";
    ReservedName = "policy::resolve::reserved-name", "A used file carries the name of a built-in pack.";
    SetOnlyLine = "policy::resolve::set-only-line", "A block with an `only` line can be set to `off` or `deny` alone.";
    SetToEffect = "policy::resolve::set-to-effect", "The block cannot have this effect.";
    SetTwice = "policy::resolve::set-twice", "One block is set twice.";
    SettingInProject = "policy::resolve::setting-in-project", "This setting counts for a whole file, not for a project.";
    SettingInUsedFile = "policy::resolve::setting-in-used-file", "A used file holds a setting that counts only in the main file.";
    SettingTwice = "policy::resolve::setting-twice", "One setting is written twice.";
    UnknownBlock = "policy::resolve::unknown-block", "No block has this name.";
    UnknownGuard = "policy::resolve::unknown-guard", "An exception names a guard that does not exist in its layer.";
    UnknownList = "policy::resolve::unknown-list", "No list has this name.";
    UnknownPack = "policy::resolve::unknown-pack", "No built-in pack has this name.";
    UnusedPack = "policy::resolve::unused-pack", "A block of a pack is set although the pack is not used.";
    UseCycle = "policy::resolve::use-cycle", "A file uses itself.";
    UseFailed = "policy::resolve::use-failed", "A used file could not be read.";
    UseTooDeep = "policy::resolve::use-too-deep", "Files use each other too deeply, or too many are used.";
    WrongListKind = "policy::resolve::wrong-list-kind", "A list holds members of another kind than its place needs.";

    AllowInGuard = "policy::lower::allow-in-guard", "A guard can only tighten.";
    BadBraces = "policy::lower::bad-braces", "The braces of a pattern are not balanced or hold one choice.";
    BadContent = "policy::lower::bad-content", "A content pattern cannot be looked for.";
    BadDomain = "policy::lower::bad-domain", "The pattern cannot match a host name.";
    BadPattern = "policy::lower::bad-pattern", "The pattern is empty, too long or holds control characters.";
    ClauseOfRefusal = "policy::lower::clause-of-refusal", "Only a refusal looks at what a command reads, deletes or sends.";
    DefaultHostInProject = "policy::lower::default-host-in-project", "A project can only add an answer.";
    ExceptionIncomplete = "policy::lower::exception-incomplete", "An exception lacks its owner, its last day or its reason.";
    ExactName = "policy::lower::exact-name", "A label after `as` and a wrapper after `via` are exact names.";
    FlagAsProgram = "policy::lower::flag-as-program", "A run pattern begins with a flag instead of a program.";
    GrantOnFeature = "policy::lower::grant-on-feature", "A shell feature is no reason to allow a command.";
    NotYetAssert = "policy::lower::not-yet-assert", "This version cannot prove an `assert`.";
    NotYetCondition = "policy::lower::not-yet-condition", "This version cannot enforce a condition on the hour or the fence.";
    NotYetGiven = "policy::lower::not-yet-given", "This version cannot set up a file for a test.";
    NotYetObligation = "policy::lower::not-yet-obligation", "This version cannot file content for review.";
    OnlyTwice = "policy::lower::only-twice", "A block has two `only` lines of one kind.";
    PipeInAllow = "policy::lower::pipe-in-allow", "A grant names one plain command.";
    ProjectFolder = "policy::lower::project-folder", "A project names folders below the project.";
    ReportInRule = "policy::lower::report-in-rule", "`warn` and `info` belong to guards.";
    ServerTwice = "policy::lower::server-twice", "A tool name that holds its server stands beside `from`.";
    TooLarge = "policy::lower::too-large", "The policy has too many patterns.";
    TooManySpellings = "policy::lower::too-many-spellings", "The braces of one pattern spell out too many patterns.";
    UnanchoredPath = "policy::lower::unanchored-path", "A path pattern does not say where it begins.";
    TextOutsideGuard = "policy::lower::text-outside-guard", "What looks at texts belongs to guards.";
    UnknownCheck = "policy::lower::unknown-check", "No built-in check has this name, or it has no such option.";
    UnknownSecret = "policy::lower::unknown-secret", "No secret has this name.";
    BadAsset = "policy::lower::bad-asset", "An asset is no token of a network, or two tokens share its name.";
    BadPayment = "policy::lower::bad-payment", "A payment line names an address, network, scheme or function that cannot be.";
    PaymentOutsideGuard = "policy::lower::payment-outside-guard", "Payment lines belong to guards.";
    UnknownAsset = "policy::lower::unknown-asset", "No asset has this name.";
    BadLimit = "policy::lower::bad-limit", "A limit says nothing that can be counted.";
    StateOutsideGuard = "policy::lower::state-outside-guard", "Only guards look at what happened before.";
    BadSecret = "policy::lower::bad-secret", "A secret block does not say what to look for.";
    UnknownEvent = "policy::lower::unknown-event", "No host has an event of this name.";
    UnknownFeature = "policy::lower::unknown-feature", "No shell feature has this name.";
    UntrustedIgnored = "policy::lower::untrusted-ignored", "A project that is not trusted cannot loosen anything.";
    VerbWithoutCondition = "policy::lower::verb-without-condition", "A line of a rule names what it looks at.";

    DefaultIsNoFloor = "policy::lint::default-is-no-floor", "A default in a managed file is no floor.";
    EmptyBlock = "policy::lint::empty-block", "A block has no line.";
    ExpiredException = "policy::lint::expired-exception", "The last day of an exception is over.";
    GrantsAShell = "policy::lint::grants-a-shell", "A line grants what a shell grants.";
    GuardsOnly = "policy::lint::guards-only", "A tool has guards and no rule that could allow it.";
    HomeCoversProject = "policy::lint::home-covers-project", "A pattern on the home folder also covers the project.";
    LineWithoutEffect = "policy::lint::line-without-effect", "A line never changes an answer.";
    NoBudget = "policy::lint::no-budget", "Payments are looked at, and no budget holds them all.";
    OpenAllowRunsCode = "policy::lint::open-allow-runs-code", "An open grant takes flags that run, write or send something.";
    ShadowedRule = "policy::lint::shadowed-rule", "A rule can never decide.";
    SilentCheck = "policy::lint::silent-check", "A check says nothing at the events of its guard.";
    Twice = "policy::lint::twice", "A block has the same pattern twice.";
    UnanchoredDomain = "policy::lint::unanchored-domain", "A host pattern also matches other owners' hosts.";
    UntestedBlock = "policy::lint::untested-block", "A block has no test.";
    UnusedException = "policy::lint::unused-exception", "The guard of an exception is never in force.";
    WideToolGlob = "policy::lint::wide-tool-glob", "A tool pattern of a granting rule matches more than it says.";

    NotWritten = "policy::table::not-written", "The table of the policy would be too large, or one of its patterns would.";
    Unmet = "policy::test::unmet", "A tested call got another decision.";
}

impl Code {
    /// The last part (`unanchored-path`).
    pub fn name(self) -> &'static str {
        self.as_str().rsplit("::").next().unwrap_or_default()
    }

    /// An error.
    pub(crate) fn error(
        self,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        self.at(Level::Error, message, span, label)
    }

    /// A warning.
    pub(crate) fn warning(
        self,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        self.at(Level::Warning, message, span, label)
    }

    /// Worth knowing.
    pub(crate) fn advice(
        self,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        self.at(Level::Advice, message, span, label)
    }

    fn at(
        self,
        level: Level,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        let labels = vec![Label { span, text: label.into() }];
        Diagnostic { code: self.as_str(), level, message: message.into(), labels, help: None }
    }
}

/// Collects messages, at most [`Sink::MAX`].
#[derive(Debug, Default)]
pub(crate) struct Sink {
    list: Vec<Diagnostic>,
    said: BTreeSet<(&'static str, Span, String)>,
    errors: usize,
}

impl Sink {
    /// Messages that are kept; more help nobody.
    pub(crate) const MAX: usize = 500;

    /// Adds a message. Errors are counted even when they are no longer kept; what a block at two places would say
    /// twice is said once.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if let Some(label) = diagnostic.labels.first()
            && self.said.len() < Self::MAX * 2
            && !self.said.insert((diagnostic.code, label.span, diagnostic.message.clone()))
        {
            return;
        }
        if diagnostic.level == Level::Error {
            self.errors += 1;
        }
        if self.list.len() < Self::MAX {
            self.list.push(diagnostic);
        } else if diagnostic.level == Level::Error
            && let Some(slot) = self.list.iter_mut().rev().find(|d| d.level != Level::Error)
        {
            *slot = diagnostic;
        }
    }

    /// No more messages are kept: whoever would search long for a help need not.
    pub(crate) fn full(&self) -> bool {
        self.list.len() >= Self::MAX && self.list.iter().all(|d| d.level == Level::Error)
    }

    /// Counts an error that is not kept.
    pub(crate) fn count(&mut self) {
        self.errors += 1;
    }

    /// Whether any error was added.
    pub(crate) fn failed(&self) -> bool {
        self.errors > 0
    }

    /// The messages in the order of the text.
    pub(crate) fn into_list(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| d.labels.first().map(|label| label.span));
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_well_formed() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|c| c.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(code.as_str().starts_with("policy::"), "{code:?}");
            assert!(code.name().chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{code:?}");
            assert!(code.summary().ends_with('.'), "{code:?}");
        }
    }
}
