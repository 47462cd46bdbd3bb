//! Words of commands as facts: the texts that a word may be, and which of them may name a file.
//!
//! INVARIANT: what is not known of a word stays a hole in its text; no reading of a word is left out.

use super::spelling::HOLE;
use policy_grammar::shell::{self, Piece};
use policy_runtime::facts::{Form, Part, Word};

/// A word as text: what can be read from it.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) form: Form,
    pub(super) tilde: bool,
}

/// A URL, not a file.
pub(super) fn is_remote(text: &str) -> bool {
    let scheme = text.split("://").next().unwrap_or_default();
    text.len() > scheme.len()
        && !scheme.is_empty()
        && !scheme.eq_ignore_ascii_case("file")
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// An operand that a program printed which prints only names of objects, with what belongs to such a name around it.
pub(super) fn is_name(word: &shell::Word, part: &shell::Part) -> bool {
    let (shell::Word::Unknown(pieces), shell::Part::Operand { .. }) = (word, part) else { return false };
    let plain = |piece: &Piece| match piece {
        Piece::Name => true,
        // `:` and `/` would make it a path.
        Piece::Text(text) => {
            text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'^' | b'~'))
        }
        Piece::Folder
        | Piece::Descriptor
        | Piece::Tilde(_)
        | Piece::Hole { .. }
        | Piece::Value { .. }
        | Piece::Pattern(_) => false,
    };
    pieces.first() == Some(&Piece::Name) && pieces.iter().all(plain)
}

/// The file of a word that is sent: `@FILE`, `name=@FILE`.
pub(super) fn sent_file(text: &str) -> Option<&str> {
    let file = text.strip_prefix('@').or_else(|| text.split_once("=@").map(|(_, file)| file))?;
    (!file.is_empty()).then_some(file)
}

/// Further paths inside a word: `of=PATH`, `@PATH`, `PATH:PATH`.
pub(super) fn inner_texts(text: &str) -> Vec<&str> {
    let mut inner = Vec::new();
    if let Some((key, value)) = text.split_once('=')
        && !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+'))
    {
        inner.push(value);
        inner.extend(value.strip_prefix('@'));
    }
    inner.extend(text.strip_prefix('@'));
    if text.contains(':') {
        let parts = text.split([':', '=']).skip(usize::from(text.starts_with(':'))).take(8);
        inner.extend(parts.filter(|part| part.starts_with(['/', '~', '.']) && *part != text));
    }
    inner.retain(|text| !text.is_empty() && !is_remote(text));
    inner
}

/// The word that may be a path: the operand, or the value of a flag.
pub(super) fn value_of<'w>(word: &'w shell::Word, part: &'w shell::Part) -> Option<&'w shell::Word> {
    match part {
        shell::Part::Program | shell::Part::Dashes => None,
        shell::Part::Flag { value, .. } => value.as_ref(),
        shell::Part::FlagValue { .. } | shell::Part::Operand { .. } | shell::Part::Unclear => Some(word),
    }
}

pub(super) fn path_texts(word: &shell::Word, part: &shell::Part) -> Vec<Text> {
    let no_flag = matches!(
        part,
        shell::Part::Operand { after_dashes: true }
            | shell::Part::FlagValue { .. }
            | shell::Part::Flag { value: Some(_), .. }
    );
    let found = match (value_of(word, part), part) {
        (Some(word), _) => texts(word),
        (None, shell::Part::Flag { .. }) => texts(word),
        (None, _) => return Vec::new(),
    };
    if no_flag {
        return found;
    }
    found.into_iter().filter_map(flag_value).collect()
}

/// The value part of a word that looks like a flag (`--x=VALUE`, `-IPATH`); other words as they are.
fn flag_value(text: Text) -> Option<Text> {
    if !text.text.starts_with('-') || text.text == "-" {
        return Some(text);
    }
    let value = if let Some(long) = text.text.strip_prefix("--") {
        long.split_once('=').map(|(_, value)| value)
    } else if let Some((_, value)) = text.text.split_once('=') {
        Some(value)
    } else {
        let value = text.text.char_indices().nth(2).and_then(|(at, _)| text.text.get(at..));
        value.filter(|value| value.contains(['/', '.', '~', HOLE]))
    };
    value.filter(|value| !value.is_empty()).map(|value| Text {
        text: value.to_owned(),
        form: text.form,
        tilde: true,
    })
}

/// The texts that a word may be.
pub(super) fn texts(word: &shell::Word) -> Vec<Text> {
    let exact = |text: &String| Text {
        text: text.clone(),
        form: if text.contains(HOLE) { Form::Holes } else { Form::Exact },
        tilde: false,
    };
    match word {
        shell::Word::Known(text) => vec![exact(text)],
        shell::Word::OneOf(all) => all.iter().map(exact).collect(),
        shell::Word::Tilde(text) => vec![Text { tilde: true, ..exact(text) }],
        shell::Word::Glob(text) => {
            vec![Text { text: text.clone(), form: Form::Glob, tilde: text.starts_with('~') }]
        }
        shell::Word::Unknown(pieces) => vec![Text {
            text: pieces_text(pieces),
            form: Form::Holes,
            tilde: matches!(pieces.first(), Some(Piece::Tilde(_))),
        }],
    }
}

fn pieces_text(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(piece) | Piece::Tilde(piece) => text.push_str(piece),
            Piece::Folder
            | Piece::Descriptor
            | Piece::Hole { .. }
            | Piece::Value { .. }
            | Piece::Pattern(_)
            | Piece::Name => text.push(HOLE),
        }
    }
    text
}

pub(super) fn joined(words: &[shell::Word]) -> String {
    let mut out = String::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        match word {
            shell::Word::Known(text) | shell::Word::Tilde(text) | shell::Word::Glob(text) => {
                out.push_str(text)
            }
            shell::Word::OneOf(_) => out.push(HOLE),
            shell::Word::Unknown(pieces) => out.push_str(&pieces_text(pieces)),
        }
    }
    out
}

/// The text may change what a shell's wildcards match.
pub(super) fn names_hidden_files(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["dotglob", "globignore", "bashopts", "globdots", "glob_dots"].iter().any(|word| text.contains(word))
}

/// A glob whose wildcards may stand for anything.
pub(super) fn open_glob(word: &mut shell::Word) {
    let shell::Word::Glob(glob) = word else { return };
    let mut pieces = Vec::new();
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        let known = match c {
            '*' | '?' => {
                pieces.push(Piece::Hole { quoted: false });
                continue;
            }
            // Where the brackets end is not looked for: the rest is open.
            '[' => {
                pieces.push(Piece::Hole { quoted: false });
                break;
            }
            '\\' => chars.next().unwrap_or(c),
            c => c,
        };
        match pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(known),
            _ => pieces.push(Piece::Text(known.to_string())),
        }
    }
    *word = shell::Word::Unknown(pieces);
}

pub(super) fn word_fact(word: &shell::Word) -> Word {
    match word {
        shell::Word::Known(text) | shell::Word::Tilde(text) => Word::Known(text.clone()),
        shell::Word::OneOf(all) => Word::OneOf(all.clone()),
        shell::Word::Glob(text) => Word::Glob(text.clone()),
        shell::Word::Unknown(pieces) => Word::Unknown { text: pieces_text(pieces), splits: word.may_split() },
    }
}

pub(super) fn part_fact(part: &shell::Part) -> Part {
    match part {
        shell::Part::Program => Part::Program,
        shell::Part::Flag { names, value } => {
            let value = value.as_ref().map(|value| joined(std::slice::from_ref(value)));
            Part::Flag { names: names.clone(), value }
        }
        shell::Part::FlagValue { flag } => Part::FlagValue { flag: flag.clone() },
        shell::Part::Operand { .. } => Part::Operand,
        shell::Part::Dashes => Part::Dashes,
        shell::Part::Unclear => Part::Unclear,
    }
}

/// Quotes words so that a shell reads them back as they are.
pub(super) fn quoted<'t>(words: impl Iterator<Item = &'t str>) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        let safe = |c: char| {
            c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | '%' | '+' | ',')
        };
        if !word.is_empty() && word.chars().all(safe) {
            out.push_str(word);
        } else {
            out.push('\'');
            out.push_str(&word.replace('\'', "'\\''"));
            out.push('\'');
        }
    }
    out
}
