//! From the plan to the flat form: blocks, lines and ranked patterns.
//!
//! INVARIANT: patterns leave sorted by rank; whatever cannot be enforced is an error here, never left out.

mod block;
pub(crate) mod checks;
pub(crate) mod content;
mod line;
mod past;
pub(crate) mod payment;
mod program;
mod said;
mod scope;
mod subject;

use crate::code::{Code, Sink};
use crate::ir;
use crate::lists::Lists;
use crate::plan::{Instance, Plan};
use crate::resolve::Resolved;
use crate::secrets::SecretCase;
use policy_grammar::ast;
use policy_grammar::source::{FileId, SourceMap, Span, Spanned};
use std::collections::BTreeMap;

/// Globs of one policy once everything is spelled out: patterns, operands and names of scopes.
pub(crate) const MAX_GLOBS: usize = 1_000_000;

/// Where a pattern stands among the others; the greater decides.
pub(crate) type Rank = [u64; 7];

/// The flat form with the places that only messages need.
#[derive(Debug, Default)]
pub(crate) struct Lowered {
    /// The policy. Its first blocks are the plan's rules, then its guards, one each.
    pub(crate) policy: ir::Policy,
    /// Places of its patterns.
    pub(crate) pattern_spans: Vec<Span>,
    /// Tests of its secrets.
    pub(crate) secret_expects: Vec<SecretCase>,
}

/// Lowers a plan.
pub(crate) struct Builder<'a> {
    lists: &'a Lists,
    sink: &'a mut Sink,
    policy: ir::Policy,
    sources: &'a SourceMap,
    ranks: Vec<Rank>,
    pattern_spans: Vec<Span>,
    secret_expects: Vec<SecretCase>,
    globs: usize,
    scopes: BTreeMap<ir::Scope, ir::ScopeId>,
    withins: BTreeMap<ir::Within, ir::WithinId>,
    files: BTreeMap<FileId, (u32, Vec<u32>)>,
    programs: BTreeMap<String, usize>,
    /// Blocks of each guard name, for exceptions.
    guards: BTreeMap<String, Vec<(ir::BlockId, Vec<String>, bool)>>,
    /// Tokens by their name.
    assets: &'a BTreeMap<String, Vec<payment::Asset>>,
    payees: &'a BTreeMap<String, Vec<String>>,
    ask_timeout: Option<&'a Spanned<u64>>,
    full: bool,
}

/// Lowers everything. The policy is only good when no error was said.
pub(crate) fn lower(sources: &SourceMap, resolved: &Resolved, plan: &Plan<'_>, sink: &mut Sink) -> Lowered {
    let mut builder = Builder {
        lists: &resolved.lists,
        sink,
        policy: ir::Policy::default(),
        sources,
        ranks: Vec::new(),
        pattern_spans: Vec::new(),
        secret_expects: Vec::new(),
        globs: 0,
        scopes: BTreeMap::new(),
        withins: BTreeMap::new(),
        files: BTreeMap::new(),
        programs: BTreeMap::new(),
        guards: BTreeMap::new(),
        assets: &plan.assets,
        payees: &plan.payees,
        ask_timeout: plan.ask_timeout.as_ref(),
        full: false,
    };
    for unit in &resolved.units {
        builder.file(sources, unit.file);
    }
    builder.settings(resolved, plan);
    builder.take_programs(resolved);
    builder.take_secrets(resolved);
    for (number, rule) in plan.rules.iter().enumerate() {
        builder.rule(rule, number);
    }
    for guard in &plan.guards {
        builder.guard(guard);
    }
    for exception in &plan.exceptions {
        builder.exception(exception, plan);
    }
    builder.finish()
}

impl Builder<'_> {
    fn file(&mut self, sources: &SourceMap, id: FileId) {
        if self.files.contains_key(&id) {
            return;
        }
        let Some(source) = sources.file(id) else { return };
        let starts = source.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = starts.map(|(at, _)| u32::try_from(at).unwrap_or(u32::MAX)).collect();
        self.files.insert(id, (number(self.policy.files.len()), starts));
        self.policy.files.push(source.name.clone());
    }

    /// File and line of a span.
    pub(crate) fn place(&self, span: Span) -> ir::Place {
        let Some((file, ends)) = self.files.get(&span.file) else { return ir::Place::default() };
        ir::Place { file: *file, line: number(ends.partition_point(|end| *end < span.start)) + 1 }
    }

    fn settings(&mut self, resolved: &Resolved, plan: &Plan<'_>) {
        if let Some(header) = resolved.units.first().and_then(|u| u.tree.header.as_ref()) {
            self.policy.name = header.name.node.clone();
        }
        if let Some(default) = &plan.default {
            self.policy.default = Some(match default.node {
                ast::DefaultWord::Allow => ir::Default_::Allow,
                ast::DefaultWord::Host => ir::Default_::Host,
                ast::DefaultWord::Ask => ir::Default_::Ask,
                ast::DefaultWord::Deny => ir::Default_::Deny,
            });
            self.policy.default_place = self.place(default.span);
        }
        self.policy.ask_timeout = plan.ask_timeout.as_ref().map(|s| seconds(s.node));
        self.policy.page_only = plan.ask_via.is_some();
        self.policy.observe = plan.mode.as_ref().is_some_and(|m| m.node == ast::Mode::Observe);
    }

    pub(crate) fn scope_id(&mut self, scope: ir::Scope) -> ir::ScopeId {
        if let Some(id) = self.scopes.get(&scope) {
            return *id;
        }
        let id = ir::ScopeId(number(self.policy.scopes.len()));
        self.policy.scopes.push(scope.clone());
        self.scopes.insert(scope, id);
        id
    }

    pub(crate) fn within_id(&mut self, within: ir::Within) -> ir::WithinId {
        if let Some(id) = self.withins.get(&within) {
            return *id;
        }
        let id = ir::WithinId(number(self.policy.withins.len()));
        self.policy.withins.push(within.clone());
        self.withins.insert(within, id);
        id
    }

    /// Adds a pattern with its rank.
    pub(crate) fn pattern(&mut self, pattern: ir::Pattern, rank: Rank, span: Span) {
        if !self.spend(weight(&pattern.matcher), span) {
            self.ranks.push(rank);
            self.pattern_spans.push(span);
            self.policy.patterns.push(pattern);
        }
    }

    /// Adds an `except`.
    pub(crate) fn except(&mut self, except: ir::Except, span: Span) {
        if !self.spend(weight(&except.matcher), span) {
            self.policy.excepts.push(except);
        }
    }

    /// Counts globs; true, and said once, when the policy has too many.
    pub(crate) fn spend(&mut self, globs: usize, span: Span) -> bool {
        self.globs = self.globs.saturating_add(globs);
        if self.globs <= MAX_GLOBS {
            return false;
        }
        if !self.full {
            self.full = true;
            self.sink.push(
                Code::TooLarge
                    .error(
                        format!("the policy spells out more than {MAX_GLOBS} patterns"),
                        span,
                        "reached here",
                    )
                    .with_help("use globs instead of long lists"),
            );
        }
        true
    }

    fn finish(mut self) -> Lowered {
        let mut order: Vec<usize> = (0..self.ranks.len()).collect();
        order.sort_by_key(|&at| (self.ranks.get(at).copied(), std::cmp::Reverse(at)));
        let mut slots: Vec<Option<ir::Pattern>> = self.policy.patterns.drain(..).map(Some).collect();
        self.policy.patterns =
            order.iter().filter_map(|&at| slots.get_mut(at).and_then(Option::take)).collect();
        let spans = order.iter().filter_map(|&at| self.pattern_spans.get(at).copied()).collect();
        Lowered { policy: self.policy, pattern_spans: spans, secret_expects: self.secret_expects }
    }
}

/// Globs in a matcher.
fn weight(matcher: &ir::Matcher) -> usize {
    let ir::Matcher::Run(run) = matcher else { return 1 };
    1 + run
        .sets()
        .map(|(_, s)| s.paths.len() + s.texts.len() + s.except_paths.len() + s.except_texts.len())
        .sum::<usize>()
}

pub(crate) fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

pub(crate) fn seconds(seconds: u64) -> u32 {
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

pub(crate) fn note(text: Option<&ast::Text>) -> String {
    text.map(|t| t.node.clone()).unwrap_or_default()
}

/// The effect of a guard line under `severity`.
pub(crate) fn severe(effect: ast::Effect, instance: &Instance<'_>) -> ast::Effect {
    use ast::{Effect, SeverityWord};
    match (instance.severity, effect) {
        (Some(SeverityWord::Strict), Effect::Warn) => Effect::Deny,
        (Some(SeverityWord::Strict), Effect::Info) => Effect::Warn,
        (Some(SeverityWord::Relaxed), Effect::Warn) => Effect::Info,
        _ => effect,
    }
}
