//! Asking a person about a call, while other calls go on.
//!
//! INVARIANT: a call that waits is carried out or answered once, by the thread that asked; a client that does not want it any more
//! gets nothing. Forms never ask what is for the page alone.

use crate::wrap::ask::Said;
use crate::wrap::chain::Approved;
use crate::wrap::elicit::Forms;
use crate::wrap::gate::Form;
use crate::wrap::judge::{Question, Ruling};
use crate::wrap::message::Id;
use crate::wrap::progress::Ticks;
use crate::wrap::proxy::Proxy;
use crate::wrap::{reply, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// Most questions that wait at once.
const MOST_WAITING: usize = 3;

impl Proxy {
    /// Decides again after a person spoke; an approval is noted for the calls that follow in its chain.
    pub(super) fn again(&self, id: &Id, question: Box<Question>, said: Said) -> Ruling {
        let yes = matches!(said, Said::Approved(_) | Said::Granted(..));
        let digest = policy_approvals::digest(&question.shown);
        let ruling = self.judge.again(question, said);
        if yes && matches!(ruling, Ruling::Go) {
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

    /// A stateless client is answered with the form, and comes back with the same call.
    pub(super) fn ask_modern(&self, id: &Id, form: Form, question: Box<Question>, text: &str) {
        let said = match (self.person.begin(&question.shown), &self.forms) {
            (Ok(policy_approvals::Asked::Waiting(ticket)), Some(forms)) => {
                let required = forms.required(id, &question.shown, ticket, question.counted.clone(), text);
                self.flight().leave(id);
                return self.to_client(&required);
            }
            (Ok(policy_approvals::Asked::Granted(_)), _) => {
                Said::Granted("before".to_owned(), policy_approvals::digest(&question.shown))
            }
            (Ok(_), None) => Said::Nobody("nobody can be asked".to_owned()),
            (Err(why), _) => Said::Nobody(why),
        };
        let ruling = self.again(id, question, said);
        self.carry_out(id, form, ruling, text, true);
    }

    /// A person is asked, while other calls go on.
    pub(super) fn wait(
        self: &Arc<Self>,
        id: Id,
        question: Box<Question>,
        (text, token): (&str, Option<Id>),
        modern: bool,
    ) {
        let form = question.asked.form;
        if !self.flight().wait(&id, MOST_WAITING) {
            let why =
                format!("policy: {MOST_WAITING} questions wait for a person already; this call was not made");
            return self.deny(&id, form, &why, modern);
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
            let also = |done: &AtomicBool| own.ask_by_form(&question.shown, done);
            let shows = !modern && own.forms.as_ref().is_some_and(Forms::shows) && !question.shown.page_only;
            let said = own.person.ask(&question.shown, &beat, if shows { Some(&also) } else { None });
            let said = if gone() { Said::Nobody("the call was cancelled".to_owned()) } else { said };
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

    /// Asks by a form of a client of the era of handshakes.
    fn ask_by_form(
        &self,
        question: &policy_approvals::Question,
        done: &AtomicBool,
    ) -> Option<policy_approvals::Verdict> {
        let forms = self.forms.as_ref()?;
        let (id, request, answer) = forms.send(question);
        self.to_client(&request);
        while !done.load(Ordering::Relaxed) {
            match answer.recv_timeout(Duration::from_millis(100)) {
                Ok(verdict) => return verdict,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        if let Some(cancelled) = forms.withdraw(&id) {
            self.to_client(&cancelled);
        }
        None
    }
}
