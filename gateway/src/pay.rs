//! Payments as an agent asks about them: one way in for the MCP server, the HTTP API and everything else.
//!
//! INVARIANT: what cannot be read is an error that names the field, and decides nothing; what cannot be kept means do not pay. All
//! ways in give the same decision for the same payment.

mod content;
pub mod filer;
pub mod held;
mod looked;
mod rate;
mod request;
mod words;

pub use content::{Scanned, cut, scan};
pub use looked::{Askers, Excerpt, Looked, excerpts, grants, looked};
pub use rate::Rate;
pub use request::Request;
pub use words::{answer, content_words, sentence};

use policy_engine::decide::Engine;
use policy_engine::past::Counted;
use policy_engine::paying::{Paying, Unpaid};
use policy_hosts::call::Call;
use policy_payments::ledger::{
    Asked, Checked, Content, Decision, Fault, Filing, Judged, Ledger, Refused, Settled, Settlement, Status,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A field is missing or cannot be used.
    Input {
        /// The field.
        field: String,
        /// Why, as a clause.
        why: String,
    },
    /// The name of the attempt belongs to another payment.
    Conflict,
    /// Nothing is known under this name.
    Unknown,
    /// It is not in a state for this.
    State(String),
    /// The policy that asked about it is not what it was, as a clause.
    Policy(String),
    /// The ledger cannot be used.
    Fault(String),
}

impl Refusal {
    pub(crate) fn input(field: &str, why: impl Into<String>) -> Refusal {
        Refusal::Input { field: field.to_owned(), why: why.into() }
    }

    /// The status of HTTP for it.
    pub fn status(&self) -> u16 {
        match self {
            Refusal::Input { .. } => 400,
            Refusal::Unknown => 404,
            Refusal::Conflict | Refusal::State(_) | Refusal::Policy(_) => 409,
            Refusal::Fault(_) => 503,
        }
    }

    /// One or two sentences.
    pub fn sentence(&self) -> String {
        match self {
            Refusal::Input { field, why } => format!("`{field}`: {why}."),
            Refusal::Conflict => {
                "`idempotency_key`: this key belongs to another payment. Use one key for each attempt."
                    .to_owned()
            }
            Refusal::Unknown => "There is no decision with this id.".to_owned(),
            Refusal::State(what) => what.clone(),
            Refusal::Policy(why) => {
                format!("It cannot be approved: {why}. Deny it, or let the agent ask again.")
            }
            Refusal::Fault(cause) => format!("policy could not decide. Do not pay. The cause: {cause}."),
        }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault.0)
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Refusal {
        match refused {
            Refused::Unknown => Refusal::Unknown,
            Refused::State(status) => Refusal::State(format!(
                "The decision is `{}`, and this cannot be done with it.",
                status.word()
            )),
            Refused::Used => Refusal::State(
                "A person approved this payment, and that was answered before or is too long ago. Do not pay."
                    .to_owned(),
            ),
            Refused::Other => {
                Refusal::State("Another transaction was reported for this decision.".to_owned())
            }
            Refused::Fault(fault) => Refusal::Fault(fault.0),
        }
    }
}

/// What is asked about payments is asked here.
pub struct Front<'f> {
    /// Decides.
    pub engine: &'f mut Engine,
    /// Remembers.
    pub ledger: &'f dyn Ledger,
    /// What all calls have in common: where, and who.
    pub frame: Call,
    /// The session that was named; empty: the project's own.
    pub session: String,
    /// Who asks.
    pub account: String,
    /// Milliseconds since 1970.
    pub now: u64,
    /// Looks at texts.
    pub scan: &'f dyn Fn(&str, &str) -> Scanned,
}

/// The tool under which policies see a payment that is asked about.
pub const TOOL: &str = "check_payment";

impl Front<'_> {
    /// The session as the ledger names it.
    fn session(&mut self) -> String {
        match self.session.is_empty() {
            true => self.engine.session_at(&self.frame.cwd, &self.frame.host, "").project,
            false => self.session.clone(),
        }
    }

    /// Decides about a payment.
    ///
    /// # Errors
    /// When it cannot be read or kept.
    pub fn check(&mut self, request: &Request) -> Result<Decision, Refusal> {
        let call = Call { tool: TOOL.to_owned(), arguments: request.arguments.clone(), ..self.frame.clone() };
        let mut how = Paying {
            session: self.session.clone(),
            account: self.account.clone(),
            key: request.key.clone(),
            texts: request.text.into_iter().collect(),
            makes: false,
            reviews: true,
            asked: true,
            now: self.now,
        };
        if let Some(text) = &request.context {
            how.texts.push(self.file("context", text)?.1);
        }
        let (_, checked) = self.engine.pay(&call, self.ledger, &how, &Counted::default()).map_err(unpaid)?;
        match checked {
            Some(Checked::New(decision) | Checked::Known(decision)) => Ok(decision),
            Some(Checked::Conflict) => Err(Refusal::Conflict),
            None => Err(Refusal::Fault("nothing was written down".to_owned())),
        }
    }

    /// Files a text that was read: what was found in it, and its hash.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn file(&mut self, origin: &str, text: &str) -> Result<(Content, [u8; 32]), Refusal> {
        let text = cut(text);
        let scanned = (self.scan)(text, origin);
        let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let filing = Filing {
            session: self.session(),
            origin: origin.chars().take(200).collect(),
            hash,
            found: scanned.found,
            classes: scanned.classes,
            addresses: content::addresses(text),
            text: policy_hosts::redact::mask(text),
            now: self.now,
        };
        self.ledger.file(&filing)?;
        Ok((filing.found, hash))
    }

    /// What became of a payment.
    ///
    /// # Errors
    /// When there is no such decision, or it cannot be kept.
    pub fn settle(&mut self, id: &str, settlement: &Settlement) -> Result<Settled, Refusal> {
        Ok(self.ledger.settle(id, settlement, self.now)?)
    }

    /// A decision.
    ///
    /// # Errors
    /// When there is none, or the ledger cannot be read.
    pub fn decision(&mut self, id: &str) -> Result<Decision, Refusal> {
        self.ledger.decision(id, self.now)?.ok_or(Refusal::Unknown)
    }

    /// A decision that somebody waits for; what a person approved is used with this answer.
    ///
    /// # Errors
    /// As [`Front::decision`].
    pub fn waited(&mut self, id: &str) -> Result<Decision, Refusal> {
        // Who only waits changes nothing.
        let own = self.decision(id)?;
        if own.status != Status::ReviewApproved {
            return Ok(own);
        }
        if self.flagged(&own)? {
            let why = "A person approved this payment, and a text that was read since then gave orders. Do not pay.";
            return Err(Refusal::State(why.to_owned()));
        }
        Ok(self.ledger.hand_out(id, self.now)?)
    }

    /// Whether what was read holds the payments of the session of a decision.
    fn flagged(&mut self, own: &Decision) -> Result<bool, Refusal> {
        let project = self.session();
        let asked =
            Asked { session: own.session.clone(), beside: vec![project], now: self.now, ..Asked::default() };
        let mut flagged = true;
        self.ledger.look(&asked, &mut |view| {
            flagged = view.flagged()?;
            Ok(Judged { status: Status::Denied, would: Status::Denied, reasons: Vec::new(), lasts: None })
        })?;
        Ok(flagged)
    }

    /// The last decisions, the newest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn recent(&mut self, most: usize) -> Result<Vec<Decision>, Refusal> {
        Ok(self.ledger.recent(most, self.now)?)
    }

    /// A person says yes or no.
    ///
    /// # Errors
    /// When it does not wait, or cannot be kept.
    pub fn review(&mut self, id: &str, approve: bool) -> Result<Decision, Refusal> {
        let frame = self.frame.clone();
        Ok(self.engine.review_payment(&frame, self.ledger, (id, approve), self.now)?)
    }
}

fn unpaid(unpaid: Unpaid) -> Refusal {
    match unpaid {
        Unpaid::None => Refusal::input("payment", "it is missing"),
        Unpaid::Wrong(wrong) => Refusal::Input { field: wrong.field, why: wrong.why },
        Unpaid::Fault(fault) => Refusal::Fault(fault.0),
    }
}

/// Bytes as digits of base 16.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An argument that is a text, where it is there.
pub(crate) fn text_of<'a>(all: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Refusal> {
    match all.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::input(name, "it has to be a string")),
    }
}
