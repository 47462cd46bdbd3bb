//! `home-covers-project`: `~/**` also holds the project when it lies below the home folder.
//!
//! INVARIANT: told for refusals without `except "./**"` and for grants.

use super::Input;
use crate::code::{Code, Sink};
use crate::ir;
use std::collections::BTreeSet;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let own: BTreeSet<ir::LineId> = input
        .lowered
        .policy
        .excepts
        .iter()
        .filter(|e| matches!(&e.matcher, ir::Matcher::Path(glob) if glob == "./**"))
        .map(|e| e.line)
        .collect();
    for written in input.patterns() {
        let ir::Matcher::Path(glob) = &written.pattern.matcher else { continue };
        if glob != "~/**" || own.contains(&written.pattern.line) || written.line.verb == ir::Verb::Only {
            continue;
        }
        let help = match written.pattern.grant {
            true => "write `./**` for the project, and name the other folders one by one",
            false => "add `except \"./**\"`, or name the folders that are meant",
        };
        sink.push(
            Code::HomeCoversProject
                .warning("the home folder holds most projects too", written.span, "also `./**`")
                .with_help(help),
        );
    }
}
