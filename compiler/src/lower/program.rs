//! `program` blocks become the knowledge that the shell reader and the matcher use.
//!
//! INVARIANT: blocks of one program are added up; where two contradict, a file's own counts before a pack's.

use super::Builder;
use super::said::Said;
use crate::resolve::Resolved;
use policy_grammar::ast;
use policy_grammar::shell::program::Program;
use std::collections::BTreeMap;

impl Builder<'_> {
    /// Takes every `program` block.
    pub(super) fn take_programs(&mut self, resolved: &Resolved) {
        let blocks = resolved.programs.iter().flat_map(|tree| &tree.items).filter_map(|item| match item {
            ast::Item::Program(block) => Some(block),
            _ => None,
        });
        let all = knowledge(blocks);
        for (at, program) in all.iter().enumerate() {
            for name in &program.names {
                self.programs.insert(name.clone(), at);
            }
        }
        self.policy.programs = all;
    }
}

/// What the blocks say together, the strongest block first; sorted by the first name.
fn knowledge<'b>(blocks: impl Iterator<Item = &'b ast::Program>) -> Vec<Program> {
    let mut all: Vec<Said> = Vec::new();
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    for block in blocks {
        let (mut known, mut new): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for name in block.names.iter().map(|name| name.node.clone()) {
            if index.contains_key(&name) {
                known.push(name);
            } else if !new.contains(&name) {
                new.push(name);
            }
        }
        let said = Said::of(new, &block.facts);
        for name in known {
            let Some(at) = index.get(&name).copied() else { continue };
            let at = alone(&mut all, at, &name);
            index.insert(name, at);
            if let Some(stronger) = all.get_mut(at) {
                stronger.add(&said);
            }
        }
        if !said.program.names.is_empty() {
            index.extend(said.program.names.iter().map(|name| (name.clone(), all.len())));
            all.push(said);
        }
    }
    let mut all: Vec<Program> = all.into_iter().map(Said::finish).collect();
    all.sort_by(|a, b| a.names.first().cmp(&b.names.first()));
    all
}

/// Gives `name` an entry of its own when it shares one.
fn alone(all: &mut Vec<Said>, at: usize, name: &str) -> usize {
    let Some(shared) = all.get_mut(at).filter(|said| said.program.names.len() > 1) else { return at };
    shared.program.names.retain(|n| n != name);
    let mut own = shared.clone();
    own.program.names = vec![name.to_owned()];
    all.push(own);
    all.len() - 1
}
