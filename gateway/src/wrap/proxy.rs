//! What becomes of each message, from either side.
//!
//! INVARIANT: nothing is written while a lock on what is in flight is held, and who reads a side never waits for that side to read;
//! a request of the client is noted before it goes, and answered once.

use crate::wrap::ask::{Person, Said};
use crate::wrap::asking::{CLOSED, Way};
use crate::wrap::chain::Chains;
use crate::wrap::elicit::{Back, Forms, short};
use crate::wrap::flight::{Flight, Open};
use crate::wrap::frame::{self, Frame, Frames};
use crate::wrap::gate::{Asked, Form, of_client, of_server};
use crate::wrap::given::Tasks;
use crate::wrap::inside::{Begin, begin, is_modern, progress_token, requests_inside, state_wanted};
use crate::wrap::json::{cut, string};
use crate::wrap::judge::{Judge, Ruling};
use crate::wrap::message::{self, Id, Kind, Message, Side};
use crate::wrap::pinned::{Cursor, Page};
use crate::wrap::refuse::Refusals;
use crate::wrap::{complain, list, progress, reply};
use std::borrow::Cow;
use std::io::{Read, Write};
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What all threads share.
pub(crate) struct Proxy {
    pub(super) judge: Judge,
    pub(super) person: Arc<dyn Person>,
    /// None where forms are not wanted.
    pub(super) forms: Option<Forms>,
    client: Mutex<std::io::Stdout>,
    /// None when the client has ended.
    server: Mutex<Option<ChildStdin>>,
    flight: Mutex<Flight>,
    /// A question was answered.
    pub(super) answered: Condvar,
    refusals: Refusals,
    /// Approved calls that the client makes again.
    chains: Chains,
    /// The client was promised to hear of changes when it began.
    promised: AtomicBool,
    /// Calls that go on as tasks, when what they give back is looked at.
    pub(super) tasks: Mutex<Tasks>,
}

impl Proxy {
    pub(crate) fn new(
        judge: Judge,
        person: Arc<dyn Person>,
        forms: Option<Forms>,
        server: ChildStdin,
        refusals: Refusals,
    ) -> Proxy {
        Proxy {
            judge,
            person,
            forms,
            client: Mutex::new(std::io::stdout()),
            server: Mutex::new(Some(server)),
            flight: Mutex::default(),
            answered: Condvar::new(),
            refusals,
            chains: Chains::default(),
            promised: AtomicBool::new(false),
            tasks: Mutex::default(),
        }
    }

    /// Writes what is refused to the server, until the end.
    pub(crate) fn refuse(&self, queue: &Receiver<String>) {
        for text in queue {
            self.to_server(&text);
            self.refusals.done();
        }
    }

    /// Tells the client that the list of tools has changed, each time that one comes.
    pub(crate) fn tell_changes(&self, changes: &Receiver<()>) {
        for () in changes {
            if self.promised.load(Ordering::Relaxed) {
                self.to_client(reply::LIST_CHANGED);
            }
            let hearing = self.flight().hearing();
            for id in hearing {
                self.to_client(&reply::list_changed_under(&id));
            }
        }
    }

    /// Waits until what was refused is written, but not for long.
    pub(crate) fn refused(&self, within: Duration) {
        self.refusals.written(within);
    }

    /// Ends the input of the server.
    pub(crate) fn end_server(&self) {
        self.lock_server().take();
    }

    pub(super) fn flight(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_server(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn to_client(&self, text: &str) {
        let mut line = Vec::with_capacity(text.len() + 1);
        line.extend_from_slice(text.as_bytes());
        line.push(b'\n');
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.write_all(&line).and_then(|()| client.flush()).is_err() {
            // Nobody reads: the end of the server's input is the end of all.
            drop(client);
            self.lock_server().take();
        }
    }

    fn to_server(&self, text: &str) -> bool {
        let mut line = Vec::with_capacity(text.len() + 1);
        line.extend_from_slice(text.as_bytes());
        line.push(b'\n');
        let mut server = self.lock_server();
        let written = server
            .as_mut()
            .is_some_and(|server| server.write_all(&line).and_then(|()| server.flush()).is_ok());
        if !written {
            server.take();
        }
        written
    }

    /// The client has ended and reads no answer: what waits for a person is withdrawn.
    pub(crate) fn abandon(&self) {
        self.flight().abandon();
    }

    /// Waits until no question is open and what was approved is with the server.
    pub(crate) fn answered(&self) {
        let mut flight = self.flight();
        while flight.asking() {
            flight = self.answered.wait(flight).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until no question is open, but not for long.
    pub(crate) fn answered_soon(&self, within: Duration) {
        let flight = self.flight();
        drop(self.answered.wait_timeout_while(flight, within, |flight| flight.asking()));
    }

    /// Answers what the server will not answer any more.
    pub(crate) fn lost(&self, why: &str) {
        let open = self.flight().drain();
        for id in open {
            self.to_client(&reply::error(Some(&id), -32603, why));
        }
    }

    pub(crate) fn client(self: &Arc<Self>, stream: impl Read) {
        let mut frames = Frames::new(stream);
        loop {
            match frames.next() {
                Ok(Frame::Line(line)) => self.of_client(&line),
                Ok(Frame::TooLong(first, last)) => {
                    let id = message::id_in_ends(&first, &last);
                    let why =
                        format!("the message is longer than {} MiB and was not passed on", frame::MOST >> 20);
                    self.to_client(&reply::error(id.as_ref(), -32600, &why));
                }
                Ok(Frame::End) => return,
                Err(error) => return complain(&format!("policy wrap: the client cannot be read: {error}")),
            }
        }
    }

    fn of_client(self: &Arc<Self>, line: &[u8]) {
        let message = match Message::read(line, Side::Client) {
            Ok(message) => message,
            Err(wrong) => {
                let why = format!("the message was not passed on: {}", wrong.why);
                return self.to_client(&reply::error(wrong.id.as_ref(), wrong.code, &why));
            }
        };
        match message.kind.clone() {
            Kind::Request(id, method) => self.request(id, &method, &message),
            Kind::Notification(method) => match method.as_str() {
                "notifications/cancelled" if self.cancelled(&message) => {}
                _ if matches!(of_client(&method, &message), Ok(None)) => {
                    self.to_server(message.text);
                }
                // It would be done, and nobody would hear of it.
                _ => complain(&format!("policy wrap: `{method}` without an id was dropped")),
            },
            Kind::Response(id) if self.forms.as_ref().is_some_and(|forms| forms.answers(&id, &message)) => {}
            Kind::Response(id) => {
                // ORDER: nothing is written under the lock, so that a server that does not read stops nobody else.
                let asked = self.flight().replied(&id);
                if asked {
                    self.to_server(message.text);
                } else {
                    complain("policy wrap: a response to nothing was dropped");
                }
            }
            Kind::Lost => complain("policy wrap: an error without an id was dropped"),
        }
    }

    fn request(self: &Arc<Self>, id: Id, method: &str, message: &Message<'_>) {
        let modern = is_modern(message);
        if method == "initialize"
            && let Some(forms) = &self.forms
        {
            forms.begins(message);
        }
        let cursor = message.param("cursor").filter(|_| method == "tools/list").and_then(Cursor::of);
        let task = message.param("taskId").filter(|_| method.starts_with("tasks/")).and_then(string);
        let taken = self.flight().enter(id.clone(), Open::of(method, modern).at(cursor).about(task));
        if let Err(why) = taken {
            return self.to_client(&reply::error(Some(&id), -32600, why));
        }
        let asked = match of_client(method, message) {
            Ok(asked) => asked,
            Err(why) => {
                self.flight().leave(&id);
                return self.to_client(&reply::error(Some(&id), -32602, &why));
            }
        };
        let Some(asked) = asked else { return self.pass(&id, message.text) };
        let form = asked.form;
        // What a stateless client brings back of ours is not for the server.
        let brought = self.forms.as_ref().and_then(|forms| forms.brought(message));
        let text = brought.as_ref().map_or(message.text, |brought| brought.text.as_str());
        let state = brought.is_none().then(|| message.param("requestState").and_then(string)).flatten();
        // ORDER: taken whatever is decided, so that it counts once.
        let before = state.and_then(|state| self.chains.take(&state));
        let first = match &brought {
            Some(own) => self.judge.decide_once_more(asked, own.counted.clone()),
            None => self.judge.decide(asked),
        };
        let shows = self.forms.as_ref().map(|forms| forms.shows(message, modern)).unwrap_or_default();
        let ruling = match first {
            Ruling::Ask(question) => {
                let digest = policy_approvals::digest(&question.shown);
                // What is for the page alone waits like any other call, and is asked again.
                let alone = question.shown.page_only;
                match (&brought, before) {
                    (Some(own), _) if own.digest == digest => {
                        let said = match own.back {
                            Back::Said(verdict) => self.person.said(&own.ticket, verdict),
                            Back::Opened => {
                                let (ticket, token) = (own.ticket.clone(), progress_token(message));
                                return self.wait(id, question, (text, token), Way::Resumed(ticket), modern);
                            }
                            Back::Closed | Back::Failed => Said::Nobody(CLOSED.to_owned()),
                        };
                        self.again(&id, question, said)
                    }
                    (_, Some(before)) if before.holds(&digest) && !alone => {
                        let ruling = self.judge.again(question, Said::in_chain(digest));
                        self.flight().approve(&id, before);
                        ruling
                    }
                    _ => match self.forms.as_ref().and_then(|forms| forms.cannot(shows, alone)) {
                        Some(why) => self.again(&id, question, Said::Nobody(why.to_owned())),
                        None if modern && !alone && shows.any() && short(message) => {
                            return self.ask_modern(
                                id,
                                form,
                                question,
                                (text, progress_token(message)),
                                shows,
                            );
                        }
                        None => Ruling::Ask(question),
                    },
                }
            }
            other => other,
        };
        match ruling {
            Ruling::Ask(question) => {
                let way = if modern { Way::Page } else { Way::Beside(shows) };
                self.wait(id, question, (text, progress_token(message)), way, modern);
            }
            ruled => self.carry_out(&id, form, ruled, text, modern),
        }
    }

    /// What becomes of a request when nobody is asked any more.
    pub(super) fn carry_out(&self, id: &Id, form: Form, ruling: Ruling, text: &str, modern: bool) {
        match ruling {
            Ruling::Go(asked) => match asked.map_or(Ok(()), |asked| self.flight().keep(id, asked)) {
                Ok(()) => self.pass(id, text),
                Err(why) => self.deny(id, form, &format!("policy: {why}"), modern),
            },
            Ruling::Deny(why) => self.deny(id, form, &why, modern),
            Ruling::Ask(again) => self.deny(id, form, &format!("policy: {}", again.reason), modern),
        }
    }

    /// Lets a request go.
    fn pass(&self, id: &Id, text: &str) {
        // ORDER: noted first, since the answer may come at once.
        self.flight().sent(id);
        if !self.to_server(text) && self.flight().leave(id) {
            self.to_client(&reply::error(Some(id), -32603, "the server has ended"));
        }
    }

    pub(super) fn deny(&self, id: &Id, form: Form, text: &str, modern: bool) {
        // ORDER: when the server has ended, all that was in flight is answered at once.
        if !self.flight().leave(id) {
            return;
        }
        match form {
            Form::Tool => self.to_client(&reply::denied(id, text, modern)),
            Form::Resource | Form::Server => {
                let why = text.strip_prefix("policy ").unwrap_or(text);
                self.to_client(&reply::error(Some(id), -32603, why));
            }
        }
    }

    /// Whether a call that waits for a person was cancelled.
    fn cancelled(&self, message: &Message<'_>) -> bool {
        let id = message.param("requestId").and_then(Id::of);
        id.is_some_and(|id| self.flight().cancel(&id))
    }

    pub(crate) fn server(&self, stream: impl Read) {
        let mut frames = Frames::new(stream);
        loop {
            match frames.next() {
                Ok(Frame::Line(line)) => self.of_server(&line),
                Ok(Frame::TooLong(first, last)) => {
                    let why = format!("the server's message is longer than {} MiB", frame::MOST >> 20);
                    complain(&format!("policy wrap: {why}"));
                    let id =
                        message::id_in_ends(&first, &last).filter(|id| self.flight().answer(id).is_some());
                    if let Some(id) = id {
                        self.to_client(&reply::error(Some(&id), -32603, &why));
                    }
                }
                Ok(Frame::End) => return,
                Err(error) => return complain(&format!("policy wrap: the server cannot be read: {error}")),
            }
        }
    }

    fn of_server(&self, line: &[u8]) {
        let message = match Message::read(line, Side::Server) {
            Ok(message) => message,
            Err(wrong) => {
                let start: String = String::from_utf8_lossy(line).chars().take(200).collect();
                complain(&format!("policy wrap: the server wrote no message ({}): {start}", wrong.why));
                let id = wrong.id.filter(|id| self.flight().answer(id).is_some());
                if let Some(id) = id {
                    let why = format!("the server's answer cannot be passed on: {}", wrong.why);
                    self.to_client(&reply::error(Some(&id), -32603, &why));
                }
                return;
            }
        };
        match message.kind.clone() {
            Kind::Response(id) => {
                let Some(open) = self.flight().answer(&id) else {
                    return complain("policy wrap: the server answered a request that nobody made");
                };
                self.response(&id, &open, &message);
            }
            Kind::Request(id, method) => self.request_of_server(id, &method, &message),
            Kind::Notification(method) if method.starts_with("notifications/tasks") => {
                match self.told_of_task(&message) {
                    Ok(None) => self.to_client(message.text),
                    Ok(Some(text)) => self.to_client(&text),
                    Err(why) => complain(&format!("policy wrap: `{method}` was dropped: {why}")),
                }
            }
            Kind::Notification(method) => {
                self.note(&method, &message);
                let token = progress::token(&method, &message);
                let told = token.and_then(|token| self.flight().told(&token));
                let raised = told.and_then(|told| progress::raised(&message, told));
                self.to_client(raised.as_deref().unwrap_or(message.text));
            }
            Kind::Lost => self.to_client(message.text),
        }
    }

    /// A response, with lists of tools filtered and requests inside judged.
    fn response(&self, id: &Id, open: &Open, message: &Message<'_>) {
        let result = message.part(&message.result);
        let held = match open.method.as_str() {
            _ if result.is_empty() => Ok(None),
            "tools/list" => self.listed(open, result),
            "initialize" | "server/discover" => self.begun(open, result),
            _ => Ok(None),
        };
        let text = match (held, message.result.clone()) {
            (Ok(None), _) => Cow::Borrowed(message.text),
            (Ok(Some(_)), None) => return,
            (Ok(Some(kept)), Some(range)) => {
                let before = message.text.get(..range.start).unwrap_or_default();
                let behind = message.text.get(range.end..).unwrap_or_default();
                Cow::Owned([before, &kept, behind].concat())
            }
            (Err(why), _) => return self.to_client(&reply::error(Some(id), -32603, &why)),
        };
        if let Some(why) = self.denied_inside(result) {
            return match open.method.as_str() {
                "tools/call" => self.to_client(&reply::denied(id, &why, true)),
                _ => self.to_client(&reply::error(Some(id), -32603, &why)),
            };
        }
        let text = match self.given_back(open, message) {
            Ok(None) => text,
            Ok(Some(changed)) => Cow::Owned(changed),
            Err(why) if open.asked.as_ref().is_some_and(|asked| asked.form == Form::Tool) => {
                return self.to_client(&reply::denied(id, &why, open.modern));
            }
            Err(why) => return self.to_client(&reply::error(Some(id), -32603, &why)),
        };
        if let Some(approved) = open.approved
            && let Some(state) = state_wanted(result)
        {
            // ORDER: remembered first, since the client may come back at once.
            self.chains.remember(&state, approved);
        }
        self.to_client(&text);
    }

    /// A list of tools without those that are hidden, when some are.
    fn listed(&self, open: &Open, result: &str) -> Result<Option<String>, String> {
        let wrong = |why: String| format!("the server's list of tools cannot be used: {why}");
        let tools = list::tools(result).map_err(wrong)?;
        let next = list::next(result).and_then(Cursor::of);
        let hidden = self.judge.list(Page { tools, cursor: open.cursor, next }).map_err(wrong)?;
        match hidden.contains(&true) {
            true => list::without(result, &hidden).map(Some).map_err(wrong),
            false => Ok(None),
        }
    }

    /// How the server begins, without instructions that are withheld.
    fn begun(&self, open: &Open, result: &str) -> Result<Option<String>, String> {
        let Begin { instructions, tells } =
            begin(result).map_err(|why| format!("how the server begins cannot be read: {why}"))?;
        let tells = tells && open.method == "initialize";
        self.promised.fetch_or(tells, Ordering::Relaxed);
        match self.judge.begins(Begin { instructions, tells }) {
            true => {
                cut(result, "instructions").map(Some).ok_or("its instructions cannot be taken out".to_owned())
            }
            false => Ok(None),
        }
    }

    /// Why what a modern server asks of its client inside a result is denied.
    pub(super) fn denied_inside(&self, result: &str) -> Option<String> {
        let asked = match requests_inside(result) {
            Ok(asked) => asked,
            Err(why) => {
                return Some(format!("policy: what the server asks of the client cannot be read: {why}"));
            }
        };
        asked.into_iter().find_map(|asked| match self.judge.decide(asked) {
            Ruling::Go(_) => None,
            Ruling::Deny(why) => Some(why),
            Ruling::Ask(question) => Some(format!("policy: {}", question.reason)),
        })
    }

    fn request_of_server(&self, id: Id, method: &str, message: &Message<'_>) {
        let refuse = |why: &str| self.refusals.put(reply::error(Some(&id), -1, why));
        let params = message.part(&message.params);
        let asked: Option<Asked> = match of_server(method, params) {
            Ok(asked) => asked,
            Err(why) => return refuse(&why),
        };
        match asked.map(|asked| self.judge.decide(asked)) {
            None | Some(Ruling::Go(_)) => {}
            Some(Ruling::Deny(why)) => return refuse(&why),
            // The client's own person answers forms; what needs ours is not for a server to wait for.
            Some(Ruling::Ask(question)) => return refuse(&question.reason),
        }
        let taken = self.flight().ask(&id);
        if let Err(why) = taken {
            return refuse(why);
        }
        self.to_client(message.text);
    }
}
