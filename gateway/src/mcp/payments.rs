//! The tools about payments: `check_payment`, `file_context`, `report_settlement`, `get_policy`, `list_recent_decisions`.
//!
//! INVARIANT: each answer is plain sentences that a model can quote, and the same as fields; a ledger that cannot be used is an error
//! that says do not pay. What an agent reports frees nothing.

use crate::mcp::arguments::{Arguments, Wrong};
use crate::mcp::desk::Worker;
use crate::mcp::tools::Tool;
use crate::pay::{Front, Refusal, Request, TOOL, answer, content_words, hex, scan};
use policy_engine::layers::Layer;
use policy_engine::paying::now_ms;
use policy_hosts::reply::clean;
use policy_payments::Units;
use policy_payments::ledger::{Content, Decision, Settled, Settlement, Status};
use policy_runtime::payment;
use policy_runtime::table::{Table, Verb};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Most decisions of one answer.
const MOST: u64 = 100;

impl From<Refusal> for Wrong {
    fn from(refusal: Refusal) -> Wrong {
        match &refusal {
            Refusal::Input { field, why } => {
                Wrong { field: Some(field.clone()), message: format!("`{field}`: {why}") }
            }
            Refusal::Conflict => {
                Wrong { field: Some("idempotency_key".to_owned()), message: refusal.sentence() }
            }
            _ => Wrong::plain(refusal.sentence()),
        }
    }
}

/// With the engine and the ledger of this server.
fn front<T>(
    worker: &mut Worker,
    what: impl FnOnce(&mut Front<'_>) -> Result<T, Refusal>,
) -> Result<T, Wrong> {
    let frame = worker.call("pre_tool_use", TOOL, Value::Null)?;
    let session = worker.start.surroundings.payments.clone().unwrap_or_default();
    let store = worker
        .start
        .record
        .ok_or_else(|| Wrong::plain("nobody here keeps a ledger of payments. Do not pay."))?;
    let ledger = store
        .ledger(&worker.start.folders.state)
        .map_err(|cause| Wrong::plain(format!("{cause}. Do not pay.")))?;
    let mut front = Front {
        engine: worker.engine(),
        ledger: ledger.as_ref(),
        frame,
        session,
        account: String::new(),
        now: now_ms(),
        scan: &scan,
    };
    Ok(what(&mut front)?)
}

/// A decision as a client sees it.
fn told(decision: &Decision, waited: u64, wait: u64) -> Value {
    let reasons: Vec<Value> = decision
        .reasons
        .iter()
        .map(|reason| {
            json!({
                "result": if reason.denies { "deny" } else { "review" },
                "rule": clean(&reason.rule, 200),
                "sentence": clean(&reason.sentence, 600),
            })
        })
        .collect();
    json!({
        "text": answer(decision, waited),
        "id": decision.id,
        "status": decision.status.word(),
        "reasons": reasons,
        "wait_seconds": wait,
    })
}

/// `check_payment`.
pub(crate) fn check(worker: &mut Worker, given: Option<Map<String, Value>>) -> Result<Value, Wrong> {
    let request = Request::of_tool(&given.unwrap_or_default())?;
    let decision = front(worker, |front| front.check(&request))?;
    if decision.status == Status::ReviewPending {
        crate::approve::summon(&worker.start.folders);
    }
    Ok(told(&decision, 0, request.wait))
}

/// What became of a payment that waits.
pub(crate) fn again(worker: &mut Worker, given: Option<Map<String, Value>>) -> Result<Value, Wrong> {
    let given = given.unwrap_or_default();
    let id = given.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let waited = given.get("waited").and_then(Value::as_u64).unwrap_or_default();
    let decision = front(worker, |front| front.waited(&id))?;
    Ok(told(&decision, waited, 0))
}

/// `file_context`.
pub(crate) fn file(worker: &mut Worker, arguments: &mut Arguments) -> Result<Value, Wrong> {
    let text = arguments.text("text")?;
    let origin = arguments.optional("origin")?.unwrap_or_else(|| "unknown".to_owned());
    if text.is_empty() {
        return Err(Wrong::field("text", "is empty"));
    }
    let (found, hash) = front(worker, |front| front.file(&origin, &text.replace('\0', "\u{fffd}")))?;
    let status = match found {
        Content::Flagged => "flagged",
        Content::Clear => "clear",
        Content::Unfinished => "unchecked",
    };
    Ok(json!({"text": content_words(found), "status": status, "sha256": hex(&hash)}))
}

/// `report_settlement`.
pub(crate) fn settle(worker: &mut Worker, mut given: Map<String, Value>) -> Result<Value, Wrong> {
    let success = match given.remove("success") {
        Some(Value::Bool(success)) => success,
        None | Some(Value::Null) => return Err(Wrong::field("success", "is missing")),
        Some(_) => return Err(Wrong::field("success", "is not true or false")),
    };
    let mut arguments = Arguments::new(Some(given), Tool::ReportSettlement.arguments())?;
    let id = arguments.text("decision_id")?;
    let transaction = arguments.optional("transaction")?.unwrap_or_default();
    if transaction.len() > 200 || success && transaction.is_empty() {
        return Err(Wrong::field("transaction", "has to be the id of the transaction, at most 200 bytes"));
    }
    let units = match arguments.optional("amountAtomic")? {
        None => None,
        Some(text) => Some(Units::whole(&text).ok_or_else(|| {
            Wrong::field("amountAtomic", "is not a whole number of smallest units in a text")
        })?),
    };
    // SECURITY: whoever says so is an agent.
    let settlement = Settlement { success, transaction, units, evidence: false };
    let settled = front(worker, |front| front.settle(&id, &settlement))?;
    let text = match settled {
        Settled::Recorded | Settled::Over => "The settlement was known already.",
        Settled::Released => "The payment is known to have failed.",
        Settled::Claimed => {
            "The settlement was noted as what the agent says. Budgets count the payment as it was reserved until a proxy, a receipt or a \
             person confirms it."
        }
    };
    Ok(json!({"text": text, "result": if settled == Settled::Claimed { "claimed" } else { "recorded" }}))
}

/// `list_recent_decisions`.
pub(crate) fn recent(worker: &mut Worker, given: Option<Map<String, Value>>) -> Result<Value, Wrong> {
    let mut given = given.unwrap_or_default();
    let most = match given.remove("limit") {
        None | Some(Value::Null) => 10,
        Some(value) => value
            .as_u64()
            .filter(|most| (1..=MOST).contains(most))
            .ok_or_else(|| Wrong::field("limit", &format!("is not a whole number from 1 to {MOST}")))?,
    };
    Arguments::new(Some(given), Tool::ListRecentDecisions.arguments())?;
    let all = front(worker, |front| front.recent(usize::try_from(most).unwrap_or(10)))?;
    let one = |own: &Decision| {
        let shown: Value = serde_json::from_str(&own.shown).unwrap_or_default();
        let arguments = shown.get("arguments");
        let payment = arguments.and_then(|all| all.get("payment").or(Some(all)));
        let text = |key: &str| payment?.get(key).and_then(Value::as_str).map(|text| clean(text, 200));
        let flows: Vec<Value> = own
            .flows
            .iter()
            .map(|flow| json!({"asset": flow.asset, "amountAtomic": flow.units.to_string()}))
            .collect();
        json!({
            "id": own.id, "status": own.status.word(), "at": seconds(own.at), "payTo": text("payTo"),
            "resourceUrl": text("resourceUrl"), "moves": flows, "transaction": own.transaction,
        })
    };
    let lines: Vec<String> = all
        .iter()
        .map(|own| {
            let reasons: BTreeSet<String> =
                own.reasons.iter().map(|reason| clean(&reason.rule, 80)).collect();
            let why = if reasons.is_empty() {
                String::new()
            } else {
                format!(" ({})", Vec::from_iter(reasons).join(", "))
            };
            format!("{} {} {}{why}", seconds(own.at), own.status.word(), own.id)
        })
        .collect();
    let text = if lines.is_empty() { "No payment was decided yet.".to_owned() } else { lines.join("\n") };
    Ok(json!({"text": text, "decisions": all.iter().map(one).collect::<Vec<_>>()}))
}

/// A moment as `2026-12-01T13:00:00Z`.
fn seconds(ms: u64) -> String {
    let seconds = i64::try_from(ms / 1000).unwrap_or_default();
    let (day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let date = policy_runtime::explain::date(day);
    format!("{date}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// `get_policy`.
pub(crate) fn policy(worker: &mut Worker) -> Result<Value, Wrong> {
    let layers = worker.layers()?;
    let mut lines = Vec::new();
    let mut observes = false;
    for layer in &layers {
        let Some(table) = layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok()) else {
            lines.push(format!("{}: the policy cannot be used; nothing is allowed", clean(&layer.name, 120)));
            continue;
        };
        observes |= table.info().is_ok_and(|info| info.observe);
        let own = lines_of(layer, &table).map_err(|_| Wrong::plain("the policy is damaged. Do not pay."))?;
        lines.extend(own.into_iter().map(|(line, _)| line));
    }
    let mut text = vec![match lines.is_empty() {
        true => "No line of the policy looks at payments: a person is asked about each.".to_owned(),
        false => format!(
            "policy {} with these lines. All that match hold, and the strictest decides.",
            if observes {
                "observes and lets payments through that it would refuse, but for wrong networks, assets and payees,"
            } else {
                "guards payments"
            }
        ),
    }];
    text.extend(lines.iter().cloned());
    text.push(
        "This is advisory: who can read the key of the wallet can pay without asking. Ask with check_payment before each payment."
            .to_owned(),
    );
    Ok(json!({
        "text": text.join("\n"), "mode": if observes { "observe" } else { "enforce" }, "lines": lines, "assurance": "advisory",
    }))
}

/// The lines of a layer that look at payments, with their places.
pub(crate) fn lines_of(
    layer: &Rc<Layer>,
    table: &Table<'_>,
) -> Result<Vec<(String, String)>, policy_runtime::table::Damaged> {
    let mut out = Vec::new();
    for number in 0..table.blocks() {
        let block = table.block(number)?;
        for line in table.lines_of(&block)? {
            let line = line?;
            let verb = match line.verb {
                Verb::Deny => "deny",
                Verb::Ask => "ask",
                Verb::Only => "only",
                _ => continue,
            };
            let mut texts = BTreeSet::new();
            if !payment::is_of_payment(line.arg) && !table.asks_a_ledger(&line)? {
                continue;
            }
            for pattern in table.patterns_of(&line)? {
                let text = pattern?.text;
                // What other kinds of payments are to an `only` line is none of its words.
                if !matches!(text, payment::OTHER | "only") {
                    texts.insert(clean(text, 200));
                }
            }
            let word = payment::word(line.arg)
                .filter(|word| !word.is_empty())
                .map_or(String::new(), |word| format!("{word} "));
            let all = Vec::from_iter(texts).join(", ");
            // SECURITY: a project's own words are cleaned and marked.
            let whose = if layer.restricted { " (the project's policy)" } else { "" };
            let place = table.line_place(&line)?;
            let place = format!("{}:{}", clean(&place.file, 120), place.line);
            out.push((format!("{verb} {word}{all}{whose}"), place));
        }
    }
    Ok(out)
}
