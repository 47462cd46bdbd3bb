//! One simple command: its words, its assignments and redirections, once for each value of a loop variable.
//!
//! INVARIANT: every word is visited for the commands inside it before the command itself is listed.

use super::ast::*;
use super::env::{Env, MAX_VALUES, Val, Value, is_risky};
use super::expand::Expander;
use super::flow::Node as FlowNode;
use super::flow::link::Written;
use super::inner::Call;
use super::options::is_name;
use super::output::as_written;
use super::walk::{Ctx, Stdin, Walk, redirect_features, runs_in_subscript};
use super::{Assignment, Dialect, Dir, Feature, Gap, Piece, Word};

/// Builtins whose arguments of the form `NAME=VALUE` are assignments: not split, no patterns.
const DECLARING: &[&str] = &["export", "declare", "typeset", "local", "readonly", "alias"];

impl<'t> Walk<'_, '_, 't> {
    pub(crate) fn simple(&mut self, simple: &'t Simple<'t>, env: &mut Env, ctx: &Ctx) {
        let (met, written) = self.visit_simple(simple, env, ctx);
        self.settled(simple, &met, &written, env, ctx);
    }

    /// Lists a command whose words have been visited.
    fn settled(
        &mut self,
        simple: &'t Simple<'t>,
        met: &[Vec<u32>],
        written: &Written,
        env: &mut Env,
        ctx: &Ctx,
    ) {
        self.tainted_by(&simple.words, env);
        if let Some([Bit::Bare("[" | "test" | ":")]) = simple.words.first().map(|word| word.bits.as_slice()) {
            checked(&simple.words, env);
        }

        let choices = self.choices(simple, env);
        let mut first: Option<Vec<Word>> = None;
        let mut seen: Vec<Vec<Word>> = Vec::new();
        for choice in &choices {
            let words = self.one(simple, env, ctx, choice, &mut seen, (met, written));
            first.get_or_insert(words);
        }
        let words = first.unwrap_or_default();
        self.assignments(simple, &words, env);
        if choices.len() > 1 {
            self.widen(&words, env);
        } else {
            self.builtin(&words, env, simple.range);
            self.read_values(simple, &words, env, ctx);
        }
        let reads = simple.redirects.iter().any(|r| r.op.starts_with('<') && matches!(r.fd, "" | "0"));
        env.input |= reads && words.first().and_then(Word::known) == Some("exec") && words.len() == 1;
    }

    /// Visits the words of a command, the redirections included.
    fn visit_simple(&mut self, simple: &'t Simple<'t>, env: &mut Env, ctx: &Ctx) -> (Vec<Vec<u32>>, Written) {
        for assign in &simple.assigns {
            self.visit(&assign.subscript, env, ctx);
            self.w.arithmetic |= assign.indexed;
            if assign.indexed {
                self.evaluates(&assign.subscript, env);
            }
            match &assign.value {
                AssignValue::Word(word) => {
                    self.gets(assign.name, &word.bits, env);
                    let met = self.visit_word(&word.bits, env, ctx);
                    self.assigned(assign.name, &met);
                }
                AssignValue::Array(elements, keyed) => {
                    for element in elements {
                        if *keyed {
                            self.evaluates(&element.bits, env);
                        }
                        self.gets(assign.name, &element.bits, env);
                        let met = self.visit_word(&element.bits, env, ctx);
                        self.assigned(assign.name, &met);
                    }
                }
            }
        }
        let outer = self.prepare(simple, env, ctx);
        for word in &simple.words {
            if let [Bit::Bare(_)] | [Bit::Text(_)] = word.bits.as_slice() {
                self.visit(&word.bits, env, ctx);
                continue;
            }
            let met = self.visit_word(&word.bits, env, ctx);
            if !met.is_empty() {
                self.met_words.insert(word.range, met);
            }
            self.process_text(word, env);
        }
        let met = self.visit_redirects(&simple.redirects, env, ctx);
        let written = std::mem::replace(&mut self.process_input, *outer);
        (met, as_written(written))
    }

    /// Finds out what the command writes; the answer is what was there before.
    fn prepare(&mut self, simple: &'t Simple<'t>, env: &Env, ctx: &Ctx) -> Box<Stdin> {
        let written = self.written(simple, env, &ctx.stdin);
        Box::new(std::mem::replace(&mut self.process_input, written))
    }

    fn process_text(&mut self, word: &'t WordNode<'t>, env: &Env) {
        if let [Bit::Process { list }] = word.bits.as_slice()
            && !self.is_written(list)
        {
            let output = self.expander(env, &[]).process_output(word);
            self.process_texts.insert(word.range, output);
        }
    }

    /// The values to pick for variables that have several: one entry for each command that this one stands for.
    fn choices(&self, simple: &Simple<'_>, env: &Env) -> Vec<Vec<(String, Val)>> {
        let mut choices: Vec<Vec<(String, Val)>> = vec![Vec::new()];
        let mut names = Vec::new();
        let bits = simple.words.iter().flat_map(|word| &word.bits);
        let targets = simple
            .redirects
            .iter()
            .filter_map(|r| if let Target::Word(word) = &r.target { Some(word) } else { None });
        let values = simple
            .assigns
            .iter()
            .filter_map(|a| if let AssignValue::Word(word) = &a.value { Some(word) } else { None });
        for bit in bits.chain(targets.chain(values).flat_map(|word| &word.bits)) {
            if let Bit::Param { head, .. } = bit
                && let name = head.trim_start_matches('#')
                && let Some(Value::Scalar(vals)) = env.get(name)
                && vals.len() > 1
                && !names.contains(&name)
                && choices.len() * vals.len() <= MAX_VALUES
            {
                names.push(name);
                let pick = |val: &Val, choice: &Vec<(String, Val)>| {
                    let mut choice = choice.clone();
                    choice.push((name.to_string(), val.clone()));
                    choice
                };
                choices =
                    choices.iter().flat_map(|choice| vals.iter().map(move |val| pick(val, choice))).collect();
            }
        }
        choices
    }

    /// Lists the command for one pick of values; the answer is its words.
    fn one(
        &mut self,
        simple: &'t Simple<'t>,
        env: &Env,
        ctx: &Ctx,
        choice: &[(String, Val)],
        seen: &mut Vec<Vec<Word>>,
        (met, written): (&[Vec<u32>], &Written),
    ) -> Vec<Word> {
        let expander = self.expander(env, choice);
        let (mut words, mut ranges, mut gaps) =
            (Vec::with_capacity(simple.words.len()), Vec::new(), ctx.gaps.clone());
        for node in &simple.words {
            let declares = words.first().and_then(Word::known).is_some_and(|name| DECLARING.contains(&name));
            let assigned = matches!(node.bits.first(), Some(Bit::Bare(text)) if text.split_once('=').is_some_and(|(n, _)| is_name(n)));
            if declares && assigned {
                words.push(declared(node).unwrap_or_else(|| expander.single(node, false)));
            } else {
                words.append(&mut expander.words(node));
            }
            ranges.resize(words.len(), node.range);
        }
        if let Some(guess) = words.first().and_then(|word| empty_reading(word, simple.words.first(), env)) {
            gaps.push(Gap::UnknownProgram);
            if let Some(first) = words.first_mut() {
                *first = guess;
            }
        }
        if expander.used_braces.get() && self.dialect == Dialect::Unknown {
            let at = self.place_of(simple.range).0;
            self.w.problem(at, "braces are read in another way by a POSIX shell");
        }
        self.one_word_in_zsh(&expander, simple.range);
        if words.first().and_then(Word::known).is_some_and(|name| DECLARING.contains(&name)) {
            self.declared_values(&words, env, (simple.range, ctx));
        }
        let mut redirects = ctx.redirects.clone();
        let own = self.redirects(&simple.redirects, &expander);
        let stdin = if env.input { Stdin::Unknown } else { ctx.stdin.clone() };
        let stdin = expander.input_after(&simple.redirects, &own, &stdin);
        let mut assignments = Vec::new();
        for assign in &simple.assigns {
            let value = match &assign.value {
                AssignValue::Word(word) => expander.single(word, false),
                AssignValue::Array(..) => Word::Unknown(vec![Piece::Hole { quoted: true }]),
            };
            if is_risky(assign.name) && !splits_what_is_read(assign.name, &words, env) {
                gaps.push(Gap::Environment);
            }
            self.set_value(assign.name, &value, env, (simple.range, ctx));
            assignments.push(Assignment { name: assign.name.to_string(), value });
        }
        let mut features = expander.features.get();
        features |= own.iter().map(redirect_features).fold(0, |all, f| all | f);
        if ctx.pipe.is_some() {
            features |= Feature::Pipe.bit();
        }
        self.w.features |= features;
        redirects.extend(own);
        if env.risky {
            gaps.push(Gap::Environment);
        }
        if seen.contains(&words) && !words.is_empty() && simple.redirects.is_empty() {
            return words;
        }
        seen.push(words.clone());
        let at = self.moment(self.place_of(simple.range).0, ctx.deferred);
        let own = redirects.get(ctx.redirects.len()..).unwrap_or_default();
        let (from, to) = self.through(own, met, (ctx.from, ctx.to), &env.dir, at, ctx.deferred, written);
        let from = self.replaced_input(env, words.first(), from);
        let call = Call {
            words: words.clone(),
            ranges,
            range: simple.range,
            assignments,
            redirects,
            wrappers: ctx.wrappers.clone(),
            gaps,
            pipe: ctx.pipe,
            stdin,
            from,
            to,
            extra: None,
            written: written.clone(),
            dir: env.dir.clone(),
            other_dirs: env.other_dirs.clone(),
            root: None,
            features,
            direct: true,
            deferred: ctx.deferred,
            level: 0,
            windows: false,
        };
        self.call(call, env);
        words
    }

    /// The input of a command where `exec <` may have replaced that of the shell.
    fn replaced_input(&mut self, env: &Env, program: Option<&Word>, from: Option<u32>) -> Option<u32> {
        let replaces = program.and_then(Word::known) == Some("exec");
        if !replaces && !env.input {
            return from;
        }
        let shell = self.w.flow.named("&0");
        if let (true, Some(from)) = (replaces, from) {
            self.w.flow.edge(FlowNode::Channel(from), FlowNode::Channel(shell));
        }
        if env.input { from.or(Some(shell)) } else { from }
    }

    /// What the assignments before (or instead of) a command do to the state.
    fn assignments(&mut self, simple: &'t Simple<'t>, words: &[Word], env: &mut Env) {
        let plain = words.is_empty();
        let special = words.first().and_then(Word::known).is_none_or(|name| {
            env.functions.contains_key(name)
                || matches!(
                    name,
                    "eval"
                        | "exec"
                        | "export"
                        | "readonly"
                        | "set"
                        | "source"
                        | "."
                        | "trap"
                        | "unset"
                        | ":"
                        | "declare"
                        | "typeset"
                        | "local"
                )
        });
        for assign in &simple.assigns {
            if !plain {
                // Before a special builtin or a function they may stay.
                if special {
                    env.forget(assign.name);
                }
                continue;
            }
            let value = {
                let expander = self.expander(env, &[]);
                assigned_value(&expander, assign, env)
            };
            if let Value::Scalar(vals) | Value::Array(vals) = &value
                && vals.iter().filter_map(Val::text).any(runs_in_subscript)
            {
                let at = self.place_of(simple.range).0;
                self.w.subscript_code.get_or_insert(at);
            }
            env.set(assign.name, value);
        }
    }
}

/// `IFS= read -r x`: it says how that line is split, and holds for nothing else.
fn splits_what_is_read(name: &str, words: &[Word], env: &Env) -> bool {
    name == "IFS"
        && words.first().and_then(Word::known) == Some("read")
        && !env.functions.contains_key("read")
        && !env.aliases.contains_key("read")
}

/// What a test looks at, or `${X:?}` demands, is not taken for empty behind it.
pub(crate) fn checked(words: &[WordNode<'_>], env: &mut Env) {
    for bit in words.iter().flat_map(|word| &word.bits) {
        if let Bit::Param { head, .. } = bit
            && is_name(head)
            && env.get(head).is_none()
        {
            env.seen.insert((*head).to_string());
        }
    }
}

/// `export x=~/y`: the tilde behind the sign is expanded.
fn declared(node: &WordNode<'_>) -> Option<Word> {
    let Some(Bit::Bare(text)) = node.bits.first() else { return None };
    let (name, value) = text.split_once('=')?;
    let name = Piece::Text(format!("{name}="));
    if value.starts_with('~') && node.bits.len() == 1 && !value.contains(':') {
        return Some(Word::Unknown(vec![name, Piece::Tilde(value.to_string())]));
    }
    has_tilde(&node.bits).then(|| Word::Unknown(vec![name, Piece::Hole { quoted: true }]))
}

/// Whether a tilde may be expanded further inside an assigned value (`x=a:~/b`).
fn has_tilde(bits: &[Bit<'_>]) -> bool {
    bits.iter().any(|bit| matches!(bit, Bit::Bare(text) if text.contains(":~") || text.contains("=~")))
}

/// The value that an assignment gives.
fn assigned_value(expander: &Expander<'_>, assign: &Assign<'_>, env: &Env) -> Value {
    if assign.indexed {
        return Value::Unknown;
    }
    match &assign.value {
        AssignValue::Word(node) if has_tilde(&node.bits) => Value::Unknown,
        AssignValue::Word(node) => {
            let word = expander.single(node, false);
            let new = Val::of(&word).or_else(|| Val::folder(&word, env));
            match (assign.append, new) {
                (false, Some(val)) => Value::Scalar(vec![val]),
                (true, Some(Val::Text(tail))) => match env.get(assign.name) {
                    Some(Value::Scalar(vals)) if vals.iter().all(|val| val.text().is_some()) => {
                        let text = |val: &Val| Val::Text(format!("{}{tail}", val.text().unwrap_or_default()));
                        Value::Scalar(vals.iter().map(text).collect())
                    }
                    _ => Value::Unknown,
                },
                _ => Value::Unknown,
            }
        }
        AssignValue::Array(nodes, keyed) => {
            let mut vals = Vec::new();
            for node in nodes {
                for word in expander.words(node) {
                    match Val::of(&word) {
                        Some(val @ (Val::Text(_) | Val::Tilde(_))) => vals.push(val),
                        _ => return Value::Unknown,
                    }
                }
            }
            match *keyed || assign.append || vals.len() > MAX_VALUES {
                true => Value::Unknown,
                false => Value::Array(vals),
            }
        }
    }
}

/// `g${x}it` with a variable that the text never sets: most likely `git`. Told only together with a gap.
fn empty_reading(word: &Word, node: Option<&WordNode<'_>>, env: &Env) -> Option<Word> {
    let Word::Unknown(pieces) = word else { return None };
    let unset = |bit: &Bit<'_>| match bit {
        Bit::Param { head, tail, .. } => tail.is_empty() && env.get(head).is_none(),
        Bit::Bare(text) => !text.contains(['/', '*', '?', '[', '{']),
        Bit::Text(text) => !text.contains('/'),
        _ => false,
    };
    let text: String =
        pieces.iter().filter_map(|p| if let Piece::Text(t) = p { Some(t.as_str()) } else { None }).collect();
    let starts = matches!(pieces.first(), Some(Piece::Text(_)));
    (starts && node?.bits.iter().all(unset)).then_some(Word::Known(text))
}

/// Splits a text into words as a shell would, without expansions; `None` when it is more than one plain command.
pub(crate) fn split_words(text: &str) -> Option<Vec<Word>> {
    let tree = super::parse::parse(text);
    let [item] = tree.list.items.as_slice() else { return None };
    let [Node::Simple(simple)] = item.first.stages.as_slice() else { return None };
    if !tree.problems.is_empty() || !item.rest.is_empty() || !simple.redirects.is_empty() {
        return None;
    }
    let env = Env::new(Dir::Call);
    let expander = Expander::new(&env, &[], false);
    let mut words: Vec<Word> = Vec::new();
    for assign in &simple.assigns {
        let AssignValue::Word(node) = &assign.value else { return None };
        words.push(Word::Known(format!("{}={}", assign.name, expander.single(node, false).known()?)));
    }
    for node in &simple.words {
        words.append(&mut expander.words(node));
    }
    Some(words)
}
