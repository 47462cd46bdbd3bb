//! Commands of Redis, one a line, and the calls in their scripts.
//!
//! INVARIANT: a text is complete when each command only reads.

use super::text::hole;
use super::{Found, Inside};
use crate::shell::Word;

const READS: &[&str] = &[
    "get",
    "mget",
    "keys",
    "scan",
    "exists",
    "ttl",
    "pttl",
    "type",
    "info",
    "ping",
    "dbsize",
    "llen",
    "lrange",
    "smembers",
    "scard",
    "sismember",
    "hget",
    "hgetall",
    "hkeys",
    "hlen",
    "zrange",
    "zcard",
    "zscore",
    "strlen",
    "echo",
    "time",
    "memory",
    "object",
    "select",
    "randomkey",
    "hscan",
    "sscan",
    "zscan",
    "client",
    "command",
    "xrange",
    "xlen",
    "quit",
];

/// Reads commands.
pub(super) fn read(code: &str) -> Found {
    let mut found = Found { inside: Vec::new(), complete: true };
    for line in code.lines().filter(|line| !line.trim().is_empty()) {
        let words = split(line);
        let Some(name) = words.first().map(|word| word.to_ascii_lowercase()) else { continue };
        found.complete &= READS.contains(&name.as_str());
        if matches!(name.as_str(), "eval" | "eval_ro" | "fcall" | "script") {
            let script = words.iter().skip(1).find(|word| word.contains("call"));
            script.into_iter().for_each(|script| calls(script, &mut found));
        }
        command(&words, &mut found);
    }
    found
}

fn command(words: &[String], found: &mut Found) {
    let mut argv = vec![Word::Known("redis".into())];
    for (at, word) in words.iter().enumerate() {
        // The command and its first word mean the same in any case.
        let lower = at == 0
            || at == 1
                && matches!(
                    words.first().map(|w| w.to_ascii_lowercase()).as_deref(),
                    Some("config" | "script" | "acl" | "debug" | "cluster" | "function")
                );
        argv.push(Word::Known(if lower { word.to_ascii_lowercase() } else { word.clone() }));
    }
    found.inside.push(Inside::Argv(argv));
}

/// `redis.call('NAME', ...)` in a script.
fn calls(script: &str, found: &mut Found) {
    for (at, _) in script.match_indices("call(").take(64) {
        let behind = script.get(at + 5..).unwrap_or_default();
        let inside: String = behind.chars().take_while(|c| *c != ')').take(512).collect();
        let mut words: Vec<String> = Vec::new();
        let mut literal = true;
        for piece in inside.split(',') {
            let piece = piece.trim();
            match piece.trim_matches(['\'', '"']) {
                text if text.len() + 2 == piece.len() => words.push(text.to_string()),
                _ => {
                    literal = false;
                    break;
                }
            }
        }
        if !words.is_empty() {
            command(&words, found);
            if let (false, Some(Inside::Argv(argv))) = (literal, found.inside.last_mut()) {
                argv.push(hole());
            }
        }
    }
}

/// The words of a line, with quotes.
fn split(line: &str) -> Vec<String> {
    let (mut out, mut word, mut quote, mut some) = (Vec::new(), String::new(), None, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('"') | None, '\\') => word.extend(chars.next()),
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                some = true;
            }
            (None, c) if c.is_whitespace() => {
                if some || !word.is_empty() {
                    out.push(std::mem::take(&mut word));
                }
                some = false;
            }
            (None, c) => word.push(c),
        }
    }
    if some || !word.is_empty() {
        out.push(word);
    }
    out
}
