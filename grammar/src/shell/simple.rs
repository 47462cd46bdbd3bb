//! One simple command: its words, what it outputs when that is static, and what it does to the shell itself.
//!
//! INVARIANT: a builtin that changes the state in a way that is not followed widens the state.

use super::ast::*;
use super::env::{Env, MAX_VALUES, Val, Value, enter_dir, is_risky};
use super::expand::Expander;
use super::inner::Call;
use super::options::is_name;
use super::quote::{base64, printf_escapes};
use super::walk::{Ctx, Stdin, Walk, redirect_features, runs_in_subscript, stdin_after};
use super::{Assignment, Dialect, Dir, Feature, Gap, Piece, Word};

/// Builtins whose arguments of the form `NAME=VALUE` are assignments: not split, no patterns.
const DECLARING: &[&str] = &["export", "declare", "typeset", "local", "readonly", "alias"];
/// Builtins that evaluate subscripts in their arguments.
const EVALUATES_SUBSCRIPTS: &[&str] = &[
    "let",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "printf",
    "unset",
    "read",
    "test",
    "[",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
];

impl<'t> Walk<'_, '_, 't> {
    pub(crate) fn simple(&mut self, simple: &'t Simple<'t>, env: &mut Env, ctx: &Ctx) {
        for assign in &simple.assigns {
            self.visit(&assign.subscript, env, ctx);
            self.w.arithmetic |= assign.indexed;
            match &assign.value {
                AssignValue::Word(word) => self.visit(&word.bits, env, ctx),
                AssignValue::Array(elements, _) => {
                    for element in elements {
                        self.visit(&element.bits, env, ctx);
                    }
                }
            }
        }
        for word in &simple.words {
            self.visit(&word.bits, env, ctx);
        }
        self.visit_redirects(&simple.redirects, env, ctx);

        let choices = self.choices(simple, env);
        let mut first: Option<Vec<Word>> = None;
        let mut seen: Vec<Vec<Word>> = Vec::new();
        for choice in &choices {
            let words = self.one(simple, env, ctx, choice, &mut seen);
            first.get_or_insert(words);
        }
        let words = first.unwrap_or_default();
        self.assignments(simple, &words, env);
        if choices.len() > 1 {
            self.widen(&words, env);
        } else {
            self.builtin(&words, env, ctx, simple.range);
        }
        let reads = simple.redirects.iter().any(|r| r.op.starts_with('<') && matches!(r.fd, "" | "0"));
        env.input |= reads && words.first().and_then(Word::known) == Some("exec") && words.len() == 1;
    }

    /// The values to pick for variables that have several: one entry for each command that this one stands for.
    fn choices(&self, simple: &Simple<'_>, env: &Env) -> Vec<Vec<(String, Val)>> {
        let mut choices: Vec<Vec<(String, Val)>> = vec![Vec::new()];
        let mut names = Vec::new();
        let bits = simple.words.iter().flat_map(|word| &word.bits);
        let targets = simple
            .redirects
            .iter()
            .filter_map(|r| if let Target::Word(word) = &r.target { Some(word) } else { None });
        let values = simple
            .assigns
            .iter()
            .filter_map(|a| if let AssignValue::Word(word) = &a.value { Some(word) } else { None });
        for bit in bits.chain(targets.chain(values).flat_map(|word| &word.bits)) {
            if let Bit::Param { head, .. } = bit
                && let name = head.trim_start_matches('#')
                && let Some(Value::Scalar(vals)) = env.get(name)
                && vals.len() > 1
                && !names.contains(&name)
                && choices.len() * vals.len() <= MAX_VALUES
            {
                names.push(name);
                let pick = |val: &Val, choice: &Vec<(String, Val)>| {
                    let mut choice = choice.clone();
                    choice.push((name.to_string(), val.clone()));
                    choice
                };
                choices =
                    choices.iter().flat_map(|choice| vals.iter().map(move |val| pick(val, choice))).collect();
            }
        }
        choices
    }

    /// Lists the command for one pick of values; the answer is its words.
    fn one(
        &mut self,
        simple: &'t Simple<'t>,
        env: &Env,
        ctx: &Ctx,
        choice: &[(String, Val)],
        seen: &mut Vec<Vec<Word>>,
    ) -> Vec<Word> {
        let expander = self.expander(env, choice);
        let (mut words, mut ranges, mut gaps) =
            (Vec::with_capacity(simple.words.len()), Vec::new(), ctx.gaps.clone());
        for node in &simple.words {
            let declares = words.first().and_then(Word::known).is_some_and(|name| DECLARING.contains(&name));
            let assigned = matches!(node.bits.first(), Some(Bit::Bare(text)) if text.split_once('=').is_some_and(|(n, _)| is_name(n)));
            if declares && assigned {
                words.push(expander.single(node, false));
            } else {
                words.append(&mut expander.words(node));
            }
            ranges.resize(words.len(), node.range);
        }
        if let Some(guess) = words.first().and_then(|word| empty_reading(word, simple.words.first(), env)) {
            gaps.push(Gap::UnknownProgram);
            if let Some(first) = words.first_mut() {
                *first = guess;
            }
        }
        if expander.used_braces.get() && self.dialect == Dialect::Unknown {
            let at = self.place_of(simple.range).0;
            self.w.problem(at, "braces are read in another way by a POSIX shell");
        }
        let mut redirects = ctx.redirects.clone();
        let own = self.redirects(&simple.redirects, &expander);
        let stdin = if env.input { Stdin::Unknown } else { ctx.stdin.clone() };
        let stdin = stdin_after(&own, &stdin);
        let mut assignments = Vec::new();
        for assign in &simple.assigns {
            let value = match &assign.value {
                AssignValue::Word(word) => expander.single(word, false),
                AssignValue::Array(..) => Word::Unknown(vec![Piece::Hole { quoted: true }]),
            };
            if is_risky(assign.name) {
                gaps.push(Gap::Environment);
            }
            assignments.push(Assignment { name: assign.name.to_string(), value });
        }
        let mut features = expander.features.get();
        features |= own.iter().map(redirect_features).fold(0, |all, f| all | f);
        if ctx.pipe.is_some() {
            features |= Feature::Pipe.bit();
        }
        self.w.features |= features;
        redirects.extend(own);
        if env.risky {
            gaps.push(Gap::Environment);
        }
        if seen.contains(&words) && !words.is_empty() && simple.redirects.is_empty() {
            return words;
        }
        seen.push(words.clone());
        let call = Call {
            words: words.clone(),
            ranges,
            range: simple.range,
            assignments,
            redirects,
            wrappers: ctx.wrappers.clone(),
            gaps,
            pipe: ctx.pipe,
            stdin,
            dir: env.dir.clone(),
            features,
            direct: true,
            deferred: ctx.deferred,
            level: 0,
        };
        self.call(call, env);
        words
    }

    /// What the assignments before (or instead of) a command do to the state.
    fn assignments(&mut self, simple: &'t Simple<'t>, words: &[Word], env: &mut Env) {
        let plain = words.is_empty();
        let special = words.first().and_then(Word::known).is_none_or(|name| {
            env.functions.contains_key(name)
                || matches!(
                    name,
                    "eval"
                        | "exec"
                        | "export"
                        | "readonly"
                        | "set"
                        | "source"
                        | "."
                        | "trap"
                        | "unset"
                        | ":"
                        | "declare"
                        | "typeset"
                        | "local"
                )
        });
        for assign in &simple.assigns {
            if !plain {
                // Before a special builtin or a function they may stay.
                if special {
                    env.forget(assign.name);
                }
                continue;
            }
            let value = {
                let expander = self.expander(env, &[]);
                assigned_value(&expander, assign, env)
            };
            env.set(assign.name, value);
        }
    }

    /// A command that stands for several: what it may do to the state is forgotten.
    fn widen(&mut self, words: &[Word], env: &mut Env) {
        const CHANGES: &[&str] = &[
            "cd",
            "pushd",
            "popd",
            "export",
            "declare",
            "typeset",
            "local",
            "readonly",
            "read",
            "mapfile",
            "readarray",
            "unset",
            "eval",
            "source",
            ".",
            "set",
            "shift",
            "printf",
            "let",
            "getopts",
            "alias",
            "unalias",
            "command",
            "builtin",
            "exec",
            "shopt",
        ];
        if words
            .first()
            .and_then(Word::known)
            .is_none_or(|name| CHANGES.contains(&name) || env.functions.contains_key(name))
        {
            env.forget_all();
            env.dir = Dir::Unknown;
            env.risky = true;
            self.w.moved = true;
            self.w.unset = true;
        }
    }

    /// What a builtin does to the state.
    fn builtin(&mut self, words: &[Word], env: &mut Env, ctx: &Ctx, range: (usize, usize)) {
        let mut words = words;
        while let Some("command" | "builtin") = words.first().and_then(Word::known) {
            words = words.get(1..).unwrap_or_default();
            while words.first().and_then(Word::known).is_some_and(|word| word.starts_with('-')) {
                words = words.get(1..).unwrap_or_default();
            }
        }
        let Some((program, args)) = words.split_first() else { return };
        let Some(name) = program.known() else {
            return self.widen(words, env);
        };
        if EVALUATES_SUBSCRIPTS.contains(&name) && args.iter().any(holds_subscript_code) {
            let at = self.place_of(range).0;
            self.w.problem(at, "a subscript runs a command");
        }
        let operands =
            || args.iter().filter(|word| !word.known().is_some_and(|text| text.starts_with(['-', '+'])));
        match name {
            "cd" | "pushd" | "popd" => {
                self.w.moved = true;
                let target = operands().next();
                let flagged = args
                    .iter()
                    .any(|word| word.known() == Some("-") || word.known().is_none() && word.may_split());
                let dir = match target {
                    _ if name == "popd" || flagged || env.get("CDPATH").is_some() => Dir::Unknown,
                    None if args.is_empty() && name == "cd" => Dir::Changed("~".into()),
                    None => Dir::Unknown,
                    Some(word) => enter_dir(&env.dir, word),
                };
                env.failed_dir = Some(std::mem::replace(&mut env.dir, dir));
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(args, env),
            "alias" => {
                for word in args {
                    let split = word.known().and_then(|text| text.split_once('='));
                    match (split, word.known()) {
                        (Some((alias, text)), _) => {
                            drop(env.aliases.insert(alias.to_string(), Some(text.to_string())))
                        }
                        (None, Some(_)) => {}
                        (None, None) => drop(env.aliases.insert("*".into(), None)),
                    }
                }
            }
            "hash" if args.iter().any(|word| word.known() == Some("-p")) => {
                env.aliases.extend(args.last().and_then(Word::known).map(|name| (name.to_string(), None)));
            }
            "unset" => {
                self.w.unset = true;
                for word in operands() {
                    match word.known() {
                        Some(text) => {
                            env.forget(text.split('[').next().unwrap_or(text));
                            if let Some(function) = env.functions.get_mut(text) {
                                function.certain = false;
                            }
                        }
                        None => env.forget_all(),
                    }
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" | "printf" | "let" | "wait" => {
                if name == "printf"
                    && args.first().and_then(Word::known).is_none_or(|text| !text.starts_with("-v"))
                {
                    return;
                }
                self.w.arithmetic |= name == "let";
                for word in args {
                    match word.known() {
                        Some(text) => self.forget_names(text, env),
                        None => env.forget_all(),
                    }
                }
                env.forget("REPLY");
            }
            "set" => self.set(args, env),
            "shift" => env.args = None,
            "shopt" | "enable"
                if args.iter().any(|word| word.known() != Some("-s") && word.known() != Some("-q")) => {}
            "eval" | "source" | "." | "fc" => self.reread(name, args, env),
            _ => {
                if let Some(function) = env.functions.get(name).copied() {
                    if function.moves {
                        env.dir = Dir::Unknown;
                    }
                    env.args = env.args.take();
                }
            }
        }
        let _ = ctx;
    }

    fn forget_names(&mut self, text: &str, env: &mut Env) {
        for name in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            if is_name(name) {
                env.forget(name);
            }
        }
    }

    fn declare(&mut self, args: &[Word], env: &mut Env) {
        let reference = args
            .iter()
            .any(|w| w.known().is_some_and(|t| t.starts_with('-') && t.contains(['n', 'i', 'u', 'l', 'f'])));
        for word in args {
            match word {
                Word::Known(text) if text.starts_with(['-', '+']) => {}
                Word::Known(text) => match text.split_once('=') {
                    Some((name, value)) if is_name(name) && !reference => {
                        env.set(name, Value::Scalar(vec![Val::Text(value.to_string())]));
                    }
                    Some((name, value)) => {
                        self.forget_names(name, env);
                        // A name reference: writing one writes the other.
                        if reference {
                            self.forget_names(value, env);
                            env.all_volatile = true;
                        }
                    }
                    None => {
                        let known = env.get(text).is_some() && !reference;
                        if !known {
                            env.forget(text);
                        }
                        env.risky |= is_risky(text);
                    }
                },
                Word::Unknown(pieces) => match pieces.first() {
                    Some(Piece::Text(text))
                        if text.split_once('=').is_some_and(|(name, _)| is_name(name)) =>
                    {
                        let name = text.split('=').next().unwrap_or_default();
                        env.forget(name);
                    }
                    _ => {
                        env.forget_all();
                        env.risky = true;
                    }
                },
                Word::Tilde(_) | Word::Glob(_) | Word::OneOf(_) => {
                    env.forget_all();
                    env.risky = true;
                }
            }
        }
    }

    fn set(&mut self, args: &[Word], env: &mut Env) {
        let mut rest = args;
        while let Some((word, after)) = rest.split_first() {
            match word.known() {
                Some("--") => {
                    let mut all = vec![Word::Known("bash".into())];
                    all.extend(after.iter().cloned());
                    env.args = if after.iter().any(Word::may_split) { None } else { Some(all) };
                    return;
                }
                Some("-o" | "+o") => {
                    let on = word.known() == Some("-o");
                    if after.first().and_then(Word::known) == Some("errexit") {
                        env.errexit = on;
                    }
                    rest = after.get(1..).unwrap_or_default();
                    continue;
                }
                Some(text) if text.starts_with('-') && text.len() > 1 => {
                    env.errexit |= text.contains('e');
                    if text.ends_with('o') {
                        env.errexit |= after.first().and_then(Word::known) == Some("errexit");
                        rest = after.get(1..).unwrap_or_default();
                        continue;
                    }
                }
                Some(text) if text.starts_with('+') => env.errexit &= !text.contains('e'),
                _ => {
                    env.args = None;
                    env.errexit = false;
                    return;
                }
            }
            rest = after;
        }
    }

    /// `eval`, `source`: a text that runs in this shell. It is listed by the call; here its traces are.
    fn reread(&mut self, name: &str, args: &[Word], env: &mut Env) {
        let mut text = String::new();
        for word in args {
            text.push_str(word.known().unwrap_or("$_"));
            text.push(' ');
        }
        env.forget_all();
        self.w.unset = true;
        let unknown = name != "eval" || args.iter().any(|word| word.known().is_none());
        if unknown
            || text.contains("cd")
            || text.contains("pushd")
            || text.contains("popd")
            || text.contains('\\')
            || text.contains('"')
            || text.contains('\'')
        {
            env.dir = Dir::Unknown;
            self.w.moved = true;
        }
        let part = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        env.risky |=
            name == "eval" && (unknown || text.contains(['\\', '"', '\'']) || text.split(part).any(is_risky));
        env.errexit = false;
    }

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
            Stdin::Call | Stdin::Unknown => None,
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

/// The value that an assignment gives.
fn assigned_value(expander: &Expander<'_>, assign: &Assign<'_>, env: &Env) -> Value {
    if assign.indexed {
        return Value::Unknown;
    }
    match &assign.value {
        AssignValue::Word(node) => {
            let new = Val::of(&expander.single(node, false));
            match (assign.append, new) {
                (false, Some(val)) => Value::Scalar(vec![val]),
                (true, Some(Val::Text(tail))) => match env.get(assign.name) {
                    Some(Value::Scalar(vals)) if vals.iter().all(|val| val.text().is_some()) => {
                        let text = |val: &Val| Val::Text(format!("{}{tail}", val.text().unwrap_or_default()));
                        Value::Scalar(vals.iter().map(text).collect())
                    }
                    _ => Value::Unknown,
                },
                _ => Value::Unknown,
            }
        }
        AssignValue::Array(nodes, keyed) => {
            let mut vals = Vec::new();
            for node in nodes {
                for word in expander.words(node) {
                    match Val::of(&word) {
                        Some(val @ (Val::Text(_) | Val::Tilde(_))) => vals.push(val),
                        _ => return Value::Unknown,
                    }
                }
            }
            match *keyed || assign.append || vals.len() > MAX_VALUES {
                true => Value::Unknown,
                false => Value::Array(vals),
            }
        }
    }
}

/// `g${x}it` with a variable that the text never sets: most likely `git`. Told only together with a gap.
fn empty_reading(word: &Word, node: Option<&WordNode<'_>>, env: &Env) -> Option<Word> {
    let Word::Unknown(pieces) = word else { return None };
    let unset = |bit: &Bit<'_>| match bit {
        Bit::Param { head, tail, .. } => tail.is_empty() && env.get(head).is_none(),
        Bit::Bare(text) => !text.contains(['/', '*', '?', '[', '{']),
        Bit::Text(text) => !text.contains('/'),
        _ => false,
    };
    let text: String =
        pieces.iter().filter_map(|p| if let Piece::Text(t) = p { Some(t.as_str()) } else { None }).collect();
    let starts = matches!(pieces.first(), Some(Piece::Text(_)));
    (starts && node?.bits.iter().all(unset)).then_some(Word::Known(text))
}

fn holds_subscript_code(word: &Word) -> bool {
    match word {
        Word::Known(text) | Word::Tilde(text) | Word::Glob(text) => runs_in_subscript(text),
        Word::OneOf(texts) => texts.iter().any(|text| runs_in_subscript(text)),
        Word::Unknown(pieces) => {
            pieces.iter().any(|p| matches!(p, Piece::Text(text) if runs_in_subscript(text)))
        }
    }
}

/// Splits a text into words as a shell would, without expansions; `None` when it is more than one plain command.
pub(crate) fn split_words(text: &str) -> Option<Vec<Word>> {
    let tree = super::parse::parse(text);
    let [item] = tree.list.items.as_slice() else { return None };
    let [Node::Simple(simple)] = item.first.stages.as_slice() else { return None };
    if !tree.problems.is_empty() || !item.rest.is_empty() || !simple.redirects.is_empty() {
        return None;
    }
    let env = Env::new(Dir::Call);
    let expander = Expander::new(&env, &[], false);
    let mut words: Vec<Word> = Vec::new();
    for assign in &simple.assigns {
        let AssignValue::Word(node) = &assign.value else { return None };
        words.push(Word::Known(format!("{}={}", assign.name, expander.single(node, false).known()?)));
    }
    for node in &simple.words {
        words.append(&mut expander.words(node));
    }
    Some(words)
}
