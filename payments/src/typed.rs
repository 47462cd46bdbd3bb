//! Typed data (EIP-712) that promises money.
//!
//! INVARIANT: the fields of a known message are those of its standard, in their order, or it is refused: else the signer would sign
//! something other than what was judged. A message that is not known promises nothing that is known.

use crate::address::Address;
use crate::call::{Call, Effect};
use crate::money::Units;
use crate::network::Network;
use crate::payment::{Wrong, unhex};
use serde_json::{Map, Value};

/// Most types and fields that a message may have.
const MOST: usize = 256;

/// A promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promise {
    pub(crate) network: Network,
    /// Whose message it is.
    pub(crate) contract: Address,
    pub(crate) call: Call,
    pub(crate) nonce: Option<String>,
    pub(crate) until: Option<u64>,
    pub(crate) from: Option<Address>,
    pub(crate) domain: Option<(String, String)>,
}

/// Messages that are known: name and fields.
const KNOWN: [(&str, &[(&str, &str)]); 9] = [
    ("TransferWithAuthorization", AUTHORIZATION),
    ("ReceiveWithAuthorization", AUTHORIZATION),
    (
        "Permit",
        &[
            ("owner", "address"),
            ("spender", "address"),
            ("value", "uint256"),
            ("nonce", "uint256"),
            ("deadline", "uint256"),
        ],
    ),
    ("PermitSingle", &[("details", "PermitDetails"), ("spender", "address"), ("sigDeadline", "uint256")]),
    (
        "PermitDetails",
        &[("token", "address"), ("amount", "uint160"), ("expiration", "uint48"), ("nonce", "uint48")],
    ),
    (
        "PermitTransferFrom",
        &[
            ("permitted", "TokenPermissions"),
            ("spender", "address"),
            ("nonce", "uint256"),
            ("deadline", "uint256"),
        ],
    ),
    (
        "PermitWitnessTransferFrom",
        &[
            ("permitted", "TokenPermissions"),
            ("spender", "address"),
            ("nonce", "uint256"),
            ("deadline", "uint256"),
            ("witness", "Witness"),
        ],
    ),
    ("TokenPermissions", &[("token", "address"), ("amount", "uint256")]),
    ("Witness", &[("to", "address"), ("validAfter", "uint256")]),
];

const AUTHORIZATION: &[(&str, &str)] = &[
    ("from", "address"),
    ("to", "address"),
    ("value", "uint256"),
    ("validAfter", "uint256"),
    ("validBefore", "uint256"),
    ("nonce", "bytes32"),
];

/// Reads typed data.
pub(crate) fn read(value: &Value) -> Result<Promise, Wrong> {
    let Value::Object(all) = value else { return Err(Wrong::new("typedData", "it has to be an object")) };
    let part = |key: &str| match all.get(key) {
        Some(Value::Object(own)) => Ok(own),
        Some(_) => Err(Wrong::new(&format!("typedData.{key}"), "it has to be an object")),
        None => Err(Wrong::new(&format!("typedData.{key}"), "it is missing")),
    };
    let (types, domain, message) = (part("types")?, part("domain")?, part("message")?);
    let Some(Value::String(primary)) = all.get("primaryType") else {
        return Err(Wrong::new("typedData.primaryType", "it has to be a string"));
    };
    if let Some(stray) =
        all.keys().find(|key| !["types", "domain", "message", "primaryType"].contains(&key.as_str()))
    {
        return Err(Wrong::new(&format!("typedData.{stray}"), "not a field of typed data"));
    }
    let mut promise = from_domain(domain)?;
    let reader = Reader { types, at: "typedData.message" };
    match primary.as_str() {
        "TransferWithAuthorization" | "ReceiveWithAuthorization" => {
            reader.check(primary, message)?;
            let until = reader.number(message, "validBefore")?;
            promise.from = Some(reader.address(message, "from")?);
            let effect = Effect::Moves {
                from: promise.from.clone(),
                to: reader.address(message, "to")?,
                units: reader.units(message, "value")?,
                until: Some(until),
            };
            promise.until = Some(seconds(until));
            promise.nonce = Some(reader.word(message, "nonce")?);
            let function = match primary.as_str() {
                "TransferWithAuthorization" => "transferWithAuthorization",
                _ => "receiveWithAuthorization",
            };
            promise.call = Call { function: function.to_owned(), effect };
        }
        "Permit" => {
            reader.check(primary, message)?;
            let effect = Effect::Grants {
                spender: reader.address(message, "spender")?,
                units: reader.units(message, "value")?,
                more: false,
            };
            promise.from = Some(reader.address(message, "owner")?);
            promise.until = Some(seconds(reader.number(message, "deadline")?));
            promise.nonce = Some(reader.number(message, "nonce")?.to_string());
            promise.call = Call { function: "permit".to_owned(), effect };
        }
        "PermitSingle" => {
            reader.check(primary, message)?;
            let details = reader.object(message, "details", "PermitDetails")?;
            let amount = reader.units(details, "amount")?;
            let unlimited = amount.bytes().get(12).is_some_and(|byte| *byte >= 0x80);
            let effect = Effect::GrantsOf {
                token: reader.address(details, "token")?,
                spender: reader.address(message, "spender")?,
                // 160 bits there: their upper half stands for "without limit".
                units: if unlimited { Units::MAX } else { amount },
            };
            promise.until = Some(seconds(reader.number(details, "expiration")?));
            promise.call = Call { function: "permit2Approve".to_owned(), effect };
        }
        "PermitTransferFrom" | "PermitWitnessTransferFrom" => {
            reader.check(primary, message)?;
            let permitted = reader.object(message, "permitted", "TokenPermissions")?;
            let spender = reader.address(message, "spender")?;
            let to = match primary.as_str() {
                "PermitWitnessTransferFrom" => {
                    let witness = reader.object(message, "witness", "Witness")?;
                    Some(reader.address(witness, "to")?)
                }
                _ => None,
            };
            let (token, units) = (reader.address(permitted, "token")?, reader.units(permitted, "amount")?);
            promise.until = Some(seconds(reader.number(message, "deadline")?));
            promise.nonce = Some(reader.number(message, "nonce")?.to_string());
            // Without a witness the spender may send it to whom he likes: he is the payee.
            let until = promise.until.map(Units::new);
            promise.contract = token;
            promise.call = Call {
                function: "permitTransferFrom".to_owned(),
                effect: Effect::Moves { from: None, to: to.unwrap_or(spender), units, until },
            };
        }
        _ => {
            let name: String = primary.chars().filter(char::is_ascii_alphanumeric).take(60).collect();
            promise.call = Call { function: format!("sign {name}"), effect: Effect::Unknown };
        }
    }
    Ok(promise)
}

fn seconds(units: Units) -> u64 {
    units.to_string().parse().unwrap_or(u64::MAX)
}

fn from_domain(domain: &Map<String, Value>) -> Result<Promise, Wrong> {
    let text = |key: &str| match domain.get(key) {
        None => Ok(None),
        Some(Value::String(text)) if text.len() <= 256 => Ok(Some(text.clone())),
        Some(_) => Err(Wrong::new(&format!("typedData.domain.{key}"), "it has to be a string")),
    };
    let chain = domain.get("chainId").and_then(units).filter(|chain| *chain != Units::ZERO);
    let chain = chain.ok_or_else(|| Wrong::new("typedData.domain.chainId", "it has to be a whole number"))?;
    let network = Network::read(&format!("eip155:{chain}"));
    let network =
        network.ok_or_else(|| Wrong::new("typedData.domain.chainId", "no such number of a chain"))?;
    let contract = text("verifyingContract")?;
    let contract =
        contract.ok_or_else(|| Wrong::new("typedData.domain.verifyingContract", "it is missing"))?;
    let contract = Address::evm(&contract)
        .map_err(|bad| Wrong::new("typedData.domain.verifyingContract", bad.to_string()))?;
    let names = match (text("name")?, text("version")?) {
        (None, None) => None,
        (name, version) => Some((name.unwrap_or_default(), version.unwrap_or_default())),
    };
    let call = Call { function: String::new(), effect: Effect::Unknown };
    Ok(Promise { network, contract, call, nonce: None, until: None, from: None, domain: names })
}

struct Reader<'a> {
    types: &'a Map<String, Value>,
    at: &'static str,
}

impl<'a> Reader<'a> {
    fn wrong(&self, field: &str, why: &str) -> Wrong {
        Wrong::new(&format!("{}.{field}", self.at), why)
    }

    /// Whether a type and its value have the fields of the standard.
    fn check(&self, name: &str, value: &Map<String, Value>) -> Result<(), Wrong> {
        let at = format!("typedData.types.{name}");
        let known = KNOWN.iter().find(|(known, _)| *known == name);
        let (_, fields) = known.ok_or_else(|| Wrong::new(&at, "not a type that is known"))?;
        let Some(Value::Array(written)) = self.types.get(name).filter(|_| self.types.len() <= MOST) else {
            return Err(Wrong::new(&at, "it is missing"));
        };
        let same = written.len() == fields.len()
            && written.iter().zip(*fields).all(|(written, (name, kind))| {
                written.get("name").and_then(Value::as_str) == Some(name)
                    && written.get("type").and_then(Value::as_str) == Some(kind)
            });
        if !same {
            return Err(Wrong::new(&at, "its fields are not those of the standard"));
        }
        match value.keys().find(|key| !fields.iter().any(|(name, _)| name == key)) {
            Some(stray) => Err(self.wrong(stray, "not a field of this message")),
            None => Ok(()),
        }
    }

    fn object(
        &self,
        own: &'a Map<String, Value>,
        field: &str,
        kind: &str,
    ) -> Result<&'a Map<String, Value>, Wrong> {
        let Some(Value::Object(inner)) = own.get(field) else {
            return Err(self.wrong(field, "it has to be an object"));
        };
        self.check(kind, inner)?;
        Ok(inner)
    }

    fn address(&self, own: &Map<String, Value>, field: &str) -> Result<Address, Wrong> {
        let text = own.get(field).and_then(Value::as_str);
        let text = text.ok_or_else(|| self.wrong(field, "it has to be an address"))?;
        Address::evm(text).map_err(|bad| self.wrong(field, &bad.to_string()))
    }

    /// Money: a string, since a number of JSON may have lost digits.
    fn units(&self, own: &Map<String, Value>, field: &str) -> Result<Units, Wrong> {
        let value = own.get(field).filter(|value| value.is_string()).and_then(units);
        value.ok_or_else(|| self.wrong(field, "it has to be a string, a whole number of smallest units"))
    }

    /// A time or a count.
    fn number(&self, own: &Map<String, Value>, field: &str) -> Result<Units, Wrong> {
        let value = own.get(field).and_then(units);
        value.ok_or_else(|| self.wrong(field, "it has to be a whole number"))
    }

    fn word(&self, own: &Map<String, Value>, field: &str) -> Result<String, Wrong> {
        let text = own
            .get(field)
            .and_then(Value::as_str)
            .filter(|text| unhex(text).is_some_and(|bytes| bytes.len() == 32));
        text.map(str::to_ascii_lowercase).ok_or_else(|| self.wrong(field, "it has to be 32 bytes"))
    }
}

/// A whole number: of JSON, of decimal digits, or of hexadecimal ones.
fn units(value: &Value) -> Option<Units> {
    match value {
        Value::Number(number) => number.as_u64().filter(|number| *number <= 1 << 53).map(Units::new),
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) if (1..=64).contains(&digits.len()) => {
                let bytes = unhex(&format!("0x{digits:0>64}"))?;
                bytes.try_into().ok().map(Units::of_bytes)
            }
            Some(_) => None,
            None => Units::whole(text),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const A: &str = "0x1111111111111111111111111111111111111111";
    const B: &str = "0x2222222222222222222222222222222222222222";
    const USDC: &str = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";

    fn types(names: &[&str]) -> Value {
        let all = names.iter().map(|name| {
            let (_, fields) = KNOWN.iter().find(|(known, _)| known == name).unwrap();
            let fields: Vec<Value> =
                fields.iter().map(|(name, kind)| json!({"name": name, "type": kind})).collect();
            ((*name).to_owned(), Value::Array(fields))
        });
        Value::Object(all.collect())
    }

    fn transfer() -> Value {
        json!({
            "types": types(&["TransferWithAuthorization"]),
            "primaryType": "TransferWithAuthorization",
            "domain": {"name": "USDC", "version": "2", "chainId": 84532, "verifyingContract": USDC},
            "message": {"from": A, "to": B, "value": "50000", "validAfter": 0, "validBefore": "1764600000", "nonce": format!("0x{}", "ab".repeat(32))},
        })
    }

    #[test]
    fn an_authorization_is_read() {
        let promise = read(&transfer()).unwrap();
        assert_eq!(promise.network.name(), "eip155:84532");
        assert_eq!(
            (promise.until, promise.call.function.as_str()),
            (Some(1_764_600_000), "transferWithAuthorization")
        );
        let Effect::Moves { to, units, .. } = promise.call.effect else { panic!() };
        assert_eq!((to.text(), units), (B, Units::new(50_000)));
        assert_eq!(promise.domain, Some(("USDC".to_owned(), "2".to_owned())));
    }

    #[test]
    fn what_a_signer_would_read_otherwise_is_refused() {
        type Change = fn(&mut Value);
        let changes: [(&str, Change); 9] = [
            ("typedData.types.TransferWithAuthorization", |data| {
                data["types"]["TransferWithAuthorization"].as_array_mut().unwrap().swap(0, 1);
            }),
            ("typedData.types.TransferWithAuthorization", |data| {
                data["types"]["TransferWithAuthorization"][2]["type"] = json!("uint128");
            }),
            ("typedData.types.TransferWithAuthorization", |data| {
                data["types"].as_object_mut().unwrap().clear();
            }),
            ("typedData.message.Value", |data| data["message"]["Value"] = json!("1")),
            ("typedData.message.value", |data| data["message"]["value"] = json!(50000)),
            ("typedData.message.value", |data| data["message"]["value"] = json!("1e9")),
            ("typedData.message.nonce", |data| data["message"]["nonce"] = json!("0xab")),
            ("typedData.domain.chainId", |data| data["domain"]["chainId"] = json!("x")),
            ("typedData.extra", |data| data["extra"] = json!(1)),
        ];
        for (field, change) in changes {
            let mut data = transfer();
            change(&mut data);
            assert_eq!(read(&data).unwrap_err().field, field);
        }
    }

    #[test]
    fn permits_are_read() {
        let permit = json!({
            "types": types(&["Permit"]),
            "primaryType": "Permit",
            "domain": {"chainId": "0x14a34", "verifyingContract": USDC},
            "message": {"owner": A, "spender": B, "value": "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "nonce": 0, "deadline": "1"},
        });
        let Effect::Grants { units, .. } = read(&permit).unwrap().call.effect else { panic!() };
        assert!(units.is_unlimited());
        let permit2 = json!({
            "types": types(&["PermitWitnessTransferFrom", "TokenPermissions", "Witness"]),
            "primaryType": "PermitWitnessTransferFrom",
            "domain": {"name": "Permit2", "chainId": 8453, "verifyingContract": "0x000000000022d473030f116ddee9f6b43ac78ba3"},
            "message": {"permitted": {"token": USDC, "amount": "7"}, "spender": A, "nonce": "1", "deadline": "9", "witness": {"to": B, "validAfter": "0"}},
        });
        let promise = read(&permit2).unwrap();
        assert_eq!(promise.contract.text(), USDC);
        let Effect::Moves { to, units, .. } = promise.call.effect else { panic!() };
        assert_eq!((to.text(), units), (B, Units::new(7)));
        let single = json!({
            "types": types(&["PermitSingle", "PermitDetails"]),
            "primaryType": "PermitSingle",
            "domain": {"chainId": 8453, "verifyingContract": "0x000000000022d473030f116ddee9f6b43ac78ba3"},
            "message": {"details": {"token": USDC, "amount": "1461501637330902918203684832716283019655932542975", "expiration": "9", "nonce": "0"}, "spender": B, "sigDeadline": "9"},
        });
        let Effect::GrantsOf { units, token, .. } = read(&single).unwrap().call.effect else { panic!() };
        assert!(units.is_unlimited() && token.text() == USDC);
        let mut other = permit;
        other["primaryType"] = json!("Order");
        assert_eq!(read(&other).unwrap().call.function, "sign Order");
    }
}
