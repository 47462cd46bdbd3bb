//! Damaged tables: ten thousand of them.
//!
//! INVARIANT: a damaged table is refused when it is opened; one whose sums were made to fit again never panics and
//! always ends.

use policy_engine::compile::{self, Kind};
use policy_runtime::facts::{CommandFact, Facts, Part, PathFact, PathName, ScriptFact, ToolName, Word};
use policy_runtime::table::layout;
use policy_runtime::{Context, Table, decide};

const POLICY: &str = "policy \"p\" language 1

default ask

rule r on bash {
  allow run `frobnicate -* ...` touching \"./**\"
  ask   run `frobnicate x`
  deny  run `frobnicate --bad`, `other *`
}

rule w on \"write_*\" {
  allow path \"./src/**\", \"**/x/**/y\" except \"**/.env\"
  only  path \"./**\"
}

guard g on \"*\" {
  deny path \"~/.ssh/**\"
  warn command \"*frob*\"
}
";

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

fn table() -> Vec<u8> {
    compile::text("p", POLICY, Kind::Named).usable().unwrap()
}

fn facts() -> Vec<Facts> {
    let name = |views: &[&str]| PathName { views: views.iter().map(|view| (*view).to_string()).collect() };
    let base = |tool: &str| Facts {
        readings: vec![ToolName { server: String::new(), tool: tool.to_string(), own: false }],
        event: "pre_tool_use".to_string(),
        dir: name(&[".", "/work"]),
        ..Facts::default()
    };
    let mut bash = base("bash");
    let words = ["frobnicate", "-v", "a"].map(|word| Word::Known(word.to_string())).to_vec();
    bash.scripts.push(ScriptFact { text: "frobnicate -v a".into(), complete: true, ..ScriptFact::default() });
    bash.paths.push(PathFact {
        written: "a".into(),
        names: vec![name(&["./a", "/work/a"])],
        ..PathFact::default()
    });
    bash.commands.push(CommandFact {
        words,
        parts: vec![Part::Program, Part::Flag { names: vec!["-v".into()], value: None }, Part::Operand],
        word_paths: vec![None, None, Some(0)],
        text: "frobnicate -v a".into(),
        source: "frobnicate -v a".into(),
        dir: name(&[".", "/work"]),
        plain: true,
        paths: vec![0],
        ..CommandFact::default()
    });
    let mut write = base("write_file");
    write.paths.push(PathFact {
        written: "src/x".into(),
        names: vec![name(&["./src/x/b/y", "/work/src/x/b/y"])],
        ..PathFact::default()
    });
    vec![bash, write]
}

fn resum(bytes: &mut [u8]) {
    policy_runtime::table::seal(bytes);
}

#[test]
fn ten_thousand_damaged_tables_are_refused() {
    let whole = table();
    let mut random = Random(1);
    for round in 0..10_000 {
        let mut bytes = whole.clone();
        if round % 4 == 0 {
            bytes.truncate(random.below(whole.len()));
        } else {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        assert!(bytes == whole || Table::open(&bytes).is_err(), "round {round}");
    }
}

#[test]
fn a_thousand_forged_tables_never_panic() {
    let (whole, facts) = (table(), facts());
    for facts in &facts {
        let table = Table::open(&whole).unwrap();
        assert!(!decide(&table, facts, &Context::default()).steps.is_empty());
    }
    let mut random = Random(2);
    let mut opened = 0;
    for _ in 0..1000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(8) {
            let at = layout::HEADER + random.below(bytes.len() - layout::HEADER);
            bytes[at] = random.below(256) as u8;
        }
        resum(&mut bytes);
        let Ok(table) = Table::open(&bytes) else { continue };
        opened += 1;
        for facts in &facts {
            assert!(!decide(&table, facts, &Context::default()).steps.is_empty());
        }
        let _ = table.program("git");
        let _ = table.info();
    }
    assert!(opened > 500, "only {opened} forged tables were looked into");
}
