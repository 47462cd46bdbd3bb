//! Functions that are `async` and never wait.
//!
//! INVARIANT: quiet where something outside the text may demand `async`: decorators, classes with bases, special methods, stubs.

use std::collections::HashSet;

use super::except::defines;
use super::lex::{Kind, Python};
use crate::file::File;
use crate::{Found, Options};

/// Decorators that leave a function as it is.
const NEUTRAL: [&str; 5] = ["staticmethod", "classmethod", "wraps", "lru_cache", "cache"];

/// `async def` without `await`, `async for`, `async with` or `yield`.
pub(crate) fn unnecessary(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.is_python() || file.path.is_test() || file.path.extension == "pyi" {
        return Vec::new();
    }
    let python = file.python();
    // A function that is handed on as a value may have to be async for whoever calls it.
    let handed: HashSet<&str> = (0..python.tokens.len())
        .filter(|at| python.kind(*at) == Some(Kind::Name) && python.word(at + 1) != "(")
        .filter(|at| matches!(python.word(at.wrapping_sub(1)), "(" | "," | "=" | "[" | ":" | "." | "return"))
        .map(|at| python.word(at))
        .collect();
    let mut found = Vec::new();
    // The classes with bases that the line is in: their levels.
    let mut derived: Vec<(u32, bool)> = Vec::new();
    for (index, line) in python.lines.iter().enumerate() {
        while derived.last().is_some_and(|(level, _)| *level >= line.level) {
            derived.pop();
        }
        if python.word(line.first) == "class" {
            derived.push((line.level, has_bases(python, line.first)));
            continue;
        }
        if python.word(line.first) == "def" {
            derived.push((line.level, false));
            continue;
        }
        if python.word(line.first) != "async" || python.word(line.first + 1) != "def" {
            continue;
        }
        let in_derived = derived.last().is_some_and(|(_, bases)| *bases);
        derived.push((line.level, false));
        let name = python.word(line.first + 2);
        if in_derived || name.starts_with("__") || handed.contains(name) || is_decorated(python, index) {
            continue;
        }
        if !waits(python, index) {
            found.push(file.found(
                python.start(line.first),
                format!("async function {name} never awaits"),
                "make it a plain function, or await what it starts",
            ));
        }
    }
    found
}

fn has_bases(python: &Python, first: usize) -> bool {
    let mut open = first + 2;
    if python.word(open) == "[" {
        open = python.close(open) + 1;
    }
    if python.word(open) != "(" {
        return false;
    }
    (open + 1..python.close(open))
        .any(|at| python.kind(at) == Some(Kind::Name) && python.word(at) != "object")
}

fn is_decorated(python: &Python, index: usize) -> bool {
    let level = python.lines.get(index).map_or(0, |line| line.level);
    let above = python.lines.get(..index).unwrap_or(&[]);
    above.iter().rev().take_while(|line| line.level == level && python.word(line.first) == "@").any(|line| {
        let mut last = line.first + 1;
        while python.word(last + 1) == "." {
            last += 2;
        }
        !NEUTRAL.contains(&python.word(last))
    })
}

/// Does the body wait, give values, or say nothing yet?
fn waits(python: &Python, index: usize) -> bool {
    let Some(line) = python.lines.get(index) else { return true };
    let colon = python.head_end(line);
    let inline = colon + 1..line.end;
    if inline.clone().any(|at| matches!(python.word(at), "await" | "yield"))
        || is_stub(python, inline.clone())
    {
        return true;
    }
    let block = python.block(index);
    if inline.is_empty() && block.is_empty() {
        return true;
    }
    if !block.is_empty() && block.iter().all(|line| is_stub(python, line.first..line.end)) {
        return true;
    }
    let mut inner: Option<u32> = None;
    for line in block {
        if inner.is_some_and(|level| line.level > level) {
            continue;
        }
        inner = None;
        if defines(python, line) {
            inner = Some(line.level);
            continue;
        }
        let waiting = |at: usize| {
            matches!(python.word(at), "await" | "yield")
                || (python.word(at) == "async" && matches!(python.word(at + 1), "for" | "with"))
        };
        if (line.first..line.end).any(waiting) {
            return true;
        }
    }
    false
}

/// `pass`, `...`, a text alone, or `raise NotImplementedError`.
pub(crate) fn is_stub(python: &Python, tokens: std::ops::Range<usize>) -> bool {
    match tokens.len() {
        0 => false,
        1 => {
            matches!(python.word(tokens.start), "pass" | "...")
                || python.kind(tokens.start) == Some(Kind::Str)
        }
        _ => python.word(tokens.start) == "raise" && python.word(tokens.start + 1) == "NotImplementedError",
    }
}
