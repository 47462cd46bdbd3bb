//! Ex commands of vim and commands of debuggers.
//!
//! INVARIANT: a command that is not known to be harmless is listed or makes the answer incomplete.

use super::text::{Text, expanded, hole};
use super::{Found, Inside, Language, MAX_NEST, nested};
use crate::shell::Word;

/// Reads commands, one a line.
pub(super) fn read(language: Language, code: &str, nest: usize) -> Found {
    let mut found = Found { inside: Vec::new(), complete: true };
    for line in code.lines() {
        match language {
            Language::Gdb => debugger(line, nest, &mut found),
            _ => ex(line, nest, &mut found),
        }
    }
    found
}

fn known(text: &str) -> Word {
    Word::Known(text.to_string())
}

fn file(text: &str) -> Word {
    expanded(&Text::word(known(text))).word
}

/// Code of another language.
fn other(language: Language, code: &str, nest: usize, found: &mut Found) {
    found.complete = false;
    if nest < MAX_NEST {
        let code = code.trim().trim_start_matches("<<").trim();
        found.inside.extend(nested(language, code, nest + 1).inside);
    }
}

fn ex(line: &str, nest: usize, found: &mut Found) {
    let mut rest = line;
    for _ in 0..256 {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ':' || c == '|');
        if rest.is_empty() || rest.starts_with('"') {
            return;
        }
        // Addresses before the command.
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "%.$,+- ".contains(c));
        if let Some(command) = rest.strip_prefix('!') {
            return shell(command, found);
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let Some((mut name, behind)) = rest.split_at_checked(end) else { return };
        // `py3` and `lua` are names with digits; `s/x/y/` ends before its delimiter.
        if name.is_empty() {
            found.complete = false;
            return functions(rest, found);
        }
        if name.starts_with('s') && behind.starts_with(['/', '#']) {
            name = "s";
        }
        let is = |full: &str, least: usize| name.len() >= least && full.starts_with(name);
        let args = behind.trim_start_matches('!').trim_start();
        if is("silent", 3) || is("keepalt", 5) || is("noautocmd", 3) || is("sandbox", 3) || name == "verbose"
        {
            rest = args;
            continue;
        }
        if is("execute", 3) {
            found.complete = false;
            functions(args, found);
            let text: String = literals(args).concat();
            if !text.is_empty() {
                ex_once(&text, nest, found);
            }
            return;
        }
        if (is("read", 1) || is("write", 1)) && args.starts_with('!') || is("terminal", 3) {
            return shell(args.trim_start_matches('!'), found);
        }
        let (argument, next) = args.split_once('|').unwrap_or((args, ""));
        let argument = argument.trim();
        if is("lua", 3) || is("luado", 4) {
            return other(Language::Lua, args, nest, found);
        } else if is("python3", 2)
            || is("py3", 2)
            || is("pythonx", 3)
            || name == "pyx"
            || name == "pydo"
            || name == "py3do"
        {
            return other(Language::Python, args, nest, found);
        } else if is("perl", 3) || is("perldo", 5) {
            return other(Language::Perl, args, nest, found);
        } else if is("ruby", 3) {
            return other(Language::Ruby, args, nest, found);
        } else if is("write", 1)
            || is("saveas", 3)
            || is("wq", 2)
            || is("update", 2)
            || is("xit", 1) && name != "x!"
        {
            // Without a name the file that is open: an operand of the editor.
            let target = argument.trim_start_matches(">>").trim();
            if !target.is_empty() {
                found.inside.push(Inside::Writes(file(target)));
            }
        } else if is("edit", 1) || is("read", 1) || is("split", 2) || is("tabedit", 4) {
            if !argument.is_empty() {
                found.inside.push(Inside::Reads(file(argument)));
            }
        } else if is("source", 2) {
            found.complete = false;
            found.inside.push(Inside::Argv(vec![known("vim"), known("-S"), file(argument)]));
        } else if is("call", 3)
            || is("echo", 2)
            || is("let", 3)
            || is("if", 2)
            || name == "echom"
            || name == "eval"
        {
            found.complete = false;
            functions(args, found);
        } else if is("global", 1) || is("vglobal", 1) || is("normal", 4) || is("bufdo", 5) || is("argdo", 4) {
            found.complete = false;
            if let Some(at) = args.find('!') {
                shell(args.get(at + 1..).unwrap_or_default(), found);
            }
            return;
        } else {
            let harmless = is("quit", 1)
                || is("qall", 2)
                || is("syntax", 2)
                || is("version", 2)
                || is("print", 1)
                || name == "s"
                || is("substitute", 2)
                || is("delete", 1)
                || is("join", 1)
                || is("nohlsearch", 3)
                || is("number", 2);
            found.complete &= harmless && !behind.contains("\\=");
            if name == "s" || is("substitute", 2) {
                functions(behind, found);
            }
        }
        rest = next;
    }
    found.complete = false;
}

/// The command in a text that is executed; what it executes itself is not followed.
fn ex_once(text: &str, nest: usize, found: &mut Found) {
    if nest < MAX_NEST {
        ex(text, nest + 1, found);
    }
}

fn shell(command: &str, found: &mut Found) {
    found.complete = false;
    found.inside.push(Inside::Shell(known(command.trim())));
}

/// Calls of known functions in an expression.
fn functions(text: &str, found: &mut Found) {
    for name in [
        "system",
        "systemlist",
        "delete",
        "writefile",
        "rename",
        "readfile",
        "job_start",
        "termopen",
        "mkdir",
    ] {
        for (at, _) in text.match_indices(name).take(32) {
            let inside = text.get(at + name.len()..).unwrap_or_default();
            let Some(inside) = inside.strip_prefix('(') else { continue };
            let args = literals(inside);
            let arg = |n: usize| args.get(n).map_or_else(hole, |text| file(text));
            let first = args.first().map_or_else(hole, |text| known(text));
            match name {
                "delete" => {
                    let tree = args.get(1).is_some_and(|flags| flags.contains('r'));
                    let mut words = vec![known("rm")];
                    words.extend(tree.then(|| known("-r")));
                    words.push(arg(0));
                    found.inside.push(Inside::Argv(words));
                }
                "writefile" => {
                    let last =
                        args.iter().rev().find(|text| text.len() > 2).map_or_else(hole, |text| file(text));
                    found.inside.push(Inside::Writes(last));
                }
                "rename" => found.inside.push(Inside::Argv(vec![known("mv"), arg(0), arg(1)])),
                "mkdir" => found.inside.push(Inside::Argv(vec![known("mkdir"), arg(0)])),
                "readfile" => found.inside.push(Inside::Reads(arg(0))),
                _ => found.inside.push(Inside::Shell(first)),
            }
        }
    }
}

/// The literals of an expression, in order.
fn literals(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\'' && c != '"' {
            continue;
        }
        let mut literal = String::new();
        while let Some(next) = chars.next() {
            match next {
                '\\' if c == '"' => literal.extend(chars.next()),
                next if next == c => {
                    if c == '\'' && chars.peek() == Some(&'\'') {
                        chars.next();
                        literal.push(c);
                        continue;
                    }
                    break;
                }
                next => literal.push(next),
            }
        }
        out.push(literal);
        if out.len() >= 64 {
            break;
        }
    }
    out
}

fn debugger(line: &str, nest: usize, found: &mut Found) {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return;
    }
    if let Some(command) = line.strip_prefix('!') {
        return shell(command, found);
    }
    let (name, args) = line.split_once([' ', '/']).unwrap_or((line, ""));
    match name {
        "shell" | "she" | "shel" | "platform" => {
            let command = args.trim_start_matches("shell").trim_start_matches("--");
            shell(if name == "platform" { command } else { args }, found);
        }
        "make" => shell(&format!("make {args}"), found),
        "pipe" => {
            let command = args.split_once('|').map_or("", |(_, command)| command);
            shell(command, found);
        }
        "python" | "py" | "python-interactive" | "pi" | "script" => {
            other(Language::Python, args, nest, found)
        }
        "source" => {
            found.complete = false;
            found.inside.push(Inside::Argv(vec![known("gdb"), known("-x"), file(args)]));
        }
        "bt" | "backtrace" | "quit" | "q" | "info" | "list" | "where" | "frame" | "thread"
        | "disassemble" | "help" | "x" => {}
        _ => {
            found.complete = false;
            if args.contains("system") || args.contains("popen") {
                for text in literals(args) {
                    found.inside.push(Inside::Shell(known(&text)));
                }
            }
        }
    }
}
