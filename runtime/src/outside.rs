//! What a decision asks for that is not in table and facts: built-in checks that need a reader of their own, and what
//! happened before in the session.
//!
//! INVARIANT: the runtime asks and believes; what cannot be answered is said so, and then the call asks.

use crate::facts::Facts;
use crate::verdict::Severity;

/// What a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The text with this number in [`Facts::texts`].
    Text(usize),
    /// The command with this number in [`Facts::commands`].
    Command(usize),
    /// The call as a whole.
    Call,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remark {
    /// Line of the text from 1; 0 when there is none.
    pub line: u32,
    /// Column from 1; 0 when there is none.
    pub column: u32,
    /// One sentence; empty: the line of the policy says all.
    pub message: String,
    /// What to do instead; empty: the line of the policy says all.
    pub suggest: String,
    /// No worse than this, whatever the verb of the line.
    pub at_most: Option<Severity>,
}

/// Answers what the runtime cannot.
pub trait Outside {
    /// What the check of this name finds in a target; none when there is no such check, or it could not look. `options`
    /// are what [`options`] reads.
    fn check(&self, name: &str, options: &str, facts: &Facts, target: Target) -> Option<Vec<Remark>>;

    /// Why some check that was asked could not look: the call asks.
    fn gap(&self) -> Option<String> {
        None
    }

    /// What happened before: an answer for each question, in order. All questions of one decision come together, so that
    /// they can be counted at one moment.
    fn past(&self, questions: &[Question]) -> Vec<Answer> {
        let nobody = || Answer::Unknown("nobody here keeps a record of sessions".to_owned());
        questions.iter().map(|_| nobody()).collect()
    }

    /// The session is to be flagged, because of this block.
    fn flag(&self, _block: &str) {}

    /// How much is told.
    fn most(&self) -> Most {
        Most::default()
    }
}

/// How much a verdict tells; what decides does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Places of one pattern, or of one check, in one text.
    pub places: usize,
    /// Findings.
    pub findings: usize,
}

impl Default for Most {
    /// What fits an answer to a call.
    fn default() -> Most {
        Most { places: 8, findings: 64 }
    }
}

/// How far back what happened is kept, in seconds.
pub const KEPT_SECONDS: u32 = 14 * 24 * 3600;

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Distinct matches of the line's subject; a command is a match of its own each time.
    Matches,
    /// Calls in the scope of the block.
    Calls,
    /// Earlier calls with the same tool and arguments.
    Repeats,
    /// Lines of a text.
    Lines,
    /// What one payment moves.
    Amount,
    /// What one call lets somebody take.
    Approval,
    /// For how long a payment can be used.
    Lifetime,
    /// What was paid in a time, with this payment.
    Spend,
    /// By how many percent a price is above its first.
    Rise,
    /// What a ledger knows of the payee.
    Payee,
    /// Payments, in a guard that looks at them.
    Payments,
    /// Payments of before that are the same.
    Same,
}

impl Measure {
    /// All of them, by their number in a table.
    pub const ALL: [Measure; 12] = [
        Measure::Matches,
        Measure::Calls,
        Measure::Repeats,
        Measure::Lines,
        Measure::Amount,
        Measure::Approval,
        Measure::Lifetime,
        Measure::Spend,
        Measure::Rise,
        Measure::Payee,
        Measure::Payments,
        Measure::Same,
    ];

    /// The name of the fact of a payment that it looks at.
    #[must_use]
    pub const fn of_payment(self) -> Option<&'static str> {
        Some(match self {
            Measure::Amount => crate::payment::AMOUNT,
            Measure::Approval => crate::payment::APPROVAL,
            Measure::Lifetime => crate::payment::LIFETIME,
            _ => return None,
        })
    }

    /// Whether a ledger of payments is asked.
    #[must_use]
    pub const fn of_ledger(self) -> bool {
        matches!(self, Measure::Spend | Measure::Rise | Measure::Payee | Measure::Payments | Measure::Same)
    }

    /// By its word.
    #[must_use]
    pub fn of(word: &str) -> Option<Measure> {
        Some(match word {
            "calls" => Measure::Calls,
            "repeats" => Measure::Repeats,
            "lines" => Measure::Lines,
            "amount" => Measure::Amount,
            "approval" => Measure::Approval,
            "lifetime" => Measure::Lifetime,
            "spend" => Measure::Spend,
            "rise" => Measure::Rise,
            _ => return None,
        })
    }
}

/// What may have happened in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PastKind {
    /// It was flagged.
    Flagged,
    /// A command ran.
    Ran,
    /// A path was read.
    Read,
    /// A path was written, changed or deleted.
    Wrote,
}

impl PastKind {
    /// All of them, by their number in a table.
    pub const ALL: [PastKind; 4] = [PastKind::Flagged, PastKind::Ran, PastKind::Read, PastKind::Wrote];

    /// As it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            PastKind::Flagged => "flagged",
            PastKind::Ran => "ran",
            PastKind::Read => "read",
            PastKind::Wrote => "wrote",
        }
    }
}

/// The last time that something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// What kind of thing.
    pub kind: PastKind,
    /// Its name in the record: what [`crate::happened`] tells.
    pub key: u64,
    /// Only what surely happened and succeeded counts.
    pub succeeded: bool,
}

/// How far back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Window {
    /// So many seconds.
    Seconds(u32),
    /// Since the session began.
    Session,
    /// Since this last happened; when it never did, since the session began.
    Since(Moment),
}

/// What a call adds to a count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Adds {
    /// These values, of which equal ones are one.
    Values(Vec<u64>),
    /// So many that are new whatever they are.
    New(u32),
    /// One for its tool and arguments; the earlier equal ones are counted, not this one.
    Repeat,
}

/// For whom payments are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// Everybody.
    All,
    /// Each tool by itself.
    Tool,
    /// Each session.
    Session,
    /// Each payee.
    Payee,
    /// Each seller.
    Seller,
}

impl By {
    /// All, by their number in a table.
    pub const ALL: [By; 5] = [By::All, By::Tool, By::Session, By::Payee, By::Seller];
}

/// What a ledger of payments is asked about the payment of the call, which does not count itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Paid {
    /// How much was paid in these assets: [`Answer::Units`].
    Spent {
        /// The assets.
        assets: Vec<String>,
        /// How far back; none: as long as the ledger remembers.
        seconds: Option<u32>,
        /// For whom.
        by: By,
    },
    /// How many payments there were: [`Answer::Count`].
    Payments {
        /// How far back.
        seconds: Option<u32>,
        /// For whom.
        by: By,
    },
    /// How many of them were the same: [`Answer::Count`].
    Same {
        /// How far back.
        seconds: Option<u32>,
    },
    /// The first price of what is paid for: [`Answer::Units`], empty when there was none.
    Price {
        /// The asset.
        asset: String,
    },
    /// Whether this is so of the payee: [`Answer::Like`], nothing when it is not.
    Payee {
        /// `new`, `lookalike` or `filed`.
        what: String,
        /// Addresses that the policy names, with blanks between them.
        known: String,
    },
}

/// One question about the session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// How many there are, with what this call adds. Asking counts: what is added stays.
    Count {
        /// The name of the count. Lines of several tables with one name count together, and one call counts once.
        key: u64,
        /// What this call adds.
        adds: Adds,
        /// How far back.
        window: Window,
        /// Only for this tool.
        by_tool: bool,
    },
    /// Whether it happened, and since when.
    Happened {
        /// What.
        past: Moment,
        /// Only behind the last time of this, when that ever happened.
        since: Option<Moment>,
        /// Only with more than so many different values.
        over: u32,
    },
    /// What a ledger of payments knows.
    Paid(Paid),
    /// Whether it is now within these hours: [`crate::hours`]; [`Answer::Happened`].
    Hours(String),
}

/// An answer about the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// So many.
    Count(u64),
    /// Whether it happened.
    Happened(bool),
    /// So many smallest units, in decimal digits.
    Units(String),
    /// Whether a payee is so; for one that looks like another, that one.
    Like(Option<String>),
    /// It cannot be told, for this cause.
    Unknown(String),
}

/// Something that a call does or did, by the name of a fact of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    /// Its name.
    pub key: u64,
    /// Which.
    pub kind: PastKind,
    /// The file, where it is about one; 0 where it is about none.
    pub value: u64,
    /// It is surely this, not only maybe.
    pub sure: bool,
}

/// Nobody outside: every check is missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Outside for Nobody {
    fn check(&self, _name: &str, _options: &str, _facts: &Facts, _target: Target) -> Option<Vec<Remark>> {
        None
    }
}

/// Between options.
pub const OPTION: char = '\u{1e}';
/// Behind the name of an option, and before each text of a list.
pub const FIELD: char = '\u{1f}';

/// The value of an option of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionValue<'a> {
    /// A number.
    Number(i64),
    /// A text or a bare word.
    Text(&'a str),
    /// Texts, to be split at [`FIELD`].
    List(&'a str),
}

/// The options of a check as a table holds them: name, [`FIELD`], kind (`n`, `t` or `l`), value.
pub fn options(text: &str) -> impl Iterator<Item = (&str, OptionValue<'_>)> {
    text.split(OPTION).filter_map(|option| {
        let (name, value) = option.split_once(FIELD)?;
        let mut chars = value.chars();
        let value = match (chars.next()?, chars.as_str()) {
            ('n', number) => OptionValue::Number(number.parse().ok()?),
            ('t', text) => OptionValue::Text(text),
            ('l', list) => OptionValue::List(list),
            _ => return None,
        };
        Some((name, value))
    })
}
