//! Payments that wait for a person: as the page and the terminal show them, and their answers.
//!
//! INVARIANT: an answer is written where the payment waits, once, and judged again by the policies as they are then; nothing here says
//! yes by itself.

use crate::pay::Refusal;
use policy_approvals::{Question, RunId, Said, Shown};
use policy_engine::decide::Engine;
use policy_engine::paying::now_ms;
use policy_engine::places::Folders;
use policy_hosts::call::Call;
use policy_payments::ledger::{Decision, Ledger};
use policy_payments::short;
use serde_json::Value;
use std::time::Duration;

/// What ids of payments begin with on the page.
pub const MARK: &str = "payment-";

/// What waits, the oldest first; nothing is made by looking.
///
/// # Errors
/// When the ledger cannot be read: why.
pub fn waiting(ledger: &dyn Ledger) -> Result<Vec<Decision>, String> {
    match ledger.is_new() {
        true => Ok(Vec::new()),
        false => ledger.waiting(now_ms()).map_err(|fault| fault.0),
    }
}

/// A payment that waits as a question; the same words as for every other call.
pub fn question(own: &Decision) -> Question {
    let shown: Value = serde_json::from_str(&own.shown).unwrap_or_default();
    let text = |key: &str| shown.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let said = own.reasons.iter().map(|reason| Said {
        decision: if reason.denies { "deny" } else { "ask" }.to_owned(),
        rule: reason.rule.clone(),
        place: String::new(),
        reason: reason.sentence.clone(),
        suggest: String::new(),
        matched: String::new(),
    });
    let moves = own.flows.iter().map(|flow| format!("moves {} smallest units of {}", flow.units, flow.asset));
    let payment = shown.get("arguments").and_then(|all| all.get("payment").or(Some(all)));
    let payee = payment.and_then(|payment| payment.get("payTo")).and_then(Value::as_str).unwrap_or_default();
    let seen = shown.get("observed402PayTo").and_then(Value::as_str);
    let to = (!payee.is_empty()).then(|| match seen {
        Some(seen) if seen.eq_ignore_ascii_case(payee) => {
            format!("to {payee}, as the seller's own 402 named it")
        }
        Some(seen) => format!("to {payee}, and the seller's own 402 named {seen}"),
        None => format!("to {payee}; nobody said whom the seller's own 402 named"),
    });
    Question {
        host: "payments".to_owned(),
        session: own.session.clone(),
        actor: String::new(),
        server: None,
        tool: text("tool"),
        arguments: shown.get("arguments").cloned().unwrap_or_default().to_string(),
        cwd: text("cwd").into(),
        tables: Vec::new(),
        operands: Vec::new(),
        said: said.collect(),
        shown: Shown {
            commands: moves.chain(to).collect(),
            diff: String::new(),
            marked: [payee.to_owned(), short(payee)].into_iter().filter(|mark| !mark.is_empty()).collect(),
        },
        page_only: false,
        run: RunId::of_session("payments", &own.id),
        timeout: Duration::from_millis(own.expires.saturating_sub(own.at)),
    }
}

/// A person says yes or no to a payment that waits. A yes is judged again by the policy that asked about it.
///
/// # Errors
/// When it does not wait any more, that policy is another one now, or the ledger cannot be used.
pub fn answer(folders: &Folders, ledger: &dyn Ledger, id: &str, approve: bool) -> Result<Decision, Refusal> {
    if ledger.is_new() {
        return Err(Refusal::Unknown);
    }
    let now = now_ms();
    let own = ledger.decision(id, now)?.ok_or(Refusal::Unknown)?;
    // A no needs no policy.
    let shown = if approve { own.shown.as_str() } else { "" };
    let mut engine = Engine::of_asker(folders, shown).map_err(Refusal::Policy)?;
    Ok(engine.review_payment(&frame(), ledger, (id, approve), now)?)
}

/// What is the same in all calls that are looked at again.
pub(crate) fn frame() -> Call {
    Call {
        host: "payments".to_owned(),
        event: "pre_tool_use".to_owned(),
        host_event: "pre_tool_use".to_owned(),
        ..Call::default()
    }
}
