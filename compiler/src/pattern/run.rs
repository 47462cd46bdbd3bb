//! Run patterns: shell-shaped templates become stages of words.
//!
//! INVARIANT: one spelling has exactly one text a word (but for the same words of program data), so the words and
//! bytes of a spelling are its length; quoted letters are never wildcards.

use super::{MAX_BYTES, MAX_SPELLINGS, Problem, size};
use crate::ir;
use crate::text::escape;
use policy_grammar::ast;
use policy_grammar::shell::program::Program;

/// One spelling of a run pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpelledRun {
    /// What it matches.
    pub(crate) pattern: ir::RunPattern,
    /// Words: program, words, flags and `*`; `-*` and `...` count nothing.
    pub(crate) words: u32,
    /// Bytes of those words, one blank between them.
    pub(crate) bytes: u32,
}

/// One spelling of one word.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    /// Its letters without quotes and backslashes: quoting changes no length.
    raw: String,
    /// With literal letters escaped.
    glob: String,
}

/// Looks up the data of a program by its name.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<&'a Program>;

/// Every spelling of `pattern`. `same` gives program data for refusals; a grant takes none.
pub(crate) fn run(pattern: &ast::RunPattern, same: Option<Lookup<'_>>) -> Result<Vec<SpelledRun>, Problem> {
    if pattern.text.len() > MAX_BYTES {
        return Err(Problem::TooLong);
    }
    if pattern.text.chars().any(|c| c.is_control() && c != '\t') {
        return Err(Problem::Control);
    }
    let mut rows: Vec<Vec<Vec<Choice>>> = vec![Vec::new()];
    for stage in &pattern.stages {
        let mut words: Vec<Vec<Choice>> = vec![Vec::new()];
        for term in &stage.terms {
            words = each(&words, &choices(&term.parts)?)?;
        }
        rows = each(&rows, &words)?;
    }
    rows.into_iter().map(|stages| spelled(stages, pattern.rest, same)).collect()
}

/// Every row of `rows` with every one of `ends` behind it.
fn each<T: Clone>(rows: &[Vec<T>], ends: &[T]) -> Result<Vec<Vec<T>>, Problem> {
    if rows.len().saturating_mul(ends.len()) > MAX_SPELLINGS {
        return Err(Problem::TooMany);
    }
    Ok(rows
        .iter()
        .flat_map(|row| {
            ends.iter().map(|end| {
                let mut row = row.clone();
                row.push(end.clone());
                row
            })
        })
        .collect())
}

/// The spellings of one word.
fn choices(parts: &[ast::TermPart]) -> Result<Vec<Choice>, Problem> {
    let mut out = vec![Choice { raw: String::new(), glob: String::new() }];
    for part in parts {
        let ends: Vec<Choice> = match part {
            ast::TermPart::Text(text) => vec![unquoted(text)],
            ast::TermPart::Quoted(text) => vec![Choice { raw: text.clone(), glob: escape(text) }],
            ast::TermPart::Braces(list) => {
                let mut all = Vec::new();
                for choice in list {
                    all.extend(choices(choice)?);
                    if all.len() > MAX_SPELLINGS {
                        return Err(Problem::TooMany);
                    }
                }
                all
            }
        };
        if out.len().saturating_mul(ends.len()) > MAX_SPELLINGS {
            return Err(Problem::TooMany);
        }
        out = out
            .iter()
            .flat_map(|l| {
                ends.iter().map(move |r| Choice {
                    raw: format!("{}{}", l.raw, r.raw),
                    glob: format!("{}{}", l.glob, r.glob),
                })
            })
            .collect();
    }
    Ok(out)
}

/// Plain letters: `*` and `?` are wildcards, a backslash makes the next one literal as in the shell.
fn unquoted(text: &str) -> Choice {
    let mut choice = Choice { raw: String::new(), glob: String::new() };
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            let next = chars.next().unwrap_or('\\');
            choice.glob.push_str(&escape(next.encode_utf8(&mut [0; 4])));
            choice.raw.push(next);
        } else {
            choice.glob.push(c);
            choice.raw.push(c);
        }
    }
    choice
}

fn spelled(stages: Vec<Vec<Choice>>, rest: bool, same: Option<Lookup<'_>>) -> Result<SpelledRun, Problem> {
    let mut out = Vec::new();
    let (mut words, mut bytes) = (0_u32, 0_u32);
    let last = stages.len().saturating_sub(1);
    for (number, stage) in stages.into_iter().enumerate() {
        let mut choices = stage.into_iter();
        let Some(program) = choices.next() else { return Err(Problem::Empty) };
        if program.raw.starts_with('-') {
            return Err(Problem::FlagAsProgram);
        }
        if program.glob.is_empty() {
            return Err(Problem::Empty);
        }
        let mut count = |raw: &str| {
            bytes = bytes.saturating_add(size(raw)).saturating_add(u32::from(words > 0));
            words += 1;
        };
        count(&program.raw);
        let data = same.and_then(|lookup| lookup(&program.glob));
        let mut terms = Vec::new();
        for word in choices {
            if word.glob != "-*" {
                count(&word.raw);
            }
            terms.push(term(word, data));
        }
        out.push(ir::RunStage { program: vec![program.glob], terms, rest: rest && number == last });
    }
    let pattern = ir::RunPattern { stages: out, ..ir::RunPattern::default() };
    Ok(SpelledRun { pattern, words, bytes })
}

fn term(word: Choice, data: Option<&Program>) -> ir::RunTerm {
    match word.glob.as_str() {
        "*" => return ir::RunTerm::AnyWord,
        "-*" => return ir::RunTerm::AnyFlags,
        _ => {}
    }
    if word.glob.starts_with('-') && word.glob.len() > 1 {
        return ir::RunTerm::Flag(vec![word.glob]);
    }
    let mut texts = vec![word.glob];
    if let (Some(data), Some(first)) = (data, texts.first().cloned()) {
        for group in data.same_words.iter().filter(|g| g.iter().any(|w| escape(w) == first)) {
            for other in group.iter().map(|w| escape(w)) {
                if !texts.contains(&other) {
                    texts.push(other);
                }
            }
        }
    }
    ir::RunTerm::Word(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ast::TermPart::{Braces, Quoted, Text};
    use policy_grammar::source::Span;

    fn pattern(stages: &[&[&[ast::TermPart]]], rest: bool) -> ast::RunPattern {
        let span = Span::default();
        let stages = stages
            .iter()
            .map(|terms| ast::Stage {
                terms: terms.iter().map(|parts| ast::Term { parts: parts.to_vec(), span }).collect(),
                span,
            })
            .collect();
        ast::RunPattern { stages, rest, text: String::new(), span }
    }

    fn text(t: &str) -> ast::TermPart {
        Text(t.to_owned())
    }

    #[test]
    fn spellings_have_one_text_a_word() {
        let braces = Braces(vec![vec![text("-f")], vec![text("--force")]]);
        let p = pattern(&[&[&[text("git")], &[text("push")], &[braces]]], true);
        let out = run(&p, None).unwrap();
        assert_eq!(out.len(), 2);
        assert_eq!((out[0].words, out[0].bytes), (3, 11));
        assert_eq!(out[1].pattern.stages[0].terms[1], ir::RunTerm::Flag(vec!["--force".into()]));
        assert!(out[0].pattern.stages[0].rest);
    }

    #[test]
    fn wildcards_and_literals() {
        let p = pattern(
            &[&[&[text("jq")], &[text("*")], &[text("-*")], &[Quoted("*".into())], &[text("a\\*")]]],
            false,
        );
        let out = run(&p, None).unwrap();
        use ir::RunTerm::*;
        assert_eq!(
            out[0].pattern.stages[0].terms,
            [AnyWord, AnyFlags, Word(vec!["\\*".into()]), Word(vec!["a\\*".into()])]
        );
        assert_eq!(out[0].words, 4, "`-*` is no word");
    }

    #[test]
    fn same_words_widen_refusals() {
        let npm = Program {
            names: vec!["npm".into()],
            same_words: vec![vec!["install".into(), "i".into(), "add".into()]],
            ..Program::default()
        };
        let p = pattern(&[&[&[text("npm")], &[text("install")]]], false);
        let lookup = |name: &str| (name == "npm").then_some(&npm);
        let out = run(&p, Some(&lookup)).unwrap();
        assert_eq!(
            out[0].pattern.stages[0].terms,
            [ir::RunTerm::Word(vec!["install".into(), "i".into(), "add".into()])]
        );
        assert_eq!(
            run(&p, None).unwrap()[0].pattern.stages[0].terms,
            [ir::RunTerm::Word(vec!["install".into()])]
        );
    }
}
