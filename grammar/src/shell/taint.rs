//! Values from outside that reach arithmetic: bash evaluates them as expressions, and a subscript in one runs commands.
//!
//! INVARIANT: a variable that may hold what a program printed or what was read makes the text not understood as soon as
//! its name stands where bash evaluates, wherever the two stand. A number is told from other output only by shape.

use super::Dialect;
use super::ast::*;
use super::env::Env;
use super::options::is_name;
use super::walk::Walk;
use std::collections::BTreeSet;

/// Most names that are followed; more count as all of them.
const MAX_NAMES: usize = 1024;

/// What is known of where values come from and where they are evaluated.
#[derive(Debug, Default)]
pub(crate) struct Taint {
    /// Variables with a value from outside.
    outside: BTreeSet<String>,
    /// A value goes from the first variable to the second.
    flows: BTreeSet<(String, String)>,
    /// Names that are evaluated, and where first.
    evaluated: BTreeSet<String>,
    place: Option<u32>,
    /// What a program prints is evaluated itself.
    direct: bool,
    full: bool,
}

impl Taint {
    /// Where a value from outside is evaluated.
    pub(crate) fn problem(mut self) -> Option<u32> {
        let place = self.place?;
        if self.direct || self.full {
            return Some(place);
        }
        // A chain of N variables needs at most N rounds; names are bounded.
        loop {
            let before = self.outside.len();
            for (from, to) in &self.flows {
                if self.outside.contains(from) {
                    self.outside.insert(to.clone());
                }
            }
            if self.outside.len() == before {
                break;
            }
        }
        self.evaluated.iter().any(|name| self.outside.contains(name)).then_some(place)
    }

    fn count(&mut self) {
        self.full |= self.outside.len() + self.flows.len() + self.evaluated.len() > MAX_NAMES;
    }

    /// A variable gets a value from outside.
    pub(crate) fn outside(&mut self, name: &str) {
        if !self.full {
            self.outside.insert(name.to_string());
            self.count();
        }
    }

    fn flow(&mut self, from: &str, to: &str) {
        if !self.full && from != to {
            self.flows.insert((from.to_string(), to.to_string()));
            self.count();
        }
    }

    /// The names in a text are evaluated.
    pub(crate) fn evaluate(&mut self, text: &str, at: u32) {
        self.place.get_or_insert(at);
        if self.full {
            return;
        }
        for name in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '@' && c != '*') {
            let positional = !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
            if positional || name.starts_with(['@', '*']) {
                self.evaluated.insert("@".into());
            } else if is_name(name) {
                self.evaluated.insert(name.to_string());
            }
        }
        self.count();
    }
}

impl Walk<'_, '_, '_> {
    fn here(&self) -> u32 {
        self.place_of((0, 0)).0
    }

    /// A variable gets the value of these parts.
    pub(crate) fn gets(&mut self, name: &str, bits: &[Bit<'_>], env: &Env) {
        for bit in bits {
            match bit {
                Bit::Substitution { list, .. } if prints_number(list, env) => {}
                Bit::Substitution { .. } | Bit::Backtick { .. } | Bit::Opaque => self.w.taint.outside(name),
                Bit::Param { head, inside, .. } => {
                    match head.chars().next() {
                        Some('#') => {}
                        Some('!') => self.w.taint.outside(name),
                        Some('0'..='9' | '@' | '*') => self.w.taint.flow("@", name),
                        _ => self.w.taint.flow(head, name),
                    }
                    self.gets(name, inside, env);
                }
                Bit::ExtGlob { inside } => self.gets(name, inside, env),
                Bit::Bare(_) | Bit::Text(_) | Bit::Process { .. } | Bit::Arith { .. } => {}
            }
        }
    }

    /// Bash evaluates these parts as an expression or a subscript.
    pub(crate) fn evaluates(&mut self, bits: &[Bit<'_>], env: &Env) {
        self.evaluates_bits(bits, env, true);
    }

    /// The same; without `scan` for what stands inside a text whose names are known already.
    fn evaluates_bits(&mut self, bits: &[Bit<'_>], env: &Env, scan: bool) {
        let at = self.here();
        for bit in bits {
            match bit {
                Bit::Bare(text) if scan => self.w.taint.evaluate(text, at),
                Bit::Text(text) if scan => self.w.taint.evaluate(text, at),
                Bit::Bare(_) | Bit::Text(_) => {}
                Bit::Param { head, inside, .. } => {
                    if !head.starts_with('#') {
                        self.w.taint.evaluate(head.trim_start_matches('!'), at);
                    }
                    self.evaluates_bits(inside, env, scan);
                }
                Bit::Arith { text, inside } => {
                    if scan {
                        self.w.taint.evaluate(text, at);
                    }
                    self.evaluates_bits(inside, env, false);
                }
                Bit::Substitution { list, .. } if prints_number(list, env) => {}
                Bit::Substitution { .. } | Bit::Backtick { .. } => {
                    self.w.taint.evaluate("", at);
                    self.w.taint.direct = true;
                }
                Bit::ExtGlob { inside } => self.evaluates_bits(inside, env, scan),
                Bit::Process { .. } | Bit::Opaque => {}
            }
        }
    }

    /// `${NAME[here]}`, `${NAME:here:here}`, `${!here}`.
    pub(crate) fn evaluates_param(&mut self, head: &str, tail: &str, inside: &[Bit<'_>], env: &Env) {
        let subscript = tail.starts_with('[') && !tail.starts_with("[@]") && !tail.starts_with("[*]");
        let slice =
            tail.starts_with(':') && !tail.get(1..).is_some_and(|t| t.starts_with(['-', '=', '?', '+']));
        if subscript || slice {
            let at = self.here();
            self.w.taint.evaluate(tail, at);
            self.evaluates(inside, env);
        }
        let listed = tail.starts_with(['@', '*']) || tail.starts_with("[@]") || tail.starts_with("[*]");
        if let Some(name) = head.strip_prefix('!')
            && !listed
            && is_name(name)
        {
            let at = self.here();
            self.w.taint.evaluate(name, at);
        }
    }

    /// `[[ a -eq b ]]` evaluates both sides, `[[ -v name ]]` a subscript.
    pub(crate) fn evaluates_test(&mut self, words: &[WordNode<'_>], env: &Env) {
        let bare = |word: &WordNode<'_>| match word.bits.as_slice() {
            [Bit::Bare(text)] => Some(text.to_string()),
            _ => None,
        };
        for (at, word) in words.iter().enumerate() {
            let sides = match bare(word).as_deref() {
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => [at.checked_sub(1), Some(at + 1)],
                Some("-v" | "-R") => [None, Some(at + 1)],
                Some("=~") => {
                    if let Some(value) = at.checked_sub(1).and_then(|at| words.get(at)) {
                        self.gets("BASH_REMATCH", &value.bits, env);
                    }
                    continue;
                }
                _ => continue,
            };
            for side in sides.into_iter().flatten().filter_map(|at| words.get(at)) {
                self.evaluates(&side.bits, env);
            }
        }
    }

    /// What a simple command reads into variables, and what it evaluates.
    pub(crate) fn tainted_by(&mut self, words: &[WordNode<'_>], env: &Env) {
        let text = |word: &WordNode<'_>| match word.bits.as_slice() {
            [Bit::Bare(text)] => Some(text.to_string()),
            [Bit::Text(text)] => Some(text.to_string()),
            _ => None,
        };
        let mut words = words;
        while let Some("command" | "builtin") = words.first().and_then(text).as_deref() {
            words = words.get(1..).unwrap_or_default();
        }
        let Some((program, args)) = words.split_first() else { return };
        let name = text(program).unwrap_or_default();
        let flag =
            |wanted: &[&str]| args.iter().any(|word| text(word).is_some_and(|t| wanted.contains(&&*t)));
        match name.as_str() {
            "read" | "mapfile" | "readarray" | "getopts" => {
                for name in ["REPLY", "MAPFILE", "OPTARG"] {
                    self.w.taint.outside(name);
                }
                for word in args {
                    match text(word) {
                        Some(name) => self.w.taint.outside(name.split('[').next().unwrap_or_default()),
                        None => self.evaluates(&word.bits, env),
                    }
                }
            }
            "printf" if args.first().and_then(text).is_some_and(|t| t.starts_with("-v")) => {
                for name in args.iter().take(2).filter_map(text) {
                    self.w.taint.outside(name.strip_prefix("-v").unwrap_or(&name));
                }
                if let Some(word) = args.get(1)
                    && text(word).is_none_or(|name| name.contains('['))
                {
                    self.evaluates(&word.bits, env);
                }
            }
            "let" => args.iter().for_each(|word| self.evaluates(&word.bits, env)),
            "test" | "[" if flag(&["-v", "-R"]) => {
                args.iter().for_each(|word| self.evaluates(&word.bits, env))
            }
            // zsh and ksh evaluate both sides of a comparison of numbers; bash and dash take a number only.
            "test" | "[" if matches!(self.dialect, Dialect::Zsh | Dialect::Unknown) => {
                self.evaluates_test(args, env);
            }
            "unset" | "wait" => {
                for word in args.iter().filter(|word| text(word).is_none()) {
                    self.evaluates(&word.bits, env);
                }
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let number = args.iter().filter_map(text).any(|t| t.starts_with('-') && t.contains('i'));
                self.w.arithmetic |= number;
                for word in args {
                    match word.bits.split_first() {
                        Some((Bit::Bare(first), rest))
                            if first.split_once('=').is_some_and(|(n, _)| is_name(n)) =>
                        {
                            let name = first.split('=').next().unwrap_or_default();
                            self.gets(name, rest, env);
                        }
                        Some((Bit::Bare(_) | Bit::Text(_), [])) | None => {}
                        Some(_) => self.evaluates(&word.bits, env),
                    }
                    if number {
                        self.evaluates(&word.bits, env);
                    }
                }
            }
            _ => {
                let positional = name.is_empty() || name == "set" || env.functions.contains_key(&name);
                for word in args.iter().filter(|_| positional) {
                    self.gets("@", &word.bits, env);
                }
            }
        }
    }
}

/// Whether all that a list prints is a number: nothing a subscript could stand in.
fn prints_number(list: &List<'_>, env: &Env) -> bool {
    let [AndOr { first, rest, .. }] = list.items.as_slice() else { return false };
    let (Some(Node::Simple(simple)), true) = (first.stages.last(), rest.is_empty()) else { return false };
    let mut words = Vec::new();
    for word in &simple.words {
        match word.bits.as_slice() {
            [Bit::Bare(text)] if !text.contains(['*', '?', '[', '{']) => words.push(text.to_string()),
            [Bit::Text(text)] => words.push(text.to_string()),
            [Bit::Param { .. }] => words.push(String::new()),
            _ if word
                .bits
                .iter()
                .all(|bit| matches!(bit, Bit::Bare(_) | Bit::Text(_) | Bit::Param { .. })) =>
            {
                words.push(String::new());
            }
            _ => return false,
        }
    }
    let Some((name, args)) = words.split_first() else { return false };
    if env.risky || env.functions.contains_key(name) || env.aliases.contains_key(name) {
        return false;
    }
    let (flags, operands): (Vec<&String>, Vec<&String>) = args.iter().partition(|word| word.starts_with('-'));
    match name.as_str() {
        "wc" => operands.is_empty(),
        "nproc" => true,
        "id" => {
            operands.is_empty()
                && flags.iter().all(|flag| matches!(flag.as_str(), "-u" | "-g"))
                && !flags.is_empty()
        }
        "seq" => {
            operands.iter().all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()))
                && flags.is_empty()
        }
        "date" => {
            flags.is_empty()
                && operands.len() == 1
                && operands.iter().all(|word| {
                    word.strip_prefix('+').is_some_and(|format| {
                        !format.is_empty() && format.chars().all(|c| c.is_ascii_alphanumeric() || c == '%')
                    })
                })
        }
        "grep" => {
            operands.len() <= 2
                && flags.iter().any(|flag| flag.contains('c'))
                && flags.iter().all(|flag| flag.chars().skip(1).all(|c| "civwxEF".contains(c)))
        }
        _ => false,
    }
}
