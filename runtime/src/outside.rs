//! What a decision asks for that is not in table and facts: built-in checks that need a reader of their own.
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
