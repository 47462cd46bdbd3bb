//! What stands inside messages and counts for more than its own method.
//!
//! INVARIANT: a part that is not understood is an error, or means nothing to us and changes nothing.

use crate::wrap::gate::{Asked, of_server};
use crate::wrap::json;
use crate::wrap::message::{Id, Message};

/// What a modern server asks of its client inside a result.
///
/// SECURITY: a part that is not understood is an error: a client may read more in it.
pub(crate) fn requests_inside(result: &str) -> Result<Vec<Asked>, String> {
    if !result.starts_with('{') {
        return Ok(Vec::new());
    }
    let name = json::folded("inputRequests");
    let all = json::members(result)?;
    let mut named = all.iter().filter(|member| json::folded(&member.key) == name);
    let Some(requests) = named.next() else { return Ok(Vec::new()) };
    if named.next().is_some() || requests.key != "inputRequests" {
        return Err("`inputRequests` stands there twice, or nearly".to_owned());
    }
    let text = result.get(requests.value.clone()).unwrap_or_default();
    json::strict(text)?;
    let mut asked = Vec::new();
    for request in json::members(text)? {
        let own = text.get(request.value).unwrap_or_default();
        let parts = json::members(own)?;
        let part = |key: &str| {
            parts.iter().find(|part| part.key == key).and_then(|part| own.get(part.value.clone()))
        };
        let method = part("method").and_then(json::string).ok_or("a request without a method")?;
        asked.extend(of_server(&method, part("params").unwrap_or_default())?);
    }
    Ok(asked)
}

/// What counts of how a server begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Begin {
    /// Its instructions, as JSON.
    pub(crate) instructions: Option<String>,
    /// Its client waits to hear when the list of tools changes.
    pub(crate) tells: bool,
}

/// Reads the result of `initialize` or `server/discover`.
///
/// SECURITY: instructions that two readers could find in two places are an error.
pub(crate) fn begin(result: &str) -> Result<Begin, String> {
    if !result.starts_with('{') {
        return Ok(Begin { instructions: None, tells: false });
    }
    let name = json::folded("instructions");
    let all = json::members(result)?;
    let mut named = all.iter().filter(|member| json::folded(&member.key) == name);
    let instructions = named.next();
    if named.next().is_some() || instructions.is_some_and(|own| own.key != "instructions") {
        return Err("`instructions` stands there twice, or nearly".to_owned());
    }
    let instructions = instructions.and_then(|own| result.get(own.value.clone())).map(str::to_owned);
    if let Some(own) = &instructions {
        json::strict(own)?;
    }
    // What is not read here means only that nobody is told.
    let part = |text: &str, key: &str| -> Option<String> {
        let own = json::members(text).ok()?.into_iter().find(|own| own.key == key)?;
        text.get(own.value).map(str::to_owned)
    };
    let tools = part(result, "capabilities").and_then(|own| part(&own, "tools"));
    let tells = tools.and_then(|own| part(&own, "listChanged")).is_some_and(|own| own == "true");
    Ok(Begin { instructions, tells })
}

/// The open request under which a server says that it tells when the list of tools changes.
pub(crate) fn acknowledged(message: &Message<'_>) -> Option<Id> {
    let inside = |text: &'_ str, key: &str| -> Option<String> {
        let own = json::members(text).ok()?.into_iter().find(|own| own.key == key)?;
        text.get(own.value).map(str::to_owned)
    };
    let told = inside(message.param("notifications")?, "toolsListChanged")?;
    let id = inside(message.param("_meta")?, "io.modelcontextprotocol/subscriptionId")?;
    Id::of(&id).filter(|_| told == "true")
}

/// Whether a request is one of the stateless era: it carries its version.
pub(crate) fn is_modern(message: &Message<'_>) -> bool {
    let Some(meta) = message.param("_meta") else { return false };
    json::members(meta)
        .is_ok_and(|all| all.iter().any(|own| own.key == "io.modelcontextprotocol/protocolVersion"))
}

/// The token under which a client wants to hear of progress: a text or a whole number.
pub(crate) fn progress_token(message: &Message<'_>) -> Option<Id> {
    let meta = message.param("_meta")?;
    let all = json::members(meta).ok()?;
    let token = all.iter().find(|own| own.key == "progressToken")?;
    meta.get(token.value.clone()).and_then(Id::of)
}

/// The state that a server wants back when it answers a call with questions of its own.
pub(crate) fn state_wanted(result: &str) -> Option<String> {
    let all = json::members(result).ok()?;
    let text = |key: &str| {
        let own = all.iter().find(|own| own.key == key)?;
        result.get(own.value.clone()).and_then(json::string)
    };
    text("resultType").filter(|kind| kind == "input_required")?;
    text("requestState")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_server_begins_is_read_once() {
        let of = |text: &str| begin(text).map(|own| (own.instructions, own.tells));
        assert_eq!(
            of(r#"{"capabilities":{"tools":{"listChanged":true}},"instructions":"\u0061"}"#),
            Ok((Some(r#""\u0061""#.to_owned()), true))
        );
        for text in [r#"{"capabilities":{"tools":{}}}"#, r#"{"capabilities":1}"#, "{}", "null"] {
            assert_eq!(of(text), Ok((None, false)), "{text}");
        }
        for text in [
            r#"{"instructions":"a","instructions":"b"}"#,
            r#"{"Instructions":"a"}"#,
            r#"{"instructions":{"a":1,"A":2}}"#,
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn requests_inside_a_result_are_found_or_it_is_refused() {
        let sampling = r#"{"method":"sampling/createMessage","params":{}}"#;
        let found = |result: &str| requests_inside(result).map(|all| all.len());
        assert_eq!(found(r#"{"content":[]}"#), Ok(0));
        assert_eq!(found("null"), Ok(0));
        assert_eq!(
            found(&format!(r#"{{"inputRequests":{{"a":{sampling},"b":{{"method":"other"}}}}}}"#)),
            Ok(1)
        );
        for result in [
            format!(r#"{{"inputRequests":{{}},"inputRequests":{{"a":{sampling}}}}}"#),
            format!(r#"{{"InputRequests":{{"a":{sampling}}}}}"#),
            format!(r#"{{"inputRequest\u017f":{{"a":{sampling}}}}}"#),
            format!(r#"{{"inputRequests":[{sampling}]}}"#),
            format!(r#"{{"inputRequests":{{"a":1,"b":{sampling}}}}}"#),
            r#"{"inputRequests":{"a":{"Method":"sampling/createMessage"}}}"#.to_owned(),
            r#"{"inputRequests":{"a":{"method":"Sampling/createMessage"}}}"#.to_owned(),
        ] {
            assert!(requests_inside(&result).is_err(), "{result}");
        }
    }
}
