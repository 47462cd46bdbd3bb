//! The table against the oracle, and damaged tables against whole ones.

mod globs;
mod runs;

use super::generate::{Random, facts, policy};
use super::{Answer, evaluate};
use crate::emit::emit;
use policy_runtime::facts::Facts;
use policy_runtime::table::TableError;
use policy_runtime::table::layout::{ENTRY, FORMAT, HEADER, at};
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

/// `POLICY_PACKS=2000` compares more.
#[test]
fn packs_decide_alike_by_table_and_oracle() {
    for (pack, _) in crate::PACKS {
        let text = format!("policy \"t\" language 1\nuse {pack}");
        let (compiled, _) = crate::tests::compiled(&text, &crate::tests::Setup::default());
        let Some(policy) = compiled.policy else { continue };
        let bytes = emit(&policy, &[1; 32], &[2; 32]).expect("a pack has a table");
        let mut random = Random::new(3);
        for call in 0..rounds("POLICY_PACKS", 40) {
            let facts = facts(&mut random);
            assert_eq!(
                by_table(&bytes, &facts),
                evaluate(&policy, &facts, TODAY),
                "{pack}, call {call}\n{facts:?}"
            );
        }
    }
}

#[test]
fn the_same_policy_gives_the_same_bytes() {
    for seed in 0..50 {
        let policy = policy(&mut Random::new(seed));
        let bytes = || emit(&policy, &[1; 32], &[2; 32]).expect("a table");
        assert_eq!(bytes(), bytes());
    }
}

/// Makes the sums right again, so that the checks behind them are reached.
fn fix(bytes: &mut [u8]) {
    if bytes.len() < HEADER {
        return;
    }
    let length = bytes.len() as u64;
    bytes[at::LENGTH..at::LENGTH + 8].copy_from_slice(&length.to_le_bytes());
    policy_runtime::table::seal(bytes);
}

/// Flips, cuts, swaps; now and then several at once.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(3) {
        let len = bytes.len().max(1);
        match random.below(6) {
            0 => bytes.truncate(random.below(len)),
            1 => {
                // Two sections of the directory change places.
                let sections = (HEADER..bytes.len()).step_by(ENTRY).take(19).count();
                let (a, b) =
                    (HEADER + random.below(sections) * ENTRY, HEADER + random.below(sections) * ENTRY);
                for i in 8..ENTRY {
                    if a.max(b) + i < bytes.len() {
                        bytes.swap(a + i, b + i);
                    }
                }
            }
            2 => {
                let (a, b) = (random.below(len) / 4 * 4, random.below(len) / 4 * 4);
                for i in 0..4 {
                    if a.max(b) + i < bytes.len() {
                        bytes.swap(a + i, b + i);
                    }
                }
            }
            3 => {
                let word = random.below(len) / 4 * 4;
                let value = random.pick(&[0u32, 1, 2, 255, 4096, u32::MAX, u32::MAX - 1, 1 << 31]);
                if let Some(slot) = bytes.get_mut(word..word + 4) {
                    slot.copy_from_slice(&value.to_le_bytes());
                }
            }
            _ => {
                let index = random.below(len);
                if let Some(byte) = bytes.get_mut(index) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
}

/// `POLICY_MUTATIONS=1000000` tries more.
#[test]
fn damaged_tables_never_panic_hang_or_allow() {
    let context = Context { today: TODAY };
    let (mut opened, mut refused) = (0, 0);
    let all = rounds("POLICY_MUTATIONS", 12_000);
    for seed in 0..(all / 400) as u64 {
        let mut random = Random::new(1000 + seed);
        let policy = policy(&mut random);
        let whole = emit(&policy, &[1; 32], &[2; 32]).expect("a table");
        let calls: Vec<Facts> = (0..3).map(|_| facts(&mut random)).collect();
        let answers: Vec<Decision> = calls.iter().map(|call| by_table(&whole, call).decision).collect();
        for round in 0..400 {
            let mut bytes = whole.clone();
            mutate(&mut random, &mut bytes);
            if bytes == whole {
                continue;
            }
            let fixed = round % 2 == 0;
            if fixed {
                fix(&mut bytes);
            }
            let table = match Table::open(&bytes) {
                Ok(table) => table,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                    continue;
                }
            };
            assert!(fixed, "damage without new sums is always seen");
            opened += 1;
            let start = std::time::Instant::now();
            for (call, answer) in calls.iter().zip(&answers) {
                let verdict = decide(&table, call, &context);
                assert!(!verdict.steps.is_empty());
                assert!(fixed || verdict.decision != Decision::Allow || *answer == Decision::Allow);
            }
            let _ = table.info();
            let _ = table.program("git");
            let _ = policy_runtime::explain::table(&table).to_string();
            assert!(start.elapsed().as_secs() < 20, "seed {seed}, round {round} takes too long");
        }
    }
    assert!(opened * 5 > all && refused * 5 > all, "{opened} opened, {refused} refused");
}

#[test]
fn each_kind_of_wrong_table_says_so() {
    let policy = policy(&mut Random::new(7));
    let whole = emit(&policy, &[1; 32], &[2; 32]).expect("a table");
    let changed = |place: usize, value: u8, sums: bool| {
        let mut bytes = whole.clone();
        bytes[place] = value;
        if sums {
            fix(&mut bytes);
        }
        Table::open(&bytes).err()
    };
    for len in 0..whole.len() {
        assert_eq!(Table::open(&whole[..len]).err(), Some(TableError::Truncated), "{len}");
    }
    assert_eq!(Table::open(b"{\"policy\": 1}").err(), Some(TableError::Foreign));
    assert_eq!(changed(0, b'P', true), Some(TableError::Foreign));
    assert_eq!(changed(whole.len() - 1, 0xEE, false), Some(TableError::Damaged));
    assert_eq!(changed(at::SOURCES, 9, false), Some(TableError::Damaged));
    assert_eq!(changed(at::READER, 9, true), Some(TableError::TooNew { format: FORMAT, semantics: 1 }));
    assert_eq!(changed(at::SEMANTICS, 2, true), Some(TableError::TooNew { format: FORMAT, semantics: 2 }));
    assert_eq!(changed(at::FORMAT, 0, true), Some(TableError::TooOld { format: 0, semantics: 1 }));
    let mut swapped = whole.clone();
    swapped[at::ENDIAN..at::ENDIAN + 4].reverse();
    assert_eq!(Table::open(&swapped).err(), Some(TableError::Endianness));
    let mut longer = whole.clone();
    longer.push(0);
    assert_eq!(Table::open(&longer).err(), Some(TableError::Damaged));
    assert_eq!(Table::open(&[]).err(), Some(TableError::Truncated));
}
