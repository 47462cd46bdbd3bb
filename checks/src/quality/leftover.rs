//! What was meant for the time of writing only: prints, breakpoints, notes to do.
//!
//! INVARIANT: prints are looked for in code, notes in comments; strings are neither.

use crate::code::{Code, Kind, read};
use crate::file::{File, part};
use crate::python::lex::Python;
use crate::{Found, Options};

/// Prints for debugging and breakpoints.
pub(crate) fn debug(file: &File, _: &Options) -> Vec<Found> {
    if file.path.is_test() {
        return Vec::new();
    }
    if file.path.is_python() {
        return debug_python(file);
    }
    let mut masked = String::new();
    let Some(code) = read(file, &mut masked) else { return Vec::new() };
    let code = &*code;
    let scripts = file.path.is_script() || file.path.is_html();
    let stem = file.path.stem.to_ascii_lowercase();
    let speaks = file.path.is_tool()
        || file.text.starts_with("#!")
        || stem.ends_with(".config")
        || ["log", "logger", "logging", "console", "gulpfile", "gruntfile"]
            .iter()
            .any(|name| stem == *name || stem.ends_with(&format!(".{name}")));
    let mut found = Vec::new();
    for at in 0..code.tokens.len() {
        if code.kind(at) != Some(Kind::Name) {
            continue;
        }
        let before = code.word(at.wrapping_sub(1));
        let start = !matches!(before, "." | "?.");
        let what = match code.word(at) {
            "console"
                if scripts
                    && start
                    && !speaks
                    && matches!(code.word(at + 1), "." | "?.")
                    && code.word(at + 3) == "(" =>
            {
                matches!(code.word(at + 2), "log" | "debug" | "dir" | "table" | "trace")
                    .then(|| format!("console.{}", code.word(at + 2)))
            }
            "debugger" if scripts && start && is_statement(code, at) => Some("debugger".to_owned()),
            "dbg" if file.path.extension == "rs" && code.word(at + 1) == "!" => Some("dbg!".to_owned()),
            "binding"
                if file.path.extension == "rb"
                    && code.word(at + 1) == "."
                    && matches!(code.word(at + 2), "pry" | "irb") =>
            {
                Some(format!("binding.{}", code.word(at + 2)))
            }
            "byebug" if file.path.extension == "rb" && start => Some("byebug".to_owned()),
            "var_dump" | "dd"
                if file.path.extension == "php"
                    && code.word(at + 1) == "("
                    && before != "function"
                    && start
                    && before != ">" =>
            {
                Some(code.word(at).to_owned())
            }
            _ => None,
        };
        if let Some(what) = what {
            found.push(say(file, code.start(at), &what));
        }
    }
    found
}

fn say(file: &File, offset: usize, what: &str) -> Found {
    file.found(
        offset,
        format!("{what} is left from debugging"),
        "take it out, or use the logger of the project",
    )
}

/// `debugger;` and not a name or a key.
fn is_statement(code: &Code, at: usize) -> bool {
    !matches!(code.word(at + 1), ":" | "(" | "." | "=" | "," | ")" | "?.")
        && matches!(code.word(at.wrapping_sub(1)), "" | ";" | "{" | "}" | ")" | "=>")
        || (at > 0 && code.word(at + 1) == ";")
}

fn debug_python(file: &File) -> Vec<Found> {
    let python = file.python();
    let main = (0..python.tokens.len()).any(|at| {
        python.word(at) == "__name__" && matches!(python.word(at + 2), "'__main__'" | "\"__main__\"")
    });
    let own_print = (0..python.tokens.len()).any(|at| {
        python.word(at) == "print" && matches!(python.word(at.wrapping_sub(1)), "import" | "as" | "def")
    });
    let speaks = main || own_print || file.path.is_tool() || file.text.starts_with("#!");
    let mut found = Vec::new();
    for at in 0..python.tokens.len() {
        let before = python.word(at.wrapping_sub(1));
        if before == "." || before == "def" {
            continue;
        }
        let call = python.word(at + 1) == "(";
        let what = match python.word(at) {
            "print" if call && !speaks && !prints_elsewhere(python, at + 1) => Some("print(...)"),
            "breakpoint" if call => Some("breakpoint()"),
            "pdb" | "ipdb" | "pudb" | "wdb" | "rpdb" | "web_pdb"
                if python.word(at + 1) == "."
                    && matches!(python.word(at + 2), "set_trace" | "post_mortem") =>
            {
                Some("a debugger call")
            }
            "set_trace" if call => Some("a debugger call"),
            "pdb" | "ipdb" | "pudb" if before == "import" && python.word(at + 1) != "." => {
                Some("the import of a debugger")
            }
            _ => None,
        };
        if let Some(what) = what {
            found.push(say(file, python.start(at), what));
        }
    }
    found
}

/// `print(…, file=…)` says where it goes on purpose.
fn prints_elsewhere(python: &Python, open: usize) -> bool {
    let close = python.close(open).min(open + 256);
    let mut at = open + 1;
    while at < close {
        match python.word(at) {
            "(" | "[" | "{" => at = python.close(at),
            "file" if python.word(at + 1) == "=" => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

// Put together, so that a search for them in this source finds none.
const LOUD: &str = concat!("XX", "X");
const MARKS: [&str; 4] = ["TODO", concat!("FIX", "ME"), "HACK", LOUD];

/// Notes of work that is not done, in comments.
pub(crate) fn todo(file: &File, options: &Options) -> Vec<Found> {
    let marks = options.list("markers").unwrap_or_else(|| MARKS.to_vec());
    let mut found = Vec::new();
    for (start, end) in comments(file) {
        let mut at = start as usize;
        for line in part(file.text, at, end as usize).split(['\n', '\r']) {
            if let Some((place, mark)) = note(line, &marks) {
                let message = format!("{} is left in a comment", mark.to_ascii_uppercase());
                found.push(file.found(
                    at + place,
                    message,
                    "do it now, or write an issue and take the note out",
                ));
            }
            at += line.len() + 1;
        }
    }
    found
}

fn comments(file: &File) -> Vec<(u32, u32)> {
    if file.path.is_python() {
        return file.python().comments.clone();
    }
    let mut masked = String::new();
    let mut comments = read(file, &mut masked).map(|code| code.comments.clone()).unwrap_or_default();
    if file.path.is_html() {
        comments.extend(file.html().comments.iter().copied());
        comments.sort_unstable();
    }
    comments
}

/// A mark at the beginning of a comment line, or in capitals with a colon or bracket anywhere in it.
fn note<'m>(line: &str, marks: &[&'m str]) -> Option<(usize, &'m str)> {
    let text =
        line.trim_start_matches(|letter: char| letter.is_whitespace() || "/*#!<-;%@{([".contains(letter));
    let place = line.len() - text.len();
    for mark in marks {
        let Some(head) = text.get(..mark.len()) else { continue };
        let rest = part(text, mark.len(), text.len());
        let word = !rest.starts_with(|letter: char| {
            letter.is_alphanumeric() || letter == '_' || letter == '-' && !rest.starts_with("--")
        });
        if head == *mark && word {
            return Some((place, mark));
        }
        if *mark != LOUD && head.eq_ignore_ascii_case(mark) && rest.trim_start().starts_with([':', '(']) {
            return Some((place, mark));
        }
    }
    for mark in marks {
        for (at, _) in text.match_indices(mark) {
            let before = part(text, 0, at).chars().next_back();
            let rest = part(text, at + mark.len(), text.len());
            if before.is_none_or(|letter| letter.is_whitespace() || "([,;.".contains(letter))
                && rest.starts_with([':', '('])
            {
                return Some((place + at, mark));
            }
        }
    }
    None
}
