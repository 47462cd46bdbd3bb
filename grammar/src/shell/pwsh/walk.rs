//! Statements and pipelines: every command in them is visited, with what is known of the session there.
//!
//! INVARIANT: a body that may run more than once, or not at all, leaves nothing known that it assigns.

use super::value::Value;
use super::{Around, MAX_DEPTH, Pair, Reader, Rule, State, Want};
use crate::shell::{Feature, PipePlace, Word};
use std::collections::BTreeSet;

impl Reader<'_, '_> {
    /// Walks statements; the answer is what they output together.
    pub(super) fn statements(
        &mut self,
        pair: Pair<'_>,
        state: &mut State,
        around: &Around,
        want: Want,
    ) -> Value {
        let at = pair.as_span().start();
        if self.level >= MAX_DEPTH {
            self.problem(at, format!("the command nests deeper than {MAX_DEPTH} constructs"));
            return Value::unknown();
        }
        self.level += 1;
        let mut out: Option<Value> = None;
        let mut count = 0;
        for part in pair.into_inner() {
            if part.as_rule() == Rule::background {
                self.w.feature(Feature::Background);
                continue;
            }
            count += 1;
            if count == 2 {
                self.w.feature(Feature::Chain);
            }
            let value = self.statement(part, state, around, want);
            out = Some(match out {
                Some(before) => before.append(value),
                None => value,
            });
        }
        self.level -= 1;
        out.unwrap_or_default()
    }

    fn statement(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        match pair.as_rule() {
            Rule::simple => self.simple(pair, state, around, want),
            Rule::if_st | Rule::try_st => {
                self.w.feature(Feature::Branch);
                self.branches(pair, state, around, want)
            }
            Rule::switch_st => {
                self.w.feature(Feature::Branch);
                self.switch(pair, state, around, want)
            }
            Rule::while_st | Rule::do_st | Rule::for_st => {
                self.w.feature(Feature::Loop);
                self.forget_assigned(&pair, state);
                self.parts(pair, state, around, want)
            }
            Rule::foreach_st => {
                self.w.feature(Feature::Loop);
                self.foreach(pair, state, around, want)
            }
            Rule::function_st | Rule::class_st => {
                self.w.feature(Feature::Function);
                self.function(pair, state, around)
            }
            Rule::param_st => {
                let mut inner = state.clone();
                self.forget_assigned(&pair, &mut inner);
                self.parts(pair, &mut inner, around, Want::Value);
                Value::none()
            }
            Rule::trap_st | Rule::named_block | Rule::data_st => self.branches(pair, state, around, want),
            _ => {
                self.problem(pair.as_span().start(), "this part of the command is not understood");
                Value::unknown()
            }
        }
    }

    /// Conditions and bodies one after the other in one state.
    fn parts(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        let mut out = Value::none();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::cond => {
                    self.inside(part, state, around, Want::Value);
                }
                Rule::block => out = out.append(self.inside(part, state, around, want)),
                Rule::bracket => self.attribute(part, state, around),
                _ => {}
            }
        }
        out
    }

    /// The statements inside brackets of any kind.
    pub(super) fn inside(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        let mut out = Value::none();
        for part in pair.into_inner() {
            if part.as_rule() == Rule::statements {
                out = out.append(self.statements(part, state, around, want));
            }
        }
        out
    }

    /// Bodies of which any may run or not.
    fn branches(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        let mut out: Option<Value> = None;
        let mut after = state.clone();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::cond => {
                    self.inside(part, state, around, Want::Value);
                    after.join(state);
                }
                Rule::bracket => self.attribute(part, state, around),
                Rule::block | Rule::else_part | Rule::catch_part | Rule::finally_part => {
                    let mut inner = state.clone();
                    let value = match part.as_rule() {
                        Rule::block => self.inside(part, &mut inner, around, want),
                        _ => self.parts(part, &mut inner, around, want),
                    };
                    after.join(&inner);
                    out = Some(out.map_or(value.clone(), |before| before.join(&value)));
                }
                _ => {}
            }
        }
        *state = after;
        out.unwrap_or_default()
    }

    fn switch(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        let before = state.clone();
        self.forget_assigned(&pair, state);
        let (mut subject, mut out) = (Value::unknown(), Value::none());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::cond => subject = self.inside(part, state, around, Want::Value),
                Rule::switch_arg => {
                    for arg in part.into_inner() {
                        subject = self.argument(arg, state, around).value;
                    }
                }
                Rule::switch_case => {
                    state.vars.insert("_".to_string(), subject.clone());
                    for inner in part.into_inner() {
                        match inner.as_rule() {
                            Rule::block => out = out.append(self.inside(inner, state, around, want)),
                            Rule::case_word => {
                                for arg in inner.into_inner() {
                                    self.argument(arg, state, around);
                                }
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        state.vars.remove("_");
        state.join(&before);
        out
    }

    fn foreach(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        self.forget_assigned(&pair, state);
        let before = state.clone();
        let (mut name, mut out) = (None, Value::none());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::var => name = variable_name(&part),
                Rule::simple => {
                    let list = self.simple(part, state, around, Want::Value);
                    if let Some(name) = &name {
                        state.vars.insert(name.clone(), element(&list));
                    }
                }
                Rule::block => out = self.inside(part, state, around, want),
                _ => {}
            }
        }
        state.join(&before);
        if let Some(name) = name {
            state.vars.insert(name, Value::unknown());
        }
        out
    }

    fn function(&mut self, pair: Pair<'_>, state: &mut State, around: &Around) -> Value {
        let mut inner = state.clone();
        self.forget_assigned(&pair, &mut inner);
        for name in ["args", "input", "_", "psitem"] {
            inner.vars.insert(name.to_string(), Value::unknown());
        }
        let text = pair.as_str().to_ascii_lowercase();
        if ["script:", "global:", "variable:"].iter().any(|scope| text.contains(scope)) {
            // What it assigns is not its own.
            self.forget_assigned(&pair, state);
        }
        if text.contains("-sc") || text.contains("variable:") {
            state.forget_all();
        }
        let around = Around { deferred: true, input: None, pipe: None, ..around.clone() };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::fname => {
                    let name = part.as_str().to_lowercase();
                    let name = name.rsplit(':').next().unwrap_or_default().to_string();
                    inner.functions.insert(name.clone());
                    if state.functions.len() < 256 {
                        state.functions.insert(name);
                    } else {
                        self.problem(
                            part.as_span().start(),
                            "the command has more functions than are followed",
                        );
                    }
                }
                Rule::cond => {
                    self.forget_parameters(&part, &mut inner);
                    self.inside(part, &mut inner, &around, Want::Value);
                }
                Rule::block => {
                    self.forget_parameters(&part, &mut inner);
                    self.inside(part, &mut inner, &around, Want::Print);
                }
                _ => {}
            }
        }
        Value::none()
    }

    pub(super) fn simple(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        let mut out = Value::none();
        for part in pair.into_inner() {
            out = match part.as_rule() {
                Rule::flow => self.flow(part, state, around, want),
                Rule::chain => self.chain(part, state, around, want),
                _ => out,
            };
        }
        out
    }

    fn flow(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        let mut out = Value::none();
        for part in pair.into_inner() {
            if part.as_rule() == Rule::chain {
                out = self.chain(part, state, around, want);
            }
        }
        out
    }

    fn chain(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        let mut out: Option<Value> = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::pipeline if out.is_none() => out = Some(self.pipeline(part, state, around, want)),
                // The later ones may not run.
                Rule::pipeline | Rule::flow => {
                    let mut inner = state.clone();
                    let value = match part.as_rule() {
                        Rule::flow => self.flow(part, &mut inner, around, want),
                        _ => self.pipeline(part, &mut inner, around, want),
                    };
                    // The folder of `cd x && y` is that of the left side when the right one runs.
                    state.join_vars(&inner);
                    out = out.map(|before| before.append(value));
                }
                Rule::chain_op => self.w.feature(Feature::Chain),
                _ => {}
            }
        }
        out.unwrap_or_default()
    }

    fn pipeline(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        let stages: Vec<Pair<'_>> = pair.into_inner().collect();
        let count = u32::try_from(stages.len()).unwrap_or(u32::MAX);
        if count <= 1 {
            let mut out = Value::none();
            for stage in stages {
                out = self.element(stage, state, around, want);
            }
            return out;
        }
        self.w.feature(Feature::Pipe);
        let number = self.w.next_pipeline();
        let mut inner = around.clone();
        let mut out = Value::none();
        for (stage, pair) in (0u32..).zip(stages) {
            inner.pipe = Some(PipePlace { pipeline: number, stage, stages: count });
            // The first stage prints into the pipe, so it is listed even when only its value is wanted.
            out = self.element(pair, state, &inner, Want::Print);
            inner.input = Some(out.clone());
        }
        out
    }

    fn element(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, want: Want) -> Value {
        match pair.as_rule() {
            Rule::expression => self.expression(pair, state, around, want),
            Rule::command => self.command(pair, state, around),
            _ => Value::unknown(),
        }
    }

    /// What an assignment takes.
    pub(super) fn assigned(&mut self, pair: Pair<'_>, state: &mut State, around: &Around) -> Value {
        let around = Around { input: None, pipe: None, ..around.clone() };
        let mut out = Value::none();
        for part in pair.into_inner() {
            out = self.statement(part, state, &around, Want::Value);
        }
        out
    }

    /// Nothing is known of a variable that this text assigns anywhere.
    pub(super) fn forget_assigned(&mut self, pair: &Pair<'_>, state: &mut State) {
        for name in assigned_names(pair) {
            state.vars.insert(name, Value::unknown());
        }
    }

    /// Nothing is known of the parameters of a function or block.
    pub(super) fn forget_parameters(&mut self, pair: &Pair<'_>, state: &mut State) {
        let lists = pair.clone().into_inner().flatten().filter(|p| p.as_rule() == Rule::param_st);
        for list in lists.chain((pair.as_rule() == Rule::cond).then(|| pair.clone())).take(8) {
            for var in list.into_inner().flatten().filter(|p| p.as_rule() == Rule::var).take(256) {
                if let Some(name) = variable_name(&var) {
                    state.vars.insert(name, Value::unknown());
                }
            }
        }
    }

    pub(super) fn problem(&mut self, at: usize, message: impl Into<String>) {
        let narrow = u32::try_from(at).unwrap_or(u32::MAX);
        self.w.problem(self.place.map_or(narrow, |(start, _)| start), message);
    }
}

/// One of the elements of a list.
pub(super) fn element(list: &Value) -> Value {
    let mut items = list.items.iter();
    let Some(first) = items.next() else { return Value::unknown() };
    let word = items.fold(first.clone(), |all, item| super::value::either(&all, item));
    let mut out = list.with(vec![word]);
    out.hash = Vec::new();
    out
}

/// The name of a variable in lower case, its scope left out.
pub(super) fn variable_name(var: &Pair<'_>) -> Option<String> {
    let inner = var.clone().into_inner().next()?;
    let name = inner.as_str().to_lowercase();
    let name = match name.split_once(':') {
        Some(("global" | "script" | "local" | "private" | "using" | "variable" | "", rest)) => {
            rest.trim_start_matches(':').to_string()
        }
        _ => name,
    };
    Some(name)
}

/// Whether a parameter, perhaps cut short, is one of those that name a variable.
fn names_variable(name: &str) -> bool {
    let name = name.trim_start_matches('-').to_lowercase();
    let cut = |full: &str, least: usize| name.len() >= least && full.starts_with(&name);
    matches!(name.as_str(), "ov" | "pv" | "ev" | "wv" | "iv" | "sv" | "rhv")
        || cut("outvariable", 4)
        || cut("pipelinevariable", 2)
        || cut("errorvariable", 6)
        || cut("warningvariable", 8)
        || cut("informationvariable", 12)
        || cut("variable", 2)
        || name.ends_with("variable")
}

fn assigned_names(pair: &Pair<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for expression in pair.clone().into_inner().flatten().filter(|p| p.as_rule() == Rule::expression) {
        let parts: Vec<Pair<'_>> = expression.into_inner().collect();
        let changes = parts.iter().any(|p| p.as_rule() == Rule::assign_op);
        let Some(expr) = parts.first().filter(|p| p.as_rule() == Rule::expr) else { continue };
        for token in expr.clone().into_inner() {
            let counts = changes || expr.as_str().contains("++") || expr.as_str().contains("--");
            if counts
                && token.as_rule() == Rule::var
                && let Some(name) = variable_name(&token)
                && names.len() < 256
            {
                names.insert(name);
            }
        }
    }
    names
}

impl State {
    /// Any variable may have another value.
    pub(super) fn forget_all(&mut self) {
        for value in self.vars.values_mut() {
            let mut unknown = Value::unknown();
            unknown.taint(value.fetched, value.decoded);
            *value = unknown;
        }
    }

    /// A parameter that stores what a command gives in a variable.
    pub(super) fn store(&mut self, name: &str, into: Option<&Word>) {
        if !names_variable(name) {
            return;
        }
        let Some(target) = into.and_then(Word::known) else { return self.forget_all() };
        let target = target.trim_start_matches('+').to_lowercase();
        let target = target.rsplit(':').next().unwrap_or_default();
        if let Some(value) = self.vars.get_mut(target) {
            let mut unknown = Value::unknown();
            unknown.taint(value.fetched, value.decoded);
            *value = unknown;
        }
    }

    /// What holds after either of two ways.
    pub(super) fn join(&mut self, other: &State) {
        self.join_vars(other);
        if self.dir != other.dir {
            self.dir = crate::shell::Dir::Unknown;
        }
    }

    fn join_vars(&mut self, other: &State) {
        let names: BTreeSet<String> = self.vars.keys().chain(other.vars.keys()).cloned().collect();
        for name in names {
            let value = match (self.vars.get(&name), other.vars.get(&name)) {
                (Some(a), Some(b)) => a.join(b),
                _ => {
                    let some = self.vars.get(&name).or(other.vars.get(&name));
                    let mut unknown = Value::unknown();
                    if let Some(some) = some {
                        unknown.taint(some.fetched, some.decoded);
                    }
                    unknown
                }
            };
            self.vars.insert(name, value);
        }
        self.functions.extend(other.functions.iter().cloned());
        self.fetched_files.extend(other.fetched_files.iter().cloned());
        // What only one way leaves, or each in its own way, is followed in none.
        let before = self.aliases.len();
        self.aliases.retain(|name, target| other.aliases.get(name) == Some(target));
        self.redefined |= other.redefined || self.aliases.len() != before.max(other.aliases.len());
        self.risky |= other.risky;
    }
}
