//! The page itself, what it shows of a question, and the headers that every answer has.
//!
//! INVARIANT: the page is one file without a secret; everything that an agent wrote goes through [`pieces`], and the page sets it as
//! text, never as markup.

use super::shown::{Look, laid_out, pieces};
use policy_approvals::{Notice, Question, Said};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

const HTML: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// Its parts see each other.
const SCRIPT: &str = concat!(
    "\n'use strict';\n(() => {\n",
    include_str!("page/page.js"),
    include_str!("page/pay.js"),
    include_str!("page/board.js"),
    include_str!("page/start.js"),
    "})();\n"
);

/// The page as it is sent.
pub(crate) fn page() -> String {
    HTML.replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", SCRIPT)
}

/// The headers of every answer: only the page's own style and script, found by their digests, and only its own address.
pub(crate) fn headers() -> Vec<(&'static str, String)> {
    let source = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())));
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; form-action 'none'; \
         frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        source(SCRIPT),
        source(STYLE)
    );
    let own = |text: &str| text.to_owned();
    vec![
        ("content-security-policy", policy),
        ("referrer-policy", own("no-referrer")),
        ("x-content-type-options", own("nosniff")),
        ("x-frame-options", own("DENY")),
        ("cache-control", own("no-store")),
        ("cross-origin-opener-policy", own("same-origin")),
        ("cross-origin-resource-policy", own("same-origin")),
        ("permissions-policy", own("camera=(), microphone=(), geolocation=()")),
    ]
}

/// A question as the page shows it.
pub(crate) fn card(asked: &Question) -> Value {
    let mut marks: Vec<String> = asked.shown.marked.clone();
    marks.extend(asked.said.iter().map(|said| said.matched.clone()));
    // In the arguments a value stands as JSON writes it.
    let written: Vec<String> = marks.iter().map(|mark| as_json(mark)).collect();
    json!({
        "host": parts(&asked.host, &[]),
        "session": parts(&asked.session, &[]),
        "actor": parts(&asked.actor, &[]),
        "server": asked.server.as_ref().map(|server| parts(&server.name, &[])),
        "pinned": asked.server.as_ref().map(|server| short(&server.pin)),
        "tool": parts(&asked.tool, &[]),
        "arguments": parts(&laid_out(&asked.arguments), &written),
        "cwd": parts(&asked.cwd.to_string_lossy(), &[]),
        "said": asked.said.iter().map(said).collect::<Vec<Value>>(),
        "commands": asked.shown.commands.iter().map(|command| parts(command, &marks)).collect::<Vec<Value>>(),
        "diff": diff(&asked.shown.diff),
        "executes": asked.operands.iter().map(|(path, _)| parts(&path.to_string_lossy(), &[])).collect::<Vec<Value>>(),
        "pageOnly": asked.page_only,
    })
}

fn said(said: &Said) -> Value {
    let plain = |text: &str| parts(text, &[]);
    json!({
        "decision": plain(&said.decision),
        "rule": plain(&said.rule),
        "place": plain(&said.place),
        "reason": plain(&said.reason),
        "suggest": plain(&said.suggest),
        "matched": plain(&said.matched),
    })
}

/// Lines of a diff, those of one kind behind each other together. Not by `lines`, which takes a carriage return for an end.
fn diff(text: &str) -> Value {
    let mut out: Vec<(&str, String)> = Vec::new();
    for line in text.split('\n').filter(|_| !text.is_empty()) {
        let kind = match line.chars().next() {
            Some('+') => "added",
            Some('-') => "removed",
            Some('@' | '\\' | '…') => "place",
            _ => "same",
        };
        match out.last_mut().filter(|(last, _)| *last == kind) {
            Some((_, lines)) => {
                lines.push('\n');
                lines.push_str(line);
            }
            None => out.push((kind, line.to_owned())),
        }
    }
    out.iter().map(|(kind, lines)| json!({ "kind": kind, "text": parts(lines, &[]) })).collect()
}

/// A notice as the page shows it.
pub(crate) fn notice(notice: &Notice) -> Value {
    let plain = |text: &str| parts(text, &[]);
    json!({
        "file": plain(&notice.file),
        "place": plain(&notice.place),
        "code": plain(&notice.code),
        "message": plain(&notice.message),
        "help": plain(&notice.help),
        "more": notice.more,
        "since": notice.since,
        "until": notice.until,
    })
}

/// Pieces as the page reads them: `[text, look]`.
pub(crate) fn parts(text: &str, marks: &[String]) -> Value {
    let piece = |look: Look| match look {
        Look::Plain => 0,
        Look::Marked => 1,
        Look::Odd => 2,
    };
    pieces(text, marks).into_iter().map(|part| json!([part.text, piece(part.look)])).collect()
}

fn as_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

fn short(pin: &str) -> String {
    pin.chars().filter(char::is_ascii_hexdigit).take(12).collect()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4_usize {
            let letter = LETTERS.get((bits >> (18 - 6 * place) & 63) as usize).copied().unwrap_or_default();
            let _ = out.write_char(if place > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_the_usual_one() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (text, made) in cases {
            assert_eq!(base64(text.as_bytes()), made);
        }
    }

    #[test]
    fn the_page_is_whole_and_sets_no_markup() {
        let page = page();
        assert!(page.contains(STYLE) && page.contains(SCRIPT));
        assert!(!page.contains("/*STYLE*/") && !page.contains("/*SCRIPT*/"));
        for way in
            ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "localStorage", "cookie"]
        {
            assert!(!page.contains(way), "{way}");
        }
    }
}
