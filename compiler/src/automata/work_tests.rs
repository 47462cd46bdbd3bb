//! Counts the work of a look-up: it must not grow with the number of patterns.
//!
//! INVARIANT: transitions and pieces are counted, never timed, so the numbers are the same on every machine.

use super::{GlobInput, Syntax, build};
use policy_runtime::automaton::{Automaton, Scratch};

/// Most transitions a byte; failure links make it two at the very worst.
const MOST_PROBES: f64 = 1.3;
/// Most pieces and edges looked at a byte.
const MOST_STEPS: f64 = 0.8;

/// A word of eight letters, another one for each number.
fn word(i: usize) -> String {
    let mut rest = (i * 31_337 + 7_919) % 26usize.pow(4);
    let mut out = String::new();
    for _ in 0..4 {
        out.push(char::from(b'a' + (rest % 26) as u8));
        out.push(char::from(b'a' + (rest * 7 % 26) as u8));
        rest /= 26;
    }
    out
}

/// The shapes that people write, in turn.
fn shape(set: &str, i: usize) -> String {
    let (a, b) = (word(i), word(i * 7 + 3));
    match (set, i % 6) {
        ("tool", 0..3) => format!("{a}_{b}"),
        ("tool", 3) => format!("{a}_*"),
        ("tool", _) => format!("*_{a}"),
        ("command", 0..3) => format!("{a} {b}*"),
        ("command", 3) => format!("*{a}-{b}*"),
        ("command", _) => format!("{a} * --{b}*"),
        ("path", 0) => format!("**/{a}/**"),
        ("path", 1) => format!("./{a}/{b}/**"),
        ("path", 2) => format!("**/{a}.rs"),
        ("path", 3) => format!("./{a}/**/*.rs"),
        ("path", 4) => format!("**/{a}/**/{b}/*.rs"),
        ("path", _) => format!("**/{a}*/**"),
        ("two folders", _) => format!("**/{a}/**/{b}/**"),
        (_, 0..3) => format!("**/project/**/{a}/*.rs"),
        (_, _) => format!("./project/shared/beginning/{a}/**"),
    }
}

fn value(set: &str, i: usize, n: usize) -> String {
    // The first two stand in one pattern, the third in none.
    let own = i * 13 % n;
    let [a, b, c] = [word(own), word(own * 7 + 3), word(n * 8 + i)];
    match set {
        "tool" => format!("{a}_{b}"),
        "command" => format!("{a} {c} --{b} {c} {a}-{b}"),
        "shared" => format!("./project/shared/beginning/{c}/project/{a}/{b}.rs"),
        _ => format!("./{a}/{c}/{b}/{c}.rs"),
    }
}

/// Transitions and steps a byte.
fn work(set: &str, n: usize) -> (f64, f64) {
    let texts: Vec<String> = (0..n).map(|i| shape(set, i)).collect();
    let globs: Vec<GlobInput> = texts.iter().zip(1..).map(|(text, id)| GlobInput { text, id }).collect();
    let syntax = if matches!(set, "tool" | "command") { Syntax::Plain } else { Syntax::Path };
    let bytes = build(&globs, syntax, false).unwrap();
    let automaton = Automaton::new(&bytes).unwrap();
    let (mut scratch, mut length, mut found) = (Scratch::new(), 0, 0);
    for i in 0..200 {
        let value = value(set, i, n);
        length += value.len();
        found += usize::from(automaton.best(value.as_bytes(), &mut scratch).unwrap() > 0);
    }
    assert!(found > 0, "{set} {n}: nothing matches, so nothing is shown");
    (scratch.probes as f64 / length as f64, scratch.steps as f64 / length as f64)
}

#[test]
fn work_a_byte_does_not_grow_with_the_patterns() {
    for set in ["tool", "command", "path", "two folders", "shared"] {
        let (few, many) = (work(set, 1_000), work(set, 10_000));
        assert!(many.0 <= few.0 * 1.1 && many.0 <= MOST_PROBES, "{set}: probes {few:?} {many:?}");
        assert!(many.1 <= few.1 * 1.1 + 0.05 && many.1 <= MOST_STEPS, "{set}: steps {few:?} {many:?}");
    }
}
