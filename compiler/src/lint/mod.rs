//! What is likely wrong although it compiles, one file a lint.
//!
//! INVARIANT: a lint never changes what was lowered, and looks at each pattern a bounded number of times.

mod default_is_no_floor;
mod empty_block;
mod expired_exception;
mod grants_a_shell;
mod guards_only;
mod home_covers_project;
mod line_without_effect;
mod no_budget;
mod open_allow_runs_code;
mod shadowed_rule;
mod twice;
mod unanchored_domain;
mod untested_block;
mod unused_exception;
mod wide_tool_glob;

use crate::code::Sink;
use crate::ir;
use crate::lower::Lowered;
use crate::plan::{Body, Instance, Plan};
use crate::{LayerKind, Summary};
use policy_grammar::ast;
use policy_grammar::shell::program::Program;
use policy_grammar::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Globs of one kind that are compared with each other; more are only compared letter by letter.
const MAX_COMPARED: usize = 64;

/// What lints look at.
pub(crate) struct Input<'a> {
    /// The blocks as written.
    pub(crate) plan: &'a Plan<'a>,
    /// What they became.
    pub(crate) lowered: &'a Lowered,
    /// Lines that take something back with `except`.
    pub(crate) excepted: BTreeSet<ir::LineId>,
    /// The layer.
    pub(crate) kind: LayerKind,
    /// The UTC day.
    pub(crate) today: i64,
}

/// Runs every lint.
pub(crate) fn lint(input: &Input<'_>, summary: &mut Summary, sink: &mut Sink) {
    empty_block::lint(input, sink);
    twice::lint(input, sink);
    line_without_effect::lint(input, sink);
    shadowed_rule::lint(input, sink);
    unanchored_domain::lint(input, sink);
    wide_tool_glob::lint(input, sink);
    home_covers_project::lint(input, sink);
    guards_only::lint(input, sink);
    no_budget::lint(input, sink);
    default_is_no_floor::lint(input, sink);
    expired_exception::lint(input, sink);
    unused_exception::lint(input, sink);
    grants_a_shell::lint(input, summary, sink);
    open_allow_runs_code::lint(input, sink);
    untested_block::lint(input, sink);
}

/// What is known of programs, by each name.
fn by_name(programs: &[Program]) -> BTreeMap<&str, &Program> {
    let mut all = BTreeMap::new();
    for program in programs {
        for name in &program.names {
            all.entry(name.as_str()).or_insert(program);
        }
    }
    all
}

/// A block with what it became.
pub(crate) struct Pair<'a> {
    /// As planned.
    pub(crate) instance: &'a Instance<'a>,
    /// As lowered.
    pub(crate) block: &'a ir::Block,
    /// Its number.
    pub(crate) id: ir::BlockId,
}

impl<'a> Input<'a> {
    /// Rules, then guards. A pack's blocks are linted only while the pack itself is compiled.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Pair<'a>> + use<'a> {
        let (plan, policy) = (self.plan, &self.lowered.policy);
        plan.rules
            .iter()
            .chain(&plan.guards)
            .zip(&policy.blocks)
            .zip(0..)
            .map(|((instance, block), id)| Pair { instance, block, id: ir::BlockId(id) })
    }

    /// The scope of a block.
    pub(crate) fn scope(&self, block: &ir::Block) -> Option<&'a ir::Scope> {
        self.lowered.policy.scopes.get(block.scope.0 as usize)
    }

    /// The line of a pattern.
    pub(crate) fn line(&self, pattern: &ir::Pattern) -> Option<&'a ir::Line> {
        self.lowered.policy.lines.get(pattern.line.0 as usize)
    }

    /// The block of a line, as planned; exceptions have none.
    pub(crate) fn instance(&self, line: &ir::Line) -> Option<&'a Instance<'a>> {
        let at = line.block.0 as usize;
        let rules = self.plan.rules.len();
        self.plan.rules.get(at).or_else(|| self.plan.guards.get(at.checked_sub(rules)?))
    }

    /// Patterns with their lines, planned blocks and places, in the order of the file. Those of the user's files alone.
    pub(crate) fn patterns(&self) -> Vec<Written<'a>> {
        let spans = self.lowered.pattern_spans.iter();
        let mut all: Vec<Written<'a>> = self
            .lowered
            .policy
            .patterns
            .iter()
            .zip(spans)
            .filter_map(|(pattern, span)| {
                let line = self.line(pattern)?;
                let user = self.instance(line).is_some_and(|i| i.user);
                user.then_some(Written { pattern, line, span: *span })
            })
            .collect();
        all.sort_by_key(|w| (w.span, w.pattern.line.0));
        all
    }
}

/// A pattern with everything around it.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    /// The pattern.
    pub(crate) pattern: &'a ir::Pattern,
    /// Its line.
    pub(crate) line: &'a ir::Line,
    /// Where it is written.
    pub(crate) span: Span,
}

/// The tree of a block.
pub(crate) fn tree<'a>(instance: &Instance<'a>) -> Option<&'a ast::Block> {
    match instance.body {
        Body::Block(tree) => Some(tree),
        Body::Default(..) => None,
    }
}
