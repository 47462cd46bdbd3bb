//! What is remembered of a session, as far as the server needs it.
//!
//! INVARIANT: a suppression hides warnings and infos and never an error; who keeps it says how long it lasts. Looking leaves
//! nothing behind.

use policy_engine::past::{Entry, Store, Suppress, record_file};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Most suppressed rules of a session.
const MOST: usize = 10_000;

/// A record of sessions that any thread may ask.
pub type Record = &'static (dyn Store + Sync);

/// Keeps the state of the session of each question.
pub trait Sessions: Send {
    /// The state as an object; empty when there is no session yet.
    ///
    /// # Errors
    /// When it cannot be read, with the cause.
    fn state(&mut self, entry: &Entry) -> Result<Value, String>;

    /// Full names of the suppressed rules.
    ///
    /// # Errors
    /// When they cannot be read, with the cause.
    fn suppressed(&mut self, entry: &Entry) -> Result<BTreeSet<String>, String>;

    /// Suppresses a rule by its full name; how many are suppressed then.
    ///
    /// # Errors
    /// When it cannot be written, with the cause.
    fn suppress(&mut self, entry: &Entry, rule: &str) -> Result<usize, String>;

    /// How long a suppression lasts and who sees it, one clause.
    fn lasts(&self, entry: &Entry) -> &'static str;
}

/// A session that lives and ends with the process.
#[derive(Debug, Default)]
pub struct InProcess {
    suppressed: BTreeSet<String>,
}

impl Sessions for InProcess {
    fn state(&mut self, entry: &Entry) -> Result<Value, String> {
        if self.suppressed.is_empty() {
            return Ok(json!({}));
        }
        Ok(json!({"suppressed_rules": self.suppressed, "lasts": self.lasts(entry)}))
    }

    fn suppressed(&mut self, _entry: &Entry) -> Result<BTreeSet<String>, String> {
        Ok(self.suppressed.clone())
    }

    fn suppress(&mut self, _entry: &Entry, rule: &str) -> Result<usize, String> {
        if self.suppressed.len() >= MOST && !self.suppressed.contains(rule) {
            return Err(format!("{MOST} rules are suppressed already"));
        }
        self.suppressed.insert(rule.to_owned());
        Ok(self.suppressed.len())
    }

    fn lasts(&self, _entry: &Entry) -> &'static str {
        "as long as this server process; hooks do not see it"
    }
}

/// The record that hooks keep.
#[derive(Debug)]
pub struct Kept(pub Record);

impl Kept {
    /// Whether there is a record: asking for one would make it.
    fn is_there(entry: &Entry) -> bool {
        record_file(&entry.state).exists()
    }
}

impl Sessions for Kept {
    fn state(&mut self, entry: &Entry) -> Result<Value, String> {
        if !Kept::is_there(entry) {
            return Ok(json!({}));
        }
        let told = self.0.told(entry)?;
        let mut state = Map::new();
        let mut put = |name: &str, value: Value, empty: bool| {
            if !empty {
                state.insert(name.to_owned(), value);
            }
        };
        put("suppressed_rules", json!(told.suppressed), told.suppressed.is_empty());
        put("flags", json!(told.flags), told.flags.is_empty());
        let files: Map<String, Value> =
            told.files.iter().map(|(path, times)| (path.clone(), (*times).into())).collect();
        put("edited_files", Value::Object(files), told.files.is_empty());
        Ok(Value::Object(state))
    }

    fn suppressed(&mut self, entry: &Entry) -> Result<BTreeSet<String>, String> {
        if !Kept::is_there(entry) {
            return Ok(BTreeSet::new());
        }
        Ok(self.0.told(entry)?.suppressed.into_iter().collect())
    }

    fn suppress(&mut self, entry: &Entry, rule: &str) -> Result<usize, String> {
        self.0.suppress(entry, Suppress::Add(rule))?;
        Ok(self.0.told(entry)?.suppressed.len())
    }

    fn lasts(&self, entry: &Entry) -> &'static str {
        if entry.session.is_empty() {
            "for the project's own session, which its hooks share"
        } else {
            "for the session that the environment names"
        }
    }
}
