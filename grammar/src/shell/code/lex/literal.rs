//! The literals of Perl, Ruby and PHP that name their own quotes, and here-documents.
//!
//! INVARIANT: a literal that does not end reaches to the end of the text, and the lexer is marked as broken.

use super::super::Language;
use super::super::quoted::{Holes, quoted};
use super::{Here, Kind, Lexer, Part, Tokens, plain};

impl Lexer<'_> {
    /// `q()`, `qq()`, `qw()`, `qx()`, `qr()`, `m()`, `s()()`, `tr()()`, `y()()`.
    pub(super) fn perl_quote(&mut self) -> Option<Kind> {
        let rest = self.rest();
        let word =
            ["qq", "qw", "qx", "qr", "q", "m", "s", "tr", "y"].iter().find(|w| rest.starts_with(**w))?;
        let behind = rest.get(word.len()..)?;
        let gap = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        let open = behind.get(gap..)?.chars().next()?;
        let called = matches!(self.out.list.last().map(|t| &t.kind), Some(Kind::Op("->" | "{" | "::")));
        let fits = !open.is_alphanumeric() && !open.is_whitespace() && !matches!(open, '_' | ',' | ';' | ')');
        if !fits || called && !matches!(open, '(' | '{' | '[' | '/' | '|' | '!') || gap > 0 && open == '#' {
            return None;
        }
        if behind.get(gap..)?.starts_with("=>")
            || (open == '=' && gap > 0)
            || called && open == '(' && *word != "qw"
        {
            return None;
        }
        self.at += word.len() + gap + open.len_utf8();
        let (close, nest) = closing(open);
        let holes = if open == '\'' { Holes::None } else { Holes::Dollar };
        Some(match *word {
            "q" => Kind::Text(quoted(self, close, nest, false, Holes::None)),
            "qq" => Kind::Text(quoted(self, close, nest, true, Holes::Dollar)),
            "qx" => Kind::Shell(quoted(self, close, nest, true, holes)),
            "qw" => Kind::Words(words(&quoted(self, close, nest, false, Holes::None))),
            "m" | "qr" => {
                let text = plain(&quoted(self, close, nest, false, Holes::None));
                self.flags();
                Kind::Pattern(holds_code(&text, self.language))
            }
            _ => {
                let from = plain(&quoted(self, close, nest, false, Holes::None));
                if nest.is_some() {
                    while self.peek().is_some_and(char::is_whitespace) {
                        self.bump();
                    }
                    self.bump();
                }
                let to = plain(&quoted(self, close, nest, false, Holes::None));
                let flags = self.flags();
                if flags.contains('e') && *word == "s" {
                    // With a second `e` what comes out is code once more.
                    let again = flags.matches('e').count() > 1;
                    Kind::Replacement(if again { format!("eval({to})") } else { to })
                } else {
                    let code = *word == "s" && (holds_code(&from, self.language) || to.contains("@{"));
                    Kind::Pattern(code)
                }
            }
        })
    }

    /// `%w()`, `%i()`, `%q()`, `%Q()`, `%()`, `%x()`, `%r()`.
    pub(super) fn ruby_percent(&mut self) -> Option<Kind> {
        let behind = self.rest().get(1..)?;
        let letter = behind.chars().next()?;
        let (kind, open, size) = match letter.is_ascii_alphabetic() {
            true => (letter, behind.chars().nth(1)?, 2),
            false => ('Q', letter, 1),
        };
        if open.is_alphanumeric() || open.is_whitespace() || open == '=' || !"wWiIqQxrs".contains(kind) {
            return None;
        }
        self.at += size + open.len_utf8();
        let (close, nest) = closing(open);
        Some(match kind {
            'w' | 'i' | 'W' | 'I' => Kind::Words(words(&quoted(self, close, nest, false, Holes::None))),
            'q' | 's' => Kind::Text(quoted(self, close, nest, false, Holes::None)),
            'x' => Kind::Shell(quoted(self, close, nest, true, Holes::HashBrace)),
            'r' => {
                let text = plain(&quoted(self, close, nest, false, Holes::None));
                self.flags();
                Kind::Pattern(holds_code(&text, self.language))
            }
            _ => Kind::Text(quoted(self, close, nest, true, Holes::HashBrace)),
        })
    }

    /// The operator of a here-document; its body is read at the end of the line.
    pub(super) fn here(&mut self) -> Option<Kind> {
        let whole = self.rest();
        let mut rest = whole.strip_prefix(if self.language == Language::Php { "<<<" } else { "<<" })?;
        let indented = rest.starts_with(['~', '-']);
        rest = rest.trim_start_matches(['~', '-']);
        if self.language == Language::Php {
            rest = rest.trim_start_matches([' ', '\t']);
        }
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let (end, behind) = match quote {
            Some(quote) => rest.get(1..)?.split_once(quote)?,
            None => {
                let size = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                rest.split_at_checked(size)?
            }
        };
        let fits = end.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !fits
            || end.contains('\n')
            || quote.is_none() && self.language == Language::Ruby && !end.starts_with(char::is_uppercase)
        {
            return None;
        }
        self.at = self.source.len() - behind.len();
        self.here.push(Here {
            token: self.out.list.len(),
            end: end.to_string(),
            indented: indented || self.language == Language::Php,
            holes: quote != Some('\''),
            shell: quote == Some('`'),
        });
        Some(Kind::Text(Vec::new()))
    }

    /// The bodies of the here-documents of the line that ended.
    pub(super) fn bodies(&mut self) {
        for here in std::mem::take(&mut self.here) {
            let mut body = String::new();
            let mut ended = false;
            while !self.rest().is_empty() {
                let line = self.rest().split('\n').next().unwrap_or_default();
                self.at = (self.at + line.len() + 1).min(self.source.len());
                let bare = if here.indented { line.trim_start() } else { line };
                let ends = match self.language {
                    Language::Php => bare
                        .strip_prefix(here.end.as_str())
                        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')),
                    _ => bare == here.end,
                };
                if ends {
                    ended = true;
                    if self.language == Language::Php {
                        // What follows the end word on its line is code again.
                        let behind = bare.len() - here.end.len();
                        self.at = self.at.saturating_sub(behind + 1);
                        while !self.source.is_char_boundary(self.at) {
                            self.at += 1;
                        }
                    }
                    break;
                }
                body.push_str(if here.indented { line.trim_start() } else { line });
                body.push('\n');
            }
            self.out.broken |= !ended;
            let parts = match here.holes {
                false => vec![Part::Text(body)],
                true => {
                    let holes =
                        if self.language == Language::Ruby { Holes::HashBrace } else { Holes::Dollar };
                    let mut inner = Lexer {
                        source: &body,
                        at: 0,
                        language: self.language,
                        out: Tokens::default(),
                        here: Vec::new(),
                        no_pattern: 0,
                    };
                    quoted(&mut inner, '\u{0}', None, true, holes)
                }
            };
            if let Some(token) = self.out.list.get_mut(here.token) {
                token.kind = if here.shell { Kind::Shell(parts) } else { Kind::Text(parts) };
            }
        }
    }
}

/// The closing quote of an opening one, and the opening one when pairs nest.
pub(super) fn closing(open: char) -> (char, Option<char>) {
    match open {
        '(' => (')', Some('(')),
        '[' => (']', Some('[')),
        '{' => ('}', Some('{')),
        '<' => ('>', Some('<')),
        other => (other, None),
    }
}

pub(super) fn words(parts: &[Part]) -> Vec<String> {
    plain(parts).split_whitespace().map(str::to_string).collect()
}

/// Whether a regular expression runs code while it matches.
pub(super) fn holds_code(text: &str, language: Language) -> bool {
    match language {
        Language::Perl => text.contains("?{") || text.contains("@{") || text.contains("${"),
        Language::Ruby => text.contains("#{"),
        _ => false,
    }
}
