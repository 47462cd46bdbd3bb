//! Work of a decision that must not grow with the number of rules.
//!
//! INVARIANT: measured as a ratio inside one run, so that a busy machine does not matter.

use super::emit;
use crate::ir::{
    Block, BlockId, BlockKind, Default_, Kind, Line, LineId, Matcher, Pattern, Place, Policy, RunPattern,
    RunStage, RunTerm, Scope, ScopeId, Verb,
};
use policy_runtime::facts::{CommandFact, Facts, Form, Part, PathFact, PathName, ToolName, Word};
use policy_runtime::{Context, Decision, Table, decide};
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
