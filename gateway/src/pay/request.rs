//! What a question about a payment is made of.
//!
//! INVARIANT: a field that is not known here is an error: the seller's terms and what is meant for us are never taken for each other.

use crate::pay::{Refusal, text_of};
use policy_payments::ledger::MOST_KEY;
use serde_json::{Map, Value, json};

/// Longest wait for a person, seconds.
pub(crate) const MOST_WAIT: u64 = 3600;

/// A question about a payment.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The payment as policies see it.
    pub arguments: Value,
    /// The text that led to it.
    pub context: Option<String>,
    /// The hash of a text that was filed before.
    pub text: Option<[u8; 32]>,
    /// The name of the attempt.
    pub key: Option<String>,
    /// How long to wait for a person, seconds.
    pub wait: u64,
}

impl Request {
    /// As the MCP tool has it.
    ///
    /// # Errors
    /// The field that cannot be used.
    pub fn of_tool(given: &Map<String, Value>) -> Result<Request, Refusal> {
        const OWN: [&str; 6] =
            ["payment", "observed402PayTo", "context", "contextSha256", "wait_seconds", "idempotency_key"];
        if let Some(stray) = given.keys().find(|key| !OWN.contains(&key.as_str())) {
            let stray: String = stray.chars().filter(|c| !c.is_control()).take(60).collect();
            return Err(Refusal::input(&stray, format!("not a field here; known: {}", OWN.join(", "))));
        }
        let payment = match given.get("payment") {
            Some(Value::Object(own)) => own.clone(),
            None | Some(Value::Null) => return Err(Refusal::input("payment", "it is missing")),
            Some(_) => return Err(Refusal::input("payment", "it has to be an object")),
        };
        // As clients of the HTTP API do it themselves.
        let mut given = given.clone();
        if let Some(Value::String(text)) = given.get_mut("context") {
            *text = text.replace('\0', "\u{fffd}");
        }
        Request::of(payment, &given, "idempotency_key")
    }

    /// As the HTTP API has it: the fields of the payment beside the others.
    ///
    /// # Errors
    /// The field that cannot be used.
    pub fn of_body(given: &Map<String, Value>) -> Result<Request, Refusal> {
        const BESIDE: [&str; 6] =
            ["sessionId", "observed402PayTo", "context", "contextSha256", "waitSeconds", "idempotencyKey"];
        let mut payment = given.clone();
        for name in BESIDE {
            payment.remove(name);
        }
        Request::of(payment, given, "idempotencyKey")
    }

    fn of(payment: Map<String, Value>, given: &Map<String, Value>, key: &str) -> Result<Request, Refusal> {
        if payment.get("kind").is_none_or(Value::is_null) {
            return Err(Refusal::input("kind", "it is missing"));
        }
        let mut arguments = json!({ "payment": payment });
        if let (Some(all), Some(seen)) = (arguments.as_object_mut(), given.get("observed402PayTo")) {
            all.insert("observed402PayTo".to_owned(), seen.clone());
        }
        // ORDER: what is wrong with the payment is said first.
        match policy_hosts::facts::payment::payment(&arguments) {
            Some(Err(wrong)) => return Err(Refusal::Input { field: wrong.field, why: wrong.why }),
            None => return Err(Refusal::input("kind", "no such kind of payment")),
            Some(Ok(_)) => {}
        }
        let name = text_of(given, key)?.map(str::to_owned);
        if name.as_ref().is_some_and(|name| name.is_empty() || name.len() > MOST_KEY) {
            return Err(Refusal::input(key, format!("it has to have 1 to {MOST_KEY} bytes")));
        }
        let text = match text_of(given, "contextSha256")? {
            None => None,
            Some(hex) => Some(
                hash(hex)
                    .ok_or_else(|| Refusal::input("contextSha256", "it has to be 64 hexadecimal digits"))?,
            ),
        };
        let context = text_of(given, "context")?.map(str::to_owned);
        if context.as_ref().is_some_and(|text| text.contains('\0')) {
            return Err(Refusal::input("context", "it holds a NUL character"));
        }
        let wait = match given.get("wait_seconds").or_else(|| given.get("waitSeconds")) {
            None | Some(Value::Null) => 0,
            Some(value) => value.as_u64().filter(|seconds| *seconds <= MOST_WAIT).ok_or_else(|| {
                Refusal::input("wait_seconds", format!("it has to be a whole number up to {MOST_WAIT}"))
            })?,
        };
        Ok(Request { arguments, context, text, key: name, wait })
    }
}

fn hash(hex: &str) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payment() -> Value {
        json!({"kind": "x402_payment", "payTo": "0x1111111111111111111111111111111111111111", "amountAtomic": "50000",
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "network": "eip155:84532", "scheme": "exact",
            "resourceUrl": "https://shop.example/dataset"})
    }

    fn field(given: Value) -> String {
        match Request::of_tool(given.as_object().unwrap()) {
            Err(Refusal::Input { field, .. }) => field,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_forms_are_one_question() {
        let tool = json!({"payment": payment(), "idempotency_key": "k", "observed402PayTo": null});
        let mut body = payment();
        body["idempotencyKey"] = json!("k");
        body["sessionId"] = json!("s");
        body["observed402PayTo"] = Value::Null;
        assert_eq!(Request::of_tool(tool.as_object().unwrap()), Request::of_body(body.as_object().unwrap()));
        body["context"] = json!("a\u{0}b");
        assert!(Request::of_body(body.as_object().unwrap()).is_err(), "a client has to replace it");
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let with = |key: &str, value: Value| {
            let mut all = json!({"payment": payment()});
            all[key] = value;
            field(all)
        };
        assert_eq!(field(json!({})), "payment");
        assert_eq!(field(json!({"payment": []})), "payment");
        assert_eq!(field(json!({"payment": {}})), "kind");
        assert_eq!(field(json!({"payment": {"kind": "gift"}})), "kind");
        assert_eq!(with("other", json!(1)), "other");
        assert_eq!(with("idempotency_key", json!("")), "idempotency_key");
        assert_eq!(with("idempotency_key", json!(7)), "idempotency_key");
        assert_eq!(with("contextSha256", json!("zz")), "contextSha256");
        assert_eq!(with("context", json!(["a"])), "context");
        assert_eq!(with("wait_seconds", json!(-1)), "wait_seconds");
        assert_eq!(with("observed402PayTo", json!("x")), "observed402PayTo");
    }
}
