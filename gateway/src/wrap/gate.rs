//! From a message to the call that is judged.
//!
//! INVARIANT: what a request asks for is judged by what it names: a file or an address in a `uri` is a path or a host like one in an
//! argument. A request that is not known here asks for nothing.

use crate::wrap::json::{folded, string};
use crate::wrap::message::Message;
use policy_hosts::call::Call;
use policy_hosts::event::strict_json;
use serde_json::{Value, json};

/// What a request asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    /// The tool, or what stands for one.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) arguments: Value,
    /// How it is refused, and what holds when no rule says anything.
    pub(crate) form: Form,
}

/// What kind of request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A call of a tool.
    Tool,
    /// Something of the server that a client reads: what no rule speaks of passes, unless it names a file or an address.
    Resource,
    /// The server asks the client for something.
    Server,
}

/// What addresses begin with that name a file or a host.
const OUT: [&str; 18] = [
    "file:",
    "http:",
    "https:",
    "ftp:",
    "ftps:",
    "sftp:",
    "scp:",
    "ssh:",
    "git:",
    "git+",
    "ws:",
    "wss:",
    "s3:",
    "jar:",
    "smb:",
    "nfs:",
    "view-source:",
    "svn",
];

/// Methods that are judged.
const OF_CLIENT: [&str; 5] =
    ["tools/call", "resources/read", "resources/subscribe", "prompts/get", "completion/complete"];
const OF_SERVER: [&str; 3] = ["sampling/createMessage", "elicitation/create", "roots/list"];

/// A method that is nearly one of these is none of ours to guess.
fn exact(method: &str, known: &[&str]) -> Result<(), String> {
    match known.iter().find(|own| folded(own) == folded(method) && **own != method) {
        Some(own) => Err(format!("the method is nearly `{own}` and not it")),
        None => Ok(()),
    }
}

/// The call of a request of the client; none when there is nothing to judge.
pub(crate) fn of_client(method: &str, message: &Message<'_>) -> Result<Option<Asked>, String> {
    exact(method, &OF_CLIENT)?;
    let text = |key: &str| message.param(key).and_then(string);
    let value = |key: &str| match message.param(key) {
        Some(value) => strict_json(value.as_bytes()),
        None => Ok(Value::Null),
    };
    Ok(Some(match method {
        "tools/call" => {
            let tool = text("name").filter(|name| !name.is_empty()).ok_or("`params.name` is not a text")?;
            let arguments = match value("arguments")? {
                Value::Null => json!({}),
                map @ Value::Object(_) => map,
                _ => return Err("`params.arguments` is not an object".to_owned()),
            };
            Asked { tool, arguments, form: Form::Tool }
        }
        "resources/read" | "resources/subscribe" => {
            let uri = text("uri").ok_or("`params.uri` is not a text")?;
            // SECURITY: who reads addresses drops these, and then it is another one.
            if uri.trim() != uri || uri.chars().any(char::is_control) {
                return Err("`params.uri` holds control characters, or blanks at its ends".to_owned());
            }
            let lower = uri.to_lowercase();
            if !lower.starts_with("file:") && lower.contains("file:") {
                return Err("`params.uri` holds the address of a file inside of another one".to_owned());
            }
            Asked { tool: "read_resource".to_owned(), arguments: json!({ "uri": uri }), form: Form::Resource }
        }
        "prompts/get" => {
            let name = text("name").ok_or("`params.name` is not a text")?;
            let arguments = value("arguments")?;
            let arguments = json!({ "name": name, "arguments": arguments });
            Asked { tool: "get_prompt".to_owned(), arguments, form: Form::Resource }
        }
        "completion/complete" => {
            let arguments = json!({ "ref": value("ref")?, "argument": value("argument")? });
            Asked { tool: "complete".to_owned(), arguments, form: Form::Resource }
        }
        _ => return Ok(None),
    }))
}

/// The call of a request that a server makes of its client, by its method.
pub(crate) fn of_server(method: &str, params: &str) -> Result<Option<Asked>, String> {
    exact(method, &OF_SERVER)?;
    let tool = match method {
        "sampling/createMessage" => "sampling",
        "elicitation/create" => "elicitation",
        "roots/list" => "roots",
        _ => return Ok(None),
    };
    let arguments = if params.is_empty() { json!({}) } else { strict_json(params.as_bytes())? };
    Ok(Some(Asked { tool: tool.to_owned(), arguments, form: Form::Server }))
}

impl Asked {
    /// The call for the engine.
    pub(crate) fn call(self, frame: &Call) -> Call {
        Call { tool: self.tool, arguments: self.arguments, ..frame.clone() }
    }

    /// Whether it names a file or an address.
    pub(crate) fn reaches_out(&self) -> bool {
        let uri = self.arguments.get("uri").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        OUT.iter().any(|scheme| uri.starts_with(scheme)) || !uri.contains(':') && !uri.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrap::message::Side;

    fn asked(method: &str, params: &str) -> Result<Option<Asked>, String> {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let message = Message::read(line.as_bytes(), Side::Client).unwrap();
        of_client(method, &message)
    }

    #[test]
    fn what_is_asked_for_is_what_it_names() {
        let call = asked("tools/call", r#"{"name":"r\u0065ad","arguments":{"path":"x"}}"#).unwrap().unwrap();
        assert_eq!((call.tool.as_str(), &call.arguments), ("read", &json!({"path": "x"})));
        let read = asked("resources/read", r#"{"uri":"file:///w/.env"}"#).unwrap().unwrap();
        assert!(read.reaches_out() && read.form == Form::Resource);
        assert!(!asked("resources/read", r#"{"uri":"memo://a"}"#).unwrap().unwrap().reaches_out());
        assert_eq!(asked("ping", "{}"), Ok(None));
        for (method, params) in [
            ("tools/call", "{}"),
            ("Tools/Call", r#"{"name":"a"}"#),
            ("tools/call", r#"{"name":7}"#),
            ("tools/call", r#"{"name":""}"#),
            ("tools/call", r#"{"name":"a","arguments":[1]}"#),
            ("resources/read", "{}"),
        ] {
            assert!(asked(method, params).is_err(), "{method} {params}");
        }
        assert_eq!(of_server("sampling/createMessage", "{}").unwrap().unwrap().tool, "sampling");
        assert_eq!(of_server("ping", ""), Ok(None));
    }
}
