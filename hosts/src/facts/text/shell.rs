//! What commands write word for word: a here-document, what `echo` and `printf` print, and what passes such a text on.
//!
//! INVARIANT: a text is only told when the command surely writes it; lengths and steps are bounded.

use super::super::spelling::HOLE;
use super::decode;
use policy_runtime::facts::{CommandFact, Facts, Word};

/// Longest text that is put together, bytes.
const MOST_BYTES: usize = 1 << 20;
/// Longest chain of commands that pass a text on.
const MOST_STEPS: usize = 8;

/// The file name of a command's program.
pub(super) fn name(command: &CommandFact) -> &str {
    match command.words.first() {
        Some(Word::Known(name)) => name.rsplit('/').next().unwrap_or(name),
        _ => "",
    }
}

/// What a command surely writes to its output.
///
/// What is not known of it is written as a variable, so that it is not taken for a value.
pub(super) fn written(facts: &Facts, command: &CommandFact) -> Option<String> {
    printed(facts, command, MOST_STEPS).map(|text| text.replace(HOLE, "${x}"))
}

fn printed(facts: &Facts, command: &CommandFact, steps: usize) -> Option<String> {
    let words: Vec<&str> = command.words.iter().skip(1).filter_map(text).collect();
    match name(command) {
        "cat" | "tee" => given(facts, command, steps),
        "echo" => Some(echoed(&words)),
        "printf" => Some(formatted(&words)),
        "base64" | "gbase64"
            if words.iter().any(|word| ["-d", "-D", "--decode", "-di", "-id"].contains(word)) =>
        {
            decode::base64(&given(facts, command, steps)?)
        }
        _ => None,
    }
}

/// What comes in: a here-document, or what one command before it prints.
fn given(facts: &Facts, command: &CommandFact, steps: usize) -> Option<String> {
    if let Some(input) = &command.input {
        // A here-string ends with its line.
        let line = command.redirects.iter().any(|redirect| redirect.op.ends_with("<<<"));
        return Some([input.as_str(), if line { "\n" } else { "" }].concat());
    }
    let [source] = command.sources.as_slice() else { return None };
    let source = facts.commands.get(*source as usize)?;
    // Only what stands in the same pipe: other sources are no input.
    let piped = match (source.pipe, command.pipe) {
        (Some((one, before, _)), Some((two, at, _))) => one == two && before + 1 == at,
        _ => false,
    };
    if !piped || std::ptr::eq(source, command) { None } else { printed(facts, source, steps.checked_sub(1)?) }
}

fn text(word: &Word) -> Option<&str> {
    match word {
        Word::Known(text) | Word::Unknown { text, .. } => Some(text),
        Word::OneOf(_) | Word::Glob(_) => None,
    }
}

fn echoed(words: &[&str]) -> String {
    let is_flag = |word: &&&str| {
        word.len() > 1 && word.starts_with('-') && word.bytes().skip(1).all(|b| b"neE".contains(&b))
    };
    let flags: Vec<&&str> = words.iter().take_while(is_flag).collect();
    let said = words.get(flags.len()..).unwrap_or_default().join(" ");
    let has = |flag: char| flags.iter().any(|word| word.contains(flag));
    // Some shells read escapes without `-e`; a line that ends is read everywhere.
    let mut out = if has('e') { escaped(&said) } else { said.replace("\\n", "\n") };
    if !has('n') {
        out.push('\n');
    }
    out
}

/// What `printf` prints.
fn formatted(words: &[&str]) -> String {
    let words = if words.first() == Some(&"--") { words.get(1..).unwrap_or_default() } else { words };
    let Some((format, arguments)) = words.split_first() else { return String::new() };
    let mut arguments = arguments.iter();
    let mut out = String::new();
    loop {
        let before = arguments.len();
        let mut rest = format.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\\' => escape(&mut rest, &mut out),
                '%' if rest.peek() == Some(&'%') => {
                    rest.next();
                    out.push('%');
                }
                '%' => {
                    // Flags, width and precision change no letters but blanks.
                    let kind = rest.find(|c| c.is_ascii_alphabetic() && !['l', 'h'].contains(c));
                    let argument = arguments.next().copied().unwrap_or_default();
                    match kind {
                        Some('b') => out.push_str(&escaped(argument)),
                        Some('c') => out.extend(argument.chars().next()),
                        Some('x') => out.push_str(&number(argument, |n| format!("{n:x}"))),
                        Some('X') => out.push_str(&number(argument, |n| format!("{n:X}"))),
                        Some('o') => out.push_str(&number(argument, |n| format!("{n:o}"))),
                        _ => out.push_str(argument),
                    }
                }
                c => out.push(c),
            }
        }
        if arguments.len() == before || arguments.len() == 0 || out.len() > MOST_BYTES {
            return out;
        }
    }
}

fn number(text: &str, shown: fn(i64) -> String) -> String {
    text.parse().map_or_else(|_| text.to_owned(), shown)
}

/// A text with its escapes read.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\\' { escape(&mut rest, &mut out) } else { out.push(c) }
    }
    out
}

type Letters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// One escape behind its backslash.
fn escape(rest: &mut Letters<'_>, out: &mut String) {
    let Some(c) = rest.next() else {
        out.push('\\');
        return;
    };
    let mut code = |base: u32, most: usize, first: u32| {
        let mut value = first;
        for _ in 0..most {
            let Some(digit) = rest.peek().and_then(|c| c.to_digit(base)) else { break };
            value = value.saturating_mul(base).saturating_add(digit);
            rest.next();
        }
        char::from_u32(value)
    };
    match c {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'a' | 'b' | 'e' | 'f' | 'v' => out.push(' '),
        'x' => out.extend(code(16, 2, 0)),
        'u' => out.extend(code(16, 4, 0)),
        'U' => out.extend(code(16, 8, 0)),
        '0' => out.extend(code(8, 3, 0)),
        '1'..='7' => out.extend(code(8, 2, c.to_digit(8).unwrap_or(0))),
        c if c.is_ascii_alphanumeric() => out.extend(['\\', c]),
        c => out.push(c),
    }
}
