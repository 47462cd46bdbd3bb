//! The inside of quotes: escapes, and the expressions whose values stand in a text.
//!
//! INVARIANT: the reader stops behind the closing quote, or at the end of the text with the lexer marked as broken.

use super::Language;
use super::lex::{Lexer, Part};

/// How expressions stand inside a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holes {
    /// They do not.
    None,
    /// `{x}`, with `{{` for a brace.
    Brace,
    /// `${x}`.
    DollarBrace,
    /// `#{x}`.
    HashBrace,
    /// `$x`, `${x}`, `{$x}`, `@x`, `$(x)`: what of it, the language says.
    Dollar,
}

/// Reads up to the closing quote, which is passed over. With `open`, pairs of quotes nest. A closing quote of NUL is
/// the end of the text. Without `escapes` a backslash only keeps the quote and itself from their meaning.
pub(super) fn quoted(
    lexer: &mut Lexer<'_>,
    close: char,
    open: Option<char>,
    escapes: bool,
    holes: Holes,
) -> Vec<Part> {
    let mut out = Out { parts: Vec::new(), text: String::new() };
    let mut depth = 0usize;
    let python = lexer.language() == Language::Python;
    loop {
        let Some(c) = lexer.bump() else {
            if close != '\u{0}' {
                lexer.broken();
            }
            break;
        };
        if c == close && depth == 0 {
            break;
        }
        match c {
            '\\' if escapes => escape(lexer, &mut out.text),
            '\\' => match lexer.peek() {
                // A raw text of Python keeps both.
                Some(next) if python && next == close => {
                    out.text.push(c);
                    out.text.extend(lexer.bump());
                }
                Some(next) if next == close || next == '\\' || Some(next) == open => {
                    out.text.extend(lexer.bump());
                }
                _ => out.text.push(c),
            },
            '{' if holes == Holes::Brace => match lexer.eat("{") {
                true => out.text.push('{'),
                false => {
                    let code = braced(lexer, '{', '}');
                    out.code(format_code(&code));
                }
            },
            '}' if holes == Holes::Brace => {
                lexer.eat("}");
                out.text.push('}');
            }
            '$' if holes == Holes::DollarBrace && lexer.eat("{") => {
                let code = braced(lexer, '{', '}');
                out.code(code);
            }
            '#' if holes == Holes::HashBrace && lexer.eat("{") => {
                let code = braced(lexer, '{', '}');
                out.code(code);
            }
            '#' if holes == Holes::HashBrace && lexer.rest().starts_with(['$', '@']) => {
                let code = variable(lexer, String::new());
                out.code(code);
            }
            '{' if holes == Holes::Dollar
                && lexer.language() == Language::Php
                && lexer.rest().starts_with('$') =>
            {
                let code = braced(lexer, '{', '}');
                out.code(code);
            }
            '$' | '@' if holes == Holes::Dollar => dollar(lexer, c, &mut out),
            c => {
                if Some(c) == open {
                    depth += 1;
                } else if c == close {
                    depth -= 1;
                }
                out.text.push(c);
            }
        }
    }
    out.flush();
    out.parts
}

struct Out {
    parts: Vec<Part>,
    text: String,
}

impl Out {
    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Part::Text(std::mem::take(&mut self.text)));
        }
    }

    fn code(&mut self, code: String) {
        self.flush();
        self.parts.push(Part::Code(code));
    }
}

/// `$x` and its kin inside a text.
fn dollar(lexer: &mut Lexer<'_>, sigil: char, out: &mut Out) {
    let language = lexer.language();
    let next = lexer.peek();
    match (language, sigil, next) {
        (Language::Julia, '$', Some('(')) => {
            lexer.bump();
            let code = braced(lexer, '(', ')');
            out.code(code);
        }
        (Language::Julia | Language::Php | Language::Groovy, '@', _) => out.text.push(sigil),
        (_, _, Some('{')) => {
            lexer.bump();
            let code = braced(lexer, '{', '}');
            let bare = code.chars().all(|c| c.is_alphanumeric() || c == '_');
            out.code(match language {
                // `@{[ CODE ]}` holds code, `${name}` a variable.
                Language::Perl if bare => format!("{sigil}{code}"),
                Language::Php if bare => format!("${code}"),
                _ => code,
            });
        }
        (_, _, Some(c))
            if c.is_alphabetic() || c == '_' || c.is_ascii_digit() && language == Language::Perl =>
        {
            let start = match language {
                Language::Julia | Language::Groovy => String::new(),
                _ => sigil.to_string(),
            };
            let code = variable(lexer, start);
            out.code(code);
        }
        _ => out.text.push(sigil),
    }
}

/// A variable inside a text, with one subscript behind it.
fn variable(lexer: &mut Lexer<'_>, mut code: String) -> String {
    while let Some(c) = lexer.peek().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '@')) {
        code.push(c);
        lexer.bump();
    }
    let subscript = match (lexer.language(), lexer.peek()) {
        (Language::Perl, Some('{')) => Some('}'),
        (Language::Perl | Language::Php, Some('[')) => Some(']'),
        _ => None,
    };
    if let Some(close) = subscript {
        let open = lexer.bump().unwrap_or_default();
        let inside = braced(lexer, open, close);
        code.push(open);
        code.push_str(&inside);
        code.push(close);
    }
    code
}

/// The source up to the bracket that closes one which was passed over; quotes inside are skipped.
fn braced(lexer: &mut Lexer<'_>, open: char, close: char) -> String {
    let start = lexer.at;
    let mut depth = 0usize;
    let mut quote: Option<char> = None;
    while let Some(c) = lexer.bump() {
        match quote {
            Some(_) if c == '\\' => {
                lexer.bump();
            }
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
            None if c == open => depth += 1,
            None if c == close => {
                if depth == 0 {
                    return lexer.source.get(start..lexer.at - c.len_utf8()).unwrap_or_default().to_string();
                }
                depth -= 1;
            }
            None => {}
        }
    }
    lexer.broken();
    lexer.source.get(start..).unwrap_or_default().to_string()
}

/// The expression of a hole of Python without its conversion and format.
fn format_code(code: &str) -> String {
    let mut depth = 0usize;
    let mut quote: Option<char> = None;
    for (at, c) in code.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ':') if depth == 0 => return code.get(..at).unwrap_or_default().to_string(),
            (None, '!') if depth == 0 && !code.get(at + 1..).unwrap_or_default().starts_with('=') => {
                return code.get(..at).unwrap_or_default().to_string();
            }
            _ => {}
        }
    }
    code.trim_end_matches('=').to_string()
}

/// One backslash escape; the backslash itself was passed over.
fn escape(lexer: &mut Lexer<'_>, out: &mut String) {
    let Some(c) = lexer.bump() else { return };
    match c {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'a' => out.push('\u{7}'),
        'b' => out.push('\u{8}'),
        'f' => out.push('\u{c}'),
        'v' => out.push('\u{b}'),
        'e' => out.push('\u{1b}'),
        '\n' => {}
        'x' | 'u' if lexer.rest().starts_with('{') => {
            lexer.bump();
            let end = lexer.rest().find('}').filter(|end| *end <= 8).unwrap_or(0);
            let digits = lexer.rest().get(..end).unwrap_or_default();
            out.extend(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32));
            lexer.at += end + usize::from(end > 0);
        }
        'x' => out.extend(number(lexer, 16, 2, 0)),
        'u' => out.extend(number(lexer, 16, 4, 0)),
        'U' => out.extend(number(lexer, 16, 8, 0)),
        '0'..='9' if lexer.language() == Language::Lua => {
            out.extend(number(lexer, 10, 2, c.to_digit(10).unwrap_or(0)));
        }
        '0'..='7' => out.extend(number(lexer, 8, 2, c.to_digit(8).unwrap_or(0))),
        '\\' | '\'' | '"' | '`' | '$' | '/' | '@' | '#' | '{' | '}' => out.push(c),
        other => {
            // Some languages keep the backslash before any other letter.
            if matches!(lexer.language(), Language::Python | Language::Php) {
                out.push('\\');
            }
            out.push(other);
        }
    }
}

/// The letter of the digits that follow.
fn number(lexer: &mut Lexer<'_>, radix: u32, most: usize, first: u32) -> Option<char> {
    let mut value = first;
    for _ in 0..most {
        let Some(digit) = lexer.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        lexer.bump();
    }
    char::from_u32(value)
}
