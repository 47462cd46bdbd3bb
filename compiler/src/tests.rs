//! Small policies through the whole compile.
//!
//! INVARIANT: what a test expects is written beside the policy that gives it.

use crate::{CompileInput, Compiled, LayerKind, compile, ir};
use policy_grammar::diagnostic::Level;
use policy_grammar::shell::program::Program;
use policy_grammar::source::{FileId, SourceMap};

pub(crate) struct Setup<'a> {
    pub(crate) files: &'a [(&'a str, &'a str)],
    pub(crate) kind: LayerKind,
    pub(crate) trusted: bool,
    pub(crate) today: i64,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Setup { files: &[], kind: LayerKind::Project, trusted: true, today: 20_000 }
    }
}

pub(crate) fn compiled(text: &str, setup: &Setup<'_>) -> (Compiled, SourceMap) {
    let mut sources = SourceMap::default();
    let main = sources.add("agent.policy", text);
    let mut load = |sources: &mut SourceMap, origin: &str, _from: FileId| {
        let found = setup.files.iter().find(|(name, _)| *name == origin);
        let (name, text) = found.ok_or_else(|| "no such file".to_owned())?;
        Ok(vec![sources.add(*name, *text)])
    };
    let input = CompileInput {
        sources: &mut sources,
        main,
        tree: None,
        load: &mut load,
        kind: setup.kind,
        trusted: setup.trusted,
        today: setup.today,
        always: &[],
    };
    let compiled = compile(input);
    (compiled, sources)
}

/// A policy that must compile; `text` begins behind the header.
pub(crate) fn good(text: &str) -> ir::Policy {
    good_with(text, &Setup::default())
}

pub(crate) fn good_with(text: &str, setup: &Setup<'_>) -> ir::Policy {
    let (compiled, _) = compiled(&format!("policy \"t\" language 1\n{text}"), setup);
    compiled.policy.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics))
}

/// Codes (last part) with the text they point at.
pub(crate) fn told(text: &str) -> Vec<(String, String)> {
    told_with(text, &Setup::default())
}

pub(crate) fn told_with(text: &str, setup: &Setup<'_>) -> Vec<(String, String)> {
    let (compiled, sources) = compiled(&format!("policy \"t\" language 1\n{text}"), setup);
    compiled
        .diagnostics
        .iter()
        .map(|d| (d.code.rsplit("::").next().unwrap().to_owned(), sources.slice(d.labels[0].span).to_owned()))
        .collect()
}

/// Patterns of a policy, strongest first: block, verb, text.
fn order(policy: &ir::Policy) -> Vec<String> {
    let line = |p: &ir::Pattern| &policy.lines[p.line.0 as usize];
    policy
        .patterns
        .iter()
        .rev()
        .map(|p| format!("{} {:?} {}", policy.blocks[line(p).block.0 as usize].name, line(p).verb, p.text))
        .collect()
}

/// The seed policies that hold no form and no pack of a later version.
#[test]
fn seed_policies_compile() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/language");
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut texts: Vec<(String, String)> = entries
        .filter_map(|e| e.ok())
        .filter(|e| e.path().extension().is_some_and(|x| x == "policy"))
        .map(|e| (e.file_name().into_string().unwrap(), std::fs::read_to_string(e.path()).unwrap()))
        .collect();
    texts.sort();
    for (name, text) in texts {
        let (compiled, sources) = compiled(&text, &Setup::default());
        let errors: Vec<_> = compiled.diagnostics.iter().filter(|d| d.level == Level::Error).collect();
        if errors.iter().any(|d| d.code.ends_with("unknown-pack")) {
            continue;
        }
        for d in errors {
            let place = sources.place(d.labels[0].span);
            assert!(d.code.contains("::not-yet-"), "{name} {place:?} {}: {}", d.code, d.message);
        }
    }
}

/// Every pack compiles by itself, as a test does it.
#[test]
fn packs_compile() {
    for (name, text) in crate::PACKS {
        let setup = Setup { kind: LayerKind::Test, ..Setup::default() };
        let (compiled, sources) = compiled(text, &setup);
        for d in &compiled.diagnostics {
            println!("{name} {:?} {}: {} {:?}", sources.place(d.labels[0].span), d.code, d.message, d.help);
        }
        assert!(compiled.policy.is_some(), "{name}");
    }
}

#[test]
fn ranks_of_a_rule() {
    let policy = good(
        r#"
        rule first on bash {
          allow run `git push ...`, `git *`, `git`
          ask   run `git push`
          deny  run `git`
          otherwise ask
        }
        rule second on bash { allow run `a b c d e` }
        guard g on bash { ask run `a b c`  deny run `a`  info run `a b c d`  warn run `x` }
        "#,
    );
    assert_eq!(
        order(&policy),
        [
            "g Deny a",
            "g Ask a b c",
            "g Warn x",
            "g Info a b c d",
            "first Deny git",
            "first Ask git push",
            "first Allow git push ...",
            "first Allow git *",
            "first Allow git",
            "first OtherwiseAsk otherwise ask",
            "second Allow a b c d e",
        ]
    );
}

#[test]
fn rules_of_the_innermost_project_come_first() {
    let policy = good_with(
        r#"
        use "./team.policy"
        rule own on edit { allow path "./**" }
        project "./services/*" { default deny  rule all on edit { allow path "./src/**" } }
        project "./services/billing" { rule one on edit { ask path "./**" } }
        project "./a", "./b/c" { rule two on edit { ask path "**/x" } }
        "#,
        &Setup {
            files: &[(
                "./team.policy",
                "policy \"team\" language 1\nrule theirs on edit { ask path \"~/**\" }",
            )],
            ..Setup::default()
        },
    );
    let names: Vec<&str> = policy.blocks.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["one", "two", "all", "project-default", "two", "own", "team/theirs"]);
    let within = |at: usize| policy.withins[policy.blocks[at].withins[0].0 as usize].include.clone();
    assert_eq!(within(0), ["./services/billing/**"]);
    assert_eq!(within(1), ["./b/c/**"]);
    assert_eq!(within(4), ["./a/**"]);
    let pattern = policy.patterns.iter().find(|p| p.text == "./src/**").unwrap();
    assert_eq!(pattern.matcher, ir::Matcher::Path("./services/*/src/**".into()));
    assert!(order(&policy).contains(&"project-default OtherwiseDeny default deny".to_owned()));
}

#[test]
fn scopes() {
    let policy = good(
        r#"
        list shells is bash, "run_*", @more
        list more is sh
        rule r on @shells, mcp__gh__x { otherwise ask }
        guard g on Bash as Codex at stop, pre_tool_use { deny }
        guard h from "*" { deny }
        guard i on "a*" from gh { deny }
        guard j on Write for "./src/**" except "./src/gen/**" { deny }
        "#,
    );
    let scope = |at: usize| policy.scopes[policy.blocks[at].scope.0 as usize].clone();
    assert_eq!(scope(0).tools, ["\0bash", "\0run_*", "\0sh", "gh\0x"]);
    assert_eq!(scope(1).tools, ["*\0bash"]);
    assert_eq!(scope(1).events, ["pre_tool_use", "stop"]);
    assert_eq!(scope(1).labels, ["codex"]);
    assert_eq!(scope(2).tools, ["?*\0*"]);
    assert_eq!(scope(3).tools, ["gh\0a*"]);
    let within = &policy.withins[policy.blocks[4].withins[0].0 as usize];
    assert_eq!((within.include.len(), within.exclude.len()), (1, 1));
}

#[test]
fn run_lines() {
    let policy = good(
        r#"
        program npm { same words install, i, add }
        guard g on bash {
          deny run `npm install` touching "main", "./x", "+*" except "/y" via sudo, doas
          deny run `*` except `apt install ...`, `ls` via sudo
          deny run `a | b {c,d}` writing "/dev/sd*"
        }
        "#,
    );
    let runs: Vec<&ir::RunPattern> = policy
        .patterns
        .iter()
        .filter_map(|p| match &p.matcher {
            ir::Matcher::Run(run) => Some(run),
            _ => None,
        })
        .collect();
    let npm = runs.iter().find(|r| r.stages[0].program == ["npm"]).unwrap();
    assert_eq!(npm.stages[0].terms, [ir::RunTerm::Word(vec!["install".into(), "i".into(), "add".into()])]);
    let touching = npm.touching.as_ref().unwrap();
    assert_eq!(touching.paths, ["./x"]);
    assert_eq!(touching.texts, ["main", "+*"]);
    assert_eq!(touching.except_paths, ["/y"]);
    assert_eq!(npm.via, ["sudo", "doas"]);
    assert_eq!(policy.excepts.len(), 2);
    for except in &policy.excepts {
        assert!(except.grant);
        let ir::Matcher::Run(run) = &except.matcher else { panic!() };
        assert_eq!(run.via, ["sudo"], "what an except lets through has the wrappers of its line");
    }
    assert_eq!(runs.iter().filter(|r| r.stages.len() == 2).count(), 2);
}

#[test]
fn grants_and_refusals() {
    let policy = good(
        r#"
        rule r on edit {
          allow path "./**" except "./x"
          deny  path "**/.env" except "./.env"
          only  arg mode "fast", "slow"
        }
        "#,
    );
    for pattern in &policy.patterns {
        let verb = policy.lines[pattern.line.0 as usize].verb;
        assert_eq!(pattern.grant, verb != ir::Verb::Deny);
    }
    assert_eq!(policy.excepts.iter().map(|e| e.grant).collect::<Vec<_>>(), [false, true]);
    assert!(policy.patterns.iter().any(|p| p.matcher == ir::Matcher::Arg("mode\0fast".into())));
    assert!(policy.lines.iter().any(|l| l.arg == "mode" && l.verb == ir::Verb::Only));
}

#[test]
fn severity_and_set() {
    let text = r#"
        severity strict
        set "PLACE"
        rule r on edit { allow path "./**" because "x" }
        guard g on edit { warn path "./a"  info path "./b" }
        "#;
    let strict = good(&text.replace("set \"PLACE\"", ""));
    let verbs: Vec<ir::Verb> = strict.lines.iter().map(|l| l.verb).collect();
    assert_eq!(verbs, [ir::Verb::Allow, ir::Verb::Deny, ir::Verb::Warn]);
    let set = good(&text.replace("set \"PLACE\"", "set g to ask because \"x\" set r to off because \"x\""));
    let verbs: Vec<ir::Verb> = set.lines.iter().map(|l| l.verb).collect();
    assert_eq!(verbs, [ir::Verb::Ask, ir::Verb::Ask]);
    let set = good(&text.replace("set \"PLACE\"", "set r to deny because \"x\""));
    assert!(!set.patterns.iter().any(|p| p.text == "./**" && p.grant), "a refusal matches generously");
}

#[test]
fn exceptions() {
    let policy = good(
        r#"
        guard g on bash { deny run `curl`  because "no" }
        exception e to g on bash for "~/x/**" {
          owner "a" until 2027-03-31 because "b"
          open run `curl -O *`
        }
        "#,
    );
    let block = &policy.blocks[1];
    assert_eq!(block.opens, Some(ir::BlockId(0)));
    assert_eq!(block.until, Some(20_908));
    assert_eq!(block.owner, "a");
    assert_eq!(policy.lines[1].verb, ir::Verb::Open);
    assert!(policy.patterns.iter().any(|p| p.grant && p.line == ir::LineId(1)));
}

#[test]
fn places_and_reasons() {
    let policy = good(
        "guard g on bash {\n because \"all\"\n suggest \"s\"\n deny run `a`\n deny run `b` because \"own\"\n}",
    );
    assert_eq!(policy.files[0], "agent.policy");
    assert_eq!(policy.lines[0].place, ir::Place { file: 0, line: 5 });
    assert_eq!(policy.lines[0].because, "all");
    assert_eq!(policy.lines[1].because, "own");
    assert_eq!(policy.lines[1].suggest, "s");
    assert_eq!(policy.blocks[0].place.line, 2);
}

#[test]
fn an_untrusted_layer_only_refuses() {
    let text = r#"
        default allow
        mode observe
        severity relaxed
        ask timeout 9s
        program npm { same words a, b }
        rule r on edit {
          allow path "./**"
          ask   path "./x"
          deny  path "./y"
          only  domain "a.com"
          otherwise allow
        }
        rule s on edit { otherwise deny }
        guard g on edit { warn path "./z" }
        exception e to g { owner "a" until 2027-03-31 because "b" open }
        set g to off because "x"
        project "./p" { default allow }
        "#;
    let setup = Setup { trusted: false, ..Setup::default() };
    let policy = good_with(text, &setup);
    assert_eq!((policy.default, policy.observe, policy.ask_timeout), (None, false, None));
    let lies = |p: &Program| p.same_words.iter().any(|group| group == &["a", "b"]);
    assert!(!policy.programs.iter().any(lies));
    assert!(policy.blocks.iter().all(|b| b.kind != ir::BlockKind::Exception));
    let loosens = |v: ir::Verb| matches!(v, ir::Verb::Allow | ir::Verb::OtherwiseAllow | ir::Verb::Open);
    assert!(policy.lines.iter().all(|l| !loosens(l.verb)));
    for line in policy.lines.iter().filter(|l| l.verb == ir::Verb::Only) {
        assert_eq!(policy.blocks[line.block.0 as usize].kind, ir::BlockKind::Guard, "`only` never answers");
    }
    assert!(policy.lines.iter().any(|l| l.verb == ir::Verb::Warn), "`severity relaxed` does not count");
    assert!(policy.lines.iter().any(|l| l.verb == ir::Verb::OtherwiseDeny));
    let ignored = told_with(text, &setup).into_iter().filter(|(code, _)| code == "untrusted-ignored").count();
    assert_eq!(ignored, 10);
}

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
        ("guard g on x { deny } guard g on y { deny }", "duplicate-block", "g"),
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
        ("guard g on bash { deny content secret }", "not-yet-content", "content secret"),
        ("guard g on bash { deny payee new }", "not-yet-payment", "payee new"),
        ("guard g on bash { deny calls over 3 per 1h }", "not-yet-limit", "over 3 per 1h"),
        ("guard g on bash { deny when session flagged }", "not-yet-condition", "when session flagged"),
        (
            "guard g on bash { warn path \"./x\" then flag session }",
            "not-yet-obligation",
            "then flag session",
        ),
        ("assert a on bash { deny path \"./x\" }", "not-yet-assert", "a"),
        (
            "test \"t\" { given session flagged expect ask bash \"x\" }",
            "not-yet-given",
            "given session flagged",
        ),
    ] {
        let told = told(text);
        let found = told.first().cloned().unwrap_or_default();
        assert_eq!((found.0.as_str(), found.1.as_str()), (code, at), "{text}: {told:?}");
    }
}

#[test]
fn tested_calls() {
    let (compiled, _) = compiled(
        r#"policy "t" language 1
        project "./services/*" { guard g on bash { deny run `x`  expect deny bash "x" } }
        test "later" { given today 2027-01-01 given dir "a/b" expect ask Edit { path: "x" } from s as c by g }
        "#,
        &Setup::default(),
    );
    let [inline, test] = &compiled.expects[..] else { panic!("{:?}", compiled.expects) };
    assert_eq!(inline.block.as_deref(), Some("g"));
    assert_eq!(inline.dir.as_deref(), Some("services/x"));
    assert_eq!(test.today, Some(20_819));
    assert_eq!(test.dir.as_deref(), Some("a/b"));
    assert_eq!(test.by.as_ref().unwrap().node, "g");
}

#[test]
fn bounded() {
    let members: Vec<String> = (0..2000).map(|n| format!("\"./a{n}\"")).collect();
    let rules: String = (0..600).map(|n| format!("guard g{n} on x {{ deny path @l }}\n")).collect();
    let text = format!("list l is {}\n{rules}", members.join(", "));
    assert_eq!(told(&text).first().map(|(c, _)| c.clone()).as_deref(), Some("too-large"));
}

#[test]
fn lints() {
    let managed = Setup { kind: LayerKind::Managed, ..Setup::default() };
    let late = Setup { today: 30_000, ..Setup::default() };
    let plain = Setup::default();
    let exception =
        "guard g on x { deny } exception e to g { owner \"a\" until 2027-01-01 because \"b\" open }";
    for (text, setup, expected) in [
        (
            "rule r on x { allow path \"./a\", \"./b\" allow path \"./a\" }",
            &plain,
            &[("twice", "\"./a\"")][..],
        ),
        ("rule r on x { allow path \"./a\" except \"./a/b\" allow path \"./a\" }", &plain, &[]),
        (
            "rule r on x { allow path \"./a\" deny path \"./a\" }",
            &plain,
            &[("line-without-effect", "\"./a\"")],
        ),
        (
            "rule r on x { allow run `a b ...` ask run `a b` }",
            &plain,
            &[("line-without-effect", "`a b ...`")],
        ),
        ("rule r on x { allow run `a b c` ask run `a b` }", &plain, &[]),
        (
            "rule r on x { ask domain \"a.b.com\" deny domain \"*.b.com\" }",
            &plain,
            &[("line-without-effect", "\"a.b.com\"")],
        ),
        ("rule r on x { ask domain \"a.b.com\" deny domain \"*.b.com\" except \"a.b.com\" }", &plain, &[]),
        (
            "rule r on x, y { otherwise ask } rule s on X { otherwise deny }",
            &plain,
            &[("shadowed-rule", "on X")],
        ),
        (
            "rule r on \"*\" { otherwise ask } rule s on x { otherwise deny }",
            &plain,
            &[("shadowed-rule", "on x")],
        ),
        ("rule r on x for \"./a\" { otherwise ask } rule s on x { otherwise deny }", &plain, &[]),
        (
            "rule r on x { allow domain \"*github.com\", \"*.a.com\", \"*\" }",
            &plain,
            &[("unanchored-domain", "\"*github.com\"")],
        ),
        ("guard g on x { deny domain \"*github.com\" }", &plain, &[]),
        ("rule r on \"*read*\" { otherwise allow }", &plain, &[("wide-tool-glob", "\"*read*\"")]),
        ("rule r on \"*read*\" { otherwise ask }", &plain, &[]),
        ("guard g on x { deny path \"~/**\" }", &plain, &[("home-covers-project", "\"~/**\"")]),
        ("guard g on x { deny path \"~/**\" except \"./**\" }", &plain, &[]),
        (
            "default deny guard g on edit, bash { warn path \"./x\" } rule r on bash { allow run `ls` }",
            &plain,
            &[("guards-only", "edit")],
        ),
        ("guard g on edit { warn path \"./x\" }", &plain, &[]),
        ("default deny", &managed, &[("default-is-no-floor", "default deny")]),
        ("default deny rule floor { otherwise ask }", &managed, &[]),
        (exception, &late, &[("expired-exception", "2027-01-01")]),
        (exception, &plain, &[]),
        (
            "set g to off because \"x\" guard g on x { deny } exception e to g { owner \"a\" until 2027-01-01 because \"b\" open }",
            &plain,
            &[("unused-exception", "g")],
        ),
        (
            "guard g on x { deny } exception e to g at stop { owner \"a\" until 2027-01-01 because \"b\" open }",
            &plain,
            &[("unused-exception", "g")],
        ),
        (
            "rule r on bash { allow run `npm {test,list}`, `ls` }",
            &plain,
            &[("grants-a-shell", "`npm {test,list}`")],
        ),
        ("rule r on bash { allow run `bash -c *`, `node --version`, `yarn list` }", &plain, &[]),
        (
            "rule r on x { ask path \"./a\" expect ask x { path: \"a\" } } rule s on y { otherwise ask }",
            &plain,
            &[("untested-block", "s")],
        ),
        ("rule r on x { ask path \"./a\" } rule s on y { otherwise ask }", &plain, &[]),
    ] {
        let told = told_with(text, setup);
        let told: Vec<(&str, &str)> = told.iter().map(|(c, t)| (c.as_str(), t.as_str())).collect();
        assert_eq!(told, expected, "{text}");
    }
}

#[test]
fn packs_under_test_need_tests() {
    let setup = Setup { kind: LayerKind::Test, ..Setup::default() };
    assert_eq!(told_with("guard g on x { deny }", &setup), [("untested-block".to_owned(), "g".to_owned())]);
    assert!(told_with("guard g on x { deny expect deny x {} }", &setup).is_empty());
}

#[test]
fn shell_grants_are_counted() {
    let text = "policy \"t\" language 1\nrule r on bash { allow run `make` allow run `ls`, `cargo test ...` allow run `ls -l` }";
    let (compiled, _) = compiled(text, &Setup::default());
    assert_eq!((compiled.summary.shell_lines, compiled.summary.allow_lines), (2, 3));
}

/// Work grows with the policy, not with its square.
#[test]
fn many_rules() {
    let rules: String = (0..5_000)
        .map(|n| format!("rule r{n} on t{n}, bash {{ allow path \"./a{n}/**\" ask run `p{n} x` }}\n"))
        .collect();
    let start = std::time::Instant::now();
    let policy = good(&rules);
    assert_eq!(policy.blocks.len(), 5_000);
    assert!(start.elapsed().as_secs() < 30);
}

/// Every code has a file that shows it. Comments at its top say for which layer it is compiled.
#[test]
fn every_code_has_a_file() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/diagnostics");
    for code in crate::Code::ALL {
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

/// What an untrusted file may not do, whatever is written in it; and nothing that refuses is lost.
#[test]
fn no_untrusted_file_loosens() {
    let lines = [
        "allow path \"./**\"",
        "ask path \"./src/**\" except \"./src/x\"",
        "deny path \"**/.env\"",
        "only domain \"a.com\"",
        "allow run `git status`",
        "ask run `git push`",
        "deny run `rm {-r,-f}`",
        "only arg mode \"a\"",
        "allow domain \"*\"",
    ];
    let ends = ["", "otherwise allow", "otherwise ask", "otherwise deny"];
    let settings = [
        "default allow",
        "default deny",
        "mode observe",
        "severity relaxed",
        "ask timeout 1s",
        "use std/readonly, std/git",
        "list x is \"a\"",
        "program git { same words push, status }",
        "asset USDC is \"eip155:1/erc20:0x1\" decimals 6",
        "test \"t\" { expect allow bash \"ls\" }",
    ];
    let mut seed = 7_u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    for round in 0..60 {
        let mut text = String::new();
        for (at, setting) in settings.iter().enumerate() {
            if below(3) == 0 && !(at == 1 && text.contains("default")) {
                text.push_str(setting);
                text.push('\n');
            }
        }
        for number in 0..below(5) {
            let (open, close) = match below(4) {
                0 => ("project \"./p\" { default allow ", "}"),
                1 => ("project \"./p/*\" { ", "}"),
                _ => ("", ""),
            };
            let mut chosen: Vec<&str> = (0..1 + below(4)).map(|_| lines[below(lines.len())]).collect();
            chosen.sort();
            chosen.dedup();
            let block = if below(3) == 0 {
                chosen.retain(|l| !l.starts_with("allow"));
                format!("guard g{number} on bash, Edit {{ {} warn path \"./w\" }}", chosen.join(" "))
            } else {
                format!("rule r{number} on bash, Edit {{ {} {} }}", chosen.join(" "), ends[below(4)])
            };
            text.push_str(&format!("{open}{block}{close}\n"));
            if block.starts_with("guard") && open.is_empty() && below(2) == 0 {
                text.push_str(&format!(
                    "exception e{number} to g{number} {{ owner \"a\" until 2027-01-01 because \"b\" open }}\n"
                ));
                text.push_str(&format!("set g{number} to off because \"x\"\n"));
            }
        }
        let untrusted = good_with(&text, &Setup { trusted: false, ..Setup::default() });
        assert!(
            untrusted.default.is_none() && !untrusted.observe && untrusted.ask_timeout.is_none(),
            "{text}"
        );
        assert!(
            untrusted.programs.iter().all(|p| !p.same_words.contains(&vec!["push".into(), "status".into()]))
        );
        let block = |l: &ir::Line| &untrusted.blocks[l.block.0 as usize];
        for line in &untrusted.lines {
            let answers = matches!(line.verb, ir::Verb::Allow | ir::Verb::OtherwiseAllow | ir::Verb::Open);
            assert!(!answers, "{round}: {text}");
            assert!(
                line.verb != ir::Verb::Only || block(line).kind == ir::BlockKind::Guard,
                "{round}: {text}"
            );
        }
        assert!(untrusted.blocks.iter().all(|b| b.kind != ir::BlockKind::Exception), "{round}: {text}");
        // Everything that the file refuses with its own rules and guards is still refused.
        let without_sets: String = text
            .lines()
            .filter(|l| !l.starts_with("set ") && !l.starts_with("asset "))
            .map(|l| format!("{l}\n"))
            .collect();
        let trusted = good_with(&without_sets, &Setup::default());
        let refusals = |policy: &ir::Policy| -> Vec<String> {
            let line = |p: &ir::Pattern| &policy.lines[p.line.0 as usize];
            let refuses =
                |p: &&ir::Pattern| !matches!(line(p).verb, ir::Verb::Info | ir::Verb::Warn) && !p.grant;
            policy
                .patterns
                .iter()
                .filter(refuses)
                .map(|p| (policy.blocks[line(p).block.0 as usize].name.clone(), p))
                .filter(|(name, _)| !name.starts_with("std/readonly"))
                .map(|(name, p)| format!("{name} {:?} {:?}", line(p).verb, p.text))
                .collect()
        };
        let kept = refusals(&untrusted);
        for refusal in refusals(&trusted) {
            assert!(kept.contains(&refusal), "{round}: {refusal} is lost in {text}");
        }
    }
}

/// The YAML front end's tree is lowered like any other.
#[test]
fn yaml_trees() {
    let yaml = "rules:\n  - id: reads\n    tool: [read_file]\n    paths:\n      allow: [\"src/**\"]\n      block: [\"**/.env\"]\n    decision: ask\n";
    let mut sources = SourceMap::default();
    let main = sources.add("agent-firewall.yml", yaml);
    let parsed = policy_grammar::yaml::firewall::parse(main, yaml);
    if parsed.diagnostics.iter().any(|d| d.level == Level::Error) {
        panic!("{:#?}", parsed.diagnostics);
    }
    let compiled = compile(CompileInput {
        sources: &mut sources,
        main,
        tree: Some(parsed.file),
        load: &mut |_: &mut SourceMap, _: &str, _: FileId| Err(String::new()),
        kind: LayerKind::Project,
        trusted: true,
        today: 20_000,
        always: &[],
    });
    let policy = compiled.policy.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    let first: Vec<String> = order(&policy).into_iter().filter(|l| l.starts_with("reads")).collect();
    assert_eq!(first.last().unwrap(), "reads OtherwiseAsk otherwise ask");
}

/// Nothing that can be written many times costs the square of it.
#[test]
fn many_of_everything() {
    let many = |make: &dyn Fn(usize) -> String| (0..4_000).map(make).collect::<String>();
    let texts = [
        many(&|n| format!("guard g{n} on x {{ deny }}\nset g{n} to off because \"x\"\n")),
        many(&|n| format!("set g{n} to off because \"x\"\n")),
        many(&|n| {
            format!(
                "guard g{n} on x {{ deny }}\nexception e{n} to g{n} {{ owner \"a\" until 2027-01-01 because \"b\" open }}\n"
            )
        }),
        many(&|n| format!("guard g{n} on @u{n} {{ deny }}\n")),
        many(&|n| format!("exception e{n} to g{n} {{ owner \"a\" until 2027-01-01 because \"b\" open }}\n")),
        format!("guard g on x {{ {} }}", many(&|n| format!("only arg a{n} \"x\"\n"))),
        format!("guard g on x {{ {} }}", many(&|_| "ask path \"./x\"\n".to_owned())),
        many(&|n| {
            format!("project \"./p{n}\" {{ guard g on x {{ deny }} rule r on x {{ otherwise ask }} }}\n")
        }),
        many(&|n| format!("rule r{n} on x{n} {{ otherwise ask expect ask x{n} {{}} }}\n")),
    ];
    for text in texts {
        let start = std::time::Instant::now();
        let told = told(&text);
        let begin: String = text.chars().take(40).collect();
        println!("{begin:?} {:?} {}", start.elapsed(), told.len());
        assert!(start.elapsed().as_secs() < 40, "{begin}");
    }
}

#[test]
fn knowledge_of_programs_adds_up() {
    let policy = good(
        "program git, tig { same words push, send } program git { flags with values --far } guard g on bash { deny run `git push` }",
    );
    let git = policy.programs.iter().find(|p| p.names.contains(&"git".to_owned())).unwrap();
    assert!(git.value_flags.contains(&"-C".to_owned()), "the pack's knowledge stays");
    assert!(git.value_flags.contains(&"--far".to_owned()));
    let tig = policy.programs.iter().find(|p| p.names.contains(&"tig".to_owned())).unwrap();
    assert!(!tig.value_flags.contains(&"--far".to_owned()));
    let run = policy.patterns.iter().find_map(|p| match &p.matcher {
        ir::Matcher::Run(run) => Some(run),
        _ => None,
    });
    assert_eq!(run.unwrap().stages[0].terms, [ir::RunTerm::Word(vec!["push".into(), "send".into()])]);
}

#[test]
fn a_shell_line_asks_whatever_else_is_allowed() {
    let policy = good("rule r on bash { allow run `ls -l -a x y z` ask shell pipe }");
    assert_eq!(order(&policy)[0], "r Ask shell pipe");
}
