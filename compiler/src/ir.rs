//! What was meant: flat, ids instead of names, every pattern spelled out and ranked.
//!
//! INVARIANT: nothing here needs a name to be looked up; everything is in the order in which it is emitted, so
//! the same policy gives the same bytes.

pub use policy_runtime::outside::{By, Measure, PastKind};
pub use policy_runtime::table::{BlockKind, Kind, Verb};

/// Index into [`Policy::scopes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeId(pub u32);
/// Index into [`Policy::withins`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WithinId(pub u32);
/// Index into [`Policy::blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);
/// Index into [`Policy::lines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(pub u32);

/// One compiled layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// The name in the header.
    pub name: String,
    /// `default`, when written.
    pub default: Option<Default_>,
    /// Where `default` was written.
    pub default_place: Place,
    /// `ask timeout`, seconds.
    pub ask_timeout: Option<u32>,
    /// `ask via page`.
    pub page_only: bool,
    /// `mode observe`.
    pub observe: bool,
    /// Names of the source files; a [`Place`] points into them.
    pub files: Vec<String>,
    /// Distinct scopes.
    pub scopes: Vec<Scope>,
    /// Distinct file conditions.
    pub withins: Vec<Within>,
    /// Blocks; rules in the order in which they are asked.
    pub blocks: Vec<Block>,
    /// Lines.
    pub lines: Vec<Line>,
    /// Patterns, sorted by rank ascending (rank = index + 1).
    pub patterns: Vec<Pattern>,
    /// Patterns that void a line for a value (`except`), any order.
    pub excepts: Vec<Except>,
    /// What lines ask of the past, in the order of the lines.
    pub tails: Vec<Tail>,
    /// Distinct facts of the past.
    pub pasts: Vec<Past>,
    /// What `content secret` lines look for.
    pub secrets: Vec<Secret>,
    /// Knowledge of programs, by first name.
    pub programs: Vec<policy_grammar::shell::program::Program>,
}

/// `default`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default_ {
    /// `allow`.
    Allow,
    /// `host`.
    Host,
    /// `ask`.
    Ask,
    /// `deny`.
    Deny,
}

/// Where something was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Index into [`Policy::files`].
    pub file: u32,
    /// Line from 1; 0 when there is none.
    pub line: u32,
}

/// Which calls a block looks at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// Globs over `server NUL tool`, lower case, plain syntax (`*` is anything, `?` one character: `?*` is a
    /// server with a name). Never empty: every tool of every server is `*`.
    pub tools: Vec<String>,
    /// Events; never empty.
    pub events: Vec<String>,
    /// Labels of the caller, lower case; empty is any.
    pub labels: Vec<String>,
}

/// A condition on where a value lies: `for` files, or a `project` folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Within {
    /// Path globs. For a project these are the folders with `/**` behind.
    pub include: Vec<String>,
    /// Path globs taken back.
    pub exclude: Vec<String>,
}

/// A rule, guard or exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Which.
    pub kind: BlockKind,
    /// Full name (`std/git/no-force-push`, `reads`).
    pub name: String,
    /// Where.
    pub place: Place,
    /// Its scope.
    pub scope: ScopeId,
    /// All of these must hold for a value.
    pub withins: Vec<WithinId>,
    /// `because` at the top.
    pub because: String,
    /// `suggest` at the top.
    pub suggest: String,
    /// `ask timeout` at the top, seconds.
    pub ask_timeout: Option<u32>,
    /// `ask via page` at the top.
    pub page_only: bool,
    /// The guard an exception opens.
    pub opens: Option<BlockId>,
    /// Last UTC day of an exception, days since the epoch.
    pub until: Option<i64>,
    /// `owner` of an exception.
    pub owner: String,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its block.
    pub block: BlockId,
    /// What it says.
    pub verb: Verb,
    /// What it looks at.
    pub kind: Kind,
    /// The dotted argument name of an `arg` line, else empty.
    pub arg: String,
    /// The reason: the line's own, else the block's.
    pub because: String,
    /// The line's own, else the block's.
    pub suggest: String,
    /// Where.
    pub place: Place,
}

/// One spelling of one pattern of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// Its line.
    pub line: LineId,
    /// As written, for explanations.
    pub text: String,
    /// What it matches.
    pub matcher: Matcher,
    /// A grant matches exactly (case, words); a refusal generously.
    pub grant: bool,
}

pub use policy_grammar::ast::View;

/// A format of secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secret {
    /// Its name.
    pub name: String,
    /// Regular expressions, any of which finds it.
    pub patterns: Vec<String>,
    /// Least entropy of the value, hundredths of a bit a character.
    pub entropy: u32,
    /// Place in [`policy_runtime::secret::Checksum::ALL`].
    pub checksum: u32,
    /// Text globs of values that are published.
    pub samples: Vec<String>,
    /// Why.
    pub because: String,
    /// What to do instead.
    pub suggest: String,
    /// Where.
    pub place: Place,
}

/// What a line asks of the past, and what it leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// The line.
    pub line: LineId,
    /// `over …`.
    pub limit: Option<Limit>,
    /// `when session …`, `unless session …`.
    pub condition: Option<Condition>,
    /// `unless hours …`, `when hours …`: whether the line holds outside of them.
    pub hours: Option<(bool, String)>,
    /// `then flag session`.
    pub flags: bool,
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// What is counted.
    pub measure: Measure,
    /// It holds above this.
    pub over: u32,
    /// How far back.
    pub window: Window,
    /// For whom it is counted.
    pub by: By,
    /// The name of the count in the record of a session.
    pub key: u64,
    /// The window as it is said; of money its name.
    pub shown: String,
    /// Of a payment, the most in decimal digits; then `over` is the number of decimals.
    pub most: String,
}

/// How far back a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// In the call itself.
    Call,
    /// So many seconds.
    Seconds(u32),
    /// Since the session began.
    Session,
    /// Since the fact of [`Policy::pasts`] last happened.
    Since(u32),
}

/// A condition on the session, by numbers of [`Policy::pasts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// `unless` instead of `when`.
    pub unless: bool,
    /// What is asked.
    pub past: u32,
    /// It holds above this number of different files; 0 where it only has to have happened.
    pub over: u32,
    /// Since when.
    pub since: Option<u32>,
}

/// A fact of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// Which.
    pub kind: PastKind,
    /// Any of these; empty when flagged.
    pub matchers: Vec<Matcher>,
    /// Its name in the record of a session.
    pub key: u64,
    /// As written.
    pub text: String,
}

/// A pattern that takes values back from a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Except {
    /// Its line.
    pub line: LineId,
    /// What it matches.
    pub matcher: Matcher,
    /// An `except` under a refusal is a grant, under a grant a refusal.
    pub grant: bool,
}

/// What a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "most patterns of a policy are run patterns")]
pub enum Matcher {
    /// A path glob, braces spelled out: `*` within a segment, `**` across, `?` one character. Starts with `./`,
    /// `**/`, `~/`, `/`, `C:/`, or is `.`.
    Path(String),
    /// A host glob, lower case: `*` is anything.
    Domain(String),
    /// A text glob over one command's text: `*` is anything, `?` one character.
    Command(String),
    /// A text glob over `name NUL value` of an argument.
    Arg(String),
    /// The words of a command.
    Run(RunPattern),
    /// A mask of shell features.
    Shell(u32),
    /// A regular expression in a text.
    Content(View, String),
    /// A secret of [`Policy::secrets`] in a text.
    Secret(View, u32),
    /// What the check with the line's name finds, with its options as the runtime reads them.
    Check(String),
    /// Always (bare verbs, `otherwise`).
    Always,
}

/// A run pattern, braces spelled out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunPattern {
    /// Stages of a pipe; usually one. Further stages may have other stages between them.
    pub stages: Vec<RunStage>,
    /// Operands it must touch (refusal: any; grant: every one that the pattern does not spell out).
    pub touching: Option<OperandSet>,
    /// Paths that it reads (refusals only).
    pub reading: Option<OperandSet>,
    /// Paths that it writes (grant: redirect targets only, every one).
    pub writing: Option<OperandSet>,
    /// Paths that it deletes or moves away (refusals only).
    pub deleting: Option<OperandSet>,
    /// Paths whose content it sends (refusals only).
    pub sending: Option<OperandSet>,
    /// Names of wrappers around it (any one).
    pub via: Vec<String>,
}

impl RunPattern {
    /// The sets over operands that it has, each with its word.
    pub fn sets(&self) -> impl Iterator<Item = (&'static str, &OperandSet)> {
        let all = [
            ("touching", &self.touching),
            ("reading", &self.reading),
            ("writing", &self.writing),
            ("deleting", &self.deleting),
            ("sending", &self.sending),
        ];
        all.into_iter().filter_map(|(word, set)| Some((word, set.as_ref()?)))
    }
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunStage {
    /// The program: text globs, any one; `*` is any program.
    pub program: Vec<String>,
    /// The words behind it.
    pub terms: Vec<RunTerm>,
    /// `...`: further operands and flags.
    pub rest: bool,
}

/// One word of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunTerm {
    /// A word that is not a flag: text globs, any one (same words spelled out).
    Word(Vec<String>),
    /// A flag: text as written (`-f`, `--force`, `--format=*`), any one.
    Flag(Vec<String>),
    /// `*`: one word that is not a flag.
    AnyWord,
    /// `-*`: any flags.
    AnyFlags,
}

/// Globs over operands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OperandSet {
    /// Path globs (they start with an anchor).
    pub paths: Vec<String>,
    /// Text globs.
    pub texts: Vec<String>,
    /// Path globs taken back.
    pub except_paths: Vec<String>,
    /// Text globs taken back.
    pub except_texts: Vec<String>,
}
