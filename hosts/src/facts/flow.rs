//! What flows between the commands of one text: which files a command sends away.
//!
//! INVARIANT: a file that a command reads is sent by every command over the network that its output may reach.

use super::Builder;
use policy_runtime::facts::{Access, CommandFact, Facts, Origin};

/// Most steps from command to command that are followed back in one text.
const MAX_STEPS: usize = 1024 * 1024;

impl Builder<'_> {
    /// Puts the numbers of facts for those of the reader, and tells what each command from `first` on sends; the `secret`
    /// ones give it variables that are secrets.
    pub(super) fn flows(&mut self, first: usize, numbers: &[Option<u32>], secret: &[usize]) {
        let number = |own: &u32| numbers.get(*own as usize).copied().flatten();
        for command in self.facts.commands.iter_mut().skip(first) {
            command.sources = command.sources.iter().filter_map(number).collect();
            command.code_from = command.code_from.iter().filter_map(number).collect();
        }
        let mut steps = MAX_STEPS;
        for at in first..self.facts.commands.len() {
            let network = self.facts.commands.get(at).is_some_and(|command| command.network);
            let back = if network { reached(&self.facts, at, &mut steps) } else { Vec::new() };
            let mut sent = sent(&self.facts, at, &back);
            if back.iter().any(|from| secret.contains(from)) {
                sent.extend(self.environment(at));
            }
            if let Some(command) = self.facts.commands.get_mut(at) {
                command.sent = sent;
            }
        }
        if steps == 0 {
            self.opaque(Origin::Call, "more flows between its commands than are followed");
        }
    }
}

/// The paths whose content a command sends: by its own flags and operands, from its input, and what it was given by the
/// commands behind it.
fn sent(facts: &Facts, at: usize, back: &[usize]) -> Vec<u32> {
    let Some(command) = facts.commands.get(at) else { return Vec::new() };
    let mut sent = by_words(command, Access::SEND);
    if command.network {
        let input = command.redirects.iter().filter(|redirect| redirect.file && !redirect.writes);
        sent.extend(input.filter_map(|redirect| redirect.path));
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

/// A command and those whose output may reach it, the nearest first. `steps` is what may still be followed; at 0 some
/// may be missing.
fn reached(facts: &Facts, at: usize, steps: &mut usize) -> Vec<usize> {
    let mut back = vec![at];
    let mut seen = vec![false; facts.commands.len()];
    if let Some(own) = seen.get_mut(at) {
        *own = true;
    }
    let mut next = 0;
    while let Some(from) = back.get(next).and_then(|at| facts.commands.get(*at)) {
        next += 1;
        for source in &from.sources {
            *steps = steps.saturating_sub(1);
            if *steps == 0 {
                return back;
            }
            let source = *source as usize;
            if let Some(new @ false) = seen.get_mut(source) {
                *new = true;
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
