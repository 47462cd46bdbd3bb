//! The content scanner and automata of the whole patterns, on patterns and texts that bytes choose.
//!
//! INVARIANT: both paths and any cuts find the same; each hit is a match, and each match meets a hit of its pattern.

use policy_compiler::naive::generate::Random;
use policy_scan::build::Builder;
use policy_scan::{Hit, Outcome, Path, Scanner};
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};
use std::ops::ControlFlow;

const ATOMS: &[&str] = &[
    "a",
    "b",
    "[ab]",
    "[^a\\n]",
    ".",
    "\\b",
    "(?:ab|b)",
    "(?:a|ba){1,3}",
    "a?",
    "b*",
    "[a-c]{0,3}",
    "$",
    "^",
    "(?i:aB)",
    "\\s",
    "(?:abc|abd)",
    "c{2,}",
    "_",
];
const LITERALS: &[&str] = &["abcd", "abab", "(?i:keyz)", "aaaa", "key_", "(?:abca|bcab)", "ab_cd", "a\\nbc"];
const TEXTS: &[&str] = &[
    "abcd", "abab", "KEYZ", "keyz", "aaaa", "key_", "abca", "bcab", "ab_cd", "a\nbc", "a", "b", "c", "_",
    " ", "\n", "ab", "\u{e9}",
];

fn pattern(random: &mut Random) -> String {
    let mut out = String::new();
    (0..random.below(3)).for_each(|_| out.push_str(random.pick(ATOMS)));
    out.push_str(random.pick(LITERALS));
    (0..random.below(4)).for_each(|_| out.push_str(random.pick(ATOMS)));
    if random.one_in(5) {
        out.push_str(random.pick(LITERALS));
    }
    out
}

type Found = Vec<(u32, u64, u64)>;

fn note(found: &mut Found, hit: &Hit<'_>) -> ControlFlow<()> {
    found.push((hit.id, hit.start, hit.end));
    ControlFlow::Continue(())
}

/// All matches.
fn matches(pattern: &str, text: &[u8]) -> Option<Vec<(u64, u64)>> {
    let tree = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern).ok()?;
    let nfa = thompson::NFA::compiler()
        .configure(thompson::Config::new().utf8(false).which_captures(thompson::WhichCaptures::None))
        .build_from_hir(&tree)
        .ok()?;
    let config = dense::Config::new().start_kind(StartKind::Anchored).match_kind(MatchKind::All);
    let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa).ok()?;
    let mut out = Vec::new();
    for start in 0..=text.len() {
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let mut state = dfa.start_state_forward(&input).ok()?;
        let mut dead = false;
        for (at, byte) in text.iter().enumerate().skip(start) {
            state = dfa.next_state(state, *byte);
            if dfa.is_dead_state(state) {
                dead = true;
                break;
            }
            // A match is told one byte late.
            if dfa.is_match_state(state) {
                out.push((start as u64, at as u64));
            }
        }
        if !dead && dfa.is_match_state(dfa.next_eoi_state(state)) {
            out.push((start as u64, text.len() as u64));
        }
    }
    Some(out)
}

/// The bytes choose up to four patterns and a text.
///
/// # Errors
/// Where they differ.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut random = Random::from_bytes(bytes);
    let mut builder = Builder::new();
    let mut patterns = Vec::new();
    for _ in 0..=random.below(4) {
        let pattern = pattern(&mut random);
        // What the builder refuses says nothing about the scanner.
        if builder.add(patterns.len() as u32, &pattern).is_ok() {
            patterns.push(pattern);
        }
    }
    let Ok(section) = builder.build() else { return Ok(()) };
    let mut text = Vec::new();
    for _ in 0..random.below(60) {
        text.extend_from_slice(random.pick(TEXTS).as_bytes());
    }
    let scanner = Scanner::new(&section).map_err(|error| error.to_string())?;
    let mut all: Vec<Found> = Vec::new();
    let mut outcomes = Vec::new();
    for path in [Path::Scalar, Path::Vector] {
        let scanner = Scanner::new(&section).map_err(|error| error.to_string())?.with_path(path);
        let mut found = Found::new();
        outcomes.push(scanner.scan(&text, |hit| note(&mut found, hit)).map_err(|error| error.to_string())?);
        all.push(found);
    }
    let (mut stream, mut found, mut rest) = (scanner.stream(), Found::new(), text.as_slice());
    while !rest.is_empty() {
        let (part, behind) = rest.split_at((1 + random.below(40)).min(rest.len()));
        let _ = stream.feed(part, |hit| note(&mut found, hit)).map_err(|error| error.to_string())?;
        rest = behind;
    }
    outcomes.push(stream.finish(|hit| note(&mut found, hit)).map_err(|error| error.to_string())?);
    all.push(found);
    let shown = || format!("{patterns:?} in {:?}: {all:?}", String::from_utf8_lossy(&text));
    if all.windows(2).any(|pair| pair[0] != pair[1]) || outcomes.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(format!("scalar, vector and chunks differ: {}", shown()));
    }
    for (id, pattern) in (0u32..).zip(&patterns) {
        let Some(matches) = matches(pattern, &text) else { continue };
        let hits: Vec<(u64, u64)> =
            all[0].iter().filter(|hit| hit.0 == id).map(|hit| (hit.1, hit.2)).collect();
        if let Some(hit) = hits.iter().find(|hit| !matches.contains(hit)) {
            return Err(format!("{hit:?} is no match of {pattern:?}: {}", shown()));
        }
        let missed = |(start, end): &&(u64, u64)| !hits.iter().any(|hit| hit.0 < *end && *start < hit.1);
        if let (Some(missed), Outcome::Complete) = (matches.iter().find(missed), outcomes[0]) {
            return Err(format!("{missed:?} of {pattern:?} is missed: {}", shown()));
        }
    }
    Ok(())
}
