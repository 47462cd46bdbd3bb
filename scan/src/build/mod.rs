//! From patterns to a section: syntax, a literal for each, what stands around it, the filter, the bytes.
//!
//! INVARIANT: the same patterns in the same order give the same bytes. A pattern that cannot be looked for in bounded
//! work (no literal, no bound, an automaton that is too big) is an error with the numbers, never a slow section.

mod emit;
mod literal;
mod program;
mod set;
mod window;

use literal::Part;
use regex_syntax::hir::Hir;

/// Bounds of what the builder makes.
///
/// A match is looked for within `before` and `behind` bytes of its literal and nowhere else: `*`, `+` and `{n,}` take no
/// more than that, and a pattern whose own counts need more is refused. So a part that must follow an open repetition
/// (`eyJ[a-z]+\.[a-z]+`) is not found where the repetition is longer than the limit; a pattern that ends with it is. The
/// scanner says of such a text that it is [`Incomplete`](crate::Outcome::Incomplete).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a match before its literal. Open repetitions end here.
    pub before: u16,
    /// Most bytes of a match behind its literal. Open repetitions end here.
    pub behind: u16,
    /// Most bytes of one automaton.
    pub automaton: usize,
    /// Most bytes of the section.
    pub section: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { before: 256, behind: 1024, automaton: 64 << 10, section: 8 << 20 }
    }
}

/// Why patterns do not become a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    /// The pattern, by what the caller calls it; `None` if it is about all.
    pub id: Option<u32>,
    /// What is wrong.
    pub kind: BuildErrorKind,
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildErrorKind {
    /// It is no regular expression.
    Syntax {
        /// What the parser says, in one line.
        message: String,
        /// Offset in the pattern.
        offset: usize,
    },
    /// It has no literal that every match contains, of four bytes, or of three beside something that is always there.
    NoLiteral,
    /// It uses something that only makes sense with Unicode tables.
    Unicode,
    /// A match can, or must, be longer than the bound.
    TooLong {
        /// Whether this is about what stands before the literal.
        before: bool,
        /// Bytes.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// The automaton of one side is too big.
    AutomatonTooBig {
        /// Bytes, if it was finished at all.
        bytes: Option<usize>,
        /// The bound.
        limit: usize,
    },
    /// There are too many of something.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// The bound.
        limit: usize,
    },
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(id) = self.id {
            write!(out, "pattern {id}: ")?;
        }
        match &self.kind {
            BuildErrorKind::Syntax { message, offset } => write!(out, "{message} at offset {offset}"),
            BuildErrorKind::NoLiteral => {
                write!(out, "no literal of four bytes, or of three beside something that is always there")
            }
            BuildErrorKind::Unicode => write!(out, "it needs Unicode tables; patterns are of bytes"),
            BuildErrorKind::TooLong { before, bytes, limit } => {
                let side = if *before { "before" } else { "behind" };
                write!(out, "a match may have {bytes} bytes {side} its literal, the limit is {limit}")
            }
            BuildErrorKind::AutomatonTooBig { bytes: Some(bytes), limit } => {
                write!(out, "its automaton has {bytes} bytes, the limit is {limit}")
            }
            BuildErrorKind::AutomatonTooBig { bytes: None, limit } => {
                write!(out, "its automaton grows far over the limit of {limit} bytes")
            }
            BuildErrorKind::TooMany { what, count, limit } => {
                write!(out, "{count} {what}, the limit is {limit}")
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// One way to match a pattern, before it has bytes.
#[derive(Debug, Clone)]
struct CaseParts {
    id: u32,
    literal: Vec<Part>,
    before: Hir,
    behind: Hir,
}

/// Compiles patterns into a section.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    limits: Limits,
    cases: Vec<CaseParts>,
}

impl Builder {
    /// A builder with the default limits and no pattern.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A builder with other limits.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, cases: Vec::new() }
    }

    /// Adds a pattern. Patterns are of bytes: classes like `\w` are ASCII, `(?i)` folds ASCII letters.
    ///
    /// # Errors
    ///
    /// When it is no regular expression, has no literal to look for, or its match has no bound.
    pub fn add(&mut self, id: u32, pattern: &str) -> Result<&mut Self, BuildError> {
        let failed = |kind| BuildError { id: Some(id), kind };
        let hir = parse(pattern).map_err(failed)?;
        let ways = literal::ways(&hir).map_err(failed)?;
        for way in &ways {
            reach(&way.before, usize::from(self.limits.before), true).map_err(failed)?;
            reach(&way.behind, usize::from(self.limits.behind), false).map_err(failed)?;
        }
        self.cases.extend(ways.into_iter().flat_map(|way| {
            let literal::Way { literals, before, behind } = way;
            literals.into_iter().map(move |literal| CaseParts {
                id,
                literal,
                before: before.clone(),
                behind: behind.clone(),
            })
        }));
        Ok(self)
    }

    /// Makes the section.
    ///
    /// # Errors
    ///
    /// When an automaton or the whole is over its limit.
    pub fn build(&self) -> Result<Vec<u8>, BuildError> {
        emit::emit(self)
    }
}

/// Most bytes of the text of a pattern.
const MAX_PATTERN: usize = 2048;

/// Makes the sum of a section right again, for tests that damage what stands behind it.
pub fn seal(section: &mut [u8]) {
    let sum = crate::layout::sum(section.get(16..).unwrap_or_default()).to_le_bytes();
    if let Some(slot) = section.get_mut(8..16) {
        slot.copy_from_slice(&sum);
    }
}

fn parse(pattern: &str) -> Result<Hir, BuildErrorKind> {
    if pattern.len() > MAX_PATTERN {
        let count = pattern.len();
        return Err(BuildErrorKind::TooMany { what: "bytes of the pattern", count, limit: MAX_PATTERN });
    }
    let hir = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern).map_err(
        |error| {
            let (message, offset) = match &error {
                regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
                regex_syntax::Error::Translate(error) => {
                    (error.kind().to_string(), error.span().start.offset)
                }
                _ => ("not a regular expression".into(), 0),
            };
            BuildErrorKind::Syntax { message, offset }
        },
    )?;
    if hir.properties().look_set().contains_word_unicode() { Err(BuildErrorKind::Unicode) } else { Ok(hir) }
}

/// Most bytes that one side of a match has: what the pattern says, or the limit where it is open.
fn reach(side: &Hir, limit: usize, before: bool) -> Result<u16, BuildErrorKind> {
    let properties = side.properties();
    let bytes =
        properties.maximum_len().or(properties.minimum_len().filter(|least| *least > limit)).unwrap_or(limit);
    let limit_error = BuildErrorKind::TooLong { before, bytes, limit };
    if bytes > limit { Err(limit_error) } else { u16::try_from(bytes).map_err(|_| limit_error) }
}
