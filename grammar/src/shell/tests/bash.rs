//! Word splitting and quote removal against a real bash, where there is one.
//!
//! INVARIANT: a text whose words are all known gives exactly the words that bash gives.

use super::knowledge::Known;
use super::limits::Random;
use crate::shell::{Dialect, Word, analyze};
use std::process::{Command, Stdio};

/// Pieces of words that run nothing, so that the texts may be given to bash.
const PIECES: &[&str] = &[
    "a",
    "b c",
    " ",
    " ",
    "'x y'",
    "\"p  q\"",
    "\\ ",
    "\\\\",
    "\\a",
    "\"\\a\\\"\"",
    "'\"'",
    "\"'\"",
    "$'t\\tn\\x41\\101\\u00e9'",
    "$\"l\"",
    "''",
    "\"\"",
    "{1,2}",
    "{a..c}",
    "{x}",
    "{",
    "}",
    "{y,}",
    "{01..03}",
    "{c..a}",
    "{1..7..3}",
    "$v",
    "\"$v\"",
    "${v}",
    "${v#o}",
    "${v%e}",
    "${#v}",
    "${w:-d}",
    "${v:+e}",
    "\"${v/n/N}\"",
    "${v^^}",
    "${v:1:2}",
    "$e",
    "\"$e\"",
    "$((1+2*3))",
    "$((v2*2))",
    "\\\n",
    "a#",
    "=",
    "~x",
    "-n",
    "é",
    "!",
    "${s}",
    "\"$s\"",
    "$'\\''",
    "\"a\\\nb\"",
];

#[test]
fn known_words_are_those_of_bash() {
    if Command::new("bash").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return;
    }
    let mut random = Random::new(42);
    let rounds = std::env::var("POLICY_SHELL_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    for _ in 0..rounds {
        compare(&mut random);
    }
}

fn compare(random: &mut Random) {
    let mut texts = Vec::new();
    for _ in 0..300 {
        let length = 1 + random.below(8);
        let words: String = (0..length).map(|_| PIECES[random.below(PIECES.len())]).collect();
        texts.push(format!("v=one w=two v2=21 e= s=' m  n '\nargs {words}"));
    }
    // One bash for all: each text defines its variables anew and prints its words, NUL between and two at the end.
    let script: String = texts.iter().map(|text| format!("{text}\n")).collect();
    let script = format!("args() {{ printf '%s\\0' \"$@\" END; }}\nset -f\n{script}");
    let output = Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut printed = printed.split('\0');
    let mut compared = 0;
    for text in &texts {
        let theirs: Vec<&str> = printed.by_ref().take_while(|word| *word != "END").collect();
        let analysis = analyze(text, Dialect::Bash, &Known);
        if !analysis.complete {
            continue;
        }
        let is_args =
            |command: &&crate::shell::Command| command.words.first().and_then(Word::known) == Some("args");
        let Some(command) = analysis.commands.iter().find(is_args) else { continue };
        let ours: Option<Vec<&str>> = command.words[1..].iter().map(Word::known).collect();
        if let Some(ours) = ours {
            // With no words `printf` gives the end mark alone.
            assert_eq!(ours, theirs, "{text:?}");
            compared += 1;
        }
    }
    assert!(compared > 200, "only {compared} texts had known words");
}
