//! Brings calls in from agent hosts and carries verdicts out.
//!
//! `facts::extract` turns a [`call::Call`] into what a policy judges; a [`Host`] reads events and writes answers in its
//! own protocol; `audit` and `redact` keep the record.
//!
//! INVARIANT: nothing here decides. An event that cannot be read gives the host's fail-closed answer, and no text
//! that reaches a model says how to loosen the policy.

pub mod audit;
pub mod call;
pub mod event;
pub mod facts;
pub mod output;
pub mod patch;
pub mod redact;
pub mod reply;

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod generic;
#[cfg(test)]
mod host_tests;
pub mod settings;

pub use claude_code::ClaudeCode;
pub use codex::Codex;
pub use cursor::Cursor;
pub use gemini::Gemini;
pub use generic::{Generic, object as decision_object};

use call::Call;
use event::{Event, InputError, is_report};
use policy_runtime::verdict::Decision;
use reply::{Answer, Reply, clean};
use settings::Settings;

/// A program that sends events to a hook and obeys its answers.
pub trait Host: Sync {
    /// The name given with `--host`.
    fn name(&self) -> &'static str;

    /// Reads one event.
    ///
    /// # Errors
    ///
    /// When the event is not one this host sends; the caller then answers with [`Host::fail_closed`].
    fn parse(&self, input: &[u8]) -> Result<Event, InputError>;

    /// The answer to a call in this host's words.
    fn reply(&self, call: &Call, answer: &Answer) -> Reply;

    /// The answer when nothing could be decided; `event` as the host spells it ([`Call::host_event`]), when known.
    fn fail_closed(&self, event: Option<&str>, reason: &str) -> Reply;

    /// Whether this host asks its person about this call when it is told to.
    fn asks(&self, call: &Call) -> bool;

    /// What is written for an event that no policy judges.
    fn ignored(&self) -> Reply {
        Reply::default()
    }

    /// The block that registers `program` with this host; nothing when it has no settings of its own.
    fn settings(&self, program: &str) -> Option<Settings>;
}

/// The refusal of a call that a host waits for, in its words; the cause also on standard error.
fn refused(host: &dyn Host, event: &str, reason: &str) -> Reply {
    let call = Call { host_event: event.to_owned(), ..Call::default() };
    let reply = host.reply(&call, &Answer::own(Decision::Deny, reason));
    Reply { stderr: Reply::error(0, &clean(reason, 400)).stderr, ..reply }
}

/// The answer to an event that is not understood, where hosts take exit 2 for a refusal.
fn not_understood(event: Option<&str>, reason: &str) -> Reply {
    match event {
        // Nothing is at stake there, and exit 2 would keep an agent from ever stopping: reported, and on it goes.
        Some(event) if is_report(event) => Reply::error(1, &clean(reason, 400)),
        // SECURITY: blocks whatever the event was; the text is never empty, which some take for a hook that failed.
        _ => Reply::error(2, &clean(reason, 400)),
    }
}

/// Every host.
pub const HOSTS: [&dyn Host; 5] = [&ClaudeCode, &Codex, &Cursor, &Gemini, &Generic];

/// The host of this name.
pub fn host(name: &str) -> Option<&'static dyn Host> {
    HOSTS.into_iter().find(|host| host.name() == name)
}
