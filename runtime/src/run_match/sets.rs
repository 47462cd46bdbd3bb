//! Operands, flag values and redirect targets against sets of paths and texts.
//!
//! INVARIANT: a grant needs every name of every path in the set and none of them taken back; a refusal needs one.

use super::stored::Ask;
use super::{Match, OperandSet, Texts, escape, exact, flat, folded, folded_in, meets, word_refused};
use crate::facts::{CommandFact, Facts, Form, Part, PathFact, PathName, Word};
use crate::glob::{self, Syntax};

/// Whether one name of a path is in these globs, as a refusal sees it.
pub(crate) fn name_refused(globs: &Texts<'_>, name: &PathName, form: Form) -> Match {
    if globs.is_empty() {
        return Match::No;
    }
    if name.views.is_empty() {
        return Match::Possible;
    }
    let certain = match globs.index() {
        Some((lists, id)) => lists.holds(id, name, form, Ask::Folded),
        None => name.views.iter().any(|view| match form {
            Form::Exact | Form::Holes => globs.each(0).any(|g| folded_in(g, view, Syntax::Path)),
            Form::Glob => {
                let text = flat(view);
                globs.each(0).any(|g| folded_in(g, &text, Syntax::Path))
            }
        }),
    };
    if certain {
        return Match::Certain;
    }
    // Only what is not exactly known is compared with each glob.
    let possible = name.views.iter().any(|view| {
        let escaped;
        let value = match form {
            Form::Exact if !view.contains(['\u{1}', '\u{2}']) => return false,
            Form::Exact | Form::Holes => {
                escaped = escape(view);
                &escaped
            }
            Form::Glob => view,
        };
        globs.each(value.len()).any(|g| meets(g, value, Syntax::Path))
    });
    Match::maybe(possible)
}

/// Whether one name of a path is in these globs, as a grant sees it.
pub(crate) fn name_granted(globs: &Texts<'_>, name: &PathName, form: Form) -> bool {
    if globs.is_empty() {
        return false;
    }
    if let Some((lists, id)) = globs.index() {
        return lists.holds(id, name, form, Ask::Exact);
    }
    name.views.iter().any(|view| {
        let text = match form {
            Form::Exact => view.clone(),
            // SECURITY: `./src/.*/x` may be `./src/../x`; other wildcards never stand for `..`.
            Form::Glob if climbs(view) => return false,
            Form::Glob => flat(view),
            // SECURITY: a hole may be `../../etc`.
            Form::Holes => return false,
        };
        globs.each(0).any(|g| glob::matches(g, &text, Syntax::Path, false))
    })
}

/// Whether a file-name pattern has a segment that a shell may read as `..`.
pub(crate) fn climbs(view: &str) -> bool {
    view.split('/').any(|segment| segment.starts_with('.') && segment.contains(['*', '?', '[']))
}

/// Whether any name of a path is in these globs.
pub(crate) fn path_refused(globs: &Texts<'_>, path: &PathFact) -> Match {
    if path.names.is_empty() {
        return Match::maybe(!globs.is_empty());
    }
    path.names.iter().map(|name| name_refused(globs, name, path.form)).max().unwrap_or_default()
}

/// Whether every name of a path is in these globs.
pub(crate) fn path_granted(globs: &Texts<'_>, path: &PathFact) -> bool {
    !path.names.is_empty() && path.names.iter().all(|name| name_granted(globs, name, path.form))
}

/// The paths that a word may be.
pub(super) fn paths_of<'f>(facts: &'f Facts, command: &CommandFact, index: usize) -> Vec<&'f PathFact> {
    let path = |number: u32| facts.paths.get(number as usize);
    let mut out: Vec<&PathFact> =
        command.word_paths.get(index).copied().flatten().and_then(path).into_iter().collect();
    if let Some(Word::OneOf(_)) = command.words.get(index) {
        let more = command.one_of_paths.iter().filter(|(word, _)| *word as usize == index);
        let more: Vec<&PathFact> = more.filter_map(|(_, number)| path(*number)).collect();
        if !more.is_empty() {
            out = more;
        }
    }
    out
}

/// One operand, flag value or attached flag value.
pub(super) struct Operand<'f> {
    pub(super) word: Word,
    pub(super) paths: Vec<&'f PathFact>,
}

/// The value that a word carries: itself, or what is attached to a flag. `None` for a bare flag, `--` and the program.
pub(super) fn operand<'f>(facts: &'f Facts, command: &CommandFact, index: usize) -> Option<Operand<'f>> {
    let word = command.words.get(index)?;
    let paths = paths_of(facts, command, index);
    match command.parts.get(index).unwrap_or(&Part::Unclear) {
        Part::Program | Part::Dashes => None,
        Part::Flag { value: Some(value), .. } => {
            let word = match word {
                Word::Known(_) => Word::Known(value.clone()),
                Word::Unknown { splits, .. } => Word::Unknown { text: value.clone(), splits: *splits },
                Word::OneOf(_) | Word::Glob(_) => Word::Unknown { text: "\u{1}".to_owned(), splits: true },
            };
            Some(Operand { word, paths })
        }
        Part::Flag { value: None, .. } if paths.is_empty() && matches!(word, Word::Known(_)) => None,
        Part::Flag { .. } | Part::FlagValue { .. } | Part::Operand | Part::Unclear => {
            Some(Operand { word: word.clone(), paths })
        }
    }
}

/// Whether an operand is in the set, as a refusal sees it.
pub(super) fn operand_refused(set: &OperandSet<'_>, operand: &Operand<'_>) -> Match {
    let text = word_refused(&set.texts, &operand.word);
    let by_path = |path: &&PathFact| path_refused(&set.paths, path);
    let path = match &operand.word {
        Word::Known(_) => operand.paths.iter().map(by_path).max().unwrap_or_default(),
        Word::OneOf(texts) if operand.paths.len() >= texts.len() => {
            Match::every(operand.paths.iter().map(by_path))
        }
        Word::Glob(_) | Word::Unknown { splits: false, .. } if !operand.paths.is_empty() => {
            operand.paths.iter().map(by_path).max().unwrap_or_default()
        }
        // Any path may come of it.
        _ => Match::maybe(!set.paths.is_empty()),
    };
    let found = text.max(path);
    if found > Match::No && taken_back_surely(set, operand) { Match::No } else { found }
}

/// Whether everything below an operand holds something of the set: the operand lies above an anchored glob.
pub(super) fn tree_refused(set: &OperandSet<'_>, operand: &Operand<'_>) -> bool {
    let above = |name: &PathName| match set.paths.index() {
        Some((lists, id)) => lists.holds(id, name, Form::Exact, Ask::Above),
        None => name.views.iter().any(|view| {
            set.paths.each(0).any(|glob| fronts(glob).any(|front| folded_in(front, view, Syntax::Path)))
        }),
    };
    let mut names = operand.paths.iter().filter(|path| path.form == Form::Exact).flat_map(|path| &path.names);
    !set.paths.is_empty() && !taken_back_surely(set, operand) && names.any(above)
}

/// The folders above what a glob may match, as globs; none when it may match in any folder.
pub fn fronts(glob: &str) -> impl Iterator<Item = &str> {
    let anchored = !glob.starts_with("**");
    let root = (anchored && glob.starts_with('/')).then_some("/");
    let ends = glob.match_indices('/').map(|(at, _)| at).filter(move |at| anchored && *at > 0);
    root.into_iter().chain(ends.filter_map(|end| glob.get(..end)))
}

fn taken_back_surely(set: &OperandSet<'_>, operand: &Operand<'_>) -> bool {
    let text = match &operand.word {
        Word::Known(text) => text_in(&set.except_texts, text),
        Word::OneOf(texts) => !texts.is_empty() && texts.iter().all(|t| text_in(&set.except_texts, t)),
        Word::Glob(_) | Word::Unknown { .. } => false,
    };
    text || paths_granted(&set.except_paths, operand)
}

fn text_in(globs: &Texts<'_>, text: &str) -> bool {
    globs.each(text.len()).any(|p| exact(p, text))
}

fn paths_granted(globs: &Texts<'_>, operand: &Operand<'_>) -> bool {
    let needed = match &operand.word {
        Word::Known(_) | Word::Glob(_) => 1,
        Word::OneOf(texts) => texts.len().max(1),
        Word::Unknown { .. } => return false,
    };
    operand.paths.len() >= needed && operand.paths.iter().all(|path| path_granted(globs, path))
}

/// Whether an operand is in the set, as a grant sees it.
pub(super) fn operand_granted(set: &OperandSet<'_>, operand: &Operand<'_>) -> bool {
    let text = match &operand.word {
        Word::Known(text) => text_in(&set.texts, text),
        Word::OneOf(all) => !all.is_empty() && all.iter().all(|t| text_in(&set.texts, t)),
        Word::Glob(text) => text_in(&set.texts, &flat(text)),
        Word::Unknown { .. } => return false,
    };
    (text || paths_granted(&set.paths, operand)) && !taken_back_maybe(set, operand)
}

/// Whether the set has every entry of the folder, so that a name without folders is in it should it be taken for a path.
pub(super) fn name_in_folder_granted(set: &OperandSet<'_>, folder: &PathName, word: &Word) -> bool {
    let has = |view: &String| {
        let entry = format!("{view}/\u{1}");
        let mut whole = set.paths.each(entry.len()).filter(|g| g.ends_with("/**"));
        whole.any(|g| glob::matches(g, &entry, Syntax::Path, false))
    };
    set.except_paths.is_empty()
        && word_refused(&set.except_texts, word) == Match::No
        && folder.views.iter().any(has)
}

fn taken_back_maybe(set: &OperandSet<'_>, operand: &Operand<'_>) -> bool {
    let text = match &operand.word {
        Word::Known(text) => set.except_texts.each(text.len()).any(|p| folded(p, text)),
        word => word_refused(&set.except_texts, word) > Match::No,
    };
    let unknown =
        !matches!(operand.word, Word::Known(_)) && operand.paths.is_empty() && !set.except_paths.is_empty();
    text || unknown || operand.paths.iter().any(|path| path_refused(&set.except_paths, path) > Match::No)
}

/// Whether a path (a redirect target) is in the set, as a refusal sees it.
pub(super) fn target_refused(set: &OperandSet<'_>, path: Option<&PathFact>) -> Match {
    match path {
        None => Match::Possible,
        Some(path) => operand_refused(set, &target(path)),
    }
}

/// Whether a path (a redirect target) is in the set, as a grant sees it.
pub(super) fn target_granted(set: &OperandSet<'_>, path: Option<&PathFact>) -> bool {
    path.is_some_and(|path| operand_granted(set, &target(path)))
}

fn target(path: &PathFact) -> Operand<'_> {
    let text = path.written.clone();
    let word = match path.form {
        Form::Exact => Word::Known(text),
        Form::Glob => Word::Glob(text),
        Form::Holes => Word::Unknown { text, splits: false },
    };
    Operand { word, paths: vec![path] }
}
