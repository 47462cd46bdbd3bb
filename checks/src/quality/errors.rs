//! A change that takes the handling of errors away and keeps what may fail.
//!
//! INVARIANT: code that goes together with its handling is no finding; the same handling in another form is none either.

use std::collections::{HashMap, HashSet};

use crate::code::{Kind, read};
use crate::file::{File, part};
use crate::{Found, Options};

/// One place where errors are handled, and the names that are called under it.
#[derive(Default)]
struct Handling<'a> {
    handlers: usize,
    guarded: HashSet<&'a str>,
    /// How often each name is called, and where first.
    calls: HashMap<&'a str, (usize, usize)>,
    /// Functions and classes that are defined.
    defined: HashSet<&'a str>,
    tokens: usize,
}

/// Is handling of errors gone while what it guarded stays?
pub(crate) fn removal(after: &File, before: Option<&File>, _: &Options) -> Vec<Found> {
    let Some(before) = before else { return Vec::new() };
    if after.path.is_test() || before.text == after.text {
        return Vec::new();
    }
    let (mut old_masked, mut new_masked) = (String::new(), String::new());
    let (Some(old_code), Some(new_code)) = (tokens(before, &mut old_masked), tokens(after, &mut new_masked))
    else {
        return Vec::new();
    };
    let (old, new) = (handling(&old_code), handling(&new_code));
    if new.handlers >= old.handlers || new.tokens == 0 {
        return Vec::new();
    }
    // In the order of the text, so that the answer is always the same.
    let mut bare: Vec<(usize, &str)> = old
        .guarded
        .iter()
        .filter(|name| !new.guarded.contains(**name))
        .filter_map(|name| {
            let (count, first) = new.calls.get(name)?;
            let before = old.calls.get(name).map_or(0, |(count, _)| *count);
            (*count >= before).then_some((*first, *name))
        })
        .collect();
    bare.sort_unstable();
    let suggest = "keep the handling, or say in the change where the error is handled now";
    if let Some((offset, name)) = bare.first() {
        return vec![after.found(*offset, format!("the handling of errors around {name} is gone"), suggest)];
    }
    let gone = old.defined.iter().any(|name| !new.defined.contains(name));
    let stays = old.guarded.iter().any(|name| new.calls.contains_key(name));
    if new.handlers == 0 && (stays || !gone) {
        return vec![after.found_whole("the handling of errors in this file is gone", suggest)];
    }
    Vec::new()
}

/// The tokens that matter here, of any language: the word, its kind, its place.
struct Word<'a> {
    text: &'a str,
    name: bool,
    start: usize,
}

struct Words<'a> {
    words: Vec<Word<'a>>,
    language: Language,
    /// For Python: the tokens of each `try` block.
    blocks: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Braces,
    Go,
    Ruby,
}

fn tokens<'a>(file: &'a File, masked: &'a mut String) -> Option<Words<'a>> {
    if file.path.is_python() {
        let python = file.python();
        let words = python
            .tokens
            .iter()
            .map(|token| Word {
                text: part(file.text, token.start as usize, token.end as usize),
                name: token.kind == crate::python::lex::Kind::Name,
                start: token.start as usize,
            })
            .collect();
        let mut blocks = Vec::new();
        for (index, line) in python.lines.iter().enumerate() {
            if python.word(line.first) == "try" {
                let end = python.block(index).last().map_or(line.end, |last| last.end);
                blocks.push((line.first, end));
            }
        }
        return Some(Words { words, language: Language::Python, blocks });
    }
    let language = match file.path.extension.as_str() {
        "go" => Language::Go,
        "rb" => Language::Ruby,
        "java" | "kt" | "scala" | "swift" | "cs" | "dart" | "php" | "cc" | "cpp" | "cxx" | "hpp" => {
            Language::Braces
        }
        _ if file.path.is_script() || file.path.is_html() => Language::Braces,
        _ => return None,
    };
    let code = read(file, masked)?;
    let mut words = Vec::with_capacity(code.tokens.len());
    let mut blocks = Vec::new();
    for (index, token) in code.tokens.iter().enumerate() {
        // Names of tags too: an error boundary is one.
        let text = part(file.text, token.start as usize, token.end as usize).trim_start_matches('<');
        words.push(Word {
            text,
            name: matches!(token.kind, Kind::Name | Kind::Tag),
            start: token.start as usize,
        });
        if text == "try" && code.word(index + 1) == "{" {
            blocks.push((index + 1, code.close(index + 1)));
        }
    }
    Some(Words { words, language, blocks })
}

fn handling<'a>(code: &Words<'a>) -> Handling<'a> {
    let mut handling = Handling { tokens: code.words.len(), ..Handling::default() };
    let word = |at: usize| code.words.get(at).map_or("", |word| word.text);
    let is_call = |at: usize| {
        code.words.get(at).is_some_and(|here| here.name)
            && word(at + 1) == "("
            && !matches!(
                word(at),
                "if" | "for"
                    | "while"
                    | "switch"
                    | "catch"
                    | "return"
                    | "except"
                    | "func"
                    | "function"
                    | "print"
                    | "log"
                    | "and"
                    | "or"
                    | "not"
                    | "in"
            )
            && !matches!(word(at.wrapping_sub(1)), "def" | "func" | "function" | "class" | "new")
    };
    let take = |handling: &mut Handling<'a>, from: usize, to: usize| {
        for at in from..to.min(from + 2000) {
            if is_call(at) {
                handling.guarded.insert(word(at));
            }
        }
    };
    let mut reached = 0;
    for (start, end) in &code.blocks {
        handling.handlers += 1;
        // Inner blocks are part of the outer one, so each token is looked at once.
        let from = (*start).max(reached);
        for at in from..*end {
            if is_call(at) {
                handling.guarded.insert(word(at));
            }
        }
        reached = reached.max(*end);
    }
    for at in 0..code.words.len() {
        if matches!(word(at.wrapping_sub(1)), "def" | "func" | "function" | "class")
            && code.words.get(at).is_some_and(|here| here.name)
        {
            handling.defined.insert(word(at));
        }
        if is_call(at) {
            let start = code.words.get(at).map_or(0, |here| here.start);
            handling.calls.entry(word(at)).or_insert((0, start)).0 += 1;
        }
        let before = |count: usize| at.saturating_sub(count);
        match (code.language, word(at)) {
            (Language::Braces, "catch")
                if matches!(word(at.wrapping_sub(1)), "." | "?.") && word(at + 1) == "(" =>
            {
                handling.handlers += 1;
                take(&mut handling, before(24), at);
            }
            (Language::Braces, "ErrorBoundary") if code.words.get(at).is_some_and(|here| here.name) => {
                handling.handlers += 1
            }
            (Language::Python, "is")
                if word(at + 1) == "None"
                    && matches!(word(at.wrapping_sub(2)), "if" | "elif")
                    && word(at + 2) == ":" =>
            {
                handling.handlers += 1;
                take(&mut handling, before(24), at.saturating_sub(2));
            }
            (Language::Go, "nil")
                if word(at.wrapping_sub(1)) == "="
                    && word(at.wrapping_sub(2)) == "!"
                    && is_error(word(at.wrapping_sub(3))) =>
            {
                handling.handlers += 1;
                take(&mut handling, before(24), at);
            }
            (Language::Ruby, "rescue") => {
                handling.handlers += 1;
                take(&mut handling, before(40), at);
            }
            _ => {}
        }
    }
    handling
}

fn is_error(name: &str) -> bool {
    name == "err" || name.ends_with("Err") || name.starts_with("err")
}
