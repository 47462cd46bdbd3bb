//! Settings in JSON with comments.
//!
//! INVARIANT: what is not the command line of a changed entry stays byte for byte.

use super::{Change, Client, Entry, Shape, entry};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};

/// The text with entries changed, which were, and which were left.
pub(super) type Edited = (String, Vec<String>, Vec<(String, String)>);

/// Changes the entries of a text.
pub(super) fn edit(text: &str, client: &Client, change: &Change) -> Result<Edited, String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    let top = root.object_value().ok_or("it is not an object")?;
    let (mut changed, mut left) = (Vec::new(), Vec::new());
    let servers = top.object_value(client.key).map(|servers| servers.properties()).unwrap_or_default();
    for property in servers {
        let Some(name) = property.decoded_name() else { continue };
        let Some(own) = property.object_value() else { continue };
        match entry(&name, words(&own, client.shape), change) {
            Entry::Now(words) => {
                write(&own, client.shape, words);
                changed.push(name);
            }
            Entry::Left(why) => left.push((name, why)),
            Entry::NotMeant => {}
        }
    }
    let new = if changed.is_empty() { text.to_owned() } else { root.to_string() };
    Ok((new, changed, left))
}

fn text_of(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}

/// The command line of an entry; none when it has none, or one that is not all texts.
fn words(own: &CstObject, shape: Shape) -> Option<Vec<String>> {
    let list = |name: &str| match own.get(name) {
        None => Some(Vec::new()),
        Some(property) => property.array_value()?.elements().iter().map(text_of).collect(),
    };
    match shape {
        Shape::CommandList => own.get("command").and_then(|_| list("command")),
        Shape::Entries | Shape::Toml | Shape::Yaml => {
            let command = text_of(&own.get("command")?.value()?)?;
            let mut words = vec![command];
            words.extend(list("args")?);
            Some(words)
        }
    }
}

fn write(own: &CstObject, shape: Shape, words: Vec<String>) {
    let texts = |words: &[String]| {
        CstInputValue::Array(words.iter().map(|word| CstInputValue::String(word.clone())).collect())
    };
    let set = |name: &str, value: CstInputValue| match own.get(name) {
        Some(property) => property.set_value(value),
        None => drop(own.append(name, value)),
    };
    match shape {
        Shape::CommandList => set("command", texts(&words)),
        Shape::Entries | Shape::Toml | Shape::Yaml => {
            let Some((command, arguments)) = words.split_first() else { return };
            set("command", CstInputValue::String(command.clone()));
            set("args", texts(arguments));
        }
    }
}
