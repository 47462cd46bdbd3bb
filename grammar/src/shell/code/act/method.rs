//! Methods of values: texts, lists, paths.
//!
//! INVARIANT: a method that is not known is an unknown call; what a text came from stays with what is made of it.

use super::super::Language;
use super::super::eval::{Arg, Reader, filled, reversed};
use super::super::text::{Text, Value, hole, joined};
use super::exact_star;
use crate::shell::Word;

impl Reader {
    /// A method of a value that is no name.
    pub(in super::super) fn method(&mut self, value: Value, name: &str, args: Vec<Arg>) -> Value {
        if let Some(result) = self.plain_method(&value, name, &args) {
            return result;
        }
        let own =
            self.knows.acts.iter().find(|(key, _)| key.strip_prefix('.') == Some(name)).map(|(_, act)| *act);
        if let Some(act) = own {
            let mut all = vec![Arg { name: None, value }];
            all.extend(args);
            return self.act(act, name, all);
        }
        match exact_star(self.knows.acts, name) {
            Some(act) => {
                let mut marks = Text::unknown();
                value.mark(&mut marks);
                let result = self.act(act, name, args);
                match result {
                    Value::Text(mut text) => {
                        text.mark(&marks);
                        Value::Text(text)
                    }
                    other => other,
                }
            }
            None => self.unknown_call(&value, &args),
        }
    }

    /// Methods that only compute, of texts and lists.
    fn plain_method(&mut self, value: &Value, name: &str, args: &[Arg]) -> Option<Value> {
        let first = args.first().map(|arg| &arg.value);
        let known = match value {
            Value::Text(text) => text.word.known(),
            _ => None,
        };
        let same = |word: String| match value {
            Value::Text(text) => Value::Text(Text { word: Word::Known(word), ..text.clone() }),
            _ => Value::unknown(),
        };
        Some(match (value, name) {
            (Value::Text(text), "join") if self.language == Language::Python => {
                self.glue_with(&text.word, first.unwrap_or(&Value::Flag(false)), text.decoded)
            }
            (Value::List(_), "join") => {
                let separator = first.map_or_else(
                    || {
                        Word::Known(if self.language == Language::JavaScript {
                            ",".into()
                        } else {
                            String::new()
                        })
                    },
                    |value| value.text().word,
                );
                self.glue_with(&separator, value, false)
            }
            (Value::Text(_) | Value::List(_), "reverse" | "reversed") => match value {
                Value::List(values) => {
                    let mut values = values.clone();
                    values.reverse();
                    // Letters turned round are a hidden text.
                    Value::List(
                        values
                            .into_iter()
                            .map(|value| match value {
                                Value::Text(text) => Value::Text(Text { decoded: true, ..text }),
                                other => other,
                            })
                            .collect(),
                    )
                }
                other => reversed(other),
            },
            (Value::Text(text), "format" | "sprintf") => match known {
                Some(known) => {
                    let values: Vec<Value> = args.iter().map(|arg| arg.value.clone()).collect();
                    filled(&known.replace("{0}", "{}").replace("{1}", "{}"), "{}", &values, text)
                }
                None => self.unknown_call(value, args),
            },
            (Value::Text(_), "upper" | "upcase" | "toUpperCase" | "uppercase") => same(known?.to_uppercase()),
            (Value::Text(_), "lower" | "downcase" | "toLowerCase" | "lowercase" | "casefold") => {
                same(known?.to_lowercase())
            }
            (Value::Text(_), "strip" | "trim" | "chomp" | "rstrip" | "lstrip" | "trimEnd") => {
                same(known?.trim().to_string())
            }
            (Value::Text(text), "replace" | "gsub" | "replaceAll" | "sub" | "tr") => {
                match (
                    known,
                    first.and_then(Value::known_text),
                    args.get(1).and_then(|arg| arg.value.known_text()),
                ) {
                    (Some(known), Some(from), Some(to))
                        if !from.is_empty() && known.len() <= 4096 && to.len() <= 64 =>
                    {
                        same(known.replace(from, to))
                    }
                    _ => {
                        let mut out = Text::unknown();
                        out.mark(text);
                        Value::Text(out)
                    }
                }
            }
            (Value::Text(_), "concat") => {
                let parts = args.iter().map(|arg| arg.value.text());
                Value::Text(parts.fold(value.text(), |text, part| text.join(&part)))
            }
            (Value::Text(text), "split") => match (known, first.and_then(Value::known_text)) {
                (Some(known), Some("")) => Value::List(
                    known
                        .chars()
                        .map(|c| Value::Text(Text { word: Word::Known(c.to_string()), ..text.clone() }))
                        .collect(),
                )
                .bounded(),
                (Some(known), Some(separator)) => {
                    Value::List(known.split(separator).map(Value::known).collect()).bounded()
                }
                (Some(known), None) if args.is_empty() => {
                    Value::List(known.split_whitespace().map(Value::known).collect()).bounded()
                }
                _ => {
                    let mut out = Text::unknown();
                    out.mark(text);
                    Value::Text(out)
                }
            },
            (
                Value::Text(_) | Value::Number(_) | Value::List(_) | Value::Flag(_),
                "length" | "len" | "size" | "count" | "index" | "find" | "startswith" | "endswith"
                | "includes" | "sum" | "isdigit" | "title" | "capitalize" | "zfill" | "toFixed" | "padStart"
                | "padEnd" | "slice" | "inspect" | "first" | "last" | "sort" | "sorted" | "max" | "min"
                | "to_i" | "to_f" | "times" | "even" | "odd" | "uniq" | "center" | "ljust" | "rjust"
                | "substring" | "charCodeAt" | "ord" | "abs" | "round" | "floor" | "keys" | "values"
                | "items",
            ) => {
                let mut out = Text::unknown();
                value.mark(&mut out);
                args.iter().for_each(|arg| arg.value.mark(&mut out));
                Value::Text(out)
            }
            (Value::Table(entries), "keys" | "values" | "items" | "get" | "fetch") => {
                match (name, first.and_then(Value::known_text)) {
                    ("get" | "fetch", Some(key)) => entries
                        .iter()
                        .find(|(name, _)| name == key)
                        .map_or(Value::unknown(), |(_, value)| value.clone()),
                    _ => value.clone(),
                }
            }
            (
                Value::Text(text),
                "to_s" | "toString" | "to_sym" | "to_str" | "valueOf" | "b" | "dup" | "freeze" | "encode"
                | "read_all" | "asString",
            ) => match (self.language, first.and_then(Value::known_text)) {
                // Bytes of a decoder keep what they are.
                (_, Some("base64" | "hex")) => {
                    let mut out = Text::unknown();
                    out.mark(text);
                    Value::Text(out)
                }
                _ => value.clone(),
            },
            _ => return None,
        })
    }

    /// The texts of a list put together, with nothing or the first argument between them.
    pub(super) fn glue(&mut self, values: &[&Value]) -> Value {
        match values {
            [Value::List(_)] => self.glue_with(
                &Word::Known(String::new()),
                values.first().copied().unwrap_or(&Value::Flag(false)),
                false,
            ),
            [Value::List(_), separator] => {
                let list = values.first().copied().unwrap_or(&Value::Flag(false));
                self.glue_with(&separator.text().word, list, false)
            }
            [separator, rest @ ..] => {
                let list: Vec<Value> = rest
                    .iter()
                    .flat_map(|value| match value {
                        Value::List(values) => values.clone(),
                        other => vec![(*other).clone()],
                    })
                    .collect();
                self.glue_with(&separator.text().word, &Value::List(list), false)
            }
            [] => Value::unknown(),
        }
    }

    fn glue_with(&mut self, separator: &Word, list: &Value, decoded: bool) -> Value {
        let values = match list {
            Value::List(values) => values.clone(),
            other => {
                let mut text = Text::unknown();
                other.mark(&mut text);
                return Value::Text(text);
            }
        };
        let mut out = Text { word: Word::Known(String::new()), from: Vec::new(), decoded };
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                out.word = joined(&out.word, separator);
            }
            out = out.join(&value.text());
        }
        if values.len() > 200 {
            out.word = hole();
        }
        Value::Text(out)
    }
}
