//! Pages of `docs/` that are made from what the product itself says.
//!
//! INVARIANT: what a code or a rule means is written once, at its place; `POLICY_WRITE_DOCS=1 cargo test docs` copies it
//! here, and without that word a page that differs fails.

use crate::diagnostics::{BY_SIZE, cases, codes, told};
use crate::support::{drawn, root};
use policy_grammar::ast::{Block, BlockKind, File, Item, Scopes};
use policy_grammar::source::{FileId, Span};
use std::fmt::Write as _;

const REFRESH: &str = "POLICY_WRITE_DOCS=1 cargo test docs";

/// Compares or writes one page.
fn page(name: &str, text: &str) {
    let path = root().join("docs").join(name);
    if std::env::var_os("POLICY_WRITE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if found != text {
        let differs = found.lines().zip(text.lines()).position(|(a, b)| a != b);
        let line = differs.unwrap_or_else(|| found.lines().count().min(text.lines().count()));
        panic!("docs/{name} is not what the product says (line {}); refresh it with `{REFRESH}`", line + 1);
    }
}

/// A fence that its content cannot close.
fn fenced(out: &mut String, language: &str, text: &str) {
    let _ = writeln!(out, "~~~{language}\n{}\n~~~\n", text.trim_end());
}

#[test]
fn docs_diagnostics() {
    let mut out = format!(
        "# Diagnostics\n\nEvery code with one sentence of what it means, and an example as `policy compile` shows it.\n\n\
         This page is generated from the codes and from `tests/diagnostics` and `tests/refused`; `{REFRESH}` writes it.\n\n"
    );
    let cases: Vec<_> = cases()
        .into_iter()
        .map(|(name, text)| {
            let (diagnostics, sources) = told(&name, &text);
            (name, diagnostics, sources)
        })
        .collect();
    let mut phase = "";
    for (code, summary) in codes() {
        let mut parts = code.split("::").skip(1);
        let (of, name) = (parts.next().unwrap(), parts.next().unwrap());
        if of != phase {
            phase = of;
            let _ = writeln!(out, "## {of}\n");
        }
        let _ = writeln!(out, "### `{code}`\n\n{summary}\n");
        let own =
            cases.iter().filter(|(file, ..)| file.rsplit_once('.').is_some_and(|(stem, _)| stem == name));
        let found = own.chain(&cases).find_map(|(_, diagnostics, sources)| {
            diagnostics.iter().find(|diagnostic| diagnostic.code == code).map(|found| (found, sources))
        });
        match found {
            Some((diagnostic, sources)) => {
                let text = drawn(diagnostic, sources);
                // The code stands in the heading already.
                let text = text.trim_start().strip_prefix(code).unwrap_or(&text);
                fenced(&mut out, "text", text.trim_start_matches('\n'));
            }
            None => assert!(BY_SIZE.contains(&code), "{code} is shown by no file"),
        }
    }
    page("diagnostics.md", out.trim_end_matches('\n').to_owned().as_str());
}

/// A pack as its page says it.
struct Page<'a> {
    pack: &'a str,
    text: &'a str,
    out: String,
}

impl Page<'_> {
    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap()
    }

    /// Whole lines from one place to another, moved to the left.
    fn lines(&self, first: Span, last: Span) -> String {
        let start = self.text.get(..first.start as usize).unwrap().rfind('\n').map_or(0, |at| at + 1);
        let end = self.text.get(last.end as usize..).unwrap().find('\n');
        let end = end.map_or(self.text.len(), |at| last.end as usize + at);
        let lines: Vec<&str> = self.text.get(start..end).unwrap().lines().collect();
        let indent = |line: &&str| line.len() - line.trim_start().len();
        let least = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
        lines.iter().map(|line| line.get(least..).unwrap_or_default().to_owned() + "\n").collect()
    }

    fn scopes(&self, scopes: &Scopes) -> String {
        let names = [&scopes.on, &scopes.from, &scopes.as_, &scopes.at];
        let mut spans: Vec<Span> = names.into_iter().flatten().map(|names| names.span).collect();
        spans.extend(scopes.files.as_ref().map(|files| files.list.span));
        let [first, rest @ ..] = spans.as_slice() else { return "every call".to_owned() };
        let whole = rest.iter().fold(*first, |whole, span| whole.to(*span));
        format!("`{}`", self.slice(whole).split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn block(&mut self, block: &Block) {
        let kind = match block.kind {
            BlockKind::Rule => "rule",
            BlockKind::Guard => "guard",
            BlockKind::Exception => "exception",
            BlockKind::Assert => "assert",
        };
        let (pack, name, scopes) = (self.pack, &block.name.node, self.scopes(&block.scopes));
        let _ = writeln!(self.out, "## {kind} `{pack}/{name}`\n\nLooks at: {scopes}\n");
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
            fenced(&mut self.out, "policy", &lines);
        }
        if let (Some(first), Some(last)) = (block.expects.first(), block.expects.last()) {
            let lines = self.lines(first.span, last.span);
            self.out.push_str("Tested:\n\n");
            fenced(&mut self.out, "policy", &lines);
        }
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
            | Item::Mode { .. }
            | Item::Severity { .. }
            | Item::Use { .. }
            | Item::Set { .. }
            | Item::Asset { .. } => "setting".to_owned(),
        };
        let span = span_of(item);
        let lines = self.lines(span, span);
        let _ = writeln!(self.out, "## {title}\n");
        fenced(&mut self.out, "policy", &lines);
    }

    /// The comments between the header and the first item.
    fn opening(&mut self, file: &File) {
        let lines = opening(file);
        if !lines.is_empty() {
            let _ = writeln!(self.out, "{}\n", lines.join("\n"));
        }
    }
}

fn opening(file: &File) -> Vec<&str> {
    let end = file.items.first().map_or(u32::MAX, |item| span_of(item).start);
    file.comments
        .iter()
        .filter(|comment| comment.own_line && comment.text.span.start < end)
        .map(|comment| comment.text.node.trim_start_matches('#').trim())
        .collect()
}

fn span_of(item: &Item) -> Span {
    match item {
        Item::Program(program) => program.span,
        Item::Block(block) => block.span,
        Item::Test(test) => test.span,
        Item::Default { span, .. }
        | Item::AskTimeout { span, .. }
        | Item::Mode { span, .. }
        | Item::Severity { span, .. }
        | Item::Use { span, .. }
        | Item::Set { span, .. }
        | Item::Asset { span, .. }
        | Item::List { span, .. }
        | Item::Secret { span, .. }
        | Item::Project { span, .. } => *span,
    }
}

#[test]
fn docs_rules() {
    let mut index = format!(
        "# Packs\n\nWhat `use` takes, each with the first sentence of its page. Generated from `policies/std`; `{REFRESH}` writes it.\n\n\
         | pack | is |\n|---|---|\n"
    );
    for (pack, text) in policy_compiler::PACKS {
        let parsed = policy_grammar::parse(FileId(0), text);
        assert_eq!(parsed.diagnostics, [], "{pack}");
        let mut made = Page { pack, text, out: String::new() };
        let file = pack.strip_prefix("std/").unwrap();
        let _ = write!(
            made.out,
            "# `{pack}`\n\nGenerated from `policies/{pack}.policy`; `{REFRESH}` writes it.\n\n"
        );
        made.opening(&parsed.file);
        for item in &parsed.file.items {
            made.item(item);
        }
        page(&format!("rules/{file}.md"), &(made.out.trim_end().to_owned() + "\n"));
        let about = opening(&parsed.file).join(" ");
        let sentence = about.split_once(". ").map_or(about.trim_end_matches('.'), |(first, _)| first);
        let _ = writeln!(index, "| [`{pack}`]({file}.md) | {} |", sentence.replace('|', "\\|"));
    }
    page("rules/README.md", &index);
}

/// A page of a pack that is gone.
#[test]
fn docs_of_no_pack() {
    for (name, _) in crate::support::files("docs/rules", ".md") {
        let pack = format!("std/{}", name.trim_end_matches(".md"));
        assert!(
            name == "README.md" || policy_compiler::pack(&pack).is_some(),
            "docs/rules/{name} is the page of no pack"
        );
    }
}
