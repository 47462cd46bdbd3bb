//! Runs the checks on generated texts or bytes for a time, without libfuzzer: `mutate SECONDS [SEED [TARGET [FILE...]]]`; the targets are
//! `shell`, `table`, `decide`, `section`, `scan`, `envelope` and `payment`. With files these alone are checked again.
//!
//! INVARIANT: a panic, a broken promise or a slow input ends in a line on standard output and in the exit code; the
//! input is written to `fuzz/findings/`.

use policy_fuzz::make::Maker;
use policy_fuzz::{check, decide, envelope, payment, scan, section, table};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

fn shown(bytes: &[u8], most: usize) -> String {
    String::from_utf8_lossy(bytes).chars().take(most).collect()
}

/// Processor time of this process so far, in hundredths of a second; the wall clock says little on a busy machine.
fn spent() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    fields.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum()
}

/// Hundredths of a second that all the readings of a text of this size may take together.
fn budget(bytes: usize) -> u64 {
    100 + bytes as u64 / 80
}

type Check = fn(&[u8]) -> Result<(), String>;

fn shell(bytes: &[u8]) -> Result<(), String> {
    std::str::from_utf8(bytes).map_or(Ok(()), check)
}

const TARGETS: &[(&str, Check)] = &[
    ("shell", shell),
    ("table", table::check),
    ("decide", decide::check),
    ("section", section::check),
    ("scan", scan::check),
    ("envelope", envelope::check),
    ("payment", payment::check),
];

fn main() {
    let mut words = std::env::args().skip(1);
    let seconds = words.next().and_then(|n| n.parse().ok()).unwrap_or(60);
    let seed = words.next().and_then(|n| n.parse().ok()).unwrap_or(1);
    let target = words.next().unwrap_or_else(|| "shell".into());
    let Some((_, check)) = TARGETS.iter().find(|(name, _)| *name == target) else {
        println!("no target {target}; there are shell, table, decide, section, scan, envelope and payment");
        std::process::exit(2);
    };
    // A finding again.
    let files: Vec<String> = words.collect();
    for file in &files {
        let bytes = std::fs::read(file).unwrap_or_default();
        println!("{file}: {}", check(&bytes).err().unwrap_or_else(|| "no finding".into()));
    }
    if !files.is_empty() {
        return;
    }
    let mut maker = Maker::new(seed);
    let (start, mut count, mut bytes, mut found, mut slowest) = (Instant::now(), 0u64, 0u64, 0u32, 0);
    let mut told = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        let text = if target == "shell" { maker.text().into_bytes() } else { maker.bytes() };
        let before = spent();
        let result = catch_unwind(AssertUnwindSafe(|| check(&text)));
        let took = spent().saturating_sub(before);
        let problem = match result {
            Err(_) => Some("it panics".to_string()),
            Ok(Err(broken)) => Some(broken),
            Ok(Ok(())) if took > budget(text.len()) => Some(format!("{took} hundredths of a second")),
            Ok(Ok(())) => None,
        };
        if took > slowest {
            slowest = took;
            println!("slowest so far: {took} hundredths for {} bytes: {:?}", text.len(), shown(&text, 60));
        }
        if let Some(problem) = problem {
            found += 1;
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/findings");
            let name = format!("{folder}/{target}-{seed}-{count}.txt");
            let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&name, &text));
            println!("{problem}: {name} {written:?} {:?}", shown(&text, 100));
        }
        count += 1;
        bytes += text.len() as u64;
        if told.elapsed() > Duration::from_secs(300) {
            told = Instant::now();
            println!("{count} inputs, {bytes} bytes, {found} findings");
        }
    }
    println!(
        "{target}: {count} inputs, {bytes} bytes, seed {seed}, slowest {slowest} hundredths, {found} findings"
    );
    std::process::exit(i32::from(found > 0));
}
