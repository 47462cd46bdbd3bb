//! Work of a decision that must not grow with the number of rules.
//!
//! INVARIANT: measured as a ratio inside one run, so that a busy machine does not matter.

use super::{MOST_CANDIDATES, MOST_TABLE, emit};
use crate::ir::{
    Block, BlockId, BlockKind, Default_, Kind, Line, LineId, Matcher, OperandSet, Pattern, Place, Policy,
    RunPattern, RunStage, RunTerm, Scope, ScopeId, Verb,
};
use policy_runtime::bytes::Seen;
use policy_runtime::facts::{
    Access, CommandFact, Facts, Form, Origin, Part, PathFact, PathName, ToolName, Word,
};
use policy_runtime::{Context, Decision, Table, decide, work};
use std::time::{Duration, Instant};

/// `rules` rules of their own tool each, and as many run and path lines in one rule of `bash`.
fn policy(rules: u32) -> Policy {
    let mut policy =
        Policy { default: Some(Default_::Ask), files: vec!["f".to_owned()], ..Policy::default() };
    let mut add = |tool: String, lines: &mut dyn Iterator<Item = (Kind, Matcher)>| {
        let (scope, block) = (policy.scopes.len() as u32, policy.blocks.len() as u32);
        let place = Place { file: 0, line: block + 1 };
        policy.scopes.push(Scope {
            tools: vec![tool],
            events: vec!["pre_tool_use".to_owned()],
            labels: Vec::new(),
        });
        policy.blocks.push(Block {
            kind: BlockKind::Rule,
            name: format!("r{block}"),
            place,
            scope: ScopeId(scope),
            withins: Vec::new(),
            because: String::new(),
            suggest: String::new(),
            ask_timeout: None,
            page_only: false,
            opens: None,
            until: None,
            owner: String::new(),
        });
        for (kind, matcher) in lines {
            let line = LineId(policy.lines.len() as u32);
            policy.lines.push(Line {
                block: BlockId(block),
                verb: Verb::Allow,
                kind,
                arg: String::new(),
                because: String::new(),
                suggest: String::new(),
                place,
            });
            policy.patterns.push(Pattern { line, text: "x".to_owned(), matcher, grant: true });
        }
    };
    let word = |text: String| RunTerm::Word(vec![text]);
    let run = |number: u32| RunPattern {
        stages: vec![RunStage {
            program: vec!["git".to_owned()],
            terms: vec![word(format!("sub{number}"))],
            rest: true,
        }],
        ..RunPattern::default()
    };
    let runs = (0..rules).map(|n| (Kind::Run, Matcher::Run(run(n))));
    let paths = (0..rules).map(|n| (Kind::Path, Matcher::Path(format!("./d{n}/**"))));
    add("\0bash".to_owned(), &mut runs.chain(paths));
    for number in 0..rules {
        add(format!("\0tool{number}"), &mut std::iter::once((Kind::Path, Matcher::Path("./**".to_owned()))));
    }
    policy
}

fn calls() -> [Facts; 2] {
    let call = |tool: &str| Facts {
        readings: vec![ToolName { server: String::new(), tool: tool.to_owned(), own: false }],
        event: "pre_tool_use".to_owned(),
        dir: PathName { views: vec![".".to_owned()] },
        ..Facts::default()
    };
    let mut bash = call("bash");
    let words = ["git", "sub7", "x"];
    bash.commands.push(CommandFact {
        words: words.iter().map(|w| Word::Known((*w).to_owned())).collect(),
        parts: vec![Part::Program, Part::Operand, Part::Operand],
        word_paths: vec![None; 3],
        text: words.join(" "),
        dir: bash.dir.clone(),
        plain: true,
        ..CommandFact::default()
    });
    let name = PathName { views: vec!["./d7/src/lib.rs".to_owned()] };
    bash.paths.push(PathFact { names: vec![name.clone()], ..PathFact::default() });
    let mut tool = call("tool7");
    tool.paths.push(PathFact { names: vec![name], ..PathFact::default() });
    [bash, tool]
}

fn fastest(table: &Table<'_>, facts: &Facts) -> Duration {
    let once = || {
        let start = Instant::now();
        for _ in 0..20 {
            assert_eq!(decide(table, facts, &Context::default()).decision, Decision::Allow);
        }
        start.elapsed()
    };
    (0..15).map(|_| once()).min().expect("some")
}

#[test]
fn a_decision_does_not_look_at_every_rule() {
    let small = emit(&policy(20), &[0; 32], &[0; 32]).expect("a table");
    let large = emit(&policy(4000), &[0; 32], &[0; 32]).expect("a table");
    let (few, many) = (Table::open(&small).expect("opens"), Table::open(&large).expect("opens"));
    for facts in calls() {
        let (a, b) = (fastest(&few, &facts), fastest(&many, &facts));
        println!("20 rules {a:?}, 4000 rules {b:?}");
        assert!(b < a * 8, "20 rules take {a:?}, 4000 take {b:?}");
    }
}

#[test]
fn a_rule_with_its_own_tool_is_small() {
    let bytes = |rules: u32| emit(&policy(rules), &[0; 32], &[0; 32]).expect("a table").len();
    let (few, many) = (bytes(20), bytes(1020));
    assert!((many - few) / 1000 < 2500, "{} bytes a rule", (many - few) / 1000);
}

/// Many long values of which nothing is known exactly: the work is bounded, and what it does not reach asks.
#[test]
fn hostile_values_end_in_a_question() {
    let policy = crate::tests::good("use std/secrets\nuse std/shell\ndefault allow");
    let bytes = emit(&policy, &[0; 32], &[0; 32]).expect("a table");
    let table = Table::open(&bytes).expect("opens");
    let mut facts = calls()[0].clone();
    facts.commands.clear();
    facts.paths = (0..4096)
        .map(|number| PathFact {
            names: vec![PathName {
                views: vec![format!("./{}/{number}*/{}", "a*".repeat(2000), "?b".repeat(1000))],
            }],
            form: Form::Glob,
            ..PathFact::default()
        })
        .collect();
    let start = Instant::now();
    let verdict = decide(&table, &facts, &Context::default());
    println!("{:?}: {:?}", start.elapsed(), verdict.steps[0]);
    assert!(verdict.decision >= Decision::Ask);
    // What is known to be denied stays denied, wherever it stands.
    let name = PathName { views: vec!["./.env".to_owned(), "/home/me/.env".to_owned()] };
    facts.paths[4095] = PathFact { names: vec![name], ..PathFact::default() };
    let known = decide(
        &table,
        &Facts { paths: vec![facts.paths[4095].clone()], ..facts.clone() },
        &Context::default(),
    );
    let hidden = decide(&table, &facts, &Context::default());
    println!("{:?} {:?}", known.steps[0], hidden.steps[0]);
    assert_eq!(known.decision, Decision::Deny);
    assert_eq!(hidden.decision, Decision::Deny);
    // Seconds without optimization, less than a tenth of it with.
    assert!(start.elapsed().as_secs() < 60);
}

/// One guard with `rules` refusals each by a later word, by a set of any program, by a set of one program, by a text, and
/// a rule with as many grants.
fn many_runs(rules: u32) -> Policy {
    let mut policy = policy(0);
    policy.blocks.truncate(1);
    let mut guard = policy.blocks[0].clone();
    guard.kind = BlockKind::Guard;
    policy.blocks.push(guard);
    let words = |list: &[&str]| list.iter().map(|t| RunTerm::Word(vec![(*t).to_owned()])).collect::<Vec<_>>();
    let run = |program: &str, terms: Vec<RunTerm>| RunPattern {
        stages: vec![RunStage { program: vec![program.to_owned()], terms, rest: true }],
        ..RunPattern::default()
    };
    let paths = |paths: &[String]| Some(OperandSet { paths: paths.to_vec(), ..OperandSet::default() });
    for number in 0..rules {
        let branch = format!("branch-{number}");
        add(&mut policy, 1, Verb::Deny, run("git", words(&["push", "origin", &branch])));
        let held =
            [format!("./held/{number}/**"), format!("**/held-{number}.key"), format!("~/h*/{number}/x")];
        add(&mut policy, 1, Verb::Deny, RunPattern { writing: paths(&held), ..run("*", Vec::new()) });
        let secret = [format!("/secret/{number}")];
        add(&mut policy, 1, Verb::Deny, RunPattern { touching: paths(&secret), ..run("cat", Vec::new()) });
        let texts = OperandSet { texts: vec![format!("name-{number}")], ..OperandSet::default() };
        add(&mut policy, 1, Verb::Ask, RunPattern { touching: Some(texts), ..run("cat", Vec::new()) });
        let own = [format!("./own/{number}/**")];
        let copy = run("cp", words(&[&format!("n{number}"), "*"]));
        add(&mut policy, 0, Verb::Allow, RunPattern { touching: paths(&own), ..copy });
    }
    policy.patterns.sort_by_key(|pattern| !pattern.grant);
    policy
}

fn add(policy: &mut Policy, block: u32, verb: Verb, pattern: RunPattern) {
    let line = LineId(policy.lines.len() as u32);
    policy.lines.push(Line {
        block: BlockId(block),
        verb,
        kind: Kind::Run,
        arg: String::new(),
        because: String::new(),
        suggest: String::new(),
        place: Place { file: 0, line: line.0 + 1 },
    });
    let (text, grant) = ("x".to_owned(), verb == Verb::Allow);
    policy.patterns.push(Pattern { line, text, matcher: Matcher::Run(pattern), grant });
}

/// A command of known words; those with a slash are paths that it writes.
fn command(text: &str) -> Facts {
    let [mut facts, _] = calls();
    facts.commands.clear();
    facts.paths.clear();
    let mut command = CommandFact { dir: facts.dir.clone(), plain: true, ..CommandFact::default() };
    for word in text.split(' ') {
        let first = command.words.is_empty();
        command.words.push(Word::Known(word.to_owned()));
        command.parts.push(if first { Part::Program } else { Part::Operand });
        command.touches.push(Access::WRITE);
        command.word_paths.push(word.contains('/').then(|| {
            let names = vec![PathName { views: vec![word.to_owned()] }];
            let origin = Origin::Command(0);
            facts.paths.push(PathFact { written: word.to_owned(), names, origin, ..PathFact::default() });
            facts.paths.len() as u32 - 1
        }));
    }
    command.text = text.to_owned();
    facts.commands.push(command);
    facts
}

/// Counted, not timed: comparisons of texts and automaton passes, and the pages of the table that are looked at.
#[test]
fn the_work_of_a_command_does_not_grow_with_run_patterns_and_sets() {
    let tables =
        [10, 1_000, 10_000].map(|rules| emit(&many_runs(rules), &[0; 32], &[0; 32]).expect("a table"));
    for (text, decision) in [
        ("git push origin branch-7", Decision::Deny),
        ("git push origin main", Decision::Ask),
        ("git status --short", Decision::Ask),
        ("tee ./held/7/a", Decision::Deny),
        ("tee ./src/a", Decision::Ask),
        ("cat /secret/7", Decision::Deny),
        ("cat /secret/x", Decision::Ask),
        ("cat name-7", Decision::Ask),
        ("cp n7 ./own/7/x", Decision::Allow),
    ] {
        let facts = command(text);
        let mut counts = Vec::new();
        for bytes in &tables {
            let seen = Seen::new();
            let table = Table::in_place(bytes, &seen).expect("opens");
            assert_eq!(decide(&table, &facts, &Context::default()).decision, decision, "{text}");
            counts.push((work(&table, &facts, &Context::default()), seen.pages()));
        }
        println!("{text}: {counts:?}");
        let (few, many) = (counts[0], counts[2]);
        assert!(many.0 * 100 <= few.0 * 103, "{text}: {counts:?}");
        assert!(many.1 <= 80, "{text}: {counts:?}");
    }
}

#[test]
fn too_many_patterns_under_one_key_name_their_line() {
    let mut policy = many_runs(0);
    for number in 0..=MOST_CANDIDATES {
        let terms = vec![RunTerm::Flag(vec![format!("--f{number}")])];
        let stage = RunStage { program: vec!["rm".to_owned()], terms, rest: true };
        add(&mut policy, 1, Verb::Deny, RunPattern { stages: vec![stage], ..RunPattern::default() });
    }
    let error = emit(&policy, &[0; 32], &[0; 32]).expect_err("too many");
    assert_eq!(error.place, Some(Place { file: 0, line: 1025 }));
    assert_eq!(
        error.message,
        "one command would be compared with 1025 run patterns, the most is 1024; they share their program and all words"
    );
    policy.patterns.pop();
    emit(&policy, &[0; 32], &[0; 32]).expect("as many as may be");
}

#[test]
fn sets_that_begin_too_much_name_their_line() {
    let mut policy = many_runs(300);
    let mut letters = String::from(".");
    letters.push('/');
    for pattern in &mut policy.patterns {
        if let Matcher::Run(RunPattern { writing: Some(set), .. }) = &mut pattern.matcher {
            letters.push('a');
            set.paths = vec![format!("{letters}*x")];
        }
    }
    let error = emit(&policy, &[0; 32], &[0; 32]).expect_err("too many");
    assert!(error.message.starts_with("one value could begin "), "{error}");
    assert!(error.message.ends_with(" of the patterns at one time, the most is 256"), "{error}");
    let line = error.place.expect("a line").line;
    assert!(line > 1000, "{line}");
}

#[test]
fn a_table_that_is_too_large_says_how_large() {
    let mut policy = policy(1);
    policy.lines[0].because = "x".repeat(MOST_TABLE + 1);
    let error = emit(&policy, &[0; 32], &[0; 32]).expect_err("too large");
    assert!(error.message.starts_with("the table would have 6711"), "{error}");
    assert!(error.message.ends_with(" bytes; the most are 67108864"), "{error}");
}
