//! What is found, against automata that are made from the whole patterns.
//!
//! INVARIANT: every hit is a match of its pattern, hits around one literal do not overlap, and every match of a pattern
//! overlaps a hit of it, or it is said that the text is incomplete.

use crate::patterns::patterns;
use crate::support::{Random, all, rounds, section, seed, text, tree};
use policy_scan::{Outcome, Path};
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};
use std::collections::BTreeSet;

type Dfa = dense::DFA<Vec<u32>>;

fn automaton(pattern: &str) -> Dfa {
    let nfa = thompson::NFA::compiler()
        .configure(thompson::Config::new().utf8(false).which_captures(thompson::WhichCaptures::None))
        .build_from_hir(&tree(pattern))
        .unwrap();
    let config = dense::Config::new().start_kind(StartKind::Anchored).match_kind(MatchKind::All);
    dense::Builder::new().configure(config).build_from_nfa(&nfa).unwrap()
}

/// All ends of matches that begin at `start`.
fn ends(dfa: &Dfa, text: &[u8], start: usize, out: &mut BTreeSet<(u64, u64)>) {
    let input = Input::new(text).range(start..).anchored(Anchored::Yes);
    let mut state = dfa.start_state_forward(&input).unwrap();
    for (at, byte) in text.iter().enumerate().skip(start) {
        state = dfa.next_state(state, *byte);
        if dfa.is_dead_state(state) {
            return;
        }
        if dfa.is_match_state(state) {
            out.insert((start as u64, at as u64));
        }
    }
    if dfa.is_match_state(dfa.next_eoi_state(state)) {
        out.insert((start as u64, text.len() as u64));
    }
}

fn check(patterns: &[String], times: u64, len: usize, number: u64) -> usize {
    let trees: Vec<_> = patterns.iter().map(|pattern| tree(pattern)).collect();
    let automata: Vec<_> = patterns.iter().map(|pattern| automaton(pattern)).collect();
    let section = section(patterns);
    let mut random = seed(number);
    let mut matches = 0;
    for _ in 0..times {
        let text = text(&trees, &mut random, len);
        let (found, outcome) = all(&section, &text, Path::Auto);
        let complete = match outcome {
            Ok(Outcome::Complete) => true,
            Ok(Outcome::Incomplete { .. }) => false,
            other => panic!("{other:?}"),
        };
        for (id, automaton) in automata.iter().enumerate() {
            let mut all = BTreeSet::new();
            (0..=text.len()).for_each(|start| ends(automaton, &text, start, &mut all));
            let hits: Vec<_> =
                found.iter().filter(|hit| hit.0 == id as u32).map(|hit| (hit.1, hit.2)).collect();
            let shown = || format!("pattern {} in {:?}", patterns[id], String::from_utf8_lossy(&text));
            for hit in &hits {
                assert!(all.contains(hit), "{hit:?} is no match of {}", shown());
            }
            // Only a pattern with several literals may have hits that overlap.
            let literals = patterns[id].contains(['?', '|', '[']);
            for pair in hits.windows(2).filter(|_| !literals) {
                assert!(pair[0].1 <= pair[1].0, "{pair:?} overlap: {}", shown());
            }
            for (start, end) in &all {
                let met = hits.iter().any(|hit| hit.0 < *end && *start < hit.1);
                assert!(met || !complete, "missed {start}..{end}, found {hits:?}: {}", shown());
            }
            matches += hits.len();
        }
    }
    matches
}

#[test]
fn real_patterns() {
    assert!(check(&patterns(60), rounds(60), 1500, 1) > 1000);
}

/// Patterns made for trouble: automata on both sides, literals in the middle, overlapping classes, all that can be asked.
#[test]
fn odd_patterns() {
    let odd = [
        r"[a-z0-9]{3,10}KEYS[a-z0-9]{2,8}9",
        r"(?:ab|cd){1,3}-MIDDLE-(?:x+y|y+x)",
        r"\bstart[0-9]*",
        r"end_here\b",
        r"(?i)mixed(?-i)CASE[a-c]?[c-e]?x",
        r"[^\n]{0,20}anything[^\n]{0,20}",
        r"aaaa[a]{2,5}",
        r"aXbc[a-z]{2,}zz",
        r"(?m)^#line$",
        r"\A#!/bin",
        r"(?:(?:one|two|three)_)?four5[a-z]+(?:_(?:one|two))?",
        r"foo1|ba[rz]22|[0-9]{2}quux",
        r"(?i:k)[e3]y_\B[a-z_]{1,9}\b{end}",
        r"=\s*wide\s*=[ =]{0,4}=",
        r"\x00\xffBIN[\x80-\xff]{2}",
        r"x{3}y{4}z*",
        r"(?:[a-z]+\.){1,3}example\.com",
        r"abc[0-9]",
        r"[0-9]abc",
        r"(?mR)^carriage[a-z\r]{0,3}$",
    ]
    .map(String::from);
    assert!(check(&odd, rounds(300), 600, 2) > 1000);
    for (index, pattern) in odd.iter().enumerate() {
        assert!(
            check(std::slice::from_ref(pattern), 20, 300, 3 + index as u64) > 0
                || pattern.contains(['^', '!', '$']),
            "{pattern}"
        );
    }
}

/// Patterns that a generator wrote.
#[test]
fn random_patterns() {
    let mut random = seed(99);
    let mut built = 0;
    for round in 0..rounds(300) {
        let part = |random: &mut Random| {
            let classes = ["[ab]", "[a-c]", "[0-9]", "\\w", "[^a]", "-", "(?:a|bc)", "\\b", "(?:ab?)", "c"];
            let counts = ["", "?", "*", "{2}", "{1,3}", "+"];
            let class = classes[random.below(classes.len())];
            format!("{class}{}", if class == "\\b" { "" } else { counts[random.below(counts.len())] })
        };
        let side = |random: &mut Random| (0..random.below(4)).map(|_| part(random)).collect::<String>();
        let literal = ["abab", "(?i)abcd", "aaaa", "-a-b", "a[bc]?ab"][random.below(5)];
        let pattern = format!("{}(?:{literal}){}", side(&mut random), side(&mut random));
        if policy_scan::build::Builder::new().add(0, &pattern).is_ok() {
            built += 1;
            check(&[pattern], 5, 60, 1000 + round);
        }
    }
    assert!(built > 250, "{built}");
}
