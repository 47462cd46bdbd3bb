//! The table against the oracle, and damaged tables against whole ones.

mod globs;
mod runs;
mod stored;

use super::generate::{Random, facts, policy};
use super::{Answer, Counts, evaluate, evaluate_counted};
use crate::emit::emit;
use crate::ir::{BlockKind, Kind, Policy, Verb};
use policy_runtime::facts::Facts;
use policy_runtime::table::TableError;
use policy_runtime::table::layout::{ENTRY, FORMAT, HEADER, at};
use policy_runtime::verdict::Decision;
use policy_runtime::{Context, Table, decide};
use std::cell::RefCell;

const TODAY: i64 = 100;
/// Policies that are always compared, and in which what is met is counted.
const COUNTED: usize = 1_300;

fn rounds(variable: &str, ordinary: usize) -> usize {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(ordinary)
}

fn by_table(bytes: &[u8], facts: &Facts) -> Answer {
    let table = Table::open(bytes).expect("a whole table opens");
    let verdict = decide(&table, facts, &Context { today: TODAY });
    let rule = verdict.steps.first().expect("a verdict has a step").rule.clone();
    assert_eq!(verdict.steps[0].decision, verdict.decision);
    assert!(verdict.steps.len() <= 64);
    let line = Some(verdict.steps[0].place.line);
    Answer { decision: verdict.decision, rule, abstains: verdict.abstains, line }
}

/// By the oracle and by the table, which may name a line where the oracle has none.
fn both(policy: &Policy, bytes: &[u8], facts: &Facts, counts: Option<&RefCell<Counts>>) -> (Answer, Answer) {
    let expected = match counts {
        Some(counts) => evaluate_counted(policy, facts, TODAY, counts),
        None => evaluate(policy, facts, TODAY),
    };
    let mut got = by_table(bytes, facts);
    got.line = got.line.filter(|_| expected.line.is_some());
    (got, expected)
}

/// `POLICY_DIFFERENTIAL=25000` are a million comparisons, `POLICY_SEED=1` others.
#[test]
fn table_and_oracle_agree() {
    let mut decisions = [0usize; 4];
    let counts = RefCell::new(Counts::new());
    let first = (rounds("POLICY_SEED", 0) as u64) << 32;
    for number in 0..rounds("POLICY_DIFFERENTIAL", COUNTED) as u64 {
        let mut random = Random::new(first + number);
        let policy = policy(&mut random);
        let bytes = emit(&policy, &[1; 32], &[2; 32]).expect("a random policy has a table");
        for call in 0..40 {
            let facts = facts(&mut random);
            let (got, expected) = both(&policy, &bytes, &facts, (number < COUNTED as u64).then_some(&counts));
            if got != expected {
                for pattern in &policy.patterns {
                    let line = &policy.lines[pattern.line.0 as usize];
                    let block = &policy.blocks[line.block.0 as usize];
                    println!(
                        "{} {:?} {:?} {:?} {:?} {}",
                        line.place.line, block.name, block.kind, block.withins, line.verb, pattern.text
                    );
                }
                for except in &policy.excepts {
                    println!("except {except:?}");
                }
                println!("{:?}\n{:?}", policy.withins, policy.scopes);
            }
            assert_eq!(got, expected, "seed {first} + {number}, call {call}\n{facts:?}");
            decisions[got.decision as usize] += 1;
        }
    }
    // The generator is worth something only while every answer is common and everything is met.
    assert!(decisions.iter().all(|&n| n * 50 > decisions.iter().sum::<usize>()), "{decisions:?}");
    let counts = counts.into_inner();
    if first == 0 {
        let missing: Vec<String> =
            what_must_be_met().into_iter().filter(|what| !counts.contains_key(what)).collect();
        assert!(missing.is_empty(), "never met: {missing:#?}\nmet: {counts:#?}");
    }
}

/// Each kind of line matches, does not, decides, is taken back, is opened.
fn what_must_be_met() -> Vec<String> {
    let kinds = [Kind::Path, Kind::Domain, Kind::Command, Kind::Run, Kind::Shell, Kind::Arg];
    // Only guards look at texts; a text is known, but whether it lies among the files of a guard may not be.
    let unsure = |kind: Kind, verb: Verb| {
        matches!(verb, Verb::Ask | Verb::Deny | Verb::Warn | Verb::Info) && kind != Kind::Shell
    };
    let mut out: Vec<String> = Vec::new();
    let lines = [
        (BlockKind::Rule, [Verb::Allow, Verb::Ask, Verb::Deny, Verb::Only].as_slice()),
        (BlockKind::Guard, &[Verb::Ask, Verb::Deny, Verb::Warn, Verb::Info, Verb::Only]),
        (BlockKind::Exception, &[Verb::Open]),
    ];
    for (of, verbs) in lines {
        for (verb, kind) in verbs.iter().flat_map(|verb| kinds.map(|kind| (*verb, kind))) {
            if verb == Verb::Only && kind == Kind::Shell {
                continue;
            }
            let unsure = unsure(kind, verb);
            let grades = ["No", "Possible", "Certain"].iter().filter(|grade| unsure || **grade != "Possible");
            out.extend(grades.map(|grade| format!("match: {of:?} {verb:?} {kind:?} {grade}")));
            let decides = of == BlockKind::Rule || matches!(verb, Verb::Ask | Verb::Deny);
            if decides && of != BlockKind::Exception {
                out.push(format!("decides: {of:?} {verb:?} {kind:?} Certain"));
                out.extend(unsure.then(|| format!("decides: {of:?} {verb:?} {kind:?} Possible")));
            }
        }
    }
    for verb in [Verb::Ask, Verb::Deny, Verb::Warn, Verb::Info] {
        out.extend(["No", "Certain"].map(|grade| format!("match: Guard {verb:?} Content {grade}")));
    }
    for verb in [Verb::Ask, Verb::Deny] {
        out.extend(["Possible", "Certain"].map(|sure| format!("decides: Guard {verb:?} Content {sure}")));
    }
    out.extend(["known", "new"].map(|age| format!("secret: {age}")));
    for verb in [Verb::OtherwiseAllow, Verb::OtherwiseAsk, Verb::OtherwiseDeny] {
        out.push(format!("decides: Rule {verb:?} Call Certain"));
    }
    for verb in [Verb::Ask, Verb::Deny] {
        out.extend(["Certain", "Possible"].map(|sure| format!("decides: Guard {verb:?} Call {sure}")));
    }
    out.extend(
        ["floor", "default", "missed only of a Rule", "missed only of a Guard"]
            .map(|w| format!("decides: {w}")),
    );
    out.extend(kinds.iter().flat_map(|k| [true, false].map(|grant| format!("voided: {k:?}, grant {grant}"))));
    for of in ["Rule", "Guard", "Exception"] {
        out.extend(["No", "Possible", "Certain"].map(|lies| format!("within: {of} {lies}")));
    }
    for value in ["call", "path", "domain", "command", "arg"] {
        out.extend(["no date", "over", "not yet over"].map(|date| format!("opens: {value}, {date}")));
    }
    out
}

/// `POLICY_PACKS=2000` compares more.
#[test]
fn packs_decide_alike_by_table_and_oracle() {
    for (pack, _) in crate::PACKS {
        let text = format!("policy \"t\" language 1\nuse {pack}");
        let (compiled, _) = crate::tests::compiled(&text, &crate::tests::Setup::default());
        let Some(mut policy) = compiled.policy else { continue };
        // The oracle knows no checks and no past, and makes no automata of formats as large as those of the packs: both judge
        // by the other lines. Content lines are in the generated policies.
        let tails: Vec<_> = policy.tails.drain(..).map(|tail| tail.line).collect();
        policy.patterns.retain(|pattern| {
            let of_text = matches!(
                pattern.matcher,
                crate::ir::Matcher::Content(..)
                    | crate::ir::Matcher::Secret(..)
                    | crate::ir::Matcher::Check(_)
            );
            !of_text && !tails.contains(&pattern.line)
        });
        let bytes = emit(&policy, &[1; 32], &[2; 32]).expect("a pack has a table");
        let mut random = Random::new(3 + rounds("POLICY_SEED", 0) as u64);
        for call in 0..rounds("POLICY_PACKS", 12) {
            let facts = facts(&mut random);
            let (got, expected) = both(&policy, &bytes, &facts, None);
            assert_eq!(got, expected, "{pack}, call {call}\n{facts:?}");
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
