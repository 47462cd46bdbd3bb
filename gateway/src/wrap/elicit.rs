//! Asking in the client: by a form, in both eras of the protocol.
//!
//! INVARIANT: only an answer that was asked for counts, once, and only the two words that approve; all else approves nothing. A
//! form never answers what the policy wants approved on the page.

use crate::wrap::json::{self, members, string};
use crate::wrap::message::{Id, Message, Side};
use policy_approvals::{Question, Ticket, Verdict};
use policy_engine::past::Counted;
use policy_hosts::reply::for_model;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The name of our request among those of a server.
const KEY: &str = "policy.ask";
/// How what we ask begins.
const PREFIX: &str = "policy-ask-";
/// How long a client may take to come back with an answer.
const KEPT: Duration = Duration::from_secs(600);
/// Most forms that are out at once.
const MOST: usize = 64;
const ONCE: &str = "approve once";
const SESSION: &str = "approve for this session";
const DENY: &str = "deny";

/// Longest state of a server that is kept beside ours.
const LONGEST: usize = 256 * 1024;

/// What a stateless client was asked.
struct State {
    ticket: Ticket,
    /// Of what it is about.
    digest: [u8; 32],
    /// Until when its answer counts.
    until: Instant,
    /// What the call was counted for.
    counted: Counted,
    /// What the call brought for the server, as members of its parameters.
    theirs: String,
}

/// Forms that are out.
pub(crate) struct Forms {
    /// The client of the era of handshakes shows forms.
    shows: AtomicBool,
    /// Not a name that a server would choose.
    prefix: String,
    next: AtomicU64,
    out: Mutex<HashMap<Id, Sender<Option<Verdict>>>>,
    /// What a stateless client brings back, to what it was asked.
    states: Mutex<HashMap<String, State>>,
}

impl Forms {
    /// None yet; `secret` is random.
    pub(crate) fn new(secret: &str) -> Forms {
        Forms {
            shows: AtomicBool::new(false),
            prefix: format!("{PREFIX}{secret}"),
            next: AtomicU64::new(0),
            out: Mutex::default(),
            states: Mutex::default(),
        }
    }

    /// Notes what the client says of itself when it begins.
    pub(crate) fn begins(&self, message: &Message<'_>) {
        let capabilities = message.param("capabilities").unwrap_or_default();
        self.shows.store(shows_forms(capabilities), Ordering::Relaxed);
    }

    /// Whether the client of the era of handshakes shows forms.
    pub(crate) fn shows(&self) -> bool {
        self.shows.load(Ordering::Relaxed)
    }

    fn name(&self) -> String {
        format!("{}-{}", self.prefix, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// A form for a client of the era of handshakes: its id, the request, and where the answer comes.
    pub(crate) fn send(&self, question: &Question) -> (Id, String, Receiver<Option<Verdict>>) {
        let (sender, receiver) = channel();
        let id = Id::Text(self.name());
        self.out.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), sender);
        let request = json!({ "jsonrpc": "2.0", "id": Value::Null, "method": "elicitation/create", "params": form(question) });
        // The id stands in it as JSON already.
        let request = request.to_string().replacen("\"id\":null", &format!("\"id\":{}", id.json()), 1);
        (id, request, receiver)
    }

    /// A form is not waited for any more: what the client is told.
    pub(crate) fn withdraw(&self, id: &Id) -> Option<String> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).remove(id)?;
        Some(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{},"reason":"it was answered elsewhere, or nobody waits any more"}}}}"#,
            id.json()
        ))
    }

    /// Whether a response is the answer to a form of ours; it is delivered.
    pub(crate) fn answers(&self, id: &Id, message: &Message<'_>) -> bool {
        let Some(sender) = self.out.lock().unwrap_or_else(PoisonError::into_inner).remove(id) else {
            return false;
        };
        let _ = sender.send(verdict(message.part(&message.result)));
        true
    }

    /// What a stateless client is answered: the form, and what it has to bring back. What the call brings
    /// for the server is kept meanwhile.
    pub(crate) fn required(
        &self,
        id: &Id,
        question: &Question,
        ticket: Ticket,
        counted: Counted,
        call: &str,
    ) -> String {
        let name = self.name();
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.retain(|_, state| state.until > Instant::now());
        if states.len() < MOST {
            let digest = policy_approvals::digest(question);
            let theirs = Message::read(call.as_bytes(), Side::Client).map(|call| theirs(&call));
            let theirs = theirs.unwrap_or_default();
            let state = State { ticket, digest, until: Instant::now() + KEPT, counted, theirs };
            states.insert(name.clone(), state);
        }
        let result = json!({
            "resultType": "input_required",
            "inputRequests": { KEY: { "method": "elicitation/create", "params": form(question) } },
            "requestState": name,
        });
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.json())
    }

    /// What a request brings back of ours: the answer for a call with this digest, and the request without it.
    pub(crate) fn brought(&self, message: &Message<'_>) -> Option<Brought> {
        let state = message.param("requestState").and_then(string)?;
        let State { ticket, digest, until, counted, theirs } =
            self.states.lock().unwrap_or_else(PoisonError::into_inner).remove(&state)?;
        let responses = message.param("inputResponses").unwrap_or_default();
        let own = members(responses).unwrap_or_default().into_iter().find(|member| member.key == KEY);
        let verdict = own.and_then(|own| responses.get(own.value)).and_then(verdict);
        let params = message.part(&message.params);
        let left = json::without(responses, &[KEY]).unwrap_or_default();
        let none = left.is_empty() || members(&left).is_ok_and(|all| all.is_empty());
        let params = if none || !theirs.is_empty() {
            json::without(params, &["requestState", "inputResponses"])?
        } else {
            let place =
                members(params).ok()?.into_iter().find(|member| member.key == "inputResponses")?.value;
            let (before, behind) = (params.get(..place.start)?, params.get(place.end..)?);
            json::without(&[before, &left, behind].concat(), &["requestState"])?
        };
        let params = match params.strip_suffix('}') {
            Some(start) if !theirs.is_empty() => {
                let comma = if start.trim_end().ends_with('{') { "" } else { "," };
                format!("{start}{comma}{theirs}}}")
            }
            _ => params,
        };
        let range = message.params.clone()?;
        let before = message.text.get(..range.start).unwrap_or_default();
        let behind = message.text.get(range.end..).unwrap_or_default();
        let text = [before, &params, behind].concat();
        (until > Instant::now()).then_some(Brought { verdict, ticket, digest, text, counted })
    }
}

/// What a call brings for the server that asked for it, as members of its parameters.
fn theirs(call: &Message<'_>) -> String {
    let state = call.param("requestState").and_then(string).unwrap_or_default();
    if state.starts_with(PREFIX) {
        // One of ours that counts no more.
        return String::new();
    }
    let part = |key: &str| call.param(key).map(|value| format!("\"{key}\":{value}"));
    [part("inputResponses"), part("requestState")].into_iter().flatten().collect::<Vec<_>>().join(",")
}

/// Whether what a call brings for its server is short enough to be kept while a form is out.
pub(crate) fn short(call: &Message<'_>) -> bool {
    theirs(call).len() <= LONGEST
}

/// An answer that came back with the call.
pub(crate) struct Brought {
    pub(crate) verdict: Option<Verdict>,
    pub(crate) ticket: Ticket,
    /// Of the question that was asked.
    pub(crate) digest: [u8; 32],
    /// The request without what is ours.
    pub(crate) text: String,
    /// What the call was counted for.
    pub(crate) counted: Counted,
}

/// Whether a stateless client says with its request that it shows forms.
pub(crate) fn modern_shows(message: &Message<'_>) -> bool {
    let meta = message.param("_meta").unwrap_or_default();
    let all = members(meta).unwrap_or_default();
    let own = all.iter().find(|member| member.key == "io.modelcontextprotocol/clientCapabilities");
    own.and_then(|own| meta.get(own.value.clone())).is_some_and(shows_forms)
}

fn shows_forms(capabilities: &str) -> bool {
    let all = members(capabilities).unwrap_or_default();
    let Some(own) = all.iter().find(|member| member.key == "elicitation") else { return false };
    let kinds = capabilities.get(own.value.clone()).and_then(|own| members(own).ok());
    kinds.is_some_and(|kinds| kinds.is_empty() || kinds.iter().any(|kind| kind.key == "form"))
}

fn form(question: &Question) -> Value {
    let said = question.said.first();
    let why = said.map_or(String::new(), |said| match said.reason.is_empty() {
        true => said.rule.clone(),
        false => format!("{}: {}", said.rule, said.reason),
    });
    let server = question.server.as_ref().map_or("", |server| server.name.as_str());
    let message = format!(
        "The policy asks before `{}`{}. {} The agent wants to call it with: {}",
        for_model(&question.tool, 100),
        if server.is_empty() { String::new() } else { format!(" of `{}`", for_model(server, 100)) },
        for_model(&why, 400),
        for_model(&question.arguments, 1500),
    );
    json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "decision": { "type": "string", "title": "Decision", "enum": [DENY, ONCE, SESSION], "default": DENY }
            },
            "required": ["decision"],
        },
    })
}

/// What a form says; none for one that was closed or cannot be read.
fn verdict(result: &str) -> Option<Verdict> {
    let value: Value = serde_json::from_str(result).ok()?;
    match value.get("action")?.as_str()? {
        "decline" => Some(Verdict::Deny),
        "accept" => match value.get("content")?.get("decision")?.as_str()? {
            ONCE => Some(Verdict::Once),
            SESSION => Some(Verdict::Session),
            _ => Some(Verdict::Deny),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_two_words_approve() {
        for (result, wanted) in [
            (r#"{"action":"accept","content":{"decision":"approve once"}}"#, Some(Verdict::Once)),
            (
                r#"{"action":"accept","content":{"decision":"approve for this session"}}"#,
                Some(Verdict::Session),
            ),
            (r#"{"action":"accept","content":{"decision":"Approve once"}}"#, Some(Verdict::Deny)),
            (r#"{"action":"decline"}"#, Some(Verdict::Deny)),
            (r#"{"action":"cancel"}"#, None),
            (r#"{"action":"accept","content":{}}"#, None),
            (r#"{"action":"accept","content":{"decision":true}}"#, None),
            ("", None),
        ] {
            assert_eq!(verdict(result), wanted, "{result}");
        }
    }

    #[test]
    fn a_client_says_what_it_shows() {
        assert!(shows_forms(r#"{"elicitation":{}}"#) && shows_forms(r#"{"elicitation":{"form":{}}}"#));
        assert!(!shows_forms(r#"{"elicitation":{"url":{}}}"#) && !shows_forms("{}") && !shows_forms(""));
    }
}
