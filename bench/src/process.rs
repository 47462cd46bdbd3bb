//! Our hook beside an empty process and beside the hooks of peers, and what compiling needs.
//!
//! INVARIANT: before a race each command of ours must have given the decision that is expected.

use crate::generate::{self, Kind};
use crate::markdown::{bytes, table, time};
use crate::spawn::{Case, command, cpu, done, measure, race};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Rounds of the race, and of the one with peers, which are slow.
const ROUNDS: (usize, usize) = (400, 40);
/// Runs before it, so that caches are filled.
const WARM: usize = 3;

/// The programs under test.
#[derive(Default)]
pub struct Binaries {
    /// Ours.
    pub policy: Option<PathBuf>,
    /// The empty process, static.
    pub empty: Option<PathBuf>,
    /// The empty process, dynamic.
    pub empty_glibc: Option<PathBuf>,
    /// The folder in which `./peers` has installed the peers' hooks.
    pub peers: Option<PathBuf>,
}

/// Prints the tables, when there are binaries.
pub fn run(sizes: &[usize], binaries: &Binaries, folder: &Path) -> Result<(), String> {
    let (Some(policy), Some(empty)) = (&binaries.policy, &binaries.empty) else {
        println!("\nNo `--policy` and `--empty`: whole processes are left out (`./run` gives them).");
        return Ok(());
    };
    let (policy, empty) = (text(policy), text(empty));
    let compiled = compiles(&policy, sizes, folder)?;
    let world = World::new(folder)?;
    if let Some(peers) = &binaries.peers {
        println!("\n## Hooks of peers, spawn to exit\n");
        println!(
            "{} interleaved rounds of one harmless Bash call; the ratios are to our hook with its built-in default.",
            ROUNDS.1
        );
        println!("All allow it or say nothing. What they look for differs: each is run as it is installed.");
        race(&mut peer_cases(&world, &policy, &empty, peers)?, ROUNDS.1)?;
    }
    println!("\n## Whole processes, spawn to exit\n");
    println!(
        "{} interleaved rounds; the ratios are to the first line. Every line of ours writes its line of audit and",
        ROUNDS.0
    );
    println!(
        "judges by `std/self` too. In a project: found by discovery, trusted, its sources checked for freshness."
    );
    let mut cases = vec![Case::new("empty process, static", &[&empty], &world.read)];
    if let Some(glibc) = &binaries.empty_glibc {
        cases.push(Case::new("empty process, glibc", &[&text(glibc)], &world.read));
    }
    cases.push(Case::new("/bin/true", &["/bin/true"], &world.read));
    cases.extend(own_cases(&world, &policy, sizes)?);
    race(&mut cases, ROUNDS.0)?;
    println!("\n## Compiling, whole process\n");
    println!(
        "`policy compile --check`: n rules of all kinds on few tools; for the other kinds n patterns in few rules."
    );
    table(&["policy", "n", "wall", "CPU", "memory at most"], &compiled);
    Ok(())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn own_cases(world: &World, policy: &str, sizes: &[usize]) -> Result<Vec<Case>, String> {
    let hook = world.hook(policy);
    let hook: Vec<&str> = hook.iter().map(String::as_str).collect();
    let mut cases = Vec::new();
    for (kind, tool, [outside, inside]) in [
        (Kind::Path, "Read", [&world.read, &world.read_inside]),
        (Kind::Command, "Bash", [&world.bash, &world.bash_inside]),
    ] {
        for &n in sizes {
            let made = world.compiled(policy, kind, n)?;
            let size =
                std::fs::metadata(&made).map(|data| bytes(data.len())).map_err(|error| error.to_string())?;
            let name = format!("{tool}, {n} {} patterns, table of {size}", kind.word());
            cases.push(Case::new(&name, &[&hook[..], &["--policy", &text(&made)]].concat(), outside));
        }
        cases.push(Case::new(&format!("{tool}, built-in default"), &hook, outside));
        cases.push(Case::new(&format!("{tool}, in a project"), &hook, inside));
    }
    world.project(policy)?;
    cases.iter().try_for_each(answers)?;
    Ok(cases)
}

/// Fills the caches of one of ours and looks at its answer.
fn answers(case: &Case) -> Result<(), String> {
    for _ in 0..WARM {
        let said = case.answer()?;
        if said.contains("deny") {
            return Err(format!("{}: {said}", case.name));
        }
    }
    Ok(())
}

fn peer_cases(world: &World, policy: &str, empty: &str, peers: &Path) -> Result<Vec<Case>, String> {
    let hook = world.hook(policy);
    let hook: Vec<&str> = hook.iter().map(String::as_str).collect();
    let own = Case::new("policy, built-in default", &hook, &world.bash);
    answers(&own)?;
    let mut cases = vec![own, Case::new("empty process, static", &[empty], &world.bash)];
    let inside = |file: &str| text(&peers.join(file));
    for (name, words) in [
        (
            "cc-safety-net 2.4.5",
            [&inside("npm/node_modules/.bin/cc-safety-net"), "hook", "--claude-code"].as_slice(),
        ),
        ("nah 0.11.0", &[&inside("nah/bin/nah"), "_claude-hook"]),
        ("agentlint 2.10.1", &[&inside("agentlint/bin/agentlint"), "check", "--event", "PreToolUse"]),
    ] {
        let mut case = Case::new(name, words, &world.bash);
        case.home = Some(world.home.clone());
        for _ in 0..WARM {
            case.answer()?;
        }
        cases.push(case);
    }
    Ok(cases)
}

/// A home, an empty folder and a project, with events in both.
struct World {
    folder: PathBuf,
    home: String,
    read: PathBuf,
    bash: PathBuf,
    read_inside: PathBuf,
    bash_inside: PathBuf,
}

impl World {
    fn new(folder: &Path) -> Result<World, String> {
        for name in ["home", "empty", "project/src"] {
            std::fs::create_dir_all(folder.join(name)).map_err(|error| error.to_string())?;
        }
        let event = |name: &str, cwd: &str, tool: &str, input: serde_json::Value| {
            let file = folder.join(name);
            let event = json!({
                "session_id": "bench", "transcript_path": folder.join("t.jsonl"), "cwd": folder.join(cwd),
                "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": input, "tool_use_id": "toolu_1",
            });
            std::fs::write(&file, event.to_string()).map_err(|error| error.to_string()).map(|()| file)
        };
        let read = |cwd: &str| json!({ "file_path": folder.join(cwd).join("src/main.rs") });
        let bash = json!({ "command": "git status --short", "description": "Shows what changed" });
        Ok(World {
            home: text(&folder.join("home")),
            read: event("read.json", "empty", "Read", read("empty"))?,
            bash: event("bash.json", "empty", "Bash", bash.clone())?,
            read_inside: event("read-inside.json", "project", "Read", read("project"))?,
            bash_inside: event("bash-inside.json", "project", "Bash", bash)?,
            folder: folder.to_owned(),
        })
    }

    /// Our hook: the small program beside `policy`, where there is one.
    fn hook(&self, policy: &str) -> Vec<String> {
        let small = Path::new(policy).with_file_name("policy-hook");
        let (program, word) =
            if small.exists() { (text(&small), None) } else { (policy.to_owned(), Some("hook")) };
        let rest = word.into_iter().chain(["--host", "claude-code", "--home", &self.home]);
        std::iter::once(program).chain(rest.map(str::to_owned)).collect()
    }

    fn compiled(&self, policy: &str, kind: Kind, n: usize) -> Result<PathBuf, String> {
        let file = self.folder.join(format!("{}-{n}.policy", kind.word()));
        std::fs::write(&file, generate::policy(kind, n)).map_err(|error| error.to_string())?;
        let table = file.with_extension("table");
        done(&[policy, "compile", &text(&file), "--output", &text(&table), "--home", &self.home])?;
        Ok(table)
    }

    /// Makes the project one that is trusted: with a policy of the usual size, for both tools.
    fn project(&self, policy: &str) -> Result<(), String> {
        let folder = self.folder.join("project");
        let paths = generate::policy(Kind::Path, 100);
        let commands = generate::policy(Kind::Command, 100);
        let commands = commands.split_once("default ask\n").map_or("", |(_, rules)| rules);
        std::fs::write(folder.join("agent.policy"), paths + commands).map_err(|error| error.to_string())?;
        done(&[policy, "trust", &text(&folder), "--home", &self.home])
    }
}

/// What compiling takes.
fn compiles(policy: &str, sizes: &[usize], folder: &Path) -> Result<Vec<Vec<String>>, String> {
    let mut rows = Vec::new();
    for (name, make) in [
        ("rules", generate::rules as fn(usize) -> String),
        ("path", |n| generate::policy(Kind::Path, n)),
        ("command", |n| generate::policy(Kind::Command, n)),
        ("tool", |n| generate::policy(Kind::Tool, n)),
    ] {
        for &n in sizes.iter().filter(|n| **n >= 1_000) {
            let file = folder.join("compiled.policy");
            std::fs::write(&file, make(n)).map_err(|error| error.to_string())?;
            let words = [policy, "compile", &text(&file), "--check"].map(str::to_owned);
            let (used, wall) = measure(&mut command(&words))?;
            let end = if used.status.success() { String::new() } else { format!(" ({})", used.status) };
            let times = [time(wall) + &end, time(cpu(&used)), bytes(used.rusage.maxrss)];
            rows.push([vec![name.to_owned(), n.to_string()], times.to_vec()].concat());
        }
    }
    Ok(rows)
}
