//! What a command does with each word that names a file, by its program's data.
//!
//! INVARIANT: what the data does not say is [`Touch::UNSURE`]; only a program whose effects are told has words that are
//! mere data.

use super::options::{FlagUse, FlagValue, Reading};
use super::program::{Inner, Program};
use super::{Part, Piece, Word};

/// What is done with a file, a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Touch(u16);

impl Touch {
    /// It is no file, as far as the program is concerned.
    pub const DATA: Touch = Touch(1);
    /// Only its name is listed or tested.
    pub const NAME: Touch = Touch(1 << 1);
    /// Its content is read.
    pub const READ: Touch = Touch(1 << 2);
    /// It is written, created, changed or linked to.
    pub const WRITE: Touch = Touch(1 << 3);
    /// It is deleted or moved away.
    pub const DELETE: Touch = Touch(1 << 4);
    /// It is run.
    pub const RUN: Touch = Touch(1 << 5);
    /// Its content is sent.
    pub const SEND: Touch = Touch(1 << 6);
    /// So is everything below it.
    pub const TREE: Touch = Touch(1 << 7);
    /// More may be done with it than is told.
    pub const UNSURE: Touch = Touch(1 << 8);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Touch) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: Touch) -> Touch {
        Touch(self.0 | other.0)
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }
}

/// A verb of a `program` block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// `reads`.
    Reads,
    /// `writes`.
    Writes,
    /// `deletes`: deletes or moves away.
    Deletes,
    /// `changes`: mode, owner, times, attributes.
    Changes,
    /// `links`: makes another name of it.
    Links,
    /// `sends`: reads it and sends it away.
    Sends,
    /// `executes`.
    Executes,
}

impl Verb {
    /// The verbs in the order of their numbers in a table.
    pub const ALL: [(Verb, &'static str, Touch); 7] = [
        (Verb::Reads, "reads", Touch::READ),
        (Verb::Writes, "writes", Touch::WRITE),
        (Verb::Deletes, "deletes", Touch::DELETE),
        (Verb::Changes, "changes", Touch::WRITE),
        (Verb::Links, "links", Touch::WRITE),
        (Verb::Sends, "sends", Touch::READ.and(Touch::SEND)),
        (Verb::Executes, "executes", Touch::READ.and(Touch::RUN)),
    ];

    /// The verb with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Verb> {
        Self::ALL.iter().find(|(_, own, _)| *own == name).map(|(verb, ..)| *verb)
    }

    fn touch(self) -> Touch {
        Self::ALL.iter().find(|(verb, ..)| *verb == self).map_or(Touch::UNSURE, |(_, _, touch)| *touch)
    }
}

/// Which words an effect is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The operands after the first `skip`.
    Operands {
        /// Operands before them.
        skip: u32,
    },
    /// The operand of this number.
    Operand {
        /// Its number, from 0.
        index: u32,
    },
    /// The last operand.
    Last,
    /// All operands but the last.
    ButLast,
    /// The values of these flags.
    Flags(Vec<String>),
    /// Words that begin so.
    Beginnings(Vec<String>),
}

/// One effect of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What it does.
    pub verb: Verb,
    /// With which words.
    pub place: Place,
    /// Only with one of these flags, when there are any.
    pub with: Vec<String>,
    /// Not with one of these.
    pub unless: Vec<String>,
}

/// What the command does with each of its words.
pub(crate) fn touches(program: Option<&Program>, reading: &Reading, words: &[Word]) -> Vec<Touch> {
    let Some(program) = program.map(|program| reading.effective(program)) else {
        return vec![Touch::UNSURE; words.len()];
    };
    if program.names_only {
        return vec![Touch::NAME; words.len()];
    }
    if program.effects.is_empty() {
        let mut touches = vec![Touch::UNSURE; words.len()];
        handed_on(program, reading, &mut touches);
        return touches;
    }
    let used = |flags: &[String]| reading.flags.iter().any(|flag| flag.is(flags));
    let shaky = reading.uncertain || reading.parts.contains(&Part::Unclear);
    let mut touches: Vec<Touch> = reading.parts.iter().map(|part| start(program, part, shaky)).collect();
    touches.resize(words.len(), Touch::UNSURE);
    for effect in &program.effects {
        let holds = (effect.with.is_empty() || used(&effect.with)) && !used(&effect.unless);
        if holds {
            apply(effect, reading, words, &mut touches);
        }
    }
    if program.trees.as_ref().is_some_and(|flags| flags.is_empty() || used(flags)) {
        for touch in &mut touches {
            *touch = touch.and(Touch::TREE);
        }
    }
    handed_on(program, reading, &mut touches);
    touches
}

/// The words of an inner command and the texts that a shell reads are no files of their own: what is listed for them tells.
fn handed_on(program: &Program, reading: &Reading, touches: &mut [Touch]) {
    if reading.uncertain || reading.unknown_flag.is_some() {
        return;
    }
    let inert = |flags: &[String]| reading.flags.iter().any(|used| flags.contains(&used.name));
    if inert(&program.inert_flags) {
        return;
    }
    let mut data = |at: usize| {
        if let Some(touch) = touches.get_mut(at) {
            *touch = Touch::DATA;
        }
    };
    let operands = &reading.operands;
    for inner in &program.inner {
        match inner {
            Inner::Operands { skip } | Inner::OperandsText { skip } => {
                // Behind the first of them everything belongs to the inner command.
                if let Some(first) = operands.get(*skip as usize) {
                    (*first..reading.parts.len()).for_each(&mut data);
                }
            }
            Inner::AfterDashes => {
                if let Some(dashes) = reading.dashes {
                    (dashes..reading.parts.len()).for_each(&mut data);
                }
            }
            Inner::OperandText { index } | Inner::OperandCode { index, .. } => {
                operands.get(*index as usize).into_iter().for_each(|at| data(*at));
            }
            Inner::FlagText { flags } | Inner::FlagCode { flags, .. } => {
                for used in reading.flags.iter().filter(|used| used.is(flags)) {
                    match used.value {
                        Some(FlagValue::Next(at)) => data(at),
                        Some(FlagValue::Attached(_)) => data(used.at),
                        // `sh -c TEXT`: the first operand.
                        None => operands.first().into_iter().for_each(|at| data(*at)),
                    }
                }
            }
            Inner::FlagCommand { .. } => {
                for (start, end) in &reading.commands {
                    (*start..*end).for_each(&mut data);
                }
            }
            Inner::SettingText { .. }
            | Inner::FlagWords { .. }
            | Inner::Input
            | Inner::InputCode { .. }
            | Inner::OperandFile { .. }
            | Inner::FlagFile { .. }
            | Inner::InputWords => {}
        }
    }
}

/// What a word is before any effect: data, where the program's data knows its flag.
fn start(program: &Program, part: &Part, shaky: bool) -> Touch {
    let told = |flag: &String| {
        [&program.value_flags, &program.attached_flags, &program.flags].iter().any(|list| list.contains(flag))
    };
    match part {
        _ if shaky => Touch::UNSURE,
        Part::Program | Part::Dashes | Part::Operand { .. } => Touch::DATA,
        Part::Flag { names, value } if value.is_none() || names.last().is_some_and(told) => Touch::DATA,
        Part::FlagValue { flag } if told(flag) => Touch::DATA,
        Part::Flag { .. } | Part::FlagValue { .. } | Part::Unclear => Touch::UNSURE,
    }
}

fn apply(effect: &Effect, reading: &Reading, words: &[Word], touches: &mut [Touch]) {
    let touch = effect.verb.touch();
    let mut add = |at: usize| {
        if let Some(old) = touches.get_mut(at) {
            let plain = *old == Touch::DATA;
            *old = if plain { touch } else { old.and(touch) };
        }
    };
    let operands = &reading.operands;
    match &effect.place {
        Place::Operands { skip } => operands.iter().skip(*skip as usize).for_each(|at| add(*at)),
        Place::Operand { index } => operands.get(*index as usize).into_iter().for_each(|at| add(*at)),
        Place::Last => operands.last().into_iter().for_each(|at| add(*at)),
        Place::ButLast => {
            let all = operands.split_last().map(|(_, rest)| rest).unwrap_or_default();
            all.iter().for_each(|at| add(*at));
        }
        Place::Flags(flags) => {
            for used in reading.flags.iter().filter(|used: &&FlagUse| used.is(flags)) {
                match used.value {
                    Some(FlagValue::Next(at)) => add(at),
                    Some(FlagValue::Attached(_)) => add(used.at),
                    None => {}
                }
            }
        }
        Place::Beginnings(texts) => {
            for (at, word) in words.iter().enumerate().skip(1) {
                if beginning(word).is_none_or(|own| texts.iter().any(|text| own.starts_with(text.as_str()))) {
                    add(at);
                }
            }
        }
    }
}

/// What a word begins with, when that is known.
fn beginning(word: &Word) -> Option<&str> {
    match word {
        Word::Known(text) | Word::Tilde(text) | Word::Glob(text) => Some(text),
        Word::Unknown(pieces) => match pieces.first() {
            Some(Piece::Text(text) | Piece::Tilde(text)) => Some(text),
            _ => None,
        },
        Word::OneOf(_) => None,
    }
}
