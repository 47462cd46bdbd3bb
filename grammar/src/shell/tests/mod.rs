//! Tests of the shell reader.

mod knowledge;

mod expansion;
mod facts;
mod flow;
mod forms;
mod limits;

mod bash;
mod code;
