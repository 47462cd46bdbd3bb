//! What a tool gave back: as one text, and with secrets taken out of it.
//!
//! INVARIANT: the shape stays: only texts change, and each keeps its number of lines.

use policy_runtime::verdict::Secret;
use serde_json::Value;

/// Everything in it that is a text, as one: the answer of a tool has its text in any place.
pub(crate) fn joined(value: &Value) -> String {
    let mut all = String::new();
    each(value, &mut |text| {
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(text);
    });
    all
}

/// The texts in order.
fn each<'v>(value: &'v Value, told: &mut dyn FnMut(&'v str)) {
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        match value {
            Value::String(text) => told(text),
            Value::Array(items) => stack.extend(items.iter().rev()),
            Value::Object(map) => stack.extend(map.values().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The same value with marks for secrets, whose places count in the joined text; none when a place is in no text of it.
pub fn without(value: &Value, secrets: &[Secret]) -> Option<Value> {
    let mut parts: Vec<(usize, usize, &str)> =
        secrets.iter().map(|secret| (secret.start, secret.end, secret.format.as_str())).collect();
    parts.sort_unstable();
    // What overlaps goes as one.
    parts.dedup_by(|next, last| {
        let one = next.0 < last.1;
        if one {
            last.1 = last.1.max(next.1);
        }
        one
    });
    let (mut at, mut texts) = (0, Vec::new());
    let (mut done, mut wanted) = (0, parts.as_slice());
    let mut whole = true;
    each(value, &mut |text| {
        let start = if at > 0 { at + 1 } else { 0 };
        let end = start + text.len();
        at = end;
        let (mut out, mut seen) = (String::new(), 0);
        while let Some((first, last, format)) = wanted.first().copied() {
            if first >= end {
                break;
            }
            // One that goes over the end of a text goes on in the next.
            let (from, to) = (first.max(start) - start, last.min(end).saturating_sub(start));
            match (text.get(seen..from), text.get(from..to)) {
                (Some(kept), Some(taken)) => {
                    out.push_str(kept);
                    out.push_str(&mark(format, taken));
                    seen = to;
                    done += 1;
                }
                _ => whole = false,
            }
            if last > end {
                break;
            }
            wanted = wanted.get(1..).unwrap_or_default();
        }
        texts.push((seen > 0).then(|| {
            out.push_str(text.get(seen..).unwrap_or_default());
            out
        }));
    });
    let mut texts = texts.into_iter();
    let made = put(value, &mut texts);
    (whole && done > 0 && wanted.is_empty()).then_some(made)
}

/// What stands for a secret; as many lines as it had.
fn mark(format: &str, taken: &str) -> String {
    let lines = taken.matches('\n').count();
    format!("[secret removed: {format}]{}", "\n".repeat(lines))
}

/// The value with its texts changed, in the order in which they are read.
fn put(value: &Value, texts: &mut dyn Iterator<Item = Option<String>>) -> Value {
    match value {
        Value::String(text) => Value::String(texts.next().flatten().unwrap_or_else(|| text.clone())),
        Value::Array(items) => items.iter().map(|item| put(item, texts)).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), put(value, texts))).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn taken(value: &Value, secrets: &[&str]) -> Option<Value> {
        let all = joined(value);
        let places = secrets.iter().flat_map(|secret| {
            all.match_indices(secret).map(|(start, found)| Secret {
                start,
                end: start + found.len(),
                format: "token".to_owned(),
            })
        });
        without(value, &places.collect::<Vec<_>>())
    }

    #[test]
    fn only_secrets_change() {
        let value = json!({"stdout": "a SECRET b SECRET", "n": 1, "list": ["", "x\nSECRET\n", {"t": "y"}], "ok": true});
        let want = json!({
            "stdout": "a [secret removed: token] b [secret removed: token]", "n": 1,
            "list": ["", "x\n[secret removed: token]\n", {"t": "y"}], "ok": true,
        });
        assert_eq!(taken(&value, &["SECRET"]), Some(want));
        assert_eq!(taken(&json!("ключ SECRET"), &["SECRET"]), Some(json!("ключ [secret removed: token]")));
        assert_eq!(taken(&json!(["", "SECRET"]), &["SECRET"]), Some(json!(["", "[secret removed: token]"])));
    }

    #[test]
    fn lines_stay_and_what_overlaps_is_one() {
        assert_eq!(
            taken(&json!("a\nSE\nCRET\nb"), &["SE\nCRET"]),
            Some(json!("a\n[secret removed: token]\n\nb"))
        );
        assert_eq!(taken(&json!("SECRET"), &["SECR", "CRET"]), Some(json!("[secret removed: token]")));
        // One that the texts of a value only have together.
        let both = json!(["a SE", "CRET b"]);
        assert_eq!(
            taken(&both, &["SE\nCRET"]),
            Some(json!(["a [secret removed: token]", "[secret removed: token] b"]))
        );
    }

    #[test]
    fn what_has_no_place_is_not_called_taken() {
        let beyond = Secret { start: 90, end: 95, format: "token".to_owned() };
        assert_eq!(without(&json!("short"), &[beyond]), None);
        let inside = Secret { start: 1, end: 2, format: "token".to_owned() };
        assert_eq!(without(&json!("é"), &[inside]), None, "not between letters");
        assert_eq!(without(&json!("x"), &[]), None);
    }
}
