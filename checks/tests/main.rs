//! The tests of the checks.

mod general;
mod hostile;
mod python;
mod support;
mod table;
