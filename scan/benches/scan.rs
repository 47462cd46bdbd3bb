//! The scanner beside what else could do it: `cargo bench -p policy-scan [-- FILE]`.
//!
//! INVARIANT: one run, rounds interleaved, the least CPU time of each counts; all ways that report hits are asked for the same
//! patterns on the same text, and what they found is printed. Only ratios within one run mean anything.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../tests/patterns.rs"]
mod patterns;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use policy_scan::{Path, Scanner, build::Builder};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Duration;

/// CPU time of this thread: what other programs take does not count.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Source text of the packages that were built, up to `most` bytes.
fn source(most: usize) -> Vec<u8> {
    let home =
        std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{}/.cargo", std::env::var("HOME").unwrap()));
    let mut open = vec![std::path::PathBuf::from(home).join("registry/src")];
    let mut text = Vec::new();
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            let known = entry.extension().and_then(|end| end.to_str()).is_some_and(|end| {
                ["rs", "md", "toml", "txt", "json", "yml", "c", "h", "py", "sh"].contains(&end)
            });
            if entry.is_dir() {
                open.push(entry);
            } else if known && std::fs::metadata(&entry).is_ok_and(|data| data.len() < 300_000) {
                text.extend(std::fs::read(&entry).unwrap_or_default());
                if text.len() >= most {
                    text.truncate(most);
                    return text;
                }
            }
        }
    }
    text
}

/// A secret of each of four kinds, and a keyword every `every` bytes if not 0.
fn plant(text: &[u8], every: usize) -> Vec<u8> {
    let mut text = text.to_vec();
    if every > 0 {
        let words = ["token", "secret", "password", "apikey"];
        for (number, at) in (0..text.len().saturating_sub(20)).step_by(every).enumerate() {
            let word = words[number % words.len()];
            text[at..at + word.len()].copy_from_slice(word.as_bytes());
        }
    }
    let secrets = [
        " AKIAIOSFODNN7EXAMPLE ",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789 ",
        "token = \"abcdefghijklmnop1234\" ",
        "-----BEGIN RSA PRIVATE KEY-----",
    ];
    for (number, secret) in secrets.iter().enumerate() {
        let at = text.len() / 5 * (number + 1);
        text[at..at + secret.len()].copy_from_slice(secret.as_bytes());
    }
    text
}

type Way<'a> = (&'static str, Box<dyn Fn(&[u8]) -> usize + 'a>);

fn measure(label: &str, text: &[u8], ways: &[Way<'_>], rounds: usize) {
    println!("\n{label}, {} bytes", text.len());
    let mut least = vec![(Duration::MAX, 0); ways.len()];
    for _ in 0..rounds {
        for ((_, way), (least, found)) in ways.iter().zip(&mut least) {
            // A short text is scanned several times, or the clock would be what is measured.
            let times = (50_000 / text.len()).clamp(1, 200) as u32;
            let start = cpu_time();
            for _ in 0..times {
                *found = black_box(way(black_box(text)));
            }
            *least = ((cpu_time() - start) / times).min(*least);
        }
    }
    let speed = |time: Duration| text.len() as f64 / time.as_secs_f64().max(1e-9) / 1e9;
    let ours = speed(least[0].0);
    for ((name, _), (time, found)) in ways.iter().zip(&least) {
        let speed = speed(*time);
        println!("  {name:<46} {speed:>8.3} GB/s   ours is {:>6.2} x   found {found}", ours / speed);
    }
}

/// A section, with what making and opening it takes.
fn build(patterns: &[String]) -> Vec<u8> {
    let start = cpu_time();
    let mut builder = Builder::new();
    for (id, pattern) in patterns.iter().enumerate() {
        builder.add(id as u32, pattern).unwrap();
    }
    let section = builder.build().unwrap();
    let built = cpu_time() - start;
    let start = cpu_time();
    for _ in 0..1000 {
        black_box(Scanner::new(black_box(&section)).is_ok());
    }
    let opened = (cpu_time() - start) / 1000;
    let count = patterns.len();
    println!(
        "{count} patterns: {} bytes of section, built in {built:.1?}, opened in {opened:.1?}",
        section.len()
    );
    section
}

/// Texts that keep the stages behind the filter busy: time for a byte, and how it ended.
fn hostile(section: &[u8]) {
    println!("\nhostile texts of 1 MB, ours");
    let scanner = Scanner::new(section).unwrap();
    let mut near = Builder::new();
    near.add(0, "aaaa[ab]{1,230}[c-z]").unwrap();
    let near = near.build().unwrap();
    let text = vec![b'a'; 1 << 20];
    let start = cpu_time();
    let outcome = Scanner::new(&near).unwrap().scan(&text, |_| ControlFlow::Continue(()));
    let for_a_byte = (cpu_time() - start).as_secs_f64() * 1e9 / text.len() as f64;
    println!("  {:<46} {for_a_byte:>8.2} ns for a byte   {outcome:?}", "just below the budget");
    let pieces = [
        "token",
        "eyJ",
        "-----BEGIN ",
        "token = '",
        "password='aaaaaaaa' ",
        "AKIA",
        "https://discord.com/api/webhooks/1",
    ];
    for piece in pieces {
        let text = piece.repeat((1 << 20) / piece.len());
        let mut least = Duration::MAX;
        let mut outcome = None;
        for _ in 0..5 {
            let start = cpu_time();
            outcome = Some(scanner.scan(text.as_bytes(), |_| ControlFlow::Continue(())));
            least = least.min(cpu_time() - start);
        }
        let for_a_byte = least.as_secs_f64() * 1e9 / text.len() as f64;
        println!("  {piece:<46} {for_a_byte:>8.2} ns for a byte   {outcome:?}");
    }
}

fn main() {
    let argument = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let source = argument.map_or_else(|| source(10 << 20), |file| std::fs::read(file).unwrap());
    let patterns = patterns::patterns(200);

    let section = build(&patterns);
    let scanner = Scanner::new(&section).unwrap();
    let scalar = Scanner::new(&section).unwrap().with_path(Path::Scalar);
    let count = |scanner: &Scanner<'_>, text: &[u8]| {
        let mut found = 0;
        let sink = |_: &policy_scan::Hit<'_>| {
            found += 1;
            ControlFlow::Continue(())
        };
        let _ = scanner.scan(text, sink).unwrap();
        found
    };
    let stream = |text: &[u8], size: usize| {
        let mut found = 0;
        let mut sink = |_: &policy_scan::Hit<'_>| {
            found += 1;
            ControlFlow::Continue(())
        };
        let mut stream = scanner.stream();
        for chunk in text.chunks(size) {
            let _ = stream.feed(chunk, &mut sink).unwrap();
        }
        let _ = stream.finish(&mut sink).unwrap();
        found
    };

    // The peer of the same shape: all literals in one automaton, then the whole pattern around each.
    let literals: Vec<(usize, Vec<u8>)> = patterns
        .iter()
        .enumerate()
        .flat_map(|(id, pattern)| patterns::literals(pattern).into_iter().map(move |literal| (id, literal)))
        .collect();
    println!("the peer looks for {} literals", literals.len());
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .ascii_case_insensitive(true)
        .build(literals.iter().map(|(_, literal)| literal))
        .unwrap();
    let regex = |pattern: &str| regex::bytes::RegexBuilder::new(pattern).unicode(false).build().unwrap();
    let anchored: Vec<_> = patterns.iter().map(|pattern| regex(&format!(r"\A(?:{pattern})"))).collect();
    let verify = |text: &[u8]| {
        let mut found = 0;
        for at in automaton.find_overlapping_iter(text) {
            let (id, _) = literals[at.pattern().as_usize()];
            // What stands before the literal is left out here, in favor of the peer.
            found += usize::from(anchored[id].is_match(&text[at.start()..]));
        }
        found
    };
    let set = regex::bytes::RegexSetBuilder::new(&patterns)
        .unicode(false)
        .size_limit(1 << 30)
        .dfa_size_limit(64 << 20)
        .build()
        .unwrap();

    let ways: Vec<Way<'_>> = vec![
        ("ours", Box::new(|text| count(&scanner, text))),
        ("ours, scalar", Box::new(|text| count(&scalar, text))),
        ("ours, in chunks of 64 KB", Box::new(|text| stream(text, 64 << 10))),
        ("ours, in chunks of 1000 bytes", Box::new(|text| stream(text, 1000))),
        (
            "aho-corasick DFA, only its literals",
            Box::new(|text| automaton.find_overlapping_iter(text).count()),
        ),
        ("aho-corasick DFA with verify", Box::new(verify)),
        ("RegexSet(200), which patterns match", Box::new(|text| set.matches(text).iter().count())),
        ("memchr of an absent byte", Box::new(|text| usize::from(memchr::memchr(1, text).is_some()))),
    ];
    for (label, size, every, rounds) in [
        ("source", 100 << 10, 0, 40),
        ("source", 1 << 20, 0, 25),
        ("source", 10 << 20, 0, 15),
        ("source with a keyword every 163 bytes", 1 << 20, 163, 25),
        ("source with a keyword every 163 bytes", 10 << 20, 163, 15),
    ] {
        let size = size.min(source.len());
        measure(label, &plant(&source[source.len() - size..], every), &ways, rounds);
    }
    hostile(&section);
    for more in [1000, 4000] {
        println!();
        let section = build(&patterns::patterns(more));
        let [scanner, scalar] =
            [Path::Auto, Path::Scalar].map(|path| Scanner::new(&section).unwrap().with_path(path));
        let ways: Vec<Way<'_>> = vec![
            ("ours, of more patterns", Box::new(|text| count(&scanner, text))),
            ("ours, of more patterns, scalar", Box::new(|text| count(&scalar, text))),
        ];
        measure("source", &plant(&source[source.len() - (1 << 20).min(source.len())..], 0), &ways, 15);
    }
    for size in [200, 1000, 10_000, 50_000] {
        let text = &plant(&source[source.len() / 2..], 0)[..size];
        measure("a short text", text, &ways[..ways.len() - 1], 100);
    }
}
