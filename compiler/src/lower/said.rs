//! What `program` blocks say of one program, and what its subcommands take over from it.
//!
//! INVARIANT: a subcommand reads options as its program does unless it says otherwise, and what its program runs by
//! flags it runs too; a subcommand never hides a command that the program itself would have shown.

use policy_grammar::ast::{EffectPlace, ProgramFact, Text};
use policy_grammar::shell::Dialect;
use policy_grammar::shell::code::Language;
use policy_grammar::shell::effects::{Effect, Place, Verb};
use policy_grammar::shell::program::{Inner, OptionStyle, Program, Subcommand};
use policy_grammar::source::Spanned;
use std::collections::BTreeMap;

/// What is said of a program or of a subcommand.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// Everything but its options' place and its subcommands.
    pub(super) program: Program,
    /// Where options stand, and whether they also follow the operands that are skipped.
    style: Option<(OptionStyle, bool)>,
    /// By the words that select it.
    under: BTreeMap<Vec<String>, Said>,
}

impl Said {
    /// What these facts say, under these names.
    pub(super) fn of(names: Vec<String>, facts: &[Spanned<ProgramFact>]) -> Said {
        let mut said = Said::default();
        said.program.names = names;
        for fact in facts {
            said.take(&fact.node);
        }
        said
    }

    fn take(&mut self, fact: &ProgramFact) {
        let program = &mut self.program;
        match fact {
            ProgramFact::SameWords(words) => program.same_words.push(texts(words)),
            ProgramFact::ValueFlags(flags) => program.value_flags.extend(texts(flags)),
            ProgramFact::AttachedFlags(flags) => program.attached_flags.extend(texts(flags)),
            ProgramFact::PlainFlags(flags) => program.flags.extend(texts(flags)),
            ProgramFact::PlaceholderFlags(flags) => program.placeholder_flags.extend(texts(flags)),
            ProgramFact::InertFlags(flags) => program.inert_flags.extend(texts(flags)),
            ProgramFact::InputFlags(flags) => program.input_flags.extend(texts(flags)),
            ProgramFact::FolderFlags(flags) => program.dir_flags.extend(texts(flags)),
            ProgramFact::PairFlags(flags) => program.pair_flags.extend(texts(flags)),
            ProgramFact::Options(style) => {
                program.bundled |= style.node == "bundled";
                self.style = Some(match style.node.as_str() {
                    "first" => (OptionStyle::First, false),
                    "late" => (OptionStyle::First, true),
                    "single-dash" => (OptionStyle::SingleDash, false),
                    "none" => (OptionStyle::None, false),
                    _ => (OptionStyle::Anywhere, false),
                });
            }
            ProgramFact::Assignments => program.assignments = true,
            ProgramFact::Dialect(shell) => {
                program.dialect = match shell.node.as_str() {
                    "bash" => Some(Dialect::Bash),
                    "posix" => Some(Dialect::Posix),
                    "zsh" => Some(Dialect::Zsh),
                    _ => None,
                }
            }
            ProgramFact::Placeholders(holes) => program.placeholders.extend(texts(holes)),
            ProgramFact::EndWords(ends) => program.end_words.extend(texts(ends)),
            ProgramFact::RunsOperands { as_text: true, skip } => {
                program.inner.push(Inner::OperandsText { skip: *skip });
            }
            ProgramFact::RunsOperands { as_text: false, skip } => {
                program.inner.push(Inner::Operands { skip: *skip });
            }
            ProgramFact::RunsAfterDashes => program.inner.push(Inner::AfterDashes),
            ProgramFact::RunsOperand(number) => {
                program.inner.push(Inner::OperandText { index: number.saturating_sub(1) });
            }
            ProgramFact::RunsFlags { flags, form, after } => {
                let flags = texts(flags);
                program.inner.push(match form.node.as_str() {
                    "words" => Inner::FlagWords { flags },
                    "command" => Inner::FlagCommand { flags },
                    "module" => Inner::FlagModule { flags },
                    _ if !after.is_empty() => Inner::SettingText { flags, prefixes: texts(after) },
                    _ => Inner::FlagText { flags },
                });
            }
            ProgramFact::RunsBeginnings(prefixes) => {
                program.inner.push(Inner::WordText { prefixes: texts(prefixes) });
            }
            ProgramFact::RunsOperandsCode(language) => {
                program.inner.push(Inner::OperandsCode { language: named(language) });
            }
            ProgramFact::RunsInputAlways(language) => {
                program.input_always = true;
                program.inner.push(match language {
                    Some(language) => Inner::InputCode { language: Some(named(language)) },
                    None => Inner::Input,
                });
            }
            ProgramFact::RunsInput => program.inner.push(Inner::Input),
            ProgramFact::RunsInputCode(language) => {
                let language = language.as_ref().map(named);
                program.inner.push(Inner::InputCode { language });
            }
            ProgramFact::RunsOperandCode { number, language, unless } => {
                let (index, unless) = (number.saturating_sub(1), texts(unless));
                program.inner.push(Inner::OperandCode { index, language: named(language), unless });
            }
            ProgramFact::RunsOperandFile { number, language, unless } => {
                let (index, unless) = (number.saturating_sub(1), texts(unless));
                let language = language.as_ref().map(named);
                program.inner.push(Inner::OperandFile { index, language, unless });
            }
            ProgramFact::RunsFlagsOf { flags, form, language } => {
                let (flags, language) = (texts(flags), language.as_ref().map(named));
                program.inner.push(match form.node.as_str() {
                    "file" => Inner::FlagFile { flags, language },
                    _ => Inner::FlagCode { flags, language: language.unwrap_or(Language::Other) },
                });
            }
            ProgramFact::RunsProjectCode => program.project_code = true,
            ProgramFact::UsesNetwork => program.network = true,
            ProgramFact::TakesTrees(with) => {
                program.trees.get_or_insert_default().extend(texts(with));
            }
            ProgramFact::Effect { verb, place, with, unless } => {
                let Some(verb) = Verb::from_name(&verb.node) else { return };
                let place = place_of(place);
                program.effects.push(Effect { verb, place, with: texts(with), unless: texts(unless) });
            }
            ProgramFact::RunsInputWords => program.inner.push(Inner::InputWords),
            ProgramFact::ListsOperands => program.names_only = true,
            ProgramFact::PrintsNames(words) => program.prints_names.extend(texts(words)),
            ProgramFact::ConnectsToOperands => program.operands_are_hosts = true,
            ProgramFact::ConnectsTo(place) => program.hosts.push(place_of(place)),
            ProgramFact::ConnectsToRemote => program.remote_operands = true,
            ProgramFact::Under { words, facts } => {
                let inside = Said::of(Vec::new(), facts);
                for words in words {
                    let words: Vec<String> = words.node.split_whitespace().map(str::to_owned).collect();
                    if !words.is_empty() {
                        self.under.entry(words).or_default().add(&inside);
                    }
                }
            }
        }
    }

    /// Adds what a weaker block says of the same program.
    pub(super) fn add(&mut self, weaker: &Said) {
        let (strong, weak) = (&mut self.program, &weaker.program);
        join(&mut strong.value_flags, &weak.value_flags);
        join(&mut strong.pair_flags, &weak.pair_flags);
        join(&mut strong.attached_flags, &weak.attached_flags);
        join(&mut strong.flags, &weak.flags);
        join(&mut strong.placeholder_flags, &weak.placeholder_flags);
        join(&mut strong.inert_flags, &weak.inert_flags);
        join(&mut strong.input_flags, &weak.input_flags);
        join(&mut strong.dir_flags, &weak.dir_flags);
        join(&mut strong.inner, &weak.inner);
        join(&mut strong.placeholders, &weak.placeholders);
        join(&mut strong.end_words, &weak.end_words);
        join(&mut strong.same_words, &weak.same_words);
        join(&mut strong.prints_names, &weak.prints_names);
        join(&mut strong.effects, &weak.effects);
        if let Some(flags) = &weak.trees {
            // Always is more than with some flags.
            let always = flags.is_empty() || strong.trees.as_ref().is_some_and(Vec::is_empty);
            join(strong.trees.get_or_insert_default(), if always { &[] } else { flags });
            if always {
                strong.trees = Some(Vec::new());
            }
        }
        strong.network |= weak.network;
        strong.project_code |= weak.project_code;
        strong.assignments |= weak.assignments;
        strong.names_only |= weak.names_only;
        strong.operands_are_hosts |= weak.operands_are_hosts;
        join(&mut strong.hosts, &weak.hosts);
        strong.remote_operands |= weak.remote_operands;
        strong.bundled |= weak.bundled;
        strong.input_always |= weak.input_always;
        strong.dialect = strong.dialect.or(weak.dialect);
        self.style = self.style.or(weaker.style);
        for (words, inside) in &weaker.under {
            self.under.entry(words.clone()).or_default().add(inside);
        }
    }

    /// The knowledge, with what subcommands take over.
    pub(super) fn finish(mut self) -> Program {
        let (style, late) = self.style.unwrap_or_default();
        self.program.style = style;
        self.program.late_options = late;
        // `docker compose -f x exec`: options may stand between the words, so each word is a level of its own. A program
        // that runs its operands keeps the words together: the first of them alone may be the command.
        if !self.program.inner.iter().any(by_place) {
            let several: Vec<Vec<String>> = self.under.keys().filter(|w| w.len() > 1).cloned().collect();
            for words in several {
                let Some(inside) = self.under.remove(&words) else { continue };
                if let [first, rest @ ..] = words.as_slice() {
                    let level = self.under.entry(vec![first.clone()]).or_default();
                    level.under.entry(rest.to_vec()).or_default().add(&inside);
                }
            }
        }
        for (words, mut inside) in std::mem::take(&mut self.under) {
            inside.take_over(&self.program);
            let program = inside.finish();
            self.program.subcommands.push(Subcommand { words, program });
        }
        self.program
    }

    /// What is not said of a subcommand holds as for its program.
    fn take_over(&mut self, outer: &Program) {
        let own = &self.program;
        let told = [
            &own.value_flags,
            &own.pair_flags,
            &own.attached_flags,
            &own.flags,
            &own.placeholder_flags,
            &own.inert_flags,
            &own.input_flags,
            &own.dir_flags,
        ];
        let told: Vec<String> = told.into_iter().flatten().cloned().collect();
        let untold = |flags: &[String]| -> Vec<String> {
            flags.iter().filter(|flag| !told.contains(flag)).cloned().collect()
        };
        let (values, attached, plain) =
            (untold(&outer.value_flags), untold(&outer.attached_flags), untold(&outer.flags));
        let (pairs, folders) = (untold(&outer.pair_flags), untold(&outer.dir_flags));
        let program = &mut self.program;
        join(&mut program.value_flags, &values);
        join(&mut program.pair_flags, &pairs);
        join(&mut program.dir_flags, &folders);
        join(&mut program.attached_flags, &attached);
        join(&mut program.flags, &plain);
        join(&mut program.same_words, &outer.same_words);
        let by_flag: Vec<Inner> = outer.inner.iter().filter(|inner| is_by_flag(inner)).cloned().collect();
        join(&mut program.inner, &by_flag);
        // What is done with the values of a program's own flags holds for all that it can do.
        let by_flag = outer.effects.iter().filter(|effect| matches!(effect.place, Place::Flags(_)));
        if !program.effects.is_empty() {
            join(&mut program.effects, &by_flag.cloned().collect::<Vec<Effect>>());
        }
        let hosts = outer.hosts.iter().filter(|place| matches!(place, Place::Flags(_)));
        join(&mut program.hosts, &hosts.cloned().collect::<Vec<Place>>());
        program.network |= outer.network;
        program.dialect = program.dialect.or(outer.dialect);
        self.style = self.style.or(Some((outer.style, outer.late_options)));
    }
}

/// The inner command or text stands behind a flag.
fn is_by_flag(inner: &Inner) -> bool {
    matches!(
        inner,
        Inner::FlagText { .. }
            | Inner::SettingText { .. }
            | Inner::FlagWords { .. }
            | Inner::FlagCommand { .. }
            | Inner::FlagModule { .. }
            | Inner::FlagCode { .. }
            | Inner::FlagFile { .. }
    )
}

/// The inner command or text is told by its place among the operands.
fn by_place(inner: &Inner) -> bool {
    matches!(
        inner,
        Inner::Operands { .. }
            | Inner::OperandsText { .. }
            | Inner::OperandText { .. }
            | Inner::OperandCode { .. }
            | Inner::OperandFile { .. }
    )
}

fn join<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for one in from {
        if !to.contains(one) {
            to.push(one.clone());
        }
    }
}

fn place_of(place: &EffectPlace) -> Place {
    match place {
        EffectPlace::Operands(skip) => Place::Operands { skip: *skip },
        EffectPlace::Operand(number) => Place::Operand { index: number.saturating_sub(1) },
        EffectPlace::Last => Place::Last,
        EffectPlace::ButLast => Place::ButLast,
        EffectPlace::Flags(flags) => Place::Flags(texts(flags)),
        EffectPlace::Beginnings(beginnings) => Place::Beginnings(texts(beginnings)),
    }
}

/// The parser has checked the name.
fn named(word: &Text) -> Language {
    Language::from_name(&word.node).unwrap_or(Language::Other)
}

fn texts(words: &[Text]) -> Vec<String> {
    words.iter().map(|word| word.node.clone()).collect()
}
