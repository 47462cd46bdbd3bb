//! Words of cmd: quotes and carets removed, names of built-in commands, flags behind a slash.
//!
//! INVARIANT: one name for one command. `type` is told as `cat` and `find` as `findstr`, because the names mean something
//! else to other shells.

use super::expand::{HOLE, HOME};
use super::{Pair, Rule};
use crate::shell::{Part, Piece, Word};

/// Built-in commands and what they are told as.
const BUILTINS: &[(&str, &str)] = &[
    ("assoc", "assoc"),
    ("break", "break"),
    ("call", "call"),
    ("cd", "cd"),
    ("chdir", "cd"),
    ("cls", "cls"),
    ("color", "color"),
    ("copy", "copy"),
    ("date", "date"),
    ("del", "del"),
    ("dir", "dir"),
    ("echo", "echo"),
    ("endlocal", "endlocal"),
    ("erase", "del"),
    ("exit", "exit"),
    ("ftype", "ftype"),
    ("goto", "goto"),
    ("md", "mkdir"),
    ("mkdir", "mkdir"),
    ("mklink", "mklink"),
    ("move", "move"),
    ("path", "path"),
    ("pause", "pause"),
    ("popd", "popd"),
    ("prompt", "prompt"),
    ("pushd", "pushd"),
    ("rd", "rmdir"),
    ("ren", "ren"),
    ("rename", "ren"),
    ("rmdir", "rmdir"),
    ("set", "set"),
    ("setlocal", "setlocal"),
    ("shift", "shift"),
    ("start", "start"),
    ("time", "date"),
    ("title", "title"),
    ("type", "cat"),
    ("ver", "ver"),
    ("verify", "verify"),
    ("vol", "vol"),
];
/// Programs that read flags behind a slash as the built-in commands do.
const SLASHED: &[(&str, &str)] = &[
    ("attrib", "attrib"),
    ("cipher", "cipher"),
    ("comp", "comp"),
    ("fc", "fc"),
    ("find", "findstr"),
    ("findstr", "findstr"),
    ("format", "format"),
    ("more", "more"),
    ("replace", "replace"),
    ("robocopy", "robocopy"),
    ("sort", "sort"),
    ("tree", "tree"),
    ("where", "where"),
    ("xcopy", "xcopy"),
    ("deltree", "deltree"),
    ("tasklist", "tasklist"),
    ("whoami", "whoami"),
    ("systeminfo", "systeminfo"),
    ("ipconfig", "ipconfig"),
    ("taskkill", "taskkill"),
    ("shutdown", "shutdown"),
    ("chkdsk", "chkdsk"),
    ("driverquery", "driverquery"),
    ("gpresult", "gpresult"),
];

/// Whether a name is one that only cmd or Windows has, with flags behind a slash.
pub(crate) fn is_builtin(name: &str) -> bool {
    let lower = name.to_lowercase();
    let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
    matches!(
        lower,
        "del"
            | "erase"
            | "rd"
            | "rmdir"
            | "format"
            | "deltree"
            | "xcopy"
            | "robocopy"
            | "copy"
            | "move"
            | "attrib"
            | "cipher"
            | "mklink"
    )
}

/// A name as patterns write it, what is glued to it (`del/s`, `cd..`, `echo.`), and whether it reads slashes.
pub(super) fn program(text: &str) -> (String, String, bool) {
    let lower = text.to_lowercase();
    let stem = lower.strip_suffix(".exe").or_else(|| lower.strip_suffix(".com")).unwrap_or(&lower);
    let find = |list: &[(&str, &str)], name: &str| {
        list.iter().find(|(own, _)| *own == name).map(|(_, told)| (*told).to_string())
    };
    if let Some(told) = find(SLASHED, stem).or_else(|| find(BUILTINS, &lower)) {
        return (told, String::new(), true);
    }
    if let Some(at) = text.find(['/', '.', ':', '\\', '(', '+', '[', ']']) {
        let (front, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        let front = front.to_lowercase();
        let file = rest.len() > 1
            && rest.starts_with('.')
            && rest.chars().skip(1).all(|c| c.is_ascii_alphanumeric());
        if let Some(told) = find(BUILTINS, &front).filter(|_| !file) {
            return (told, rest.to_string(), true);
        }
    }
    let name = text.rsplit(['\\', '/']).next().unwrap_or(text).to_lowercase();
    let stem = name.strip_suffix(".exe").or_else(|| name.strip_suffix(".com")).unwrap_or(&name);
    match find(SLASHED, stem) {
        // `C:\Windows\System32\find.exe`
        Some(told) if text.to_lowercase().contains("system32") => (told, String::new(), true),
        _ => (text.replace('\\', "/"), String::new(), false),
    }
}

/// A value of a variable of `for`.
pub(super) type Loop = (char, Vec<String>);

/// The word of a pair.
pub(super) fn word(pair: Pair<'_>, loops: &[Loop]) -> Word {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut glob = false;
    // `%i` alone is one of the words of its loop; another hole is anything.
    let alone = pair.as_str().trim_matches('"').trim_start_matches('%').trim_start_matches('~');
    let alone = matches!(loops, [(name, _)] if alone.chars().eq([*name]));
    for part in pair.into_inner() {
        let text = part.as_str();
        match part.as_rule() {
            Rule::string => {
                let inner = text.strip_prefix('"').unwrap_or(text);
                let inner = inner.strip_suffix('"').unwrap_or(inner);
                // cmd's own commands look for wildcards in quotes too.
                glob |= inner.contains(['*', '?']);
                push(&mut pieces, inner, true, loops);
            }
            Rule::escape => push(&mut pieces, text.get(1..).unwrap_or_default(), false, &[]),
            _ => {
                glob |= text.contains(['*', '?']);
                push(&mut pieces, text, false, loops);
            }
        }
    }
    assemble(pieces, glob, if alone { loops } else { &[] })
}

fn push(pieces: &mut Vec<Piece>, text: &str, quoted: bool, loops: &[Loop]) {
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    let flush = |plain: &mut String, pieces: &mut Vec<Piece>| {
        if !plain.is_empty() {
            match pieces.last_mut() {
                Some(Piece::Text(last) | Piece::Tilde(last)) => last.push_str(plain),
                _ => pieces.push(Piece::Text(plain.clone())),
            }
            plain.clear();
        }
    };
    while let Some(c) = chars.next() {
        match c {
            HOLE => {
                flush(&mut plain, pieces);
                pieces.push(Piece::Hole { quoted });
            }
            HOME if pieces.is_empty() && plain.is_empty() => pieces.push(Piece::Tilde("~".into())),
            HOME => {
                flush(&mut plain, pieces);
                pieces.push(Piece::Hole { quoted });
            }
            '%' => {
                let mut modifiers = String::new();
                let mut ahead = chars.clone();
                if ahead.peek() == Some(&'~') {
                    while let Some(m) = ahead.peek().copied().filter(|m| {
                        matches!(m, '~' | 'f' | 'd' | 'p' | 'n' | 'x' | 's' | 'a' | 't' | 'z' | '$')
                    }) {
                        // The last letter may be the variable itself.
                        let mut behind = ahead.clone();
                        behind.next();
                        let name_follows =
                            behind.peek().is_some_and(|c| loops.iter().any(|(name, _)| name == c));
                        let is_name = loops.iter().any(|(name, _)| *name == m) && !name_follows;
                        if is_name {
                            break;
                        }
                        modifiers.push(m);
                        ahead.next();
                    }
                }
                let name = ahead.peek().copied().filter(|c| loops.iter().any(|(name, _)| name == c));
                match name {
                    Some(name) => {
                        chars = ahead;
                        chars.next();
                        flush(&mut plain, pieces);
                        let values = loops
                            .iter()
                            .rev()
                            .find(|(own, _)| *own == name)
                            .map(|(_, values)| values.as_slice());
                        match (values, modifiers.as_str()) {
                            (Some([one]), "" | "~" | "~f") if !one.contains([HOLE, '*', '?']) => {
                                let one = one.trim_matches('"');
                                push(pieces, one, quoted, &[]);
                            }
                            _ => pieces.push(Piece::Hole { quoted: true }),
                        }
                    }
                    None => plain.push('%'),
                }
            }
            c => plain.push(c),
        }
    }
    flush(&mut plain, pieces);
}

fn assemble(pieces: Vec<Piece>, glob: bool, loops: &[Loop]) -> Word {
    match pieces.as_slice() {
        [] => Word::Known(String::new()),
        [Piece::Text(text)] if glob => Word::Glob(slashed_glob(text)),
        [Piece::Tilde(text)] if glob => Word::Glob(slashed_glob(text)),
        [Piece::Text(text)] => Word::Known(text.clone()),
        [Piece::Tilde(text)] => Word::Tilde(text.replace('\\', "/")),
        // One of the words of a loop.
        [Piece::Hole { .. }] => match loops {
            [(_, values)]
                if (2..=16).contains(&values.len())
                    && !values.iter().any(|v| v.contains([HOLE, HOME, '*', '?', '"'])) =>
            {
                Word::OneOf(values.clone())
            }
            _ => Word::Unknown(pieces),
        },
        _ => Word::Unknown(pieces),
    }
}

fn slashed_glob(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push('/'),
            '[' | ']' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    // Every name, with a dot in it or not.
    out.strip_suffix("*.*").map_or(out.clone(), |front| format!("{front}*"))
}

/// The words of a command that reads slashes, with the part of each; `/S/Q` is the flags `-s` and `-q`.
pub(super) fn slashes(words: Vec<Word>) -> (Vec<Word>, Vec<Part>) {
    let (mut out, mut parts) = (Vec::new(), Vec::new());
    for (at, word) in words.into_iter().enumerate() {
        let text = word.known().filter(|text| at > 0 && text.starts_with('/') && text.len() > 1);
        let Some(text) = text.map(str::to_string) else {
            parts.push(match (at, &word) {
                (0, _) => Part::Program,
                (_, Word::Unknown(pieces))
                    if matches!(pieces.first(), Some(Piece::Hole { quoted: false })) =>
                {
                    Part::Unclear
                }
                _ => Part::Operand { after_dashes: false },
            });
            out.push(word);
            continue;
        };
        for one in text.split('/').filter(|one| !one.is_empty()) {
            let (name, value) = match one.split_once([':', '=']) {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (one, None),
            };
            let flag = format!("-{}", name.to_lowercase());
            out.push(Word::Known(match &value {
                Some(value) => format!("{flag}:{value}"),
                None => flag.clone(),
            }));
            parts.push(Part::Flag { names: vec![flag], value: value.map(Word::Known) });
        }
    }
    (out, parts)
}
