//! Code text to tokens, for the languages that are read as expressions.
//!
//! INVARIANT: every byte is looked at a bounded number of times; a quote, comment or here-document without an end
//! reaches to the end of the text and is marked as broken, never dropped.

use super::Language;
use super::quoted::{Holes, quoted};

mod literal;

use literal::holds_code;

/// A piece of a text literal.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Literal text.
    Text(String),
    /// The source of an expression whose value stands here.
    Code(String),
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A name, sigil and all.
    Name(String),
    /// A text literal.
    Text(Vec<Part>),
    /// A text that is given to a shell, or a command literal.
    Shell(Vec<Part>),
    /// A list of literal words (`qw(a b)`).
    Words(Vec<String>),
    /// A number, when it is a whole one.
    Number(Option<i64>),
    /// A regular expression; `true` when it holds code.
    Pattern(bool),
    /// Code that replaces what a pattern matches (`s/x/CODE/e`).
    Replacement(String),
    /// An operator or bracket.
    Op(&'static str),
}

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// A blank stands before it.
    pub(super) spaced: bool,
    /// It is the first on its line.
    pub(super) line: bool,
}

/// The tokens of a text, and whether all of it was understood.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    pub(super) broken: bool,
}

const OPERATORS: &[&str] = &[
    "===", "!==", "**=", "<=>", "...", "&&=", "||=", "??=", "//=", "<<-", "|>", "%>%", "**", "=>", "->",
    "::", "..", "?.", "??", "||", "&&", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", ".=", "|=", "=~",
    "!~", "<-", "<<", ">>", ":=", "++", "--", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "=", "+",
    "-", "*", "/", "%", "<", ">", "!", "?", "&", "|", "^", "~", "@", "\\", "$", "#",
];

/// A here-document whose body is still to come.
struct Here {
    token: usize,
    end: String,
    indented: bool,
    holes: bool,
    shell: bool,
}

/// Reads tokens off a text.
pub(super) struct Lexer<'s> {
    pub(super) source: &'s str,
    pub(super) at: usize,
    language: Language,
    out: Tokens,
    here: Vec<Here>,
    /// No pattern ends before this place.
    no_pattern: usize,
}

/// Splits a code text into tokens.
pub(super) fn tokens(language: Language, source: &str) -> Tokens {
    let mut lexer =
        Lexer { source, at: 0, language, out: Tokens::default(), here: Vec::new(), no_pattern: 0 };
    lexer.run();
    lexer.out
}

impl<'s> Lexer<'s> {
    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    pub(super) fn broken(&mut self) {
        self.out.broken = true;
    }

    /// The text up to `end`, which is passed over; all of the rest when it never comes.
    fn until(&mut self, end: &str) -> &'s str {
        let rest = self.rest();
        match rest.find(end) {
            Some(at) => {
                self.at += at + end.len();
                rest.get(..at).unwrap_or_default()
            }
            None => {
                self.at = self.source.len();
                self.out.broken |= end != "\n";
                rest
            }
        }
    }

    fn run(&mut self) {
        let (mut spaced, mut line) = (false, true);
        while let Some(c) = self.peek() {
            if c == '\n' {
                self.at += 1;
                line = true;
                self.bodies();
                continue;
            }
            if c.is_whitespace() || self.eat("\\\n") {
                if c.is_whitespace() {
                    self.bump();
                }
                spaced = true;
                continue;
            }
            if self.comment(line) {
                spaced = true;
                continue;
            }
            let before = self.out.list.len();
            self.token(c, spaced, line);
            if self.out.list.len() > before {
                (spaced, line) = (false, false);
            }
        }
        self.out.broken |= !self.here.is_empty();
    }

    fn comment(&mut self, line: bool) -> bool {
        use Language::*;
        let rest = self.rest();
        let hash = matches!(self.language, Python | Perl | Ruby | Php | R | Julia);
        let slashes = matches!(self.language, JavaScript | Mongo | Php | Groovy);
        if slashes && rest.starts_with("//") || self.at == 0 && rest.starts_with("#!") {
            self.until("\n");
            self.at -= usize::from(self.source.get(..self.at).is_some_and(|s| s.ends_with('\n')));
        } else if slashes && rest.starts_with("/*") {
            self.at += 2;
            self.until("*/");
        } else if self.language == Julia && rest.starts_with("#=") {
            self.at += 2;
            self.until("=#");
        } else if hash && rest.starts_with('#') && !(self.language == Php && rest.starts_with("#[")) {
            let end = rest.find('\n').unwrap_or(rest.len());
            self.at += end;
        } else if self.language == Lua && rest.starts_with("--") {
            self.at += 2;
            match long_bracket(self.rest()) {
                Some(level) => {
                    self.at += level + 2;
                    self.until(&format!("]{}]", "=".repeat(level)));
                }
                None => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            }
        } else if line && self.language == Ruby && rest.starts_with("=begin") {
            self.until("\n=end");
        } else if line && self.language == Perl && rest.starts_with('=') && pod(rest) {
            if rest.contains("\n=cut") {
                self.until("\n=cut");
            } else {
                self.at = self.source.len();
            }
        } else if matches!(self.language, Perl | Ruby)
            && ["__END__", "__DATA__"].iter().any(|m| rest.starts_with(m))
        {
            self.at = self.source.len();
        } else if self.language == Php && (rest.starts_with("<?") || rest.starts_with("?>")) {
            self.at += if rest.starts_with("<?php") {
                5
            } else if rest.starts_with("<?=") {
                3
            } else {
                2
            };
        } else {
            return false;
        }
        true
    }

    pub(super) fn push(&mut self, kind: Kind, spaced: bool, line: bool) {
        self.out.list.push(Token { kind, spaced, line });
    }

    fn token(&mut self, c: char, spaced: bool, line: bool) {
        use Language::*;
        if let Some(kind) = self.special(c, spaced) {
            return self.push(kind, spaced, line);
        }
        if c.is_ascii_digit() {
            let kind = self.number();
            return self.push(kind, spaced, line);
        }
        let sigil = match self.language {
            Perl => matches!(c, '$' | '@' | '%' | '&') && self.sigil(),
            Php => c == '$' && self.sigil(),
            Ruby => matches!(c, '$' | '@') && self.sigil(),
            JavaScript | Mongo | Groovy => c == '$',
            _ => false,
        };
        if c.is_alphabetic() || c == '_' || sigil {
            let name = self.name();
            return self.push(Kind::Name(name), spaced, line);
        }
        match OPERATORS.iter().find(|op| self.rest().starts_with(**op)) {
            Some(op) => {
                self.at += op.len();
                self.push(Kind::Op(op), spaced, line);
            }
            None => {
                self.bump();
                self.out.broken = true;
            }
        }
    }

    /// Whether a sigil begins a variable here and is no operator.
    fn sigil(&self) -> bool {
        let mut chars = self.rest().chars();
        let first = chars.next();
        let next = chars.next();
        let operand = !matches!(
            self.out.list.last().map(|t| &t.kind),
            Some(Kind::Name(_) | Kind::Number(_) | Kind::Op(")" | "]" | "}") | Kind::Text(_))
        );
        match (first, next) {
            (Some('%' | '&'), Some(c)) => operand && (c.is_alphabetic() || c == '_'),
            (_, Some(c)) => c.is_alphanumeric() || matches!(c, '_' | '@' | '$') || c == '&',
            _ => false,
        }
    }

    fn name(&mut self) -> String {
        let rest = self.rest();
        let mut end = 0;
        for (at, c) in rest.char_indices() {
            let inner = c.is_alphanumeric()
                || c == '_'
                || c == '$' && matches!(self.language, Language::JavaScript | Language::Groovy)
                || at == 0
                || at == 1 && matches!(c, '@' | '$' | '&') && rest.starts_with(['$', '@'])
                || c == '!'
                    && self.language == Language::Julia
                    && !rest.get(at + 1..).unwrap_or_default().starts_with('=')
                || c == '.' && self.language == Language::R;
            if !inner {
                break;
            }
            end = at + c.len_utf8();
        }
        // `ok?` and `rm!` of Ruby are one name.
        if self.language == Language::Ruby {
            let behind = rest.get(end..).unwrap_or_default();
            if behind.starts_with(['?', '!']) && !behind.starts_with("!=") && !behind.starts_with("?:") {
                end += 1;
            }
        }
        self.at += end;
        rest.get(..end).unwrap_or_default().to_string()
    }

    fn number(&mut self) -> Kind {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        let text = rest.get(..end).unwrap_or_default().replace('_', "");
        let lower = text.to_ascii_lowercase();
        let value = if let Some(hex) = lower.strip_prefix("0x") {
            i64::from_str_radix(hex, 16).ok()
        } else if let Some(octal) = lower.strip_prefix("0o") {
            i64::from_str_radix(octal, 8).ok()
        } else if lower.len() > 1 && lower.starts_with('0') {
            i64::from_str_radix(&lower, 8).ok()
        } else {
            lower.parse().ok()
        };
        let mut behind = self.rest().chars();
        if behind.next() == Some('.') && behind.next().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
            let rest = self.rest();
            self.at += rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            return Kind::Number(None);
        }
        Kind::Number(value)
    }

    /// Whether an operand is expected here, so that `/` begins a pattern and `%` a literal.
    fn operand_place(&self, spaced: bool) -> bool {
        match self.out.list.last().map(|token| &token.kind) {
            None => true,
            Some(Kind::Op(op)) => !matches!(*op, ")" | "]" | "}"),
            Some(Kind::Name(name)) => {
                let word = matches!(
                    name.as_str(),
                    "if" | "unless"
                        | "and"
                        | "or"
                        | "not"
                        | "while"
                        | "until"
                        | "return"
                        | "split"
                        | "grep"
                        | "when"
                        | "map"
                        | "print"
                        | "puts"
                        | "typeof"
                        | "case"
                        | "in"
                        | "of"
                        | "elsif"
                        | "x"
                        | "p"
                        | "do"
                );
                let tight = !self.rest().chars().nth(1).is_some_and(char::is_whitespace);
                word || spaced
                    && tight
                    && matches!(self.language, Language::Ruby | Language::Perl)
                    && !name.starts_with(['$', '@', '%'])
            }
            Some(_) => false,
        }
    }

    /// Tokens that only some languages have: literals first of all.
    fn special(&mut self, c: char, spaced: bool) -> Option<Kind> {
        use Language::*;
        match (self.language, c) {
            (Python, _) => self.python(c),
            (Lua, '[') => {
                let level = long_bracket(self.rest())?;
                self.at += level + 2;
                self.eat("\n");
                let text = self.until(&format!("]{}]", "=".repeat(level)));
                Some(Kind::Text(vec![Part::Text(text.to_string())]))
            }
            (Julia, '`') => {
                self.at += 1;
                Some(Kind::Shell(quoted(self, '`', None, true, Holes::Dollar)))
            }
            (JavaScript | Mongo, '`') => {
                self.at += 1;
                Some(Kind::Text(quoted(self, '`', None, true, Holes::DollarBrace)))
            }
            (Php, '`') => {
                self.at += 1;
                Some(Kind::Shell(quoted(self, '`', None, true, Holes::Dollar)))
            }
            (Perl | Ruby, '`') => {
                self.at += 1;
                let holes = if self.language == Ruby { Holes::HashBrace } else { Holes::Dollar };
                Some(Kind::Shell(quoted(self, '`', None, true, holes)))
            }
            (Julia | Groovy, '"' | '\'')
                if self.rest().starts_with(if c == '"' { "\"\"\"" } else { "'''" }) =>
            {
                self.at += 3;
                let holes = if c == '"' { Holes::Dollar } else { Holes::None };
                let mut parts = quoted(self, c, None, true, holes);
                // The end is three quotes: one or two of them inside are text.
                while !self.rest().is_empty() && !self.eat(if c == '"' { "\"\"" } else { "''" }) {
                    parts.push(Part::Text(c.to_string()));
                    let holes = if c == '"' { Holes::Dollar } else { Holes::None };
                    parts.extend(quoted(self, c, None, true, holes));
                }
                Some(Kind::Text(parts))
            }
            (Julia, '\'') => {
                // A letter literal, or the adjoint operator behind an operand.
                self.at += 1;
                Some(if self.operand_place(spaced) {
                    Kind::Text(quoted(self, '\'', None, true, Holes::None))
                } else {
                    Kind::Op("'")
                })
            }
            (R, 'r' | 'R') if self.rest().get(1..).is_some_and(|r| r.starts_with(['"', '\''])) => {
                let quote = self.rest().chars().nth(1)?;
                let behind = self.rest().get(2..)?;
                let dashes = behind.len() - behind.trim_start_matches('-').len();
                let open = behind.get(dashes..)?.chars().next()?;
                let close = match open {
                    '(' => ')',
                    '[' => ']',
                    '{' => '}',
                    _ => return None,
                };
                self.at += 3 + dashes;
                let text = self.until(&format!("{close}{}{quote}", "-".repeat(dashes)));
                Some(Kind::Text(vec![Part::Text(text.to_string())]))
            }
            (Perl, '\'') | (Ruby, '\'') | (Php, '\'') => {
                self.at += 1;
                Some(Kind::Text(quoted(self, '\'', None, false, Holes::None)))
            }
            (_, '"' | '\'') => {
                self.at += 1;
                let holes = match (self.language, c) {
                    (Ruby, '"') => Holes::HashBrace,
                    (Perl | Php | Julia | Groovy, '"') => Holes::Dollar,
                    _ => Holes::None,
                };
                Some(Kind::Text(quoted(self, c, None, true, holes)))
            }
            (JavaScript | Mongo | Ruby | Perl | Groovy, '/') if self.operand_place(spaced) => self.pattern(),
            (Perl | Ruby, '<') if self.rest().starts_with("<<") => self.here(),
            (Php, '<') if self.rest().starts_with("<<<") => self.here(),
            (Perl, '<') if self.operand_place(spaced) => {
                let end = self.rest().bytes().take(200).position(|byte| byte == b'>')?;
                let inside = self.rest().get(1..end)?.to_string();
                self.at += end + 1;
                let name = inside.trim_start_matches('$').chars().all(|c| c.is_alphanumeric() || c == '_');
                Some(if name {
                    Kind::Name("<>".to_string())
                } else {
                    Kind::Words(vec![format!("\u{0}glob\u{0}{inside}")])
                })
            }
            (Perl, 'q' | 'm' | 's' | 't' | 'y') => self.perl_quote(),
            (Ruby, '%') if self.operand_place(spaced) => self.ruby_percent(),
            (Ruby, ':')
                if self.rest().get(1..)?.starts_with(|c: char| c.is_alphabetic() || c == '_')
                    && !matches!(self.out.list.last().map(|t| &t.kind), Some(Kind::Op("?"))) =>
            {
                self.at += 1;
                let name = self.name();
                Some(Kind::Text(vec![Part::Text(name)]))
            }
            _ => None,
        }
    }

    fn python(&mut self, c: char) -> Option<Kind> {
        let rest = self.rest();
        let prefix = rest.bytes().take(3).position(|byte| matches!(byte, b'"' | b'\''))?;
        let letters = rest.get(..prefix)?.to_ascii_lowercase();
        if !letters.chars().all(|c| "rbuf".contains(c)) || prefix == 0 && !matches!(c, '"' | '\'') {
            return None;
        }
        let quote = rest.get(prefix..)?.chars().next()?;
        let raw = letters.contains('r');
        let holes = if letters.contains('f') { Holes::Brace } else { Holes::None };
        let triple = quote.to_string().repeat(3);
        self.at += prefix;
        if self.eat(&triple) {
            let mut parts = quoted(self, quote, None, !raw, holes);
            let two = quote.to_string().repeat(2);
            while !self.rest().is_empty() && !self.eat(&two) {
                parts.push(Part::Text(quote.to_string()));
                parts.extend(quoted(self, quote, None, !raw, holes));
            }
            return Some(Kind::Text(parts));
        }
        self.at += 1;
        Some(Kind::Text(quoted(self, quote, None, !raw, holes)))
    }

    fn pattern(&mut self) -> Option<Kind> {
        if self.at < self.no_pattern {
            return None;
        }
        let body = self.rest().get(1..)?;
        let (mut escaped, mut class) = (false, false);
        for (at, c) in body.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '\n' => break,
                '[' => class = true,
                ']' => class = false,
                '/' if !class || self.language != Language::JavaScript => {
                    let text = body.get(..at).unwrap_or_default();
                    self.at += at + 2;
                    self.flags();
                    return Some(Kind::Pattern(holds_code(text, self.language)));
                }
                _ => {}
            }
        }
        self.no_pattern = self.at + body.find('\n').unwrap_or(body.len());
        None
    }

    fn flags(&mut self) -> &'s str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    pub(super) fn language(&self) -> Language {
        self.language
    }
}

/// The level of a long bracket of Lua (`[[`: 0, `[=[`: 1) that begins the text.
fn long_bracket(text: &str) -> Option<usize> {
    let behind = text.strip_prefix('[')?;
    let level = behind.len() - behind.trim_start_matches('=').len();
    (level < 32 && behind.get(level..)?.starts_with('[')).then_some(level)
}

/// Whether a line begins documentation inside Perl code.
fn pod(rest: &str) -> bool {
    ["=pod", "=head", "=begin", "=for", "=over", "=item", "=encoding", "=cut"]
        .iter()
        .any(|w| rest.starts_with(w))
}

/// The literal text of parts; holes are left out.
pub(super) fn plain(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Code(_) => "",
    });
    texts.collect()
}
