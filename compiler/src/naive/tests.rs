//! The table against the oracle, and damaged tables against whole ones.

use super::generate::{Random, facts, policy};
use super::{Answer, evaluate};
use crate::emit::emit;
use policy_runtime::facts::Facts;
use policy_runtime::verdict::Decision;
use policy_runtime::{Context, Table, decide};

const TODAY: i64 = 100;

fn rounds(variable: &str, ordinary: usize) -> usize {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(ordinary)
}

fn by_table(bytes: &[u8], facts: &Facts) -> Answer {
    let table = Table::open(bytes).expect("a whole table opens");
    let verdict = decide(&table, facts, &Context { today: TODAY });
    let rule = verdict.steps.first().expect("a verdict has a step").rule.clone();
    assert_eq!(verdict.steps[0].decision, verdict.decision);
    assert!(verdict.steps.len() <= 64);
    Answer { decision: verdict.decision, rule, abstains: verdict.abstains }
}

/// `POLICY_DIFFERENTIAL=100000` compares more.
#[test]
fn table_and_oracle_agree() {
    let mut counts = [0usize; 4];
    for seed in 0..rounds("POLICY_DIFFERENTIAL", 500) as u64 {
        let mut random = Random::new(seed);
        let policy = policy(&mut random);
        let bytes = emit(&policy, &[1; 32], &[2; 32]).expect("a random policy has a table");
        for call in 0..40 {
            let facts = facts(&mut random);
            let expected = evaluate(&policy, &facts, TODAY);
            let got = by_table(&bytes, &facts);
            if got != expected {
                for pattern in &policy.patterns {
                    let line = &policy.lines[pattern.line.0 as usize];
                    let block = &policy.blocks[line.block.0 as usize];
                    println!(
                        "{} {:?} {:?} {:?} {}",
                        block.name, block.kind, block.withins, line.verb, pattern.text
                    );
                }
                for except in &policy.excepts {
                    println!("except {except:?}");
                }
                println!("{:?}\n{:?}", policy.withins, policy.scopes);
            }
            assert_eq!(got, expected, "seed {seed}, call {call}\n{facts:?}");
            counts[got.decision as usize] += 1;
        }
    }
    // The generator is worth something only while every answer is common.
    assert!(counts.iter().all(|&n| n * 50 > counts.iter().sum::<usize>()), "{counts:?}");
}

#[test]
fn the_same_policy_gives_the_same_bytes() {
    for seed in 0..50 {
        let policy = policy(&mut Random::new(seed));
        let bytes = || emit(&policy, &[1; 32], &[2; 32]).expect("a table");
        assert_eq!(bytes(), bytes());
    }
    let _ = Decision::Allow;
}
