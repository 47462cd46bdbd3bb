//! Damaged tables and caches on disk, as the engine meets them.
//!
//! INVARIANT: a damaged table refuses with a message that says so; a damaged cache is compiled again. Neither ever allows
//! what the whole one does not.

use crate::support::{Random, World, rounds};
use policy_engine::decide::{Answer, Engine, Options};
use policy_engine::layers::Default_;
use policy_engine::open::Care;
use policy_engine::places::Folders;
use policy_hosts::call::Call;
use policy_runtime::verdict::Decision;
use serde_json::json;
use std::path::PathBuf;

const POLICY: &str = "policy \"p\" language 1

default ask

rule shell on bash {
  allow run `frobnicate ...`
  deny  run `frobnicate --bad`
}

rule writes on write_file {
  allow path \"./src/**\"
  deny  path \"~/**\"
}

guard g on \"*\" {
  deny path \"**/.env\"
}
";

/// Mutations of a table that `--policy` names.
const TABLES: usize = 600;
/// Mutations of cache entries; each costs a compile.
const ENTRIES: usize = 40;

struct Machine {
    world: World,
    folders: Folders,
    calls: Vec<Call>,
}

impl Machine {
    fn new(name: &str) -> Machine {
        let world = World::new(name);
        let mut folders = Folders::under(&world.path("home"));
        folders.managed = world.path("etc");
        let calls = [
            ("bash", json!({"command": "frobnicate x"})),
            ("bash", json!({"command": "frobnicate --bad"})),
            ("bash", json!({"command": "other"})),
            ("write_file", json!({"path": "src/a", "content": ""})),
            ("write_file", json!({"path": "src/.env", "content": ""})),
            ("write_file", json!({"path": "~/x", "content": ""})),
        ]
        .map(|(tool, arguments)| Call {
            host: "test".to_owned(),
            event: "pre_tool_use".to_owned(),
            tool: tool.to_owned(),
            arguments,
            cwd: world.path("repo"),
            ..Call::default()
        });
        Machine { world, folders, calls: calls.to_vec() }
    }

    fn answers(&self, policy: Option<PathBuf>) -> Vec<Answer> {
        let options = Options {
            policy,
            care: Care::Private,
            default: Default_::Std,
            sessions: false,
            caching: true,
            resolve_links: true,
            compiler: &policy_engine::work::Here,
        };
        let mut engine = Engine::new(self.folders.clone(), options);
        self.calls.iter().map(|call| engine.decide(call)).collect()
    }
}

fn decisions(answers: &[Answer]) -> Vec<Decision> {
    answers.iter().map(|answer| answer.verdict.decision).collect()
}

/// A part cut off, a bit turned, a run of bytes overwritten, or two places exchanged.
fn damage(random: &mut Random, whole: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let at = random.below(bytes.len());
    match random.below(5) {
        0 => bytes.truncate(at),
        1 | 2 => bytes[at] ^= 1 << random.below(8),
        3 => {
            let end = (at + 1 + random.below(64)).min(bytes.len());
            let fill = random.below(256) as u8;
            bytes[at..end].fill(fill);
        }
        _ => {
            let other = random.below(bytes.len());
            bytes.swap(at, other);
        }
    }
    bytes
}

#[test]
fn damaged_tables_refuse() {
    let machine = Machine::new("damaged-tables");
    let source = machine.world.file("p.policy", POLICY);
    let table = machine.world.path("p.table");
    let words = ["compile", &source.display().to_string(), "-o", &table.display().to_string()];
    assert!(machine.world.run(&words, b"").status.success());
    let whole = std::fs::read(&table).unwrap();
    let before = decisions(&machine.answers(Some(table.clone())));
    assert_eq!(before[..3], [Decision::Allow, Decision::Deny, Decision::Ask]);
    let mut random = Random(0x0dd5_eed0_0dd5_eed1);
    for round in 0..rounds(TABLES) {
        let bytes = damage(&mut random, &whole);
        if bytes == whole {
            continue;
        }
        std::fs::write(&table, &bytes).unwrap();
        for answer in machine.answers(Some(table.clone())) {
            let reason = &answer.verdict.steps[0].because;
            assert_eq!(answer.verdict.decision, Decision::Deny, "{round}");
            assert!(
                reason.contains("p.table") && reason.contains("the policy cannot be used"),
                "{round}: {reason}"
            );
        }
    }
}

#[test]
fn damaged_caches_are_compiled_again() {
    let machine = Machine::new("damaged-caches");
    machine.world.file("home/.config/policy/agent.policy", POLICY);
    let before = decisions(&machine.answers(None));
    assert_eq!(before[..3], [Decision::Allow, Decision::Deny, Decision::Ask]);
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(&machine.folders.cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    assert!(entries.len() >= 2, "{entries:?}");
    let whole: Vec<Vec<u8>> = entries.iter().map(|entry| std::fs::read(entry).unwrap()).collect();
    let mut random = Random(0x5eed_0dd5_5eed_0dd7);
    for round in 0..rounds(ENTRIES) {
        let at = random.below(entries.len());
        std::fs::write(&entries[at], damage(&mut random, &whole[at])).unwrap();
        assert_eq!(decisions(&machine.answers(None)), before, "{round}");
    }
    // An entry of another file, put in its place, is none.
    for (at, entry) in entries.iter().enumerate() {
        std::fs::write(entry, &whole[(at + 1) % whole.len()]).unwrap();
    }
    assert_eq!(decisions(&machine.answers(None)), before);
}
