//! What a command writes, when that is static: the other half of `echo TEXT | sh`.
//!
//! INVARIANT: a text is given only when it is exactly what the command writes.

use super::ast::*;
use super::env::Env;
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
