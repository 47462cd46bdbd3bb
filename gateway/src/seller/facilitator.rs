//! Our facilitator: says whether a payment is what was asked for, and takes it once. There is no chain behind it.
//!
//! INVARIANT: a payment is taken once, on a test network, and only when all of its fields are what was asked for. Signatures are
//! looked at for their shape alone: whoever writes the right fields is believed. What is remembered is bounded.

use super::offer::{Form, Rail, bytes, network};
use policy_payments::{Address, Units};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Most payments that are remembered.
const MOST: usize = 100_000;
/// Seconds that have to be left: a block has to be written in them.
const LEFT: u64 = 6;
/// Longest transaction of Solana, bytes.
const MOST_TRANSACTION: usize = 1232;

/// A payment that can be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Good {
    /// Who pays; empty where that cannot be read.
    pub(super) payer: String,
    network: String,
    amount: String,
    once: [u8; 32],
}

/// The payments that were taken.
#[derive(Debug, Default)]
pub(super) struct Taken(HashSet<[u8; 32]>);

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A time, written as a string of digits.
fn time(value: &Value, key: &str) -> Option<u64> {
    let text = text(value, key);
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn is_hex(text: &str, digits: std::ops::RangeInclusive<usize>) -> bool {
    text.strip_prefix("0x")
        .is_some_and(|own| digits.contains(&own.len()) && own.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The form of a test network.
fn form(version: u64, name: &str) -> Option<Form> {
    Form::ALL.into_iter().map(|(_, form)| form).find(|form| form.version == version && network(*form) == name)
}

/// What a payment is in the words of the version it is of; `asked`: one offer of the seller.
///
/// # Errors
/// One of the codes of x402.
pub(super) fn verify(taken: &Taken, payment: &Value, asked: &Value, now: u64) -> Result<Good, &'static str> {
    let version = payment.get("x402Version").and_then(Value::as_u64);
    let version = version.filter(|own| matches!(own, 1 | 2)).ok_or("invalid_x402_version")?;
    let amount_name = if version == 1 { "maxAmountRequired" } else { "amount" };
    let amount = asked.get(amount_name).and_then(Value::as_str).and_then(Units::whole);
    let amount = amount.ok_or("invalid_payment_requirements")?;
    // Version 2 says which offer it takes.
    let own = if version == 1 { payment } else { payment.get("accepted").ok_or("invalid_payload")? };
    if version == 2
        && ["scheme", "network", "amount", "asset", "payTo"].iter().any(|key| own.get(key) != asked.get(key))
    {
        return Err("invalid_payment_requirements");
    }
    if text(own, "scheme") != "exact" || text(asked, "scheme") != "exact" {
        return Err("unsupported_scheme");
    }
    let name = text(own, "network");
    let form = form(version, name).filter(|_| name == text(asked, "network")).ok_or("invalid_network")?;
    let payload = payment.get("payload").filter(|own| own.is_object()).ok_or("invalid_payload")?;
    let (payer, once) = match form.rail {
        Rail::Evm => evm(payload, asked, amount, now)?,
        Rail::Solana => solana(payload)?,
    };
    if taken.0.contains(&once) {
        return Err("invalid_transaction_state");
    }
    Ok(Good { payer, network: name.to_owned(), amount: amount.to_string(), once })
}

/// An authorization of EIP-3009.
fn evm(payload: &Value, asked: &Value, amount: Units, now: u64) -> Result<(String, [u8; 32]), &'static str> {
    let own = payload.get("authorization").filter(|own| own.is_object()).ok_or("invalid_payload")?;
    let address = |value: &Value, key: &str| Address::evm(text(value, key)).ok();
    let from = address(own, "from").ok_or("invalid_payload")?;
    let nonce = text(own, "nonce").to_ascii_lowercase();
    if !is_hex(&nonce, 64..=64) {
        return Err("invalid_payload");
    }
    // One key signs 65 bytes; a contract's signature may be longer.
    if !is_hex(text(payload, "signature"), 130..=4096) {
        return Err("invalid_exact_evm_payload_signature");
    }
    let payee = address(asked, "payTo").ok_or("invalid_payment_requirements")?;
    if address(own, "to") != Some(payee) {
        return Err("invalid_exact_evm_payload_recipient_mismatch");
    }
    if Units::whole(text(own, "value")) != Some(amount) {
        return Err("invalid_exact_evm_payload_authorization_value");
    }
    if time(own, "validAfter").is_none_or(|after| after > now) {
        return Err("invalid_exact_evm_payload_authorization_valid_after");
    }
    if time(own, "validBefore").is_none_or(|before| before < now.saturating_add(LEFT)) {
        return Err("invalid_exact_evm_payload_authorization_valid_before");
    }
    let token = address(asked, "asset").ok_or("invalid_payment_requirements")?;
    let once = Sha256::digest(format!("{} {} {nonce}", token.text(), from.text())).into();
    Ok((from.checked(), once))
}

/// A transaction, which is not looked into.
fn solana(payload: &Value) -> Result<(String, [u8; 32]), &'static str> {
    let bytes =
        bytes(text(payload, "transaction")).filter(|own| (64..=MOST_TRANSACTION).contains(&own.len()));
    let bytes = bytes.ok_or("invalid_payload")?;
    Ok((String::new(), Sha256::digest(bytes).into()))
}

/// Takes a payment: its receipt.
///
/// # Errors
/// When it was taken before, or there were too many.
pub(super) fn settle(taken: &mut Taken, good: &Good) -> Result<Value, &'static str> {
    if taken.0.len() >= MOST {
        return Err("unexpected_settle_error");
    }
    if !taken.0.insert(good.once) {
        return Err("invalid_transaction_state");
    }
    let sum: [u8; 32] =
        Sha256::digest([b"policy demo-seller, no chain: ".as_slice(), &good.once].concat()).into();
    Ok(json!({
        "success": true, "transaction": format!("0x{}", crate::pay::hex(&sum)), "network": good.network, "payer": good.payer,
        "amount": good.amount,
    }))
}

/// The answer of `/verify`.
pub(super) fn verified(result: &Result<Good, &'static str>) -> Value {
    match result {
        Ok(good) => json!({ "isValid": true, "payer": good.payer }),
        Err(code) => json!({ "isValid": false, "invalidReason": code }),
    }
}

/// The answer of `/settle` when nothing was taken.
pub(super) fn refused(code: &str) -> Value {
    json!({ "success": false, "errorReason": code, "transaction": "", "network": "" })
}

/// The answer of `/supported`.
pub(super) fn supported() -> Value {
    let kinds: Vec<Value> = Form::ALL
        .into_iter()
        .map(|(_, form)| json!({ "x402Version": form.version, "scheme": "exact", "network": network(form) }))
        .collect();
    json!({ "kinds": kinds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seller::offer::{Offer, PRICE, address};

    const NOW: u64 = 1_800_000_000;

    fn asked(version: u64) -> (Value, Form) {
        let form = Form { version, rail: Rail::Evm };
        (Offer::honest(form).written(version, "http://127.0.0.1:1/v/honest/x/data"), form)
    }

    fn payment(version: u64, change: &[(&str, Value)]) -> Value {
        let (asked, form) = asked(version);
        let mut own = json!({ "from": address("buyer", Rail::Evm), "to": asked["payTo"], "value": PRICE.to_string(),
            "validAfter": "0", "validBefore": (NOW + 60).to_string(), "nonce": format!("0x{}", "Ab".repeat(32)) });
        for (key, value) in change {
            own[*key] = value.clone();
        }
        let payload = json!({ "signature": format!("0x{}", "1".repeat(130)), "authorization": own });
        match version {
            1 => json!({ "x402Version": 1, "scheme": "exact", "network": network(form), "payload": payload }),
            _ => json!({ "x402Version": 2, "accepted": asked, "payload": payload }),
        }
    }

    #[test]
    fn a_payment_is_taken_once() {
        for version in [1, 2] {
            let (asked, _) = asked(version);
            let mut taken = Taken::default();
            let good = verify(&taken, &payment(version, &[]), &asked, NOW).unwrap();
            let receipt = settle(&mut taken, &good).unwrap();
            assert_eq!((&receipt["success"], &receipt["amount"]), (&json!(true), &json!("10000")));
            let spelled = [("nonce", json!(format!("0x{}", "aB".repeat(32))))];
            assert_eq!(
                verify(&taken, &payment(version, &spelled), &asked, NOW),
                Err("invalid_transaction_state")
            );
            assert_eq!(settle(&mut taken, &good), Err("invalid_transaction_state"));
        }
    }

    #[test]
    fn what_is_not_what_was_asked_for_is_named() {
        let taken = Taken::default();
        for version in [1, 2] {
            let (asked, _) = asked(version);
            for (key, value, code) in [
                (
                    "to",
                    json!(address("somebody else", Rail::Evm)),
                    "invalid_exact_evm_payload_recipient_mismatch",
                ),
                ("value", json!("10001"), "invalid_exact_evm_payload_authorization_value"),
                ("value", json!(10000), "invalid_exact_evm_payload_authorization_value"),
                (
                    "validAfter",
                    json!((NOW + 1).to_string()),
                    "invalid_exact_evm_payload_authorization_valid_after",
                ),
                (
                    "validBefore",
                    json!((NOW + 5).to_string()),
                    "invalid_exact_evm_payload_authorization_valid_before",
                ),
                ("validBefore", json!("+9999999999"), "invalid_exact_evm_payload_authorization_valid_before"),
                ("validBefore", json!(""), "invalid_exact_evm_payload_authorization_valid_before"),
                ("nonce", json!("0x12"), "invalid_payload"),
                ("from", json!("nobody"), "invalid_payload"),
            ] {
                assert_eq!(
                    verify(&taken, &payment(version, &[(key, value.clone())]), &asked, NOW),
                    Err(code),
                    "{key} {value}"
                );
            }
            let mut other = payment(version, &[]);
            other["payload"]["signature"] = json!("0x11");
            assert_eq!(verify(&taken, &other, &asked, NOW), Err("invalid_exact_evm_payload_signature"));
            other["payload"] = json!({});
            assert_eq!(verify(&taken, &other, &asked, NOW), Err("invalid_payload"));
            other["x402Version"] = json!(3);
            assert_eq!(verify(&taken, &other, &asked, NOW), Err("invalid_x402_version"));
        }
        let mut real = asked(1).0;
        real["network"] = json!("base");
        let mut paid = payment(1, &[]);
        paid["network"] = json!("base");
        assert_eq!(verify(&taken, &paid, &real, NOW), Err("invalid_network"), "test networks alone");
        let mut cheap = payment(2, &[]);
        cheap["accepted"]["amount"] = json!("1");
        assert_eq!(verify(&taken, &cheap, &asked(2).0, NOW), Err("invalid_payment_requirements"));
    }
}
