//! The block of settings that registers the hook with a host.
//!
//! INVARIANT: every switch that makes a failing hook refuse is set, and the longest time a host waits.

use serde_json::{Map, Value, json};

/// What a person puts where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The file, from the user's home.
    pub file: &'static str,
    /// What to put in it.
    pub text: String,
    /// What else is to be done or known.
    pub note: &'static str,
}

/// Seconds that a host waits: our own deadline is far shorter, and a host that gives up lets the call through.
pub(crate) const WAIT: u32 = 600;

impl Settings {
    /// A block under `hooks`, one entry for each event.
    pub(crate) fn hooks(
        file: &'static str,
        front: Value,
        entries: Vec<(&str, Value)>,
        note: &'static str,
    ) -> Settings {
        let events: Map<String, Value> =
            entries.into_iter().map(|(event, entry)| (event.to_owned(), json!([entry]))).collect();
        let mut block = match front {
            Value::Object(front) => front,
            _ => Map::new(),
        };
        block.insert("hooks".to_owned(), Value::Object(events));
        let text = serde_json::to_string_pretty(&Value::Object(block)).unwrap_or_default();
        Settings { file, text: text + "\n", note }
    }
}

/// Seconds that a hook may wait for a person where its host does not ask: less than [`WAIT`], so that the host hears the end of it.
pub(crate) const ASKED: u32 = 540;

/// The command for a host that gives it to a shell: one that cannot ask about every call itself, or not about what is for the
/// approval page.
pub(crate) fn waiting(program: &str, host: &str) -> String {
    format!("{} --wait {ASKED}", command(program, host))
}

/// The command for a host that gives it to a shell.
pub(crate) fn command(program: &str, host: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+');
    let program = if !program.is_empty() && program.chars().all(safe) {
        program.to_owned()
    } else {
        format!("'{}'", program.replace('\'', "'\\''"))
    };
    format!("{program} hook --host {host}")
}

#[cfg(test)]
mod tests {
    use crate::HOSTS;
    use serde_json::Value;

    #[test]
    fn every_block_is_json_and_names_the_program() {
        for host in HOSTS {
            let Some(settings) = host.settings("/opt/my apps/it's/policy") else {
                assert_eq!(host.name(), "generic");
                continue;
            };
            let value: Value = serde_json::from_str(&settings.text).unwrap();
            let hooks = value["hooks"].as_object().unwrap();
            assert!(hooks.len() > 3 && settings.file.starts_with("~/."), "{}", host.name());
            for entry in hooks.values() {
                let text = entry.to_string();
                let quoted = text.contains("'/opt/my apps/it'\\\\''s/policy' hook --host ");
                assert!(quoted || text.contains("\"/opt/my apps/it's/policy\""), "{text}");
                assert!(text.contains(host.name()), "{text}");
            }
        }
    }
}
