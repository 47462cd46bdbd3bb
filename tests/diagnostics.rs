//! What is said of policies that are wrong: one file a code, one snapshot a file.
//!
//! INVARIANT: every code of every crate has a file that shows it; three codes about sheer size are made by other tests instead.

use crate::support::{drawn, files, root, snapshot};
use policy_compiler::{CompileInput, LayerKind, compile, emit};
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::{FileId, SourceMap};
use policy_grammar::{ast, yaml};
use std::path::Path;

/// Shown by no file, because a file that shows them would be megabytes of nothing.
pub(crate) const BY_SIZE: [&str; 3] =
    ["policy::parse::too-long", "policy::parse::too-many-errors", "policy::table::not-written"];

/// The day for which the files are compiled: 2026-11-30.
const TODAY: i64 = 20_787;

/// Every code with its summary, in the order of the phases.
pub(crate) fn codes() -> Vec<(&'static str, &'static str)> {
    let grammar = policy_grammar::Code::ALL.iter().map(|code| (code.as_str(), code.summary()));
    let firewall = yaml::Code::ALL.iter().map(|code| (code.as_str(), code.summary()));
    let compiler = policy_compiler::Code::ALL.iter().map(|code| (code.as_str(), code.summary()));
    grammar.chain(firewall).chain(compiler).collect()
}

/// The files that show what is wrong, in the order in which an example is looked for.
pub(crate) fn cases() -> Vec<(String, String)> {
    let mut cases = files("tests/diagnostics", ".policy");
    cases.extend(files("tests/diagnostics", ".yml"));
    cases.extend(files("tests/refused", ".policy"));
    cases
}

/// Compiles a file as the comments at its top say (`# layer managed`, `# untrusted`, `# always std/self`), runs its
/// tests, and gives everything there is to say.
pub(crate) fn told(name: &str, text: &str) -> (Vec<Diagnostic>, SourceMap) {
    let folder = root().join("tests/diagnostics");
    let said =
        |word: &str| text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(word).map(str::trim));
    let mut sources = SourceMap::default();
    let main = sources.add(name, text);
    if said("format ") == Some("agentlint") {
        let pack =
            |name: &str| policy_compiler::PACKS.iter().find(|(pack, _)| *pack == name).map(|(_, text)| *text);
        let mut around =
            yaml::agentlint::Around { pack: &pack, options: &|_| Vec::new(), stack: &mut Vec::new };
        let reading = yaml::agentlint::read(main, text, &mut around);
        return (reading.diagnostics, sources);
    }
    let parsed = if name.ends_with(".yml") {
        let parsed = yaml::firewall::parse(main, text);
        if parsed.file.skipped {
            return (parsed.diagnostics, sources);
        }
        Some(parsed)
    } else {
        None
    };
    let (tree, before): (Option<ast::File>, _) = match parsed {
        Some(parsed) => (Some(parsed.file), parsed.diagnostics),
        None => (None, Vec::new()),
    };
    let mut load = |sources: &mut SourceMap, origin: &str, from: FileId| {
        let from = sources.file(from).unwrap().name.clone();
        let name = Path::new(&from).parent().unwrap().join(origin.trim_start_matches("./"));
        let text = std::fs::read_to_string(folder.join(&name)).map_err(|_| "no such file".to_owned())?;
        Ok(vec![sources.add(name.to_str().unwrap(), text)])
    };
    let always: Vec<&str> = said("always ").into_iter().collect();
    let compiled = compile(CompileInput {
        sources: &mut sources,
        main,
        tree,
        load: &mut load,
        kind: if said("layer ") == Some("managed") { LayerKind::Managed } else { LayerKind::Project },
        trusted: said("untrusted").is_none(),
        today: TODAY,
        always: &always,
    });
    let mut diagnostics = before;
    diagnostics.extend(compiled.diagnostics);
    if let Some(policy) = &compiled.policy {
        let table = emit::emit(policy, &[0; 32], &[0; 32]).unwrap();
        diagnostics.extend(policy_engine::tested::unmet(&compiled.expects, &sources, &table));
    }
    (diagnostics, sources)
}

#[test]
fn every_file_says_what_is_wrong() {
    let refused: Vec<String> = files("tests/refused", ".policy").into_iter().map(|(name, _)| name).collect();
    for (name, text) in cases().into_iter().filter(|(name, _)| !refused.contains(name)) {
        let (diagnostics, sources) = told(&name, &text);
        let (stem, _) = name.rsplit_once('.').unwrap();
        let shown = diagnostics.iter().any(|d| d.code.rsplit("::").next() == Some(stem));
        assert!(shown, "{name} does not show `{stem}`: {diagnostics:#?}");
        for d in &diagnostics {
            assert!(!d.message.ends_with('.') && !d.message.contains('\n'), "{name}: {}", d.message);
            assert!(!d.labels.is_empty(), "{name}: {} points nowhere", d.message);
            let help = d.help.as_deref().unwrap_or_default();
            assert!(!help.is_empty() && !help.ends_with('.'), "{name}: {}: {help}", d.message);
        }
        let text: Vec<String> = diagnostics.iter().map(|d| drawn(d, &sources)).collect();
        snapshot("diagnostics", stem, &text.join("\n"));
    }
}

#[test]
fn every_code_has_a_file_and_a_heading() {
    let docs = std::fs::read_to_string(root().join("docs/diagnostics.md")).unwrap_or_default();
    let shown: Vec<&str> = cases()
        .iter()
        .flat_map(|(name, text)| told(name, text).0)
        .map(|diagnostic| diagnostic.code)
        .collect();
    let bare: Vec<&str> = codes()
        .into_iter()
        .map(|(code, _)| code)
        .filter(|code| !shown.contains(code) && !BY_SIZE.contains(code))
        .collect();
    assert!(bare.is_empty(), "no file in tests/diagnostics or tests/refused shows {bare:#?}");
    let unsaid: Vec<&str> = codes()
        .into_iter()
        .map(|(code, _)| code)
        .filter(|code| !docs.contains(&format!("### `{code}`\n")))
        .collect();
    assert!(unsaid.is_empty(), "docs/diagnostics.md has no heading for {unsaid:#?}");
    let known: Vec<&str> = codes().into_iter().map(|(code, _)| code).collect();
    let strange: Vec<&str> = shown.into_iter().filter(|code| !known.contains(code)).collect();
    assert!(strange.is_empty(), "in no list of codes: {strange:#?}");
}

#[test]
fn size_has_codes_too() {
    let long = " ".repeat(policy_grammar::MAX_BYTES + 1);
    let faults = format!("policy \"n\" language 1\n{}", "rule r {\n  block\n}\n".repeat(200));
    for (code, text) in BY_SIZE.into_iter().zip([long, faults]) {
        let parsed = policy_grammar::parse(FileId(0), &text);
        assert!(parsed.diagnostics.iter().any(|d| d.code == code), "{code}");
    }
}
