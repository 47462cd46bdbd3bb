//! Is a text a statement of SQL, or a sentence that begins with the same word?
//!
//! INVARIANT: decides by structure (two keywords in the same case, a list of columns), never by one word; reads the text once.

use super::lex::HOLE;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Upper,
    Lower,
    Title,
}

enum Piece<'a> {
    Word(&'a str),
    Hole,
    Sign(char),
}

/// Does the template hold a statement of SQL from its beginning on?
pub(crate) fn is_statement(template: &str) -> bool {
    let pieces = pieces(template);
    let mut at = 0;
    while matches!(pieces.get(at), Some(Piece::Sign('(')))
        || word(&pieces, at, "explain")
        || word(&pieces, at, "analyze")
    {
        at += 1;
    }
    let Some(Piece::Word(first)) = pieces.get(at) else { return false };
    let Some(case) = case(first) else { return false };
    let second =
        |index: usize, keyword: &str| word(&pieces, index, keyword) && same_case(&pieces, index, case);
    let later = |from: usize, within: usize, keyword: &str| {
        (from..pieces.len().min(from.saturating_add(within))).find(|index| second(*index, keyword))
    };
    match first.to_ascii_lowercase().as_str() {
        "select" => match later(at + 1, usize::MAX, "from") {
            Some(from) if case == Case::Upper => from > at + 1,
            Some(from) => from > at + 1 && is_columns(&pieces, at + 1, from) && is_source(&pieces, from + 1),
            None => {
                case == Case::Upper
                    && matches!(
                        (pieces.get(at + 1), pieces.get(at + 2)),
                        (Some(Piece::Word(_)), Some(Piece::Sign('(')))
                    )
            }
        },
        "insert" => later(at + 1, 3, "into").is_some(),
        "replace" | "merge" => second(at + 1, "into"),
        "update" => later(at + 2, 6, "set").is_some_and(|set| {
            case == Case::Upper
                || (set..pieces.len()).any(|index| matches!(pieces.get(index), Some(Piece::Sign('='))))
        }),
        "delete" => second(at + 1, "from"),
        "with" => later(at + 1, 4, "as").is_some() && later(at + 1, usize::MAX, "select").is_some(),
        "grant" | "revoke" => {
            case == Case::Upper && (later(at + 1, 12, "to").is_some() || later(at + 1, 12, "from").is_some())
        }
        "truncate" => second(at + 1, "table"),
        "create" | "drop" | "alter" => {
            let things: &[&str] = if case == Case::Upper {
                &[
                    "table",
                    "database",
                    "schema",
                    "index",
                    "view",
                    "user",
                    "role",
                    "trigger",
                    "function",
                    "procedure",
                    "sequence",
                    "extension",
                    "type",
                    "tablespace",
                    "policy",
                ]
            } else {
                &["table", "database", "schema", "view"]
            };
            things.iter().any(|thing| later(at + 1, 4, thing).is_some()) && pieces.len() > at + 2
        }
        _ => false,
    }
}

/// A condition to be added to a statement: `WHERE id = ` with a hole behind.
pub(crate) fn is_clause(template: &str) -> bool {
    let pieces = pieces(template);
    let starts = ["where", "and", "or", "set", "having", "order", "group", "limit", "values"]
        .iter()
        .any(|keyword| word(&pieces, 0, keyword) && same_case(&pieces, 0, Case::Upper));
    starts
        && pieces.windows(2).any(|pair| {
            matches!(pair, [Piece::Sign('=' | '<' | '>' | '\'' | '('), Piece::Hole])
                || matches!(pair, [Piece::Word("LIKE" | "IN" | "BY" | "LIMIT" | "OFFSET"), Piece::Hole])
        })
}

fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut start: Option<usize> = None;
    for (at, letter) in template.char_indices() {
        if letter.is_alphanumeric() || letter == '_' {
            start.get_or_insert(at);
            continue;
        }
        if let Some(from) = start.take() {
            pieces.push(Piece::Word(template.get(from..at).unwrap_or("")));
        }
        match letter {
            HOLE => pieces.push(Piece::Hole),
            _ if letter.is_whitespace() => {}
            _ => pieces.push(Piece::Sign(letter)),
        }
    }
    if let Some(from) = start {
        pieces.push(Piece::Word(template.get(from..).unwrap_or("")));
    }
    pieces
}

fn case(word: &str) -> Option<Case> {
    let mut letters = word.chars();
    let first = letters.next()?.is_uppercase();
    let rest: Vec<bool> = letters.map(char::is_uppercase).collect();
    match (first, rest.iter().all(|upper| *upper), rest.iter().any(|upper| *upper)) {
        (true, true, _) => Some(Case::Upper),
        (true, _, false) => Some(Case::Title),
        (false, _, false) => Some(Case::Lower),
        _ => None,
    }
}

fn word(pieces: &[Piece], at: usize, keyword: &str) -> bool {
    matches!(pieces.get(at), Some(Piece::Word(word)) if word.eq_ignore_ascii_case(keyword))
}

fn same_case(pieces: &[Piece], at: usize, wanted: Case) -> bool {
    matches!(pieces.get(at), Some(Piece::Word(word)) if case(word) == Some(wanted))
}

/// A list of columns has no two words side by side, a sentence has.
fn is_columns(pieces: &[Piece], start: usize, end: usize) -> bool {
    let joins = [
        "as",
        "distinct",
        "all",
        "case",
        "when",
        "then",
        "else",
        "end",
        "and",
        "or",
        "not",
        "is",
        "null",
        "over",
        "by",
        "partition",
        "order",
        "in",
        "like",
        "between",
    ];
    let plain = |at: usize| match pieces.get(at) {
        Some(Piece::Word(word)) => !joins.iter().any(|join| word.eq_ignore_ascii_case(join)),
        Some(Piece::Hole) => true,
        _ => false,
    };
    !(start..end.saturating_sub(1)).any(|at| plain(at) && plain(at + 1))
        && !matches!(pieces.get(end.wrapping_sub(1)), Some(Piece::Sign('.' | ',' | ':' | ';' | '!' | '?')))
}

/// Behind FROM: a table, perhaps another name of it, then a keyword, a sign or the end.
fn is_source(pieces: &[Piece], at: usize) -> bool {
    let keywords = [
        "where", "join", "left", "right", "inner", "outer", "full", "cross", "order", "group", "limit", "as",
        "on", "union", "having", "offset", "for", "natural", "using",
    ];
    let ends = |at: usize| match pieces.get(at) {
        None | Some(Piece::Sign(_)) => true,
        Some(Piece::Word(word)) => keywords.iter().any(|keyword| word.eq_ignore_ascii_case(keyword)),
        Some(Piece::Hole) => false,
    };
    match pieces.get(at) {
        Some(Piece::Sign('(' | '"' | '`' | '[')) => true,
        Some(Piece::Word(word))
            if ["the", "a", "an", "your", "this", "my", "our"]
                .iter()
                .any(|the| word.eq_ignore_ascii_case(the)) =>
        {
            false
        }
        Some(Piece::Word(_) | Piece::Hole) => ends(at + 1) || ends(at + 2),
        _ => false,
    }
}
