//! Code in files and on standard input: what a command runs that is not among its words.
//!
//! INVARIANT: what is read is a task of its own; what cannot be read is a gap of the command that runs it and a flow to it.

use super::Finder;
use super::find::Text;
use crate::shell::code::Language;
use crate::shell::env::Env;
use crate::shell::flow::files::Key;
use crate::shell::flow::run::Request;
use crate::shell::flow::{Node, hole_runs};
use crate::shell::options::{Reading, skipped};
use crate::shell::program::{Inner, Program};
use crate::shell::walk::{Stdin, Task, Walk};
use crate::shell::{Dialect, Gap, Word};

/// How a file comes to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// A shell gets it as an operand.
    Operand,
    /// The same, and the name is not known.
    Doubtful,
    /// By its own name.
    Name,
    /// A shell gets it on standard input.
    Input,
}

impl Walk<'_, '_, '_> {
    /// A file that a shell reads, or that is run by its own name.
    pub(super) fn file(
        &mut self,
        finder: &Finder<'_>,
        word: &Word,
        args: &[Word],
        reader: (Dialect, Option<Language>),
        kind: FileKind,
    ) {
        let call = finder.outer;
        let Some(key) = Key::of(word, &call.dir) else { return };
        self.file_key(finder, key, args, reader, kind);
    }

    /// A file that a program gets as an operand and runs: `bash x.sh`, `bash <(curl URL)`, `bash "$file"`.
    pub(super) fn run_file(
        &mut self,
        finder: &Finder<'_>,
        at: usize,
        word: &Word,
        args: &[Word],
        reader: (Dialect, Option<Language>),
    ) {
        if matches!(word, Word::Unknown(_) | Word::Glob(_) | Word::OneOf(_)) {
            let call = finder.outer;
            let known = call.ranges.get(at).and_then(|range| self.process_texts.get(range)).cloned();
            if let (Some(Stdin::Text(text)), None) = (known, reader.1) {
                return self.known_file(finder, text, args, reader.0);
            }
            let mut channels: Vec<u32> = call.extra.into_iter().collect();
            let met = call.ranges.get(at).and_then(|range| self.met_words.get(range));
            channels.extend(met.into_iter().flatten());
            self.runs(finder.index, &channels, false);
            self.gap(finder.index, Gap::UnreadCode);
            return self.file(finder, word, args, reader, FileKind::Doubtful);
        }
        let text = word.known().unwrap_or_default();
        if let Some(number) = text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/")) {
            let channel = self.w.flow.named(&format!("&{number}"));
            self.runs(finder.index, &[channel], false);
            self.gap(finder.index, Gap::UnreadCode);
        }
        self.file(finder, word, args, reader, FileKind::Operand);
    }

    /// A file whose text is known: what a process substitution writes.
    fn known_file(&mut self, finder: &Finder<'_>, text: String, args: &[Word], dialect: Dialect) {
        let mut task = self.file_task(finder, args, (dialect, None));
        task.text = text;
        self.w.enqueue(task);
    }

    /// The task for the text of a file, still without it.
    fn file_task(
        &self,
        finder: &Finder<'_>,
        args: &[Word],
        (dialect, language): (Dialect, Option<Language>),
    ) -> Task {
        let call = finder.outer;
        let same_shell = matches!(finder.name, "source" | ".");
        let mut env = if same_shell { finder.env.clone() } else { Env::new(finder.inner.dir.clone()) };
        (env.dir, env.other_dirs) = (finder.inner.dir.clone(), finder.inner.other_dirs.clone());
        env.risky = finder.env.risky;
        env.outermost = false;
        if !args.is_empty() {
            // A word that may be several moves the others.
            env.args = (!args.iter().any(Word::may_split)).then(|| args.to_vec());
        }
        let mut gaps = finder.inner.gaps.clone();
        gaps.retain(|gap| *gap != Gap::Shadowed && *gap != Gap::UnknownProgram);
        let ctx = self.context(&finder.inner, finder.inner.wrappers.clone(), gaps, false);
        let place = self.place_of(call.range);
        Task {
            text: String::new(),
            env,
            ctx,
            place: Some(place),
            depth: self.depth + 1,
            dialect,
            guess: false,
            code: language.map(|language| (language, finder.index)),
        }
    }

    fn file_key(
        &mut self,
        finder: &Finder<'_>,
        key: Key,
        args: &[Word],
        reader: (Dialect, Option<Language>),
        kind: FileKind,
    ) {
        let task = self.file_task(finder, args, reader);
        let place = task.place.unwrap_or_default();
        let call = finder.outer;
        let at = self.moment(place.0, call.deferred);
        let gap = matches!(kind, FileKind::Input | FileKind::Doubtful);
        let named = kind == FileKind::Name;
        let request = Request::new(finder.index, key, at, task, gap, named);
        self.w.request(request, kind != FileKind::Input);
    }

    /// Code on standard input, or in a file that is an operand.
    pub(super) fn input(
        &mut self,
        finder: &mut Finder<'_>,
        program: &Program,
        reading: &Reading,
        reads_text: bool,
        language: Option<Language>,
    ) {
        let call = finder.outer;
        let forced = program.input_always || reading.flags.iter().any(|used| used.is(&program.input_flags));
        // An interpreter that stays open (`python3 -i -c CODE`) reads its input once its code has run.
        if reads_text && !(forced && language.is_some()) {
            return;
        }
        let reader = (program.dialect.unwrap_or(Dialect::Unknown), language);
        let at = reading.operands.get(skipped(program)).copied();
        let first = at.and_then(|at| call.words.get(at));
        let named =
            matches!(first.and_then(Word::known), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"));
        match (first, at) {
            (Some(_), _) if named || forced => {}
            (Some(word), Some(at)) => {
                let told = program.inner.iter().any(|inner| matches!(inner, Inner::OperandFile { .. }));
                if skipped(program) == 0 && !told {
                    let (word, args) = (word.clone(), call.words.get(at..).unwrap_or_default().to_vec());
                    self.run_file(finder, at, &word, &args, reader);
                }
                return;
            }
            // A program whose operands are a command reads code only when told to.
            _ if !program.input_flags.is_empty()
                && !forced
                && program.inner.iter().any(|i| matches!(i, Inner::Operands { .. })) =>
            {
                return;
            }
            _ => {}
        }
        self.standard_input(finder, program, language);
    }

    /// Code that certainly comes on standard input.
    pub(super) fn standard_input(
        &mut self,
        finder: &mut Finder<'_>,
        program: &Program,
        language: Option<Language>,
    ) {
        let call = finder.outer;
        let reader = (program.dialect.unwrap_or(Dialect::Unknown), language);
        let read = match &call.stdin {
            Stdin::Text(_) => language.is_none(),
            Stdin::Guess(text) => language.is_none() && !hole_runs(text),
            _ => false,
        };
        if let (Some(from), Ok(number)) = (call.from, u32::try_from(finder.index)) {
            self.w.flow.runs(number, Node::Channel(from), read);
        }
        let (text, guess) = match call.stdin.clone() {
            Stdin::Call => return,
            Stdin::File(key) => {
                self.gap(finder.index, Gap::UnreadCode);
                finder.inner.stdin = Stdin::Unknown;
                return self.file_key(finder, key, &[], reader, FileKind::Input);
            }
            Stdin::Names(_) | Stdin::Unknown => return self.gap(finder.index, Gap::UnreadCode),
            Stdin::Text(text) => (text, false),
            Stdin::Guess(text) => (text, true),
        };
        finder.inner.stdin = Stdin::Unknown;
        match language {
            Some(_) if text.trim().is_empty() => {}
            Some(language) => self.code_text(finder, text, guess, language),
            None if guess => self.text(finder, Text::Guess(text), program, &[]),
            None => self.text(finder, Text::Known(text), program, &[]),
        }
    }

    /// Puts a text of another language in the queue.
    pub(super) fn code_text(&mut self, finder: &Finder<'_>, text: String, guess: bool, language: Language) {
        let mut env = Env::new(finder.inner.dir.clone());
        env.other_dirs = finder.inner.other_dirs.clone();
        env.risky = finder.env.risky;
        let gaps = finder.inner.gaps.clone();
        let ctx = self.context(&finder.inner, finder.inner.wrappers.clone(), gaps, false);
        let (place, depth) = (Some(self.place_of(finder.outer.range)), self.depth + 1);
        let code = Some((language, finder.index));
        self.w.enqueue(Task { text, env, ctx, place, depth, dialect: self.dialect, guess, code });
    }
}
