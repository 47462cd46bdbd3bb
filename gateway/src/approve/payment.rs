//! The card of a payment that waits.
//!
//! INVARIANT: addresses are shown in full; amounts are shown as their smallest units, and beside that as the policy's assets name them
//! where they do; what is not known is said so.

use super::page::parts;
use super::shown::{Look, pieces};
use crate::pay::{Looked, excerpts, grants};
use policy_engine::budgets::{Again, Budget, money};
use policy_payments::Units;
use policy_payments::ledger::{Content, Decision, Flow, Read, Status};
use serde_json::{Value, json};

/// How a character that another address has otherwise is shown.
const DIFFERS: u8 = 3;

/// What the card of a payment shows beside what every card does.
pub(crate) fn payment(own: &Decision, looked: &Looked) -> Value {
    let again = looked.again.as_ref().ok();
    let (payment, seen) = match &looked.payment {
        Some((payment, seen)) => (Some(payment), seen.as_deref()),
        None => (None, None),
    };
    let payee = payment.and_then(|payment| payment.payee.as_ref()).map(|payee| payee.checked());
    let alike = again.and_then(|again| again.alike.as_deref());
    let compared = payee.as_deref().map(|payee| {
        let others = [("seller", seen), ("alike", alike)];
        others.into_iter().filter_map(|(what, other)| compared(what, payee, other?)).collect::<Vec<Value>>()
    });
    json!({
        "amounts": own.flows.iter().map(|flow| amount(flow, again)).collect::<Vec<Value>>(),
        "payee": payee.as_deref().map(|payee| parts(payee, &[])),
        "seller": match (seen, payee.as_deref()) {
            (None, _) => "nobody",
            (Some(seen), Some(payee)) if same(seen, payee) => "same",
            (Some(_), _) => "other",
        },
        "compared": compared,
        "grants": payment.and_then(grants).map(|grants| parts(&grants, &[])),
        "terms": terms(looked),
        "budgets": again.map(|again| again.budgets.iter().map(|own_budget| budget(own, own_budget)).collect::<Vec<Value>>()),
        "now": match &looked.again {
            Ok(again) => now(again),
            Err(why) => json!({ "unknown": parts(why, &[]) }),
        },
        "texts": match &looked.texts {
            Ok(texts) => texts.iter().map(text).collect::<Value>(),
            Err(why) => json!({ "unknown": parts(why, &[]) }),
        },
    })
}

fn same(one: &str, other: &str) -> bool {
    if one.starts_with("0x") { one.eq_ignore_ascii_case(other) } else { one == other }
}

/// What moves, for people and as it is counted.
fn amount(flow: &Flow, again: Option<&Again>) -> Value {
    let named = again.and_then(|again| money(&again.layers, &flow.asset));
    let named = named.map(|(name, decimals)| parts(&shown(flow.units, decimals, &name), &[]));
    json!({ "shown": named, "units": flow.units.to_string(), "asset": parts(&flow.asset, &[]) })
}

/// An amount as people read it.
pub(crate) fn shown(units: Units, decimals: u32, name: &str) -> String {
    format!("{} {name}", policy_runtime::payment::decimal(&units.to_string(), decimals))
}

/// Two addresses with the characters that differ; none when they are one.
fn compared(what: &str, own: &str, other: &str) -> Option<Value> {
    if same(own, other) {
        return None;
    }
    let fold = own.starts_with("0x") && other.starts_with("0x");
    let letters = |text: &str| -> Vec<char> { text.chars().collect() };
    let (mine, theirs) = (letters(own), letters(other));
    let differs = |at: usize| match (mine.get(at), theirs.get(at)) {
        (Some(one), Some(other)) if fold => !one.eq_ignore_ascii_case(other),
        (one, other) => one != other,
    };
    let count = (0..mine.len().max(theirs.len())).filter(|at| differs(*at)).count();
    Some(json!({
        "what": what,
        "own": marked(&mine, &differs),
        "other": marked(&theirs, &differs),
        "differs": count,
        "of": mine.len().max(theirs.len()),
    }))
}

/// Pieces of an address; those that differ look so.
fn marked(letters: &[char], differs: &dyn Fn(usize) -> bool) -> Value {
    let mut runs: Vec<(bool, String)> = Vec::new();
    for (at, letter) in letters.iter().enumerate() {
        let own = differs(at);
        match runs.last_mut().filter(|(last, _)| *last == own) {
            Some((_, run)) => run.push(*letter),
            None => runs.push((own, letter.to_string())),
        }
    }
    let look = |differs: bool, look: Look| match look {
        Look::Odd => 2,
        _ if differs => DIFFERS,
        Look::Plain | Look::Marked => 0,
    };
    let all = runs.into_iter().flat_map(|(differs, run)| {
        pieces(&run, &[]).into_iter().map(move |piece| json!([piece.text, look(differs, piece.look)]))
    });
    all.collect()
}

/// The seller's terms as they were stated, one behind the other, with the payee that the seller's own 402 named.
fn terms(looked: &Looked) -> Value {
    let payment = looked.arguments.get("payment").or(Some(&looked.arguments));
    let Some(Value::Object(all)) = payment else { return json!([]) };
    let written = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let seen = looked.arguments.get("observed402PayTo").filter(|seen| !seen.is_null());
    let seen = seen.map(|seen| ("observed402PayTo", written(seen)));
    let stated = all.iter().map(|(name, value)| (name.as_str(), written(value)));
    stated.chain(seen).map(|(name, value)| json!([parts(name, &[]), parts(&value, &[])])).collect()
}

/// A budget with this payment beside it.
fn budget(own: &Decision, (budget, used): &(Budget, Option<Units>)) -> Value {
    let moves = own.flows.iter().filter(|flow| budget.assets().contains(&flow.asset));
    let moves = moves.map(|flow| flow.units).try_fold(Units::ZERO, Units::plus);
    let after = used.zip(moves).and_then(|(used, own)| used.plus(own));
    let amount = |units: Option<Units>| {
        units.map(|units| json!([shown(units, budget.decimals, &budget.money), units.to_string()]))
    };
    json!({
        "says": line(budget),
        "place": parts(&format!("{} ({})", budget.rule, budget.place), &[]),
        "used": amount(*used),
        "own": amount(moves),
        "after": amount(after),
        "most": amount(Some(budget.most)),
        "over": after.map(|after| after > budget.most),
        "denies": budget.denies,
    })
}

/// A line with its verb.
pub(crate) fn line(budget: &Budget) -> Value {
    parts(&format!("{} {}", if budget.denies { "deny" } else { "ask" }, budget.says), &[])
}

/// What a yes would come to now.
fn now(again: &Again) -> Value {
    let reasons = again.judged.reasons.iter();
    let reasons = reasons.filter(|reason| reason.denies).map(|reason| parts(&reason.sentence, &[]));
    match again.judged.status {
        Status::Denied => json!({ "denied": reasons.collect::<Vec<Value>>() }),
        _ => json!({}),
    }
}

/// A text that was read.
fn text(read: &Read) -> Value {
    let all = excerpts(read).into_iter().map(|excerpt| {
        json!({ "text": parts(&excerpt.text, &excerpt.marks), "before": excerpt.cut.0, "behind": excerpt.cut.1 })
    });
    json!({
        "origin": parts(&read.origin, &[]),
        "found": match (read.found, read.at) {
            (Content::Flagged, _) => "flagged",
            (Content::Clear, _) => "clear",
            (Content::Unfinished, 0) => "never filed",
            (Content::Unfinished, _) => "unchecked",
        },
        "classes": parts(&read.classes.join(", "), &[]),
        "excerpts": all.collect::<Vec<Value>>(),
        "holds": read.holds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_differ_are_marked_and_all_are_there() {
        let own = "0xAbcd000000000000000000000000000000001234";
        let told = compared("alike", own, "0xabcd111111111111111111111111111111111234").unwrap();
        assert_eq!((&told["differs"], &told["of"]), (&json!(32), &json!(42)));
        assert_eq!(told["own"], json!([["0xAbcd", 0], ["00000000000000000000000000000000", 3], ["1234", 0]]));
        assert_eq!(
            compared("seller", own, &own.to_ascii_lowercase()),
            None,
            "the case of digits says nothing"
        );
        // Of other networks every letter counts, and a longer one differs in what it has more.
        let told = compared("seller", "AbCd", "abCdE").unwrap();
        assert_eq!(
            (&told["own"], &told["other"]),
            (&json!([["A", 3], ["bCd", 0]]), &json!([["a", 3], ["bCd", 0], ["E", 3]]))
        );
    }
}
