//! Pages about the built-in packs: what each rule looks at, why, what to do instead, how it is tested, how it is allowed.
//!
//! INVARIANT: everything a page says is written in the pack; `docs/rules` and `policy rules` say the same.

use crate::packs::PACKS;
use policy_checks::Subject as Subject_;
use policy_grammar::ast::{Block, BlockKind, File, Item, Scopes, Subject, Verb};
use policy_grammar::source::{FileId, Span};
use std::fmt::Write as _;

/// The pack that nothing switches off.
const ALWAYS: &str = "std/self";

/// The page of a pack.
#[must_use]
pub fn page(pack: &str) -> Option<String> {
    let text = crate::packs::pack(pack)?;
    let file = policy_grammar::parse(FileId::default(), text).file;
    let mut page = Page { pack, text, out: format!("# `{pack}`\n\n") };
    let opening = opening(&file);
    if !opening.is_empty() {
        let _ = writeln!(page.out, "{}\n", opening.join("\n"));
    }
    for item in &file.items {
        page.item(item);
    }
    Some(page.out.trim_end().to_owned() + "\n")
}

/// The part of a page that is about one block, by its full name (`std/git/no-force-push`).
#[must_use]
pub fn rule(name: &str) -> Option<String> {
    let (pack, own) = name.rsplit_once('/')?;
    let text = crate::packs::pack(pack)?;
    let file = policy_grammar::parse(FileId::default(), text).file;
    let mut page = Page { pack, text, out: String::new() };
    page.named(&file.items, own);
    (!page.out.is_empty()).then(|| page.out.trim_end().to_owned() + "\n")
}

/// The page of the checks that a line can name.
#[must_use]
pub fn checks() -> String {
    let mut out = "# Checks\n\nWhat `check NAME with OPTION VALUE, …` in a guard asks, for what no pattern can say. A check speaks at the events of \
                   its guard; where `speaks at` names some, at those of them. An option that is not given has the value in brackets.\n"
        .to_owned();
    for check in crate::lower::checks::checks() {
        let subject = match check.subject {
            _ if check.name == crate::PATCH_INSPECTION => "a patch",
            _ if check.name == crate::INJECTED_ORDERS => "any text: files, prompts, what tools give back",
            Subject_::Text => "a file that a call writes",
            Subject_::Command => "a command",
            Subject_::Both => "a file that a call writes, or a command",
        };
        let _ = write!(out, "\n## `{}`\n\n{} Looks at {subject}", check.name, check.summary);
        if !check.events.is_empty() {
            let _ = write!(out, "; speaks at {}", check.events.join(", "));
        }
        out.push_str(".\n");
        let start = if check.options.is_empty() { "" } else { "\n" };
        out.push_str(start);
        for spec in check.options {
            let kind = match spec.kind {
                policy_checks::OptionKind::Int => "number",
                policy_checks::OptionKind::Text => "text",
                policy_checks::OptionKind::List => "list",
                policy_checks::OptionKind::Bool => "on or off",
            };
            let _ = writeln!(out, "- `{}` ({kind}; {}): {}", spec.name, spec.default, spec.summary);
        }
    }
    out
}

/// The first sentence of a pack's page.
#[must_use]
pub fn sentence(pack: &str) -> Option<String> {
    let file = policy_grammar::parse(FileId::default(), crate::packs::pack(pack)?).file;
    let about = opening(&file).join(" ");
    Some(about.split_once(". ").map_or(about.trim_end_matches('.'), |(first, _)| first).to_owned())
}

/// One block, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its full name.
    pub name: String,
    /// `rule` or `guard`.
    pub kind: &'static str,
    /// The strictest that it says: `deny`, `ask`, `warn`, `info`, `allow` or `only`.
    pub effect: &'static str,
    /// Why; empty when only its lines say it.
    pub because: String,
    /// What to do instead; may be empty.
    pub suggest: String,
}

/// Every rule and guard of every pack, in the order of the packs.
#[must_use]
pub fn summaries() -> Vec<Summary> {
    let mut all = Vec::new();
    for (pack, text) in PACKS {
        summarize(pack, &policy_grammar::parse(FileId::default(), text).file.items, &mut all);
    }
    all
}

fn summarize(pack: &str, items: &[Item], all: &mut Vec<Summary>) {
    for item in items {
        match item {
            Item::Project { items, .. } => summarize(pack, items, all),
            Item::Block(block) if matches!(block.kind, BlockKind::Rule | BlockKind::Guard) => {
                let said = |text: &Option<policy_grammar::source::Spanned<String>>| {
                    text.as_ref().map(|text| text.node.clone()).unwrap_or_default()
                };
                all.push(Summary {
                    name: format!("{pack}/{}", block.name.node),
                    kind: kind(block.kind),
                    effect: effect(block),
                    because: said(&block.because),
                    suggest: said(&block.suggest),
                });
            }
            _ => {}
        }
    }
}

fn effect(block: &Block) -> &'static str {
    const ORDER: [&str; 7] = ["open", "allow", "info", "warn", "ask", "only", "deny"];
    let lines = block.lines.iter().map(|line| match line.verb.node {
        Verb::Effect(effect) => effect.word(),
        Verb::Only => "only",
        Verb::Open => "open",
    });
    let last = block.otherwise.iter().map(|otherwise| otherwise.effect.node.word());
    let place = |word: &&str| ORDER.iter().position(|own| own == word);
    lines.chain(last).max_by_key(place).unwrap_or("allow")
}

const fn kind(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Rule => "rule",
        BlockKind::Guard => "guard",
        BlockKind::Exception => "exception",
        BlockKind::Assert => "assert",
    }
}

/// A pack as its page says it.
struct Page<'a> {
    pack: &'a str,
    text: &'a str,
    out: String,
}

impl Page<'_> {
    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Whole lines from one place to another, moved to the left.
    fn lines(&self, first: Span, last: Span) -> String {
        let before = self.text.get(..first.start as usize).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = self.text.get(last.end as usize..).and_then(|behind| behind.find('\n'));
        let end = end.map_or(self.text.len(), |at| last.end as usize + at);
        let lines: Vec<&str> = self.text.get(start..end).unwrap_or_default().lines().collect();
        let indent = |line: &&str| line.len() - line.trim_start().len();
        let least = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
        lines.iter().map(|line| line.get(least..).unwrap_or_default().to_owned() + "\n").collect()
    }

    fn scopes(&self, scopes: &Scopes) -> String {
        match self.written(scopes) {
            None => "every call".to_owned(),
            Some(text) => format!("`{text}`"),
        }
    }

    fn written(&self, scopes: &Scopes) -> Option<String> {
        let names = [&scopes.on, &scopes.from, &scopes.as_, &scopes.at];
        let mut spans: Vec<Span> = names.into_iter().flatten().map(|names| names.span).collect();
        spans.extend(scopes.files.as_ref().map(|files| files.list.span));
        let (first, rest) = spans.split_first()?;
        let whole = rest.iter().fold(*first, |whole, span| whole.to(*span));
        Some(self.slice(whole).split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// What stands in a fence that it cannot close.
    fn fenced(&mut self, text: &str) {
        let _ = writeln!(self.out, "~~~policy\n{}\n~~~\n", text.trim_end());
    }

    fn named(&mut self, items: &[Item], name: &str) {
        for item in items {
            match item {
                Item::Project { items, .. } => self.named(items, name),
                Item::Block(block) if block.name.node == name => self.block(block),
                _ => {}
            }
        }
    }

    fn block(&mut self, block: &Block) {
        let (pack, name, scopes) = (self.pack, &block.name.node, self.scopes(&block.scopes));
        let _ = writeln!(self.out, "## {} `{pack}/{name}`\n\nLooks at: {scopes}\n", kind(block.kind));
        if let Some(because) = &block.because {
            let _ = writeln!(self.out, "Because: {}\n", because.node);
        }
        if let Some(suggest) = &block.suggest {
            let _ = writeln!(self.out, "Instead: {}\n", suggest.node);
        }
        let mut spans: Vec<Span> = block.lines.iter().map(|line| line.span).collect();
        spans.extend(block.otherwise.as_ref().map(|otherwise| otherwise.span));
        if let (Some(first), Some(last)) = (spans.first(), spans.last()) {
            let lines = self.lines(*first, *last);
            self.fenced(&lines);
        }
        if let (Some(first), Some(last)) = (block.expects.first(), block.expects.last()) {
            let lines = self.lines(first.span, last.span);
            self.out.push_str("Tested:\n\n");
            self.fenced(&lines);
        }
        self.allowing(block);
    }

    /// How a person allows what a block refuses.
    fn allowing(&mut self, block: &Block) {
        if !matches!(block.kind, BlockKind::Rule | BlockKind::Guard) || effect(block) == "allow" {
            return;
        }
        let (pack, name) = (self.pack, &block.name.node);
        if pack == ALWAYS {
            self.out.push_str("To allow it: nothing can; it protects what holds the agent.\n\n");
            return;
        }
        let _ = writeln!(self.out, "To allow it, below `use {pack}` of your own policy, with your reason:\n");
        let mut text = format!("set {pack}/{name} to off because \"…\"\n");
        if block.kind == BlockKind::Guard {
            let runs = |line: &policy_grammar::ast::Line| {
                line.subject.as_ref().is_some_and(|subject| matches!(subject.node, Subject::Run(_)))
            };
            let (scope, open) = match block.lines.iter().any(runs) {
                true => ("", "open    run `the one command`"),
                false => (" for \"./legacy/**\"", "open"),
            };
            let _ = write!(
                text,
                "\n# or one case of it, until a day\nexception one-case to {pack}/{name}{scope} {{\n  \
                 owner   \"@you\"\n  until   2027-01-31\n  because \"…\"\n  {open}\n}}\n"
            );
        }
        self.fenced(&text);
    }

    fn item(&mut self, item: &Item) {
        let title = match item {
            Item::Block(block) => return self.block(block),
            Item::Project { items, .. } => return items.iter().for_each(|item| self.item(item)),
            Item::List { name, .. } => format!("list `@{}/{}`", self.pack, name.node),
            Item::Program(program) => {
                let names: Vec<String> =
                    program.names.iter().map(|name| format!("`{}`", name.node)).collect();
                format!("program {}", names.join(", "))
            }
            Item::Test(test) => format!("test \"{}\"", test.title.node),
            Item::Secret { name, .. } => format!("secret `{}`", name.node),
            Item::Default { .. }
            | Item::AskTimeout { .. }
            | Item::AskVia { .. }
            | Item::Mode { .. }
            | Item::Severity { .. }
            | Item::Use { .. }
            | Item::Set { .. }
            | Item::Asset { .. }
            | Item::Payee { .. } => "setting".to_owned(),
        };
        let span = span_of(item);
        let lines = self.lines(span, span);
        let _ = writeln!(self.out, "## {title}\n");
        self.fenced(&lines);
    }
}

/// The comments between the header and the first item.
fn opening(file: &File) -> Vec<&str> {
    let end = file.items.first().map_or(u32::MAX, |item| span_of(item).start);
    let comments = file.comments.iter().filter(|comment| comment.own_line && comment.text.span.start < end);
    comments.map(|comment| comment.text.node.trim_start_matches('#').trim()).collect()
}

fn span_of(item: &Item) -> Span {
    match item {
        Item::Program(program) => program.span,
        Item::Block(block) => block.span,
        Item::Test(test) => test.span,
        Item::Default { span, .. }
        | Item::AskTimeout { span, .. }
        | Item::AskVia { span, .. }
        | Item::Mode { span, .. }
        | Item::Severity { span, .. }
        | Item::Use { span, .. }
        | Item::Set { span, .. }
        | Item::Asset { span, .. }
        | Item::Payee { span, .. }
        | Item::List { span, .. }
        | Item::Secret { span, .. }
        | Item::Project { span, .. } => *span,
    }
}
