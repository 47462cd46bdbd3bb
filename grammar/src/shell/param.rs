//! Parameter expansions of known variables.
//!
//! INVARIANT: a text is given only where every step is known; an unset variable comes from the environment and is
//! never taken for empty.

use super::Feature;
use super::ast::Bit;
use super::env::{Val, Value};
use super::expand::{Expander, Frag, has_pattern};
use super::options::is_name;

/// Adds what `$head` or `${head tail}` gives.
pub(crate) fn expand(
    e: &Expander<'_>,
    head: &str,
    tail: &str,
    inside: &[Bit<'_>],
    quoted: bool,
    out: &mut Vec<Frag>,
) {
    if inside.iter().any(|b| matches!(b, Bit::Substitution { .. } | Bit::Backtick { .. })) {
        e.features.set(e.features.get() | Feature::Substitution.bit());
    }
    // An expansion inside the tail, a quote or an escape: not followed.
    let plain = !tail.contains(['$', '`', '"', '\'', '\\'])
        && inside.iter().all(|b| matches!(b, Bit::Bare(_) | Bit::Text(_)));
    if matches!(head, "@" | "*") {
        return arguments(e, head, tail, quoted, out);
    }
    if let Some(name) = head.strip_prefix('#').filter(|name| !name.is_empty() && tail.is_empty()) {
        let length = scalar(e, name).and_then(|val| val.text().map(|text| text.chars().count().to_string()));
        return out.push(length.map_or(Frag::Hole { quoted: true }, Frag::Text));
    }
    if matches!(
        head,
        "?" | "$" | "#" | "!" | "-" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" | "BASHPID"
    ) && tail.is_empty()
    {
        return out.push(Frag::Hole { quoted: true });
    }
    if head == "IFS" && tail.is_empty() && e.env.get("IFS").is_none() && !e.env.ifs {
        // A shell starts with its own value, whatever the environment says.
        return out.push(if quoted { Frag::Text(" \t\n".into()) } else { Frag::Break });
    }
    if head == "PWD" && tail.is_empty() && e.env.get("PWD").is_none() && !e.env.all_volatile {
        return out.push(Frag::Folder);
    }
    let splits = tail.starts_with("[@]")
        || tail.starts_with("[*]") && !quoted
        || tail.contains('@')
        || head.starts_with('!');
    let indirect = head.strip_prefix('!').filter(|name| is_name(name) && tail.is_empty());
    if let Some(name) =
        indirect.and_then(|name| scalar(e, name)).as_ref().and_then(Val::text).filter(|n| is_name(n))
        && let Some(val) = scalar(e, name)
    {
        return emit(e, val, quoted, out);
    }
    let value = match plain {
        true if tail.starts_with('[') => return element(e, head, tail, quoted, out),
        true => scalar(e, head),
        false => None,
    };
    match value.and_then(|val| apply(&val, tail)) {
        Some(val) => emit(e, val, quoted, out),
        None if splits => out.push(Frag::Hole { quoted: false }),
        None => out.push(unknown(e, head, tail, plain, quoted)),
    }
}

/// A variable whose value is not known, with what it is when nothing outside sets it.
fn unknown(e: &Expander<'_>, head: &str, tail: &str, plain: bool, quoted: bool) -> Frag {
    let positional = head.starts_with(|c: char| c.is_ascii_digit());
    if !positional && !is_name(head) || !plain {
        return Frag::Hole { quoted };
    }
    let open = !e.env.nounset && !e.env.seen.contains(head);
    let open = open
        && match positional {
            true => e.env.outermost && head != "0",
            false => e.env.get(head).is_none() && !e.env.all_volatile && !is_set_by_shell(head),
        };
    let other =
        |text: &str| !text.starts_with('~') && (quoted || !text.contains([' ', '\t', '\n', '*', '?', '[']));
    let default = match tail.trim_start_matches(':').split_at_checked(1) {
        None => Some(""),
        Some(("-" | "=", default)) => Some(default).filter(|text| other(text)),
        Some(("+", _)) => Some(""),
        // Cut or replaced: nothing comes of nothing.
        _ if tail.starts_with(['#', '%', '^', ',']) => Some(""),
        _ if tail.starts_with('/') && !tail.contains('*') => Some(""),
        _ => None,
    };
    Frag::Value { name: head.to_string(), quoted, unset: default.filter(|_| open).map(str::to_string) }
}

/// Variables that a shell or the login always sets.
fn is_set_by_shell(name: &str) -> bool {
    const SET: &[&str] = &[
        "HOME",
        "PWD",
        "OLDPWD",
        "PATH",
        "USER",
        "LOGNAME",
        "SHELL",
        "IFS",
        "HOSTNAME",
        "HOSTTYPE",
        "OSTYPE",
        "MACHTYPE",
        "UID",
        "EUID",
        "PPID",
        "RANDOM",
        "SECONDS",
        "LINENO",
        "BASH",
        "BASHPID",
        "BASH_VERSION",
        "SHLVL",
        "TERM",
        "OPTIND",
        "EPOCHSECONDS",
        "EPOCHREALTIME",
        "SRANDOM",
        "BASH_SOURCE",
        "FUNCNAME",
        "PIPESTATUS",
        "REPLY",
    ];
    SET.contains(&name)
}

/// The one value that a name has, when it has one.
fn scalar(e: &Expander<'_>, name: &str) -> Option<Val> {
    if let Ok(number) = name.parse::<usize>() {
        let word = e.env.args.as_ref()?.get(number)?;
        return Val::of(word);
    }
    if name == "HOME" && e.env.get(name).is_none() && !e.env.risky && !e.env.all_volatile {
        // What `~` stands for too: both are read alike.
        return Some(Val::Tilde("~".to_string()));
    }
    match e.lookup(name)?.as_slice() {
        [val] => Some(val.clone()),
        _ => None,
    }
}

/// `$@` and `$*` when the positional parameters are known.
fn arguments(e: &Expander<'_>, head: &str, tail: &str, quoted: bool, out: &mut Vec<Frag>) {
    let hole = Frag::Hole { quoted: quoted && head == "*" };
    let Some(args) = e.env.args.as_ref().filter(|_| tail.is_empty()) else { return out.push(hole) };
    let vals: Vec<Option<Val>> = args.iter().skip(1).map(Val::of).collect();
    if vals.iter().all(Option::is_none) && !vals.is_empty() {
        return out.push(hole);
    }
    list(e, &vals, quoted, head == "*", out);
}

/// Adds each value; one that is not known is one word, or what becomes of one.
fn list(e: &Expander<'_>, vals: &[Option<Val>], quoted: bool, joined: bool, out: &mut Vec<Frag>) {
    if vals.is_empty() && quoted && !joined {
        out.push(Frag::Absent);
    }
    // What stands between them is the first letter of `IFS`.
    let first =
        if e.env.ifs { separators(e).map(|ifs| ifs.chars().take(1).collect()) } else { Some(" ".into()) };
    if joined && quoted && first.is_none() && vals.len() > 1 {
        return out.push(Frag::Hole { quoted: true });
    }
    let between: String = first.unwrap_or_default();
    for (at, val) in vals.iter().enumerate() {
        if at > 0 {
            out.push(if joined && quoted { Frag::Text(between.clone()) } else { Frag::Break });
        }
        match val {
            Some(val) => emit(e, val.clone(), quoted, out),
            None => out.push(Frag::Hole { quoted }),
        }
    }
}

/// `${NAME[...]}` of a known array.
fn element(e: &Expander<'_>, name: &str, tail: &str, quoted: bool, out: &mut Vec<Frag>) {
    let hole = Frag::Hole { quoted: quoted && !tail.starts_with("[@]") };
    let index = tail.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let (Some(Value::Array(vals)), Some(index)) = (e.env.get(name), index) else { return out.push(hole) };
    let all = || vals.iter().cloned().map(Some).collect::<Vec<_>>();
    match (index, index.parse::<usize>()) {
        ("@", _) => list(e, &all(), quoted, false, out),
        ("*", _) => list(e, &all(), quoted, true, out),
        (_, Ok(number)) => match vals.get(number) {
            Some(val) => emit(e, val.clone(), quoted, out),
            None => out.push(hole),
        },
        _ => out.push(hole),
    }
}

/// Nothing of the word is there yet.
fn at_start(out: &[Frag]) -> bool {
    let nothing = |frag: &&Frag| matches!(frag, Frag::Text(text) if text.is_empty());
    matches!(out.iter().rev().find(|frag| !nothing(frag)), None | Some(Frag::Break))
}

/// The word is `NAME=` so far.
fn behind_name(out: &[Frag]) -> bool {
    let mut some = out.iter().filter(|frag| !matches!(frag, Frag::Text(text) if text.is_empty()));
    matches!((some.next(), some.next()), (Some(Frag::Bare(name)), None) if name.strip_suffix('=').is_some_and(is_name))
}

/// The value of `IFS` where the text sets it and nothing else can have.
fn separators(e: &Expander<'_>) -> Option<String> {
    match e.lookup("IFS")?.as_slice() {
        [Val::Text(ifs)] => Some(ifs.clone()),
        _ => None,
    }
}

/// Adds a value split at the letters of `IFS`: blanks among them part fields together, every other letter parts two.
fn split_at(e: &Expander<'_>, text: &str, ifs: &str, out: &mut Vec<Frag>) {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n') && ifs.contains(c);
    if text.contains(|c| ifs.contains(c)) || has_pattern(text) {
        e.split.set(true);
    }
    let mut rest = text.trim_start_matches(blank);
    if rest.len() < text.len() {
        let mark = rest.chars().next().filter(|c| ifs.contains(*c) && !at_start(out));
        // Blanks and one other letter behind text are one end of a field.
        rest = rest.get(mark.map_or(0, char::len_utf8)..).unwrap_or_default().trim_start_matches(blank);
        out.push(Frag::Break);
    }
    while !rest.is_empty() {
        let (field, behind) = rest.split_at(rest.find(|c| ifs.contains(c)).unwrap_or(rest.len()));
        out.push(if field.is_empty() { Frag::Text(String::new()) } else { Frag::Bare(field.to_string()) });
        let after = behind.trim_start_matches(blank);
        let after = match after.chars().next().filter(|c| ifs.contains(*c)) {
            Some(mark) => after.get(mark.len_utf8()..).unwrap_or_default().trim_start_matches(blank),
            None => after,
        };
        if !behind.is_empty() {
            out.push(Frag::Break);
        }
        rest = after;
    }
}

/// Adds a value: split at blanks when unquoted.
pub(crate) fn emit(e: &Expander<'_>, val: Val, quoted: bool, out: &mut Vec<Frag>) {
    match (val, quoted) {
        // The folder is still the one in which the value was taken.
        (Val::Folder(dir, rest), _) if dir == e.env.dir && e.env.other_dirs.is_empty() => {
            out.push(Frag::Folder);
            out.push(Frag::Text(rest));
        }
        (Val::Folder(..), _) => out.push(Frag::Hole { quoted }),
        (Val::Printed(text), _) => {
            out.push(Frag::Value { name: String::new(), quoted, unset: Some(text) });
        }
        (Val::Text(text), true) => out.push(Frag::Text(text)),
        (Val::Glob(pattern), true) => out.push(Frag::Glob(pattern)),
        // A tilde value is a path of unknown spelling: blanks in it would split.
        (Val::Tilde(text), _)
            if at_start(out) && (quoted || !text.contains([' ', '\t', '\n', '*', '?', '['])) =>
        {
            // An opening quote has left an empty text.
            while matches!(out.last(), Some(Frag::Text(_))) {
                out.pop();
            }
            let end = text.find('/').unwrap_or(text.len());
            let (prefix, rest) = text.split_at(end);
            out.push(Frag::Tilde(prefix.to_string()));
            out.push(Frag::Text(rest.to_string()));
        }
        // `local d=$1`
        (Val::Tilde(text), _) if e.whole.get() && behind_name(out) => out.push(Frag::Tilde(text)),
        // The home inside a word: a text that is read again says it by name.
        (Val::Tilde(text), _) if text == "~" || text.starts_with("~/") => {
            out.push(Frag::Value { name: "HOME".to_string(), quoted, unset: None });
            out.push(Frag::Text(text.trim_start_matches('~').to_string()));
        }
        (Val::Tilde(_), _) => out.push(Frag::Hole { quoted }),
        (Val::Glob(_), false) => out.push(Frag::Hole { quoted: false }),
        (Val::Text(text), false) if e.env.ifs => match separators(e) {
            Some(ifs) => split_at(e, &text, &ifs, out),
            None => out.push(Frag::Hole { quoted: false }),
        },
        (Val::Text(text), false) => {
            let blank = |c: char| matches!(c, ' ' | '\t' | '\n');
            if text.contains(blank) || has_pattern(&text) {
                e.split.set(true);
            }
            if text.starts_with(blank) {
                out.push(Frag::Break);
            }
            for (at, part) in text.split(blank).filter(|part| !part.is_empty()).enumerate() {
                if at > 0 {
                    out.push(Frag::Break);
                }
                out.push(Frag::Bare(part.to_string()));
            }
            if text.ends_with(blank) && !text.trim_matches(blank).is_empty() {
                out.push(Frag::Break);
            }
        }
    }
}

/// What the operator in `tail` makes of a value that is set.
fn apply(val: &Val, tail: &str) -> Option<Val> {
    if tail.is_empty() {
        return Some(val.clone());
    }
    // A home is set and not empty.
    if matches!(val, Val::Tilde(_)) && tail.trim_start_matches(':').starts_with(['-', '=', '?']) {
        return Some(val.clone());
    }
    let text = val.text()?;
    let done = |text: &str| Some(Val::Text(text.to_string()));
    if let Some(default) = tail.strip_prefix(":-").or_else(|| tail.strip_prefix(":=")) {
        return if text.is_empty() { known_default(default) } else { done(text) };
    }
    if let Some(other) = tail.strip_prefix(":+") {
        return if text.is_empty() { done("") } else { known_default(other) };
    }
    if let Some(other) = tail.strip_prefix('+') {
        return known_default(other);
    }
    if tail.starts_with(":?") {
        return if text.is_empty() { None } else { done(text) };
    }
    if tail.starts_with(['-', '=', '?']) {
        return done(text);
    }
    match tail {
        "^^" => return done(&text.to_uppercase()),
        ",," => return done(&text.to_lowercase()),
        _ => {}
    }
    if let Some(pattern) = tail.strip_prefix('#') {
        let (pattern, longest) = pattern.strip_prefix('#').map_or((pattern, false), |p| (p, true));
        return cut_start(text, pattern, longest).and_then(done);
    }
    if let Some(pattern) = tail.strip_prefix('%') {
        let (pattern, longest) = pattern.strip_prefix('%').map_or((pattern, false), |p| (p, true));
        return cut_end(text, pattern, longest).and_then(done);
    }
    if let Some(rule) = tail.strip_prefix('/') {
        let (rule, all) = rule.strip_prefix('/').map_or((rule, false), |r| (r, true));
        let (pattern, with) = rule.split_once('/').unwrap_or((rule, ""));
        if pattern.is_empty() || has_pattern(pattern) || pattern.starts_with(['#', '%']) || with.contains('&')
        {
            return None;
        }
        return done(&if all { text.replace(pattern, with) } else { text.replacen(pattern, with, 1) });
    }
    if let Some(range) = tail.strip_prefix(':') {
        let (from, length) =
            range.split_once(':').map_or((range, None), |(from, length)| (from, Some(length)));
        let from: usize = from.trim().parse().ok()?;
        let rest = text.chars().skip(from);
        return match length {
            Some(length) => done(&rest.take(length.trim().parse().ok()?).collect::<String>()),
            None => done(&rest.collect::<String>()),
        };
    }
    None
}

fn known_default(text: &str) -> Option<Val> {
    (!text.starts_with('~')).then(|| Val::Text(text.to_string()))
}

/// Takes the shortest or longest match of a simple pattern from the start.
fn cut_start<'t>(text: &'t str, pattern: &str, longest: bool) -> Option<&'t str> {
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let ends: Vec<usize> =
        if longest { ends.collect::<Vec<_>>().into_iter().rev().collect() } else { ends.collect() };
    for end in ends {
        let (head, rest) = text.split_at_checked(end)?;
        if matches(pattern, head)? {
            return Some(rest);
        }
    }
    Some(text)
}

/// Takes the shortest or longest match of a simple pattern from the end.
fn cut_end<'t>(text: &'t str, pattern: &str, longest: bool) -> Option<&'t str> {
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let starts: Vec<usize> =
        if longest { starts.collect() } else { starts.collect::<Vec<_>>().into_iter().rev().collect() };
    for start in starts {
        let (head, rest) = text.split_at_checked(start)?;
        if matches(pattern, rest)? {
            return Some(head);
        }
    }
    Some(text)
}

/// Whether a pattern of `*`, `?` and literal text matches; `None` for any other pattern.
pub(crate) fn matches(pattern: &str, text: &str) -> Option<bool> {
    if pattern.contains(['[', '(', '|']) {
        return None;
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while let Some(c) = text.get(t) {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(q) if q == c || *q == '?' => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, from + 1));
                }
                None => return Some(false),
            },
        }
    }
    Some(pattern.iter().skip(p).all(|c| *c == '*'))
}
