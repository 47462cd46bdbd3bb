//! SQL put together from texts and values.
//!
//! INVARIANT: a finding needs a statement of SQL and a value of unknown content that is put into its text; constants, numbers, lists of
//! marks and quoted identifiers are no such values.

use std::collections::HashSet;

use super::lex::{HOLE, Kind, Python, literal};
use super::sql_shape::{is_clause, is_statement};
use crate::file::{File, part};
use crate::{Found, Options};

/// A run of literals joined with each other, and what was put in.
struct Built {
    template: String,
    unsafe_value: bool,
    /// The token behind.
    end: usize,
}

/// Statements built with f-strings, `%`, `+` and `.format(…)`.
pub(crate) fn injection(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.is_python() || file.path.is_test() {
        return Vec::new();
    }
    let python = file.python();
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut statements: HashSet<&str> = HashSet::new();
    let mut at = 0;
    let mut line = 0;
    while at < python.tokens.len() {
        while python.lines.get(line).is_some_and(|here| here.end <= at) {
            line += 1;
        }
        match python.kind(at) {
            Some(Kind::Op) => {
                match python.word(at) {
                    "(" | "[" | "{" => open.push(at),
                    ")" | "]" | "}" => {
                        open.pop();
                    }
                    _ => {}
                }
                at += 1;
            }
            Some(Kind::Str) => {
                let built = build(python, at);
                let added = python.word(at.wrapping_sub(1)) == "+=";
                let is_sql = is_statement(&built.template) || (added && is_clause(&built.template));
                if is_sql && built.unsafe_value && !is_message(python, open.last().copied(), line) {
                    found.push(say(file, python.start(at)));
                }
                if is_sql && !built.unsafe_value {
                    let before = if python.word(at.wrapping_sub(1)) == "(" {
                        at.wrapping_sub(2)
                    } else {
                        at.wrapping_sub(1)
                    };
                    if python.word(before) == "=" && python.kind(before.wrapping_sub(1)) == Some(Kind::Name) {
                        statements.insert(python.word(before - 1));
                    }
                }
                let end = built.end.max(at + 1);
                for skipped in at + 1..end {
                    match python.word(skipped) {
                        "(" | "[" | "{" => open.push(skipped),
                        ")" | "]" | "}" => {
                            open.pop();
                        }
                        _ => {}
                    }
                }
                at = end;
            }
            Some(Kind::Name) => {
                let used = statements.contains(python.word(at)) && python.word(at.wrapping_sub(1)) != ".";
                if used && joins(python, at + 1, "%s {}") && !is_message(python, open.last().copied(), line) {
                    found.push(say(file, python.start(at)));
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

fn say(file: &File, offset: usize) -> Found {
    file.found(
        offset,
        "SQL is put together from text and values, so a value can become part of the statement",
        "hand the values to execute() as parameters: execute(\"... WHERE id = %s\", (id,))",
    )
}

/// The literals from `at` on with what is joined to them.
fn build(python: &Python, at: usize) -> Built {
    let mut built = Built { template: String::new(), unsafe_value: false, end: at };
    let mut outer = at;
    loop {
        take_literals(python, &mut built);
        // `("…" "…") % value`: brackets around literals only.
        while python.word(built.end) == ")"
            && python.word(outer.wrapping_sub(1)) == "("
            && !matches!(python.kind(outer.wrapping_sub(2)), Some(Kind::Name | Kind::Str))
            && !matches!(python.word(outer.wrapping_sub(2)), ")" | "]")
        {
            built.end += 1;
            outer -= 1;
        }
        if joins(python, built.end, &built.template) {
            built.unsafe_value = true;
        }
        if python.word(built.end) != "+" {
            return built;
        }
        // Over the value to the next literal of the sum.
        let mut next = built.end + 1;
        if python.kind(next) != Some(Kind::Str) {
            next = operand_end(python, next);
            built.template.push(HOLE);
            if python.word(next) != "+" || python.kind(next + 1) != Some(Kind::Str) {
                return built;
            }
            next += 1;
        }
        built.end = next;
    }
}

fn take_literals(python: &Python, built: &mut Built) {
    while python.kind(built.end) == Some(Kind::Str) {
        let literal = literal(python.word(built.end));
        if literal.formatted {
            built.template.push_str(&literal.template);
            built.unsafe_value |= literal.holes.iter().any(|hole| !is_harmless(hole));
        } else if !literal.bytes {
            built.template.push_str(literal.body);
        }
        built.end += 1;
    }
}

/// Do the tokens from `at` on put a value of unknown content into the text before them?
fn joins(python: &Python, at: usize, template: &str) -> bool {
    match python.word(at) {
        "+" => {
            python.kind(at + 1) != Some(Kind::Str)
                && !is_harmless(span(python, at + 1, operand_end(python, at + 1)))
        }
        "%" if numbers_only(template) => false,
        "%" => {
            let end = operand_end(python, at + 1);
            if python.word(at + 1) == "(" {
                return !pieces(python, at + 2, python.close(at + 1)).all(is_harmless);
            }
            !is_harmless(span(python, at + 1, end))
        }
        "." if python.word(at + 1) == "format" && python.word(at + 2) == "(" => {
            template.contains('{')
                && !pieces(python, at + 3, python.close(at + 2)).all(|argument| {
                    is_harmless(argument.split_once('=').map_or(argument, |(_, value)| value))
                })
        }
        _ => false,
    }
}

/// Are all marks for values marks for numbers?
fn numbers_only(template: &str) -> bool {
    let mut marks = template
        .split('%')
        .skip(1)
        .filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '('));
    let mut any = false;
    let all = marks.all(|rest| {
        any = true;
        rest.starts_with(['d', 'i', 'f', 'x', 'o', 'e', 'g'])
    });
    any && all
}

fn span<'a>(python: &Python<'a>, first: usize, end: usize) -> &'a str {
    let stop = python.tokens.get(end.wrapping_sub(1)).map_or(python.text.len(), |token| token.end as usize);
    part(python.text, python.start(first), stop)
}

/// The token behind one operand: a name, a literal or a bracket, with what is called on it.
fn operand_end(python: &Python, first: usize) -> usize {
    let mut at = match python.word(first) {
        "(" | "[" | "{" => python.close(first) + 1,
        "-" | "+" => first + 2,
        _ => first + 1,
    };
    loop {
        match python.word(at) {
            "." => at += 2,
            "(" | "[" => at = python.close(at) + 1,
            _ => return at.min(python.tokens.len()),
        }
    }
}

/// The arguments between two tokens, at most 64 tokens of them.
fn pieces<'a>(python: &Python<'a>, first: usize, end: usize) -> impl Iterator<Item = &'a str> {
    let mut parts = Vec::new();
    let end = end.min(python.tokens.len());
    let mut at = first;
    let mut start = first;
    let mut steps = 0;
    while at < end && steps < 64 {
        match python.word(at) {
            "(" | "[" | "{" => at = python.close(at),
            "," => {
                parts.push(span(python, start, at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
        steps += 1;
    }
    if start < end {
        parts.push(span(python, start, end));
    }
    parts.into_iter()
}

/// Can the value of this expression only be a number, a constant, a list of marks, or a quoted identifier?
fn is_harmless(expression: &str) -> bool {
    let expression = expression.trim();
    if expression.len() > 400 {
        return false;
    }
    let (value, format) = match expression.rsplit_once(':') {
        Some((value, format)) if !value.ends_with(':') && !format.contains([']', ')', '}', '"', '\'']) => {
            (value.trim(), format)
        }
        _ => (expression, ""),
    };
    if format.ends_with(['d', 'f', 'x', 'n', '%']) && value != expression {
        return true;
    }
    if value.starts_with(['"', '\''])
        && value.len() >= 2
        && value.ends_with(['"', '\''])
        && !value.contains('(')
    {
        return true;
    }
    let name = value.rsplit('.').next().unwrap_or(value);
    let constant = name.len() > 1
        && name
            .bytes()
            .all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == b'_')
        && name.starts_with(|letter: char| letter.is_ascii_uppercase() || letter == '_');
    let number = !value.is_empty()
        && value.bytes().all(|letter| letter.is_ascii_digit() || letter == b'_' || letter == b'.');
    let call = value
        .split_once('(')
        .filter(|(_, rest)| rest.ends_with(')') && !rest.trim_end_matches(')').contains(')'))
        .map(|(name, _)| name.trim());
    let function = call.map(|name| name.rsplit('.').next().unwrap_or(name));
    let lower = value.to_ascii_lowercase();
    constant
        || number
        || matches!(
            function,
            Some(
                "int"
                    | "float"
                    | "len"
                    | "bool"
                    | "Identifier"
                    | "quote_ident"
                    | "quote_identifier"
                    | "quote_name"
                    | "escape_identifier"
                    | "Literal"
            )
        )
        || ["placeholder", "qmark", "question_marks", "bind_marks", "param_marks"]
            .iter()
            .any(|word| lower.contains(word))
        || (lower.contains(".join(")
            && ["'?'", "\"?\"", "'%s'", "\"%s\""].iter().any(|mark| lower.contains(mark)))
}

/// Is the text only told to somebody: logged, printed, raised?
fn is_message(python: &Python, open: Option<usize>, line: usize) -> bool {
    let raised = python.lines.get(line).is_some_and(|line| python.word(line.first) == "raise");
    raised
        || open.filter(|open| *open > 0 && python.word(*open) == "(").is_some_and(|open| {
            python.dotted(open - 1).iter().any(|name| {
                let name = name.to_ascii_lowercase();
                matches!(
                    name.as_str(),
                    "log"
                        | "logger"
                        | "logging"
                        | "_log"
                        | "_logger"
                        | "print"
                        | "warn"
                        | "warnings"
                        | "click"
                        | "console"
                )
            })
        })
}
