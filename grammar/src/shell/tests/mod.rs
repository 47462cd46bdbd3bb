//! Tests of the shell reader.

mod knowledge;

mod differential;
mod expansion;
mod facts;
mod flow;
mod folder;
mod forms;
mod generate;
mod limits;
mod properties;
mod regressions;

mod bash;
mod code;
mod known;
mod windows;
