//! Properties of whole decisions: what may never make an answer less strict, and what may not change it at all.
//!
//! INVARIANT: `allow < no opinion < ask < deny`; an untrusted project file, a guard and a wrapper only move up.

use crate::generate::{SCRIPTS, calls, guard, policy};
use crate::support::{Random, World, root, rounds};
use policy_engine::compile::{self, Kind};
use policy_engine::decide::{Engine, Options};
use policy_engine::layers::Default_;
use policy_engine::open::Care;
use policy_engine::places::Folders;
use policy_engine::programs::TablePrograms;
use policy_hosts::call::{Call, Places};
use policy_hosts::facts::{NoResolver, extract};
use policy_runtime::Context;
use policy_runtime::facts::Facts;
use policy_runtime::table::Table;
use policy_runtime::verdict::Decision;
use serde_json::{Value, json};
use std::path::PathBuf;

fn call(tool: &str, arguments: Value, cwd: PathBuf) -> Call {
    Call {
        host: "claude-code".to_owned(),
        event: "pre_tool_use".to_owned(),
        tool: tool.to_owned(),
        arguments,
        cwd,
        label: Some("tester".to_owned()),
        ..Call::default()
    }
}

#[test]
fn an_untrusted_project_never_loosens() {
    let world = World::new("untrusted");
    let mut folders = Folders::under(&world.path("home"));
    folders.managed = world.path("etc");
    let options = Options {
        policy: None,
        care: Care::Private,
        default: Default_::Std,
        sessions: false,
        caching: true,
        resolve_links: true,
        compiler: &policy_engine::work::Here,
    };
    let calls: Vec<Call> =
        calls().into_iter().map(|(tool, arguments)| call(tool, arguments, world.path("repo"))).collect();
    assert!(calls.len() >= 55);
    let decide = |engine: &mut Engine| -> Vec<Decision> {
        calls.iter().map(|call| engine.decide(call).verdict.decision).collect()
    };
    let shop = std::fs::read_to_string(root().join("policies/examples/shop.policy")).unwrap();
    let open = "policy \"open\" language 1\n\ndefault allow\n\nguard g on bash {\n  deny run `git push --force`\n}\n";
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let rounds = rounds(ROUNDS);
    let (mut usable, mut tightened, mut loosest) = (0, 0, 0);
    for user in [None, Some(shop.as_str()), Some(open)] {
        if let Some(user) = user {
            world.file("home/.config/policy/agent.policy", user);
        }
        let _ = std::fs::remove_file(world.path("repo/agent.policy"));
        let before = decide(&mut Engine::new(folders.clone(), options.clone()));
        loosest += before.iter().filter(|decision| **decision == Decision::Allow).count();
        for round in 0..rounds {
            let text = policy(&mut random, "project");
            world.file("repo/agent.policy", &text);
            let mut engine = Engine::new(folders.clone(), options.clone());
            let layers = engine.layers_at(&world.path("repo"));
            usable += usize::from(layers.iter().all(|layer| layer.table.is_ok()));
            for ((after, before), call) in decide(&mut engine).iter().zip(&before).zip(&calls) {
                assert!(after >= before, "{round}: {before:?} became {after:?} for {call:?} by\n{text}");
                tightened += usize::from(after > before);
            }
        }
    }
    println!(
        "{usable} of {} files usable, {tightened} answers tightened, {loosest} allowed before",
        rounds * 3
    );
    assert!(usable > rounds * 3 / 2, "only {usable} of the generated files compile");
    assert!(tightened > 5 * rounds && loosest > rounds, "{tightened} {loosest}");
}

/// Generated project files for each of the three users.
const ROUNDS: usize = 8;

/// A policy compiled by itself.
struct Compiled(String, Vec<u8>);

impl Compiled {
    fn new(text: &str) -> Option<Compiled> {
        let made = compile::text("generated", text, Kind::Named);
        made.table.map(|table| Compiled(text.to_owned(), table))
    }

    /// The `wanted` first policies that compile.
    fn several(random: &mut Random, wanted: usize) -> Vec<Compiled> {
        let mut made: Vec<Compiled> = [
            "default allow\n\nrule r on bash {\n  deny run `git push {-f,--force}`, `rm`\n  allow run `npm ...`, `git {status,log} ...`\n}\n",
            "rule r on bash {\n  only command \"git *\", \"npm test*\", \"ls*\"\n}\n",
            "use std/git, std/shell, std/secrets, std/readonly\n",
        ]
        .iter()
        .map(|text| Compiled::new(&format!("policy \"fixed\" language 1\n\n{text}")).unwrap())
        .collect();
        let mut tries = 0;
        while made.len() < wanted {
            tries += 1;
            assert!(tries < wanted * 6, "too few of the generated policies compile");
            made.extend(Compiled::new(&policy(random, "generated")));
        }
        made
    }

    fn facts(&self, table: Table<'_>, tool: &str, arguments: &Value) -> Facts {
        let project = PathBuf::from(policy_engine::tested::PROJECT);
        let places = Places {
            project: Some(project.clone()),
            home: Some(PathBuf::from(policy_engine::tested::HOME)),
            resolve_links: false,
            windows: false,
        };
        let call = call(tool, arguments.clone(), project);
        extract(&call, &places, &TablePrograms::new(table), &NoResolver)
    }

    fn decide(&self, tool: &str, arguments: &Value) -> Decision {
        let table = Table::open(&self.1).unwrap();
        let facts = self.facts(table, tool, arguments);
        let verdict = policy_runtime::decide(&table, &facts, &Context { today: 20_787 });
        assert!(!verdict.steps.is_empty(), "no reason for {arguments}");
        verdict.observed.unwrap_or(verdict.decision)
    }

    /// Steps that a decision takes.
    fn work(&self, tool: &str, command: &str) -> u64 {
        let table = Table::open(&self.1).unwrap();
        let facts = self.facts(table, tool, &json!({ "command": command }));
        policy_runtime::work(&table, &facts, &Context { today: 20_787 })
    }

    fn bash(&self, command: &str) -> Decision {
        self.decide("Bash", &json!({ "command": command }))
    }
}

#[test]
fn a_guard_never_loosens() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (calls, mut tightened) = (calls(), 0);
    for base in Compiled::several(&mut random, 40) {
        let added = guard(&mut random, "added");
        let Some(with) = Compiled::new(&format!("{}\n{added}", base.0)) else { continue };
        for (tool, arguments) in &calls {
            let (before, after) = (base.decide(tool, arguments), with.decide(tool, arguments));
            assert!(
                after >= before,
                "{before:?} became {after:?} for {tool} {arguments} by\n{added}\nadded to\n{}",
                base.0
            );
            tightened += usize::from(after > before);
        }
    }
    assert!(tightened > 50, "{tightened}");
}

/// Words that mean themselves: no operator, expansion, assignment or keyword.
fn literal(at: usize, word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,-".contains(c);
    let keyword = ["for", "in", "do", "done", "eval"].contains(&word);
    !word.is_empty() && word.chars().all(plain) && !keyword && (at > 0 || !word.contains('='))
}

#[test]
fn quoting_a_literal_changes_nothing() {
    let mut random = Random(0xdead_beef_cafe_f00d);
    let mut changed = 0;
    for policy in Compiled::several(&mut random, 30) {
        for script in SCRIPTS.iter().filter(|script| !script.contains(['\'', '<', '(', ';'])) {
            let words: Vec<&str> = script.split(' ').collect();
            let literals: Vec<usize> = (0..words.len()).filter(|at| literal(*at, words[*at])).collect();
            let Some(at) = literals.get(random.below(literals.len())) else { continue };
            let word = words[*at];
            let (head, tail) = word.split_at(1 + random.below(word.len()));
            let spelled = [
                format!("'{word}'"),
                format!("\"{word}\""),
                format!("$'{word}'"),
                format!("'{head}'{tail}"),
                format!("{head}\"{tail}\""),
                format!("\\{word}"),
            ];
            let spelling = &spelled[random.below(spelled.len())];
            let quoted = [&words[..*at], &[spelling.as_str()], &words[*at + 1..]].concat().join(" ");
            let (before, after) = (policy.bash(script), policy.bash(&quoted));
            assert_eq!(before, after, "`{script}` against `{quoted}` by\n{}", policy.0);
            changed += 1;
        }
    }
    assert!(changed > 500, "{changed}");
}

#[test]
fn a_wrapper_never_loosens() {
    let wrappers = [
        "env",
        "nohup",
        "timeout 5",
        "nice -n 5",
        "sudo",
        "command",
        "stdbuf -oL",
        "setsid",
        "time",
        "env A=1",
    ];
    let mut random = Random(0x0123_4567_89ab_cdef);
    // `only path` refuses a call without a path, and the words behind a wrapper are paths as well as a command.
    let policies = Compiled::several(&mut random, 40);
    for policy in policies.iter().filter(|policy| !policy.0.contains("only path")) {
        for script in SCRIPTS
            .iter()
            .filter(|script| !script.contains(['|', '&', ';', '<', '>']) && !script.starts_with("eval"))
        {
            let wrapped = format!("{} {script}", random.pick(&wrappers));
            let (before, after) = (policy.bash(script), policy.bash(&wrapped));
            assert!(after >= before, "`{script}` gets {before:?}, `{wrapped}` {after:?} by\n{}", policy.0);
        }
    }
}

/// Equal words and equal commands are judged once: a text that says the same thing many times takes little more work
/// than one that says it a few times.
#[test]
fn repetition_is_judged_once() {
    let std = Compiled::new(
        "policy \"p\" language 1\n\nuse std/files, std/network, std/disk, std/system, std/windows, std/shell, std/secrets\n",
    )
    .unwrap();
    for (tool, part) in [
        ("powershell", "iex "),
        ("powershell", "cmd /c "),
        ("powershell", "foo;"),
        ("cmd", "set a=%a%&"),
        ("cmd", "foo %a%&"),
        ("bash", "foo $a b;"),
        ("bash", "cat <x >y;"),
        ("bash", "rm a $b;cd;"),
    ] {
        let (few, many) = (std.work(tool, &part.repeat(64)), std.work(tool, &part.repeat(640)));
        // Reading the text takes some steps a byte.
        let read = part.len() as u64 * 640 * 32;
        assert!(few > 0 && many < few * 5 + read, "{tool}: {part}: {few} steps for 64, {many} for 640");
    }
}

/// The first of equal commands answers for all of them, but what differs in one thing is judged by itself.
#[test]
fn what_differs_is_judged_by_itself() {
    let text = "default allow\n\nguard g {\n  deny run `a | b`\n  deny run `c ...` writing \"**/x\"\n  deny run `d ...` touching \"./y/z\"\n}\n";
    let own = Compiled::new(&format!("policy \"p\" language 1\n\n{text}")).unwrap();
    for (command, decision) in [
        ("b; b; a", Decision::Allow),
        ("b; b; a | b", Decision::Deny),
        ("b | a | b", Decision::Deny),
        ("b | b; x | b", Decision::Allow),
        ("c; c <x; c >x", Decision::Deny),
        ("c; c <x; c <x", Decision::Allow),
        ("(cd q; d z); d z; (cd y; d z)", Decision::Deny),
        ("(cd q; d z); d z; (cd x; d z)", Decision::Allow),
        ("d a a a a a a a a a a a a a a a a a a a a a a a a a y/z", Decision::Deny),
    ] {
        assert_eq!(own.bash(command), decision, "{command}");
    }
}
