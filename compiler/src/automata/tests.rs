//! Holds the automaton to the plain matcher, and the plain matcher to regular expressions and to listed cases.
//!
//! INVARIANT: every random case comes from a fixed seed.

use super::{BuildError, GlobInput, Syntax, build};
use policy_runtime::automaton::{Automaton, Damaged, MOST_ACTIVE, Scratch};
use policy_runtime::glob::{flatten, intersects, matches};
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
    random_sets(1, 1000, 1, Syntax::Path, false);
}

#[test]
fn many_path_globs_as_the_matcher() {
    random_sets(2, 200, 40, Syntax::Path, false);
}

#[test]
fn plain_globs_as_the_matcher() {
    random_sets(3, 700, 1, Syntax::Plain, false);
    random_sets(4, 150, 40, Syntax::Plain, false);
}

#[test]
fn holes_as_the_matcher() {
    random_sets(5, 400, 8, Syntax::Path, true);
    random_sets(6, 400, 8, Syntax::Plain, true);
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
    for round in 0..2500 {
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

#[test]
fn views_of_paths() {
    let yes: &[(&str, &[&str])] = &[
        ("**/x", &["/x", "/a/x", "./x", "./a/x", "~/a/x", "C:/x", "x"]),
        ("./src/**", &["./src", "./src/a", "./src/a/b"]),
        ("./**", &[".", "./a", "./a/b"]),
        ("~/**", &["~", "~/a"]),
        ("/**", &["/", "/a", "/a/b"]),
        ("C:/**", &["C:", "C:/a"]),
        ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"]),
        ("a/**/**/b/**/**", &["a/b", "a/x/b/c"]),
        ("**", &["", "/", "./a"]),
        ("./a**b", &["./ab", "./a/x/b", "./axb"]),
        ("./?.rs", &["./a.rs", "./ä.rs"]),
        ("./\\*", &["./*"]),
        ("./[ab]", &["./[ab]"]),
        ("**/a/*.js", &["./a/x.js", "./b/a/.js"]),
        ("**/*", &["./a", "a", "/"]),
        (".", &["."]),
    ];
    let no: &[(&str, &[&str])] = &[
        ("**/x", &["./ax", "./x/a", "xx"]),
        ("./src/**", &["./srcs", "./sr", "/src/a"]),
        ("./**", &["..", "/a", "~/a", ""]),
        ("/**", &["", "./a", "~"]),
        ("./*", &["./a/b", ".", "./a/"]),
        ("./?", &["./", "./ab", ".//"]),
        ("./src/*", &["./src"]),
        ("a/**/b", &["ab", "a/xb", "a//bb"]),
        ("./[ab]", &["./a"]),
    ];
    let mut scratch = Scratch::new();
    for (cases, want) in [(yes, true), (no, false)] {
        for (glob, values) in cases {
            let bytes = build(&[GlobInput { text: glob, id: 3 }], Syntax::Path, false).unwrap();
            let automaton = Automaton::new(&bytes).unwrap();
            for value in *values {
                assert_eq!(matches(glob, value, Syntax::Path, false), want, "{glob} {value}");
                let best = automaton.best(value.as_bytes(), &mut scratch);
                assert_eq!(best, Ok(if want { 3 } else { 0 }), "{glob} {value}");
            }
        }
    }
}

#[test]
fn the_greatest_number_wins_and_all_are_told() {
    let globs = [("**", 1), ("./a/**", 5), ("./a/*.rs", 9), ("./a/b.rs", 4), ("./a/b.rs", 7), ("**/b.rs", 9)];
    let globs: Vec<GlobInput> = globs.iter().map(|&(text, id)| GlobInput { text, id }).collect();
    let bytes = build(&globs, Syntax::Path, false).unwrap();
    let automaton = Automaton::new(&bytes).unwrap();
    let mut scratch = Scratch::new();
    assert_eq!(automaton.best(b"./a/b.rs", &mut scratch), Ok(9));
    assert_eq!(all(&automaton, "./a/b.rs", &mut scratch), [1, 4, 5, 7, 9]);
    assert_eq!(automaton.best(b"./c", &mut scratch), Ok(1));
    let none = build(&[], Syntax::Plain, true).unwrap();
    assert_eq!(Automaton::new(&none).unwrap().best(b"x", &mut scratch), Ok(0));
}

#[test]
fn case_and_nul_in_plain_globs() {
    let globs = [("*\0read_*", 2), ("files\0*", 3), ("\0bash", 4)];
    let globs: Vec<GlobInput> = globs.iter().map(|&(text, id)| GlobInput { text, id }).collect();
    let bytes = build(&globs, Syntax::Plain, true).unwrap();
    let automaton = Automaton::new(&bytes).unwrap();
    let mut scratch = Scratch::new();
    assert_eq!(automaton.best(b"x\0Read_file", &mut scratch), Ok(2));
    assert_eq!(all(&automaton, "Files\0READ_file", &mut scratch), [2, 3]);
    assert_eq!(automaton.best(b"\0BASH", &mut scratch), Ok(4));
    assert_eq!(automaton.best(b"x\0bash", &mut scratch), Ok(0));
}

#[test]
fn a_certain_match_holds_for_everything_the_value_stands_for() {
    let mut random = Random(8);
    let fill = ["", "a", "b", "/", "a/b", "ab", "ä", "/a/", "aa"];
    let mut hits = 0;
    for round in 0..40_000 {
        let syntax = if round % 3 == 0 { Syntax::Plain } else { Syntax::Path };
        let globs = if syntax == Syntax::Path { PATH_GLOB } else { PLAIN_GLOB };
        let glob = random.text(globs, 3);
        let value = random.text(&["a", "b", "/", "./", "\u{1}", "*", "?", "ab", "[ab]", "\\*"], 4);
        let mut text = String::new();
        flatten(&value, &mut text);
        if !matches(&glob, &text, syntax, false) || !text.contains(['\u{1}', '\u{2}']) {
            continue;
        }
        hits += 1;
        for _ in 0..8 {
            let sample: String = text
                .chars()
                .map(|c| match c {
                    '\u{1}' => fill[random.below(fill.len())].to_string(),
                    '\u{2}' => fill[random.below(fill.len())].replace('/', ""),
                    c => c.to_string(),
                })
                .collect();
            assert!(matches(&glob, &sample, syntax, false), "{glob:?} {value:?} {sample:?}");
        }
        assert!(intersects(&glob, &value, syntax, false), "{glob:?} {value:?}");
    }
    assert!(hits > 1000, "{hits}");
}

/// The value glob as a regular expression, for one without bracket expressions.
fn value_regex(value: &str) -> Regex {
    let mut out = String::from("(?s)^");
    let mut chars = value.chars();
    let mut start = true;
    while let Some(c) = chars.next() {
        let first = std::mem::replace(&mut start, c == '/');
        match c {
            '\u{1}' => out += ".*",
            '*' => {
                let behind = chars.as_str().trim_start_matches('*');
                let twice = behind.len() < chars.as_str().len();
                chars = behind.chars();
                // A shell gives no wildcard at the start of a segment a dot.
                out += match (first, twice && (behind.is_empty() || behind.starts_with('/'))) {
                    (true, true) => ".*",
                    (true, false) => "([^/.][^/]*)?",
                    (false, _) => "[^/]*",
                }
            }
            '?' => out += if first { "[^/.]" } else { "[^/]" },
            '\\' => out.push(chars.next().unwrap()),
            '[' => {
                out.push('[');
                out += &chars.as_str().split(']').next().unwrap().replace('!', "^/");
                out.push(']');
                chars = chars.as_str().split_once(']').unwrap().1.chars();
            }
            '.' => out += "\\.",
            c => out.push(c),
        }
    }
    out += "$";
    Regex::new(&out).unwrap()
}

#[test]
fn common_members_as_by_trying_all_short_texts() {
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..6 {
        let to = texts.len();
        for i in from..to {
            for c in ["a", "b", "/", "."] {
                texts.push(format!("{}{c}", texts[i]));
            }
        }
        from = to;
    }
    let mut random = Random(9);
    let (mut yes, mut no) = (0, 0);
    for round in 0..1200 {
        let syntax = if round % 3 == 0 { Syntax::Plain } else { Syntax::Path };
        // Few steps, so that a common member is short when there is one.
        let glob = random.text(&["a", "b", "/", "*", "?", "**/", "/**", "."], 4);
        let value = random.text(&["a", "b", "/", "*", "?", "\u{1}", "[a]", "[!a]", "\\b", "."], 4);
        let theirs = value_regex(&value);
        let want = texts.iter().any(|t| theirs.is_match(t) && matches(&glob, t, syntax, false));
        let got = intersects(&glob, &value, syntax, false);
        // `b` and `/` stand for all other characters, so the alphabet is large enough.
        assert_eq!(got, want, "{glob:?} {value:?} {syntax:?}");
        if want { yes += 1 } else { no += 1 }
    }
    assert!(yes > 200 && no > 200, "{yes} {no}");
}

#[test]
fn bracket_expressions_of_values() {
    let path = |a: &str, b: &str| intersects(a, b, Syntax::Path, false);
    assert!(path("./.env", "./.[e]nv") && path("./.env", "./.[!a-d]nv") && path("./a]b", "./a[]x]b"));
    assert!(!path("./.env", "./.[a-d]nv") && !path("./.env", "./.[!e]nv"));
    assert!(path("./x", "./[[:digit:]]"), "a named class may be anything");
    assert!(path("./[", "./[") && path("./[a/b]", "./[a/b]"), "not closed, or over a slash: letters");
    assert!(intersects("./.ENV", "./.[e]nv", Syntax::Path, true) && !path("./.ENV", "./.[e]nv"));
    assert!(!path("./a/b", "./a*b") && path("./a/b", "./a\u{1}b") && path("./*", "./\\*"));
    assert!(path(&"*a".repeat(3000), &"b*".repeat(3000)), "too much to look at: yes");
}

#[test]
fn every_damaged_byte_and_length_is_answered() {
    let globs =
        [("./a*b/c", 1), ("**/x?/y", 2), ("**/k/**/l/*.m", 3), ("./p/**", 4), ("./?q*", 5), ("**", 6)];
    let globs: Vec<GlobInput> = globs.iter().map(|&(text, id)| GlobInput { text, id }).collect();
    let bytes = build(&globs, Syntax::Path, true).unwrap();
    let values: [&[u8]; 4] =
        [b"./aab/c/xz/y/k/k/l/l/o.m", b"./p/q", b"./", &[0xff, 0x80, b'/', 0x80, b'a', 0xc3, 0x01]];
    let mut scratch = Scratch::new();
    let mut refused = 0;
    let mut run = |bytes: &[u8], refused: &mut usize| {
        let Ok(automaton) = Automaton::new(bytes) else {
            *refused += 1;
            return;
        };
        for value in values {
            let best = automaton.best(value, &mut scratch);
            let each = automaton.each(value, &mut scratch, &mut |_| {});
            *refused += usize::from(best.is_err()) + usize::from(each.is_err());
        }
    };
    for length in 0..bytes.len() {
        let before = refused;
        run(&bytes[..length], &mut refused);
        assert_eq!(refused, before + 1);
    }
    let mut copy = bytes.clone();
    for at in 0..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            copy[at] ^= change;
            run(&copy, &mut refused);
            copy[at] ^= change;
        }
    }
    assert!(refused > bytes.len());
}

#[test]
fn the_order_of_globs_does_not_change_the_bytes() {
    let mut random = Random(10);
    let mut texts: Vec<(String, u32)> = (0..60)
        .map(|i| (format!("./{}", random.text(&["a", "b/", "*", "?x", "/**/c"], 6)), i / 2 + 1))
        .collect();
    let bytes = |texts: &[(String, u32)]| {
        let globs: Vec<GlobInput> = texts.iter().map(|(text, id)| GlobInput { text, id: *id }).collect();
        build(&globs, Syntax::Path, false).unwrap()
    };
    let first = bytes(&texts);
    for _ in 0..5 {
        for i in (1..texts.len()).rev() {
            let j = random.below(i + 1);
            texts.swap(i, j);
        }
        assert_eq!(first, bytes(&texts));
    }
}

#[test]
fn shared_beginnings_cost_the_same_at_any_number() {
    let mut rates = Vec::new();
    for n in [100usize, 1000, 5000] {
        let texts: Vec<String> = (0..n).map(|i| format!("**/project/**/x{i}/*.k{i}")).collect();
        let globs: Vec<GlobInput> = texts.iter().zip(1..).map(|(text, id)| GlobInput { text, id }).collect();
        let bytes = build(&globs, Syntax::Path, false).unwrap();
        let automaton = Automaton::new(&bytes).unwrap();
        let mut scratch = Scratch::new();
        let mut length = 0u64;
        for i in 0..100 {
            let value = format!("/home/me/project/a/project/x{}/b.k{}", i, i);
            length += value.len() as u64;
            assert_eq!(automaton.best(value.as_bytes(), &mut scratch), Ok(i + 1));
        }
        assert!(scratch.probes <= 2 * length + 800);
        rates.push((scratch.probes * 100 / length, scratch.steps * 100 / length));
    }
    let (first, last) = (rates[0], rates[2]);
    assert!(last.0 <= first.0 * 11 / 10 + 2 && last.1 <= first.1 * 3 / 2 + 10, "{rates:?}");
}

#[test]
fn values_that_begin_too_much_have_no_answer() {
    let texts: Vec<String> = (0..2 * MOST_ACTIVE).map(|i| format!("**/a{i}/**/b{i}")).collect();
    let globs: Vec<GlobInput> = texts.iter().zip(1..).map(|(text, id)| GlobInput { text, id }).collect();
    let bytes = build(&globs, Syntax::Path, false).unwrap();
    let automaton = Automaton::new(&bytes).unwrap();
    let mut scratch = Scratch::new();
    let value: String = (0..2 * MOST_ACTIVE).map(|i| format!("/a{i}")).collect();
    assert_eq!(automaton.best((value + "/").as_bytes(), &mut scratch), Err(Damaged::Active));
    assert_eq!(automaton.best(b"/a7/x/b7", &mut scratch), Ok(8));
    let long = "/a".repeat(4000);
    assert_eq!(automaton.best(long.as_bytes(), &mut scratch), Ok(0));
}

#[test]
fn limits_are_told_with_numbers() {
    let one = |text: &str, id| build(&[GlobInput { text, id }], Syntax::Path, false).map(|_| ());
    assert_eq!(one("a", 0), Err(BuildError::Id { id: 0 }));
    assert_eq!(one("a", 1 << 31), Err(BuildError::Id { id: 1 << 31 }));
    assert_eq!(one("a\u{1}", 4), Err(BuildError::SpecialByte { id: 4 }));
    assert_eq!(one("./a**?**b", 4), Err(BuildError::Marks { id: 4 }));
    assert_eq!(one(&"?*".repeat(300), 4), Err(BuildError::Marks { id: 4 }));
    let long = "a".repeat(9000);
    assert_eq!(one(&long, 4), Err(BuildError::GlobTooLong { id: 4, bytes: 9000, limit: 8192 }));
    let texts: Vec<String> = (1..400).map(|i| format!("./{}*x", "a".repeat(i))).collect();
    let globs: Vec<GlobInput> = texts.iter().map(|text| GlobInput { text, id: 1 }).collect();
    let error = build(&globs, Syntax::Path, false);
    assert_eq!(error, Err(BuildError::TooManyActive { nodes: 399, limit: MOST_ACTIVE }));
}
