//! `program` blocks become the knowledge that the shell reader and the matcher use.
//!
//! INVARIANT: the first block that names a program is the one that counts: a file's own before a pack's.

use super::Builder;
use crate::resolve::Resolved;
use policy_grammar::ast;
use policy_grammar::shell::program::{Inner, OptionStyle, Program, Subcommand};
use std::collections::BTreeSet;

impl Builder<'_> {
    /// Takes every `program` block.
    pub(super) fn take_programs(&mut self, resolved: &Resolved) {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for tree in &resolved.programs {
            for item in &tree.items {
                let ast::Item::Program(block) = item else { continue };
                let names: Vec<String> =
                    block.names.iter().map(|n| n.node.clone()).filter(|n| !taken.contains(n)).collect();
                if names.is_empty() {
                    continue;
                }
                taken.extend(names.iter().cloned());
                self.policy.programs.push(knowledge(block, names));
            }
        }
        self.policy.programs.sort_by(|a, b| a.names.first().cmp(&b.names.first()));
        for (at, program) in self.policy.programs.iter().enumerate() {
            for name in &program.names {
                self.programs.insert(name.clone(), at);
            }
        }
    }
}

/// What one block says, under these names.
pub(super) fn knowledge(block: &ast::Program, names: Vec<String>) -> Program {
    let mut program = Program { names, ..Program::default() };
    let mut prints_names = Vec::new();
    for fact in &block.facts {
        match &fact.node {
            ast::ProgramFact::SameWords(words) => program.same_words.push(texts(words)),
            ast::ProgramFact::ValueFlags(flags) => program.value_flags.extend(texts(flags)),
            ast::ProgramFact::AttachedFlags(flags) => program.attached_flags.extend(texts(flags)),
            ast::ProgramFact::InertFlags(flags) => program.inert_flags.extend(texts(flags)),
            ast::ProgramFact::Options(style) => {
                program.style = match style.node.as_str() {
                    "first" => OptionStyle::First,
                    "single-dash" => OptionStyle::SingleDash,
                    "none" => OptionStyle::None,
                    _ => OptionStyle::Anywhere,
                }
            }
            ast::ProgramFact::Assignments => program.assignments = true,
            ast::ProgramFact::RunsOperands { as_text, skip, after_words } => {
                let inner = match as_text {
                    true => Inner::OperandsText { skip: *skip },
                    false => Inner::Operands { skip: *skip },
                };
                if after_words.is_empty() {
                    program.inner.push(inner.clone());
                }
                for words in after_words {
                    let words = words.node.split_whitespace().map(str::to_owned).collect();
                    let inside = Program { inner: vec![inner.clone()], ..Program::default() };
                    program.subcommands.push(Subcommand { words, program: inside });
                }
            }
            ast::ProgramFact::RunsFlags { flags, form } => {
                let flags = texts(flags);
                program.inner.push(match form.node.as_str() {
                    "words" => Inner::FlagWords { flags },
                    "command" => Inner::FlagCommand { flags },
                    _ => Inner::FlagText { flags },
                });
            }
            ast::ProgramFact::RunsInput => program.inner.push(Inner::Input),
            ast::ProgramFact::RunsInputWords => program.inner.push(Inner::InputWords),
            ast::ProgramFact::ListsOperands => program.names_only = true,
            ast::ProgramFact::PrintsNames(words) => prints_names.extend(texts(words)),
            ast::ProgramFact::ConnectsToOperands => program.operands_are_hosts = true,
        }
    }
    program.prints_names = prints_names;
    // A subcommand reads its options as its program does.
    let (style, value_flags, attached) =
        (program.style, program.value_flags.clone(), program.attached_flags.clone());
    for sub in &mut program.subcommands {
        // A command that begins right behind the words keeps its own flags (`git bisect run sh -c TEXT`).
        let direct = sub.program.inner.iter().any(|inner| {
            matches!(inner, Inner::Operands { skip: 0 } | Inner::OperandsText { skip: 0 })
        });
        sub.program.style = if direct && style == OptionStyle::Anywhere { OptionStyle::First } else { style };
        sub.program.value_flags = value_flags.clone();
        sub.program.attached_flags = attached.clone();
    }
    program
}

fn texts(words: &[ast::Text]) -> Vec<String> {
    words.iter().map(|w| w.node.clone()).collect()
}
