//! The tree of a `.policy` file: what was written, nothing resolved.
//!
//! INVARIANT: every node carries the span it was written at; no name is looked up and no pattern is compiled here.

// The fields of a variant are told by the variant's own sentence.
#![allow(missing_docs)]

mod program;
mod text;

pub use program::{EffectPlace, ProgramFact};
pub use text::{CheckOption, CheckValue, SecretExpect, SecretPart, View};

use crate::source::{Span, Spanned};

/// A name, word or text with its place.
pub type Text = Spanned<String>;

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// `policy "name" language 1`; none when it is missing or broken (a diagnostic says so).
    pub header: Option<Header>,
    /// The items in order.
    pub items: Vec<Item>,
    /// Every comment, for `policy fmt`.
    pub comments: Vec<Comment>,
    /// Some text was skipped while recovering; nothing compiles while this is set.
    pub skipped: bool,
}

/// `policy "name" language 1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The name between the quotes.
    pub name: Text,
    /// The language version.
    pub language: Spanned<u32>,
    /// The whole header.
    pub span: Span,
}

/// A `#` comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The text with its `#`.
    pub text: Text,
    /// Nothing but blanks stands before it on its line.
    pub own_line: bool,
}

/// What a line or block says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Let it through.
    Allow,
    /// Let it through and mention it.
    Info,
    /// Let it through and warn.
    Warn,
    /// A person decides.
    Ask,
    /// Refuse it.
    Deny,
}

impl Effect {
    /// The word of the language.
    pub const fn word(self) -> &'static str {
        match self {
            Effect::Allow => "allow",
            Effect::Info => "info",
            Effect::Warn => "warn",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        }
    }
}

/// What `default` may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultWord {
    /// `default allow`.
    Allow,
    /// `default host`: no opinion.
    Host,
    /// `default ask`.
    Ask,
    /// `default deny`.
    Deny,
}

/// Where a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskPlace {
    /// On the approval page, and nowhere else.
    Page,
}

/// What `mode` may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Decisions hold.
    Enforce,
    /// Everything passes; what would have been decided is recorded.
    Observe,
}

/// What `severity` may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeverityWord {
    /// Warn becomes deny, info becomes warn.
    Strict,
    /// As written.
    Standard,
    /// Warn becomes info.
    Relaxed,
}

/// A top-level item.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every item is a block, so a box would cost more than it saves"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// `default ask`.
    Default { value: Spanned<DefaultWord>, span: Span },
    /// `ask timeout 120s`.
    AskTimeout { seconds: Spanned<u64>, span: Span },
    /// `ask via page`.
    AskVia { place: Spanned<AskPlace>, span: Span },
    /// `mode observe`.
    Mode { value: Spanned<Mode>, span: Span },
    /// `severity strict`.
    Severity { value: Spanned<SeverityWord>, span: Span },
    /// `use std/git, "./team.policy"`.
    Use { origins: Vec<Origin>, span: Span },
    /// `set std/x/y to off because "…"`.
    Set { target: Text, to: Spanned<SetTo>, because: Text, span: Span },
    /// `list NAME is …`.
    List { name: Text, members: Vec<Member>, bracketed: bool, span: Span },
    /// `asset USDC is "…" decimals 6`.
    Asset { symbol: Text, id: Text, decimals: Spanned<u32>, span: Span },
    /// `payee shop is "0x…"`.
    Payee { name: Text, addresses: List, span: Span },
    /// `secret NAME { … }`.
    Secret { name: Text, parts: Vec<SecretPart>, span: Span },
    /// `program NAMES { … }`.
    Program(Program),
    /// `project "./x" { … }`.
    Project { folders: List, items: Vec<Item>, span: Span },
    /// `rule`, `guard`, `exception`, `assert`.
    Block(Block),
    /// `test "…" { … }`.
    Test(Test),
}

/// One entry of `use`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// `std/git`.
    Pack(Text),
    /// `"./team.policy"`, may hold `*` in its last segment.
    File(Text),
}

/// The new value of `set`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetTo {
    /// `off`.
    Off,
    /// A decision.
    Effect(Effect),
}

/// One member of a `list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// A bare name.
    Name(Text),
    /// A quoted pattern.
    Pattern(Text),
    /// A run pattern.
    Run(RunPattern),
    /// `@other`, without the `@`.
    Ref(Text),
}

/// Knowledge of programs: `program sudo, env { … }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its names.
    pub names: Vec<Text>,
    /// What is said.
    pub facts: Vec<Spanned<ProgramFact>>,
    /// The whole block.
    pub span: Span,
}

/// What kind of block it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// Answers.
    Rule,
    /// Tightens.
    Guard,
    /// Opens one guard.
    Exception,
    /// Is proved.
    Assert,
}

/// `rule | guard | exception | assert NAME scopes { why, lines, otherwise, tests }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Which of the four.
    pub kind: BlockKind,
    /// Its name.
    pub name: Text,
    /// `to GUARD` of an exception.
    pub to: Option<Text>,
    /// Its scopes.
    pub scopes: Scopes,
    /// `because` at the top.
    pub because: Option<Text>,
    /// `suggest` at the top.
    pub suggest: Option<Text>,
    /// `ask timeout` at the top, seconds.
    pub ask_timeout: Option<Spanned<u64>>,
    /// `ask via` at the top.
    pub ask_via: Option<Spanned<AskPlace>>,
    /// `owner` of an exception.
    pub owner: Option<Text>,
    /// `until` of an exception.
    pub until: Option<Spanned<Date>>,
    /// The lines.
    pub lines: Vec<Line>,
    /// `otherwise` of a rule.
    pub otherwise: Option<Otherwise>,
    /// Inline tests.
    pub expects: Vec<Expect>,
    /// From the keyword to the closing brace.
    pub span: Span,
}

/// `otherwise deny because "…"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Otherwise {
    /// The effect.
    pub effect: Spanned<Effect>,
    /// Why.
    pub because: Option<Text>,
    /// The whole clause.
    pub span: Span,
}

/// Which calls a block looks at. An absent scope says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scopes {
    /// `on` tools.
    pub on: Option<Names>,
    /// `from` servers.
    pub from: Option<Names>,
    /// `as` who calls.
    pub as_: Option<Names>,
    /// `at` events.
    pub at: Option<Names>,
    /// `for` files.
    pub files: Option<PatternList>,
}

/// Names side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The names.
    pub names: Vec<NameRef>,
    /// From the keyword to the last name.
    pub span: Span,
}

/// A bare name, a quoted name (globs allowed) or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameRef {
    /// Bare.
    Bare(Text),
    /// Quoted.
    Quoted(Text),
    /// `@list`, without the `@`.
    Ref(Text),
}

/// Patterns side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Written in brackets.
    pub bracketed: bool,
    /// All of them.
    pub span: Span,
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A quoted pattern.
    Pattern(Text),
    /// `@list`, without the `@`.
    Ref(Text),
}

/// A list with what is taken back from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternList {
    /// The patterns.
    pub list: List,
    /// `except`.
    pub except: Option<List>,
}

/// The verb of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// A decision.
    Effect(Effect),
    /// `only`.
    Only,
    /// `open`.
    Open,
}

/// One line: one verb with one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The verb.
    pub verb: Spanned<Verb>,
    /// The subject; none for a bare verb.
    pub subject: Option<Spanned<Subject>>,
    /// `over N per …` behind the subject or measure.
    pub tally: Option<Tally>,
    /// `when …`, `unless …`.
    pub condition: Option<Condition>,
    /// `because` of this line.
    pub because: Option<Text>,
    /// `suggest` of this line.
    pub suggest: Option<Text>,
    /// `then …`.
    pub obligation: Option<Spanned<Obligation>>,
    /// The whole line.
    pub span: Span,
}

/// What a line looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// `path "…"`.
    Path(PatternList),
    /// `domain "…"`.
    Domain(PatternList),
    /// `command "…"`: text globs.
    Command(PatternList),
    /// `run …`.
    Run(Box<RunSubject>),
    /// `shell substitution, eval`.
    Shell(Vec<Text>),
    /// `arg NAME "…"`; the name may be dotted.
    Arg { name: Text, patterns: PatternList },
    /// `content secret [names]`.
    ContentSecret { view: View, names: Option<Names> },
    /// `content r"…"`.
    Content { view: View, patterns: Vec<Text> },
    /// `check NAME [with OPTION VALUE, …]`.
    Check { name: Text, options: Vec<CheckOption> },
    /// `payee "0x…"`.
    Payee(PatternList),
    /// `payee new, mismatch`.
    PayeeTest(Vec<Text>),
    /// `network "…"`.
    Network(List),
    /// `asset USDC`.
    Asset(Vec<Text>),
    /// `scheme exact`.
    Scheme(Names),
    /// `seller "…"`.
    Seller(PatternList),
    /// `call transfer`.
    Call(Names),
    /// `amount`, `calls`, … of a limit; the tally follows.
    Measure(Text),
}

/// `run` patterns with the clauses that belong to a single one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunSubject {
    /// One pattern, or several.
    pub patterns: Vec<RunItem>,
    /// Written in brackets.
    pub bracketed: bool,
    /// `except` run patterns.
    pub except: Vec<RunItem>,
    /// `touching`.
    pub touching: Option<PatternList>,
    /// `reading`.
    pub reading: Option<PatternList>,
    /// `writing`.
    pub writing: Option<PatternList>,
    /// `deleting`.
    pub deleting: Option<PatternList>,
    /// `sending`.
    pub sending: Option<PatternList>,
    /// `via`.
    pub via: Option<Names>,
}

impl RunSubject {
    /// The clauses over sets of operands that were written, each with its word.
    pub fn sets(&self) -> impl Iterator<Item = (&'static str, &PatternList)> {
        let all = [
            ("touching", &self.touching),
            ("reading", &self.reading),
            ("writing", &self.writing),
            ("deleting", &self.deleting),
            ("sending", &self.sending),
        ];
        all.into_iter().filter_map(|(word, list)| Some((word, list.as_ref()?)))
    }
}

/// A run pattern or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunItem {
    /// In backticks.
    Pattern(RunPattern),
    /// `@list`, without the `@`.
    Ref(Text),
}

/// A run pattern: a shell-shaped template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPattern {
    /// The stages of a pipe; usually one.
    pub stages: Vec<Stage>,
    /// Ends with `...`.
    pub rest: bool,
    /// The text between the backticks, as written.
    pub text: String,
    /// With the backticks.
    pub span: Span,
}

/// One stage of a run pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Its words.
    pub terms: Vec<Term>,
    /// Its place.
    pub span: Span,
}

/// One word of a run pattern, made of parts side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The parts.
    pub parts: Vec<TermPart>,
    /// Its place.
    pub span: Span,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TermPart {
    /// Plain letters; `*` and `?` are globs.
    Text(String),
    /// `'…'`: literal.
    Quoted(String),
    /// `{a,b}`: each choice is text or literal parts.
    Braces(Vec<Vec<TermPart>>),
}

/// `over QUANTITY [per …|since …] [by …]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// The quantity.
    pub over: Spanned<Quantity>,
    /// The window.
    pub window: Option<Window>,
    /// `by`.
    pub by: Option<Text>,
    /// The whole clause.
    pub span: Span,
}

/// A quantity of a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quantity {
    /// `5 USDC`; the number as written.
    Money { amount: String, symbol: String },
    /// `50%`.
    Percent(u64),
    /// `10m`, seconds.
    Duration(u64),
    /// `30`.
    Integer(u64),
}

/// The window of a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Window {
    /// `per 1d`, seconds.
    Per(Spanned<u64>),
    /// `per session`.
    PerSession(Span),
    /// `since PAST`.
    Since(Past),
}

/// `when …`, `unless …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// `unless` instead of `when`.
    pub unless: bool,
    /// What is asked.
    pub test: ConditionTest,
    /// The whole clause.
    pub span: Span,
}

/// What a condition asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionTest {
    /// `session PAST [over N] [since PAST]`.
    Session { past: Past, over: Option<Spanned<Quantity>>, since: Option<Past> },
    /// `hours "…"`.
    Hours(Text),
    /// `fenced`.
    Fenced(Span),
}

/// A fact of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Past {
    /// `flagged`.
    Flagged(Span),
    /// `ran RUNS`.
    Ran(Vec<RunItem>, Span),
    /// `read PATHS`.
    Read(List, Span),
    /// `wrote PATHS`.
    Wrote(List, Span),
}

/// `then …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obligation {
    /// `then flag session`.
    FlagSession,
    /// `then file content`.
    FileContent,
}

/// `test "…" { given … expect … }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Its title.
    pub title: Text,
    /// What holds before.
    pub givens: Vec<Spanned<Given>>,
    /// What must come out.
    pub expects: Vec<Expect>,
    /// The whole block.
    pub span: Span,
}

/// One `given`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// `given session PAST`.
    Session(Past),
    /// `given today 2027-01-01`.
    Today(Date),
    /// `given file "x"`.
    File(String),
    /// `given dir "packages/web"`, relative to the project.
    Dir(String),
}

/// `expect DECISION TOOL args [from S] [as A] [by BLOCK]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// The decision.
    pub effect: Spanned<Effect>,
    /// The tool.
    pub tool: Text,
    /// The arguments.
    pub args: Spanned<ExpectArgs>,
    /// `from`.
    pub from: Option<Text>,
    /// `as`.
    pub as_: Option<Text>,
    /// `by`: the block that must decide.
    pub by: Option<Text>,
    /// The whole clause.
    pub span: Span,
}

/// The arguments of a tested call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectArgs {
    /// A command: `{ command: "…" }`.
    Command(String),
    /// An object.
    Object(Vec<(Text, Spanned<Value>)>),
}

/// A value in an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text.
    String(String),
    /// A number as written.
    Number(String),
    /// `true`, `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// `[…]`.
    Array(Vec<Spanned<Value>>),
    /// `{…}`.
    Object(Vec<(Text, Spanned<Value>)>),
}

/// A UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// Year.
    pub year: u16,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day, 1 to 31.
    pub day: u8,
}

impl Date {
    /// Days since 1970-01-01 (proleptic Gregorian).
    pub fn days_since_epoch(self) -> i64 {
        let month = i64::from(self.month);
        let year = i64::from(self.year) - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }
}
