//! Asking a person about a call, while other calls go on.
//!
//! INVARIANT: a call that waits is carried out or answered once, by the thread that asked; a client that does not want it any more
//! gets nothing. Forms never ask what is for the page alone.

use crate::wrap::ask::{Other, Said, said_before};
use crate::wrap::chain::Approved;
use crate::wrap::elicit::{self, Back, Forms, Shows};
use crate::wrap::gate::Form;
use crate::wrap::judge::{Question, Ruling};
use crate::wrap::message::Id;
use crate::wrap::progress::Ticks;
use crate::wrap::proxy::Proxy;
use crate::wrap::{reply, thread};
use policy_approvals::{Question as Shown, Ticket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// Most questions that wait at once.
const MOST_WAITING: usize = 3;
/// How long the page may take to be there.
const PAGE_WITHIN: Duration = Duration::from_secs(5);
pub(super) const CLOSED: &str = "what the client showed was closed without an answer";

/// How a person is asked while a call waits.
pub(super) enum Way {
    /// On the page alone.
    Page,
    /// In the client too, as far as it can.
    Beside(Shows),
    /// It was asked before.
    Resumed(Ticket),
}

impl Proxy {
    /// Decides again after a person spoke; an approval is noted for the calls that follow in its chain.
    pub(super) fn again(&self, id: &Id, question: Box<Question>, said: Said) -> Ruling {
        let yes = matches!(said, Said::Approved(_) | Said::Granted(..));
        let digest = policy_approvals::digest(&question.shown);
        let ruling = self.judge.again(question, said);
        if yes && matches!(ruling, Ruling::Go(_)) {
            self.flight().approve(id, Approved::now(digest));
        }
        ruling
    }

    /// That a call waits, for a client that wants to hear of it.
    fn tell(&self, id: &Id, token: &Id, what: &str) {
        // ORDER: the value is taken first, and nothing is written under the lock.
        let value = self.flight().tell(id, token);
        if let Some(value) = value {
            self.to_client(&reply::progress(&token.json(), value, what));
        }
    }

    /// A stateless client is answered with an address or a form, and comes back with the same call.
    pub(super) fn ask_modern(
        self: &Arc<Self>,
        id: Id,
        form: Form,
        question: Box<Question>,
        (text, token): (&str, Option<Id>),
        shows: Shows,
    ) {
        let said = match self.person.begin(&question.shown) {
            Ok(policy_approvals::Asked::Waiting(ticket)) => {
                let link = if shows.addresses { self.person.link(&ticket, true) } else { None };
                if link.is_some() || !shows.addresses {
                    return self.required(&id, &question, ticket, text, link.as_deref());
                }
                // ORDER: the page is waited for by a thread, since this one reads what the client says.
                let (own, text, lost) = (self.clone(), text.to_owned(), id.clone());
                let begun =
                    thread("policy-link", move || match own.link(&ticket, &AtomicBool::new(false), false) {
                        None if !shows.forms => {
                            own.wait(id, question, (&text, token), Way::Resumed(ticket), true);
                        }
                        link => own.required(&id, &question, ticket, &text, link.as_deref()),
                    });
                if let Err(why) = begun {
                    self.deny(&lost, form, &format!("policy: {why}; this call was not made"), true);
                }
                return;
            }
            Ok(policy_approvals::Asked::Granted(approval)) => said_before(approval, &question.shown),
            Err(why) => Said::Nobody(why),
        };
        let ruling = self.again(&id, question, said);
        self.carry_out(&id, form, ruling, text, true);
    }

    fn required(&self, id: &Id, question: &Question, ticket: Ticket, text: &str, link: Option<&str>) {
        let Some(forms) = &self.forms else { return };
        let required = forms.required(id, &question.shown, ticket, question.counted.clone(), text, link);
        // ORDER: when the server has ended, all that was in flight is answered at once.
        let wanted = self.flight().leave(id);
        if wanted {
            self.to_client(&required);
        }
    }

    /// The address of a question, once the page is there, which takes a moment.
    fn link(&self, ticket: &Ticket, done: &AtomicBool, first: bool) -> Option<String> {
        let until = Instant::now() + PAGE_WITHIN;
        let mut first = first;
        while !done.load(Ordering::Relaxed) && Instant::now() < until {
            if let Some(link) = self.person.link(ticket, first) {
                return Some(link);
            }
            first = false;
            std::thread::sleep(Duration::from_millis(100));
        }
        None
    }

    /// A person is asked, while other calls go on.
    pub(super) fn wait(
        self: &Arc<Self>,
        id: Id,
        question: Box<Question>,
        (text, token): (&str, Option<Id>),
        way: Way,
        modern: bool,
    ) {
        let form = question.asked.form;
        if !self.flight().wait(&id, MOST_WAITING) {
            let why = format!("{MOST_WAITING} questions wait for a person already, so it was not made");
            let ruling = self.judge.again(question, Said::Nobody(why));
            return self.carry_out(&id, form, ruling, text, modern);
        }
        let (own, text) = (self.clone(), text.to_owned());
        let (for_thread, kept) = (id.clone(), text.len());
        let begun = thread("policy-question", move || {
            let id = for_thread;
            if let Some(token) = &token {
                own.tell(&id, token, "waiting for a person to approve this call");
            }
            let ticks = Ticks::new();
            let gone = || !own.flight().waits(&id);
            // Those who wait look again and again whether the call is wanted.
            let beat = || {
                let gone = gone();
                if let Some(token) = token.as_ref().filter(|_| !gone && ticks.due(Instant::now())) {
                    own.tell(&id, token, "still waiting for a person to approve this call");
                }
                gone
            };
            let asked = &question.shown;
            let said = match way {
                Way::Resumed(ticket) => own.person.resume(asked, &ticket, &beat),
                Way::Beside(shows) if shows.any() && !asked.page_only => {
                    let also =
                        |ticket: &Ticket, done: &AtomicBool| own.ask_in_client(asked, shows, ticket, done);
                    own.person.ask(asked, &beat, Some(&also))
                }
                Way::Beside(_) | Way::Page => own.person.ask(asked, &beat, None),
            };
            let said = if gone() { Said::Nobody(own.flight().unwanted().to_owned()) } else { said };
            let ruling = own.again(&id, question, said);
            // ORDER: asked last, so that a call that was cancelled meanwhile is not made.
            if own.flight().answered(&id) {
                own.carry_out(&id, form, ruling, &text, modern);
            } else {
                own.flight().leave(&id);
            }
            own.flight().done();
            own.answered.notify_all();
        });
        if let Err(why) = begun {
            self.flight().answered(&id);
            self.flight().done();
            self.deny(&id, form, &format!("policy: {why}; this call of {kept} bytes was not made"), modern);
        }
    }

    /// Asks in a client of the era of handshakes: by an address, else by a form.
    fn ask_in_client(&self, question: &Shown, shows: Shows, ticket: &Ticket, done: &AtomicBool) -> Other {
        let Some(forms) = &self.forms else { return Other::Nothing };
        let link = if shows.addresses { self.link(ticket, done, true) } else { None };
        let mut back = link.and_then(|link| self.ask_once(forms, question, Some(&link), done));
        if shows.forms && matches!(back, None | Some(Back::Failed)) && !done.load(Ordering::Relaxed) {
            back = self.ask_once(forms, question, None, done);
        }
        match back {
            Some(Back::Said(verdict)) => Other::Said(verdict),
            Some(Back::Closed) if forms.alone => Other::Over(CLOSED),
            _ if forms.alone && !done.load(Ordering::Relaxed) => {
                Other::Over("the client could not show it to a person")
            }
            _ => Other::Nothing,
        }
    }

    /// What comes back of one way of asking; none when all is over.
    fn ask_once(
        &self,
        forms: &Forms,
        question: &Shown,
        link: Option<&str>,
        done: &AtomicBool,
    ) -> Option<Back> {
        let (id, request, answer) = forms.send(question, link);
        self.to_client(&request);
        let mut opened = false;
        while !done.load(Ordering::Relaxed) {
            if opened {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
            match answer.recv_timeout(Duration::from_millis(100)) {
                Ok(result) => match elicit::back(&result, link.is_some()) {
                    Back::Opened => opened = true,
                    other => return Some(other),
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        if opened {
            self.to_client(&Forms::complete(&id));
        } else if let Some(cancelled) = forms.withdraw(&id) {
            self.to_client(&cancelled);
        }
        None
    }
}
