//! How long a file is, and how much one change moves.
//!
//! INVARIANT: a file that was too long already is told again only when it grows by another whole limit.

use crate::file::{File, byte};
use crate::{Found, Options};

const LOCKS: [&str; 14] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "Cargo.lock",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "composer.lock",
    "Gemfile.lock",
    "go.sum",
    "flake.lock",
    "bun.lock",
    "deno.lock",
];

/// More lines than `limit`.
pub(crate) fn max_file_size(after: &File, before: Option<&File>, options: &Options) -> Vec<Found> {
    let limit = options.int("limit", 500).max(1) as usize;
    let lines = after.line_count();
    let times = |lines: usize| lines.saturating_sub(1) / limit;
    if lines <= limit
        || before.is_some_and(|before| times(before.line_count()) >= times(lines))
        || is_data(after, options)
    {
        return Vec::new();
    }
    vec![after.found_whole(
        format!("the file has {lines} lines, more than {limit}"),
        "split it: one purpose for each file",
    )]
}

fn is_data(file: &File, options: &Options) -> bool {
    if LOCKS.contains(&file.path.name)
        || file.path.is(&["csv", "tsv", "jsonl", "ndjson", "svg", "snap", "map", "lock"])
    {
        return true;
    }
    options.flag("exempt_json_data", true) && file.path.extension == "json" && is_json(file.text)
}

/// Does a file of code grow or shrink by very many lines?
pub(crate) fn large_diff(after: &File, before: Option<&File>, options: &Options) -> Vec<Found> {
    if !after.path.is_code() || after.path.is_test() || after.path.is_migration(&[]) {
        return Vec::new();
    }
    let new = after.line_count() as i64;
    let old = before.map_or(0, |before| before.line_count() as i64);
    let (grown, shrunk) = (options.int("max_added", 200), options.int("max_removed", 100));
    let message = if new - old > grown {
        format!("one change adds {} lines, more than {grown}", new - old)
    } else if old - new > shrunk {
        format!("one change removes {} lines, more than {shrunk}", old - new)
    } else {
        return Vec::new();
    };
    vec![after.found_whole(message, "make the change in steps that can each be read and tested")]
}

/// Is the whole text one value of JSON? Depth is counted, not called, so any nesting is fine.
pub(crate) fn is_json(text: &str) -> bool {
    let bytes = text.trim_start_matches('\u{feff}').as_bytes();
    let mut at = 0;
    let mut open: Vec<u8> = Vec::new();
    // What may come next: a value, a value or the end of the bracket, a comma or the end.
    let mut state = Next::Value;
    loop {
        while matches!(byte(bytes, at), b' ' | b'\t' | b'\n' | b'\r') {
            at += 1;
        }
        if at >= bytes.len() {
            return open.is_empty() && state == Next::Comma;
        }
        let here = byte(bytes, at);
        match (state, here) {
            (Next::Value | Next::First, b'{' | b'[')
                if open.last() != Some(&b'{') || state == Next::Value =>
            {
                open.push(here);
                state = Next::First;
                at += 1;
                continue;
            }
            (Next::First, b'}') if open.pop() == Some(b'{') => at += 1,
            (Next::First, b']') if open.pop() == Some(b'[') => at += 1,
            (Next::Comma, b'}') if open.pop() == Some(b'{') => at += 1,
            (Next::Comma, b']') if open.pop() == Some(b'[') => at += 1,
            (Next::Comma, b',') if !open.is_empty() => {
                at += 1;
                state = if open.last() == Some(&b'{') { Next::Key } else { Next::Value };
                continue;
            }
            (Next::First | Next::Key, b'"') if open.last() == Some(&b'{') => {
                let Some(end) = string_end(bytes, at) else { return false };
                at = end;
                while matches!(byte(bytes, at), b' ' | b'\t' | b'\n' | b'\r') {
                    at += 1;
                }
                if byte(bytes, at) != b':' {
                    return false;
                }
                at += 1;
                state = Next::Value;
                continue;
            }
            (Next::Value | Next::First, b'"') => {
                let Some(end) = string_end(bytes, at) else { return false };
                at = end;
            }
            (Next::Value | Next::First, _) if open.last() != Some(&b'{') || state == Next::Value => {
                let start = at;
                while matches!(byte(bytes, at), b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E') {
                    at += 1;
                }
                let word = bytes.get(start..at).unwrap_or(&[]);
                let number = word.first().is_some_and(|first| first.is_ascii_digit() || *first == b'-')
                    && word.last().is_some_and(u8::is_ascii_digit)
                    && word.iter().all(|byte| {
                        byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
                    });
                if !number && word != b"true" && word != b"false" && word != b"null" {
                    return false;
                }
            }
            _ => return false,
        }
        state = Next::Comma;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    First,
    Key,
    Comma,
}

fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    at += 1;
    while at < bytes.len() {
        match byte(bytes, at) {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            0..=0x1f => return None,
            _ => at += 1,
        }
    }
    None
}
