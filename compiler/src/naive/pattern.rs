//! One pattern of the intermediate form against one text.
//!
//! INVARIANT: says what `docs/semantics.md` says of one pair, without any index.

use crate::ir::{OperandSet, RunPattern, RunStage, RunTerm};
use policy_runtime::facts::{Form, PathName};
use policy_runtime::fold::fold as fold_text;
use policy_runtime::glob::{self, Syntax};
use policy_runtime::run_match::{self, Match};

pub(super) fn path_match(glob: &str, name: &PathName, form: Form, grant: bool) -> Match {
    name.views.iter().map(|view| text_match(glob, view, form, grant, Syntax::Path)).max().unwrap_or_default()
}

pub(super) fn text_match(glob: &str, text: &str, form: Form, grant: bool, syntax: Syntax) -> Match {
    let form = if form == Form::Exact && text.contains(['\u{1}', '\u{2}']) { Form::Holes } else { form };
    let mut flat = String::new();
    match form {
        Form::Glob => glob::flatten(text, &mut flat),
        Form::Exact | Form::Holes => flat.push_str(text),
    }
    if grant {
        let dots = text.split('/').any(|s| s.starts_with('.') && s.contains(['*', '?', '[']));
        let may = form == Form::Exact || (form == Form::Glob && !dots);
        return Match::sure(may && glob::matches(glob, &flat, syntax, false));
    }
    let lower = fold_text(glob);
    if glob::matches(&lower, &fold_text(&flat), syntax, true) {
        return Match::Certain;
    }
    let open = match form {
        Form::Exact => return Match::No,
        Form::Glob => fold_text(text),
        Form::Holes => {
            let special = |c: char| matches!(c, '\\' | '*' | '?' | '[');
            fold_text(text).chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
        }
    };
    Match::maybe(glob::intersects(&lower, &open, syntax, true))
}

pub(super) fn run_match_flat(glob: &str, text: &str) -> bool {
    let mut flat = String::new();
    glob::flatten(text, &mut flat);
    glob::matches(glob, &flat, Syntax::Plain, false)
}

fn texts(list: &[String]) -> run_match::Texts<'_> {
    list.iter().map(String::as_str).collect::<Vec<_>>().into()
}

fn set(set: &OperandSet) -> run_match::OperandSet<'_> {
    run_match::OperandSet {
        paths: texts(&set.paths),
        texts: texts(&set.texts),
        except_paths: texts(&set.except_paths),
        except_texts: texts(&set.except_texts),
    }
}

fn term(term: &RunTerm) -> run_match::Term<'_> {
    match term {
        RunTerm::Word(words) => run_match::Term::Word(texts(words)),
        RunTerm::Flag(flags) => run_match::Term::Flag(texts(flags)),
        RunTerm::AnyWord => run_match::Term::AnyWord,
        RunTerm::AnyFlags => run_match::Term::AnyFlags,
    }
}

fn stage(stage: &RunStage) -> run_match::Stage<'_> {
    run_match::Stage {
        program: texts(&stage.program),
        terms: stage.terms.iter().map(term).collect(),
        rest: stage.rest,
    }
}

/// A run pattern as the matcher takes it.
pub(super) fn borrowed(pattern: &RunPattern) -> run_match::RunPattern<'_> {
    run_match::RunPattern {
        stages: pattern.stages.iter().map(stage).collect(),
        touching: pattern.touching.as_ref().map(set),
        reading: pattern.reading.as_ref().map(set),
        writing: pattern.writing.as_ref().map(set),
        deleting: pattern.deleting.as_ref().map(set),
        sending: pattern.sending.as_ref().map(set),
        via: texts(&pattern.via),
    }
}
