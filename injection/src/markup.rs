//! Tags of HTML, comments and what a style hides.
//!
//! INVARIANT: a tag is at most [`TAG`] bytes; a longer one is text. Nothing here looks further than that.

/// The longest tag.
pub(crate) const TAG: usize = 4096;

/// A tag as it stands in the text.
pub(crate) struct Tag<'t> {
    pub(crate) name: &'t str,
    pub(crate) closes: bool,
    /// No element follows: `<br>`, `<img …/>`.
    pub(crate) empty: bool,
    /// A line ends here for a reader.
    pub(crate) block: bool,
    /// Nobody sees what it holds.
    pub(crate) hides: bool,
    /// Bytes, with `<` and `>`.
    pub(crate) length: usize,
    /// Values of attributes that hold text, as positions from the `<`.
    pub(crate) values: Vec<(usize, usize)>,
    /// An image whose address asks for data.
    pub(crate) image: Option<(usize, usize)>,
}

#[rustfmt::skip]
const INLINE: [&str; 34] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "picture", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr",
];
#[rustfmt::skip]
const BLOCK: [&str; 85] = [
    "address", "article", "aside", "audio", "base", "blockquote", "body", "br", "button", "canvas", "caption",
    "center", "col", "colgroup", "dd", "desc", "details", "dialog", "div", "dl", "dt", "embed", "fieldset",
    "figcaption", "figure", "footer", "form", "frame", "frameset", "g", "h1", "h2", "h3", "h4", "h5", "h6",
    "head", "header", "hr", "html", "iframe", "img", "input", "legend", "li", "link", "main", "map", "math",
    "menu", "meta", "nav", "noscript", "object", "ol", "optgroup", "option", "p", "param", "path", "pre",
    "progress", "script", "search", "section", "select", "source", "style", "summary", "svg", "table", "tbody",
    "td", "template", "text", "textarea", "tfoot", "th", "thead", "title", "tr", "track", "tspan", "ul",
    "video",
];
#[rustfmt::skip]
const EMPTY: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// The lists are in order.
fn listed(list: &[&str], name: &str) -> bool {
    let mut lower = [0u8; 12];
    let Some(lower) = lower.get_mut(..name.len()) else { return false };
    lower.copy_from_slice(name.as_bytes());
    lower.make_ascii_lowercase();
    list.binary_search_by(|known| known.as_bytes().cmp(lower)).is_ok()
}

/// The tag at the front of `text`, if it is one of HTML.
pub(crate) fn tag(text: &str) -> Option<Tag<'_>> {
    let bytes = text.as_bytes();
    let closes = bytes.get(1) == Some(&b'/');
    let from = if closes { 2 } else { 1 };
    let named = bytes.get(from..)?.iter().take(12).take_while(|b| b.is_ascii_alphanumeric()).count();
    let name = text.get(from..from + named)?;
    let inline = listed(&INLINE, name);
    if named == 0 || !(inline || listed(&BLOCK, name)) {
        return None;
    }
    let mut tag = Tag {
        name,
        closes,
        empty: listed(&EMPTY, name),
        block: !inline,
        hides: name.eq_ignore_ascii_case("template") || name.eq_ignore_ascii_case("noscript"),
        length: 0,
        values: Vec::new(),
        image: None,
    };
    let mut at = from + named;
    loop {
        at += bytes.get(at..)?.iter().take(TAG).take_while(|b| b.is_ascii_whitespace()).count();
        if at > TAG {
            return None;
        }
        match bytes.get(at)? {
            b'>' => {
                tag.length = at + 1;
                return Some(tag);
            }
            b'/' => {
                tag.empty |= bytes.get(at + 1) == Some(&b'>');
                at += 1;
            }
            b'<' => return None,
            _ => at = attribute(text, at, &mut tag)?,
        }
    }
}

/// Reads one attribute; where it ends.
fn attribute<'t>(text: &'t str, at: usize, tag: &mut Tag<'t>) -> Option<usize> {
    let bytes = text.as_bytes();
    let named = bytes
        .get(at..)?
        .iter()
        .take(80)
        .take_while(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':' | b'@' | b'.' | b'*' | b'#')
        })
        .count();
    if named == 0 {
        return (matches!(bytes.get(at)?, b'"' | b'\'' | b'=' | b'{' | b'}' | b'(' | b')' | b',' | b';'))
            .then_some(at + 1);
    }
    let name = text.get(at..at + named)?;
    let mut end = at + named;
    if bytes.get(end) != Some(&b'=') {
        tag.hides |= name.eq_ignore_ascii_case("hidden") || name.eq_ignore_ascii_case("inert");
        return Some(end);
    }
    end += 1;
    let (start, stop, next) = match bytes.get(end)? {
        quote @ (b'"' | b'\'') => {
            let length = bytes.get(end + 1..)?.iter().take(TAG).position(|b| b == quote)?;
            (end + 1, end + 1 + length, end + length + 2)
        }
        _ => {
            let length = bytes
                .get(end..)?
                .iter()
                .take(TAG)
                // A value that goes on behind `<` would be read again from every tag in it.
                .take_while(|b| !b.is_ascii_whitespace() && !matches!(b, b'>' | b'<'))
                .count();
            (end, end + length, end + length)
        }
    };
    let value = text.get(start..stop)?;
    match name.to_ascii_lowercase().as_str() {
        "style" => tag.hides |= hiding(value),
        "hidden" => tag.hides |= !value.eq_ignore_ascii_case("false"),
        "aria-hidden" => tag.hides |= value.eq_ignore_ascii_case("true"),
        "class" => {
            tag.hides |= value.split_ascii_whitespace().any(|class| {
                matches!(
                    class,
                    "hidden"
                        | "sr-only"
                        | "visually-hidden"
                        | "d-none"
                        | "invisible"
                        | "screen-reader-text"
                        | "offscreen"
                )
            });
        }
        "type" if tag.name.eq_ignore_ascii_case("input") => tag.hides |= value == "hidden",
        "src" | "href" if tag.name.eq_ignore_ascii_case("img") => {
            tag.image = asks_for_data(value).then_some((start, stop));
        }
        "src" | "href" | "id" | "srcset" | "d" | "points" | "action" | "integrity" => {}
        _ if value.len() >= 16 => tag.values.push((start, stop)),
        _ => {}
    }
    Some(next)
}

/// A style that keeps text from being seen.
fn hiding(style: &str) -> bool {
    let style: String =
        style.chars().filter(|c| !c.is_whitespace()).take(600).collect::<String>().to_ascii_lowercase();
    let zero = |value: &str| {
        let number: String = value.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        number.parse::<f32>().is_ok_and(|n| n < 0.05) || (number == "1" && value.starts_with("1p"))
    };
    let far = |value: &str| {
        value.strip_prefix('-').is_some_and(|n| n.chars().take_while(char::is_ascii_digit).count() >= 3)
    };
    let white = |value: &str| {
        matches!(value, "white" | "transparent" | "#fff" | "#ffffff" | "#fffffe" | "#fefefe")
            || value.starts_with("rgba(0,0,0,0")
            || value.starts_with("rgb(255,255,255")
    };
    style.split(';').filter_map(|part| part.split_once(':')).any(|(name, value)| {
        let value = value.trim_end_matches("!important");
        match name {
            "display" => value == "none",
            "visibility" => value == "hidden" || value == "collapse",
            "opacity" | "font-size" | "height" | "max-height" | "width" | "max-width" | "zoom" => zero(value),
            "left" | "top" | "right" | "text-indent" | "margin-left" | "margin-top" | "z-index" => far(value),
            "color" => white(value),
            "clip" | "clip-path" => true,
            "transform" => value.starts_with("scale(0"),
            "mso-hide" => value == "all",
            _ => false,
        }
    })
}

/// The comment at the front of `text`: where its words begin, where they end, where it ends. `None` at the second place
/// when nothing closes it.
pub(crate) fn comment(text: &str) -> Option<(usize, Option<(usize, usize)>)> {
    let open = if text.starts_with("<!--") {
        4
    } else {
        return None;
    };
    let close = text.get(open..)?.find("-->");
    Some((open, close.map(|at| (open + at, open + at + 3))))
}

/// A line that Markdown never shows: `[//]: # (…)`.
pub(crate) fn unseen_line(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('[') else { return false };
    let Some((label, rest)) = rest.split_once("]:") else { return false };
    let rest = rest.trim_start();
    let named = matches!(label, "//" | "_metadata_" | "#") || label.eq_ignore_ascii_case("comment");
    named && (rest.starts_with(['#', '/']) || rest.starts_with("<>"))
}

/// An address whose query is to be filled with data of the reader.
pub(crate) fn asks_for_data(url: &str) -> bool {
    #[rustfmt::skip]
    const DATA: [&str; 36] = [
    "data", "conversation", "history", "chat", "secret", "token", "summary", "prompt", "key", "password", "env",
    "base64", "message", "context", "email", "content", "memory", "session", "cookie", "credential", "info",
    "system", "encoded", "insert", "replace", "placeholder", "output", "response", "answer", "user", "file",
    "private", "mail", "balance", "wallet", "code",
];
    let Some((host, query)) = url.split_once(['?', '#']) else { return false };
    if ["shields.io", "codecov", "github.com", "githubusercontent", "badge"]
        .iter()
        .any(|known| host.contains(known))
    {
        return false;
    }
    query.split('&').take(32).any(|part| {
        let Some((_, value)) = part.split_once('=') else { return false };
        let lower = value.chars().take(80).collect::<String>().to_ascii_lowercase();
        let open =
            ["{", "[", "<", "${", "%7b", "%5b", "%3c", "$("].iter().any(|open| lower.starts_with(open));
        let shouted = value.len() >= 4
            && value.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit());
        (open
            || (shouted && !value.chars().all(|c| c.is_ascii_digit()))
            || matches!(lower.as_str(), "conversation" | "chat_history" | "chathistory"))
            && DATA.iter().any(|word| lower.contains(word))
    })
}

/// An address whose query is to be filled with what was said or with secrets, more than a key.
pub(crate) fn asks_for_talk(url: &str) -> bool {
    let lower = url.chars().take(400).collect::<String>().to_ascii_lowercase();
    [
        "conversation",
        "history",
        "chat",
        "summary",
        "prompt",
        "base64",
        "memory",
        "cookie",
        "secret",
        "password",
        "env",
        "private",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// A mark that separates turns of a chat, at the front of `text`: its length.
pub(crate) fn turn(text: &str) -> Option<usize> {
    #[rustfmt::skip]
    const MARKS: [&str; 26] = [
    "<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>",
    "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|channel|>", "<|message|>", "<|begin_of_text|>",
    "<|start|>", "<|end|>", "<|im_sep|>", "<|tool_call|>", "<start_of_turn>", "<end_of_turn>", "<<sys>>",
    "<</sys>>", "[INST]", "[/INST]", "<|eom_id|>", "<\u{ff5c}user\u{ff5c}>", "<\u{ff5c}assistant\u{ff5c}>",
    "{{#system~}}",
];
    // `[Inst]` is a type in programs: what stands in square brackets keeps its case.
    MARKS
        .iter()
        .find(|mark| {
            let head = text.as_bytes().get(..mark.len()).unwrap_or(&[]);
            if mark.starts_with('[') {
                head == mark.as_bytes()
            } else {
                head.eq_ignore_ascii_case(mark.as_bytes())
            }
        })
        .map(|mark| mark.len())
}

/// An invented tag that speaks for a role or closes the text's own box: its length.
pub(crate) fn role_tag(text: &str) -> Option<usize> {
    #[rustfmt::skip]
    const NAMES: [&str; 30] = [
    "system", "instructions", "instruction", "admin", "information", "important", "assistant", "user_query",
    "tool_result", "human", "system_prompt", "system-reminder", "system_message", "function_results",
    "tool_response", "user_input", "untrusted", "document", "documents", "context", "priority", "override",
    "developer", "root", "data", "tool_output", "search_results", "function_calls", "user_message",
    "external_content",
];
    let rest = text.strip_prefix('<').or_else(|| text.strip_prefix('['))?;
    let close = if text.starts_with('<') { '>' } else { ']' };
    let slash = rest.starts_with('/');
    let body = rest.strip_prefix('/').unwrap_or(rest);
    let end = body.char_indices().take(24).find(|(_, c)| *c == close)?.0;
    let name = body.get(..end)?.to_ascii_lowercase().replace(' ', "_");
    let open_square = close == ']'
        && !slash
        && !matches!(name.as_str(), "system" | "system_message" | "system_prompt" | "admin" | "override");
    ((slash || name != "data") && !open_square && NAMES.contains(&name.as_str()))
        .then_some(1 + usize::from(slash) + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles() {
        assert!(hiding("display: none"));
        assert!(hiding("font-size:0px"));
        assert!(hiding("color:#fff;background:#fff"));
        assert!(hiding("position:absolute;left:-9999px"));
        assert!(!hiding("opacity:0.9;font-size:10px;left:-1px"));
    }

    #[test]
    fn tags() {
        let found = tag("<img src=\"x\" alt=\"a long description\"/>rest")
            .map(|tag| (tag.length, tag.empty, tag.values.len()));
        assert_eq!(found, Some((39, true, 1)));
        assert!(tag("<system>").is_none());
        assert!(tag("<p").is_none());
        assert!(asks_for_data("https://c.test/p.png?d={conversation}"));
        assert!(!asks_for_data("https://codecov.io/x?token=3KA3R2D9fV"));
    }
}
