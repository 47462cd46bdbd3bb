//! From a failure of the grammar to the message that helps.
//!
//! INVARIANT: what the grammar expected is told in the words of the language, and a fault is told once.

use super::blocks::{Body, PROGRAM_WORDS};
use super::lex::{self, Kind, Token};
use super::symbols::symbol;
use super::words::{
    CLAUSES, FOREIGN, FOREIGN_CLAUSES, KEYWORDS, SUBJECTS, VERBS, join, join_with, nearest, usage,
};
use super::{Failed, Parser, Rule, items};
use crate::ast::Text;
use crate::code::Code;
use crate::source::Span;
use pest::error::{Error, ErrorVariant, InputLocation};

impl<'t> Parser<'t> {
    /// Turns a failure of the grammar into a diagnostic; gives where it went wrong.
    pub(super) fn diagnose(&mut self, rule: Rule, start: usize, error: &Error<Rule>) -> Failed {
        let at = start + location(error);
        let token = self.next(at);
        let failed = Failed(token.start);
        let first = self.unclosed.partition_point(|open| *open < start);
        if self.unclosed.get(first).is_some_and(|open| *open <= token.start) {
            return failed;
        }
        let mut expected = match &error.variant {
            ErrorVariant::ParsingError { positives, .. } => positives.clone(),
            ErrorVariant::CustomError { .. } => {
                let span = self.span(start, self.next(start).end);
                let help = "split it into several statements";
                self.error_help(Code::TooLong, "this statement is too long", span, "begins here", help);
                return failed;
            }
        };
        expected.dedup();
        self.explain(rule, start, token, &expected);
        failed
    }

    fn explain(&mut self, rule: Rule, start: usize, token: Token, expected: &[Rule]) {
        let span = self.token_span(token);
        let word = token.text(self.text);
        let wants = |rules: &[Rule]| expected.iter().any(|rule| rules.contains(rule));
        let entry = wants(&[Rule::at_ref]);
        let wants_pattern = wants(&[Rule::list, Rule::string]);
        let wants_run = wants(&[Rule::runs_list, Rule::run]);
        let wants_name =
            wants(&[Rule::names, Rule::bare, Rule::members, Rule::path_id]) || entry && wants_pattern;
        let wants_number = wants(&[Rule::scalar, Rule::quantity]);
        let before = self.before(start, token);
        let open_end = wants(&[Rule::after, Rule::lbrace]);
        match token.kind {
            Kind::Word | Kind::Close
                if before == "," && lex::begins_line(self.text, token.start) && !open_end =>
            {
                let help = "remove the comma before this, or write a further entry";
                self.error_help(
                    Code::Unexpected,
                    "a comma with nothing behind it",
                    span,
                    "an entry must stand before this",
                    help,
                );
            }
            Kind::String(_) if wants_run && !wants_pattern => {
                let help = format!("write it in backticks: `{}`", word.trim_matches('"'));
                self.error_help(
                    Code::QuotedRunPattern,
                    "a run pattern stands in backticks",
                    span,
                    "in quotes",
                    help,
                );
            }
            Kind::Run(_) if wants_pattern && !wants_run => {
                let help = format!("write \"{}\"", word.trim_matches('`'));
                self.error_help(
                    Code::BacktickPattern,
                    "this pattern stands in quotes",
                    span,
                    "in backticks",
                    help,
                );
            }
            Kind::Raw(_) if wants_pattern => {
                let help = "write a glob in plain quotes; regular expressions are for `content` only";
                self.error_help(
                    Code::RegexPattern,
                    "a regular expression cannot stand here",
                    span,
                    "not a glob",
                    help,
                );
            }
            Kind::Word if wants_name && KEYWORDS.contains(&word) => {
                let help = format!("write it in quotes: \"{word}\"");
                let message = format!("`{word}` is a keyword and no name");
                self.error_help(Code::KeywordAsName, message, span, "a name must stand here", help);
            }
            Kind::Word if self.is_boundary(token, start, expected) => {
                match self.body_of(rule) {
                    Some(body) => drop(self.unknown_statement(body, token)),
                    None => drop(self.unknown_item(token.start)),
                };
                self.told = Some(token.start);
            }
            Kind::Word if wants(&[Rule::after]) && self.known_clause(rule, token) => {}
            Kind::Word | Kind::Other
                if (wants_pattern || wants_run)
                    && !open_end
                    && !KEYWORDS.contains(&word)
                    && (token.kind == Kind::Word || word.starts_with(['.', '/', '~', '*']))
                    && rule != Rule::expect =>
            {
                self.bare_word(token, wants_pattern);
            }
            Kind::Word if wants_number => self.wrong_value(before, token),
            Kind::Word if rule == Rule::block_head && expected.contains(&Rule::lbrace) => {
                self.head_word(start, token)
            }
            Kind::Word if rule == Rule::line && VERBS.contains(&before) => self.unknown_subject(token),
            Kind::Word if wants(&[Rule::after]) => self.unknown_keyword(token, "clause", CLAUSES),
            _ => self.expected_found(rule, token, expected),
        }
    }

    /// The token before this one within a statement.
    fn before(&self, start: usize, token: Token) -> &'t str {
        let text: &'t str = self.text;
        let mut before = lex::next(text, start);
        loop {
            let next = lex::next(text, before.end);
            if next.start >= token.start || next.kind == Kind::End {
                return before.text(text);
            }
            before = next;
        }
    }

    /// A pattern without its quotes, up to the next blank.
    fn bare_word(&mut self, token: Token, quotes: bool) {
        let rest = self.text.get(token.start..).unwrap_or("");
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '"' | '`' | '#' | ']' | ';');
        let written = rest.get(..rest.find(ends).unwrap_or(rest.len())).unwrap_or("");
        let written = if written.len() < token.end - token.start { token.text(self.text) } else { written };
        let span = self.span(token.start, token.start + written.len());
        let (message, help) = match quotes {
            true => ("a pattern stands in quotes", format!("write it in quotes: \"{written}\"")),
            false => ("a run pattern stands in backticks", format!("write it in backticks: `{written}`")),
        };
        self.error_help(Code::BareWord, message, span, "a bare word", help);
    }

    /// Whether a word begins a line where the statement before it could have ended.
    fn is_boundary(&self, token: Token, start: usize, expected: &[Rule]) -> bool {
        token.start > start
            && expected.contains(&Rule::after)
            && lex::begins_line(self.text, token.start)
            && !CLAUSES.contains(&token.text(self.text))
            && !["touching", "reading", "writing", "deleting", "sending", "via", "by", "per", "since"]
                .contains(&token.text(self.text))
    }

    /// The kind of block a statement stands in, as far as its rule tells.
    fn body_of(&self, rule: Rule) -> Option<Body> {
        use crate::ast::BlockKind;
        Some(match rule {
            Rule::note | Rule::line | Rule::otherwise | Rule::expect => Body::Block(BlockKind::Rule),
            Rule::owner | Rule::until => Body::Block(BlockKind::Exception),
            Rule::given => Body::Test,
            Rule::secret_keyword
            | Rule::secret_pattern
            | Rule::secret_entropy
            | Rule::secret_checksum
            | Rule::secret_samples
            | Rule::secret_expect => Body::Secret,
            Rule::same_words
            | Rule::fact_flags
            | Rule::options
            | Rule::assignments
            | Rule::reads
            | Rule::placeholders
            | Rule::ends
            | Rule::under_head
            | Rule::runs
            | Rule::lists
            | Rule::prints
            | Rule::connects
            | Rule::effect
            | Rule::takes
            | Rule::uses => Body::Program,
            _ => return None,
        })
    }

    /// Clauses that stand where they do not belong.
    fn known_clause(&mut self, rule: Rule, token: Token) -> bool {
        let word = token.text(self.text);
        let span = self.token_span(token);
        match word {
            "touching" | "reading" | "writing" | "deleting" | "sending" | "via" => {
                let message = format!("`{word}` belongs to a single run pattern");
                let help = format!("write it right behind the pattern: run `…` {word} …");
                self.error_help(Code::MisplacedClause, message, span, "not here", help);
            }
            "by" | "per" if rule == Rule::line => {
                let message = format!("`{word}` stands without `over`");
                let help = format!("write the limit first: `over 5 {word} …`");
                self.error_help(Code::TallyWithoutOver, message, span, "counts nothing", help);
            }
            "since" if rule == Rule::line => {
                let help =
                    "write the limit first, `over 5 since …`, or a condition, `unless session ran … since …`";
                self.error_help(
                    Code::TallyWithoutOver,
                    "`since` stands without `over`",
                    span,
                    "counts nothing",
                    help,
                );
            }
            _ => return false,
        }
        true
    }

    /// A word where a number, time or day must stand.
    fn wrong_value(&mut self, before: &str, token: Token) {
        let span = self.token_span(token);
        let word = token.text(self.text);
        let (code, what, help) = match before {
            "over" => (
                Code::BadQuantity,
                "quantity",
                "write money (`5 USDC`), a share (`50%`), a time (`10m`) or a count (`30`)",
            ),
            "per" => (
                Code::BadDuration,
                "duration",
                "write a number and `s`, `m`, `h` or `d`, such as `1d`, or `session`",
            ),
            "timeout" => {
                (Code::BadDuration, "duration", "write a number and `s`, `m`, `h` or `d`, such as `120s`")
            }
            "until" | "today" => (Code::BadDate, "date", "write year, month and day: `2027-03-31`"),
            _ => (Code::BadNumber, "number", "write it in digits"),
        };
        self.error_help(code, format!("`{word}` is no {what}"), span, format!("not a {what}"), help);
    }

    /// A word in a head where a scope or the brace must stand.
    fn head_word(&mut self, start: usize, token: Token) {
        let keyword = self.next(start);
        let name = self.next(keyword.end);
        let kind = keyword.text(self.text);
        if ["on", "from", "as", "at", "for"].contains(&name.text(self.text)) {
            let help = format!("write `{kind} NAME {} …`", name.text(self.text));
            let span = self.token_span(name);
            self.error_help(
                Code::MissingName,
                format!("this {kind} has no name"),
                span,
                "a name must stand before this",
                help,
            );
            return;
        }
        let word = token.text(self.text);
        if Body::Block(crate::ast::BlockKind::Rule).words().contains(&word) || word == "open" {
            let span = self.token_span(token);
            let help = format!(
                "scopes come first, then the lines in braces: `{kind} {} on … {{ {word} … }}`",
                name.text(self.text)
            );
            let message = format!("expected `{{` or a scope, found `{word}`");
            self.error_help(Code::Unexpected, message, span, "a line stands in braces", help);
            return;
        }
        self.unknown_keyword(token, "scope", &["on", "from", "as", "at", "for"]);
    }

    fn unknown_subject(&mut self, token: Token) {
        let word = token.text(self.text);
        let span = self.token_span(token);
        if let Some(instead) = FOREIGN_CLAUSES.iter().find(|(foreign, _)| *foreign == word) {
            self.error_help(
                Code::UnknownKeyword,
                format!("unknown subject `{word}`"),
                span,
                "not a subject",
                instead.1,
            );
            return;
        }
        let known: Vec<&str> = SUBJECTS.iter().chain(CLAUSES).copied().collect();
        let help = match nearest(word, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "the subjects are path, domain, run, shell, arg, content and the payment words".to_owned()
            }
        };
        self.error_help(
            Code::UnknownKeyword,
            format!("unknown subject `{word}`"),
            span,
            "not a subject",
            help,
        );
    }

    fn unknown_keyword(&mut self, token: Token, what: &str, known: &[&str]) {
        let word = token.text(self.text);
        let span = self.token_span(token);
        let foreign = FOREIGN_CLAUSES.iter().find(|(foreign, _)| *foreign == word);
        let help = match (foreign, nearest(word, known)) {
            (Some((_, instead)), _) => (*instead).to_owned(),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("here can stand {}", join(known.iter().map(|k| format!("`{k}`")))),
        };
        self.error_help(
            Code::UnknownKeyword,
            format!("unknown {what} `{word}`"),
            span,
            format!("not a {what}"),
            help,
        );
    }

    fn expected_found(&mut self, rule: Rule, token: Token, expected: &[Rule]) {
        let mut symbols: Vec<&str> = expected.iter().map(|rule| symbol(*rule)).collect();
        symbols.sort_unstable();
        symbols.dedup();
        if symbols.len() > 1 {
            symbols.retain(|symbol| *symbol != "`,`");
        }
        let found = self.found(token);
        let message = match symbols.len() {
            0 => format!("unexpected {found}"),
            1..=5 => format!("expected {}, found {found}", join(symbols.iter().map(|s| (*s).to_owned()))),
            _ => format!("{found} cannot stand here"),
        };
        let span = self.token_span(token);
        let label = if token.kind == Kind::End { "the file ends here" } else { "not expected here" };
        let help = match self.foreign_sign(rule, token, expected) {
            Some(help) => Some(help),
            None if symbols.len() > 5 => {
                Some(format!("here can stand {}", join(symbols.iter().map(|s| (*s).to_owned()))))
            }
            None => usage(rule).map(|usage| format!("write {usage}")),
        };
        match help {
            Some(help) => self.error_help(Code::Unexpected, message, span, label, help),
            None => self.error(Code::Unexpected, message, span, label),
        }
    }

    /// What to write instead of a sign that other languages have, or of a text that says not what it is.
    fn foreign_sign(&self, rule: Rule, token: Token, expected: &[Rule]) -> Option<String> {
        let rest = self.text.get(token.start..).unwrap_or("");
        let in_block = matches!(rule, Rule::line | Rule::block_head);
        Some(match rest.chars().next()? {
            '/' if rest.starts_with("//") || rest.starts_with("/*") => "a comment begins with `#`".to_owned(),
            '\'' => "a text stands in double quotes, a run pattern in backticks".to_owned(),
            ';' => "remove it: nothing ends with `;`".to_owned(),
            ':' | '-' | '[' if in_block => {
                "this is no YAML: a block is `rule NAME on TOOLS { … }`, a line in it `allow path \"./src/**\"`; \
                 `policy import` translates an agent-firewall.yml"
                    .to_owned()
            }
            '*' if rule == Rule::block_head => {
                let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | '"' | '`');
                let written = rest.split(ends).next().unwrap_or("*");
                format!("a name with `*` stands in quotes: \"{written}\"")
            }
            '"' | '`' if rule == Rule::line && expected.iter().any(|e| symbol(*e) == "`path`") => {
                "say what it is: `path` or `domain` and a text in quotes, `run` and a command in backticks".to_owned()
            }
            _ => return None,
        })
    }

    fn found(&self, token: Token) -> String {
        match token.kind {
            Kind::End => "the end of the file".to_owned(),
            Kind::String(_) => "a text in quotes".to_owned(),
            Kind::Raw(_) => "a regular expression".to_owned(),
            Kind::Run(_) => "a run pattern".to_owned(),
            _ => format!("`{}`", token.text(self.text).chars().take(40).collect::<String>()),
        }
    }

    /// A word that is no decision.
    pub(super) fn unknown_decision(&mut self, word: &str, span: Span, also: &[&str]) {
        let mut known = vec!["allow", "info", "warn", "ask", "deny"];
        known.extend(also);
        let all = join_with(known.iter().map(|word| (*word).to_owned()), "and");
        let help = match (FOREIGN.iter().find(|(foreign, _)| *foreign == word), nearest(word, &known)) {
            (Some((_, instead)), _) => format!("the decisions are {all}; {instead}"),
            (None, Some(near)) => format!("did you mean `{near}`? the decisions are {all}"),
            (None, None) => format!("the decisions are {all}"),
        };
        self.error_help(
            Code::UnknownDecision,
            format!("unknown decision `{word}`"),
            span,
            "not a decision",
            help,
        );
    }

    /// A word that is not among the few that a clause takes.
    pub(super) fn unknown_word(&mut self, what: &str, word: &Text, known: &[&str]) {
        let help = match nearest(&word.node, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write {}", join(known.iter().map(|k| format!("`{k}`")))),
        };
        self.error_help(
            Code::UnknownWord,
            format!("unknown {what} `{}`", word.node),
            word.span,
            format!("not a {what}"),
            help,
        );
    }

    /// A word that begins no item.
    pub(super) fn unknown_item(&mut self, at: usize) -> Failed {
        let token = self.next(at);
        if self.told == Some(token.start) {
            return Failed(token.end);
        }
        let word = token.text(self.text);
        let span = self.token_span(token);
        if Body::Block(crate::ast::BlockKind::Rule).words().contains(&word) || word == "open" {
            let help =
                "put it between the braces of a rule or guard; a default for everything is `default ask`";
            self.error_help(
                Code::MisplacedStatement,
                format!("`{word}` stands outside a block"),
                span,
                "no block is open here",
                help,
            );
            return Failed(token.end);
        }
        let mut known = items::ITEM_WORDS.to_vec();
        known.extend(["ask timeout", "ask via"]);
        let foreign = FOREIGN.iter().chain(FOREIGN_CLAUSES).find(|(foreign, _)| *foreign == word);
        let help = match (foreign, nearest(word, &known)) {
            (Some((_, instead)), _) => format!("{instead}, and it stands in a rule or guard"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("an item begins with {}", join(known.iter().map(|k| format!("`{k}`")))),
        };
        self.error_help(
            Code::UnknownKeyword,
            format!("unknown keyword `{word}`"),
            span,
            "no item begins so",
            help,
        );
        Failed(token.end)
    }

    /// A word that begins no statement of its block.
    pub(super) fn unknown_statement(&mut self, body: Body, token: Token) -> Failed {
        if self.told == Some(token.start) {
            return Failed(token.end);
        }
        let word = token.text(self.text);
        let span = self.token_span(token);
        let known = body.words();
        let near = nearest(word, known);
        let decision = matches!(near, Some("allow" | "info" | "warn" | "ask" | "deny"));
        if matches!(body, Body::Block(_)) && (decision || FOREIGN.iter().any(|(foreign, _)| *foreign == word))
        {
            self.unknown_decision(word, span, &[]);
            return Failed(token.end);
        }
        let what = body.word();
        if items::is_item_word(word) {
            let help = format!("close the {what} first, or write the item on a line of its own");
            self.error_help(
                Code::MisplacedStatement,
                format!("`{word}` stands inside a {what}"),
                span,
                "an item, not a line",
                help,
            );
            return Failed(token.end);
        }
        let clause = CLAUSES.contains(&word)
            || ["touching", "reading", "writing", "deleting", "sending", "via", "by", "per", "since"]
                .contains(&word);
        if clause {
            let help = "it belongs to the line before it: put it right behind that line's pattern";
            self.error_help(
                Code::MisplacedClause,
                format!("`{word}` begins no line"),
                span,
                "not here",
                help,
            );
            return Failed(token.end);
        }
        let foreign = FOREIGN_CLAUSES.iter().find(|(foreign, _)| *foreign == word);
        let help = match (foreign, near) {
            (Some((_, instead)), _) => (*instead).to_owned(),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("a {what} holds {}", join(known.iter().map(|k| format!("`{k}`")))),
        };
        self.error_help(
            Code::UnknownKeyword,
            format!("unknown keyword `{word}`"),
            span,
            "no line begins so",
            help,
        );
        Failed(token.end)
    }

    /// A statement that is known, in a block that does not take it.
    pub(super) fn misplaced_statement(&mut self, body: Body, token: Token) {
        let word = token.text(self.text);
        let what = body.word();
        let help = match word {
            "owner" | "until" => "only an exception has an owner and an end",
            "given" => "what is given stands in a `test` block, with the calls that it is given for",
            "keyword" | "pattern" | "entropy" => "this belongs into a `secret` block",
            "under" if body == Body::Under => "write both words, as in `under \"compose exec\"`",
            word if PROGRAM_WORDS.contains(&word) => "this belongs into a `program` block",
            _ => "lines belong into a rule, guard, exception or assert",
        };
        let article = if what.starts_with(['a', 'e']) { "an" } else { "a" };
        let message = format!("{article} {what} takes no `{word}`");
        self.error_help(Code::MisplacedStatement, message, self.token_span(token), "not here", help);
    }

    pub(super) fn unexpected_statement(&mut self, body: Body, token: Token) {
        if self.unclosed.binary_search(&token.start).is_ok() {
            return;
        }
        let found = self.found(token);
        let help = format!("a {} holds {}", body.word(), join(body.words().iter().map(|k| format!("`{k}`"))));
        let message = format!("{found} begins no line");
        self.error_help(Code::Unexpected, message, self.token_span(token), "not expected here", help);
    }

    pub(super) fn unexpected_item(&mut self, token: Token) {
        if self.unclosed.binary_search(&token.start).is_ok() {
            return;
        }
        let found = self.found(token);
        let help =
            format!("an item begins with {}", join(items::ITEM_WORDS.iter().map(|k| format!("`{k}`"))));
        let message = format!("{found} begins no item");
        self.error_help(Code::Unexpected, message, self.token_span(token), "not expected here", help);
    }
}

/// Where in its input the grammar failed.
pub(super) fn location(error: &Error<Rule>) -> usize {
    match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    }
}
