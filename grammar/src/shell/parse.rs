//! A command text to its tree: the pest grammar, and the proofs that the grammar cannot make.
//!
//! INVARIANT: the result is a tree plus problems. A text over a limit is not given to pest at all; a pair that is
//! not expected here is a problem, never skipped. The depth of the tree is bounded, so neither this file nor the
//! walker nor a drop can overflow the stack.

use super::ast::*;
use super::{MAX_COMMAND_BYTES, MAX_OPENERS};
use pest::Parser;
use pest::iterators::{Pair, Pairs};
use std::collections::VecDeque;
use std::sync::Once;

mod words;

/// The generated parser; its rules stay inside this module.
mod generated {
    #![allow(missing_docs, unreachable_pub)]
    #[derive(pest_derive::Parser)]
    #[grammar = "../shell.pest"]
    pub struct ShellParser;
}
use generated::{Rule, ShellParser};

/// Constructs inside each other that are read.
pub(crate) const MAX_DEPTH: u32 = 192;
/// Weight up to which a text is read on the stack of its caller.
const SMALL_WEIGHT: usize = 256;
/// Stack for a heavier text: a base, and for each unit of weight. An unoptimized build needs 5,400 bytes a unit.
const BASE_STACK: usize = 1024 * 1024;
const UNIT_STACK: usize = 8 * 1024;
/// pest calls allowed for one text: 10,000 and 80 a byte at the largest size. Scripts need 6 to 25 a byte.
const CALL_LIMIT: usize = 10_000 + 80 * MAX_COMMAND_BYTES;

/// How deep a text may nest at most: its opening bytes, counted regardless of quoting, and its keywords twice,
/// because they need about twice the stack. Not a lexer: whatever the grammar makes of the text, it nests no deeper.
fn weigh(text: &str) -> Result<usize, String> {
    if text.len() > MAX_COMMAND_BYTES {
        return Err(format!("the command is longer than {MAX_COMMAND_BYTES} bytes"));
    }
    let (mut weight, mut run) = (0usize, 0usize);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            0 => return Err("the command has a NUL byte".into()),
            b'"' | b'(' | b'{' | b'[' => weight += 1,
            b'$' | b'<' | b'>' if matches!(bytes.get(at + 1), Some(b'(' | b'{' | b'[' | b'"')) => weight += 1,
            _ => {}
        }
        if byte.is_ascii_alphabetic() {
            run += 1;
            continue;
        }
        weight += 2 * usize::from(opens(bytes, at, run));
        run = 0;
    }
    weight += 2 * usize::from(opens(bytes, bytes.len(), run));
    if weight > MAX_OPENERS {
        return Err(format!("the command has more than {MAX_OPENERS} quotes, brackets and keywords"));
    }
    Ok(weight)
}

/// Whether the letters that end before `end` are a keyword under which commands nest.
fn opens(bytes: &[u8], end: usize, run: usize) -> bool {
    let word = end.checked_sub(run).and_then(|start| bytes.get(start..end));
    matches!(word, Some(b"if" | b"while" | b"until" | b"for" | b"select" | b"case" | b"coproc" | b"function"))
}

/// Reads a text.
pub(crate) fn parse(text: &str) -> Tree<'_> {
    match weigh(text) {
        Ok(weight) if weight <= SMALL_WEIGHT => read(text),
        Ok(weight) => read_deep(text, BASE_STACK + UNIT_STACK * weight),
        Err(message) => refused(0, message),
    }
}

/// Reads a text on a stack of its own; memory is touched only where the text really nests.
fn read_deep(text: &str, stack: usize) -> Tree<'_> {
    let joined = std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, || read(text));
        reader.ok().and_then(|reader| reader.join().ok())
    });
    joined.unwrap_or_else(|| refused(0, "the command is too complex to be read".into()))
}

fn refused<'a>(at: usize, message: String) -> Tree<'a> {
    Tree { problems: vec![(at, message)], ..Tree::default() }
}

fn read(text: &str) -> Tree<'_> {
    limit_calls();
    let error = match ShellParser::parse(Rule::script, text) {
        Ok(pairs) => {
            let mut builder = Builder::default();
            builder.script(pairs);
            return builder.tree;
        }
        Err(error) => error,
    };
    let (at, message) = failure(text, &error.location, &error.variant);
    refused(at, message.into())
}

/// Sets how many calls pest may take for one text; for every parser alike.
pub(crate) fn limit_calls() {
    static LIMIT: Once = Once::new();
    LIMIT.call_once(|| pest::set_call_limit(std::num::NonZeroUsize::new(CALL_LIMIT)));
}

/// Where and why a text does not parse.
pub(crate) fn failure<R>(
    text: &str,
    location: &pest::error::InputLocation,
    variant: &pest::error::ErrorVariant<R>,
) -> (usize, &'static str) {
    let at = match location {
        pest::error::InputLocation::Pos(at) | pest::error::InputLocation::Span((at, _)) => *at,
    };
    let message = match variant {
        pest::error::ErrorVariant::CustomError { .. } => "the command is too complex to be read",
        pest::error::ErrorVariant::ParsingError { .. } if at >= text.len() => {
            "the command ends inside an open quote, bracket or compound"
        }
        pest::error::ErrorVariant::ParsingError { .. } => "this part of the command is not understood",
    };
    (at, message)
}

/// The quoting around a part of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Double,
    Here,
}

#[derive(Default)]
struct Builder<'a> {
    tree: Tree<'a>,
    pending: VecDeque<usize>,
    substitutions: u32,
    depth: u32,
}

impl<'a> Builder<'a> {
    fn script(&mut self, pairs: Pairs<'a, Rule>) {
        for script in pairs {
            for pair in script.into_inner() {
                match pair.as_rule() {
                    Rule::list => self.tree.list = self.list(pair),
                    _ => self.other(pair),
                }
            }
        }
        for index in std::mem::take(&mut self.pending) {
            let start = self.tree.heredocs.get(index).map_or(0, |doc| doc.start);
            self.problem(start, "the here-document has no body");
        }
    }

    fn problem(&mut self, at: usize, message: impl Into<String>) {
        self.tree.problems.push((at, message.into()));
    }

    /// Notes a construct that some shells read in another way.
    fn otherwise(&mut self, at: usize, what: &'static str, shells: u8) {
        self.tree.otherwise.push(Otherwise { at, what, shells });
    }

    /// A construct of bash and zsh.
    fn extension(&mut self, at: usize, what: &'static str) {
        self.otherwise(at, what, POSIX);
    }

    /// A construct of bash alone.
    fn bash_only(&mut self, at: usize, what: &'static str) {
        self.otherwise(at, what, POSIX | ZSH);
    }

    /// Enters a construct; `false` (with a problem) when it is too deep.
    fn enter(&mut self, at: usize) -> bool {
        if self.depth >= MAX_DEPTH {
            self.problem(at, format!("the command nests deeper than {MAX_DEPTH} constructs"));
            return false;
        }
        self.depth += 1;
        true
    }

    /// A pair that may stand between the parts of any construct.
    fn other(&mut self, pair: Pair<'a, Rule>) {
        match pair.as_rule() {
            Rule::hd0 | Rule::hd1 | Rule::hd2 | Rule::hd3 => self.body(pair),
            Rule::EOI => {}
            Rule::comment => {
                // An interactive zsh knows no comments.
                if pair.as_str().contains([';', '&', '|', '$', '`', '(', '<', '>']) {
                    self.otherwise(pair.as_span().start(), "#", ZSH);
                }
            }
            _ => self.problem(pair.as_span().start(), "this part of the command is not understood"),
        }
    }

    fn list(&mut self, pair: Pair<'a, Rule>) -> List<'a> {
        let mut list = List::default();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::and_or => {
                    let item = self.and_or(part);
                    list.items.extend(item);
                }
                Rule::amp => {
                    if after(&part).starts_with("\\\n") && past_continuations(after(&part)).starts_with('>') {
                        self.problem(part.as_span().start(), CONTINUED);
                    }
                    if let Some(last) = list.items.last_mut() {
                        last.background = true;
                    }
                }
                _ => self.other(part),
            }
        }
        list
    }

    fn and_or(&mut self, pair: Pair<'a, Rule>) -> Option<AndOr<'a>> {
        let (mut first, mut rest, mut and) = (None, Vec::new(), true);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::pipeline => {
                    let pipeline = self.pipeline(part);
                    match first {
                        None => first = Some(pipeline),
                        Some(_) => rest.push((and, pipeline)),
                    }
                }
                Rule::andor_op => and = part.as_str() == "&&",
                _ => self.other(part),
            }
        }
        first.map(|first| AndOr { first, rest, background: false })
    }

    fn pipeline(&mut self, pair: Pair<'a, Rule>) -> Pipeline<'a> {
        let mut pipeline = Pipeline { negated: false, stages: Vec::new() };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::bang => pipeline.negated = !pipeline.negated,
                Rule::time_kw => {}
                Rule::pipe_op => {
                    if part.as_str() == "|&" {
                        self.extension(part.as_span().start(), "|&");
                    }
                }
                Rule::command => {
                    let node = self.command(part);
                    pipeline.stages.extend(node);
                }
                _ => self.other(part),
            }
        }
        pipeline
    }

    fn command(&mut self, pair: Pair<'a, Rule>) -> Option<Node<'a>> {
        let (text, start) = (pair.as_str(), pair.as_span().start());
        let (mut node, mut redirects) = (None, Vec::new());
        if !self.enter(start) {
            return None;
        }
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::simple => node = Some(Node::Simple(self.simple(part))),
                Rule::redirect => {
                    let redirect = self.redirect(part);
                    redirects.extend(redirect);
                }
                Rule::function_def => node = self.function(part),
                Rule::coproc => node = self.coproc(part),
                Rule::hd0 | Rule::hd1 | Rule::hd2 | Rule::hd3 | Rule::comment => self.other(part),
                _ => node = self.compound(part).map(|inner| Node::Compound(Box::new(inner))),
            }
        }
        self.depth -= 1;
        if let Some(Node::Compound(compound)) = &mut node {
            compound.redirects.append(&mut redirects);
            compound.text = text;
        }
        node
    }

    fn compound(&mut self, pair: Pair<'a, Rule>) -> Option<Compound<'a>> {
        let (text, start) = (pair.as_str(), pair.as_span().start());
        let kind = match pair.as_rule() {
            Rule::subshell => {
                let inner = text.get(1..).unwrap_or_default();
                let split = inner.starts_with("\\\n") && past_continuations(inner).starts_with('(');
                if split || inner.starts_with('(') && text.contains(")\\\n") {
                    self.problem(start, CONTINUED);
                }
                Kind::Subshell(self.lists(pair).pop().unwrap_or_default())
            }
            Rule::brace => Kind::Group(self.lists(pair).pop().unwrap_or_default()),
            Rule::if_cl => {
                let mut lists = self.lists(pair).into_iter();
                let (mut branches, mut otherwise) = (Vec::new(), None);
                while let Some(condition) = lists.next() {
                    match lists.next() {
                        Some(body) => branches.push((condition, body)),
                        None => otherwise = Some(condition),
                    }
                }
                Kind::If { branches, otherwise }
            }
            Rule::while_cl => {
                let mut lists = self.lists(pair).into_iter();
                let condition = lists.next().unwrap_or_default();
                Kind::While { condition, body: lists.next().unwrap_or_default() }
            }
            Rule::for_cl => self.for_clause(pair),
            Rule::case_cl => self.case_clause(pair),
            Rule::cond => {
                self.extension(start, "[[");
                Kind::Test(self.words(pair))
            }
            Rule::arith_cmd => {
                self.extension(start, "((");
                Kind::Arith(self.inside(pair, Quote::None))
            }
            _ => {
                self.other(pair);
                return None;
            }
        };
        Some(Compound { kind, redirects: Vec::new(), text })
    }

    /// The lists directly inside a compound, in order.
    fn lists(&mut self, pair: Pair<'a, Rule>) -> Vec<List<'a>> {
        let mut lists = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::list => lists.push(self.list(part)),
                _ => self.other(part),
            }
        }
        lists
    }

    /// The words directly inside a `[[ ... ]]`.
    fn words(&mut self, pair: Pair<'a, Rule>) -> Vec<WordNode<'a>> {
        let mut words = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::word => {
                    if part.as_str().contains("\\\n") && matches!(joined(part.as_str()).as_str(), "]]" | "=~")
                    {
                        self.problem(part.as_span().start(), CONTINUED);
                    }
                    words.push(self.word(part));
                }
                Rule::regex_m => {
                    for regex in part.into_inner() {
                        words.push(self.word(regex));
                    }
                }
                _ => self.other(part),
            }
        }
        words
    }

    fn for_clause(&mut self, pair: Pair<'a, Rule>) -> Kind<'a> {
        let (mut name, mut words, mut bits, mut body) = ("", None, None, List::default());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::for_kw => {}
                Rule::select_kw => self.extension(part.as_span().start(), "select"),
                Rule::for_arith => {
                    self.extension(part.as_span().start(), "for ((");
                    bits = Some(self.inside(part, Quote::None));
                }
                Rule::for_in => {
                    for inner in part.into_inner() {
                        match inner.as_rule() {
                            Rule::for_name => {
                                name = inner.as_str();
                                self.zsh_name(inner.as_span().start(), name);
                            }
                            Rule::in_kw => words = Some(Vec::new()),
                            Rule::word => {
                                let word = self.word(inner);
                                words.get_or_insert_with(Vec::new).push(word);
                            }
                            _ => self.other(inner),
                        }
                    }
                }
                Rule::list => body = self.list(part),
                Rule::brace => body = self.lists(part).pop().unwrap_or_default(),
                _ => self.other(part),
            }
        }
        match bits {
            Some(bits) => Kind::ForArith { bits, body },
            None => Kind::For { name, words, body },
        }
    }

    fn case_clause(&mut self, pair: Pair<'a, Rule>) -> Kind<'a> {
        let (mut word, mut arms) = (WordNode::default(), Vec::new());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::word => word = self.word(part),
                Rule::case_item => {
                    let (mut patterns, mut body) = (Vec::new(), List::default());
                    for inner in part.into_inner() {
                        match inner.as_rule() {
                            Rule::pat => {
                                for pattern in inner.into_inner() {
                                    patterns.push(self.word(pattern));
                                }
                            }
                            Rule::list => body = self.list(inner),
                            Rule::case_end => match inner.as_str() {
                                ";&" => self.extension(inner.as_span().start(), ";&"),
                                ";;&" => self.bash_only(inner.as_span().start(), ";;&"),
                                _ => {}
                            },
                            _ => self.other(inner),
                        }
                    }
                    arms.push((patterns, body));
                }
                _ => self.other(part),
            }
        }
        Kind::Case { word, arms }
    }

    fn function(&mut self, pair: Pair<'a, Rule>) -> Option<Node<'a>> {
        let (text, start) = (pair.as_str(), pair.as_span().start());
        let (mut name, mut body, mut redirects) = ("", None, Vec::new());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::fn_kw => self.extension(start, "function"),
                Rule::fname | Rule::any_fname => name = part.as_str(),
                Rule::redirect => {
                    let redirect = self.redirect(part);
                    redirects.extend(redirect);
                }
                Rule::hd0 | Rule::hd1 | Rule::hd2 | Rule::hd3 | Rule::comment => self.other(part),
                _ => body = self.compound(part),
            }
        }
        let mut body = body?;
        body.redirects.append(&mut redirects);
        let kind = Kind::Function { name, body: Box::new(body) };
        Some(Node::Compound(Box::new(Compound { kind, redirects, text })))
    }

    fn coproc(&mut self, pair: Pair<'a, Rule>) -> Option<Node<'a>> {
        let (text, start) = (pair.as_str(), pair.as_span().start());
        self.bash_only(start, "coproc");
        let (mut node, mut redirects) = (None, Vec::new());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => {}
                Rule::command => node = self.command(part),
                Rule::redirect => {
                    let redirect = self.redirect(part);
                    redirects.extend(redirect);
                }
                Rule::hd0 | Rule::hd1 | Rule::hd2 | Rule::hd3 | Rule::comment => self.other(part),
                _ => node = self.compound(part).map(|inner| Node::Compound(Box::new(inner))),
            }
        }
        let kind = Kind::Coproc(Box::new(node?));
        Some(Node::Compound(Box::new(Compound { kind, redirects, text })))
    }
}

/// Said of a token that a continuation takes apart: a shell joins it first.
const CONTINUED: &str = "a continuation stands inside an operator, keyword or name";

/// The text behind a pair.
fn after<'a>(pair: &Pair<'a, Rule>) -> &'a str {
    let span = pair.as_span();
    span.get_input().get(span.end()..).unwrap_or_default()
}

/// The text before a pair.
fn before<'a>(pair: &Pair<'a, Rule>) -> &'a str {
    let span = pair.as_span();
    span.get_input().get(..span.start()).unwrap_or_default()
}

fn past_continuations(text: &str) -> &str {
    text.trim_start_matches("\\\n")
}

/// A text without its continuations.
fn joined(text: &str) -> String {
    text.replace("\\\n", "")
}

fn span_of(pair: &Pair<'_, Rule>) -> (usize, usize) {
    (pair.as_span().start(), pair.as_span().end())
}
