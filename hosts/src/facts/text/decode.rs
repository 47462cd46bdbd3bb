//! Texts behind bytes: base64, UTF-16, bytes that are not all text.
//!
//! INVARIANT: what is no text becomes the text that it looks like, never nothing.

/// The text behind base64; none when it is none.
pub(super) fn base64(text: &str) -> Option<String> {
    let (mut out, mut bits, mut count) = (Vec::with_capacity(text.len() / 4 * 3), 0u32, 0u32);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xff).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    Some(lossy(out))
}

/// The text of a file's bytes.
pub(in crate::facts) fn lossy(bytes: Vec<u8>) -> String {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let wide = |of: fn([u8; 2]) -> u16| {
        let units = pairs.iter().skip(1).map(|pair| of(*pair));
        let mut text: String = char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect();
        text.extend(odd.iter().map(|byte| char::from(*byte)));
        text
    };
    match pairs.first() {
        Some([0xff, 0xfe]) => wide(u16::from_le_bytes),
        Some([0xfe, 0xff]) => wide(u16::from_be_bytes),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}
