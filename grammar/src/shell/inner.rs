//! A command with its words to facts: it is listed, and so is what it runs (wrappers, shells, texts).
//!
//! INVARIANT: a wrapper is listed as itself and as what it runs. Where the place of the inner command is not
//! certain every reading is listed, with a gap; a text that nobody can read is a gap of the program that reads it.

use super::effects::{Touch, peers, touches};
use super::env::{Env, enter_dir};
use super::expand::looked_up;
use super::flow::link::Written;
use super::options::{FlagValue, Reading, read};
use super::program::{Inner, Program};
use super::walk::{Ctx, MAX_COMMANDS, Stdin, Task, Walk};
use super::{Assignment, Command, Dialect, Dir, Feature, Gap, MAX_NESTING, Piece, PipePlace, Redirect, Word};
use std::rc::Rc;

mod below;
mod carried;
mod code;
mod file;
mod find;
mod settings;
mod texts;
pub(crate) mod words;

/// Builtins that a POSIX shell finds before a function of the same name.
const SPECIAL: &[&str] = &[
    "break", ":", "continue", ".", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
    "source", "times", "trap", "unset",
];

/// One command about to be listed.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) words: Vec<Word>,
    /// For each word, its byte range in the text that was parsed.
    pub(crate) ranges: Vec<(usize, usize)>,
    pub(crate) range: (usize, usize),
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) wrappers: Vec<String>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) pipe: Option<PipePlace>,
    pub(crate) stdin: Stdin,
    /// The channel that standard input comes through.
    pub(crate) from: Option<u32>,
    /// The channel that the output goes into.
    pub(crate) to: Option<u32>,
    /// The channel of words that come from the input of a wrapper.
    pub(crate) extra: Option<u32>,
    /// What it writes, when that is static.
    pub(crate) written: Written,
    pub(crate) dir: Dir,
    pub(crate) other_dirs: Vec<Dir>,
    /// Where the search starts that gave it a word.
    pub(crate) root: Option<Word>,
    pub(crate) features: u32,
    /// The shell itself looks the name up, so functions and aliases count.
    pub(crate) direct: bool,
    pub(crate) deferred: bool,
    /// Wrappers around it within one simple command.
    pub(crate) level: usize,
    /// A shell of Windows reads its words.
    pub(crate) windows: bool,
}

impl Walk<'_, '_, '_> {
    pub(crate) fn call(&mut self, mut call: Call, env: &Env) {
        if call.words.is_empty() && call.redirects.is_empty() && call.assignments.is_empty() {
            return;
        }
        let place = self.place_of(call.range);
        if self.w.commands.len() + self.w.omitted >= MAX_COMMANDS {
            return self
                .w
                .problem(place.0, format!("the command stands for more than {MAX_COMMANDS} commands"));
        }
        if call.level > MAX_NESTING {
            return self.w.problem(place.0, format!("wrappers nest deeper than {MAX_NESTING}"));
        }
        if let Some(first) = call.words.first_mut()
            && let Some(name) = looked_up(first).map(str::to_string)
        {
            // `$(which rm)` is that program, whatever the folder.
            *first = Word::Known(name);
            call.gaps.push(Gap::UnknownProgram);
            call.direct = false;
        }
        let full = call.words.first().and_then(Word::known).map(str::to_string);
        if full.is_none() && !call.words.is_empty() {
            call.gaps.push(Gap::UnknownProgram);
        }
        let full = full.unwrap_or_default();
        let name = full.rsplit('/').next().unwrap_or_default().to_string();
        let omitted = call.direct && self.shadowed(&full, &mut call, env);
        if env.functions.contains_key(&full) && call.direct {
            self.link_function(&call, &full);
            self.bind(&call, &full, env);
        }
        let program = if omitted || name.is_empty() { None } else { self.program(&name, &call.words) };
        let program = program.as_deref();
        let reading = read(program, &call.words);
        let dir = program.as_ref().and_then(|program| self.own_dir(&call, &call.dir, program, &reading));
        let own =
            |from: &Dir| program.as_ref().and_then(|program| self.own_dir(&call, from, program, &reading));
        let other_dirs: Vec<Dir> =
            call.other_dirs.iter().map(|from| own(from).unwrap_or_else(|| from.clone())).collect();
        let effective = program.as_ref().map(|program| reading.effective(program));
        if dir.is_some() {
            call.words.iter_mut().for_each(Word::moved);
            call.redirects.iter_mut().for_each(|redirect| redirect.target.moved());
        }
        let command = Command {
            words: call.words.clone(),
            parts: reading.parts.clone(),
            touches: touches(program, &reading, &call.words),
            peers: peers(program, &reading, &call.words),
            network: effective.is_some_and(|program| program.network || program.operands_are_hosts),
            project_code: effective.is_some_and(|program| program.project_code),
            assignments: call.assignments.clone(),
            redirects: call.redirects.clone(),
            wrappers: call.wrappers.clone(),
            pipe: call.pipe,
            dir: dir.clone().unwrap_or_else(|| call.dir.clone()),
            alternative: false,
            gaps: call.gaps.clone(),
            features: call.features,
            sources: Vec::new(),
            code: Vec::new(),
            text: self.text_of(&call),
            start: place.0,
            end: place.1,
            windows: call.windows,
        };
        if omitted {
            if !call.redirects.is_empty() {
                let bare = Command {
                    words: Vec::new(),
                    parts: Vec::new(),
                    touches: Vec::new(),
                    peers: Vec::new(),
                    ..command.clone()
                };
                self.w.commands.push(bare);
                self.w.deferred.push(call.deferred);
            }
            self.w.omitted += 1;
            if call.deferred || self.w.loops > 0 || self.w.unset {
                self.w.calls.push((command, call.deferred));
            }
            return;
        }
        let index = self.w.commands.len();
        self.w.commands.push(command);
        self.w.deferred.push(call.deferred);
        self.readings(index, &other_dirs, call.root.as_ref());
        self.link(index, &call, &name, program, &reading);
        if full.contains('/') || matches!(call.words.first(), Some(Word::Tilde(_))) {
            self.named_file(index, &call, &name, env);
        }
        if matches!(name.as_str(), "source" | ".") && full == name {
            self.sourced(index, &call, &name, env);
        }
        if call.windows || super::carry::is_known(&name) {
            self.carried(&call, &name, index);
        }
        let Some(program) = program else { return };
        self.features_of(index, program, &reading);
        let mut inner = call.clone();
        inner.dir = dir.unwrap_or(inner.dir);
        inner.other_dirs = other_dirs;
        inner.wrappers.push(name.clone());
        inner.direct = false;
        inner.level += 1;
        let mut finder = Finder { index, name: &name, env, outer: &call, inner };
        self.inner(&mut finder, program, &reading);
        if let Some(flag) = &reading.unknown_flag
            && !program.inner.is_empty() | !program.subcommands.is_empty()
        {
            // The flag may take the next word: the second reading.
            let mut other = program.clone();
            other.value_flags.push(flag.clone());
            for sub in &mut other.subcommands {
                sub.program.value_flags.push(flag.clone());
            }
            let second = read(Some(&other), &call.words);
            if second.parts != reading.parts {
                finder.inner.gaps.push(Gap::UncertainWrapper);
                self.inner(&mut finder, &other, &second);
            }
        }
    }

    /// Further readings of a command: in other folders, and with variables that nothing sets where it deletes.
    fn readings(&mut self, index: usize, other_dirs: &[Dir], root: Option<&Word>) {
        let Some(command) = self.w.commands.get(index) else { return };
        let deletes = |(at, word): (usize, &Word)| {
            let touch = command.touches.get(at).copied().unwrap_or_default();
            let listed = matches!(
                command.words.first().and_then(Word::known).and_then(|name| name.rsplit('/').next()),
                Some("rm" | "rmdir" | "unlink" | "shred" | "srm" | "rimraf" | "trash")
            );
            let changed = touch.has(Touch::WRITE);
            if changed && looked_up(word).is_some() {
                return word.when_unset();
            }
            if !touch.has(Touch::DELETE) && (!listed || at == 0) {
                return None;
            }
            // What a search finds first is where it starts.
            let start = root.filter(|_| matches!(word, Word::Glob(glob) if glob.ends_with("/**")));
            start.cloned().or_else(|| unset_reading(word)).or_else(|| home_of_another(word))
        };
        let second: Vec<Option<Word>> = command.words.iter().enumerate().map(deletes).collect();
        let mut readings: Vec<(usize, Option<Dir>, Vec<Word>)> =
            other_dirs.iter().map(|dir| (index, Some(dir.clone()), Vec::new())).collect();
        if second.iter().any(Option::is_some) {
            let words =
                command.words.iter().zip(second).map(|(word, other)| other.unwrap_or_else(|| word.clone()));
            readings.push((index, None, words.collect()));
        }
        if self.w.readings.len() + readings.len() > MAX_COMMANDS {
            return self.w.problem(0, "the command has more readings than are followed");
        }
        self.w.readings.append(&mut readings);
    }

    /// `source FILE`.
    fn sourced(&mut self, index: usize, call: &Call, name: &str, env: &Env) {
        let at = call.words.iter().skip(1).take_while(|word| word.known() == Some("--")).count() + 1;
        let Some(word) = call.words.get(at) else { return };
        let mut inner = call.clone();
        inner.wrappers.push(name.to_string());
        inner.level += 1;
        let finder = Finder { index, name, env, outer: call, inner };
        let args = call.words.get(at..).filter(|args| args.len() > 1).unwrap_or_default();
        self.run_file(&finder, at, word, args, (self.dialect, None));
    }

    /// A file that is run by its own name.
    fn named_file(&mut self, index: usize, call: &Call, name: &str, env: &Env) {
        let mut inner = call.clone();
        inner.wrappers.push(name.to_string());
        inner.level += 1;
        let finder = Finder { index, name: "", env, outer: call, inner };
        if let Some(word) = call.words.first() {
            self.file(&finder, word, &call.words, (Dialect::Unknown, None), file::FileKind::Name);
        }
    }

    fn features_of(&mut self, index: usize, program: &Program, reading: &Reading) {
        let used = |flags: &[String]| reading.flags.iter().any(|flag| flag.is(flags));
        let texts = reading.effective(program).inner.iter().any(|inner| match inner {
            Inner::OperandsText { .. } | Inner::OperandText { .. } | Inner::Input => true,
            Inner::FlagText { flags } => used(flags),
            _ => false,
        });
        if texts {
            self.w.feature(Feature::Eval);
            if let Some(command) = self.w.commands.get_mut(index) {
                command.features |= Feature::Eval.bit();
            }
        }
    }

    fn program(&self, name: &str, words: &[Word]) -> Option<Rc<Program>> {
        self.w.programs.shared(name, words).or_else(|| {
            let lower = name.to_lowercase();
            if lower == name { None } else { self.w.programs.shared(&lower, words) }
        })
    }

    /// Whether the call is one of a function that is certainly defined here; marks the uncertain ones.
    fn shadowed(&mut self, name: &str, call: &mut Call, env: &Env) -> bool {
        if name.is_empty() {
            return false;
        }
        if let Some(function) = env.functions.get(name) {
            if function.certain && !SPECIAL.contains(&name) {
                return true;
            }
            call.gaps.push(Gap::Shadowed);
        }
        for alias in [name, "*"] {
            let Some(text) = env.aliases.get(alias) else { continue };
            call.gaps.push(Gap::Shadowed);
            if let Some(text) = text
                && self.w.aliases_read.insert(alias.to_string())
            {
                let ctx = self.context(call, call.wrappers.clone(), call.gaps.clone(), true);
                self.enqueue(text.clone(), env.clone(), ctx, call, self.dialect, false);
            }
        }
        false
    }

    /// The folder that the program's own flags lead to.
    fn own_dir(&self, call: &Call, from: &Dir, program: &Program, reading: &Reading) -> Option<Dir> {
        let effective = reading.effective(program);
        let selected = reading.selecting().last();
        let mut dir = None;
        for used in &reading.flags {
            // SECURITY: behind its words a subcommand's own `-C` is no folder: `git diff --no-index -C0.5 ../x y`.
            let before = selected.is_none_or(|at| used.at < at);
            if before && used.is(&program.dir_flags) || used.is(&effective.dir_flags) {
                let value = value_of(call, used.value.as_ref())?;
                dir = Some(enter_dir(dir.as_ref().unwrap_or(from), &value));
            }
        }
        dir
    }

    fn text_of(&self, call: &Call) -> String {
        let (start, end) = match (call.level, call.ranges.first(), call.ranges.last()) {
            (0, ..) => call.range,
            (_, Some(first), Some(last)) => (first.0, last.1),
            _ => call.range,
        };
        self.source.get(start..end).unwrap_or_default().trim_end().to_string()
    }

    fn context(&self, call: &Call, wrappers: Vec<String>, gaps: Vec<Gap>, deferred: bool) -> Ctx {
        Ctx {
            redirects: call.redirects.clone(),
            wrappers,
            gaps,
            pipe: call.pipe,
            stdin: call.stdin.clone(),
            from: call.from,
            to: call.to,
            deferred: call.deferred || deferred,
        }
    }

    fn enqueue(&mut self, text: String, env: Env, ctx: Ctx, call: &Call, dialect: Dialect, guess: bool) {
        let (place, depth) = (Some(self.place_of(call.range)), self.depth + 1);
        self.w.enqueue(Task { text, env, ctx, place, depth, dialect, guess, code: None });
    }

    fn gap(&mut self, index: usize, gap: Gap) {
        if let Some(command) = self.w.commands.get_mut(index)
            && !command.gaps.contains(&gap)
        {
            command.gaps.push(gap);
        }
    }
}

/// What is needed to list the commands inside one command.
struct Finder<'f> {
    index: usize,
    name: &'f str,
    env: &'f Env,
    outer: &'f Call,
    inner: Call,
}

/// The reading of a word without its variables, where it begins with one or with a root before one: `$X/bin`, `/$X`, `~/$X`.
fn unset_reading(word: &Word) -> Option<Word> {
    let Word::Unknown(pieces) = word else { return None };
    let value = |piece: Option<&Piece>| matches!(piece, Some(Piece::Value { unset: Some(_), .. }));
    let search =
        |piece: &Piece| matches!(piece, Piece::Value { name, unset: Some(_), .. } if name.is_empty());
    if pieces.iter().any(search) {
        return word.when_unset();
    }
    let begins = match pieces.as_slice() {
        [first, ..] if value(Some(first)) => true,
        [Piece::Text(text), second, ..] => value(Some(second)) && matches!(text.as_str(), "/" | "./" | "../"),
        [Piece::Tilde(_), Piece::Text(text), third, ..] => value(Some(third)) && text == "/",
        _ => false,
    };
    if begins { word.when_unset() } else { None }
}

/// Where the home of another user stands most likely: `~root` is `/root`, `~x` is `/home/x`.
fn home_of_another(word: &Word) -> Option<Word> {
    let (Word::Tilde(text) | Word::Glob(text)) = word else { return None };
    let (user, _) = text.split_once('/').unwrap_or((text, ""));
    let rest = text.get(user.len()..)?;
    let user = user
        .strip_prefix('~')
        .filter(|user| user.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
    let place = if user == "root" { format!("/root{rest}") } else { format!("/home/{user}{rest}") };
    Some(if matches!(word, Word::Glob(_)) { Word::Glob(place) } else { Word::Known(place) })
}

/// The word that is the value of a flag.
fn value_of(call: &Call, value: Option<&FlagValue>) -> Option<Word> {
    match value? {
        FlagValue::Attached(word) => Some(word.clone()),
        FlagValue::Next(at) => call.words.get(*at).cloned(),
    }
}
