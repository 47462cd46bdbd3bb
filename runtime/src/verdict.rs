//! What a call gets, and why.
//!
//! INVARIANT: no verdict without a reason: `steps` is never empty, and the deciding step is first.

/// What a call gets. The order is the order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It may run.
    Allow,
    /// No opinion: the host's own permission system decides; where there is none it is asked.
    Host,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

impl Decision {
    /// The word of the language.
    pub const fn word(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Host => "host",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        }
    }

    /// The decision where no host has an opinion of its own.
    pub const fn without_host(self) -> Decision {
        match self {
            Decision::Host => Decision::Ask,
            other => other,
        }
    }
}

/// How bad a finding is; derived from the effect of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// `info`.
    Info,
    /// `ask`, `warn`.
    Warning,
    /// `deny`.
    Error,
}

impl Severity {
    /// The word used in outputs.
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Where something was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// File name as the user knows it, or a pack.
    pub file: String,
    /// Line from 1; 0 when there is none.
    pub line: u32,
}

/// One step of the way to a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it says about the call.
    pub decision: Decision,
    /// The deciding block (`std/git/no-force-push`), `default`, or `built-in` for what no policy can change.
    pub rule: String,
    /// Where the line was written.
    pub place: Place,
    /// The value that was judged (`git push -f`, `./.env`), cut at 200 characters.
    pub value: String,
    /// The pattern or line that matched, as written; empty for a default.
    pub matched: String,
    /// `because` of the line or block, or the true cause of a fail-closed answer.
    pub because: String,
    /// What to do instead; empty when the policy says nothing.
    pub suggest: String,
    /// Seconds until an unanswered ask is denied.
    pub ask_timeout: Option<u32>,
    /// An ask that a person answers on the approval page alone.
    pub page_only: bool,
    /// The step comes from a guard.
    pub guard: bool,
}

/// One matched guard line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The guard.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence for a person or a model.
    pub message: String,
    /// What to do instead.
    pub suggest: String,
    /// Where the line was written.
    pub place: Place,
    /// Line of the judged text; 0 when there is none.
    pub line: u32,
    /// Column in letters (code points), from 1; 0 when it is not known.
    pub column: u32,
}

/// A secret in what a tool gave back, refused by a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Secret {
    /// Where it begins and ends in the first text that a tool gave back, bytes.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
    /// The name of its format.
    pub format: String,
}

/// What one table says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// Nothing in the table answered and no default is written: the decision is not this table's own.
    pub abstains: bool,
    /// What `observe` would have enforced.
    pub observed: Option<Decision>,
    /// Why, the deciding step first.
    pub steps: Vec<Step>,
    /// Every matched guard line.
    pub findings: Vec<Finding>,
    /// Every secret of the formats that were found in what a tool gave back and refused.
    pub secrets: Vec<Secret>,
    /// No line refuses anything but those.
    pub only_secrets: bool,
}

impl Verdict {
    /// The verdict that one step is.
    #[must_use]
    pub fn of(step: Step) -> Verdict {
        Verdict {
            decision: step.decision,
            abstains: false,
            observed: None,
            steps: vec![step],
            findings: Vec::new(),
            secrets: Vec::new(),
            only_secrets: false,
        }
    }

    /// Whether it is an ask that a person answers on the approval page alone.
    pub fn page_only(&self) -> bool {
        self.decision == Decision::Ask && self.steps.iter().any(|step| step.page_only)
    }
}
