//! Text written in another alphabet: escapes of single characters and runs of base64, hex, base32, binary and numbers.
//!
//! INVARIANT: a run is decoded in pieces of a fixed size; what does not decode to readable text is `None`, never a guess.

/// The most characters of a run that are decoded at once.
pub(crate) const PIECE: usize = 16 * 1024;

/// The character at the front of `bytes` when it is written as an escape, and how many bytes that takes.
pub(crate) fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes.first()? {
        b'&' => entity(bytes),
        b'%' => percent(bytes),
        b'\\' => match bytes.get(1)? {
            b'u' if bytes.get(2) == Some(&b'{') => {
                let close = bytes.iter().take(10).position(|b| *b == b'}')?;
                Some((char::from_u32(hex(bytes.get(3..close)?)?)?, close + 1))
            }
            b'u' => Some((char::from_u32(hex(bytes.get(2..6)?)?)?, 6)),
            b'U' => Some((char::from_u32(hex(bytes.get(2..10)?)?)?, 10)),
            b'x' => Some((char::from_u32(hex(bytes.get(2..4)?)?)?, 4)),
            b'n' | b'r' | b't' => Some(('\n', 2)),
            _ => None,
        },
        _ => None,
    }
}

fn entity(bytes: &[u8]) -> Option<(char, usize)> {
    let end = bytes.iter().take(12).position(|b| *b == b';')?;
    let name = bytes.get(1..end)?;
    let c = match name {
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] => char::from_u32(std::str::from_utf8(digits).ok()?.parse().ok()?)?,
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" | b"rsquo" | b"lsquo" => '\'',
        b"nbsp" | b"ensp" | b"emsp" | b"thinsp" | b"Tab" | b"NewLine" => ' ',
        b"shy" | b"zwj" | b"zwnj" | b"ZeroWidthSpace" | b"NoBreak" => '\u{ad}',
        _ => return None,
    };
    Some((c, end + 1))
}

fn percent(bytes: &[u8]) -> Option<(char, usize)> {
    let first = u8::try_from(hex(bytes.get(1..3)?)?).ok()?;
    let more = match first {
        0..=0x7f => 0,
        0xc2..=0xdf => 1,
        0xe0..=0xef => 2,
        0xf0..=0xf4 => 3,
        _ => return None,
    };
    let mut buffer = [first, 0, 0, 0];
    for n in 1..=more {
        let part = bytes.get(n * 3..n * 3 + 3)?;
        *buffer.get_mut(n)? = part.strip_prefix(b"%").and_then(hex).and_then(|n| u8::try_from(n).ok())?;
    }
    let c = std::str::from_utf8(buffer.get(..=more)?).ok()?.chars().next()?;
    Some((c, (more + 1) * 3))
}

fn hex(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    digits.iter().try_fold(0u32, |n, d| Some(n << 4 | char::from(*d).to_digit(16)?))
}

/// How a run may be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Code {
    Base64,
    Base32,
    Hex,
    Binary,
}

/// The readings that the first characters of a run allow.
pub(crate) fn readings(head: &[u8]) -> impl Iterator<Item = Code> + '_ {
    let all = |test: fn(&u8) -> bool| head.iter().all(test);
    let hexed = all(u8::is_ascii_hexdigit) && head.len() >= 24;
    let upper = all(|b| matches!(b, b'A'..=b'Z' | b'2'..=b'7'));
    let bits = all(|b| matches!(b, b'0' | b'1'));
    let any = head.iter().any(u8::is_ascii_alphabetic);
    [
        (Code::Binary, bits && head.len() >= 40),
        (Code::Hex, hexed && !bits),
        (Code::Base32, upper && any),
        (Code::Base64, any),
    ]
    .into_iter()
    .filter(|(_, fits)| *fits)
    .map(|(code, _)| code)
}

/// Decodes a piece; white space is passed over. `None` when it is no readable text.
pub(crate) fn decode(code: Code, piece: &[u8]) -> Option<String> {
    let (bits, mut have, mut value) = (width(code), 0u32, 0u32);
    let mut out = Vec::with_capacity(piece.len());
    for byte in piece {
        if byte.is_ascii_whitespace() || *byte == b'=' {
            continue;
        }
        value = value << bits | digit(code, *byte)?;
        have += bits;
        if have >= 8 {
            have -= 8;
            out.push(u8::try_from(value >> have & 0xff).ok()?);
            value &= (1 << have) - 1;
        }
    }
    readable(out)
}

fn width(code: Code) -> u32 {
    match code {
        Code::Base64 => 6,
        Code::Base32 => 5,
        Code::Hex => 4,
        Code::Binary => 1,
    }
}

fn digit(code: Code, byte: u8) -> Option<u32> {
    Some(u32::from(match (code, byte) {
        (Code::Base64, b'A'..=b'Z') => byte - b'A',
        (Code::Base64, b'a'..=b'z') => byte - b'a' + 26,
        (Code::Base64, b'0'..=b'9') => byte - b'0' + 52,
        (Code::Base64, b'+' | b'-') => 62,
        (Code::Base64, b'/' | b'_') => 63,
        (Code::Base32, b'A'..=b'Z') => byte - b'A',
        (Code::Base32, b'2'..=b'7') => byte - b'2' + 26,
        (Code::Hex, _) => return char::from(byte).to_digit(16),
        (Code::Binary, b'0' | b'1') => byte - b'0',
        _ => return None,
    }))
}

/// Bytes as text when they are mostly letters and spaces. UTF-16 is read too.
pub(crate) fn readable(mut bytes: Vec<u8>) -> Option<String> {
    let zeros = bytes.iter().take(64).filter(|b| **b == 0).count();
    if zeros >= 8 && zeros * 5 >= bytes.len().min(64) * 2 {
        bytes.retain(|b| *b != 0);
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            // A piece may end within a character.
            let good = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            if good + 4 < bytes.len() {
                return None;
            }
            bytes.truncate(good);
            String::from_utf8(bytes).ok()?
        }
    };
    let (mut good, mut all, mut wide) = (0usize, 0usize, 0usize);
    for c in text.chars().take(256) {
        all += 1;
        good += usize::from(c.is_alphanumeric() || matches!(c, ' '..='~' | '\n' | '\r' | '\t'));
        wide += usize::from(!c.is_ascii());
        if c.is_control() && !c.is_whitespace() {
            return None;
        }
    }
    (all >= 8
        && good * 20 >= all * 19
        && (wide > 3 || text.contains([' ', '_', '\n', '<', '+', '-', '.']) || all >= 16))
        .then_some(text)
}

/// A row of numbers such as `73 103 110`, `0x49, 0x67` or `49 67 6e`: its end and what it spells.
pub(crate) fn numbers(bytes: &[u8]) -> Option<(usize, String)> {
    let mut items: Vec<(usize, &[u8])> = Vec::new();
    let (mut at, mut end) = (0, 0);
    while items.len() < PIECE / 4 {
        let rest = bytes.get(at..)?;
        let length = rest.iter().take(11).take_while(|b| b.is_ascii_alphanumeric()).count();
        if length == 0 || length > 10 {
            break;
        }
        let item = rest.get(..length)?;
        let item = item.strip_prefix(b"0x").or_else(|| item.strip_prefix(b"0X")).unwrap_or(item);
        if !item.iter().all(u8::is_ascii_hexdigit) || !(item.len() <= 3 || item.len() == 8) || item.is_empty()
        {
            break;
        }
        items.push((length, item));
        at += length;
        end = at;
        let gap = bytes
            .get(at..)?
            .iter()
            .take(3)
            .take_while(|b| matches!(b, b' ' | b',' | b':' | b'\n' | b'-' | b';'))
            .count();
        if gap == 0 || gap > 2 {
            break;
        }
        at += gap;
    }
    if items.len() < 12 {
        return None;
    }
    let radix = if items.iter().all(|(_, item)| item.len() == 8) {
        2
    } else if items.iter().all(|(length, item)| item.len() == 2 && *length <= 4)
        && items.iter().any(|(_, item)| item.iter().any(u8::is_ascii_alphabetic))
    {
        16
    } else {
        10
    };
    let spell = |radix: u32| -> Option<Vec<u8>> {
        items
            .iter()
            .map(|(_, item)| u8::from_str_radix(std::str::from_utf8(item).ok()?, radix).ok())
            .collect()
    };
    let text = spell(radix)
        .and_then(readable)
        .or_else(|| if radix == 10 { spell(16).and_then(readable) } else { None })?;
    Some((end, text))
}

/// The letters of rot13.
pub(crate) fn rot13(text: &str) -> String {
    let turn = |c: char, base: u8| {
        let at = u32::from(c) - u32::from(base);
        char::from_u32(u32::from(base) + (at + 13) % 26).unwrap_or(c)
    };
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            _ => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(escape(b"&#73;g"), Some(('I', 5)));
        assert_eq!(escape(b"&#x49;"), Some(('I', 6)));
        assert_eq!(escape(b"%E4%BD%A0"), Some(('你', 9)));
        assert_eq!(escape(b"\\u0049"), Some(('I', 6)));
        assert_eq!(escape(b"%zz"), None);
        assert_eq!(escape(b"&"), None);
        assert_eq!(escape(b"%"), None);
    }

    #[test]
    fn runs() {
        assert_eq!(decode(Code::Base64, b"SGVsbG8gd29ybGQh").as_deref(), Some("Hello world!"));
        assert_eq!(decode(Code::Hex, b"48656c6c6f20776f726c64").as_deref(), Some("Hello world"));
        assert_eq!(decode(Code::Base64, b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"), None);
        assert_eq!(
            numbers(b"72 101 108 108 111 32 119 111 114 108 100 33").map(|n| n.1).as_deref(),
            Some("Hello world!")
        );
        assert_eq!(
            numbers(b"48 65 6c 6c 6f 20 77 6f 72 6c 64 21 zz").map(|n| n.1).as_deref(),
            Some("Hello world!")
        );
    }
}
