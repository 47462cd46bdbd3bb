//! PowerShell texts: the pest grammar, then a walk over its pairs that lists what would run.
//!
//! INVARIANT: the facts have the shape of every other shell's. What is not understood is a problem of the text or a gap
//! of the command; a script block is always code, whatever it is given to.

mod code;
mod command;
mod expr;
mod list;
mod methods;
pub(crate) mod names;
mod native;
mod output;
mod value;
mod walk;

use super::walk::{Task, Walker};
use super::{Dir, MAX_COMMAND_BYTES, PipePlace, Redirect};
use pest::Parser;
use std::collections::{BTreeMap, BTreeSet};
use value::Value;

/// The generated parser; its rules stay inside this module.
mod generated {
    #![allow(missing_docs, unreachable_pub)]
    #[derive(pest_derive::Parser)]
    #[grammar = "../pwsh.pest"]
    pub struct PwshParser;
}
pub(crate) use code::encoded_command as code_text;
pub(crate) use generated::Rule;
pub(crate) use list::reading_of;
pub(crate) use value::well_known;
/// A pair of the grammar.
type Pair<'i> = pest::iterators::Pair<'i, Rule>;

/// Brackets accepted in a text, counted regardless of quoting: the parser's stack is that of the caller.
const MAX_OPENERS: usize = 256;
/// Constructs inside each other that are walked.
const MAX_DEPTH: u32 = 48;

/// What a reader knows of the session at one place of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    vars: BTreeMap<String, Value>,
    functions: BTreeSet<String>,
    aliases: BTreeMap<String, String>,
    /// Files that were fetched before, in lower case.
    fetched_files: BTreeSet<String>,
    dir: Dir,
    /// A variable that changes what runs was set.
    risky: bool,
    /// A name was given another meaning that is not followed, so every name may mean something else.
    redefined: bool,
}

/// What a command gets from the constructs around it.
#[derive(Debug, Clone, Default)]
struct Around {
    redirects: Vec<Redirect>,
    wrappers: Vec<String>,
    pipe: Option<PipePlace>,
    /// What comes through the pipe; none outside one.
    input: Option<Value>,
    /// In a function or a block that something keeps for later.
    deferred: bool,
}

/// Whether an expression that stands as a statement shows its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// It is printed.
    Print,
    /// Something takes it.
    Value,
}

/// The walk over one text.
pub(crate) struct Reader<'w, 'p> {
    w: &'w mut Walker<'p>,
    source: String,
    place: Option<(u32, u32)>,
    /// Texts around this one.
    depth: usize,
    /// Constructs around the place that is walked.
    level: u32,
}

/// Reads one text and lists what it runs.
pub(crate) fn read(w: &mut Walker<'_>, task: Task) {
    super::parse::limit_calls();
    let text = ascii(&task.text);
    let at = task.place.map_or(0, |(start, _)| start);
    if let Some(message) = refusal(&text) {
        return w.problem(at, message);
    }
    let pairs = match generated::PwshParser::parse(Rule::script, &text) {
        Ok(pairs) => pairs,
        Err(error) => {
            let (at, message) = super::parse::failure(&text, &error.location, &error.variant);
            let inner = task.place.map(|(start, _)| start);
            let narrow = u32::try_from(at).unwrap_or(u32::MAX);
            if !task.guess {
                w.problem(inner.unwrap_or(narrow), message);
            }
            return;
        }
    };
    let around = Around {
        redirects: task.ctx.redirects.clone(),
        wrappers: task.ctx.wrappers.clone(),
        pipe: task.ctx.pipe,
        input: None,
        deferred: task.ctx.deferred,
    };
    let mut state = State {
        vars: BTreeMap::new(),
        functions: BTreeSet::new(),
        aliases: BTreeMap::new(),
        fetched_files: BTreeSet::new(),
        dir: task.env.dir.clone(),
        risky: task.env.risky,
        redefined: false,
    };
    if let Some(outer) = task.env.session.clone() {
        state = *outer;
    }
    let mut reader = Reader { w, source: text.clone(), place: task.place, depth: task.depth, level: 0 };
    for script in pairs {
        for pair in script.into_inner() {
            if pair.as_rule() == Rule::statements {
                reader.statements(pair, &mut state, &around, Want::Print);
            }
        }
    }
}

/// Typography as PowerShell reads it: its dashes are dashes, its quotes are quotes.
fn ascii(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| match c {
            '\u{2013}' | '\u{2014}' | '\u{2015}' => '-',
            '\u{2018}'..='\u{201b}' => '\'',
            '\u{201c}'..='\u{201e}' => '"',
            '\u{85}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
            '\u{2028}' | '\u{2029}' => '\n',
            c => c,
        })
        .collect()
}

/// Why a text is not given to the grammar.
fn refusal(text: &str) -> Option<String> {
    if text.len() > MAX_COMMAND_BYTES {
        return Some(format!("the command is longer than {MAX_COMMAND_BYTES} bytes"));
    }
    if text.contains('\0') {
        return Some("the command has a NUL byte".to_string());
    }
    // Only these nest; quotes and `$` do so only with one of them.
    let openers = text.bytes().filter(|byte| matches!(byte, b'(' | b'{' | b'[')).count();
    (openers > MAX_OPENERS).then(|| format!("the command has more than {MAX_OPENERS} brackets"))
}
