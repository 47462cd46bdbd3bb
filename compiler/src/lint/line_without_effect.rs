//! `line-without-effect`: a pattern of a block is wholly covered by a stricter one of the same block.
//!
//! INVARIANT: says so only when no call could tell the block with the pattern from the block without it.

use super::{Input, MAX_COMPARED, Written};
use crate::code::{Code, Sink};
use crate::ir;
use crate::text::covers;
use std::collections::BTreeMap;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    let mut blocks: BTreeMap<ir::BlockId, Vec<Written<'_>>> = BTreeMap::new();
    for written in input.patterns() {
        blocks.entry(written.line.block).or_default().push(written);
    }
    for patterns in blocks.values() {
        block(input, patterns, sink);
    }
}

fn block(input: &Input<'_>, patterns: &[Written<'_>], sink: &mut Sink) {
    // The strictest line of each pattern.
    let mut exact: BTreeMap<(ir::Kind, String), Written<'_>> = BTreeMap::new();
    let mut stars: Vec<(Written<'_>, &str)> = Vec::new();
    for written in patterns {
        // A line that asks the past does not hold for every call that its pattern matches.
        let tails = &input.lowered.policy.tails;
        let asks = tails.binary_search_by_key(&written.pattern.line, |tail| tail.line).is_ok();
        if strictness(written.line.verb) < 2 || input.excepted.contains(&written.pattern.line) || asks {
            continue;
        }
        let slot = exact.entry((written.line.kind, key(written.pattern))).or_insert(*written);
        if strictness(written.line.verb) > strictness(slot.line.verb) {
            *slot = *written;
        }
        if written.line.verb == ir::Verb::Deny
            && stars.len() < MAX_COMPARED
            && let Some(glob) = glob(&written.pattern.matcher)
            && glob.contains('*')
        {
            stars.push((*written, glob));
        }
    }
    for weak in patterns {
        let stricter = |strong: &Written<'_>| {
            strong.pattern.line != weak.pattern.line
                && strong.line.arg == weak.line.arg
                && strictness(strong.line.verb) > strictness(weak.line.verb)
        };
        if strictness(weak.line.verb) == 0 {
            continue;
        }
        let same = exact.get(&(weak.line.kind, key(weak.pattern))).filter(|s| stricter(s));
        let found = same.copied().or_else(|| {
            let text = glob(&weak.pattern.matcher)?;
            let covering = |(s, g): &&(Written<'_>, &str)| {
                stricter(s) && s.line.kind == weak.line.kind && covers(g, text)
            };
            stars.iter().find(covering).map(|(s, _)| *s)
        });
        if let Some(strong) = found {
            sink.push(
                Code::LineWithoutEffect
                    .warning("a pattern never changes an answer", weak.span, "everything here...")
                    .with_label(strong.span, "...already meets this stricter pattern")
                    .with_help("remove it, or take it back from the stricter line with `except`"),
            );
        }
    }
}

/// How strict a line of a rule or guard is; 0 for what takes no part.
fn strictness(verb: ir::Verb) -> u8 {
    match verb {
        ir::Verb::Allow => 1,
        ir::Verb::Info => 2,
        ir::Verb::Warn => 3,
        ir::Verb::Ask => 4,
        ir::Verb::Deny => 5,
        _ => 0,
    }
}

/// The glob of a text matcher, for which plain covering is right.
fn glob(matcher: &ir::Matcher) -> Option<&str> {
    match matcher {
        ir::Matcher::Domain(glob) | ir::Matcher::Command(glob) | ir::Matcher::Arg(glob) => Some(glob),
        _ => None,
    }
}

/// What is the same for two patterns that match the same; `...` of a grant is no difference to a refusal.
fn key(pattern: &ir::Pattern) -> String {
    let mut matcher = pattern.matcher.clone();
    if let ir::Matcher::Run(run) = &mut matcher {
        run.stages.iter_mut().for_each(|stage| stage.rest = false);
    }
    format!("{matcher:?}")
}
