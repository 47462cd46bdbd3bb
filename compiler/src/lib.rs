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
mod packs;
mod pattern;
mod plan;
mod resolve;
mod text;

pub use code::Code;
pub use events::EVENTS;
pub use expect::{ExpectCase, check_expects};
pub use packs::{PACKS, pack};
pub use resolve::Load;

use code::Sink;
use policy_grammar::ast;
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::{FileId, SourceMap};

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
    let plan = plan::plan(&resolved, trusted, &mut sink);
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
    let failed = sink.failed();
    let policy = (!failed).then_some(lowered.policy);
    Compiled { policy, diagnostics: sink.into_list(), expects: plan.expects, summary }
}

#[cfg(test)]
mod tests;
