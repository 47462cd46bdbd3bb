//! What a seller asks for, and how both versions of x402 write it.
//!
//! INVARIANT: an honest offer names a test network and a payee of whom nobody has the key.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use policy_payments::Address;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Base Sepolia's test token.
const USDC_EVM: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
/// The test token on Solana's devnet.
const USDC_SOLANA: &str = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
/// The price: 0.01 USDC.
pub(super) const PRICE: u64 = 10_000;

/// How a network's payments are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Rail {
    Evm,
    Solana,
}

/// A version and a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Form {
    pub(super) version: u64,
    pub(super) rail: Rail,
}

impl Form {
    pub(super) const ALL: [(&'static str, Form); 4] = [
        ("v1-evm", Form { version: 1, rail: Rail::Evm }),
        ("v2-evm", Form { version: 2, rail: Rail::Evm }),
        ("v1-solana", Form { version: 1, rail: Rail::Solana }),
        ("v2-solana", Form { version: 2, rail: Rail::Solana }),
    ];

    pub(super) fn named(word: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|(own, _)| *own == word).map(|(_, form)| form)
    }

    /// The header that carries a payment.
    pub(super) fn header(self) -> &'static str {
        if self.version == 1 { "x-payment" } else { "payment-signature" }
    }

    /// The header that carries a receipt.
    pub(super) fn receipt(self) -> &'static str {
        if self.version == 1 { "x-payment-response" } else { "payment-response" }
    }
}

/// The test network of a form, as that version names it.
pub(super) fn network(form: Form) -> &'static str {
    match (form.version, form.rail) {
        (1, Rail::Evm) => "base-sepolia",
        (1, Rail::Solana) => "solana-devnet",
        (_, Rail::Evm) => "eip155:84532",
        (_, Rail::Solana) => "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
    }
}

/// The network of a form on which money is real.
pub(super) fn real_network(form: Form) -> &'static str {
    match (form.version, form.rail) {
        (1, Rail::Evm) => "base",
        (1, Rail::Solana) => "solana",
        (_, Rail::Evm) => "eip155:8453",
        (_, Rail::Solana) => "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    }
}

/// An address out of a text: nobody has its key.
pub(super) fn address(label: &str, rail: Rail) -> String {
    let sum: [u8; 32] = Sha256::digest(format!("policy demo-seller: {label}")).into();
    match rail {
        Rail::Evm => checked(&format!("0x{}", crate::pay::hex(sum.first_chunk::<20>().unwrap_or(&[0; 20])))),
        Rail::Solana => bs58::encode(sum).into_string(),
    }
}

fn checked(text: &str) -> String {
    Address::evm(text).map_or_else(|_| text.to_owned(), |own| own.checked())
}

/// Who is paid by who is honest.
pub(super) fn shop(rail: Rail) -> String {
    address("shop", rail)
}

/// Who is paid by who is not.
pub(super) fn thief(rail: Rail) -> String {
    address("somebody else", rail)
}

/// An address with the first and last four digits of another.
pub(super) fn lookalike(of: &str, rail: Rail) -> String {
    let start = if rail == Rail::Evm { 6 } else { 4 };
    // Digits of base 16 alone, which base 58 has too but for the zero.
    let other = address("lookalike", Rail::Evm).to_lowercase().replace('0', "7");
    let middle = of.len().saturating_sub(start + 4);
    let parts = (of.get(..start), other.get(2..).unwrap_or_default(), of.get(start + middle..));
    let (Some(first), digits, Some(last)) = parts else { return of.to_owned() };
    let text: String = first.chars().chain(digits.chars().cycle().take(middle)).chain(last.chars()).collect();
    if rail == Rail::Evm { checked(&text.to_lowercase()) } else { text }
}

/// One way to pay.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Offer {
    pub(super) scheme: &'static str,
    pub(super) network: String,
    pub(super) amount: Value,
    /// The amount under the other version's name.
    pub(super) other_amount: Option<Value>,
    pub(super) asset: String,
    pub(super) payee: String,
    pub(super) lifetime: u64,
    pub(super) extra: Map<String, Value>,
    pub(super) description: String,
}

impl Offer {
    /// What an honest seller asks for.
    pub(super) fn honest(form: Form) -> Offer {
        let extra = match form.rail {
            Rail::Evm => json!({ "name": "USDC", "version": "2" }),
            Rail::Solana => json!({ "feePayer": address("fee payer", Rail::Solana) }),
        };
        let extra = extra.as_object().cloned().unwrap_or_default();
        Offer {
            scheme: "exact",
            network: network(form).to_owned(),
            amount: PRICE.to_string().into(),
            other_amount: None,
            asset: if form.rail == Rail::Evm { USDC_EVM } else { USDC_SOLANA }.to_owned(),
            payee: shop(form.rail),
            lifetime: 60,
            extra,
            description: "Sunshine hours of forty cities".to_owned(),
        }
    }

    /// As this version writes it.
    pub(super) fn written(&self, version: u64, resource: &str) -> Value {
        let (name, other) =
            if version == 1 { ("maxAmountRequired", "amount") } else { ("amount", "maxAmountRequired") };
        let mut all = Map::new();
        let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
        put("scheme", self.scheme.into());
        put("network", self.network.clone().into());
        put(name, self.amount.clone());
        if let Some(amount) = &self.other_amount {
            put(other, amount.clone());
        }
        if version == 1 {
            put("resource", resource.into());
            put("description", self.description.clone().into());
            put("mimeType", "application/json".into());
        }
        put("payTo", self.payee.clone().into());
        put("maxTimeoutSeconds", self.lifetime.into());
        put("asset", self.asset.clone().into());
        put("extra", Value::Object(self.extra.clone()));
        Value::Object(all)
    }
}

/// A message as it stands in a header.
pub(super) fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// A message of a header.
pub(super) fn decoded(header: &str) -> Option<Value> {
    serde_json::from_slice(&STANDARD.decode(header.trim()).ok()?).ok()
}

/// Bytes in base 64.
pub(super) fn bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_payments::Network;

    #[test]
    fn addresses_are_addresses_and_look_alike_where_they_should() {
        for (rail, network) in [(Rail::Evm, "base-sepolia"), (Rail::Solana, "solana-devnet")] {
            let read = |text: &str| Address::read(text, &Network::read(network).unwrap()).unwrap();
            let (honest, other) = (read(&shop(rail)), read(&lookalike(&shop(rail), rail)));
            assert!(honest.looks_like(&other), "{honest} {other}");
            assert!(!honest.looks_like(&read(&thief(rail))));
            assert_eq!(honest.checked(), shop(rail));
        }
    }
}
