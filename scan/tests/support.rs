//! Texts and shortcuts for the tests.
//!
//! INVARIANT: a seed gives one text.

use policy_scan::build::Builder;
use policy_scan::{Outcome, Path, ScanError, Scanner};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::ControlFlow;

/// A hit without its lifetime: id, start, end, line, column, text.
pub(crate) type Found = (u32, u64, u64, u64, u64, Vec<u8>);

/// A number of the environment.
fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// How often a random test is repeated: `POLICY_SCAN_ROUNDS` times what it asks for.
pub(crate) fn rounds(asked: u64) -> u64 {
    asked * number("POLICY_SCAN_ROUNDS", 1)
}

/// The seed of a random test, another with another `POLICY_SCAN_SEED`.
pub(crate) fn seed(seed: u64) -> Random {
    Random(
        (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ number("POLICY_SCAN_SEED", 0).wrapping_mul(0xBF58_476D_1CE4_E5B9),
    )
}

/// A random number generator (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// A section of patterns with their numbers as ids.
pub(crate) fn section<P: AsRef<str>>(patterns: &[P]) -> Vec<u8> {
    let mut builder = Builder::new();
    for (id, pattern) in patterns.iter().enumerate() {
        builder.add(id as u32, pattern.as_ref()).unwrap();
    }
    builder.build().unwrap()
}

/// All hits of a text that lies in memory.
pub(crate) fn all(section: &[u8], text: &[u8], path: Path) -> (Vec<Found>, Result<Outcome, ScanError>) {
    let mut found = Vec::new();
    let outcome = Scanner::new(section).unwrap().with_path(path).scan(text, |hit| {
        found.push((hit.id, hit.start, hit.end, hit.line, hit.column, hit.text.to_vec()));
        ControlFlow::Continue(())
    });
    (found, outcome)
}

/// The same in chunks, whose sizes `next_size` gives.
pub(crate) fn chunked(
    section: &[u8],
    text: &[u8],
    path: Path,
    mut next_size: impl FnMut() -> usize,
) -> (Vec<Found>, Result<Outcome, ScanError>) {
    let scanner = Scanner::new(section).unwrap().with_path(path);
    let mut stream = scanner.stream();
    let mut found = Vec::new();
    let mut sink = |hit: &policy_scan::Hit<'_>| {
        found.push((hit.id, hit.start, hit.end, hit.line, hit.column, hit.text.to_vec()));
        ControlFlow::Continue(())
    };
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, behind) = rest.split_at(next_size().clamp(1, rest.len()));
        if let Err(error) = stream.feed(chunk, &mut sink) {
            assert_eq!(stream.feed(b"x", &mut sink), Err(error));
            return (found, Err(error));
        }
        rest = behind;
    }
    let outcome = stream.finish(&mut sink);
    (found, outcome)
}

/// Hits as `id:start-end`, in one line.
pub(crate) fn brief(patterns: &[&str], text: &str) -> String {
    let (found, outcome) = all(&section(patterns), text.as_bytes(), Path::Auto);
    assert_eq!(outcome, Ok(Outcome::Complete));
    found.iter().map(|hit| format!("{}:{}-{}", hit.0, hit.1, hit.2)).collect::<Vec<_>>().join(" ")
}

/// The tree of a pattern of bytes.
pub(crate) fn tree(pattern: &str) -> Hir {
    regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern).unwrap()
}

/// Adds a text that the tree matches, apart from what is asked between bytes.
pub(crate) fn sample(tree: &Hir, random: &mut Random, out: &mut Vec<u8>) {
    match tree.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.extend(&literal.0),
        HirKind::Class(Class::Bytes(class)) => {
            let range = class.ranges()[random.below(class.ranges().len())];
            out.push(range.start() + random.below(usize::from(range.end() - range.start()) + 1) as u8);
        }
        HirKind::Class(Class::Unicode(class)) => {
            let range = class.ranges()[random.below(class.ranges().len())];
            out.extend(range.start().to_string().bytes());
        }
        HirKind::Repetition(repetition) => {
            let max = repetition.max.unwrap_or(repetition.min + 6).min(repetition.min + 30);
            for _ in 0..repetition.min + random.below((max - repetition.min) as usize + 1) as u32 {
                sample(&repetition.sub, random, out);
            }
        }
        HirKind::Capture(capture) => sample(&capture.sub, random, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| sample(part, random, out)),
        HirKind::Alternation(parts) => sample(&parts[random.below(parts.len())], random, out),
    }
}

/// A text of pieces that match, pieces that nearly match, and pieces of code.
pub(crate) fn text(trees: &[Hir], random: &mut Random, len: usize) -> Vec<u8> {
    let code = [
        "let x = ",
        "\n",
        "\r",
        " ",
        "\"",
        "'",
        "    return token;\n",
        "=",
        ":",
        "-",
        "_",
        "key",
        "secret",
        "a",
        "0",
        "\u{e9}",
    ];
    let mut out = Vec::new();
    while out.len() < len {
        let start = out.len();
        match random.below(8) {
            0..=3 => sample(&trees[random.below(trees.len())], random, &mut out),
            4 => (0..random.below(40)).for_each(|_| out.push(b"abcXYZ019_-"[random.below(11)])),
            _ => out.extend(code[random.below(code.len())].bytes()),
        }
        // Some of it is broken: a byte changed, a piece cut off, a letter in the other case.
        if random.below(4) == 0 && out.len() > start {
            let at = start + random.below(out.len() - start);
            match random.below(3) {
                0 => out[at] = random.next() as u8,
                1 => out.truncate(at),
                _ => out[at] ^= 0x20,
            }
        }
    }
    out
}
