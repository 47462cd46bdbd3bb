//! The runtime's matcher of run patterns against the oracle's, pattern by pattern and command by command.
//!
//! INVARIANT: grades are compared, not decisions, so a difference that no policy shows is seen as well.

use super::super::generate::{Random, facts, run};
use super::super::run as naive;
use super::rounds;
use crate::ir::{OperandSet, RunPattern, RunStage, RunTerm};
use policy_runtime::run_match;

/// `POLICY_RUNS=10000000` compares more, `POLICY_SEED` others.
#[test]
fn run_patterns_match_as_written_down() {
    let mut random = Random::new(rounds("POLICY_SEED", 0) as u64);
    let (mut left, mut grades) = (rounds("POLICY_RUNS", 60_000), [0usize; 5]);
    let (all, mut wrong) = (left, 0);
    while left > 0 {
        let facts = facts(&mut random);
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
                grades[got.0 as usize] += 1;
                grades[3 + usize::from(got.1)] += 1;
                left = left.saturating_sub(1);
            }
        }
    }
    assert_eq!(wrong, 0);
    assert!(grades.iter().all(|&n| n * 80 > all), "{grades:?}");
    println!("no, possible, certain; not granted, granted: {grades:?}");
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
