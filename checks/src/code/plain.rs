//! Reads any other language as far as comments, strings and words go.
//!
//! INVARIANT: a string that does not end on its line ends there, unless its quote may hold lines.

use super::{Code, Kind};
use crate::file::{byte, is_name, part};
use crate::paths::Path;

/// What comments and strings look like in a language.
pub(crate) struct Syntax {
    line: &'static [&'static str],
    block: Option<(&'static str, &'static str)>,
    /// Quotes of strings on one line.
    quotes: &'static [u8],
    /// Quotes of strings over several lines.
    long: &'static [u8],
    /// `#` begins a comment only behind a blank.
    spaced: bool,
    rust: bool,
}

const C: Syntax = Syntax {
    line: &["//"],
    block: Some(("/*", "*/")),
    quotes: b"\"'",
    long: b"",
    spaced: false,
    rust: false,
};

/// The syntax of a file, by its name.
pub(crate) fn syntax(path: &Path) -> Option<Syntax> {
    Some(match path.extension.as_str() {
        "rs" => Syntax { quotes: b"", long: b"\"", rust: true, ..C },
        "go" => Syntax { long: b"`", ..C },
        "java" | "kt" | "kts" | "scala" | "swift" | "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "m"
        | "mm" | "cs" | "dart" | "zig" | "groovy" | "gradle" | "proto" | "jsonc" | "json5" | "scss"
        | "less" => C,
        "css" => Syntax { line: &[], ..C },
        "php" | "tf" | "hcl" => Syntax { line: &["//", "#"], ..C },
        "rb" | "ex" | "exs" | "jl" | "r" | "pl" | "pm" | "cr" | "nim" | "toml" | "cfg" | "conf"
        | "properties" | "ps1" | "mk" | "cmake" => Syntax { line: &["#"], block: None, spaced: true, ..C },
        "sh" | "bash" | "zsh" | "fish" | "yml" | "yaml" | "dockerfile" => {
            Syntax { line: &["#"], block: None, quotes: b"\"'", spaced: true, ..C }
        }
        "sql" => Syntax { line: &["--"], ..C },
        "lua" | "hs" | "elm" | "ada" => Syntax { line: &["--"], block: None, quotes: b"\"", ..C },
        "clj" | "cljs" | "lisp" | "el" | "scm" | "ini" | "asm" => {
            Syntax { line: &[";"], block: None, quotes: b"\"", ..C }
        }
        "erl" | "tex" => Syntax { line: &["%"], block: None, quotes: b"", ..C },
        "xml" | "xhtml" | "md" | "mdx" | "markdown" => {
            Syntax { line: &[], block: Some(("<!--", "-->")), quotes: b"", ..C }
        }
        _ => match path.name {
            "Makefile" | "GNUmakefile" | "Dockerfile" | "Rakefile" | "Gemfile" | "Vagrantfile"
            | "Procfile" | ".gitignore" | ".env" => {
                Syntax { line: &["#"], block: None, quotes: b"", spaced: true, ..C }
            }
            "Jenkinsfile" => C,
            name if name.starts_with("Dockerfile.") => {
                Syntax { line: &["#"], block: None, quotes: b"", spaced: true, ..C }
            }
            _ => return None,
        },
    })
}

/// Reads a text into words, strings, signs and comments.
pub(crate) fn read<'a>(text: &'a str, syntax: &Syntax) -> Code<'a> {
    let mut code = Code::new(text);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let here = byte(bytes, at);
        let start = at;
        let blank_before =
            at == 0 || matches!(byte(bytes, at - 1), b' ' | b'\t' | b'\n' | b'\r' | b';' | b'(');
        let mut marks = syntax.line.iter().copied();
        if marks.any(|mark| part(text, at, at + mark.len()) == mark && (!syntax.spaced || blank_before)) {
            while at < bytes.len() && !matches!(byte(bytes, at), b'\n' | b'\r') {
                at += 1;
            }
            code.comments.push((start as u32, at as u32));
            continue;
        }
        if let Some((open, close)) = syntax.block
            && part(text, at, at + open.len()) == open
        {
            at = text
                .get(at + open.len()..)
                .and_then(|rest| rest.find(close))
                .map_or(bytes.len(), |end| at + open.len() + end + close.len());
            code.comments.push((start as u32, at as u32));
            continue;
        }
        if syntax.rust && here == b'r' && matches!(byte(bytes, at + 1), b'"' | b'#') {
            let hashes =
                bytes.get(at + 1..).unwrap_or(&[]).iter().take(16).take_while(|byte| **byte == b'#').count();
            if byte(bytes, at + 1 + hashes) == b'"' {
                let end = format!("\"{}", "#".repeat(hashes));
                let from = at + 2 + hashes;
                at = text
                    .get(from..)
                    .and_then(|rest| rest.find(&end))
                    .map_or(bytes.len(), |stop| from + stop + end.len());
                code.push(Kind::Str, start, at);
                continue;
            }
        }
        if syntax.rust && here == b'\'' {
            // A letter, or the name of a lifetime.
            let letter = text.get(at + 1..).and_then(|rest| rest.chars().next());
            let behind = at + 1 + letter.map_or(0, char::len_utf8);
            if letter == Some('\\') {
                at += 3;
                while at < bytes.len() && at < start + 12 && !matches!(byte(bytes, at), b'\'' | b'\n') {
                    at += 1;
                }
                at = (at + 1).min(bytes.len());
                while !text.is_char_boundary(at) {
                    at += 1;
                }
                code.push(Kind::Str, start, at);
            } else if byte(bytes, behind) == b'\'' {
                at = behind + 1;
                code.push(Kind::Str, start, at);
            } else {
                at += 1;
                code.push_op(start, at);
            }
            continue;
        }
        if syntax.quotes.contains(&here) || syntax.long.contains(&here) {
            let long = syntax.long.contains(&here);
            at += 1;
            while at < bytes.len() {
                match byte(bytes, at) {
                    b'\\' if here != b'`' => at += 2,
                    b'\n' | b'\r' if !long => break,
                    byte => {
                        at += 1;
                        if byte == here {
                            break;
                        }
                    }
                }
            }
            at = at.min(bytes.len());
            code.push(Kind::Str, start, at);
        } else if here.is_ascii_digit() {
            while is_name(byte(bytes, at)) {
                at += 1;
            }
            code.push(Kind::Number, start, at);
        } else if is_name(here) {
            while is_name(byte(bytes, at)) {
                at += 1;
            }
            code.push(Kind::Name, start, at);
        } else {
            at += 1;
            if !here.is_ascii_whitespace() {
                code.push_op(start, at);
            }
        }
    }
    code
}
