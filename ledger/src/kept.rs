//! The record of sessions and the ledger of payments of a user, for an engine.
//!
//! INVARIANT: each is opened only when a policy asks it.

use crate::{Sqlite, file};
use policy_engine::past::{Entry, Note, Store, Suppress, Told};
use policy_payments::ledger::Ledger;
use policy_runtime::outside::{Answer, Question};
use std::path::Path;

/// Both, in SQLite.
#[derive(Debug)]
pub struct Kept;

impl Store for Kept {
    fn ask(&self, entry: &Entry, questions: &[Question]) -> Result<Vec<Answer>, String> {
        policy_state::Sqlite.ask(entry, questions)
    }

    fn look(&self, entry: &Entry, questions: &[Question]) -> Result<Vec<Answer>, String> {
        policy_state::Sqlite.look(entry, questions)
    }

    fn record(&self, entry: &Entry, note: &Note) -> Result<(), String> {
        policy_state::Sqlite.record(entry, note)
    }

    fn told(&self, entry: &Entry) -> Result<Told, String> {
        policy_state::Sqlite.told(entry)
    }

    fn suppress(&self, entry: &Entry, change: Suppress<'_>) -> Result<(), String> {
        policy_state::Sqlite.suppress(entry, change)
    }

    fn ledger(&self, state: &Path) -> Result<Box<dyn Ledger>, String> {
        Ok(Box::new(Sqlite::at(file(state))))
    }
}
