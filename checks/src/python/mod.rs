//! The checks of Python text.
//!
//! INVARIANT: every check reads tokens, so strings and comments are never taken for code.

pub(crate) mod asyncs;
pub(crate) mod except;
pub(crate) mod lex;
pub(crate) mod migration;
pub(crate) mod names;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod sql_shape;
