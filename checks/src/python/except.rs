//! Handlers that catch everything, interrupts and exits too.
//!
//! INVARIANT: a handler that raises in its own block is quiet; a raise in a function defined there does not count.

use super::lex::{Line, Python};
use crate::file::File;
use crate::{Found, Options};

/// `except:` and `except BaseException` that keep what they caught.
pub(crate) fn bare(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.is_python() {
        return Vec::new();
    }
    let python = file.python();
    let mut found = Vec::new();
    for (index, line) in python.lines.iter().enumerate() {
        if python.word(line.first) != "except" {
            continue;
        }
        let colon = python.head_end(line);
        if colon == line.end {
            continue;
        }
        let head = line.first + 1..colon;
        let all = head.is_empty();
        let caught = || {
            let mut caught = head.clone().take_while(|at| python.word(*at) != "as");
            caught.any(|at| python.word(at) == "BaseException" && !matches!(python.word(at + 1), "(" | "."))
        };
        if (!all && !caught()) || raises(python, index, colon) {
            continue;
        }
        let message =
            if all { "a bare except catches every error" } else { "catches BaseException and goes on" };
        found.push(file.found(
            python.start(line.first),
            format!("{message}, interrupts and exits too"),
            "name the errors that are expected (`except ValueError:`), or raise again at the end of the block",
        ));
    }
    found
}

fn raises(python: &Python, index: usize, colon: usize) -> bool {
    let end = python.lines.get(index).map_or(0, |line| line.end);
    if (colon + 1..end).any(|at| python.word(at) == "raise") {
        return true;
    }
    let mut inner: Option<u32> = None;
    for line in python.block(index) {
        if inner.is_some_and(|level| line.level > level) {
            continue;
        }
        inner = None;
        if defines(python, line) {
            inner = Some(line.level);
        } else if (line.first..line.end).any(|at| python.word(at) == "raise") {
            return true;
        }
    }
    false
}

/// Does a function or class begin on this line?
pub(crate) fn defines(python: &Python, line: &Line) -> bool {
    matches!(python.word(line.first), "def" | "class")
        || (python.word(line.first) == "async" && python.word(line.first + 1) == "def")
}
