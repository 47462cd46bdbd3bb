//! Lowers policy trees into decision tables: `parse, resolve, lower` here, then automata and bytes.
//!
//! INVARIANT: no IO. Sources are handed in, the day is an argument, and the same input gives the same output; a
//! policy leaves only when nothing was wrong with it.

pub mod automata;
mod code;
pub mod emit;
mod events;
mod expect;
pub mod ir;
mod lint;
mod lists;
mod lower;
pub mod naive;
mod near;
mod packs;
pub mod pages;
mod pattern;
mod plan;
mod resolve;
mod secrets;
mod text;

pub use code::Code;
pub use events::EVENTS;
pub use expect::{Before, ExpectCase, check_expects};
pub use lower::checks::{
    CLASSES, DRY_RUN, FEED_CHECKS, INJECTED_ORDERS, OWN_CHECKS, PATCH_INSPECTION, SHELL_WRITES,
    TEST_WITH_CHANGES, checks,
};
pub use packs::{PACKS, pack};
pub use resolve::Load;
pub use secrets::{SecretCase, check_secrets};
pub use text::nearest;

use code::Sink;
use policy_grammar::ast;
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::{FileId, SourceMap};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Whose policy it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    /// Root's, in `/etc/policy`.
    Managed,
    /// The user's.
    User,
    /// A project's `agent.policy`.
    Project,
    /// A pack or file that is only tested.
    Test,
}

/// What one compile needs.
pub struct CompileInput<'a, 'b> {
    /// All texts; packs and used files are added.
    pub sources: &'a mut SourceMap,
    /// The file to compile.
    pub main: FileId,
    /// Its tree, when it is not written in the policy language (the YAML front ends).
    pub tree: Option<ast::File>,
    /// Gives the files that `use "./x*.policy"` names: the origin as written and the file that uses it. The same
    /// file must always get the same name. An error is one lower-case sentence.
    pub load: &'a mut Load<'b>,
    /// The layer.
    pub kind: LayerKind,
    /// The layer may loosen. Without it only what refuses is taken.
    pub trusted: bool,
    /// The UTC day, days since 1970-01-01.
    pub today: i64,
    /// Packs that are used although no file says so, and that no `set` and no exception reaches (`std/self`).
    pub always: &'a [&'a str],
}

/// One compile's product.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The flat form; none when anything was wrong.
    pub policy: Option<ir::Policy>,
    /// Everything there is to say.
    pub diagnostics: Vec<Diagnostic>,
    /// Tested calls of the main file and of the user files it uses; none of an untrusted layer.
    pub expects: Vec<ExpectCase>,
    /// Tests of the secrets that stand in the same files.
    pub secret_expects: Vec<SecretCase>,
    /// Counts for summaries.
    pub summary: Summary,
}

/// Counts for summaries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rules.
    pub rules: usize,
    /// Guards.
    pub guards: usize,
    /// Exceptions.
    pub exceptions: usize,
    /// `allow` lines.
    pub allow_lines: usize,
    /// Those that grant what a shell grants.
    pub shell_lines: usize,
}

/// Compiles one layer.
pub fn compile(input: CompileInput<'_, '_>) -> Compiled {
    let CompileInput { sources, main, tree, load, kind, trusted, today, always } = input;
    let mut sink = Sink::default();
    let resolver = resolve::Resolver::new(sources, load, trusted, &mut sink);
    let (resolved, broken) = resolver.resolve(main, tree, always);
    if broken {
        return Compiled { diagnostics: sink.into_list(), ..Compiled::default() };
    }
    let mut plan = plan::plan(&resolved, trusted, &mut sink);
    let lowered = lower::lower(sources, &resolved, &plan, &mut sink);
    if sink.failed() {
        return Compiled { diagnostics: sink.into_list(), ..Compiled::default() };
    }
    let mut summary = Summary {
        rules: plan.rules.len(),
        guards: plan.guards.len(),
        exceptions: plan.exceptions.len(),
        ..Summary::default()
    };
    let excepted = lowered.policy.excepts.iter().map(|e| e.line).collect();
    let input = lint::Input { plan: &plan, lowered: &lowered, excepted, kind, today };
    lint::lint(&input, &mut summary, &mut sink);
    meant(&mut plan.expects, &lowered);
    let failed = sink.failed();
    let policy = (!failed).then_some(lowered.policy);
    let secret_expects = if trusted { lowered.secret_expects } else { Vec::new() };
    Compiled { policy, diagnostics: sink.into_list(), expects: plan.expects, secret_expects, summary }
}

/// Gives each tested call the run patterns of its block, for the message when it is not met.
fn meant(expects: &mut [ExpectCase], lowered: &lower::Lowered) {
    let wanted: BTreeSet<&str> = expects.iter().filter_map(|e| e.block.as_deref()).collect();
    if wanted.is_empty() {
        return;
    }
    let policy = &lowered.policy;
    let programs = Rc::new(policy.programs.clone());
    let mut blocks: BTreeMap<String, near::Meant> = BTreeMap::new();
    for (pattern, span) in policy.patterns.iter().zip(&lowered.pattern_spans) {
        let line = policy.lines.get(pattern.line.0 as usize);
        let Some(block) = line.and_then(|l| policy.blocks.get(l.block.0 as usize)) else { continue };
        if matches!(pattern.matcher, ir::Matcher::Run(_)) && wanted.contains(block.name.as_str()) {
            let meant = blocks.entry(block.name.clone()).or_default();
            if meant.patterns.len() < near::MAX_PATTERNS {
                meant.patterns.push((*span, pattern.clone()));
                meant.programs = Rc::clone(&programs);
            }
        }
    }
    let blocks: BTreeMap<String, Rc<near::Meant>> =
        blocks.into_iter().map(|(name, meant)| (name, Rc::new(meant))).collect();
    for case in expects {
        if let Some(meant) = case.block.as_ref().and_then(|block| blocks.get(block)) {
            case.meant = Rc::clone(meant);
        }
    }
}

#[cfg(test)]
mod tests;
