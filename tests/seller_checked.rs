//! What our check says to each of the demo sellers.
//!
//! INVARIANT: the client is the most gullible that there is: it takes the last offer and asks about what it would sign, at the
//! address that it fetched, with the payee of the first challenge. What is refused is refused for the reason that is named here, and
//! every seller is in one of the lists.

use crate::seller::{Answer, BUYER, FORMS, Seller, last, receipt};
use crate::support::World;
use policy_engine::decide::{Engine, Options};
use policy_engine::layers::Default_;
use policy_engine::open::Care;
use policy_engine::places::Folders;
use policy_gateway::pay::{Front, Refusal, Request, scan};
use policy_gateway::seller::VARIANTS;
use policy_hosts::call::Call;
use policy_ledger::Sqlite;
use policy_payments::Units;
use policy_payments::ledger::{Settled, Settlement};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The lines of std/payments with smaller amounts, each in a guard that says its name, and who may sell.
const POLICY: &str = r#"policy "case" language 1

asset USDC is "eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e" decimals 6
asset USDC is "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1/token:4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU" decimals 6
payee shop is "0x2D010935f55537A43530F31E0ed94D7945a4D563"
payee shop-on-solana is "42gGEUG8s6M6XteDFv7rygW1gz2U5oSRxqeT8zXXgqJH"

rule pay on check_payment {
  otherwise allow
}

guard wrong-network on check_payment {
  only network "base-sepolia", "solana-devnet"
}

guard wrong-asset on check_payment {
  only asset USDC
}

guard scheme-not-allowed on check_payment {
  only scheme exact, upto
}

guard call-not-allowed on check_payment {
  only call transfer, transferWithAuthorization
}

guard seller-not-allowed on check_payment {
  only seller "127.0.0.1"
}

guard payee-mismatch on check_payment {
  deny payee mismatch
}

guard payee-lookalike on check_payment {
  deny payee lookalike
}

guard payee-filed on check_payment {
  deny payee filed
}

guard payee-new on check_payment {
  ask payee new
}

guard over-limit on check_payment {
  deny amount over 0.10 USDC
}

guard over-budget on check_payment {
  info payee mismatch
  deny spend over 0.50 USDC per 1d
}

guard too-many on check_payment {
  info payee mismatch
  deny calls over 20 per 1h
}

guard made-before on check_payment {
  info payee mismatch
  deny repeats over 0 per 10m
}

guard price-rises on check_payment {
  ask rise over 50%
}

guard too-long on check_payment {
  deny lifetime over 10m
}

guard over-approval on check_payment {
  deny approval over 5 USDC
}

guard flagged on check_payment {
  deny when session flagged
}
"#;
/// A night in 2026, milliseconds.
const START: u64 = 1_767_225_600_000;

/// What was said: the status and the guards that spoke, or the field that could not be used.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Decided(&'static str, BTreeSet<String>),
    Wrong(String),
}

fn said(status: &'static str, guards: &[&str]) -> Said {
    Said::Decided(status, guards.iter().map(|own| (*own).to_owned()).collect())
}

/// An agent with a ledger of its own.
struct Buyer<'s> {
    seller: &'s Seller,
    world: &'s World,
    engine: Engine,
    ledger: Sqlite,
    now: u64,
    /// The payee of the first challenge.
    observed: Option<Value>,
    id: String,
}

impl<'s> Buyer<'s> {
    fn new(world: &'s World, seller: &'s Seller, name: &str) -> Buyer<'s> {
        let policy = world.file("case.policy", POLICY);
        let options = Options {
            policy: Some(policy),
            care: Care::Named,
            default: Default_::Std,
            sessions: false,
            caching: true,
            resolve_links: true,
            compiler: &policy_engine::work::Here,
        };
        let engine = Engine::new(Folders::under(&world.path("home")), options);
        let ledger = Sqlite::at(policy_ledger::file(&world.path(name)));
        Buyer { seller, world, engine, ledger, now: START, observed: None, id: String::new() }
    }

    fn front<T>(&mut self, what: impl FnOnce(&mut Front<'_>) -> T) -> T {
        let frame = Call {
            host: "mcp".to_owned(),
            event: "pre_tool_use".to_owned(),
            host_event: "pre_tool_use".to_owned(),
            cwd: self.world.path("repo"),
            ..Call::default()
        };
        self.now += 1000;
        self.engine.refresh();
        let mut front = Front {
            engine: &mut self.engine,
            ledger: &self.ledger,
            frame,
            session: "s".to_owned(),
            account: String::new(),
            now: self.now,
            scan: &scan,
        };
        what(&mut front)
    }

    /// Reads a text.
    fn file(&mut self, text: &str) {
        self.front(|front| front.file("page", text)).unwrap();
    }

    /// Fetches something: a payee that is named is remembered.
    fn fetch(&mut self, url: &str) -> Answer {
        let answer = self.seller.get(url);
        self.see(&answer);
        answer
    }

    fn see(&mut self, answer: &Answer) {
        if let (None, Some(first)) = (&self.observed, answer.challenges().first()) {
            self.observed = Some(first["accepts"][0]["payTo"].clone());
        }
    }

    /// Asks about an offer that was found at an address.
    fn check(&mut self, url: &str, offer: &Value) -> Said {
        let mut payment = Map::new();
        payment.insert("kind".to_owned(), "x402_payment".into());
        payment.insert("resourceUrl".to_owned(), url.into());
        for name in [
            "payTo",
            "amount",
            "maxAmountRequired",
            "asset",
            "network",
            "scheme",
            "maxTimeoutSeconds",
            "extra",
        ] {
            if let Some(value) = offer.get(name) {
                payment.insert(name.to_owned(), value.clone());
            }
        }
        if let Some(nonce) = offer["extra"].get("nonce") {
            payment.insert("nonce".to_owned(), nonce.clone());
            payment.insert("from".to_owned(), BUYER.into());
        }
        let observed = self.observed.clone();
        self.ask(Value::Object(payment), observed)
    }

    fn ask(&mut self, payment: Value, observed: Option<Value>) -> Said {
        let mut given = Map::new();
        given.insert("payment".to_owned(), payment);
        given.extend(observed.map(|own| ("observed402PayTo".to_owned(), own)));
        match self.front(|front| Request::of_tool(&given).and_then(|request| front.check(&request))) {
            Ok(decision) => {
                self.id = decision.id;
                let guard = |rule: &str| rule.split(' ').next().unwrap_or_default().to_owned();
                Said::Decided(
                    decision.status.word(),
                    decision.reasons.iter().map(|own| guard(&own.rule)).collect(),
                )
            }
            Err(Refusal::Input { field, .. }) => Said::Wrong(field),
            Err(refusal) => panic!("{refusal:?}"),
        }
    }
}

/// Sellers whose first challenge is enough: what is said to the offer that is taken.
const AT_ONCE: &[(&str, &str, &[&str])] = &[
    ("honest", "allowed", &[]),
    ("amount-inflated", "denied", &["over-limit", "over-budget"]),
    ("unit-confusion", "denied", &["over-limit", "over-budget"]),
    ("decimals-claim", "denied", &["over-limit", "over-budget"]),
    ("rail-switch", "denied", &["wrong-network", "wrong-asset"]),
    ("asset-swap", "denied", &["wrong-asset"]),
    ("offers-order", "denied", &["payee-mismatch", "payee-new", "over-limit", "over-budget"]),
    ("many-offers", "denied", &["payee-mismatch", "payee-new", "over-limit", "over-budget"]),
    ("long-lifetime", "denied", &["too-long"]),
    ("lookalike-payee", "denied", &["payee-lookalike", "payee-new"]),
    ("two-headers", "denied", &["payee-mismatch", "payee-new", "over-limit", "over-budget"]),
    ("scheme-swap", "denied", &["scheme-not-allowed"]),
];

/// Sellers whose offer cannot be read: the field that is named.
const UNREAD: &[(&str, &str)] = &[
    ("number-amount", "amount"),
    ("two-amounts", "amount"),
    ("bad-checksum", "payTo"),
    ("role-payee", "payTo"),
];

/// Sellers whose challenge our reader refuses whole, and what it names.
const REFUSED: &[(&str, &str)] =
    &[("duplicate-keys", "stands twice"), ("many-offers", "more than"), ("long-challenge", "longer than")];

/// Sellers that need more than one request; each has a test.
const MORE: &[&str] = &[
    "payee-redirect",
    "redirect-host",
    "prose-payment",
    "hidden-order",
    "ghost-paywall",
    "lookalike-host",
    "price-jump",
    "replay",
    "retry-storm",
    "endless-402",
    "fake-delivery",
    "settlement-lie",
    "budget-split",
    "resource-spoof",
    "user-info-url",
    "challenge-injection",
    "approve-first",
    "permit-instead",
    "operator-approval",
    "sign-hash",
];

/// Sellers that are not noticed: what is said is what an honest one hears.
const MISSED: &[&str] = &["price-bait", "domain-swap", "nonce-reuse"];

#[test]
fn every_seller_is_in_a_list() {
    let mut known: BTreeSet<&str> = AT_ONCE.iter().map(|own| own.0).collect();
    known.extend(UNREAD.iter().chain(REFUSED).map(|own| own.0));
    known.extend(MORE.iter().chain(MISSED));
    assert_eq!(known, VARIANTS.iter().map(|own| own.name).collect());
}

#[test]
fn what_a_challenge_asks_for_is_refused_for_its_own_reason() {
    let world = World::new("seller-at-once");
    let seller = Seller::new(&world, &[]);
    for form in FORMS {
        for (name, status, guards) in AT_ONCE {
            let mut buyer = Buyer::new(&world, &seller, &format!("{name}-{form}"));
            buyer.file(&seller.get(&seller.url(name, "page")).body);
            let url = seller.url(name, &format!("{form}/data"));
            let offer = last(&buyer.fetch(&url));
            assert_eq!(buyer.check(&url, &offer), said(status, guards), "{name} {form}");
        }
        for (name, field) in UNREAD {
            let mut buyer = Buyer::new(&world, &seller, &format!("{name}-{form}"));
            let url = seller.url(name, &format!("{form}/data"));
            let answer = buyer.fetch(&url);
            match buyer.check(&url, &last(&answer)) {
                Said::Wrong(own) => {
                    assert!(own.starts_with(field) || own.starts_with("max"), "{name} {form}: {own}")
                }
                other => panic!("{name} {form}: {other:?}"),
            }
            let read = answer.read().unwrap();
            assert!(read.offers.is_empty() && read.unread.len() == 1, "{name} {form}: {read:?}");
        }
        for (name, why) in REFUSED {
            let answer = seller.get(&seller.url(name, &format!("{form}/data")));
            let wrong = answer.read().unwrap_err();
            assert!(wrong.to_string().contains(why), "{name} {form}: {wrong}");
        }
    }
}

#[test]
fn a_payee_or_a_price_that_changes_between_two_challenges() {
    let world = World::new("seller-changes");
    let seller = Seller::new(&world, &[]);
    for form in FORMS {
        let mut buyer = Buyer::new(&world, &seller, &format!("payee-redirect-{form}"));
        let url = seller.url("payee-redirect", &format!("{form}/data"));
        buyer.fetch(&url);
        let second = last(&buyer.fetch(&url));
        assert_eq!(buyer.check(&url, &second), said("denied", &["payee-mismatch", "payee-new"]), "{form}");

        let mut buyer = Buyer::new(&world, &seller, &format!("price-jump-{form}"));
        let url = seller.url("price-jump", &format!("{form}/data"));
        let first = last(&buyer.fetch(&url));
        assert_eq!(buyer.check(&url, &first), said("allowed", &[]), "{form}");
        let second = last(&buyer.fetch(&url));
        assert_eq!(buyer.check(&url, &second), said("review_pending", &["price-rises"]), "{form}");
    }
}

#[test]
fn a_host_that_is_not_the_sellers() {
    let world = World::new("seller-hosts");
    let seller = Seller::new(&world, &[]);
    for (number, form) in (1..).zip(FORMS) {
        for name in ["ghost-paywall", "lookalike-host", "resource-spoof", "user-info-url"] {
            let mut buyer = Buyer::new(&world, &seller, &format!("{name}-{form}"));
            let page = seller.get(&seller.url(name, "page")).body;
            buyer.file(&page);
            let link = page.split('"').find(|part| part.ends_with(&format!("{form}/data"))).unwrap();
            let offer = last(&buyer.fetch(link));
            let expected = said("denied", &["payee-new", "seller-not-allowed"]);
            assert_eq!(buyer.check(link, &offer), expected, "{name} {form}");
            // What the challenge says of itself.
            let claimed = buyer.fetch(link).challenges()[0].clone();
            let claimed =
                claimed["resource"]["url"].as_str().or(claimed["accepts"][0]["resource"].as_str()).unwrap();
            let claim = buyer.check(claimed, &offer);
            match name {
                "resource-spoof" => assert_eq!(claim, said("review_pending", &["payee-new"]), "{form}"),
                "user-info-url" => assert_eq!(claim, Said::Wrong("resourceUrl".to_owned()), "{form}"),
                _ => assert_eq!(claimed, link),
            }
        }
        let mut buyer = Buyer::new(&world, &seller, &format!("redirect-host-{form}"));
        let url = seller.url("redirect-host", &format!("{form}/data"));
        let offer = last(&buyer.fetch(&url));
        assert_eq!(buyer.check(&url, &offer), said("allowed", &[]), "{form}");
        let sent_on = seller.pay(&url, &offer, number);
        assert_eq!(sent_on.status, 307);
        let other = sent_on.all("location")[0].to_owned();
        assert_eq!(buyer.check(&other, &offer), said("denied", &["seller-not-allowed"]), "{form}");
    }
}

#[test]
fn texts_that_give_orders() {
    let world = World::new("seller-texts");
    let seller = Seller::new(&world, &[]);
    let thief = "0xA8c31E8f96c80aF0B331f904D15938ca75b8ef55";
    let data = format!("0xa9059cbb{:0>64}{:0>64x}", thief.trim_start_matches("0x").to_lowercase(), 50_000);
    for name in ["prose-payment", "hidden-order"] {
        let mut buyer = Buyer::new(&world, &seller, name);
        let page = seller.get(&seller.url(name, "page")).body;
        assert!(page.contains(thief));
        buyer.file(&page);
        let own = json!({ "kind": "contract_call", "network": "base-sepolia", "to": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "data": data });
        assert_eq!(
            buyer.ask(own, None),
            said("denied", &["flagged", "payee-filed", "payee-new", "seller-not-allowed"]),
            "{name}"
        );
    }
    assert_eq!(seller.get(&seller.url("prose-payment", "v1-evm/data")).status, 200, "nothing is sold there");
    for form in FORMS {
        let mut buyer = Buyer::new(&world, &seller, &format!("challenge-injection-{form}"));
        let url = seller.url("challenge-injection", &format!("{form}/data"));
        let answer = buyer.fetch(&url);
        buyer.file(&answer.challenges()[0].to_string());
        assert_eq!(buyer.check(&url, &last(&answer)), said("denied", &["flagged"]), "{form}");
    }
}

#[test]
fn a_seller_that_is_never_content() {
    let world = World::new("seller-again");
    let seller = Seller::new(&world, &[]);
    for (number, form) in (1..).zip(FORMS) {
        for (more, (name, status)) in
            (0..).zip([("replay", 402), ("endless-402", 402), ("fake-delivery", 200)])
        {
            let mut buyer = Buyer::new(&world, &seller, &format!("{name}-{form}"));
            let url = seller.url(name, &format!("{form}/data"));
            let offer = last(&buyer.fetch(&url));
            assert_eq!(buyer.check(&url, &offer), said("allowed", &[]), "{name} {form}");
            let answer = seller.pay(&url, &offer, 4 * more + number);
            assert_eq!(answer.status, status, "{name} {form}");
            let next = match serde_json::from_str::<Value>(&answer.body) {
                Ok(body) if body["next"].is_string() => body["next"].as_str().unwrap().to_owned(),
                _ => url.clone(),
            };
            let offer = last(&buyer.fetch(&next));
            assert_eq!(buyer.check(&next, &offer), said("denied", &["made-before"]), "{name} {form}");
        }
        let mut buyer = Buyer::new(&world, &seller, &format!("retry-storm-{form}"));
        let mut url = seller.url("retry-storm", &format!("{form}/data"));
        let mut offer = last(&buyer.fetch(&url));
        for round in 1..=20 {
            assert_eq!(buyer.check(&url, &offer), said("allowed", &[]), "{form} {round}");
            let answer = seller.pay(&url, &offer, 40 * number + round);
            let asked = answer.challenges()[0].clone();
            assert_eq!(asked["error"], "the price has changed, pay once more", "{form} {round}");
            url = asked["resource"]["url"]
                .as_str()
                .or(asked["accepts"][0]["resource"].as_str())
                .unwrap()
                .to_owned();
            offer = last(&answer);
        }
        assert_eq!(buyer.check(&url, &offer), said("denied", &["too-many"]), "{form}");
    }
}

#[test]
fn many_payees_are_one_budget() {
    let world = World::new("seller-pieces");
    let seller = Seller::new(&world, &[]);
    let mut buyer = Buyer::new(&world, &seller, "budget-split");
    let mut payees = BTreeSet::new();
    for piece in 0..13 {
        let url = seller.url("budget-split", &format!("v2-evm/piece/{piece}"));
        buyer.observed = None;
        let offer = last(&buyer.fetch(&url));
        payees.insert(offer["payTo"].to_string());
        let expected = match piece {
            0..12 => said("review_pending", &["payee-new"]),
            _ => said("denied", &["over-budget", "payee-new"]),
        };
        assert_eq!(buyer.check(&url, &offer), expected, "{piece}");
    }
    assert_eq!(payees.len(), 13);
}

#[test]
fn a_receipt_over_what_was_signed_counts_in_full() {
    let world = World::new("seller-receipt");
    let seller = Seller::new(&world, &[]);
    for (number, form) in (1..).zip(FORMS) {
        let mut buyer = Buyer::new(&world, &seller, &format!("settlement-lie-{form}"));
        let url = seller.url("settlement-lie", &format!("{form}/data"));
        let offer = last(&buyer.fetch(&url));
        assert_eq!(buyer.check(&url, &offer), said("allowed", &[]), "{form}");
        let told = receipt(&seller.pay(&url, &offer, number), form);
        assert_eq!(told.units, Some(Units::new(1_000_000)));
        let own =
            Settlement { success: true, transaction: told.transaction, units: told.units, evidence: true };
        let id = buyer.id.clone();
        assert_eq!(buyer.front(|front| front.settle(&id, &own)), Ok(Settled::Over), "{form}");
        let other = format!("{url}/other");
        let offer = last(&buyer.fetch(&other));
        assert_eq!(buyer.check(&other, &offer), said("denied", &["over-budget"]), "{form}");
    }
}

#[test]
fn what_is_to_be_signed_before_a_payment() {
    let world = World::new("seller-before");
    let seller = Seller::new(&world, &[]);
    for (name, guards) in [
        ("approve-first", &["call-not-allowed", "over-approval", "seller-not-allowed"][..]),
        ("permit-instead", &["call-not-allowed", "over-approval", "seller-not-allowed", "too-long"]),
        ("operator-approval", &["call-not-allowed", "over-approval", "seller-not-allowed"]),
        (
            "sign-hash",
            &[
                "call-not-allowed",
                "over-approval",
                "over-budget",
                "over-limit",
                "seller-not-allowed",
                "wrong-asset",
            ],
        ),
    ] {
        for form in ["v1-evm", "v2-evm"] {
            let mut buyer = Buyer::new(&world, &seller, &format!("{name}-{form}"));
            let offer = last(&buyer.fetch(&seller.url(name, &format!("{form}/data"))));
            let Said::Decided(status, mut spoke) = buyer.ask(offer["extra"]["before"].clone(), None) else {
                panic!("{name} {form}");
            };
            // The `domain` of typed data is taken for hosts too; that only asks.
            spoke.remove("built-in");
            assert_eq!(Said::Decided(status, spoke), said("denied", guards), "{name} {form}");
        }
    }
}

#[test]
fn what_is_not_noticed_yet() {
    let world = World::new("seller-missed");
    let seller = Seller::new(&world, &[]);
    for name in MISSED {
        let mut buyer = Buyer::new(&world, &seller, name);
        buyer.file(&seller.get(&seller.url(name, "page")).body);
        for page in ["data", "other"] {
            let url = seller.url(name, &format!("v2-evm/{page}"));
            let offer = last(&buyer.fetch(&url));
            assert_eq!(buyer.check(&url, &offer), said("allowed", &[]), "{name} {page}");
        }
    }
}
