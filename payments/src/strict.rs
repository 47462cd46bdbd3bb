//! JSON in which no key stands twice.
//!
//! INVARIANT: two readers of one text that is accepted here read the same; the depth is that of `serde_json`, 128.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Reads a JSON text.
///
/// # Errors
/// When it is none, or a key stands twice in an object.
pub(crate) fn parse(text: &[u8]) -> Result<Value, String> {
    serde_json::from_slice::<Strict>(text).map(|strict| strict.0).map_err(|error| error.to_string())
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(Reader).map(Strict)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
            let name: String = key.chars().filter(|c| !c.is_control()).take(60).collect();
            if all.insert(key, value).is_some() {
                return Err(A::Error::custom(format!("the key `{name}` stands twice")));
            }
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_keys_stand_once() {
        let text = r#"{"a":[1,-2,1.5,"x",true,null,{"b":{}}],"c":18446744073709551615}"#;
        assert_eq!(parse(text.as_bytes()), Ok(serde_json::from_str(text).unwrap()));
        for bad in [r#"{"a":1,"a":1}"#, r#"{"a":1,"\u0061":1}"#, r#"[{"x":{"y":1,"y":2}}]"#, "{", "", "1 2"] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
