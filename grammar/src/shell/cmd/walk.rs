//! Pairs of a cmd text to the list of commands that may run.
//!
//! INVARIANT: every command is listed once, those in `if`, `for` and brackets included; what a word of a loop stands for
//! is one of the words listed, or not known.

use super::words::{Loop, program, slashes, word};
use super::{MAX_DEPTH, Pair, Rule};
use crate::shell::ast::Tree;
use crate::shell::env::{Env, enter_dir};
use crate::shell::inner::Call;
use crate::shell::walk::{MAX_COMMANDS, Stdin, Task, Walk, Walker, redirect_features};
use crate::shell::{Command, Dialect, Dir, Feature, Gap, PipePlace, Redirect, Word};

/// The walk over one text.
struct Reader<'w, 'p, 't> {
    w: &'w mut Walker<'p>,
    source: &'t str,
    task: &'t Task,
    loops: Vec<Loop>,
    dir: Dir,
    risky: bool,
    level: u32,
}

/// What a command gets from the constructs around it.
#[derive(Clone)]
struct Around {
    redirects: Vec<Redirect>,
    pipe: Option<PipePlace>,
    stdin: Stdin,
}

/// Lists everything that a parsed text runs.
pub(super) fn walk(w: &mut Walker<'_>, pairs: pest::iterators::Pairs<'_, Rule>, source: &str, task: &Task) {
    let around =
        Around { redirects: task.ctx.redirects.clone(), pipe: task.ctx.pipe, stdin: task.ctx.stdin.clone() };
    let mut reader = Reader {
        w,
        source,
        task,
        loops: Vec::new(),
        dir: task.env.dir.clone(),
        risky: task.env.risky,
        level: 0,
    };
    for script in pairs {
        for pair in script.into_inner() {
            reader.node(pair, &around);
        }
    }
}

impl Reader<'_, '_, '_> {
    fn node(&mut self, pair: Pair<'_>, around: &Around) {
        if self.level >= MAX_DEPTH {
            return self.problem(format!("the command nests deeper than {MAX_DEPTH} constructs"));
        }
        self.level += 1;
        match pair.as_rule() {
            Rule::list | Rule::andor => {
                let mut count = 0;
                for part in pair.into_inner() {
                    if part.as_rule() != Rule::andor_op {
                        count += 1;
                        self.node(part, around);
                    }
                }
                if count > 1 {
                    self.w.feature(Feature::Chain);
                }
            }
            Rule::pipe => self.pipe(pair, around),
            Rule::group => {
                let mut inner = around.clone();
                let parts: Vec<Pair<'_>> = pair.into_inner().collect();
                for part in parts.iter().filter(|part| part.as_rule() == Rule::redirect) {
                    inner.redirects.extend(self.redirect(part.clone()));
                }
                for part in parts.into_iter().filter(|part| part.as_rule() == Rule::list) {
                    self.node(part, &inner);
                }
            }
            Rule::if_st | Rule::else_part => {
                self.w.feature(Feature::Branch);
                let before = self.dir.clone();
                for part in pair.into_inner() {
                    if !matches!(part.as_rule(), Rule::if_flag | Rule::condition) {
                        self.node(part, around);
                    }
                }
                if self.dir != before {
                    self.dir = Dir::Unknown;
                }
            }
            Rule::for_st => self.repeat(pair, around),
            Rule::simple => self.simple(pair, around),
            _ => {}
        }
        self.level -= 1;
    }

    fn pipe(&mut self, pair: Pair<'_>, around: &Around) {
        let stages: Vec<Pair<'_>> = pair.into_inner().collect();
        let count = u32::try_from(stages.len()).unwrap_or(u32::MAX);
        if count <= 1 {
            for stage in stages {
                self.node(stage, around);
            }
            return;
        }
        self.w.feature(Feature::Pipe);
        let number = self.w.next_pipeline();
        let mut inner = around.clone();
        for (stage, pair) in (0u32..).zip(stages) {
            inner.pipe = Some(PipePlace { pipeline: number, stage, stages: count });
            let echoed = echoed(&pair);
            self.node(pair, &inner);
            inner.stdin = echoed.map_or(Stdin::Unknown, Stdin::Text);
        }
    }

    fn repeat(&mut self, pair: Pair<'_>, around: &Around) {
        self.w.feature(Feature::Loop);
        let (mut flags, mut name, mut set, mut body) = (String::new(), ' ', String::new(), None);
        let mut options = String::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::for_flag => flags.push_str(&part.as_str().to_lowercase()),
                Rule::for_option => options = part.as_str().to_lowercase(),
                Rule::for_var => name = part.as_str().chars().last().unwrap_or(' '),
                Rule::for_set => set = part.as_str().trim().to_string(),
                _ => body = Some(part),
            }
        }
        let mut values = Vec::new();
        if flags.contains("/f") {
            let back = options.contains("usebackq");
            let quote = if back { '`' } else { '\'' };
            if let Some(text) = set.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
                self.nested(text.replace('^', ""), around);
                self.w.feature(Feature::Substitution);
            } else if let (Some(text), false) =
                (set.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')), back)
                && options.trim_matches(['"', ' ']).is_empty()
            {
                // A text of its own, cut at blanks; options may cut it elsewhere.
                values = text.split([' ', '\t']).take(1).map(str::to_string).collect();
            }
        } else if !flags.contains("/l") && !flags.contains("/r") {
            values = set
                .split([' ', '\t', ',', ';', '\n'])
                .filter(|v| !v.is_empty())
                .take(17)
                .map(|v| v.trim_matches('"').to_string())
                .collect();
        }
        if flags.contains("/r") && !options.is_empty() {
            values = vec![format!("{}\\*", options.trim_matches('"'))];
        }
        if let Some(body) = body {
            let moved = self.dir.clone();
            self.loops.push((name, values));
            self.node(body, around);
            self.loops.pop();
            if self.dir != moved {
                self.dir = Dir::Unknown;
            }
        }
    }

    /// A text that another cmd reads.
    fn nested(&mut self, text: String, around: &Around) {
        let mut ctx = self.task.ctx.clone();
        ctx.redirects = around.redirects.clone();
        ctx.stdin = Stdin::Unknown;
        ctx.pipe = None;
        let task = Task {
            text,
            env: Env::new(self.dir.clone()),
            ctx,
            place: Some(self.place((0, 0))),
            depth: self.task.depth + 1,
            dialect: Dialect::Cmd,
            guess: self.task.guess,
            code: None,
        };
        self.w.enqueue(task);
    }

    fn simple(&mut self, pair: Pair<'_>, around: &Around) {
        let range = (pair.as_span().start(), pair.as_span().end());
        let (mut words, mut own) = (Vec::new(), Vec::new());
        let mut titled = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::word => {
                    titled |= words.len() == 1 && part.as_str().starts_with('"');
                    words.push(word(part, &self.loops));
                }
                Rule::redirect => own.extend(self.redirect(part)),
                _ => {}
            }
        }
        let mut gaps = self.task.ctx.gaps.clone();
        if self.risky {
            gaps.push(Gap::Environment);
        }
        let Some(first) = words.first().cloned() else { return };
        let (name, glued, reads_slashes) = match &first {
            Word::Known(text) => program(text.trim_start_matches('@')),
            Word::Tilde(text) | Word::Glob(text) => (text.clone(), String::new(), false),
            _ => (String::new(), String::new(), false),
        };
        if !matches!(first, Word::Unknown(_) | Word::OneOf(_)) {
            // `!` that nothing expanded may still be a variable for another cmd.
            if name.contains(['%', '!']) {
                gaps.push(Gap::UnknownProgram);
            }
            if let Some(slot) = words.first_mut() {
                *slot = Word::Known(name.clone());
            }
        } else {
            gaps.push(Gap::UnknownProgram);
        }
        if !glued.is_empty() {
            words.insert(1, Word::Known(glued));
        }
        let stdin = if own.iter().any(|r| r.op == "<") { Stdin::Unknown } else { around.stdin.clone() };
        let mut redirects = around.redirects.clone();
        let mut features = own.iter().map(redirect_features).fold(0, |all, f| all | f);
        if around.pipe.is_some() {
            features |= Feature::Pipe.bit();
        }
        self.w.features |= features;
        redirects.extend(own);
        match name.as_str() {
            // Labels and what only changes how this text goes on.
            "goto" | "setlocal" | "endlocal" | "exit" | "shift" | "title" | "cls" | "color" | "prompt"
            | "pause" | "break" | "verify"
                if redirects.is_empty() =>
            {
                return;
            }
            "set" => self.set(&words),
            "cd" | "pushd" => self.enter(&words),
            "popd" => self.dir = Dir::Unknown,
            _ => {}
        }
        let call = name == "call";
        if call && words.get(1).and_then(Word::known).is_some_and(|t| t.starts_with(':')) {
            return;
        }
        if call || name == "start" {
            let mut inner: Vec<Word> = words.get(1..).unwrap_or_default().to_vec();
            if name == "start"
                && let Some(crate::shell::carry::Carried::Words(found)) = crate::shell::carry::carried(
                    "start",
                    words.get(usize::from(titled)..).unwrap_or_default(),
                )
            {
                inner = found;
            }
            let mut wrappers = self.task.ctx.wrappers.clone();
            wrappers.push(name.clone());
            self.list(
                words,
                redirects.clone(),
                gaps.clone(),
                around,
                range,
                features,
                self.task.ctx.wrappers.clone(),
            );
            let Some(first) = inner.first().and_then(Word::known).map(str::to_string) else { return };
            let (inner_name, glued, slashed) = program(&first);
            if let Some(slot) = inner.first_mut() {
                *slot = Word::Known(inner_name);
            }
            if !glued.is_empty() {
                inner.insert(1, Word::Known(glued));
            }
            if slashed {
                self.list(inner, redirects, gaps, around, range, features, wrappers);
            } else {
                self.native(inner, redirects, gaps, around, stdin, range, features, wrappers);
            }
            return;
        }
        let wrappers = self.task.ctx.wrappers.clone();
        if reads_slashes {
            self.list(words, redirects, gaps, around, range, features, wrappers);
        } else {
            self.native(words, redirects, gaps, around, stdin, range, features, wrappers);
        }
    }

    fn set(&mut self, words: &[Word]) {
        let name =
            words.get(1).and_then(Word::known).unwrap_or_default().trim_start_matches('"').to_uppercase();
        let name = name.split('=').next().unwrap_or_default();
        self.risky |= words.len() > 1
            && (crate::shell::env::is_risky(name) || matches!(name, "PATH" | "PATHEXT" | "COMSPEC"));
    }

    fn enter(&mut self, words: &[Word]) {
        let target = words.iter().skip(1).find(|word| !word.known().is_some_and(|t| t.starts_with('/')));
        self.w.moved = true;
        if let Some(target) = target {
            let target = match target {
                Word::Known(text) => Word::Known(text.replace('\\', "/")),
                other => other.clone(),
            };
            self.dir = enter_dir(&self.dir, &target);
        }
    }

    fn place(&self, range: (usize, usize)) -> (u32, u32) {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.task.place.unwrap_or((narrow(range.0), narrow(range.1)))
    }

    fn problem(&mut self, message: impl Into<String>) {
        let at = self.task.place.map_or(0, |(start, _)| start);
        self.w.problem(at, message);
    }

    /// A command of cmd's own, or one that reads flags as they do.
    #[expect(clippy::too_many_arguments, reason = "the parts of one command")]
    fn list(
        &mut self,
        words: Vec<Word>,
        redirects: Vec<Redirect>,
        gaps: Vec<Gap>,
        around: &Around,
        range: (usize, usize),
        features: u32,
        wrappers: Vec<String>,
    ) {
        if self.w.commands.len() + self.w.omitted >= MAX_COMMANDS {
            return self.problem(format!("the command stands for more than {MAX_COMMANDS} commands"));
        }
        let (words, parts) = slashes(words);
        let place = self.place(range);
        let name = words.first().and_then(Word::known).unwrap_or_default();
        let program = self.w.programs.program(name);
        self.w.commands.push(Command {
            redirects,
            wrappers,
            pipe: around.pipe,
            gaps,
            features,
            text: self.text(range),
            start: place.0,
            end: place.1,
            ..Command::windows(words, parts, program.as_ref(), self.dir.clone())
        });
        self.w.deferred.push(self.task.ctx.deferred);
    }

    fn text(&self, range: (usize, usize)) -> String {
        self.source
            .get(range.0..range.1)
            .unwrap_or_default()
            .trim_end()
            .replace(super::expand::HOLE, "%?%")
            .replace(super::expand::HOME, "~")
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one command")]
    fn native(
        &mut self,
        words: Vec<Word>,
        redirects: Vec<Redirect>,
        gaps: Vec<Gap>,
        around: &Around,
        stdin: Stdin,
        range: (usize, usize),
        features: u32,
        wrappers: Vec<String>,
    ) {
        let tree = Tree::default();
        let mut env = Env::new(self.dir.clone());
        env.risky = self.risky;
        let source = self.text((0, self.source.len()));
        let mut walk =
            Walk::over(&mut *self.w, &tree, &source, (self.task.place, self.task.depth), Dialect::Unknown);
        let call = Call {
            redirects,
            wrappers,
            gaps,
            pipe: around.pipe,
            stdin,
            features,
            deferred: self.task.ctx.deferred,
            ..Call::windows(words, range, self.dir.clone())
        };
        walk.call(call, &env);
    }

    fn redirect(&mut self, pair: Pair<'_>) -> Option<Redirect> {
        let (mut fd, mut op, mut target) = (String::new(), String::new(), None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::stream => fd = part.as_str().to_string(),
                Rule::redirect_op => op = part.as_str().to_string(),
                Rule::merge => {
                    op.push('&');
                    target = Some(Word::Known(part.as_str().trim_start_matches('&').to_string()));
                }
                Rule::word => {
                    target = Some(match word(part, &self.loops) {
                        Word::Known(text) if text.eq_ignore_ascii_case("nul") => {
                            Word::Known("/dev/null".into())
                        }
                        Word::Known(text) => Word::Known(text.replace('\\', "/")),
                        other => other,
                    });
                }
                _ => {}
            }
        }
        target.map(|target| Redirect { fd, op, target })
    }
}

/// What `echo` writes, when it is known.
fn echoed(stage: &Pair<'_>) -> Option<String> {
    let text = stage.as_str();
    let rest = text.get(..4).filter(|name| name.eq_ignore_ascii_case("echo")).and_then(|_| text.get(5..))?;
    let plain = !rest.contains([super::expand::HOLE, super::expand::HOME, '>', '<', '%', '!']);
    plain.then(|| rest.replace('^', "").trim().to_string() + "\n")
}
