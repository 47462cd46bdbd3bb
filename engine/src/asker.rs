//! Which policy asked about a payment that waits for a person, so that the same one judges it again.
//!
//! INVARIANT: a policy that was named to whoever asked, and that is gone, cannot be used or is another one by now, is an error; other
//! layers never take its place.

use crate::decide::{Engine, Options};
use crate::layers::Default_;
use crate::places::{Folders, shown};
use crate::trust::digest;
use policy_hosts::call::Call;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The key of it in what a ledger keeps of a payment.
pub(crate) const KEY: &str = "asker";

/// The word of a default.
const FIREWALL: &str = "agent-firewall";

impl Engine {
    /// Who asks about a payment, as the ledger keeps it: what a policy may look at of a caller, and the policy that was named.
    pub(crate) fn asker(&mut self, call: &Call) -> Value {
        let policy = self.options.policy.clone();
        let policy =
            policy.map(|file| json!({ "file": file.to_string_lossy(), "sha256": self.table_digest(&file) }));
        json!({
            "host": call.host,
            "label": call.label,
            "policy": policy,
            "default": if self.options.default == Default_::AgentFirewall { FIREWALL } else { "std" },
        })
    }

    /// The digest of the table of a file that was named; empty when there is none. It changes with everything that the file uses.
    fn table_digest(&mut self, file: &Path) -> String {
        let layer = self.layers.named(file);
        layer.table.as_ref().map(|table| digest(table.bytes())).unwrap_or_default()
    }

    /// An engine over the policies of whoever asked about a payment, as they are now; to look at them, not to judge by them.
    pub fn like_asker(folders: &Folders, kept: &str) -> Engine {
        let kept: Value = serde_json::from_str(kept).unwrap_or_default();
        let (file, _, default) = policy_of(&kept);
        Engine::new(folders.clone(), Options::aside(file, default))
    }

    /// An engine that judges what a ledger shows of a payment as whoever asked about it would now.
    ///
    /// # Errors
    /// When the policy that was named to it is gone, cannot be used, or is another one by now: which, and what of it.
    pub fn of_asker(folders: &Folders, kept: &str) -> Result<Engine, String> {
        let kept: Value = serde_json::from_str(kept).unwrap_or_default();
        let (file, sha256, default) = policy_of(&kept);
        let mut engine = Engine::new(folders.clone(), Options::aside(file.clone(), default));
        let Some(file) = file else { return Ok(engine) };
        let name = format!("the policy that asked about this payment, `{}`,", shown(&file, &folders.home));
        if !file.exists() {
            return Err(format!("{name} is gone"));
        }
        if let Err(cause) = &engine.layers.named(&file).table {
            return Err(format!("{name} cannot be used now: {cause}"));
        }
        match engine.table_digest(&file) == sha256 {
            true => Ok(engine),
            false => Err(format!("{name} has changed since then")),
        }
    }
}

/// A call as whoever asked made it.
pub(crate) fn as_asked(call: Call, kept: &Value) -> Call {
    let Some(asker) = kept.get(KEY) else { return call };
    let text = |key: &str| asker.get(key).and_then(Value::as_str).map(str::to_owned);
    Call { host: text("host").unwrap_or(call.host), label: text("label"), ..call }
}

/// The file of a policy that was named, its digest, and what held where no layer was.
fn policy_of(kept: &Value) -> (Option<PathBuf>, &str, Default_) {
    let asker = kept.get(KEY);
    let word = asker.and_then(|asker| asker.get("default")).and_then(Value::as_str);
    let default = if word == Some(FIREWALL) { Default_::AgentFirewall } else { Default_::Std };
    let policy = asker.and_then(|asker| asker.get("policy")).filter(|policy| !policy.is_null());
    let text =
        |key: &str| policy.and_then(|policy| policy.get(key)).and_then(Value::as_str).unwrap_or_default();
    (policy.map(|_| PathBuf::from(text("file"))), text("sha256"), default)
}
