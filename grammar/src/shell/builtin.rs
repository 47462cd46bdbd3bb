//! What builtins do to the shell itself.
//!
//! INVARIANT: a builtin that changes the state in a way that is not followed widens the state.

use super::env::{Env, Val, Value, enter_dir, is_risky};
use super::options::is_name;
use super::walk::{Walk, runs_in_subscript};
use super::{Dir, Piece, Word};

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

impl Walk<'_, '_, '_> {
    /// A command that stands for several: what it may do to the state is forgotten.
    pub(crate) fn widen(&mut self, words: &[Word], env: &mut Env) {
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
            env.lose_dir();
            env.risky = true;
            self.w.moved = true;
            self.w.unset = true;
        }
    }

    /// What a builtin does to the state.
    pub(crate) fn builtin(&mut self, words: &[Word], env: &mut Env, range: (usize, usize)) {
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
                let back =
                    (name == "cd" && args.len() == 1 && args.first().and_then(Word::known) == Some("-"))
                        .then(|| env.last_dir.clone());
                let popped = (name == "popd" && args.is_empty() && env.pushed_known)
                    .then(|| env.pushed.pop())
                    .flatten();
                let popped = back.or(popped);
                let enter = |from: &Dir| match target {
                    _ if popped.is_some() => popped.clone().unwrap_or(Dir::Unknown),
                    _ if name == "popd" || flagged || env.get("CDPATH").is_some() => Dir::Unknown,
                    None if args.is_empty() && name == "cd" => Dir::Changed("~".into()),
                    None => Dir::Unknown,
                    Some(word) => enter_dir(from, word),
                };
                let (dir, mut others) =
                    (enter(&env.dir), env.other_dirs.iter().map(enter).collect::<Vec<_>>());
                others.retain(|other| *other != dir);
                others.dedup();
                if others.contains(&Dir::Unknown) || dir == Dir::Unknown {
                    others.clear();
                }
                if name == "pushd" && target.is_some() && !flagged && env.pushed.len() < 64 {
                    env.pushed.push(env.dir.clone());
                } else if name == "pushd" || name == "popd" && popped.is_none() {
                    env.pushed_known = false;
                }
                env.last_dir = env.dir.clone();
                let before =
                    (std::mem::replace(&mut env.dir, dir), std::mem::replace(&mut env.other_dirs, others));
                env.failed_dir = Some(before);
            }
            "local" if !env.in_function => {
                // An error; the variables stay as they are.
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
                            env.unset(text.split('[').next().unwrap_or(text));
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
            "shift" => {
                let count = args.first().map_or(Some(1), |word| word.known()?.parse::<usize>().ok());
                match (&mut env.args, count) {
                    (Some(all), Some(count)) if count < all.len() => {
                        all.drain(1..=count);
                    }
                    (all, _) => *all = None,
                }
                env.outermost = false;
            }
            "shopt" | "enable"
                if args.iter().any(|word| word.known() != Some("-s") && word.known() != Some("-q")) => {}
            "eval" | "source" | "." | "fc" => self.reread(name, args, env),
            "trap" if trap_changes(args, env) => {
                let at = self.place_of(range).0;
                self.w.problem(at, "a trap may change the folder or a variable between any two commands");
            }
            _ => {
                if let Some(function) = env.functions.get(name).copied() {
                    if function.moves {
                        env.lose_dir();
                    }
                    env.args = env.args.take();
                }
            }
        }
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
                        if matches!(pieces.as_slice(), [_, Piece::Tilde(_)])
                            && text.strip_suffix('=').is_some_and(is_name)
                            && !reference =>
                    {
                        if let [_, Piece::Tilde(value)] = pieces.as_slice() {
                            env.set(
                                text.trim_end_matches('='),
                                Value::Scalar(vec![Val::Tilde(value.clone())]),
                            );
                        }
                    }
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
                    env.outermost = false;
                    env.args = if after.iter().any(Word::may_split) { None } else { Some(all) };
                    return;
                }
                Some("-o" | "+o") => {
                    let on = word.known() == Some("-o");
                    match after.first().and_then(Word::known) {
                        Some("errexit") => env.errexit = on,
                        Some("nounset") => env.nounset |= on,
                        _ => {}
                    }
                    rest = after.get(1..).unwrap_or_default();
                    continue;
                }
                Some(text) if text.starts_with('-') && text.len() > 1 => {
                    env.errexit |= text.contains('e');
                    env.nounset |= text.contains('u');
                    if text.ends_with('o') {
                        env.errexit |= after.first().and_then(Word::known) == Some("errexit");
                        rest = after.get(1..).unwrap_or_default();
                        continue;
                    }
                }
                Some(text) if text.starts_with('+') => env.errexit &= !text.contains('e'),
                _ => {
                    env.args = None;
                    env.outermost = false;
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
            env.lose_dir();
            self.w.moved = true;
        }
        let part = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        env.risky |=
            name == "eval" && (unknown || text.contains(['\\', '"', '\'']) || text.split(part).any(is_risky));
        env.errexit = false;
    }
}

/// Whether a trap runs before the end of the script and does more than run programs.
fn trap_changes(args: &[Word], env: &Env) -> bool {
    let Some((text, signals)) = args.split_first() else { return false };
    let late = |word: &Word| matches!(word.known(), Some("EXIT" | "0"));
    if signals.is_empty() || signals.iter().all(late) {
        return false;
    }
    let Some(text) = text.known() else { return true };
    const CHANGES: &[&str] = &[
        "cd",
        "pushd",
        "popd",
        "read",
        "mapfile",
        "readarray",
        "eval",
        "source",
        "set",
        "export",
        "declare",
        "typeset",
        "local",
        "alias",
        "exec",
        "hash",
        "enable",
        "unset",
        "printf",
        "builtin",
        "command",
    ];
    let text: String = text.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
    text.contains('=')
        || text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| {
            CHANGES.contains(&word) || env.functions.get(word).is_some_and(|function| function.moves)
        })
        || text.split_whitespace().any(|word| word == ".")
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
