//! A good table with some of its bytes changed: its header stays one, so that what stands behind it is reached.
//!
//! INVARIANT: a damaged table never allows what the whole one does not, unless its sums were made right again; then it may say
//! anything, but in bounded work and without a panic.

use crate::edit::Asked;
use policy_compiler::emit::emit;
use policy_compiler::naive::generate::{Random, facts, policy};
use policy_runtime::bytes::Seen;
use policy_runtime::table::layout::{HEADER, at};
use policy_runtime::table::seal;
use policy_runtime::{Context, Decision, Facts, Table, Verdict, decide, explain, work};
use std::sync::OnceLock;

const CONTEXT: Context = Context { today: 100 };
/// More than any decision may take.
const MOST_WORK: u64 = 1 << 40;

struct Good {
    bytes: Vec<u8>,
    calls: Vec<(Facts, Verdict)>,
}

/// Tables to begin with.
fn good(number: usize) -> &'static Good {
    static ALL: OnceLock<Vec<Good>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let one = |seed| {
            let mut random = Random::new(seed);
            let policy = policy(&mut random);
            let bytes = emit(&policy, &[1; 32], &[2; 32]).expect("a random policy has a table");
            let table = Table::open(&bytes).expect("a table opens");
            let calls = (0..4).map(|_| facts(&mut random));
            let calls = calls.map(|call| (call.clone(), decide(&table, &call, &CONTEXT))).collect();
            Good { bytes: bytes.clone(), calls }
        };
        (0..64).map(one).collect()
    });
    &all[number % all.len()]
}

/// The first byte chooses a table, the second whether its sums are made right again and whether the header stays as it is; the
/// rest are changes.
///
/// # Errors
/// The promise that was broken.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut asked = Asked(bytes);
    let (good, how) = (good(asked.byte()), asked.byte());
    let (sealed, header_stays) = (how % 4 != 0, how % 8 != 1);
    let mut damaged = good.bytes.clone();
    asked.edit(&mut damaged, if header_stays { HEADER } else { 0 });
    if damaged == good.bytes {
        return Ok(());
    }
    if sealed {
        let length = damaged.len() as u64;
        if let Some(slot) = damaged.get_mut(at::LENGTH..at::LENGTH + 8) {
            slot.copy_from_slice(&length.to_le_bytes());
        }
        seal(&mut damaged);
    }
    let whole = Table::open(&damaged);
    if let Ok(table) = &whole {
        if !sealed {
            return Err("damage is not seen".into());
        }
        let _ = table.info();
        let _ = table.program("git").is_some();
        let _ = explain::table(table).to_string();
    }
    for (call, answer) in &good.calls {
        // What was seen while another call was decided says nothing about this one.
        let seen = Seen::new();
        let Ok(in_place) = Table::in_place(&damaged, &seen) else {
            return if whole.is_ok() { Err("it opens whole, but not in place".into()) } else { Ok(()) };
        };
        let verdict = decide(&in_place, call, &CONTEXT);
        if verdict.steps.is_empty() {
            return Err("a verdict without a reason".into());
        }
        if seen.damaged() && verdict.decision != Decision::Deny {
            return Err(format!("{:?} by a page that is damaged", verdict.decision));
        }
        if !sealed && verdict != *answer && verdict.decision != Decision::Deny {
            return Err("another answer by a damaged table".into());
        }
        if let Ok(table) = &whole {
            if decide(table, call, &CONTEXT) != verdict {
                return Err("another answer in place".into());
            }
            if work(table, call, &CONTEXT) > MOST_WORK {
                return Err("too much work".into());
            }
        }
    }
    Ok(())
}
