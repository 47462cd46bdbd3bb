//! Turns the words and rules of `data/` into tables.
//!
//! INVARIANT: the same files give the same tables; what cannot be read stops the build.
#![allow(dead_code, unreachable_pub, clippy::panic, clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "src/classes.rs"]
mod classes;
#[path = "src/fold.rs"]
mod fold;
#[path = "src/reading.rs"]
mod reading;
#[path = "src/shared.rs"]
mod shared;

use std::fmt::Write;

fn main() {
    for file in [
        "data/words.txt",
        "data/rules.txt",
        "src/classes.rs",
        "src/fold.rs",
        "src/reading.rs",
        "src/shared.rs",
    ] {
        println!("cargo::rerun-if-changed={file}");
    }
    let read = reading::Reading::read(include_str!("data/words.txt"), include_str!("data/rules.txt"));
    assert!(read.bad.is_empty(), "lines that cannot be read: {:#?}", read.bad);
    let out = std::path::Path::new(&std::env::var("OUT_DIR").unwrap()).join("tables.rs");
    std::fs::write(out, tables(&read)).unwrap();
}

fn tables(read: &reading::Reading) -> String {
    let mut out = String::new();
    // Words, in an open table at most half full.
    let size = (read.words.len() * 2).next_power_of_two();
    let mut slots = vec![("", 0); size];
    let mut words: Vec<_> = read.words.iter().collect();
    words.sort();
    for (word, id) in words {
        let mut slot = shared::hash(word.as_bytes()) % size;
        while slots[slot].1 != 0 {
            slot = (slot + 1) % size;
        }
        slots[slot] = (word, *id);
    }
    list(&mut out, "SLOTS: &[(&str, WordId)]", slots.iter().map(|slot| format!("{slot:?}")));
    let mut pairs: Vec<_> = read.pairs.iter().map(|((a, b), id)| (*a, *b, *id)).collect();
    pairs.sort_unstable();
    list(&mut out, "PAIRS: &[(WordId, WordId, WordId)]", pairs.iter().map(|pair| format!("{pair:?}")));
    let (mut entries, mut symbols) = (Vec::new(), Vec::new());
    for (own, begins) in &read.entries {
        entries.push(format!("({}, {}, {begins})", symbols.len(), own.len()));
        symbols.extend(own.iter().map(ToString::to_string));
    }
    list(&mut out, "ENTRIES: &[(u16, u8, bool)]", entries);
    list(&mut out, "SYMBOLS: &[Symbol]", symbols);
    let mut names: Vec<_> = read.symbols.iter().collect();
    names.sort();
    list(&mut out, "NAMES: &[(&str, Symbol)]", names.iter().map(|name| format!("{name:?}")));
    list(&mut out, "NEEDING: &[&[u16]]", read.needing.iter().map(|rules| format!("&{rules:?}")));
    let mut scrambled: Vec<_> = read.scrambled.iter().collect();
    scrambled.sort_unstable();
    list(&mut out, "SCRAMBLED: &[(u64, WordId)]", scrambled.iter().map(|word| format!("{word:?}")));
    let rules = read.rules.iter().map(|rule| {
        let steps: Vec<String> = rule.steps.iter().map(step).collect();
        format!(
            "Rule {{ class: {}, strength: {}, steps: &[{}], unless: &{:?} }}",
            rule.class,
            rule.strength,
            steps.join(", "),
            rule.unless
        )
    });
    list(&mut out, "RULES: &[Rule]", rules);
    out
}

fn step(step: &reading::Step) -> String {
    format!(
        "Step {{ symbols: &{:?}, gap: {}, order: {}, marked: {}, optional: {}, first: {} }}",
        step.symbols, step.gap, step.order, step.marked, step.optional, step.first
    )
}

fn list(out: &mut String, head: &str, items: impl IntoIterator<Item = String>) {
    let _ = writeln!(out, "static {head} = &[");
    for item in items {
        let _ = writeln!(out, "    {item},");
    }
    out.push_str("];\n");
}
