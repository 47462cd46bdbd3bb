//! Words that a wrapper puts into its command: what it found, what it reads, what is listed behind `:::`.
//!
//! INVARIANT: a word stands for everything the wrapper may put there; several commands are listed only when all of them are known.

use super::find::{Shape, Text};
use super::{Call, Finder};
use crate::shell::expand::escape_pattern;
use crate::shell::options::Reading;
use crate::shell::program::Program;
use crate::shell::walk::{Stdin, Walk};
use crate::shell::{Part, Piece, Word};

/// Most commands that one wrapper is listed with.
const MAX_EACH: usize = 16;
/// Expressions of `find` that leave nothing out.
const FINDS_ALL: &[&str] = &[
    "-maxdepth",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-print",
    "-print0",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-L",
    "-H",
    "-P",
    "-O1",
    "-O2",
    "-O3",
    "-ignore_readdir_race",
    "-noleaf",
    "-warn",
    "-nowarn",
    "-delete",
    "-ls",
    "-s",
    "-x",
    "-X",
];

impl Walk<'_, '_, '_> {
    /// `parallel rm ::: a b`: a text for each of the words; `false` when they are not known.
    pub(super) fn each(
        &mut self,
        finder: &Finder<'_>,
        words: &[Word],
        end: usize,
        shape: &Shape,
        program: &Program,
    ) -> bool {
        let (front, behind) =
            (words.get(..end).unwrap_or_default(), words.get(end + 1..).unwrap_or_default());
        let colons = |word: &Word| word.known().is_some_and(|text| text.starts_with(":::"));
        if words.get(end).and_then(Word::known) != Some(":::") || behind.iter().any(colons) {
            return false;
        }
        self.filled(finder, front, behind, shape, program)
    }

    /// `printf '%s\n' a b | parallel rm`: a text for each line of an input that is known.
    pub(super) fn each_line(
        &mut self,
        finder: &Finder<'_>,
        words: &[Word],
        shape: &Shape,
        program: &Program,
    ) -> bool {
        let text = match &finder.outer.stdin {
            Stdin::Text(text) => text,
            Stdin::Guess(text) if !text.contains("${_}") => text,
            _ => return false,
        };
        const PLAIN: &[&str] = &[
            "-j",
            "--jobs",
            "-P",
            "--max-procs",
            "-k",
            "--keep-order",
            "--will-cite",
            "--bar",
            "-u",
            "--ungroup",
            "--lb",
            "--line-buffer",
            "--progress",
            "-t",
            "--verbose",
            "-v",
            "-r",
            "--no-run-if-empty",
            "--halt",
            "--tag",
            "--no-notice",
        ];
        let plain = |word: &Word| {
            word.known().is_some_and(|text| {
                !text.starts_with('-')
                    || PLAIN.iter().any(|flag| text.split('=').next() == Some(*flag))
                    || text
                        .strip_prefix("-j")
                        .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit() || b == b'%'))
            })
        };
        let call = finder.outer;
        let before = call.words.len().saturating_sub(words.len());
        if !shape.appends || !call.words.get(1..before).unwrap_or_default().iter().all(plain) {
            return false;
        }
        let lines: Vec<Word> = text.lines().filter(|line| !line.is_empty()).map(line_word).collect();
        !lines.is_empty() && self.filled(finder, words, &lines, shape, program)
    }

    /// A text for each of the words in the place of `{}`, or behind all.
    fn filled(
        &mut self,
        finder: &Finder<'_>,
        front: &[Word],
        words: &[Word],
        shape: &Shape,
        program: &Program,
    ) -> bool {
        let front: Option<Vec<&str>> = front.iter().map(Word::known).collect();
        let texts: Option<Vec<(String, bool)>> = words.iter().map(quoted_again).collect();
        let (Some(texts), Some(front)) = (texts, front) else { return false };
        let other = |text: &str| {
            shape.placeholders.iter().any(|p| p != "{}" && !p.is_empty() && text.contains(p.as_str()))
        };
        let digits = |text: &str| {
            text.contains("{1") || text.contains("{2") || text.contains("{.") || text.contains("{/")
        };
        if texts.len() > MAX_EACH || front.iter().any(|t| other(t) || digits(t)) {
            return false;
        }
        let line = front.join(" ");
        let replaces = line.contains("{}");
        // A tilde or a pattern counts only where a word begins and ends.
        let apart = |line: &str| {
            let edge = |c: Option<char>| c.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|'));
            line.match_indices("{}").all(|(at, place)| {
                let (before, after) = (line.get(..at), line.get(at + place.len()..));
                edge(before.and_then(|text| text.chars().next_back()))
                    && edge(after.and_then(|text| text.chars().next()))
            })
        };
        if texts.iter().any(|(_, bare)| *bare) && !apart(&line) {
            return false;
        }
        for (text, _) in texts {
            let line = if replaces { line.replace("{}", &text) } else { format!("{line} {text}") };
            self.text(finder, Text::Known(line), program, &[]);
        }
        true
    }
}

/// A word as a shell would have to read it again, and whether an unquoted part of it counts.
fn quoted_again(word: &Word) -> Option<(String, bool)> {
    let quote = |text: &str| match text.is_empty() {
        true => String::new(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    };
    match word {
        Word::Known(text) => Some((format!("'{}'", text.replace('\'', "'\\''")), false)),
        Word::Tilde(text) => {
            let (home, rest) = text.split_at(text.find('/').map_or(text.len(), |at| at + 1));
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '~' | '/' | '_' | '-' | '.');
            home.chars().all(plain).then(|| (format!("{home}{}", quote(rest)), true))
        }
        Word::Glob(text) => {
            let plain = |c: char| {
                c.is_ascii_alphanumeric() || matches!(c, '~' | '/' | '_' | '-' | '.' | '*' | '?' | '[' | ']')
            };
            text.chars().all(plain).then(|| (text.clone(), true))
        }
        Word::OneOf(_) | Word::Unknown(_) => None,
    }
}

/// A line that a command gets as a word; the home was told by name.
fn line_word(line: &str) -> Word {
    match line.strip_prefix("${HOME}") {
        Some(rest) => Word::Tilde(format!("~{rest}")),
        None => Word::Known(line.to_string()),
    }
}

/// Where a search starts, and whether it leaves nothing out; `None` when it does not start at one known place.
fn start_of(words: &[Word], name: &str, reading: &Reading) -> Option<(Word, bool)> {
    let fd = match name {
        "find" | "gfind" => false,
        "fd" | "fdfind" => true,
        _ => return None,
    };
    let flags_all = |used: &crate::shell::options::FlagUse| {
        FINDS_ALL.contains(&used.name.as_str()) || fd && FD_ALL.contains(&used.name.as_str())
    };
    let mut all = reading.flags.iter().all(flags_all);
    let commands = |at: &usize| reading.commands.iter().any(|(from, to)| (from..to).contains(&at));
    let mut starts: Vec<&Word> = Vec::new();
    let mut first_flag = false;
    for (at, (word, part)) in words.iter().zip(&reading.parts).enumerate().skip(1) {
        match part {
            Part::Flag { names, .. } if !names.iter().any(|n| matches!(n.as_str(), "-L" | "-H" | "-P")) => {
                first_flag = true
            }
            Part::Operand { .. } | Part::Unclear if !commands(&at) && (fd || !first_flag) => {
                let expression =
                    !fd && word.known().is_some_and(|text| matches!(text, "(" | ")" | "!" | ","));
                if expression {
                    (first_flag, all) = (true, false);
                } else {
                    starts.push(word);
                }
            }
            _ => {}
        }
    }
    if fd && !starts.is_empty() {
        let pattern = starts.remove(0);
        all &= matches!(pattern.known(), Some("." | "" | ".*" | "^" | "*"));
    }
    let here = Word::Known(".".to_string());
    let start = match starts.as_slice() {
        [] => &here,
        [start] => start,
        _ => return None,
    };
    matches!(start, Word::Known(_) | Word::Tilde(_)).then(|| (start.clone(), all))
}

/// The pieces of the names that a search finds; `None` when it does not start at one known place.
pub(crate) fn found(words: &[Word], name: &str, reading: &Reading) -> Option<Vec<Piece>> {
    let (start, all) = start_of(words, name, reading)?;
    let (first, text) = match &start {
        Word::Tilde(text) => (Piece::Tilde(text.clone()), text.as_str()),
        other => (Piece::Text(other.known()?.to_string()), other.known()?),
    };
    // The first name that a search finds is its start.
    let rest = Piece::Value { name: String::new(), quoted: false, unset: all.then(String::new) };
    let slash = Piece::Text("/".to_string());
    Some(match (text.ends_with('/'), all) {
        (true, _) | (_, true) => vec![first, rest],
        (false, false) => vec![first, slash, rest],
    })
}

/// What a search gives to its commands: anything below where it starts, and the start itself when it leaves nothing out.
pub(super) fn search(words: &[Word], name: &str, reading: &Reading) -> Option<(Word, Option<Word>)> {
    let (start, all) = start_of(words, name, reading)?;
    let mut folder = String::new();
    match &start {
        Word::Tilde(text) => folder.push_str(text),
        other => escape_pattern(other.known()?, true, &mut folder),
    }
    let below = Word::Glob(format!("{}/**", folder.trim_end_matches('/')));
    Some((below, all.then_some(start)))
}

/// Flags of `fd` that leave nothing of importance out.
const FD_ALL: &[&str] = &[
    "-H",
    "--hidden",
    "-I",
    "--no-ignore",
    "-u",
    "--unrestricted",
    "-a",
    "--absolute-path",
    "-x",
    "--exec",
    "-X",
    "--exec-batch",
    "-d",
    "--max-depth",
    "-L",
    "--follow",
    "-0",
    "--print0",
    "-j",
    "--threads",
    "-c",
    "--color",
];

/// `fd -x rm`: without a placeholder the name stands last.
pub(super) fn complete(words: &mut Vec<Word>, name: &str, placeholders: &[String]) {
    let placed = |word: &Word| {
        word.known()
            .is_some_and(|text| placeholders.iter().any(|p| !p.is_empty() && text.contains(p.as_str())))
    };
    if matches!(name, "fd" | "fdfind") && !words.iter().any(placed) {
        words.push(Word::Known("{}".to_string()));
    }
}

/// The commands that a wrapper makes of an input that is known.
pub(super) fn fed(call: &Call, input: &Stdin, words: &[Word], shape: &Shape) -> Option<Vec<Vec<Word>>> {
    let text = match input {
        Stdin::Text(text) => text,
        Stdin::Guess(text) if shape.appends && !text.contains("${_}") => text,
        _ => return None,
    };
    let flags: Vec<&str> =
        call.words.iter().skip(1).map_while(|word| word.known().filter(|t| t.starts_with('-'))).collect();
    let known = |flag: &&str| {
        matches!(
            *flag,
            "-r" | "--no-run-if-empty"
                | "-t"
                | "--verbose"
                | "-I"
                | "-i"
                | "-n"
                | "-n1"
                | "-L1"
                | "-P"
                | "-I{}"
        ) || flag.starts_with("-I")
            || flag.starts_with("-P")
            || flag.strip_prefix("-n").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    };
    // What stands before the command: only flags that are understood.
    if !flags.iter().all(known) || text.contains(['\'', '"', '\\', '\0']) {
        return None;
    }
    if !shape.appends {
        let lines: Vec<&str> = text.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect();
        if lines.len() > MAX_EACH {
            return None;
        }
        let fill = |line: &&str| {
            let place = |word: &Word| match word.known() {
                Some(text) => {
                    let filled = shape
                        .placeholders
                        .iter()
                        .filter(|p| !p.is_empty())
                        .fold(text.to_string(), |all, p| all.replace(p.as_str(), line));
                    Word::Known(filled)
                }
                None => word.clone(),
            };
            words.iter().map(place).collect()
        };
        return Some(lines.iter().map(fill).collect());
    }
    let all: Vec<Word> = text.split_whitespace().map(line_word).collect();
    if all.len() > 64 {
        return None;
    }
    let size = flags.iter().find_map(|flag| match flag.strip_prefix("-n") {
        Some("") => {
            let at = call.words.iter().position(|word| word.known() == Some("-n"))?;
            call.words.get(at + 1)?.known()?.parse::<usize>().ok()
        }
        Some(number) => number.parse().ok(),
        None => None,
    });
    let counted = flags.iter().any(|flag| flag.starts_with("-n") || flag.starts_with("-L"));
    let size = match (size, counted) {
        (Some(size), _) => size.max(1),
        (None, true) => return None,
        (None, false) => all.len().max(1),
    };
    if all.len() / size > MAX_EACH {
        return None;
    }
    let command = |some: &[Word]| words.iter().chain(some).cloned().collect::<Vec<Word>>();
    if all.is_empty() {
        return Some(vec![words.to_vec()]);
    }
    Some(all.chunks(size).map(command).collect())
}

/// Words with placeholders replaced by what they stand for.
pub(super) fn substitute(words: Vec<Word>, shape: &Shape, below: Option<&Word>) -> Vec<Word> {
    let placeholders = &shape.placeholders;
    let replace = |word: Word| {
        let Word::Known(text) = &word else { return word };
        if let Some(below) = below.filter(|_| text == "{}" && placeholders.contains(text)) {
            return below.clone();
        }
        let Some(placeholder) = placeholders.iter().find(|p| !p.is_empty() && text.contains(p.as_str()))
        else {
            return word;
        };
        let mut pieces: Vec<Piece> = Vec::new();
        for (at, part) in text.split(placeholder.as_str()).enumerate() {
            if at > 0 {
                pieces.push(Piece::Hole { quoted: true });
            }
            if !part.is_empty() {
                pieces.push(Piece::Text(part.to_string()));
            }
        }
        Word::Unknown(pieces)
    };
    words.into_iter().map(replace).collect()
}
