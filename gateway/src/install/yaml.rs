//! Settings in YAML: a list of servers, each with its name.
//!
//! INVARIANT: the text is changed at the bytes of the command line alone and read again: when anything else came out otherwise, nothing
//! is changed and the entry is told.

use super::json::Edited;
use super::{Change, Client, Entry, entry};
use serde_json::{Value, json};
use serde_yaml::granit_parser::{self as parser, Event, ScalarStyle};

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 64;
/// Most parts of a file.
const MAX_NODES: usize = 400_000;
const NOT_CHANGED: &str = "its command line is written in a way that is not rewritten here; put `policy wrap --name NAME --` before it by hand";

/// A part of the text.
struct Node {
    start: usize,
    end: usize,
    kind: Kind,
}

enum Kind {
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    /// An alias, or what has an anchor or a tag.
    Odd,
}

impl Node {
    fn get(&self, key: &str) -> Option<&(Node, Node)> {
        let Kind::Map(all) = &self.kind else { return None };
        all.iter().find(|(own, _)| own.text() == Some(key))
    }

    fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    fn list(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(all) => Some(all),
            _ => None,
        }
    }

    /// As a value without the command lines of these servers, to compare.
    fn value(&self, without: &[String]) -> Value {
        match &self.kind {
            Kind::Text(text) => text.as_str().into(),
            Kind::Odd => Value::Null,
            Kind::List(all) => all.iter().map(|node| node.value(without)).collect(),
            Kind::Map(all) => {
                let name = self.get("name").and_then(|(_, name)| name.text());
                let changed = name.is_some_and(|name| without.iter().any(|own| own == name));
                let ours = |key: &Node| changed && matches!(key.text(), Some("command" | "args"));
                let kept = all.iter().filter(|(key, _)| !ours(key));
                kept.map(|(key, value)| json!([key.value(without), value.value(without)])).collect()
            }
        }
    }
}

/// Replaces bytes; given in any order, applied from the end.
type Edits = Vec<(usize, usize, String)>;

/// Changes the entries of a text.
pub(super) fn edit(text: &str, client: &Client, change: &Change) -> Result<Edited, String> {
    let root = read(text)?;
    if !matches!(root.kind, Kind::Map(_)) {
        return Err("it is not a mapping".to_owned());
    }
    let (mut changed, mut left) = (Vec::new(), Vec::new());
    let mut new = text.to_owned();
    let servers = root.get(client.key).and_then(|(_, servers)| servers.list()).unwrap_or_default();
    // From the end, so that places before stay what they are.
    for own in servers.iter().rev() {
        let Some(name) = own.get("name").and_then(|(_, name)| name.text()) else { continue };
        let wanted = match entry(name, words(own), change) {
            Entry::Now(words) => words,
            Entry::Left(why) => {
                left.push((name.to_owned(), why));
                continue;
            }
            Entry::NotMeant => continue,
        };
        match edits(text, own, &wanted).and_then(|edits| checked(&new, edits, (client, name, &wanted))) {
            Some(text) => {
                new = text;
                changed.push(name.to_owned());
            }
            None => left.push((name.to_owned(), NOT_CHANGED.to_owned())),
        }
    }
    changed.reverse();
    left.reverse();
    Ok((new, changed, left))
}

/// The command line of an entry; none when it has none, or one that is not all texts.
fn words(own: &Node) -> Option<Vec<String>> {
    let mut words = vec![own.get("command")?.1.text()?.to_owned()];
    if let Some((_, list)) = own.get("args") {
        for word in list.list()? {
            words.push(word.text()?.to_owned());
        }
    }
    Some(words)
}

/// What has to be replaced so that an entry has this command line: words come before the arguments that are there, or go.
fn edits(text: &str, own: &Node, wanted: &[String]) -> Option<Edits> {
    let (command, arguments) = wanted.split_first()?;
    let (key, old) = own.get("command")?;
    let mut out = vec![(old.start, old.end, scalar(command))];
    let joined = |words: &[String]| words.iter().map(|word| scalar(word)).collect::<Vec<_>>().join(", ");
    let Some((_, list)) = own.get("args") else {
        let separator = match text.as_bytes().get(own.start)? {
            b'{' => ", ".to_owned(),
            _ => {
                format!("\n{}", " ".repeat(text.get(line_start(text, key.start)..key.start)?.chars().count()))
            }
        };
        out.push((old.end, old.end, format!("{separator}args: [{}]", joined(arguments))));
        return Some(out);
    };
    let items = list.list()?;
    let flow = text.as_bytes().get(list.start) == Some(&b'[');
    if let Some(more) = arguments.len().checked_sub(items.len()).filter(|more| *more > 0) {
        let new = arguments.get(..more)?;
        if flow {
            let comma = if items.is_empty() { "" } else { ", " };
            out.push((list.start + 1, list.start + 1, joined(new) + comma));
        } else {
            let dash = dash(text, items.first()?)?;
            let indent = text.get(line_start(text, dash)..dash)?;
            out.push((dash, dash, new.iter().map(|word| format!("- {}\n{indent}", scalar(word))).collect()));
        }
        return Some(out);
    }
    let gone = items.len() - arguments.len();
    let first = items.first()?;
    match (flow, items.get(gone)) {
        (true, Some(next)) => out.push((first.start, next.start, String::new())),
        (true, None) => out.push((first.start, items.last()?.end, String::new())),
        (false, Some(next)) => out.push((dash(text, first)?, dash(text, next)?, String::new())),
        (false, None) => out.push((dash(text, first)?, items.last()?.end, "[]".to_owned())),
    }
    Some(out)
}

/// The text with these changes, when they came to what was meant and to nothing else.
fn checked(
    text: &str,
    mut edits: Edits,
    (client, name, wanted): (&Client, &str, &[String]),
) -> Option<String> {
    let mut new = text.to_owned();
    edits.sort_by_key(|(start, ..)| std::cmp::Reverse(*start));
    for (start, end, with) in edits {
        new.get(start..end)?;
        new.replace_range(start..end, &with);
    }
    let (before, after) = (read(text).ok()?, read(&new).ok()?);
    let servers = after.get(client.key)?.1.list()?;
    let mut own = servers.iter().filter(|own| own.get("name").and_then(|(_, own)| own.text()) == Some(name));
    let names = [name.to_owned()];
    let good = own.all(|own| words(own).is_some_and(|words| words == wanted));
    (good && before.value(&names) == after.value(&names)).then_some(new)
}

/// The dash before an item of a block.
fn dash(text: &str, item: &Node) -> Option<usize> {
    let before = text.get(line_start(text, item.start)..item.start)?.trim_end_matches(' ');
    let at = line_start(text, item.start) + before.strip_suffix('-')?.len();
    // Nothing but blanks before it: no list within a list.
    text.get(line_start(text, at)..at)?.bytes().all(|byte| byte == b' ').then_some(at)
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// A word as YAML: plain when nobody could take it for something else, else as JSON writes it.
fn scalar(word: &str) -> String {
    const TAKEN: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let plain = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
        && !TAKEN.iter().any(|taken| word.eq_ignore_ascii_case(taken));
    if plain { word.to_owned() } else { Value::from(word).to_string() }
}

struct Open {
    start: usize,
    map: bool,
    odd: bool,
    children: Vec<Node>,
}

/// Reads the first document of a text; a second one is an error.
fn read(text: &str) -> Result<Node, String> {
    let mut options = parser::Options::default();
    options.set_emit_comments(false);
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    let mut open: Vec<Open> = Vec::new();
    let (mut root, mut documents, mut nodes) = (None, 0, 0);
    for next in parser::Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| format!("it is not YAML: {error}"))?;
        let place = |mark: parser::Marker| mark.byte_offset().unwrap_or(usize::MAX).min(text.len());
        let (start, end) = (place(span.start), place(span.end));
        nodes += 1;
        if nodes > MAX_NODES {
            return Err("it has too many parts".to_owned());
        }
        let done = match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents > 1 {
                    return Err("it holds more than one document".to_owned());
                }
                continue;
            }
            Event::Scalar(value, style, anchor, tag) => {
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let odd = anchor != 0 || tag.is_some() || block;
                let kind = if odd { Kind::Odd } else { Kind::Text(value.into_owned()) };
                Node { start, end, kind }
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => Node { start, end, kind: Kind::Odd },
            Event::SequenceStart(_, anchor, tag) => {
                open.push(Open {
                    start,
                    map: false,
                    odd: anchor != 0 || tag.is_some(),
                    children: Vec::new(),
                });
                continue;
            }
            Event::MappingStart(_, anchor, tag) => {
                open.push(Open { start, map: true, odd: anchor != 0 || tag.is_some(), children: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { start, map, odd, children }) = open.pop() else { continue };
                let kind = match (odd, map) {
                    (true, _) => Kind::Odd,
                    (false, false) => Kind::List(children),
                    (false, true) => {
                        let mut children = children.into_iter();
                        let mut all = Vec::new();
                        while let (Some(key), Some(value)) = (children.next(), children.next()) {
                            all.push((key, value));
                        }
                        Kind::Map(all)
                    }
                };
                Node { start, end, kind }
            }
            _ => continue,
        };
        match open.last_mut() {
            Some(parent) => parent.children.push(done),
            None => root = Some(done),
        }
    }
    Ok(root.unwrap_or(Node { start: 0, end: 0, kind: Kind::Map(Vec::new()) }))
}

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
