//! Programs of Windows that carry a command on their line: `powershell -Command`, `cmd /c`, `forfiles /c` and their kin.
//!
//! INVARIANT: whichever shell calls them, what they carry is read as the shell that they start reads it; a text that is
//! not known is a gap of the carrier.

use super::pwsh::code_text;
use super::{Dialect, Piece, Word};

/// What a carrier runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Carried {
    /// A text of this dialect; `guess` when holes were filled.
    Text {
        text: String,
        dialect: Dialect,
        guess: bool,
        /// It was written in a form that hides it.
        decoded: bool,
    },
    /// A command of its own.
    Words(Vec<Word>),
    /// What comes on standard input.
    Input(Dialect),
    /// Code that is not known.
    Unread,
}

/// Whether a program runs what comes on its standard input.
pub(crate) fn is_interpreter(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    matches!(
        name,
        "powershell"
            | "pwsh"
            | "cmd"
            | "bash"
            | "sh"
            | "zsh"
            | "dash"
            | "ksh"
            | "wsl"
            | "python"
            | "python3"
            | "py"
            | "node"
            | "perl"
            | "ruby"
            | "php"
    )
}

/// Whether a program carries commands whatever shell calls it.
pub(crate) fn is_known(name: &str) -> bool {
    let name = name.to_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    matches!(
        name,
        "powershell"
            | "pwsh"
            | "pwsh-preview"
            | "cmd"
            | "forfiles"
            | "schtasks"
            | "runas"
            | "wmic"
            | "psexec"
            | "psexec64"
            | "paexec"
            | "pcalua"
    ) || super::cmd::is_builtin(name)
}

/// Whether a word is what cmd takes for flags: `/s`, `/S/Q`, `//s` as some shells of Windows need it.
pub(crate) fn is_slash_flag(text: &str) -> bool {
    let letters: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
    text.starts_with('/')
        && !letters.is_empty()
        && letters.iter().all(|part| part.len() == 1 && part.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// A word as a text of cmd.
pub(crate) fn as_written(word: &Word) -> Option<String> {
    match text_of(std::slice::from_ref(word), Dialect::Cmd) {
        Carried::Text { text, .. } if text.contains(' ') => Some(format!("\"{text}\"")),
        Carried::Text { text, .. } => Some(text),
        _ => Some("%__%".to_string()),
    }
}

/// What a command carries; `name` is its file name.
pub(crate) fn carried(name: &str, words: &[Word]) -> Option<Carried> {
    let lower = name.to_lowercase();
    let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
    let args = words.get(1..).unwrap_or_default();
    match lower {
        "powershell" | "pwsh" | "pwsh-preview" => Some(powershell(args)),
        "cmd" => Some(cmd(args)),
        "forfiles" => Some(text_after(args, &["/c", "-c"])),
        "schtasks" if has(args, &["/create", "/change"]) => Some(text_after(args, &["/tr"])),
        "runas" => last(args),
        "wmic" if has(args, &["call"]) && has(args, &["create"]) => last(args),
        "psexec" | "psexec64" | "paexec" => Some(Carried::Words(behind_flags(args))),
        "start" => Some(Carried::Words(started(args))),
        "pcalua" => Some(text_after(args, &["-a"])),
        _ => None,
    }
}

fn has(args: &[Word], wanted: &[&str]) -> bool {
    args.iter().filter_map(Word::known).any(|text| wanted.iter().any(|w| text.eq_ignore_ascii_case(w)))
}

/// The value behind a flag as a text of cmd.
fn text_after(args: &[Word], flags: &[&str]) -> Carried {
    let at = args
        .iter()
        .position(|word| word.known().is_some_and(|t| flags.iter().any(|f| t.eq_ignore_ascii_case(f))));
    match at.and_then(|at| args.get(at + 1)) {
        Some(word) => text_of(std::slice::from_ref(word), Dialect::Cmd),
        None => Carried::Words(Vec::new()),
    }
}

fn last(args: &[Word]) -> Option<Carried> {
    args.last().map(|word| text_of(std::slice::from_ref(word), Dialect::Cmd))
}

fn behind_flags(args: &[Word]) -> Vec<Word> {
    let mut rest = args;
    while let Some((first, behind)) = rest.split_first() {
        match first.known() {
            Some("-u" | "-p" | "-n" | "-w" | "-r" | "-a") => rest = behind.get(1..).unwrap_or_default(),
            Some(text) if text.starts_with(['-', '/', '\\']) => rest = behind,
            _ => break,
        }
    }
    rest.to_vec()
}

/// `start "title" /b CMD`.
fn started(args: &[Word]) -> Vec<Word> {
    let mut rest = args;
    if let Some((first, behind)) = rest.split_first()
        && first.known().is_some_and(|t| t.is_empty() || t.contains(' '))
    {
        rest = behind;
    }
    while let Some((first, behind)) = rest.split_first() {
        match first.known().map(str::to_lowercase).as_deref() {
            Some("/d" | "/node" | "/affinity") => rest = behind.get(1..).unwrap_or_default(),
            Some(text) if text.starts_with('/') && text.len() > 1 => rest = behind,
            _ => break,
        }
    }
    rest.to_vec()
}

/// Flags of PowerShell that take a value.
const VALUES: &[&str] = &[
    "executionpolicy",
    "ep",
    "ex",
    "exec",
    "windowstyle",
    "w",
    "inputformat",
    "if",
    "outputformat",
    "o",
    "of",
    "version",
    "v",
    "workingdirectory",
    "wd",
    "configurationname",
    "config",
    "settingsfile",
    "custompipename",
    "psconsolefile",
];

fn powershell(args: &[Word]) -> Carried {
    let mut rest = args;
    while let Some((first, behind)) = rest.split_first() {
        let Some(text) = first.known() else { return Carried::Unread };
        // Dashes of typography count.
        let flag = text.strip_prefix(['-', '/', '\u{2013}', '\u{2014}', '\u{2015}']);
        let Some(flag) = flag.filter(|flag| !flag.is_empty()) else {
            return match text {
                "-" => Carried::Input(Dialect::PowerShell),
                _ => text_of(rest, Dialect::PowerShell),
            };
        };
        let flag = flag.trim_start_matches('-').to_lowercase();
        let (flag, attached) = match flag.split_once(':') {
            Some((flag, _)) => {
                (flag.to_string(), text.split_once(':').map(|(_, value)| Word::Known(value.to_string())))
            }
            None => (flag, None),
        };
        let begins = |whole: &str, least: usize| flag.len() >= least && whole.starts_with(&flag);
        if begins("command", 1) || begins("commandwithargs", 8) || flag == "cwa" {
            return match behind {
                [] => Carried::Input(Dialect::PowerShell),
                [one] if one.known() == Some("-") => Carried::Input(Dialect::PowerShell),
                _ => text_of(behind, Dialect::PowerShell),
            };
        }
        if begins("encodedcommand", 1) && !begins("executionpolicy", 2)
            || matches!(flag.as_str(), "ec" | "enc")
        {
            let value = attached.or_else(|| behind.first().cloned());
            return match value.as_ref().and_then(Word::known).and_then(code_text) {
                Some(text) => {
                    Carried::Text { text, dialect: Dialect::PowerShell, guess: false, decoded: true }
                }
                None => Carried::Unread,
            };
        }
        if begins("file", 1) {
            return match behind.first() {
                Some(file) if file.known() == Some("-") => Carried::Input(Dialect::PowerShell),
                Some(_) => Carried::Words(behind.to_vec()),
                None => Carried::Unread,
            };
        }
        rest =
            match VALUES.contains(&flag.as_str()) || begins("executionpolicy", 2) || begins("windowstyle", 1)
            {
                true if attached.is_none() => behind.get(1..).unwrap_or_default(),
                _ => behind,
            };
    }
    match args.is_empty() || has(args, &["-noexit"]) {
        // A session that reads its input.
        true => Carried::Input(Dialect::PowerShell),
        false => Carried::Input(Dialect::PowerShell),
    }
}

fn cmd(args: &[Word]) -> Carried {
    for (at, word) in args.iter().enumerate() {
        let Some(text) = word.known() else { return Carried::Unread };
        let lower = text.to_lowercase();
        let lower = lower
            .strip_prefix('/')
            .map_or(lower.clone(), |rest| format!("/{}", rest.trim_start_matches('/')));
        for flag in ["/c", "/k", "/r"] {
            // `/s/c`, `/c"del x"`
            let here = lower.find(flag).filter(|at| {
                *at == 0 || lower.get(..*at).is_some_and(|front| front.starts_with('/') && front.len() < 8)
            });
            let Some(found) = here else { continue };
            let skip = text.len() - lower.len();
            let attached = text.get(found + 2 + skip..).unwrap_or_default();
            if attached.starts_with(|c: char| c.is_ascii_alphanumeric()) && flag != "/c" {
                continue;
            }
            let mut rest: Vec<Word> = args.get(at + 1..).unwrap_or_default().to_vec();
            if !attached.is_empty() {
                rest.insert(0, Word::Known(attached.to_string()));
            }
            return text_of(&rest, Dialect::Cmd);
        }
        if !text.starts_with('/') {
            return Carried::Input(Dialect::Cmd);
        }
    }
    Carried::Input(Dialect::Cmd)
}

/// Words as the text that a new shell gets: those with blanks in quotes unless there is one alone.
fn text_of(words: &[Word], dialect: Dialect) -> Carried {
    let (mut text, mut guess, mut some) = (String::new(), false, false);
    let alone = words.len() == 1;
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        match word {
            Word::Known(part) | Word::Tilde(part) | Word::Glob(part) => {
                let quote = !alone && dialect == Dialect::Cmd && part.contains(' ') && !part.contains('"');
                if quote {
                    text.push('"');
                }
                let part = if matches!(word, Word::Glob(_)) { part.replace('\\', "") } else { part.clone() };
                some |= !part.trim().is_empty();
                text.push_str(&part);
                if quote {
                    text.push('"');
                }
            }
            Word::OneOf(_) => {
                guess = true;
                text.push_str(hole(dialect));
            }
            Word::Unknown(pieces) => {
                guess = true;
                for piece in pieces {
                    match piece {
                        Piece::Text(part) | Piece::Tilde(part) | Piece::Pattern(part) => {
                            some |= !part.trim().is_empty();
                            text.push_str(part);
                        }
                        Piece::Folder
                        | Piece::Descriptor
                        | Piece::Hole { .. }
                        | Piece::Name
                        | Piece::Value { .. } => text.push_str(hole(dialect)),
                    }
                }
            }
        }
    }
    match guess && !some {
        true => Carried::Unread,
        false => Carried::Text { text, dialect, guess, decoded: false },
    }
}

/// What stands for unknown text in a text of this dialect.
fn hole(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Cmd => "%__%",
        _ => "${__}",
    }
}
