//! Settings in TOML.
//!
//! INVARIANT: what is not the command line of a changed entry stays byte for byte.

use super::json::Edited;
use super::{Change, Client, Entry, entry};
use toml_edit::{Array, DocumentMut, Item, TableLike, Value};

/// Changes the entries of a text.
pub(super) fn edit(text: &str, client: &Client, change: &Change) -> Result<Edited, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let (mut changed, mut left) = (Vec::new(), Vec::new());
    if let Some(servers) = document.get_mut(client.key).and_then(Item::as_table_like_mut) {
        for (key, item) in servers.iter_mut() {
            let name = key.get().to_owned();
            let Some(own) = item.as_table_like_mut() else { continue };
            match entry(&name, words(own), change) {
                Entry::Now(words) => {
                    write(own, words);
                    changed.push(name);
                }
                Entry::Left(why) => left.push((name, why)),
                Entry::NotMeant => {}
            }
        }
    }
    let new = if changed.is_empty() { text.to_owned() } else { document.to_string() };
    Ok((new, changed, left))
}

fn words(own: &dyn TableLike) -> Option<Vec<String>> {
    let mut words = vec![own.get("command")?.as_str()?.to_owned()];
    if let Some(arguments) = own.get("args") {
        for word in arguments.as_array()? {
            words.push(word.as_str()?.to_owned());
        }
    }
    Some(words)
}

fn write(own: &mut dyn TableLike, words: Vec<String>) {
    let mut words = words.into_iter();
    let command = Value::from(words.next().unwrap_or_default());
    set(own, "command", command);
    set(own, "args", Value::Array(words.collect::<Array>()));
}

/// Keeps what stands around the value.
fn set(own: &mut dyn TableLike, key: &str, mut value: Value) {
    if let Some(old) = own.get(key).and_then(Item::as_value) {
        *value.decor_mut() = old.decor().clone();
    }
    own.insert(key, Item::Value(value));
}
