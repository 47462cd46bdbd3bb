//! Requests that wait for their answer, in both directions.
//!
//! INVARIANT: an id stands for one request at a time; bounded.

use crate::wrap::chain::Approved;
use crate::wrap::gate::Asked;
use crate::wrap::given::{ROOM, size};
use crate::wrap::message::Id;
use crate::wrap::pinned::Cursor;
use std::collections::{HashMap, HashSet};

/// Most requests of a client at once.
const MOST: usize = 16 * 1024;

/// A request of the client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Open {
    /// Its method.
    pub(crate) method: String,
    /// It is one of the stateless era.
    pub(crate) modern: bool,
    /// For a list: the cursor of the page.
    pub(crate) cursor: Option<Cursor>,
    /// A person approved it.
    pub(crate) approved: Option<Approved>,
    /// What it asks for, when its answer is looked at, and the bytes of that.
    pub(crate) asked: Option<Box<Asked>>,
    bytes: usize,
    /// For one about a task: which.
    pub(crate) task: Option<String>,
    /// The client heard under this token that it waited.
    token: Option<Id>,
    /// It stays open, and its client hears when the list of tools changes.
    hears: bool,
    /// The client took it back when it was with the server: there may be no answer.
    dropped: bool,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is judged.
    Held,
    /// With the server.
    Sent,
    /// A person is asked.
    Waiting,
    /// A person is asked, and the client does not want it any more.
    Cancelled,
}

impl Open {
    pub(crate) fn of(method: &str, modern: bool) -> Open {
        Open {
            method: method.to_owned(),
            modern,
            cursor: None,
            approved: None,
            asked: None,
            bytes: 0,
            task: None,
            token: None,
            hears: false,
            dropped: false,
            stage: Stage::Held,
        }
    }

    /// With the cursor that it was asked with.
    pub(crate) fn at(self, cursor: Option<Cursor>) -> Open {
        Open { cursor, ..self }
    }

    /// About this task.
    pub(crate) fn about(self, task: Option<String>) -> Open {
        Open { task, ..self }
    }
}

/// All that is in flight.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    client: HashMap<Id, Open>,
    /// Requests of the server that went to the client.
    server: HashSet<Id>,
    waiting: usize,
    /// Bytes of all that is asked for whose answers are looked at.
    bytes: usize,
    /// Questions whose calls are not carried out or answered yet.
    asking: usize,
    /// Of tokens under which we said something: our last value, and how many requests have it.
    progress: HashMap<Id, (u64, usize)>,
    /// The client has ended, and reads nothing any more.
    abandoned: bool,
}

impl Flight {
    /// Notes a request of the client.
    pub(crate) fn enter(&mut self, id: Id, open: Open) -> Result<(), &'static str> {
        if self.client.len() >= MOST {
            let dropped = self.client.iter().filter(|(_, open)| open.dropped).map(|(id, _)| id.clone());
            for id in dropped.collect::<Vec<_>>() {
                self.remove(&id);
            }
        }
        if self.client.len() >= MOST {
            return Err("too many requests wait for their answer");
        }
        if self.client.contains_key(&id) {
            return Err("a request with this id is still in flight");
        }
        self.client.insert(id, open);
        Ok(())
    }

    /// Notes that a person approved it.
    pub(crate) fn approve(&mut self, id: &Id, approved: Approved) {
        if let Some(open) = self.client.get_mut(id) {
            open.approved = Some(approved);
        }
    }

    /// Keeps what a request asks for until its answer comes.
    pub(crate) fn keep(&mut self, id: &Id, asked: Box<Asked>) -> Result<(), &'static str> {
        let bytes = size(&asked);
        if self.bytes + bytes > ROOM {
            return Err(
                "the calls that wait for their answer hold too much; call it again when they are answered",
            );
        }
        if let Some(open) = self.client.get_mut(id) {
            self.bytes += bytes;
            (open.bytes, open.asked) = (bytes, Some(asked));
        }
        Ok(())
    }

    /// The next value that the client hears under the token of a request.
    pub(crate) fn tell(&mut self, id: &Id, token: &Id) -> Option<u64> {
        let open = self.client.get_mut(id)?;
        let (last, requests) = self.progress.entry(token.clone()).or_default();
        if open.token.is_none() {
            open.token = Some(token.clone());
            *requests += 1;
        }
        *last += 1;
        Some(*last)
    }

    /// The last value that the client heard from us under a token.
    pub(crate) fn told(&self, token: &Id) -> Option<u64> {
        self.progress.get(token).map(|(last, _)| *last)
    }

    fn remove(&mut self, id: &Id) -> Option<Open> {
        let open = self.client.remove(id)?;
        self.bytes = self.bytes.saturating_sub(open.bytes);
        self.forget(open.token.as_ref());
        Some(open)
    }

    fn forget(&mut self, token: Option<&Id>) {
        let Some(token) = token else { return };
        if let Some((_, requests)) = self.progress.get_mut(token) {
            *requests -= 1;
            if *requests == 0 {
                self.progress.remove(token);
            }
        }
    }

    /// Notes a request of the server that goes to the client.
    pub(crate) fn ask(&mut self, id: &Id) -> Result<(), &'static str> {
        if self.server.len() >= MOST {
            return Err("too many requests wait for their answer");
        }
        if !self.server.insert(id.clone()) {
            return Err("the id is still in flight");
        }
        Ok(())
    }

    /// The client answers a request of the server; whether there was one.
    pub(crate) fn replied(&mut self, id: &Id) -> bool {
        self.server.remove(id)
    }

    /// The server says that it tells of changes under an open request.
    pub(crate) fn hear(&mut self, id: &Id) -> bool {
        let open = self.client.get_mut(id);
        let open = open.filter(|open| open.method == "subscriptions/listen" && open.stage == Stage::Sent);
        open.map(|open| open.hears = !open.dropped).is_some()
    }

    /// The open requests under which the client hears of changes.
    pub(crate) fn hearing(&self) -> Vec<Id> {
        self.client.iter().filter(|(_, open)| open.hears).map(|(id, _)| id.clone()).collect()
    }

    /// The server takes a request back, its own or one that stays open.
    pub(crate) fn withdraw(&mut self, id: &Id) {
        self.server.remove(id);
        if let Some(open) = self.client.get_mut(id).filter(|open| open.method == "subscriptions/listen") {
            (open.hears, open.dropped) = (false, true);
        }
    }

    /// The request goes to the server.
    pub(crate) fn sent(&mut self, id: &Id) {
        if let Some(open) = self.client.get_mut(id) {
            open.stage = Stage::Sent;
        }
    }

    /// The server answers a request; none that it was not sent.
    pub(crate) fn answer(&mut self, id: &Id) -> Option<Open> {
        self.client.get(id).filter(|open| open.stage == Stage::Sent)?;
        self.remove(id)
    }

    /// The request is over; whether it still was to be answered.
    pub(crate) fn leave(&mut self, id: &Id) -> bool {
        self.remove(id).is_some()
    }

    /// Notes that a person is asked; not more than a few at once.
    pub(crate) fn wait(&mut self, id: &Id, most: usize) -> bool {
        if self.waiting >= most {
            return false;
        }
        let Some(open) = self.client.get_mut(id) else { return false };
        open.stage = Stage::Waiting;
        self.waiting += 1;
        self.asking += 1;
        true
    }

    /// The client has ended: nobody wants what waits for a person.
    pub(crate) fn abandon(&mut self) {
        self.abandoned = true;
    }

    /// Why a request is not wanted that waited for a person.
    pub(crate) fn unwanted(&self) -> &'static str {
        if self.abandoned { "the client has ended" } else { "the call was cancelled" }
    }

    /// Whether a person is still to answer.
    pub(crate) fn waits(&self, id: &Id) -> bool {
        !self.abandoned && self.client.get(id).is_some_and(|open| open.stage == Stage::Waiting)
    }

    /// The client takes a request back that waits for a person; whether it was one.
    pub(crate) fn cancel(&mut self, id: &Id) -> bool {
        match self.client.get_mut(id) {
            Some(open) if matches!(open.stage, Stage::Waiting | Stage::Cancelled) => {
                open.stage = Stage::Cancelled;
                true
            }
            Some(open) => {
                (open.hears, open.dropped) = (false, true);
                false
            }
            None => false,
        }
    }

    /// The question is over; whether the client still wants the request.
    pub(crate) fn answered(&mut self, id: &Id) -> bool {
        let Some(open) = self.client.get_mut(id) else { return false };
        let wanted = open.stage == Stage::Waiting;
        if wanted || open.stage == Stage::Cancelled {
            open.stage = Stage::Held;
            self.waiting -= 1;
        }
        wanted && !self.abandoned
    }

    /// What came of a question is done.
    pub(crate) fn done(&mut self) {
        self.asking = self.asking.saturating_sub(1);
    }

    /// Whether there are questions whose calls are not carried out or answered yet.
    pub(crate) fn asking(&self) -> bool {
        self.asking > 0
    }

    /// All that the server will not answer.
    pub(crate) fn drain(&mut self) -> Vec<Id> {
        let stays = |open: &Open| matches!(open.stage, Stage::Waiting | Stage::Cancelled);
        let gone: Vec<Id> =
            self.client.iter().filter(|(_, open)| !stays(open)).map(|(id, _)| id.clone()).collect();
        for id in &gone {
            self.remove(id);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stands_for_one_request() {
        let mut flight = Flight::default();
        let (one, text) = (Id::Number("1".to_owned()), Id::Text("1".to_owned()));
        assert!(flight.enter(one.clone(), Open::of("a", false)).is_ok());
        assert!(flight.enter(text.clone(), Open::of("b", false)).is_ok());
        assert!(flight.enter(one.clone(), Open::of("c", false)).is_err());
        assert!(flight.wait(&text, 1) && !flight.wait(&one, 1));
        assert_eq!((flight.answer(&text), flight.answer(&one)), (None, None), "neither was sent");
        assert!(flight.cancel(&text) && !flight.cancel(&one) && !flight.waits(&text));
        assert!(!flight.answered(&text), "nobody wants it any more");
        assert!(flight.asking(), "nobody has said yet that it was not made");
        flight.done();
        flight.sent(&one);
        let last = Id::Text("2".to_owned());
        assert!(flight.enter(last.clone(), Open::of("d", false)).is_ok() && flight.wait(&last, 1));
        assert_eq!((flight.waits(&last), flight.unwanted()), (true, "the call was cancelled"));
        flight.abandon();
        assert_eq!((flight.waits(&last), flight.unwanted()), (false, "the client has ended"));
        assert!(!flight.answered(&last) && flight.leave(&last));
        flight.done();
        assert_eq!(
            (flight.asking(), flight.answer(&one).map(|open| open.method)),
            (false, Some("a".to_owned()))
        );
        assert_eq!((flight.answer(&one), flight.drain()), (None, vec![text.clone()]));
        assert!(!flight.leave(&text), "it was answered with all the others");
    }

    #[test]
    fn what_was_taken_back_makes_room_and_hears_of_nothing() {
        let mut flight = Flight::default();
        let id = |n: usize| Id::Number(n.to_string());
        for n in 0..MOST {
            flight.enter(id(n), Open::of("subscriptions/listen", true)).unwrap();
            flight.sent(&id(n));
        }
        let more = |flight: &mut Flight| flight.enter(id(MOST), Open::of("ping", false));
        assert!(
            more(&mut flight).is_err() && flight.hear(&id(1)) && flight.hear(&id(2)) && flight.hear(&id(3))
        );
        assert!(!flight.cancel(&id(1)) && !flight.hear(&id(MOST)));
        flight.withdraw(&id(2));
        assert_eq!(flight.hearing(), vec![id(3)]);
        assert!(more(&mut flight).is_ok() && flight.answer(&id(1)).is_none() && !flight.hear(&id(MOST)));
        assert!((0..MOST).all(|n| flight.ask(&id(n)).is_ok()) && flight.ask(&id(MOST)).is_err());
        flight.withdraw(&id(7));
        assert!(!flight.replied(&id(7)) && flight.replied(&id(8)) && flight.ask(&id(9)).is_err());
    }

    #[test]
    fn a_token_is_forgotten_with_its_requests() {
        let mut flight = Flight::default();
        let (one, two) = (Id::Number("1".to_owned()), Id::Number("2".to_owned()));
        let (token, text) = (Id::Number("7".to_owned()), Id::Text("7".to_owned()));
        assert_eq!(flight.tell(&one, &token), None, "it is not in flight");
        for id in [&one, &two] {
            flight.enter(id.clone(), Open::of("a", false)).unwrap();
        }
        assert_eq!((flight.tell(&one, &token), flight.tell(&one, &token)), (Some(1), Some(2)));
        assert_eq!((flight.tell(&two, &token), flight.told(&text)), (Some(3), None));
        flight.sent(&one);
        assert!(flight.answer(&one).is_some() && flight.told(&token) == Some(3));
        assert!(flight.leave(&two) && flight.told(&token).is_none() && flight.progress.is_empty());
    }
}
