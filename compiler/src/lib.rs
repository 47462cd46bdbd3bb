//! Lowers policy trees into decision tables.

pub mod automata;
pub mod ir;
