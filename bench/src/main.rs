//! Prints, as Markdown, how fast the decision table is beside its peers.
//!
//! INVARIANT: every ratio is of times of one run, taken in turns.

mod clock;
mod contend;
mod engines;
mod generate;
mod globs;
mod growth;
mod markdown;
mod process;
mod spawn;

use std::path::PathBuf;

const USAGE: &str = "\
cargo run --release -- [PART...] [--most N] [--policy FILE --empty FILE ...]

parts: process globs growth engines (all when none is named)
--most N            no more than N patterns (100000)
--policy FILE       our release binary; without it the part `process` is left out
--empty FILE        the empty process, static; --empty-glibc FILE: the same, dynamic
--peers FOLDER      where `./peers` has installed the hooks of peers

`./run` builds these binaries and gives their names.";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Err(why) = run(&words) {
        eprintln!("{why}");
        std::process::exit(1);
    }
}

fn run(words: &[String]) -> Result<(), String> {
    if let [first, name, kind, n] = words
        && first == "try"
    {
        return globs::attempt(name, kind, n.parse().map_err(|_| USAGE)?);
    }
    let (mut parts, mut most, mut binaries) = (Vec::new(), 100_000, process::Binaries::default());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let mut value = || rest.next().ok_or(USAGE);
        match word.as_str() {
            "--most" => most = value()?.parse().map_err(|_| USAGE)?,
            "--policy" => binaries.policy = Some(PathBuf::from(value()?)),
            "--empty" => binaries.empty = Some(PathBuf::from(value()?)),
            "--peers" => binaries.peers = Some(PathBuf::from(value()?)),
            "--empty-glibc" => binaries.empty_glibc = Some(PathBuf::from(value()?)),
            "process" | "globs" | "growth" | "engines" => parts.push(word.as_str()),
            _ => return Err(USAGE.to_owned()),
        }
    }
    let wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    let sizes: Vec<usize> = [10, 100, 1_000, 10_000, 100_000].into_iter().filter(|n| *n <= most).collect();
    let folder = std::env::temp_dir().join(format!("policy-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    println!("# Measured on {}", machine());
    // ORDER: processes first: what a child is said to need of memory is never less than what we hold when it starts.
    let done = (|| {
        if wanted("process") {
            process::run(&sizes, &binaries, &folder)?;
        }
        if wanted("globs") {
            globs::run(&sizes)?;
        }
        if wanted("growth") {
            growth::run(&sizes, &folder)?;
        }
        if wanted("engines") {
            engines::run(&sizes)?;
        }
        Ok(())
    })();
    let _ = std::fs::remove_dir_all(&folder);
    done
}

/// Processor, number of cores, load.
fn machine() -> String {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let models: Vec<&str> = processors
        .lines()
        .filter_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map(|(_, name)| name)
        .collect();
    let load = read("/proc/loadavg");
    let load: Vec<&str> = load.split(' ').take(3).collect();
    format!("{} × {}, load {}", models.len(), models.first().unwrap_or(&"?"), load.join(" "))
}
