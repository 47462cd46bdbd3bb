//! What people who do not see, or do not use a mouse, need.
//!
//! INVARIANT: an element is judged with all its attributes and the elements around it.

use std::collections::HashSet;

use super::{at, is};
use crate::code::markup::{Markup, Says, Shape, Tag};
use crate::code::tags;
use crate::file::{File, part};
use crate::{Found, Options};

/// `<img>` without `alt`.
pub(crate) fn image_alt(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.is_markup() {
        return Vec::new();
    }
    let markup = tags(file);
    let html = !file.path.is_jsx();
    let mut found = Vec::new();
    for (_, tag) in markup.openings() {
        let name = markup.name(tag);
        let image = name == "img"
            || name == "Image"
            || name == "NextImage"
            || (html && name.eq_ignore_ascii_case("img"));
        if !image
            || tag.spread
            || markup.has(tag, &["alt", "aria-label", "aria-labelledby", "accessibilityLabel", "ng-bind"])
        {
            continue;
        }
        if markup.literal(tag, "aria-hidden") == Some("true")
            || matches!(markup.literal(tag, "role"), Some("presentation" | "none"))
        {
            continue;
        }
        found.push(file.found(
            at(tag),
            format!("<{name}> has no alt text"),
            "say in alt what the picture shows; alt=\"\" when it only decorates",
        ));
    }
    found
}

/// A field of a form that nothing names.
pub(crate) fn form_labels(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.is_markup() {
        return Vec::new();
    }
    let markup = tags(file);
    let mut labels: HashSet<&str> = HashSet::new();
    let mut unknown_label = false;
    for (_, tag) in markup.openings() {
        if !markup.name(tag).rsplit('.').next().unwrap_or("").ends_with("abel") {
            continue;
        }
        unknown_label |= tag.spread;
        match markup.attr(tag, "htmlFor").or_else(|| markup.attr(tag, "for")) {
            Some(Says::Text(text)) => {
                labels.insert(text.trim());
            }
            Some(Says::Code(code)) => {
                labels.insert(code.trim().trim_matches(['\'', '"', '`']));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    // The tag that closes the last label or named group that is open.
    let mut inside = 0;
    for (index, tag) in markup.tags.iter().enumerate() {
        if tag.shape == Shape::Close {
            continue;
        }
        let name = markup.name(tag);
        if tag.shape == Shape::Open && names_its_content(name) {
            inside = inside.max(tag.mate as usize);
        }
        if !is(markup, tag, &["input", "select", "textarea"]) || tag.spread || index < inside {
            continue;
        }
        if markup.has(tag, &["aria-label", "aria-labelledby", "title", "aria-hidden"]) {
            continue;
        }
        let kind = markup.literal(tag, "type").unwrap_or("text");
        let silent = matches!(kind, "hidden" | "submit" | "button" | "reset")
            || (kind == "image" && markup.has(tag, &["alt"]));
        if name == "input"
            && (silent
                || matches!(markup.attr(tag, "type"), Some(Says::Code(_)))
                    && markup.literal(tag, "type").is_none())
        {
            continue;
        }
        let named = match markup.attr(tag, "id") {
            Some(Says::Text(id)) => labels.contains(id.trim()) || unknown_label,
            Some(Says::Code(id)) => {
                labels.contains(id.trim().trim_matches(['\'', '"', '`'])) || unknown_label
            }
            _ => false,
        };
        if named {
            continue;
        }
        found.push(file.found(
            at(tag),
            format!("<{name}> has no label"),
            "put it into a <label>, name it with htmlFor and id, or give it an aria-label",
        ));
    }
    found
}

/// A label, or a component whose name says that it names a field.
fn names_its_content(name: &str) -> bool {
    name == "label"
        || name.starts_with(|letter: char| letter.is_ascii_uppercase())
            && ["Label", "Field", "FormControl", "FormItem", "FormGroup", "Labeled"]
                .iter()
                .any(|word| name.contains(word))
}

const GENERIC: [&str; 10] = [
    "click here",
    "click",
    "here",
    "read more",
    "learn more",
    "more",
    "this link",
    "link",
    "click this",
    "this",
];

/// Elements that act on a click and cannot be reached with keys; links whose text says nothing.
pub(crate) fn interactive(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.is_markup() {
        return Vec::new();
    }
    let markup = tags(file);
    let mut found = Vec::new();
    for (index, tag) in markup.openings() {
        let name = markup.name(tag);
        if is(markup, tag, &["div", "span", "li", "section", "p", "td", "tr"]) && !tag.spread {
            let strict = matches!(name, "div" | "span");
            let Some(click) = markup.listens(tag, "click") else { continue };
            let stops = matches!(click, Says::Code(code) if code.len() < 200 && only_stops(code));
            let hidden = matches!(markup.literal(tag, "role"), Some("presentation" | "none"))
                || markup.has(tag, &["aria-hidden"]);
            let missing = !markup.has(tag, &["role"]) || !markup.has(tag, &["tabIndex"]);
            if strict && missing && !stops && !hidden {
                found.push(file.found(
                    at(tag),
                    format!("<{name}> reacts to a click and cannot be reached with the keyboard"),
                    "use <button>, or give it a role, tabIndex={0} and a key handler",
                ));
            }
        }
        if is(markup, tag, &["a", "Link", "NuxtLink", "RouterLink", "router-link"])
            && !tag.spread
            && !markup.has(tag, &["aria-label", "aria-labelledby", "title"])
        {
            let Some(text) = content(markup, index, tag) else { continue };
            let text = text
                .trim_matches(|letter: char| letter.is_whitespace() || ".!>»→…›:".contains(letter))
                .to_lowercase();
            if GENERIC.contains(&text.as_str()) {
                found.push(file.found(
                    at(tag),
                    format!("the text of a link is \"{text}\", which says nothing of its target"),
                    "name the target in the text of the link",
                ));
            }
        }
    }
    found
}

fn only_stops(code: &str) -> bool {
    let body = code.rsplit("=>").next().unwrap_or(code).trim_matches([' ', '{', '}', ';', '\n']);
    matches!(body.rsplit('.').next(), Some("stopPropagation()" | "preventDefault()")) && !body.contains(';')
}

/// The text between a tag and the one that closes it, without tags, of at most a few words.
fn content(markup: &Markup, index: usize, tag: &Tag) -> Option<String> {
    let close = markup.tags.get(tag.mate as usize)?;
    if (close.start - tag.end) > 400 {
        return None;
    }
    let mut text = String::new();
    let mut from = tag.end as usize;
    for inner in markup.tags.get(index + 1..tag.mate as usize + 1)? {
        text.push_str(part(markup.text, from, inner.start as usize));
        text.push(' ');
        from = inner.end as usize;
    }
    let text = text.replace(['{', '}', '"', '\''], " ");
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// More than one first heading, or a level left out.
pub(crate) fn headings(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.is_markup() {
        return Vec::new();
    }
    let markup = tags(file);
    let jsx = file.path.is_jsx();
    let mut found = Vec::new();
    let mut root = u32::MAX;
    let mut firsts: HashSet<u32> = HashSet::new();
    let mut count = 0;
    let mut level = 0;
    // In scripts neighbors without a common parent still follow each other when only blanks are between.
    let mut end = 0;
    for (_, tag) in markup.openings() {
        let new_root =
            jsx && tag.root != root && tag.hole == 0 && !part(file.text, end, at(tag)).trim().is_empty();
        if new_root {
            firsts.clear();
            count = 0;
            level = 0;
        }
        root = tag.root;
        end = markup.tags.get(tag.mate as usize).map_or(tag.end, |close| close.end).max(end as u32) as usize;
        let Some(now) = heading(markup.name(tag)) else { continue };
        if now == 1 {
            if tag.hole == 0 || firsts.insert(tag.hole) {
                count += 1;
                if count == 2 {
                    found.push(file.found(
                        at(tag),
                        "there is more than one <h1>",
                        "have one <h1> a page and <h2> for its parts",
                    ));
                }
            }
        } else if level > 0 && now > level + 1 {
            found.push(file.found(
                at(tag),
                format!("<h{now}> follows <h{level}>: a level is left out"),
                format!("use <h{}>", level + 1),
            ));
        }
        level = now;
    }
    found
}

fn heading(name: &str) -> Option<u32> {
    let digit = name.strip_prefix(['h', 'H'])?;
    match digit {
        "1" | "2" | "3" | "4" | "5" | "6" => digit.parse().ok(),
        _ => None,
    }
}
