//! Faults of the text itself, found before anything is parsed: hidden characters, open quotes, wrong escapes.
//!
//! INVARIANT: the whole text is looked at, comments included, whatever its grammar.

use super::Parser;
use super::lex::{self, Kind};
use crate::ast::Comment;
use crate::code::Code;
use crate::source::Spanned;

impl Parser<'_> {
    /// Checks the text and gives its comments.
    pub(super) fn check_text(&mut self) -> Vec<Comment> {
        if !self.text.is_ascii()
            || self.text.bytes().any(|b| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r') || b == 0x7f)
        {
            self.check_characters();
        }
        let mut comments = Vec::new();
        let mut at = 0;
        loop {
            let mut found = Vec::new();
            let start = lex::skip_trivia(self.text, at, |start, end| found.push((start, end)));
            for (start, end) in found {
                let text = self.text.get(start..end).unwrap_or("").trim_end().to_owned();
                let span = self.span(start, start + text.len());
                let own_line = lex::begins_line(self.text, start);
                comments.push(Comment { text: Spanned { node: text, span }, own_line });
            }
            let token = lex::token(self.text, start);
            match token.kind {
                Kind::End => return comments,
                Kind::String(false) | Kind::Raw(false) => {
                    self.unclosed.push(token.start);
                    let help = "write the closing `\"` on the same line; a quote inside is `\\\"`";
                    let span = self.token_span(token);
                    self.error_help(
                        Code::UnclosedString,
                        "this text is not closed",
                        span,
                        "opened here",
                        help,
                    );
                }
                Kind::Run(false) => {
                    self.unclosed.push(token.start);
                    let help = "write the closing backtick on the same line";
                    let span = self.token_span(token);
                    self.error_help(
                        Code::UnclosedBacktick,
                        "this run pattern is not closed",
                        span,
                        "opened here",
                        help,
                    );
                }
                Kind::String(true) => {
                    for (start, end) in lex::bad_escapes(self.text, token) {
                        let written = self.text.get(start..end).unwrap_or("").to_owned();
                        let help = "the escapes are \\\" \\\\ \\n \\t and \\u{1f600}; a backslash itself is written \\\\";
                        let span = self.span(start, end);
                        self.error_help(
                            Code::BadEscape,
                            format!("`{written}` is no escape"),
                            span,
                            "not an escape",
                            help,
                        );
                    }
                }
                _ => {}
            }
            at = token.end;
        }
    }

    /// SECURITY: a character that a reviewer cannot see, or that reorders a line, can hide a grant.
    fn check_characters(&mut self) {
        let text = self.text;
        for (at, ch) in text.char_indices() {
            if let Some(why) = lex::hidden(ch) {
                let span = self.span(at, at + ch.len_utf8());
                let message = format!("hidden character U+{:04X}", u32::from(ch));
                let help = "remove it; where a quoted text really needs it, write it as `\\u{…}`";
                self.error_help(Code::HiddenCharacter, message, span, why, help);
            }
        }
    }
}
