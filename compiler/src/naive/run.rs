//! Run patterns, written from "Run patterns" of `docs/semantics.md`: plain recursion over words and terms.
//!
//! INVARIANT: nothing here is shared with `policy_runtime::run_match` but the names of its answers, and every pattern is compared
//! with every word.

mod grant;
mod refuse;

pub(super) use grant::grants;
pub(super) use refuse::refuses;

use super::pattern::{path_match, text_match};
use policy_runtime::facts::{CommandFact, Facts, Form, Part, PathFact, PathName, Word};
use policy_runtime::glob::Syntax;
use policy_runtime::run_match::Match::{self, Certain, No, Possible};

/// A text in any case; what it holds beside letters is known.
fn any_case(glob: &str, text: &str) -> Match {
    text_match(glob, text, Form::Exact, false, Syntax::Plain)
}

/// A text with exact letters.
fn exactly(glob: &str, text: &str) -> bool {
    text_match(glob, text, Form::Exact, true, Syntax::Plain) == Certain
}

/// What holds whichever of these is meant.
fn whichever(readings: impl Iterator<Item = Match> + Clone) -> Match {
    match (readings.clone().min(), readings.max()) {
        (Some(Certain), _) => Certain,
        (_, Some(Possible | Certain)) => Possible,
        _ => No,
    }
}

fn any(matches: impl Iterator<Item = Match>) -> Match {
    matches.max().unwrap_or(No)
}

/// The value of a word: a known text, one of some, what a glob or holes stand for.
fn word_is(globs: &[String], word: &Word) -> Match {
    let each = |form, text: &str| any(globs.iter().map(|g| text_match(g, text, form, false, Syntax::Plain)));
    match word {
        Word::Known(text) => each(Form::Exact, text),
        Word::OneOf(texts) => whichever(texts.iter().map(|text| each(Form::Exact, text))),
        // A pattern that fits no file stays as it stands.
        Word::Glob(text) => each(Form::Glob, text).max(each(Form::Exact, text).min(Possible)),
        Word::Unknown { splits: true, .. } => Match::maybe(!globs.is_empty()),
        Word::Unknown { text, .. } => each(Form::Holes, text),
    }
}

fn splits(word: &Word) -> bool {
    matches!(word, Word::Unknown { splits: true, .. })
}

/// It may be several words, or none.
fn many(word: &Word) -> bool {
    splits(word) || matches!(word, Word::Glob(_))
}

fn part(command: &CommandFact, index: usize) -> &Part {
    command.parts.get(index).unwrap_or(&Part::Unclear)
}

fn is_name(command: &CommandFact, index: usize) -> bool {
    command.names.contains(&(index as u32))
}

fn path(facts: &Facts, number: Option<u32>) -> Option<&PathFact> {
    facts.paths.get(number? as usize)
}

/// What a word carries: itself or what is attached to it, and the files that it may be.
struct Carried<'f> {
    word: Word,
    files: Vec<&'f PathFact>,
}

fn carried<'f>(facts: &'f Facts, command: &CommandFact, index: usize) -> Option<Carried<'f>> {
    let word = &command.words[index];
    let of_texts: Vec<&PathFact> = command
        .one_of_paths
        .iter()
        .filter(|(own, _)| *own as usize == index && matches!(word, Word::OneOf(_)))
        .filter_map(|(_, number)| path(facts, Some(*number)))
        .collect();
    let own = path(facts, command.word_paths.get(index).copied().flatten());
    let files = if of_texts.is_empty() { own.into_iter().collect() } else { of_texts };
    let word = match (part(command, index), word) {
        (Part::Program | Part::Dashes, _) => return None,
        (Part::Flag { value: None, .. }, Word::Known(_)) if files.is_empty() => return None,
        (Part::Flag { value: Some(value), .. }, Word::Known(_)) => Word::Known(value.clone()),
        (Part::Flag { value: Some(value), .. }, Word::Unknown { splits, .. }) => {
            Word::Unknown { text: value.clone(), splits: *splits }
        }
        (Part::Flag { value: Some(_), .. }, _) => Word::Unknown { text: "\u{1}".to_owned(), splits: true },
        (_, word) => word.clone(),
    };
    Some(Carried { word, files })
}

/// A file that is no word: of a redirection, or sent.
fn alone(path: &PathFact) -> Carried<'_> {
    let text = path.written.clone();
    let word = match path.form {
        Form::Exact => Word::Known(text),
        Form::Glob => Word::Glob(text),
        Form::Holes => Word::Unknown { text, splits: false },
    };
    Carried { word, files: vec![path] }
}

/// A file in one of these globs, by one of its names.
fn file_in(globs: &[String], file: &PathFact) -> Match {
    if file.names.is_empty() || file.names.iter().any(|name| name.views.is_empty()) {
        let rest =
            any(file.names.iter().flat_map(|n| globs.iter().map(|g| path_match(g, n, file.form, false))));
        return rest.max(Match::maybe(!globs.is_empty()));
    }
    any(file.names.iter().flat_map(|name| globs.iter().map(|g| path_match(g, name, file.form, false))))
}

/// A file in one of these globs, by all of its names.
fn file_within(globs: &[String], file: &PathFact) -> bool {
    let one = |name: &PathName| globs.iter().any(|g| path_match(g, name, file.form, true) == Certain);
    !file.names.is_empty() && file.names.iter().all(one)
}

/// Whether all files that a word may be are known and lie within.
fn files_within(globs: &[String], value: &Carried<'_>) -> bool {
    let enough = match &value.word {
        Word::OneOf(texts) => texts.len().max(1),
        Word::Known(_) | Word::Glob(_) => 1,
        Word::Unknown { .. } => return false,
    };
    value.files.len() >= enough && value.files.iter().all(|file| file_within(globs, file))
}

fn text_within(globs: &[String], word: &Word) -> bool {
    let one = |text: &String| globs.iter().any(|g| exactly(g, text));
    match word {
        Word::Known(text) => one(text),
        Word::OneOf(texts) => !texts.is_empty() && texts.iter().all(one),
        Word::Glob(_) | Word::Unknown { .. } => false,
    }
}
