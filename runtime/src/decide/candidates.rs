//! Under which keys the run patterns stand that may match a command.
//!
//! INVARIANT: a pattern stands under one thing that a command must hold to match it (a word among the first operands, or a path
//! of a set), so what is found is all that may match; where a word or path is not known, it is all patterns that ask for one.

use crate::facts::{CommandFact, Facts, Part, Word};
use crate::run_match::{Failure, Lists, reached};
use crate::table::layout::{ANY_PROGRAM, Item, KEYED_WORDS, run_key, run_program, run_word};

/// The keys of one command, each once.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Of refusals; `None` when its program may be any.
    pub(super) refusals: Option<Vec<u64>>,
    /// Of grants.
    pub(super) grants: Vec<u64>,
}

impl Keys {
    /// Those of a command, of whose words `distinct` holds of each kind of equal ones one.
    pub(super) fn of(
        lists: &Lists<'_>,
        facts: &Facts,
        command: &CommandFact,
        distinct: &[usize],
    ) -> Result<Keys, Failure> {
        let mut programs = vec![ANY_PROGRAM];
        match command.words.first() {
            // A command of redirections only has no program.
            None => {}
            Some(Word::Known(text)) => programs.push(run_program(text)),
            Some(Word::OneOf(texts)) => programs.extend(texts.iter().map(|text| run_program(text))),
            // Nothing unknown matches a grant.
            Some(Word::Glob(_) | Word::Unknown { .. }) => return Ok(Keys::default()),
        }
        let (words, open) = words(command);
        let mut sure: Vec<Item> = vec![Item::Nothing];
        sure.extend(words.into_iter().map(Item::Word));
        let mut more: Vec<Item> = open.map(Item::From).into_iter().collect();
        match reached(lists, facts, (command, distinct))? {
            Some(sets) => more.extend(sets.into_iter().map(Item::Set)),
            None => more.push(Item::Sets),
        }
        let keys = |items: &[Item]| -> Vec<u64> {
            programs.iter().flat_map(|program| items.iter().map(|item| run_key(*program, *item))).collect()
        };
        let grants = keys(&sure);
        let mut refusals = grants.clone();
        refusals.extend(keys(&more));
        Ok(Keys { refusals: Some(refusals), grants })
    }
}

/// The words of which one may be asked for, and how many operands surely stand before the first that is not known.
fn words(command: &CommandFact) -> (Vec<u64>, Option<u32>) {
    let mut words = Vec::new();
    let (mut operands, mut open) = (0, None);
    for (index, word) in command.words.iter().enumerate().skip(1) {
        match word {
            Word::Known(text) => words.push(run_word(text)),
            Word::OneOf(texts) => words.extend(texts.iter().map(|text| run_word(text))),
            Word::Glob(_) | Word::Unknown { .. } => {
                open.get_or_insert(operands);
            }
        }
        if command.parts.get(index) == Some(&Part::Operand) {
            operands += 1;
            if operands == KEYED_WORDS {
                break;
            }
        }
    }
    words.sort_unstable();
    words.dedup();
    (words, open)
}
