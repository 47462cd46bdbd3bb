//! Tags with their attributes, as scripts and markup have them.
//!
//! INVARIANT: in the order of the text; `link` joins opening and closing tags in one pass, whatever is left open or closed too often.

use std::collections::HashMap;

use crate::file::part;

/// What a tag does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Open,
    Close,
    /// Closed in itself, or of a kind that has no content.
    Single,
}

/// One tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    pub(crate) start: u32,
    /// Behind its `>`.
    pub(crate) end: u32,
    pub(crate) name: (u32, u32),
    pub(crate) shape: Shape,
    /// Its attributes: the first and the last of a chain.
    pub(crate) attrs: (u32, u32),
    /// Does it take attributes from a value that is not seen (`{...props}`)?
    pub(crate) spread: bool,
    /// The outermost tag it is in: its own number for that one.
    pub(crate) root: u32,
    /// The expression it is in, 0 for none.
    pub(crate) hole: u32,
    /// The tag that closes it; `u32::MAX` for none.
    pub(crate) mate: u32,
}

/// One attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attr {
    pub(crate) name: (u32, u32),
    pub(crate) value: Option<(u32, u32)>,
    /// Is the value an expression and not a text?
    pub(crate) expression: bool,
    /// The next attribute of the same tag: tags inside its value may have theirs between.
    next: u32,
}

const NONE: u32 = u32::MAX;

/// No attributes yet.
pub(crate) const NO_ATTRS: (u32, u32) = (NONE, NONE);

/// All tags of a text.
pub(crate) struct Markup<'a> {
    pub(crate) text: &'a str,
    pub(crate) tags: Vec<Tag>,
    pub(crate) attrs: Vec<Attr>,
}

/// Elements that have no content.
pub(crate) const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// A value of an attribute.
#[derive(Clone, Copy)]
pub(crate) enum Says<'a> {
    /// The name alone.
    Nothing,
    /// A text.
    Text(&'a str),
    /// Code whose value is not known.
    Code(&'a str),
}

impl<'a> Markup<'a> {
    pub(crate) fn new(text: &'a str) -> Markup<'a> {
        Markup { text, tags: Vec::new(), attrs: Vec::new() }
    }

    pub(crate) fn slice(&self, span: (u32, u32)) -> &'a str {
        part(self.text, span.0 as usize, span.1 as usize)
    }

    pub(crate) fn name(&self, tag: &Tag) -> &'a str {
        self.slice(tag.name)
    }

    /// Tags that begin an element.
    pub(crate) fn openings(&self) -> impl Iterator<Item = (usize, &Tag)> {
        self.tags.iter().enumerate().filter(|(_, tag)| tag.shape != Shape::Close)
    }

    /// Adds an attribute to a tag and gives its number.
    pub(crate) fn push_attr(&mut self, tag: usize, name: (u32, u32)) -> usize {
        let index = self.attrs.len();
        self.attrs.push(Attr { name, value: None, expression: false, next: NONE });
        if let Some(tag) = self.tags.get_mut(tag) {
            if let Some(last) = self.attrs.get_mut(tag.attrs.1 as usize) {
                last.next = index as u32;
            } else {
                tag.attrs.0 = index as u32;
            }
            tag.attrs.1 = index as u32;
        }
        index
    }

    pub(crate) fn attrs(&self, tag: &Tag) -> impl Iterator<Item = &Attr> {
        let first = self.attrs.get(tag.attrs.0 as usize);
        std::iter::successors(first, |attr| self.attrs.get(attr.next as usize))
    }

    /// The attribute of that name, in lower case, whichever way the framework binds it.
    pub(crate) fn attr(&self, tag: &Tag, name: &str) -> Option<Says<'a>> {
        self.attrs(tag).find_map(|attr| {
            let (plain, bound) = plain_name(self.slice(attr.name));
            if !plain.eq_ignore_ascii_case(name) {
                return None;
            }
            Some(match attr.value {
                None => Says::Nothing,
                Some(span) if attr.expression || bound => Says::Code(self.slice(span)),
                Some(span) => Says::Text(self.slice(span)),
            })
        })
    }

    pub(crate) fn has(&self, tag: &Tag, names: &[&str]) -> bool {
        names.iter().any(|name| self.attr(tag, name).is_some())
    }

    /// Does the element listen to that event (`click`)?
    pub(crate) fn listens(&self, tag: &Tag, event: &str) -> Option<Says<'a>> {
        self.attrs(tag).find_map(|attr| {
            let name = self.slice(attr.name);
            let named = ["@", "v-on:", "on:", "on"].iter().find_map(|start| {
                let head = name.get(..start.len())?;
                let rest = name.get(start.len()..)?;
                head.eq_ignore_ascii_case(start).then(|| rest.split(['.', '|']).next().unwrap_or(""))
            })?;
            named
                .eq_ignore_ascii_case(event)
                .then(|| attr.value.map_or(Says::Nothing, |span| Says::Code(self.slice(span))))
        })
    }

    /// The text an attribute surely has.
    pub(crate) fn literal(&self, tag: &Tag, name: &str) -> Option<&'a str> {
        match self.attr(tag, name)? {
            Says::Text(text) => Some(text),
            Says::Code(code) => {
                let inner = code.trim();
                let quote = inner.get(..1).filter(|quote| matches!(*quote, "'" | "\"" | "`"))?;
                let text = inner.get(1..)?.strip_suffix(quote)?;
                (!text.contains(quote) && !text.contains("${")).then_some(text)
            }
            Says::Nothing => None,
        }
    }

    /// The classes that the element may have: of the text, and of every literal in an expression.
    pub(crate) fn classes(&self, tag: &Tag) -> Vec<&'a str> {
        let mut classes = Vec::new();
        for attr in self.attrs(tag) {
            let (plain, bound) = plain_name(self.slice(attr.name));
            if plain != "class" && plain != "className" {
                continue;
            }
            let Some(span) = attr.value else { continue };
            let value = self.slice(span);
            if attr.expression || bound {
                for text in literals(value) {
                    classes.extend(text.split_whitespace());
                }
            } else {
                classes.extend(value.split_whitespace());
            }
        }
        classes
    }

    /// Joins opening and closing tags of a name; a closing tag without an opening one closes nothing.
    pub(crate) fn link(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        let mut count: HashMap<&str, usize> = HashMap::new();
        let mut joins: Vec<(usize, usize)> = Vec::new();
        for (index, tag) in self.tags.iter().enumerate() {
            let name = self.name(tag);
            match tag.shape {
                Shape::Single => {}
                Shape::Open => {
                    open.push(index);
                    *count.entry(name).or_default() += 1;
                }
                Shape::Close => {
                    if count.get(name).copied().unwrap_or(0) == 0 {
                        continue;
                    }
                    while let Some(opened) = open.pop() {
                        let opened_name = self.tags.get(opened).map_or("", |tag| self.name(tag));
                        if let Some(count) = count.get_mut(opened_name) {
                            *count -= 1;
                        }
                        if opened_name == name {
                            joins.push((opened, index));
                            break;
                        }
                    }
                }
            }
        }
        for (opened, closed) in joins {
            if let Some(tag) = self.tags.get_mut(opened) {
                tag.mate = closed as u32;
            }
        }
    }
}

/// The name of an attribute without the signs that bind it to an expression, and whether it had any.
fn plain_name(name: &str) -> (&str, bool) {
    for start in ["v-bind:", "bind:", ":"] {
        if let Some(rest) = name.strip_prefix(start) {
            return (rest.split('.').next().unwrap_or(rest), true);
        }
    }
    (name, false)
}

/// The texts in quotes inside the first few thousand bytes of an expression.
pub(crate) fn literals(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start: Option<(usize, u8)> = None;
    let mut skip = false;
    for (at, byte) in code.bytes().take(4096).enumerate() {
        match start {
            _ if skip => skip = false,
            Some(_) if byte == b'\\' => skip = true,
            Some((from, quote)) if byte == quote => {
                found.push(part(code, from, at));
                start = None;
            }
            None if matches!(byte, b'\'' | b'"' | b'`') => start = Some((at + 1, byte)),
            _ => {}
        }
    }
    found
}
