//! Where a program takes inner commands and texts from.
//!
//! INVARIANT: each entry of the program's data is followed on its own; a text that is not wholly known is a gap of
//! the program that reads it, whatever else is listed.

use super::below::searched;
use super::texts::behind;
use super::words::{complete, fed, search, substitute};
use super::{Call, Finder, value_of};
use crate::shell::code::Language;
use crate::shell::env::{Env, is_risky};
use crate::shell::flow::hole_runs;
use crate::shell::options::{FlagValue, Reading, is_assignment, is_shell_like, read};
use crate::shell::program::{Inner, Program};
use crate::shell::simple::split_words;
use crate::shell::walk::{Stdin, Walk, fill_into};
use crate::shell::{Assignment, Dialect, Gap, MAX_NESTING, Part, Piece, Word};

/// A shell text as far as it is known.
pub(super) enum Text {
    Known(String),
    /// Holes were filled with `${_}`.
    Guess(String),
    Unread,
}

/// How the words of an inner command are completed.
#[derive(Clone)]
pub(super) struct Shape {
    pub(super) placeholders: Vec<String>,
    /// What a placeholder is, by the program's effects (`find DIR -exec rm {}`).
    pub(super) below: Option<Word>,
    /// Where a search starts that leaves nothing out.
    pub(super) root: Option<Word>,
    pub(super) appends: bool,
    /// Its placeholder stands for words of the input.
    pub(super) fills: bool,
}

impl Shape {
    /// That of a command to which nothing is appended.
    pub(super) fn once(&self) -> Shape {
        Shape { appends: false, ..self.clone() }
    }
}

impl Walk<'_, '_, '_> {
    /// Lists everything that one reading of a program runs.
    pub(super) fn inner(&mut self, finder: &mut Finder<'_>, program: &Program, reading: &Reading) {
        let effective = reading.effective(program);
        let call = finder.outer;
        // A shortened flag may be another one, so only a flag in full makes a program run nothing.
        let is = |list: &[String]| reading.flags.iter().any(|used| list.contains(&used.name));
        if is(&program.inert_flags) || is(&effective.inert_flags) {
            return;
        }
        let mut placeholders = effective.placeholders.clone();
        let mut replaced = false;
        for used in reading.flags.iter().filter(|used| used.is(&effective.placeholder_flags)) {
            replaced = true;
            let value = value_of(call, used.value.as_ref());
            placeholders.push(value.as_ref().and_then(Word::known).unwrap_or("{}").to_string());
        }
        let appends = !replaced && effective.inner.contains(&Inner::InputWords);
        let fills = effective.inner.contains(&Inner::InputWords);
        let shape = Shape { placeholders, below: None, root: None, appends, fills };
        let shell = is_shell_like(effective);
        let text_flag = |flags: &[String]| reading.flags.iter().any(|used| used.is(flags));
        let reads_text = effective
            .inner
            .iter()
            .any(|inner| matches!(inner, Inner::FlagText { flags } if text_flag(flags)));
        // With code in an argument or a file, standard input is data.
        let reads_code = reads_text
            || effective.inner.iter().any(|inner| match inner {
                Inner::FlagCode { flags, .. } | Inner::FlagModule { flags } => text_flag(flags),
                Inner::FlagFile { flags, .. } => !shell && text_flag(flags) && instead(effective, flags),
                Inner::OperandCode { index, unless, .. } => {
                    reading.operands.len() > *index as usize && !text_flag(unless)
                }
                Inner::OperandsCode { .. } => !reading.operands.is_empty(),
                _ => false,
            });
        // The words of `env -S TEXT` come before the operands, so the operands alone are no command.
        let splits = effective
            .inner
            .iter()
            .any(|inner| matches!(inner, Inner::FlagWords { flags } if text_flag(flags)));
        for inner in &effective.inner {
            match inner {
                Inner::Operands { .. } if reads_text || splits => {}
                // What stands behind `--` is told exactly.
                Inner::Operands { .. }
                    if reading.dashes.is_some() && effective.inner.contains(&Inner::AfterDashes) => {}
                Inner::Operands { skip } => self.operands(finder, effective, reading, *skip as usize, &shape),
                Inner::OperandsText { skip } => {
                    let Some((mut words, _)) = tail(call, effective, reading, *skip as usize) else {
                        continue;
                    };
                    let end = end_of(&words, effective);
                    match end {
                        // `parallel ::: TEXT TEXT`: each word is a text of its own.
                        Some(0) => {
                            for word in words.get(1..).unwrap_or_default() {
                                self.text(finder, joined(std::slice::from_ref(word), " "), effective, &[]);
                            }
                            continue;
                        }
                        Some(end) if self.each(finder, &words, end, &shape, effective) => continue,
                        Some(end) => words.truncate(end),
                        None if self.each_line(finder, &words, &shape, effective) => continue,
                        None => {}
                    }
                    let mut words = substitute(words, &shape, None);
                    // `parallel rm ::: a b`: without a placeholder each of them is one more word.
                    let replaces = words.iter().any(|word| word.known().is_none());
                    if (end.is_some() || shape.appends) && !replaces {
                        words.push(Word::Unknown(vec![Piece::Hole { quoted: true }]));
                    }
                    let text = joined(&words, " ");
                    self.text(finder, text, effective, &[]);
                }
                Inner::OperandText { index } => {
                    let operand = reading.operands.get(*index as usize).and_then(|at| call.words.get(*at));
                    match operand {
                        Some(word)
                            if word
                                .known()
                                .is_some_and(|t| t == "-" || t.chars().all(|c| c.is_ascii_digit())) => {}
                        Some(word) => {
                            self.text(finder, joined(std::slice::from_ref(word), " "), effective, &[])
                        }
                        None => {}
                    }
                }
                Inner::AfterDashes => {
                    if let Some(words) = reading.dashes.and_then(|at| call.words.get(at + 1..)) {
                        let from = call.words.len() - words.len();
                        self.nested(finder, words.to_vec(), from, &shape);
                    }
                }
                Inner::FlagText { flags } => {
                    for used in reading.flags.iter().filter(|used| used.is(flags)) {
                        if let Some(value) = value_of(call, used.value.as_ref()) {
                            self.text(finder, joined(&[value], " "), effective, &[]);
                        } else if shell && let Some(at) = reading.operands.first() {
                            let word = call.words.get(*at).cloned().unwrap_or(Word::Known(String::new()));
                            let args = call.words.get(at + 1..).unwrap_or_default().to_vec();
                            self.text(finder, joined(&[word], " "), effective, &args);
                            break;
                        }
                    }
                }
                Inner::SettingText { flags, prefixes } => {
                    for used in reading.flags.iter().filter(|used| used.is(flags)) {
                        match value_of(call, used.value.as_ref()) {
                            Some(Word::Known(value)) => {
                                if let Some(text) = prefixes.iter().find_map(|prefix| behind(&value, prefix))
                                {
                                    self.text(finder, Text::Known(text.to_string()), effective, &[]);
                                }
                            }
                            Some(_) => self.gap(finder.index, Gap::UnreadCode),
                            None => {}
                        }
                    }
                }
                Inner::FlagWords { flags } => self.flag_words(finder, program, reading, flags),
                Inner::FlagCommand { flags } => {
                    // `fd -xrm`, `fd --exec=rm`: the first word stands at the flag.
                    for used in reading.flags.iter().filter(|used| used.is(flags)) {
                        let Some(FlagValue::Attached(first)) = &used.value else { continue };
                        let mut words = vec![first.clone()];
                        words.extend(call.words.get(used.at + 1..).unwrap_or_default().iter().cloned());
                        complete(&mut words, finder.name, &shape.placeholders);
                        self.nested(finder, words, used.at, &shape.once());
                    }
                    let start = search(&call.words, finder.name, reading);
                    let below = searched(program, reading, &call.words);
                    let below = below.or_else(|| start.as_ref().map(|(below, _)| below.clone()));
                    let root = start.and_then(|(_, root)| root);
                    for (start, end) in &reading.commands {
                        let mut words = call.words.get(*start..*end).unwrap_or_default().to_vec();
                        complete(&mut words, finder.name, &shape.placeholders);
                        let shape = Shape {
                            appends: false,
                            below: below.clone(),
                            root: root.clone(),
                            ..shape.clone()
                        };
                        self.nested(finder, words, *start, &shape);
                    }
                }
                Inner::Input => self.input(finder, effective, reading, reads_code, None),
                Inner::InputCode { language } => {
                    let language = language.unwrap_or(Language::Other);
                    self.input(finder, effective, reading, reads_code, Some(language));
                }
                Inner::FlagCode { flags, language } => self.flag_code(finder, reading, flags, *language),
                Inner::OperandCode { index, unless, language } => {
                    if !text_flag(unless) {
                        self.operand_code(finder, reading, *index as usize, *language);
                    }
                }
                Inner::OperandFile { index, language, unless } => {
                    let at = reading.operands.get(*index as usize).copied();
                    if let (Some(at), false, false) = (at, reads_text, text_flag(unless))
                        && let Some(word) = call.words.get(at)
                    {
                        let dialect = effective.dialect.unwrap_or(Dialect::Unknown);
                        let args = call.words.get(at..).unwrap_or_default();
                        self.run_file(finder, at, word, args, (dialect, *language));
                    }
                }
                Inner::FlagFile { flags, language } => {
                    for used in reading.flags.iter().filter(|used| used.is(flags)) {
                        let at = match used.value {
                            Some(FlagValue::Next(at)) => at,
                            _ => used.at,
                        };
                        let value = value_of(call, used.value.as_ref());
                        if let (Some(Word::Known(file)), Some(language)) = (&value, language)
                            && matches!(file.as_str(), "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
                        {
                            self.standard_input(finder, effective, Some(*language));
                        } else if let Some(word) = value {
                            let dialect = effective.dialect.unwrap_or(Dialect::Unknown);
                            self.run_file(finder, at, &word, &[], (dialect, *language));
                        }
                    }
                }
                Inner::WordText { prefixes } => self.word_texts(finder, effective, reading, prefixes),
                Inner::FlagModule { flags } => {
                    for used in reading.flags.iter().filter(|used| used.is(flags)) {
                        self.module(finder, reading, used.at, &shape);
                    }
                }
                Inner::OperandsCode { language } => self.operands_code(finder, reading, *language),
                Inner::InputWords => {}
            }
        }
    }

    /// Operands that are a command.
    fn operands(
        &mut self,
        finder: &mut Finder<'_>,
        program: &Program,
        reading: &Reading,
        skip: usize,
        shape: &Shape,
    ) {
        let call = finder.outer;
        let mut risky = false;
        if program.assignments {
            for (word, part) in call.words.iter().zip(&reading.parts) {
                let before = matches!(part, Part::Operand { .. }) && is_assignment(word);
                if let (true, Word::Known(text)) = (before, word)
                    && let Some((name, value)) = text.split_once('=')
                {
                    risky |= is_risky(name);
                    let gaps = finder.inner.gaps.clone();
                    let ctx = self.context(&finder.inner, finder.inner.wrappers.clone(), gaps, false);
                    self.set_value(name, &Word::Known(value.into()), finder.env, (call.range, &ctx));
                    finder
                        .inner
                        .assignments
                        .push(Assignment { name: name.into(), value: Word::Known(value.into()) });
                } else if !matches!(
                    part,
                    Part::Program | Part::Flag { .. } | Part::FlagValue { .. } | Part::Dashes
                ) {
                    if before {
                        let name = assigned_name(word);
                        risky |= is_risky(&name);
                        finder.inner.assignments.push(Assignment {
                            name,
                            value: Word::Unknown(vec![Piece::Hole { quoted: true }]),
                        });
                        continue;
                    }
                    break;
                }
            }
        }
        if risky {
            finder.inner.gaps.push(Gap::Environment);
            self.gap(finder.index, Gap::Environment);
        }
        let Some((mut words, mut from)) = tail(call, program, reading, skip) else { return };
        if words.first().and_then(Word::known) == Some("--") {
            words.remove(0);
            from += 1;
        }
        if let Some(end) = end_of(&words, program) {
            words.truncate(end);
        }
        let certain =
            reading.uncertain.then(|| words.iter().position(|word| word.known().is_some())).flatten();
        self.nested(finder, words.clone(), from, shape);
        if let Some(at @ 1..) = certain {
            // `sudo $X git push`: what is not known may be nothing or flags.
            let gaps = finder.inner.gaps.clone();
            finder.inner.gaps.push(Gap::UncertainWrapper);
            self.nested(finder, words.split_off(at), from + at, shape);
            finder.inner.gaps = gaps;
        } else if reading.uncertain {
            self.gap(finder.index, Gap::UncertainWrapper);
        }
    }

    /// Lists an inner command.
    pub(super) fn nested(&mut self, finder: &Finder<'_>, words: Vec<Word>, from: usize, shape: &Shape) {
        let mut call = finder.inner.clone();
        call.ranges = finder.outer.ranges.get(from..).unwrap_or_default().to_vec();
        call.ranges.truncate(words.len());
        if words.is_empty() {
            return;
        }
        if shape.appends || shape.fills {
            // `xargs` gives its commands an empty input.
            (call.extra, call.from) = (call.from, None);
            let input = std::mem::replace(&mut call.stdin, Stdin::Call);
            if let Some(all) = fed(finder.outer, &input, &words, shape) {
                for words in all {
                    let mut call = call.clone();
                    call.ranges.resize(words.len(), finder.outer.range);
                    call.words = words;
                    self.call(call, finder.env);
                }
                return;
            }
        }
        call.words = substitute(words, shape, shape.below.as_ref());
        call.root = shape.root.clone();
        if shape.appends {
            call.words.push(match &finder.outer.stdin {
                Stdin::Names(pieces) => Word::Unknown(pieces.clone()),
                _ => Word::Unknown(vec![Piece::Hole { quoted: false }]),
            });
            call.ranges.resize(call.words.len(), finder.outer.range);
        }
        // `command` and `builtin` look no function up; the builtin itself is the same.
        self.call(call, finder.env);
    }

    /// Puts an inner text in the queue.
    pub(super) fn text(&mut self, finder: &Finder<'_>, text: Text, program: &Program, args: &[Word]) {
        let (text, guess) = match text {
            Text::Known(text) => (text, false),
            Text::Guess(text) => (text, true),
            Text::Unread => {
                let channels = self.channels(finder.outer);
                self.runs(finder.index, &channels, false);
                return self.gap(finder.index, Gap::UnreadCode);
            }
        };
        if guess {
            // A value among the arguments of a known command is no code.
            let channels = self.channels(finder.outer);
            self.runs(finder.index, &channels, !hole_runs(&text));
        }
        let mut gaps = finder.inner.gaps.clone();
        gaps.retain(|gap| *gap != Gap::Shadowed && *gap != Gap::UnknownProgram);
        if guess {
            gaps.push(Gap::UnreadCode);
            self.gap(finder.index, Gap::UnreadCode);
        }
        let (same_shell, late) = (finder.name == "eval", finder.name == "trap");
        let mut env = match same_shell {
            true => finder.env.clone(),
            false => Env::new(finder.inner.dir.clone()),
        };
        (env.dir, env.other_dirs) = (finder.inner.dir.clone(), finder.inner.other_dirs.clone());
        env.risky = finder.env.risky;
        if late {
            env.functions = finder.env.functions.clone();
        }
        if same_shell {
            for assignment in &finder.inner.assignments {
                env.forget(&assignment.name);
            }
        }
        if !args.is_empty() {
            // A word that may be several moves the others.
            env.args = (!args.iter().any(Word::may_split)).then(|| args.to_vec());
        }
        if same_shell || late {
            self.late_functions(&text);
        }
        let dialect =
            if same_shell || late { self.dialect } else { program.dialect.unwrap_or(Dialect::Unknown) };
        let ctx = self.context(&finder.inner, finder.inner.wrappers.clone(), gaps, late);
        self.enqueue(text, env, ctx, finder.outer, dialect, guess);
    }

    /// Functions that a text of this very shell defines: from now on their names are uncertain.
    fn late_functions(&mut self, text: &str) {
        if !text.contains("()") && !text.contains("function") && !text.contains('(') {
            return;
        }
        for (at, _) in text.match_indices('(') {
            let before = text.get(..at).unwrap_or_default().trim_end();
            let name = before.rsplit([' ', '\t', '\n', ';', '&', '|', '{', '(']).next().unwrap_or_default();
            if !name.is_empty() {
                self.w.late_functions.insert(name.to_string());
            }
        }
        for (at, word) in text.match_indices("function") {
            let after = text.get(at + word.len()..).unwrap_or_default().trim_start();
            self.w.late_functions.extend(
                after.split(|c: char| c.is_whitespace() || "(){;".contains(c)).next().map(str::to_string),
            );
        }
    }

    /// `env -S TEXT WORDS`: read again with the words of the text in its place.
    fn flag_words(
        &mut self,
        finder: &mut Finder<'_>,
        program: &Program,
        reading: &Reading,
        flags: &[String],
    ) {
        let call = finder.outer;
        let Some(used) = reading.flags.iter().find(|used| used.is(flags)) else { return };
        let split = value_of(call, used.value.as_ref()).and_then(|word| word.known().and_then(split_words));
        let Some(split) = split else { return self.gap(finder.index, Gap::UnreadCode) };
        let behind = used.at + if matches!(used.value, Some(FlagValue::Next(_))) { 2 } else { 1 };
        let mut words: Vec<Word> = call.words.get(..1).unwrap_or_default().to_vec();
        words.extend(split);
        words.extend(call.words.get(behind..).unwrap_or_default().iter().cloned());
        let mut outer = call.clone();
        outer.level += 1;
        outer.ranges = vec![call.range; words.len()];
        outer.words = words;
        if outer.level > MAX_NESTING {
            return self
                .w
                .problem(self.place_of(call.range).0, format!("wrappers nest deeper than {MAX_NESTING}"));
        }
        let again = read(Some(program), &outer.words);
        let mut inner = finder.inner.clone();
        inner.level += 1;
        let mut finder =
            Finder { index: finder.index, name: finder.name, env: finder.env, outer: &outer, inner };
        self.inner(&mut finder, program, &again);
    }
}

/// The words from the operand behind the skipped ones to the end.
fn tail(call: &Call, program: &Program, reading: &Reading, skip: usize) -> Option<(Vec<Word>, usize)> {
    let mut at = *reading.operands.get(skip)?;
    if program.late_options && call.words.get(at).and_then(Word::known) == Some("--") {
        at += 1;
    }
    call.words.get(at..).map(|words| (words.to_vec(), at))
}

/// Where one of the program's end words stands.
fn end_of(words: &[Word], program: &Program) -> Option<usize> {
    let ends = |word: &Word| word.known().is_some_and(|text| program.end_words.iter().any(|end| end == text));
    words.iter().position(ends)
}

/// The name before `=` in a word.
fn assigned_name(word: &Word) -> String {
    match word {
        Word::Unknown(pieces) => match pieces.first() {
            Some(Piece::Text(text)) => text.split('=').next().unwrap_or_default().to_string(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// Words joined to a text.
pub(super) fn joined(words: &[Word], separator: &str) -> Text {
    let (mut out, mut guess, mut some) = (String::new(), false, false);
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        match word {
            Word::Known(text) | Word::Tilde(text) => {
                some |= !text.trim().is_empty();
                out.push_str(text);
            }
            Word::OneOf(_) => {
                guess = true;
                out.push_str("${_}");
            }
            Word::Glob(text) => {
                guess = true;
                out.push_str(text);
            }
            Word::Unknown(pieces) => {
                guess = true;
                some |= fill_into(&mut out, pieces);
            }
        }
    }
    match (guess, some) {
        (false, _) => Text::Known(out),
        (true, true) => Text::Guess(out),
        (true, false) => Text::Unread,
    }
}

/// Whether a file that flags name is run instead of an operand: `php -f FILE`, not `node -r FILE`.
fn instead(program: &Program, flags: &[String]) -> bool {
    let mut files = program.inner.iter().filter_map(|inner| match inner {
        Inner::OperandFile { unless, .. } => Some(unless),
        _ => None,
    });
    files.next().is_none_or(|unless| unless.iter().any(|flag| flags.contains(flag)))
}
