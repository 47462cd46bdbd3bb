//! What the proxy says itself.
//!
//! INVARIANT: a denial is a result that a model can read (`isError`), says which rule and why, and holds no id, no address and no
//! command that would approve it.

use crate::wrap::message::Id;
use serde_json::json;

/// That other tools are listed now.
pub(crate) const LIST_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// The same, for a client that hears of it under an open request.
pub(crate) fn list_changed_under(id: &Id) -> String {
    let id = id.json();
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
    )
}

/// A message that the proxy could not take.
pub(crate) fn error(id: Option<&Id>, code: i32, why: &str) -> String {
    let id = id.map_or("null".to_owned(), Id::json);
    let error = json!({ "code": code, "message": format!("policy: {why}") });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// A call that is not made.
pub(crate) fn denied(id: &Id, text: &str, modern: bool) -> String {
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if modern && let Some(map) = result.as_object_mut() {
        map.insert("resultType".to_owned(), json!("complete"));
    }
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.json())
}

/// That a call waits, for a client that asked to hear of it.
pub(crate) fn progress(token: &str, value: u64, message: &str) -> String {
    let message = json!(message);
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{value},"message":{message}}}}}"#
    )
}
