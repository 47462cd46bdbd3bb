//! What a command writes, when that is static: the other half of `echo TEXT | sh`.
//!
//! INVARIANT: a text is given only when it is exactly what the command writes, with `${_}` for what is not known where it is a
//! guess; a name only when nothing else can be written.

use super::ast::*;
use super::env::Env;
use super::expand::Expander;
use super::flow::link::Written;
use super::walk::{Stdin, Walk, fill_into, stdin_after};
use super::{Piece, Redirect, Word};

pub(crate) mod filter;

/// Longest output that is followed, in bytes.
const MAX_OUTPUT: usize = super::MAX_COMMAND_BYTES;

/// Most of an output without end that is followed, in bytes.
const MAX_REPEATED: usize = 2048;

/// Substitutions inside each other whose output is followed.
const MAX_LEVEL: u32 = 4;

/// Builtins that write nothing.
const SILENT: &[&str] = &[":", "true", "false", "test", "["];

impl<'t> Walk<'_, '_, 't> {
    /// What a stage writes, when that is static.
    pub(crate) fn static_output(&self, node: &'t Node<'t>, env: &Env, stdin: &Stdin) -> Stdin {
        self.expander(env, &[]).output(node, stdin, false)
    }

    /// What a command writes into its redirections and process substitutions, when it has any.
    pub(crate) fn written(&self, simple: &'t Simple<'t>, env: &Env, stdin: &Stdin) -> Stdin {
        let target = |r: &RedirectNode<'_>| r.op.contains('>');
        let process = |word: &WordNode<'_>| word.bits.iter().any(|bit| matches!(bit, Bit::Process { .. }));
        let copies = matches!(
            simple.words.first().map(|word| word.bits.as_slice()),
            Some([Bit::Bare("tee" | "sponge" | "dd" | "sudo" | "command")])
        );
        if !copies && !simple.redirects.iter().any(target) && !simple.words.iter().any(process) {
            return Stdin::Unknown;
        }
        self.expander(env, &[]).simple_output(simple, stdin, true)
    }

    /// What a compound writes, when it has a redirection.
    pub(crate) fn compound_output(&self, compound: &'t Compound<'t>, env: &Env, stdin: &Stdin) -> Written {
        if !compound.redirects.iter().any(|r| r.op.contains('>')) {
            return None;
        }
        as_written(self.expander(env, &[]).kind_output(&compound.kind, stdin))
    }
}

/// A static output as text.
pub(crate) fn as_written(output: Stdin) -> Written {
    match output {
        Stdin::Text(text) => Some((text, false)),
        Stdin::Guess(text) => Some((text, true)),
        Stdin::Call | Stdin::File(_) | Stdin::Names(_) | Stdin::Unknown => None,
    }
}

impl Expander<'_> {
    /// What the list of a substitution writes, without the newlines at the end.
    pub(crate) fn substituted(&self, list: &List<'_>) -> Option<String> {
        let level = self.level.get();
        if level >= MAX_LEVEL {
            return None;
        }
        self.level.set(level + 1);
        let whole = self.whole.replace(false);
        let output = self.list_output(list, &Stdin::Unknown);
        self.whole.set(whole);
        self.level.set(level);
        match output {
            Stdin::Text(text) => Some(text.trim_end_matches('\n').to_string()),
            _ => None,
        }
    }

    /// What a process substitution that is the whole word writes.
    pub(crate) fn process_output(&self, word: &WordNode<'_>) -> Stdin {
        match word.bits.as_slice() {
            [Bit::Process { list }] => self.list_output(list, &Stdin::Unknown),
            _ => Stdin::Unknown,
        }
    }

    /// Standard input behind redirections.
    pub(crate) fn input_after(
        &self,
        nodes: &[RedirectNode<'_>],
        redirects: &[Redirect],
        before: &Stdin,
    ) -> Stdin {
        let last = nodes.iter().rfind(|r| r.op.starts_with('<') && matches!(r.fd, "" | "0"));
        if let Some(RedirectNode { op: "<", target: Target::Word(word), .. }) = last
            && matches!(word.bits.as_slice(), [Bit::Process { .. }])
        {
            return self.process_output(word);
        }
        stdin_after(redirects, before, &self.env.dir)
    }

    fn list_output(&self, list: &List<'_>, stdin: &Stdin) -> Stdin {
        let (mut all, mut guess) = (String::new(), false);
        for (at, item) in list.items.iter().enumerate() {
            // What runs on a condition may write or not.
            if item.background || !item.rest.is_empty() || item.first.negated {
                return Stdin::Unknown;
            }
            // The first command may have read it all.
            let mut input = if at == 0 { stdin.clone() } else { Stdin::Unknown };
            for stage in &item.first.stages {
                input = self.output(stage, &input, false);
            }
            match input {
                Stdin::Text(text) => all.push_str(&text),
                Stdin::Guess(text) => {
                    guess = true;
                    all.push_str(&text);
                }
                file @ (Stdin::File(_) | Stdin::Names(_)) if list.items.len() == 1 => return file,
                Stdin::Call | Stdin::File(_) | Stdin::Names(_) | Stdin::Unknown => return Stdin::Unknown,
            }
            if all.len() > MAX_OUTPUT {
                return Stdin::Unknown;
            }
        }
        if guess { Stdin::Guess(all) } else { Stdin::Text(all) }
    }

    fn kind_output(&self, kind: &Kind<'_>, stdin: &Stdin) -> Stdin {
        match kind {
            // What a list assigns on its way is not followed here.
            Kind::Group(list) | Kind::Subshell(list) if !assigns(list) => self.list_output(list, stdin),
            _ => Stdin::Unknown,
        }
    }

    fn output(&self, node: &Node<'_>, stdin: &Stdin, redirected: bool) -> Stdin {
        match node {
            Node::Simple(simple) => self.simple_output(simple, stdin, redirected),
            Node::Compound(compound) if compound.redirects.is_empty() => {
                self.kind_output(&compound.kind, stdin)
            }
            Node::Compound(_) => Stdin::Unknown,
        }
    }

    /// What a command writes; `redirected` when it goes where its own redirections say.
    fn simple_output(&self, simple: &Simple<'_>, stdin: &Stdin, redirected: bool) -> Stdin {
        let mut words = Vec::new();
        for word in &simple.words {
            words.append(&mut self.words(word));
        }
        while let Some("command" | "builtin" | "sudo" | "doas") = words.first().and_then(Word::known) {
            words.remove(0);
        }
        let elsewhere = |r: &RedirectNode<'_>| !r.op.starts_with('<') && r.fd != "2" && !stays(r);
        if !redirected && simple.redirects.iter().any(elsewhere) || !simple.assigns.is_empty() {
            return Stdin::Unknown;
        }
        let redirects: Option<Vec<Redirect>> =
            simple.redirects.iter().map(|node| self.redirect(node)).collect();
        let (Some(redirects), Some((first, args))) = (redirects, words.split_first()) else {
            return Stdin::Unknown;
        };
        let Some(name) = first.known() else { return Stdin::Unknown };
        let env = self.env;
        // A builtin is the same whatever the variables are.
        if env.risky && !matches!(name, "echo" | "printf") || self.shadowed(name) {
            return Stdin::Unknown;
        }
        let input =
            self.input_after(&simple.redirects, &redirects, if env.input { &Stdin::Unknown } else { stdin });
        let output = match name.rsplit('/').next().unwrap_or(name) {
            "echo" | "printf" => self.printed(name, args),
            "tee" => input,
            "yes" => match self.printed("echo", args) {
                Stdin::Text(line) | Stdin::Guess(line) => {
                    let line = if line == "\n" { "y\n".to_string() } else { line };
                    // Without end: what is followed is a beginning.
                    Stdin::Guess(line.repeat((MAX_REPEATED / line.len().max(1)).clamp(1, 16)))
                }
                _ => Stdin::Unknown,
            },
            "head" if matches!(input, Stdin::Guess(_)) => match (input, known_texts(args)) {
                (Stdin::Guess(text), Some(args)) if !args.iter().any(|arg| arg.starts_with("-c")) => {
                    filter::filter(name, &args, &text).map_or(Stdin::Unknown, Stdin::Guess)
                }
                _ => Stdin::Unknown,
            },
            "cat" => match args {
                [] => input,
                [word] if word.known() == Some("-") => input,
                [word] if !word.known().is_some_and(|text| text.starts_with('-')) => {
                    super::flow::files::Key::of(word, &env.dir).map_or(Stdin::Unknown, Stdin::File)
                }
                _ => Stdin::Unknown,
            },
            name if SILENT.contains(&name) => Stdin::Text(String::new()),
            "find" | "gfind" | "fd" | "fdfind" => self.found_names(&words),
            // What is left of a list of names.
            "grep" | "egrep" | "sort" | "uniq" | "head" | "tail" | "tac" | "sed" | "awk"
                if matches!(input, Stdin::Names(_)) =>
            {
                match (input, name) {
                    (Stdin::Names(pieces), "grep" | "egrep" | "sort" | "uniq" | "head" | "tail" | "tac") => {
                        Stdin::Names(fewer(pieces))
                    }
                    _ => Stdin::Unknown,
                }
            }
            name => match (input, known_texts(args)) {
                (Stdin::Text(text), Some(args)) => {
                    filter::filter(name, &args, &text).map_or(Stdin::Unknown, Stdin::Text)
                }
                _ => Stdin::Unknown,
            },
        };
        match output {
            Stdin::Text(text) | Stdin::Guess(text) if text.len() > MAX_OUTPUT => Stdin::Unknown,
            output => output,
        }
    }

    /// The names that a search writes.
    fn found_names(&self, words: &[Word]) -> Stdin {
        let name = words.first().and_then(Word::known).unwrap_or_default();
        let program = self.programs.and_then(|programs| programs.shared(name, words));
        let reading = super::options::read(program.as_deref(), words);
        let other = |used: &super::options::FlagUse| {
            matches!(
                used.name.as_str(),
                "-exec"
                    | "-execdir"
                    | "-ok"
                    | "-okdir"
                    | "-delete"
                    | "-printf"
                    | "-ls"
                    | "-x"
                    | "-X"
                    | "--exec"
                    | "--exec-batch"
            )
        };
        match super::inner::words::found(words, name, &reading) {
            Some(pieces) if !reading.flags.iter().any(other) => Stdin::Names(pieces),
            _ => Stdin::Unknown,
        }
    }

    /// What `echo` and `printf` write; holes in their words are filled.
    fn printed(&self, name: &str, args: &[Word]) -> Stdin {
        let (mut texts, mut guess, mut some) = (Vec::new(), false, false);
        for word in args {
            match word {
                Word::Known(text) => {
                    some |= !text.trim().is_empty();
                    texts.push(text.clone());
                }
                // The name of the home is not known; a shell that reads it again does know it.
                Word::Tilde(text) => {
                    (some, guess) = (true, true);
                    let own = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
                    texts.push(own.map_or_else(|| "${_}".to_string(), |rest| format!("${{HOME}}{rest}")));
                }
                Word::Unknown(pieces) => {
                    guess = true;
                    let mut text = String::new();
                    some |= fill_into(&mut text, pieces);
                    texts.push(text);
                }
                Word::Glob(_) | Word::OneOf(_) => {
                    guess = true;
                    texts.push("${_}".to_string());
                }
            }
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let unknown_format = name == "printf" && args.first().is_some_and(|word| word.known().is_none());
        let text = match (name, texts.as_slice()) {
            _ if unknown_format => None,
            ("printf", [format, args @ ..]) => filter::printf(format, args),
            ("printf", []) => None,
            (_, args) => filter::echo(args, self.dialect),
        };
        match text {
            Some(text) if guess && some => Stdin::Guess(text),
            Some(text) if !guess => Stdin::Text(text),
            _ => Stdin::Unknown,
        }
    }
}

fn known_texts(args: &[Word]) -> Option<Vec<&str>> {
    args.iter().map(Word::known).collect()
}

/// The same names without some.
fn fewer(mut pieces: Vec<Piece>) -> Vec<Piece> {
    for piece in &mut pieces {
        if let Piece::Value { unset, .. } = piece {
            *unset = None;
        }
    }
    pieces
}

/// A descriptor copy that leaves the output where it goes.
fn stays(node: &RedirectNode<'_>) -> bool {
    let number = |word: &WordNode<'_>| matches!(word.bits.as_slice(), [Bit::Bare("1")]);
    node.op == ">&" && matches!(&node.target, Target::Word(word) if number(word))
}

/// Whether a list has assignments or commands that change the shell.
fn assigns(list: &List<'_>) -> bool {
    list.items.iter().flat_map(|item| &item.first.stages).any(|node| match node {
        Node::Simple(simple) => {
            !simple.assigns.is_empty()
                || !matches!(
                    simple.words.first().map(|word| word.bits.as_slice()),
                    Some([Bit::Bare("echo" | "printf" | "cat" | "true" | ":" | "base64" | "rev" | "tr")])
                )
        }
        Node::Compound(_) => true,
    })
}

impl Expander<'_> {
    /// Whether a substitution gives the folder in which it stands: `$(pwd)`.
    pub(crate) fn prints_folder(&self, list: &List<'_>) -> bool {
        let words = self.plain_command(list);
        matches!(words.as_slice(), ["pwd"] | ["pwd", "-L" | "-P"])
    }

    /// Whether it gives the folder of the project: `$(git rev-parse --show-toplevel)`.
    pub(crate) fn prints_project(&self, list: &List<'_>) -> bool {
        let words = self.plain_command(list);
        matches!(words.as_slice(), ["git", "rev-parse", "--show-toplevel"] | ["hg" | "jj", "root"])
    }

    /// The program whose place a substitution prints: `$(which rm)`, `$(command -v rm)`.
    pub(crate) fn prints_program(&self, list: &List<'_>) -> Option<String> {
        let words = self.plain_command(list);
        let name = match words.as_slice() {
            ["which", name] | ["command", "-v" | "-pv" | "-vp", name] => name,
            ["which", "-a" | "-p" | "--skip-alias" | "--skip-functions", name] => name,
            ["type" | "hash", "-p" | "-P" | "-fp" | "-fP", name] => name,
            ["whence", "-p" | "-pv", name] | ["whence", name] => name,
            _ => return None,
        };
        let name = name.rsplit('/').next().unwrap_or_default().to_string();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
        (!name.is_empty() && !name.starts_with(['-', '.']) && name.chars().all(plain)).then_some(name)
    }

    /// The words of the only command of a substitution where they stand there as they are; else nothing.
    fn plain_command<'l>(&self, list: &'l List<'_>) -> Vec<&'l str> {
        let none = Vec::new();
        let [AndOr { first, rest, background: false }] = list.items.as_slice() else { return none };
        let ([Node::Simple(simple)], true) = (first.stages.as_slice(), rest.is_empty()) else { return none };
        let quiet = |r: &RedirectNode<'_>| r.fd == "2" && matches!(r.op, ">" | ">>");
        if first.negated || !simple.assigns.is_empty() || !simple.redirects.iter().all(quiet) {
            return none;
        }
        let plain = |word: &'l WordNode<'_>| match word.bits.as_slice() {
            [Bit::Bare(text)] => Some(*text),
            [Bit::Text(text)] => Some(&**text),
            _ => None,
        };
        let words: Option<Vec<&str>> = simple.words.iter().map(plain).collect();
        let words = words.unwrap_or_default();
        if words.first().is_some_and(|name| self.shadowed(name)) { none } else { words }
    }

    /// Whether the only command of a substitution prints only names of objects: all its words are known, those behind the
    /// ones that the program's data names are no flags, and nothing else can write.
    pub(crate) fn prints_name(&self, list: &List<'_>) -> bool {
        let [AndOr { first, rest, background: false }] = list.items.as_slice() else { return false };
        let ([Node::Simple(simple)], true) = (first.stages.as_slice(), rest.is_empty()) else { return false };
        let quiet = |r: &RedirectNode<'_>| r.fd == "2" && matches!(r.op, ">" | ">>");
        if first.negated || !simple.assigns.is_empty() || !simple.redirects.iter().all(quiet) {
            return false;
        }
        let program = match simple.words.first().map(|word| word.bits.as_slice()) {
            Some([Bit::Bare(name)]) => self.programs.and_then(|programs| programs.shared(name, &[])),
            _ => None,
        };
        let Some(program) = program.filter(|program| !program.prints_names.is_empty()) else { return false };
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
        program.prints_names.iter().any(|phrase| {
            let phrase: Vec<&str> = phrase.split_whitespace().collect();
            let behind = args.strip_prefix(phrase.as_slice());
            behind.is_some_and(|behind| behind.iter().all(|word| !word.starts_with('-')))
        })
    }
}
