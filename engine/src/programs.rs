//! A table's knowledge of programs, as the shell reader asks for it.
//!
//! INVARIANT: each layer reads commands with its own vocabulary, so one layer's words never change what another sees.

use policy_grammar::shell::Dialect;
use policy_grammar::shell::program::{Inner, OptionStyle, Program, Programs, Subcommand};
use policy_runtime::program as table;
use policy_runtime::table::Table;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What a table knows of programs. A name that was asked for once is not looked up again.
#[derive(Debug)]
pub struct TablePrograms<'a> {
    table: Table<'a>,
    known: RefCell<BTreeMap<String, Option<Program>>>,
}

impl<'a> TablePrograms<'a> {
    /// The knowledge of this table.
    pub fn new(table: Table<'a>) -> TablePrograms<'a> {
        TablePrograms { table, known: RefCell::default() }
    }
}

impl Programs for TablePrograms<'_> {
    fn program(&self, name: &str) -> Option<Program> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let found = self.table.program(name).map(program);
        self.known.borrow_mut().insert(name.to_string(), found.clone());
        found
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
        attached_flags: from.attached_flags,
        flags: from.flags,
        inert_flags: from.inert_flags,
        assignments: from.assignments,
        late_options: from.late_options,
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
        }),
        same_words: from.same_words,
        names_only: from.names_only,
        prints_names: from.prints_names,
        operands_are_hosts: from.operands_are_hosts,
    }
}

fn subcommand(from: table::Subcommand) -> Subcommand {
    Subcommand { words: from.words, program: program(from.program) }
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
        table::Inner::InputCode => Inner::InputCode,
        table::Inner::InputWords => Inner::InputWords,
    }
}
