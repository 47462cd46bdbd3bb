//! The codes of this crate's diagnostics, each with one sentence of what it means.
//!
//! INVARIANT: every diagnostic of the policy parser carries a code of this list; `ALL` names each exactly once.

use crate::codes::codes;

codes! {
    // The text itself.
    TooLong = "too-long", "The file or one statement is longer than the parser reads.";
    TooDeep = "too-deep", "Projects or values are nested deeper than the parser follows.";
    TooManyErrors = "too-many-errors", "The file has more faults than are worth listing.";
    HiddenCharacter = "hidden-character", "The text holds a character that cannot be seen or that reorders what is seen.";
    UnclosedString = "unclosed-string", "A quoted text has no closing quote on its line.";
    UnclosedBacktick = "unclosed-backtick", "A run pattern has no closing backtick on its line.";
    UnclosedBrace = "unclosed-brace", "A block is opened and never closed.";
    StrayBrace = "stray-brace", "A closing brace closes nothing.";
    BadEscape = "bad-escape", "A backslash in a quoted text is followed by something that is no escape.";
    // Words.
    MissingHeader = "missing-header", "The file does not begin with `policy \"name\" language 1`.";
    RepeatedHeader = "repeated-header", "A file has one header.";
    UnsupportedLanguageVersion = "unsupported-language-version", "The file is written in a language version that this program does not know.";
    Unexpected = "unexpected", "Something else must stand here.";
    UnknownKeyword = "unknown-keyword", "A word stands where a keyword of the language must stand.";
    UnknownDecision = "unknown-decision", "A word stands where a decision must stand.";
    UnknownWord = "unknown-word", "A word is not among the few that a clause takes.";
    KeywordAsName = "keyword-as-name", "A keyword of the language is used as a bare name.";
    BadName = "bad-name", "The name of a block or list has letters that names do not have.";
    MissingName = "missing-name", "A block or list has no name.";
    BareWord = "bare-word", "A word stands bare where a pattern in quotes must stand.";
    QuotedArgumentName = "quoted-argument-name", "The name of an argument is a name, and names are bare.";
    QuotedRunPattern = "quoted-run-pattern", "A run pattern stands in quotes instead of backticks.";
    BacktickPattern = "backtick-pattern", "A pattern stands in backticks instead of quotes.";
    QuotedRegex = "quoted-regex", "A content pattern is a regular expression and stands in `r\"…\"`.";
    RegexPattern = "regex-pattern", "A regular expression stands where a glob must stand.";
    // Values.
    BadDate = "bad-date", "A date is not a day of the calendar, written as year-month-day.";
    BadDuration = "bad-duration", "A duration is not a number with `s`, `m`, `h` or `d`.";
    BadNumber = "bad-number", "A number is not written as its place wants it.";
    BadQuantity = "bad-quantity", "The quantity of a limit is no money, percentage, duration or count.";
    RepeatedKey = "repeated-key", "An object names a key twice.";
    // Blocks.
    BlockOrder = "block-order", "The parts of a block stand in another order than why, lines, otherwise, tests.";
    OtherwiseNotLast = "otherwise-not-last", "A line stands behind `otherwise`.";
    OtherwiseOutsideRule = "otherwise-outside-rule", "Only a rule has an `otherwise`.";
    OpenOutsideException = "open-outside-exception", "Only an exception opens anything.";
    VerbInException = "verb-in-exception", "An exception only opens; it does not decide.";
    MissingGuard = "missing-guard", "An exception does not say which guard it opens.";
    MissingLine = "missing-line", "A block that must have a line has none.";
    MisplacedStatement = "misplaced-statement", "A statement stands in a block or place that does not take it.";
    ClauseTwice = "clause-twice", "A clause is said twice.";
    ClauseOrder = "clause-order", "The clauses of a line stand in another order than the language reads them.";
    MisplacedClause = "misplaced-clause", "A clause stands with a subject that does not take it.";
    ListTakesNoClause = "list-takes-no-clause", "`touching`, `writing` and `via` belong to one run pattern, not to a list of them.";
    TallyWithoutOver = "tally-without-over", "A limit or window stands without its `over`.";
    MeasureWithoutOver = "measure-without-over", "A measure stands without `over`.";
    // Run patterns.
    EmptyRunPattern = "empty-run-pattern", "A run pattern names no program.";
    RestNotLast = "rest-not-last", "`...` stands elsewhere than at the end of a run pattern.";
    DoubleQuoteInRun = "double-quote-in-run", "A run pattern holds a double quote.";
    SingleChoice = "single-choice", "Braces in a run pattern hold a single choice.";
    EmptyChoice = "empty-choice", "Braces in a run pattern hold an empty choice.";
    UnclosedChoice = "unclosed-choice", "Braces or a single quote in a run pattern are not closed.";
    NestedBraces = "nested-braces", "Braces in a run pattern stand inside braces.";
    ShellOperatorInRun = "shell-operator-in-run", "A run pattern holds an operator of the shell that is no pipe.";
}
