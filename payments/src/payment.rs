//! A payment as somebody asks about it: what a seller asks for, a call of a contract, typed data or a hash to be signed.
//!
//! INVARIANT: a field that is missing, malformed, written twice under two names with two values, or not known is an error that names
//! it; equal payments are equal whatever the order of keys, the case of addresses and the name of the network.

use crate::address::Address;
use crate::call::{self, Effect};
use crate::money::Units;
use crate::network::Network;
use crate::typed;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;

/// Longest text of a field, bytes.
const LONGEST: usize = 2048;
/// Longest call data, bytes of hexadecimal digits.
const LONGEST_DATA: usize = 128 * 1024;

/// What is to be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What a seller's 402 asks for.
    X402,
    /// A call of a contract.
    Call,
    /// Typed data (EIP-712).
    Typed,
    /// A hash, of which nobody knows what it means.
    Hash,
}

/// How x402 pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// This much.
    Exact,
    /// At most this much.
    Upto,
    /// A promise now, the amount later.
    BatchSettlement,
}

impl Scheme {
    /// All.
    pub const ALL: [Scheme; 3] = [Scheme::Exact, Scheme::Upto, Scheme::BatchSettlement];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Scheme::Exact => "exact",
            Scheme::Upto => "upto",
            Scheme::BatchSettlement => "batch-settlement",
        }
    }

    /// The scheme that a word names.
    pub fn named(word: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.word() == word)
    }
}

/// What is paid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its address, in one spelling.
    pub url: String,
    /// The seller.
    pub host: String,
    /// The address without what stands behind `?` or `#`: what has a price.
    pub page: String,
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// What is to be signed.
    pub kind: Kind,
    /// Where.
    pub network: Network,
    /// The token's contract; none for what is not a token's payment.
    pub asset: Option<Address>,
    /// Who gets the money.
    pub payee: Option<Address>,
    /// How much of the asset, at most.
    pub units: Option<Units>,
    /// How much of the network's own coin goes with a call.
    pub native: Units,
    /// How x402 pays.
    pub scheme: Option<Scheme>,
    /// What is paid for.
    pub resource: Option<Resource>,
    /// The function that is called or promised.
    pub function: Option<String>,
    /// The contract that is called.
    pub contract: Option<Address>,
    /// What a call or promise does with money.
    pub effect: Effect,
    /// Seconds that a seller has to use it, from now on.
    pub lifetime: Option<u64>,
    /// Until when it can be used, seconds since 1970.
    pub until: Option<u64>,
    /// What makes it count once.
    pub nonce: Option<String>,
    /// Who pays.
    pub from: Option<Address>,
    /// Name and version of the token, as the message to be signed says them.
    pub domain: Option<(String, String)>,
    /// A hash alone.
    pub hash: Option<String>,
}

/// A field that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Its name, with dots for fields inside.
    pub field: String,
    /// Why, one clause.
    pub why: String,
}

impl Wrong {
    pub(crate) fn new(field: &str, why: impl Into<String>) -> Wrong {
        Wrong { field: field.to_owned(), why: why.into() }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.field, self.why)
    }
}

/// Fields of an object, each asked for once.
pub(crate) struct Fields<'a> {
    own: &'a Map<String, Value>,
    /// Stands before names in errors.
    at: &'static str,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value, at: &'static str, known: &[&str]) -> Result<Fields<'a>, Wrong> {
        let name = at.trim_end_matches('.');
        let own = match value {
            Value::Object(own) => own,
            Value::Null => return Err(Wrong::new(name, "it is missing")),
            _ => return Err(Wrong::new(name, "it has to be an object")),
        };
        if let Some(stray) = own.keys().find(|key| !known.contains(&key.as_str())) {
            let stray: String = stray.chars().filter(|c| !c.is_control()).take(60).collect();
            return Err(Wrong::new(
                &format!("{at}{stray}"),
                format!("not a field here; known: {}", known.join(", ")),
            ));
        }
        Ok(Fields { own, at })
    }

    pub(crate) fn wrong(&self, field: &str, why: impl Into<String>) -> Wrong {
        Wrong::new(&format!("{}{field}", self.at), why)
    }

    pub(crate) fn value(&self, field: &str) -> Option<&'a Value> {
        self.own.get(field).filter(|value| !value.is_null())
    }

    /// A text; an empty one is as good as none.
    pub(crate) fn text(&self, field: &str) -> Result<Option<&'a str>, Wrong> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Err(self.wrong(field, "it is missing")),
            Some(Value::String(text)) if text.len() > LONGEST => {
                Err(self.wrong(field, format!("it is longer than {LONGEST} bytes")))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(field, "it has to be a string")),
        }
    }

    pub(crate) fn needed(&self, field: &str) -> Result<&'a str, Wrong> {
        self.text(field)?.ok_or_else(|| self.wrong(field, "it is missing"))
    }

    pub(crate) fn network(&self, field: &str) -> Result<Network, Wrong> {
        let text = self.needed(field)?;
        Network::read(text).ok_or_else(|| {
            self.wrong(
                field,
                "not a network: CAIP-2 such as `eip155:8453`, or a name of x402 version 1 such as `base`",
            )
        })
    }

    pub(crate) fn address(&self, field: &str, network: &Network) -> Result<Address, Wrong> {
        let text = self.needed(field)?;
        Address::read(text, network).map_err(|bad| self.wrong(field, bad.to_string()))
    }

    /// A positive whole number of smallest units.
    pub(crate) fn units(&self, field: &str) -> Result<Option<Units>, Wrong> {
        let why = "it has to be a string of digits, a whole number of smallest units";
        match self.value(field) {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Err(self.wrong(field, "it is missing")),
            // SECURITY: a number of JSON may have lost digits on its way.
            Some(Value::String(text)) => Units::whole(text).map(Some).ok_or_else(|| self.wrong(field, why)),
            Some(_) => Err(self.wrong(field, why)),
        }
    }

    /// Seconds or a time.
    pub(crate) fn count(&self, field: &str) -> Result<Option<u64>, Wrong> {
        let why = "it has to be a whole number";
        match self.value(field) {
            None => Ok(None),
            Some(Value::Number(number)) => number.as_u64().map(Some).ok_or_else(|| self.wrong(field, why)),
            Some(Value::String(text)) => {
                let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let number = text.parse().ok().filter(|_| digits);
                number.map(Some).ok_or_else(|| self.wrong(field, why))
            }
            Some(_) => Err(self.wrong(field, why)),
        }
    }
}

/// Reads a payment.
///
/// # Errors
/// Names the field that cannot be used.
pub fn read(value: &Value) -> Result<Payment, Wrong> {
    let kind = match value {
        Value::Object(own) => own.get("kind"),
        Value::Null => return Err(Wrong::new("payment", "it is missing")),
        _ => return Err(Wrong::new("payment", "it has to be an object")),
    };
    match kind {
        Some(Value::String(kind)) => match kind.as_str() {
            "x402_payment" => x402(value),
            "contract_call" => contract_call(value),
            "typed_data" => typed_data(value),
            "sign_hash" => sign_hash(value),
            _ => {
                Err(Wrong::new("kind", "write `x402_payment`, `contract_call`, `typed_data` or `sign_hash`"))
            }
        },
        None | Some(Value::Null) => Err(Wrong::new("kind", "it is missing")),
        Some(_) => Err(Wrong::new("kind", "it has to be a string")),
    }
}

impl Payment {
    pub(crate) fn new(kind: Kind, network: Network) -> Payment {
        Payment {
            kind,
            network,
            asset: None,
            payee: None,
            units: None,
            native: Units::ZERO,
            scheme: None,
            resource: None,
            function: None,
            contract: None,
            effect: Effect::Unknown,
            lifetime: None,
            until: None,
            nonce: None,
            from: None,
            domain: None,
            hash: None,
        }
    }

    /// Notes what a call or promise of a contract does.
    pub(crate) fn acts(&mut self, contract: Address, call: call::Call) {
        match &call.effect {
            Effect::Moves { from, to, units, until } => {
                self.asset = Some(contract.clone());
                self.payee = Some(to.clone());
                self.units = Some(*units);
                self.from.clone_from(from);
                let seconds = |until: &Units| until.to_string().parse().unwrap_or(u64::MAX);
                self.until = until.as_ref().map(seconds);
            }
            Effect::Grants { .. } | Effect::GrantsAll { .. } => self.asset = Some(contract.clone()),
            Effect::GrantsOf { token, .. } => self.asset = Some(token.clone()),
            // Coins that go with it go to the contract.
            Effect::Unknown => self.payee = Some(contract.clone()),
        }
        self.contract = Some(contract);
        self.function = Some(call.function);
        self.effect = call.effect;
    }

    /// A digest of all that makes it this payment.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut sum = Sha256::new();
        let mut part = |text: &str| {
            sum.update((text.len() as u64).to_le_bytes());
            sum.update(text.as_bytes());
        };
        let text =
            |address: &Option<Address>| address.as_ref().map_or(String::new(), |own| own.text().to_owned());
        part(match self.kind {
            Kind::X402 => "x402",
            Kind::Call => "call",
            Kind::Typed => "typed",
            Kind::Hash => "hash",
        });
        part(self.network.name());
        for address in [&self.asset, &self.payee, &self.contract, &self.from] {
            part(&text(address));
        }
        part(&self.units.map_or(String::new(), |units| units.to_string()));
        part(&self.native.to_string());
        part(self.scheme.map_or("", Scheme::word));
        part(self.resource.as_ref().map_or("", |own| &own.url));
        part(self.function.as_deref().unwrap_or_default());
        part(&format!("{:?}", self.effect));
        for number in [self.lifetime, self.until] {
            part(&number.map_or(String::new(), |number| number.to_string()));
        }
        part(self.nonce.as_deref().unwrap_or_default());
        let (name, version) = self.domain.as_ref().map_or(("", ""), |(name, version)| (name, version));
        part(name);
        part(version);
        part(self.hash.as_deref().unwrap_or_default());
        sum.finalize().into()
    }
}

fn x402(value: &Value) -> Result<Payment, Wrong> {
    let known = [
        "kind",
        "payTo",
        "amountAtomic",
        "amount",
        "maxAmountRequired",
        "asset",
        "network",
        "scheme",
        "resourceUrl",
        "maxTimeoutSeconds",
        "extra",
        "validBefore",
        "nonce",
        "from",
    ];
    let fields = Fields::of(value, "", &known)?;
    let network = fields.network("network")?;
    let mut payment = Payment::new(Kind::X402, network);
    payment.payee = Some(fields.address("payTo", &payment.network)?);
    payment.units = Some(amount(&fields)?);
    payment.asset = Some(fields.address("asset", &payment.network)?);
    let scheme = fields.needed("scheme")?;
    let scheme = Scheme::named(scheme);
    payment.scheme =
        Some(scheme.ok_or_else(|| fields.wrong("scheme", "write `exact`, `upto` or `batch-settlement`"))?);
    payment.resource =
        Some(resource(fields.needed("resourceUrl")?).map_err(|why| fields.wrong("resourceUrl", why))?);
    payment.lifetime = fields.count("maxTimeoutSeconds")?;
    payment.until = fields.count("validBefore")?;
    // Of bytes, upper and lower case are one.
    payment.nonce = fields.text("nonce")?.map(|nonce| match unhex(nonce) {
        Some(_) => nonce.to_ascii_lowercase(),
        None => nonce.to_owned(),
    });
    if fields.value("from").is_some() {
        payment.from = Some(fields.address("from", &payment.network)?);
    }
    if let Some(extra) = fields.value("extra") {
        payment.domain = domain(extra)?;
    }
    Ok(payment)
}

/// Name and version among what a seller says besides; the rest is the seller's own.
pub(crate) fn domain(extra: &Value) -> Result<Option<(String, String)>, Wrong> {
    let Value::Object(extra) = extra else { return Err(Wrong::new("extra", "it has to be an object")) };
    let text = |key: &str| match extra.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= LONGEST => Ok(Some(text.clone())),
        Some(_) => Err(Wrong::new(&format!("extra.{key}"), "it has to be a string")),
    };
    Ok(match (text("name")?, text("version")?) {
        (None, None) => None,
        (name, version) => Some((name.unwrap_or_default(), version.unwrap_or_default())),
    })
}

/// The amount, which has a name of its own in each version.
///
/// SECURITY: with two of them one program reads one and the signer the other.
pub(crate) fn amount(fields: &Fields<'_>) -> Result<Units, Wrong> {
    let mut found: Option<(&str, Units)> = None;
    for name in ["amountAtomic", "amount", "maxAmountRequired"] {
        let Some(units) = fields.units(name)? else { continue };
        match found {
            Some((first, before)) if before != units => {
                return Err(fields.wrong(name, format!("it is another amount than `{first}`")));
            }
            _ => found = Some((name, units)),
        }
    }
    let (name, units) = found.ok_or_else(|| fields.wrong("amountAtomic", "it is missing"))?;
    if units == Units::ZERO {
        return Err(fields.wrong(name, "it is zero"));
    }
    Ok(units)
}

/// An address of something that is sold.
pub(crate) fn resource(text: &str) -> Result<Resource, &'static str> {
    const WHY: &str = "not an address such as `https://shop.example/data`";
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(WHY);
    }
    let parsed = url::Url::parse(text).map_err(|_| WHY)?;
    if !matches!(parsed.scheme(), "http" | "https" | "mcp") {
        return Err("not an address of http, https or mcp");
    }
    // SECURITY: `https://shop.example@evil.example/` is the other host's.
    if !parsed.username().is_empty()
        || parsed.password().is_some()
        || text.split(['/', '?', '#']).nth(2).is_some_and(|own| own.contains('@'))
    {
        return Err("it names a user in front of the host");
    }
    let host = parsed.host_str().map(|host| host.trim_end_matches('.').to_ascii_lowercase());
    let host = host.filter(|host| !host.is_empty()).ok_or(WHY)?;
    let mut page = parsed.clone();
    page.set_query(None);
    page.set_fragment(None);
    Ok(Resource { url: parsed.to_string(), host, page: page.to_string() })
}

fn data(fields: &Fields<'_>) -> Result<Vec<u8>, Wrong> {
    let text = match fields.value("data") {
        None => return Err(fields.wrong("data", "it is missing")),
        Some(Value::String(text)) => text,
        Some(_) => return Err(fields.wrong("data", "it has to be a string")),
    };
    if text.len() > LONGEST_DATA {
        return Err(fields.wrong("data", format!("it is longer than {LONGEST_DATA} bytes")));
    }
    unhex(text)
        .ok_or_else(|| fields.wrong("data", "not bytes: `0x` and an even number of hexadecimal digits"))
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let digit = |byte: u8| (byte as char).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

fn contract_call(value: &Value) -> Result<Payment, Wrong> {
    let fields = Fields::of(value, "", &["kind", "network", "to", "data", "valueAtomic", "from"])?;
    let network = fields.network("network")?;
    let mut payment = Payment::new(Kind::Call, network);
    let contract = fields.address("to", &payment.network)?;
    let call = call::read(&data(&fields)?).map_err(|why| fields.wrong("data", why))?;
    payment.acts(contract, call);
    payment.native = fields.units("valueAtomic")?.unwrap_or_default();
    if fields.value("from").is_some() {
        let from = fields.address("from", &payment.network)?;
        payment.from.get_or_insert(from);
    }
    Ok(payment)
}

fn typed_data(value: &Value) -> Result<Payment, Wrong> {
    let fields = Fields::of(value, "", &["kind", "network", "typedData", "typed_data"])?;
    let own = fields.value("typedData").or_else(|| fields.value("typed_data"));
    let promise = typed::read(own.ok_or_else(|| fields.wrong("typedData", "it is missing"))?)?;
    if fields.value("network").is_some() && fields.network("network")? != promise.network {
        return Err(fields.wrong("network", "it is another one than the typed data's `chainId`"));
    }
    let mut payment = Payment::new(Kind::Typed, promise.network);
    payment.acts(promise.contract, promise.call);
    payment.nonce = promise.nonce;
    payment.domain = promise.domain;
    payment.until = promise.until.or(payment.until);
    payment.from = promise.from.or(payment.from);
    Ok(payment)
}

fn sign_hash(value: &Value) -> Result<Payment, Wrong> {
    let fields = Fields::of(value, "", &["kind", "network", "hash"])?;
    let mut payment = Payment::new(Kind::Hash, fields.network("network")?);
    let hash = fields.needed("hash")?;
    if unhex(hash).is_none_or(|bytes| bytes.len() != 32) {
        return Err(fields.wrong("hash", "not 32 bytes: `0x` and 64 hexadecimal digits"));
    }
    payment.hash = Some(hash.to_ascii_lowercase());
    payment.function = Some("sign_hash".to_owned());
    Ok(payment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fine() -> Value {
        json!({
            "kind": "x402_payment",
            "payTo": "0x1111111111111111111111111111111111111111",
            "amountAtomic": "50000",
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "network": "eip155:84532",
            "scheme": "exact",
            "resourceUrl": "https://shop.example/dataset",
        })
    }

    fn with(key: &str, value: Value) -> Result<Payment, Wrong> {
        let mut payment = fine();
        payment[key] = value;
        read(&payment)
    }

    #[test]
    fn what_a_seller_asks_for_is_read() {
        let payment = read(&fine()).unwrap();
        assert_eq!(payment.units, Some(Units::new(50_000)));
        assert_eq!(payment.resource.as_ref().unwrap().host, "shop.example");
        // The same payment, written in another way.
        for (key, value) in [
            ("network", json!("base-sepolia")),
            ("asset", json!("0x036cbd53842c5426634e7929541ec2318f3dcf7e")),
            ("amount", json!("50000")),
            ("extra", Value::Null),
        ] {
            assert_eq!(with(key, value).unwrap().fingerprint(), payment.fingerprint(), "{key}");
        }
        for (key, value) in [
            ("amountAtomic", json!("50001")),
            ("network", json!("base")),
            ("resourceUrl", json!("https://shop.example/dataset?x")),
            ("nonce", json!("0x01")),
            ("maxTimeoutSeconds", json!(60)),
        ] {
            assert_ne!(with(key, value).unwrap().fingerprint(), payment.fingerprint(), "{key}");
        }
    }

    #[test]
    fn a_field_that_cannot_be_used_is_named() {
        for field in ["kind", "payTo", "amountAtomic", "asset", "network", "scheme", "resourceUrl"] {
            for value in [Value::Null, json!(""), json!(1), json!([]), json!(true), json!({})] {
                assert_eq!(with(field, value).unwrap_err().field, field);
            }
            let mut payment = fine();
            payment.as_object_mut().unwrap().remove(field);
            assert_eq!(read(&payment).unwrap_err().field, field);
        }
        for (field, value) in [
            ("amountAtomic", json!("0")),
            ("amountAtomic", json!(50000)),
            ("amount", json!("1")),
            ("amount", json!("")),
            ("maxAmountRequired", json!("49999")),
            ("scheme", json!("EXACT")),
            ("kind", json!("wire")),
            ("amountatomic", json!("1")),
            ("payto", json!("x")),
            ("resourceUrl", json!("https://shop.example@evil.example/")),
            ("resourceUrl", json!("https://@evil.example/")),
            ("resourceUrl", json!("ftp://shop.example/")),
            ("resourceUrl", json!("shop.example")),
            ("resourceUrl", json!("https://shop.example/\n")),
            ("resourceUrl", json!("https://")),
            ("maxTimeoutSeconds", json!("soon")),
            ("maxTimeoutSeconds", json!(-1)),
            ("maxTimeoutSeconds", json!(1.5)),
        ] {
            assert_eq!(with(field, value.clone()).unwrap_err().field, field, "{value}");
        }
        assert_eq!(read(&Value::Null).unwrap_err().field, "payment");
        assert_eq!(read(&json!([])).unwrap_err().field, "payment");
    }

    #[test]
    fn sellers_have_one_spelling() {
        let host = |text: &str| resource(text).map(|own| own.host);
        for (text, wanted) in [
            ("https://Shop.Example:8443/a", "shop.example"),
            ("https://shop.example./a", "shop.example"),
            ("http://bücher.example/", "xn--bcher-kva.example"),
            ("mcp://Tools.Example/pay", "tools.example"),
            ("https://127.1/", "127.0.0.1"),
        ] {
            assert_eq!(host(text).as_deref(), Ok(wanted));
        }
        let page = resource("https://shop.example/a?b=1#c").unwrap().page;
        assert_eq!(page, "https://shop.example/a");
    }

    #[test]
    fn calls_and_hashes() {
        let call = |data: &str| {
            read(
                &json!({"kind": "contract_call", "network": "base", "to": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "data": data}),
            )
        };
        let transfer = format!("0xa9059cbb{:0>64}{:0>64}", "1".repeat(40), "c350");
        let payment = call(&transfer).unwrap();
        assert_eq!(
            (payment.units, payment.function.as_deref()),
            (Some(Units::new(50_000)), Some("transfer"))
        );
        assert_eq!(payment.payee.unwrap().short(), "0x1111…1111");
        for bad in ["0xa9059cb", "a9059cbb", "0xzz", "0xa9059cbb00", "0x+1"] {
            assert_eq!(call(bad).unwrap_err().field, "data", "{bad}");
        }
        let hash = |hash: &str| read(&json!({"kind": "sign_hash", "network": "base", "hash": hash}));
        assert_eq!(hash(&format!("0x{}", "a".repeat(64))).unwrap().function.as_deref(), Some("sign_hash"));
        assert_eq!(hash("0xaa").unwrap_err().field, "hash");
    }
}
