//! The option grammar: the words of a command to the role of each.
//!
//! INVARIANT: one part for each word. What cannot be told is [`Part::Unclear`], and `uncertain` says that the
//! place of an inner command has a second reading.

use super::program::{Inner, OptionStyle, Program};
use super::{Part, Piece, Word};

/// Where the value of a flag stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagValue {
    /// In the flag's own word.
    Attached(Word),
    /// The word of this index.
    Next(usize),
}

/// One flag that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagUse {
    /// The flag with its dashes, as written.
    pub name: String,
    /// Index of its word.
    pub at: usize,
    /// Its value, when it takes one.
    pub value: Option<FlagValue>,
}

impl FlagUse {
    /// Whether it is one of these flags, in full or shortened.
    pub(crate) fn is(&self, flags: &[String]) -> bool {
        flags.iter().any(|flag| abbreviates(&self.name, flag))
    }
}

/// The words of one command by their roles.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// One for each word.
    pub parts: Vec<Part>,
    /// Indices of the operands; those that select a subcommand are left out.
    pub operands: Vec<usize>,
    /// Index of the lone `--`.
    pub dashes: Option<usize>,
    /// The flags in order.
    pub flags: Vec<FlagUse>,
    /// Ranges of words that a flag takes as a command (`find -exec`): first and the one behind the last.
    pub commands: Vec<(usize, usize)>,
    /// A flag in no list, after which the next word may or may not be its value.
    pub unknown_flag: Option<String>,
    /// A word that may be several or a flag stands before the last operand that is skipped.
    pub uncertain: bool,
    /// The program's subcommands that were followed, as indices, and the words that selected them.
    path: Vec<usize>,
    selecting: Vec<usize>,
}

impl Reading {
    /// The words that select the subcommand.
    pub fn selecting(&self) -> impl Iterator<Item = usize> + '_ {
        self.selecting.iter().copied()
    }

    /// The program or the subcommand whose grammar counted.
    pub fn effective<'p>(&self, program: &'p Program) -> &'p Program {
        let mut program = program;
        for index in &self.path {
            match program.subcommands.get(*index) {
                Some(sub) => program = &sub.program,
                None => break,
            }
        }
        program
    }
}

/// Reads the words of a command, the program first, by what is known of the program.
pub fn read(program: Option<&Program>, words: &[Word]) -> Reading {
    let nothing = Program::default();
    let mut reading = Reading::default();
    if !words.is_empty() {
        reading.parts.push(Part::Program);
        let mut reader = Reader { words, known: program.is_some(), reading: &mut reading };
        reader.read(program.unwrap_or(&nothing), 1);
    }
    reading
}

struct Reader<'w> {
    words: &'w [Word],
    known: bool,
    reading: &'w mut Reading,
}

impl Reader<'_> {
    fn read(&mut self, program: &Program, from: usize) {
        let mut at = from;
        let (mut stopped, mut dashes, mut unclear) = (program.style == OptionStyle::None, false, false);
        let skip = if program.late_options { skipped(program) } else { 0 };
        if program.bundled {
            at = self.bundle(program, at);
        }
        while let Some(word) = self.words.get(at) {
            let flag = if stopped || dashes { None } else { flag_text(word, program) };
            match flag {
                Some("--") => {
                    self.reading.parts.push(Part::Dashes);
                    self.reading.dashes = Some(at);
                    dashes = true;
                    at += 1;
                }
                Some(text) => {
                    unclear = false;
                    at = self.flag(program, text, at, &mut unclear);
                    continue;
                }
                // `env -` is a flag without a letter.
                None if !stopped && !dashes && program.assignments && word.known() == Some("-") => {
                    self.reading.parts.push(Part::Flag { names: vec!["-".to_string()], value: None });
                    at += 1;
                }
                None if !stopped && !dashes && self.unclear(word) => {
                    self.reading.parts.push(Part::Unclear);
                    self.reading.operands.push(at);
                    self.reading.uncertain = true;
                    at += 1;
                    stopped |= program.style == OptionStyle::First && self.reading.operands.len() > skip;
                }
                None => {
                    if self.reading.operands.is_empty()
                        && let Some((index, count)) = self.subcommand(program, at)
                        && let Some(sub) = program.subcommands.get(index)
                    {
                        for _ in 0..count {
                            self.reading.selecting.push(self.reading.parts.len());
                            self.reading.parts.push(Part::Operand { after_dashes: dashes });
                        }
                        self.reading.path.push(index);
                        self.reading.unknown_flag = None;
                        return self.read(&sub.program, at + count);
                    }
                    let part = match unclear && !dashes {
                        true => Part::Unclear,
                        false => Part::Operand { after_dashes: dashes },
                    };
                    self.reading.parts.push(part);
                    self.reading.operands.push(at);
                    let assignment =
                        program.assignments && self.reading.operands.len() == 1 && is_assignment(word);
                    if assignment {
                        self.reading.operands.pop();
                    }
                    at += 1;
                    stopped |= program.style == OptionStyle::First && self.reading.operands.len() > skip;
                }
            }
            unclear = false;
        }
    }

    /// `tar xzf FILE`: the first word holds flags without a dash, and their values stand behind it in order.
    fn bundle(&mut self, program: &Program, at: usize) -> usize {
        let letters = self.words.get(at).and_then(Word::known);
        let letters = letters.filter(|text| text.bytes().all(|byte| byte.is_ascii_alphabetic()));
        let Some(letters) = letters.filter(|text| !text.is_empty()) else { return at };
        let names: Vec<String> = letters.chars().map(|letter| format!("-{letter}")).collect();
        let mut next = at + 1;
        let mut values = Vec::new();
        for name in &names {
            let value = (takes_value(program, name) && next < self.words.len()).then(|| {
                values.push(name.clone());
                next += 1;
                FlagValue::Next(next - 1)
            });
            self.reading.flags.push(FlagUse { name: name.clone(), at, value });
        }
        self.reading.parts.push(Part::Flag { names, value: None });
        for flag in values {
            let word = self.words.get(self.reading.parts.len());
            self.reading.uncertain |= word.is_some_and(Word::may_split);
            self.reading.parts.push(Part::FlagValue { flag });
        }
        next
    }

    /// Whether a word that is not a certain flag may still be one, or several words.
    fn unclear(&self, word: &Word) -> bool {
        match word {
            Word::Known(_) | Word::Tilde(_) | Word::Glob(_) => false,
            Word::OneOf(texts) => texts.iter().any(|text| text.starts_with('-')),
            Word::Unknown(pieces) => {
                let text = matches!(pieces.first(), Some(Piece::Text(t)) if !t.starts_with('-'))
                    || matches!(
                        pieces.first(),
                        Some(Piece::Tilde(_) | Piece::Name | Piece::Folder | Piece::Descriptor)
                    );
                !text || word.may_split()
            }
        }
    }

    /// Reads one flag word and the value behind it; the index of the next word.
    fn flag(&mut self, program: &Program, text: &str, at: usize, unclear: &mut bool) -> usize {
        let word = self.words.get(at);
        let tail = |name: &str| word.map(|word| cut(word, name));
        if starts_command(program, text) {
            return self.command_flag(text, at, starts_module(program, text));
        }
        // `fd -Hx CMD`: the last of a cluster.
        if program.style != OptionStyle::SingleDash
            && !text.starts_with("--")
            && let Some(letter) = text.chars().last()
            && starts_command(program, &format!("-{letter}"))
            && !text.chars().skip(1).any(|c| takes_value(program, &format!("-{c}")))
        {
            let name = format!("-{letter}");
            return self.command_flag(&name, at, starts_module(program, &name));
        }
        let long =
            text.starts_with("--") || program.style == OptionStyle::SingleDash || is_named(program, text);
        let (mut names, mut value, mut next) = (Vec::new(), None, None);
        if long {
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            names.push(name.to_string());
            if name.len() < text.len() {
                value = tail(&format!("{name}="));
            } else if takes_value(program, name) {
                next = Some(name.to_string());
            } else if !self.is_known(program, name) {
                *unclear = true;
                self.reading.unknown_flag = Some(name.to_string());
            }
        } else {
            let sign = text.get(..1).unwrap_or("-");
            let letters = text.get(1..).unwrap_or_default();
            let shell = is_shell(program);
            // A number is one flag (`head -20`) unless the digits are flags of their own (`perl -0777ne`).
            let number = letters.chars().next().filter(char::is_ascii_digit);
            if number.is_some_and(|digit| !program.flags.contains(&format!("{sign}{digit}"))) {
                names.push(text.to_string());
            } else {
                for (offset, letter) in letters.char_indices() {
                    let name = format!("{sign}{letter}");
                    let rest = letters.get(offset + letter.len_utf8()..).unwrap_or_default();
                    names.push(name.clone());
                    let attached = program.attached_flags.contains(&name);
                    if starts_command(program, &name) {
                        value = tail(text.get(..1 + offset + letter.len_utf8()).unwrap_or(text));
                        break;
                    }
                    if takes_value(program, &name) || attached {
                        if shell || rest.is_empty() {
                            next = if attached { next } else { Some(name.clone()) };
                        } else {
                            value = tail(text.get(..1 + offset + letter.len_utf8()).unwrap_or(text));
                            break;
                        }
                    } else if !self.is_known(program, &name) {
                        *unclear = true;
                        self.reading.unknown_flag = Some(name);
                        if !self.known {
                            continue;
                        }
                    }
                }
            }
        }
        for name in &names {
            let attached =
                if Some(name) == names.last() { value.clone().map(FlagValue::Attached) } else { None };
            let behind =
                (next.as_ref() == Some(name) && at + 1 < self.words.len()).then_some(FlagValue::Next(at + 1));
            self.reading.flags.push(FlagUse { name: name.clone(), at, value: attached.or(behind) });
        }
        self.reading.parts.push(Part::Flag { names, value });
        let Some(flag) = next else { return at + 1 };
        let count = if program.pair_flags.contains(&flag) { 2 } else { 1 };
        for behind in (at + 1..=at + count).filter(|behind| *behind < self.words.len()) {
            *unclear = false;
            self.reading.parts.push(Part::FlagValue { flag: flag.clone() });
            self.reading.uncertain |= self.words.get(behind).is_some_and(Word::may_split);
            if behind > at + 1 {
                let value = Some(FlagValue::Next(behind));
                self.reading.flags.push(FlagUse { name: flag.clone(), at, value });
            }
        }
        (at + 1 + count).min(self.words.len())
    }

    /// `find -exec CMD ... ;`; what a module is given goes to the end.
    fn command_flag(&mut self, text: &str, at: usize, to_end: bool) -> usize {
        self.reading.parts.push(Part::Flag { names: vec![text.to_string()], value: None });
        self.reading.flags.push(FlagUse { name: text.to_string(), at, value: None });
        let mut end = at + 1;
        while let Some(word) = self.words.get(end) {
            self.reading.parts.push(Part::FlagValue { flag: text.to_string() });
            if !to_end && matches!(word.known(), Some(";" | "+")) {
                self.reading.commands.push((at + 1, end));
                return end + 1;
            }
            end += 1;
        }
        self.reading.commands.push((at + 1, end));
        end
    }

    /// The subcommand that begins at a word: its index and how many words select it.
    fn subcommand(&self, program: &Program, at: usize) -> Option<(usize, usize)> {
        let mut best: Option<(usize, usize)> = None;
        for (index, sub) in program.subcommands.iter().enumerate() {
            let count = sub.words.len();
            let Some(here) = self.words.get(at..at + count) else { continue };
            let same = here.iter().zip(&sub.words).all(|(word, wanted)| {
                word.known().is_some_and(|text| {
                    text == wanted
                        || program
                            .same_words
                            .iter()
                            .any(|g| g.iter().any(|w| w == text) && g.contains(wanted))
                })
            });
            if same && count > 0 && best.is_none_or(|(_, most)| count > most) {
                best = Some((index, count));
            }
        }
        best
    }

    fn is_known(&self, program: &Program, name: &str) -> bool {
        if !self.known {
            return false;
        }
        let lists = [&program.flags, &program.attached_flags, &program.inert_flags, &program.input_flags];
        let inner = program.inner.iter().any(|inner| match inner {
            Inner::FlagText { flags }
            | Inner::FlagWords { flags }
            | Inner::FlagCommand { flags }
            | Inner::FlagModule { flags } => flags.iter().any(|f| f == name),
            _ => false,
        });
        program.flags.is_empty()
            || inner
            || lists.iter().any(|list| list.iter().any(|flag| abbreviates(name, flag)))
    }
}

/// Whether the words behind a flag are a command.
fn starts_command(program: &Program, name: &str) -> bool {
    let same = |flag: &String| match program.style {
        OptionStyle::SingleDash => flag == name,
        _ => abbreviates(name, flag),
    };
    let starts = |inner: &Inner| matches!(inner, Inner::FlagCommand { flags } | Inner::FlagModule { flags } if flags.iter().any(same));
    program.inner.iter().any(starts)
}

/// Whether they are one only when their program is known.
fn starts_module(program: &Program, name: &str) -> bool {
    let named = |flags: &[String]| flags.iter().any(|flag| flag == name);
    program.inner.iter().any(|inner| matches!(inner, Inner::FlagModule { flags } if named(flags)))
}

/// The text of a word when it is a certain flag of this style.
fn flag_text<'w>(word: &'w Word, program: &Program) -> Option<&'w str> {
    let text = match word {
        Word::Known(text) => text.as_str(),
        Word::Unknown(pieces) => match pieces.first() {
            // `--name=$X` is a flag with an unknown value; `-o$X` may be a cluster or a value.
            Some(Piece::Text(text)) if text.starts_with("--") && text.contains('=') && !word.may_split() => {
                text.as_str()
            }
            _ => return None,
        },
        _ => return None,
    };
    let sign = text.starts_with('-') || text.starts_with('+') && is_shell(program);
    (sign && text.len() > 1).then_some(text)
}

/// A shell: `-c` takes no value itself, `+x` is a flag, and a cluster does not hold a value.
fn is_shell(program: &Program) -> bool {
    program.inner.iter().any(|inner| matches!(inner, Inner::FlagText { flags } if flags.iter().any(|f| !program.value_flags.contains(f))))
        && program.style == OptionStyle::First
}

/// The flags of a shell-like program that announce a text.
pub(crate) fn is_shell_like(program: &Program) -> bool {
    is_shell(program)
}

/// Operands that stand before the inner command.
pub(crate) fn skipped(program: &Program) -> usize {
    let skips = program.inner.iter().filter_map(|inner| match inner {
        Inner::Operands { skip } | Inner::OperandsText { skip } => Some(*skip as usize),
        _ => None,
    });
    skips.max().unwrap_or(0)
}

/// A flag of several letters behind one dash that the data names (`zip -TT`).
fn is_named(program: &Program, text: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let lists = [&program.value_flags, &program.pair_flags, &program.attached_flags, &program.flags];
    name.len() > 2 && lists.iter().any(|list| list.iter().any(|flag| flag == name))
}

fn takes_value(program: &Program, name: &str) -> bool {
    let lists = [&program.value_flags, &program.placeholder_flags, &program.dir_flags, &program.pair_flags];
    let known = |list: &[&Vec<String>; 4]| list.iter().any(|l| l.iter().any(|f| f == name));
    if known(&lists) {
        return true;
    }
    let exact = [&program.flags, &program.attached_flags, &program.inert_flags]
        .iter()
        .any(|l| l.iter().any(|f| f == name));
    !exact
        && program.style != OptionStyle::SingleDash
        && lists.iter().any(|l| l.iter().any(|flag| abbreviates(name, flag)))
}

/// Whether a long flag is written in full or shortened.
fn abbreviates(name: &str, flag: &str) -> bool {
    name == flag || name.len() > 2 && name.starts_with("--") && flag.starts_with(name)
}

/// The rest of a flag word behind its name.
fn cut(word: &Word, name: &str) -> Word {
    match word {
        Word::Unknown(pieces) => {
            let mut pieces = pieces.clone();
            if let Some(Piece::Text(first)) = pieces.first_mut() {
                *first = first.strip_prefix(name).unwrap_or_default().to_string();
                if first.is_empty() {
                    pieces.remove(0);
                }
            }
            Word::Unknown(pieces)
        }
        other => Word::Known(
            other.known().and_then(|text| text.strip_prefix(name)).unwrap_or_default().to_string(),
        ),
    }
}

/// Whether a word is `NAME=VALUE`.
pub(crate) fn is_assignment(word: &Word) -> bool {
    let text = match word {
        Word::Known(text) => text.as_str(),
        Word::Unknown(pieces) => match pieces.first() {
            Some(Piece::Text(text)) => text.as_str(),
            _ => return false,
        },
        _ => return false,
    };
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether a text is a variable name.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
