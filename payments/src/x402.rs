//! Messages of x402, versions 1 and 2: what a seller asks for, what a client signed, what was settled.
//!
//! INVARIANT: each version's own field for the amount is read, and two that differ are an error; what was signed is compared with what
//! was offered, never with what a message claims about itself. A message that is not understood is an error.

use crate::address::Address;
use crate::call::Effect;
use crate::money::Units;
use crate::network::{Family, Network};
use crate::payment::{Fields, Kind, Payment, Resource, Scheme, Wrong, amount, domain, resource, unhex};
use crate::strict;
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

/// Longest header or body, bytes.
const LONGEST: usize = 64 * 1024;
/// Most offers in one challenge.
const MOST: usize = 64;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a seller asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// The version, 1 or 2.
    pub version: u64,
    /// What can be paid, each as a payment.
    pub offers: Vec<Offer>,
    /// Why others cannot be used.
    pub unread: Vec<Wrong>,
}

/// One way to pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The payment it asks for. Its resource is what the seller says that it is.
    pub payment: Payment,
}

/// What a client signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The version, 1 or 2.
    pub version: u64,
    /// How it pays.
    pub scheme: Scheme,
    /// Where.
    pub network: Network,
    /// The offer that it takes; version 1 does not say.
    pub accepted: Option<Payment>,
    /// What the signature promises; none where it is of a kind that cannot be read.
    pub promised: Option<Payment>,
}

/// What became of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// It was settled.
    pub success: bool,
    /// The transaction.
    pub transaction: String,
    /// How much was moved, where that is said.
    pub units: Option<Units>,
    /// Why not.
    pub error: Option<String>,
}

/// The body of a 402 of version 1.
///
/// # Errors
/// When it is none.
pub fn challenge_of_body(body: &[u8]) -> Result<Challenge, Wrong> {
    challenge(&json(body)?, 1)
}

/// The header `PAYMENT-REQUIRED` of version 2.
///
/// # Errors
/// When it is none.
pub fn challenge_of_header(header: &str) -> Result<Challenge, Wrong> {
    challenge(&decoded(header)?, 2)
}

/// The headers `X-PAYMENT` (version 1) and `PAYMENT-SIGNATURE` (version 2).
///
/// # Errors
/// When it is none.
pub fn payment_of_header(header: &str, version: u64) -> Result<Signed, Wrong> {
    signed(&decoded(header)?, version)
}

/// The headers `X-PAYMENT-RESPONSE` and `PAYMENT-RESPONSE`.
///
/// # Errors
/// When it is none.
pub fn settlement_of_header(header: &str) -> Result<Settlement, Wrong> {
    let value = decoded(header)?;
    let success = value.get("success").and_then(Value::as_bool);
    let text = |key: &str| {
        value.get(key).and_then(Value::as_str).map(|text| text.chars().take(256).collect::<String>())
    };
    let units = match value.get("amount") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => {
            Some(Units::whole(text).ok_or_else(|| Wrong::new("amount", "not a whole number"))?)
        }
        Some(_) => return Err(Wrong::new("amount", "it has to be a string")),
    };
    Ok(Settlement {
        success: success.ok_or_else(|| Wrong::new("success", "it has to be true or false"))?,
        transaction: text("transaction").or_else(|| text("txHash")).unwrap_or_default(),
        units,
        error: text("errorReason").or_else(|| text("error")),
    })
}

fn json(text: &[u8]) -> Result<Value, Wrong> {
    if text.len() > LONGEST {
        return Err(Wrong::new("message", format!("it is longer than {LONGEST} bytes")));
    }
    strict::parse(text).map_err(|why| Wrong::new("message", why))
}

fn decoded(header: &str) -> Result<Value, Wrong> {
    if header.len() > LONGEST {
        return Err(Wrong::new("header", format!("it is longer than {LONGEST} bytes")));
    }
    let bytes = BASE64.decode(header.trim()).map_err(|_| Wrong::new("header", "not base64"))?;
    json(&bytes)
}

fn version(value: &Value, wanted: u64) -> Result<(), Wrong> {
    match value.get("x402Version").and_then(Value::as_u64) {
        Some(version) if version == wanted => Ok(()),
        // SECURITY: the fields of one version under the name of the other are what two programs read differently.
        _ => Err(Wrong::new("x402Version", format!("it has to be {wanted} here"))),
    }
}

fn challenge(value: &Value, wanted: u64) -> Result<Challenge, Wrong> {
    version(value, wanted)?;
    let Some(Value::Array(accepts)) = value.get("accepts") else {
        return Err(Wrong::new("accepts", "it has to be a list"));
    };
    if accepts.len() > MOST {
        return Err(Wrong::new("accepts", format!("more than {MOST} offers")));
    }
    let named = match wanted {
        2 => value.get("resource").and_then(|own| own.get("url")).and_then(Value::as_str),
        _ => None,
    };
    let (mut offers, mut unread) = (Vec::new(), Vec::new());
    for (at, offer) in accepts.iter().enumerate() {
        match requirement(offer, wanted, named) {
            Ok(payment) => offers.push(Offer { payment }),
            Err(wrong) => unread.push(Wrong::new(&format!("accepts[{at}].{}", wrong.field), wrong.why)),
        }
    }
    Ok(Challenge { version: wanted, offers, unread })
}

/// One requirement of a seller. Fields that are not known are the seller's own.
fn requirement(value: &Value, version: u64, named: Option<&str>) -> Result<Payment, Wrong> {
    let Value::Object(own) = value else { return Err(Wrong::new("", "it has to be an object")) };
    let keys: Vec<&str> = own.keys().map(String::as_str).collect();
    let fields = Fields::of(value, "", &keys)?;
    let network = fields.network("network")?;
    let mut payment = Payment::new(Kind::X402, network);
    payment.payee = Some(fields.address("payTo", &payment.network)?);
    payment.asset = Some(fields.address("asset", &payment.network)?);
    let scheme = fields.needed("scheme")?;
    payment.scheme =
        Some(Scheme::named(scheme).ok_or_else(|| fields.wrong("scheme", "not a scheme that is known"))?);
    let name = if version == 1 { "maxAmountRequired" } else { "amount" };
    if fields.value(name).is_none() {
        return Err(fields.wrong(name, "it is missing"));
    }
    payment.units = Some(amount(&fields)?);
    payment.lifetime = fields.count("maxTimeoutSeconds")?;
    let url = match version {
        1 => fields.text("resource")?,
        _ => named,
    };
    payment.resource = url.map(resource).transpose().map_err(|why| fields.wrong("resource", why))?;
    if let Some(extra) = fields.value("extra") {
        payment.domain = domain(extra)?;
    }
    Ok(payment)
}

fn signed(value: &Value, wanted: u64) -> Result<Signed, Wrong> {
    version(value, wanted)?;
    let payload = value.get("payload").filter(|own| own.is_object());
    let payload = payload.ok_or_else(|| Wrong::new("payload", "it has to be an object"))?;
    let accepted = match wanted {
        1 => None,
        _ => {
            let own = value.get("accepted").ok_or_else(|| Wrong::new("accepted", "it is missing"))?;
            let named = value.get("resource").and_then(|own| own.get("url")).and_then(Value::as_str);
            Some(requirement(own, 2, named)?)
        }
    };
    let (scheme, network) = match &accepted {
        Some(own) => (own.scheme.unwrap_or(Scheme::Exact), own.network.clone()),
        None => {
            let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
            (
                Scheme::named(text("scheme"))
                    .ok_or_else(|| Wrong::new("scheme", "not a scheme that is known"))?,
                Network::read(text("network")).ok_or_else(|| Wrong::new("network", "not a network"))?,
            )
        }
    };
    let promised = match network.family() {
        Family::Evm => promise(payload, &network)?,
        _ => None,
    };
    Ok(Signed { version: wanted, scheme, network, accepted, promised })
}

/// What a signature of Ethereum's kind promises.
fn promise(payload: &Value, network: &Network) -> Result<Option<Payment>, Wrong> {
    let part = |key: &str| payload.get(key).filter(|own| own.is_object());
    let (direct, permit2) = (part("authorization"), part("permit2Authorization"));
    let mut payment = Payment::new(Kind::Typed, network.clone());
    match (direct, permit2) {
        (Some(_), Some(_)) => Err(Wrong::new("payload", "it holds two authorizations")),
        (None, None) => Ok(None),
        (Some(own), None) => {
            let fields = Fields::of(
                own,
                "payload.authorization.",
                &["from", "to", "value", "validAfter", "validBefore", "nonce"],
            )?;
            payment.from = Some(fields.address("from", network)?);
            payment.payee = Some(fields.address("to", network)?);
            let units = fields.units("value")?;
            payment.units = Some(units.ok_or_else(|| fields.wrong("value", "it is missing"))?);
            payment.until = fields.count("validBefore")?;
            let nonce = fields.needed("nonce")?;
            if unhex(nonce).is_none_or(|bytes| bytes.len() != 32) {
                return Err(fields.wrong("nonce", "it has to be 32 bytes"));
            }
            payment.nonce = Some(nonce.to_ascii_lowercase());
            payment.function = Some("transferWithAuthorization".to_owned());
            Ok(Some(payment))
        }
        (None, Some(own)) => {
            let known = ["permitted", "from", "spender", "nonce", "deadline", "witness"];
            let fields = Fields::of(own, "payload.permit2Authorization.", &known)?;
            let inner = |key: &str, at: &'static str, known: &[&str]| {
                Fields::of(fields.value(key).unwrap_or(&Value::Null), at, known)
            };
            let permitted =
                inner("permitted", "payload.permit2Authorization.permitted.", &["token", "amount"])?;
            let witness =
                inner("witness", "payload.permit2Authorization.witness.", &["to", "validAfter", "extra"])?;
            payment.from = Some(fields.address("from", network)?);
            payment.payee = Some(witness.address("to", network)?);
            payment.asset = Some(permitted.address("token", network)?);
            let units = permitted.units("amount")?;
            let units = units.ok_or_else(|| permitted.wrong("amount", "it is missing"))?;
            payment.units = Some(units);
            payment.until = fields.count("deadline")?;
            payment.nonce = fields.text("nonce")?.map(str::to_owned);
            payment.contract = Some(fields.address("spender", network)?);
            payment.function = Some("permitTransferFrom".to_owned());
            payment.effect = Effect::Unknown;
            Ok(Some(payment))
        }
    }
}

impl Signed {
    /// The offer that it pays, out of those that the seller made.
    ///
    /// SECURITY: the one that is signed, not the first.
    ///
    /// # Errors
    /// Says what differs from every offer.
    pub fn offer<'c>(&self, challenge: &'c Challenge) -> Result<&'c Offer, Wrong> {
        if self.version != challenge.version {
            return Err(Wrong::new("x402Version", "the seller asked in another version"));
        }
        let mut first = None;
        for offer in &challenge.offers {
            match self.differs(&offer.payment) {
                None => return Ok(offer),
                Some(wrong) => {
                    first.get_or_insert(wrong);
                }
            }
        }
        Err(first.unwrap_or_else(|| Wrong::new("accepts", "the seller offered nothing that can be read")))
    }

    /// What differs from an offer.
    fn differs(&self, offer: &Payment) -> Option<Wrong> {
        let other = |field: &str| Some(Wrong::new(field, "it is not what the seller asked for"));
        if self.network != offer.network {
            return other("network");
        }
        if Some(self.scheme) != offer.scheme {
            return other("scheme");
        }
        if let Some(accepted) = &self.accepted {
            let pairs = [
                ("accepted.payTo", accepted.payee != offer.payee),
                ("accepted.asset", accepted.asset != offer.asset),
                ("accepted.amount", accepted.units != offer.units),
            ];
            if let Some((field, _)) = pairs.into_iter().find(|(_, differs)| *differs) {
                return other(field);
            }
        }
        let promised = self.promised.as_ref()?;
        if promised.payee != offer.payee {
            return other("payload: payee");
        }
        if promised.asset.is_some() && promised.asset != offer.asset {
            return other("payload: token");
        }
        match (self.scheme, promised.units, offer.units) {
            // The most that may be taken.
            (Scheme::Upto, Some(signed), Some(asked)) if signed <= asked => None,
            (_, signed, asked) if signed == asked => None,
            _ => other("payload: amount"),
        }
    }
}

impl Resource {
    /// Reads the address of something that is sold.
    ///
    /// # Errors
    /// Says why it is none.
    pub fn read(text: &str) -> Result<Resource, &'static str> {
        resource(text)
    }
}

impl Address {
    /// Reads an address that stands in a field.
    ///
    /// # Errors
    /// Names the field.
    pub fn field(text: &str, network: &Network, field: &str) -> Result<Address, Wrong> {
        Address::read(text, network).map_err(|bad| Wrong::new(field, bad.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const A: &str = "0x1111111111111111111111111111111111111111";
    const B: &str = "0x2222222222222222222222222222222222222222";
    const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

    fn header(value: &Value) -> String {
        BASE64.encode(value.to_string())
    }

    fn v1(amount: &str, to: &str) -> Value {
        json!({"scheme": "exact", "network": "base-sepolia", "maxAmountRequired": amount, "resource": "https://shop.example/data", "description": "d",
               "mimeType": "", "payTo": to, "maxTimeoutSeconds": 60, "asset": USDC, "extra": {"name": "USDC", "version": "2"}})
    }

    fn v2(amount: &str, to: &str) -> Value {
        json!({"scheme": "exact", "network": "eip155:84532", "amount": amount, "payTo": to, "maxTimeoutSeconds": 60, "asset": USDC, "extra": {"name": "USDC", "version": "2"}})
    }

    fn authorization(to: &str, value: &str) -> Value {
        json!({"from": A, "to": to, "value": value, "validAfter": "0", "validBefore": "1764600000", "nonce": format!("0x{}", "ab".repeat(32))})
    }

    #[test]
    fn both_versions_ask_for_the_same_payment() {
        let one = challenge_of_body(
            json!({"x402Version": 1, "error": "", "accepts": [v1("10000", B)]}).to_string().as_bytes(),
        )
        .unwrap();
        let text = json!({"x402Version": 2, "resource": {"url": "https://shop.example/data"}, "accepts": [v2("10000", B)]});
        let two = challenge_of_header(&header(&text)).unwrap();
        assert_eq!(one.offers, two.offers);
        assert_eq!(one.offers[0].payment.units, Some(Units::new(10_000)));
        // The other version's words, or both with two amounts.
        let mut both = v1("10000", B);
        both["amount"] = json!("1");
        for (version, offer) in [(1, v2("1", B)), (2, v1("1", B)), (1, both)] {
            let text = json!({"x402Version": version, "accepts": [offer]});
            let challenge = match version {
                1 => challenge_of_body(text.to_string().as_bytes()),
                _ => challenge_of_header(&header(&text)),
            };
            let challenge = challenge.unwrap();
            assert!(challenge.offers.is_empty() && challenge.unread.len() == 1, "{challenge:?}");
        }
        assert!(challenge_of_header(&header(&json!({"x402Version": 1, "accepts": []}))).is_err());
    }

    #[test]
    fn what_is_signed_is_compared_with_what_was_offered() {
        let text = json!({"x402Version": 2, "accepts": [v2("10", A), v2("10000", B)]});
        let offered = challenge_of_header(&header(&text)).unwrap();
        let pay = |accepted: Value, own: Value| {
            let text = json!({"x402Version": 2, "accepted": accepted, "payload": {"signature": "0x", "authorization": own}});
            payment_of_header(&header(&text), 2).unwrap().offer(&offered).map(|offer| offer.payment.units)
        };
        assert_eq!(pay(v2("10000", B), authorization(B, "10000")), Ok(Some(Units::new(10_000))));
        for (accepted, own) in [
            (v2("10", A), authorization(B, "10000")),
            (v2("10", A), authorization(A, "10000")),
            (v2("10000", B), authorization(A, "10000")),
            (v2("10001", B), authorization(B, "10001")),
        ] {
            assert!(pay(accepted, own).is_err());
        }
        let one =
            challenge_of_body(json!({"x402Version": 1, "accepts": [v1("10000", B)]}).to_string().as_bytes())
                .unwrap();
        let old = json!({"x402Version": 1, "scheme": "exact", "network": "base-sepolia", "payload": {"signature": "0x", "authorization": authorization(B, "10000")}});
        let signed = payment_of_header(&header(&old), 1).unwrap();
        assert!(signed.offer(&one).is_ok());
        assert!(signed.offer(&offered).is_err(), "another version");
    }

    #[test]
    fn permit2_and_what_cannot_be_read() {
        let own = json!({"permitted": {"token": USDC, "amount": "7"}, "from": A, "spender": A, "nonce": "1", "deadline": "9", "witness": {"to": B, "validAfter": "0"}});
        let mut upto = v2("10", B);
        upto["scheme"] = json!("upto");
        let text = |payload: Value| header(&json!({"x402Version": 2, "accepted": upto, "payload": payload}));
        let offered = challenge_of_header(&header(&json!({"x402Version": 2, "accepts": [upto]}))).unwrap();
        let signed = payment_of_header(&text(json!({"permit2Authorization": own})), 2).unwrap();
        assert!(signed.offer(&offered).is_ok(), "at most is not more than was asked");
        for bad in [
            json!({"authorization": authorization(B, "7"), "permit2Authorization": own}),
            json!({"authorization": {"from": A, "to": B, "value": 7}}),
            json!({"authorization": {"from": A, "to": B, "value": "7", "nonce": "0x1"}}),
            json!({"permit2Authorization": {"from": A}}),
        ] {
            assert!(payment_of_header(&text(bad), 2).is_err());
        }
        let other = payment_of_header(&text(json!({"transaction": "AAAA"})), 2).unwrap();
        assert_eq!(other.promised, None);
        for bad in
            ["", "%%%", "e30=", &"A".repeat(70_000), &BASE64.encode("{\"x402Version\":2,\"x402Version\":2}")]
        {
            assert!(payment_of_header(bad, 2).is_err());
            assert!(challenge_of_header(bad).is_err());
            assert!(settlement_of_header(bad).is_err());
        }
    }

    #[test]
    fn a_settlement_says_what_was_moved() {
        let text =
            json!({"success": true, "transaction": "0xaa", "network": "base", "payer": A, "amount": "7"});
        let settled = settlement_of_header(&header(&text)).unwrap();
        assert_eq!(
            (settled.success, settled.transaction.as_str(), settled.units),
            (true, "0xaa", Some(Units::new(7)))
        );
        assert!(settlement_of_header(&header(&json!({"success": "yes"}))).is_err());
        assert!(settlement_of_header(&header(&json!({"success": true, "amount": 7}))).is_err());
    }
}
