//! One glob of the intermediate form against one text.
//!
//! INVARIANT: says what `docs/semantics.md` says of one pair, without any index and without the runtime's globs.

use super::glob::{self, Piece};
use policy_runtime::facts::{Form, PathName};
use policy_runtime::fold::fold as fold_text;
use policy_runtime::glob::Syntax;
use policy_runtime::run_match::Match;

pub(super) fn path_match(glob: &str, name: &PathName, form: Form, grant: bool) -> Match {
    name.views.iter().map(|view| text_match(glob, view, form, grant, Syntax::Path)).max().unwrap_or_default()
}

pub(super) fn text_match(glob: &str, text: &str, form: Form, grant: bool, syntax: Syntax) -> Match {
    let form = if form == Form::Exact && text.contains(['\u{1}', '\u{2}']) { Form::Holes } else { form };
    if grant {
        let dots = text.split('/').any(|s| s.starts_with('.') && s.contains(['*', '?', '[']));
        let may = form == Form::Exact || (form == Form::Glob && !dots);
        return Match::sure(may && glob::covers(glob, &pieces(text, form), syntax));
    }
    let (glob, value) = (fold_text(glob), pieces(&fold_text(text), form));
    if glob::covers(&glob, &value, syntax) {
        return Match::Certain;
    }
    Match::maybe(form != Form::Exact && glob::meets(&glob, &value, syntax))
}

/// "Where the program's data says that unknown words are data, `*` covers them."
pub(super) fn data_match(glob: &str, text: &str) -> bool {
    glob::covers(glob, &glob::pattern(text), Syntax::Plain)
}

fn pieces(text: &str, form: Form) -> Vec<Piece> {
    match form {
        Form::Glob => glob::pattern(text),
        Form::Exact | Form::Holes => glob::known(text),
    }
}
