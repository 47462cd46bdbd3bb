//! What is known of Lua and Groovy, and the readers of Tcl and AppleScript.
//!
//! INVARIANT: a function or command whose effect is not listed here makes the answer incomplete.

use super::act::{Act, Fixed};
use super::eval::Knowledge;
use super::{Found, Inside, Language};
use crate::shell::Word;

pub(super) const LUA: Knowledge = Knowledge {
    acts: LUA_ACTS,
    control: &[
        "if", "then", "elseif", "else", "end", "while", "do", "repeat", "until", "function", "return",
        "break", "local", "and", "or", "not", "in", "_VERSION",
    ],
    bare_calls: false,
    prefixes: &["_G.", "_ENV."],
    interpreter: "lua",
};

pub(super) const GROOVY: Knowledge = Knowledge {
    acts: GROOVY_ACTS,
    control: &[
        "if",
        "else",
        "while",
        "switch",
        "case",
        "def",
        "class",
        "try",
        "catch",
        "finally",
        "return",
        "in",
        "instanceof",
        "as",
        "it",
        "final",
        "static",
        "void",
        "int",
        "String_",
    ],
    bare_calls: true,
    prefixes: &["java.lang.", "java.io.", "java.nio.file.", "java.net."],
    interpreter: "groovy",
};

const LUA_ACTS: &[(&str, Act)] = &[
    ("print", Act::Pure),
    ("io.write", Act::Pure),
    ("tostring", Act::Same),
    ("tonumber", Act::Pure),
    ("type", Act::Pure),
    ("math.floor", Act::Pure),
    ("math.max", Act::Pure),
    ("math.sqrt", Act::Pure),
    ("math.pi", Act::Fixed(Fixed::Plain)),
    ("string.len", Act::Pure),
    ("string.upper", Act::Pure),
    ("string.format", Act::Format),
    ("string.char", Act::Letters),
    ("string.reverse", Act::Reverse),
    ("table.concat", Act::Glue),
    ("ipairs", Act::Same),
    ("pairs", Act::Same),
    ("os.time", Act::Pure),
    ("os.date", Act::Pure),
    ("os.clock", Act::Pure),
    ("os.exit", Act::Pure),
    ("os.getenv", Act::Variable),
    ("os.execute", Act::Shell),
    ("io.popen", Act::Shell),
    ("*.execute", Act::Shell),
    ("*.popen", Act::Shell),
    ("os.remove", Act::RunFirst(&["rm"], 1)),
    ("os.rename", Act::RunFirst(&["mv"], 2)),
    ("*.rmdir", Act::RunFirst(&["rmdir"], 1)),
    ("*.mkdir", Act::RunFirst(&["mkdir"], 1)),
    ("vim.fn.delete", Act::Run(&["rm", "-r"])),
    ("vim.fn.system", Act::Spawn),
    ("vim.system", Act::Spawn),
    ("vim.uv.fs_unlink", Act::RunFirst(&["rm"], 1)),
    ("vim.loop.fs_unlink", Act::RunFirst(&["rm"], 1)),
    ("io.open", Act::Open),
    ("io.output", Act::Write),
    ("io.lines", Act::Read),
    ("io.input", Act::Read),
    ("load", Act::Eval),
    ("loadstring", Act::Eval),
    ("dofile", Act::Run(&["lua"])),
    ("loadfile", Act::Run(&["lua"])),
    ("require", Act::Module),
    ("os", Act::Fixed(Fixed::Plain)),
    ("socket.connect", Act::Connect),
    ("*.connect", Act::Connect),
    ("http.request", Act::Net),
    (".write", Act::Put),
    (".send", Act::Transmit),
];

const GROOVY_ACTS: &[(&str, Act)] = &[
    ("println", Act::Pure),
    ("print", Act::Pure),
    ("printf", Act::Pure),
    ("String", Act::Letters),
    ("System.exit", Act::Pure),
    ("System.getenv", Act::Variable),
    ("System.currentTimeMillis", Act::Pure),
    (".execute", Act::Spawn),
    ("Runtime.getRuntime", Act::Unclear),
    (".exec", Act::Spawn),
    ("ProcessBuilder", Act::Spawn),
    ("File", Act::Path),
    ("java.io.File", Act::Path),
    ("*.File", Act::Path),
    ("Paths.get", Act::Path),
    ("Path.of", Act::Path),
    ("Files.delete", Act::RunFirst(&["rm"], 1)),
    ("Files.deleteIfExists", Act::RunFirst(&["rm"], 1)),
    ("Files.write", Act::Write),
    ("Files.writeString", Act::Write),
    ("Files.readString", Act::Read),
    ("Files.move", Act::RunFirst(&["mv"], 2)),
    ("Files.copy", Act::RunFirst(&["cp"], 2)),
    (".delete", Act::RunFirst(&["rm"], 1)),
    (".deleteDir", Act::RunFirst(&["rm", "-r"], 1)),
    (".deleteOnExit", Act::RunFirst(&["rm"], 1)),
    (".renameTo", Act::RunFirst(&["mv"], 2)),
    (".mkdirs", Act::RunFirst(&["mkdir", "-p"], 1)),
    (".write", Act::Write),
    (".append", Act::Write),
    (".withWriter", Act::Write),
    (".getText", Act::Read),
    (".toURL", Act::Net),
    (".getBytes", Act::Same),
    (".decodeBase64", Act::Decode(super::decode::Decoder::Base64)),
    ("*.decode", Act::Decode(super::decode::Decoder::Base64)),
    ("evaluate", Act::Eval),
    ("Eval.me", Act::Eval),
    ("GroovyShell", Act::Unclear),
    (".evaluate", Act::Eval),
    ("URL", Act::Net),
    ("Socket", Act::Connect),
];

/// Reads Tcl (and expect) or AppleScript.
pub(super) fn read(language: Language, code: &str) -> Found {
    match language {
        Language::AppleScript => apple(code),
        _ => tcl(code),
    }
}

fn known(text: &str) -> Word {
    Word::Known(text.to_string())
}

/// The literal between double quotes that begins the text, and what stands behind it.
fn literal(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.strip_prefix('"')?.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, text.get(at + 2..)?)),
            '\\' => out.extend(chars.next().map(|(_, c)| c)),
            c => out.push(c),
        }
    }
    None
}

/// Literals and names joined by `&`.
fn apple_text(mut text: &str) -> Word {
    let mut out = known("");
    let mut quoted = false;
    loop {
        text = text.trim_start();
        if let Some((piece, rest)) = literal(text) {
            out = super::text::joined(&out, &known(&piece));
            text = rest;
        } else if let Some(rest) = text.strip_prefix("quoted form of") {
            quoted = true;
            text = rest;
            continue;
        } else {
            let end = text.find(['&', '\n', ')']).unwrap_or(text.len());
            if end > 0 || !quoted {
                out = super::text::joined(&out, &super::text::hole());
            }
            text = text.get(end..).unwrap_or_default();
        }
        match text.trim_start().strip_prefix('&') {
            Some(rest) => text = rest,
            None => return out,
        }
    }
}

fn apple(code: &str) -> Found {
    let mut found = Found { inside: Vec::new(), complete: true };
    // Every statement is a line; the verbs are looked for outside literals.
    for line in code.split(['\n', '\r']) {
        let mut rest = line.trim_start();
        if rest.starts_with("--") || rest.starts_with('#') || rest.is_empty() {
            continue;
        }
        let pure = ["display notification", "return", "log", "say"];
        found.complete &= pure.iter().any(|verb| rest.starts_with(verb));
        while !rest.is_empty() {
            if rest.starts_with('"') {
                rest = literal(rest).map_or("", |(_, behind)| behind);
                continue;
            }
            let lower = rest.get(..16).unwrap_or(rest).to_ascii_lowercase();
            if lower.starts_with("do shell script") || lower.starts_with("do script") {
                let size = if lower.starts_with("do shell") { 15 } else { 9 };
                let text = apple_text(rest.get(size..).unwrap_or_default());
                let mut inside = Inside::Shell(text.clone());
                if line.contains("with administrator privileges") {
                    inside = Inside::Argv(vec![known("sudo"), known("sh"), known("-c"), text]);
                }
                found.complete = false;
                found.inside.push(inside);
                rest = rest.get(size..).unwrap_or_default();
                continue;
            }
            if lower.starts_with("run script") {
                found.complete = false;
                found.inside.push(Inside::Evaluates { decoded: false });
                rest = rest.get(10..).unwrap_or_default();
                continue;
            }
            if lower.starts_with("delete") && line.contains("Finder") {
                let at = rest.find('"').unwrap_or(rest.len());
                let path = literal(rest.get(at..).unwrap_or_default());
                let word = path.map_or_else(super::text::hole, |(path, _)| known(&path));
                found.inside.push(Inside::Argv(vec![known("rm"), known("-r"), word]));
            }
            // On to the next word.
            let end = rest.find(|c: char| c == '"' || c.is_whitespace()).unwrap_or(rest.len());
            let skip =
                if rest.get(end..).is_some_and(|r| r.starts_with('"')) && end > 0 { end } else { end + 1 };
            rest = rest.get(skip..).unwrap_or_default();
        }
    }
    found
}

/// The commands of a Tcl text: words of one line, with `[...]`, `{...}` and `"..."`.
fn tcl(code: &str) -> Found {
    let mut found = Found { inside: Vec::new(), complete: true };
    let mut texts: Vec<(String, usize)> = vec![(code.to_string(), 0)];
    let mut left = 512;
    while let Some((text, depth)) = texts.pop() {
        left -= 1;
        if left == 0 || depth > 8 {
            found.complete = false;
            break;
        }
        for words in tcl_commands(&text) {
            tcl_command(&words, depth, &mut found, &mut texts);
        }
    }
    found
}

/// A word of Tcl: its text, whether braces keep it as it is, and the commands in it.
struct TclWord {
    text: String,
    braced: bool,
    inside: Vec<String>,
}

fn tcl_commands(text: &str) -> Vec<Vec<TclWord>> {
    let mut commands: Vec<Vec<TclWord>> = Vec::new();
    let mut words: Vec<TclWord> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.peek().copied() {
        match c {
            '\n' | ';' => {
                chars.next();
                commands.push(std::mem::take(&mut words));
            }
            c if c.is_whitespace() => {
                chars.next();
            }
            '#' if words.is_empty() => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            '{' => {
                chars.next();
                let text = balanced(&mut chars, '{', '}');
                words.push(TclWord { text, braced: true, inside: Vec::new() });
            }
            _ => {
                let mut word = TclWord { text: String::new(), braced: false, inside: Vec::new() };
                let quoted = c == '"';
                if quoted {
                    chars.next();
                }
                while let Some(c) = chars.peek().copied() {
                    if quoted && c == '"' {
                        chars.next();
                        break;
                    }
                    if !quoted && (c.is_whitespace() || c == ';') {
                        break;
                    }
                    chars.next();
                    match c {
                        '[' => {
                            let inside = balanced(&mut chars, '[', ']');
                            word.text.push('\u{0}');
                            word.inside.push(inside);
                        }
                        '\\' => word.text.extend(chars.next()),
                        c => word.text.push(c),
                    }
                }
                words.push(word);
            }
        }
    }
    commands.push(words);
    commands.retain(|words| !words.is_empty());
    commands
}

fn balanced(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, open: char, close: char) -> String {
    let (mut out, mut depth) = (String::new(), 0usize);
    while let Some(c) = chars.next() {
        if c == '\\' {
            out.push(c);
            out.extend(chars.next());
            continue;
        }
        if c == close && depth == 0 {
            break;
        }
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
        }
        out.push(c);
    }
    out
}

fn tcl_word(word: &TclWord) -> Word {
    if word.braced || !word.text.contains(['$', '\u{0}']) {
        return match word.text.starts_with('~') {
            true => Word::Tilde(word.text.clone()),
            false => known(&word.text),
        };
    }
    if word.text == "$env(HOME)" || word.text == "$::env(HOME)" {
        return Word::Tilde("~".into());
    }
    let mut out = known("");
    for (at, piece) in word.text.split(['$', '\u{0}']).enumerate() {
        let piece = match at {
            0 => piece,
            _ => {
                out = super::text::joined(&out, &super::text::hole());
                piece.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '(' | ')'))
            }
        };
        out = super::text::joined(&out, &known(piece));
    }
    out
}

fn tcl_command(words: &[TclWord], depth: usize, found: &mut Found, texts: &mut Vec<(String, usize)>) {
    for word in words {
        texts.extend(word.inside.iter().map(|text| (text.clone(), depth + 1)));
    }
    let Some((name, args)) = words.split_first() else { return };
    let all = |from: usize| args.get(from..).unwrap_or_default().iter().map(tcl_word).collect::<Vec<Word>>();
    let with = |prefix: &[&str], from: usize| {
        let mut words: Vec<Word> = prefix.iter().map(|word| known(word)).collect();
        words.extend(all(from).into_iter().filter(|word| word.known() != Some("--")));
        Inside::Argv(words)
    };
    let second = args.first().map_or("", |word| word.text.as_str());
    match (name.text.as_str(), second) {
        ("puts", _) => found.complete &= args.len() <= 2,
        (
            "set" | "expr" | "incr" | "list" | "string" | "format" | "lindex" | "llength" | "clock" | "exit"
            | "return" | "break" | "continue" | "lappend" | "append" | "info",
            _,
        ) => {}
        ("exec" | "spawn", _) => {
            let mut words = all(0);
            let flags = words.iter().take_while(|w| w.known().is_some_and(|w| w.starts_with('-'))).count();
            words.drain(..flags);
            found.complete = false;
            found.inside.push(Inside::Argv(words));
        }
        ("system", _) => {
            found.complete = false;
            found.inside.extend(all(0).into_iter().take(1).map(Inside::Shell));
        }
        ("file", "delete") => {
            found.complete = false;
            // `file delete -force` takes whole trees.
            let force = args.iter().any(|word| word.text == "-force");
            let Inside::Argv(mut words) = with(if force { &["rm", "-r"] } else { &["rm"] }, 1) else {
                return;
            };
            words.retain(|word| word.known() != Some("-force"));
            found.inside.push(Inside::Argv(words));
        }
        ("file", "rename") => found.inside.push(with(&["mv"], 1)),
        ("file", "copy") => found.inside.push(with(&["cp"], 1)),
        ("file", "mkdir") => found.inside.push(with(&["mkdir"], 1)),
        ("open", _) => {
            found.complete = false;
            let word = all(0).into_iter().next().unwrap_or_else(super::text::hole);
            match second.strip_prefix('|') {
                Some(command) => found.inside.push(Inside::Shell(known(command))),
                None if args.get(1).is_some_and(|mode| mode.text.contains(['w', 'a', '+'])) => {
                    found.inside.push(Inside::Writes(word));
                }
                None => found.inside.push(Inside::Reads(word)),
            }
        }
        ("socket", _) => {
            found.complete = false;
            found.inside.push(with(&["nc"], 0));
        }
        ("source", _) => {
            found.complete = false;
            found.inside.push(with(&["tclsh"], 0));
        }
        (
            "if" | "while" | "for" | "foreach" | "proc" | "catch" | "after" | "eval" | "uplevel" | "try"
            | "else" | "switch",
            _,
        ) => {
            found.complete &= !matches!(name.text.as_str(), "proc" | "eval" | "uplevel");
            for word in args {
                match word.braced {
                    true => texts.push((word.text.clone(), depth + 1)),
                    false => found.complete &= !matches!(name.text.as_str(), "after" | "catch"),
                }
            }
        }
        // Whole words in braces may be code.
        _ => found.complete = false,
    }
}
