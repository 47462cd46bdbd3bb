//! The runtime's matcher of run patterns against the oracle's, pattern by pattern and command by command.
//!
//! INVARIANT: grades are compared, not decisions, so a difference that no policy shows is seen as well.

use super::super::generate::{Random, facts, run};
use super::super::run as naive;
use super::rounds;
use crate::ir::{OperandSet, RunPattern, RunStage, RunTerm};
use policy_runtime::run_match;
use std::collections::BTreeMap;

/// `POLICY_RUNS=10000000` compares more, `POLICY_SEED` others.
#[test]
fn run_patterns_match_as_written_down() {
    let mut random = Random::new(rounds("POLICY_SEED", 0) as u64);
    let mut left = rounds("POLICY_RUNS", 90_000);
    let mut grades = BTreeMap::<&str, [usize; 5]>::new();
    let mut wrong = 0;
    while left > 0 {
        let facts = crate::naive::holes_told(&facts(&mut random));
        for index in 0..facts.commands.len() {
            for _ in 0..20 {
                let pattern = run(&mut random);
                let theirs = borrowed(&pattern);
                let got =
                    (run_match::refuses(&theirs, &facts, index), run_match::grants(&theirs, &facts, index));
                let expected =
                    (naive::refuses(&pattern, &facts, index), naive::grants(&pattern, &facts, index));
                if got != expected {
                    println!(
                        "runtime {got:?}, naive {expected:?}\n{pattern:?}\n{:?}\n",
                        facts.commands[index]
                    );
                    let own = &facts.commands[index];
                    let numbers = own.paths.iter().chain(&own.sent);
                    let numbers = numbers.chain(own.redirects.iter().filter_map(|r| r.path.as_ref()));
                    for number in numbers {
                        println!("   {number}: {:?}", facts.paths[*number as usize]);
                    }
                    wrong += 1;
                    assert!(wrong < rounds("POLICY_WRONG", 1), "they differ");
                }
                for clause in clauses(&pattern) {
                    let grades = grades.entry(clause).or_default();
                    grades[got.0 as usize] += 1;
                    grades[3 + usize::from(got.1)] += 1;
                }
                left = left.saturating_sub(1);
            }
        }
    }
    assert_eq!(wrong, 0);
    println!("no, possible, certain; not granted, granted: {grades:#?}");
    // Each clause matches surely and maybe, is granted, and is not: otherwise nothing was compared.
    assert_eq!(grades.len(), 13);
    let refused = ["reading", "deleting", "sending"];
    assert!(grades.iter().all(|(clause, counts)| {
        let granted = if refused.contains(clause) { 4 } else { 5 };
        counts.iter().take(granted).all(|&n| n > 0)
    }));
}

/// What a pattern has; every pattern has a program.
fn clauses(pattern: &RunPattern) -> Vec<&'static str> {
    let sets: Vec<_> = pattern.sets().collect();
    let terms = || pattern.stages.iter().flat_map(|stage| &stage.terms);
    let mut out: Vec<&str> = sets.iter().map(|(word, _)| *word).collect();
    let back = |set: &OperandSet| !set.except_paths.is_empty() || !set.except_texts.is_empty();
    for (has, clause) in [
        (true, "program"),
        (pattern.stages.len() > 1, "pipe"),
        (!pattern.via.is_empty(), "via"),
        (sets.iter().any(|(_, set)| back(set)), "set with except"),
        (terms().any(|term| matches!(term, RunTerm::Word(_))), "word"),
        (terms().any(|term| matches!(term, RunTerm::Flag(_))), "flag"),
        (terms().any(|term| matches!(term, RunTerm::AnyWord)), "any word"),
        (terms().any(|term| matches!(term, RunTerm::AnyFlags)), "any flags"),
    ] {
        out.extend(has.then_some(clause));
    }
    out
}

fn texts(list: &[String]) -> run_match::Texts<'_> {
    list.iter().map(String::as_str).collect::<Vec<_>>().into()
}

fn set(set: &OperandSet) -> run_match::OperandSet<'_> {
    run_match::OperandSet {
        paths: texts(&set.paths),
        texts: texts(&set.texts),
        except_paths: texts(&set.except_paths),
        except_texts: texts(&set.except_texts),
    }
}

fn term(term: &RunTerm) -> run_match::Term<'_> {
    match term {
        RunTerm::Word(words) => run_match::Term::Word(texts(words)),
        RunTerm::Flag(flags) => run_match::Term::Flag(texts(flags)),
        RunTerm::AnyWord => run_match::Term::AnyWord,
        RunTerm::AnyFlags => run_match::Term::AnyFlags,
    }
}

fn stage(stage: &RunStage) -> run_match::Stage<'_> {
    run_match::Stage {
        program: texts(&stage.program),
        terms: stage.terms.iter().map(term).collect(),
        rest: stage.rest,
    }
}

/// A run pattern as the runtime takes it.
fn borrowed(pattern: &RunPattern) -> run_match::RunPattern<'_> {
    run_match::RunPattern {
        stages: pattern.stages.iter().map(stage).collect(),
        touching: pattern.touching.as_ref().map(set),
        reading: pattern.reading.as_ref().map(set),
        writing: pattern.writing.as_ref().map(set),
        deleting: pattern.deleting.as_ref().map(set),
        sending: pattern.sending.as_ref().map(set),
        via: texts(&pattern.via),
    }
}
