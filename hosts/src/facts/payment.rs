//! A payment in the arguments of a call.
//!
//! INVARIANT: a payment that is there and cannot be read is opaque; facts stand under names that no argument has.

use super::Builder;
use policy_payments::{Address, Effect, Family, Kind, Payment, Units, Wrong, read};
use policy_runtime::facts::Origin;
use policy_runtime::payment;
use serde_json::{Map, Value};
use std::time::{SystemTime, UNIX_EPOCH};

/// The kinds that [`read`] knows.
const KINDS: [&str; 4] = ["x402_payment", "contract_call", "typed_data", "sign_hash"];

/// Looks for a payment and notes what it does.
pub(super) fn look(builder: &mut Builder<'_>, arguments: &Value) {
    match payment(arguments) {
        None => {}
        Some(Ok((payment, observed))) => note(builder, &payment, observed.as_ref()),
        Some(Err(wrong)) => builder.opaque(Origin::Call, &format!("{}: {wrong}", payment::BAD)),
    }
}

/// The payment that the arguments of a call hold, and the payee that the seller's own 402 named; none when they hold none.
pub fn payment(arguments: &Value) -> Option<Result<(Payment, Option<Address>), Wrong>> {
    let Value::Object(all) = arguments else { return None };
    // SECURITY: the tool may mean the other one.
    let own = find(all)?.and_then(|payment| match payments(arguments) {
        0 | 1 => Ok(payment),
        count => {
            let why = format!("{count} payments stand in one call; make a call for each");
            Err(Wrong { field: "payTo".to_owned(), why })
        }
    });
    Some(
        own.and_then(|payment| {
            Ok((observed(all, &payment)?, payment)).map(|(seen, payment)| (payment, seen))
        }),
    )
}

/// How many objects are payments, wherever they stand.
fn payments(arguments: &Value) -> usize {
    let (mut stack, mut count) = (vec![arguments], 0);
    while let Some(value) = stack.pop() {
        match value {
            Value::Object(own) => {
                count += usize::from(is_kind(own) || own.contains_key("payTo"));
                stack.extend(own.values());
            }
            Value::Array(items) => stack.extend(items),
            _ => {}
        }
    }
    count
}

fn is_kind(own: &Map<String, Value>) -> bool {
    own.get("kind").and_then(Value::as_str).is_some_and(|kind| KINDS.contains(&kind))
}

/// The payment of a call: under its own name, or all the arguments are one.
fn find(all: &Map<String, Value>) -> Option<Result<Payment, Wrong>> {
    match all.get("payment") {
        Some(Value::Object(own)) if is_kind(own) || own.contains_key("payTo") => {
            // SECURITY: with fields of a payment beside it, one program reads one and the signer the other.
            if let Some(stray) = all.keys().find(|key| FIELDS.contains(&key.as_str())) {
                let why = "it stands beside `payment`, where it could be meant instead".to_owned();
                return Some(Err(Wrong { field: stray.clone(), why }));
            }
            return Some(read(&Value::Object(with_kind(own))));
        }
        _ => {}
    }
    // As a seller's own list of offers names it.
    let asked = all.contains_key("payTo")
        && ["amountAtomic", "amount", "maxAmountRequired"].iter().any(|name| all.contains_key(*name));
    if !is_kind(all) && !asked {
        return None;
    }
    let mut own = with_kind(all);
    for more in MORE {
        own.remove(*more);
    }
    Some(read(&Value::Object(own)))
}

/// What stands beside a payment in a call.
const MORE: &[&str] = &[
    "observed402PayTo",
    "context",
    "contextSha256",
    "wait_seconds",
    "idempotency_key",
    "idempotencyKey",
    "sessionId",
];

/// What a payment is made of.
const FIELDS: &[&str] = &[
    "kind",
    "payTo",
    "amountAtomic",
    "amount",
    "maxAmountRequired",
    "asset",
    "network",
    "scheme",
    "resourceUrl",
    "to",
    "data",
    "valueAtomic",
    "value",
    "typedData",
    "typed_data",
    "hash",
    "recipient",
];

fn with_kind(own: &Map<String, Value>) -> Map<String, Value> {
    let mut own = own.clone();
    own.entry("kind").or_insert_with(|| Value::String("x402_payment".to_owned()));
    own
}

/// The payee that the seller's own 402 named.
fn observed(all: &Map<String, Value>, payment: &Payment) -> Result<Option<Address>, Wrong> {
    let field = "observed402PayTo";
    match all.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Address::field(text, &payment.network, field).map(Some),
        Some(_) => Err(Wrong { field: field.to_owned(), why: "it has to be a string".to_owned() }),
    }
}

fn note(builder: &mut Builder<'_>, payment: &Payment, observed: Option<&Address>) {
    let mut fact = |name: &str, value: &str| builder.arg(name, value.to_owned());
    fact(payment::NETWORK, payment.network.name());
    let kind = if payment.network.family() == Family::Evm { "erc20" } else { "token" };
    let named = |token: &Address| format!("{}/{kind}:{}", payment.network, token.text());
    let asset = payment.asset.as_ref().map(named);
    if let Some(asset) = &asset {
        fact(payment::ASSET, asset);
    }
    fact(payment::SCHEME, payment.scheme.map_or(payment::OTHER, |scheme| scheme.word()));
    if let Some(resource) = &payment.resource {
        fact(payment::SELLER, &resource.host);
    }
    if let Some(payee) = &payment.payee {
        fact(payment::PAYEE, payee.text());
        if observed.is_some_and(|seen| seen != payee) {
            fact(payment::PAYEE_IS, "mismatch");
        }
        if observed.is_none() && payment.kind == Kind::X402 {
            fact(payment::PAYEE_MAY, "unverified");
        }
        fact(payment::PAYEE_MAY, "new");
        fact(payment::PAYEE_MAY, "lookalike");
        // Who was named by the seller itself is not known from a text alone.
        if observed.is_none() {
            fact(payment::PAYEE_MAY, "filed");
        }
    }
    let function = payment.function.as_deref().filter(|_| payment.kind != Kind::X402);
    fact(payment::CALL, function.unwrap_or(payment::OTHER));
    if let Some(units) = payment.units {
        let asset = asset.as_deref().unwrap_or(payment::UNKNOWN);
        fact(payment::AMOUNT, &format!("{asset} {units}"));
    }
    let coin = format!("{}/{}", payment.network, policy_payments::COIN);
    if payment.native != Units::ZERO {
        fact(payment::ASSET, &coin);
        fact(payment::AMOUNT, &format!("{coin} {}", payment.native));
    }
    // SECURITY: what is not known may move and grant anything.
    if payment.kind != Kind::X402 && payment.effect == Effect::Unknown && function != Some("value") {
        let anything = format!("{} {}", payment::UNKNOWN, payment::UNKNOWN);
        fact(payment::AMOUNT, &anything);
        fact(payment::APPROVAL, &anything);
    }
    let grant = match &payment.effect {
        Effect::Grants { units, .. } => asset.clone().map(|asset| (asset, *units)),
        Effect::GrantsOf { token, units, .. } => Some((named(token), *units)),
        Effect::GrantsAll { on: true, .. } => asset.clone().map(|asset| (asset, Units::MAX)),
        _ => None,
    };
    if let Some((asset, units)) = grant {
        fact(payment::APPROVAL, &format!("{asset} {units}"));
    }
    if let Some(seconds) = lifetime(payment) {
        fact(payment::LIFETIME, &seconds.to_string());
    }
}

/// For how long it can be used: the longer of what it says.
fn lifetime(payment: &Payment) -> Option<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let left = payment.until.map(|until| until.saturating_sub(now));
    left.max(payment.lifetime)
}
