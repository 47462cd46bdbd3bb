//! Arguments of a tool, read one by one.
//!
//! INVARIANT: what is missing, of the wrong kind or not known is an error that names the field; nothing is guessed and
//! nothing is passed over.

use policy_compiler::nearest;
use policy_hosts::reply::clean;
use serde_json::{Map, Value, json};

/// What is wrong with an argument, or with the call as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The argument; none when it is none of them.
    pub(crate) field: Option<String>,
    /// What is wrong, with the field's name.
    pub(crate) message: String,
}

impl Wrong {
    /// About one argument; `message` is a clause behind its name.
    pub(crate) fn field(field: &str, message: &str) -> Wrong {
        Wrong { field: Some(field.to_owned()), message: format!("`{field}` {message}") }
    }

    /// About no argument.
    pub(crate) fn plain(message: impl Into<String>) -> Wrong {
        Wrong { field: None, message: message.into() }
    }

    /// About an argument that is none of these values.
    pub(crate) fn unknown<'n>(
        field: &str,
        what: &str,
        value: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Wrong {
        let near = match nearest(value, known) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        Wrong::field(field, &format!("names no {what}: `{}`{near}", clean(value, 80)))
    }

    /// As an answer says it.
    pub(crate) fn json(&self) -> Value {
        match &self.field {
            Some(field) => json!({"error": self.message, "field": field}),
            None => json!({"error": self.message}),
        }
    }
}

/// Arguments that were not read yet.
#[derive(Debug)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Only these names may stand there.
    pub(crate) fn new(given: Option<Map<String, Value>>, names: &[&str]) -> Result<Arguments, Wrong> {
        let map = given.unwrap_or_default();
        match map.keys().find(|key| !names.contains(&key.as_str())) {
            None => Ok(Arguments(map)),
            Some(key) => {
                let near = match nearest(key, names.iter().copied()) {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None if names.is_empty() => "; the tool has no arguments".to_owned(),
                    None => format!("; the arguments are {}", names.join(", ")),
                };
                let key = clean(key, 80);
                Err(Wrong { message: format!("`{key}` is no argument of this tool{near}"), field: Some(key) })
            }
        }
    }

    /// A text that must be there.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, Wrong> {
        self.optional(name)?.ok_or_else(|| Wrong::field(name, "is missing"))
    }

    /// A text that may be missing or null.
    pub(crate) fn optional(&mut self, name: &str) -> Result<Option<String>, Wrong> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(Wrong::field(name, &format!("is {}, not a text", kind(&other)))),
        }
    }

    /// An object that must be there.
    pub(crate) fn object(&mut self, name: &str) -> Result<Value, Wrong> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Err(Wrong::field(name, "is missing")),
            Some(value @ Value::Object(_)) => Ok(value),
            Some(other) => Err(Wrong::field(name, &format!("is {}, not an object", kind(&other)))),
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(value: Value, names: &[&str]) -> Result<Arguments, Wrong> {
        Arguments::new(value.as_object().cloned(), names)
    }

    #[test]
    fn errors_name_the_field() {
        let wrong = arguments(json!({"contnet": "x"}), &["content", "file_path"]).unwrap_err();
        assert_eq!(wrong.message, "`contnet` is no argument of this tool; did you mean `content`?");
        assert!(arguments(json!({"q": 1}), &[]).unwrap_err().message.ends_with("has no arguments"));
        let mut given =
            arguments(json!({"a": 3, "b": null, "c": [], "d": "x"}), &["a", "b", "c", "d"]).unwrap();
        assert_eq!(given.text("a").unwrap_err().message, "`a` is a number, not a text");
        assert_eq!(given.optional("b"), Ok(None));
        assert_eq!(given.text("b").unwrap_err().message, "`b` is missing");
        assert_eq!(given.object("c").unwrap_err().message, "`c` is a list, not an object");
        assert_eq!(given.text("d"), Ok("x".to_owned()));
        assert_eq!(
            arguments(Value::Null, &["a"]).unwrap().text("a").unwrap_err().field.as_deref(),
            Some("a")
        );
        let wrong = Wrong::unknown("rule_id", "rule", "no-secret", ["no-secrets", "x"]);
        assert_eq!(wrong.message, "`rule_id` names no rule: `no-secret`; did you mean `no-secrets`?");
    }
}
