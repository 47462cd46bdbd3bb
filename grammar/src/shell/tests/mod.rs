//! Tests of the shell reader.

mod knowledge;

mod expansion;
mod facts;
mod limits;

mod bash;
