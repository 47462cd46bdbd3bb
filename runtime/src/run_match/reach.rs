//! Which sets of operands a command may touch at all.
//!
//! INVARIANT: a set that is not among the answer matches no word, redirection or sent path of the command for any refusal;
//! where that is not sure, there is no answer.

use super::sets::operand;
use super::stored::{Ask, Failure, Lists};
use crate::facts::{Access, CommandFact, Facts, Form, PathFact, Word};

/// The numbers of the sets by which patterns are found and which hold something of the command, in order. `None` when it may
/// be any: a word or path is not exactly known.
pub(crate) fn reached(
    lists: &Lists<'_>,
    facts: &Facts,
    (command, words): (&CommandFact, &[usize]),
) -> Result<Option<Vec<u32>>, Failure> {
    let mut ids = Vec::new();
    let path = |number: u32| facts.paths.get(number as usize);
    for &index in words {
        let Some(operand) = operand(facts, command, index) else { continue };
        match &operand.word {
            Word::Known(text) => lists.texts(text, &mut ids)?,
            Word::OneOf(texts) if operand.paths.len() >= texts.len() => {
                texts.iter().try_for_each(|text| lists.texts(text, &mut ids))?;
            }
            Word::OneOf(_) | Word::Glob(_) | Word::Unknown { .. } => return Ok(None),
        }
        let tree = command.touches.get(index).is_none_or(|own| own.any(Access::TREE));
        for path in operand.paths {
            if !known(lists, path, tree, &mut ids)? {
                return Ok(None);
            }
        }
    }
    let redirects = command.redirects.iter().filter(|r| r.file || r.path.is_some()).map(|r| r.path);
    for number in redirects.chain(command.sent.iter().map(|number| Some(*number))) {
        let Some(path) = number.and_then(path) else { return Ok(None) };
        lists.texts(&path.written, &mut ids)?;
        if !known(lists, path, false, &mut ids)? {
            return Ok(None);
        }
    }
    lists.keyed(ids).map(Some)
}

/// Adds the ids of the lists that hold a path; whether it is exactly known.
fn known(lists: &Lists<'_>, path: &PathFact, tree: bool, ids: &mut Vec<u32>) -> Result<bool, Failure> {
    let odd = |view: &String| view.contains(['\u{1}', '\u{2}']);
    if path.form != Form::Exact
        || path.names.is_empty()
        || path.names.iter().any(|name| name.views.is_empty() || name.views.iter().any(odd))
    {
        return Ok(false);
    }
    for name in &path.names {
        ids.extend_from_slice(&lists.ids(name, path.form, Ask::Folded)?);
        if tree {
            ids.extend_from_slice(&lists.ids(name, path.form, Ask::Above)?);
        }
    }
    Ok(true)
}
