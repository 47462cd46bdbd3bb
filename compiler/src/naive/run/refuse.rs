//! A run pattern of a refusal: "Refusal" of "Run patterns" in `docs/semantics.md`.
//!
//! INVARIANT: what a word may be is tried one after the other; what is not known lowers a match to possible.

use super::super::pattern::{path_match, text_match};
use super::{
    Carried, alone, any, any_case, carried, file_in, files_within, is_name, many, part, path, splits,
    text_within, whichever, word_is,
};
use crate::ir::{OperandSet, RunPattern, RunStage, RunTerm};
use policy_runtime::facts::PathName;
use policy_runtime::facts::{Access, CommandFact, Facts, Form, Part, Redirect, Word};
use policy_runtime::glob::Syntax;
use policy_runtime::run_match::Match::{self, Certain, No, Possible};

/// How surely a refusal's pattern matches.
pub(in super::super) fn refuses(pattern: &RunPattern, facts: &Facts, index: usize) -> Match {
    let command = &facts.commands[index];
    let Some((last, before)) = pattern.stages.split_last() else { return No };
    let vague = Match::maybe(command.words.first().is_some_and(many));
    let mut found = stage_refuses(last, command).min(pipe_refuses(before, facts, command));
    if let Some(set) = &pattern.touching {
        found = found.min(touches(set, facts, command).max(vague));
    }
    for (set, access) in [
        (&pattern.reading, Access::READ),
        (&pattern.writing, Access::WRITE.and(Access::DELETE)),
        (&pattern.deleting, Access::DELETE),
        (&pattern.sending, Access::SEND),
    ] {
        if let Some(set) = set {
            found = found.min(does(set, access, facts, command).max(vague));
        }
    }
    let named = |via: &String| command.wrappers.iter().any(|w| any_case(via, &file_name(w)) == Certain);
    if !pattern.via.is_empty() && !pattern.via.iter().any(named) {
        return No;
    }
    found
}

/// "In this order, others may stand between."
fn pipe_refuses(before: &[RunStage], facts: &Facts, last: &CommandFact) -> Match {
    let Some((stage, earlier)) = before.split_last() else { return Certain };
    let Some((pipeline, end, _)) = last.pipe else { return No };
    any(facts.commands.iter().filter(|c| c.script == last.script).map(|command| match command.pipe {
        Some((own, number, _)) if own == pipeline && number < end => {
            stage_refuses(stage, command).min(pipe_refuses(earlier, facts, command))
        }
        _ => No,
    }))
}

fn stage_refuses(stage: &RunStage, command: &CommandFact) -> Match {
    let Some(program) = command.words.first() else {
        let asks_nothing = stage.terms.iter().all(|t| *t == RunTerm::AnyFlags);
        return Match::sure(asks_nothing && stage.program.iter().any(|p| p == "*"));
    };
    let found = program_is(&stage.program, program);
    if many(program) {
        return if stage.terms.is_empty() { found } else { found.min(Possible) };
    }
    let ordered: Vec<&RunTerm> =
        stage.terms.iter().filter(|t| matches!(t, RunTerm::Word(_) | RunTerm::AnyWord)).collect();
    let flags = stage.terms.iter().map(|term| match term {
        RunTerm::Flag(flags) => any(flags.iter().map(|flag| has_flag(flag, command))),
        _ => Certain,
    });
    found.min(in_order(&ordered, command, 1, false)).min(flags.min().unwrap_or(Certain))
}

/// "By file name, ignoring case and a trailing `.exe`."
fn file_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    match name.strip_suffix(".exe") {
        Some(short) if !short.is_empty() => short.to_owned(),
        _ => name,
    }
}

fn program_is(patterns: &[String], program: &Word) -> Match {
    let named = |text: &str| any(patterns.iter().map(|p| any_case(&file_name(p), &file_name(text))));
    let open = |form, text: &str| {
        let end = text.rsplit('/').next().unwrap_or_default();
        Match::maybe(patterns.iter().any(|p| {
            ["", ".exe"].iter().any(|exe| {
                text_match(&format!("{}{exe}", file_name(p)), end, form, false, Syntax::Plain) > No
            })
        }))
    };
    if patterns.iter().any(|p| file_name(p) == "*") {
        return Certain;
    }
    match program {
        Word::Known(text) => named(text),
        Word::OneOf(texts) => whichever(texts.iter().map(|text| named(text))),
        Word::Unknown { splits: true, .. } => Possible,
        Word::Unknown { text, .. } => match text.rfind('\u{1}') {
            // The last hole may hold folders.
            Some(hole) if !text[hole..].contains('/') => open(Form::Holes, &text[hole..]),
            _ => named(text),
        },
        Word::Glob(text) => match text.rsplit('/').next() {
            // Whatever the folder is.
            Some(name) if !name.contains(['*', '?', '[', '\\']) => named(name),
            _ => open(Form::Glob, text),
        },
    }
}

/// "Word terms must be the first operands in order." What a word may be is tried one after the other.
fn in_order(terms: &[&RunTerm], command: &CommandFact, index: usize, shaky: bool) -> Match {
    let Some((term, more)) = terms.split_first() else { return Certain };
    let Some(word) = command.words.get(index) else { return No };
    let fits = |term: &RunTerm| match term {
        RunTerm::Word(texts) => word_is(texts, word),
        _ if splits(word) => Possible,
        _ => Certain,
    };
    let role = part(command, index);
    // "A flag's value that may come to nothing": then the next word is the value.
    let later =
        shaky || many(word) && matches!(role, Part::Flag { .. } | Part::FlagValue { .. } | Part::Unclear);
    let none = || in_order(terms, command, index + 1, later);
    let one = || fits(term).min(in_order(more, command, index + 1, later));
    match role {
        Part::Program | Part::Dashes => none(),
        _ if many(word) => {
            let taken = terms.iter().take_while(|term| fits(term) > No).count();
            any((0..=taken).map(|n| in_order(&terms[n..], command, index + 1, later))).min(Possible)
        }
        Part::Flag { .. } | Part::FlagValue { .. } => none(),
        Part::Operand if !shaky => one(),
        Part::Operand | Part::Unclear => none().max(one()).min(Possible),
    }
}

/// "Flag terms may stand anywhere before `--`."
fn has_flag(flag: &str, command: &CommandFact) -> Match {
    let end = (1..command.words.len()).find(|i| *part(command, *i) == Part::Dashes);
    any((1..end.unwrap_or(command.words.len())).filter(|i| !is_name(command, *i)).map(|index| {
        let word = &command.words[index];
        if splits(word) {
            return Possible;
        }
        match part(command, index) {
            Part::Flag { names, value } => {
                let next = matches!(part(command, index + 1), Part::FlagValue { .. });
                let next = command.words.get(index + 1).filter(|_| next);
                let told = any(names.iter().enumerate().map(|(n, name)| {
                    told_flag(flag, name, (n + 1 == names.len()).then_some((value.as_deref(), next)))
                }));
                match word {
                    Word::Known(text) => told.max(Match::sure(same_spelling(flag, text))),
                    _ => told.max(as_written(flag, word).min(Possible)),
                }
            }
            Part::Operand => as_written(flag, word),
            Part::Unclear => as_written(flag, word).min(Possible),
            // Only what comes of a file pattern behind its first word.
            Part::Program | Part::FlagValue { .. } | Part::Dashes => match word {
                Word::Glob(_) => as_written(flag, word).min(Possible),
                _ => No,
            },
        }
    }))
}

/// The letter of `-f`.
fn letter(flag: &str) -> Option<char> {
    let mut chars = flag.strip_prefix('-')?.chars();
    chars.next().filter(|c| *c != '-' && chars.next().is_none())
}

/// The name and the value that a term asks for.
fn split(flag: &str) -> (&str, Option<&str>) {
    match flag.find('=') {
        Some(at) if at > 1 => (&flag[..at], Some(&flag[at + 1..])),
        _ => (flag, None),
    }
}

/// "`-f` with exactly this letter; longer flags in any case."
fn same_spelling(flag: &str, text: &str) -> bool {
    match letter(flag) {
        Some(_) => flag == text,
        None => any_case(flag, text) == Certain,
    }
}

/// "`--force` also abbreviated to any length."
fn same_name(flag: &str, own: &str) -> bool {
    if let Some(c) = letter(flag) {
        return flag == own || matches!(c, '*' | '?') && letter(own).is_some();
    }
    let cut = own.starts_with("--") && own.len() > 2 && flag.to_lowercase().starts_with(&own.to_lowercase());
    any_case(flag, own) == Certain || cut
}

/// A flag that the program's data told; the last one of a cluster with its value, attached or in the next word.
fn told_flag(flag: &str, own: &str, value: Option<(Option<&str>, Option<&Word>)>) -> Match {
    let (name, wanted) = split(flag);
    if !same_name(name, own) {
        return No;
    }
    let Some(wanted) = wanted else { return Certain };
    match value {
        Some((Some(attached), _)) => any_case(wanted, attached),
        Some((None, Some(next))) => word_is(&[wanted.to_owned()], next),
        _ => No,
    }
}

/// A flag that nobody told: the whole word, a letter of a cluster, a long flag cut short, with its value.
fn as_written(flag: &str, word: &Word) -> Match {
    let known = |text: &str| {
        let (own, value) = text.split_once('=').map_or((text, None), |(own, value)| (own, Some(value)));
        let (name, wanted) = split(flag);
        let valued = match (wanted, value) {
            (None, _) => true,
            (Some(wanted), Some(value)) => any_case(wanted, value) == Certain,
            (Some(_), None) => false,
        };
        let fits = match letter(flag) {
            Some(c) => !text.starts_with("--") && own[1..].contains(c),
            None => same_name(name, own) && valued,
        };
        fits || same_spelling(flag, text)
    };
    let sure = |text: &str| Match::sure(text.starts_with('-') && known(text));
    match word {
        Word::Known(text) => sure(text),
        Word::OneOf(texts) => whichever(texts.iter().map(|text| sure(text))),
        Word::Glob(text) => may_be_flag(flag, text, Form::Glob),
        Word::Unknown { splits: true, .. } => Possible,
        Word::Unknown { text, .. } => may_be_flag(flag, text, Form::Holes),
    }
}

fn may_be_flag(flag: &str, text: &str, form: Form) -> Match {
    let (name, _) = split(flag);
    let spellings = match letter(flag) {
        Some('*' | '?') => vec!["-*".to_owned()],
        Some(c) => vec![format!("-*{c}*")],
        None => {
            let cuts = (3..name.len()).filter(|end| name.starts_with("--") && name.is_char_boundary(*end));
            let names: Vec<&str> = cuts.map(|end| &name[..end]).chain([flag]).collect();
            names.iter().flat_map(|name| [(*name).to_owned(), format!("{name}=*")]).collect()
        }
    };
    Match::maybe(spellings.iter().any(|s| text_match(s, text, form, false, Syntax::Plain) > No))
}

/// A refusal's set: what is taken back is a grant.
fn in_set(set: &OperandSet, value: &Carried<'_>) -> Match {
    if text_within(&set.except_texts, &value.word) || files_within(&set.except_paths, value) {
        return No;
    }
    let files = value.files.iter().map(|file| file_in(&set.paths, file));
    let by_file = match &value.word {
        Word::Known(_) => any(files),
        Word::OneOf(texts) if value.files.len() >= texts.len() => whichever(files),
        Word::Glob(_) | Word::Unknown { splits: false, .. } if !value.files.is_empty() => any(files),
        // Any file may come of it.
        _ => Match::maybe(!set.paths.is_empty()),
    };
    by_file.max(word_is(&set.texts, &value.word))
}

/// "One operand, flag value, attached flag value or file read by `<` in the set."
fn touches(set: &OperandSet, facts: &Facts, command: &CommandFact) -> Match {
    let words = (0..command.words.len()).filter_map(|index| {
        let value = carried(facts, command, index)?;
        Some(if is_name(command, index) { name_in(set, &value.word) } else { in_set(set, &value) })
    });
    let read = command.redirects.iter().filter(|r| r.file && !r.writes);
    any(words).max(any(read.map(|r| target(set, facts, r.path))))
}

/// The name of an object is no path and no setting.
fn name_in(set: &OperandSet, word: &Word) -> Match {
    let fits = |text: &&String| text.contains(['[', '\\']) || !text.contains([':', '/', '=', '!']);
    let texts: Vec<String> = set.texts.iter().filter(fits).cloned().collect();
    word_is(&texts, word)
}

fn target(set: &OperandSet, facts: &Facts, number: Option<u32>) -> Match {
    path(facts, number).map_or(Possible, |path| in_set(set, &alone(path)))
}

/// "One path with which the command does so, by a redirection or by what the program's data says of the word; where the
/// data says nothing of the word they match possibly."
fn does(set: &OperandSet, access: Access, facts: &Facts, command: &CommandFact) -> Match {
    let by_redirect = |r: &&Redirect| {
        (r.file || r.path.is_some()) && access.any(if r.writes { Access::WRITE } else { Access::READ })
    };
    let redirects = command.redirects.iter().filter(by_redirect).map(|r| target(set, facts, r.path));
    let sent = command.sent.iter().filter(|_| access == Access::SEND);
    let sent = sent.map(|number| target(set, facts, Some(*number)));
    let words = (0..command.words.len()).filter(|i| !is_name(command, *i)).filter_map(|index| {
        let own = command.touches.get(index).copied().unwrap_or(Access::UNSURE);
        let sure = if own.any(access) { Certain } else { Match::maybe(own.may(access)) };
        let value = carried(facts, command, index)?;
        let tree = Match::sure(own.any(Access::TREE) && below(set, &value));
        Some(sure.min(in_set(set, &value).max(tree)))
    });
    any(redirects).max(any(sent)).max(any(words))
}

/// "What takes trees also does it with an anchored path below the word."
fn below(set: &OperandSet, value: &Carried<'_>) -> bool {
    let taken_back = text_within(&set.except_texts, &value.word) || files_within(&set.except_paths, value);
    let above = |glob: &String, name: &PathName| {
        let folders = glob.char_indices().filter(|(_, c)| *c == '/');
        let mut folders = folders.map(|(at, _)| if at == 0 { "/" } else { &glob[..at] });
        !glob.starts_with("**")
            && folders.any(|folder| path_match(folder, name, Form::Exact, false) == Certain)
    };
    let mut names = value.files.iter().filter(|f| f.form == Form::Exact).flat_map(|f| &f.names);
    !taken_back && names.any(|name| set.paths.iter().any(|glob| above(glob, name)))
}
