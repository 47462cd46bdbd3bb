//! The tree to the list of commands that may run, with the state of the shell at each.
//!
//! INVARIANT: every simple command of the tree is visited exactly once; a loop or function that changes what was
//! taken for known is a problem. Texts inside texts wait in a queue, so nesting them costs no stack.

use super::ast::*;
use super::code::Language;
use super::env::{Env, Val};
use super::expand::Expander;
use super::flow::Flow;
use super::flow::files::Key;
use super::flow::run::Request;
use super::parse::parse;
use super::program::Programs;
use super::{
    Analysis, Command, Dialect, Dir, Feature, Gap, MAX_NESTING, Piece, PipePlace, Problem, Redirect, Word,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

mod bind;
mod bomb;
mod compound;
mod inside;

/// Most commands that one text may stand for.
pub(crate) const MAX_COMMANDS: usize = 4096;
/// Most texts inside texts, and the bytes that they may have together.
const MAX_TASKS: usize = 256;
const MAX_TASK_BYTES: usize = 256 * 1024;
/// Most redirections that a command gets from the compounds around it.
const MAX_INHERITED: usize = 16;

/// What comes on standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// That of the call: nothing.
    Call,
    Text(String),
    /// A text with holes that were filled with a placeholder.
    Guess(String),
    /// What is in this file.
    File(Key),
    /// Names that begin so, one a line.
    Names(Vec<Piece>),
    Unknown,
}

/// What a command gets from the constructs around it.
#[derive(Debug, Clone)]
pub(crate) struct Ctx {
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) wrappers: Vec<String>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) pipe: Option<PipePlace>,
    pub(crate) stdin: Stdin,
    /// The channel that standard input comes through.
    pub(crate) from: Option<u32>,
    /// The channel that the output goes into.
    pub(crate) to: Option<u32>,
    /// In a function, trap or alias: it runs at another time than it is written.
    pub(crate) deferred: bool,
}

/// A text that waits to be read.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) text: String,
    pub(crate) env: Env,
    pub(crate) ctx: Ctx,
    /// Byte range in the outermost text; none for the outermost itself.
    pub(crate) place: Option<(u32, u32)>,
    pub(crate) depth: usize,
    pub(crate) dialect: Dialect,
    /// Holes of the text were filled with a placeholder; what cannot be read in it is no news.
    pub(crate) guess: bool,
    /// The text is code of another language, run by the command of this index.
    pub(crate) code: Option<(Language, usize)>,
}

/// Everything that is collected over all texts.
pub(crate) struct Walker<'p> {
    pub(crate) programs: &'p dyn Programs,
    pub(crate) commands: Vec<Command>,
    /// For each command, whether it runs at another time than it is written.
    pub(crate) deferred: Vec<bool>,
    pub(crate) problems: Vec<(u32, String)>,
    pub(crate) features: u32,
    pub(crate) queue: VecDeque<Task>,
    tasks: usize,
    task_bytes: usize,
    pipelines: u32,
    /// Calls of functions that were left out because the function is certain, unless something took it away
    /// before: only those that may run after such a thing.
    pub(crate) calls: Vec<(Command, bool)>,
    /// Function calls left out, all of them.
    pub(crate) omitted: usize,
    /// Loops around the place that is walked.
    pub(crate) loops: usize,
    /// Something may take functions away again.
    pub(crate) unset: bool,
    /// Something changes the folder.
    pub(crate) moved: bool,
    /// Arithmetic or a subscript is evaluated somewhere.
    pub(crate) arithmetic: bool,
    /// A value holds a subscript with a command in it.
    pub(crate) subscript_code: Option<u32>,
    /// Values from outside and where values are evaluated.
    pub(crate) taint: super::taint::Taint,
    /// Further readings of commands: in another folder, or with variables that are not set.
    pub(crate) readings: Vec<(usize, Option<Dir>, Vec<Word>)>,
    /// Where the output of commands may go.
    pub(crate) flow: Flow,
    /// Files that are run.
    pub(crate) requests: Vec<Request>,
    /// Conditions around the place that is walked.
    pub(crate) unsure: usize,
    /// Functions of texts that run in the same shell at another time.
    pub(crate) late_functions: BTreeSet<String>,
    pub(crate) aliases_read: BTreeSet<String>,
    /// Bodies of functions, to be read with the arguments of a call.
    pub(crate) bodies: bind::Bodies,
}

impl<'p> Walker<'p> {
    pub(crate) fn new(programs: &'p dyn Programs) -> Self {
        Walker {
            programs,
            commands: Vec::new(),
            deferred: Vec::new(),
            problems: Vec::new(),
            features: 0,
            queue: VecDeque::new(),
            tasks: 0,
            task_bytes: 0,
            pipelines: 0,
            calls: Vec::new(),
            omitted: 0,
            loops: 0,
            unset: false,
            moved: false,
            arithmetic: false,
            subscript_code: None,
            taint: super::taint::Taint::default(),
            readings: Vec::new(),
            flow: Flow::default(),
            requests: Vec::new(),
            unsure: 0,
            late_functions: BTreeSet::new(),
            aliases_read: BTreeSet::new(),
            bodies: bind::Bodies::default(),
        }
    }

    /// Puts a text in the queue; `false` when a limit is reached.
    pub(crate) fn enqueue(&mut self, task: Task) -> bool {
        let place = task.place.map_or(0, |(start, _)| start);
        self.tasks += 1;
        self.task_bytes = self.task_bytes.saturating_add(task.text.len());
        if task.depth > MAX_NESTING {
            self.problem(place, format!("texts inside texts nest deeper than {MAX_NESTING}"));
            return false;
        }
        if task.place.is_some() && (self.tasks > MAX_TASKS || self.task_bytes > MAX_TASK_BYTES) {
            self.problem(place, "too many texts inside texts");
            return false;
        }
        self.queue.push_back(task);
        true
    }

    pub(crate) fn problem(&mut self, at: u32, message: impl Into<String>) {
        if self.problems.len() < 64 {
            self.problems.push((at, message.into()));
        }
    }

    pub(crate) fn feature(&mut self, feature: Feature) {
        self.features |= feature.bit();
    }

    /// Reads all waiting texts and hands over the answer.
    pub(crate) fn run(mut self, outermost: &str) -> Analysis {
        loop {
            while let Some(task) = self.queue.pop_front() {
                self.task(task);
            }
            if self.bound() {
                continue;
            }
            if !self.resolve() {
                break;
            }
        }
        self.settle();
        self.flow.join_files();
        if self.flow.is_full() {
            self.problem(0, "the command has more data flows than are followed");
        }
        if self.unset {
            for (mut command, deferred) in std::mem::take(&mut self.calls) {
                command.gaps.push(Gap::Shadowed);
                self.commands.push(command);
                self.deferred.push(deferred);
            }
        }
        if let (true, Some(at)) = (self.arithmetic, self.subscript_code) {
            self.problem(at, "a value holds a subscript that runs a command");
        }
        if let Some(at) = std::mem::take(&mut self.taint).problem() {
            self.problem(
                at,
                "what was read or printed is evaluated as arithmetic, and that can run a command",
            );
        }
        for (command, deferred) in self.commands.iter_mut().zip(&self.deferred) {
            let relative = !matches!(&command.dir, Dir::Changed(dir) if dir.starts_with(['/', '~']));
            if self.moved && *deferred && relative {
                command.dir = Dir::Unknown;
            }
            let late = command
                .words
                .first()
                .and_then(Word::known)
                .is_some_and(|name| self.late_functions.contains(name));
            if late && !command.gaps.contains(&Gap::Shadowed) {
                command.gaps.push(Gap::Shadowed);
            }
            command.gaps.sort();
            command.gaps.dedup();
        }
        let problems: Vec<Problem> = self
            .problems
            .into_iter()
            .map(|(at, message)| {
                let before = outermost.get(..at as usize).unwrap_or(outermost);
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                Problem { message, line: narrow(line), column: narrow(column) }
            })
            .collect();
        let complete = problems.is_empty();
        let mut analysis = Analysis { commands: self.commands, complete, problems, features: self.features };
        self.flow.finish(&mut analysis);
        for (index, dir, words) in self.readings {
            let Some(command) = analysis.commands.get(index) else { continue };
            let mut command = Command { alternative: true, ..command.clone() };
            // A deferred command in a text that moves runs anywhere.
            match dir {
                Some(_) if command.dir == Dir::Unknown => continue,
                Some(dir) => command.dir = dir,
                None => command.words = words,
            }
            analysis.commands.push(command);
        }
        analysis
    }

    /// The number of a further pipeline.
    pub(crate) fn next_pipeline(&mut self) -> u32 {
        self.pipelines += 1;
        self.pipelines - 1
    }

    fn task(&mut self, task: Task) {
        let Some(task) = self.read_elsewhere(task) else { return };
        let tree = parse(&task.text);
        let at =
            |offset: usize| task.place.map_or(u32::try_from(offset).unwrap_or(u32::MAX), |(start, _)| start);
        if !task.guess {
            for (offset, message) in &tree.problems {
                let message = if task.place.is_some() {
                    format!("in a text inside: {message}")
                } else {
                    message.clone()
                };
                self.problem(at(*offset), message);
            }
            if let Some((offset, message)) = tree.read_otherwise(task.dialect) {
                self.problem(at(offset), message);
            }
        }
        let mut env = task.env;
        let at = (task.place, task.depth);
        let mut walk = Walk::over(self, &tree, &task.text, at, task.dialect);
        walk.list(&tree.list, &mut env, &task.ctx);
    }
}

/// The walk over one tree.
pub(crate) struct Walk<'w, 'p, 't> {
    pub(crate) w: &'w mut Walker<'p>,
    pub(crate) tree: &'t Tree<'t>,
    pub(crate) source: &'t str,
    pub(crate) place: Option<(u32, u32)>,
    pub(crate) depth: usize,
    pub(crate) dialect: Dialect,
    /// Channels met in the word that is visited.
    pub(crate) met: Vec<u32>,
    /// Channels of words, by their byte range.
    pub(crate) met_words: BTreeMap<(usize, usize), Vec<u32>>,
    /// What process substitutions that are whole words write, by the byte range of the word.
    pub(crate) process_texts: BTreeMap<(usize, usize), Stdin>,
    /// What the command whose words are visited writes into its `>(...)`.
    pub(crate) process_input: Stdin,
}

impl<'w, 'p, 't> Walk<'w, 'p, 't> {
    /// A walk over a tree of this text, at a place of the outermost text and a depth.
    pub(crate) fn over(
        w: &'w mut Walker<'p>,
        tree: &'t Tree<'t>,
        source: &'t str,
        (place, depth): (Option<(u32, u32)>, usize),
        dialect: Dialect,
    ) -> Self {
        Walk {
            w,
            tree,
            source,
            place,
            depth,
            dialect,
            met: Vec::new(),
            met_words: Default::default(),
            process_input: Stdin::Unknown,
            process_texts: Default::default(),
        }
    }
}

impl<'p, 't> Walk<'_, 'p, 't> {
    /// The place in the outermost text of a range of this text.
    pub(crate) fn place_of(&self, range: (usize, usize)) -> (u32, u32) {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.place.unwrap_or((narrow(range.0), narrow(range.1)))
    }

    pub(crate) fn expander<'e>(&self, env: &'e Env, choice: &'e [(String, Val)]) -> Expander<'e>
    where
        'p: 'e,
        't: 'e,
    {
        let expander = Expander::new(env, choice, self.dialect != Dialect::Posix);
        expander.knowing(self.w.programs, self.dialect, &self.tree.heredocs)
    }

    /// zsh does not split the value of a variable.
    pub(crate) fn one_word_in_zsh(&mut self, expander: &Expander<'_>, range: (usize, usize)) {
        if expander.split.get() && !matches!(self.dialect, Dialect::Bash | Dialect::Posix) {
            let at = self.place_of(range).0;
            self.w.problem(at, "an unquoted variable is split into words by one shell and not by another");
        }
    }

    pub(super) fn list(&mut self, list: &'t List<'t>, env: &mut Env, ctx: &Ctx) {
        if list.items.len() > 1 || list.items.iter().any(|item| !item.rest.is_empty()) {
            self.w.feature(Feature::Chain);
        }
        for item in &list.items {
            if item.background {
                self.w.feature(Feature::Background);
                self.and_or(item, &mut env.clone(), ctx);
            } else {
                self.and_or(item, env, ctx);
            }
        }
    }

    fn and_or(&mut self, item: &'t AndOr<'t>, env: &mut Env, ctx: &Ctx) {
        let failed = self.step(&item.first, env, ctx);
        if !item.rest.is_empty() {
            return self.chain(item, failed, env, ctx);
        }
        if let Some(state) = failed
            && (!env.errexit || item.first.negated)
        {
            env.join(&state);
        }
    }

    /// Walks what stands behind `&&` and `||`; `failed` is the state after failure of the first, where it differs.
    fn chain(&mut self, item: &'t AndOr<'t>, first: Option<Box<Env>>, env: &mut Env, ctx: &Ctx) {
        let mut failed = Some(first.unwrap_or_else(|| Box::new(env.clone())));
        for (and, pipeline) in &item.rest {
            self.w.unsure += 1;
            if *and {
                let after = self.step(pipeline, env, ctx);
                match (&mut failed, after) {
                    (Some(state), Some(after)) => state.join(&after),
                    (Some(state), None) => state.join(env),
                    (None, Some(after)) => failed = Some(after),
                    (None, None) => failed = Some(Box::new(env.clone())),
                }
            } else if let Some(mut state) = failed.take() {
                let after = self.step(pipeline, &mut state, ctx);
                if !leaves(pipeline) {
                    env.join(&state);
                    failed = Some(after.unwrap_or(state));
                }
            } else {
                // The left side never fails; the right side is listed all the same.
                self.step(pipeline, &mut env.clone(), ctx);
            }
            self.w.unsure -= 1;
        }
        if let Some(state) = failed
            && *state != *env
        {
            env.join(&state);
        }
    }

    /// Walks one pipeline; `env` becomes the state after success, the answer is the state after failure where it differs.
    fn step(&mut self, pipeline: &'t Pipeline<'t>, env: &mut Env, ctx: &Ctx) -> Option<Box<Env>> {
        env.failed_dir = None;
        match pipeline.stages.as_slice() {
            [node] => self.node(node, env, ctx),
            _ => self.stages(pipeline, env, ctx),
        }
        let dirs = env.failed_dir.take()?;
        let mut failed = Box::new(env.clone());
        (failed.dir, failed.other_dirs) = dirs;
        if pipeline.negated {
            std::mem::swap(&mut failed.dir, &mut env.dir);
            std::mem::swap(&mut failed.other_dirs, &mut env.other_dirs);
        }
        Some(failed)
    }

    fn stages(&mut self, pipeline: &'t Pipeline<'t>, env: &mut Env, ctx: &Ctx) {
        let (number, stages) = (self.w.pipelines, pipeline.stages.len());
        if stages == 0 {
            return;
        }
        self.w.pipelines += 1;
        self.w.feature(Feature::Pipe);
        let mut inner = ctx.clone();
        let mut after = env.clone();
        for (stage, node) in pipeline.stages.iter().enumerate() {
            let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            inner.pipe = Some(PipePlace { pipeline: number, stage: narrow(stage), stages: narrow(stages) });
            after = env.clone();
            if stage > 0 {
                after.input = false;
            }
            inner.to = if stage + 1 < stages { Some(self.w.flow.channel()) } else { ctx.to };
            let output = self.static_output(node, env, &inner.stdin);
            self.node(node, &mut after, &inner);
            (inner.stdin, inner.from) = (output, inner.to);
        }
        // With `lastpipe` the last stage runs in this shell.
        for name in after.changed(env) {
            env.forget(&name);
        }
    }

    fn node(&mut self, node: &'t Node<'t>, env: &mut Env, ctx: &Ctx) {
        match node {
            Node::Simple(simple) => self.simple(simple, env, ctx),
            Node::Compound(compound) => self.compound(compound, env, ctx),
        }
    }

    /// Walks the commands inside the parts of a word.
    pub(crate) fn visit(&mut self, bits: &'t [Bit<'t>], env: &mut Env, ctx: &Ctx) {
        self.visit_in(bits, env, ctx, false);
    }

    /// The same; `evaluated` inside an arithmetic text, which was scanned as a whole.
    fn visit_in(&mut self, bits: &'t [Bit<'t>], env: &mut Env, ctx: &Ctx, evaluated: bool) {
        for bit in bits {
            match bit {
                Bit::Bare(_) | Bit::Opaque => {}
                Bit::Text(text) => {
                    if self.w.subscript_code.is_none() && runs_in_subscript(text) {
                        self.w.subscript_code = Some(self.place.map_or(0, |(start, _)| start));
                    }
                }
                Bit::Param { head, tail, inside, .. } => {
                    self.w.feature(Feature::Variable);
                    let channel = self.variable(head);
                    self.met.extend(channel);
                    self.visit_in(inside, env, ctx, evaluated);
                    self.w.arithmetic |= tail.starts_with(['[', ':']) && !tail.starts_with(":-");
                    self.evaluates_param(head, tail, inside, env);
                    if tail.starts_with(":=") || tail.starts_with('=') {
                        env.forget(head);
                        self.gets(head, inside, env);
                    }
                    if tail.contains("@P") {
                        let at = self.place_of((0, 0)).0;
                        self.w.problem(at, "`@P` runs the commands in a value");
                    }
                }
                Bit::Substitution { list, .. } => self.visit_substitution(list, env, ctx),
                Bit::Process { list } => self.visit_process(list, env, ctx),
                Bit::Backtick { text, start, .. } => self.visit_backtick(text, *start, env, ctx),
                Bit::Arith { text, inside, .. } => {
                    self.w.arithmetic = true;
                    if !evaluated {
                        self.evaluates(std::slice::from_ref(bit), env);
                        self.forget_assigned(text, env);
                    }
                    self.visit_in(inside, env, ctx, true);
                }
                Bit::ExtGlob { inside, .. } => self.visit_in(inside, env, ctx, evaluated),
            }
        }
    }

    /// Forgets the variables that an arithmetic text may assign.
    pub(crate) fn forget_assigned(&mut self, text: &str, env: &mut Env) {
        if !text.contains('=') && !text.contains("++") && !text.contains("--") {
            return;
        }
        let names: Vec<String> =
            env.vars.keys().filter(|name| text.contains(name.as_str())).cloned().collect();
        for name in names {
            env.forget(&name);
        }
    }

    /// The context inside a compound with redirections.
    fn redirected(&mut self, compound: &'t Compound<'t>, env: &mut Env, outer: &Ctx) -> Ctx {
        let nodes = compound.redirects.as_slice();
        let written = &self.compound_output(compound, env, &outer.stdin);
        let mut ctx = outer.clone();
        let met = self.visit_redirects(nodes, env, outer);
        let expander = self.expander(env, &[]);
        let redirects = self.redirects(nodes, &expander);
        ctx.stdin = expander.input_after(nodes, &redirects, &ctx.stdin);
        let at = self.moment(self.place_of(nodes.first().map_or((0, 0), range_of_redirect)).0, ctx.deferred);
        let features = expander.features.get();
        (ctx.from, ctx.to) =
            self.through(&redirects, &met, (ctx.from, ctx.to), &env.dir, at, ctx.deferred, written);
        for redirect in &redirects {
            self.w.features |= features | redirect_features(redirect);
        }
        ctx.redirects.extend(redirects);
        if ctx.redirects.len() > MAX_INHERITED {
            let at = self.place_of((0, 0)).0;
            self.w.problem(at, "too many redirections around a command");
            ctx.redirects.truncate(MAX_INHERITED);
        }
        ctx
    }

    /// Visits the words of redirections; the channels of each.
    pub(crate) fn visit_redirects(
        &mut self,
        nodes: &'t [RedirectNode<'t>],
        env: &mut Env,
        ctx: &Ctx,
    ) -> Vec<Vec<u32>> {
        let mut met = Vec::with_capacity(nodes.len());
        for node in nodes {
            met.push(match &node.target {
                Target::Word(word) => self.visit_word(&word.bits, env, ctx),
                Target::Here(index) => {
                    let tree = self.tree;
                    match tree.heredocs.get(*index) {
                        Some(doc) => self.visit_word(&doc.body.bits, env, ctx),
                        None => Vec::new(),
                    }
                }
            });
        }
        met
    }

    pub(crate) fn redirects(&self, nodes: &'t [RedirectNode<'t>], expander: &Expander<'_>) -> Vec<Redirect> {
        let redirect = |node: &'t RedirectNode<'t>| {
            let unknown = || Redirect {
                fd: node.fd.to_string(),
                op: node.op.to_string(),
                target: Word::Unknown(Vec::new()),
            };
            expander.redirect(node).unwrap_or_else(unknown)
        };
        nodes.iter().map(redirect).collect()
    }
}

/// The context inside a substitution: its output goes elsewhere, its input is the same.
pub(super) fn substituted(ctx: &Ctx) -> Ctx {
    let mut inner = ctx.clone();
    inner.redirects.retain(|redirect| redirect.op.starts_with('<'));
    inner.pipe = None;
    inner
}

/// The byte range of a redirection's target, as far as it has one.
fn range_of_redirect(node: &RedirectNode<'_>) -> (usize, usize) {
    match &node.target {
        Target::Word(word) => word.range,
        Target::Here(_) => (0, 0),
    }
}

/// Standard input behind redirections.
pub(crate) fn stdin_after(redirects: &[Redirect], before: &Stdin, dir: &Dir) -> Stdin {
    let mut stdin = before.clone();
    for redirect in redirects.iter().filter(|r| r.op.starts_with('<') && matches!(r.fd.as_str(), "" | "0")) {
        stdin = match (redirect.op.as_str(), &redirect.target) {
            ("<<<", Word::Known(text)) => Stdin::Text(format!("{text}\n")),
            ("<<" | "<<-", Word::Known(text)) => Stdin::Text(text.clone()),
            ("<<<" | "<<" | "<<-", Word::Unknown(pieces)) => {
                fill(pieces).map_or(Stdin::Unknown, Stdin::Guess)
            }
            ("<", Word::Known(text)) if text == "/dev/null" => Stdin::Text(String::new()),
            ("<", word) => Key::of(word, dir).map_or(Stdin::Unknown, Stdin::File),
            _ => Stdin::Unknown,
        };
    }
    stdin
}

/// A text with its holes filled by a placeholder; `None` when nothing of it is known.
pub(crate) fn fill(pieces: &[Piece]) -> Option<String> {
    let mut out = String::new();
    fill_into(&mut out, pieces).then_some(out)
}

/// The same behind other text; whether anything of it is known.
pub(crate) fn fill_into(out: &mut String, pieces: &[Piece]) -> bool {
    let mut some = false;
    for piece in pieces {
        match piece {
            Piece::Text(text) | Piece::Tilde(text) => {
                some |= !text.trim().is_empty();
                out.push_str(text);
            }
            Piece::Value { name, unset: Some(printed), .. } if name.is_empty() && !printed.is_empty() => {
                some = true;
                out.push_str(printed);
            }
            Piece::Value { name, unset: None, .. } if name == "HOME" => out.push_str("${HOME}"),
            Piece::Folder
            | Piece::Descriptor
            | Piece::Hole { .. }
            | Piece::Value { .. }
            | Piece::Pattern(_)
            | Piece::Name => {
                out.push_str("${_}");
            }
        }
    }
    some
}

/// The features of one redirection.
pub(crate) fn redirect_features(redirect: &Redirect) -> u32 {
    match redirect.op.as_str() {
        "<<" | "<<-" => Feature::HereDocument.bit(),
        "<<<" => Feature::HereString.bit(),
        ">&" | "<&" => match &redirect.target {
            Word::Known(text) if text.chars().all(|c| c.is_ascii_digit() || c == '-') => 0,
            _ => Feature::Redirect.bit() | output_feature(redirect),
        },
        _ if redirect.target.known() == Some("/dev/null") => 0,
        _ => Feature::Redirect.bit() | output_feature(redirect),
    }
}

fn output_feature(redirect: &Redirect) -> u32 {
    let stream = redirect.target.known().is_some_and(|text| ["/dev/stdout", "/dev/stderr"].contains(&text));
    if redirect.op.contains('>') && !stream { Feature::FileOutput.bit() } else { 0 }
}

/// Whether a pipeline leaves the list (`exit`, `return`), so that what follows does not run after it.
fn leaves(pipeline: &Pipeline<'_>) -> bool {
    let [node] = pipeline.stages.as_slice() else { return false };
    match node {
        Node::Simple(simple) => simple.words.first().is_some_and(|word| {
            matches!(word.bits.as_slice(), [Bit::Bare("exit" | "return" | "break" | "continue")])
        }),
        Node::Compound(compound) => match &compound.kind {
            Kind::Group(list) => list.items.last().is_some_and(|item| {
                item.rest.is_empty() && !item.background && !item.first.negated && leaves(&item.first)
            }),
            _ => false,
        },
    }
}

/// Whether a text holds a subscript with a command in it.
pub(crate) fn runs_in_subscript(text: &str) -> bool {
    text.find('[').and_then(|at| text.get(at..)).is_some_and(|rest| rest.contains("$(") || rest.contains('`'))
}
