//! Finds the commands in one line of JSON.
//!
//! INVARIANT: a stack of keys instead of a tree, so any depth costs no more than its length; broken JSON gives what was read before.

use crate::file::{byte, part};

const INPUTS: [&str; 8] =
    ["tool_input", "input", "arguments", "args", "parameters", "params", "action", "toolInput"];
const COMMANDS: [&str; 5] = ["command", "cmd", "script", "commandLine", "command_line"];

struct Level {
    array: bool,
    /// Is this the input of a tool, or inside one?
    input: bool,
    /// The words of a command that comes as an array.
    words: Option<Vec<String>>,
}

/// Adds the commands of a line; arguments that are JSON in a string are read the same way.
pub(crate) fn commands(line: &str, found: &mut Vec<String>, nested: u32) {
    let bytes = line.as_bytes();
    let mut levels: Vec<Level> = Vec::new();
    let mut key: &str = "";
    let mut at = 0;
    while at < bytes.len() {
        match byte(bytes, at) {
            open @ (b'{' | b'[') => {
                let parent = levels.last();
                let input = parent.map_or(nested > 0, |parent| parent.input) || INPUTS.contains(&key);
                let words = (open == b'[' && input && COMMANDS.contains(&key)).then(Vec::new);
                key = "";
                levels.push(Level { array: open == b'[', input, words });
                at += 1;
            }
            b'}' | b']' => {
                if let Some(words) =
                    levels.pop().and_then(|level| level.words).filter(|words| !words.is_empty())
                {
                    found.push(joined(&words));
                }
                key = "";
                at += 1;
            }
            b'"' => {
                let start = at + 1;
                at = start;
                while at < bytes.len() && byte(bytes, at) != b'"' {
                    at += if byte(bytes, at) == b'\\' { 2 } else { 1 };
                }
                let end = at.min(bytes.len());
                at = end + 1;
                let raw = part(line, start, end);
                let mut next = at;
                while byte(bytes, next) == b' ' {
                    next += 1;
                }
                let in_array = levels.last().is_some_and(|level| level.array);
                if !in_array && byte(bytes, next) == b':' {
                    key = raw;
                    at = next + 1;
                    continue;
                }
                if let Some(words) = levels.last_mut().and_then(|level| level.words.as_mut()) {
                    words.push(unescape(raw));
                } else if COMMANDS.contains(&key) && levels.last().is_some_and(|level| level.input) {
                    found.push(unescape(raw));
                } else if INPUTS.contains(&key) && nested < 3 && raw.trim_start().starts_with('{') {
                    commands(&unescape(raw), found, nested + 1);
                }
                key = "";
            }
            b',' => {
                key = "";
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Words of a command as one line; of a shell with its text only the text counts.
fn joined(words: &[String]) -> String {
    if let [shell, flag, text] = words
        && shell.ends_with("sh")
        && flag.starts_with('-')
        && flag.ends_with('c')
    {
        return text.clone();
    }
    let quoted: Vec<String> = words
        .iter()
        .map(|word| {
            let plain = !word.is_empty()
                && word.chars().all(|letter| letter.is_alphanumeric() || "-_./=:~$@,+".contains(letter));
            if plain { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
        })
        .collect();
    quoted.join(" ")
}

fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut letters = raw.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b' | 'f') => text.push(' '),
            Some('u') => {
                let mut code = 0;
                for _ in 0..4 {
                    code = code * 16 + letters.next().and_then(|digit| digit.to_digit(16)).unwrap_or(0);
                }
                text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            Some(other) => text.push(other),
            None => {}
        }
    }
    text
}
