//! Lines that ask a ledger of payments: budgets, rises, payees, numbers of payments.
//!
//! INVARIANT: the payment of the call counts with what was paid before; what is not known of it, and what the ledger cannot tell,
//! is never taken for "nothing".

use super::report::{Class, Found, Value};
use crate::facts::Facts;
use crate::outside::{Answer, Measure, Paid, Question};
use crate::payment;
use crate::table::past::{Back, Limit};
use crate::verdict::Decision;

/// Puts a question once; its number.
pub(super) fn put(questions: &mut Vec<Question>, question: Question) -> usize {
    match questions.iter().position(|known| *known == question) {
        Some(at) => at,
        None => {
            questions.push(question);
            questions.len() - 1
        }
    }
}

/// Name and value of what was found.
fn fact<'f>(facts: &'f Facts, found: &Found) -> (&'f str, &'f str) {
    let Value::Arg(index) = found.value else { return ("", "") };
    facts.args.get(index).map_or(("", ""), |arg| (arg.name.as_str(), arg.value.as_str()))
}

fn seconds(limit: &Limit<'_>) -> Option<u32> {
    match limit.back {
        Back::Seconds(seconds) => Some(seconds),
        Back::Call | Back::Session | Back::Since(_) => None,
    }
}

/// What is asked about what was found; none where the ledger is not needed.
pub(super) fn question(facts: &Facts, limit: &Limit<'_>, found: &Found) -> Option<Question> {
    let (name, value) = fact(facts, found);
    let by = limit.by;
    let paid = match limit.measure {
        Measure::Spend => {
            let assets = limit.most.split(' ').skip(2).map(str::to_owned).collect();
            Paid::Spent { assets, seconds: seconds(limit), by }
        }
        Measure::Rise => {
            Paid::Price { asset: value.rsplit_once(' ').map_or(value, |(asset, _)| asset).to_owned() }
        }
        // That nobody saw the seller's own 402 is known from the call.
        Measure::Payee if name == payment::PAYEE_MAY && value != "unverified" => {
            Paid::Payee { what: value.to_owned(), known: limit.most.to_owned() }
        }
        Measure::Payments => Paid::Payments { seconds: seconds(limit), by },
        Measure::Same => Paid::Same { seconds: seconds(limit) },
        _ => return None,
    };
    Some(Question::Paid(paid))
}

/// What holds of all that was found, with what is said of it; an error says why that is not known.
pub(super) fn said(
    facts: &Facts,
    limit: &Limit<'_>,
    all: Vec<Found>,
    (numbers, answers): (&[Option<usize>], &[Answer]),
) -> Result<Vec<Found>, String> {
    let mut out = Vec::new();
    for (mut found, number) in all.into_iter().zip(numbers) {
        let answer = match number {
            None => None,
            Some(number) => match answers.get(*number) {
                Some(Answer::Unknown(cause)) => return Err(cause.clone()),
                Some(answer) => Some(answer),
                None => return Err("there was no answer".to_owned()),
            },
        };
        match holds(facts, limit, &found, answer)? {
            Holds::No => continue,
            Holds::Yes(why) => found.why = why.or(found.why),
            // SECURITY: not known is not "not so".
            Holds::Maybe(why) => {
                found.why = Some(why);
                found.sure = false;
                found.class = Class::MaybeGuard;
                found.decision =
                    if found.decision == Decision::Deny { Decision::Ask } else { found.decision };
            }
        }
        out.push(found);
    }
    Ok(out)
}

enum Holds {
    No,
    /// And what is said of it.
    Yes(Option<String>),
    Maybe(String),
}

fn holds(facts: &Facts, limit: &Limit<'_>, found: &Found, answer: Option<&Answer>) -> Result<Holds, String> {
    let (name, value) = fact(facts, found);
    let window = if limit.shown.is_empty() { String::new() } else { format!(" {}", limit.shown) };
    let other = || "the answer is to another question".to_owned();
    let over = u64::from(limit.over);
    Ok(match (limit.measure, answer) {
        (Measure::Spend, Some(Answer::Units(spent))) => {
            let mut words = limit.most.split(' ');
            let (most, money) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let assets: Vec<&str> = words.collect();
            let shown = |units: &str| format!("{} {money}", payment::decimal(units, limit.over));
            let Some(own) = moved(facts, &assets, value) else {
                return Ok(Holds::Maybe(format!(
                    "how much it is cannot be told, and more than {}{window} is too much",
                    shown(most)
                )));
            };
            let all = payment::sum(spent, &own).ok_or_else(other)?;
            match payment::greater(&all, most).ok_or_else(other)? {
                false => Holds::No,
                true => Holds::Yes(Some(format!(
                    "{} with this payment of {}{window}, and more than {} is too much",
                    shown(&all),
                    shown(&own),
                    shown(most)
                ))),
            }
        }
        (Measure::Rise, Some(Answer::Units(first))) if first.is_empty() => {
            // Without a first price nothing rises.
            Holds::No
        }
        (Measure::Rise, Some(Answer::Units(first))) => {
            let own = payment::shown_value(name, value);
            let unknown = || Holds::Maybe("how much it is cannot be told".to_owned());
            let (Some(one), Some(most)) =
                (payment::times(own, 100), payment::times(first, limit.over.saturating_add(100)))
            else {
                return Ok(unknown());
            };
            match payment::greater(&one, &most) {
                None => unknown(),
                Some(false) => Holds::No,
                Some(true) => Holds::Yes(Some(format!(
                    "the price is {own} smallest units and was {first} at first: it rose by more than {}%",
                    limit.over
                ))),
            }
        }
        (Measure::Payee, None) => Holds::Yes(None),
        (Measure::Payee, Some(Answer::Like(None))) => Holds::No,
        (Measure::Payee, Some(Answer::Like(Some(like)))) => Holds::Yes(Some(match value {
            "new" => {
                "the payee was never paid or approved before, and the policy does not name it".to_owned()
            }
            "filed" => "the payee is known only from a text that was read in this session".to_owned(),
            _ => format!("the payee looks like {like}, which is known, and is another one"),
        })),
        (Measure::Payments, Some(Answer::Count(count))) => match count.saturating_add(1) {
            all if all > over => {
                let many = if all == 1 { "payment" } else { "payments" };
                Holds::Yes(Some(format!("{all} {many}{window}, and more than {over} is too many")))
            }
            _ => Holds::No,
        },
        (Measure::Same, Some(Answer::Count(count))) if *count > over => {
            let many = if *count == 1 { "payment" } else { "payments" };
            Holds::Yes(Some(format!("{count} {many} of the same{window}, and more than {over} is too many")))
        }
        (Measure::Same, Some(Answer::Count(_))) => Holds::No,
        _ => return Err(other()),
    })
}

/// How much of these assets the payment moves, all in all; none where that is not known.
fn moved(facts: &Facts, assets: &[&str], value: &str) -> Option<String> {
    if !payment::is_number(value.rsplit(' ').next()?) {
        return None;
    }
    let mut all = "0".to_owned();
    for arg in facts.args.iter().filter(|arg| arg.name == payment::AMOUNT) {
        let (asset, units) = arg.value.rsplit_once(' ')?;
        if assets.contains(&asset) {
            all = payment::sum(&all, units)?;
        }
    }
    Some(all)
}
