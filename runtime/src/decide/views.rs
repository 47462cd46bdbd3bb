//! Values as the automata read them.
//!
//! INVARIANT: a value that is not exactly known has an `open` form, and every refusal is also asked whether it could
//! match that.

use crate::facts::{ArgFact, CommandFact, DomainFact, Form, PathName, Word};
use crate::run_match::{escape, flat};
use std::borrow::Cow;

/// One spelling of a value.
#[derive(Debug, Clone)]
pub(super) struct View<'f> {
    /// For grants: exact letters, what is not known as bytes that only wildcards cover.
    pub(super) sure: Cow<'f, str>,
    /// For refusals: the same, lower case where it is not ASCII (automata fold ASCII).
    pub(super) folded: Cow<'f, str>,
    /// As a value glob, when it is not exactly known.
    pub(super) open: Option<String>,
    /// Grants may match it.
    pub(super) grantable: bool,
}

fn fold<'f>(text: &Cow<'f, str>) -> Cow<'f, str> {
    if text.is_ascii() { text.clone() } else { Cow::Owned(crate::fold::fold(text)) }
}

fn view(text: &str, form: Form) -> View<'_> {
    let odd = text.contains(['\u{1}', '\u{2}']);
    let (sure, open, grantable) = match form {
        Form::Exact if !odd => (Cow::Borrowed(text), None, true),
        // SECURITY: the two marker bytes in a known value would hide it from literals and `?`.
        Form::Exact | Form::Holes => (Cow::Borrowed(text), Some(escape(text)), false),
        Form::Glob => (Cow::Owned(flat(text)), Some(text.to_owned()), !crate::run_match::climbs(text)),
    };
    View { folded: fold(&sure), sure, open, grantable }
}

/// The spellings of one name of a path.
pub(super) fn of_name(name: &PathName, form: Form) -> Vec<View<'_>> {
    name.views.iter().map(|text| view(text, form)).collect()
}

/// A host.
pub(super) fn of_domain(domain: &DomainFact) -> Vec<View<'_>> {
    vec![view(&domain.host, domain.form)]
}

/// An argument as `name NUL value`.
pub(super) fn of_arg(arg: &ArgFact) -> Vec<View<'static>> {
    let text = format!("{}\0{}", arg.name, arg.value);
    let View { sure, folded, open, grantable } = view(&text, Form::Exact);
    vec![View {
        sure: Cow::Owned(sure.into_owned()),
        folded: Cow::Owned(folded.into_owned()),
        open,
        grantable,
    }]
}

/// The text of a command.
pub(super) fn of_command(command: &CommandFact) -> Vec<View<'_>> {
    let known = command.words.iter().all(|w| matches!(w, Word::Known(_)));
    let text = command.text.as_str();
    let (sure, open) = match known && !text.contains(['\u{1}', '\u{2}']) {
        true => (Cow::Borrowed(text), None),
        false => (Cow::Owned(flat(text)), Some(text.to_owned())),
    };
    let data = known || command.unknown_is_data;
    let grantable = data && command.plain && command.gap.is_empty();
    vec![View { folded: fold(&sure), sure, open, grantable }]
}
