//! What grows with the number of patterns, and what does not: probes, load, size, compile time.
//!
//! INVARIANT: probes and steps are counted, not timed: they are the same on every machine.

use crate::clock::{self, Job, once};
use crate::contend::Set;
use crate::generate::{Kind, VALUES};
use crate::markdown::{bytes, ratio, table, time};
use policy_engine::open::{Care, open};
use policy_engine::tabled::Tabled;
use policy_runtime::automaton::{Automaton, Scratch};
use policy_runtime::facts::Facts;
use policy_runtime::{Context, Table, decide};
use std::path::Path;

/// The largest file that is opened.
const MOST_BYTES: u64 = 64 << 20;

/// Prints both tables; `folder` is for files.
pub fn run(sizes: &[usize], folder: &Path) -> Result<(), String> {
    println!("\n## Growth\n");
    println!(
        "Probes (transitions tried) and steps (pieces and edges looked at) a byte are counted over {VALUES} values. `build` is"
    );
    println!(
        "the automaton alone, once. Times are warm, of one race a kind; the last column is the time against the first line's."
    );
    for kind in Kind::ALL {
        println!("\n### {}", kind.word());
        let head = ["n", "bytes", "build", "probes a byte", "steps a byte", "a value", "grown by"];
        table(&head, &automata(kind, sizes)?);
    }
    println!("\n## Load and first decision, in process\n");
    println!(
        "Open the file, read or map it, check what is looked at, decide one call, drop all; least thread CPU time, sizes interleaved, page cache warm."
    );
    let mut rows = Vec::new();
    for kind in [Kind::Tool, Kind::Path, Kind::Command] {
        loads(kind, sizes, folder, &mut rows)?;
    }
    table(&["kind", "n", "table", "compile", "load + first decision", "decision alone"], &rows);
    Ok(())
}

fn automata(kind: Kind, sizes: &[usize]) -> Result<Vec<Vec<String>>, String> {
    let sets: Vec<Set> = sizes.iter().map(|n| Set::new(kind, *n)).collect();
    let mut sections = Vec::new();
    for set in &sets {
        let (section, took) = once(|| set.automaton());
        sections.push((section?, took));
    }
    let mut rows = Vec::new();
    let mut jobs: Vec<Job> = Vec::new();
    for (set, (section, took)) in sets.iter().zip(&sections) {
        let automaton = Automaton::new(section).map_err(|error| error.to_string())?;
        let (mut scratch, mut length) = (Scratch::new(), 0);
        for value in &set.values {
            automaton.best(value.as_bytes(), &mut scratch).map_err(|error| error.to_string())?;
            length += value.len();
        }
        let a_byte = |count: u64| format!("{:.2}", count as f64 / length as f64);
        rows.push(vec![
            set.globs.len().to_string(),
            bytes(section.len() as u64),
            time(*took),
            a_byte(scratch.probes),
            a_byte(scratch.steps),
        ]);
        let mut scratch = Scratch::new();
        jobs.push(Box::new(move |i| {
            automaton.best(set.values[i].as_bytes(), &mut scratch).map_or(u64::MAX, u64::from)
        }));
    }
    let times: Vec<f64> = clock::race(&mut jobs, VALUES).iter().map(|own| own.warm).collect();
    for (row, took) in rows.iter_mut().zip(&times) {
        row.extend([time(*took), ratio(*took, times[0])]);
    }
    Ok(rows)
}

fn loads(kind: Kind, sizes: &[usize], folder: &Path, rows: &mut Vec<Vec<String>>) -> Result<(), String> {
    let context = Context { today: 20_000 };
    let sets: Vec<Set> = sizes.iter().map(|n| Set::new(kind, *n)).collect();
    let mut files = Vec::new();
    for set in &sets {
        let (table, took) = once(|| set.table());
        let table = table?;
        let file = folder.join(format!("{}-{}.table", kind.word(), set.globs.len()));
        std::fs::write(&file, &table).map_err(|error| error.to_string())?;
        files.push((file, table, set.calls(), took));
    }
    let mut jobs: Vec<Job> = Vec::new();
    for (file, table, calls, _) in &files {
        jobs.push(Box::new(move |i| first_decision(file, &calls[i], &context)));
        let whole = Table::open(table).map_err(|error| error.to_string())?;
        jobs.push(Box::new(move |i| decide(&whole, &calls[i], &context).decision as u64));
    }
    let times: Vec<f64> = clock::race(&mut jobs, VALUES).iter().map(|own| own.warm).collect();
    for ((set, (_, table, _, took)), times) in sets.iter().zip(&files).zip(times.chunks(2)) {
        let mut row = vec![kind.word().to_owned(), set.globs.len().to_string(), bytes(table.len() as u64)];
        row.push(time(*took));
        row.extend(times.iter().copied().map(time));
        rows.push(row);
    }
    Ok(())
}

/// What a process does with a table that it has found.
fn first_decision(file: &Path, call: &Facts, context: &Context) -> u64 {
    let tabled =
        open(file, Care::Named, MOST_BYTES).and_then(|mut opened| Tabled::file(&mut opened, MOST_BYTES));
    let decided = tabled.as_ref().ok().and_then(|held| Some(decide(&held.table().ok()?, call, context)));
    match decided {
        Some(verdict) => verdict.decision as u64,
        // A load that fails must not look fast.
        None => std::process::exit(1),
    }
}
