//! Labelled payments: a neutral policy of knobs, steps, and what each has to get.
//!
//! INVARIANT: each knob becomes the line of the language that says it; a knob without one fails its case. `POLICY_CASES_DIR` names
//! another folder with a `payments.jsonl`. Time is a number that the case says.

use crate::paying::Api;
use crate::support::{World, root};
use policy_engine::decide::{Engine, Options};
use policy_engine::layers::Default_;
use policy_engine::open::Care;
use policy_engine::places::Folders;
use policy_gateway::pay::{Front, Rate, Refusal, Request, Scanned};
use policy_hosts::call::Call;
use policy_ledger::Sqlite;
use policy_payments::Units;
use policy_payments::ledger::{Content, Decision, Ledger, Settled, Settlement};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::path::PathBuf;

/// A night at the beginning of 2026, milliseconds.
const START: u64 = 1_767_225_600_000;

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn list(value: &Value) -> String {
    let all: Vec<String> = value.as_array().unwrap().iter().map(|own| format!("{own}")).collect();
    all.join(", ")
}

fn verb(action: &Value) -> &str {
    if action == "review" { "ask" } else { "deny" }
}

/// The policy of a case in the language; the knob that has no line.
fn policy(knobs: &Map<String, Value>) -> Result<String, String> {
    let mut out = String::from("policy \"case\" language 1\n\n");
    let mut guards = String::new();
    let mut guard = |name: &str, line: String| {
        let _ = writeln!(guards, "guard {name} on check_payment {{\n  {line}\n}}\n");
    };
    let mut symbols = BTreeSet::new();
    let mut networks = BTreeSet::new();
    for asset in knobs.get("assets").and_then(Value::as_array).into_iter().flatten() {
        let network = text(asset, "network");
        let kind = if network.starts_with("eip155") { "erc20" } else { "token" };
        let _ = writeln!(
            out,
            "asset {} is \"{network}/{kind}:{}\" decimals {}",
            text(asset, "symbol"),
            text(asset, "address"),
            asset["decimals"]
        );
        symbols.insert(text(asset, "symbol").to_owned());
        networks.insert(network.to_owned());
    }
    for (at, payee) in knobs.get("known_payees").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let _ = writeln!(out, "payee known-{at} is {payee}");
    }
    if knobs.get("mode").is_some_and(|mode| mode == "observe") {
        out.push_str("mode observe\n");
    }
    out.push_str("\nrule pay on check_payment {\n  otherwise allow\n}\n\n");
    let quoted: Vec<String> = networks.iter().map(|own| format!("\"{own}\"")).collect();
    guard("wrong-network", format!("only network {}", quoted.join(", ")));
    let mut assets: Vec<String> = symbols.iter().cloned().collect();
    guard("payee-mismatch", "deny payee mismatch".to_owned());
    let schemes = knobs.get("schemes").map_or("exact, upto".to_owned(), |own| list(own).replace('"', ""));
    guard("scheme-not-allowed", format!("only scheme {schemes}"));
    let content = knobs.get("content").is_none_or(|own| own["enforce"] != false);
    if content {
        guard("content-flagged", "deny when session flagged".to_owned());
    }
    let side = |own: &Value| match text(own, "per") {
        "payee" => " by payee",
        "host" => " by seller",
        "session" => " by session",
        _ => "",
    };
    for (knob, value) in knobs {
        match knob.as_str() {
            "mode" | "assets" | "known_payees" | "schemes" | "content" | "rate_per_minute" => {}
            "first_payment" if value == "allow" => {}
            "first_payment" => guard("first-payment", format!("{} payee new", verb(value))),
            "max_per_tx" | "review_over" => {
                let (name, verb) = match knob.as_str() {
                    "max_per_tx" => ("over-tx-limit", "deny"),
                    _ => ("over-review-threshold", "ask"),
                };
                for (symbol, amount) in value.as_object().unwrap() {
                    guard(name, format!("{verb} amount over {} {symbol}", amount.as_str().unwrap()));
                }
            }
            "budgets" => {
                for (at, own) in value.as_array().unwrap().iter().enumerate() {
                    let window = match text(own, "window") {
                        "total" => "per 36500d".to_owned(),
                        "session" => "per session".to_owned(),
                        window => match window.strip_prefix("rolling ") {
                            Some(seconds) => format!("per {seconds}s"),
                            None => return Err(format!("budgets {window}")),
                        },
                    };
                    let side = if window == "per session" { "" } else { side(own) };
                    guard(
                        &format!("over-budget-{at}"),
                        format!(
                            "{} spend over {} {} {window}{side}",
                            verb(&own["action"]),
                            text(own, "limit"),
                            text(own, "asset")
                        ),
                    );
                }
            }
            "velocity" => {
                for (at, own) in value.as_array().unwrap().iter().enumerate() {
                    guard(
                        &format!("over-velocity-{at}"),
                        format!(
                            "info payee mismatch\n  {} calls over {} per {}s{}",
                            verb(&own["action"]),
                            own["count"],
                            own["window_seconds"],
                            side(own)
                        ),
                    );
                }
            }
            "duplicates" => guard(
                "duplicate-payment",
                format!(
                    "info payee mismatch\n  {} repeats over 0 per {}s",
                    verb(&value["action"]),
                    value["window_seconds"]
                ),
            ),
            "review" => {
                if let Some(seconds) = value["expires_seconds"].as_u64() {
                    let _ = writeln!(out, "ask timeout {seconds}s\n");
                }
            }
            "payees_deny" => guard("payee-denied", format!("deny payee {}", list(value))),
            "payees_allow" => guard(
                "payee-not-allowed",
                match knobs.get("payees_allow_else") {
                    Some(action) if action != "deny" => format!("ask payee \"*\" except {}", list(value)),
                    _ => format!("only payee {}", list(value)),
                },
            ),
            "payees_allow_else" | "hosts_allow_else" => {}
            "lookalike" if value["prefix"] == 4 && value["suffix"] == 4 => {
                guard("lookalike-payee", format!("{} payee lookalike", verb(&value["action"])));
            }
            "hosts_deny" => guard("host-denied", format!("deny seller {}", list(value))),
            "hosts_allow" => guard(
                "host-not-allowed",
                match knobs.get("hosts_allow_else") {
                    Some(action) if action != "deny" => format!("ask seller \"*\" except {}", list(value)),
                    _ => format!("only seller {}", list(value)),
                },
            ),
            "require_observed402" => guard("payee-unverified", format!("{} payee unverified", verb(value))),
            "payee_from_content" => guard("payee-from-content", format!("{} payee filed", verb(value))),
            "max_timeout_seconds" => guard("authorization-too-long", format!("deny lifetime over {value}s")),
            "price_jump" => {
                let (num, den) = (value["ratio"][0].as_u64().unwrap(), value["ratio"][1].as_u64().unwrap());
                guard(
                    "price-jump",
                    format!("{} rise over {}%", verb(&value["action"]), (num - den) * 100 / den),
                );
            }
            "contract_calls" => {
                let mut calls = vec!["value".to_owned()];
                for own in value["selectors"].as_array().into_iter().flatten() {
                    calls.push(selector(own.as_str().unwrap()));
                }
                guard("selector-not-allowed", format!("{} call {}", "only", calls.join(", ")));
                let symbol = symbols.iter().next().unwrap();
                // 2^255 - 1 smallest units of a token with 6 decimals.
                guard(
                    "unlimited-approval",
                    format!(
                        "deny approval over 57896044618658097711785492504343953926634992332820282019728792003956564.819967 {symbol}"
                    ),
                );
                if let Some(most) = value["max_approval"].as_str() {
                    guard("approval-over-limit", format!("deny approval over {most} {symbol}"));
                }
                let network = networks.iter().next().unwrap();
                let _ = writeln!(out, "asset COIN is \"{network}/slip44:60\" decimals 18\n");
                let most = value["max_native_value"].as_str().unwrap_or("0");
                guard("native-value-over-limit", format!("deny amount over {} COIN", wei(most)));
                assets.push("COIN".to_owned());
                if value.get("to_allow").is_some() {
                    return Err("contract_calls.to_allow".to_owned());
                }
            }
            "hours_utc" => {
                let (from, to) = (value[0].as_u64().unwrap(), value[1].as_u64().unwrap());
                let verb =
                    if knobs.get("hours_else").is_some_and(|own| own == "deny") { "deny" } else { "ask" };
                guard("outside-hours", format!("{verb} unless hours \"{from:02}:00-{to:02}:00 UTC\""));
            }
            other => return Err(other.to_owned()),
        }
    }
    guard("wrong-asset", format!("only asset {}", assets.join(", ")));
    Ok(out + &guards)
}

fn wei(units: &str) -> String {
    let digits = format!("{units:0>19}");
    let (whole, part) = digits.split_at(digits.len() - 18);
    format!("{whole}.{part}")
}

fn selector(hex: &str) -> String {
    let names = [
        ("0xa9059cbb", "transfer"),
        ("0x23b872dd", "transferFrom"),
        ("0x095ea7b3", "approve"),
        ("0x39509351", "increaseAllowance"),
        ("0xa22cb465", "setApprovalForAll"),
        ("0xd505accf", "permit"),
        ("0xe3ee160e", "transferWithAuthorization"),
        ("0xef55bec6", "receiveWithAuthorization"),
    ];
    names.iter().find(|(own, _)| *own == hex).map_or(hex.to_owned(), |(_, name)| (*name).to_owned())
}

/// Asks, as a process of its own would.
fn front<T>(
    [home, policy, repo]: &[PathBuf; 3],
    ledger: &Sqlite,
    (session, now, found): (&str, u64, &str),
    what: impl FnOnce(&mut Front<'_>) -> T,
) -> T {
    let options = Options {
        policy: Some(policy.clone()),
        care: Care::Named,
        default: Default_::Std,
        sessions: false,
        caching: true,
        resolve_links: true,
        compiler: &policy_engine::work::Here,
    };
    let mut engine = Engine::new(Folders::under(home), options);
    let found = match found {
        "flagged" => Content::Flagged,
        "unavailable" => Content::Unfinished,
        _ => Content::Clear,
    };
    let scan = |_: &str, _: &str| Scanned { found, classes: Vec::new() };
    let frame = Call {
        host: "mcp".to_owned(),
        event: "pre_tool_use".to_owned(),
        host_event: "pre_tool_use".to_owned(),
        cwd: repo.clone(),
        ..Call::default()
    };
    let mut front = Front {
        engine: &mut engine,
        ledger,
        frame,
        session: session.to_owned(),
        account: String::new(),
        now,
        scan: &scan,
    };
    what(&mut front)
}

/// One case with its folders.
struct Case {
    world: World,
    policy: PathBuf,
    ledger: Sqlite,
    rate: Option<Rate>,
    decisions: HashMap<String, String>,
    made: usize,
    hash: Option<[u8; 32]>,
}

impl Case {
    fn new(id: &str, source: &str, knobs: &Map<String, Value>) -> Case {
        let world = World::new(&format!("payments-{id}"));
        let policy = world.file("case.policy", source);
        let state = Folders::under(&world.path("home")).state;
        Case {
            ledger: Sqlite::at(policy_ledger::file(&state)),
            world,
            policy,
            rate: knobs
                .get("rate_per_minute")
                .and_then(Value::as_u64)
                .map(|most| Rate::new(most.try_into().unwrap())),
            decisions: HashMap::new(),
            made: 0,
            hash: None,
        }
    }

    fn front<T>(&self, session: &str, now: u64, found: &str, what: impl FnOnce(&mut Front<'_>) -> T) -> T {
        let place = [self.world.path("home"), self.policy.clone(), self.world.path("repo")];
        front(&place, &self.ledger, (session, now, found), what)
    }

    /// `$h`, `$d1`, a suffix: what earlier steps said, in the arguments of this one.
    fn arguments(&self, step: &Value) -> Map<String, Value> {
        let mut given = step["args"].as_object().unwrap().clone();
        if given.get("contextSha256").is_some_and(|own| own == "$h") {
            let hash = self.hash.unwrap();
            given.insert("contextSha256".to_owned(), hash.map(|byte| format!("{byte:02x}")).concat().into());
        }
        given
    }

    fn check(&mut self, step: &Value, now: u64) -> Value {
        if let Some(rate) = &mut self.rate
            && !rate.take("", now)
        {
            return json!({"error": 429});
        }
        let given = self.arguments(step);
        let found = text(step, "content_result").to_owned();
        let mut done = self.front(text(step, "session"), now, &found, |front| {
            Request::of_tool(&given).and_then(|request| front.check(&request))
        });
        // Whoever waits hears of it: here it is asked for once more, as a wait does.
        if let (Ok(decision), Some(action)) = (&done, step["during_wait"]["review"].as_str()) {
            let (id, later) =
                (decision.id.clone(), now + step["during_wait"]["after"].as_u64().unwrap() * 1000);
            self.front("", later, "", |front| front.review(&id, action == "approve")).unwrap();
            done = self.front("", later, "", |front| front.decision(&id));
        }
        if let Ok(decision) = &done
            && !self.decisions.values().any(|known| *known == decision.id)
        {
            self.made += 1;
            self.decisions.insert(format!("d{}", self.made), decision.id.clone());
        }
        self.told(done)
    }

    fn told(&self, done: Result<Decision, Refusal>) -> Value {
        match done {
            Ok(decision) => {
                let name =
                    self.decisions.iter().find(|(_, id)| **id == decision.id).map(|(name, _)| name.clone());
                json!({
                    "status": decision.status.word(), "reasons": reasons(&decision), "id": name,
                    "would": decision.would.word(),
                })
            }
            Err(Refusal::Input { field, .. }) => json!({"error": 400, "field": field}),
            Err(Refusal::Conflict) => json!({"error": 409, "field": "idempotency_key"}),
            Err(refusal) => {
                json!({"error": refusal.status(), "do_not_pay": refusal.sentence().contains("Do not pay")})
            }
        }
    }

    fn id(&self, step: &Value) -> String {
        let name = text(step, "decision").trim_start_matches('$');
        self.decisions.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    fn step(&mut self, step: &Value) -> Value {
        let now = START + step["at"].as_u64().unwrap_or_default() * 1000;
        match text(step, "op") {
            "check_payment" => self.check(step, now),
            "file_context" => {
                let own = match step["text_repeat"].as_array() {
                    Some(all) => {
                        all[0].as_str().unwrap().repeat(all[1].as_u64().unwrap().try_into().unwrap())
                    }
                    None => text(step, "text").replace('\0', "\u{fffd}"),
                };
                let filed = self.front(text(step, "session"), now, text(step, "content_result"), |front| {
                    front.file("page", &own)
                });
                let (found, hash) = filed.unwrap();
                self.hash = Some(hash);
                let word = match found {
                    Content::Flagged => "flagged",
                    Content::Clear => "clear",
                    Content::Unfinished => "unavailable",
                };
                let sum = |text: &str| -> [u8; 32] {
                    sha2::Digest::finalize(sha2::Digest::chain_update(
                        <sha2::Sha256 as sha2::Digest>::new(),
                        text,
                    ))
                    .into()
                };
                let same = step["expect"]["sha256_of"].as_str().filter(|text| sum(text) == hash);
                json!({"status": word, "bytes": policy_gateway::pay::cut(&own).len(), "sha256_of": same})
            }
            "report_settlement" => {
                let units = step["amountAtomic"].as_str().and_then(Units::whole);
                let settlement = Settlement {
                    success: step["success"] == true,
                    transaction: text(step, "transaction").to_owned(),
                    units,
                    evidence: text(step, "channel") == "proxy",
                };
                let id = self.id(step);
                match self.front("", now, "", |front| front.settle(&id, &settlement)) {
                    Ok(settled) => json!({"result": match settled {
                        Settled::Recorded => "recorded",
                        Settled::Over => "recorded_over",
                        Settled::Released => "released",
                        Settled::Claimed => "claimed",
                    }}),
                    Err(refusal) => json!({"error": refusal.status()}),
                }
            }
            "review" => {
                let id = self.id(step);
                let done = self.front("", now, "", |front| front.review(&id, step["action"] == "approve"));
                self.told(done)
            }
            "get_decision" => {
                let id = self.id(step);
                let done = self.front("", now, "", |front| front.decision(&id));
                self.told(done)
            }
            "break_ledger" => {
                let file = policy_ledger::file(&Folders::under(&self.world.path("home")).state);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(&file, vec![0x41; 8192]).unwrap();
                use std::os::unix::fs::PermissionsExt;
                let mode = if step["how"] == "read_only" { 0o400 } else { 0o600 };
                std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
                json!({})
            }
            "http" => self.http(step),
            "parallel_processes" => self.parallel(step, now),
            other => json!({"unknown step": other}),
        }
    }

    /// Over HTTP, as a client with the token.
    fn http(&self, step: &Value) -> Value {
        let api = Api::under(&self.world, &self.policy.display().to_string(), &[]);
        let bearer = api.bearer();
        let mut headers = vec![("Authorization", bearer.as_str())];
        for (name, value) in step["headers"].as_object().into_iter().flatten() {
            headers.push((name, value.as_str().unwrap()));
        }
        let body = if step["body"].is_null() { String::new() } else { step["body"].to_string() };
        let (status, answer) = api.raw(text(step, "method"), text(step, "path"), &headers, &body);
        match status {
            200 => answer,
            status => json!({"error": status, "field": answer["error"]["field"]}),
        }
    }

    /// As processes would: each with an engine and a connection of its own.
    fn parallel(&mut self, step: &Value, now: u64) -> Value {
        let count = step["n"].as_u64().unwrap();
        let inner = &step["step"];
        let home = self.world.path("home");
        let file = policy_ledger::file(&Folders::under(&home).state);
        let done: Vec<Decision> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..count)
                .map(|number| {
                    let (file, case) = (file.clone(), &*self);
                    let mut given = case.arguments(inner);
                    if inner["args"]["resource_suffix"] == true || inner["resource_suffix"] == true {
                        given.remove("resource_suffix");
                        let url = given["payment"]["resourceUrl"].as_str().unwrap().to_owned();
                        given["payment"]["resourceUrl"] = format!("{url}/{number}").into();
                    }
                    let session = text(inner, "session").to_owned();
                    scope.spawn(move || {
                        let place = [case.world.path("home"), case.policy.clone(), case.world.path("repo")];
                        let request = Request::of_tool(&given).unwrap();
                        front(&place, &Sqlite::at(file), (&session, now, ""), |front| front.check(&request))
                            .unwrap()
                    })
                })
                .collect();
            all.into_iter().map(|own| own.join().unwrap()).collect()
        });
        let of = |word: &str| done.iter().filter(|own| own.status.word() == word).count();
        let ids: BTreeSet<&String> = done.iter().map(|own| &own.id).collect();
        let held = self.ledger.recent(1000, now).unwrap();
        let allowed: Vec<&Decision> = held.iter().filter(|own| own.status.word() == "allowed").collect();
        let mut sum = Units::ZERO;
        for flow in allowed.iter().flat_map(|own| &own.flows) {
            sum = sum.plus(flow.units).unwrap();
        }
        json!({
            "allowed": of("allowed"), "denied": of("denied"), "sum_reserved": sum.to_string(), "distinct_ids": ids.len(),
            "reservations": allowed.len(),
        })
    }
}

/// The knobs that spoke.
fn reasons(decision: &Decision) -> Vec<String> {
    let mut all: BTreeSet<String> = BTreeSet::new();
    for reason in &decision.reasons {
        let rule = reason.rule.split(' ').next().unwrap_or_default();
        let name = match rule {
            "built-in" if reason.sentence.contains("check of the page") => "content_unfinished".to_owned(),
            "built-in" | "default" => format!("{rule}: {}", reason.sentence),
            own => own.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-').replace('-', "_"),
        };
        all.insert(name);
    }
    // What follows from another one is no reason of its own.
    if all.contains("wrong_network") {
        all.remove("wrong_asset");
    }
    if all.contains("unlimited_approval") {
        all.remove("approval_over_limit");
    }
    all.into_iter().collect()
}

/// Whether what came has all that is expected.
fn meets(came: &Value, expected: &Value) -> bool {
    expected.as_object().unwrap().iter().all(|(key, wanted)| match key.as_str() {
        "reasons" => {
            let sorted = |value: &Value| -> BTreeSet<String> {
                value.as_array().into_iter().flatten().map(|own| own.as_str().unwrap().to_owned()).collect()
            };
            sorted(&came[key]) == sorted(wanted)
        }
        "points_at" => true,
        _ => came[key] == *wanted,
    })
}

/// Errors of policies, in our words.
fn source(neutral: &str) -> Option<&'static str> {
    Some(match neutral {
        "limit over -1 USDC per payment" => "guard g on check_payment {\n  deny amount over -1 USDC\n}\n",
        "payee known 0x209693bC6afc0C5328bA36FaF03C514EF312287C" => {
            "payee known is \"0x209693bC6afc0C5328bA36FaF03C514EF312287C\"\n"
        }
        "budget 5 USDC" => "guard g on check_payment {\n  deny spend over 5 USDC\n}\n",
        "review expires after 0s" => "ask timeout 0s\n\nguard g on check_payment {\n  ask payee new\n}\n",
        _ => return None,
    })
}

fn run(row: &Value) -> Result<(), String> {
    let knobs = row["policy"].as_object().unwrap();
    if let Some(neutral) = knobs.get("source").and_then(Value::as_str) {
        let own = source(neutral).ok_or_else(|| format!("no line for `{neutral}`"))?;
        let asset =
            "asset USDC is \"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\" decimals 6\n";
        let world = World::new(&format!("payments-{}", text(row, "id")));
        let file = world.file("case.policy", format!("policy \"case\" language 1\n\n{asset}\n{own}"));
        let out = world.run(&["compile", &file.display().to_string()], b"");
        let said = String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
        let good = !out.status.success() && said.contains("case.policy:");
        return if good { Ok(()) } else { Err(said) };
    }
    let own = policy(knobs).map_err(|knob| format!("no line says `{knob}`"))?;
    let mut case = Case::new(text(row, "id"), &own, knobs);
    for (number, step) in row["steps"].as_array().unwrap().iter().enumerate() {
        let came = case.step(step);
        if step["expect"].is_object() && !meets(&came, &step["expect"]) {
            return Err(format!("step {}: expected {}, got {came}", number + 1, step["expect"]));
        }
    }
    Ok(())
}

#[test]
fn labelled_payments_get_what_they_should() {
    let folder = std::env::var_os("POLICY_CASES_DIR").map_or(root().join("tests/payments"), PathBuf::from);
    let file = ["payments.jsonl", "cases.jsonl"]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|file| file.exists());
    let all = std::fs::read_to_string(file.expect("a file of payments")).unwrap();
    let only = std::env::var("POLICY_CASE").ok();
    let (mut passed, mut failed) = (0, Vec::new());
    for line in all.lines().filter(|line| !line.trim().is_empty()) {
        let row: Value = serde_json::from_str(line).unwrap();
        if only.as_ref().is_some_and(|only| row["id"] != only.as_str()) {
            continue;
        }
        match run(&row) {
            Ok(()) => passed += 1,
            Err(why) => failed.push(format!("{} ({}): {why}", text(&row, "id"), text(&row, "title"))),
        }
    }
    for line in &failed {
        println!("{line}");
    }
    println!("{passed} passed, {} failed", failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
