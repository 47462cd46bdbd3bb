//! The example table of the runtime's page, and what a reader sees of a whole policy.

use super::emit;
use crate::ir::{
    Block, BlockId, BlockKind, Default_, Except, Kind, Line, LineId, Matcher, OperandSet, Pattern, Place,
    Policy, RunPattern, RunStage, RunTerm, Scope, ScopeId, Verb, Within, WithinId,
};
use policy_grammar::shell::Dialect;
use policy_grammar::shell::program::{Inner, OptionStyle, Program, Subcommand};
use policy_runtime::Table;

fn block(kind: BlockKind, name: &str, line: u32, scope: u32) -> Block {
    Block {
        kind,
        name: name.to_owned(),
        place: Place { file: 0, line },
        scope: ScopeId(scope),
        withins: Vec::new(),
        because: String::new(),
        suggest: String::new(),
        ask_timeout: None,
        page_only: false,
        opens: None,
        until: None,
        owner: String::new(),
    }
}

fn line(block: u32, verb: Verb, kind: Kind, because: &str, line: u32) -> Line {
    Line {
        block: BlockId(block),
        verb,
        kind,
        arg: String::new(),
        because: because.to_owned(),
        suggest: String::new(),
        place: Place { file: 0, line },
    }
}

fn pattern(line: u32, text: &str, matcher: Matcher, grant: bool) -> Pattern {
    Pattern { line: LineId(line), text: text.to_owned(), matcher, grant }
}

fn scope(tools: &[&str]) -> Scope {
    Scope {
        tools: tools.iter().map(|t| (*t).to_owned()).collect(),
        events: vec!["pre_tool_use".to_owned()],
        labels: Vec::new(),
    }
}

/// The policy of the runtime's page.
fn example() -> Policy {
    Policy {
        name: "example".to_owned(),
        default: Some(Default_::Ask),
        default_place: Place { file: 0, line: 2 },
        files: vec!["agent.policy".to_owned()],
        scopes: vec![scope(&["\0read_file"])],
        blocks: vec![block(BlockKind::Rule, "reads", 4, 0)],
        lines: vec![
            line(0, Verb::Allow, Kind::Path, "", 5),
            line(0, Verb::Deny, Kind::Path, "credentials stay out of the transcript", 6),
        ],
        patterns: vec![
            pattern(0, "./**", Matcher::Path("./**".to_owned()), true),
            pattern(1, "**/.env", Matcher::Path("**/.env".to_owned()), false),
        ],
        ..Policy::default()
    }
}

/// `POLICY_WRITE_EXAMPLE=1` writes it again.
#[test]
fn the_example_table_of_the_runtime_is_current() {
    let bytes = emit(&example(), &[0; 32], &[0; 32]).expect("a table");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime/example.table");
    if std::env::var_os("POLICY_WRITE_EXAMPLE").is_some() {
        std::fs::write(file, &bytes).expect("the example is written");
    }
    let stored = std::fs::read(file).expect("the example is there");
    assert!(stored == bytes, "run this test with POLICY_WRITE_EXAMPLE=1");
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|t| (*t).to_owned()).collect()
}

#[test]
fn a_whole_table_reads_as_a_policy() {
    let mut policy = example();
    policy.observe = true;
    policy.ask_timeout = Some(120);
    policy.page_only = true;
    policy.scopes.push(scope(&["*"]));
    policy.withins.push(Within { include: texts(&["./api/**"]), exclude: texts(&["./api/gen/**"]) });
    let mut guard = block(BlockKind::Guard, "std/git/no-force-push", 8, 1);
    guard.because = "it rewrites history".to_owned();
    guard.withins = vec![WithinId(0)];
    let mut exception = block(BlockKind::Exception, "release-bot", 12, 1);
    exception.opens = Some(BlockId(1));
    exception.until = Some(20_543);
    exception.owner = "release team".to_owned();
    policy.blocks.extend([guard, exception]);
    policy.lines.extend([
        line(1, Verb::Deny, Kind::Run, "it rewrites history", 9),
        line(2, Verb::Open, Kind::Call, "", 13),
        line(0, Verb::OtherwiseDeny, Kind::Call, "", 7),
    ]);
    let run = RunPattern {
        stages: vec![RunStage {
            program: texts(&["git"]),
            terms: vec![RunTerm::Word(texts(&["push"])), RunTerm::Flag(texts(&["-f", "--force"]))],
            rest: false,
        }],
        touching: Some(OperandSet { texts: texts(&["main"]), ..OperandSet::default() }),
        ..RunPattern::default()
    };
    policy.patterns.insert(0, pattern(4, "", Matcher::Always, false));
    policy.patterns.push(pattern(3, "", Matcher::Always, true));
    policy.patterns.push(pattern(2, "git push {-f,--force} touching main", Matcher::Run(run), false));
    policy.excepts.push(Except {
        line: LineId(1),
        matcher: Matcher::Path("./docs/.env".to_owned()),
        grant: true,
    });
    let bytes = emit(&policy, &[1; 32], &[2; 32]).expect("a table");
    let table = Table::open(&bytes).expect("it opens");
    let expected = "\
policy \"example\"
default ask (agent.policy:2)
ask timeout 120s
ask via page
mode observe: everything is allowed, and what enforce would do is recorded

# Guards: every one looks at every call in its scope and can only tighten

guard std/git/no-force-push for ./api/** except ./api/gen/** (agent.policy:8)
  because it rewrites history
  deny  run git push {-f,--force} touching main

# Exceptions: each opens one guard

exception release-bot to std/git/no-force-push (agent.policy:12)
  owner release team
  until 2026-03-31
  open

# Rules: the first with an answer decides, in this order

rule reads on read_file (agent.policy:4)
  allow path ./**
  deny  path **/.env except ./docs/.env
          because credentials stay out of the transcript
  otherwise deny
";
    assert_eq!(policy_runtime::explain::table(&table).to_string(), expected);
    let info = table.info().expect("whole");
    assert_eq!((info.rules, info.guards, info.exceptions, info.lines), (1, 1, 1, 5));
    assert_eq!((info.sources_digest, info.build_digest), ([1; 32], [2; 32]));
}

#[test]
fn programs_are_found_by_each_of_their_names() {
    let mut policy = example();
    for number in 0..200 {
        policy.programs.push(Program {
            names: vec![format!("tool{number}"), format!("alias{number}")],
            style: OptionStyle::First,
            value_flags: texts(&["-C"]),
            inner: vec![
                Inner::Operands { skip: number },
                Inner::SettingText { flags: texts(&["-c"]), prefixes: texts(&["alias.*=!"]) },
                Inner::AfterDashes,
            ],
            subcommands: vec![Subcommand {
                words: texts(&["bisect", "run"]),
                program: Program { names_only: true, ..Program::default() },
            }],
            dialect: Some(Dialect::Posix),
            same_words: vec![texts(&["install", "i"])],
            prints_names: texts(&["merge-base"]),
            operands_are_hosts: number % 2 == 0,
            ..Program::default()
        });
    }
    let bytes = emit(&policy, &[0; 32], &[0; 32]).expect("a table");
    let table = Table::open(&bytes).expect("it opens");
    for number in 0..200 {
        let program = table.program(&format!("alias{number}")).expect("known");
        assert_eq!(Some(&program), table.program(&format!("tool{number}")).as_ref());
        assert_eq!(program.names[0], format!("tool{number}"));
        assert_eq!(program.inner[0], policy_runtime::program::Inner::Operands { skip: number });
        assert_eq!(program.subcommands[0].words, ["bisect", "run"]);
        assert!(program.subcommands[0].program.names_only);
        assert_eq!(program.same_words, [["install", "i"]]);
        assert_eq!(program.operands_are_hosts, number % 2 == 0);
    }
    assert_eq!(table.program("tool200"), None);
    assert_eq!(table.program(""), None);
}

#[test]
fn a_policy_that_refers_to_nothing_has_no_table() {
    let mut policy = example();
    policy.patterns[0].line = LineId(99);
    assert!(emit(&policy, &[0; 32], &[0; 32]).is_err());
    let mut policy = example();
    policy.blocks[0].scope = ScopeId(9);
    assert!(emit(&policy, &[0; 32], &[0; 32]).is_err());
    let mut policy = example();
    policy.blocks[0].withins = vec![WithinId(9)];
    assert!(emit(&policy, &[0; 32], &[0; 32]).is_err());
}

#[test]
fn a_glob_that_has_no_automaton_names_its_line() {
    let mut policy = example();
    policy.patterns[1].matcher = Matcher::Path(format!("**/{}", "x".repeat(9000)));
    let error = emit(&policy, &[0; 32], &[0; 32]).expect_err("too long");
    assert_eq!(error.place, Some(Place { file: 0, line: 6 }));
}

/// The sums of pages have sums of their own, for every 128 KiB one more; around that every length has a whole table.
#[test]
fn tables_of_every_length_open() {
    let mut policy = example();
    for length in
        (124..133).chain(253..261).flat_map(|kib: usize| (0..16).map(move |part| kib * 1024 + part * 64))
    {
        policy.lines[1].because = "x".repeat(length);
        let bytes = emit(&policy, &[0; 32], &[0; 32]).expect("a table");
        assert!(Table::open(&bytes).is_ok(), "{length}");
    }
}
