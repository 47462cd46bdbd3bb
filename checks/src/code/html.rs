//! Reads HTML, Vue, Svelte and Astro: tags outside, code inside.
//!
//! INVARIANT: what is inside `<script>` and `<style>` and in comments gives no tags.

use super::Code;
use super::markup::{NO_ATTRS, Shape, Tag, VOID};
use crate::file::{byte, is_name, part};

/// Reads the tags and comments.
pub(crate) fn read(text: &str) -> Code<'_> {
    let mut code = Code::new(text);
    let bytes = text.as_bytes();
    let mut at = front_end(text);
    while at < bytes.len() {
        if byte(bytes, at) != b'<' {
            at += 1;
            continue;
        }
        if part(text, at, at + 4) == "<!--" {
            let end = find(bytes, at, b"-->");
            code.comments.push((at as u32, end as u32));
            at = end;
            continue;
        }
        let close = byte(bytes, at + 1) == b'/';
        let name = at + 1 + usize::from(close);
        if !byte(bytes, name).is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let mut end = name;
        while is_tag_name(byte(bytes, end)) {
            end += 1;
        }
        let index = code.markup.tags.len();
        code.markup.tags.push(Tag {
            start: at as u32,
            end: end as u32,
            name: (name as u32, end as u32),
            shape: if close { Shape::Close } else { Shape::Open },
            attrs: NO_ATTRS,
            spread: false,
            root: 0,
            hole: 0,
            mate: u32::MAX,
        });
        at = tag(&mut code, index, end);
        let word = part(text, name, end);
        if !close && (word.eq_ignore_ascii_case("script") || word.eq_ignore_ascii_case("style")) {
            at = raw_end(bytes, at, word);
        }
    }
    code
}

/// The front matter of Astro is code.
fn front_end(text: &str) -> usize {
    if !text.starts_with("---") {
        return 0;
    }
    text.get(3..).and_then(|rest| rest.find("\n---")).map_or(0, |end| end + 7)
}

fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or(&[]);
    rest.windows(wanted.len())
        .position(|here| here == wanted)
        .map_or(bytes.len(), |end| from + end + wanted.len())
}

/// Where `</script` begins.
fn raw_end(bytes: &[u8], mut at: usize, name: &str) -> usize {
    while at < bytes.len() {
        let here = byte(bytes, at) == b'<' && byte(bytes, at + 1) == b'/';
        if here
            && bytes
                .get(at + 2..at + 2 + name.len())
                .is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
        {
            return at;
        }
        at += 1;
    }
    at
}

/// Reads the attributes of a tag and gives the place behind it.
fn tag(code: &mut Code, index: usize, mut at: usize) -> usize {
    let text = code.text;
    let bytes = text.as_bytes();
    let mut single = false;
    while at < bytes.len() {
        match byte(bytes, at) {
            b'>' => {
                at += 1;
                break;
            }
            // A tag that is not closed ends where the next begins.
            b'<' => break,
            b'/' => {
                single = byte(bytes, at + 1) == b'>';
                at += 1;
            }
            b'{' => {
                let end = braces(bytes, at);
                let inner = part(text, at + 1, end.saturating_sub(1)).trim();
                if inner.starts_with("...") {
                    spread(code, index);
                } else if !inner.is_empty() && inner.bytes().all(is_name) {
                    // Svelte: `{alt}` is `alt={alt}`.
                    let start = at + 1;
                    let attr =
                        code.markup.push_attr(index, (start as u32, start as u32 + inner.len() as u32));
                    set(code, attr, start, start + inner.len(), true);
                }
                at = end;
            }
            b' ' | b'\t' | b'\n' | b'\r' | b'=' | b'"' | b'\'' | b'}' => at += 1,
            _ => {
                let start = at;
                while at < bytes.len()
                    && !matches!(
                        byte(bytes, at),
                        b' ' | b'\t' | b'\n' | b'\r' | b'=' | b'>' | b'<' | b'"' | b'\'' | b'{'
                    )
                {
                    if byte(bytes, at) == b'/' && byte(bytes, at + 1) == b'>' {
                        break;
                    }
                    at += 1;
                }
                let attr = code.markup.push_attr(index, (start as u32, at as u32));
                if matches!(part(text, start, at), "v-bind") {
                    spread(code, index);
                }
                at = value(code, attr, at);
            }
        }
    }
    if let Some(tag) = code.markup.tags.get_mut(index) {
        tag.end = at as u32;
        let name = part(text, tag.name.0 as usize, tag.name.1 as usize);
        if tag.shape == Shape::Open && (single || VOID.iter().any(|void| name.eq_ignore_ascii_case(void))) {
            tag.shape = Shape::Single;
        }
    }
    at
}

fn spread(code: &mut Code, index: usize) {
    if let Some(tag) = code.markup.tags.get_mut(index) {
        tag.spread = true;
    }
}

fn set(code: &mut Code, attr: usize, start: usize, end: usize, expression: bool) {
    if let Some(attr) = code.markup.attrs.get_mut(attr) {
        attr.value = Some((start as u32, end as u32));
        attr.expression = expression;
    }
}

/// Reads `= value` behind the name of an attribute.
fn value(code: &mut Code, attr: usize, at: usize) -> usize {
    let bytes = code.text.as_bytes();
    let blank = |mut at: usize| {
        while matches!(byte(bytes, at), b' ' | b'\t' | b'\n' | b'\r') {
            at += 1;
        }
        at
    };
    let equals = blank(at);
    if byte(bytes, equals) != b'=' {
        return equals;
    }
    let start = blank(equals + 1);
    match byte(bytes, start) {
        quote @ (b'"' | b'\'') => {
            let rest = bytes.get(start + 1..).unwrap_or(&[]);
            let end = rest.iter().position(|byte| *byte == quote).map_or(bytes.len(), |end| start + 1 + end);
            set(code, attr, start + 1, end, false);
            (end + 1).min(bytes.len())
        }
        b'{' => {
            let end = braces(bytes, start);
            set(code, attr, start + 1, end.saturating_sub(1).max(start + 1), true);
            end
        }
        _ => {
            let mut end = start;
            while end < bytes.len() && !matches!(byte(bytes, end), b' ' | b'\t' | b'\n' | b'\r' | b'>') {
                end += 1;
            }
            set(code, attr, start, end, false);
            end
        }
    }
}

/// The place behind the brace that closes the one at `at`; quotes inside hide braces.
fn braces(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_u32;
    let mut quote: Option<u8> = None;
    while at < bytes.len() {
        let here = byte(bytes, at);
        match quote {
            Some(_) if here == b'\\' => at += 1,
            Some(open) if here == open => quote = None,
            Some(_) => {}
            None => match here {
                b'"' | b'\'' | b'`' => quote = Some(here),
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            },
        }
        at += 1;
    }
    bytes.len()
}

/// The text with everything that is not code of a script blanked out, places kept.
pub(crate) fn scripts(code: &Code, front: bool) -> String {
    let text = code.text;
    let mut kept: Vec<(usize, usize)> = Vec::new();
    let end = front_end(text);
    if front && end > 0 {
        kept.push((3, end - 3));
    }
    let tags = &code.markup.tags;
    for (index, tag) in tags.iter().enumerate() {
        if tag.shape == Shape::Open && code.markup.name(tag).eq_ignore_ascii_case("script") {
            let stop = tags.get(index + 1).map_or(text.len(), |next| next.start as usize);
            let data = matches!(code.markup.literal(tag, "type"), Some(kind) if kind.contains("json") || kind.contains("template"));
            if !data {
                kept.push((tag.end as usize, stop));
            }
        }
    }
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for (start, stop) in kept {
        if start < at {
            continue;
        }
        blank(&mut masked, part(text, at, start));
        masked.push_str(part(text, start, stop));
        at = stop.max(start);
    }
    blank(&mut masked, part(text, at, text.len()));
    masked
}

fn blank(masked: &mut String, text: &str) {
    masked.extend(text.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { byte as char } else { ' ' }));
}

fn is_tag_name(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'.' | b':' | b'-')
}
