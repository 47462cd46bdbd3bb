//! `program` blocks become the knowledge that the shell reader and the matcher use.
//!
//! INVARIANT: blocks of one program are added up; where two contradict, a file's own counts before a pack's.

use super::{Builder, details};
use crate::resolve::Resolved;
use policy_grammar::ast;
use policy_grammar::shell::program::{Inner, OptionStyle, Program, Subcommand};
use std::collections::BTreeMap;

impl Builder<'_> {
    /// Takes every `program` block.
    pub(super) fn take_programs(&mut self, resolved: &Resolved) {
        let mut all: Vec<Program> = Vec::new();
        let mut index: BTreeMap<String, usize> = BTreeMap::new();
        let blocks = resolved.programs.iter().flat_map(|tree| &tree.items).filter_map(|item| match item {
            ast::Item::Program(block) => Some(block),
            _ => None,
        });
        for block in blocks {
            let (mut known, mut new): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
            for name in block.names.iter().map(|n| n.node.clone()) {
                if index.contains_key(&name) { known.push(name) } else { new.push(name) }
            }
            new.dedup();
            let program = knowledge(block, new);
            for name in known {
                let Some(at) = index.get(&name).copied() else { continue };
                let at = alone(&mut all, at, &name);
                index.insert(name, at);
                if let Some(stronger) = all.get_mut(at) {
                    add(stronger, &program);
                }
            }
            if !program.names.is_empty() {
                index.extend(program.names.iter().map(|name| (name.clone(), all.len())));
                all.push(program);
            }
        }
        split_shells(&mut all);
        all.iter_mut().for_each(details::complete);
        all.sort_by(|a, b| a.names.first().cmp(&b.names.first()));
        for (at, program) in all.iter().enumerate() {
            for name in &program.names {
                self.programs.insert(name.clone(), at);
            }
        }
        self.policy.programs = all;
    }
}

/// Shells share a block and read their texts differently.
fn split_shells(all: &mut Vec<Program>) {
    for name in ["bash", "rbash", "zsh", "dash", "ash"] {
        if let Some(at) = all.iter().position(|p| p.names.iter().any(|n| n == name)) {
            alone(all, at, name);
        }
    }
}

/// Gives `name` a program of its own when it shares one.
fn alone(all: &mut Vec<Program>, at: usize, name: &str) -> usize {
    let Some(shared) = all.get_mut(at).filter(|p| p.names.len() > 1) else { return at };
    shared.names.retain(|n| n != name);
    let own = Program { names: vec![name.to_owned()], ..shared.clone() };
    all.push(own);
    all.len() - 1
}

/// Adds what a weaker block says of the same program.
fn add(stronger: &mut Program, weaker: &Program) {
    fn join<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
        for one in from {
            if !to.contains(one) {
                to.push(one.clone());
            }
        }
    }
    if stronger.style == OptionStyle::default() {
        stronger.style = weaker.style;
    }
    join(&mut stronger.value_flags, &weaker.value_flags);
    join(&mut stronger.attached_flags, &weaker.attached_flags);
    join(&mut stronger.flags, &weaker.flags);
    join(&mut stronger.inert_flags, &weaker.inert_flags);
    join(&mut stronger.inner, &weaker.inner);
    join(&mut stronger.subcommands, &weaker.subcommands);
    join(&mut stronger.input_flags, &weaker.input_flags);
    join(&mut stronger.placeholders, &weaker.placeholders);
    join(&mut stronger.placeholder_flags, &weaker.placeholder_flags);
    join(&mut stronger.end_words, &weaker.end_words);
    join(&mut stronger.dir_flags, &weaker.dir_flags);
    join(&mut stronger.same_words, &weaker.same_words);
    join(&mut stronger.prints_names, &weaker.prints_names);
    stronger.assignments |= weaker.assignments;
    stronger.late_options |= weaker.late_options;
    stronger.names_only |= weaker.names_only;
    stronger.operands_are_hosts |= weaker.operands_are_hosts;
    stronger.dialect = stronger.dialect.or(weaker.dialect);
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
        let direct = sub
            .program
            .inner
            .iter()
            .any(|inner| matches!(inner, Inner::Operands { skip: 0 } | Inner::OperandsText { skip: 0 }));
        sub.program.style = if direct && style == OptionStyle::Anywhere { OptionStyle::First } else { style };
        sub.program.value_flags = value_flags.clone();
        sub.program.attached_flags = attached.clone();
    }
    program
}

fn texts(words: &[ast::Text]) -> Vec<String> {
    words.iter().map(|w| w.node.clone()).collect()
}
