//! Policies of a size that nobody writes by hand.
//!
//! INVARIANT: any size ends with a clear result, in linear time and bounded memory.

use crate::support::World;
use std::fmt::Write as _;
use std::process::Output;
use std::time::{Duration, Instant};

/// Rules of the large policies: a build without optimizations compiles these in seconds, and the work is linear.
const RULES: usize = 20_000;

/// Rules of all kinds; few tools, as people write them.
fn rules(count: usize) -> String {
    let mut text = "policy \"big\" language 1\n\ndefault ask\n".to_owned();
    for n in 0..count {
        let block = match n % 4 {
            0 => format!(
                "rule r{n} on write_file {{\n  allow path \"./src/{n}/**\"\n  deny  path \"**/{n}.key\"\n}}"
            ),
            1 => format!(
                "rule r{n} on bash {{\n  allow run `tool-{n} build`\n  deny  run `tool-{n} push --force`\n}}"
            ),
            2 => format!("rule r{n} on WebFetch {{\n  allow domain \"h{n}.example.com\"\n}}"),
            _ => format!("guard r{n} on bash {{\n  deny run `tool-{n} push -f`\n}}"),
        };
        let _ = write!(text, "\n{block}\n");
    }
    text
}

/// Runs `policy compile` with no more than 2 GiB of address space.
fn compile(world: &World, text: &str) -> (Output, Duration) {
    let file = world.file("big.policy", text).display().to_string();
    let start = Instant::now();
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        "ulimit -v 2097152 && exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_policy"),
        "compile",
        &file,
        "--check",
    ]);
    command.args(["--format", "json", "--home", &world.word("home")]).current_dir(world.path("repo"));
    (command.output().unwrap(), start.elapsed())
}

#[test]
fn many_rules_compile() {
    let world = World::new("big");
    let (output, took) = compile(&world, &rules(RULES));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(said.contains(&format!("\"rules\":{},\"guards\":{}", RULES / 4 * 3, RULES / 4)), "{said}");
    assert!(took < Duration::from_secs(120), "{took:?}");
}

/// Each tool has an automaton of its own, so this many are more than a table holds.
#[test]
fn too_many_tools_are_refused() {
    let world = World::new("big-tools");
    let mut text = "policy \"big\" language 1\n".to_owned();
    for n in 0..RULES / 4 {
        let _ = write!(text, "\nrule r{n} on tool_{n} {{\n  allow path \"./src/{n}/**\"\n}}\n");
    }
    let (output, took) = compile(&world, &text);
    let said = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => assert!(said.contains(&format!("\"rules\":{}", RULES / 4)), "{said}"),
        code => {
            assert!(code == Some(4) && said.contains("\"code\":\"policy::table::not-written\""), "{output:?}")
        }
    }
    assert!(took < Duration::from_secs(120), "{took:?}");
}

#[test]
fn many_faults_end_with_a_count() {
    let world = World::new("big-faults");
    for (right, wrong) in [("deny", "block"), ("\"./src", "\"src"), ("rule r", "rule x # r"), ("}", "")] {
        let (output, took) = compile(&world, &rules(RULES).replace(right, wrong));
        assert_eq!(output.status.code(), Some(4), "{wrong}: {:?}", output.status);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("\"ok\":false") && said.len() < 400_000, "{wrong}: {} bytes", said.len());
        assert!(took < Duration::from_secs(60), "{wrong}: {took:?}");
    }
}
