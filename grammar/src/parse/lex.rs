//! The scanner: where tokens begin and end, without saying what they mean.
//!
//! INVARIANT: it agrees with `policy.pest` on the ends of comments, strings and run patterns, and every call moves on.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, digits, `_` and `-`, beginning with a letter or `_`.
    Word,
    /// Begins with a digit.
    Number,
    /// `"…"`; false when the quote is not closed on its line.
    String(bool),
    /// `r"…"` or `r#"…"#`.
    Raw(bool),
    /// `` `…` ``.
    Run(bool),
    /// `@name`.
    Ref,
    /// `{` or `[`.
    Open,
    /// `}` or `]`.
    Close,
    /// Anything else.
    Other,
    /// The end of the text.
    End,
}

/// A token and its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    /// The token as it is written.
    pub(crate) fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// A letter of a word behind its first.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Skips blanks and comments, telling of each comment.
pub(super) fn skip_trivia(text: &str, mut at: usize, mut on_comment: impl FnMut(usize, usize)) -> usize {
    while let Some(next) = byte(text, at) {
        match next {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'#' => {
                let start = at;
                at = line_end(text, at);
                on_comment(start, at);
            }
            _ => break,
        }
    }
    at
}

/// The end of the line that holds `at`, before its line break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    at + rest.iter().position(|b| is_line_end(*b)).unwrap_or(rest.len())
}

/// The next token from `at` on.
pub(crate) fn next(text: &str, at: usize) -> Token {
    let start = skip_trivia(text, at, |_, _| {});
    token(text, start)
}

/// The token that begins exactly at `start`.
pub(super) fn token(text: &str, start: usize) -> Token {
    let Some(first) = byte(text, start) else {
        return Token { kind: Kind::End, start: text.len(), end: text.len() };
    };
    let (kind, end) = match first {
        b'"' => string_end(text, start),
        b'`' => {
            let (closed, end) = until(text, start + 1, "`");
            (Kind::Run(closed), end)
        }
        b'{' | b'[' => (Kind::Open, start + 1),
        b'}' | b']' => (Kind::Close, start + 1),
        b'r' if byte(text, start + 1) == Some(b'"') => {
            let (closed, end) = until(text, start + 2, "\"");
            (Kind::Raw(closed), end)
        }
        b'r' if byte(text, start + 1) == Some(b'#') && byte(text, start + 2) == Some(b'"') => {
            let (closed, end) = until(text, start + 3, "\"#");
            (Kind::Raw(closed), end)
        }
        b'@' => (Kind::Ref, bytes_end(text, start + 1, |b| is_word_byte(b) || b == b'/')),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => (Kind::Word, bytes_end(text, start + 1, is_word_byte)),
        b'0'..=b'9' => {
            (Kind::Number, bytes_end(text, start + 1, |b| is_word_byte(b) || b == b'.' || b == b'%'))
        }
        0x80.. => (Kind::Other, bytes_end(text, start + 1, |b| b >= 0x80)),
        _ => (Kind::Other, start + 1),
    };
    Token { kind, start, end }
}

fn bytes_end(text: &str, at: usize, holds: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    at + rest.iter().position(|b| !holds(*b)).unwrap_or(rest.len())
}

/// Whether the line holds `closer` behind `at`, and where the token ends.
fn until(text: &str, at: usize, closer: &str) -> (bool, usize) {
    let end = line_end(text, at);
    match text.get(at..end).and_then(|line| line.find(closer)) {
        Some(found) => (true, at + found + closer.len()),
        None => (false, end),
    }
}

fn string_end(text: &str, start: usize) -> (Kind, usize) {
    let mut at = start + 1;
    while let Some(next) = byte(text, at) {
        match next {
            b'"' => return (Kind::String(true), at + 1),
            b'\n' | b'\r' => break,
            b'\\' if !byte(text, at + 1).is_none_or(is_line_end) => at += 2,
            _ => at += 1,
        }
    }
    // An escaped letter may be several bytes long; the loop above then stops on one of its later bytes or behind it.
    (Kind::String(false), at.min(text.len()))
}

/// Whether nothing but blanks stands before `at` on its line.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or(&[]);
    before.iter().rev().find(|b| **b != b' ' && **b != b'\t').is_none_or(|b| is_line_end(*b))
}

/// What is invisible about a character, if anything is.
pub(crate) fn hidden(ch: char) -> Option<&'static str> {
    Some(match ch {
        '\t' | '\n' | '\r' => return None,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => "a control character",
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            "it changes the order in which the line is shown"
        }
        '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{ad}'
        | '\u{34f}' => "it cannot be seen",
        '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{3164}'
        | '\u{ffa0}' => "it cannot be seen",
        '\u{feff}' => "a byte order mark cannot be seen",
        '\u{2028}' | '\u{2029}' => "it ends the line for some programs and not for others",
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => "it cannot be seen and can carry hidden text",
        _ => return None,
    })
}

/// The places in a quoted text where a backslash begins no escape, as byte ranges of `text`.
pub(super) fn bad_escapes(text: &str, token: Token) -> Vec<(usize, usize)> {
    let mut bad = Vec::new();
    let mut rest = token.text(text);
    let mut at = token.start;
    while let Some(found) = rest.find('\\') {
        let tail = rest.get(found + 1..).unwrap_or("");
        let (length, good) = escape(tail);
        let start = at + found;
        let end = start + 1 + length;
        if good.is_none() {
            bad.push((start, end));
        }
        at = end;
        rest = text.get(at..token.end).unwrap_or("");
    }
    bad
}

/// Length of the escape behind a backslash, and what it stands for.
fn escape(tail: &str) -> (usize, Option<char>) {
    match tail.chars().next() {
        Some('"') => (1, Some('"')),
        Some('\\') => (1, Some('\\')),
        Some('n') => (1, Some('\n')),
        Some('t') => (1, Some('\t')),
        Some('u') => {
            let Some(digits) =
                tail.strip_prefix("u{").and_then(|t| t.split_once('}')).map(|(digits, _)| digits)
            else {
                return (1, None);
            };
            if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return (1, None);
            }
            let value = if digits.len() <= 6 { u32::from_str_radix(digits, 16).ok() } else { None };
            (digits.len() + 3, value.and_then(char::from_u32))
        }
        Some(other) => (other.len_utf8(), None),
        None => (0, None),
    }
}

/// The value of a quoted text, without its quotes; wrong escapes stay as they are.
pub(super) fn unescape(inner: &str) -> String {
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(found) = rest.find('\\') {
        let (before, tail) = rest.split_at_checked(found).unwrap_or((rest, ""));
        value.push_str(before);
        let tail = tail.get(1..).unwrap_or("");
        let (length, meant) = escape(tail);
        match meant {
            Some(ch) => value.push(ch),
            None => {
                value.push('\\');
                value.push_str(tail.get(..length).unwrap_or(""));
            }
        }
        rest = tail.get(length..).unwrap_or("");
    }
    value.push_str(rest);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_where_the_grammar_ends_them() {
        for (text, kind, end) in [
            (r#""a\"b" c"#, Kind::String(true), 6),
            ("\"ab\nc\"", Kind::String(false), 3),
            (r#""a\"#, Kind::String(false), 3),
            (r#""\é""#, Kind::String(true), 5),
            (r##"r#"a"b"# x"##, Kind::Raw(true), 8),
            ("`a b` x", Kind::Run(true), 5),
            ("`a b\n`", Kind::Run(false), 4),
            ("@a/b c", Kind::Ref, 4),
            ("# only", Kind::End, 6),
        ] {
            let found = next(text, 0);
            assert_eq!((found.kind, found.end), (kind, end), "{text}");
        }
    }

    #[test]
    fn escapes_are_read_and_wrong_ones_found() {
        assert_eq!(unescape(r#"a\n\u{41}\\\""#), "a\nA\\\"");
        let text = r#""\q \u{110000} \n \u{} \u41""#;
        let found: Vec<_> =
            bad_escapes(text, token(text, 0)).into_iter().map(|(a, b)| text.get(a..b).unwrap()).collect();
        assert_eq!(found, [r"\q", r"\u{110000}", r"\u{}", r"\u"]);
    }
}
