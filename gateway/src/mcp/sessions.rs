//! What is remembered of a session, as far as the server needs it.
//!
//! INVARIANT: a suppression hides warnings and infos and never an error; who keeps it says how long it lasts.

use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Most suppressed rules of a session.
const MOST: usize = 10_000;

/// Keeps the state of one session.
pub trait Sessions: Send {
    /// The state as an object; empty when there is no session yet.
    ///
    /// # Errors
    /// When it cannot be read, with the cause.
    fn state(&mut self) -> Result<Value, String>;

    /// Full names of the suppressed rules.
    ///
    /// # Errors
    /// When they cannot be read, with the cause.
    fn suppressed(&mut self) -> Result<BTreeSet<String>, String>;

    /// Suppresses a rule by its full name; how many are suppressed then.
    ///
    /// # Errors
    /// When it cannot be written, with the cause.
    fn suppress(&mut self, rule: &str) -> Result<usize, String>;

    /// How long a suppression lasts and who sees it, one sentence.
    fn lasts(&self) -> &'static str;
}

/// A session that lives and ends with the process.
#[derive(Debug, Default)]
pub struct InProcess {
    suppressed: BTreeSet<String>,
}

impl Sessions for InProcess {
    fn state(&mut self) -> Result<Value, String> {
        if self.suppressed.is_empty() {
            return Ok(json!({}));
        }
        Ok(json!({"suppressed_rules": self.suppressed, "lasts": self.lasts()}))
    }

    fn suppressed(&mut self) -> Result<BTreeSet<String>, String> {
        Ok(self.suppressed.clone())
    }

    fn suppress(&mut self, rule: &str) -> Result<usize, String> {
        if self.suppressed.len() >= MOST && !self.suppressed.contains(rule) {
            return Err(format!("{MOST} rules are suppressed already"));
        }
        self.suppressed.insert(rule.to_owned());
        Ok(self.suppressed.len())
    }

    fn lasts(&self) -> &'static str {
        "as long as this server process; hooks do not see it"
    }
}
