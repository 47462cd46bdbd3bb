//! Imported names: what a name means, and imports of everything.
//!
//! INVARIANT: reads import lines only; a name bound otherwise means itself.

use std::collections::HashMap;

use super::lex::{Kind, Line, Python};
use crate::file::File;
use crate::{Found, Options};

/// One name that an import line brings.
pub(crate) struct Import<'a> {
    /// The name it has in the text.
    pub(crate) local: &'a str,
    /// What it is, dotted: `subprocess.run`.
    pub(crate) full: String,
    /// The token of the local name.
    pub(crate) token: usize,
    /// `import x as x`, `from a import x as x`: said again on purpose.
    pub(crate) repeated: bool,
    /// The line of tokens it is in.
    pub(crate) line: usize,
}

/// All names that import lines bring.
pub(crate) fn imports<'a>(python: &Python<'a>) -> Vec<Import<'a>> {
    let mut found = Vec::new();
    for (index, line) in python.lines.iter().enumerate() {
        let mut first = line.first;
        for at in line.first..=line.end {
            if at == line.end || matches!(python.word(at), ";" | ":") {
                one(python, first, at, index, &mut found);
                first = at + 1;
            }
        }
    }
    found
}

fn one<'a>(python: &Python<'a>, first: usize, end: usize, line: usize, found: &mut Vec<Import<'a>>) {
    let mut at = first + 1;
    let base = match python.word(first) {
        "import" => String::new(),
        "from" => {
            let base_first = at;
            while at < end && python.word(at) != "import" {
                at += 1;
            }
            let mut base: String = (base_first..at).map(|token| python.word(token)).collect();
            at += 1;
            if !base.ends_with('.') {
                base.push('.');
            }
            base
        }
        _ => return,
    };
    while at < end {
        if python.kind(at) != Some(Kind::Name) {
            at += 1;
            continue;
        }
        let item_first = at;
        let mut name_end = at + 1;
        while name_end + 1 < end && python.word(name_end) == "." {
            name_end += 2;
        }
        let name: String = (item_first..name_end).map(|token| python.word(token)).collect();
        if python.word(name_end) == "as" && name_end + 1 < end {
            let local = python.word(name_end + 1);
            let repeated = local == name;
            found.push(Import { local, full: format!("{base}{name}"), token: name_end + 1, repeated, line });
            at = name_end + 2;
        } else {
            let full =
                if base.is_empty() { python.word(item_first).to_owned() } else { format!("{base}{name}") };
            found.push(Import {
                local: python.word(item_first),
                full,
                token: item_first,
                repeated: false,
                line,
            });
            at = name_end;
        }
    }
}

/// What the names of a text mean.
pub(crate) struct Meanings<'a>(HashMap<&'a str, String>);

impl<'a> Meanings<'a> {
    pub(crate) fn read(python: &Python<'a>) -> Meanings<'a> {
        Meanings(imports(python).into_iter().map(|import| (import.local, import.full)).collect())
    }

    /// The dotted name that ends at a token, with its first name replaced by what it was imported as.
    pub(crate) fn of(&self, python: &Python<'a>, last: usize) -> String {
        let names = python.dotted(last);
        let mut full = String::new();
        for (index, name) in names.iter().enumerate() {
            match (index, self.0.get(name)) {
                (0, Some(meaning)) => full.push_str(meaning),
                (0, None) => full.push_str(name),
                _ => {
                    full.push('.');
                    full.push_str(name);
                }
            }
        }
        full
    }
}

/// `from x import *`.
pub(crate) fn wildcard(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.is_python() || matches!(file.path.name, "__init__.py" | "__init__.pyi") {
        return Vec::new();
    }
    let python = file.python();
    let star = |line: &Line| {
        (line.first + 1..line.end).find(|at| {
            python.word(*at) == "*"
                && python.word(at - 1) == "import"
                && (at + 1 == line.end || python.word(at + 1) == ";")
        })
    };
    python
        .lines
        .iter()
        .filter(|line| (line.first..line.end).any(|at| python.word(at) == "from"))
        .filter_map(|line| star(line).map(|at| (line, at)))
        .map(|(line, at)| {
            let from =
                (line.first..at).rev().find(|token| python.word(*token) == "from").unwrap_or(line.first);
            let module: String = (from + 1..at.saturating_sub(1)).map(|token| python.word(token)).collect();
            file.found(
                python.start(from),
                format!("imports every name of {module}"),
                "import the names that are used, so that readers and tools see where each comes from",
            )
        })
        .collect()
}
