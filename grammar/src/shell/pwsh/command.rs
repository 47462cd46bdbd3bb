//! Commands: the name looked up as PowerShell does, cmdlets told apart from programs, and what either of them runs.
//!
//! INVARIANT: every argument is visited; a script block is listed whoever gets it; a program is read as every other
//! shell reads it, with what is known of programs.

use super::expr::Argument;
use super::list::Given;
use super::names::{alias, canonical, is_cmdlet};
use super::native::{native_parts, windows_split};
use super::value::{Value, hole};
use super::{Around, Pair, Reader, Rule, State, Want};
use crate::shell::env::enter_dir;
use crate::shell::{Dir, Feature, Gap, Part, Redirect, Word};

/// Aliases that are programs of their own on Unix, or were before cmdlets took the name.
const UNIX: &[&str] = &[
    "rm", "rmdir", "cp", "mv", "ls", "cat", "curl", "wget", "tee", "sort", "kill", "diff", "mkdir", "echo",
    "man", "ps", "sleep", "mount", "set",
];

impl Reader<'_, '_> {
    pub(super) fn command(&mut self, pair: Pair<'_>, state: &mut State, around: &Around) -> Value {
        let range = (pair.as_span().start(), pair.as_span().end());
        let (mut invoked, mut head, mut args, mut redirects) = (false, None, Vec::new(), Vec::new());
        let (mut verbatim, mut sourced) = (None, false);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::invoke_op => {
                    invoked = true;
                    sourced = part.as_str() == ".";
                }
                Rule::head | Rule::arg if head.is_none() => head = Some(part),
                Rule::arg => args.push(part),
                Rule::redirect => redirects.extend(self.redirect(part, state, around)),
                Rule::verbatim => verbatim = part.into_inner().next().map(|text| text.as_str().to_string()),
                _ => {}
            }
        }
        let Some(head) = head else { return Value::unknown() };
        let first = self.argument(head.clone(), state, around);
        if first.block {
            let inner = Around { wrappers: around.wrappers.clone(), ..around.clone() };
            for arg in args {
                self.argument(arg, state, around);
            }
            return self.run_block(head, state, &inner, Value::unknown(), Want::Print);
        }
        let taint = first.value.clone();
        if invoked && (first.value.code || first.value.block) {
            for arg in args {
                self.argument(arg, state, around);
            }
            let index = self.unresolved_quiet("Invoke-Expression", range, state, around);
            self.w.feature(Feature::Eval);
            self.run_text(&first.value, index, "Invoke-Expression", range, state, around);
            return Value::unknown();
        }
        let word = first.value.joined(" ");
        let Some(name) = word.known().map(str::to_string) else {
            return self.unknown_program(word, args, redirects, range, state, around);
        };
        let resolved = state.aliases.get(&name.to_lowercase()).cloned().unwrap_or_else(|| name.clone());
        let cmdlet = canonical(&resolved);
        let shadowed = state.functions.contains(&name.to_lowercase());
        if shadowed && alias(&name).is_none() && !is_cmdlet(&cmdlet) && self.cmdlet(&name).is_none() {
            // A function of this text: its commands are listed where it stands.
            if sourced {
                state.forget_all();
            }
            for arg in args {
                let value = self.argument(arg.clone(), state, around);
                if value.block {
                    self.run_block(arg, state, around, Value::unknown(), Want::Value);
                }
            }
            if !redirects.is_empty() {
                self.print(&Value::none(), redirects, range, state, around);
            }
            return Value::unknown();
        }
        let mut gaps = Vec::new();
        if shadowed {
            gaps.push(Gap::Shadowed);
        }
        let path = resolved.contains(['/', '\\']);
        let is_known_cmdlet = is_cmdlet(&cmdlet) || alias(&resolved).is_some();
        if path && !cmdlet.contains(['/', '\\']) || !path && is_known_cmdlet {
            return self.run_cmdlet(&name, &cmdlet, args, redirects, gaps, range, state, around);
        }
        let arguments = self.arguments(args, state, around);
        let index = self.w.commands.len();
        let name = cmdlet.replace('\\', "/");
        self.native(Word::Known(name.clone()), &arguments, verbatim, redirects, gaps, range, state, around);
        let file = Value::word(Word::Known(name.clone()));
        if self.is_fetched(&file, state) || taint.fetched {
            self.mark(index, &Value { fetched: true, ..Value::default() });
        }
        let words: Vec<Word> = std::iter::once(Word::Known(name.clone()))
            .chain(arguments.iter().flat_map(|a| a.value.items.clone()))
            .collect();
        let parts = native_parts(&words);
        self.output(&name, &words, &parts, around.input.as_ref(), &Value::none(), state)
    }

    /// `& $x`: it may be anything.
    fn unknown_program(
        &mut self,
        word: Word,
        args: Vec<Pair<'_>>,
        redirects: Vec<Redirect>,
        range: (usize, usize),
        state: &mut State,
        around: &Around,
    ) -> Value {
        let arguments = self.arguments(args, state, around);
        if let Word::OneOf(names) = &word {
            for name in names.iter().take(16) {
                let cmdlet = canonical(name);
                if is_cmdlet(&cmdlet) {
                    let given = arguments.iter().flat_map(|a| given(a, false)).collect();
                    let (words, parts) = self.words_of(&cmdlet, given);
                    self.push(words, parts, redirects.clone(), Vec::new(), range, state, around);
                } else {
                    self.native(
                        Word::Known(cmdlet),
                        &arguments,
                        None,
                        redirects.clone(),
                        Vec::new(),
                        range,
                        state,
                        around,
                    );
                }
            }
            return Value::unknown();
        }
        let fetched = match &word {
            Word::Unknown(_) | Word::Tilde(_) => self.is_fetched(&Value::word(word.clone()), state),
            _ => false,
        };
        let index = self.w.commands.len();
        self.native(word, &arguments, None, redirects, vec![Gap::UnknownProgram], range, state, around);
        if fetched {
            self.mark(index, &Value { fetched: true, ..Value::default() });
        }
        Value::unknown()
    }

    fn arguments(&mut self, args: Vec<Pair<'_>>, state: &mut State, around: &Around) -> Vec<Argument> {
        args.into_iter()
            .map(|arg| {
                let argument = self.argument(arg.clone(), state, around);
                if argument.block {
                    self.run_block(arg, state, around, Value::unknown(), Want::Value);
                }
                argument
            })
            .collect()
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one command")]
    fn run_cmdlet(
        &mut self,
        written: &str,
        cmdlet: &str,
        args: Vec<Pair<'_>>,
        redirects: Vec<Redirect>,
        gaps: Vec<Gap>,
        range: (usize, usize),
        state: &mut State,
        around: &Around,
    ) -> Value {
        let inside =
            Around { wrappers: with(&around.wrappers, cmdlet), input: None, pipe: None, ..around.clone() };
        let each = around.input.clone().map_or_else(Value::unknown, |input| super::walk::element(&input));
        let (mut blocks, mut all, mut found): (Value, Vec<Given>, Vec<Argument>) =
            (Value::none(), Vec::new(), Vec::new());
        for arg in args {
            let argument = self.argument(arg.clone(), state, around);
            if argument.block {
                blocks = blocks.append(self.run_block(arg, state, &inside, each.clone(), Want::Value));
            }
            all.extend(given(&argument, true));
            found.push(argument);
        }
        let program = self.cmdlet(cmdlet);
        let foreign = found.iter().any(|argument| {
            let Some(bare) = argument.bare.as_deref().filter(|bare| bare.starts_with('-') && bare.len() > 1)
            else {
                return false;
            };
            let name = bare.split(':').next().unwrap_or(bare);
            bare.starts_with("--")
                || program.is_some()
                    && super::names::parameter(program.as_ref(), name).names == [name.to_string()]
                    && super::names::parameter(program.as_ref(), name).value.is_none()
        });
        if foreign && UNIX.contains(&written.to_lowercase().as_str()) {
            // The options of the Unix program: where that is installed it runs.
            let name = written.to_lowercase();
            self.native(
                Word::Known(name.clone()),
                &found,
                None,
                redirects.clone(),
                gaps.clone(),
                range,
                state,
                around,
            );
            if name != "rm" {
                let words: Vec<Word> = std::iter::once(Word::Known(name.clone()))
                    .chain(found.iter().flat_map(|a| a.value.items.clone()))
                    .collect();
                let parts = native_parts(&words);
                return self.output(&name, &words, &parts, around.input.as_ref(), &blocks, state);
            }
        }
        if matches!(cmdlet, "New-Item") && matches!(written.to_lowercase().as_str(), "md" | "mkdir") {
            all.push(Given::Parameter("-ItemType".into(), Some(Value::text("Directory"))));
        }
        for (at, argument) in all.iter().enumerate() {
            let Given::Parameter(name, value) = argument else { continue };
            let word = match (value, all.get(at + 1)) {
                (Some(value), _) | (None, Some(Given::Values(value))) => Some(value.joined(" ")),
                _ => None,
            };
            state.store(name, word.as_ref());
        }
        self.piped_paths(cmdlet, around.input.as_ref(), &mut all);
        let (words, parts) = self.words_of(cmdlet, all);
        let mut gaps = gaps;
        if state.risky && !super::names::is_builtin(cmdlet) {
            gaps.push(Gap::Environment);
        }
        if state.redefined {
            gaps.push(Gap::Shadowed);
        }
        let index = self.push(words.clone(), parts.clone(), redirects, gaps, range, state, around);
        self.runs(cmdlet, &words, &parts, &found, index, range, state, around);
        let mut input = around.input.clone();
        if found.iter().any(|argument| argument.value.fetched | argument.value.decoded) {
            let fetched = found.iter().any(|argument| argument.value.fetched);
            input.get_or_insert_default().taint(fetched, !fetched);
        }
        self.output(cmdlet, &words, &parts, input.as_ref(), &blocks, state)
    }

    /// What a cmdlet runs besides its blocks, and what it changes in the session.
    #[expect(clippy::too_many_arguments, reason = "the parts of one command")]
    fn runs(
        &mut self,
        cmdlet: &str,
        words: &[Word],
        parts: &[Part],
        args: &[Argument],
        index: usize,
        range: (usize, usize),
        state: &mut State,
        around: &Around,
    ) {
        let flag = |wanted: &str| super::output::value_of(words, parts, wanted);
        let operands: Vec<Word> = words
            .iter()
            .zip(parts)
            .filter(|(_, p)| matches!(p, Part::Operand { .. }))
            .map(|(w, _)| w.clone())
            .collect();
        let nth = |wanted: &str, at: usize| flag(wanted).or_else(|| operands.get(at).cloned());
        match cmdlet {
            "Invoke-Expression" => {
                self.w.feature(Feature::Eval);
                let mut code = Value::none();
                for argument in args.iter().filter(|a| a.bare.as_deref().is_none_or(|b| !b.starts_with('-')))
                {
                    code = code.append(argument.value.clone());
                }
                if code.items.is_empty() {
                    code = around.input.clone().unwrap_or_else(Value::unknown);
                    if code.items.is_empty() {
                        code.items = vec![hole(false)];
                    }
                }
                self.run_text(&code, index, "Invoke-Expression", range, state, around);
            }
            "Start-Process" => {
                let Some(file) = nth("-FilePath", 0) else { return };
                let mut inner = vec![file];
                let from = usize::from(flag("-FilePath").is_none());
                let given: Vec<Word> = match flag("-ArgumentList") {
                    Some(_) => {
                        let at = parts.iter().position(|p| matches!(p, Part::Flag { names, .. } if names.iter().any(|n| n == "-ArgumentList")));
                        let behind = parts.iter().zip(words).skip(at.map_or(0, |at| at + 1));
                        behind
                            .take_while(|(p, _)| matches!(p, Part::FlagValue { .. } | Part::Unclear))
                            .map(|(_, w)| w.clone())
                            .collect()
                    }
                    None => operands.get(from..).unwrap_or_default().to_vec(),
                };
                for word in given {
                    match word.known().map(crate::shell::simple::split_words) {
                        Some(Some(split)) if split.iter().all(|w| w.known().is_some()) => {
                            inner.extend(windows_split(word.known().unwrap_or_default()))
                        }
                        _ => match word.known() {
                            Some(text) => inner.extend(windows_split(text)),
                            None => inner.push(word),
                        },
                    }
                }
                self.inner_command(inner, cmdlet, range, state, around);
            }
            "Invoke-Command" | "Start-Job" if flag("-FilePath").is_some() => {
                let file = flag("-FilePath").unwrap_or_else(|| hole(true));
                self.inner_command(vec![file], cmdlet, range, state, around);
            }
            "Invoke-CimMethod" | "Invoke-WmiMethod" => {
                for word in
                    words.iter().skip(1).filter_map(Word::known).filter(|text| text.contains(['.', ' ']))
                {
                    let inner = windows_split(word);
                    self.inner_command(inner, cmdlet, range, state, around);
                }
            }
            "Set-Alias" | "New-Alias" => {
                if let (Some(Word::Known(name)), Some(Word::Known(target))) =
                    (nth("-Name", 0), nth("-Value", 1))
                {
                    if state.aliases.len() < 64 {
                        state.aliases.insert(name.to_lowercase(), target);
                    } else {
                        self.problem(range.0, "the command has more aliases than are followed");
                    }
                } else {
                    // Which name now means what is not known.
                    state.redefined = true;
                }
            }
            "Set-Variable" | "New-Variable" => {
                if let Some(name) = nth("-Name", 0).and_then(|w| w.known().map(str::to_lowercase)) {
                    let value = nth("-Value", 1).map_or_else(Value::unknown, Value::word);
                    state.vars.insert(name, value);
                }
            }
            "Set-Location" | "Push-Location" => {
                state.dir = match nth("-Path", 0).or_else(|| flag("-LiteralPath")) {
                    Some(target) => enter_dir(&state.dir, &slashed(&target)),
                    None if cmdlet == "Push-Location" => state.dir.clone(),
                    None => Dir::Changed("~".into()),
                };
                self.w.moved = true;
            }
            "Pop-Location" => {
                state.dir = Dir::Unknown;
                self.w.moved = true;
            }
            _ => {}
        }
    }

    fn run_block(
        &mut self,
        pair: Pair<'_>,
        state: &mut State,
        around: &Around,
        each: Value,
        want: Want,
    ) -> Value {
        let mut out = Value::none();
        for block in blocks_of(pair) {
            let value = match want {
                Want::Value => self.block(block, state, around, each.clone()),
                Want::Print => {
                    self.forget_parameters(&block, state);
                    let inner = Around { input: None, ..around.clone() };
                    self.inside(block, state, &inner, Want::Print)
                }
            };
            out = out.append(value);
        }
        out
    }

    /// A redirection; a stream joined with another writes nothing.
    pub(super) fn redirect(
        &mut self,
        pair: Pair<'_>,
        state: &mut State,
        around: &Around,
    ) -> Option<Redirect> {
        let (mut fd, mut op, mut target) = (String::new(), String::new(), None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::stream => fd = part.as_str().to_string(),
                Rule::redirect_op => op = part.as_str().to_string(),
                Rule::merge => {
                    op = ">&".to_string();
                    target = Some(Word::Known(part.as_str().trim_start_matches('&').to_string()));
                }
                Rule::arg => {
                    let value = self.argument(part.clone(), state, around);
                    let null = value.value.items.is_empty()
                        || value.value.known().is_some_and(|t| t.eq_ignore_ascii_case("nul"));
                    target = Some(match null {
                        true => Word::Known("/dev/null".into()),
                        false => slashed(&super::list::path_word(&value.value.joined(" "), true, false)),
                    });
                }
                _ => {}
            }
        }
        target.map(|target| Redirect { fd: if fd == "*" { "&".into() } else { fd }, op, target })
    }
}

/// The blocks of an argument.
fn blocks_of(pair: Pair<'_>) -> Vec<Pair<'_>> {
    match pair.as_rule() {
        Rule::block => vec![pair],
        _ => pair.into_inner().filter(|part| part.as_rule() == Rule::block).collect(),
    }
}

/// An argument as a cmdlet takes it.
fn given(argument: &Argument, sign: bool) -> Vec<Given> {
    if argument.block {
        return if sign { vec![Given::Sign("{}")] } else { Vec::new() };
    }
    if argument.splat {
        if argument.value.hash.is_empty() {
            return match argument.value.texts() {
                Some(_) => vec![Given::Values(argument.value.clone())],
                None => vec![Given::Open],
            };
        }
        return argument
            .value
            .hash
            .iter()
            .map(|(name, value)| Given::Parameter(format!("-{name}"), Some(value.clone())))
            .collect();
    }
    let is_parameter = |bare: &str| {
        let mut chars = bare.chars();
        chars.next() == Some('-')
            && chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '?' || c == '-')
    };
    match argument.bare.as_deref().filter(|bare| is_parameter(bare)) {
        Some(bare) => {
            let name = bare.split(':').next().unwrap_or(bare).to_string();
            vec![Given::Parameter(
                name,
                argument.behind_colon.clone().filter(|value| !value.items.is_empty()),
            )]
        }
        None if argument.value.items.is_empty() && !argument.value.hash.is_empty() => {
            vec![Given::Sign("@{}")]
        }
        None => vec![Given::Values(argument.value.clone())],
    }
}

pub(super) fn with(wrappers: &[String], name: &str) -> Vec<String> {
    let mut all = wrappers.to_vec();
    all.push(name.to_string());
    all
}

/// A word as a folder or file with slashes.
fn slashed(word: &Word) -> Word {
    match word {
        Word::Known(text) => Word::Known(text.replace('\\', "/")),
        Word::Tilde(text) => Word::Tilde(text.replace('\\', "/")),
        other => other.clone(),
    }
}
