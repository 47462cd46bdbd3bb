//! Asking in the client: by an address that it opens or by a form, in both eras of the protocol.
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
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// It was asked at an address.
    url: bool,
    /// What the call brought for the server, as members of its parameters.
    theirs: String,
}

/// Forms that are out.
pub(crate) struct Forms {
    /// Nobody is asked but in the client.
    pub(crate) alone: bool,
    /// What the client of the era of handshakes shows.
    shows: Mutex<Shows>,
    /// Not a name that a server would choose.
    prefix: String,
    next: AtomicU64,
    out: Mutex<HashMap<Id, Sender<String>>>,
    /// What a stateless client brings back, to what it was asked.
    states: Mutex<HashMap<String, State>>,
}

impl Forms {
    /// None yet; `secret` is random.
    pub(crate) fn new(secret: &str, alone: bool) -> Forms {
        Forms {
            alone,
            shows: Mutex::default(),
            prefix: format!("{PREFIX}{secret}"),
            next: AtomicU64::new(0),
            out: Mutex::default(),
            states: Mutex::default(),
        }
    }

    /// Notes what the client says of itself when it begins.
    pub(crate) fn begins(&self, message: &Message<'_>) {
        let capabilities = message.param("capabilities").unwrap_or_default();
        *self.shows.lock().unwrap_or_else(PoisonError::into_inner) = shows(capabilities);
    }

    /// What the client of this request shows.
    pub(crate) fn shows(&self, message: &Message<'_>, modern: bool) -> Shows {
        if modern {
            return modern_shows(message);
        }
        *self.shows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why nobody can be asked, where only the client is.
    pub(crate) fn cannot(&self, shows: Shows, page_only: bool) -> Option<&'static str> {
        match (self.alone, page_only, shows.any()) {
            (true, true, _) => Some(
                "the policy wants it approved on the page alone, and with `--ask elicit` a person is asked in the client alone",
            ),
            (true, false, false) => Some(
                "with `--ask elicit` a person is asked in the client alone, and this client shows neither forms nor addresses",
            ),
            _ => None,
        }
    }

    fn name(&self) -> String {
        format!("{}-{}", self.prefix, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// A form for a client of the era of handshakes, or the address at which the question is answered: its id, the request, and where
    /// the answer comes.
    pub(crate) fn send(&self, question: &Question, link: Option<&str>) -> (Id, String, Receiver<String>) {
        let (sender, receiver) = channel();
        let name = self.name();
        let mut params = params(question, link);
        if link.is_some()
            && let Some(map) = params.as_object_mut()
        {
            map.insert("elicitationId".to_owned(), json!(name));
        }
        let id = Id::Text(name);
        self.out.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), sender);
        let request =
            json!({ "jsonrpc": "2.0", "id": Value::Null, "method": "elicitation/create", "params": params });
        // The id stands in it as JSON already.
        let request = request.to_string().replacen("\"id\":null", &format!("\"id\":{}", id.json()), 1);
        (id, request, receiver)
    }

    /// What was to be answered at an address is: what the client is told.
    pub(crate) fn complete(id: &Id) -> String {
        let (method, id) = ("notifications/elicitation/complete", id.json());
        format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"elicitationId":{id}}}}}"#)
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
        let _ = sender.send(message.part(&message.result).to_owned());
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
        link: Option<&str>,
    ) -> String {
        let name = self.name();
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.retain(|_, state| state.until > Instant::now());
        if states.len() < MOST {
            let digest = policy_approvals::digest(question);
            let theirs = Message::read(call.as_bytes(), Side::Client).map(|call| theirs(&call));
            let theirs = theirs.unwrap_or_default();
            let state =
                State { ticket, digest, until: Instant::now() + KEPT, counted, theirs, url: link.is_some() };
            states.insert(name.clone(), state);
        }
        let result = json!({
            "resultType": "input_required",
            "inputRequests": { KEY: { "method": "elicitation/create", "params": params(question, link) } },
            "requestState": name,
        });
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.json())
    }

    /// What a request brings back of ours: the answer for a call with this digest, and the request without it.
    pub(crate) fn brought(&self, message: &Message<'_>) -> Option<Brought> {
        let state = message.param("requestState").and_then(string)?;
        let State { ticket, digest, until, counted, theirs, url } =
            self.states.lock().unwrap_or_else(PoisonError::into_inner).remove(&state)?;
        let responses = message.param("inputResponses").unwrap_or_default();
        let own = members(responses).unwrap_or_default().into_iter().find(|member| member.key == KEY);
        let back = back(own.and_then(|own| responses.get(own.value)).unwrap_or_default(), url);
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
        (until > Instant::now()).then_some(Brought { back, ticket, digest, text, counted })
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
    pub(crate) back: Back,
    pub(crate) ticket: Ticket,
    /// Of the question that was asked.
    pub(crate) digest: [u8; 32],
    /// The request without what is ours.
    pub(crate) text: String,
    /// What the call was counted for.
    pub(crate) counted: Counted,
}

/// What a client shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shows {
    pub(crate) forms: bool,
    /// It lets its person open addresses.
    pub(crate) addresses: bool,
}

impl Shows {
    /// Whether a person can be asked in it.
    pub(crate) fn any(self) -> bool {
        self.forms || self.addresses
    }
}

/// What a stateless client says with its request that it shows.
fn modern_shows(message: &Message<'_>) -> Shows {
    let meta = message.param("_meta").unwrap_or_default();
    let all = members(meta).unwrap_or_default();
    let own = all.iter().find(|member| member.key == "io.modelcontextprotocol/clientCapabilities");
    own.and_then(|own| meta.get(own.value.clone())).map(shows).unwrap_or_default()
}

fn shows(capabilities: &str) -> Shows {
    let all = members(capabilities).unwrap_or_default();
    let own = all.iter().find(|member| member.key == "elicitation");
    let kinds = own.and_then(|own| capabilities.get(own.value.clone())).and_then(|own| members(own).ok());
    let Some(kinds) = kinds else { return Shows::default() };
    let has = |name: &str| kinds.iter().any(|kind| kind.key == name);
    Shows { forms: kinds.is_empty() || has("form"), addresses: has("url") }
}

fn params(question: &Question, link: Option<&str>) -> Value {
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
    if let Some(link) = link {
        return json!({ "mode": "url", "message": message, "url": link });
    }
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

/// What comes back of what a client was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Back {
    Said(Verdict),
    /// The person opened the address, which answers nothing yet.
    Opened,
    /// It was closed, or cannot be read.
    Closed,
    /// The client could not show it.
    Failed,
}

/// What the result of a client says.
pub(crate) fn back(result: &str, url: bool) -> Back {
    let value: Option<Value> = serde_json::from_str(result).ok();
    match value.as_ref().and_then(|value| value.get("action")?.as_str()) {
        None => Back::Failed,
        // SECURITY: who shows an address has no decision to tell, only that it was opened.
        Some("accept") if url => Back::Opened,
        Some(_) => verdict(result).map_or(Back::Closed, Back::Said),
    }
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
        let (forms, addresses) = (true, true);
        for (capabilities, wanted) in [
            (r#"{"elicitation":{}}"#, Shows { forms, addresses: false }),
            (r#"{"elicitation":{"form":{}}}"#, Shows { forms, addresses: false }),
            (r#"{"elicitation":{"url":{}}}"#, Shows { forms: false, addresses }),
            (r#"{"elicitation":{"url":{},"form":{}}}"#, Shows { forms, addresses }),
            (r#"{"elicitation":7}"#, Shows::default()),
            ("{}", Shows::default()),
            ("", Shows::default()),
        ] {
            assert_eq!(shows(capabilities), wanted, "{capabilities}");
        }
    }

    #[test]
    fn opening_an_address_answers_nothing() {
        let once = r#"{"action":"accept","content":{"decision":"approve once"}}"#;
        assert_eq!((back(once, true), back(once, false)), (Back::Opened, Back::Said(Verdict::Once)));
        for url in [true, false] {
            assert_eq!(back(r#"{"action":"decline"}"#, url), Back::Said(Verdict::Deny));
            assert_eq!(back(r#"{"action":"cancel"}"#, url), Back::Closed);
            assert_eq!((back("", url), back("null", url)), (Back::Failed, Back::Failed));
        }
    }
}
