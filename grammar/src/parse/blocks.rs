//! Blocks: head, `{`, statements in one order, `}`.
//!
//! INVARIANT: a fault in one statement leaves the others of its block readable.

use super::build::Node;
use super::lex::{self, Kind, Token};
use super::{Failed, Parser, Rule, items};
use crate::ast::{Block, BlockKind, Item, Otherwise, Program, Scopes, Test, Text, Verb};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::source::{Span, Spanned};

/// What stands between the braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Block(BlockKind),
    Test,
    Secret,
    Program,
    /// `under` in a `program` block.
    Under,
}

impl Body {
    pub(super) fn word(self) -> &'static str {
        match self {
            Body::Block(BlockKind::Rule) => "rule",
            Body::Block(BlockKind::Guard) => "guard",
            Body::Block(BlockKind::Exception) => "exception",
            Body::Block(BlockKind::Assert) => "assert",
            Body::Test => "test",
            Body::Secret => "secret",
            Body::Program => "program",
            Body::Under => "block behind `under`",
        }
    }

    fn of(word: &str) -> Body {
        match word {
            "rule" => Body::Block(BlockKind::Rule),
            "guard" => Body::Block(BlockKind::Guard),
            "exception" => Body::Block(BlockKind::Exception),
            "assert" => Body::Block(BlockKind::Assert),
            "test" => Body::Test,
            "secret" => Body::Secret,
            _ => Body::Program,
        }
    }

    /// The words that begin its statements.
    pub(super) fn words(self) -> &'static [&'static str] {
        match self {
            Body::Block(BlockKind::Rule) => {
                &["because", "suggest", "allow", "info", "warn", "ask", "deny", "only", "otherwise", "expect"]
            }
            Body::Block(BlockKind::Guard) => {
                &["because", "suggest", "info", "warn", "ask", "deny", "only", "expect"]
            }
            Body::Block(BlockKind::Assert) => {
                &["because", "suggest", "allow", "info", "warn", "ask", "deny", "only"]
            }
            Body::Block(BlockKind::Exception) => &["owner", "until", "because", "open", "expect"],
            Body::Test => &["given", "expect"],
            Body::Secret => {
                &["keyword", "pattern", "entropy", "checksum", "samples", "because", "suggest", "expect"]
            }
            Body::Program => PROGRAM_WORDS,
            // `under` is the last of them and has no place inside another.
            Body::Under => PROGRAM_WORDS.get(..PROGRAM_WORDS.len() - 1).unwrap_or_default(),
        }
    }

    fn takes(self, rule: Rule) -> bool {
        match self {
            Body::Block(kind) => match rule {
                Rule::note
                | Rule::line
                | Rule::ask_timeout
                | Rule::ask_via
                | Rule::otherwise
                | Rule::expect => true,
                Rule::owner | Rule::until => kind == BlockKind::Exception,
                _ => false,
            },
            Body::Test => matches!(rule, Rule::given | Rule::expect),
            Body::Secret => matches!(
                rule,
                Rule::secret_keyword
                    | Rule::secret_pattern
                    | Rule::secret_entropy
                    | Rule::secret_checksum
                    | Rule::secret_samples
                    | Rule::note
                    | Rule::secret_expect
            ),
            Body::Program if rule == Rule::under_head => true,
            Body::Program | Body::Under => matches!(
                rule,
                Rule::same_words
                    | Rule::fact_flags
                    | Rule::options
                    | Rule::assignments
                    | Rule::reads
                    | Rule::placeholders
                    | Rule::ends
                    | Rule::runs
                    | Rule::lists
                    | Rule::prints
                    | Rule::connects
                    | Rule::effect
                    | Rule::takes
                    | Rule::uses
            ),
        }
    }
}

/// The words that begin the facts of a program.
pub(super) const PROGRAM_WORDS: &[&str] = &[
    "same",
    "flags",
    "options",
    "assignments",
    "reads",
    "placeholders",
    "ends",
    "runs",
    "lists",
    "prints",
    "connects",
    "writes",
    "deletes",
    "changes",
    "links",
    "sends",
    "executes",
    "takes",
    "uses",
    "under",
];

/// The statement that a word begins, in whatever block.
fn statement_rule(word: &str) -> Option<Rule> {
    Some(match word {
        "because" | "suggest" => Rule::note,
        "owner" => Rule::owner,
        "until" => Rule::until,
        "allow" | "info" | "warn" | "ask" | "deny" | "only" | "open" => Rule::line,
        "otherwise" => Rule::otherwise,
        "expect" => Rule::expect,
        "given" => Rule::given,
        "keyword" => Rule::secret_keyword,
        "pattern" => Rule::secret_pattern,
        "entropy" => Rule::secret_entropy,
        "checksum" => Rule::secret_checksum,
        "samples" => Rule::secret_samples,
        "same" => Rule::same_words,
        "flags" => Rule::fact_flags,
        "options" => Rule::options,
        "assignments" => Rule::assignments,
        "reads" => Rule::reads,
        "placeholders" => Rule::placeholders,
        "ends" => Rule::ends,
        "under" => Rule::under_head,
        "runs" => Rule::runs,
        "lists" => Rule::lists,
        "prints" => Rule::prints,
        "connects" => Rule::connects,
        "writes" | "deletes" | "changes" | "links" | "sends" | "executes" => Rule::effect,
        "takes" => Rule::takes,
        "uses" => Rule::uses,
        _ => return None,
    })
}

/// A statement word that is common enough to restart at.
fn is_statement_word(word: &str) -> bool {
    statement_rule(word).is_some()
}

impl<'t> Parser<'t> {
    /// A block with its braces, from its keyword on.
    pub(super) fn block_item(&mut self, at: usize, word: &str) -> Result<(Item, usize), Failed> {
        let body = Body::of(word);
        let rule = match body {
            Body::Block(_) => Rule::block_head,
            Body::Test => Rule::test_head,
            Body::Secret => Rule::secret_head,
            Body::Program | Body::Under => Rule::program_head,
        };
        let (head, open, start) = match self.statement(rule, at) {
            Ok((head, end)) => {
                let open = head.kid(Rule::lbrace).map_or(self.span(at, end), |brace| brace.span());
                (Some(head), open, end)
            }
            Err(failed) => {
                let open = self.find_open(failed.0).ok_or(failed)?;
                (None, self.span(open, open + 1), open + 1)
            }
        };
        let mut nodes = Vec::new();
        let end = self.statements(body, open, start, &mut nodes);
        let span = self.span(at, end);
        let item = match body {
            Body::Block(kind) => Item::Block(self.block(kind, head.as_ref(), nodes, span)),
            Body::Test => Item::Test(self.test(head.as_ref(), nodes, span)),
            Body::Secret => self.secret(head.as_ref(), nodes, span),
            Body::Program | Body::Under => {
                let names = head.as_ref().and_then(|head| head.kid(Rule::names));
                let names = names.map(|names| self.plain_names(&names, "a program")).unwrap_or_default();
                let facts = self.program_facts(&nodes);
                Item::Program(Program { names, facts, span })
            }
        };
        Ok((item, end))
    }

    /// The `{` of a head that did not parse, before anything that begins a line of its own.
    pub(super) fn find_open(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let token = self.next(at);
            let word = token.text(self.text);
            match token.kind {
                Kind::Open if word == "{" => {
                    self.skipped = true;
                    return Some(token.start);
                }
                Kind::End | Kind::Close => return None,
                Kind::Word
                    if (is_statement_word(word) || items::is_item_word(word))
                        && lex::begins_line(self.text, token.start) =>
                {
                    return None;
                }
                _ => at = token.end,
            }
        }
    }

    /// A block, project or test that the text leaves open.
    pub(super) fn never_closed(&mut self, open: Span, at: Token, what: &str) {
        self.skipped = true;
        let end = match at.kind {
            Kind::End => "the file ends here",
            _ => "this must come behind the closing brace",
        };
        let error = Diagnostic::error(
            Code::UnclosedBrace.as_str(),
            format!("this {what} is never closed"),
            open,
            "opened here...",
        )
        .with_label(self.token_span(at), format!("...and {end}"))
        .with_help("add the missing `}`");
        self.push(error);
    }

    /// The statements of a block up to its closing brace; gives where the block ends.
    fn statements(&mut self, body: Body, open: Span, mut at: usize, nodes: &mut Vec<Node<'t>>) -> usize {
        let mut whole = true;
        loop {
            let token = self.next(at);
            let word = token.text(self.text);
            let failed = match token.kind {
                Kind::Close if word == "}" => {
                    if body == Body::Under {
                        nodes.extend(self.statement(Rule::under_end, token.start).ok().map(|(end, _)| end));
                    }
                    return token.end;
                }
                Kind::End => {
                    if whole {
                        self.never_closed(open, token, body.word());
                    }
                    return token.start;
                }
                Kind::Word => {
                    if self.begins_item(token) && !(word == "ask" && matches!(body, Body::Block(_))) {
                        if whole {
                            self.never_closed(open, token, body.word());
                        }
                        return token.start;
                    }
                    let read = match word {
                        "under" if body == Body::Program => self.under(token, nodes).map(|end| (None, end)),
                        "under" if body == Body::Under => {
                            self.misplaced_statement(body, token);
                            self.skipped = true;
                            Ok((None, self.behind_braces(token.end)))
                        }
                        _ => self.block_statement(body, token),
                    };
                    match read {
                        Ok((node, end)) => {
                            nodes.extend(node);
                            at = end;
                            continue;
                        }
                        Err(failed) => failed.0,
                    }
                }
                _ => {
                    self.unexpected_statement(body, token);
                    token.end
                }
            };
            whole = false;
            at = self.recover_statements(body, token.start, failed);
        }
    }

    fn block_statement(&mut self, body: Body, token: Token) -> Result<(Option<Node<'t>>, usize), Failed> {
        let word = token.text(self.text);
        let behind = if word == "ask" { self.next(token.end).text(self.text) } else { "" };
        let rule = match behind {
            "timeout" => Some(Rule::ask_timeout),
            "via" => Some(Rule::ask_via),
            _ => statement_rule(word),
        };
        let Some(rule) = rule else {
            return Err(self.unknown_statement(body, token));
        };
        let rule = if body == Body::Secret && rule == Rule::expect { Rule::secret_expect } else { rule };
        if !body.takes(rule) {
            self.misplaced_statement(body, token);
            // Its own faults matter less than that it is here at all.
            let kept = self.sink.len();
            let read = self.statement(rule, token.start);
            self.sink.truncate(kept);
            self.skipped = true;
            return read.map(|(_, end)| (None, end));
        }
        if rule == Rule::expect {
            self.check_depth(token.start)?;
        }
        self.statement(rule, token.start).map(|(node, end)| (Some(node), end))
    }

    /// `under WORDS { facts }`: its head, its facts and its end one behind the other.
    fn under(&mut self, token: Token, nodes: &mut Vec<Node<'t>>) -> Result<usize, Failed> {
        match self.statement(Rule::under_head, token.start) {
            Ok((head, end)) => {
                let open = head.kid(Rule::lbrace).map_or(head.span(), |brace| brace.span());
                nodes.push(head);
                Ok(self.statements(Body::Under, open, end, nodes))
            }
            Err(failed) => {
                let open = self.find_open(failed.0).ok_or(failed)?;
                let span = self.span(open, open + 1);
                Ok(self.statements(Body::Under, span, open + 1, &mut Vec::new()))
            }
        }
    }

    /// Where the next braces end, without recursion however deep they nest.
    fn behind_braces(&self, mut at: usize) -> usize {
        let mut depth = 0usize;
        loop {
            let token = self.next(at);
            match token.kind {
                Kind::End => return token.start,
                Kind::Open => depth += 1,
                Kind::Close if depth <= 1 => return if depth == 0 { token.start } else { token.end },
                Kind::Close => depth -= 1,
                _ => {}
            }
            at = token.end;
        }
    }

    /// Where parsing goes on inside a block: its closing brace, or a line that begins with a statement or an item.
    fn recover_statements(&mut self, body: Body, start: usize, failed: usize) -> usize {
        self.skipped = true;
        let mut depth = 0usize;
        let mut at = start;
        loop {
            let token = self.next(at);
            let word = token.text(self.text);
            match token.kind {
                Kind::End => return token.start,
                Kind::Word
                    if token.start > start
                        && token.start >= failed
                        && (is_statement_word(word) || self.begins_item(token))
                        && lex::begins_line(self.text, token.start) =>
                {
                    return token.start;
                }
                Kind::Word
                    if token.start > start
                        && token.start >= failed
                        && depth == 0
                        && self.meant(token, body.words()) =>
                {
                    return token.start;
                }
                Kind::Open => depth += 1,
                Kind::Close => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None if word == "}" && token.start > start => return token.start,
                    None => {}
                },
                _ => {}
            }
            at = token.end;
        }
    }

    fn block(&mut self, kind: BlockKind, head: Option<&Node<'t>>, nodes: Vec<Node<'t>>, span: Span) -> Block {
        let name = match head.and_then(|head| head.kid(Rule::word)) {
            Some(word) => self.name(&word),
            None => Text { node: String::new(), span },
        };
        let to = head.and_then(|head| head.kid(Rule::path_id)).map(|path| path.as_text());
        if head.is_some() {
            self.check_to(kind, &name, to.as_ref());
        }
        let scopes = head.map(|head| self.scopes(head)).unwrap_or_default();
        let mut block = Block { to, scopes, ..empty_block(kind, name, span) };
        for node in nodes {
            self.block_part(&mut block, &node);
        }
        if block.lines.is_empty()
            && block.otherwise.is_none()
            && !self.skipped
            && matches!(kind, BlockKind::Exception | BlockKind::Assert)
        {
            let (message, help) = match kind {
                BlockKind::Exception => {
                    ("this exception opens nothing", "write `open`, or `open run` with a pattern")
                }
                _ => (
                    "this assert says nothing",
                    "write the line that must hold, such as `deny run` with a pattern",
                ),
            };
            self.error_help(Code::MissingLine, message, block.name.span, "it has no line", help);
        }
        block
    }

    fn check_to(&mut self, kind: BlockKind, name: &Text, to: Option<&Text>) {
        match (kind, to) {
            (BlockKind::Exception, None) => {
                let help = format!("write `exception {} to GUARD`", name.node);
                let message = "this exception does not say which guard it opens";
                self.error_help(Code::MissingGuard, message, name.span, "no `to` behind this name", help);
            }
            (BlockKind::Rule | BlockKind::Guard | BlockKind::Assert, Some(guard)) => {
                let help = "only an exception names another block; remove it";
                self.error_help(
                    Code::MisplacedClause,
                    "`to` belongs to exceptions",
                    guard.span,
                    "not here",
                    help,
                );
            }
            _ => {}
        }
    }

    fn scopes(&mut self, head: &Node<'t>) -> Scopes {
        let mut scopes = Scopes::default();
        for scope in head.kids() {
            let twice = match scope.rule() {
                Rule::on => scopes.on.replace(self.names_clause(&scope)).map(|first| first.span),
                Rule::from => scopes.from.replace(self.names_clause(&scope)).map(|first| first.span),
                Rule::as_ => scopes.as_.replace(self.names_clause(&scope)).map(|first| first.span),
                Rule::at => scopes.at.replace(self.names_clause(&scope)).map(|first| first.span),
                Rule::files => scopes.files.replace(self.pattern_list(&scope)).map(|first| first.list.span),
                _ => None,
            };
            if let Some(first) = twice {
                self.clause_twice(first, scope.span(), scope.text().split_whitespace().next().unwrap_or(""));
            }
        }
        scopes
    }

    fn block_part(&mut self, block: &mut Block, node: &Node<'t>) {
        self.check_order(block, node);
        match node.rule() {
            Rule::note => {
                let because = node.kid(Rule::because).map(|clause| self.quoted(&clause));
                let suggest = node.kid(Rule::suggest).map(|clause| self.quoted(&clause));
                self.keep(&mut block.because, because, node.span(), "because");
                self.keep(&mut block.suggest, suggest, node.span(), "suggest");
            }
            Rule::ask_timeout => {
                let scalar = self.scalar(node);
                let seconds = self.duration(&scalar);
                if let Some(first) = &block.ask_timeout {
                    self.clause_twice(first.span, node.span(), "ask timeout");
                }
                block.ask_timeout.get_or_insert(seconds);
            }
            Rule::ask_via => {
                let place = self.ask_place(node);
                if let Some(first) = &block.ask_via {
                    self.clause_twice(first.span, node.span(), "ask via");
                }
                block.ask_via.get_or_insert(place);
            }
            Rule::owner => {
                let owner = self.quoted(node);
                self.keep(&mut block.owner, Some(owner), node.span(), "owner");
            }
            Rule::until => {
                let scalar = self.scalar(node);
                let date = self.date(&scalar);
                if let Some(first) = &block.until {
                    self.clause_twice(first.span, node.span(), "until");
                }
                block.until.get_or_insert(date);
            }
            Rule::line => {
                if let Some(line) = self.line(block.kind, node) {
                    block.lines.push(line);
                }
            }
            Rule::otherwise => self.otherwise(block, node),
            Rule::expect => {
                let expect = self.expect(node);
                block.expects.extend(expect);
            }
            _ => {}
        }
    }

    fn otherwise(&mut self, block: &mut Block, node: &Node<'t>) {
        let Some(word) = node.kid(Rule::word) else { return };
        let effect = self.effect(&word, &[]);
        let because = node.kid(Rule::because).map(|clause| self.quoted(&clause));
        if block.kind != BlockKind::Rule {
            let kind = Body::Block(block.kind).word();
            let article = if kind.starts_with(['a', 'e']) { "an" } else { "a" };
            let help = match block.kind {
                BlockKind::Guard => format!(
                    "write the line alone, `{}`; it then holds for every call of its scope",
                    word.text()
                ),
                _ => "remove it".to_owned(),
            };
            let message = format!("{article} {kind} has no `otherwise`");
            self.error_help(
                Code::OtherwiseOutsideRule,
                message,
                node.span(),
                "only rules answer what no line matches",
                help,
            );
        }
        if let Some(first) = &block.otherwise {
            self.clause_twice(first.span, node.span(), "otherwise");
            return;
        }
        block.otherwise = Some(Otherwise { effect, because, span: node.span() });
    }

    /// Keeps the first of a note and complains of a second.
    fn keep(&mut self, place: &mut Option<Text>, new: Option<Text>, span: Span, word: &str) {
        let Some(new) = new else { return };
        match place {
            Some(first) => self.clause_twice(first.span, span, word),
            None => *place = Some(new),
        }
    }

    fn check_order(&mut self, block: &Block, node: &Node<'t>) {
        let span = node.span();
        let line = |wanted: &str| format!("the order of a block is why, lines, `otherwise`, tests; {wanted}");
        let last_line = block.lines.last().map(|line| line.span);
        let first_expect = block.expects.first().map(|expect| expect.span);
        let (before, code, message, help) = match node.rule() {
            Rule::note | Rule::ask_timeout | Rule::ask_via | Rule::owner | Rule::until => {
                let after = first_expect.or(block.otherwise.as_ref().map(|o| o.span)).or(last_line);
                (after, Code::BlockOrder, "the why of a block comes first", line("move this to the top"))
            }
            Rule::line => match &block.otherwise {
                Some(otherwise) if first_expect.is_none() => {
                    let help = "`otherwise` is what no line matched: move it behind the last line".to_owned();
                    (Some(otherwise.span), Code::OtherwiseNotLast, "a line behind `otherwise`", help)
                }
                _ => (
                    first_expect,
                    Code::BlockOrder,
                    "lines come before tests",
                    line("move this above the first `expect`"),
                ),
            },
            Rule::otherwise => (
                first_expect,
                Code::BlockOrder,
                "`otherwise` comes before tests",
                line("move it above the first `expect`"),
            ),
            _ => return,
        };
        if let Some(before) = before {
            let error = Diagnostic::error(code.as_str(), message, span, "this comes too late")
                .with_label(before, "behind this")
                .with_help(help);
            self.push(error);
        }
    }

    fn test(&mut self, head: Option<&Node<'t>>, nodes: Vec<Node<'t>>, span: Span) -> Test {
        let title = head.map_or(Spanned { node: String::new(), span }, |head| self.quoted(head));
        let mut test = Test { title, givens: Vec::new(), expects: Vec::new(), span };
        for node in nodes {
            match node.rule() {
                Rule::given => {
                    if let Some(first) = test.expects.first() {
                        let error = Diagnostic::error(
                            Code::BlockOrder.as_str(),
                            "what is given comes before what is expected",
                            node.span(),
                            "this comes too late",
                        )
                        .with_label(first.span, "behind this")
                        .with_help("move it above the first `expect`; one test has one situation");
                        self.push(error);
                    }
                    let given = self.given(&node);
                    test.givens.extend(given.map(|given| Spanned { node: given, span: node.span() }));
                }
                _ => {
                    let expect = self.expect(&node);
                    test.expects.extend(expect);
                }
            }
        }
        test
    }

    /// Whether a verb may begin a line of this kind of block.
    pub(super) fn check_verb(&mut self, kind: BlockKind, verb: Verb, span: Span) {
        match (kind, verb) {
            (BlockKind::Exception, Verb::Open) => {}
            (BlockKind::Exception, _) => {
                let word = self.text.get(span.start as usize..span.end as usize).unwrap_or("").to_owned();
                let help = "write `open` and what the guard shall let through; an exception allows nothing, the rules still decide";
                self.error_help(
                    Code::VerbInException,
                    format!("an exception does not `{word}`"),
                    span,
                    "not a line of an exception",
                    help,
                );
            }
            (_, Verb::Open) => {
                let help = match kind {
                    BlockKind::Rule => {
                        "a rule says `allow`; `open` belongs to an exception, which lets something through one guard"
                    }
                    _ => "`open` belongs to an exception, which lets something through one guard",
                };
                self.error_help(
                    Code::OpenOutsideException,
                    "`open` outside an exception",
                    span,
                    "nothing to open here",
                    help,
                );
            }
            _ => {}
        }
    }
}

/// A block of which nothing but its head is known.
pub(crate) fn empty_block(kind: BlockKind, name: Text, span: Span) -> Block {
    Block {
        kind,
        name,
        to: None,
        scopes: Scopes::default(),
        because: None,
        suggest: None,
        ask_timeout: None,
        ask_via: None,
        owner: None,
        until: None,
        lines: Vec::new(),
        otherwise: None,
        expects: Vec::new(),
        span,
    }
}
