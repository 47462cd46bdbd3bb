//! What flows between the commands of one text: which files a command sends away.
//!
//! INVARIANT: a file that a command reads is sent by every command over the network that its output may reach.

use super::Builder;
use policy_runtime::facts::{Access, CommandFact, Facts};

/// Most commands that are followed back from one that sends.
const MAX_BACK: usize = 256;

impl Builder<'_> {
    /// A command and those whose output may reach it.
    pub(super) fn reached(&self, at: usize) -> Vec<usize> {
        reached(&self.facts, at)
    }

    /// Puts the numbers of facts for those of the reader, and tells what each command from `first` on sends.
    pub(super) fn flows(&mut self, first: usize, numbers: &[Option<u32>]) {
        let number = |own: &u32| numbers.get(*own as usize).copied().flatten();
        for command in self.facts.commands.iter_mut().skip(first) {
            command.sources = command.sources.iter().filter_map(number).collect();
            command.code_from = command.code_from.iter().filter_map(number).collect();
        }
        for at in first..self.facts.commands.len() {
            let sent = sent(&self.facts, at);
            if let Some(command) = self.facts.commands.get_mut(at) {
                command.sent = sent;
            }
        }
    }
}

/// The paths whose content a command sends: by its own flags and operands, from its input, and what it was given.
fn sent(facts: &Facts, at: usize) -> Vec<u32> {
    let Some(command) = facts.commands.get(at) else { return Vec::new() };
    let mut sent = by_words(command, Access::SEND);
    if command.network {
        let input = command.redirects.iter().filter(|redirect| redirect.file && !redirect.writes);
        sent.extend(input.filter_map(|redirect| redirect.path));
        let back = reached(facts, at);
        for source in back.iter().skip(1).filter_map(|at| facts.commands.get(*at)) {
            sent.extend(by_words(source, Access::READ));
            let input = source.redirects.iter().filter(|redirect| redirect.file && !redirect.writes);
            sent.extend(input.filter_map(|redirect| redirect.path));
        }
    }
    sent.sort_unstable();
    sent.dedup();
    sent
}

/// A command and those whose output may reach it, the nearest first.
fn reached(facts: &Facts, at: usize) -> Vec<usize> {
    let mut back = vec![at];
    let mut next = 0;
    while let Some(from) = back.get(next).and_then(|at| facts.commands.get(*at)) {
        next += 1;
        for source in &from.sources {
            let source = *source as usize;
            if back.len() < MAX_BACK && !back.contains(&source) {
                back.push(source);
            }
        }
    }
    back
}

/// The paths of words with which a command does this.
fn by_words(command: &CommandFact, access: Access) -> Vec<u32> {
    let does = |at: usize| command.touches.get(at).is_some_and(|own| own.any(access));
    let words = command.word_paths.iter().enumerate().filter(|(at, _)| does(*at));
    let one_of = command.one_of_paths.iter().filter(|(at, _)| does(*at as usize)).map(|(_, path)| *path);
    words.filter_map(|(_, path)| *path).chain(one_of).collect()
}
