//! A run pattern of a grant: exact words, nothing unknown.
//!
//! INVARIANT: every word of the command is accounted for: spelled out by a term, taken by `*`, `-*` or `...`, and with
//! `touching` in the set unless a term spells it out.

use super::sets::{name_in_folder_granted, operand, operand_granted, target_granted};
use super::{OperandSet, RunPattern, Stage, Term, Texts, exact, word_granted};
use crate::facts::{Access, CommandFact, Facts, Part, Word};

/// Whether a grant's pattern matches the command with this number.
#[must_use]
pub fn grants(pattern: &RunPattern<'_>, facts: &Facts, index: usize) -> bool {
    let (Some(command), Some((last, before))) = (facts.commands.get(index), pattern.stages.split_last())
    else {
        return false;
    };
    let plain = command.plain || (pattern.writing.is_some() && command.plain_but_writes);
    if !plain || !command.gap.is_empty() {
        return false;
    }
    let path = |number: Option<u32>| number.and_then(|n| facts.paths.get(n as usize));
    for redirect in command.redirects.iter().filter(|r| r.file) {
        let set = if redirect.writes { pattern.writing.as_ref() } else { pattern.touching.as_ref() };
        let fits = match set {
            Some(set) => target_granted(set, path(redirect.path)),
            // Without `touching` a grant says nothing of what is read; a write needs `writing`.
            None => !redirect.writes,
        };
        if !fits {
            return false;
        }
    }
    if !pattern.via.is_empty() {
        let via = |wrapper: &String| pattern.via.each(wrapper.len()).any(|v| exact(v, wrapper));
        if command.wrappers.is_empty() || !command.wrappers.iter().all(via) {
            return false;
        }
    }
    stage(last, pattern.touching.as_ref(), facts, command) && stages_before(before, facts, command)
}

/// Earlier stages of the pipe, in order, others between; each as literally as the last.
fn stages_before(before: &[Stage<'_>], facts: &Facts, last: &CommandFact) -> bool {
    if before.is_empty() {
        return true;
    }
    let Some((pipeline, end, _)) = last.pipe.filter(|pipe| pipe.1 > 0) else { return false };
    let mut wanted = before.iter();
    let mut next = wanted.next();
    for number in 0..end.min(4096) {
        let Some(pattern) = next else { break };
        let here = |c: &&CommandFact| {
            c.script == last.script && c.pipe.is_some_and(|p| p.0 == pipeline && p.1 == number)
        };
        let mut commands = facts.commands.iter().filter(here);
        if commands.any(|c| c.plain && c.gap.is_empty() && stage(pattern, None, facts, c)) {
            next = wanted.next();
        }
    }
    next.is_none()
}

fn stage(stage: &Stage<'_>, touching: Option<&OperandSet<'_>>, facts: &Facts, command: &CommandFact) -> bool {
    let Some(program) = command.words.first() else { return false };
    if !program_granted(&stage.program, program, command) {
        return false;
    }
    let any_flags = stage.terms.iter().any(|t| matches!(t, Term::AnyFlags));
    let terms: Vec<&Term<'_>> = stage.terms.iter().filter(|t| !matches!(t, Term::AnyFlags)).collect();
    let view = View { touching, facts, command, any_flags };
    // `at[k]`: the words so far are accounted for and the first `k` terms are used.
    let mut at = vec![false; terms.len() + 1];
    if let Some(first) = at.first_mut() {
        *first = true;
    }
    let mut dashes = false;
    for index in 1..command.words.len() {
        let Some(word) = command.words.get(index) else { return false };
        let flag = any_flags && view.is_flag(index, word, dashes);
        let mut next = vec![false; terms.len() + 1];
        for (k, _) in at.iter().enumerate().filter(|(_, live)| **live) {
            let term = terms.get(k).is_some_and(|term| view.term(term, index, word));
            let stay = flag || (k == terms.len() && stage.rest && view.rest(index, word, dashes));
            for (to, yes) in [(k + 1, term), (k, stay)] {
                if let (true, Some(slot)) = (yes, next.get_mut(to)) {
                    *slot = true;
                }
            }
        }
        dashes |= command.parts.get(index) == Some(&Part::Dashes);
        at = next;
    }
    at.last().copied().unwrap_or(false)
}

/// "The program word must be exactly the name (no folder)."
fn program_granted(patterns: &Texts<'_>, program: &Word, command: &CommandFact) -> bool {
    let one = |text: &str| {
        patterns.each(text.len()).any(|p| {
            let folder = text.contains('/');
            // SECURITY: `./x` is another file in every folder, so the command must run in the project's own.
            let anchored = text.starts_with('/') || command.dir.views.iter().any(|v| v == ".");
            exact(p, text) && folder == p.contains('/') && (!folder || anchored)
        })
    };
    match program {
        Word::Known(text) => one(text),
        Word::OneOf(texts) => !texts.is_empty() && texts.iter().all(|t| one(t)),
        Word::Glob(_) | Word::Unknown { .. } => false,
    }
}

struct View<'v, 'p> {
    touching: Option<&'v OperandSet<'p>>,
    facts: &'v Facts,
    command: &'v CommandFact,
    any_flags: bool,
}

impl View<'_, '_> {
    /// A word that is not known but is surely one value of a flag, which to the program is data and no file.
    fn is_data_value(&self, index: usize, word: &Word) -> bool {
        let value = match self.command.parts.get(index) {
            Some(Part::FlagValue { .. }) => true,
            Some(Part::Flag { value: Some(_), .. }) => {
                matches!(word, Word::Unknown { text, .. } if text.starts_with('-'))
            }
            _ => false,
        };
        value
            && matches!(word, Word::Unknown { splits: false, .. })
            && self.command.touches.get(index) == Some(&Access::DATA)
    }

    /// Whether such a value is left out of `touching`: a set of paths says nothing of it, one of texts does.
    fn data_in_set(&self) -> bool {
        self.touching.is_none_or(|set| set.texts.is_empty() && set.except_texts.is_empty())
    }

    fn in_set(&self, index: usize) -> bool {
        let word = self.command.words.get(index);
        if word.is_some_and(|word| self.is_data_value(index, word)) && self.data_in_set() {
            return true;
        }
        // Code is no path; what it does is decided as commands of its own, and what is not understood of it is a gap.
        if self.command.touches.get(index).is_some_and(|access| access.any(Access::CODE)) {
            return true;
        }
        match (self.touching, operand(self.facts, self.command, index)) {
            (None, _) | (Some(_), None) => true,
            (Some(set), Some(operand)) if self.command.is_name(index) => {
                name_in_folder_granted(set, &self.command.dir, &operand.word)
            }
            (Some(set), Some(operand)) => operand_granted(set, &operand),
        }
    }

    fn term(&self, term: &Term<'_>, index: usize, word: &Word) -> bool {
        match term {
            Term::Word(texts) | Term::Flag(texts) => word_granted(texts, word),
            Term::AnyWord => {
                let one = match word {
                    Word::Known(text) => !text.starts_with('-'),
                    Word::OneOf(texts) => !texts.is_empty() && texts.iter().all(|t| !t.starts_with('-')),
                    Word::Glob(_) => false,
                    Word::Unknown { splits, text } => {
                        let data = self.command.unknown_is_data || self.command.is_name(index);
                        let value = matches!(self.command.parts.get(index), Some(Part::FlagValue { .. }));
                        let value = value && self.is_data_value(index, word);
                        (data || value) && !splits && !text.starts_with('-')
                    }
                };
                one && self.in_set(index)
            }
            Term::AnyFlags => false,
        }
    }

    /// A word that `-*` may stand for.
    fn is_flag(&self, index: usize, word: &Word, dashes: bool) -> bool {
        let part = self.command.parts.get(index).unwrap_or(&Part::Unclear);
        if *part == Part::Dashes {
            return true;
        }
        if !dashes && matches!(part, Part::Flag { .. }) && self.is_data_value(index, word) {
            return self.data_in_set();
        }
        let Word::Known(text) = word else { return false };
        if dashes || text.len() < 2 || !text.starts_with('-') {
            return false;
        }
        match part {
            // SECURITY: a flag may carry a path that nobody told apart (`-f/etc/passwd`).
            Part::Flag { value: None, .. } => self.touching.is_none() || !text.contains('/'),
            Part::Flag { value: Some(_), .. } => self.in_set(index),
            Part::Unclear => self.touching.is_none(),
            Part::Program | Part::FlagValue { .. } | Part::Operand | Part::Dashes => false,
        }
    }

    /// A word that `...` may stand for.
    fn rest(&self, index: usize, word: &Word, dashes: bool) -> bool {
        let value = self.is_data_value(index, word);
        if matches!(word, Word::Unknown { .. })
            && !self.command.unknown_is_data
            && !self.command.is_name(index)
            && !value
        {
            return false;
        }
        if value && matches!(self.command.parts.get(index), Some(Part::FlagValue { .. })) {
            return self.data_in_set();
        }
        if self.touching.is_none() {
            return true;
        }
        match self.command.parts.get(index) {
            Some(Part::Dashes) => return true,
            Some(Part::Flag { .. }) => return false,
            _ => {}
        }
        // "with `touching`, no flags unless `-*` is there"
        let may_be_flag = !dashes
            && match word {
                Word::Known(text) => text.starts_with('-'),
                Word::OneOf(texts) => texts.iter().any(|t| t.starts_with('-')),
                Word::Glob(text) => !self.any_flags && text.starts_with(['*', '?', '[', '-']),
                Word::Unknown { .. } => !self.command.is_name(index),
            };
        !may_be_flag && self.in_set(index)
    }
}
