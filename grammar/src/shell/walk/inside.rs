//! The walk through the commands inside a word: substitutions, process substitutions, backticks.
//!
//! INVARIANT: what is inside runs in a copy of the state, and its output has a channel of its own.

use super::{Ctx, Stdin, Task, Walk, substituted};
use crate::shell::Feature;
use crate::shell::ast::*;
use crate::shell::env::Env;

impl<'t> Walk<'_, '_, 't> {
    pub(super) fn visit_substitution(&mut self, list: &'t List<'t>, env: &Env, ctx: &Ctx) {
        self.w.feature(Feature::Substitution);
        let mut inner = Box::new(substituted(ctx));
        let channel = self.inside(&mut inner);
        let met = std::mem::take(&mut self.met);
        self.list(list, &mut Box::new(env.clone()), &inner);
        self.met = met;
        self.met.push(channel);
    }

    pub(super) fn visit_process(&mut self, list: &'t List<'t>, env: &Env, ctx: &Ctx) {
        self.w.feature(Feature::ProcessSubstitution);
        let mut inner = Box::new(substituted(ctx));
        inner.stdin = Stdin::Unknown;
        let channel = self.inside(&mut inner);
        if self.is_written(list) {
            self.w.flow.outward(channel);
            (inner.from, inner.to) = (Some(channel), ctx.to);
            inner.stdin = self.process_input.clone();
        }
        let met = std::mem::take(&mut self.met);
        self.list(list, &mut Box::new(env.clone()), &inner);
        self.met = met;
        self.met.push(channel);
    }

    pub(super) fn visit_backtick(&mut self, text: &str, start: usize, env: &Env, ctx: &Ctx) {
        self.w.feature(Feature::Substitution);
        let place = Some(self.place_of((start, start + text.len() + 2)));
        let (depth, dialect) = (self.depth + 1, self.dialect);
        let (env, mut ctx) = (env.clone(), substituted(ctx));
        let channel = self.inside(&mut ctx);
        self.met.push(channel);
        let text = text.to_string();
        self.w.enqueue(Task { text, env, ctx, place, depth, dialect, guess: false, code: None });
    }
}
