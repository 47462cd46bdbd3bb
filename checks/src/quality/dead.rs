//! Imports that nothing uses.
//!
//! INVARIANT: whatever might use a name counts as its use: a quoted annotation, a hole of an f-string, a tag, a documentation comment.

use std::collections::HashSet;

use crate::code::{Code, Kind};
use crate::file::{File, part};
use crate::python::lex::{Python, literal};
use crate::python::names::imports;
use crate::{Found, Options};

/// Imported names that the rest of the text does not say.
pub(crate) fn imports_unused(file: &File, _: &Options) -> Vec<Found> {
    if file.path.is_python() && !matches!(file.path.name, "__init__.py" | "__init__.pyi" | "conftest.py") {
        python(file)
    } else if file.path.is_script() {
        scripts(file)
    } else {
        Vec::new()
    }
}

fn say(file: &File, offset: usize, name: &str) -> Found {
    file.found(offset, format!("{name} is imported and not used"), "take the import out, or use it")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '$'))
        .filter(|word| !word.is_empty())
}

fn python(file: &File) -> Vec<Found> {
    let python = file.python();
    let imports = imports(python);
    if imports.is_empty() {
        return Vec::new();
    }
    let mut used: HashSet<&str> = HashSet::new();
    for line in &python.lines {
        // In an import line only what stands before the import is code.
        let end = match (line.first..line.end)
            .find(|at| matches!(python.word(*at), "import" | "from") && is_start(python, line.first, *at))
        {
            Some(at) => at,
            None => line.end,
        };
        for at in line.first..end {
            match python.kind(at) {
                Some(crate::python::lex::Kind::Name)
                    if python.word(at.wrapping_sub(1)) != "." || at == line.first =>
                {
                    used.insert(python.word(at));
                }
                Some(crate::python::lex::Kind::Str) => {
                    let literal = literal(python.word(at));
                    for hole in literal.holes {
                        used.extend(words(hole));
                    }
                    if literal.body.len() < 200 && !literal.body.trim().contains(['\n', '.'])
                        || !literal.body.contains(char::is_whitespace)
                    {
                        used.extend(words(literal.body));
                    }
                }
                _ => {}
            }
        }
    }
    for (start, end) in &python.comments {
        let comment = part(file.text, *start as usize, *end as usize).trim_start_matches(['#', ' ']);
        if comment.starts_with("type:") {
            used.extend(words(comment));
        }
    }
    imports
        .iter()
        .filter(|import| {
            let dotted = python.word(import.token + 1) == ".";
            let special = import.full.starts_with("__future__.")
                || import.repeated
                || import.local == "_"
                || dotted
                || import.local == "*";
            !special
                && !used.contains(import.local)
                && !is_tried(python, import.line)
                && !is_excused(file, python, import.token)
        })
        .map(|import| say(file, python.start(import.token), import.local))
        .collect()
}

fn is_start(python: &Python, first: usize, at: usize) -> bool {
    at == first || matches!(python.word(at - 1), ";" | ":")
}

/// Imports that are tried are there to see whether they work.
fn is_tried(python: &Python, line: usize) -> bool {
    let Some(here) = python.lines.get(line) else { return false };
    if here.level == 0 {
        return false;
    }
    let above = python.lines.get(..line).unwrap_or(&[]);
    above
        .iter()
        .rev()
        .take(64)
        .find(|above| above.level < here.level)
        .is_some_and(|head| matches!(python.word(head.first), "try" | "except" | "else"))
}

/// `# noqa` on the line of the name.
fn is_excused(file: &File, python: &Python, token: usize) -> bool {
    let start = python.start(token) as u32;
    let index = python.comments.partition_point(|(comment, _)| *comment < start);
    python.comments.get(index).is_some_and(|(comment, end)| {
        let between = part(file.text, start as usize, *comment as usize);
        let text = part(file.text, *comment as usize, *end as usize)
            .trim_start_matches(['#', ' '])
            .to_ascii_lowercase();
        between.len() < 400
            && !between.contains(['\n', '\r'])
            && text.starts_with("noqa")
            && (!text.contains(':') || text.contains("f401"))
    })
}

fn scripts(file: &File) -> Vec<Found> {
    let code = file.script();
    let mut imported: Vec<usize> = Vec::new();
    let mut used: HashSet<&str> = HashSet::new();
    let mut at = 0;
    while at < code.tokens.len() {
        let begins = code.word(at) == "import"
            && !matches!(code.word(at.wrapping_sub(1)), "." | "?.")
            && !matches!(code.word(at + 1), "(" | "." | ":");
        if begins && let Some(end) = import_names(code, at, &mut imported) {
            at = end;
            continue;
        }
        if code.kind(at) == Some(Kind::Name) && !matches!(code.word(at.wrapping_sub(1)), "." | "?.") {
            used.insert(code.word(at));
        }
        at += 1;
    }
    let tags = !code.markup.tags.is_empty();
    for tag in &code.markup.tags {
        used.insert(code.markup.name(tag).split(['.', ':']).next().unwrap_or(""));
    }
    for (start, end) in &code.comments {
        let comment = part(file.text, *start as usize, *end as usize);
        if comment.contains('@') {
            used.extend(words(comment));
        }
    }
    imported
        .into_iter()
        .filter(|token| {
            let name = code.word(*token);
            let makes_tags = tags && matches!(name, "React" | "h" | "jsx" | "Fragment" | "preact");
            !used.contains(name) && !makes_tags
        })
        .map(|token| say(file, code.start(token), code.word(token)))
        .collect()
}

/// The names of one import; gives the token behind it.
fn import_names(code: &Code, start: usize, imported: &mut Vec<usize>) -> Option<usize> {
    if code.kind(start + 1) == Some(Kind::Str) {
        return Some(start + 2);
    }
    let mut names = Vec::new();
    let mut at = start + 1;
    while at < code.tokens.len() {
        match code.word(at) {
            "from" if code.kind(at + 1) == Some(Kind::Str) => {
                imported.extend(names);
                return Some(at + 2);
            }
            "type" if at == start + 1 && !matches!(code.word(at + 1), "from" | ",") => {}
            "type"
                if matches!(code.word(at - 1), "{" | ",")
                    && code.kind(at + 1) == Some(Kind::Name)
                    && code.word(at + 1) != "as" => {}
            "as" if code.kind(at + 1) == Some(Kind::Name) => {
                if code.word(at - 1) != "*" {
                    names.pop();
                }
                names.push(at + 1);
                at += 1;
            }
            "{" | "}" | "," | "*" => {}
            // `import x = require("x")`, or an import that never ends.
            "=" | "import" => return None,
            _ if code.kind(at) == Some(Kind::Name) => names.push(at),
            _ => return None,
        }
        at += 1;
    }
    None
}
