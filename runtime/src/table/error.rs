//! Why bytes are not a usable table.
//!
//! INVARIANT: every kind says in one sentence what is wrong and what helps.

use super::layout;
use std::fmt;

/// Why bytes are not a usable table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableError {
    /// Something is missing at the end.
    Truncated,
    /// It never was a table.
    Foreign,
    /// A sum does not hold, or a place lies outside.
    Damaged,
    /// Written by a newer compiler.
    TooNew {
        /// Format of the table.
        format: u16,
        /// Semantics of the table.
        semantics: u32,
    },
    /// Written by an older compiler.
    TooOld {
        /// Format of the table.
        format: u16,
        /// Semantics of the table.
        semantics: u32,
    },
    /// Its numbers are big endian.
    Endianness,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ours, meaning) = (layout::FORMAT, layout::SEMANTICS);
        match self {
            TableError::Truncated => {
                f.write_str("the table is truncated: its end is missing; compile it again")
            }
            TableError::Foreign => f.write_str("not a policy table; `policy compile` writes one"),
            TableError::Damaged => {
                f.write_str("the table is damaged: its content does not fit its checksums; compile it again")
            }
            TableError::TooNew { format, semantics } => write!(
                f,
                "the table is too new for this build: format {format}, semantics {semantics}; this build reads format {ours}, \
                 semantics {meaning}"
            ),
            TableError::TooOld { format, semantics } => write!(
                f,
                "the table is too old for this build: format {format}, semantics {semantics}; compile it again with this build"
            ),
            TableError::Endianness => {
                f.write_str("the table has the wrong byte order; compile it again on this machine")
            }
        }
    }
}

impl std::error::Error for TableError {}
