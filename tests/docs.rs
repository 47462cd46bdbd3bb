//! Pages of `docs/` that are made from what the product itself says.
//!
//! INVARIANT: what a code or a rule means is written once, at its place; `POLICY_WRITE_DOCS=1 cargo test docs` copies it
//! here, and without that word a page that differs fails.

use crate::diagnostics::{BY_SIZE, cases, codes, told};
use crate::support::{drawn, root};
use policy_compiler::pages;
use policy_grammar::source::FileId;
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

#[test]
fn docs_rules() {
    let mut index = format!(
        "# Packs\n\nWhat `use` takes, each with the first sentence of its page. `policy rules` prints the same. Generated from \
         `policies/std`; `{REFRESH}` writes it.\n\n| pack | is |\n|---|---|\n"
    );
    for (pack, text) in policy_compiler::PACKS {
        assert_eq!(policy_grammar::parse(FileId(0), text).diagnostics, [], "{pack}");
        let file = pack.strip_prefix("std/").unwrap();
        let made = pages::page(pack).unwrap();
        let (title, rest) = made.split_once("\n\n").unwrap();
        let origin = format!("Generated from `policies/{pack}.policy`; `{REFRESH}` writes it.");
        page(&format!("rules/{file}.md"), &format!("{title}\n\n{origin}\n\n{rest}"));
        let sentence = pages::sentence(pack).unwrap();
        let _ = writeln!(index, "| [`{pack}`]({file}.md) | {} |", sentence.replace('|', "\\|"));
    }
    page("rules/README.md", &index);
}

#[test]
fn docs_checks() {
    let made = pages::checks();
    let (title, rest) = made.split_once("\n\n").unwrap();
    let origin = format!(
        "`policy rules checks` prints the same. Generated from `checks/src/catalog.rs`; `{REFRESH}` writes it."
    );
    page("checks.md", &format!("{title}\n\n{origin}\n\n{rest}"));
}

/// What a page says about allowing a rule is a policy that compiles.
#[test]
fn docs_allow_what_they_say() {
    let (mut sets, mut exceptions) = (String::new(), String::new());
    for (pack, _) in policy_compiler::PACKS {
        let text = pages::page(pack).unwrap();
        let mut told = text.split("To allow it, below").skip(1).peekable();
        if told.peek().is_some() {
            let _ = writeln!(sets, "use {pack}");
            let _ = writeln!(exceptions, "use {pack}");
        }
        for part in told {
            let snippet = part.split("~~~policy\n").nth(1).unwrap().split("~~~").next().unwrap();
            let (set, exception) = snippet.split_once("\n\n").unwrap_or((snippet, ""));
            // Blocks of one name are one rule.
            let set = set.trim_end().to_owned() + "\n";
            if !sets.contains(&set) {
                sets += &set;
            }
            exceptions += &exception.replace("one-case", &format!("case-{}", exceptions.len()));
        }
    }
    assert!(sets.lines().count() > 100 && exceptions.matches("\nexception ").count() > 100);
    for (name, text) in [("sets.policy", sets), ("exceptions.policy", exceptions)] {
        // Packs are used before anything else.
        let (uses, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("use "));
        let text = format!("policy \"x\" language 1\n{}\n{}\n", uses.join("\n"), rest.join("\n"));
        let (diagnostics, sources) = told(name, &text);
        let errors: Vec<String> = diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.level == policy_grammar::diagnostic::Level::Error)
            .map(|diagnostic| drawn(diagnostic, &sources))
            .collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }
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
