//! Reading one word: escapes, tags inside words, invisible characters and other spellings included.
//!
//! INVARIANT: a word ends after [`MOST`] characters at the latest; reading it looks at each byte a fixed number of times.

use crate::decode::escape;
use crate::fold::{self, Shape, shape};
use crate::lexicon::{LONGEST, Lexicon, WordId};

/// The longest word in characters.
const MOST: usize = 120;

/// A word as read.
pub(crate) struct Word {
    /// What it is, 0 when unknown.
    pub(crate) id: WordId,
    /// The byte behind it.
    pub(crate) end: usize,
    /// Folded letters.
    pub(crate) letters: String,
    /// It was written with escapes, look-alikes or digits for letters.
    pub(crate) disguised: bool,
    /// Only digits.
    pub(crate) number: bool,
}

/// The character at `at`: itself, its length and whether it was an escape.
pub(crate) fn peek(text: &str, at: usize) -> Option<(char, usize, bool)> {
    let bytes = text.as_bytes();
    let byte = *bytes.get(at)?;
    if byte < 0x80 {
        if matches!(byte, b'&' | b'%' | b'\\')
            && let Some((c, length)) = escape(bytes.get(at..)?)
        {
            return Some((c, length, true));
        }
        return Some((char::from(byte), 1, false));
    }
    let c = text.get(at..)?.chars().next()?;
    Some((c, c.len_utf8(), false))
}

/// Reads the word at `at`; the caller knows that one begins there.
pub(crate) fn read(lexicon: &Lexicon, text: &str, at: usize) -> Word {
    let bytes = text.as_bytes();
    let mut letters = String::new();
    let (mut end, mut escaped, mut strange, mut digits, mut signs, mut alphabetic) =
        (at, false, false, 0, 0, 0);
    for _ in 0..MOST {
        let Some((c, length, was_escape)) = peek(text, end) else { break };
        match shape(c) {
            Shape::Word => {
                if was_escape && c == '\n' {
                    break;
                }
                strange |= !c.is_ascii();
                if c.is_ascii_digit() {
                    digits += 1;
                } else {
                    alphabetic += 1;
                }
                fold::fold(c, &mut letters);
            }
            Shape::Invisible => {}
            Shape::Other => {
                let next = |offset: usize| bytes.get(end + offset).copied();
                match c {
                    // `don't` is one word, `l'utente` are two.
                    '\'' | '\u{2019}'
                        if matches!(
                            letters.as_str(),
                            "l" | "d" | "n" | "s" | "j" | "c" | "m" | "t" | "qu"
                        ) =>
                    {
                        break;
                    }
                    '\'' | '\u{2019}' if letter_at(text, end + length) && !letters.is_empty() => {}
                    '@' if host(bytes, end + 1) => break,
                    '@' | '$' | '!' | '|'
                        if letters.len() < LONGEST
                            && letter_at(text, end + length)
                            && alphabetic + digits > 0 =>
                    {
                        signs += 1;
                        letters.push(c);
                    }
                    '<' if next(1).is_some() => match inline(bytes, end) {
                        Some(tag) if letter_at(text, end + tag) && !letters.is_empty() => {
                            end += tag;
                            continue;
                        }
                        _ => break,
                    },
                    _ => break,
                }
            }
            Shape::Ideograph | Shape::Space => break,
        }
        escaped |= was_escape;
        end += length;
    }
    let number = alphabetic == 0 && signs == 0;
    let mut word = Word { id: 0, end, letters, disguised: escaped, number };
    if number {
        return word;
    }
    word.id = lexicon.look(&word.letters);
    if word.id != 0 {
        return word;
    }
    if strange {
        let latin: Option<String> = word.letters.chars().map(fold::look_alike).collect();
        if let Some(latin) = latin {
            let id = lexicon.look(&latin);
            if id != 0 {
                word.id = id;
                word.disguised = true;
                word.letters = latin;
                return word;
            }
        }
    }
    if digits + signs > 0 && alphabetic + signs > 0 && word.letters.len() <= 24 && word.letters.len() > 2 {
        for one in ['i', 'l'] {
            let spelled: String = word.letters.chars().map(|c| fold::leet(c, one)).collect();
            let id = lexicon.look(&spelled);
            if id != 0 {
                word.id = id;
                word.disguised = true;
                word.letters = spelled;
                return word;
            }
        }
    }
    if !strange && digits + signs == 0 {
        word.id = lexicon.disordered(&word.letters);
    }
    word
}

fn letter_at(text: &str, at: usize) -> bool {
    peek(text, at).is_some_and(|(c, _, _)| matches!(shape(c), Shape::Word))
}

/// Whether `name.tld` stands there.
fn host(bytes: &[u8], at: usize) -> bool {
    let name = bytes.get(at..).unwrap_or(&[]);
    let length = name.iter().take(64).take_while(|b| b.is_ascii_alphanumeric() || **b == b'-').count();
    length > 0
        && name.get(length) == Some(&b'.')
        && name.get(length + 1).is_some_and(u8::is_ascii_alphanumeric)
}

/// A tag such as `<b>` or `</span>`, or a comment of nothing, that may stand inside a word.
fn inline(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at + 1..)?;
    let rest_slash = rest.strip_prefix(b"/").unwrap_or(rest);
    let slash = rest.len() - rest_slash.len();
    if rest.starts_with(b"!---->") {
        return Some(7);
    }
    let named = rest_slash.iter().take(6).take_while(|b| b.is_ascii_alphabetic()).count();
    let name = rest_slash.get(..named)?;
    let known = [&b"b"[..], b"i", b"u", b"em", b"span", b"wbr", b"font", b"strong", b"s", b"small"];
    if !known.contains(&name) {
        return None;
    }
    let close = usize::from(rest_slash.get(named) == Some(&b'/'));
    (rest_slash.get(named + close) == Some(&b'>')).then_some(1 + slash + named + close + 1)
}

/// What an address of money looks like at the front of `text`; its length.
pub(crate) fn address(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let run = bytes.iter().take(100).take_while(|b| b.is_ascii_alphanumeric()).count();
    let word = bytes.get(..run)?;
    if let Some(digits) = word.strip_prefix(b"0x") {
        let hexed = digits.iter().all(u8::is_ascii_hexdigit);
        if hexed && digits.len() == 40 {
            return Some(run);
        }
        let rest = text.get(run..)?;
        let dots = if rest.starts_with("...") {
            3
        } else if rest.starts_with('…') {
            '…'.len_utf8()
        } else {
            0
        };
        if hexed && digits.len() >= 3 && dots > 0 {
            let tail = bytes.get(run + dots..)?.iter().take(40).take_while(|b| b.is_ascii_hexdigit()).count();
            return Some(run + dots + tail);
        }
        return None;
    }
    let count = |test: fn(&u8) -> bool| word.iter().filter(|b| test(b)).count();
    let (upper, digits) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_digit));
    // IBAN, in one piece or in groups of four.
    if let [a, b, c, d, rest @ ..] = word
        && a.is_ascii_uppercase()
        && b.is_ascii_uppercase()
        && c.is_ascii_digit()
        && d.is_ascii_digit()
    {
        if (11..=30).contains(&rest.len()) && upper + digits == run && digits >= 8 {
            return Some(run);
        }
        if rest.is_empty() {
            let mut at = 4;
            let mut groups = 0;
            while let Some(group) = bytes.get(at..) {
                let length = group.strip_prefix(b" ").map_or(0, |group| {
                    group.iter().take(5).take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit()).count()
                });
                if !(1..=4).contains(&length) {
                    break;
                }
                at += 1 + length;
                groups += 1;
                if length < 4 || groups > 8 {
                    break;
                }
            }
            if groups >= 3 {
                return Some(at);
            }
        }
    }
    if (word.starts_with(b"bc1") || word.starts_with(b"tb1") || word.starts_with(b"ltc1"))
        && (25..=90).contains(&run)
        && upper == 0
    {
        return Some(run);
    }
    let lower = run - upper - digits;
    let base58 = !word.iter().any(|b| matches!(b, b'0' | b'O' | b'I' | b'l'));
    let bitcoin = (26..=35).contains(&run) && matches!(word.first(), Some(b'1' | b'3'));
    (base58 && upper >= 3 && lower >= 3 && digits >= 2 && (bitcoin || (32..=44).contains(&run)))
        .then_some(run)
}

/// How long the address of the web at the front of `text` is.
pub(crate) fn url(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let schemes = [&b"https://"[..], b"http://", b"hxxps://", b"hxxp://", b"ftp://", b"wss://", b"www."];
    let scheme = schemes
        .iter()
        .find(|scheme| bytes.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)))?
        .len();
    let length = bytes
        .iter()
        .take(4096)
        .take_while(|b| {
            !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'<' | b'>' | b'`' | b')' | b'|' | b'\\')
        })
        .count();
    // The placeholder of a query may be written in angle brackets.
    let open = bytes.get(length) == Some(&b'<') && matches!(bytes.get(length.wrapping_sub(1)), Some(b'='));
    let length = if open {
        length + bytes.get(length..)?.iter().take(60).position(|b| *b == b'>').map_or(0, |n| n + 1)
    } else {
        length
    };
    let mut end = length;
    while end > scheme && matches!(bytes.get(end - 1), Some(b'.' | b',' | b';' | b':' | b'!' | b'?')) {
        end -= 1;
    }
    while end > scheme && !text.is_char_boundary(end) {
        end -= 1;
    }
    (end > scheme).then_some(end)
}
