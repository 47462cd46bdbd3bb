//! Lowers policy trees into decision tables.

pub mod ir;
