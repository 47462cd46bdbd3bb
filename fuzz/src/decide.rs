//! Decisions by a table and by the naive evaluator, on a policy and calls that bytes choose.
//!
//! INVARIANT: they agree on the decision, the block and the line, whether the table is opened whole or used in place.

use policy_compiler::emit::emit;
use policy_compiler::ir::Policy;
use policy_compiler::naive::evaluate;
use policy_compiler::naive::generate::{Random, facts, policy};
use policy_runtime::bytes::Seen;
use policy_runtime::{Context, Table, decide};

const TODAY: i64 = 100;

/// The bytes choose what the generator picks, one pair after the other; behind them it goes on by chance.
///
/// # Errors
/// Where they differ.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut random = Random::from_bytes(bytes);
    let policy = policy(&mut random);
    let table = emit(&policy, &[1; 32], &[2; 32]).map_err(|error| format!("no table: {error:?}"))?;
    let whole = Table::open(&table).map_err(|error| format!("it does not open: {error}"))?;
    let seen = Seen::new();
    let in_place = Table::in_place(&table, &seen).map_err(|error| format!("not in place: {error}"))?;
    for call in 0..8 {
        let facts = facts(&mut random);
        let expected = evaluate(&policy, &facts, TODAY);
        let verdict = decide(&whole, &facts, &Context { today: TODAY });
        if verdict != decide(&in_place, &facts, &Context { today: TODAY }) {
            return Err(format!("call {call}: in place it says something else"));
        }
        let Some(step) = verdict.steps.first() else { return Err("a verdict without a reason".into()) };
        let line = expected.line.is_none_or(|line| line == step.place.line);
        let got = (verdict.decision, step.rule.as_str(), verdict.abstains);
        if !line || got != (expected.decision, expected.rule.as_str(), expected.abstains) {
            return Err(format!(
                "call {call}: {got:?} in line {}, expected {expected:?}\n{facts:?}\n{}",
                step.place.line,
                shown(&policy)
            ));
        }
    }
    Ok(())
}

/// A policy, line by line.
fn shown(policy: &Policy) -> String {
    let mut out =
        format!("default {:?}, withins {:?}, scopes {:?}\n", policy.default, policy.withins, policy.scopes);
    for (number, pattern) in policy.patterns.iter().enumerate() {
        let line = &policy.lines[pattern.line.0 as usize];
        let block = &policy.blocks[line.block.0 as usize];
        let excepts = policy.excepts.iter().filter(|except| except.line == pattern.line);
        let excepts: Vec<String> = excepts.map(|except| format!("{:?}", except.matcher)).collect();
        out += &format!(
            "{number}: {:?} {} (scope {:?}, within {:?}, opens {:?}, until {:?}), line {}: {:?} {:?} {} except {excepts:?}\n",
            block.kind,
            block.name,
            block.scope,
            block.withins,
            block.opens,
            block.until,
            line.place.line,
            line.verb,
            line.arg,
            pattern.text
        );
    }
    out
}
