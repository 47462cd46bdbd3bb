//! Commands as facts: cmdlets with their parameters, calls that nobody can read, texts that become code.
//!
//! INVARIANT: one part for each word; a parameter has its full name, and one that is switched off is none.

use super::names;
use super::value::{Value, hole};
use super::{Around, Reader, State};
use crate::shell::env::Env;
use crate::shell::options::{FlagUse, FlagValue, Reading};
use crate::shell::program::Program;
use crate::shell::walk::{Ctx, MAX_COMMANDS, Stdin, Task, fill, redirect_features};
use crate::shell::{Command, Dialect, Feature, Gap, Part, Redirect, Word};

/// One argument of a cmdlet.
pub(super) enum Given {
    /// `-Name`, `-Name:value`.
    Parameter(String, Option<Value>),
    /// Values.
    Values(Value),
    /// A script block or hash table, told by a sign.
    Sign(&'static str),
    /// What a splat that is not known stands for.
    Open,
}

/// Cmdlets whose arguments are names of files, in which wildcards count.
const PATHY: &[&str] = &[
    "Remove-Item",
    "Get-Item",
    "Get-ChildItem",
    "Get-Content",
    "Set-Content",
    "Add-Content",
    "Clear-Content",
    "Copy-Item",
    "Move-Item",
    "Rename-Item",
    "New-Item",
    "Test-Path",
    "Resolve-Path",
    "Convert-Path",
    "Select-String",
    "Invoke-Item",
    "Get-FileHash",
    "Unblock-File",
    "Clear-Item",
    "Set-Item",
    "Get-Acl",
    "Set-Acl",
    "Import-Csv",
    "Compress-Archive",
    "Set-ItemProperty",
    "Out-File",
    "Split-Path",
    "Get-ItemProperty",
    "Remove-ItemProperty",
];
/// Parameters whose values are no file-name patterns.
const LITERAL: &[&str] =
    &["-LiteralPath", "-Value", "-Pattern", "-NewName", "-Filter", "-Encoding", "-ItemType"];

impl Reader<'_, '_> {
    /// What is known of a cmdlet.
    pub(super) fn cmdlet(&self, name: &str) -> Option<Program> {
        self.w.programs.program(name)
    }

    /// The words of a cmdlet with the part of each.
    pub(super) fn words_of(&mut self, name: &str, given: Vec<Given>) -> (Vec<Word>, Vec<Part>) {
        let program = self.cmdlet(name);
        let pathy = PATHY.contains(&name);
        let mut words = vec![Word::Known(name.to_string())];
        let mut parts = vec![Part::Program];
        // The parameter that waits for its value, and whether it surely takes one.
        let mut waiting: Option<(String, bool)> = None;
        for one in given {
            match one {
                Given::Parameter(written, attached) => {
                    let mut parameter = names::parameter(program.as_ref(), &written);
                    let letters = written.trim_start_matches('-');
                    // `rm -rf`: as a Unix shell would read it.
                    if name == "Remove-Item"
                        && parameter.value.is_none()
                        && !letters.is_empty()
                        && letters.chars().all(|c| "rRfvdIi".contains(c))
                        && letters.contains(['r', 'R'])
                    {
                        parameter = names::Parameter {
                            names: vec!["-Recurse".into(), "-Force".into()],
                            value: Some(false),
                        };
                    }
                    waiting = None;
                    let flag = parameter.names.first().cloned().unwrap_or(written.clone());
                    let off = match (&attached, parameter.value) {
                        (Some(value), Some(false)) => {
                            value.known().is_none_or(|text| !text.eq_ignore_ascii_case("true") && text != "1")
                        }
                        _ => false,
                    };
                    if off {
                        // `-WhatIf:$false` is not `-WhatIf`.
                        let told =
                            format!("{flag}:{}", attached.as_ref().and_then(Value::known).unwrap_or("?"));
                        words.push(Word::Known(told.clone()));
                        parts.push(Part::Flag { names: vec![told], value: None });
                        continue;
                    }
                    let shown = if parameter.names.len() == 1 { flag.clone() } else { written };
                    words.push(Word::Known(shown));
                    parts.push(Part::Flag { names: parameter.names, value: None });
                    match (attached, parameter.value) {
                        (Some(value), Some(true) | None) => {
                            self.values(&value, Some(&flag), true, pathy, &mut words, &mut parts)
                        }
                        (None, Some(true)) => waiting = Some((flag, true)),
                        (None, None) => waiting = Some((flag, false)),
                        _ => {}
                    }
                }
                Given::Values(value) => {
                    let flag = waiting.take();
                    let sure = flag.as_ref().is_none_or(|(_, sure)| *sure);
                    self.values(
                        &value,
                        flag.as_ref().map(|(f, _)| f.as_str()),
                        sure,
                        pathy,
                        &mut words,
                        &mut parts,
                    );
                }
                Given::Sign(sign) => {
                    let flag = waiting.take();
                    words.push(Word::Known(sign.to_string()));
                    parts.push(
                        flag.map_or(Part::Operand { after_dashes: false }, |(flag, _)| Part::FlagValue {
                            flag,
                        }),
                    );
                }
                Given::Open => {
                    waiting = None;
                    words.push(hole(false));
                    parts.push(Part::Unclear);
                }
            }
        }
        (words, parts)
    }

    fn values(
        &self,
        value: &Value,
        flag: Option<&str>,
        sure: bool,
        pathy: bool,
        words: &mut Vec<Word>,
        parts: &mut Vec<Part>,
    ) {
        for item in &value.items {
            let globs = pathy && flag.is_none_or(|flag| !LITERAL.contains(&flag));
            words.push(path_word(item, pathy, globs));
            parts.push(match (flag, sure) {
                (Some(flag), true) => Part::FlagValue { flag: flag.to_string() },
                (Some(_), false) => Part::Unclear,
                // A value is never a parameter, whatever it looks like.
                (None, _) => Part::Operand { after_dashes: false },
            });
        }
    }

    /// Lists a cmdlet; the index of its command.
    #[expect(clippy::too_many_arguments, reason = "the parts of one command")]
    pub(super) fn push(
        &mut self,
        words: Vec<Word>,
        parts: Vec<Part>,
        redirects: Vec<Redirect>,
        gaps: Vec<Gap>,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) -> usize {
        let index = self.w.commands.len();
        let place = self.place_of(range);
        if index + self.w.omitted >= MAX_COMMANDS {
            self.w.problem(place.0, format!("the command stands for more than {MAX_COMMANDS} commands"));
            return usize::MAX;
        }
        let mut features = redirects.iter().map(redirect_features).fold(0, |all, f| all | f);
        if around.pipe.is_some() {
            features |= Feature::Pipe.bit();
        }
        self.w.features |= features;
        let mut all = around.redirects.clone();
        all.extend(redirects);
        let mut gaps = gaps;
        if words.first().is_some_and(|word| word.known().is_none()) {
            gaps.push(Gap::UnknownProgram);
        }
        let name = words.first().and_then(Word::known).unwrap_or_default();
        let program = self.cmdlet(name);
        self.w.commands.push(Command {
            redirects: all,
            wrappers: around.wrappers.clone(),
            pipe: around.pipe,
            gaps,
            features,
            text: self.source.get(range.0..range.1).unwrap_or_default().trim_end().to_string(),
            start: place.0,
            end: place.1,
            ..Command::windows(words, parts, program.as_ref(), state.dir.clone())
        });
        self.w.deferred.push(around.deferred);
        index
    }

    fn place_of(&self, range: (usize, usize)) -> (u32, u32) {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.place.unwrap_or((narrow(range.0), narrow(range.1)))
    }

    /// Lists words, parameters told by their dash.
    pub(super) fn listed(
        &mut self,
        words: Vec<Word>,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) -> usize {
        let mut words = words.into_iter();
        let name = words.next().and_then(|w| w.known().map(str::to_string)).unwrap_or_default();
        let given = words.map(|word| match word.known() {
            Some(text) if text.starts_with('-') && text.len() > 1 => Given::Parameter(text.to_string(), None),
            _ => Given::Values(Value::word(word)),
        });
        let (words, parts) = self.words_of(&name, given.collect());
        self.push(words, parts, Vec::new(), Vec::new(), range, state, around)
    }

    /// A call that is the same as a cmdlet.
    pub(super) fn same_as(
        &mut self,
        cmdlet: &str,
        flags: &[&str],
        args: &Value,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) {
        let mut words = vec![Word::Known(cmdlet.to_string())];
        words.extend(flags.iter().map(|flag| Word::Known((*flag).to_string())));
        words.extend(args.items.iter().cloned());
        self.listed(words, range, state, around);
    }

    /// A call of which nobody knows what it does.
    pub(super) fn unresolved(
        &mut self,
        name: &str,
        args: &Value,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) -> usize {
        let mut words = vec![Word::Known(name.to_string())];
        words.extend(args.items.iter().cloned());
        let mut parts = vec![Part::Program];
        parts.resize(words.len(), Part::Operand { after_dashes: false });
        self.push(words, parts, Vec::new(), vec![Gap::UnknownProgram], range, state, around)
    }

    /// The same for what turns a text into code.
    pub(super) fn unresolved_quiet(
        &mut self,
        by: &str,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) -> usize {
        let name = if by.contains('-') { by.to_string() } else { "Invoke-Expression".to_string() };
        self.push(vec![Word::Known(name)], vec![Part::Program], Vec::new(), Vec::new(), range, state, around)
    }

    /// The value of an expression that is printed.
    pub(super) fn print(
        &mut self,
        value: &Value,
        redirects: Vec<Redirect>,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) {
        let mut words = vec![Word::Known("Write-Output".to_string())];
        words.extend(value.items.iter().take(64).map(|item| match item {
            Word::Unknown(pieces) if pieces.len() == 1 => hole(true),
            other => other.clone(),
        }));
        let mut parts = vec![Part::Program];
        parts.resize(words.len(), Part::Operand { after_dashes: true });
        self.push(words, parts, redirects, Vec::new(), range, state, around);
    }

    /// Marks the command with this number as running code that came from elsewhere.
    pub(super) fn mark(&mut self, index: usize, value: &Value) {
        for (yes, feature) in [(value.fetched, Feature::FetchedCode), (value.decoded, Feature::DecodedCode)] {
            if yes {
                self.w.feature(feature);
                if let Some(command) = self.w.commands.get_mut(index) {
                    command.features |= feature.bit();
                }
            }
        }
    }

    /// Reads a text that becomes code in this session; `index` is the command that runs it.
    pub(super) fn run_text(
        &mut self,
        code: &Value,
        index: usize,
        by: &str,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) {
        self.mark(index, code);
        if code.block {
            return;
        }
        let (texts, guess) = match code.joined("\n") {
            Word::Known(text) | Word::Tilde(text) => (vec![text], false),
            Word::OneOf(all) => (all, false),
            Word::Unknown(pieces) => {
                (fill(&pieces).map(|t| t.replace("${_}", "$_unknown")).into_iter().collect(), true)
            }
            Word::Glob(_) => (Vec::new(), true),
        };
        if guess && let Some(command) = self.w.commands.get_mut(index) {
            command.gaps.push(Gap::UnreadCode);
        }
        let mut wrappers = around.wrappers.clone();
        wrappers.push(if by.contains('-') { by.to_string() } else { "Invoke-Expression".to_string() });
        for text in texts {
            let mut env = Env::new(state.dir.clone());
            env.risky = state.risky;
            let ctx = Ctx {
                redirects: around.redirects.clone(),
                wrappers: wrappers.clone(),
                gaps: if guess { vec![Gap::UnreadCode] } else { Vec::new() },
                pipe: around.pipe,
                stdin: Stdin::Call,
                from: None,
                to: None,
                deferred: around.deferred,
            };
            let place = Some(self.place_of(range));
            env.session = Some(Box::new(state.clone()));
            let depth = self.depth + 1;
            self.w.enqueue(Task {
                text,
                env,
                ctx,
                place,
                depth,
                dialect: Dialect::PowerShell,
                guess,
                code: None,
            });
        }
    }
}

/// The roles of words as the option grammar would have told them.
pub(crate) fn reading_of(words: &[Word], parts: &[Part]) -> Reading {
    let mut reading = Reading::default();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Flag { names, value } => {
                let value = value.clone().map(FlagValue::Attached);
                reading.flags.extend(names.iter().map(|name| FlagUse {
                    name: name.clone(),
                    at,
                    value: value.clone(),
                }));
            }
            // Each element of a list is a value of its own.
            Part::FlagValue { flag } => {
                reading.flags.push(FlagUse { name: flag.clone(), at, value: Some(FlagValue::Next(at)) });
            }
            Part::Operand { .. } => reading.operands.push(at),
            Part::Unclear => {
                reading.operands.push(at);
                reading.uncertain = true;
            }
            Part::Program | Part::Dashes => {}
        }
    }
    reading.parts = parts.to_vec();
    reading.parts.resize(words.len(), Part::Unclear);
    reading
}

/// A value as a word that may name a path: `~` is the home even in quotes, and wildcards count.
pub(super) fn path_word(item: &Word, pathy: bool, globs: bool) -> Word {
    let Word::Known(text) = item else { return item.clone() };
    if !pathy {
        return item.clone();
    }
    let text = text.strip_prefix("Microsoft.PowerShell.Core\\").unwrap_or(text);
    let text = match text.split_once("::") {
        Some((provider, rest)) if provider.eq_ignore_ascii_case("filesystem") => rest,
        _ => text,
    };
    let home = text == "~" || text.starts_with("~/") || text.starts_with("~\\");
    if globs && text.contains(['*', '?', '[']) {
        let mut out = String::with_capacity(text.len());
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '`' => {
                    out.push('\\');
                    out.extend(chars.next());
                }
                '\\' => out.push('/'),
                c => out.push(c),
            }
        }
        return Word::Glob(out);
    }
    match home {
        true => Word::Tilde(text.replace('\\', "/")),
        false => Word::Known(text.to_string()),
    }
}
