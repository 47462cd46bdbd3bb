//! What filters make of a text that is known.
//!
//! INVARIANT: an answer is exactly what the program writes; flags and texts outside the few understood give none.

use crate::shell::Dialect;
use crate::shell::quote::{base64, printf_escapes};

/// What a filter without file operands writes.
pub(super) fn filter(name: &str, args: &[&str], input: &str) -> Option<String> {
    match (name, args) {
        ("base64" | "gbase64", ["-d" | "-D" | "--decode" | "-di" | "-id"]) => base64(input),
        ("openssl", ["base64", "-d"] | ["base64", "-d", "-A"] | ["base64", "-A", "-d"]) => base64(input),
        ("openssl", ["enc", "-base64", "-d"] | ["enc", "-d", "-base64"]) => base64(input),
        ("base32", ["-d" | "-D" | "--decode"]) => base32(input),
        ("xxd", ["-r", "-p"] | ["-p", "-r"] | ["-rp"] | ["-pr"] | ["-r", "-ps"] | ["-ps", "-r"]) => {
            crate::shell::code::hex(input)
        }
        ("rev", []) => Some(each_line(input, |line| line.chars().rev().collect())),
        ("tr", [from, to]) if !from.starts_with('-') => translate(input, from, to),
        ("tr", ["-d" | "--delete", set]) => {
            let set = characters(set)?;
            Some(input.chars().filter(|c| !set.contains(c)).collect())
        }
        ("sed", [script] | ["-e", script] | ["-E" | "-r", script]) => substitute(input, script),
        ("head", []) => Some(first_lines(input, 10)),
        ("head", ["-n", count] | ["--lines", count]) => Some(first_lines(input, count.parse().ok()?)),
        ("head", [flag]) => {
            let count = flag
                .strip_prefix("-n")
                .or_else(|| flag.strip_prefix("--lines="))
                .or_else(|| flag.strip_prefix('-'));
            Some(first_lines(input, count?.parse().ok()?))
        }
        ("head", ["-c", count]) => {
            input.get(..count.parse::<usize>().ok()?.min(input.len())).map(str::to_string)
        }
        ("tail", ["-n", count]) if count.starts_with('+') => {
            let from: usize = count.strip_prefix('+')?.parse().ok()?;
            Some(input.split_inclusive('\n').skip(from.saturating_sub(1)).collect())
        }
        ("tail", ["-n", count]) => last_lines(input, count.trim_start_matches('-').parse().ok()?),
        ("tail", []) => last_lines(input, 10),
        ("tail", [flag]) => {
            last_lines(input, flag.strip_prefix("-n").or_else(|| flag.strip_prefix('-'))?.parse().ok()?)
        }
        ("tac", []) => Some(input.split_inclusive('\n').rev().collect()).filter(|_| input.ends_with('\n')),
        _ => None,
    }
}

fn each_line(input: &str, change: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for line in input.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                out.push_str(&change(line));
                out.push('\n');
            }
            None => out.push_str(&change(line)),
        }
    }
    out
}

fn first_lines(input: &str, count: usize) -> String {
    input.split_inclusive('\n').take(count).collect()
}

fn last_lines(input: &str, count: usize) -> Option<String> {
    let lines: Vec<&str> = input.split_inclusive('\n').collect();
    lines.get(lines.len().saturating_sub(count)..).map(|lines| lines.concat())
}

/// The characters of a set of `tr`: ranges, escapes; `None` for classes.
fn characters(set: &str) -> Option<Vec<char>> {
    if set.contains("[:") || set.contains("[=") || set.contains("*]") {
        return None;
    }
    let set: Vec<char> = printf_escapes(set)?.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = set.get(at) {
        match (set.get(at + 1), set.get(at + 2)) {
            (Some('-'), Some(last)) => {
                let (first, last) = (u32::from(*c), u32::from(*last));
                if first > last || last - first > 256 {
                    return None;
                }
                out.extend((first..=last).filter_map(char::from_u32));
                at += 3;
            }
            _ => {
                out.push(*c);
                at += 1;
            }
        }
    }
    Some(out)
}

fn translate(input: &str, from: &str, to: &str) -> Option<String> {
    let (from, to) = (characters(from)?, characters(to)?);
    let last = to.last()?;
    let change = |c: char| match from.iter().rposition(|own| *own == c) {
        Some(at) => *to.get(at).unwrap_or(last),
        None => c,
    };
    Some(input.chars().map(change).collect())
}

/// `s/TEXT/TEXT/g` with nothing that is a pattern.
fn substitute(input: &str, script: &str) -> Option<String> {
    let rest = script.strip_prefix('s')?;
    let mark = rest.chars().next()?;
    let parts: Vec<&str> = rest.get(mark.len_utf8()..)?.split(mark).collect();
    let [from, to, flags] = parts.as_slice() else { return None };
    let plain = |text: &str| {
        !text.contains(['.', '*', '[', ']', '^', '$', '\\', '+', '?', '(', ')', '{', '|', '&', '\n'])
    };
    if mark.is_alphanumeric() || from.is_empty() || !plain(from) || !plain(to) {
        return None;
    }
    match *flags {
        "g" => Some(input.replace(from, to)),
        "" => Some(each_line(input, |line| line.replacen(from, to, 1))),
        _ => None,
    }
}

fn base32(input: &str) -> Option<String> {
    let (mut out, mut bits, mut count) = (Vec::new(), 0u32, 0u32);
    for byte in input.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'2'..=b'7' => byte - b'2' + 26,
            b'\n' => continue,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 5) | u32::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count).to_le_bytes().first().copied()?);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(out).ok()
}

/// What `echo` writes.
pub(super) fn echo(args: &[&str], dialect: Dialect) -> Option<String> {
    let (mut args, mut newline, mut escapes) = (args, true, false);
    while let Some((flag, rest)) = args.split_first() {
        match *flag {
            "-n" => newline = false,
            "-e" => escapes = true,
            "-ne" | "-en" => (newline, escapes) = (false, true),
            "-E" | "-nE" | "-En" => return None,
            _ => break,
        }
        args = rest;
    }
    let text = args.join(" ");
    let text = match text.contains('\\') {
        true if escapes => printf_escapes(&text)?,
        true if dialect != Dialect::Bash => return None,
        _ => text,
    };
    Some(if newline { text + "\n" } else { text })
}

/// What `printf` writes, for `%s`, `%b`, `%d` and `%c` without widths.
pub(crate) fn printf(format: &str, args: &[&str]) -> Option<String> {
    let (format, args) = match (format, args) {
        ("--", [format, args @ ..]) => (*format, args),
        other => other,
    };
    if format.starts_with('-') {
        return None;
    }
    let (mut out, mut args) = (String::new(), args.iter());
    for _ in 0..64 {
        let mut rest = format;
        let before = args.len();
        while let Some((text, after)) = rest.split_once('%') {
            out.push_str(&printf_escapes(text)?);
            let mut chars = after.chars();
            match chars.next()? {
                '%' => out.push('%'),
                's' => out.push_str(args.next().copied().unwrap_or_default()),
                'b' => out.push_str(&printf_escapes(args.next().copied().unwrap_or_default())?),
                'c' => out.extend(args.next().and_then(|text| text.chars().next())),
                'd' | 'i' => {
                    out.push_str(&args.next().map_or(Some(0), |text| text.parse::<i64>().ok())?.to_string())
                }
                _ => return None,
            }
            rest = chars.as_str();
        }
        out.push_str(&printf_escapes(rest)?);
        if args.len() == 0 || args.len() == before {
            return Some(out);
        }
    }
    None
}
