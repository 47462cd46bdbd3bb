//! The policies that the language was designed with: they compile and hold their tests, or are refused for a form or
//! pack of a later version.
//!
//! INVARIANT: nothing of a later version is accepted and ignored.

use crate::support::{files, root, snapshot};
use policy_compiler::{CompileInput, Compiled, LayerKind, compile, emit};
use policy_grammar::diagnostic::{Diagnostic, Level};
use policy_grammar::source::{FileId, SourceMap};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The day for which they were written: 2026-11-30.
const TODAY: i64 = 20_787;

fn compiled(name: &str, text: &str, kind: LayerKind) -> (Compiled, Vec<Diagnostic>, SourceMap) {
    let mut sources = SourceMap::default();
    let main = sources.add(name, text);
    let mut load = |_: &mut SourceMap, _: &str, _: FileId| Err("is not among the samples".to_owned());
    let made = compile(CompileInput {
        sources: &mut sources,
        main,
        tree: None,
        load: &mut load,
        kind,
        trusted: true,
        today: TODAY,
        always: &[],
    });
    let unmet = made.policy.as_ref().map_or(Vec::new(), |policy| {
        let table = emit::emit(policy, &[0; 32], &[0; 32]).unwrap();
        policy_engine::tested::unmet(&made.expects, &sources, &table)
    });
    (made, unmet, sources)
}

#[test]
fn the_samples_compile_or_are_refused() {
    let (mut out, mut left) = (String::new(), Vec::new());
    for (name, text) in files("tests/language", ".policy") {
        let (made, unmet, sources) = compiled(&name, &text, LayerKind::Project);
        for one in &unmet {
            println!("{name}\n{}", one.plain(&sources));
        }
        left.extend(unmet.iter().map(|one| format!("{name}: {}", one.message)));
        if made.policy.is_some() {
            let summary = made.summary;
            let _ = writeln!(
                out,
                "{name}: {} rules, {} guards, {} tests held",
                summary.rules,
                summary.guards,
                made.expects.len()
            );
            continue;
        }
        let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
        for one in made.diagnostics.iter().filter(|one| one.level == Level::Error) {
            *codes.entry(one.code).or_default() += 1;
        }
        let later = |code: &str| code.contains("::not-yet-") || code.ends_with("::unknown-pack");
        // A pack of a later version takes its blocks with it.
        let follows = |code: &str| {
            // The rule that the first sample turns off lies in another pack here.
            let pack = codes.keys().any(|code| code.ends_with("::unknown-pack")) || name == "00-shop.policy";
            pack && ["unknown-block", "unknown-list", "unknown-guard", "use-failed", "unknown-secret"]
                .iter()
                .any(|end| code.ends_with(end))
        };
        for code in codes.keys() {
            assert!(later(code) || follows(code), "{name}: {code}: {:#?}", made.diagnostics);
        }
        let codes: Vec<String> = codes.iter().map(|(code, times)| format!("{code} {times}")).collect();
        let _ = writeln!(out, "{name}: refused\n  {}", codes.join("\n  "));
    }
    assert_eq!(left, [""; 0], "tests that are not met");
    snapshot("language", "samples", &out);
}

/// Rows of tool calls with rules of their own, each a topic; their `expect` lines are the test.
#[test]
fn decision_tables_hold() {
    let mut calls = 0;
    for (name, text) in files("tests/decisions", ".policy") {
        let (made, unmet, sources) = compiled(&name, &text, LayerKind::Test);
        for one in made.diagnostics.iter().chain(&unmet) {
            println!("{name}\n{}", one.plain(&sources));
        }
        assert!(made.policy.is_some() && unmet.is_empty(), "{name}");
        assert!(!made.expects.is_empty(), "{name} tests nothing");
        calls += made.expects.len();
    }
    assert!(calls > 100, "{calls}");
}

/// Every pack and example compiles, without a warning, and holds its tests.
#[test]
fn packs_and_examples_hold() {
    for folder in ["policies/std", "policies/examples"] {
        for (name, text) in files(folder, ".policy") {
            let (made, unmet, sources) = compiled(&name, &text, LayerKind::Test);
            for one in made.diagnostics.iter().chain(&unmet) {
                println!("{name}\n{}", one.plain(&sources));
            }
            let warned = made.diagnostics.iter().any(|one| one.level > Level::Advice);
            assert!(made.policy.is_some() && unmet.is_empty() && !warned, "{folder}/{name}");
            let spelled = policy_grammar::format(FileId(0), &text).unwrap();
            assert_eq!(spelled, text, "{folder}/{name} is not as `policy fmt` writes it");
        }
    }
}

/// Every policy on the pages that are written by hand compiles and holds.
#[test]
fn the_policies_of_the_pages_hold() {
    let mut pages: Vec<String> =
        files("docs", ".md").into_iter().map(|(name, _)| format!("docs/{name}")).collect();
    // Generated from examples that have tests of their own, some of which are to fail.
    pages.retain(|page| page != "docs/diagnostics.md");
    pages.push("README.md".to_owned());
    let mut blocks = BTreeMap::new();
    for page in &pages {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(fence) = line.strip_suffix("policy").filter(|fence| ["```", "~~~"].contains(fence))
            else {
                continue;
            };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
            let block = block.join("\n");
            let header = if block.starts_with("policy ") { "" } else { "policy \"page\" language 1\n\n" };
            let (made, unmet, sources) = compiled(page, &format!("{header}{block}\n"), LayerKind::Test);
            for one in made.diagnostics.iter().chain(&unmet) {
                println!("{page}\n{}", one.plain(&sources));
            }
            assert!(made.policy.is_some() && unmet.is_empty(), "{page}\n{block}");
            *blocks.entry(page.as_str()).or_insert(0) += 1;
        }
    }
    for page in ["README.md", "docs/language.md", "docs/secrets.md"] {
        assert!(blocks.contains_key(page), "{page}: {blocks:?}");
    }
}
