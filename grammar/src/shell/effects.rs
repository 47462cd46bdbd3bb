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
    /// Anything may be done with it.
    pub const UNSURE: Touch = Touch(1 << 8);
    /// It may be read, written, deleted, run or sent, and nothing else: the bits of what is done, further up.
    const MAY: u16 = 7;
    /// It is code of another language, and what that does is listed on its own.
    pub const CODE: Touch = Touch(1 << 14);

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

    /// What is done as what may be done.
    const fn possibly(self) -> Touch {
        let done = Self::READ.0 | Self::WRITE.0 | Self::DELETE.0 | Self::RUN.0 | Self::SEND.0;
        Touch((self.0 & done) << Self::MAY)
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
        for at in reading.selecting() {
            if let Some(touch) = touches.get_mut(at) {
                *touch = Touch::DATA;
            }
        }
        handed_on(program, reading, &mut touches);
        if !reading.uncertain && !reading.parts.contains(&Part::Unclear) {
            run_files(program, reading, words, &mut touches);
        }
        return touches;
    }
    let used = |flags: &[String]| reading.flags.iter().any(|flag| flag.is(flags));
    let shaky = reading.uncertain || reading.parts.contains(&Part::Unclear);
    let mut touches: Vec<Touch> = reading.parts.iter().map(|part| start(program, part, shaky)).collect();
    touches.resize(words.len(), Touch::UNSURE);
    let operands = files(program, reading);
    for effect in &program.effects {
        let holds = (effect.with.is_empty() || used(&effect.with)) && !used(&effect.unless);
        if holds {
            apply(effect.verb.touch(), &effect.place, reading, &operands, words, &mut touches);
        }
    }
    run_files(program, reading, words, &mut touches);
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
    let mut set = |at: usize, to: Touch| {
        if let Some(touch) = touches.get_mut(at) {
            *touch = to;
        }
    };
    let operands = &reading.operands;
    for inner in &program.inner {
        match inner {
            Inner::Operands { skip } | Inner::OperandsText { skip } => {
                // Behind the first of them everything belongs to the inner command.
                if let Some(first) = operands.get(*skip as usize) {
                    (*first..reading.parts.len()).for_each(|at| set(at, Touch::DATA));
                }
            }
            Inner::AfterDashes => {
                if let Some(dashes) = reading.dashes {
                    (dashes..reading.parts.len()).for_each(|at| set(at, Touch::DATA));
                }
            }
            Inner::OperandText { index } => {
                operands.get(*index as usize).into_iter().for_each(|at| set(*at, Touch::DATA));
            }
            Inner::OperandCode { index, unless, .. } if !reading.flags.iter().any(|f| f.is(unless)) => {
                operands
                    .get(*index as usize)
                    .into_iter()
                    .for_each(|at| set(*at, Touch::DATA.and(Touch::CODE)));
            }
            Inner::OperandsCode { .. } => {
                operands.iter().for_each(|at| set(*at, Touch::DATA.and(Touch::CODE)))
            }
            Inner::FlagCode { flags, .. } => {
                for used in reading.flags.iter().filter(|used| used.is(flags)) {
                    match used.value {
                        Some(FlagValue::Next(at)) => set(at, Touch::DATA.and(Touch::CODE)),
                        Some(FlagValue::Attached(_)) => set(used.at, Touch::DATA.and(Touch::CODE)),
                        None => {}
                    }
                }
            }
            Inner::FlagText { flags } => {
                for used in reading.flags.iter().filter(|used| used.is(flags)) {
                    match used.value {
                        Some(FlagValue::Next(at)) => set(at, Touch::DATA),
                        Some(FlagValue::Attached(_)) => set(used.at, Touch::DATA),
                        // `sh -c TEXT`: the first operand.
                        None => operands.first().into_iter().for_each(|at| set(*at, Touch::DATA)),
                    }
                }
            }
            Inner::FlagCommand { .. } => {
                for (start, end) in &reading.commands {
                    (*start..*end).for_each(|at| set(at, Touch::DATA));
                }
            }
            Inner::OperandCode { .. }
            | Inner::SettingText { .. }
            | Inner::WordText { .. }
            | Inner::FlagModule { .. }
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
        let lists = [
            &program.value_flags,
            &program.pair_flags,
            &program.attached_flags,
            &program.flags,
            &program.dir_flags,
        ];
        lists.iter().any(|list| list.contains(flag))
    };
    match part {
        // A word that is not known may be a flag, so every word may be what any effect is about.
        _ if shaky => {
            let verbs = program.effects.iter().map(|effect| effect.verb.touch().possibly());
            verbs.fold(Touch::DATA, Touch::and)
        }
        Part::Program | Part::Dashes | Part::Operand { .. } => Touch::DATA,
        // A cluster with a letter that is not known may hide a value.
        Part::Flag { names, value: None } if names.len() == 1 || names.iter().all(told) => Touch::DATA,
        Part::Flag { names, value: Some(_) } if names.last().is_some_and(told) => Touch::DATA,
        Part::FlagValue { flag } if told(flag) => Touch::DATA,
        Part::Flag { .. } | Part::FlagValue { .. } | Part::Unclear => Touch::UNSURE,
    }
}

/// The operands that effects are about: those that are code are no files.
fn files(program: &Program, reading: &Reading) -> Vec<usize> {
    let used = |flags: &[String]| reading.flags.iter().any(|flag| flag.is(flags));
    let is_code = |at: usize| {
        program.inner.iter().any(|inner| match inner {
            Inner::OperandCode { index, unless, .. } => *index as usize == at && !used(unless),
            Inner::OperandsCode { .. } => true,
            _ => false,
        })
    };
    reading.operands.iter().enumerate().filter(|(at, _)| !is_code(*at)).map(|(_, word)| *word).collect()
}

/// The files that are run are read and nothing else.
fn run_files(program: &Program, reading: &Reading, words: &[Word], touches: &mut [Touch]) {
    let used = |flags: &[String]| reading.flags.iter().any(|flag| flag.is(flags));
    let run = Verb::Executes.touch();
    for inner in &program.inner {
        let place = match inner {
            Inner::OperandFile { index, unless, .. } if !used(unless) => Place::Operand { index: *index },
            Inner::FlagFile { flags, .. } => Place::Flags(flags.clone()),
            _ => continue,
        };
        for_each(&place, reading, &reading.operands, words, |at| {
            if let Some(old) = touches.get_mut(at) {
                let plain = [Touch::DATA, Touch::UNSURE].contains(old);
                *old = if plain { run } else { old.and(run) };
            }
        });
    }
}

fn apply(
    touch: Touch,
    place: &Place,
    reading: &Reading,
    operands: &[usize],
    words: &[Word],
    touches: &mut [Touch],
) {
    for_each(place, reading, operands, words, |at| {
        if let Some(old) = touches.get_mut(at) {
            let plain = *old == Touch::DATA;
            *old = if plain { touch } else { old.and(touch) };
        }
    });
}

/// A word that names another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// A host or URL.
    Host(Word),
    /// Of the form `HOST:PATH`, or a file of this machine.
    Remote(Word),
}

/// The machines that a command names by its program's data.
pub(crate) fn peers(program: Option<&Program>, reading: &Reading, words: &[Word]) -> Vec<Peer> {
    let Some(program) = program.map(|program| reading.effective(program)) else { return Vec::new() };
    // A port is no host.
    let is_port =
        |text: &str| text.len() < 6 && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let word = |at: usize| words.get(at);
    let port = |at: usize| word(at).and_then(Word::known).is_some_and(is_port);
    let operands: Vec<usize> = reading.operands.iter().copied().filter(|at| !port(*at)).collect();
    let mut peers = Vec::new();
    if program.operands_are_hosts {
        // What stands behind the host is a command for it.
        let skips = program.inner.iter().filter_map(|inner| match inner {
            Inner::Operands { skip } | Inner::OperandsText { skip } => usize::try_from(*skip).ok(),
            _ => None,
        });
        let count = skips.max().unwrap_or(usize::MAX);
        peers.extend(operands.iter().take(count).filter_map(|at| word(*at)).cloned().map(Peer::Host));
    }
    for place in &program.hosts {
        if let Place::Flags(flags) = place {
            let used = reading.flags.iter().filter(|used| used.is(flags));
            peers.extend(used.filter_map(|used| match used.value.as_ref()? {
                FlagValue::Attached(value) => Some(Peer::Host(value.clone())),
                FlagValue::Next(at) => word(*at).cloned().map(Peer::Host),
            }));
            continue;
        }
        for_each(place, reading, &operands, words, |at| {
            let Some(word) = word(at) else { return };
            peers.push(Peer::Host(match (place, word) {
                (Place::Beginnings(texts), Word::Known(text)) => {
                    let rest = texts.iter().find_map(|beginning| text.strip_prefix(beginning.as_str()));
                    Word::Known(rest.unwrap_or(text).to_string())
                }
                _ => word.clone(),
            }));
        });
    }
    if program.remote_operands {
        peers.extend(operands.iter().filter_map(|at| word(*at)).cloned().map(Peer::Remote));
    }
    peers
}

fn for_each(
    place: &Place,
    reading: &Reading,
    operands: &[usize],
    words: &[Word],
    mut add: impl FnMut(usize),
) {
    match place {
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
