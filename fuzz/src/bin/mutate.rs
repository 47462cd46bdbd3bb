//! Runs the checks on generated texts for a time, without libfuzzer: `mutate SECONDS [SEED]`.
//!
//! INVARIANT: a panic, a broken promise or a slow text ends in a line on standard output and in the exit code; the
//! text is written to `fuzz/findings/`.

use policy_fuzz::check;
use policy_fuzz::make::Maker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

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

fn main() {
    let mut words = std::env::args().skip(1);
    let seconds = words.next().and_then(|n| n.parse().ok()).unwrap_or(60);
    let seed = words.next().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut maker = Maker::new(seed);
    let (start, mut count, mut bytes, mut found, mut slowest) = (Instant::now(), 0u64, 0u64, 0u32, 0);
    let mut told = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        let text = maker.text();
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
            println!("slowest so far: {took} hundredths for {} bytes: {:?}", text.len(), text.get(..60));
        }
        if let Some(problem) = problem {
            found += 1;
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/findings");
            let name = format!("{folder}/{seed}-{count}.txt");
            let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&name, &text));
            println!("{problem}: {name} {written:?} {:?}", text.chars().take(100).collect::<String>());
        }
        count += 1;
        bytes += text.len() as u64;
        if told.elapsed() > Duration::from_secs(300) {
            told = Instant::now();
            println!("{count} texts, {bytes} bytes, {found} findings");
        }
    }
    println!("{count} texts, {bytes} bytes, seed {seed}, slowest {slowest} hundredths, {found} findings");
    std::process::exit(i32::from(found > 0));
}
