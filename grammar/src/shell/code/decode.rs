//! Decoders that code is hidden behind: base64, hex, and texts put together from numbers.
//!
//! INVARIANT: a text is given only when the decoder certainly answers it; else `None`.

use crate::shell::quote::base64;

/// A decoder that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoder {
    /// Base64, also the kind for URLs.
    Base64,
    /// Two digits a byte.
    Hex,
    /// `%41`.
    Percent,
    /// Each letter thirteen places on.
    Rot13,
    /// Nobody can say here what it answers (compression, serialization, encryption).
    Opaque,
}

/// What a decoder answers for a text.
pub(super) fn decode(decoder: Decoder, text: &str) -> Option<String> {
    match decoder {
        Decoder::Base64 => base64(&text.trim().replace('-', "+").replace('_', "/")),
        Decoder::Hex => hex(text),
        Decoder::Percent => percent(text),
        Decoder::Rot13 => Some(text.chars().map(rot13).collect()),
        Decoder::Opaque => None,
    }
}

/// What pairs of hexadecimal digits stand for, blanks aside.
pub(in crate::shell) fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let bytes = digits.chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    });
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

fn percent(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|b| char::from(b).to_digit(16));
        let (high, low) = (digit()?, digit()?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(out).ok()
}

fn rot13(c: char) -> char {
    let turn = |first: u8| char::from(first + ((c as u8) - first + 13) % 26);
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        other => other,
    }
}
