//! The demo seller as a process: it sells, takes a payment once, and names its ways to cheat.
//!
//! INVARIANT: the client here is the simplest that there is: it takes what it is offered.

use crate::support::World;
use policy_payments::{Units, Wrong, challenge_of_body, challenge_of_header, settlement_of_header};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

pub(crate) const FORMS: [&str; 4] = ["v1-evm", "v2-evm", "v1-solana", "v2-solana"];
pub(crate) const BUYER: &str = "0x1111111111111111111111111111111111111111";

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(own, _)| own == name).map(|(_, value)| value.as_str()).collect()
    }

    /// The challenges in it, as a client that is not careful reads them: a key that stands twice is the last one.
    pub(crate) fn challenges(&self) -> Vec<Value> {
        let mut all: Vec<Value> = self
            .all("payment-required")
            .into_iter()
            .map(|own| serde_json::from_slice(&unbase64(own)).unwrap())
            .collect();
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        if body["accepts"].is_array() {
            all.insert(0, body);
        }
        all
    }

    /// What our reader makes of the first challenge.
    pub(crate) fn read(&self) -> Result<policy_payments::Challenge, Wrong> {
        match self.all("payment-required").first() {
            Some(header) if !self.body.contains("accepts") => challenge_of_header(header),
            _ => challenge_of_body(self.body.as_bytes()),
        }
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for part in bytes.chunks(3) {
        let word = part.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at) & 63) as usize] as char;
            out.push(if at <= part.len() { digit } else { '=' });
        }
    }
    out
}

fn unbase64(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text
        .bytes()
        .filter(|byte| *byte != b'=')
        .map(|byte| u32::try_from(DIGITS.iter().position(|own| *own == byte).unwrap()).unwrap())
        .collect();
    digits
        .chunks(4)
        .flat_map(|part| {
            let word = part.iter().fold(0, |all, digit| all << 6 | digit) << (6 * (4 - part.len()));
            word.to_be_bytes()[1..part.len()].to_vec()
        })
        .collect()
}

/// The seller as a process.
pub(crate) struct Seller {
    child: Child,
    pub(crate) port: u16,
}

impl Seller {
    pub(crate) fn new(world: &World, more: &[&str]) -> Seller {
        let words = [&["demo-seller", "--port", "0"], more].concat();
        let mut child = world.command(&words).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port =
            line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()).unwrap().parse().unwrap();
        Seller { child, port }
    }

    /// Asks as a client does.
    fn ask(&self, method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap());
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        Answer { status, headers, body: body.to_owned() }
    }

    pub(crate) fn get(&self, url: &str) -> Answer {
        self.ask("GET", url, &[], "")
    }

    /// An address of a seller.
    pub(crate) fn url(&self, variant: &str, rest: &str) -> String {
        format!("http://127.0.0.1:{}/v/{variant}/{rest}", self.port)
    }

    /// Pays an offer, as a wallet would.
    pub(crate) fn pay(&self, url: &str, offer: &Value, number: u8) -> Answer {
        let version = if url.contains("/v1-") { 1 } else { 2 };
        let amount = offer.get("amount").unwrap_or(&offer["maxAmountRequired"]);
        let payload = match offer["payTo"].as_str().unwrap().starts_with("0x") {
            true => json!({
                "signature": format!("0x{}", "1b".repeat(65)),
                "authorization": {
                    "from": BUYER, "to": offer["payTo"], "value": amount, "validAfter": "0", "validBefore": "99999999999",
                    "nonce": format!("0x{}", format!("{number:02x}").repeat(32)),
                },
            }),
            false => json!({ "transaction": base64(&[number; 200]) }),
        };
        let payment = match version {
            1 => {
                json!({ "x402Version": 1, "scheme": offer["scheme"], "network": offer["network"], "payload": payload })
            }
            _ => json!({ "x402Version": 2, "accepted": offer, "payload": payload }),
        };
        let header = if version == 1 { "X-PAYMENT" } else { "PAYMENT-SIGNATURE" };
        self.ask("GET", url, &[(header, &base64(payment.to_string().as_bytes()))], "")
    }
}

impl Drop for Seller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn last(answer: &Answer) -> Value {
    let all = answer.challenges();
    all.last().unwrap()["accepts"].as_array().unwrap().last().unwrap().clone()
}

pub(crate) fn receipt(answer: &Answer, form: &str) -> policy_payments::Settlement {
    let name = if form.starts_with("v1") { "x-payment-response" } else { "payment-response" };
    settlement_of_header(answer.all(name)[0]).unwrap()
}

#[test]
fn the_honest_one_sells_in_every_form_and_takes_a_payment_once() {
    let world = World::new("seller-honest");
    let seller = Seller::new(&world, &[]);
    let page = seller.get(&format!("http://localhost:{}/product", seller.port));
    assert!(page.status == 200 && page.body.contains("Price: 0.01 USDC"), "{}", page.body);
    for (number, form) in (1..).zip(FORMS) {
        let url = seller.url("honest", &format!("{form}/data"));
        assert!(page.body.contains(&url), "{url}");
        let asked = seller.get(&url);
        assert_eq!(asked.status, 402);
        let offers = asked.read().unwrap().offers;
        assert_eq!((offers.len(), offers[0].payment.units), (1, Some(Units::new(10_000))));
        assert_eq!(offers[0].payment.resource.as_ref().map(|own| own.url.as_str()), Some(url.as_str()));
        let sold = seller.pay(&url, &last(&asked), number);
        assert!(sold.status == 200 && sold.body.contains("Lisbon"), "{}", sold.body);
        let settled = receipt(&sold, form);
        assert!(settled.success && settled.transaction.starts_with("0x"));
        assert_eq!(settled.units, Some(Units::new(10_000)));
        let twice = seller.pay(&url, &last(&asked), number);
        assert_eq!(
            (twice.status, &twice.challenges()[0]["error"]),
            (402, &json!("invalid_transaction_state"))
        );
        let mut cheap = last(&asked);
        let name = if form.starts_with("v1") { "maxAmountRequired" } else { "amount" };
        cheap[name] = json!("1");
        assert!(
            seller.pay(&url, &cheap, 9).status == 402 || form == "v1-solana",
            "{form}: it is not what was asked for"
        );
    }
    let other = seller.ask("GET", "http://shop.example/product", &[], "");
    assert_eq!(other.status, 421, "another site's name");
}

#[test]
fn the_facilitator_verifies_and_settles() {
    let world = World::new("seller-facilitator");
    let seller = Seller::new(&world, &["--variant", "honest"]);
    let post = |path: &str, body: &Value| {
        let answer =
            seller.ask("POST", &format!("http://127.0.0.1:{}{path}", seller.port), &[], &body.to_string());
        serde_json::from_str::<Value>(&answer.body).unwrap()
    };
    let asked = last(&seller.get(&seller.url("honest", "v1-evm/data")));
    let own = json!({ "from": BUYER, "to": asked["payTo"], "value": "10000", "validAfter": "0", "validBefore": "99999999999",
        "nonce": format!("0x{}", "a".repeat(64)) });
    let payment = json!({ "x402Version": 1, "scheme": "exact", "network": "base-sepolia",
        "payload": { "signature": format!("0x{}", "1".repeat(130)), "authorization": own } });
    let body = json!({ "x402Version": 1, "paymentPayload": payment, "paymentRequirements": asked });
    assert_eq!(post("/verify", &body), json!({ "isValid": true, "payer": BUYER }));
    let receipt = post("/settle", &body);
    assert_eq!(
        (&receipt["success"], &receipt["network"], &receipt["payer"]),
        (&json!(true), &json!("base-sepolia"), &json!(BUYER))
    );
    assert_eq!(post("/verify", &body)["invalidReason"], "invalid_transaction_state");
    assert_eq!(post("/settle", &body)["errorReason"], "invalid_transaction_state");
    assert!(post("/settle", &json!({}))["error"].is_string());
    assert_eq!(seller.get(&seller.url("replay", "v1-evm/data")).status, 404, "one seller was asked for");
}

#[test]
fn the_list_names_every_seller() {
    let world = World::new("seller-list");
    let list = world.run(&["demo-seller", "--list", "--format", "json"], b"");
    let all: Value = serde_json::from_slice(&list.stdout).unwrap();
    let names: BTreeSet<&str> =
        all.as_array().unwrap().iter().map(|own| own["name"].as_str().unwrap()).collect();
    assert!(names.len() > 30 && names.contains("honest") && names.contains("payee-redirect"));
    let seller = Seller::new(&world, &[]);
    let index = seller.get(&format!("http://127.0.0.1:{}/", seller.port));
    for own in all.as_array().unwrap() {
        let (path, sentence) = (own["path"].as_str().unwrap(), own["sentence"].as_str().unwrap());
        assert!(index.body.contains(path) && index.body.contains(sentence), "{own}");
        assert_eq!(seller.get(&format!("http://127.0.0.1:{}{path}", seller.port)).status, 200);
    }
    let plain = world.run(&["demo-seller", "--list", "--variant", "replay"], b"");
    assert!(String::from_utf8_lossy(&plain.stdout).starts_with("replay  A payment"));
    let unknown = world.run(&["demo-seller", "--variant", "nobody"], b"");
    assert_eq!(unknown.status.code(), Some(64));
}
