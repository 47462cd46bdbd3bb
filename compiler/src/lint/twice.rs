//! `twice`: one line or two lines of a block with the same verb hold the same pattern.
//!
//! INVARIANT: told once a pair of places; spellings of one pattern never count against each other.

use super::Input;
use crate::code::{Code, Sink};
use crate::ir;
use policy_grammar::source::Span;
use std::collections::BTreeMap;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let mut seen: BTreeMap<(ir::BlockId, ir::Kind, ir::Verb, String), (Span, ir::LineId)> = BTreeMap::new();
    for written in input.patterns() {
        if written.pattern.matcher == ir::Matcher::Always {
            continue;
        }
        let (line, id) = (written.line, written.pattern.line);
        let key = (line.block, line.kind, line.verb, format!("{:?}", written.pattern.matcher));
        match seen.get(&key) {
            None => {
                seen.insert(key, (written.span, id));
            }
            Some((first, first_line)) if *first != written.span => {
                // What a line takes back with `except` makes it another pattern.
                let has_except = |id: ir::LineId| input.excepted.contains(&id);
                // What a line asks of the past decides with its pattern.
                let asked = |id: ir::LineId| {
                    let tails = &input.lowered.policy.tails;
                    let tail =
                        tails.binary_search_by_key(&id, |tail| tail.line).ok().and_then(|at| tails.get(at));
                    tail.map(|tail| (&tail.limit, &tail.condition, &tail.hours))
                };
                let apart = has_except(id) || has_except(*first_line) || asked(id) != asked(*first_line);
                if id != *first_line && apart {
                    continue;
                }
                sink.push(
                    Code::Twice
                        .warning("a pattern is written twice", *first, "first here")
                        .with_label(written.span, "again here")
                        .with_help("remove one of them"),
                );
            }
            Some(_) => {}
        }
    }
}
