//! What changes nothing for a shell changes nothing in the list of commands.
//!
//! INVARIANT: quotes around a literal, comments, continuations, braces, a subshell and `true;` before a text leave its commands as
//! they are; as a quoted argument or a quoted here-document the text is data.

use super::generate::Generator;
use super::knowledge::Known;
use crate::shell::{Analysis, Dialect, analyze};
use serde_json::Value;

const CASES: &str = include_str!("../../../../tests/shell/expansion.jsonl");

fn bash(text: &str) -> Analysis {
    analyze(text, Dialect::Bash, &Known)
}

/// What runs: words, gaps and folders, whatever the order.
fn listed(analysis: &Analysis) -> Vec<String> {
    let shown = |c: &crate::shell::Command| {
        format!("{:?} {:?} {:?} {:?} {}", c.words, c.redirects, c.gaps, c.dir, c.alternative)
    };
    let mut all: Vec<String> = analysis.commands.iter().filter(|c| !c.words.is_empty()).map(shown).collect();
    all.sort();
    all
}

fn scripts() -> Vec<String> {
    let cases = CASES.lines().filter(|line| !line.is_empty());
    let case =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["script"].as_str().unwrap().to_string();
    let mut all: Vec<String> = cases.map(case).collect();
    let mut generator = Generator::new(11);
    all.extend((0..100).map(|_| generator.script()));
    all
}

#[test]
fn what_is_around_a_text_changes_nothing() {
    for script in scripts() {
        let plain = bash(&script);
        if !plain.complete || script.ends_with('\\') {
            continue;
        }
        let wanted = listed(&plain);
        for around in [
            format!("{{ {script}\n}}"),
            format!("# a comment\n{script}\n# another; rm x"),
            format!("{script}\n"),
            format!("\n\n{script}"),
        ] {
            let analysis = bash(&around);
            assert_eq!(listed(&analysis), wanted, "{around}");
            assert!(analysis.complete, "{around}: {:?}", analysis.problems);
        }
        assert_eq!(listed(&bash(&format!("( {script}\n)"))), wanted, "( {script} )");
        let first = bash(&format!("true; {script}"));
        let rest: Vec<String> =
            listed(&first).into_iter().filter(|own| !own.contains("[Known(\"true\")]")).collect();
        let wanted: Vec<String> =
            wanted.into_iter().filter(|own| !own.contains("[Known(\"true\")]")).collect();
        assert_eq!(rest, wanted, "true; {script}");
    }
}

#[test]
fn a_text_as_data_runs_nothing() {
    for script in scripts().into_iter().filter(|script| !script.contains("EOT_DATA")) {
        let quoted = format!("echo '{}'", script.replace('\'', "'\\''"));
        let analysis = bash(&quoted);
        assert_eq!(analysis.commands.len(), 1, "{quoted}");
        assert!(analysis.complete, "{quoted}");
        let document = format!("cat <<'EOT_DATA'\n{script}\nEOT_DATA\n");
        let analysis = bash(&document);
        assert_eq!(analysis.commands.len(), 1, "{document}");
        assert!(analysis.complete, "{document}: {:?}", analysis.problems);
    }
}

#[test]
fn quotes_around_a_literal_change_nothing() {
    for words in [
        &["git", "push", "--force"][..],
        &["rm", "-rf", "/tmp/x"],
        &["sudo", "rm", "-r", "x"],
        &["env", "A=1", "git", "push"],
        &["xargs", "-n", "1", "rm"],
        &["bash", "-c", "git push"],
        &["find", ".", "-exec", "rm", "{}", "+"],
        &["timeout", "5", "git", "push"],
    ] {
        let single = |word: &&str| format!("'{word}'");
        let plain: Vec<String> =
            words.iter().map(|w| if w.contains([' ', '{']) { single(w) } else { w.to_string() }).collect();
        let wanted = listed(&bash(&plain.join(" ")));
        for at in 0..words.len() {
            // `A=1` in quotes is a program, not an assignment, in front; behind `env` it is the same.
            let mut characters = words[at].chars();
            let (first, rest) = (characters.next().unwrap(), characters.as_str());
            for other in [
                format!("'{}'", words[at]),
                format!("\"{}\"", words[at]),
                format!("$'{}'", words[at]),
                format!("'{first}''{rest}'"),
                format!("\"\"'{}'", words[at]),
            ] {
                let mut changed = plain.clone();
                changed[at] = other;
                assert_eq!(listed(&bash(&changed.join(" "))), wanted, "{changed:?}");
                assert_eq!(listed(&bash(&changed.join(" \\\n "))), wanted, "{changed:?}");
                assert_eq!(
                    listed(&bash(&format!("{} # {}", changed.join("\t"), words[at]))),
                    wanted,
                    "{changed:?}"
                );
            }
        }
    }
}
