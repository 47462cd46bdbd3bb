//! Code of other languages inside arguments and inputs (`python -c`, `psql -c`, `awk`): what it would do.
//!
//! INVARIANT: `complete` is said only where everything that the code can do is listed or is plain printing and
//! filtering; whatever a reader does not understand makes the answer incomplete. Every reader is linear in the text
//! and bounded in depth.

mod act;
mod awk;
mod data;
mod decode;
mod editor;
mod eval;
mod javascript;
mod lex;
mod lisp;
mod make;
mod perl;
mod php;
mod python;
mod quoted;
mod redis;
mod ruby;
mod science;
mod script;
mod sed;
mod sql;
mod text;

#[cfg(test)]
mod tests;

use super::Word;

/// A language of code in arguments, input and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// awk.
    Awk,
    /// sed.
    Sed,
    /// SQL with the commands of its clients.
    Sql,
    /// Redis commands.
    Redis,
    /// The shell of MongoDB.
    Mongo,
    /// Tcl and Expect.
    Tcl,
    /// AppleScript.
    AppleScript,
    /// R.
    R,
    /// Julia.
    Julia,
    /// Commands of vi, vim and ex.
    Vim,
    /// Commands of gdb and lldb.
    Gdb,
    /// Emacs Lisp.
    Elisp,
    /// Groovy.
    Groovy,
    /// jq filters.
    Jq,
    /// PowerShell.
    PowerShell,
    /// The command processor of Windows.
    Cmd,
    /// fish.
    Fish,
    /// csh and tcsh.
    Csh,
    /// Makefiles.
    Make,
    /// Any other.
    Other,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 26] = [
        Language::Python,
        Language::JavaScript,
        Language::Perl,
        Language::Ruby,
        Language::Php,
        Language::Lua,
        Language::Awk,
        Language::Sed,
        Language::Sql,
        Language::Redis,
        Language::Mongo,
        Language::Tcl,
        Language::AppleScript,
        Language::R,
        Language::Julia,
        Language::Vim,
        Language::Gdb,
        Language::Elisp,
        Language::Groovy,
        Language::Jq,
        Language::PowerShell,
        Language::Cmd,
        Language::Fish,
        Language::Csh,
        Language::Make,
        Language::Other,
    ];
    /// Their names, in the same order.
    pub const NAMES: [&'static str; 26] = [
        "python",
        "javascript",
        "perl",
        "ruby",
        "php",
        "lua",
        "awk",
        "sed",
        "sql",
        "redis",
        "mongo",
        "tcl",
        "applescript",
        "r",
        "julia",
        "vim",
        "gdb",
        "elisp",
        "groovy",
        "jq",
        "powershell",
        "cmd",
        "fish",
        "csh",
        "make",
        "other",
    ];

    /// The name that `program` blocks use.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().zip(Self::NAMES).find(|(language, _)| **language == self);
        found.map_or("other", |(_, name)| name)
    }

    /// The language with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Language> {
        Self::ALL.iter().zip(Self::NAMES).find(|(_, own)| *own == name).map(|(language, _)| *language)
    }
}

/// What a reader found in a code text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// What the code does, in the order of the text.
    pub(crate) inside: Vec<Inside>,
    /// Nothing else can happen than what is listed, plain printing and filtering.
    pub(crate) complete: bool,
}

/// One thing that a code text does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inside {
    /// A text is given to a shell.
    Shell(Word),
    /// A program runs with these words, really or as the command that says the same (`rm -r X`).
    Argv(Vec<Word>),
    /// A file is written, made or emptied.
    Writes(Word),
    /// A file is read.
    Reads(Word),
    /// A text is run as code of the same language, and it is not known.
    Evaluates {
        /// It came out of a decoder.
        decoded: bool,
    },
}

/// Most things that are listed for one text.
const MAX_INSIDE: usize = 256;
/// Depth to which code in strings of the code is read.
const MAX_NEST: usize = 4;
/// Most bytes of one code text that are read.
const MAX_CODE_BYTES: usize = 128 * 1024;

pub(in crate::shell) use decode::hex;

/// Reads a code text that gets these words as arguments; the first is its own name. Never fails: what is not
/// understood is said by `complete`.
pub(crate) fn read(language: Language, code: &str, args: &[Word]) -> Found {
    if code.len() <= MAX_CODE_BYTES && eval::reads(language) {
        return bounded(eval::read(language, code, 0, args));
    }
    nested(language, code, 0)
}

/// The same for a text inside code texts.
fn nested(language: Language, code: &str, nest: usize) -> Found {
    if nest > MAX_NEST || code.len() > MAX_CODE_BYTES {
        return Found::default();
    }
    let found = match language {
        Language::Python
        | Language::JavaScript
        | Language::Mongo
        | Language::Perl
        | Language::Ruby
        | Language::Php
        | Language::Lua
        | Language::R
        | Language::Julia
        | Language::Groovy => eval::read(language, code, nest, &[]),
        Language::Awk => awk::read(code),
        Language::Sed => sed::read(code),
        Language::Jq => data::read(code),
        Language::Sql => sql::read(code),
        Language::Make => make::read(code),
        Language::Redis => redis::read(code),
        Language::Elisp => lisp::read(code),
        Language::Vim | Language::Gdb => editor::read(language, code, nest),
        Language::Tcl | Language::AppleScript => script::read(language, code),
        // A shell of another kind: its simple commands are those of any shell.
        Language::Fish | Language::Csh => {
            Found { inside: vec![Inside::Shell(Word::Known(code.to_string()))], complete: false }
        }
        Language::PowerShell | Language::Cmd | Language::Other => Found::default(),
    };
    bounded(found)
}

fn bounded(mut found: Found) -> Found {
    if found.inside.len() > MAX_INSIDE {
        found.inside.truncate(MAX_INSIDE);
        found.complete = false;
    }
    found
}
