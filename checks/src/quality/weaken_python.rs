//! Weaker tests in Python.
//!
//! INVARIANT: as in `weaken`; functions are known by their name within the file.

use super::weaken::{Claims, say};
use crate::Found;
use crate::file::{File, part};
use crate::python::asyncs::is_stub;
use crate::python::lex::{Kind, Line, Python};

pub(crate) fn look(file: &File) -> (Vec<Found>, Claims) {
    let python = file.python();
    let mut found = Vec::new();
    let mut claims = Claims::new();
    for line in &python.lines {
        if let Some((at, message)) = line_message(python, line) {
            found.push(say(file, python.start(at), message));
        }
    }
    for (index, line) in python.lines.iter().enumerate() {
        let def = if python.word(line.first) == "async" { line.first + 1 } else { line.first };
        let name = python.word(def + 1);
        if python.word(def) != "def" || !name.starts_with("test") {
            continue;
        }
        let colon = python.head_end(line);
        let block = python.block(index);
        let inline = colon + 1..line.end;
        let nothing = |tokens: std::ops::Range<usize>| {
            is_stub(python, tokens.clone()) && python.word(tokens.start) != "raise"
                || (tokens.len() == 1 && python.word(tokens.start) == "return")
        };
        let empty = if inline.is_empty() {
            !block.is_empty() && block.iter().all(|line| nothing(line.first..line.end))
        } else {
            nothing(inline.clone())
        };
        if empty {
            found.push(say(file, python.start(line.first), "a test has an empty body"));
        }
        let end = block.last().map_or(line.end, |last| last.end);
        let count = (colon + 1..end).filter(|at| is_claim(python, *at)).count();
        claims.insert(name.to_owned(), (python.start(line.first), if empty { 1 } else { count }));
        // A skip that always happens stands directly in the body.
        for inner in block.iter().filter(|inner| inner.level == line.level + 1) {
            if is_skip_call(python, inner) {
                found.push(say(file, python.start(inner.first), "a test is skipped"));
            }
        }
    }
    for line in python.lines.iter().filter(|line| line.level == 0) {
        if is_skip_call(python, line) {
            found.push(say(file, python.start(line.first), "a test is skipped"));
        }
    }
    for (start, end) in &python.comments {
        let comment = part(file.text, *start as usize, *end as usize).trim_start_matches(['#', ' ']);
        if is_commented_claim(comment) {
            found.push(say(file, *start as usize, "a claim is turned into a comment"));
        }
    }
    found.sort_by_key(|found| (found.line, found.column));
    (found, claims)
}

fn is_claim(python: &Python, at: usize) -> bool {
    let word = python.word(at);
    python.kind(at) == Some(Kind::Name)
        && (["assert", "expect", "verify", "check", "should", "ensure"]
            .iter()
            .any(|start| word.starts_with(start))
            || matches!(word, "raises" | "warns" | "fail" | "approx"))
}

fn is_skip_call(python: &Python, line: &Line) -> bool {
    let starts = |words: &[&str]| {
        words.iter().enumerate().all(|(offset, word)| python.word(line.first + offset) == *word)
    };
    starts(&["pytest", ".", "skip", "("])
        || starts(&["self", ".", "skipTest", "("])
        || starts(&["raise", "unittest", ".", "SkipTest"])
        || starts(&["raise", "SkipTest"])
}

/// What one line weakens, and the token that does.
fn line_message(python: &Python, line: &Line) -> Option<(usize, &'static str)> {
    let mut first = line.first;
    for at in line.first..line.end {
        match python.word(at) {
            ";" | ":" => first = at + 1,
            "skip" => {
                let marked =
                    python.word(at.wrapping_sub(1)) == "." && python.word(at.wrapping_sub(2)) == "mark";
                let decorator = python.word(line.first) == "@"
                    && (python.word(at.wrapping_sub(2)) == "unittest" || at == line.first + 1);
                if marked || decorator {
                    return Some((line.first, "a test is skipped"));
                }
            }
            "skipif" | "skipIf"
                if python.word(at + 1) == "("
                    && matches!(python.word(at + 2), "True" | "1")
                    && matches!(python.word(at + 3), "," | ")") =>
            {
                return Some((line.first, "a test is skipped"));
            }
            "xfail"
                if python.word(at.wrapping_sub(1)) == "." && python.word(at.wrapping_sub(2)) == "mark" =>
            {
                let bare = python.word(at + 1) != "(" || python.word(at + 2) == ")";
                if bare {
                    return Some((line.first, "a test is marked as failing without a reason"));
                }
            }
            "expectedFailure" if python.word(line.first) == "@" => {
                return Some((line.first, "a test is marked as failing without a reason"));
            }
            "assert" if at == first && is_always_true(python, at + 1, line.end) => {
                return Some((at, "a claim about a constant is always true"));
            }
            "assertTrue" | "assertFalse" | "assertIsNone" | "assertIsNotNone" | "assertEqual"
            | "assertEquals" | "assertIs"
                if python.word(at + 1) == "(" =>
            {
                let single = matches!(python.word(at + 3), ")" | ",");
                let value = python.word(at + 2);
                let always = match python.word(at) {
                    "assertTrue" => single && is_truth(python, at + 2),
                    "assertFalse" => single && matches!(value, "False" | "0" | "None"),
                    "assertIsNone" => single && value == "None",
                    "assertIsNotNone" => single && (value == "True" || is_truth(python, at + 2)),
                    _ => {
                        python.word(at + 3) == ","
                            && value == python.word(at + 4)
                            && is_constant(python, at + 2)
                            && matches!(python.word(at + 5), ")" | ",")
                    }
                };
                if always {
                    return Some((at, "a claim about a constant is always true"));
                }
            }
            _ => {}
        }
    }
    None
}

fn is_constant(python: &Python, at: usize) -> bool {
    matches!(python.word(at), "True" | "False" | "None")
        || matches!(python.kind(at), Some(Kind::Number | Kind::Str))
}

fn is_truth(python: &Python, at: usize) -> bool {
    let word = python.word(at);
    match python.kind(at) {
        Some(Kind::Number) => !matches!(word, "0" | "0.0"),
        Some(Kind::Str) => word.len() > 2 && !matches!(word, "\"\"\"\"\"\"" | "''''''"),
        _ => word == "True",
    }
}

/// The condition of an `assert` from its first token on.
fn is_always_true(python: &Python, at: usize, end: usize) -> bool {
    let ends = |at: usize| at >= end || matches!(python.word(at), "," | ";");
    if is_truth(python, at) && ends(at + 1) {
        return true;
    }
    if matches!(python.word(at + 1), "==" | "is")
        && is_constant(python, at)
        && python.word(at) == python.word(at + 2)
        && ends(at + 3)
    {
        return true;
    }
    if python.word(at) == "not" && matches!(python.word(at + 1), "False" | "None" | "0") && ends(at + 2) {
        return true;
    }
    // `… or True`
    (at..end).any(|here| python.word(here) == "or" && python.word(here + 1) == "True" && ends(here + 2))
}

/// `assert x == 1` and no sentence that begins with the word.
fn is_commented_claim(comment: &str) -> bool {
    if let Some(rest) = comment.strip_prefix("self.assert") {
        return rest.contains('(');
    }
    let Some(claim) = comment.strip_prefix("assert ") else { return false };
    let claim = claim.trim();
    if claim.is_empty() || claim.len() > 400 || claim.ends_with(['.', ':']) {
        return false;
    }
    let python = Python::read(claim);
    let joins = [
        "and", "or", "not", "in", "is", "if", "else", "for", "None", "True", "False", "lambda", "await",
        "async",
    ];
    let plain = |at: usize| python.kind(at) == Some(Kind::Name) && !joins.contains(&python.word(at));
    !(0..python.tokens.len()).any(|at| plain(at) && plain(at + 1))
}
