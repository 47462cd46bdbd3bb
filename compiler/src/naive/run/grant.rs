//! A run pattern of a grant: "Grant" of "Run patterns" in `docs/semantics.md`.
//!
//! INVARIANT: each word of the command is taken by a term, by `-*` or by `...`.

use super::super::glob::{covers, known};
use super::super::pattern::data_match;
use super::{
    Carried, alone, carried, exactly, file_in, files_within, is_name, part, path, text_within, word_is,
};
use crate::ir::{OperandSet, RunPattern, RunStage, RunTerm};
use policy_runtime::facts::{Access, CommandFact, Facts, Part, Word};
use policy_runtime::glob::Syntax;
use policy_runtime::run_match::Match::No;

/// Whether a grant's pattern matches.
pub(in super::super) fn grants(pattern: &RunPattern, facts: &Facts, index: usize) -> bool {
    let command = &facts.commands[index];
    let Some((last, before)) = pattern.stages.split_last() else { return false };
    let plain = command.plain || (pattern.writing.is_some() && command.plain_but_writes);
    let redirects = command.redirects.iter().filter(|r| r.file).all(|r| {
        let set = if r.writes { &pattern.writing } else { &pattern.touching };
        match set {
            Some(set) => path(facts, r.path).is_some_and(|path| value_granted(set, &alone(path))),
            None => !r.writes,
        }
    });
    let via = |wrapper: &String| pattern.via.iter().any(|v| exactly(v, wrapper));
    let via = pattern.via.is_empty() || (!command.wrappers.is_empty() && command.wrappers.iter().all(via));
    plain
        && command.gap.is_empty()
        && redirects
        && via
        && stage_grants(last, pattern.touching.as_ref(), facts, command)
        && pipe_grants(before, facts, command)
}

fn pipe_grants(before: &[RunStage], facts: &Facts, last: &CommandFact) -> bool {
    let Some((stage, earlier)) = before.split_last() else { return true };
    let Some((pipeline, end, _)) = last.pipe else { return false };
    facts.commands.iter().filter(|c| c.script == last.script).any(|command| match command.pipe {
        Some((own, number, _)) if own == pipeline && number < end => {
            command.plain
                && command.gap.is_empty()
                && stage_grants(stage, None, facts, command)
                && pipe_grants(earlier, facts, command)
        }
        _ => false,
    })
}

/// One stage of a grant and the command that it is compared with.
struct Literal<'a> {
    stage: &'a RunStage,
    touching: Option<&'a OperandSet>,
    facts: &'a Facts,
    command: &'a CommandFact,
    any_flags: bool,
}

fn stage_grants(
    stage: &RunStage,
    touching: Option<&OperandSet>,
    facts: &Facts,
    command: &CommandFact,
) -> bool {
    let any_flags = stage.terms.contains(&RunTerm::AnyFlags);
    let terms: Vec<&RunTerm> = stage.terms.iter().filter(|t| **t != RunTerm::AnyFlags).collect();
    // "A pattern with a folder must be the whole word, and unless it is absolute the command must run in the project's own."
    let program = |text: &String| {
        let here = text.starts_with('/') || command.dir.views.iter().any(|view| view == ".");
        stage.program.iter().any(|p| {
            exactly(p, text) && p.contains('/') == text.contains('/') && (here || !text.contains('/'))
        })
    };
    let named = match command.words.first() {
        Some(Word::Known(text)) => program(text),
        Some(Word::OneOf(texts)) => !texts.is_empty() && texts.iter().all(program),
        _ => false,
    };
    named && Literal { stage, touching, facts, command, any_flags }.words(&terms, 1)
}

impl Literal<'_> {
    /// "The other words are compared in order."
    fn words(&self, terms: &[&RunTerm], index: usize) -> bool {
        let Some(word) = self.command.words.get(index) else { return terms.is_empty() };
        let by_term = terms.split_first();
        by_term.is_some_and(|(term, more)| self.term(term, word, index) && self.words(more, index + 1))
            || (self.any_flags && self.flag(word, index) && self.words(terms, index + 1))
            || (terms.is_empty() && self.stage.rest && self.rest(word, index) && self.words(terms, index + 1))
    }

    fn behind_dashes(&self, index: usize) -> bool {
        (1..index).any(|i| *part(self.command, i) == Part::Dashes)
    }

    /// "The value of a known flag that is one word and surely data."
    fn data_value(&self, word: &Word, index: usize) -> bool {
        let data = self.command.touches.get(index) == Some(&Access::DATA);
        let Word::Unknown { text, splits: false } = word else { return false };
        data && match part(self.command, index) {
            Part::FlagValue { .. } => true,
            Part::Flag { value, .. } => value.is_some() && text.starts_with('-'),
            _ => false,
        }
    }

    fn value_word(&self, word: &Word, index: usize) -> bool {
        matches!(part(self.command, index), Part::FlagValue { .. }) && self.data_value(word, index)
    }

    /// "A set of paths says nothing of it", one with texts does.
    fn only_paths(&self) -> bool {
        self.touching.is_none_or(|set| set.texts.is_empty() && set.except_texts.is_empty())
    }

    fn data(&self, index: usize) -> bool {
        self.command.unknown_is_data || is_name(self.command, index)
    }

    fn term(&self, term: &RunTerm, word: &Word, index: usize) -> bool {
        let spelled = |texts: &[String], text: &String| {
            texts.iter().any(|t| exactly(t, text) && (t.starts_with('-') || !text.starts_with('-')))
        };
        let texts = match term {
            RunTerm::Word(texts) | RunTerm::Flag(texts) => texts,
            RunTerm::AnyFlags => return false,
            RunTerm::AnyWord => {
                let one = match word {
                    Word::Known(text) => !text.starts_with('-'),
                    Word::OneOf(texts) => !texts.is_empty() && texts.iter().all(|t| !t.starts_with('-')),
                    Word::Glob(_) | Word::Unknown { splits: true, .. } => false,
                    Word::Unknown { text, .. } => {
                        !text.starts_with('-') && (self.data(index) || self.value_word(word, index))
                    }
                };
                return one && self.in_touching(word, index);
            }
        };
        match word {
            Word::Known(text) => spelled(texts, text),
            Word::OneOf(all) => !all.is_empty() && all.iter().all(|text| spelled(texts, text)),
            Word::Glob(_) | Word::Unknown { .. } => false,
        }
    }

    /// "`-*` lets flag words stand anywhere behind the program."
    fn flag(&self, word: &Word, index: usize) -> bool {
        let dashes = self.behind_dashes(index);
        match (part(self.command, index), word) {
            (Part::Dashes, _) => true,
            (Part::Flag { .. }, word) if !dashes && self.data_value(word, index) => self.only_paths(),
            (role, Word::Known(text)) if !dashes && text.len() > 1 && text.starts_with('-') => match role {
                Part::Flag { value: None, .. } => self.touching.is_none() || !text.contains('/'),
                Part::Flag { .. } => self.in_touching(word, index),
                Part::Unclear => self.touching.is_none(),
                _ => false,
            },
            _ => false,
        }
    }

    /// "`...` lets any further words follow (with `touching`, no flags, and no file pattern that may begin with a dash)."
    fn rest(&self, word: &Word, index: usize) -> bool {
        let unknown = matches!(word, Word::Unknown { .. });
        if unknown && !self.data(index) && !self.data_value(word, index) {
            return false;
        }
        if self.value_word(word, index) {
            return self.only_paths();
        }
        if self.touching.is_none() || *part(self.command, index) == Part::Dashes {
            return true;
        }
        let dash = match word {
            Word::Known(text) => text.starts_with('-'),
            Word::OneOf(texts) => texts.iter().any(|t| t.starts_with('-')),
            Word::Glob(text) => !self.any_flags && text.starts_with(['*', '?', '[', '-']),
            Word::Unknown { .. } => !is_name(self.command, index),
        };
        let flag = matches!(part(self.command, index), Part::Flag { .. });
        !flag && (self.behind_dashes(index) || !dash) && self.in_touching(word, index)
    }

    /// "Every operand, flag value and file that no term spells out must be in the set, in all its names."
    fn in_touching(&self, word: &Word, index: usize) -> bool {
        let Some(set) = self.touching else { return true };
        let code = self.command.touches.get(index).is_some_and(|own| own.any(Access::CODE));
        if code || (self.data_value(word, index) && self.only_paths()) {
            return true;
        }
        let Some(value) = carried(self.facts, self.command, index) else { return true };
        if is_name(self.command, index) {
            // Should it be a path, it is one of the folder of the command.
            let whole = |view: &String| {
                set.paths
                    .iter()
                    .filter(|glob| glob.ends_with("/**"))
                    .any(|glob| covers(glob, &known(&format!("{view}/\u{1}")), Syntax::Path))
            };
            return set.except_paths.is_empty()
                && word_is(&set.except_texts, &value.word) == No
                && self.command.dir.views.iter().any(whole);
        }
        value_granted(set, &value)
    }
}

fn value_granted(set: &OperandSet, value: &Carried<'_>) -> bool {
    let text = match &value.word {
        Word::Glob(text) => set.texts.iter().any(|glob| data_match(glob, text)),
        word => text_within(&set.texts, word),
    };
    let unknown = !matches!(value.word, Word::Known(_)) && value.files.is_empty();
    let taken_back = word_is(&set.except_texts, &value.word) > No
        || (unknown && !set.except_paths.is_empty())
        || value.files.iter().any(|file| file_in(&set.except_paths, file) > No);
    (text || files_within(&set.paths, value)) && !taken_back
}
