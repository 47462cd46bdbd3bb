//! What the pages are told: open questions and payments, and notices.
//!
//! INVARIANT: a question is made into a card once, a payment that waits anew while somebody looks at it, since what it comes to changes
//! with what is paid and read meanwhile; a page hears whole only what it has not.

use super::code::Scope;
use super::page::{card, notice};
use super::payment::payment;
use super::serve::now;
use crate::pay::{Askers, held, looked};
use policy_approvals::{Brief, Notice, Store};
use policy_engine::paying::now_ms;
use policy_engine::places::Folders;
use policy_payments::ledger::{Decision, Ledger};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use tokio::sync::watch;

/// What the pages show.
#[derive(Clone, Default)]
pub(crate) struct News {
    /// Another one for other news.
    pub(crate) seen: u64,
    pub(crate) cards: Arc<Vec<Card>>,
    pub(crate) notices: Arc<Vec<Value>>,
    pub(crate) error: Option<String>,
}

/// A question as it is sent, made once: pages that have it hear only how long it waits.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Card {
    /// The news that brought it.
    since: u64,
    id: String,
    pub(crate) asked: i64,
    pub(crate) waits: i64,
    closes: i64,
    /// No page is opened by itself for it.
    pub(crate) quiet: bool,
    json: Arc<str>,
}

/// Where questions and payments wait.
pub(crate) struct Places<'p> {
    pub(crate) store: &'p Store,
    pub(crate) folders: &'p Folders,
    pub(crate) ledger: &'p dyn Ledger,
    /// Payments that are known are looked at again.
    pub(crate) again: bool,
}

/// What is open now; only questions that no card is known of are read whole.
pub(crate) fn read(
    places: &Places<'_>,
    cards: &[Card],
    since: u64,
) -> Result<(Vec<Card>, Vec<Value>), String> {
    let known = |id: &str| cards.iter().find(|card| card.id == id);
    let open = places.store.open_besides(&|id| known(id).is_some())?;
    let made = open.into_iter().filter_map(|open| {
        let Brief { id, asked, waits, closes, question, quiet } = open;
        let (since, json) = match (known(&id), question) {
            (Some(card), _) => (card.since, card.json.clone()),
            (None, Some(question)) => (since, Arc::from(card(&question).to_string())),
            (None, None) => return None,
        };
        Some(Card { since, id, asked, waits, closes, quiet, json })
    });
    let mut made: Vec<Card> = made.collect();
    let mut notices: Vec<Value> = places.store.notices()?.iter().map(notice).collect();
    let mut askers = Askers::default();
    match held::waiting(places.ledger) {
        Ok(waiting) => made.extend(waiting.iter().map(|own| {
            let id = format!("{}{}", held::MARK, own.id);
            let (since, json) = match known(&id) {
                Some(card) if !places.again => (card.since, card.json.clone()),
                card => match (card, of_payment(places, own, &mut askers)) {
                    (Some(card), json) if *card.json == json => (card.since, card.json.clone()),
                    (_, json) => (since, Arc::from(json)),
                },
            };
            let at = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
            let (waits, closes) = (at(own.expires), at(own.expires));
            Card { since, id, asked: at(own.at), waits, closes, quiet: false, json }
        })),
        // The other questions are shown all the same.
        Err(why) => notices.push(notice(&Notice {
            file: "ledger".to_owned(),
            message: why,
            help: "payments are refused until a person has looked at it".to_owned(),
            ..Notice::default()
        })),
    }
    Ok((made, notices))
}

fn of_payment(places: &Places<'_>, own: &Decision, askers: &mut Askers) -> String {
    let mut card = card(&held::question(own));
    let seen = looked(places.folders, places.ledger, own, now_ms(), askers);
    if let Some(all) = card.as_object_mut() {
        // Each is asked about by itself.
        all.insert("once".to_owned(), json!(true));
        all.insert("pay".to_owned(), payment(own, &seen));
        // Said better by what is told of the payment.
        all.insert("commands".to_owned(), json!([]));
    }
    card.to_string()
}

pub(crate) fn tell_news(
    tell: &watch::Sender<News>,
    cards: Vec<Card>,
    notices: Vec<Value>,
    error: Option<String>,
) {
    tell.send_if_modified(|news| {
        if *news.cards == cards && *news.notices == notices && news.error == error && news.seen > 1 {
            return false;
        }
        *news = News { seen: news.seen + 1, cards: Arc::new(cards), notices: Arc::new(notices), error };
        true
    });
}

/// The news for a page that has seen some: whole are only the cards that it has not. A page of one question hears of that alone.
pub(crate) fn written(news: &News, seen: u64, scope: &Scope) -> String {
    let mut out = format!("{{\"seen\":\"{}\",\"now\":{},\"questions\":[", news.seen, now());
    let shown = |card: &&Card| match scope {
        Scope::All => true,
        Scope::One(id) => card.id == *id,
    };
    for (number, card) in news.cards.iter().filter(shown).enumerate() {
        let comma = if number > 0 { "," } else { "" };
        let Card { since, id, waits, closes, json, .. } = card;
        let json = if *since > seen { json } else { "null" };
        let id = Value::from(id.as_str());
        let _ = write!(out, "{comma}{{\"id\":{id},\"waits\":{waits},\"closes\":{closes},\"card\":{json}}}");
    }
    let notices = if *scope == Scope::All { news.notices.to_vec() } else { Vec::new() };
    let _ = write!(out, "],\"notices\":{}}}", Value::from(notices));
    out
}
