//! cmd texts: percent signs expanded first, then the pest grammar, then a walk that lists what would run.
//!
//! INVARIANT: the facts have the shape of every other shell's. `/S` is told as the flag `-s`, so that patterns name it
//! like any flag; a value that is not known makes the word unknown, and a name of a program with it a gap.

mod expand;
mod walk;
mod words;

use super::MAX_COMMAND_BYTES;
use super::walk::{Task, Walker};
use pest::Parser;

/// The generated parser; its rules stay inside this module.
mod generated {
    #![allow(missing_docs, unreachable_pub)]
    #[derive(pest_derive::Parser)]
    #[grammar = "../cmd.pest"]
    pub struct CmdParser;
}
pub(crate) use generated::Rule;
/// A pair of the grammar.
type Pair<'i> = pest::iterators::Pair<'i, Rule>;

pub(crate) use words::is_builtin;

/// Brackets accepted in a text, counted regardless of quoting.
const MAX_OPENERS: usize = 256;
/// Keywords under which commands nest.
const MAX_KEYWORDS: usize = 64;
/// Brackets under which commands nest.
const MAX_DEPTH: u32 = 48;

/// Reads one text and lists what it runs.
pub(crate) fn read(w: &mut Walker<'_>, task: Task) {
    super::parse::limit_calls();
    let at = task.place.map_or(0, |(start, _)| start);
    if let Some(message) = refusal(&task.text) {
        return w.problem(at, message);
    }
    let expanded = expand::expand(&task.text);
    if expanded.same_line && !task.guess {
        w.problem(at, "a variable is used on the line that sets it, where cmd still has its old value");
    }
    if expanded.text.len() > 2 * MAX_COMMAND_BYTES {
        return w.problem(at, "the command is too long once its variables are put in");
    }
    let pairs = match generated::CmdParser::parse(Rule::script, &expanded.text) {
        Ok(pairs) => pairs,
        Err(error) => {
            let (offset, message) = super::parse::failure(&expanded.text, &error.location, &error.variant);
            if !task.guess {
                let narrow = u32::try_from(offset).unwrap_or(u32::MAX);
                w.problem(task.place.map_or(narrow, |(start, _)| start), message);
            }
            return;
        }
    };
    walk::walk(w, pairs, &expanded.text, &task);
}

/// Why a text is not given to the grammar.
fn refusal(text: &str) -> Option<String> {
    if text.len() > MAX_COMMAND_BYTES {
        return Some(format!("the command is longer than {MAX_COMMAND_BYTES} bytes"));
    }
    if text.bytes().any(|byte| byte < 8) {
        return Some("the command has a control character in it".to_string());
    }
    if text.bytes().filter(|byte| *byte == b'(').count() > MAX_OPENERS {
        return Some(format!("the command has more than {MAX_OPENERS} brackets"));
    }
    let keywords = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| ["if", "for", "else", "do"].iter().any(|k| word.eq_ignore_ascii_case(k)));
    (keywords.count() > MAX_KEYWORDS).then(|| "the command has too many compound keywords".to_string())
}
