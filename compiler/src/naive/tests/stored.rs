//! Run patterns where they lie in a table, found by its index, against the oracle: each pattern's own grade.
//!
//! INVARIANT: each pattern has a guard of its own, so that every answer is told as a finding, and no other pattern hides it.

use super::super::generate::{Random, facts, run};
use super::super::run as naive;
use super::{TODAY, rounds};
use crate::emit::emit;
use crate::ir::{
    Block, BlockId, BlockKind, Kind, Line, LineId, Matcher, Pattern, Place, Policy, RunPattern, Scope,
    ScopeId, Verb,
};
use policy_runtime::facts::Facts;
use policy_runtime::run_match::Match;
use policy_runtime::verdict::Severity;
use policy_runtime::{Context, Table, decide};

/// Of each kind in one policy: a verdict tells 64 findings.
const MOST: usize = 10;

fn block(policy: &mut Policy, kind: BlockKind, opens: Option<BlockId>, matcher: Matcher) -> BlockId {
    let id = BlockId(policy.blocks.len() as u32);
    let (verb, of) = match (&matcher, kind) {
        (_, BlockKind::Exception) => (Verb::Open, Kind::Run),
        (Matcher::Run(_), _) => (Verb::Deny, Kind::Run),
        _ => (Verb::Deny, Kind::Command),
    };
    policy.blocks.push(Block {
        kind,
        name: format!("b{}", id.0),
        place: Place::default(),
        scope: ScopeId(0),
        withins: Vec::new(),
        because: String::new(),
        suggest: String::new(),
        ask_timeout: None,
        page_only: false,
        opens,
        until: None,
        owner: String::new(),
    });
    let line = LineId(policy.lines.len() as u32);
    let (because, suggest) = (String::new(), String::new());
    policy.lines.push(Line {
        block: id,
        verb,
        kind: of,
        arg: String::new(),
        because,
        suggest,
        place: Place::default(),
    });
    let grant = kind == BlockKind::Exception;
    policy.patterns.push(Pattern { line, text: format!("{matcher:?}"), matcher, grant });
    id
}

/// A guard that denies what each of the first matches, and one that denies every command that each of the others does not open.
fn policy(refusals: &[RunPattern], grants: &[RunPattern]) -> Policy {
    let scope =
        Scope { tools: vec!["*".to_owned()], events: vec!["pre_tool_use".to_owned()], labels: Vec::new() };
    let mut policy = Policy { scopes: vec![scope], files: vec![String::new()], ..Policy::default() };
    for pattern in refusals {
        block(&mut policy, BlockKind::Guard, None, Matcher::Run(pattern.clone()));
    }
    let guards: Vec<BlockId> = grants
        .iter()
        .map(|_| block(&mut policy, BlockKind::Guard, None, Matcher::Command("*".to_owned())))
        .collect();
    for (pattern, guard) in grants.iter().zip(guards) {
        block(&mut policy, BlockKind::Exception, Some(guard), Matcher::Run(pattern.clone()));
    }
    // Exceptions are ranked below guards.
    policy.patterns.sort_by_key(|pattern| !pattern.grant);
    policy
}

/// Calls of few commands that are understood.
fn call(random: &mut Random) -> Facts {
    loop {
        let mut facts = facts(random);
        facts.event = "pre_tool_use".to_owned();
        facts.readings.truncate(1);
        facts.commands.iter_mut().for_each(|command| command.gap.clear());
        if (1..=3).contains(&facts.commands.len()) {
            return facts;
        }
    }
}

/// `POLICY_STORED=10000` are two million comparisons, `POLICY_SEED=1` others.
#[test]
fn stored_run_patterns_match_as_written_down() {
    let mut random = Random::new(7 + ((rounds("POLICY_SEED", 0) as u64) << 32));
    let mut grades = [0usize; 5];
    for round in 0..rounds("POLICY_STORED", 300) {
        // In some policies nothing but sets and flags is asked for: then patterns are found by these.
        let any_program = random.one_in(3);
        let mut patterns = || -> Vec<RunPattern> {
            let mut one = || {
                let mut pattern = run(&mut random);
                if any_program {
                    let last = pattern.stages.len() - 1;
                    pattern.stages[last].program = vec!["*".to_owned()];
                    pattern.stages[last].terms.truncate(random.below(2));
                }
                pattern
            };
            (0..MOST).map(|_| one()).collect()
        };
        let (refusals, grants) = (patterns(), patterns());
        let bytes = emit(&policy(&refusals, &grants), &[1; 32], &[2; 32]).expect("a table");
        let table = Table::open(&bytes).expect("a table opens");
        for _ in 0..10 {
            let facts = call(&mut random);
            let verdict = decide(&table, &facts, &Context { today: TODAY });
            let told = |number: usize| {
                let own = verdict.findings.iter().filter(|finding| finding.rule == format!("b{number}"));
                let sure =
                    |severity| if severity == Severity::Error { Match::Certain } else { Match::Possible };
                own.map(|finding| sure(finding.severity)).max().unwrap_or(Match::No)
            };
            let facts = crate::naive::holes_told(&facts);
            let commands = || 0..facts.commands.len();
            for (number, pattern) in refusals.iter().enumerate() {
                let expected = commands().map(|index| naive::refuses(pattern, &facts, index)).max();
                let got = told(number);
                assert_eq!(Some(got), expected, "round {round}, {pattern:?}\n{facts:?}");
                grades[got as usize] += 1;
            }
            for (number, pattern) in grants.iter().enumerate() {
                let closed = commands().any(|index| !naive::grants(pattern, &facts, index));
                let got = told(MOST + number) != Match::No;
                assert_eq!(got, closed, "round {round}, grant {pattern:?}\n{facts:?}");
                grades[3 + usize::from(!got)] += 1;
            }
        }
    }
    println!("no, possible, certain; not granted, granted: {grades:?}");
    assert!(grades.iter().all(|&n| n > 100), "{grades:?}");
}
