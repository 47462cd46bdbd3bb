//! Tests of the shell reader.

mod knowledge;

mod expansion;
mod facts;
mod differential;
mod flow;
mod forms;
mod generate;
mod limits;

mod bash;
mod code;
