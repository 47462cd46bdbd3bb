//! Payments on what bytes choose: amounts, addresses, call data, typed data and the messages of x402, right, nearly right and wrong.
//!
//! INVARIANT: a payment that is read is the same with its keys in another order and its addresses in another case; call data that is
//! read gives the same bytes again; decimals are those of plain arithmetic on digits; what passes as the payment of an offer pays
//! its payee, its token and no more than its amount.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use policy_compiler::naive::generate::Random;
use policy_payments::{
    Effect, Scheme, Units, challenge_of_body, challenge_of_header, payment_of_header, read,
    settlement_of_header,
};
use serde_json::{Map, Value, json};

const TEXTS: &[&str] = &[
    "0x1111111111111111111111111111111111111111",
    "0x2222222222222222222222222222222222222222",
    "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
    "0x036CbD53842c5426634e7929541eC2318f3dCF7E",
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    "eip155:84532",
    "base-sepolia",
    "base",
    "solana",
    "exact",
    "upto",
    "x402_payment",
    "contract_call",
    "typed_data",
    "sign_hash",
    "50000",
    "0",
    "1",
    "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    "115792089237316195423570985008687907853269984665640564039457584007913129639936",
    "https://shop.example/data?x=1",
    "https://shop.example@evil.example/",
    "mcp://tools.example/pay",
    "",
    "\u{ff15}",
    "0xabababababababababababababababababababababababababababababababab",
];

/// The functions that are read, as selectors and words.
const SELECTORS: &[[u8; 4]] = &[
    [0xa9, 0x05, 0x9c, 0xbb],
    [0x23, 0xb8, 0x72, 0xdd],
    [0x09, 0x5e, 0xa7, 0xb3],
    [0x39, 0x50, 0x93, 0x51],
    [0xa2, 0x2c, 0xb4, 0x65],
    [0xd5, 0x05, 0xac, 0xcf],
    [0xe3, 0xee, 0x16, 0x0e],
    [0x87, 0x51, 0x7c, 0x45],
];

/// Reads one of them and tells what is wrong with the answer.
///
/// # Errors
/// The promise that was broken.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let Some((kind, rest)) = bytes.split_first() else { return Ok(()) };
    let mut random = Random::from_bytes(rest);
    match kind % 5 {
        0 => decimal(&mut random),
        1 => payment(&asked(&mut random)),
        2 => data(&mut random, rest),
        3 => messages(&mut random),
        _ => raw(rest),
    }
}

fn decimal(random: &mut Random) -> Result<(), String> {
    let digits = |random: &mut Random, most: usize| -> String {
        (0..random.below(most)).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
    };
    let (whole, part, decimals) = (digits(random, 80), digits(random, 80), random.below(80) as u8);
    let text = if random.below(4) == 0 { whole.clone() } else { format!("{whole}.{part}") };
    let part = if text.contains('.') { part.trim_end_matches('0') } else { "" };
    let decimals = decimals.min(77);
    let wanted = match (whole.is_empty(), text.ends_with('.'), part.len() <= usize::from(decimals)) {
        (false, false, true) => {
            let all = format!("{whole}{part:0<width$}", width = usize::from(decimals));
            let all = all.trim_start_matches('0');
            let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
            let fits = all.len() < most.len() || all.len() == most.len() && all <= most;
            fits.then(|| if all.is_empty() { "0".to_owned() } else { all.to_owned() })
        }
        _ => None,
    };
    let got = Units::of_decimal(&text, decimals).ok();
    if got.map(|units| units.to_string()) != wanted {
        return Err(format!("{text} with {decimals} decimals is {got:?}, not {wanted:?}"));
    }
    match got {
        Some(units) if Units::of_decimal(&units.decimal(decimals), decimals) != Ok(units) => {
            Err(format!("{units} is not what it is printed as"))
        }
        _ => Ok(()),
    }
}

fn text(random: &mut Random) -> Value {
    match random.below(12) {
        0 => Value::Null,
        1 => json!(random.below(1000)),
        2 => json!([]),
        _ => json!(random.pick(TEXTS)),
    }
}

/// A payment with right and wrong values.
fn asked(random: &mut Random) -> Value {
    let mut own = json!({
        "kind": "x402_payment", "payTo": TEXTS[0], "amountAtomic": "50000", "asset": TEXTS[2], "network": "eip155:84532",
        "scheme": "exact", "resourceUrl": "https://shop.example/data",
    });
    let keys = [
        "kind",
        "payTo",
        "amountAtomic",
        "asset",
        "network",
        "scheme",
        "resourceUrl",
        "amount",
        "maxAmountRequired",
        "nonce",
        "from",
        "validBefore",
        "maxTimeoutSeconds",
        "extra",
        "to",
        "data",
        "hash",
        "typedData",
        "PayTo",
    ];
    for _ in 0..random.below(4) {
        own[random.pick(&keys)] = text(random);
    }
    own
}

/// With its keys the other way round and its addresses in lower case.
fn turned(value: &Value) -> Value {
    let Value::Object(own) = value else { return value.clone() };
    let lower = |value: &Value| match value {
        Value::String(text) if text.starts_with("0x") => json!(text.to_lowercase()),
        other => other.clone(),
    };
    let entries: Vec<_> = own.iter().rev().map(|(key, value)| (key.clone(), lower(value))).collect();
    Value::Object(entries.into_iter().collect::<Map<_, _>>())
}

fn payment(value: &Value) -> Result<(), String> {
    let Ok(first) = read(value) else { return Ok(()) };
    let again = read(&turned(value)).map_err(|wrong| format!("turned round it is refused: {wrong}"))?;
    match again == first && again.fingerprint() == first.fingerprint() {
        true => Ok(()),
        false => Err(format!("another order of keys is another payment: {value}")),
    }
}

fn data(random: &mut Random, rest: &[u8]) -> Result<(), String> {
    let mut data = random.pick(SELECTORS).to_vec();
    for at in 0..random.below(10) {
        let mut word = [0; 32];
        let from = rest.get(at * 7 % rest.len().max(1)..).unwrap_or_default();
        let skip = [0, 12, 24, 31][random.below(4)];
        for (to, from) in word.iter_mut().skip(skip).zip(from) {
            *to = *from;
        }
        data.extend(word);
    }
    data.truncate(data.len() - random.below(3).min(data.len()));
    let hex: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
    let call =
        json!({"kind": "contract_call", "network": "base", "to": TEXTS[2], "data": format!("0x{hex}")});
    let Ok(payment) = read(&call) else { return Ok(()) };
    let word = |at: usize| data.get(4 + at * 32..36 + at * 32).map(<[u8]>::to_vec).unwrap_or_default();
    let same = |address: &policy_payments::Address, at: usize| {
        let digits: String = word(at).iter().map(|byte| format!("{byte:02x}")).collect();
        digits == format!("{:0>64}", address.text().trim_start_matches("0x"))
    };
    let good = match (payment.function.as_deref(), &payment.effect) {
        (Some("transfer"), Effect::Moves { to, units, .. }) => same(to, 0) && units.bytes()[..] == word(1),
        (Some("transferFrom"), Effect::Moves { from, to, units, .. }) => {
            from.as_ref().is_some_and(|from| same(from, 0)) && same(to, 1) && units.bytes()[..] == word(2)
        }
        (Some("approve" | "increaseAllowance"), Effect::Grants { spender, units, .. }) => {
            same(spender, 0) && units.bytes()[..] == word(1)
        }
        (Some("permit"), Effect::Grants { spender, units, .. }) => {
            same(spender, 1) && units.bytes()[..] == word(2)
        }
        (Some("setApprovalForAll"), Effect::GrantsAll { operator, on }) => {
            same(operator, 0) && word(1).last() == Some(&u8::from(*on))
        }
        (Some("transferWithAuthorization"), Effect::Moves { to, units, .. }) => {
            same(to, 1) && units.bytes()[..] == word(2)
        }
        (Some("permit2Approve"), Effect::GrantsOf { token, spender, units }) => {
            same(token, 0) && same(spender, 1) && (units.is_unlimited() || units.bytes()[..] == word(2))
        }
        // Nothing is called by less than a selector.
        (_, Effect::Unknown) => data.len() < 4,
        _ => false,
    };
    if good { Ok(()) } else { Err(format!("0x{hex} is read as {payment:?}")) }
}

fn offer(random: &mut Random, version: u64) -> Value {
    let mut own = json!({"scheme": random.pick(&["exact", "upto"]), "network": "eip155:84532", "payTo": TEXTS[random.below(3)], "asset": TEXTS[2], "maxTimeoutSeconds": 60});
    own[if version == 1 { "maxAmountRequired" } else { "amount" }] = json!(random.pick(&["1", "50000"]));
    if random.below(6) == 0 {
        let key = random.pick(&["amount", "maxAmountRequired", "amountAtomic", "payTo", "asset", "network"]);
        own[key] = text(random);
    }
    own
}

fn messages(random: &mut Random) -> Result<(), String> {
    let version = 1 + random.below(2) as u64;
    let accepts: Vec<Value> = (0..random.below(4)).map(|_| offer(random, version)).collect();
    let asked = json!({"x402Version": version, "accepts": accepts});
    let challenge = match version {
        1 => challenge_of_body(asked.to_string().as_bytes()),
        _ => challenge_of_header(&STANDARD.encode(asked.to_string())),
    };
    let nonce = TEXTS[TEXTS.len() - 1];
    let authorization = json!({"from": TEXTS[0], "to": TEXTS[random.below(3)], "value": random.pick(&["1", "50000", "0"]), "validAfter": "0", "validBefore": "9", "nonce": nonce});
    let accepted =
        accepts.first().filter(|_| random.below(3) > 0).cloned().unwrap_or_else(|| offer(random, version));
    let mut signed = json!({"x402Version": version, "scheme": "exact", "network": "base-sepolia", "accepted": accepted, "payload": {"authorization": authorization}});
    if random.below(8) == 0 {
        signed[random.pick(&["x402Version", "payload", "accepted", "network"])] = text(random);
    }
    let signed = payment_of_header(&STANDARD.encode(signed.to_string()), version);
    let (Ok(challenge), Ok(signed)) = (challenge, signed) else { return Ok(()) };
    let Ok(offer) = signed.offer(&challenge) else { return Ok(()) };
    let Some(promised) = &signed.promised else { return Err("an authorization was not read".to_owned()) };
    let (payee, units) = (promised.payee == offer.payment.payee, (promised.units, offer.payment.units));
    let amount = match (signed.scheme, units) {
        (Scheme::Upto, (Some(own), Some(asked))) => own <= asked,
        (_, (own, asked)) => own.is_some() && own == asked,
    };
    match payee && amount && Some(signed.scheme) == offer.payment.scheme {
        true => Ok(()),
        false => Err(format!("{signed:?} passes as {offer:?}")),
    }
}

/// Any bytes: nothing panics.
fn raw(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    for header in [text.as_ref(), &STANDARD.encode(bytes)] {
        let _ = (payment_of_header(header, 1), payment_of_header(header, 2), challenge_of_header(header));
        let _ = (settlement_of_header(header), challenge_of_body(header.as_bytes()));
    }
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        payment(&value)?;
    }
    payment(
        &json!({"kind": "typed_data", "typedData": serde_json::from_slice::<Value>(bytes).unwrap_or_default()}),
    )
}
