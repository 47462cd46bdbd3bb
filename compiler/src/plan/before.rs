//! `given session …`: patterns as examples of what happened before a tested call.
//!
//! INVARIANT: an example is something that its pattern matches.

use crate::code::Sink;
use crate::expect::Before;
use crate::lists::Lists;
use policy_grammar::ast::{self, TermPart};
use policy_grammar::source::FileId;

/// Adds what a `given session` says.
pub(super) fn of(past: &ast::Past, lists: &Lists, file: FileId, sink: &mut Sink, out: &mut Vec<Before>) {
    match past {
        ast::Past::Flagged(_) => out.push(Before::Flagged),
        ast::Past::Ran(items, _) => {
            let runs = lists.runs(file, items, sink);
            out.extend(runs.into_iter().map(|(pattern, _)| Before::Ran(command(pattern))));
        }
        ast::Past::Read(list, _) => out.extend(paths(list, lists, file, sink).map(Before::Read)),
        ast::Past::Wrote(list, _) => out.extend(paths(list, lists, file, sink).map(Before::Wrote)),
    }
}

fn paths(
    list: &ast::List,
    lists: &Lists,
    file: FileId,
    sink: &mut Sink,
) -> impl Iterator<Item = String> + use<> {
    lists.patterns(file, list, sink).into_iter().map(|quoted| path(&quoted.text))
}

/// The first choice of each brace, a file of some name for each star.
fn path(pattern: &str) -> String {
    let plain = first_choices(pattern).replace("**/", "").replace("**", "x").replace(['*', '?'], "x");
    plain.strip_prefix("./").map(str::to_owned).unwrap_or(plain)
}

fn first_choices(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let Some((choices, after)) = behind.split_once('}') else { break };
        out.push_str(choices.split(',').next().unwrap_or_default());
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Without further words, with the first choice of each brace.
fn command(pattern: &ast::RunPattern) -> String {
    let stages = pattern.stages.iter().map(|stage| {
        let words = stage.terms.iter().map(|term| term.parts.iter().map(part).collect::<String>());
        words.collect::<Vec<_>>().join(" ")
    });
    stages.collect::<Vec<_>>().join(" | ")
}

fn part(part: &TermPart) -> String {
    match part {
        TermPart::Text(text) => text.replace("-*", "").replace(['*', '?'], "x"),
        TermPart::Quoted(text) => format!("'{text}'"),
        TermPart::Braces(choices) => {
            choices.first().map(|choice| choice.iter().map(self::part).collect()).unwrap_or_default()
        }
    }
}
