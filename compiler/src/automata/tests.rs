//! Holds the automaton to the plain matcher, and the plain matcher to regular expressions.
//!
//! INVARIANT: every random case comes from a fixed seed.

use super::{BuildError, GlobInput, Syntax, build};
use policy_runtime::automaton::{Automaton, Scratch};
use policy_runtime::glob::matches;
use regex_automata::meta::Regex;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    fn text(&mut self, parts: &[&str], most: usize) -> String {
        let count = self.below(most + 1);
        (0..count).map(|_| parts[self.below(parts.len())]).collect()
    }
}

const PATH_GLOB: &[&str] = &[
    "a", "b", "/", "/", "*", "?", "**", "**/", "/**/", "/**", "a/", "./", ".b", "ä", "ab", "\\*", "*a", "?b",
];
const PATH_VALUE: &[&str] = &["a", "b", "/", "/", "./", ".", "ä", "ab", "b/a", "*", "A", "aa/"];
const PLAIN_GLOB: &[&str] = &["a", "b", " ", "*", "?", "**", "ab", "\0", "ä", "\\?", "a*", "?*", "/", "**/"];
const PLAIN_VALUE: &[&str] = &["a", "b", " ", "ab", "\0", "ä", "?", "B", "/", "ba"];

fn all(automaton: &Automaton, value: &str, scratch: &mut Scratch) -> Vec<u32> {
    let mut found = Vec::new();
    automaton.each(value.as_bytes(), scratch, &mut |id| found.push(id)).unwrap();
    found.sort_unstable();
    found.dedup();
    found
}

fn check(globs: &[GlobInput], values: &[String], syntax: Syntax, fold: bool, scratch: &mut Scratch) {
    let bytes = build(globs, syntax, fold).unwrap();
    let automaton = Automaton::new(&bytes).unwrap();
    for value in values {
        let mut want: Vec<u32> =
            globs.iter().filter(|g| matches(g.text, value, syntax, fold)).map(|g| g.id).collect();
        want.sort_unstable();
        want.dedup();
        let best = automaton.best(value.as_bytes(), scratch);
        assert_eq!(best, Ok(want.last().copied().unwrap_or(0)), "{globs:?} {value:?} {syntax:?} {fold}");
        assert_eq!(all(&automaton, value, scratch), want, "{globs:?} {value:?} {syntax:?} {fold}");
    }
}

fn random_sets(seed: u64, rounds: usize, globs_most: usize, syntax: Syntax, holes: bool) {
    let mut random = Random(seed);
    let mut scratch = Scratch::new();
    let (globs, values) = match syntax {
        Syntax::Path => (PATH_GLOB, PATH_VALUE),
        Syntax::Plain => (PLAIN_GLOB, PLAIN_VALUE),
    };
    let mut values = values.to_vec();
    if holes {
        values.extend(["\u{1}", "\u{2}"]);
    }
    for round in 0..rounds {
        let fold = round % 2 == 1;
        let mut texts: Vec<(String, u32)> = Vec::new();
        let count = 1 + random.below(globs_most);
        while texts.len() < count {
            let mut text = random.text(globs, 6);
            if syntax == Syntax::Path {
                text.insert_str(0, ["./", "**/", "/", "", ""][random.below(5)]);
            }
            let id = 1 + random.below(2 * globs_most) as u32;
            match build(&[GlobInput { text: &text, id }], syntax, fold) {
                Ok(_) => texts.push((text, id)),
                Err(error) => assert_eq!(error, BuildError::Marks { id }, "{text:?}"),
            }
        }
        let inputs: Vec<GlobInput> = texts.iter().map(|(text, id)| GlobInput { text, id: *id }).collect();
        let values: Vec<String> = (0..40)
            .map(|_| {
                let mut value = random.text(&values, 9);
                if syntax == Syntax::Path {
                    value.insert_str(0, ["./", "/", "~/", ""][random.below(4)]);
                }
                value
            })
            .collect();
        check(&inputs, &values, syntax, fold, &mut scratch);
    }
}

#[test]
fn one_path_glob_as_the_matcher() {
    random_sets(1, 3000, 1, Syntax::Path, false);
}

#[test]
fn many_path_globs_as_the_matcher() {
    random_sets(2, 600, 40, Syntax::Path, false);
}

#[test]
fn plain_globs_as_the_matcher() {
    random_sets(3, 2000, 1, Syntax::Plain, false);
    random_sets(4, 400, 40, Syntax::Plain, false);
}

#[test]
fn holes_as_the_matcher() {
    random_sets(5, 1000, 8, Syntax::Path, true);
    random_sets(6, 1000, 8, Syntax::Plain, true);
}

/// A translation that shares nothing with the matcher.
fn regex(glob: &str, syntax: Syntax, fold: bool) -> Regex {
    let chars: Vec<char> = glob.chars().collect();
    let mut out = String::from(if fold { "(?si)^" } else { "(?s)^" });
    let mut i = 0;
    let mut slash = true;
    while i < chars.len() {
        let stars = chars[i..].iter().take_while(|&&c| c == '*').count();
        if stars > 0 && syntax == Syntax::Plain {
            out += ".*";
            i += stars;
            continue;
        }
        if stars >= 2 {
            let next = chars.get(i + stars);
            if slash && next == Some(&'/') {
                // A following `**` at the very end says the same once more.
                let rest: String = chars[i + stars + 1..].iter().collect();
                if rest.len() < 2 || rest.chars().any(|c| c != '*') {
                    out += "(?:.*/)?";
                }
                i += stars + 1;
                continue;
            }
            if slash && next.is_none() && out.ends_with('/') && !out.ends_with("^/") {
                out.pop();
                out += "(?:/.*)?";
            } else {
                out += ".*";
            }
            slash = false;
            i += stars;
            continue;
        }
        match chars[i] {
            '*' => out += "[^/]*",
            '?' => out += if syntax == Syntax::Path { "[^/]" } else { "." },
            c => {
                let c = if c == '\\' {
                    i += 1;
                    chars.get(i).copied().unwrap_or('\\')
                } else {
                    c
                };
                if c.is_ascii_punctuation() && c != '/' {
                    out.push('\\');
                }
                out.push(c);
                slash = c == '/';
                i += 1;
                continue;
            }
        }
        slash = false;
        i += 1;
    }
    out += "$";
    Regex::new(&out).unwrap()
}

#[test]
fn the_matcher_as_regular_expressions() {
    let mut random = Random(7);
    for round in 0..6000 {
        let syntax = if round % 3 == 0 { Syntax::Plain } else { Syntax::Path };
        let fold = round % 2 == 0;
        let (globs, values) = match syntax {
            Syntax::Path => (PATH_GLOB, PATH_VALUE),
            Syntax::Plain => (PLAIN_GLOB, PLAIN_VALUE),
        };
        let mut glob = random.text(globs, 6);
        if syntax == Syntax::Path {
            glob.insert_str(0, ["./", "**/", "/", "", ""][random.below(5)]);
        }
        let regex = regex(&glob, syntax, fold);
        for _ in 0..40 {
            let value = random.text(values, 8);
            assert_eq!(matches(&glob, &value, syntax, fold), regex.is_match(&value), "{glob:?} {value:?}");
        }
    }
}
