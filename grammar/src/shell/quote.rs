//! Quote removal that needs more than taking the quotes away: ANSI-C text, backticks, echo and printf escapes.
//!
//! INVARIANT: pure functions of the text; what bash would turn into bytes that are not UTF-8 is `None`.

/// The text of `$'...'` without its quotes, as bash reads it; a NUL ends it.
pub(crate) fn ansi_c(text: &str) -> Option<String> {
    decode(text, true)
}

/// Backslash escapes as `printf` reads them in its format; a NUL ends the text.
pub(crate) fn printf_escapes(text: &str) -> Option<String> {
    decode(text, false)
}

fn decode(text: &str, ansi: bool) -> Option<String> {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            push(&mut out, c);
            continue;
        }
        let Some(escape) = chars.next() else {
            out.push(b'\\');
            break;
        };
        let mut number = |radix: u32, most: usize, first: Option<char>| -> Option<u32> {
            let mut value = first.and_then(|c| c.to_digit(radix));
            let mut digits = usize::from(value.is_some());
            while digits < most {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                value = Some(value.unwrap_or(0).wrapping_mul(radix).wrapping_add(digit));
                digits += 1;
                chars.next();
            }
            value
        };
        match escape {
            'a' => out.push(7),
            'b' => out.push(8),
            'e' | 'E' => out.push(27),
            'f' => out.push(12),
            'n' => out.push(10),
            'r' => out.push(13),
            't' => out.push(9),
            'v' => out.push(11),
            '\\' | '\'' | '"' | '?' => push(&mut out, escape),
            'x' => match number(16, 2, None) {
                Some(0) => return String::from_utf8(out).ok(),
                Some(value) => out.push(value.to_le_bytes().first().copied()?),
                None => out.extend(b"\\x"),
            },
            'u' | 'U' => match number(16, if escape == 'u' { 4 } else { 8 }, None) {
                Some(0) => return String::from_utf8(out).ok(),
                Some(value) => push(&mut out, char::from_u32(value)?),
                None => {
                    out.push(b'\\');
                    push(&mut out, escape);
                }
            },
            '0'..='7' => match number(8, 3, Some(escape)).map(|value| value & 255) {
                Some(0) => return String::from_utf8(out).ok(),
                Some(value) => out.push(value.to_le_bytes().first().copied()?),
                None => {}
            },
            // A control character depends on the locale's reading of what follows; nobody writes it in a name.
            'c' if ansi => match chars.next() {
                Some(c) if c.is_ascii_alphabetic() => out.push((c.to_ascii_uppercase() as u8) ^ 64),
                _ => return None,
            },
            'c' => return String::from_utf8(out).ok(),
            other => {
                out.push(b'\\');
                push(&mut out, other);
            }
        }
    }
    String::from_utf8(out).ok()
}

fn push(out: &mut Vec<u8>, c: char) {
    out.extend(c.encode_utf8(&mut [0; 4]).bytes());
}

/// The text inside backticks after one level of backslashes.
pub(crate) fn unescape_backtick(text: &str, in_double_quotes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = match chars.peek() {
            Some('`' | '\\' | '$') => c == '\\',
            Some('"') => c == '\\' && in_double_quotes,
            _ => false,
        };
        match escaped {
            true => out.extend(chars.next()),
            false => out.push(c),
        }
    }
    out
}

/// Decodes base64 text as `base64 -d` does; `None` when it is not plain text.
pub(crate) fn base64(text: &str) -> Option<String> {
    String::from_utf8(base64_bytes(text)?).ok()
}

/// The bytes of a base64 text.
pub(crate) fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut bits, mut count) = (Vec::new(), 0u32, 0u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'\n' => continue,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count).to_le_bytes().first().copied()?);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}
