//! What the proxy reads of messages, for programs that try it with messages nobody would send (`fuzz/`).
//!
//! INVARIANT: nothing is decided here, and nothing but what the proxy itself uses is called.

use crate::wrap::frame::{Frame, Frames};
use crate::wrap::list;
use crate::wrap::message::{Id, Kind, Message, Side};

/// A message of a client as the proxy takes it. Parts are as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Its id as JSON; none for notifications and errors without one.
    pub id: Option<String>,
    /// Decoded; none for responses.
    pub method: Option<String>,
    /// `params.name`.
    pub name: Option<String>,
    /// `params.arguments`.
    pub arguments: Option<String>,
}

/// Reads a message of a client, or says why it is refused.
///
/// # Errors
/// When it is refused.
pub fn client(line: &[u8]) -> Result<Read, String> {
    let message = Message::read(line, Side::Client).map_err(|wrong| wrong.why)?;
    let (id, method) = match &message.kind {
        Kind::Request(id, method) => (Some(id), Some(method.clone())),
        Kind::Notification(method) => (None, Some(method.clone())),
        Kind::Response(id) => (Some(id), None),
        Kind::Lost => (None, None),
    };
    let part = |key: &str| message.param(key).map(str::to_owned);
    Ok(Read { id: id.map(Id::json), method, name: part("name"), arguments: part("arguments") })
}

/// Reads a message of a server; whether it is taken.
#[must_use]
pub fn server(line: &[u8]) -> bool {
    Message::read(line, Side::Server).is_ok()
}

/// The lines of a stream, without those that are too long.
///
/// # Errors
/// When the stream fails.
pub fn frames(stream: impl std::io::Read) -> std::io::Result<Vec<Vec<u8>>> {
    let mut frames = Frames::new(stream);
    let mut out = Vec::new();
    loop {
        match frames.next()? {
            Frame::Line(line) => out.push(line),
            Frame::TooLong(..) => {}
            Frame::End => return Ok(out),
        }
    }
}

/// The definitions of a result of `tools/list`, as they were sent.
///
/// # Errors
/// When it is no such list.
pub fn tools(result: &str) -> Result<Vec<String>, String> {
    Ok(list::tools(result)?.into_iter().map(|tool| tool.text).collect())
}

/// The result without the tools at these places.
///
/// # Errors
/// When it is no such list.
pub fn without(result: &str, gone: &[bool]) -> Result<String, String> {
    list::without(result, gone)
}
