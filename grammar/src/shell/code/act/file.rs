//! Files that a call opens, and texts that it decodes by name.
//!
//! INVARIANT: a mode that is not known is one for writing.

use super::super::decode::Decoder;
use super::super::eval::{Arg, Reader};
use super::super::text::{Source, Text, Value};
use super::super::{Inside, Language};
use super::decoded;
use crate::shell::{Piece, Word};

impl Reader {
    pub(super) fn open(&mut self, args: &[Arg]) -> Value {
        let mut values: Vec<&Value> =
            args.iter().filter(|arg| arg.name.is_none()).map(|arg| &arg.value).collect();
        if self.language == Language::Perl {
            return self.perl_open(&mut values);
        }
        let mode = args.iter().find(|arg| arg.name.as_deref() == Some("mode")).map(|arg| &arg.value);
        let path = values.first().map_or_else(Text::unknown, |value| self.path_of(value));
        let mode = mode.or(values.get(1).copied());
        if is_url(&path.word) {
            return self.net(args, None);
        }
        if let (Language::Ruby, Some(command)) =
            (self.language, path.word.known().and_then(|p| p.strip_prefix('|')))
        {
            return self.act_shell(&Text::word(Word::Known(command.to_string())));
        }
        let writes = match mode.map(|mode| (mode.known_text(), mode)) {
            Some((Some(mode), _)) => mode.contains(['w', 'a', '+', 'x', 'c']),
            Some((None, Value::Number(_))) | None => false,
            Some(_) => true,
        };
        if writes {
            self.does_word(Inside::Writes, &path.word);
            Value::Path(path)
        } else {
            self.does_word(Inside::Reads, &path.word);
            let mut opened = path.clone();
            opened.mark(&Text::from(Source::File(path.word)));
            Value::Path(opened)
        }
    }

    /// `open(F, "cmd |")`, `open(F, ">", FILE)`, `open F, "<$f"`.
    pub(super) fn perl_open(&mut self, values: &mut Vec<&Value>) -> Value {
        if !values.is_empty() {
            values.remove(0);
        }
        let Some(first) = values.first().map(|value| value.text()) else { return Value::unknown() };
        let target = values.get(1).map(|value| value.text());
        let mode = first.word.known().unwrap_or_default().trim().to_string();
        match (mode.as_str(), target) {
            ("-|" | "|-", Some(_)) => {
                let args: Vec<Arg> =
                    values.iter().skip(1).map(|value| Arg { name: None, value: (*value).clone() }).collect();
                self.spawn(&args)
            }
            (mode, Some(path)) if mode.contains('>') || mode.contains('+') => {
                self.does_word(Inside::Writes, &path.word);
                Value::Path(path)
            }
            (_, Some(path)) => {
                self.does_word(Inside::Reads, &path.word);
                Value::Text(Text::from(Source::File(path.word)))
            }
            (text, None) => {
                let word = |text: &str| Text::word(Word::Known(text.trim().to_string()));
                if let Some(command) = text.strip_prefix('|').or(text.strip_suffix('|')) {
                    return self.act_shell(&word(command));
                }
                if let Some(path) = text.strip_prefix("+<").or(text.strip_prefix('>')) {
                    let path = word(path.trim_start_matches(['>', '&']));
                    self.does_word(Inside::Writes, &path.word);
                    return Value::Path(path);
                }
                match &first.word {
                    // What the first letter is, nobody knows: it may be a command.
                    Word::Unknown(_) => {
                        self.does(Inside::Evaluates { decoded: first.decoded });
                        Value::Text(first)
                    }
                    _ => {
                        let path = word(text.trim_start_matches('<'));
                        self.does_word(Inside::Reads, &path.word);
                        Value::Text(Text::from(Source::File(path.word)))
                    }
                }
            }
        }
    }

    pub(super) fn codec(&mut self, first: &Value, values: &[&Value]) -> Value {
        let name = values.get(1).and_then(|value| value.known_text()).unwrap_or("utf-8").to_ascii_lowercase();
        let decoder = match name.trim_start_matches(['m', ':']) {
            "base64" | "base64_codec" | "0" | "base64url" => Decoder::Base64,
            "hex" | "hex_codec" | "h*" => Decoder::Hex,
            "rot13" | "rot_13" | "rot-13" => Decoder::Rot13,
            "utf-8" | "utf8" | "ascii" | "latin-1" | "latin1" | "utf_8" | "strict" | "binary" => {
                return first.clone();
            }
            _ if self.language == Language::Perl && name.is_empty() => Decoder::Base64,
            _ => Decoder::Opaque,
        };
        decoded(decoder, &first.text())
    }
}

pub(super) fn is_url(word: &Word) -> bool {
    let start = match word {
        Word::Known(text) => text.as_str(),
        Word::Unknown(pieces) => match pieces.first() {
            Some(Piece::Text(text)) => text.as_str(),
            _ => "",
        },
        _ => "",
    };
    ["http://", "https://", "ftp://"].iter().any(|scheme| start.starts_with(scheme))
}
