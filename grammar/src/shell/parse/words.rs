//! Words, assignments, redirections and here-documents of the tree.
//!
//! INVARIANT: every expansion of a word becomes a part of it, with what it runs inside; a here-document body belongs
//! to the operator that asked for it, or the text is not understood.

use super::generated::{Rule, ShellParser};
use super::{Builder, CONTINUED, Quote, after, before, joined, span_of};
use crate::shell::ast::*;
use crate::shell::quote::{ansi_c, unescape_backtick};
use pest::Parser;
use pest::iterators::Pair;
use std::borrow::Cow;

impl<'a> Builder<'a> {
    pub(super) fn simple(&mut self, pair: Pair<'a, Rule>) -> Simple<'a> {
        let range = span_of(&pair);
        let mut simple = Simple { assigns: Vec::new(), words: Vec::new(), redirects: Vec::new(), range };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::word => {
                    if simple.words.is_empty() && part.as_str().contains("\\\n") && splits(part.as_str()) {
                        self.problem(part.as_span().start(), CONTINUED);
                    }
                    self.zsh_word(&part, &simple);
                    simple.words.push(self.word(part));
                }
                Rule::assign => {
                    let assign = self.assign(part);
                    simple.assigns.push(assign);
                }
                Rule::decl_arr => {
                    let range = span_of(&part);
                    // `export a=(...)`: the argument is an assignment; its elements are read, its word is not known.
                    let assign = self.assign(part);
                    let mut bits = vec![
                        Bit::Text(Cow::Borrowed(assign.name)),
                        Bit::Text(Cow::Borrowed("=")),
                        Bit::Opaque,
                    ];
                    bits.extend(assign.subscript);
                    if let AssignValue::Array(elements, _) = assign.value {
                        for element in elements {
                            bits.extend(element.bits);
                        }
                    }
                    simple.words.push(WordNode { bits, range });
                }
                Rule::redirect => {
                    let redirect = self.redirect(part);
                    simple.redirects.extend(redirect);
                }
                _ => self.other(part),
            }
        }
        simple
    }

    fn assign(&mut self, pair: Pair<'a, Rule>) -> Assign<'a> {
        let mut assign = Assign {
            name: "",
            subscript: Vec::new(),
            indexed: false,
            append: false,
            value: AssignValue::Word(WordNode::default()),
        };
        let start = pair.as_span().start();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => {
                    assign.name = part.as_str();
                    self.zsh_name(start, assign.name);
                }
                Rule::subscript => {
                    self.bash_only(start, "an array");
                    assign.indexed = true;
                    // As written, for the names in it, and what is inside.
                    assign.subscript = vec![Bit::Bare(part.as_str())];
                    assign.subscript.append(&mut self.inside(part, Quote::None));
                }
                Rule::assign_op => {
                    assign.append = part.as_str() == "+=";
                    if assign.append {
                        self.extension(start, "+=");
                    }
                }
                Rule::value => assign.value = AssignValue::Word(self.word(part)),
                Rule::array => {
                    self.bash_only(start, "an array");
                    assign.value = self.array(part);
                }
                _ => self.other(part),
            }
        }
        assign
    }

    fn array(&mut self, pair: Pair<'a, Rule>) -> AssignValue<'a> {
        let (mut elements, mut keyed) = (Vec::new(), false);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::word => elements.push(self.word(part)),
                Rule::arr_kv => {
                    keyed = true;
                    let range = span_of(&part);
                    let mut bits = Vec::new();
                    for inner in part.into_inner() {
                        match inner.as_rule() {
                            Rule::subscript => {
                                bits.push(Bit::Bare(inner.as_str()));
                                bits.append(&mut self.inside(inner, Quote::None));
                            }
                            Rule::value => bits.append(&mut self.word(inner).bits),
                            Rule::assign_op => {}
                            _ => self.other(inner),
                        }
                    }
                    elements.push(WordNode { bits, range });
                }
                _ => self.other(part),
            }
        }
        AssignValue::Array(elements, keyed)
    }

    pub(super) fn redirect(&mut self, pair: Pair<'a, Rule>) -> Option<RedirectNode<'a>> {
        let start = pair.as_span().start();
        let continued = before(&pair).strip_suffix("\\\n").map(|text| text.trim_end_matches("\\\n"));
        if continued.is_some_and(|text| text.ends_with(|c: char| c.is_ascii_digit() || c == '}')) {
            self.problem(start, CONTINUED);
        }
        let (mut fd, mut op, mut target) = ("", "", None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::io_num => {
                    fd = part.as_str();
                    if fd.len() > 1 {
                        self.extension(start, if fd.starts_with('{') { "{fd}>" } else { "10>" });
                    }
                }
                Rule::redir_op => {
                    op = part.as_str();
                    if op.starts_with("&>") {
                        self.extension(start, "&>");
                    }
                }
                Rule::word => {
                    // `>! FILE` writes FILE.
                    if part.as_str().starts_with(['!', '|', '&']) {
                        self.otherwise(start, ">!", ZSH);
                    }
                    target = Some(Target::Word(self.word(part)));
                }
                Rule::herestr => {
                    self.extension(start, "<<<");
                    op = "<<<";
                    for word in part.into_inner() {
                        target = Some(Target::Word(self.word(word)));
                    }
                }
                Rule::heredoc => {
                    let index = self.heredoc(part);
                    op = if self.tree.heredocs.last().is_some_and(|doc| doc.strip) { "<<-" } else { "<<" };
                    target = Some(Target::Here(index));
                }
                _ => self.other(part),
            }
        }
        target.map(|target| RedirectNode { fd, op, target })
    }

    fn heredoc(&mut self, pair: Pair<'a, Rule>) -> usize {
        let mut doc = HereDoc {
            delimiter: "",
            quoted: true,
            strip: false,
            depth: self.substitutions,
            start: pair.as_span().start(),
            body: WordNode::default(),
        };
        for part in pair.into_inner() {
            let text = part.as_str();
            match part.as_rule() {
                Rule::hd_dash => doc.strip = true,
                Rule::delim_sq | Rule::delim_dq => {
                    doc.delimiter = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
                }
                Rule::delim_bs => doc.delimiter = text.get(1..).unwrap_or_default(),
                Rule::delim_plain => {
                    doc.quoted = false;
                    doc.delimiter = text;
                }
                _ => self.other(part),
            }
        }
        let index = self.tree.heredocs.len();
        self.tree.heredocs.push(doc);
        self.pending.push_back(index);
        index
    }

    /// Joins a body with its operator and proves what the grammar cannot.
    pub(super) fn body(&mut self, pair: Pair<'a, Rule>) {
        let at = pair.as_span().start();
        let mut parts = pair.into_inner();
        let (text, end) = match (parts.next(), parts.next()) {
            (Some(text), Some(end)) => (text.as_str(), end.as_str()),
            _ => ("", ""),
        };
        let Some(index) = self.pending.pop_front() else {
            return self.problem(at, "a here-document body without its operator");
        };
        let Some(doc) = self.tree.heredocs.get(index) else { return };
        let (quoted, strip, depth, delimiter) = (doc.quoted, doc.strip, doc.depth, doc.delimiter);
        let bare = end.trim_start_matches('\t');
        if depth != self.substitutions {
            self.problem(at, "a here-document whose body stands inside another substitution");
        } else if bare.strip_suffix('\n').unwrap_or(bare) != delimiter || (bare.is_empty() && end.is_empty())
        {
            self.problem(at, format!("the here-document has no end line `{delimiter}`"));
        } else if !strip && bare.len() != end.len() {
            self.problem(at, "a tab stands before the end line of a here-document");
        } else if !quoted && text.strip_suffix('\n').is_some_and(|lines| lines.ends_with('\\')) {
            self.problem(at, "a continuation stands before the end line of a here-document");
        }
        let bits = if quoted || !text.contains(['$', '`', '\\']) {
            vec![Bit::Text(Cow::Borrowed(text))]
        } else {
            self.here_bits(text, at)
        };
        if let Some(doc) = self.tree.heredocs.get_mut(index) {
            doc.body.bits = if strip { bits.into_iter().map(strip_tabs).collect() } else { bits };
        }
    }

    fn here_bits(&mut self, text: &'a str, at: usize) -> Vec<Bit<'a>> {
        let mut bits = Vec::new();
        match ShellParser::parse(Rule::hd_expand, text) {
            Ok(pairs) if self.enter(at) => {
                for part in pairs.flat_map(Pair::into_inner) {
                    self.bit(part, Quote::Here, &mut bits);
                }
                self.depth -= 1;
            }
            _ => self.problem(at, "an expansion in this here-document is not understood"),
        }
        bits
    }

    pub(super) fn word(&mut self, pair: Pair<'a, Rule>) -> WordNode<'a> {
        let text = pair.as_str();
        if text.starts_with('~') && text.contains("\\\n") {
            self.problem(pair.as_span().start(), CONTINUED);
        }
        if text.starts_with('=') && text.len() > 1 {
            // `=ls` is the path of that program.
            self.otherwise(pair.as_span().start(), "=", ZSH);
        }
        WordNode { range: span_of(&pair), bits: self.inside(pair, Quote::None) }
    }

    pub(super) fn inside(&mut self, pair: Pair<'a, Rule>, quote: Quote) -> Vec<Bit<'a>> {
        let mut bits = Vec::new();
        if self.enter(pair.as_span().start()) {
            for part in pair.into_inner() {
                self.bit(part, quote, &mut bits);
            }
            self.depth -= 1;
        }
        bits
    }

    fn substitution(&mut self, pair: Pair<'a, Rule>) -> List<'a> {
        self.substitutions += 1;
        let mut list = List::default();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::list => list = self.list(part),
                Rule::proc_op => {}
                _ => self.other(part),
            }
        }
        self.substitutions -= 1;
        list
    }

    fn bit(&mut self, pair: Pair<'a, Rule>, quote: Quote, bits: &mut Vec<Bit<'a>>) {
        let (text, start) = (pair.as_str(), pair.as_span().start());
        let quoted = quote != Quote::None;
        match pair.as_rule() {
            Rule::lit => bits.push(Bit::Bare(text)),
            Rule::dq_text | Rule::hde_text => bits.push(Bit::Text(Cow::Borrowed(text))),
            Rule::dollar | Rule::dq_dollar => {
                if after(&pair).starts_with(['=', '~', '^', '+', ':']) {
                    self.otherwise(start, "$", ZSH);
                }
                bits.push(Bit::Text(Cow::Borrowed("$")));
            }
            Rule::sq => bits.push(Bit::Text(Cow::Borrowed(text.trim_matches('\'')))),
            Rule::ansi => {
                self.extension(start, "$'");
                let body = text.get(2..text.len().saturating_sub(1)).unwrap_or_default();
                bits.push(ansi_c(body).map_or(Bit::Opaque, |text| Bit::Text(Cow::Owned(text))));
            }
            Rule::esc => escape(text, quote, bits),
            Rule::locale => {
                self.bash_only(start, "$\"");
                for part in pair.into_inner() {
                    self.bit(part, quote, bits);
                }
            }
            Rule::dq => {
                bits.push(Bit::Text(Cow::Borrowed("")));
                bits.append(&mut self.inside(pair, Quote::Double));
            }
            Rule::param => {
                let head = text.get(1..).unwrap_or_default();
                let mut next = after(&pair).chars();
                let reads_on = match next.next() {
                    // An element, and what csh calls a modifier.
                    Some('[') => true,
                    Some(':') => next.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '&' || c == '#'),
                    Some(c) => head == "#" && (c.is_ascii_alphabetic() || c == '_'),
                    None => false,
                };
                if reads_on && quote != Quote::Here {
                    self.otherwise(start, "$x[", ZSH);
                }
                bits.push(Bit::Param { head, tail: "", inside: Vec::new(), quoted, open: true });
            }
            Rule::braced | Rule::braced_dq => self.braced(pair, quote, bits),
            Rule::cmdsub | Rule::funsub => {
                let continued = text.get(2..).is_some_and(|text| {
                    text.starts_with("\\\n") && text.trim_start_matches("\\\n").starts_with('(')
                });
                if continued || text.starts_with("$((") && text.contains(")\\\n") {
                    self.problem(start, CONTINUED);
                }
                if pair.as_rule() == Rule::funsub {
                    self.bash_only(start, "${ ");
                }
                if self.enter(start) {
                    let list = self.substitution(pair);
                    bits.push(Bit::Substitution { list, quoted });
                    self.depth -= 1;
                }
            }
            Rule::procsub => {
                self.extension(start, "<(");
                if self.enter(start) {
                    let list = self.substitution(pair);
                    bits.push(Bit::Process { list });
                    self.depth -= 1;
                }
            }
            Rule::backtick => {
                let body = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
                let text = unescape_backtick(body, quote == Quote::Double);
                bits.push(Bit::Backtick { text, start, quoted });
            }
            Rule::arith | Rule::arith_old => {
                if pair.as_rule() == Rule::arith_old {
                    self.extension(start, "$[");
                }
                let inside = self.inside(pair, quote);
                bits.push(Bit::Arith { text, inside });
            }
            Rule::extglob => {
                self.bash_only(start, "a pattern list");
                let inside = self.inside(pair, quote);
                bits.push(Bit::ExtGlob { inside });
            }
            _ => self.other(pair),
        }
    }

    fn braced(&mut self, pair: Pair<'a, Rule>, quote: Quote, bits: &mut Vec<Bit<'a>>) {
        let (text, start, quoted) = (pair.as_str(), pair.as_span().start(), quote != Quote::None);
        let (mut head, mut inside) = ("", Vec::new());
        if !self.enter(start) {
            return;
        }
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::br_head => head = part.as_str(),
                Rule::subscript => inside.append(&mut self.inside(part, quote)),
                _ => self.bit(part, quote, &mut inside),
            }
        }
        self.depth -= 1;
        let tail = text.get(2 + head.len()..text.len().saturating_sub(1)).unwrap_or_default();
        if head == "$" && !tail.is_empty() {
            self.problem(start, "this expansion is not understood");
        }
        if tail.starts_with(['[', '^', ',', '@']) || head.len() > 1 && head.starts_with('!') {
            self.bash_only(start, "this expansion");
        } else if tail.starts_with('/')
            || tail.strip_prefix(':').is_some_and(|rest| !rest.starts_with(['-', '=', '+', '?']))
        {
            self.extension(start, "this expansion");
        }
        bits.push(Bit::Param { head, tail, inside, quoted, open: false });
    }
}

impl<'a> Builder<'a> {
    /// A variable that zsh ties to the search path or to functions.
    pub(super) fn zsh_name(&mut self, at: usize, name: &str) {
        if matches!(name, "path" | "fpath" | "cdpath" | "module_path") {
            self.otherwise(at, "path=", ZSH);
        }
    }

    /// Words that mean more to builtins of zsh: `read path`, `alias -g`.
    fn zsh_word(&mut self, pair: &Pair<'a, Rule>, simple: &Simple<'a>) {
        let Some([Bit::Bare(program)]) = simple.words.first().map(|word| word.bits.as_slice()) else {
            return;
        };
        let (text, at) = (pair.as_str(), pair.as_span().start());
        match *program {
            "alias" if text.starts_with('-') && text.contains(['g', 's']) => {
                self.otherwise(at, "alias -g", ZSH)
            }
            "read" | "export" | "declare" | "typeset" | "local" | "readonly" | "integer" => {
                self.zsh_name(at, text.split('=').next().unwrap_or_default());
            }
            _ => {}
        }
    }
}

/// Whether a command word with a continuation is a keyword or an assignment for a shell.
fn splits(text: &str) -> bool {
    let text = joined(text);
    text.contains('=')
        || matches!(
            text.as_str(),
            "if" | "then"
                | "elif"
                | "else"
                | "fi"
                | "while"
                | "until"
                | "do"
                | "done"
                | "for"
                | "select"
                | "case"
                | "esac"
                | "{"
                | "}"
                | "!"
                | "[["
                | "function"
                | "coproc"
                | "time"
                | "in"
        )
}

/// A backslash and what follows it.
fn escape<'a>(text: &'a str, quote: Quote, bits: &mut Vec<Bit<'a>>) {
    let rest = text.get(1..).unwrap_or_default();
    let removed = match (rest, quote) {
        ("\n", _) => return,
        ("", _) => false,
        (_, Quote::None) => true,
        ("$" | "`" | "\\", _) => true,
        ("\"", Quote::Double) => true,
        _ => false,
    };
    bits.push(Bit::Text(Cow::Borrowed(if removed { rest } else { text })));
}

/// Takes the tabs from the beginning of lines, as `<<-` does.
fn strip_tabs(bit: Bit<'_>) -> Bit<'_> {
    match bit {
        Bit::Text(text) if text.contains('\t') => {
            let lines: Vec<&str> = text.split('\n').map(|line| line.trim_start_matches('\t')).collect();
            Bit::Text(Cow::Owned(lines.join("\n")))
        }
        other => other,
    }
}
