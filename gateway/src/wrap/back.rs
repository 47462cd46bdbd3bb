//! The way of what a server gives back through the judge, and what its notifications change here.
//!
//! INVARIANT: only what answers a call that was let go is judged, with that call; a task is the call that began it.

use crate::wrap::flight::Open;
use crate::wrap::gate::Asked;
use crate::wrap::given::{self, Given, Tasks};
use crate::wrap::inside::acknowledged;
use crate::wrap::json::string;
use crate::wrap::message::{Id, Message};
use crate::wrap::proxy::Proxy;
use serde_json::Value;
use std::sync::{MutexGuard, PoisonError};

impl Proxy {
    /// What a response gives back, when it does not pass as it is; an error when it is withheld.
    pub(super) fn given_back(&self, open: &Open, message: &Message<'_>) -> Result<Option<String>, String> {
        let asked = match (&open.asked, &open.task) {
            (None, None) => return Ok(None),
            (Some(asked), _) => {
                let result = message.part(&message.result);
                let task = given::begun(result).filter(|_| open.method == "tools/call");
                if let Some(task) = task {
                    self.tasks().begin(task, Asked::clone(asked));
                }
                Some(Asked::clone(asked))
            }
            (None, Some(task)) => self.tasks().of(task),
        };
        self.given(asked, message)
    }

    /// What the server tells of a task by itself.
    pub(super) fn told_of_task(&self, message: &Message<'_>) -> Result<Option<String>, String> {
        // What a server asks of its client is held here, too.
        if let Some(why) = self.denied_inside(message.part(&message.params)) {
            return Err(why);
        }
        match message.param("taskId").and_then(string) {
            Some(task) => {
                let asked = self.tasks().of(&task);
                self.given(asked, message)
            }
            None => self.given(None, message),
        }
    }

    fn given(&self, asked: Option<Asked>, message: &Message<'_>) -> Result<Option<String>, String> {
        // What nobody looks at need not be read.
        if asked.is_none() && self.judge.given(None, Value::Null) == Given::Pass {
            return Ok(None);
        }
        let unread =
            |why: String| format!("policy withheld what the tool gave back: it cannot be read: {why}");
        let part = given::part(message).map_err(unread)?;
        let output = given::output(message, &part).map_err(unread)?;
        match self.judge.given(asked, output) {
            Given::Pass => Ok(None),
            Given::Without(value, told) => Ok(Some(given::changed(message, &part, value, &told))),
            Given::Withheld(why) => Err(why),
        }
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a notification of the server changes here.
    pub(super) fn note(&self, method: &str, message: &Message<'_>) {
        match method {
            "notifications/cancelled" => {
                if let Some(id) = message.param("requestId").and_then(Id::of) {
                    self.flight().withdraw(&id);
                }
            }
            "notifications/subscriptions/acknowledged" => {
                let heard = acknowledged(message).is_some_and(|id| self.flight().hear(&id));
                if heard {
                    self.judge.hears();
                }
            }
            _ => {}
        }
    }
}
