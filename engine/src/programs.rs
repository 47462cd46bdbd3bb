//! A table's knowledge of programs, as the shell reader asks for it.
//!
//! INVARIANT: each layer reads commands with its own vocabulary, so one layer's words never change what another sees.

use policy_grammar::shell::Dialect;
use policy_grammar::shell::Word;
use policy_grammar::shell::code::Language;
use policy_grammar::shell::effects::{Effect, Place, Verb};
use policy_grammar::shell::program::{Inner, OptionStyle, Program, Programs, Subcommand};
use policy_runtime::program as table;
use policy_runtime::table::Table;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Times a program is read for single commands before all of it is read and kept.
const SINGLE: usize = 4;
/// Words of a command up to which its subcommands are looked for one by one.
const MOST_WORDS: usize = 64;

/// What a table knows of programs. A name that was asked for several times is not looked up again.
#[derive(Debug)]
pub struct TablePrograms<'a> {
    table: Table<'a>,
    known: RefCell<BTreeMap<String, Option<Rc<Program>>>>,
    /// How often programs with subcommands were read for single commands.
    single: RefCell<BTreeMap<String, usize>>,
}

impl<'a> TablePrograms<'a> {
    /// The knowledge of this table.
    pub fn new(table: Table<'a>) -> TablePrograms<'a> {
        TablePrograms { table, known: RefCell::default(), single: RefCell::default() }
    }
}

impl Programs for TablePrograms<'_> {
    fn program(&self, name: &str) -> Option<Program> {
        self.table.program(name).map(program)
    }

    fn shared(&self, name: &str, words: &[Word]) -> Option<Rc<Program>> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let mut single = self.single.borrow_mut();
        let times = single.entry(name.to_string()).or_default();
        *times += 1;
        let all = *times > SINGLE || words.len() > MOST_WORDS;
        let skipped = Cell::new(false);
        let chosen = |wanted: &str| {
            let named = all || words.iter().any(|word| word.known() == Some(wanted));
            skipped.set(skipped.get() || !named);
            named
        };
        let found = self.table.program_for(name, &chosen).map(|found| Rc::new(program(found)));
        if !skipped.get() {
            self.known.borrow_mut().insert(name.to_string(), found.clone());
        }
        found
    }

    fn knows(&self, name: &str) -> bool {
        self.table.knows_program(name)
    }
}

fn program(from: table::Program) -> Program {
    Program {
        names: from.names,
        style: match from.style {
            table::OptionStyle::Anywhere => OptionStyle::Anywhere,
            table::OptionStyle::First => OptionStyle::First,
            table::OptionStyle::SingleDash => OptionStyle::SingleDash,
            table::OptionStyle::None => OptionStyle::None,
        },
        value_flags: from.value_flags,
        pair_flags: from.pair_flags,
        attached_flags: from.attached_flags,
        flags: from.flags,
        inert_flags: from.inert_flags,
        assignments: from.assignments,
        late_options: from.late_options,
        bundled: from.bundled,
        input_always: from.input_always,
        inner: from.inner.into_iter().map(inner).collect(),
        subcommands: from.subcommands.into_iter().map(subcommand).collect(),
        input_flags: from.input_flags,
        placeholders: from.placeholders,
        placeholder_flags: from.placeholder_flags,
        end_words: from.end_words,
        dir_flags: from.dir_flags,
        dialect: from.dialect.map(|dialect| match dialect {
            table::Dialect::Bash => Dialect::Bash,
            table::Dialect::Posix => Dialect::Posix,
            table::Dialect::Unknown => Dialect::Unknown,
            table::Dialect::Zsh => Dialect::Zsh,
            table::Dialect::PowerShell => Dialect::PowerShell,
            table::Dialect::Cmd => Dialect::Cmd,
        }),
        same_words: from.same_words,
        names_only: from.names_only,
        prints_names: from.prints_names,
        operands_are_hosts: from.operands_are_hosts,
        remote_operands: from.remote_operands,
        hosts: from.hosts.into_iter().map(place).collect(),
        // One that cannot be read leaves all of them unsaid.
        effects: from.effects.into_iter().map(effect).collect::<Option<_>>().unwrap_or_default(),
        trees: from.trees,
        network: from.network,
        project_code: from.project_code,
    }
}

fn subcommand(from: table::Subcommand) -> Subcommand {
    Subcommand { words: from.words, program: program(from.program) }
}

fn effect(from: table::Effect) -> Option<Effect> {
    let verb = Verb::ALL.get(usize::try_from(from.verb).ok()?).map(|(verb, ..)| *verb)?;
    Some(Effect { verb, place: place(from.place), with: from.with, unless: from.unless })
}

fn place(from: table::Place) -> Place {
    match from {
        table::Place::Operands { skip } => Place::Operands { skip },
        table::Place::Operand { index } => Place::Operand { index },
        table::Place::Last => Place::Last,
        table::Place::ButLast => Place::ButLast,
        table::Place::Flags(flags) => Place::Flags(flags),
        table::Place::Beginnings(texts) => Place::Beginnings(texts),
    }
}

/// The language with this number, counted from 1.
fn named(number: u32) -> Option<Language> {
    let at = usize::try_from(number).ok()?.checked_sub(1)?;
    Language::ALL.get(at).copied().or(Some(Language::Other))
}

fn inner(from: table::Inner) -> Inner {
    match from {
        table::Inner::Operands { skip } => Inner::Operands { skip },
        table::Inner::OperandsText { skip } => Inner::OperandsText { skip },
        table::Inner::OperandText { index } => Inner::OperandText { index },
        table::Inner::AfterDashes => Inner::AfterDashes,
        table::Inner::FlagText { flags } => Inner::FlagText { flags },
        table::Inner::SettingText { flags, prefixes } => Inner::SettingText { flags, prefixes },
        table::Inner::FlagWords { flags } => Inner::FlagWords { flags },
        table::Inner::FlagCommand { flags } => Inner::FlagCommand { flags },
        table::Inner::Input => Inner::Input,
        table::Inner::InputCode { language } => Inner::InputCode { language: named(language) },
        table::Inner::FlagCode { flags, language } => {
            Inner::FlagCode { flags, language: named(language).unwrap_or(Language::Other) }
        }
        table::Inner::OperandCode { index, language, unless } => {
            Inner::OperandCode { index, language: named(language).unwrap_or(Language::Other), unless }
        }
        table::Inner::OperandFile { index, language, unless } => {
            Inner::OperandFile { index, language: named(language), unless }
        }
        table::Inner::FlagFile { flags, language } => Inner::FlagFile { flags, language: named(language) },
        table::Inner::WordText { prefixes } => Inner::WordText { prefixes },
        table::Inner::FlagModule { flags } => Inner::FlagModule { flags },
        table::Inner::OperandsCode { language } => {
            Inner::OperandsCode { language: named(language).unwrap_or(Language::Other) }
        }
        table::Inner::InputWords => Inner::InputWords,
    }
}
