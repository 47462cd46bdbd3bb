//! What is known of programs, and the words of run patterns, as streams of words.
//!
//! INVARIANT: the order of the fields is the one in which `policy_runtime` reads them.

use super::sets::Sets;
use super::store::{Range, Store};
use crate::ir::{RunPattern, RunTerm};
use policy_grammar::shell::Dialect;
use policy_grammar::shell::code::Language;
use policy_grammar::shell::effects::{Effect, Place, Verb};
use policy_grammar::shell::program::{Inner, OptionStyle, Program};
use policy_runtime::checksum;
use policy_runtime::table::layout::{self, Section};
use std::collections::BTreeMap;

/// Writes all programs and the index of their names. Of two with one name the first counts.
pub(super) fn programs(store: &mut Store, programs: &[Program]) {
    let mut keys: BTreeMap<(u64, &str), u32> = BTreeMap::new();
    for program in programs {
        let mut words = Vec::new();
        write_program(store, program, &mut words);
        let at = store.words(Section::Programs, &words);
        for name in &program.names {
            keys.entry((checksum(name.as_bytes()), name)).or_insert(at);
        }
    }
    for ((hash, name), at) in keys {
        let text = store.program_text(name);
        let [low, high] = halves(hash);
        store.record(Section::ProgramKeys, &[low, high, text.first, text.count, at]);
    }
}

/// Low and high word.
pub(super) fn halves(number: u64) -> [u32; 2] {
    [(number & 0xFFFF_FFFF) as u32, (number >> 32) as u32]
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// A list of texts, written once and pointed to.
fn texts(store: &mut Store, texts: &[String], out: &mut Vec<u32>) {
    let mut list = Vec::new();
    for text in texts {
        let Range { first, count: len } = store.program_text(text);
        list.extend([first, len]);
    }
    if !list.is_empty() {
        list.insert(0, count(texts.len()));
    }
    out.push(store.shared(Section::Programs, list));
}

/// What several programs and subcommands say alike, written once and pointed to.
fn sequence<T>(
    store: &mut Store,
    items: &[T],
    write: impl Fn(&mut Store, &T, &mut Vec<u32>),
    out: &mut Vec<u32>,
) {
    let mut words = Vec::new();
    if !items.is_empty() {
        words.push(count(items.len()));
    }
    for item in items {
        write(store, item, &mut words);
    }
    out.push(store.shared(Section::Programs, words));
}

fn write_program(store: &mut Store, program: &Program, out: &mut Vec<u32>) {
    let mut fields = Vec::with_capacity(layout::PROGRAM_FIELDS);
    write_fields(store, program, &mut fields);
    debug_assert_eq!(fields.len(), layout::PROGRAM_FIELDS);
    // Most of them are nothing: a mask tells which are not.
    out.push((0..).zip(&fields).filter(|(_, field)| **field != 0).fold(0, |mask, (bit, _)| mask | 1 << bit));
    out.extend(fields.iter().filter(|field| **field != 0));
    out.push(count(program.subcommands.len()));
    for sub in &program.subcommands {
        texts(store, &sub.words, out);
        let mut record = Vec::new();
        write_program(store, &sub.program, &mut record);
        // A reader skips those that a command does not name.
        out.push(count(record.len()));
        out.append(&mut record);
    }
}

fn write_fields(store: &mut Store, program: &Program, out: &mut Vec<u32>) {
    texts(store, &program.names, out);
    out.push(match program.style {
        OptionStyle::Anywhere => 0,
        OptionStyle::First => 1,
        OptionStyle::SingleDash => 2,
        OptionStyle::None => 3,
    });
    for list in [
        &program.value_flags,
        &program.pair_flags,
        &program.attached_flags,
        &program.flags,
        &program.inert_flags,
    ] {
        texts(store, list, out);
    }
    let marks = [program.assignments, program.late_options, program.bundled, program.input_always];
    out.extend(marks.map(u32::from));
    sequence(store, &program.inner, write_inner, out);
    for list in [
        &program.input_flags,
        &program.placeholders,
        &program.placeholder_flags,
        &program.end_words,
        &program.dir_flags,
    ] {
        texts(store, list, out);
    }
    out.push(match program.dialect {
        None => 0,
        Some(Dialect::Bash) => 1,
        Some(Dialect::Posix) => 2,
        Some(Dialect::Unknown) => 3,
        Some(Dialect::Zsh) => 4,
        Some(Dialect::PowerShell) => 5,
        Some(Dialect::Cmd) => 6,
    });
    sequence(store, &program.same_words, |store, group, out| texts(store, group, out), out);
    out.push(u32::from(program.names_only));
    texts(store, &program.prints_names, out);
    out.extend([u32::from(program.operands_are_hosts), u32::from(program.remote_operands)]);
    sequence(store, &program.hosts, write_place, out);
    sequence(store, &program.effects, write_effect, out);
    out.push(u32::from(program.trees.is_some()));
    texts(store, program.trees.as_deref().unwrap_or_default(), out);
    out.extend([u32::from(program.network), u32::from(program.project_code)]);
}

fn write_effect(store: &mut Store, effect: &Effect, out: &mut Vec<u32>) {
    let verb = Verb::ALL.iter().position(|(verb, ..)| *verb == effect.verb).unwrap_or_default();
    out.push(count(verb));
    write_place(store, &effect.place, out);
    texts(store, &effect.with, out);
    texts(store, &effect.unless, out);
}

fn write_place(store: &mut Store, place: &Place, out: &mut Vec<u32>) {
    match place {
        Place::Operands { skip } => out.extend([0, *skip]),
        Place::Operand { index } => out.extend([1, *index]),
        Place::Last => out.push(2),
        Place::ButLast => out.push(3),
        Place::Flags(flags) => {
            out.push(4);
            texts(store, flags, out);
        }
        Place::Beginnings(beginnings) => {
            out.push(5);
            texts(store, beginnings, out);
        }
    }
}

/// The number of a language, from 1; 0 is none.
fn language(language: Option<Language>) -> u32 {
    let at = language.and_then(|own| Language::ALL.iter().position(|one| *one == own));
    at.map_or(0, |at| count(at + 1))
}

fn write_inner(store: &mut Store, inner: &Inner, out: &mut Vec<u32>) {
    match inner {
        Inner::Operands { skip } => out.extend([0, *skip]),
        Inner::OperandsText { skip } => out.extend([1, *skip]),
        Inner::OperandText { index } => out.extend([2, *index]),
        Inner::AfterDashes => out.push(3),
        Inner::FlagText { flags } => {
            out.push(4);
            texts(store, flags, out);
        }
        Inner::SettingText { flags, prefixes } => {
            out.push(5);
            texts(store, flags, out);
            texts(store, prefixes, out);
        }
        Inner::FlagWords { flags } => {
            out.push(6);
            texts(store, flags, out);
        }
        Inner::FlagCommand { flags } => {
            out.push(7);
            texts(store, flags, out);
        }
        Inner::Input => out.push(8),
        Inner::InputCode { language: own } => out.extend([9, language(*own)]),
        Inner::InputWords => out.push(10),
        Inner::WordText { prefixes } => {
            out.push(15);
            texts(store, prefixes, out);
        }
        Inner::FlagModule { flags } => {
            out.push(16);
            texts(store, flags, out);
        }
        Inner::OperandsCode { language: own } => out.extend([17, language(Some(*own))]),
        Inner::FlagCode { flags, language: own } => {
            out.extend([11, language(Some(*own))]);
            texts(store, flags, out);
        }
        Inner::OperandCode { index, language: own, unless } => {
            out.extend([12, *index, language(Some(*own))]);
            texts(store, unless, out);
        }
        Inner::OperandFile { index, language: own, unless } => {
            out.extend([13, *index, language(*own)]);
            texts(store, unless, out);
        }
        Inner::FlagFile { flags, language: own } => {
            out.extend([14, language(*own)]);
            texts(store, flags, out);
        }
    }
}

/// Writes a run pattern; where it stands.
pub(super) fn run(store: &mut Store, pattern: &RunPattern, sets: &Sets<'_>) -> u32 {
    let mut out = vec![count(pattern.stages.len())];
    for stage in &pattern.stages {
        out.push(run_texts(store, &stage.program));
        out.push(count(stage.terms.len()));
        for term in &stage.terms {
            match term {
                RunTerm::Word(words) => out.extend([0, run_texts(store, words)]),
                RunTerm::Flag(flags) => out.extend([1, run_texts(store, flags)]),
                RunTerm::AnyWord => out.push(2),
                RunTerm::AnyFlags => out.push(3),
            }
        }
        out.push(u32::from(stage.rest));
    }
    for set in [&pattern.touching, &pattern.reading, &pattern.writing, &pattern.deleting, &pattern.sending] {
        out.push(sets.number(set.as_ref()));
    }
    out.push(run_texts(store, &pattern.via));
    store.words(Section::Runs, &out)
}

/// A list of texts, written once and pointed to: many spellings of a pattern have the same sets.
pub(super) fn run_texts(store: &mut Store, texts: &[String]) -> u32 {
    let mut list = Vec::new();
    for text in texts {
        let Range { first, count: len } = store.text(text);
        list.extend([first, len]);
    }
    if !list.is_empty() {
        list.insert(0, count(texts.len()));
    }
    store.shared(Section::Runs, list)
}
