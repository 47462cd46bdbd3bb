//! Time of the shell reader alone on commands of everyday length: `cargo bench -p policy-grammar`.
//!
//! INVARIANT: medians over many rounds; no program is known, so what is measured is grammar and walk.

use policy_grammar::shell::outline::outline;
use policy_grammar::shell::program::NoPrograms;
use policy_grammar::shell::{Dialect, analyze};
use std::hint::black_box;
use std::time::Instant;

/// 35 to 45 bytes each.
const COMMANDS: &[&str] = &[
    "git log --oneline -n 20 -- src/main.rs",
    "grep -rn \"fn main\" --include=*.rs src/",
    "cd /tmp/build && make -j4 2>&1 | tail -20",
    "find . -name '*.tmp' -mtime +7 -delete",
    "cat package.json | jq '.scripts' | head",
    "docker compose -f dev.yml up -d --build",
    "for f in *.txt; do wc -l \"$f\"; done",
    "sed -i 's/foo/bar/g' src/lib.rs && cargo b",
    "curl -fsSL https://example.com/x | sh",
    "echo \"$(date +%F): ${USER:-nobody}\" >> log",
];

fn median(label: &str, mut work: impl FnMut(&str)) {
    let mut times = Vec::new();
    for round in 0..600 {
        for command in COMMANDS {
            let start = Instant::now();
            work(black_box(command));
            if round >= 100 {
                times.push(start.elapsed());
            }
        }
    }
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    println!("{label:<28} median {:>10.1?}   p90 {:>10.1?}   p99 {:>10.1?}", at(50), at(90), at(99));
}

fn main() {
    median("parse", |text| drop(black_box(outline(text))));
    median("parse and walk", |text| drop(black_box(analyze(text, Dialect::Bash, &NoPrograms))));
    let script = COMMANDS.join("\n").repeat(60);
    let start = Instant::now();
    black_box(analyze(&script, Dialect::Bash, &NoPrograms));
    println!("a script of {} bytes: {:.1?}", script.len(), start.elapsed());
}
