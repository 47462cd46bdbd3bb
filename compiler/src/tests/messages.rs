//! What is said of policies that are wrong.
//!
//! INVARIANT: every code of the compiler has a file that shows it.

use super::{Setup, told, told_with};
use crate::{CompileInput, LayerKind, compile};
use policy_grammar::source::{FileId, SourceMap};

#[test]
fn used_files() {
    let team = ("./team.policy", "policy \"team\" language 1\nuse \"agent.policy\"");
    let round = ("agent.policy", "policy \"t\" language 1");
    let setup = Setup { files: &[team, round], ..Setup::default() };
    assert_eq!(told_with("use \"./team.policy\"", &setup)[0].0, "use-cycle");
    assert_eq!(told("use \"./no.policy\"")[0].0, "use-failed");
    assert_eq!(told("use std/nothing-like-it")[0], ("unknown-pack".into(), "std/nothing-like-it".into()));
    let spoof = ("./x.policy", "policy \"std/git\" language 1");
    assert_eq!(
        told_with("use \"./x.policy\"", &Setup { files: &[spoof], ..Setup::default() })[0].0,
        "reserved-name"
    );
}

#[test]
fn one_message_each() {
    for (text, code, at) in [
        ("guard g on bash { deny path \"src/**\" }", "unanchored-path", "\"src/**\""),
        ("guard g on bash { deny path \"./{a\" }", "bad-braces", "\"./{a\""),
        ("guard g on bash { deny domain \"https://a.b/c\" }", "bad-domain", "\"https://a.b/c\""),
        ("guard g on bash { allow path \"./**\" }", "allow-in-guard", "allow"),
        ("rule r on bash { warn path \"./**\" }", "report-in-rule", "warn"),
        ("rule r on bash { deny }", "verb-without-condition", "deny"),
        ("rule r on bash { only path \"./a\" only path \"./b\" }", "only-twice", "only path \"./a\""),
        ("rule r on bash { allow run `a | b` }", "pipe-in-allow", "`a | b`"),
        ("rule r on bash { allow shell pipe }", "grant-on-feature", "shell pipe"),
        ("guard g on bash { deny shell pipes }", "unknown-feature", "pipes"),
        ("guard g on bash at PreToolUse { deny }", "unknown-event", "PreToolUse"),
        ("guard g on bash as \"a*\" { deny }", "exact-name", "\"a*\""),
        ("guard g on mcp__a__b from c { deny }", "server-twice", "mcp__a__b"),
        ("guard g on @nolist { deny }", "unknown-list", "@nolist"),
        ("list a is @b list b is @a guard g on @a { deny }", "list-cycle", "a"),
        ("list a is `x` guard g on @a { deny }", "wrong-list-kind", "@a"),
        ("list a is x list a is y", "duplicate-list", "a"),
        ("guard g on x { deny } guard g { deny }", "duplicate-block", "g"),
        ("default ask default deny", "setting-twice", "default ask"),
        ("project \"./p\" { mode observe }", "setting-in-project", "mode observe"),
        ("project \"../p\" { }", "unanchored-path", "\"../p\""),
        ("project \"~/p\" { }", "project-folder", "\"~/p\""),
        ("project \"./p\" { default host }", "default-host-in-project", "host"),
        ("set gg to off because \"x\" guard g on x { deny }", "unknown-block", "gg"),
        ("set g to allow because \"x\" guard g on x { deny }", "set-to-effect", "allow"),
        ("set g to ask because \"x\" guard g on x { only path \"./x\" }", "set-only-line", "ask"),
        ("exception e to g { owner \"a\" until 2027-01-01 because \"b\" open }", "unknown-guard", "g"),
        (
            "rule g on x { otherwise ask } exception e to g { owner \"a\" until 2027-01-01 because \"b\" open }",
            "not-a-guard",
            "g",
        ),
        ("guard g on x { deny } exception e to g { owner \"a\" open }", "exception-incomplete", "e"),
        ("guard g on bash { deny run `-f x` }", "flag-as-program", "`-f x`"),
        (
            "guard g on bash { deny path \"./{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\" }",
            "too-many-spellings",
            "\"./{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\"",
        ),
        ("guard g on bash { deny path \"./a\\u{1}\" }", "bad-pattern", "\"./a\\u{1}\""),
        ("guard g on write { only content r\"abcd\" }", "text-outside-guard", "content r\"abcd\""),
        ("guard g on write { only check max-file-size }", "text-outside-guard", "check max-file-size"),
        ("ask timeout 0s guard g on bash { deny payee new }", "bad-limit", "ask timeout 0s"),
        ("guard g on bash { ask timeout 0s  ask payee new }", "bad-limit", "0s"),
        ("guard g on bash { deny payee nobody }", "bad-payment", "nobody"),
        ("guard g on bash { only payee new }", "bad-payment", "payee new"),
        (
            "payee new is \"0x1111111111111111111111111111111111111111\" guard g on bash { deny }",
            "bad-payment",
            "new",
        ),
        ("payee shop is \"0x111\" guard g on bash { deny }", "bad-payment", "\"0x111\""),
        ("guard g on bash { deny payee new over 3 per 1d }", "bad-limit", "over 3 per 1d"),
        ("guard g on bash { deny spend over 5 per 1d }", "bad-limit", "5"),
        ("guard g on bash { deny rise over 5 }", "bad-limit", "5"),
        ("guard g on bash { deny rise over 5% per 1d }", "bad-limit", "over 5% per 1d"),
        ("guard g on bash { deny payee new  deny calls over 5 }", "bad-limit", "over 5"),
        ("guard g on bash { deny payee new  deny repeats over 0 per 1h by payee }", "bad-limit", "payee"),
        (
            "guard g on bash { deny payee new  deny calls over 5 per session by seller }",
            "bad-limit",
            "seller",
        ),
        ("guard g on bash { deny calls over 5 per 1h by payee }", "bad-limit", "payee"),
        ("guard g on bash { deny path \"./x\" over 5 USDC }", "bad-limit", "5 USDC"),
        ("assert a on bash { deny path \"./x\" }", "not-yet-assert", "a"),
    ] {
        let told = told(text);
        let found = told.first().cloned().unwrap_or_default();
        assert_eq!((found.0.as_str(), found.1.as_str()), (code, at), "{text}: {told:?}");
    }
}

/// Every code has a file that shows it. Comments at its top say for which layer it is compiled.
#[test]
fn every_code_has_a_file() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/diagnostics");
    // Said when the table is written, of sizes that no file here should have.
    for code in crate::Code::ALL.iter().filter(|code| **code != crate::Code::NotWritten) {
        let path = folder.join(format!("{}.policy", code.name()));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let said =
            |word: &str| text.lines().find_map(|l| l.strip_prefix("# ")?.strip_prefix(word).map(str::trim));
        let mut sources = SourceMap::default();
        let main = sources.add(format!("{}.policy", code.name()), text.as_str());
        let mut load = |sources: &mut SourceMap, origin: &str, from: FileId| {
            let from = sources.file(from).unwrap().name.clone();
            let name = std::path::Path::new(&from).parent().unwrap().join(origin.trim_start_matches("./"));
            let text = std::fs::read_to_string(folder.join(&name)).map_err(|_| "no such file".to_owned())?;
            Ok(vec![sources.add(name.to_str().unwrap(), text)])
        };
        let always: Vec<&str> = said("always ").into_iter().collect();
        let compiled = compile(CompileInput {
            sources: &mut sources,
            main,
            tree: None,
            load: &mut load,
            kind: match said("layer ") {
                Some("managed") => LayerKind::Managed,
                _ => LayerKind::Project,
            },
            trusted: said("untrusted").is_none(),
            today: 20_787,
            always: &always,
        });
        let codes: Vec<&str> = compiled.diagnostics.iter().map(|d| d.code).collect();
        match code {
            // A test must be run to be unmet.
            crate::Code::Unmet => assert_eq!(compiled.expects.len(), 1),
            _ => assert!(codes.contains(&code.as_str()), "{}: {:#?}", code.name(), compiled.diagnostics),
        }
        for d in &compiled.diagnostics {
            assert!(!d.message.ends_with('.') && !d.message.contains('\n'), "{}", d.message);
            assert!(d.message.chars().next().is_some_and(|c| !c.is_uppercase()), "{}", d.message);
            assert!(d.help.is_some(), "{}", d.message);
            assert!(d.labels.iter().all(|l| !sources.slice(l.span).is_empty()), "{}", d.message);
            println!("{} | {} | {:?}", d.code, d.message, d.help);
        }
    }
}
