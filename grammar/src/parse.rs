//! Policy text to tree: the frame of a file, statement by statement, with recovery.
//!
//! INVARIANT: any text gives a tree plus diagnostics in time linear in its length; text that was passed over sets
//! `skipped`; no failure of the grammar reaches a reader raw.

mod blocks;
mod build;
mod calls;
mod check;
mod diagnose;
mod facts;
mod items;
mod lex;
mod lines;
mod runs;
mod secrets;
mod symbols;
mod words;

use crate::ast;
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use build::Node;
use lex::{Kind, Token};
use pest::Parser as _;
use pest::error::ErrorVariant;

pub(crate) use blocks::empty_block;
pub(crate) use lex::{Kind as TokenKind, hidden, next as next_token};
pub(crate) use words::{distance, is_bare_name};

/// The derived parser of `policy.pest`.
#[allow(missing_docs, clippy::upper_case_acronyms)]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "../policy.pest"]
    pub(crate) struct PolicyGrammar;
}
pub(crate) use grammar::{PolicyGrammar, Rule};

/// Longest text that is read, in bytes.
pub const MAX_BYTES: usize = 16 << 20;
/// Deepest nesting of projects, and of values in a tested call.
pub const MAX_DEPTH: usize = 64;
/// Bytes that a statement is first looked for in.
const FIRST_WINDOW: usize = 1 << 10;
/// Diagnostics of one file that are kept.
const MAX_DIAGNOSTICS: usize = 100;

/// What a text says, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The tree: everything that could be read.
    pub file: ast::File,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a policy.
pub fn parse(file: FileId, text: &str) -> Parsed {
    let mut tree = ast::File { header: None, items: Vec::new(), comments: Vec::new(), skipped: false };
    if text.len() > MAX_BYTES {
        tree.skipped = true;
        let message = format!("the file is longer than {} MiB", MAX_BYTES >> 20);
        let start = Span { file, start: 0, end: 0 };
        let error = Diagnostic::error(Code::TooLong.as_str(), message, start, "nothing of it is read")
            .with_help("split it into files and `use` them");
        return Parsed { file: tree, diagnostics: vec![error] };
    }
    let mut parser = Parser {
        file,
        text,
        sink: Vec::new(),
        dropped: 0,
        unclosed: Vec::new(),
        skipped: false,
        stray: 0,
        told: None,
    };
    tree.comments = parser.check_text();
    let at = parser.header(&mut tree);
    tree.items = parser.items(at, None, 0).0;
    tree.skipped = parser.skipped;
    Parsed { file: tree, diagnostics: parser.into_diagnostics() }
}

/// One run over one text.
struct Parser<'t> {
    file: FileId,
    text: &'t str,
    sink: Vec<Diagnostic>,
    dropped: usize,
    /// Where strings and backticks begin that are never closed, ascending; a statement that fails behind one of
    /// these has been spoken of already.
    unclosed: Vec<usize>,
    skipped: bool,
    /// Braces opened in skipped text, whose closing braces are still to come.
    stray: usize,
    /// A word that was spoken of already, although parsing goes on at it.
    told: Option<usize>,
}

/// A statement that does not parse; where it went wrong.
struct Failed(usize);

impl<'t> Parser<'t> {
    fn error(&mut self, code: Code, message: impl Into<String>, span: Span, label: impl Into<String>) {
        self.push(Diagnostic::error(code.as_str(), message, span, label));
    }

    fn error_help(
        &mut self,
        code: Code,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::error(code.as_str(), message, span, label).with_help(help));
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        if self.sink.len() < MAX_DIAGNOSTICS {
            self.sink.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32 }
    }

    fn token_span(&self, token: Token) -> Span {
        self.span(token.start, token.end)
    }

    fn next(&self, at: usize) -> Token {
        lex::next(self.text, at)
    }

    fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        if self.dropped > 0 {
            let end = self.span(self.text.len(), self.text.len());
            let more = format!("{} further errors are not shown", self.dropped);
            self.sink.push(Diagnostic::error(Code::TooManyErrors.as_str(), more, end, "the file ends here"));
        }
        self.sink.sort_by_key(|d| d.labels.first().map_or(0, |l| l.span.start));
        self.sink
    }

    /// Reads the header, or says that it is missing; gives where the items begin.
    fn header(&mut self, tree: &mut ast::File) -> usize {
        let first = self.next(0);
        if first.kind == Kind::Word && first.text(self.text) == "policy" {
            return match self.statement(Rule::header, first.start) {
                Ok((node, end)) => {
                    tree.header = self.build_header(node);
                    end
                }
                Err(failed) => self.recover_items(first.start, failed.0),
            };
        }
        let place = self.token_span(first);
        let label =
            if first.kind == Kind::End { "the file is empty" } else { "the header must stand before this" };
        self.error_help(
            Code::MissingHeader,
            "the policy has no header",
            place,
            label,
            match self.next(first.end).kind == Kind::Other && self.next(first.end).text(self.text) == ":" {
                true => {
                    "this looks like YAML: give an agent-firewall.yml that ending, or translate it with `policy \
                     import`; a policy begins with `policy \"team/name\" language 1`"
                }
                false => "begin the file with `policy \"team/name\" language 1`",
            },
        );
        first.start
    }

    /// Parses one statement that begins at `at`; a failure is diagnosed here.
    fn statement(&mut self, rule: Rule, at: usize) -> Result<(Node<'t>, usize), Failed> {
        let text: &'t str = self.text;
        let mut length = FIRST_WINDOW;
        // The cost of a pest error is the length of its input, so the input is a window that is only as long as
        // it must be: an answer counts when the token that it hangs on ends inside.
        loop {
            let mut end = at.saturating_add(length).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            let inside = |token: Token| end == text.len() || token.end < end;
            match PolicyGrammar::parse(rule, text.get(at..end).unwrap_or("")).map(|mut pairs| pairs.next()) {
                Ok(Some(pair)) => {
                    let node = Node::new(pair, self.file, at);
                    let read = node.span().end as usize;
                    if inside(self.next(read)) {
                        return Ok((node, read));
                    }
                }
                Ok(None) => return Err(Failed(at)),
                Err(error) => {
                    let exhausted = matches!(error.variant, ErrorVariant::CustomError { .. });
                    if exhausted || inside(self.next(at + diagnose::location(&error))) {
                        return Err(self.diagnose(rule, at, &error));
                    }
                }
            }
            length = length.saturating_mul(4);
        }
    }

    /// Where parsing goes on outside blocks: a line that begins with an item keyword.
    fn recover_items(&mut self, start: usize, failed: usize) -> usize {
        self.skipped = true;
        let mut depth = 0usize;
        let mut at = start;
        loop {
            let token = self.next(at);
            match token.kind {
                Kind::End => return token.start,
                Kind::Word if token.start > start && token.start >= failed && self.begins_item(token) => {
                    self.stray += depth;
                    return token.start;
                }
                Kind::Word
                    if token.start > start
                        && token.start >= failed
                        && depth == 0
                        && self.meant(token, items::ITEM_WORDS) =>
                {
                    return token.start;
                }
                Kind::Open if token.text(self.text) == "{" => depth += 1,
                Kind::Close if token.text(self.text) == "}" => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None if token.start >= failed => return token.start,
                    None => {}
                },
                _ => {}
            }
            at = token.end;
        }
    }

    /// Whether a word at the beginning of a line was meant to begin a statement.
    fn meant(&self, token: Token, known: &[&str]) -> bool {
        lex::begins_line(self.text, token.start) && words::is_meant(token.text(self.text), known)
    }

    /// Whether an item begins here: an item keyword at the beginning of a line.
    fn begins_item(&self, token: Token) -> bool {
        let word = token.text(self.text);
        let item =
            items::is_item_word(word) || (word == "ask" && self.next(token.end).text(self.text) == "timeout");
        item && lex::begins_line(self.text, token.start)
    }
}
