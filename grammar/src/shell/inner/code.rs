//! What code of other languages does, as commands of its own.
//!
//! INVARIANT: each thing that a reader found is listed behind the interpreter that does it; a text that is not wholly
//! read is a gap of that interpreter, whatever else is listed.

use super::find::{Text, joined};
use super::{Call, Finder, value_of};
use crate::shell::code::{self, Inside, Language};
use crate::shell::flow::hole_runs;
use crate::shell::options::Reading;
use crate::shell::parse::parse;
use crate::shell::walk::{Stdin, Task, Walk, Walker, redirect_features};
use crate::shell::{Command, Dialect, Feature, Gap, Part, Piece, Redirect, Word};

/// What stands for something that is not known in a text.
const HOLE: &str = "${_}";

impl Walk<'_, '_, '_> {
    /// Code in the values of flags.
    pub(super) fn flag_code(
        &mut self,
        finder: &mut Finder<'_>,
        reading: &Reading,
        flags: &[String],
        language: Language,
    ) {
        let mut texts = Vec::new();
        for used in reading.flags.iter().filter(|used| used.is(flags)) {
            match value_of(finder.outer, used.value.as_ref()) {
                Some(word) => texts.push(word),
                None => self.gap(finder.index, Gap::UnreadCode),
            }
        }
        // Several texts are one program for those that read them so.
        let one = matches!(
            language,
            Language::Sed
                | Language::Awk
                | Language::Perl
                | Language::Ruby
                | Language::AppleScript
                | Language::Tcl
        );
        match one && texts.len() > 1 {
            true => self.code_words(finder, reading, &texts, language),
            false => texts.iter().for_each(|word| {
                self.code_words(finder, reading, std::slice::from_ref(word), language);
            }),
        }
    }

    /// Code in an operand.
    pub(super) fn operand_code(
        &mut self,
        finder: &mut Finder<'_>,
        reading: &Reading,
        index: usize,
        language: Language,
    ) {
        let word = reading.operands.get(index).and_then(|at| finder.outer.words.get(*at)).cloned();
        if let Some(word) = word {
            self.code_words(finder, reading, &[word], language);
        }
    }

    /// Code that all operands are, word by word (`redis-cli SET a b`).
    pub(super) fn operands_code(&mut self, finder: &mut Finder<'_>, reading: &Reading, language: Language) {
        let words = reading.operands.iter().filter_map(|at| finder.outer.words.get(*at));
        let quoted = words.map(|word| match word {
            Word::Known(text) if text.is_empty() || text.contains([' ', '\t', '\n', '"', '\'', '\\']) => {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
                Word::Known(format!("\"{text}\""))
            }
            other => other.clone(),
        });
        let quoted: Vec<Word> = quoted.collect();
        if quoted.is_empty() {
            return;
        }
        match joined(&quoted, " ") {
            Text::Known(text) => self.code_text(finder, text, false, language),
            Text::Guess(text) => self.code_text(finder, text, true, language),
            Text::Unread => self.gap(finder.index, Gap::UnreadCode),
        }
    }

    fn code_words(&mut self, finder: &mut Finder<'_>, reading: &Reading, words: &[Word], language: Language) {
        if words.iter().any(|word| word.known().is_none()) {
            let channels = self.channels(finder.outer);
            self.runs(finder.index, &channels, false);
        }
        if language == Language::Perl && opens_by_name(finder.outer, reading, words) {
            self.gap(finder.index, Gap::UnreadCode);
        }
        match joined(words, "\n") {
            Text::Known(text) => self.code_text(finder, text, false, language),
            Text::Guess(text) => self.code_text(finder, text, true, language),
            Text::Unread => self.gap(finder.index, Gap::UnreadCode),
        }
    }
}

/// Perl opens the files that it is given by a name that may be a command.
fn opens_by_name(call: &Call, reading: &Reading, code: &[Word]) -> bool {
    call.words.iter().zip(&reading.parts).any(|(word, part)| {
        let other = matches!(part, Part::Operand { .. } | Part::Unclear) && !code.contains(word);
        other
            && word.known().is_none_or(|text| text.contains(['|', '<', '>']))
            && !matches!(word, Word::Glob(_))
    })
}

/// The arguments that code gets: its own name and the words behind it.
fn arguments(command: &Command, code: &str) -> Vec<Word> {
    let operands = command.words.iter().zip(&command.parts).filter_map(|(word, part)| match part {
        Part::Operand { .. } | Part::Unclear => Some(word.clone()),
        _ => None,
    });
    let flag = command.parts.iter().zip(&command.words).find_map(|(part, word)| match part {
        Part::FlagValue { flag } if word.known().is_some_and(|text| code.contains(text)) => {
            Some(flag.clone())
        }
        _ => None,
    });
    flag.map(Word::Known).into_iter().chain(operands).take(64).collect()
}

impl Walker<'_> {
    /// Reads code of another language.
    pub(in crate::shell) fn foreign(&mut self, task: &Task, language: Language, index: usize) {
        let args = self.commands.get(index).map(|command| arguments(command, &task.text)).unwrap_or_default();
        let found = code::read(language, &task.text, &args);
        if task.guess || !found.complete {
            self.unread(index);
        }
        if found.inside.is_empty() {
            return;
        }
        let tree = parse("");
        let at = (task.place, task.depth);
        let mut walk = Walk::over(self, &tree, &task.text, at, task.dialect);
        for inside in found.inside {
            walk.done_inside(task, language, index, inside);
        }
    }

    fn unread(&mut self, index: usize) {
        if let Some(command) = self.commands.get_mut(index)
            && !command.gaps.contains(&Gap::PartlyRead)
        {
            command.gaps.push(Gap::PartlyRead);
        }
    }
}

impl Walk<'_, '_, '_> {
    /// Lists one thing that code does.
    fn done_inside(&mut self, task: &Task, language: Language, index: usize, inside: Inside) {
        let ctx = &task.ctx;
        let word = |word: Word| if task.guess { holes(word) } else { word };
        let mut call = Call {
            words: Vec::new(),
            ranges: Vec::new(),
            range: (0, task.text.len()),
            assignments: Vec::new(),
            redirects: Vec::new(),
            wrappers: ctx.wrappers.clone(),
            gaps: ctx.gaps.clone(),
            pipe: ctx.pipe,
            stdin: ctx.stdin.clone(),
            from: ctx.from,
            to: ctx.to,
            extra: None,
            written: Default::default(),
            dir: task.env.dir.clone(),
            other_dirs: task.env.other_dirs.clone(),
            root: None,
            features: 0,
            direct: false,
            deferred: ctx.deferred,
            level: 0,
            windows: false,
        };
        match inside {
            Inside::Argv(words) => {
                call.words = words.into_iter().map(word).collect();
                call.ranges = vec![call.range; call.words.len()];
            }
            Inside::Reads(file) => {
                call.words = vec![Word::Known("cat".into()), word(file)];
                call.ranges = vec![call.range; call.words.len()];
            }
            Inside::Writes(file) => {
                let redirect = Redirect { fd: String::new(), op: ">".into(), target: word(file) };
                call.features = redirect_features(&redirect);
                self.w.features |= call.features;
                call.redirects = vec![redirect];
            }
            Inside::Shell(text) => return self.inner_shell(task, language, index, &text),
            Inside::Evaluates { decoded } => {
                self.w.unread(index);
                self.runs_input(task, index);
                if decoded {
                    self.w.feature(Feature::DecodedCode);
                    if let Some(command) = self.w.commands.get_mut(index) {
                        command.features |= Feature::DecodedCode.bit();
                    }
                }
                return;
            }
        }
        self.call(call, &task.env);
    }

    /// What the code runs may be what its interpreter reads: `curl URL | awk '{ system($0) }'`.
    fn runs_input(&mut self, task: &Task, index: usize) {
        if let Some(from) = task.ctx.from {
            self.runs(index, &[from], false);
        }
    }

    /// A text that code gives to a shell.
    fn inner_shell(&mut self, task: &Task, language: Language, index: usize, text: &Word) {
        let (text, guess) = match joined(std::slice::from_ref(text), " ") {
            Text::Known(text) => (text, task.guess),
            Text::Guess(text) => {
                if hole_runs(&text) {
                    self.runs_input(task, index);
                }
                (text, true)
            }
            Text::Unread => {
                self.runs_input(task, index);
                return self.w.unread(index);
            }
        };
        let mut ctx = task.ctx.clone();
        ctx.redirects.clear();
        if guess {
            ctx.gaps.push(Gap::UnreadCode);
            self.w.unread(index);
        }
        // What awk prints into a command is its input.
        if language == Language::Awk {
            ctx.stdin = Stdin::Unknown;
        }
        let dialect = match language {
            Language::Fish | Language::Csh => Dialect::Bash,
            _ => Dialect::Unknown,
        };
        self.w.feature(Feature::Eval);
        let (env, place, depth) = (task.env.clone(), task.place, task.depth + 1);
        self.w.enqueue(Task { text, env, ctx, place, depth, dialect, guess, code: None });
    }
}

/// A word in which what stood for something unknown is unknown again.
fn holes(word: Word) -> Word {
    let Word::Known(text) = &word else { return word };
    if !text.contains(HOLE) {
        return word;
    }
    let mut pieces = Vec::new();
    for (at, part) in text.split(HOLE).enumerate() {
        if at > 0 {
            pieces.push(Piece::Hole { quoted: true });
        }
        if !part.is_empty() {
            pieces.push(Piece::Text(part.to_string()));
        }
    }
    Word::Unknown(pieces)
}
