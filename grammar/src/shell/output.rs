//! What a command writes, when that is static: the other half of `echo TEXT | sh`.
//!
//! INVARIANT: a text is given only when it is exactly what the command writes; a name only when nothing else can be written.

use super::ast::*;
use super::env::Env;
use super::expand::Expander;
use super::quote::{base64, printf_escapes};
use super::walk::{Stdin, Walk, stdin_after};
use super::{Dialect, Word};

impl<'t> Walk<'_, '_, 't> {
    /// What a stage writes, when that is static.
    pub(crate) fn static_output(&self, node: &'t Node<'t>, env: &Env, stdin: &Stdin) -> Option<String> {
        let Node::Simple(simple) = node else { return None };
        let expander = self.expander(env, &[]);
        let mut words = Vec::new();
        for word in &simple.words {
            words.append(&mut expander.words(word));
        }
        let redirects = self.redirects(&simple.redirects, &expander);
        if redirects.iter().any(|r| !r.op.starts_with('<') && r.fd != "2") || !simple.assigns.is_empty() {
            return None;
        }
        let texts: Option<Vec<&str>> = words.iter().map(Word::known).collect();
        let texts = texts?;
        let (name, args) = texts.split_first()?;
        if env.functions.contains_key(*name) || env.aliases.contains_key(*name) || env.risky {
            return None;
        }
        let input = match stdin_after(&redirects, stdin) {
            Stdin::Text(text) => Some(text),
            Stdin::Call | Stdin::Guess(_) | Stdin::Unknown => None,
        };
        match (*name, args) {
            ("echo", args) => echo(args, self.dialect),
            ("printf", [format, args @ ..]) => printf(format, args),
            ("cat", [] | ["-"]) => input,
            ("base64", ["-d" | "-D" | "--decode"]) => base64(&input?),
            ("rev", []) => {
                Some(input?.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect())
            }
            _ => None,
        }
    }
}

impl Expander<'_> {
    /// Whether the only command of a substitution prints only names of objects: all its words are known, those behind the
    /// ones that the program's data names are no flags, and nothing else can write.
    pub(crate) fn prints_name(&self, list: &List<'_>) -> bool {
        let [AndOr { first, rest, background: false }] = list.items.as_slice() else { return false };
        let ([Node::Simple(simple)], true) = (first.stages.as_slice(), rest.is_empty()) else { return false };
        let quiet = |r: &RedirectNode<'_>| r.fd == "2" && matches!(r.op, ">" | ">>");
        if first.negated || !simple.assigns.is_empty() || !simple.redirects.iter().all(quiet) {
            return false;
        }
        let mut words = Vec::new();
        for word in &simple.words {
            words.append(&mut self.words(word));
        }
        let texts: Option<Vec<&str>> = words.iter().map(Word::known).collect();
        let Some(texts) = texts else { return false };
        let Some((name, args)) = texts.split_first() else { return false };
        let env = self.env;
        let shadowed = |name: &str| env.functions.contains_key(name) || env.aliases.contains_key(name);
        if env.risky || shadowed(name) || shadowed("*") {
            return false;
        }
        let Some(program) = self.programs.and_then(|programs| programs.program(name)) else { return false };
        program.prints_names.iter().any(|phrase| {
            let phrase: Vec<&str> = phrase.split_whitespace().collect();
            let behind = args.strip_prefix(phrase.as_slice());
            behind.is_some_and(|behind| behind.iter().all(|word| !word.starts_with('-')))
        })
    }
}

/// What `echo` writes.
fn echo(args: &[&str], dialect: Dialect) -> Option<String> {
    let (mut args, mut newline, mut escapes) = (args, true, false);
    while let Some((flag, rest)) = args.split_first() {
        match *flag {
            "-n" => newline = false,
            "-e" => escapes = true,
            "-ne" | "-en" => (newline, escapes) = (false, true),
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

/// What `printf` writes, for `%s` and `%b` only.
fn printf(format: &str, args: &[&str]) -> Option<String> {
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
