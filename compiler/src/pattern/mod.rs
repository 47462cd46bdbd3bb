//! What is written between quotes and backticks becomes matchers, one file a kind.
//!
//! INVARIANT: everything that leaves here is spelled out (no braces), `*` and `?` are wildcards and a backslash
//! makes the next character literal; nothing holds control characters.

pub(crate) mod braces;
pub(crate) mod domain;
pub(crate) mod path;
pub(crate) mod run;
pub(crate) mod tool;

use crate::code::Code;
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::Span;

/// Spellings of one pattern, and choices of one run pattern, at most.
pub(crate) const MAX_SPELLINGS: usize = 256;
/// Bytes of one pattern.
pub(crate) const MAX_BYTES: usize = 4096;

/// One spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelled {
    /// What it matches.
    pub(crate) glob: String,
    /// Bytes of this spelling as written, the second key of its length.
    pub(crate) bytes: u32,
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Nothing between the quotes, or nothing in one spelling.
    Empty,
    /// Longer than [`MAX_BYTES`].
    TooLong,
    /// A control character.
    Control,
    /// A brace without its partner.
    Unbalanced,
    /// Braces with a single choice, as written.
    SingleChoice(String),
    /// More than [`MAX_SPELLINGS`].
    TooMany,
    /// Braces in braces in braces.
    TooDeep,
    /// A path without an anchor.
    Unanchored(String),
    /// A path with `..`.
    Leaves,
    /// A path with a backslash that is no escape.
    Backslash,
    /// A host that is none, with what to write.
    Domain(String),
    /// A flag where the program stands.
    FlagAsProgram,
}

impl Problem {
    /// The message for the pattern at `span`.
    pub(crate) fn diagnostic(&self, text: &str, span: Span) -> Diagnostic {
        let shown: String = text.chars().take(60).collect();
        match self {
            Problem::Empty => Code::BadPattern
                .error("a pattern matches nothing", span, "empty")
                .with_help("write what it should match, or remove it"),
            Problem::TooLong => Code::BadPattern
                .error(format!("a pattern is longer than {MAX_BYTES} bytes"), span, "too long")
                .with_help("write several shorter patterns"),
            Problem::Control => Code::BadPattern
                .error("a pattern holds a control character", span, "a character below U+0020 or U+007F")
                .with_help("remove the character; no value that is matched holds one"),
            Problem::Unbalanced => Code::BadBraces
                .error("braces are not balanced", span, "a brace without its partner")
                .with_help("write `\\\\{` for a brace that is meant as a letter"),
            Problem::SingleChoice(inner) => {
                Code::BadBraces.error("braces hold a single choice", span, "one choice").with_help(format!(
                    "write `{inner}` without braces, or `{{{inner},...}}` with a second choice"
                ))
            }
            Problem::TooMany => Code::TooManySpellings
                .error(
                    format!("the braces spell out more than {MAX_SPELLINGS} patterns"),
                    span,
                    "too many spellings",
                )
                .with_help("write fewer choices, or a `*`"),
            Problem::TooDeep => Code::TooManySpellings
                .error("braces stand too deeply inside braces", span, "more than 8 levels")
                .with_help("write the choices side by side"),
            Problem::Unanchored(spelling) => {
                let bare = spelling.trim_start_matches("../").trim_start_matches('/');
                let home = HOMES.iter().find_map(|home| spelling.strip_prefix(home));
                let help = if let Some(below) = home {
                    format!("nothing is expanded here: write `~{below}` for the home folder")
                } else if spelling.starts_with("..") {
                    format!("name the folder itself: `~/...`, `/...`, or `**/{bare}` for any folder")
                } else if spelling.starts_with('~') {
                    "write `~/...` for your own home folder, or the whole path from `/`".to_owned()
                } else if bare.is_empty() || bare.starts_with("**") {
                    "write `./**` for the project, `**/*` for any file, `~/**` or `/**`".to_owned()
                } else {
                    format!("write `./{bare}` for the project's folder, or `**/{bare}` for any folder")
                };
                Code::UnanchoredPath
                    .error(format!("path pattern `{shown}` does not say where it begins"), span, "no anchor")
                    .with_help(help)
            }
            Problem::Leaves => Code::UnanchoredPath
                .error("a path pattern holds `..`", span, "leaves its own folder")
                .with_help("write the path it means; values are normalized before they are matched"),
            Problem::Backslash => Code::BadPattern
                .error("a path pattern holds a backslash", span, "not a separator here")
                .with_help("write `/` between folders; every path is matched with `/`"),
            Problem::Domain(help) => Code::BadDomain
                .error(format!("`{shown}` cannot match a host name"), span, "not a host")
                .with_help(help.clone()),
            Problem::FlagAsProgram => Code::FlagAsProgram
                .error("a run pattern begins with a flag", span, "no program")
                .with_help("write the program first, or `*` for any program"),
        }
    }
}

/// How shells write the home folder, and a pattern does not.
const HOMES: [&str; 4] = ["$HOME", "${HOME}", "$env:USERPROFILE", "%USERPROFILE%"];

/// Refuses what no pattern may be.
pub(crate) fn check(text: &str) -> Result<(), Problem> {
    if text.is_empty() {
        return Err(Problem::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(Problem::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(Problem::Control);
    }
    Ok(())
}

/// The spellings of a text glob (`command`, `arg`, operands).
pub(crate) fn text(text: &str) -> Result<Vec<Spelled>, Problem> {
    check(text)?;
    braces::expand(&braces::lenient(text))?
        .into_iter()
        .map(|spelling| {
            if spelling.is_empty() {
                return Err(Problem::Empty);
            }
            Ok(Spelled { bytes: size(&spelling), glob: braces::plain(&spelling) })
        })
        .collect()
}

/// Bytes of a spelling.
pub(crate) fn size(spelling: &str) -> u32 {
    u32::try_from(spelling.len()).unwrap_or(u32::MAX)
}
