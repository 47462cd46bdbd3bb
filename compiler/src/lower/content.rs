//! What lines say about texts: secrets.
//!
//! INVARIANT: a secret that nothing can find and a name that no block has are errors.

use super::subject::{Found, Lowered};
use super::{Builder, number};
use crate::code::Code;
use crate::ir;
use crate::lower::line::Home;
use crate::resolve::{Resolved, UnitKind};
use crate::secrets::SecretCase;
use crate::text::nearest;
use policy_grammar::ast::{self, SecretPart};
use policy_grammar::source::Span;
use policy_runtime::secret::Checksum;
use policy_scan::build::{BuildError, BuildErrorKind, Builder as Builder_};

/// Bytes of a name behind the keyword in it.
const MOST_BETWEEN: usize = 24;

impl Builder<'_> {
    /// Takes every `secret` block; of one name the first, and a file's own come before a pack's.
    pub(super) fn take_secrets(&mut self, resolved: &Resolved) {
        for (index, unit) in resolved.units.iter().enumerate() {
            for item in &unit.tree.items {
                let ast::Item::Secret { name, parts, span } = item else { continue };
                if self.policy.secrets.iter().any(|secret| secret.name == name.node) {
                    continue;
                }
                let tested = unit.kind != UnitKind::Pack || index == 0;
                let secret = self.secret(unit.file, name, parts, (*span, tested));
                self.policy.secrets.extend(secret);
            }
        }
    }

    fn secret(
        &mut self,
        file: policy_grammar::source::FileId,
        name: &ast::Text,
        parts: &[SecretPart],
        (span, tested): (Span, bool),
    ) -> Option<ir::Secret> {
        let mut secret =
            ir::Secret { name: name.node.clone(), place: self.place(span), ..ir::Secret::default() };
        let mut keywords = Vec::new();
        let keyed = parts.iter().any(|part| matches!(part, SecretPart::Keyword(_)));
        for part in parts {
            match part {
                SecretPart::Keyword(list) => {
                    let texts = self.lists.patterns(file, list, self.sink);
                    keywords.extend(texts.into_iter().map(|quoted| quoted.text));
                }
                SecretPart::Pattern(text) => {
                    if !keyed && !self.lookable(text) {
                        return None;
                    }
                    secret.patterns.push(text.node.clone());
                }
                SecretPart::Entropy(text) => match text.node.parse::<f64>() {
                    Ok(bits) if (0.0..=8.0).contains(&bits) => secret.entropy = (bits * 100.0) as u32,
                    _ => self.sink.push(
                        Code::BadSecret
                            .error("entropy is bits a character, from 0 to 8", text.span, "no such number")
                            .with_help("random letters and digits have about 4; write `entropy 3.5`"),
                    ),
                },
                SecretPart::Checksum(text) => {
                    match Checksum::ALL.iter().position(|(_, word)| *word == text.node) {
                        Some(at) => secret.checksum = number(at),
                        None => {
                            let words: Vec<&str> = Checksum::ALL.iter().map(|(_, word)| *word).collect();
                            self.sink.push(
                                Code::BadSecret
                                    .error(
                                        format!("no checksum is named `{}`", text.node),
                                        text.span,
                                        "not a checksum",
                                    )
                                    .with_help(format!("the checksums are {}", words.join(", "))),
                            );
                        }
                    }
                }
                SecretPart::Samples(list) => {
                    let texts = self.lists.patterns(file, list, self.sink);
                    secret.samples.extend(texts.into_iter().map(|quoted| quoted.text));
                }
                SecretPart::Because(text) => secret.because.clone_from(&text.node),
                SecretPart::Suggest(text) => secret.suggest.clone_from(&text.node),
                SecretPart::Expect(expect) if tested => self.secret_expects.push(SecretCase {
                    secret: number(self.policy.secrets.len()),
                    found: expect.found.node,
                    text: expect.pieces.iter().map(|piece| piece.node.as_str()).collect(),
                    span: expect.span,
                }),
                SecretPart::Expect(_) => {}
            }
        }
        let bare = secret.patterns.is_empty();
        if bare && (keywords.is_empty() || secret.entropy == 0) {
            self.sink.push(
                Code::BadSecret
                    .error("the block does not say how the secret is found", span, "no pattern")
                    .with_help("write `pattern r\"…\"`, or `keyword \"…\"` with `entropy 3.5`"),
            );
            return None;
        }
        if !keywords.is_empty() {
            secret.patterns = with_keywords(&keywords, &secret.patterns);
        }
        Some(secret)
    }

    /// `content secret`: those of these names, or all that have a pattern of their own.
    pub(super) fn secrets_line(
        &mut self,
        home: &Home<'_>,
        view: ast::View,
        names: Option<&ast::Names>,
        span: Span,
    ) -> Lowered {
        let wanted: Option<Vec<String>> = names.map(|names| {
            let names = self.lists.scope_names(home.instance.file, &names.names, self.sink);
            names.into_iter().map(|(name, _)| name.text).collect()
        });
        let mut patterns = Vec::new();
        let all = self.policy.secrets.iter().zip(0_u32..);
        let found: Vec<(String, u32)> = match &wanted {
            // What is only guessed by its entropy has to be asked for by name.
            None => all
                .filter(|(secret, _)| !secret.name.starts_with("generic"))
                .map(|(secret, number)| (secret.name.clone(), number))
                .collect(),
            Some(wanted) => all
                .filter(|(secret, _)| wanted.iter().any(|name| is_named(name, &secret.name)))
                .map(|(secret, number)| (secret.name.clone(), number))
                .collect(),
        };
        for name in wanted.iter().flatten().filter(|name| !found.iter().any(|(own, _)| is_named(name, own))) {
            let error =
                Code::UnknownSecret.error(format!("no secret is named `{name}`"), span, "not a secret");
            let near = nearest(name, self.policy.secrets.iter().map(|secret| secret.name.as_str()));
            self.sink.push(match near {
                Some(near) => error.with_help(format!("write `{near}`")),
                None if self.policy.secrets.is_empty() => {
                    error.with_help("add `use std/secrets`, or a block `secret NAME { … }`")
                }
                None => error.with_help(
                    "`policy rules std/secret-formats` names those of std; or write a block `secret NAME { … }`",
                ),
            });
        }
        if wanted.is_none() && found.is_empty() {
            self.sink.push(
                Code::UnknownSecret
                    .error("the policy knows no secrets", span, "would find nothing")
                    .with_help("add `use std/secrets`, or a block `secret NAME { … }`"),
            );
        }
        for (name, secret) in found {
            patterns.push(Found {
                text: format!("secret {name}"),
                matcher: ir::Matcher::Secret(view, secret),
                words: 0,
                bytes: 0,
                span,
            });
        }
        Lowered { kind: ir::Kind::Content, arg: String::new(), patterns, excepts: Vec::new() }
    }

    /// Whether the scanner can look for a pattern in bounded work; says why not.
    pub(super) fn lookable(&mut self, pattern: &ast::Text) -> bool {
        let Err(error) = Builder_::new().add(0, &pattern.node).map(|_| ()) else { return true };
        let kind = BuildError { id: None, kind: error.kind };
        let help = match kind.kind {
            BuildErrorKind::NoLiteral => "write some fixed letters into the pattern, such as `token_[a-z]+`",
            BuildErrorKind::TooLong { .. } => "bound the repetition, such as `{0,200}`",
            _ => {
                "write the pattern in bytes: `[A-Za-z0-9]`, `\\b`, `(?i)`; no look-around, no back-reference"
            }
        };
        self.sink.push(
            Code::BadContent
                .error(
                    format!("the pattern cannot be looked for: {kind}"),
                    pattern.span,
                    "not in bounded work",
                )
                .with_help(help),
        );
        false
    }

    /// Lines about texts stand in guards, and grant nothing.
    pub(super) fn in_guard(
        &mut self,
        home: &Home<'_>,
        (span, grant): (Span, bool),
        word: &str,
    ) -> Option<()> {
        if home.instance.kind == ir::BlockKind::Guard {
            if !grant {
                return Some(());
            }
            self.sink.push(
                Code::TextOutsideGuard
                    .error(format!("an `only` line with `{word}`"), span, "no text has to match something")
                    .with_help("write `deny`, `ask`, `warn` or `info` for what is found"),
            );
            return None;
        }
        self.sink.push(
            Code::TextOutsideGuard
                .error(format!("a `{word}` line outside a guard"), span, "only guards look at texts")
                .with_help("move the line into a guard; an exception opens it by a bare `open`"),
        );
        None
    }
}

/// Whether a secret is asked for by this name; one that ends in `*` stands for all that begin so.
fn is_named(wanted: &str, name: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => wanted == name,
    }
}

/// Patterns that stand behind one of the keywords on the same line; without patterns, any value that is given to it.
fn with_keywords(keywords: &[String], patterns: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    for keyword in keywords {
        let keyword = escaped(keyword);
        if patterns.is_empty() {
            out.push(format!(
                r#"(?i:{keyword})[a-zA-Z0-9_.\-]{{0,20}}["'`\]]{{0,2}}[ \t]{{0,3}}(?::=|=>|=|:)[ \t]{{0,3}}["'`][!#-&(-_a-~]{{8,200}}["'`]"#
            ));
        }
        for pattern in patterns {
            // Classes that exclude each other need no automaton: the rest of the name, then what gives it a value.
            out.push(format!(
                r#"(?i:{keyword})[a-zA-Z0-9_.\-]{{0,{MOST_BETWEEN}}}["'`\]\[)( \t=:>,]{{1,10}}{pattern}"#
            ));
        }
    }
    out
}

fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| (!c.is_ascii_alphanumeric()).then_some('\\').into_iter().chain([c])).collect()
}
