//! A run pattern of a refusal: generous, and three-valued.
//!
//! INVARIANT: a word that is not known may be any word that the pattern still misses; further words never hurt.

use super::sets::{operand, operand_refused, target_refused, tree_refused};
use super::{Match, OperandSet, RunPattern, Stage, Term, Texts, escape, folded, meets, word_refused};
use crate::facts::{Access, CommandFact, Facts, Part, Redirect, Word};
use crate::glob::Syntax;
use crate::table::layout::{program_name, program_pattern};

/// Whether a refusal's pattern matches the command with this number.
#[must_use]
pub fn refuses(pattern: &RunPattern<'_>, facts: &Facts, index: usize) -> Match {
    let words: Vec<usize> = (0..facts.commands.get(index).map_or(0, |c| c.words.len())).collect();
    refuses_words(pattern, facts, index, &words)
}

/// The same, where `words` holds of each kind of equal words one.
pub(crate) fn refuses_words(pattern: &RunPattern<'_>, facts: &Facts, index: usize, words: &[usize]) -> Match {
    let (Some(command), Some((last, before))) = (facts.commands.get(index), pattern.stages.split_last())
    else {
        return Match::No;
    };
    let mut found = stage(last, command, Some(words));
    if found == Match::No {
        return Match::No;
    }
    if !before.is_empty() {
        found = found.min(stages_before(before, facts, command));
    }
    // Any of the words may come of its program.
    let vague = Match::maybe(command.words.first().is_some_and(spreads));
    if let Some(set) = &pattern.touching {
        found = found.min(touches(set, facts, command, words).max(vague));
    }
    let changes = Access::WRITE.and(Access::DELETE);
    let sets =
        [(&pattern.reading, Access::READ), (&pattern.writing, changes), (&pattern.deleting, Access::DELETE)];
    for (set, access) in sets {
        if let (Some(set), true) = (set, found > Match::No) {
            found = found.min(affects(set, access, facts, (command, words)).max(vague));
        }
    }
    if let (Some(set), true) = (&pattern.sending, found > Match::No) {
        found = found.min(sends(set, facts, (command, words)).max(vague));
    }
    if !pattern.via.is_empty() {
        let via = |wrapper: &String| {
            let name = program_name(wrapper);
            pattern.via.each(name.len()).any(|v| folded(v, &name))
        };
        found = found.min(Match::sure(command.wrappers.iter().any(via)));
    }
    found
}

/// "A pipe pattern matches when its stages match stages of one pipe in this order, others may stand between."
fn stages_before(before: &[Stage<'_>], facts: &Facts, last: &CommandFact) -> Match {
    let Some((pipeline, stage_of_last, _)) = last.pipe.filter(|pipe| pipe.1 > 0) else { return Match::No };
    let mut same: Vec<(u32, &CommandFact)> = facts
        .commands
        .iter()
        .filter(|c| c.script == last.script)
        .filter_map(|c| c.pipe.filter(|p| p.0 == pipeline && p.1 < stage_of_last).map(|p| (p.1, c)))
        .collect();
    same.sort_by_key(|(number, _)| *number);
    // `reached[k]`: how surely the first `k` stages of the pattern match stages of the pipe so far.
    let mut reached = vec![Match::No; before.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = Match::Certain;
    }
    for commands in same.chunk_by(|a, b| a.0 == b.0) {
        let old = reached.clone();
        for ((pattern, from), to) in before.iter().zip(&old).zip(reached.iter_mut().skip(1)) {
            for (_, command) in commands.iter().filter(|_| *from > Match::No) {
                *to = (*to).max((*from).min(stage(pattern, command, None)));
            }
        }
    }
    reached.last().copied().unwrap_or_default()
}

/// "`touching` needs one operand, flag value or attached flag value in the set"; `<` reads a file as an operand does.
fn touches(set: &OperandSet<'_>, facts: &Facts, command: &CommandFact, words: &[usize]) -> Match {
    let words = words.iter().copied().filter_map(|i| {
        let operand = operand(facts, command, i)?;
        Some(match command.is_name(i) {
            true => name_refused(&set.texts, &operand.word),
            false => operand_refused(set, &operand),
        })
    });
    let words = words.max().unwrap_or_default();
    let path = |number: Option<u32>| number.and_then(|n| facts.paths.get(n as usize));
    let reads = command.redirects.iter().filter(|r| r.file && !r.writes);
    words.max(reads.map(|r| target_refused(set, path(r.path))).max().unwrap_or_default())
}

/// "`reading`, `writing` and `deleting` need one path of the set with which the command does so": by a redirection, or by
/// what the program's data says of its words. Where the data does not say it, it may.
fn affects(
    set: &OperandSet<'_>,
    access: Access,
    facts: &Facts,
    (command, words): (&CommandFact, &[usize]),
) -> Match {
    let path = |number: Option<u32>| number.and_then(|n| facts.paths.get(n as usize));
    let by_redirect = |r: &&Redirect| {
        let own = if r.writes { Access::WRITE } else { Access::READ };
        own.any(access) && (r.file || r.path.is_some())
    };
    let redirects = command.redirects.iter().filter(by_redirect).map(|r| target_refused(set, path(r.path)));
    let mut found = redirects.max().unwrap_or_default();
    for &index in words {
        let own = command.touches.get(index).copied().unwrap_or(Access::UNSURE);
        let most = if own.any(access) {
            Match::Certain
        } else if own.may(access) {
            Match::Possible
        } else {
            continue;
        };
        let Some(operand) = operand(facts, command, index).filter(|_| !command.is_name(index)) else {
            continue;
        };
        let tree = Match::sure(own.any(Access::TREE) && tree_refused(set, &operand));
        found = found.max(most.min(operand_refused(set, &operand).max(tree)));
    }
    found
}

/// "`sending` needs one path of the set whose content the command sends."
fn sends(set: &OperandSet<'_>, facts: &Facts, (command, words): (&CommandFact, &[usize])) -> Match {
    let sent = command.sent.iter().map(|number| target_refused(set, facts.paths.get(*number as usize)));
    sent.max().unwrap_or_default().max(affects(set, Access::SEND, facts, (command, words)))
}

/// The name of an object is no path, and has no letter that would make it one or a setting of something.
fn name_refused(texts: &Texts<'_>, word: &Word) -> Match {
    let possible = |text: &&str| text.contains(['[', '\\']) || !text.contains([':', '/', '=', '!']);
    let texts: Vec<&str> = texts.each(1).filter(possible).collect();
    word_refused(&texts.into(), word)
}

/// A word from which several may come.
fn spreads(word: &Word) -> bool {
    matches!(word, Word::Unknown { splits: true, .. } | Word::Glob(_))
}

/// With `words`, of each kind of equal words only those are looked at for flags.
fn stage(stage: &Stage<'_>, command: &CommandFact, words: Option<&[usize]>) -> Match {
    let Some(program) = command.words.first() else {
        // Only redirections: it is a command of no program, which `*` alone may name.
        let plain = stage.terms.iter().all(|t| matches!(t, Term::AnyFlags));
        return Match::sure(plain && stage.program.each(1).any(|p| p == "*"));
    };
    let found = program_refused(&stage.program, program);
    if found == Match::No {
        return Match::No;
    }
    if spreads(program) {
        // Any of the words may come of it.
        return if stage.terms.is_empty() { found } else { Match::Possible };
    }
    let mut found = found.min(operands(stage, command));
    for term in &stage.terms {
        if let (Term::Flag(flags), true) = (term, found > Match::No) {
            found = found.min(flag_somewhere(flags, command, words));
        }
    }
    found
}

/// "The program is compared by file name, ignoring case and a trailing `.exe`."
pub(super) fn program_refused(patterns: &Texts<'_>, program: &Word) -> Match {
    // `*` is any program, however it is written.
    let known = |text: &str| {
        let name = program_name(text);
        Match::sure(patterns.each(name.len()).any(|p| program_is(p, &name)))
    };
    match program {
        Word::Known(text) => known(text),
        _ if patterns.each(1).any(is_any) => Match::Certain,
        Word::OneOf(texts) => Match::every(texts.iter().map(|t| known(t))),
        Word::Unknown { splits: true, .. } => Match::Possible,
        Word::Unknown { text, splits: false } => match text.rsplit_once('\u{1}') {
            // The last hole may hold a folder, so what stands before it says nothing.
            Some((_, tail)) if !tail.contains('/') => {
                let value = format!("\u{1}{}", escape(tail));
                let with_exe = format!("{value}.exe");
                let mut patterns = patterns.each(3 * with_exe.len()).map(program_pattern);
                Match::maybe(patterns.any(|p| {
                    meets(&p, &value, Syntax::Plain)
                        || meets(&format!("{p}.exe"), &value, Syntax::Plain)
                        || meets(&p, &with_exe, Syntax::Plain)
                }))
            }
            _ => known(text),
        },
        Word::Glob(text) => {
            let name = text.rsplit('/').next().unwrap_or(text);
            // `/b??/rm`: whatever the folder is, the program is called so.
            if !name.contains(['*', '?', '[', '\\']) {
                return known(name);
            }
            let mut patterns = patterns.each(2 * name.len()).map(program_pattern);
            Match::maybe(
                patterns.any(|p| {
                    meets(&p, name, Syntax::Plain) || meets(&format!("{p}.exe"), name, Syntax::Plain)
                }),
            )
        }
    }
}

fn is_any(pattern: &str) -> bool {
    pattern == "*" || program_pattern(pattern) == "*"
}

/// Whether a pattern's program is the one of this name.
fn program_is(pattern: &str, name: &str) -> bool {
    if !pattern.is_ascii() {
        return folded(&program_pattern(pattern), name);
    }
    // The same without a copy, for comparing ignores case anyway.
    let own = pattern.rsplit('/').next().unwrap_or(pattern);
    let short = own.len().checked_sub(4).filter(|at| *at > 0).and_then(|at| own.split_at_checked(at));
    let own = match short {
        Some((short, end)) if end.eq_ignore_ascii_case(".exe") => short,
        _ => own,
    };
    folded(own, name)
}

/// How a word takes part in the order of operands.
enum Role {
    /// Not at all.
    None,
    /// One operand.
    One,
    /// One operand or none.
    OneOrNone,
    /// Any number of operands.
    Many,
}

fn role(word: &Word, part: &Part, shaky: bool) -> Role {
    let many = spreads(word);
    match part {
        Part::Program | Part::Dashes => Role::None,
        Part::Flag { .. } | Part::FlagValue { .. } if !many => Role::None,
        _ if many => Role::Many,
        Part::Operand if !shaky => Role::One,
        _ => Role::OneOrNone,
    }
}

/// "Word terms must be the first operands in order. `*` is one operand."
fn operands(stage: &Stage<'_>, command: &CommandFact) -> Match {
    let terms: Vec<&Term<'_>> =
        stage.terms.iter().filter(|t| matches!(t, Term::Word(_) | Term::AnyWord)).collect();
    let fits = |term: &Term<'_>, word: &Word| match term {
        Term::Word(texts) => word_refused(texts, word),
        Term::AnyWord if matches!(word, Word::Unknown { splits: true, .. }) => Match::Possible,
        _ => Match::Certain,
    };
    // `reached[k]`: how surely the first `k` terms match the operands so far.
    let mut reached = vec![Match::No; terms.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = Match::Certain;
    }
    let mut shaky = false;
    for (index, word) in command.words.iter().enumerate().skip(1) {
        if reached.last() == Some(&Match::Certain) || reached.iter().all(|found| *found == Match::No) {
            break;
        }
        let part = command.parts.get(index).unwrap_or(&Part::Unclear);
        let role = role(word, part, shaky);
        // A flag's value that comes to nothing makes the next word the value.
        shaky |=
            matches!((&role, part), (Role::Many, Part::FlagValue { .. } | Part::Flag { .. } | Part::Unclear));
        let mut next = vec![Match::No; terms.len() + 1];
        let mut raise = |k: usize, to: Match| {
            if let Some(slot) = next.get_mut(k) {
                *slot = (*slot).max(to);
            }
        };
        for (k, &from) in reached.iter().enumerate().filter(|(_, from)| **from > Match::No) {
            let Some(term) = terms.get(k) else {
                raise(k, from);
                continue;
            };
            match role {
                Role::None => raise(k, from),
                Role::One => raise(k + 1, from.min(fits(term, word))),
                Role::OneOrNone => {
                    raise(k, Match::Possible);
                    raise(k + 1, from.min(fits(term, word)).min(Match::Possible));
                }
                Role::Many => {
                    raise(k, Match::Possible);
                    let taken = terms.iter().skip(k).take_while(|term| fits(term, word) > Match::No).count();
                    for more in 1..=taken {
                        raise(k + more, Match::Possible);
                    }
                }
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

/// "Flag terms may stand anywhere", but not behind `--`.
fn flag_somewhere(flags: &Texts<'_>, command: &CommandFact, words: Option<&[usize]>) -> Match {
    let repeats = |index: usize| {
        words.is_some_and(|own| own.len() < command.words.len() && own.binary_search(&index).is_err())
    };
    let mut best = Match::No;
    for (index, word) in command.words.iter().enumerate().skip(1) {
        let part = command.parts.get(index).unwrap_or(&Part::Unclear);
        if *part == Part::Dashes {
            break;
        }
        if command.is_name(index) {
            continue;
        }
        // The value of a flag may stand in the next word.
        let next = match command.parts.get(index + 1) {
            Some(Part::FlagValue { .. }) => command.words.get(index + 1),
            _ => None,
        };
        if next.is_none() && repeats(index) {
            continue;
        }
        best = best.max(flag_here(flags, word, part, next));
        if best == Match::Certain {
            break;
        }
    }
    best
}

fn flag_here(flags: &Texts<'_>, word: &Word, part: &Part, next: Option<&Word>) -> Match {
    if matches!(word, Word::Unknown { splits: true, .. }) {
        return Match::Possible;
    }
    match part {
        Part::Flag { names, value } => {
            let named = named_flag(flags, names, value.as_deref(), next);
            match word {
                Word::Known(text) => {
                    named.max(Match::sure(flags.each(text.len()).any(|f| whole_word(f, text))))
                }
                other => named.max(raw_flag(flags, other).min(Match::Possible)),
            }
        }
        Part::FlagValue { .. } | Part::Program | Part::Dashes => match word {
            Word::Glob(_) => raw_flag(flags, word).min(Match::Possible),
            _ => Match::No,
        },
        Part::Operand => raw_flag(flags, word),
        Part::Unclear => raw_flag(flags, word).min(Match::Possible),
    }
}

/// A flag whose names the program's data told.
fn named_flag(flags: &Texts<'_>, names: &[String], value: Option<&str>, next: Option<&Word>) -> Match {
    let mut best = Match::No;
    for flag in flags.each(names.iter().map(String::len).sum()) {
        let (name, wanted) = split_value(flag);
        let last = names.len().saturating_sub(1);
        for (index, _) in names.iter().enumerate().filter(|(_, own)| same_flag(name, own)) {
            let found = match wanted {
                None => Match::Certain,
                // Only the last flag of a cluster has the value.
                Some(_) if index != last => Match::No,
                Some(wanted) => match (value, next) {
                    (Some(value), _) if value.contains('\u{1}') => word_refused(
                        &vec![wanted].into(),
                        &Word::Unknown { text: value.to_owned(), splits: false },
                    ),
                    (Some(value), _) => Match::sure(folded(wanted, value)),
                    (None, Some(next)) => word_refused(&vec![wanted].into(), next),
                    (None, None) => Match::No,
                },
            };
            best = best.max(found);
        }
    }
    best
}

/// `--name=value` of a term; a single dash word has no value of its own.
fn split_value(flag: &str) -> (&str, Option<&str>) {
    match flag.split_once('=') {
        Some((name, value)) if name.len() > 1 => (name, Some(value)),
        _ => (flag, None),
    }
}

fn letter(flag: &str) -> Option<char> {
    let mut chars = flag.strip_prefix('-')?.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if c != '-' => Some(c),
        _ => None,
    }
}

/// `-f` is its letter exactly (`-d` and `-D` are different flags); other flags in any case; `--force` also cut short (a
/// program takes any beginning that no other flag of its own shares).
fn same_flag(term: &str, own: &str) -> bool {
    if letter(term).is_some() {
        return if term == "-*" || term == "-?" { letter(own).is_some() } else { term == own };
    }
    if folded(term, own) {
        return true;
    }
    let (Some(long), Some(cut)) = (term.strip_prefix("--"), own.strip_prefix("--")) else { return false };
    !cut.is_empty() && long.to_lowercase().starts_with(&cut.to_lowercase())
}

fn whole_word(term: &str, text: &str) -> bool {
    if letter(term).is_some() { term == text } else { folded(term, text) }
}

/// A word whose flags nobody told: whole words, clusters, cut long flags.
fn raw_flag(flags: &Texts<'_>, word: &Word) -> Match {
    match word {
        Word::Known(text) if !text.starts_with('-') => Match::No,
        Word::Known(text) => Match::sure(flags.each(text.len()).any(|f| raw_text(f, text))),
        Word::OneOf(texts) => {
            Match::every(texts.iter().map(|t| Match::sure(flags.each(t.len()).any(|f| raw_text(f, t)))))
        }
        Word::Glob(text) => Match::maybe(flags.each(text.len()).any(|f| raw_glob(f, text))),
        Word::Unknown { splits: true, .. } => Match::Possible,
        Word::Unknown { text, .. } => {
            let value = escape(text);
            Match::maybe(flags.each(value.len()).any(|f| raw_glob(f, &value)))
        }
    }
}

fn raw_text(flag: &str, text: &str) -> bool {
    if !text.starts_with('-') {
        return false;
    }
    if whole_word(flag, text) {
        return true;
    }
    if let Some(c) = letter(flag) {
        let cluster = text.split('=').next().unwrap_or(text);
        return !text.starts_with("--") && cluster.chars().skip(1).any(|own| own == c);
    }
    let (name, wanted) = split_value(flag);
    let (own, value) = match text.split_once('=') {
        Some((own, value)) => (own, Some(value)),
        None => (text, None),
    };
    same_flag(name, own)
        && match (wanted, value) {
            (None, _) => true,
            (Some(wanted), Some(value)) => folded(wanted, value),
            (Some(_), None) => false,
        }
}

/// Whether a word that is not known may be such a flag.
fn raw_glob(flag: &str, value: &str) -> bool {
    let meets = |pattern: &str| meets(pattern, value, Syntax::Plain);
    if let Some(c) = letter(flag) {
        // Letters are compared exactly elsewhere; folding here only adds possible matches.
        return if matches!(c, '*' | '?') {
            meets("-*")
        } else {
            meets(&format!("-*{}*", escape(&c.to_string())))
        };
    }
    if meets(flag) || meets(&format!("{flag}=*")) {
        return true;
    }
    let (name, _) = split_value(flag);
    let Some(long) = name.strip_prefix("--") else { return false };
    // Cut to any length.
    let cuts = long.char_indices().skip(1).map(|(end, _)| long.get(..end).unwrap_or(long));
    cuts.into_iter().any(|cut| meets(&format!("--{cut}")) || meets(&format!("--{cut}=*")))
}
