//! Changes of a database that lose data or lock it.
//!
//! INVARIANT: looks only at files of migrations; what a downgrade does is no danger.

use super::lex::{Kind, Python, literal};
use crate::file::File;
use crate::{Found, Options};

/// Dropped tables and columns, new NOT NULL, raw destructive SQL, times without a zone.
pub(crate) fn dangerous(file: &File, options: &Options) -> Vec<Found> {
    let more = options.list("migration_paths").unwrap_or_default();
    if !file.path.is_python() || !file.path.is_migration(&more) || file.path.is_test() {
        return Vec::new();
    }
    let python = file.python();
    let scopes = scopes(python);
    let restores = (0..python.tokens.len()).any(|at| {
        python.word(at) == "create_table"
            && python.word(at + 1) == "("
            && scopes.get(at) == Some(&Scope::Down)
    });
    let mut found = Vec::new();
    for at in 0..python.tokens.len() {
        if python.kind(at) != Some(Kind::Name) || scopes.get(at) == Some(&Scope::Down) {
            continue;
        }
        let up = scopes.get(at) == Some(&Scope::Up);
        let method = python.word(at.wrapping_sub(1)) == ".";
        let call = python.word(at + 1) == "(";
        let open = at + 1;
        let mut say =
            |message: String, suggest: &str| found.push(file.found(python.start(at), message, suggest));
        match python.word(at) {
            "drop_table" if up && method && call && !restores => say(
                "upgrade drops a table and downgrade does not create it again".to_owned(),
                "create the table again in downgrade(), or keep it under another name until its data is safe",
            ),
            "drop_column" if up && method && call => say(
                "upgrade drops a column with its data".to_owned(),
                "stop using the column first and drop it in a later release",
            ),
            "alter_column" if up && method && call && argument(python, open, "nullable") == Some("False") => {
                say(
                    "upgrade makes a column NOT NULL; rows without a value make it fail".to_owned(),
                    "fill the column first, or give it a server default",
                )
            }
            "execute" if up && method && call => {
                if let Some(what) = destructive_text(python, open) {
                    say(
                        format!("upgrade runs raw SQL that {what}"),
                        "keep the data until a later release, and write a downgrade",
                    );
                }
            }
            "RunSQL" if call => {
                if let Some(what) = destructive_text(python, open) {
                    say(
                        format!("the migration runs raw SQL that {what}"),
                        "keep the data until a later release, and give reverse_sql",
                    );
                }
            }
            "RemoveField" | "DeleteModel"
                if call && (!method || python.word(at.wrapping_sub(2)) == "migrations") =>
            {
                say(
                    format!("{} loses data", python.word(at)),
                    "stop using it first and remove it in a later release",
                )
            }
            "DateTime" | "TIMESTAMP" if is_type(python, at) && !zoned(python, at) => say(
                format!("{} without timezone=True stores times of no known zone", python.word(at)),
                "write DateTime(timezone=True)",
            ),
            _ => {}
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Up,
    Down,
    Other,
}

/// For each token the migration function it is in.
fn scopes(python: &Python) -> Vec<Scope> {
    let mut scopes = vec![Scope::Other; python.tokens.len()];
    let mut now: Option<(u32, Scope)> = None;
    for line in &python.lines {
        if now.is_some_and(|(level, _)| line.level <= level) {
            now = None;
        }
        if now.is_none() {
            let def = if python.word(line.first) == "async" { line.first + 1 } else { line.first };
            if python.word(def) == "def" {
                let name = python.word(def + 1);
                let scope = if name.starts_with("upgrade") {
                    Scope::Up
                } else if name.starts_with("downgrade") {
                    Scope::Down
                } else {
                    Scope::Other
                };
                now = Some((line.level, scope));
            }
        }
        if let Some((_, scope)) = now {
            for at in line.first..line.end {
                if let Some(place) = scopes.get_mut(at) {
                    *place = scope;
                }
            }
        }
    }
    scopes
}

/// The one-token value of a named argument of a call.
fn argument<'a>(python: &Python<'a>, open: usize, name: &str) -> Option<&'a str> {
    let close = python.close(open);
    let mut at = open + 1;
    while at < close {
        match python.word(at) {
            "(" | "[" | "{" => at = python.close(at),
            word if word == name && python.word(at + 1) == "=" => return Some(python.word(at + 2)),
            _ => {}
        }
        at += 1;
    }
    None
}

/// `sa.DateTime`, `DateTime()` or a bare `DateTime` as an argument; not an import, not a keyword.
fn is_type(python: &Python, at: usize) -> bool {
    let before = python.word(at.wrapping_sub(1));
    if before == "." {
        return matches!(
            python.word(at.wrapping_sub(2)),
            "sa" | "sqlalchemy" | "db" | "types" | "sqltypes" | "postgresql"
        );
    }
    matches!(before, "," | "(" | "=") && matches!(python.word(at + 1), "(" | "," | ")")
}

fn zoned(python: &Python, at: usize) -> bool {
    python.word(at + 1) == "("
        && (argument(python, at + 1, "timezone") == Some("True") || python.word(at + 2) == "True")
}

/// What the first text among the arguments of a call destroys.
fn destructive_text(python: &Python, open: usize) -> Option<&'static str> {
    let close = python.close(open).min(open + 64);
    let mut sql = String::new();
    for at in open + 1..close {
        match python.kind(at) {
            Some(Kind::Str) => {
                sql.push_str(literal(python.word(at)).body);
                sql.push(' ');
            }
            // The second argument of RunSQL undoes the first.
            Some(Kind::Op) if python.word(at) == "," && !sql.is_empty() => break,
            _ => {}
        }
    }
    sql.split(';').find_map(|statement| {
        let words: Vec<String> = statement
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_uppercase)
            .take(64)
            .collect();
        let has = |word: &str| words.iter().any(|here| here == word);
        let pair = |one: &str, two: &str| {
            words.windows(2).any(|here| matches!(here, [a, b] if a == one && b == two))
        };
        match words.first().map(String::as_str) {
            Some("DROP") if has("TABLE") || has("DATABASE") || has("SCHEMA") => Some("drops a table or more"),
            Some("TRUNCATE") => Some("empties a table"),
            Some("DELETE") if has("FROM") && !has("WHERE") => Some("deletes every row of a table"),
            Some("ALTER")
                if has("DROP")
                    && (has("COLUMN")
                        || !(has("CONSTRAINT") || has("DEFAULT") || has("INDEX") || pair("NOT", "NULL"))) =>
            {
                Some("drops a column")
            }
            Some("ALTER") if has("SET") && pair("NOT", "NULL") => Some("makes a column NOT NULL"),
            _ => None,
        }
    })
}
