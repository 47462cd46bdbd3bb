//! What a policy line hands to a check: `with OPTION VALUE`.
//!
//! INVARIANT: an option of another name or another kind is as if it were not there; names and kinds are the compiler's to refuse.

/// The value of one option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// One text.
    Text(String),
    /// Several texts.
    List(Vec<String>),
    /// Yes or no.
    Bool(bool),
}

/// The kind of value an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A whole number.
    Int,
    /// One text.
    Text,
    /// Several texts.
    List,
    /// Yes or no.
    Bool,
}

/// One option that a check knows.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The name as written in a policy.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: OptionKind,
    /// The value it has when not given, in words.
    pub default: &'static str,
    /// One sentence on its meaning.
    pub summary: &'static str,
}

/// The options of one policy line, in the order written; the last of a name counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(pub Vec<(String, Value)>);

impl Options {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The number of that name, or `default`.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        if let Some(Value::Int(value)) = self.get(name) { *value } else { default }
    }

    /// The yes or no of that name, or `default`.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        if let Some(Value::Bool(value)) = self.get(name) { *value } else { default }
    }

    /// The text of that name.
    pub fn text(&self, name: &str) -> Option<&str> {
        if let Some(Value::Text(value)) = self.get(name) { Some(value) } else { None }
    }

    /// The texts of that name; one text counts as a list of one.
    pub fn list(&self, name: &str) -> Option<Vec<&str>> {
        match self.get(name) {
            Some(Value::List(values)) => Some(values.iter().map(String::as_str).collect()),
            Some(Value::Text(value)) => Some(vec![value.as_str()]),
            _ => None,
        }
    }
}
