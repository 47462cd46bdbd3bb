//! Payments before a ledger: what a call asks of it, and one check as one moment.
//!
//! INVARIANT: a ledger that cannot be used, a payment that cannot be read, and a page whose check was not finished never let a payment
//! through. What is only looked at leaves nothing behind.

use crate::asker::{self, as_asked};
use crate::combine::{at_least_ask, refusal};
use crate::decide::{Answer, Engine};
use crate::past::{Counted, Store};
use policy_hosts::call::Call;
use policy_hosts::facts::payment;
use policy_payments::ledger::{
    self, Asked, Back, Checked, Content, Fault, Flow, Judged, Ledger, Reason, Refused, Status, View, ends,
};
use policy_payments::{Address, COIN, Family, Payment, Units, Wrong, short};
use policy_runtime::outside::{self, By, Paid};
use policy_runtime::verdict::{Decision, Step, Verdict};
use serde_json::Value;
use std::cell::RefCell;

/// How a payment is asked about.
#[derive(Debug, Clone, Default)]
pub struct Paying {
    /// The session; empty: the project's own.
    pub session: String,
    /// Who asks.
    pub account: String,
    /// The name of the attempt.
    pub key: Option<String>,
    /// The pages that led to it.
    pub texts: Vec<[u8; 32]>,
    /// The call makes the payment; otherwise somebody asks before.
    pub makes: bool,
    /// A person answers in the ledger. Otherwise whoever asks has a way of its own to ask, and what a person says yes to is paid.
    pub reviews: bool,
    /// A person was asked, or is by somebody who does not say so here: what the policy asks about is reserved, too.
    pub asked: bool,
    /// Milliseconds since 1970.
    pub now: u64,
}

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unpaid {
    /// The call holds no payment.
    None,
    /// A field cannot be used.
    Wrong(Wrong),
    /// The ledger cannot be used.
    Fault(Fault),
}

impl From<Fault> for Unpaid {
    fn from(fault: Fault) -> Unpaid {
        Unpaid::Fault(fault)
    }
}

/// The payee on its network.
fn named(payment: &Payment, address: &Address) -> String {
    format!("{}/{}", payment.network, address.text())
}

/// The payee of a call on its network.
pub(crate) fn payee(call: &Call) -> Option<String> {
    let (payment, _) = payment::payment(&call.arguments)?.ok()?;
    payment.payee.as_ref().map(|payee| named(&payment, payee))
}

/// What moves in a payment, as facts name it.
fn flows(payment: &Payment) -> Vec<Flow> {
    let kind = if payment.network.family() == Family::Evm { "erc20" } else { "token" };
    let token = payment
        .asset
        .as_ref()
        .zip(payment.units)
        .map(|(asset, units)| Flow { asset: format!("{}/{kind}:{}", payment.network, asset.text()), units });
    let coin = (payment.native != Units::ZERO)
        .then(|| Flow { asset: format!("{}/{COIN}", payment.network), units: payment.native });
    token.into_iter().chain(coin).collect()
}

/// A payment as the ledger is asked about it.
///
/// # Errors
/// When the call holds no payment that can be read.
fn asked(call: &Call, how: &Paying, session: &str, asker: &Value) -> Result<Asked, Unpaid> {
    let (payment, observed) = match payment::payment(&call.arguments) {
        None => return Err(Unpaid::None),
        Some(Err(wrong)) => return Err(Unpaid::Wrong(wrong)),
        Some(Ok(own)) => own,
    };
    let shown = serde_json::json!({
        "tool": call.tool,
        "server": call.server,
        "cwd": call.cwd,
        "arguments": call.arguments,
        "observed402PayTo": observed.as_ref().map(|own| own.text()),
        asker::KEY: asker,
    });
    Ok(Asked {
        session: if how.session.is_empty() { session.to_owned() } else { how.session.clone() },
        beside: if how.session.is_empty() { Vec::new() } else { vec![session.to_owned()] },
        account: how.account.clone(),
        key: how.key.clone(),
        fingerprint: payment.fingerprint(),
        tool: call.tool.clone(),
        payee: payment.payee.as_ref().map(|payee| named(&payment, payee)),
        seller: payment.resource.as_ref().map(|own| own.host.clone()),
        page: payment.resource.as_ref().map(|own| own.page.clone()),
        url: payment.resource.as_ref().map(|own| own.url.clone()),
        flows: flows(&payment),
        texts: how.texts.clone(),
        makes: how.makes,
        shown: shown.to_string(),
        now: how.now,
    })
}

fn by(by: By) -> ledger::By {
    match by {
        By::All => ledger::By::All,
        By::Tool => ledger::By::Tool,
        By::Session => ledger::By::Session,
        By::Payee => ledger::By::Payee,
        By::Seller => ledger::By::Seller,
    }
}

fn back(seconds: Option<u32>) -> Back {
    seconds.map_or(Back::Always, Back::Seconds)
}

/// What a decision asked a ledger, with the answers.
pub(crate) type Log = RefCell<Vec<(Paid, outside::Answer)>>;

/// The ledger as one decision asks it; none: there is nothing in it yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Purse<'v> {
    pub(crate) view: Option<&'v dyn View>,
    pub(crate) payee: Option<&'v str>,
    /// The moment of the check, milliseconds since 1970; none: now.
    pub(crate) now: Option<i64>,
    /// Where questions are written down.
    pub(crate) log: Option<&'v Log>,
}

impl<'v> Purse<'v> {
    /// That of a check of a payment, at its moment.
    pub(crate) fn of(view: &'v dyn View, payee: Option<&'v str>, now: u64) -> Purse<'v> {
        Purse { view: Some(view), payee, now: i64::try_from(now).ok(), log: None }
    }

    pub(crate) fn answer(&self, paid: &Paid) -> outside::Answer {
        let answer = self.told(paid).unwrap_or_else(|fault| outside::Answer::Unknown(fault.0));
        if let Some(log) = self.log {
            log.borrow_mut().push((paid.clone(), answer.clone()));
        }
        answer
    }

    fn told(&self, paid: &Paid) -> Result<outside::Answer, Fault> {
        Ok(match paid {
            Paid::Spent { assets, seconds, by: side } => {
                let mut all = Units::ZERO;
                for asset in assets {
                    let own = match self.view {
                        Some(view) => view.spent(asset, back(*seconds), by(*side))?,
                        None => Units::ZERO,
                    };
                    all = all.plus(own).ok_or_else(|| Fault("the sum is too large".to_owned()))?;
                }
                outside::Answer::Units(all.to_string())
            }
            Paid::Payments { seconds, by: side } => outside::Answer::Count(match self.view {
                Some(view) => view.payments(back(*seconds), by(*side))?,
                None => 0,
            }),
            Paid::Same { seconds } => outside::Answer::Count(match self.view {
                Some(view) => view.same(back(*seconds))?,
                None => 0,
            }),
            Paid::Price { asset } => {
                let first = match self.view {
                    Some(view) => view.price(asset)?,
                    None => None,
                };
                outside::Answer::Units(first.map(|units| units.to_string()).unwrap_or_default())
            }
            Paid::Payee { what, known } => outside::Answer::Like(self.payee(what, known)?),
        })
    }

    fn payee(&self, what: &str, known: &str) -> Result<Option<String>, Fault> {
        let Some(payee) = self.payee else { return Err(Fault("the payee is not known".to_owned())) };
        let address = payee.rsplit('/').next().unwrap_or_default();
        if known.split(' ').any(|own| own == address) {
            return Ok(None);
        }
        if let Some(view) = self.view
            && view.known()?
        {
            return Ok(None);
        }
        Ok(match what {
            "new" => Some(String::new()),
            "filed" => match self.view {
                Some(view) => view.filed()?.then(String::new),
                None => None,
            },
            _ => {
                let named = known.split(' ').find(|own| ends(own).is_some() && ledger::alike(own, payee));
                match (named, self.view) {
                    (Some(named), _) => Some(named.to_owned()),
                    (None, Some(view)) => {
                        view.alike()?.map(|own| own.rsplit('/').next().unwrap_or_default().to_owned())
                    }
                    (None, None) => None,
                }
            }
        })
    }
}

/// A step as a sentence about this payment.
fn sentence(step: &Step, call: &Call) -> String {
    let Some(Ok((payment, observed))) = payment::payment(&call.arguments) else { return said(step) };
    let payee = payment.payee.as_ref().map(|own| short(own.text())).unwrap_or_default();
    match step.matched.as_str() {
        "mismatch" => {
            let seen = observed.as_ref().map(|own| short(own.text())).unwrap_or_default();
            format!("the payment is addressed to {payee} but the seller's own 402 asked for {seen}")
        }
        "new" => format!("first payment to {payee}, which the policy does not name"),
        "unverified" => {
            "the payee was not compared with the seller's own 402 (`observed402PayTo`)".to_owned()
        }
        _ => said(step),
    }
}

fn said(step: &Step) -> String {
    match (step.because.is_empty(), step.value.is_empty()) {
        (false, _) => step.because.clone(),
        (true, false) => format!("`{}` is not let through by `{}`", step.value, step.matched),
        (true, true) => format!("`{}` does not let it through", step.rule),
    }
}

/// What a verdict means for a payment.
pub(crate) fn judged(verdict: &Verdict, reviews: bool, call: &Call) -> Judged {
    let status = |decision: Decision| match decision {
        Decision::Allow => Status::Allowed,
        Decision::Host | Decision::Ask => Status::ReviewPending,
        Decision::Deny => Status::Denied,
    };
    let own = status(verdict.decision);
    let would = verdict.observed.map_or(own, status);
    let steps = verdict.steps.iter().filter(|step| step.decision >= Decision::Ask);
    let reasons = steps.map(|step| Reason {
        denies: step.decision == Decision::Deny,
        rule: match step.place.file.is_empty() {
            true => step.rule.clone(),
            false => format!("{} ({}:{})", step.rule, step.place.file, step.place.line),
        },
        sentence: sentence(step, call),
    });
    Judged {
        status: if own == Status::ReviewPending && !reviews { Status::Allowed } else { own },
        would,
        reasons: reasons.collect(),
        lasts: verdict
            .steps
            .iter()
            .find_map(|step| step.ask_timeout)
            .map(|seconds| u64::from(seconds) * 1000),
    }
}

impl Engine {
    /// Decides with the ledger when a policy asks it: in a check of its own then.
    pub(crate) fn decide_paying(
        &mut self,
        call: &Call,
        counted: &Counted,
        store: &'static dyn Store,
    ) -> Answer {
        // Without one first: most calls pay nothing, and no ledger is opened for them.
        let (first, wants) = self.decide_once(call, counted, None, false);
        if !wants {
            return first;
        }
        // What it was counted for in the session is not counted again.
        let yes = counted.yes && counted.is_of(call);
        let mut counted = first.counted.clone();
        counted.yes = yes;
        let counted = &counted;
        // The call was decided before it was made; what comes around it is no second payment.
        if call.event != "pre_tool_use" {
            let payee = payee(call);
            let purse = Purse { payee: payee.as_deref(), ..Purse::default() };
            return self.decide_in(call, counted, Some(purse));
        }
        let ledger = match store.ledger(&self.folders.state) {
            Ok(ledger) => ledger,
            Err(cause) => return Answer { verdict: refusal(&format!("do not pay: {cause}")), ..first },
        };
        let how = Paying { makes: true, asked: counted.yes, now: now_ms(), ..Paying::default() };
        let done = match self.looking {
            // To look would make it.
            true if ledger.is_new() => {
                let payee = payee(call);
                let purse = Purse { payee: payee.as_deref(), ..Purse::default() };
                return self.decide_in(call, counted, Some(purse));
            }
            true => self.look_at_payment(call, ledger.as_ref(), &how).map(Some),
            false => self.pay(call, ledger.as_ref(), &how, counted).map(|(answer, _)| answer),
        };
        match done {
            Ok(Some(answer)) => answer,
            Ok(None) => Answer { verdict: refusal("do not pay: the ledger asked nobody"), ..first },
            // It asks already, or denies.
            Err(Unpaid::None | Unpaid::Wrong(_)) => self.decide_without(call, counted),
            Err(Unpaid::Fault(fault)) => {
                Answer { verdict: refusal(&format!("do not pay: {fault}")), ..first }
            }
        }
    }

    /// Decides a call that holds a payment, with the ledger: what it says is reserved and written down. No check where a person is
    /// asked first, and then it is decided again; no answer where the attempt was decided before.
    ///
    /// # Errors
    /// When the call holds no payment that can be read, or the ledger cannot be used.
    pub fn pay(
        &mut self,
        call: &Call,
        ledger: &dyn Ledger,
        how: &Paying,
        counted: &Counted,
    ) -> Result<(Option<Answer>, Option<Checked>), Unpaid> {
        let session = self.session_at(&call.cwd, &call.host, "").project;
        let asked = asked(call, how, &session, &self.asker(call))?;
        let mut last = None;
        let mut owes = false;
        let checked = ledger.check(&asked, &mut |view| {
            let purse = Purse::of(view, asked.payee.as_deref(), how.now);
            let answer = self.judge_payment(call, counted, view, purse)?;
            let judged = judged(&answer.verdict, how.reviews, call);
            owes = !how.reviews && !how.asked && answer.verdict.decision.without_host() == Decision::Ask;
            last = Some(answer);
            // Nothing is reserved for what a person may say no to.
            if owes { Err(Fault("a person is asked first".to_owned())) } else { Ok(judged) }
        });
        if owes && let Some(mut answer) = last {
            answer.counted.owes = true;
            return Ok((Some(answer), None));
        }
        // SECURITY: what was said before spares a reservation; it never takes away what is said to this call now.
        Ok((last, Some(checked?)))
    }

    /// Decides a call that holds a payment as [`Engine::pay`] does; nothing is kept.
    ///
    /// # Errors
    /// As [`Engine::pay`].
    pub fn look_at_payment(
        &mut self,
        call: &Call,
        ledger: &dyn Ledger,
        how: &Paying,
    ) -> Result<Answer, Unpaid> {
        let session = self.session_at(&call.cwd, &call.host, "").project;
        let asked = asked(call, how, &session, &Value::Null)?;
        let mut last = None;
        ledger.look(&asked, &mut |view| {
            let purse = Purse::of(view, asked.payee.as_deref(), how.now);
            let answer = self.judge_payment(call, &Counted::default(), view, purse)?;
            let judged = judged(&answer.verdict, true, call);
            last = Some(answer);
            Ok(judged)
        })?;
        last.ok_or_else(|| Unpaid::Fault(Fault("the ledger asked nobody".to_owned())))
    }

    /// A person says yes or no to a payment that waits; for a yes it is judged once more.
    ///
    /// # Errors
    /// When there is no such payment, it does not wait, or the ledger cannot be used.
    pub fn review_payment(
        &mut self,
        frame: &Call,
        ledger: &dyn Ledger,
        (id, approve): (&str, bool),
        now: u64,
    ) -> Result<ledger::Decision, Refused> {
        let own = ledger.decision(id, now)?.ok_or(Refused::Unknown)?;
        let call = shown_call(frame, &own.shown)
            .ok_or_else(|| Refused::Fault(Fault("what was asked about cannot be read".to_owned())))?;
        let payee = payee(&call);
        ledger.review(id, approve, now, &mut |view| {
            let purse = Purse::of(view, payee.as_deref(), now);
            let answer = self.judge_payment(&call, &Counted::default(), view, purse)?;
            Ok(judged(&answer.verdict, true, &call))
        })
    }

    pub(crate) fn judge_payment(
        &mut self,
        call: &Call,
        counted: &Counted,
        view: &dyn View,
        purse: Purse<'_>,
    ) -> Result<Answer, Fault> {
        let content = view.content()?;
        let mut answer = self.decide_in(call, counted, Some(purse));
        if content == Some(Content::Unfinished) {
            at_least_ask(
                &mut answer.verdict,
                "the check of the page that led to the payment was not finished",
            );
        }
        Ok(answer)
    }
}

/// The call of a decision, as the ledger shows it.
pub(crate) fn shown_call(frame: &Call, shown: &str) -> Option<Call> {
    let mut shown: Value = serde_json::from_str(shown).ok()?;
    let text = |key: &str| shown.get(key).and_then(Value::as_str).map(str::to_owned);
    let (tool, server, cwd) = (text("tool")?, text("server"), text("cwd")?);
    let arguments = shown.get_mut("arguments")?.take();
    let call = Call { tool, server, arguments, cwd: cwd.into(), ..frame.clone() };
    Some(as_asked(call, &shown))
}

/// Whether a call holds a payment.
pub(crate) fn pays(facts: &policy_runtime::facts::Facts) -> bool {
    facts.args.iter().any(|arg| policy_runtime::payment::is_of_payment(&arg.name))
}

/// Now, milliseconds since 1970.
pub fn now_ms() -> u64 {
    u64::try_from(crate::cache::now_ns() / 1_000_000).unwrap_or_default()
}
