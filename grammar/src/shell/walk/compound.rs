//! The walk through compound commands: branches, loops, functions.
//!
//! INVARIANT: every branch and every body is walked once. What a loop or a function changes is not taken for known
//! before it or after it; a change that was not foreseen makes the text not understood.

use super::{Ctx, Stdin, Walk};
use crate::shell::ast::*;
use crate::shell::env::{Env, Function, MAX_VALUES, Val, Value};
use crate::shell::simple::checked;
use crate::shell::{Feature, Gap};

impl<'t> Walk<'_, '_, 't> {
    pub(super) fn compound(&mut self, compound: &'t Compound<'t>, env: &mut Env, outer: &Ctx) {
        let with_redirects;
        let ctx = if compound.redirects.is_empty() {
            outer
        } else {
            with_redirects = Box::new(self.redirected(compound, env, outer));
            &with_redirects
        };
        match &compound.kind {
            Kind::Group(list) => self.list(list, env, ctx),
            Kind::Subshell(list) => {
                self.w.feature(Feature::Subshell);
                self.list(list, &mut env.clone(), ctx);
            }
            Kind::If { branches, otherwise } => {
                self.w.unsure += 1;
                self.branches(branches, otherwise.as_ref(), env, ctx);
                self.w.unsure -= 1;
            }
            Kind::While { condition, body } => {
                self.repeat(compound, None, env, |walk, env| {
                    walk.condition(condition, env, ctx);
                    walk.list(body, env, ctx);
                });
            }
            Kind::For { name, words, body } => {
                self.for_words(compound, name, words.as_deref(), body, env, ctx)
            }
            Kind::ForArith { bits, body } => {
                self.w.arithmetic = true;
                let at = self.place_of((0, 0)).0;
                self.w.taint.evaluate(compound.text.split("))").next().unwrap_or_default(), at);
                self.evaluates(bits, env);
                self.repeat(compound, None, env, |walk, env| {
                    walk.visit(bits, env, ctx);
                    walk.list(body, env, ctx);
                });
            }
            Kind::Case { word, arms } => {
                self.w.unsure += 1;
                self.case(compound.text, word, arms, env, ctx);
                self.w.unsure -= 1;
            }
            Kind::Test(words) => {
                self.w.arithmetic = true;
                self.evaluates_test(words, env);
                checked(words, env);
                for word in words {
                    self.visit(&word.bits, env, ctx);
                }
            }
            Kind::Arith(bits) => {
                self.w.arithmetic = true;
                let at = self.place_of((0, 0)).0;
                self.w.taint.evaluate(compound.text, at);
                self.evaluates(bits, env);
                self.visit(bits, env, ctx);
                self.forget_assigned(compound.text, env);
            }
            Kind::Function { name, body } => self.function(name, body, env, ctx),
            Kind::Coproc(node) => {
                self.w.feature(Feature::Background);
                let mut inner = ctx.clone();
                inner.to = Some(self.w.flow.named("$COPROC"));
                self.node(node, &mut env.clone(), &inner);
            }
        }
    }

    fn condition(&mut self, list: &'t List<'t>, env: &mut Env, ctx: &Ctx) {
        let errexit = std::mem::take(&mut env.errexit);
        self.list(list, env, ctx);
        env.errexit = errexit;
    }

    fn branches(
        &mut self,
        branches: &'t [(List<'t>, List<'t>)],
        otherwise: Option<&'t List<'t>>,
        env: &mut Env,
        ctx: &Ctx,
    ) {
        self.w.feature(Feature::Branch);
        let mut ends = Vec::new();
        for (condition, body) in branches {
            self.condition(condition, env, ctx);
            let mut branch = env.clone();
            self.list(body, &mut branch, ctx);
            ends.push(branch);
        }
        if let Some(list) = otherwise {
            self.list(list, env, ctx);
        }
        for end in ends {
            env.join(&end);
        }
    }

    fn case(
        &mut self,
        text: &str,
        word: &'t WordNode<'t>,
        arms: &'t [(Vec<WordNode<'t>>, List<'t>)],
        env: &mut Env,
        ctx: &Ctx,
    ) {
        self.w.feature(Feature::Branch);
        self.visit(&word.bits, env, ctx);
        let falls_through = text.contains(";&") || text.contains(";;&");
        let mut end = env.clone();
        for (patterns, body) in arms {
            for pattern in patterns {
                self.visit(&pattern.bits, env, ctx);
            }
            let mut arm = if falls_through { end.clone() } else { env.clone() };
            self.list(body, &mut arm, ctx);
            end.join(&arm);
        }
        end.join(env);
        *env = end;
    }

    fn for_words(
        &mut self,
        compound: &'t Compound<'t>,
        name: &str,
        words: Option<&'t [WordNode<'t>]>,
        body: &'t List<'t>,
        env: &mut Env,
        ctx: &Ctx,
    ) {
        let mut vals: Option<Vec<Val>> = words.map(|_| Vec::new());
        for node in words.unwrap_or_default() {
            let met = self.visit_word(&node.bits, env, ctx);
            self.assigned(name, &met);
            self.gets(name, &node.bits, env);
            // A file may be called anything.
            if node.bits.iter().any(|bit| matches!(bit, Bit::Bare(text) if text.contains(['*', '?', '[']))) {
                self.w.taint.outside(name);
            }
            let expander = self.expander(env, &[]);
            let words = expander.words(node);
            self.one_word_in_zsh(&expander, node.range);
            for word in words {
                vals = match (vals, Val::of(&word)) {
                    (Some(mut vals), Some(val)) => {
                        if !vals.contains(&val) {
                            vals.push(val);
                        }
                        Some(vals)
                    }
                    _ => None,
                };
            }
        }
        let value = match vals {
            Some(vals) if vals.len() <= MAX_VALUES => Value::Scalar(vals),
            _ => Value::Unknown,
        };
        self.repeat(compound, Some((name, value)), env, |walk, env| walk.list(body, env, ctx));
    }

    /// Walks a body that runs any number of times.
    fn repeat(
        &mut self,
        compound: &'t Compound<'t>,
        variable: Option<(&str, Value)>,
        env: &mut Env,
        walk: impl FnOnce(&mut Self, &mut Env),
    ) {
        self.w.feature(Feature::Loop);
        let text = compound.text;
        if let Kind::While { body, .. } | Kind::For { body, .. } | Kind::ForArith { body, .. } =
            &compound.kind
            && moves(body, env)
        {
            env.lose_dir();
        }
        let names: Vec<String> = env.vars.keys().filter(|name| may_assign(text, name)).cloned().collect();
        for name in names {
            env.forget(&name);
        }
        if let Some((name, value)) = &variable {
            env.set(name, value.clone());
        }
        let before = env.clone();
        let from = self.w.commands.len();
        self.w.loops += 1;
        self.w.unsure += 1;
        walk(self, env);
        self.w.loops -= 1;
        self.w.unsure -= 1;
        // An unknown program may be any builtin and widened the state; no grant reaches a text that has one.
        let known =
            !self.w.commands.iter().skip(from).any(|command| command.gaps.contains(&Gap::UnknownProgram));
        // INVARIANT: a second round sees what the first one saw, or the text is not understood.
        let changed = env.changed(&before).into_iter().filter(|name| before.vars.contains_key(name));
        let changed: Vec<String> =
            changed.filter(|name| variable.as_ref().is_none_or(|(v, _)| v != name)).collect();
        if known && changed.iter().any(|name| before.get(name) != Some(&Value::Unknown)) {
            let at = self.place_of(self.range_of(text)).0;
            self.w.problem(at, "a loop changes a variable in a way that is not understood");
        }
        let moved = env.dir != before.dir || env.other_dirs != before.other_dirs;
        env.join(&before);
        if known && moved {
            // A relative `cd` in a loop goes deeper with every round.
            let at = self.place_of(self.range_of(text)).0;
            self.w.problem(at, "a loop changes the folder");
        }
    }

    fn range_of(&self, text: &str) -> (usize, usize) {
        let start = (text.as_ptr() as usize).saturating_sub(self.source.as_ptr() as usize);
        (start, start + text.len())
    }

    fn function(&mut self, name: &str, body: &'t Compound<'t>, env: &mut Env, ctx: &Ctx) {
        self.w.feature(Feature::Function);
        self.w.bodies.keep(name, body.text);
        if super::bomb::multiplies(name, body) {
            self.w.feature(Feature::ForkBomb);
        }
        let mut state = Env::new(env.dir.clone());
        state.other_dirs = env.other_dirs.clone();
        state.functions = env.functions.clone();
        state.in_function = true;
        state.aliases = env.aliases.clone();
        (state.risky, state.ifs) = (env.risky, env.ifs);
        let mut inner = ctx.clone();
        inner.deferred = true;
        inner.from = Some(self.w.flow.named(&format!("<{name}")));
        inner.to = Some(self.w.flow.named(&format!(">{name}")));
        // Called from anywhere, so anything may come on its input (`curl URL | f`).
        if inner.stdin == Stdin::Call {
            inner.stdin = Stdin::Unknown;
        }
        // A call of itself is listed, with a gap: it is either a program or a recursion.
        state.functions.insert(name.to_string(), Function { certain: false, moves: false });
        let dir = (state.dir.clone(), state.other_dirs.clone());
        self.compound(body, &mut state, &inner);
        for name in state.vars.keys() {
            env.forget_for_good(name);
        }
        env.risky |= state.risky;
        env.ifs |= state.ifs;
        env.all_volatile |= state.all_volatile;
        for (inner, function) in &state.functions {
            if !env.functions.contains_key(inner) && inner != name {
                env.define(inner, Function { certain: false, moves: function.moves });
            }
        }
        for (alias, text) in state.aliases {
            env.aliases.entry(alias).or_insert(text);
        }
        let moves = (state.dir, state.other_dirs) != dir;
        if !env.define(name, Function { certain: true, moves }) {
            let at = self.place_of(self.range_of(body.text)).0;
            self.w.problem(at, "the command defines too many functions");
        }
    }
}

/// Whether a list changes the folder of this shell, as far as can be seen at a glance.
fn moves(list: &List<'_>, env: &Env) -> bool {
    let word = |word: &WordNode<'_>| match word.bits.as_slice() {
        [Bit::Bare(text)] => {
            matches!(*text, "cd" | "pushd" | "popd")
                || env.functions.get(*text).is_some_and(|function| function.moves)
        }
        _ => false,
    };
    let node = |node: &Node<'_>| match node {
        Node::Simple(simple) => simple.words.iter().take(3).any(word),
        Node::Compound(compound) => match &compound.kind {
            Kind::Group(list) => moves(list, env),
            Kind::If { branches, otherwise } => {
                branches.iter().any(|(condition, body)| moves(condition, env) || moves(body, env))
                    || otherwise.as_ref().is_some_and(|list| moves(list, env))
            }
            Kind::While { condition, body } => moves(condition, env) || moves(body, env),
            Kind::For { body, .. } | Kind::ForArith { body, .. } => moves(body, env),
            Kind::Case { arms, .. } => arms.iter().any(|(_, body)| moves(body, env)),
            _ => false,
        },
    };
    let pipeline = |pipeline: &Pipeline<'_>| pipeline.stages.iter().any(node);
    list.items.iter().any(|item| pipeline(&item.first) || item.rest.iter().any(|(_, p)| pipeline(p)))
}

/// Whether a text may assign a variable: its name stands there without a `$` before it.
fn may_assign(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default();
        if before.ends_with(part) || after.starts_with(part) {
            return false;
        }
        let read = before.ends_with('$') || before.ends_with("${") && !after.starts_with(['=', ':']);
        !read
    })
}
