//! Small policies through the whole compile.
//!
//! INVARIANT: what a test expects is written beside the policy that gives it.

mod limits;
mod lints;
mod messages;
mod programs;
mod trust;

use crate::{CompileInput, Compiled, LayerKind, compile, ir};
use policy_grammar::diagnostic::Level;
use policy_grammar::shell::Dialect;
use policy_grammar::shell::program::Inner;
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
        // A rule that the first one turns off lies in another pack here.
        let moved = |code: &str| name == "00-shop.policy" && code.ends_with("unknown-block");
        if errors.iter().any(|d| d.code.ends_with("unknown-pack") || moved(d.code)) {
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
        program nqm { same words install, i, add }
        guard g on bash {
          deny run `nqm install` touching "main", "./x", "+*" except "/y" via sudo, doas
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
    let npm = runs.iter().find(|r| r.stages[0].program == ["nqm"]).unwrap();
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

#[test]
fn details_of_programs() {
    let policy = good("guard g on bash { deny run `x` }");
    let find = |name: &str| policy.programs.iter().find(|p| p.names.iter().any(|n| n == name)).unwrap();
    assert_eq!(find("bash").dialect, Some(Dialect::Bash));
    assert_eq!(find("dash").dialect, Some(Dialect::Posix));
    assert_eq!(find("sh").dialect, None);
    assert!(find("ksh").input_flags.contains(&"-s".to_owned()));
    assert_eq!(find("trap").inner, [Inner::OperandText { index: 0 }]);
    assert!(find("xargs").placeholder_flags.contains(&"-I".to_owned()));
}

/// A file that is called like a pack does not take its place.
#[test]
fn a_file_never_stands_in_for_a_pack() {
    let mut sources = SourceMap::default();
    let main = sources.add("std/self", "policy \"p\" language 1\nuse std/git\n");
    let compiled = compile(CompileInput {
        sources: &mut sources,
        main,
        tree: None,
        load: &mut |_: &mut SourceMap, _: &str, _: FileId| Err(String::new()),
        kind: LayerKind::Test,
        trusted: true,
        today: 20_000,
        always: &["std/self"],
    });
    let policy = compiled.policy.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    for guard in ["std/self/held-files", "std/git/no-force-push"] {
        assert!(policy.blocks.iter().any(|block| block.name == guard), "{guard} is missing");
    }
}
